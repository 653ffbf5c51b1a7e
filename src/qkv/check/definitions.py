"""Formulas without numbers: V = X W_V is right where both sides come to the same in this problem."""

from __future__ import annotations

from qkv.check.cells import fitted
from qkv.check.memory import same_values
from qkv.check.model import Verdict
from qkv.check.walk import Walk, add_claim
from qkv.expr import nodes as n
from qkv.interpret.certified import Value
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.values import Form


def judge_definition(walk: Walk, fact: Fact) -> None:
    """Call a chain of names and formulas right if all that mean something here agree. If they do not, nothing is said:
    a general formula may speak of another convention than the numbers."""
    forms = fact.forms
    if len(forms) < 2 or Form.FORMULA not in forms or Form.WORKING in forms or Form.VALUE in forms:
        return
    if walk.is_foreign(fact) or not all(_agrees(walk, fact.links, head) for head in _heads(walk, fact)):
        return
    formula = next(link for link, kind in zip(fact.links, forms, strict=True) if kind is Form.FORMULA)
    name = fact.subjects[0].spelled if fact.subjects else fact.links[0].text.strip()
    add_claim(walk, fact, formula, name, Verdict.RIGHT)


def _heads(walk: Walk, fact: Fact) -> tuple[int | None, ...]:
    """The head that a chain speaks of; all of them where it says Q_i."""
    return (fact.head,) if fact.head is not None or not walk.heads else walk.heads


def _agrees(walk: Walk, links: tuple[Link, ...], head: int | None) -> bool:
    """Whether what comes to something comes to the same; a second reading is worked out only where the first fails."""
    for i, link in enumerate(links):
        known = False
        for meant in walk.problem.resolver.readings(link.expr, head):
            if (value := walk.evaluated(meant)) is None:
                continue
            known = True
            if _comes_to(meant, value, walk, links[i + 1 :], head):
                return True
        if known:
            return False
    return False


def _comes_to(meant: n.Expr, value: Value, walk: Walk, links: tuple[Link, ...], head: int | None) -> bool:
    """Whether a link comes to this value, and all others that come to something do."""
    any_does = False
    for link in links:
        known = does = False
        for other in walk.problem.resolver.readings(link.expr, head):
            if other == meant and not n.holds(other, n.Softmax):  # Σ_j a_j v_j, and a_1 v_1 + a_2 v_2 before it
                known = does = True
            elif (made := walk.evaluated(other)) is not None:
                known, does = True, _same(value, made)
            if does:
                break
        if known and not does:
            return False
        any_does = any_does or does
    return any_does


def _same(a: Value, b: Value) -> bool:
    turned = fitted(b, a.shape)
    return turned is not None and same_values(a, turned)
