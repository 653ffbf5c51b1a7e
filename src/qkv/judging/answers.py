"""A printed value of a solution against what its assignment makes of it: another method is a slip where it departs.

What is right by the assignment is right; what follows from an earlier slip is carried. A value that the author's own
formula explains, but the assignment's does not, is wrong, unless it is merely mentioned, is another step of the same
work under an odd name, or stands beside the right one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from qkv.check.cells import Grid, fitted, may_agree, shape_of, shows
from qkv.check.model import Cause, Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.judging.causes import as_mistake
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.steps import is_close
from qkv.library.roles import Place, places, roles_in_words
from qkv.reading.assignment import ANSWERS, is_asked
from qkv.reading.captions import captioned_role
from qkv.reading.definitions import Source
from qkv.reading.equation import Equation, Kind
from qkv.reading.evidence import printed_grid
from qkv.reading.naming import Known, role_symbol
from qkv.reading.page import Spot
from qkv.reading.system import LINE
from qkv.reading.treated import is_matrix
from qkv.regex import regex

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

ALSO = {  # steps that go under each other's names
    Role.SCORES: (Role.SCALED, Role.MASKED), Role.SCALED: (Role.MASKED,), Role.HEAD: (Role.OUTPUT, Role.CONCAT),
    Role.OUTPUT: (Role.HEAD, Role.CONCAT), Role.CONCAT: (Role.OUTPUT,),
}  # fmt: skip
_SCORES = frozenset({Role.SCORES, Role.SCALED, Role.MASKED})
_ROW = regex(
    r"(?:token|word|row|query|position|zeile|wort|ligne|mot|fila|linha|palavra|строка|токен|第)\W{0,2}(\d{1,2})"
)
_LABEL = regex(r"\W*(?:\d+\W+)?(?:[^\W\d_]+\W+){0,2}[^\W\d_]+\W*")  # a few words and nothing else
_HEAD = regex(r"(?:head|kopf|tête|cabeza|cabeça|голова|头)\W{0,2}(\d{1,2})")


class Target(NamedTuple):
    """What the assignment makes of a printed value, and whether it is sure that the value is meant to be that."""

    meaning: Meaning
    role: Role | None
    sure: bool
    worded: bool = False  # only words say so


def by_assignment(walk: Walk, equation: Equation, grid: Grid, spot: Spot, usual: Fit | None) -> Fit | None:
    """The meaning that a printed value has under an assignment; `usual` is the one that it has by itself."""
    targets = [t for t in _targets(walk, equation, grid, spot) if not _is_of_given(walk, equation, t.meaning)]
    found = [(target, f) for target in targets if (f := _fit(walk, grid, target.meaning))]
    for _, f in found:
        if f.is_clean:  # of what is carried in both, the numbers put in know every digit
            beside = usual is not None and usual.worst is f.worst is Verdict.CARRIED and usual.agreed > f.agreed
            return usual if beside else f
    if not found:
        meant = [target.meaning._replace(sure=True) for target in targets if target.sure]
        return next(walk.misfits(grid, meant), usual)
    if usual is not None and usual.is_clean and _takes_what_is_left(walk, usual.meaning):
        return usual
    if usual is not None and usual.meaning.how is How.WORKING and usual.worst is Verdict.CARRIED:
        return usual  # the slip is in the numbers put in
    target, f = found[0]
    beside = usual is not None and usual.meaning.how in (How.STATED, How.WORKING)
    contradicted = usual is not None and beside and usual.worst is Verdict.WRONG
    if not contradicted and (step := _other_step(walk, equation, grid, target, spot)) is not None:
        return step
    if _stands_beside_right(walk, equation, target, f, usual):
        return usual if usual is not None and usual.is_clean else None
    if usual is not None and usual.worst is Verdict.DRIFTED and _goes_on_otherwise(walk, target.meaning):
        usual = None
    if usual is not None and _same_truth(usual, f) and (usual.slips < f.slips or not target.sure):
        return usual
    if f.worst is Verdict.MISROUNDED:
        return f if usual is None or not usual.is_clean else usual
    named = as_mistake(grid, f, walk.mistakes_of(grid, spot))
    if named is not None and named[0].bits > f.bits:
        return named[0]
    if (masked := _masked(walk, grid, f)) is not None:
        return masked
    half = 2 * f.slips <= len(grid) * len(grid[0])
    return f if target.sure or (half and (usual is None or not usual.is_clean)) else usual


def _is_of_given(walk: Walk, equation: Equation, meaning: Meaning) -> bool:
    """Whether a meaning is a part of what the assignment gives under another name, and a formula stands beside the
    value: nobody is given what is asked for, so that a letter misleads."""
    part: n.Expr = meaning.expr
    while equation.of(Kind.FORMULA):
        while isinstance(part, (n.Call, n.Entry)):
            part = n.children(part)[0]
        source = walk.values.source(part.symbol, meaning.spot) if isinstance(part, n.Name) else None
        if source is None or not isinstance(part, n.Name) or source[2] is Source.GIVEN:
            return isinstance(part, n.Name) and source is not None and part.symbol not in equation.names
        part = source[0]
    return False


def _fit(walk: Walk, grid: Grid, meaning: Meaning) -> Fit | None:
    """A printed value against a meaning; where the author goes on with another step under the name of the right one,
    such as scores in the place of scaled scores, that is no drift."""
    made = walk.fit(grid, meaning)
    if made is None or made.worst is not Verdict.DRIFTED or not _goes_on_otherwise(walk, meaning):
        return made
    strict = fit(grid, meaning, made.true, None, frozenset(), False, None)
    return strict if strict is None or strict.true is None else _rounded_on_the_way(grid, strict, strict.true)


def _rounded_on_the_way(grid: Grid, strict: Fit, true: Value) -> Fit:
    """The same, where cells that come within a few units of what is true have only drifted."""
    rows = tuple(
        tuple(
            Verdict.DRIFTED if v in (Verdict.WRONG, Verdict.MISROUNDED) and is_close(shown, cell) else v
            for shown, cell, v in zip(*row, strict=True)
        )
        for row in zip(grid, true.rows, strict.verdicts, strict=True)
    )
    return strict._replace(verdicts=rows, slips=sum(row.count(Verdict.WRONG) for row in rows))


def _takes_what_is_left(walk: Walk, meaning: Meaning) -> bool:
    """Whether a value is worked out from an array that the assignment gives, and that nobody knows another use for: the
    solution knows better than the library what it is given for."""
    task = walk.system.page.task
    if task is None or meaning.how not in (How.SEARCHED, How.STATED):
        return False
    used = walk.inputs(n.Name(role_symbol(Role.OUTPUT)), meaning.spot)
    left = (walk.inputs(meaning.expr, meaning.spot) & task.definitions.keys()) - used
    formulas = (item.expr for equation in task.equations for item in equation.of(Kind.FORMULA))
    stated = {symbol for expr in formulas for symbol in n.names_in(expr)}
    return any(is_matrix(walk.system.page, symbol) and symbol not in stated for symbol in left)


def _goes_on_otherwise(walk: Walk, meaning: Meaning) -> bool:
    """Whether a name in a meaning was printed with something that is right, but another step."""
    for symbol in n.names_in(meaning.expr):
        true = walk.values.true(n.Name(symbol), meaning.spot)
        for name in (symbol, *walk.system.called(symbol)):
            printed = walk.prints.names.get(name)
            if (
                printed is not None
                and printed.true is not None
                and true is not None
                and not may_agree(printed.true, true)
            ):
                return True
    return False


def _masked(walk: Walk, grid: Grid, f: Fit) -> Fit | None:
    """Weights that are masked, though nobody asked for a mask."""
    expr = f.meaning.expr
    if not isinstance(expr, n.Softmax) or n.holds(expr, n.Mask) or n.holds(expr, n.Call):
        return None
    made, _ = walk.values.own(replace(expr, arg=n.Mask(expr.arg)), f.meaning.spot, walk.prints)
    if made is None or not shows(grid, made):
        return None
    return f._replace(
        cause=Cause("masked though nobody asked", "later tokens are masked, and the assignment asks for no mask")
    )


def _same_truth(usual: Fit, f: Fit) -> bool:
    """Whether two meanings come to the same value, so that only the way there differs."""
    return usual.true is not None and f.true is not None and may_agree(f.true, usual.true)


# — what a value is meant to be —


def _targets(walk: Walk, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Target]:
    answers, told = equation.index in walk.system.choices.answered, walk.system.page.told
    names = [symbol for symbol in equation.names if answers or symbol in told]
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
    expr = walk.values.prepared(expr, spot) or expr
    letters = {p.role for p in places(symbol)}
    whole = symbol._replace(base=symbol.base.upper(), indices=symbol.indices[:-1])
    known = walk.system.known_by(symbol) in (Known.STATED, Known.LAID_OUT) or len(letters) == 1
    known = known or symbol in walk.system.page.told or captioned_role(walk.system.page, symbol) is role is not None
    sure = known or (task is not None and any(s in task.definitions or is_asked(s, task) for s in (symbol, whole)))
    yield Target(Meaning(How.ASSIGNED, expr, spot, known_as=_known_as(walk, place, spot)), role, sure)


def _known_as(walk: Walk, place: Place | None, spot: Spot) -> n.Expr | None:
    """What later formulas call that which stands in a place: a role, or a line of it."""
    if place is None or place.role not in ANSWERS or place.column is not None:
        return None
    name = n.Name(role_symbol(place.role, place.head))
    at = walk.system.position(place.row, spot.scope) if place.row is not None else None
    return name if place.row is None else n.Call(LINE, (name, n.number(at))) if at is not None else None


def _through(walk: Walk, expr: n.Expr, spot: Spot) -> n.Expr:
    """An expression as a formula: a role is what gives that role, a line of something the line of what gives it."""
    if isinstance(expr, n.Name):
        source = walk.values.source(expr.symbol, spot)
        return _through(walk, source[0], spot) if source is not None and source[2] is not Source.GIVEN else expr
    if isinstance(expr, n.Call) and expr.function == LINE and isinstance(expr.args[0], n.Name):
        rows = "rows" in walk.system.conventions(spot.scope)
        made = _of_line(walk, _through(walk, expr.args[0], spot), expr.args[1]) if rows else None
        return made or _line(walk, *expr.args)
    return expr


def _of_line(walk: Walk, expr: n.Expr, which: n.Expr) -> n.Expr | None:
    """A row of a formula, worked out from the row before: line(A V, 2) is line(A, 2) V."""
    if isinstance(expr, n.Product):
        return n.Product(_line(walk, expr.left, which), expr.right)
    if isinstance(expr, n.Softmax):
        return replace(expr, arg=_line(walk, expr.arg, which))
    return None


def _line(walk: Walk, whole: n.Expr, which: n.Expr) -> n.Expr:
    """A line of something, by its role where it has one, so that all speak of it alike."""
    place = walk.system.place(whole.symbol) if isinstance(whole, n.Name) else None
    if place is not None and place.row is None and place.role in ANSWERS:
        whole = n.Name(role_symbol(place.role, place.head))
    return n.Call(LINE, (whole, which))


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
    sure = len(values) == 1 and bool(_LABEL.fullmatch(words.split("\n")[-1]))
    for head, value in values:
        name = n.Name(role_symbol(role, head))
        if fitted(value, shape_of(grid)) is not None:
            yield Target(_worked(walk, name, spot), role, sure, worded=True)
        elif len(grid) == 1 and value.shape[1] == len(grid[0]) and "rows" in walk.system.conventions(spot.scope):
            rows = _ROW.findall(above)
            row = int(rows[-1]) + walk.system.choices.zero_based if rows else 0
            if 1 <= row <= value.shape[0]:
                line = n.Call(LINE, (name, n.number(row)))
                yield Target(_worked(walk, line, spot), role, sure, worded=True)


def _worked(walk: Walk, expr: n.Expr, spot: Spot) -> Meaning:
    made = _through(walk, expr, spot)
    return Meaning(How.ASSIGNED, walk.values.prepared(made, spot) or made, spot, known_as=expr)


# — excuses —


def _other_step(walk: Walk, equation: Equation, grid: Grid, target: Target, spot: Spot) -> Fit | None:
    """The meaning of a value that is another step of the same work, under a name or words that may stand for it."""
    if target.sure and not target.worded:
        letters = {place.role for symbol in equation.names for place in places(symbol)}
        scores = letters & _SCORES if target.role in _SCORES else set()
        roles = [*ALSO.get(target.role, ()), *sorted(scores, key=lambda role: role.value)] if target.role else []
    else:
        roles = [role for role in Role if role in ANSWERS]
    if target.role is Role.OUTPUT and _is_owed(walk, equation, target):
        return None  # heads under the name of the output, which stands nowhere: W_O was left out
    for role in roles:
        for head in (None, *walk.system.heads_in(spot.scope)):
            value = walk.values.role(role, head, spot)
            if value is not None and shows(grid, value):
                return walk.fit(grid, _worked(walk, n.Name(role_symbol(role, head)), spot))
    return None


def _is_owed(walk: Walk, equation: Equation, target: Target) -> bool:
    """Whether the assignment asks for a value by the very name that it has here, and the solution shows it nowhere."""
    task, true = walk.system.page.task, walk.values.true(target.meaning.expr, target.meaning.spot)
    if task is None or true is None or not any(is_asked(symbol, task) for symbol in equation.names):
        return False
    grids = (printed_grid(item) for other in walk.system.page.own for item in other.of(Kind.VALUE) if not item.struck)
    return not any(grid is not None and shows(grid, true) for grid in grids)


def _stands_beside_right(walk: Walk, equation: Equation, target: Target, f: Fit, usual: Fit | None) -> bool:
    """Whether a value that is explained otherwise stands beside the right one: then it was only looked at."""
    if usual is None or not usual.is_clean or f.true is None:
        return False
    for other in walk.system.page.own:
        roles = {place.role for symbol in other.names if (place := walk.system.place(symbol)) is not None}
        if other.index != equation.index and other.scope == equation.scope and roles <= {target.role}:
            grids = (printed_grid(item) for item in other.of(Kind.VALUE) if not item.struck)
            if any(grid is not None and shows(grid, f.true) for grid in grids):
                return True
    return False
