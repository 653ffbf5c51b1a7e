"""Values of another shape than what they should be: heads averaged or stacked, W_O left out, a row missing.

Nothing can be compared cell by cell, and a shape alone proves nothing: an author may show a part, or the reader may
have lost one. Such a value is judged only if a known mistake gives all of it, or if it follows from a false claim
before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import agree, loosened
from qkv.check.explain import explain_misfit
from qkv.check.model import Cause, Claim, Verdict
from qkv.check.targets import Target, step_with, targets
from qkv.check.walk import FALSE, Walk, add_claim
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.certified import Value
from qkv.interpret.fit import Shape, say
from qkv.program.model import Step
from qkv.records import dataclass
from qkv.sheet.model import Link
from qkv.understand.facts import Fact

ENOUGH_NUMBERS = 3  # different ones, where the name alone tells what is shown


@dataclass(frozen=True, slots=True)
class Misfit:
    """A step that is shown in another shape: what works it out, and the shape that it should have."""

    target: Target
    formula: n.Expr
    shape: Shape
    grid: Grid


def judge_misfit(walk: Walk, fact: Fact, link: Link, grid: Grid) -> Claim | None:
    """Judge a value that no meaning has the shape of; None where nothing is sure."""
    if fact.pending or walk.is_foreign(fact):
        return None
    for misfit in _misfits(walk, fact, grid):
        false = _carried_from(walk, misfit)
        known, cause = (False, None) if false else _explained(walk, fact, misfit)
        if false or known:
            verdict = Verdict.CARRIED if false else Verdict.WRONG
            more = {"formula": plain(misfit.formula), "follows_from": false, "cause": cause, "reason": _reason(misfit)}
            claim = add_claim(walk, fact, link, misfit.target.name, verdict, **more)
            _remember(walk, misfit, claim)
            return claim
    return None


def _misfits(walk: Walk, fact: Fact, grid: Grid) -> Iterator[Misfit]:
    """The steps that may be shown here, each once. A row or a number alone may be a part of one."""
    tried: set[tuple[n.Expr, Symbol | None, bool]] = set()
    for target in targets(fact, walk.problem, walk.is_printed):
        same = target.expr, target.subject
        if (*same, True) in tried or (*same, target.certain) in tried:
            continue  # what nothing explains where it is certain, nothing explains where it is not
        tried.add((*same, target.certain))
        value = walk.evaluated(target.expr)
        item = walk.problem.program.item(target.subject) if target.subject is not None else None
        if value is None or not isinstance(item, Step):
            continue
        named = n.Name(item.symbol)
        is_whole = target.expr == named or step_with(walk.problem, target.expr, item.symbol) == item.symbol
        is_part = min(shape_of(grid)) == 1 < min(value.shape)
        if is_whole and not is_part and fitted(value, shape_of(grid)) is None:
            yield Misfit(target, item.expr, value.shape, grid)


def _carried_from(walk: Walk, misfit: Misfit) -> tuple[int, ...]:
    """The false claims that a value follows from, if the author's own numbers give it in that very shape."""
    for author in walk.minds:
        own = None if author.has_usual_shapes else author.own(misfit.formula)
        if own is not None and own.shape == shape_of(misfit.grid) and all(map(agree, misfit.grid, own.rows)):
            return tuple(k for k in author.blamed(misfit.formula) if walk.claims[k - 1].verdict in FALSE)
    return ()


def _explained(walk: Walk, fact: Fact, misfit: Misfit) -> tuple[bool, Cause | None]:
    """Whether known mistakes give the value, from the numbers as printed or as they must have been meant."""
    if not misfit.target.certain and not _is_telling(misfit.grid):
        return False, None
    trace, target = walk.problem.trace, misfit.target.expr
    return explain_misfit(trace, walk.minds, target, misfit.grid, fact.formula is not None)


def _is_telling(grid: Grid) -> bool:
    """Whether so many different numbers do not agree with anything by accident."""
    return min(shape_of(grid)) > 1 and len({cell.text for row in grid for cell in row}) >= ENOUGH_NUMBERS


def _reason(misfit: Misfit) -> str:
    return f"this is {say(shape_of(misfit.grid))}, and should be {say(misfit.shape)}"


def _remember(walk: Walk, misfit: Misfit, claim: Claim) -> None:
    """The author goes on with what was printed, whatever its shape."""
    if misfit.target.subject is not None:
        printed = Value(tuple(tuple(loosened(cell) for cell in row) for row in misfit.grid))
        walk.author.print(misfit.target.subject, printed, (claim.id,))
        walk.author.put_right(misfit.target.subject, walk.true(n.Name(misfit.target.subject)))
