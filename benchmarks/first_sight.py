"""Score documents that nobody here has looked at, and print their row for first-sight.md.

python benchmarks/first_sight.py FOLDER [KEYS] [--source TEXT] [--list]

FOLDER holds the documents, KEYS (or FOLDER) a NAME.key.json for each: `questions` with an `answer`, and `claims` with a
`line`, a `verdict` (correct…, wrong…, follows…, struck…) and `wrong_cells`. --list tells every miss.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import qkv

BAD = frozenset({"wrong", "carried", "misrounded", "misread"})
FOUND = frozenset({"wrong", "misread"})
# How a key's verdict begins, and its class; a wrong last digit is no slip.
CLASSES = {
    "struck": "fine",
    "correct": "fine",
    "carried-rounding": "fine",
    "rounded": "last digit",
    "carried": "carried",
    "follows": "carried",
    "wrong": "wrong",
}
Span = tuple[int, int]


def pairs(folder: Path, keys: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The documents that have a key."""
    for path in sorted(folder.iterdir()):
        key = keys / f"{path.stem}.key.json"
        if path.suffix in {".md", ".tex", ".txt", ".ipynb"} and key.exists():
            yield path, json.loads(key.read_text(encoding="utf-8"))


def score(path: Path, key: dict[str, Any]) -> tuple[Counter[str], list[str]]:
    """Counts over the questions and claims of one document, and what was missed, in words."""
    counts: Counter[str] = Counter(documents=1)
    missed: list[str] = []
    sheet = qkv.read(path)
    for what, kind in (*answers(json.loads(sheet.solve().to_json(digits=8)), key), *judgements(sheet.check(), key)):
        counts[kind] += 1
        if kind in MISSES:
            missed.append(f"{path.name}: {kind}: {what}")
    return counts, missed


def nothing_said(key: dict[str, Any]) -> Counter[str]:
    """The counts of a document about which nothing is said."""
    silent = SimpleNamespace(claims=())
    kinds = [kind for _, kind in (*answers({"problems": []}, key), *judgements(silent, key))]
    return Counter(documents=1) + Counter(kinds)


MISSES = ("not answered", "accused", "missed", "not located", "not called carried", "unjudged")


def answers(solution: dict[str, Any], key: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Whether each question with numbers has its answer among all values, rows, columns and cells."""
    tables = [item["value"] for problem in solution["problems"] for item in problem["steps"] + problem["givens"]]
    rows = [row for table in tables for row in table] + [list(c) for table in tables for c in zip(*table, strict=True)]
    values = [numbers(value) for value in (*tables, *rows, *([cell] for row in rows for cell in row))]
    for question in key["questions"]:
        wanted = numbers(question["answer"])
        if wanted:
            found = any(value and close(wanted, value) for value in values)
            yield str(question.get("ask") or question.get("question")), "answered" if found else "not answered"


def judgements(report: Any, key: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What each claim of the key counts as: whether it was judged, and whether rightly."""
    keyed = [(span(claim["line"]), class_of(claim), claim) for claim in key["claims"]]
    for place, kind, claim in keyed:
        if not kind:
            continue
        what = f"line {place[0]}, {claim.get('what')}"
        here = [said for said in report.claims if meet((said.line, said.end_line), place) and said.verdict != "unread"]
        yield what, "judged" if here else "unjudged"
        others = {k for other, k, c in keyed if c is not claim and meet(other, place)} - {"fine"}
        if kind == "fine":
            yield what, "accused" if any(said.verdict in BAD for said in here) and not others else "not accused"
        elif kind == "wrong":
            yield what, "found" if any(said.verdict in FOUND for said in here) else "missed"
            yield what, "located" if located(claim, here) else "not located"
        elif kind == "carried":
            called = any(said.verdict in ("carried", "drifted") for said in here)
            yield what, "called carried" if called else "not called carried"


def located(claim: dict[str, Any], here: list[Any]) -> bool:
    """Whether a wrong claim is called wrong at every cell that the key names."""
    said = [found for found in here if found.verdict in FOUND]
    cells = {(cell.row, cell.column) for found in said for cell in found.cells if cell.verdict in FOUND}
    return bool(said) and {tuple(cell) for cell in claim.get("wrong_cells", [])} <= cells


def class_of(claim: dict[str, Any]) -> str:
    """fine, wrong, carried or last digit; nothing for what no program is expected to judge."""
    if claim.get("severity") == "last digit":
        return "last digit"
    verdict = (claim.get("verdict") or "").lower()
    return next((kind for begin, kind in CLASSES.items() if verdict.startswith(begin)), "")


def span(line: object) -> Span:
    """The first and the last line of a claim."""
    found = [int(text) for text in re.findall(r"\d+", str(line))]
    return (found[0], found[-1]) if found else (0, 0)


def meet(a: Span, b: Span) -> bool:
    """Whether two places overlap."""
    return a[0] <= b[1] and a[1] >= b[0]


def numbers(value: Any) -> list[float] | None:
    """All numbers of an answer in order; None if something in it is no number."""
    if isinstance(value, list):
        parts = [numbers(item) for item in value]
        return None if None in parts else [x for part in parts for x in part or []]
    over, _, under = str(value).strip().replace("−", "-").partition("/")
    try:
        return [float(over) / float(under or 1)]
    except ValueError:
        return None


def close(a: list[float], b: list[float]) -> bool:
    """Whether two lists of numbers agree to about four digits."""
    if len(a) != len(b):
        return False
    return all(x == y or math.isclose(x, y, rel_tol=2e-4, abs_tol=1e-9) for x, y in zip(a, b, strict=True))


def row(source: str, counts: Counter[str]) -> str:
    """A row of the table in first-sight.md."""

    def of(*kinds: str) -> str:
        return f"{counts[kinds[0]]} of {sum(counts[kind] for kind in kinds)}"

    cells = (
        date.today().isoformat(),
        source,
        str(counts["documents"]),
        of("answered", "not answered"),
        of("accused", "not accused"),
        f"{of('found', 'missed')}, {counts['located']} at every cell",
        of("called carried", "not called carried"),
        of("judged", "unjudged"),
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("keys", type=Path, nargs="?")
    parser.add_argument("--source", default="", help="where the documents come from")
    parser.add_argument("--list", action="store_true", help="tell every miss")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for path, key in pairs(options.folder, options.keys or options.folder):
        try:
            scored, missed = score(path, key)
        except Exception as failure:  # noqa: BLE001 (a document that fails counts, with nothing answered and judged)
            scored, missed = nothing_said(key), [f"{path.name}: failed, {failure!r}"]
        counts += scored
        for line in missed if options.list else ():
            print(line)
    print(row(options.source or options.folder.name, counts))


if __name__ == "__main__":
    main()
