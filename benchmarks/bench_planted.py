"""20,000 practice sheets with planted slips: how many are found, and which verdict stood where which was due.

python benchmarks/bench_planted.py [--cases N] [--first N] [--minutes N] [--processes N] [--list] [--store]

--list tells every fault, and every mistake that was not named or not by its name, with the call that draws its sheet.
What was done before with the same code is not done again; --store writes the figures to results/planted.json.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from rich.console import Console
from rich.table import Table

import qkv
from qkv.check.model import Verdict
from resumed import ROOT, Journal, Row, arguments, resumed, stored

sys.path.insert(0, str(ROOT / "tests"))

from laws.graded import NOTHING, Fault, graded
from laws.trials import planted

FAULTS = ("accused", "missed", "not carried", "unread")
NAMINGS = ("named", "unnamed", "misnamed")
DUE = ("fine", "carried", "wrong")


def grade(key: str) -> Row:
    """Draw, check and grade one sheet, by its number."""
    call, practice = planted(int(key))
    begin = time.process_time()
    report = qkv.check(practice.text)
    result = graded(practice, report)
    return {
        "key": key,
        "call": call,
        "clean": not practice.slips,
        "verdicts": [[due, str(given), count] for (due, given), count in result.confusion.items()],
        "named": result.named,
        "faults": [fault.what for fault in result.faults],
        "told": [_told(fault) for fault in (*result.faults, *result.unnamed)],
        "seconds": round(time.process_time() - begin, 3),
    }


def _told(fault: Fault) -> str:
    return f"line {fault.line}: {fault.what}, {fault.detail}"


def confusion(rows: list[Row]) -> dict[str, dict[str, int]]:
    """How often each verdict was given where each was due."""
    counts: dict[str, Counter[str]] = {due: Counter() for due in DUE}
    for row in rows:
        for due, given, count in row["verdicts"]:
            counts[due][given] += count
    return {due: dict(given) for due, given in counts.items()}


def summary(rows: list[Row]) -> Row:
    """The figures of all sheets."""
    verdicts = confusion(rows)
    faults = Counter(fault for row in rows for fault in row["faults"])
    named = sum((Counter(row["named"]) for row in rows), Counter())
    unread = {due: sum(verdicts[due].get(given, 0) for given in (NOTHING, Verdict.UNREAD.value)) for due in DUE}
    slips, carried = (sum(verdicts[due].values()) for due in ("wrong", "carried"))
    return {
        "documents": len(rows),
        "faultless": sum(not row["faults"] for row in rows),
        "clean": sum(row["clean"] for row in rows),
        "clean_accused": sum(row["clean"] and "accused" in row["faults"] for row in rows),
        "slips": slips,
        "located": slips - faults["missed"] - unread["wrong"],
        "carried": carried,
        "called_carried": carried - faults["not carried"] - unread["carried"],
        "faults": {what: faults[what] for what in FAULTS},
        "mistakes": {how: named[f"table {how}"] for how in NAMINGS},
        "verdicts": verdicts,
        "milliseconds": round(1000 * sum(row["seconds"] for row in rows) / max(len(rows), 1)),
    }


def shown(console: Console, result: Row) -> None:
    """Print the figures: verdicts that were due down the side, given ones across the top."""
    given = [each for each in (*Verdict, NOTHING) if any(each in row for row in result["verdicts"].values())]
    table = Table("due", *given, title="verdicts of values")
    for due, row in result["verdicts"].items():
        table.add_row(due, *(f"{row.get(verdict, 0):,}" for verdict in given))
    console.print(table)
    console.print(f"{result['documents']:,} documents, {result['slips']:,} slips, {result['milliseconds']} ms each")
    console.print(f"documents without any fault: {result['faultless']:,}")
    console.print(f"clean documents accused: {result['clean_accused']:,} of {result['clean']:,}")
    console.print(f"slips located: {_share(result['located'], result['slips'])}")
    console.print(f"carried values called so: {_share(result['called_carried'], result['carried'])}")
    console.print(", ".join(f"{what}: {count:,}" for what, count in result["faults"].items()))
    named, unnamed, misnamed = result["mistakes"].values()
    console.print(f"mistakes of the table that show: {named:,} named, {unnamed:,} not named, {misnamed:,} misnamed")


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}, {part / max(whole, 1):.2%}"


def main() -> None:
    options = arguments(__doc__, cases=20_000).parse_args()
    console, journal = Console(width=110), Journal("planted")
    numbers = range(options.first, options.first + options.cases)
    rows = resumed(grade, list(map(str, numbers)), journal, options)
    for row in rows if options.list else ():
        for text in row["told"]:
            console.print(f"{row['call']} {text}", soft_wrap=True, highlight=False, markup=False)
    result = summary(rows)
    shown(console, result)
    if options.store:
        stored("planted", {"code": journal.code, **result})


if __name__ == "__main__":
    main()
