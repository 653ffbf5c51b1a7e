"""Choices that a question makes for itself: without scaling, with a causal mask, another d_k."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.show import plain
from qkv.interpret.certified import same
from qkv.library.roles import roles_in_words
from qkv.library.said import Method, methods_said
from qkv.reading.asked import questions_of
from qkv.reading.choices import Choices
from qkv.reading.choose import END
from qkv.reading.equation import Equation, Kind
from qkv.reading.method import speaks_of_mask
from qkv.reading.naming import role_symbol
from qkv.reading.page import Page, Spot
from qkv.reading.system import System
from qkv.reading.values import Values

AFTER = (Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.OUTPUT)


def supposed(values: Values, scope: int) -> Iterator[tuple[str, System, Values]]:
    """The systems under which questions of a problem want it worked out again, each with the words that say so."""
    page, choices = values.system.page, values.system.choices
    spot, known = Spot(scope, END), [values]
    said = methods_said(page.words_of(scope))
    asked = (method for question in questions_of(page, scope) for method in methods_said(question.text, asked=True))
    for method in dict.fromkeys((*said, *asked, *_around_the_mask(page, choices, scope))):
        made = _with_method(choices, method, scope)
        system = System(page, made)
        other = Values(system)
        if made != choices and not any(_same_weights(other, before, spot) for before in known):
            known.append(other)
            yield called(method), system, other


def _around_the_mask(page: Page, choices: Choices, scope: int) -> Iterator[Method]:
    """Attention without a mask, where a page works weights or outputs out before it speaks of a mask; with one, where a
    page that needs none prints masked scores as well."""
    first, last = page.lines_of(scope)
    said = (i for i, line in enumerate(page.sheet.lines[first - 1 : last], first) if speaks_of_mask(line.lower()))
    masked, here = next(said, None), [e for e in page.equations if e.scope == scope]
    if masked is None:
        return
    if "causal" in choices.conventions[scope] and any(e.line < masked and _is_after_softmax(e) for e in here):
        yield Method("before the mask", causal=False)
    elif "open" in choices.conventions[scope] and any(map(_shows_masked, here)):
        yield Method("behind the mask", causal=True)


def _shows_masked(equation: Equation) -> bool:
    """Whether an equation prints numbers among infinities."""
    values = [item.expr for item in equation.of(Kind.VALUE) if isinstance(item.expr, n.Matrix)]
    cells = [cell for value in values for row in value.rows for cell in row]
    hidden = [cell for cell in cells if n.holds(cell, n.Infinite)]
    return bool(hidden) and any(isinstance(cell, n.Number) and cell.value != 0 for cell in cells)


def _is_after_softmax(equation: Equation) -> bool:
    """Whether an equation shows weights, or what is made with them."""
    after = {Role.WEIGHTS, Role.HEAD}.intersection(roles_in_words(equation.label))
    formulas = (item.expr for item in equation.of(Kind.WORKING, Kind.FORMULA))
    return bool(equation.of(Kind.VALUE)) and (bool(after) or any(n.holds(expr, n.Softmax) for expr in formulas))


def _with_method(choices: Choices, method: Method, scope: int) -> Choices:
    conventions = set(choices.conventions[scope])
    for said, yes, no in ((method.scaled, "scaled", "unscaled"), (method.causal, "causal", "open")):
        if said is not None:
            conventions = conventions - {yes, no} | {yes if said else no}
    scale = method.scale
    if method.factor is not None:
        usual = n.Root(n.Name(role_symbol(Role.D_K))) if "scaled" in conventions else n.number(1)
        scale, conventions = n.Quotient(scale or usual, method.factor), conventions - {"unscaled"} | {"scaled"}
    return choices.with_conventions(scope, frozenset(conventions))._replace(
        sight=method.sight, scale=scale, supposed=True
    )


def _same_weights(one: Values, other: Values, spot: Spot) -> bool:
    """Whether a method changes nothing, or has no weights."""
    heads = (None, *one.system.heads_in(spot.scope))
    pairs = [tuple(v.true(n.Name(role_symbol(Role.WEIGHTS, head)), spot) for v in (one, other)) for head in heads]
    return all(a is None or (b is not None and same(a, b)) for a, b in pairs)


def called(method: Method) -> str:
    """A method in a few words."""
    words = (
        []
        if method.scaled is None or method.scale is not None
        else ["with scaling" if method.scaled else "without scaling"]
    )
    words += [f"scores times {plain(method.factor)}"] if method.factor is not None else []
    words += [f"divided by {plain(method.scale)}"] if method.scale is not None else []
    words += ["causal" if method.causal else "without a mask"] if method.causal is not None else []
    words += ["with the mask that is said"] if method.sight is not None else []
    return ", ".join(words)
