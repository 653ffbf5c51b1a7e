"""How often the laws of reading hold, and what damaged documents do: 2,000 cases each, in as many slices as one likes.

python benchmarks/bench_laws.py [--cases N] [--first N] [--minutes N] [--processes N] [--law NAME]
    [--list] [--store]

--list tells every case that breaks a law: how to draw it again, what was due, and what was said. What was done before
with the same code is not done again; --store writes the table to results/laws.json.
"""

from __future__ import annotations

import sys

from rich.console import Console

from resumed import ROOT, Journal, Row, arguments, resumed, stored

sys.path.insert(0, str(ROOT / "tests"))

from laws.damage import hurt
from laws.rewritten import gathered
from laws.trials import LAWS, trial

SHARED = ROOT.parent / "shared" / "sheets"
DOCUMENTS = gathered(
    ROOT / "examples", ROOT / "examples" / "sheets", SHARED, SHARED / "wild", SHARED / "real", SHARED / "trial"
)
NAMES = frozenset(document.name for document in DOCUMENTS)
AIM = {law: 0.97 if law == "transposition" else 0.99 for law in LAWS}
DAMAGE = "damage"
SECONDS = 2.0  # that solving and checking a damaged document may take
LINE = "{:<18}{:>8}{:>10}{:>12}{:>12}{:>8}"


def tried(key: str) -> Row:
    """A case of a law, or a damaged document, by its key."""
    law, _, seed = key.rpartition(" ")
    if law == DAMAGE:
        case = hurt(DOCUMENTS, int(seed))
        return {"key": key, "call": case.call, "error": case.error, "seconds": round(case.seconds, 2)}
    made = trial(law, int(seed), DOCUMENTS)
    is_document = any(name in NAMES for name in made.call.replace(" and ", ", ").split(", "))
    row = {"key": key, "call": made.call, "document": is_document, "holds": made.holds}
    return row if made.holds else row | {"due": repr(made.due), "said": repr(made.said)}


def law_row(law: str, rows: list[Row]) -> Row:
    """How often one law holds, over drafts of ours and over documents."""
    drafts, documents = ([row for row in rows if row["document"] is kind] for kind in (False, True))
    generated, others, both = (
        {"cases": len(part), "holds": sum(row["holds"] for row in part)} for part in (drafts, documents, rows)
    )
    return {"law": law, **both, "aim": AIM[law], "generated": generated, "documents": others}


def line(row: Row) -> str:
    """One line of the table."""
    parts = (row, row["generated"], row["documents"])
    shares = (f"{part['holds'] / part['cases']:.1%}" if part["cases"] else "–" for part in parts)
    return LINE.format(row["law"], f"{row['cases']:,}", *shares, f"{row['aim']:.0%}")


def damage_row(rows: list[Row]) -> Row:
    """What damaged documents do."""
    return {
        "cases": len(rows),
        "exceptions": sum(bool(row["error"]) for row in rows),
        "slow": sum(row["seconds"] > SECONDS for row in rows),
        "longest": max((row["seconds"] for row in rows), default=0.0),
    }


def told(row: Row) -> str:
    """What there is to say of a case that failed; nothing of another."""
    if not row.get("holds", True):
        return f"{row['call']}\n  due  {row['due']}\n  said {row['said']}"
    failed = row.get("error") or row.get("seconds", 0) > SECONDS
    return f"{row['call']}: {row['error']} {row['seconds']:.1f} s" if failed else ""


def main() -> None:
    parser = arguments(__doc__, cases=2_000)
    parser.add_argument("--law", choices=[*LAWS, DAMAGE], help="only this one")
    options = parser.parse_args()
    console, journal = Console(width=110), Journal("laws")
    laws = [law for law in (*LAWS, DAMAGE) if options.law in (None, law)]
    seeds = range(options.first, options.first + options.cases)
    rows = resumed(tried, [f"{law} {seed}" for seed in seeds for law in laws], journal, options)  # laws take turns
    for text in filter(None, map(told, rows)) if options.list else ():
        console.print(text, soft_wrap=True, highlight=False, markup=False)
    by_law = {law: [row for row in rows if row["key"].rpartition(" ")[0] == law] for law in laws}
    damage = damage_row(by_law.pop(DAMAGE, []))
    table = [law_row(law, cases) for law, cases in by_law.items()]
    console.print(LINE.format("law", "cases", "holds", "generated", "documents", "aim"), highlight=False)
    for row in table:
        console.print(line(row), highlight=False)
    console.print(
        f"damaged documents: {damage['cases']:,}; {damage['exceptions']} end in an exception that is not ours, "
        f"{damage['slow']} take more than {SECONDS:.0f} s, the longest {damage['longest']:.1f} s"
    )
    if options.store:
        stored("laws", {"code": journal.code, "laws": table, "damage": damage})


if __name__ == "__main__":
    main()
