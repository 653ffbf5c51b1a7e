"""Givens that were misread: where the numbers that an author puts in contradict one again and again, it is the reading
that is wrong, and not the author."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.judging.fit import How
from qkv.judging.walk import Judgement

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
