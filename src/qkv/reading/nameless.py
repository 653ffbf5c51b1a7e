"""What a page sets out without names: words with vectors are tokens; arrays are what the words above them say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.roles import SCORE_LIKE, Place, places, roles_in_words
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Equation, Kind
from qkv.reading.unify import Unifier
from qkv.regex import regex

NAMELESS = "¶"  # the base of a symbol for an array that the page gives no name
INPUTS = frozenset({
    Role.X, Role.Y, Role.Q, Role.K, Role.V, Role.STATES, Role.SOURCE, Role.MASK, Role.W_Q, Role.W_K, Role.W_V, Role.W_O,
})  # fmt: skip


def token_runs(made: tuple[Equation, ...]) -> list[list[Equation]]:
    """Words with vectors of one length, one after the other: I = [1, 0, 1], love = [0, 1, 0]."""
    runs: list[list[Equation]] = []
    run: list[Equation] = []
    no_tokens = _addends(made) | _distributed(made)
    for equation, after in zip(made, (*made[1:], None), strict=False):
        begins = after is not None and _is_token(after, False) and len(after.names[0].base) > 2
        among = bool(run) or (
            begins and len(equation.names[:1]) == 1 and len(equation.names[0].base) > 1
        )  # le, chat, …
        if not _is_token(equation, among) or equation.names[0] in no_tokens:
            continue
        if run and (
            run[-1].scope != equation.scope
            or _length(run[-1]) != _length(equation)
            or equation.index - run[-1].index > 2
        ):
            runs.append(run)
            run = []
        run.append(equation)
    runs.append(run)
    return [run for run in runs if len(run) > 1 and len({e.names[0] for e in run}) == len(run)]


def _addends(made: tuple[Equation, ...]) -> set[Symbol]:
    """The names that formulas add to products: a bias, and no token."""
    formulas = (item.expr for equation in made for item in equation.of(Kind.FORMULA))
    sums = (node for formula in formulas for node in n.walk(formula) if isinstance(node, n.Sum))
    return {
        term.symbol
        for node in sums
        if any(isinstance(term, n.Product) for term in node.terms)
        for term in node.terms
        if isinstance(term, n.Name)
    }


def _distributed(made: tuple[Equation, ...]) -> set[Symbol]:
    """The names that formulas take a softmax of: scores, and no tokens."""
    formulas = (item.expr for equation in made for item in equation.of(Kind.FORMULA))
    inner = (node.arg for formula in formulas for node in n.walk(formula) if isinstance(node, n.Softmax))
    return {arg.symbol for arg in inner if isinstance(arg, n.Name)}


def _is_token(equation: Equation, goes_on: bool) -> bool:
    if len(equation.items) != 2 or len(equation.names) != 1 or equation.items[1].kind is not Kind.VALUE:
        return False
    symbol, value = equation.names[0], equation.items[1].expr
    vector = isinstance(value, n.Matrix) and 1 in value.shape and value.shape != (1, 1)
    word = (
        not symbol.indices
        and not symbol.labels
        and symbol.base.isalpha()
        and (len(symbol.base) > 2 or goes_on or symbol.base == "I")
    )
    return vector and word and (not places(symbol) or symbol.base == "I")


def _length(equation: Equation) -> int:
    return max(equation.items[1].expr.shape)  # type: ignore[union-attr]


def role_of_run(run: list[Equation], labels: list[str]) -> Role:
    """What words with vectors are, by what is said above them: inputs, or any step where the words label rows above."""
    said = roles_in_words(run[0].words[-80:])
    return next((role for role in said if role in INPUTS), Role.X)


def name_arrays(
    made: tuple[Equation, ...], defined: dict[Symbol, list[Definition]], fixed: dict[Symbol, Place], words: set[str]
) -> dict[int, tuple[Role, ...]]:
    """Give arrays and labelled lines without a name a symbol of their own; of arrays, the roles that words suggest."""
    suggested: dict[int, tuple[Role, ...]] = {}
    said, formulas = "", dict(given_formulas(made))
    for above, equation in zip((None, *made), made, strict=False):
        if equation.names or equation.struck or equation.next:
            continue
        goes_on = above is not None and above.label and equation.label and equation.line - above.end_line <= 2
        said = said if goes_on else equation.words
        symbol = Symbol(NAMELESS, (), (str(equation.index),))
        where = equation.line, equation.scope, equation.index
        if (role := formulas.get(equation.index)) is not None:
            defined[symbol].append(Definition(symbol, equation.items[-1].expr, Source.GIVEN, *where))
            suggested[equation.index] = (role,)
        elif _is_array(equation) and not _counts(equation.items[0].expr):
            defined[symbol].append(Definition(symbol, equation.items[0].expr, Source.GIVEN, *where))
            suggested[equation.index] = _suggested(equation, said)
        elif equation.label.lower() in words and (roles := roles_in_words(said[-90:])):
            fixed[symbol] = Place(roles[0], None, equation.label.lower())
            for item in equation.of(Kind.FORMULA, Kind.WORKING)[:1]:
                source = Source.STATED if item.kind is Kind.FORMULA else Source.WORKING
                defined[symbol].append(Definition(symbol, item.expr, source, *where))
    return suggested


def given_formulas(made: tuple[Equation, ...]) -> Iterator[tuple[int, Role]]:
    """The equations that give a step of attention by its formula, with its role, where the page has nothing that the
    formula could be worked out of: 'Q Kᵀ = [[4, 2], [1, 3]]'."""
    if gives_inputs(made):
        return
    given = _with_numbers(made)
    unifier = Unifier(lambda symbol: next(iter(places(symbol)), None))
    for equation in made:
        left, right = equation.items[0], equation.items[-1]
        stated = len(equation.items) == 2 and left.kind is Kind.FORMULA and not equation.struck
        if stated and right.kind is Kind.VALUE and isinstance(right.expr, n.Matrix) and right.expr.shape != (1, 1):
            role = next(iter(unifier.roles(left.expr)), None)
            if role in (Role.SCORES, Role.SCALED, Role.WEIGHTS) and given.isdisjoint(n.names_in(left.expr)):
                yield equation.index, role


def gives_inputs(made: Sequence[Equation]) -> bool:
    """Whether a page gives anything, by its name or in words, that scores are worked out of."""
    named = {place.role for symbol in _with_numbers(made) for place in places(symbol)[:1]}
    arrays = (role for equation in filter(_is_array, made) for role in roles_in_words(equation.words[-70:]))
    return not BEFORE_SCORES.isdisjoint({*named, *arrays})


def _with_numbers(made: Sequence[Equation]) -> set[Symbol]:
    return {symbol for equation in made if equation.of(Kind.VALUE, Kind.WORKING) for symbol in equation.names}


BEFORE_SCORES = frozenset({Role.X, Role.Y, Role.Q, Role.K, Role.STATES, Role.SOURCE, Role.W_Q, Role.W_K})


def _is_array(equation: Equation) -> bool:
    only = equation.items[0]
    return len(equation.items) == 1 and only.kind is Kind.VALUE and isinstance(only.expr, n.Matrix)


def _counts(array: n.Expr) -> bool:
    """Whether a column only numbers the rows beside it: 1, 2, 3."""
    if not isinstance(array, n.Matrix) or array.shape[1] != 1 or len(array.rows) < 2:
        return False
    cells = [row[0].value if isinstance(row[0], n.Number) else None for row in array.rows]
    return cells in (list(range(len(cells))), list(range(1, len(cells) + 1)))


def _suggested(equation: Equation, said: str) -> tuple[Role, ...]:
    """The inputs that the labels of all rows of an array speak of ('key 1', 'key 2'), or else the words above it, not
    the label of its first row, 'Token 0:'; only a pattern of zeros, ones and infinities is a mask."""
    named = {tuple(roles_in_words(label))[:1] for label in equation.rows}
    if len(named) == 1 and not named & {(), (Role.X,)} and _may_be_input(equation):  # 'Token 0' says whose row it is
        return next(iter(named))
    if equation.rows and equation.columns and _all_of(equation.rows, Role.Q) and _all_of(equation.columns, Role.K):
        return (next((role for role in roles_in_words(said[-70:]) if role in SCORE_LIKE), Role.SCORES),)  # each to each
    said = said.rstrip(" :").removesuffix(equation.rows[0]) if equation.rows else said
    roles = list(dict.fromkeys((*roles_in_words(equation.label), *roles_in_words(said[-70:]))))
    if roles and roles[0] is Role.MASK and not is_pattern(equation.items[0].expr):
        roles = roles[1:]
    return tuple(roles) if _may_be_input(equation) else tuple(role for role in roles if role not in _VECTORS)


def _all_of(labels: tuple[str, ...], role: Role) -> bool:
    """Whether all labels of rows or columns name one of the queries, or of the keys: 'q1', 'query 2', $k_3$."""
    letter = re.compile(rf"\W*{role.value[0]}\W*\w{{1,8}}\W*", re.IGNORECASE)
    return all(letter.fullmatch(label) or roles_in_words(label)[:1] == (role,) for label in labels)


_VECTORS = INPUTS - {Role.MASK}
_BOUNDS = regex(
    r"(?:interval\w*|range|rango|plage|intervall\w*|диапазон\w*|区间|範囲)\W*(?:of|from|de)?\W*$", re.IGNORECASE
)


def _may_be_input(equation: Equation) -> bool:
    """Whether numbers may be vectors of tokens: neither shares in per cent, nor masked scores, nor two bounds."""
    array = equation.items[0].expr
    cells = [cell for row in array.rows for cell in row] if isinstance(array, n.Matrix) else []
    odd = any(n.holds(c, n.Infinite) or (isinstance(c, n.Number) and "%" in (c.text or "")) for c in cells)
    return not odd and not (len(cells) == 2 and _BOUNDS.search(equation.label))


def is_pattern(array: n.Expr) -> bool:
    """Whether an array holds nothing but zeros, ones and infinities, as masks do."""
    cells = [cell for row in array.rows for cell in row] if isinstance(array, n.Matrix) else []
    return all(
        isinstance(c, n.Infinite)
        or (isinstance(c, n.Number) and (c.value in (0, 1) or c.value <= -1000))
        or (isinstance(c, n.Negate) and isinstance(c.arg, n.Infinite))
        for c in cells
    )
