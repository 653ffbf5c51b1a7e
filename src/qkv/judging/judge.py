"""READING → JUDGED: every printed value of a sheet, judged once for the report, the solution and `qkv read`.

Where the numbers that an author puts in contradict a given again and again, the reading is wrong, not the author: the
walk is taken once more without its word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import START_BITS, precision
from qkv.judging.fit import How
from qkv.judging.shapes import owned as size_places
from qkv.judging.theory import owned as theory_places
from qkv.judging.walk import Judgement, Walk
from qkv.reading.reading import Reading
from qkv.theory.claims import theory_said
from qkv.theory.model import TheoryClaim

MOST_SLIPS = 2  # slips that one given may be held responsible for, each beside a working that is right


def doubted(judgements: Iterable[Judgement]) -> frozenset[Symbol]:
    """The names that stand in more false formulas than right ones, where the workings beside them are all right."""
    against, for_ = Counter[Symbol](), Counter[Symbol]()
    for judgement in judgements:
        if judgement.fit is None or judgement.fit.meaning.how is not How.STATED:
            continue
        counter = against if _is_contradicted(judgement) else for_ if judgement.fit.is_clean else None
        if counter is not None:
            counter.update(set(_names(judgement)))
    return frozenset(name for name, slips in against.items() if slips > MOST_SLIPS and slips >= for_[name])


def _is_contradicted(judgement: Judgement) -> bool:
    """Whether a value is false by its formula, and right by the numbers put in."""
    workings = (rival for rival in judgement.rivals if rival.meaning.how is How.WORKING)
    return judgement.verdict is Verdict.WRONG and any(working.is_clean for working in workings)


def _names(judgement: Judgement) -> Iterator[Symbol]:
    for item in judgement.equation.items:
        yield from n.names_in(item.expr)


@dataclass(frozen=True)
class Judged:
    """A reading, what is said of its printed values, and what it says about theory.

    The walk keeps what the author had printed at the end of the page; `judgements` are in the order of the page."""

    reading: Reading
    walk: Walk
    judgements: tuple[Judgement, ...]
    theory: tuple[TheoryClaim, ...]


def judged(reading: Reading) -> Judged:
    """Every printed value of a reading judged; claims about theory and sizes have rules of their own."""
    with precision(START_BITS):
        theory = tuple(theory_said(reading.sheet))
        elsewhere = theory_places(theory) | size_places(reading.sheet)
        walk = Walk(reading.system, reading.values, elsewhere)
        judgements = walk.run()
        if names := doubted(judgements):
            walk = Walk(reading.system, reading.values, elsewhere, names)
            judgements = walk.run()
        return Judged(reading, walk, tuple(judgements), theory)
