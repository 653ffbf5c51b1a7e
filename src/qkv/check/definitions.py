"""Formulas without numbers: V = X W_V is right where both sides come to the same in this problem."""

from __future__ import annotations

from collections.abc import Iterator

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
    if len(forms) < 2 or Form.FORMULA not in forms or not set(forms) <= {Form.NAME, Form.FORMULA}:
        return
    if walk.is_foreign(fact) or not all(_agrees(walk, fact.links, head) for head in _heads(walk, fact)):
        return
    formula = next(link for link, kind in zip(fact.links, forms, strict=True) if kind is Form.FORMULA)
    name = fact.subjects[0].spelled if fact.subjects else fact.links[0].text.strip()
    add_claim(walk, fact, formula, name, Verdict.RIGHT)


def _heads(walk: Walk, fact: Fact) -> tuple[int | None, ...]:
    """The head that a chain speaks of; all of them where it says Q_i."""
    heads = {item.head for item in walk.problem.program.items if item.head is not None}
    return (fact.head,) if fact.head is not None or not heads else tuple(sorted(heads))


def _agrees(walk: Walk, links: tuple[Link, ...], head: int | None) -> bool:
    known = [values for link in links if (values := list(_values(walk, link.expr, head)))]
    if len(known) < 2:
        return False
    first, *others = known
    return any(all(any(_same(a, b) for b in other) for other in others) for a in first)


def _values(walk: Walk, expr: n.Expr, head: int | None) -> Iterator[Value]:
    """What an expression comes to, with tokens as columns and as rows."""
    for meant in walk.problem.resolver.readings(expr, head):
        if (value := walk.evaluated(meant)) is not None:
            yield value


def _same(a: Value, b: Value) -> bool:
    turned = fitted(b, a.shape)
    return turned is not None and same_values(a, turned)
