"""A printed value of a solution against what its assignment makes of it: another method is a slip where it departs.

What is right by the assignment is right; what follows from an earlier slip is carried. A value that the author's own
formula explains, but the assignment's does not, is wrong, unless it is merely mentioned, is another step of the same
work under an odd name, or stands beside the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import agree
from qkv.check.model import Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Value
from qkv.judging.causes import as_mistake
from qkv.judging.fit import Fit, How, Meaning
from qkv.library.roles import places, roles_in_words
from qkv.reading.assignment import ANSWERS, is_asked
from qkv.reading.choose import printed_grid
from qkv.reading.equations import Equation, Kind
from qkv.reading.page import Source
from qkv.reading.system import LINE, Known, Spot, role_symbol

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

ALSO = {  # steps that go under each other's names
    Role.SCORES: (Role.SCALED, Role.MASKED), Role.SCALED: (Role.MASKED,), Role.HEAD: (Role.OUTPUT, Role.CONCAT),
    Role.OUTPUT: (Role.HEAD, Role.CONCAT), Role.CONCAT: (Role.OUTPUT,),
}  # fmt: skip
_MENTIONED = re.compile(
    r"\b(?:without|would|if|forgot(?:ten)?|wrong(?:ly)?|mistake\w*|instead|unlike|compar\w+|otherwise|not|no longer|originally|unscaled|unmasked)\b"
    r"|\b(?:ohne|wäre\w*|würde\w*|falsch|vergessen|sonst|sans|serait|seraient|oublié|sin|sería\w*|olvid\w+|sem|seria\w*|senza|sarebbe\w*|без|были бы)\b"
    r"|如果|若不|不缩放|忘记|しない|なければ"
)
_ROW = re.compile(
    r"(?:token|word|row|query|position|zeile|wort|ligne|mot|fila|linha|palavra|строка|токен|第)\W{0,2}(\d{1,2})"
)
_HEAD = re.compile(r"(?:head|kopf|tête|cabeza|cabeça|голова|头)\W{0,2}(\d{1,2})")


@dataclass(frozen=True, slots=True)
class Target:
    """What the assignment makes of a printed value, and whether it is sure that the value is meant to be that."""

    meaning: Meaning
    role: Role | None
    sure: bool


def by_assignment(walk: Walk, equation: Equation, grid: Grid, spot: Spot, usual: Fit | None) -> Fit | None:
    """The meaning that a printed value has under an assignment; `usual` is the one that it has by itself."""
    found = [(target, f) for target in _targets(walk, equation, grid, spot) if (f := walk.fit(grid, target.meaning))]
    for _, f in found:
        if f.is_clean:
            return f
    if not found:
        return usual
    target, f = found[0]
    if usual is not None and _same_truth(usual, f) and (usual.is_clean or not target.sure):
        return usual
    if _is_excused(walk, equation, grid, target, f, usual):
        return usual
    if f.worst is Verdict.MISROUNDED:
        return f if usual is None or not usual.is_clean else usual
    named = as_mistake(walk.scene(spot), walk.prints, grid, f, walk.is_false(f.used))
    if named is not None and named[0].bits > f.bits:
        return named[0]
    half = 2 * f.slips <= len(grid) * len(grid[0])
    return f if target.sure or (half and (usual is None or not usual.is_clean)) else usual


def _same_truth(usual: Fit, f: Fit) -> bool:
    """Whether two meanings come to the same value, so that only the way there differs."""
    if usual.true is None:
        return usual.meaning.how is How.WORKING
    return f.true is not None and _agree(f.true, usual.true)


def _agree(a: Value, b: Value) -> bool:
    pairs = zip(a.rows, b.rows, strict=False)
    return a.shape == b.shape and all(_meet(x, y) for r, q in pairs for x, y in zip(r, q, strict=True))


def _meet(a: Cell, b: Cell) -> bool:
    """Whether two true cells may be the same number."""
    if NEG_INF in (a, b):
        return a is b
    (low, high), (bottom, top) = bounds(a), bounds(b)
    return bool(low <= top and bottom <= high)


# — what a value is meant to be —


def _targets(walk: Walk, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Target]:
    names = [symbol for symbol in equation.names if equation.index in walk.system.choices.answered]
    for symbol in names:
        yield from _named(walk, symbol, spot)
    if names or equation.names:
        return
    if formulas := equation.of(Kind.FORMULA):
        for role in (walk.system.role_of(item.expr) for item in formulas[:1]):
            if role is not None and Role(role.labels[0]) in ANSWERS:
                yield from _named(walk, role, spot)
    elif not equation.of(Kind.WORKING):
        yield from _worded(walk, equation, grid, spot)


def _named(walk: Walk, symbol: Symbol, spot: Spot) -> Iterator[Target]:
    place = walk.system.place(symbol)
    role = place.role if place is not None else None
    source = walk.values.source(symbol, spot)
    task = walk.system.page.task
    if source is None:
        expr: n.Expr = n.Name(symbol)
    else:
        expr = n.Name(symbol) if source[2] is Source.GIVEN else _through(walk, source[0], spot)
    letters = {p.role for p in places(symbol)}
    known = walk.system.known_by(symbol) in (Known.STATED, Known.LAID_OUT) or len(letters) == 1
    sure = known or (task is not None and (symbol in task.definitions or is_asked(symbol, task)))
    yield Target(Meaning(How.ASSIGNED, expr, spot), role, sure)


def _through(walk: Walk, expr: n.Expr, spot: Spot) -> n.Expr:
    """An expression as a formula: a role is what gives that role, a line of something the line of what gives it."""
    if isinstance(expr, n.Name):
        source = walk.values.source(expr.symbol, spot)
        return _through(walk, source[0], spot) if source is not None and source[2] is not Source.GIVEN else expr
    if isinstance(expr, n.Call) and expr.function == LINE and isinstance(expr.args[0], n.Name):
        return _of_line(_through(walk, expr.args[0], spot), expr.args[1], walk.system.conventions(spot.scope)) or expr
    return expr


def _of_line(expr: n.Expr, which: n.Expr, conventions: frozenset[str]) -> n.Expr | None:
    """A row of a formula, worked out from the row before: line(A V, 2) is line(A, 2) V."""
    if "rows" not in conventions:
        return None
    if isinstance(expr, n.Product):
        return n.Product(n.Call(LINE, (expr.left, which)), expr.right)
    if isinstance(expr, n.Quotient):
        return replace(expr, numerator=n.Call(LINE, (expr.numerator, which)))
    if isinstance(expr, n.Softmax):
        return replace(expr, arg=n.Call(LINE, (expr.arg, which)))
    return None


def _worded(walk: Walk, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Target]:
    """What the words before a value call it, in each head or the one they name; of a single row, the row they name."""
    words = (equation.label or equation.words[-60:]).lower()
    above = f"{equation.words} {equation.label}".lower()
    role = next((role for role in roles_in_words(words) if role in ANSWERS), None)
    if role is None:
        return
    said = _HEAD.findall(above)
    heads = walk.system.heads_in(spot.scope)
    wanted = [h for h in heads if h == said[-1]] if said and heads else [None, *heads]
    values = [(h, v) for h in wanted if (v := walk.values.role(role, h, spot)) is not None]
    for head, value in values:
        name = n.Name(role_symbol(role, head))
        if fitted(value, shape_of(grid)) is not None:
            yield Target(Meaning(How.ASSIGNED, _through(walk, name, spot), spot), role, len(values) == 1)
        elif len(grid) == 1 and value.shape[1] == len(grid[0]) and "rows" in walk.system.conventions(spot.scope):
            rows = _ROW.findall(above)
            row = int(rows[-1]) + walk.system.choices.zero_based if rows else 0
            if 1 <= row <= value.shape[0]:
                line = n.Call(LINE, (name, n.number(row)))
                yield Target(Meaning(How.ASSIGNED, _through(walk, line, spot), spot), role, len(values) == 1)


# — excuses —


def _is_excused(walk: Walk, equation: Equation, grid: Grid, target: Target, f: Fit, usual: Fit | None) -> bool:
    """Whether a value that is not what the assignment makes of it is not held against its author."""
    if _is_mention(equation):
        return True
    if any(_shows(grid, v) for role in ALSO.get(target.role, ()) for v in _role_values(walk, role, f.meaning.spot)):  # type: ignore[arg-type]
        return True
    explained = usual is not None and usual.is_clean
    return explained and f.true is not None and any(
        _shows(other, f.true) for e in walk.system.page.own if e.index != equation.index and e.scope == equation.scope
        for item in e.of(Kind.VALUE) if not item.struck and (other := printed_grid(item)) is not None
    )  # fmt: skip


def _is_mention(equation: Equation) -> bool:
    """Whether the words right before a value say that it is not the author's answer."""
    words = re.split(r"[.;:!?。；]\s", f"{equation.words} {equation.label}".lower()[-120:])
    return bool(_MENTIONED.search(words[-1]))


def _role_values(walk: Walk, role: Role, spot: Spot) -> Iterator[Value]:
    for head in (None, *walk.system.heads_in(spot.scope)):
        value = walk.values.role(role, head, spot)
        if value is not None:
            yield value


def _shows(grid: Grid, value: Value) -> bool:
    """Whether a printed value is another one, to all its digits."""
    made = fitted(value, shape_of(grid))
    try:
        return made is not None and all(agree(row, cells) for row, cells in zip(grid, made.rows, strict=True))
    except QkvError:
        return False
