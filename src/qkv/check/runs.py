"""Rows that are worked out a line each, all in the same way: what stands in the same place of the next line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.check.targets import Target
from qkv.check.walk import Walk
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.records import dataclass
from qkv.sheet.model import Link
from qkv.understand.facts import Fact

NEAR = 4  # lines from one row to the next, at most


@dataclass(frozen=True, slots=True)
class Run:
    """The last row of a quantity that was shown in some place of a line, and the words before it."""

    symbol: Symbol
    row: int
    line: int
    words: str


def note_run(walk: Walk, fact: Fact, link: Link, target: Target) -> None:
    """Remember that a nameless value turned out to be a row."""
    expr = target.expr
    if fact.subjects or not isinstance(expr, n.Entry) or expr.column is not None or not isinstance(expr.arg, n.Name):
        return
    run = Run(expr.arg.symbol, expr.row or 1, fact.statement.at.line, _words(fact))
    walk.runs[_place(walk, fact, link)] = run


def of_run(walk: Walk, fact: Fact, link: Link) -> Iterator[Target]:
    """The next row of what stood in this place of the line before; sure if the words before it say so too."""
    run = walk.runs.get(_place(walk, fact, link)) if walk.runs and not fact.subjects else None
    if run is None or not 0 < fact.statement.at.line - run.line <= NEAR:
        return
    row = run.row + 1
    sure = fact.cue.row == row and run.words.endswith(_words(fact))
    yield Target(n.Entry(n.Name(run.symbol), row=row), sure, f"{run.symbol}, row {row}", run.symbol)


def _words(fact: Fact) -> str:
    """The words before a value, but for their numbers: 'Row 2:' is said as 'Row 1:' is."""
    return re.sub(r"\d+", "", fact.statement.before[-40:])


def _place(walk: Walk, fact: Fact, link: Link) -> tuple[int, int]:
    """Which chain of its line it is, and which link of that chain."""
    chain = walk.on_line[fact.statement.at.line].index(fact)
    return chain, sum(other.at < link.at for other in fact.links)
