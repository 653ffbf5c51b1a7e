"""A right value beside numbers that do not give it: the slip is in what was written before it."""

from __future__ import annotations

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import Agreement, follows
from qkv.check.loose import Loose
from qkv.check.model import BAD, Claim, Verdict
from qkv.check.walk import Walk, add_claim
from qkv.errors import QkvError
from qkv.interpret.loop import evaluate
from qkv.sheet.model import Link, Relation
from qkv.understand.facts import Fact
from qkv.understand.values import Form, form


def judge_unequal(walk: Walk, fact: Fact, link: Link, grid: Grid, before: list[Link], claim: Claim) -> None:
    """softmax(2.12, 2.63) = (0.33, 0.67): the value is right, but not what the numbers before it give."""
    working = before[-1] if before else None
    equal = link.relation in (Relation.EQUAL, Relation.APPROX) and claim.verdict not in BAD
    if working is None or not equal or form(working.expr) is not Form.WORKING or _was_judged(walk, working):
        return
    try:
        value = fitted(evaluate(working.expr, {}, Loose()), shape_of(grid))
    except QkvError:
        return
    rows = zip(grid, value.rows, strict=True) if value is not None else ()
    if any(follows(cell, own) is Agreement.APART for row, owns in rows for cell, own in zip(row, owns, strict=True)):
        add_claim(walk, fact, working, claim.name, Verdict.WRONG, reason="this does not give what is said to equal it")


def _was_judged(walk: Walk, link: Link) -> bool:
    """Whether a link of the chain that is read has a verdict already."""
    place = link.at.line, link.at.column
    return id(link.expr) in walk.copied or any((claim.line, claim.column) == place for claim in walk.claims[-4:])
