"""Tables of sines and cosines of positions, with the formulas that the page states for their cells.

A page says PE_{pos,2i} = sin(pos / b^{2i/d}) or PE(p) = (sin p, cos p, …) once; a table under 'positional encoding'
shows them for some positions, across or down, with the positions beside them or not, or only the angles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.tables import frequencies
from qkv.library import around_said as said
from qkv.library.roles import roles_in_words
from qkv.library.words import means, spoken
from qkv.reader.model import Question, Relation, Sheet
from qkv.reading.by_words import by_scope
from qkv.reading.equation import Equation, Item, Kind
from qkv.regex import regex

MOST = 64  # positions and components
NEAR = 90  # characters before numbers that may say what they are
_WAVES = ("sin", "cos")
_STEPPING = regex(r"2[a-z](?:[-+−]1)?")  # the second index of PE_{pos,2i+1}
_ANGLE = regex(spoken("angle"), re.IGNORECASE)
_ADDED = regex(rf"\+|{spoken('sum')}|{spoken('acts')}", re.IGNORECASE)
_WIDTHS = frozenset({"d", "d_model", "D", "dim", "d_emb"})
_SIZE = regex(rf"{spoken('dimension')}\W{{0,4}}(?:\w{{1,3}}\W{{1,3}})?(?P<size>\d{{1,3}})(?!\d|[.,]\d)", re.IGNORECASE)


def with_waves(made: list[Equation], sheet: Sheet) -> tuple[list[Equation], Sheet]:
    """The equations of a page with the formulas of the sines and cosines that it shows in tables."""
    return by_scope(made, sheet, _Waves.of) if said.PLACES_ASKED.search(sheet.text.lower()) else (made, sheet)


@dataclass
class _Waves:
    """The codes of positions that a page states: one formula for even and one for odd components, or one for all."""

    row: Callable[[int, int], tuple[n.Expr, ...]]
    base: n.Expr | None
    width: int
    name: str

    @classmethod
    def of(cls, made: Sequence[Equation], sheet: Sheet, lines: range) -> _Waves | None:
        width = next((w for e in made for w in _sizes(e)), 0)
        text = "\n".join(sheet.lines[lines.start - 1 : lines.stop - 1])
        told = _SIZE.search(text)
        width = width or (int(told["size"]) if told else 0)
        pair = {s.indices[1]: (s, e.items[-1].expr) for e in made for s in e.names if _is_pair(s, e)}
        if len(pair) == 2:
            both = tuple(pair.values())
            return cls(lambda place, size: _of_pair(both, place, size), _base(both), width, both[0][0].base)
        whole = next((found for e in made if (found := _whole(e)) is not None), None)
        if whole is None:
            return None
        call, vector = whole
        return cls(lambda place, size: _put(vector, call.args[0], place), None, 0, call.function)

    def told(self) -> Iterable[Equation]:
        """Nothing but what the page has a name for."""
        return ()

    def asked(self, question: Question) -> Question:
        """A question as it stands."""
        return question

    def judged(self, equation: Equation) -> Equation:
        """A table of codes or of angles with its formula."""
        value = next((item.expr for item in equation.of(Kind.VALUE)[-1:] if isinstance(item.expr, n.Matrix)), None)
        if value is None or value.is_ragged or max(value.shape) > MOST or equation.struck or equation.of(Kind.WORKING):
            return equation
        named = any(_ANGLE.fullmatch(str(symbol)) for symbol in equation.names)
        if named or _ANGLE.search(equation.label or equation.words[-NEAR:]):
            made = self._angles(equation, value)
            kept = [item for item in equation.items if item.kind is not Kind.FORMULA]
            return _with(replace(equation, items=tuple(kept)), [made]) if made is not None else equation
        if equation.of(Kind.FORMULA):
            return equation
        told = self._is_told(equation) and all(
            _is_wave(cell) for row in value.rows for cell in row[self._led(equation) :]
        )
        return (
            _with(equation, [made for made in self._codes(equation, value) if made is not None]) if told else equation
        )

    def _is_told(self, equation: Equation) -> bool:
        """Whether words call a table that of codes, or its heads are waves or number positions and components."""
        heads = [head for head in equation.columns if any(wave in head.lower() for wave in _WAVES)]
        if len(heads) > 1 or self._is_across(equation) or any(symbol.base == self.name for symbol in equation.names):
            return True
        near = (equation.label or equation.words[-NEAR:]).lower()
        called = said.PLACES_ASKED.search(near) or re.search(rf"(?<!\w){re.escape(self.name.lower())}(?!\w)", near)
        others = roles_in_words(said.PLACES_ASKED.sub(" ", near))
        return bool(called) and not equation.names and Role.X not in others and not _ADDED.search(near)

    @staticmethod
    def _is_across(equation: Equation) -> bool:
        """Whether the columns number positions, and the rows components."""
        return all(len(x) > 1 and _numbers(x) == list(range(len(x))) for x in (equation.rows, equation.columns))

    @staticmethod
    def _led(equation: Equation) -> bool:
        """Whether the first column has the positions."""
        return bool(equation.columns) and means(equation.columns[0].strip(" $*"), "place")

    def _codes(self, equation: Equation, value: n.Matrix) -> Iterator[n.Expr | None]:
        """The codes that a table shows: a row for each position, a column for each, or with the positions before them.
        Where nothing numbers the positions, they may begin at 1 as well."""
        rows, columns = value.shape
        if self._is_across(equation):
            codes = [self.row(place, max(self.width, rows)) for place in range(columns)]
            yield (
                n.Matrix(tuple(tuple(code[j] for code in codes) for j in range(rows)))
                if len(codes[0]) >= rows
                else None
            )
        elif self._led(equation) and len(equation.columns) == columns:
            first = [row[0] for row in value.rows]
            places = [int(x.value) for x in first if isinstance(x, n.Number) and x.value.denominator == 1]
            yield _matrix([(n.number(place), *self.row(place, columns - 1)) for place in places], rows, columns)
        elif len(places := _numbers(equation.rows)) == rows:
            yield _matrix([self.row(place, columns) for place in places], rows, columns)
        elif rows > 1:
            for start in (0, 1):
                yield _matrix([self.row(place + start, columns) for place in range(rows)], rows, columns)

    def _angles(self, equation: Equation, value: n.Matrix) -> n.Expr | None:
        """The angles of all positions and pairs."""
        rows, columns = value.shape
        width = self.width or 2 * columns
        if not isinstance(self.base, n.Number) or 2 * columns != width:
            return None
        places = _numbers(equation.rows)
        places = places if len(places) == rows else list(range(rows))
        per = frequencies(width, self.base)
        return n.Matrix(tuple(tuple(n.Product(n.number(place), angle) for angle in per) for place in places))


def _is_pair(symbol: Symbol, equation: Equation) -> bool:
    expr = equation.items[-1].expr
    waves = any(isinstance(node, n.Call) and node.function in _WAVES for node in n.walk(expr))
    return len(symbol.indices) == 2 == len(equation.items) and bool(_STEPPING.fullmatch(symbol.indices[1])) and waves


def _whole(equation: Equation) -> tuple[n.Call, n.Matrix] | None:
    """PE(p) = (sin p, cos p, …): the call and the vector."""
    call, vector = equation.items[0].expr, equation.items[min(1, len(equation.items) - 1)].expr
    if not isinstance(call, n.Call) or not isinstance(vector, n.Matrix) or 1 not in vector.shape:
        return None
    waves = any(isinstance(node, n.Call) and node.function in _WAVES for node in n.walk(vector))
    return (call, vector) if waves else None


def _sizes(equation: Equation) -> Iterable[int]:
    """The width that an equation gives: d = 4."""
    for item in equation.of(Kind.VALUE):
        if isinstance(item.expr, n.Number) and any(str(s) in _WIDTHS for s in equation.names):
            yield int(item.expr.value)


def _of_pair(pair: Sequence[tuple[Symbol, n.Expr]], place: int, width: int) -> tuple[n.Expr, ...]:
    """The components of one position: the formula for even ones and that for odd ones in turn."""
    ordered = sorted(pair, key=lambda each: "+" in each[0].indices[1])
    cells = []
    for j in range(width):
        symbol, made = ordered[j % 2]
        letter = re.sub(r"[^a-z]", "", symbol.indices[1])
        sizes = {str(size): width for size in n.names_in(made) if str(size) in _WIDTHS}
        for name, number in {symbol.indices[0]: place, letter: j // 2}.items():
            made = n.replaced(made, n.Name(Symbol(name)), n.number(number))
        for size in n.names_in(made):
            made = n.replaced(made, n.Name(size), n.number(sizes[str(size)])) if str(size) in sizes else made
        cells.append(made)
    return tuple(cells)


def _put(vector: n.Matrix, letter: n.Expr, place: int) -> tuple[n.Expr, ...]:
    made = n.replaced(vector, letter, n.number(place))
    return tuple(cell for row in made.rows for cell in row) if isinstance(made, n.Matrix) else ()


def _base(pair: Iterable[tuple[Symbol, n.Expr]]) -> n.Expr | None:
    """The base of the powers in a formula."""
    powers = [x.base for _, expr in pair for x in n.walk(expr) if isinstance(x, n.Power)]
    return powers[0] if powers and len(set(powers)) == 1 else None


def _numbers(labels: Sequence[str]) -> list[int]:
    """The positions that labels number: 0, pos=1, p2."""
    found = [re.fullmatch(r"\W*(?:[^\W\d_]{1,12}\W{0,3})?(\d{1,3})\W*", label) for label in labels]
    return [int(match[1]) for match in found if match] if all(found) else []


def _matrix(rows: Sequence[tuple[n.Expr, ...]], count: int, width: int) -> n.Expr | None:
    return n.Matrix(tuple(rows)) if len(rows) == count and all(len(row) == width for row in rows) else None


def _is_wave(cell: n.Expr) -> bool:
    """Whether a printed cell may be a sine or a cosine."""
    bare = cell.arg if isinstance(cell, n.Negate) else cell
    return isinstance(bare, n.Number) and abs(bare.value) <= 1


def _with(equation: Equation, options: Sequence[n.Expr]) -> Equation:
    """An equation with a formula between its name and its numbers, and other ways to read it."""
    if not options:
        return equation
    first, *others = options
    formula = Item(Kind.FORMULA, first, Relation.EQUAL, equation.line, equation.column, options=tuple(others))
    names = tuple(item for item in equation.items if item.kind is Kind.NAME)
    rest = [item for item in equation.items if item.kind is not Kind.NAME]
    shown = tuple(item._replace(relation=Relation.EQUAL) for item in rest[:1]) + tuple(rest[1:])
    begins = formula if names else formula._replace(relation=Relation.FIRST)
    return replace(equation, items=(*names, begins, *shown))
