"""One short expression over earlier values that gives every digit of a printed grid, blind to names and words.

A printed grid is held against candidates, cheapest first:

    depth 0   an earlier value, its transpose, a row, a column, a cell, a block of it
    depth 1   a function of one value (softmax, division by √d, layer norm …); two values together (A B, A Bᵀ, A + B …)
    depth 2   a function of two values together; A B + C, (A B) C, softmax(A Bᵀ/√d) C

Each kind of candidate is a generator of trials. Shapes rule out most candidates, one cell rules out nearly all others,
and only what is left is worked out as a whole. Floats with first-order error bounds do this: they rule out, they never
decide. The expression that is returned can be evaluated in certified arithmetic, and its value has the printed shape.

What a match is worth is counted in bits: what the digits tell, less the precision that wide operands lose, less the
logarithm of the number of candidates tried. No later candidate can be worth more than the digits less that logarithm:
the search ends when this falls below what is needed, or below what has been found. So the order of the pool
matters: put what most likely explains the grid first.

Inside, a printed column is searched for as a row, and vectors are taken as rows; only the result is turned back.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, permutations
from operator import add, mul, sub, truediv
from typing import Final, NamedTuple, TypeAlias

from flint import fmpq

from qkv.check.compare import Shown
from qkv.errors import ValueRefused
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Value
from qkv.reading.bits import LITTLE, grid_bits

Row: TypeAlias = tuple[float, ...]
Table: TypeAlias = tuple[Row, ...]
Shape: TypeAlias = tuple[int, int]
Line: TypeAlias = tuple[Row, Row]  # centres and errors

INFINITY: Final = math.inf
STAND_IN: Final = -1000.0  # code writes numbers below this for −∞
NEED: Final = 4.0
LIMIT: Final = 40_000
PRIOR: Final = 2.0  # bits that any searched expression costs
RELATIVE, ABSOLUTE = 1e-9, 1e-13  # what floats may be off


@dataclass(frozen=True, slots=True)
class Known:
    """An earlier value: what stands for it, and its cells as floats with their errors; −∞ has no error."""

    expr: n.Expr
    centre: Table
    radius: Table


@dataclass(frozen=True, slots=True)
class Found:
    """An expression that gives a printed grid, in the grid's shape; what that is worth; the pool values it uses."""

    expr: n.Expr
    bits: float
    uses: tuple[int, ...]


def known(expr: n.Expr, value: Value) -> Known | None:
    """A certified value as floats; None where a cell is too large for a float, or not finite."""
    cells = [[_float(cell) for cell in row] for row in value.rows]
    centre = tuple(tuple(middle for middle, _ in row) for row in cells)
    radius = tuple(tuple(error for _, error in row) for row in cells)
    is_held = all(x < INFINITY for x in chain(*centre, *radius))  # false of NaN too
    return Known(expr, centre, radius) if is_held else None


def _float(cell: Cell) -> tuple[float, float]:
    """The middle of a cell and how far it reaches, NaN where floats cannot hold it."""
    if cell is NEG_INF:
        return -INFINITY, 0.0
    try:
        if type(cell) is fmpq:
            return int(cell.p) / int(cell.q), 0.0
        middle, reach = float(cell.mid()), float(cell.rad())
    except OverflowError:
        return math.nan, math.nan
    return (middle, reach) if math.isfinite(middle) else (math.nan, math.nan)


def search(
    grid: Sequence[Sequence[Shown]], pool: Sequence[Known], sizes: Sequence[int], need: float = NEED, limit: int = LIMIT
) -> Found | None:
    """The best expression at the least depth that explains a printed grid by at least `need` bits, or None.

    `sizes` are the numbers d that scores may be divided by, as √d or as d. No more than `limit` candidates are tried.
    """
    target = _target(grid)
    if target is None or target.total - PRIOR < need:
        return None
    best: Found | None = None
    tried = 0
    for depth in _depths(target, pool, sizes):
        for count, made in depth:
            tried += count
            cost = math.log2(tried + 1) + PRIOR
            if made is not None:
                bits = _gain(target, made) - cost - made.extra
                if bits >= need and (best is None or bits > best.bits):
                    expr = _transposed(made.expr) if target.is_column else made.expr
                    best = Found(expr, bits, tuple(sorted(set(made.uses))))
            if tried > limit or target.total - cost < (need if best is None else best.bits + RELATIVE):
                return best
        if best is not None:
            return best
    return None


def _depths(target: _Target, pool: Sequence[Known], sizes: Sequence[int]) -> Iterator[Trials]:
    """The candidates, depth by depth; rows, columns and cells are taken apart only if no whole value will do."""
    wholes = tuple(_whole(i, value) for i, value in enumerate(pool))
    matrices = tuple(a for a in wholes if 1 not in a.shape)
    turns = tuple(map(_turned, matrices))
    yield _depth_0(target, (*wholes, *turns) if target.kind else wholes)
    scene = _scene(target, wholes, matrices, turns, tuple(d for d in dict.fromkeys(sizes) if d > 1))
    yield _depth_1(target, scene)
    yield _depth_2(target, scene)


# ── the printed grid ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Ratio(NamedTuple):
    """Two printed weights of one line. Scores that a softmax sends there differ by log(p/q), from `low` to `high`."""

    p: tuple[int, int]
    q: tuple[int, int]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Target:
    """A printed grid, a column as a row. `half` is what each cell may be off, floats considered."""

    centre: Table
    half: Table
    units: Table  # half a unit of what the digits of each cell resolve
    bits: Table
    total: float
    is_column: bool
    probe: tuple[int, int]  # the cell that rules out candidates: the one with the most precise digits
    by_rows: _Ratio | None
    by_columns: _Ratio | None
    is_masked: bool  # −∞ above the diagonal
    is_causal: bool  # weights, 0 above the diagonal

    @property
    def shape(self) -> Shape:
        return len(self.centre), len(self.centre[0])

    @property
    def kind(self) -> int:
        """0 for a number, 1 for a vector, 2 for a matrix."""
        return sum(size > 1 for size in self.shape)


def _target(grid: Sequence[Sequence[Shown]]) -> _Target | None:
    """A printed grid as floats; None for a ragged or an empty one, and for cells that no float holds."""
    if not grid or not grid[0] or len(set(map(len, grid))) > 1:
        return None
    is_column = len(grid[0]) == 1 < len(grid)
    rows = [[row[0] for row in grid]] if is_column else grid
    cells = [[_printed(shown) for shown in row] for row in rows]
    if any(math.isnan(x) for row in cells for x, _ in row):
        return None
    centre = tuple(tuple(x for x, _ in row) for row in cells)
    half = tuple(tuple(h + RELATIVE * min(abs(x), 1e300) + ABSOLUTE for x, h in row) for row in cells)
    bits = grid_bits(rows)
    units = tuple(
        tuple(h or min(max(abs(x), ABSOLUTE), 1e300) / 2 ** (b + 1) for (x, h), b in zip(row, bits_row, strict=True))
        for row, bits_row in zip(cells, bits, strict=True)
    )
    finite = [(i, j) for i, row in enumerate(centre) for j, x in enumerate(row) if x > -INFINITY]
    if not finite:
        return None
    probe = max(finite, key=lambda at: _sharpness(centre[at[0]][at[1]], half[at[0]][at[1]]))
    square = len(centre) == len(centre[0]) > 1
    above = [row[j] for i, row in enumerate(centre) for j in range(i + 1, len(row))] if square else []
    ratio_down = _ratio(_turn(centre), _turn(half))
    return _Target(
        centre,
        half,
        units,
        bits,
        sum(map(sum, bits)),
        is_column,
        probe,
        _ratio(centre, half),
        ratio_down and _Ratio((ratio_down.p[1], ratio_down.p[0]), (ratio_down.q[1], ratio_down.q[0]), *ratio_down[2:]),
        square and all(x <= STAND_IN for x in above),
        square and all(x == 0 for x in above) and all(map(_are_weights, centre, half)),
    )


def _sharpness(printed: float, half: float) -> tuple[bool, float]:
    """How well a cell rules out candidates: by its precision, and best if it cannot stand for −∞."""
    return printed > STAND_IN, abs(printed) / half


def _printed(shown: Shown) -> tuple[float, float]:
    """The middle of a printed cell and half a unit of its last place."""
    if shown.cell is NEG_INF:
        return -INFINITY, 0.0
    try:
        low, high = (shown.low, shown.high) if shown.low is not None else bounds(shown.cell)
        middle, half = (low + high) / 2, (high - low) / 2
        return int(middle.p) / int(middle.q), int(half.p) / int(half.q)
    except (OverflowError, ValueRefused):
        return math.nan, math.nan


def _ratio(centre: Table, half: Table) -> _Ratio | None:
    """The two weights in one row whose ratio is known best; None if the rows are no weights, or no row has two."""
    best: _Ratio | None = None
    if not all(map(_are_weights, centre, half)):
        return None
    for i, (row, halves) in enumerate(zip(centre, half, strict=True)):
        sure = sorted((h / x, j) for j, (x, h) in enumerate(zip(row, halves, strict=True)) if x > h)
        if len(sure) > 1:
            (_, j), (_, k) = sure[:2]
            low = math.log((row[j] - halves[j]) / (row[k] + halves[k]))
            high = math.log((row[j] + halves[j]) / (row[k] - halves[k]))
            if best is None or high - low < best.high - best.low:
                best = _Ratio((i, j), (i, k), low, high)
    return best


def _is_same(x: float, error: float, printed: float, half: float) -> bool:
    """Whether a number may be what is printed; −∞ may be printed as a very negative number, and the other way round."""
    if x == -INFINITY or printed == -INFINITY:
        return x <= STAND_IN and printed <= STAND_IN
    return abs(x - printed) <= half + error


def _agrees(target: _Target, centre: Table, radius: Table) -> bool:
    """Whether every cell of a candidate may be what is printed there."""
    return all(
        _is_same(x, e, m, h)
        for row, errors, printed, halves in zip(centre, radius, target.centre, target.half, strict=True)
        for x, e, m, h in zip(row, errors, printed, halves, strict=True)
    )


def _gain(target: _Target, made: _Operand) -> float:
    """The bits that a candidate explains: what each cell tells, less the precision that the candidate's error loses.
    A −∞ explains little, whatever is printed for it."""
    return sum(
        min(bits, LITTLE) if x == -INFINITY else max(0.0, bits - math.log2((unit + error) / unit))
        for told, units, row, errors in zip(target.bits, target.units, made.centre, made.radius, strict=True)
        for bits, unit, x, error in zip(told, units, row, errors, strict=True)
    )


# ── operands ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Operand:
    """A value to build with, or one that was built. `columns` is its transpose, `size` its largest absolute value,
    `reach` its largest error. `place` tells which line of its pool value it is, None for the whole."""

    expr: n.Expr
    centre: Table
    radius: Table
    uses: tuple[int, ...]
    columns: Table
    size: float
    reach: float
    place: tuple[str, int] | None = None
    extra: float = 0.0  # bits that it costs beyond the logarithm of the candidates tried

    @property
    def shape(self) -> Shape:
        return len(self.centre), len(self.columns)

    @property
    def is_finite(self) -> bool:
        return self.size < INFINITY


class _Trial(NamedTuple):
    """Some candidates that were tried, and the one that was left, if any."""

    tries: int
    made: _Operand | None = None


Trials: TypeAlias = Iterator[_Trial]
Operands: TypeAlias = Sequence[_Operand]


def _operand(
    expr: n.Expr, centre: Table, radius: Table, uses: tuple[int, ...], place: tuple[str, int] | None = None
) -> _Operand:
    size, reach = max(map(abs, chain(*centre))), max(chain(*radius))
    return _Operand(expr, centre, radius, uses, _turn(centre), size, reach, place)


def _turn(table: Table) -> Table:
    return tuple(zip(*table, strict=True))


def _turned(a: _Operand) -> _Operand:
    """The transpose."""
    return _Operand(
        _transposed(a.expr), a.columns, _turn(a.radius), a.uses, a.centre, a.size, a.reach, a.place, a.extra
    )


def _transposed(expr: n.Expr) -> n.Expr:
    """The transpose of an expression, put at its operands where these are transposes themselves: (xᵀ Wᵀ)ᵀ is W x."""
    match expr:
        case n.Transpose(arg):
            return arg
        case n.Number() | n.Root(n.Number()):
            return expr
        case n.Entry(_, int(), int()):
            return expr
        case n.Product(left, right) if _is_turned(left) or _is_turned(right):
            return n.Product(_transposed(right), _transposed(left))
        case n.Concat(parts, axis):
            return n.Concat(tuple(map(_transposed, parts)), 1 - axis)
        case n.Sum(terms) if any(map(_is_turned, terms)):
            return n.Sum(tuple(map(_transposed, terms)))
        case n.Quotient(top, n.Number() | n.Root(n.Number()) as bottom) if _is_turned(top):
            return n.Quotient(_transposed(top), bottom)
        case n.Softmax(arg, 1) if _is_turned(arg):
            return n.Softmax(_transposed(arg), 0)
        case n.Exp(arg) if _is_turned(arg):
            return n.Exp(_transposed(arg))
        case n.Tanh(arg) if _is_turned(arg):
            return n.Tanh(_transposed(arg))
        case n.Negate(arg) if _is_turned(arg):
            return n.Negate(_transposed(arg))
    return n.Transpose(expr)


def _is_turned(expr: n.Expr) -> bool:
    """Whether the transpose of an expression is simpler than the expression."""
    match expr:
        case n.Transpose():
            return True
        case n.Negate(arg) | n.Softmax(arg) | n.Exp(arg) | n.Tanh(arg) | n.Quotient(arg, n.Number() | n.Root()):
            return _is_turned(arg)
        case n.Product(left, right):
            return _is_turned(left) or _is_turned(right)
    return False


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a grid is searched with.

    `wholes` are the pool's values, vectors as rows, and `turns` the transposes of its matrices. `lines` are all their
    rows and columns. `views` are the parts of them in the shape of the grid: matrices, or lines, or cells.
    """

    wholes: tuple[_Operand, ...]
    matrices: tuple[_Operand, ...]
    turns: tuple[_Operand, ...]
    lines: tuple[_Operand, ...]
    views: tuple[_Operand, ...]
    thirds: Mapping[Shape, list[_Operand]]  # matrices and their transposes by shape
    sizes: tuple[int, ...]


def _scene(
    target: _Target,
    wholes: tuple[_Operand, ...],
    matrices: tuple[_Operand, ...],
    turns: tuple[_Operand, ...],
    sizes: tuple[int, ...],
) -> _Scene:
    lines = tuple(line for a in wholes for line in _lines(a)) if target.kind < 2 else ()
    if target.kind == 0:
        views = tuple(cell for a in wholes for cell in _cells(a))
    else:
        views = tuple(a for a in (wholes if target.kind == 2 else lines) if a.shape == target.shape)
    return _Scene(wholes, matrices, turns, lines, views, _by_shape((*matrices, *turns)), sizes)


def _whole(index: int, value: Known) -> _Operand:
    if len(value.centre[0]) == 1 < len(value.centre):
        return _operand(n.Transpose(value.expr), _turn(value.centre), _turn(value.radius), (index,))
    return _operand(value.expr, value.centre, value.radius, (index,))


def _lines(a: _Operand) -> Iterator[_Operand]:
    """A vector itself; the rows and the columns of a matrix, as rows."""
    rows, columns = a.shape
    if rows == 1:
        if columns > 1:
            yield a
        return
    for i in range(rows):
        yield _operand(n.Entry(a.expr, row=i + 1), (a.centre[i],), (a.radius[i],), a.uses, ("row", i))
    for j, errors in enumerate(_turn(a.radius)):
        column = n.Transpose(n.Entry(a.expr, column=j + 1))
        yield _operand(column, (a.columns[j],), (errors,), a.uses, ("column", j))


def _cells(a: _Operand) -> Iterator[_Operand]:
    if a.shape == (1, 1):
        yield a
        return
    for i, (row, errors) in enumerate(zip(a.centre, a.radius, strict=True)):
        for j, (x, e) in enumerate(zip(row, errors, strict=True)):
            yield _operand(
                _block_expr(a.expr, a.shape, (i, j), (1, 1)), ((x,),), ((e,),), a.uses, ("cell", i * 1000 + j)
            )


def _by_shape(operands: Iterable[_Operand]) -> Mapping[Shape, list[_Operand]]:
    """Finite operands by their shapes."""
    shapes: dict[Shape, list[_Operand]] = defaultdict(list)
    for a in operands:
        if a.is_finite:
            shapes[a.shape].append(a)
    return shapes


# ── depth 0: parts of a value ────────────────────────────────────────────────────────────────────────────────────────


def _depth_0(target: _Target, sources: Operands) -> Trials:
    for a in sources:
        if a.shape == target.shape:
            yield _block(target, a, (0, 0))
    for a in sources:
        if a.shape != target.shape:
            yield from _blocks(target, a)


def _blocks(target: _Target, a: _Operand) -> Trials:
    """A contiguous block of a value, at any place."""
    (height, width), (r, c) = a.shape, target.shape
    for i in range(height - r + 1):
        for j in range(width - c + 1):
            yield _block(target, a, (i, j))


def _block(target: _Target, a: _Operand, at: tuple[int, int]) -> _Trial:
    """One block of a value."""
    (i, j), (r, c), (p, q) = at, target.shape, target.probe
    if not abs(a.centre[i + p][j + q] - target.centre[p][q]) <= target.half[p][q] + a.radius[i + p][j + q]:
        return _Trial(1)
    centre = tuple(row[j : j + c] for row in a.centre[i : i + r])
    radius = tuple(row[j : j + c] for row in a.radius[i : i + r])
    return _held(target, 1, _block_expr(a.expr, a.shape, at, (r, c)), centre, radius, a.uses)


def _held(target: _Target, count: int, expr: n.Expr, centre: Table, radius: Table, uses: tuple[int, ...]) -> _Trial:
    """A whole candidate against the grid."""
    if not _agrees(target, centre, radius):
        return _Trial(count)
    return _Trial(count, _operand(expr, centre, radius, uses))


def _block_expr(expr: n.Expr, shape: Shape, at: tuple[int, int], size: Shape) -> n.Expr:
    """A block of a value of this shape, as an expression: a cell, a row, columns, or columns of the transpose."""
    (i, j), (r, c), (height, width) = at, size, shape
    if (r, c) == shape:
        return expr
    if isinstance(expr, n.Transpose):
        return _transposed(_block_expr(expr.arg, (width, height), (j, i), (c, r)))
    if (r, c) == (1, 1):
        return n.Entry(expr, row=i + 1, column=j + 1)
    row = i + 1 if r == 1 < height else None
    if c < width:
        expr = n.Entry(expr, row=row, column=j + 1) if c == 1 else n.Entry(expr, row=row, columns=(j + 1, j + c))
    elif row is not None:
        expr = n.Entry(expr, row=row)
    if 1 < r < height:
        expr = n.Transpose(n.Entry(_transposed(expr), columns=(i + 1, i + r)))
    return expr


# ── depth 1: functions of one value ──────────────────────────────────────────────────────────────────────────────────


class _Each(NamedTuple):
    """A function taken cell by cell; `slope` bounds how much it stretches errors, infinite if nothing does."""

    value: Callable[[float], float]
    slope: float
    expr: Callable[[n.Expr, Shape], n.Expr]
    low: float = -INFINITY  # its least and its greatest value
    high: float = INFINITY
    takes_infinity: bool = False


class _Along(NamedTuple):
    """A function of each line (a row, or a column) that gives a line."""

    value: Callable[[Row, Row], Line]
    expr: Callable[[n.Expr], n.Expr]  # of rows
    law: Callable[[Row, Row], bool]  # what every line that it gives obeys, printed with these errors
    takes_infinity: bool = False


class _Whittle(NamedTuple):
    """A function of each line that gives a number: the key of its Call, the number and its error."""

    key: str
    value: Callable[[Row, Row], tuple[float, float]]


def _call(key: str) -> Callable[[n.Expr, Shape], n.Expr]:
    return lambda x, shape: n.Call(key, (x,))


def _ones(shape: Shape) -> n.Expr:
    """Ones that a matrix of this shape can be added to."""
    return n.number(1) if 1 in shape else n.matrix([[1] * shape[1]] * shape[0])


def _gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def _gelu_tanh(x: float) -> float:
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def _scale(factor: float, divisor: n.Expr) -> _Each:
    return _Each(lambda x: x / factor, 1.0, lambda x, shape: n.Quotient(x, divisor), takes_infinity=True)


ACTIVATIONS: Final = (
    _Each(lambda x: max(x, 0.0), 1.0, _call("relu"), 0),
    _Each(math.tanh, 1.0, lambda x, shape: n.Tanh(x), -1, 1),
    _Each(lambda x: 1 / (1 + math.exp(-x)), 0.25, _call("sigmoid"), 0, 1),
    _Each(_gelu, 1.13, _call("gelu"), -0.2),
    _Each(_gelu_tanh, 1.13, _call("gelutanh"), -0.2),
)
EACH: Final = (
    _Each(math.exp, INFINITY, lambda x, shape: n.Exp(x), 0, takes_infinity=True),
    *ACTIVATIONS,
    _Each(lambda x: x * x, INFINITY, lambda x, shape: n.Power(x, n.number(2)), 0),
    _Each(math.sqrt, INFINITY, lambda x, shape: n.Root(x), 0),
    _Each(lambda x: -x, 1.0, lambda x, shape: n.Negate(x)),
    _Each(lambda x: 1 - x, 1.0, lambda x, shape: n.Sum((_ones(shape), n.Negate(x)))),
    _Each(math.log, INFINITY, _call("ln")),
)


def _roots(sizes: tuple[int, ...]) -> list[_Each]:
    """x / √d"""
    return [_scale(math.sqrt(d), n.Root(n.number(d))) for d in sizes]


def _wholes(sizes: tuple[int, ...]) -> list[_Each]:
    """x / d"""
    return [_scale(d, n.number(d)) for d in sizes]


def _at(function: Callable[[float], float], x: float) -> float:
    """A function at a point, NaN where it has no value."""
    try:
        return function(x)
    except (ValueError, OverflowError):
        return math.nan


def _stretch(function: Callable[[float], float], x: float, error: float) -> float:
    """How far a function strays from its value at x within an error, exactly so where it is monotone."""
    if not error:
        return 0.0
    middle = _at(function, x)
    return max(abs(_at(function, x - error) - middle), abs(_at(function, x + error) - middle))


def _apply_each(function: _Each, a: _Operand) -> tuple[Table, Table]:
    value = function.value
    centre = tuple(tuple(_at(value, x) for x in row) for row in a.centre)
    radius = tuple(
        tuple(_stretch(value, x, e) for x, e in zip(row, errors, strict=True))
        for row, errors in zip(a.centre, a.radius, strict=True)
    )
    return centre, radius


def _weights(scores: Row, factor: float = 1.0) -> Row:
    top = max(scores)
    powers = [math.exp((x - top) / factor) for x in scores]
    total = sum(powers)
    return tuple([x / total for x in powers])


def _softmax(row: Row, errors: Row) -> Line:
    weights = _weights(row)
    blur = sum(map(mul, weights, errors))
    return weights, tuple(w * (blur + e * (1 - 2 * w)) for w, e in zip(weights, errors, strict=True))


def _share(row: Row, errors: Row) -> Line:
    total, blur = sum(row), sum(errors)
    shares = tuple(x / total for x in row)
    return shares, tuple((e + abs(y) * blur) / abs(total) for y, e in zip(shares, errors, strict=True))


def _over_norm(row: Row, errors: Row, norm: float) -> Line:
    """A row divided by a norm that grows with it."""
    made = tuple(x / norm for x in row)
    blur = sum(abs(x) * e for x, e in zip(row, errors, strict=True)) / sum(x * x for x in row)
    return made, tuple(e / norm + abs(y) * blur for y, e in zip(made, errors, strict=True))


def _unit(row: Row, errors: Row) -> Line:
    return _over_norm(row, errors, math.hypot(*row))


def _rms_norm(row: Row, errors: Row) -> Line:
    return _over_norm(row, errors, math.hypot(*row) / math.sqrt(len(row)))


def _layer_norm(row: Row, errors: Row) -> Line:
    middle, blur = sum(row) / len(row), sum(errors) / len(row)
    return _rms_norm(tuple(x - middle for x in row), tuple(e + blur for e in errors))


def _layer_norm_expr(x: n.Expr) -> n.Expr:
    return n.Quotient(n.Sum((x, n.Negate(n.Call("mean", (x,))))), n.Call("std", (x,)))


def _rms_norm_expr(x: n.Expr) -> n.Expr:
    return n.Quotient(x, n.Root(n.Call("mean", (n.Power(x, n.number(2)),))))


def _adds_to(total: float, row: Row, halves: Row) -> bool:
    """Whether the cells of a printed line may add up to a number."""
    return abs(sum(row) - total) <= sum(halves)


def _squares_add_to(total: float, row: Row, halves: Row) -> bool:
    """Whether the squares of the cells of a printed line may add up to a number."""
    return _adds_to(total, tuple(x * x for x in row), tuple(map(_square_error, row, halves)))


def _square_error(x: float, e: float) -> float:
    return (2 * abs(x) + e) * e


def _are_shares(row: Row, halves: Row) -> bool:
    return _adds_to(1, row, halves)


def _are_weights(row: Row, halves: Row) -> bool:
    return _adds_to(1, row, halves) and all(x >= -h for x, h in zip(row, halves, strict=True))


def _is_rms_normed(row: Row, halves: Row) -> bool:
    return _squares_add_to(len(row), row, halves)


LAYER_NORM: Final = _Along(
    _layer_norm, _layer_norm_expr, lambda row, halves: _adds_to(0, row, halves) and _is_rms_normed(row, halves)
)
RMS_NORM: Final = _Along(_rms_norm, _rms_norm_expr, _is_rms_normed)
NORMS: Final = (
    _Along(_share, lambda x: n.Normalise(x, 1), _are_shares),
    LAYER_NORM,
    RMS_NORM,
    _Along(
        _unit,
        lambda x: n.Quotient(x, n.Call("norm", (x,))),
        lambda row, halves: _squares_add_to(1, row, halves),
    ),
)


def _possible_each(target: _Target, functions: Iterable[_Each]) -> list[_Each]:
    """Those functions whose values reach every printed cell."""
    cells = [
        (x, h) for row, halves in zip(target.centre, target.half, strict=True) for x, h in zip(row, halves, strict=True)
    ]
    least, greatest = min(x + h for x, h in cells), max(x - h for x, h in cells)
    return [function for function in functions if function.low <= least and greatest <= function.high]


class _ByAxis(NamedTuple):
    """Functions that may have given the printed rows, and those that may have given its columns."""

    rows: list[_Along]
    columns: list[_Along]


def _possible_along(target: _Target, functions: Iterable[_Along]) -> _ByAxis:
    """Those functions whose laws the printed grid obeys."""
    rows = [f for f in functions if all(map(f.law, target.centre, target.half))]
    if target.kind < 2:
        return _ByAxis(rows, [])
    turned = _turn(target.centre), _turn(target.half)
    return _ByAxis(rows, [f for f in functions if all(map(f.law, *turned))])


def _scaled(row: Row, factor: float) -> Row:
    return tuple(x / factor for x in row)


def _softmax_of(factor: float, divisor: n.Expr | None) -> _Along:
    """Softmax of scores divided by a number."""
    return _Along(
        lambda row, errors: _softmax(_scaled(row, factor), _scaled(errors, factor)),
        lambda x: n.Softmax(x if divisor is None else n.Quotient(x, divisor), 1),
        _are_weights,
        takes_infinity=True,
    )


def _scales(sizes: tuple[int, ...]) -> list[tuple[float, n.Expr | None]]:
    """What scores are divided by before a softmax: nothing, or √d."""
    return [(1.0, None), *((math.sqrt(d), n.Root(n.number(d))) for d in sizes)]


def _mean(row: Row, errors: Row) -> tuple[float, float]:
    return sum(row) / len(row), sum(errors) / len(row)


def _variance(row: Row, errors: Row) -> tuple[float, float]:
    middle = sum(row) / len(row)
    error = 2 * sum(abs(x - middle) * e for x, e in zip(row, errors, strict=True)) / len(row) + max(errors) ** 2
    return sum((x - middle) ** 2 for x in row) / len(row), error


def _deviation(row: Row, errors: Row) -> tuple[float, float]:
    return math.sqrt(_variance(row, errors)[0]), max(errors)


def _entropy(row: Row, errors: Row) -> tuple[float, float]:
    """Entropy, whose slope at a weight x is −log x − 1; weights of exactly 0 add nothing."""
    value = -sum(x * math.log(x) for x in row if x)
    return value, sum(abs(math.log(x) + 1) * e for x, e in zip(row, errors, strict=True) if x)


WHITTLES: Final = (
    _Whittle("rowsum", lambda row, errors: (sum(row), sum(errors))),
    _Whittle("mean", _mean),
    _Whittle("var", _variance),
    _Whittle("std", _deviation),
    _Whittle("norm", lambda row, errors: (math.hypot(*row), max(errors) * math.sqrt(len(row)))),
    _Whittle("rowmax", lambda row, errors: (max(row), max(errors))),
    _Whittle("entropy", _entropy),
)


def _depth_1(target: _Target, scene: _Scene) -> Trials:
    yield from _functions_of_one(target, scene)
    yield from _pairs(target, scene)


def _functions_of_one(target: _Target, scene: _Scene) -> Trials:
    softmaxes = [_softmax_of(*scale) for scale in _scales(scene.sizes)]
    each = _possible_each(target, [*_roots(scene.sizes), *_wholes(scene.sizes), *EACH])
    if target.kind:
        possible = _possible_along(target, softmaxes)
        for a in scene.views:
            yield from _along(target, a, possible)
            yield from _causal(target, a, scene.sizes)
    for a in scene.views:
        yield from _each(target, a, each)
    if target.kind:
        possible = _possible_along(target, NORMS)
        for a in scene.views:
            yield from _along(target, a, possible)
    else:
        for a in scene.lines:
            yield from _cells_along(target, a, [*softmaxes, *NORMS])
    yield from _whittled(target, scene)


def _each(target: _Target, a: _Operand, functions: Sequence[_Each]) -> Trials:
    """Functions taken cell by cell, of a value that has the shape of the grid."""
    i, j = target.probe
    x, e, m, h = a.centre[i][j], a.radius[i][j], target.centre[i][j], target.half[i][j]
    for function in functions:
        if (a.is_finite or function.takes_infinity) and _may_be(function, x, e, m, h):
            yield _held(target, 1, function.expr(a.expr, a.shape), *_apply_each(function, a), a.uses)
        else:
            yield _Trial(1)


def _may_be(function: _Each, x: float, error: float, printed: float, half: float) -> bool:
    """Whether a function at x may be the printed number."""
    gap = abs(_at(function.value, x) - printed)
    if function.slope < INFINITY:
        return gap <= half + function.slope * error
    return gap <= half + _stretch(function.value, x, error)


def _along(target: _Target, a: _Operand, functions: _ByAxis) -> Trials:
    """Functions of the rows, and of the columns, of a value that has the shape of the grid."""
    i, j = target.probe
    for function in functions.rows:
        if a.is_finite or function.takes_infinity:
            if _line_agrees(function, a.centre[i], a.radius[i], target.centre[i], target.half[i]):
                yield _held(target, 1, function.expr(a.expr), *_apply_along(function, a.centre, a.radius), a.uses)
            else:
                yield _Trial(1)
    for function in functions.columns:
        if a.is_finite or function.takes_infinity:
            errors, printed, halves = (tuple([row[j] for row in x]) for x in (a.radius, target.centre, target.half))
            if _line_agrees(function, a.columns[j], errors, printed, halves):
                centre, radius = _apply_along(function, a.columns, _turn(a.radius))
                yield _held(target, 1, _down(function, a.expr), _turn(centre), _turn(radius), a.uses)
            else:
                yield _Trial(1)


def _down(function: _Along, expr: n.Expr) -> n.Expr:
    """A function of the columns of a value."""
    match function.expr(expr):
        case n.Softmax(arg, 1):
            return n.Softmax(arg, 0)
        case n.Normalise(arg, 1):
            return n.Normalise(arg, 0)
    return n.Transpose(function.expr(_transposed(expr)))


def _line(function: _Along, row: Row, errors: Row) -> Line:
    """A function of one line; NaN where it has no value."""
    try:
        return function.value(row, errors)
    except (ValueError, OverflowError, ZeroDivisionError):
        return (math.nan,) * len(row), errors


def _line_agrees(function: _Along, row: Row, errors: Row, printed: Row, halves: Row) -> bool:
    made, blur = _line(function, row, errors)
    return all(m == -INFINITY or abs(x - m) <= h + e for x, e, m, h in zip(made, blur, printed, halves, strict=True))


def _apply_along(function: _Along, centre: Table, radius: Table) -> tuple[Table, Table]:
    lines = [_line(function, row, errors) for row, errors in zip(centre, radius, strict=True)]
    return tuple(row for row, _ in lines), tuple(errors for _, errors in lines)


def _masked(a: _Operand, factor: float = 1.0) -> Table:
    """Scores divided by a number, −∞ above the diagonal."""
    return tuple(
        tuple(x / factor if j <= i else -INFINITY for j, x in enumerate(row)) for i, row in enumerate(a.centre)
    )


def _causal(target: _Target, a: _Operand, sizes: tuple[int, ...]) -> Trials:
    """Scores with −∞ above the diagonal, and the softmax of these; scaled or not."""
    if target.is_masked or target.is_causal:
        for factor, divisor in _scales(sizes):
            yield _causal_at(target, a, factor, divisor)


def _causal_at(target: _Target, a: _Operand, factor: float, divisor: n.Expr | None) -> _Trial:
    expr: n.Expr = n.Mask(a.expr if divisor is None else n.Quotient(a.expr, divisor))
    centre, radius = _masked(a, factor), tuple(_scaled(row, factor) for row in a.radius)
    if target.is_causal:
        expr = n.Softmax(expr, 1)
        centre, radius = _apply_along(_softmax_of(1.0, None), centre, radius)
    return _held(target, 1, expr, centre, radius, a.uses)


def _cells_along(target: _Target, a: _Operand, functions: Sequence[_Along]) -> Trials:
    """One cell of a function of a line."""
    m, h = target.centre[0][0], target.half[0][0]
    for function in functions:
        if a.is_finite or function.takes_infinity:
            made, errors = _line(function, a.centre[0], a.radius[0])
            fitting = [j for j, (x, e) in enumerate(zip(made, errors, strict=True)) if abs(x - m) <= h + e]
            yield _Trial(len(made))
            for j in fitting[:1]:
                expr = n.Entry(function.expr(a.expr), row=1, column=j + 1)
                yield _Trial(0, _operand(expr, ((made[j],),), ((errors[j],),), a.uses))


def _whittled(target: _Target, scene: _Scene) -> Trials:
    """One number for each row or for each column, for one line, or for all cells."""
    if target.kind == 0:
        yield from chain.from_iterable(_whittle(target, a) for a in scene.lines)
        yield from chain.from_iterable(_totals(target, a) for a in scene.matrices)
    if target.kind == 1:
        for a, turned in zip(scene.matrices, scene.turns, strict=True):
            for rows in (a, turned):
                if rows.shape[0] == target.shape[1]:
                    yield from _whittle(target, rows)


def _whittle(target: _Target, a: _Operand) -> Trials:
    """One number for each row of a value."""
    if not a.is_finite:
        return
    j = target.probe[1]
    m, h = target.centre[0][j], target.half[0][j]
    for function in WHITTLES:
        x, e = _number(function, a.centre[j], a.radius[j])
        if not abs(x - m) <= h + e:
            yield _Trial(1)
            continue
        made = [_number(function, row, errors) for row, errors in zip(a.centre, a.radius, strict=True)]
        expr: n.Expr = n.Call(function.key, (a.expr,))
        centre, radius = (tuple(x for x, _ in made),), (tuple(e for _, e in made),)
        yield _held(target, 1, expr if a.shape[0] == 1 else n.Transpose(expr), centre, radius, a.uses)


def _number(function: _Whittle, row: Row, errors: Row) -> tuple[float, float]:
    try:
        return function.value(row, errors)
    except (ValueError, OverflowError):
        return math.nan, 0.0


def _totals(target: _Target, a: _Operand) -> Trials:
    """The sum, the mean and the largest of all cells."""
    if not a.is_finite:
        return
    cells, errors = tuple(chain(*a.centre)), tuple(chain(*a.radius))
    total = n.Call("sum", (a.expr,))
    for expr, x, e in (
        (total, sum(cells), sum(errors)),
        (n.Quotient(total, n.number(len(cells))), sum(cells) / len(cells), sum(errors) / len(cells)),
        (n.Call("max", (a.expr,)), max(cells), max(errors)),
    ):
        yield _held(target, 1, expr, ((x,),), ((e,),), a.uses)


# ── depth 1: two values together ─────────────────────────────────────────────────────────────────────────────────────


def _pairs(target: _Target, scene: _Scene) -> Trials:
    yield from _products(target, scene)
    yield from _cell_by_cell(target, scene)
    if target.kind == 2:
        yield from _outer(target, scene)
    if target.kind == 1:
        yield from _weighted_rows(target, scene)
    if target.kind:
        yield from _joined(target, scene)


def _factors(target: _Target, scene: _Scene) -> list[tuple[Operands, Operands]]:
    """Left and right factors of products: A B, A Bᵀ and Aᵀ B; a line times a matrix; two lines."""
    if target.kind == 2:
        return [(scene.matrices, scene.matrices), (scene.matrices, scene.turns), (scene.turns, scene.matrices)]
    if target.kind == 1:
        return [(scene.lines, scene.matrices), (scene.lines, scene.turns)]
    return [(scene.lines, [_turned(a) for a in scene.lines])]


def _factor_pairs(target: _Target, scene: _Scene) -> Iterator[tuple[_Operand, list[_Operand]]]:
    """Each left factor with all right factors that give the shape of the grid."""
    r, c = target.shape
    for lefts, rights in _factors(target, scene):
        shapes = _by_shape(rights)
        for a in lefts:
            if len(a.centre) == r and a.is_finite and (fitting := shapes.get((len(a.columns), c))):
                yield a, fitting


def _blur(a: _Operand, b: _Operand) -> float:
    """What a cell of a product may be off at most, from the largest errors of its factors."""
    if not a.reach and not b.reach:
        return 0.0
    return len(a.columns) * (a.size * b.reach + a.reach * b.size + a.reach * b.reach)


def _products(target: _Target, scene: _Scene) -> Trials:
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    for a, fitting in _factor_pairs(target, scene):
        row = a.centre[i]
        yield _Trial(len(fitting))
        for b in fitting:
            if abs(sum(map(mul, row, b.columns[j])) - m) <= h + _blur(a, b):
                yield _held(target, 0, n.Product(a.expr, b.expr), *_multiplied(a, b), a.uses + b.uses)


def _multiplied(a: _Operand, b: _Operand) -> tuple[Table, Table]:
    centre = tuple([tuple([sum(map(mul, row, column)) for column in b.columns]) for row in a.centre])
    if not a.reach and not b.reach:
        return centre, ((0.0,) * len(b.columns),) * len(a.centre)
    blurs = _turn(b.radius)
    radius = tuple(
        tuple(
            sum(abs(x) * f + e * (abs(y) + f) for x, e, y, f in zip(row, errors, column, blur, strict=True))
            for column, blur in zip(b.columns, blurs, strict=True)
        )
        for row, errors in zip(a.centre, a.radius, strict=True)
    )
    return centre, radius


def _product(a: _Operand, b: _Operand) -> _Operand:
    return _operand(n.Product(a.expr, b.expr), *_multiplied(a, b), a.uses + b.uses)


class _Spread(NamedTuple):
    """A value repeated until it is as large as the grid; its expression is that of the value."""

    how: str  # what it was: "same", "row", "column" or "number"
    filled: _Operand


def _spreads(target: _Target, scene: _Scene) -> list[_Spread]:
    """Numbers, and beside a matrix vectors, repeated to fill the shape of the grid."""
    r, c = target.shape
    made = []
    for a in scene.wholes:
        if not a.is_finite:
            continue
        if a.shape == (1, 1):
            made.append(_Spread("number", _filled(a, a.centre[0] * c, a.radius[0] * c, r)))
        elif target.kind == 2 and a.shape == (1, c):
            made.append(_Spread("row", _filled(a, a.centre[0], a.radius[0], r)))
        if target.kind == 2 and a.shape == (1, r):
            column = _filled(a, a.centre[0], a.radius[0], c)
            made.append(_Spread("column", _turned(column)))
    return made


def _filled(a: _Operand, row: Row, errors: Row, times: int) -> _Operand:
    return _operand(a.expr, (row,) * times, (errors,) * times, a.uses)


class _Two(NamedTuple):
    """An operation on two values cell by cell: its number, the error of that, and how the second may be spread."""

    value: Callable[[float, float], float]
    error: Callable[[float, float, float, float], float]  # of x ± e and y ± f
    expr: Callable[[n.Expr, n.Expr, str], n.Expr]
    spreads: frozenset[str]
    commutes: bool


def _times_expr(a: n.Expr, b: n.Expr, how: str) -> n.Expr:
    return n.Product(b, a) if how == "number" else n.Call("hadamard", (a, b))


def _over_expr(a: n.Expr, b: n.Expr, how: str) -> n.Expr:
    if how == "row":
        return n.Transpose(n.Quotient(_transposed(a), _transposed(b)))
    return n.Quotient(a, b)


def _over_error(x: float, e: float, y: float, f: float) -> float:
    return (e + abs(x / y) * f) / (abs(y) - f) if abs(y) > f else INFINITY


VECTORS: Final = frozenset({"same", "row", "column"})
PLUS: Final = _Two(add, lambda x, e, y, f: e + f, lambda a, b, how: n.Sum((a, b)), VECTORS, True)
TWO: Final = (
    PLUS,
    _Two(sub, lambda x, e, y, f: e + f, lambda a, b, how: n.Sum((a, n.Negate(b))), VECTORS, False),
    _Two(mul, lambda x, e, y, f: abs(x) * f + e * (abs(y) + f), _times_expr, VECTORS | {"number"}, True),
    _Two(truediv, _over_error, _over_expr, VECTORS | {"number"}, False),
)


def _companions(target: _Target, scene: _Scene, both: bool) -> Iterator[tuple[_Operand, _Operand]]:
    """Values of the grid's shape to be combined cell by cell: whole values with any other, and lines or cells of
    different values at the same place; in `both` orders, or in one."""
    orders = permutations if both else combinations
    if target.kind == 2:
        yield from orders(scene.views, 2)
        return
    groups: dict[tuple[str, int] | None, list[_Operand]] = defaultdict(list)
    for a in scene.views:
        groups[a.place].append(a)
    wholes = groups.pop(None, [])
    yield from orders(wholes, 2)
    for group in groups.values():
        yield from orders(group, 2)
        for whole in wholes:
            for a in group:
                yield a, whole
                if both:
                    yield whole, a


def _cell_by_cell(target: _Target, scene: _Scene) -> Trials:
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    for two in TWO:
        value, error = two.value, two.error
        for a, b in _companions(target, scene, both=not two.commutes):
            x, y = a.centre[i][j], b.centre[i][j]
            if value is truediv and not y:
                continue
            if not abs(value(x, y) - m) <= h + error(x, a.radius[i][j], y, b.radius[i][j]):
                yield _Trial(1)
            else:
                yield _combined(target, two, a, _Spread("same", b))
    for spread in _spreads(target, scene):
        for two in TWO:
            if spread.how in two.spreads:
                for a in scene.views:
                    if a.uses != spread.filled.uses:
                        yield _combined(target, two, a, spread)


def _combined(target: _Target, two: _Two, a: _Operand, spread: _Spread) -> _Trial:
    made = _both(two, a, spread)
    return _Trial(1) if made is None else _held(target, 1, made.expr, made.centre, made.radius, made.uses)


def _both(two: _Two, a: _Operand, spread: _Spread) -> _Operand | None:
    """Two values combined cell by cell; None where a cell has no value."""
    b = spread.filled
    try:
        centre = tuple(tuple(map(two.value, x, y)) for x, y in zip(a.centre, b.centre, strict=True))
        lines = zip(a.centre, a.radius, b.centre, b.radius, strict=True)
        radius = tuple(tuple(map(two.error, x, e, y, f)) for x, e, y, f in lines)
    except (ZeroDivisionError, OverflowError):
        return None
    errors = tuple(tuple(0.0 if math.isnan(e) else e for e in row) for row in radius)  # beside −∞
    return _operand(two.expr(a.expr, b.expr, spread.how), centre, errors, a.uses + b.uses)


def _outer(target: _Target, scene: _Scene) -> Trials:
    """A column times a row."""
    r, c = target.shape
    vectors = _by_shape(scene.wholes)
    for u in vectors.get((1, r), ()):
        for v in vectors.get((1, c), ()):
            made = _product(_turned(u), v)
            yield _held(target, 1, made.expr, made.centre, made.radius, made.uses)


def _weighted_rows(target: _Target, scene: _Scene) -> Trials:
    """A row of a value times its weight: a cell, at the row's place, of a row of weights."""
    j = target.probe[1]
    m, h = target.centre[0][j], target.half[0][j]
    for weights in scene.lines:
        for b in scene.matrices:
            if not (weights.is_finite and b.is_finite and b.shape == (weights.shape[1], target.shape[1])):
                continue
            yield _Trial(b.shape[0])
            for k, (w, e) in enumerate(zip(weights.centre[0], weights.radius[0], strict=True)):
                x, f = b.centre[k][j], b.radius[k][j]
                if abs(w * x - m) <= h + abs(w) * f + e * (abs(x) + f):
                    yield _weighted_row(target, weights, b, k)


def _weighted_row(target: _Target, weights: _Operand, b: _Operand, k: int) -> _Trial:
    w, e = weights.centre[0][k], weights.radius[0][k]
    centre = (tuple(w * x for x in b.centre[k]),)
    radius = (tuple(abs(w) * f + e * (abs(x) + f) for x, f in zip(b.centre[k], b.radius[k], strict=True)),)
    weight = _block_expr(weights.expr, weights.shape, (0, k), (1, 1))
    return _held(target, 0, n.Product(weight, n.Entry(b.expr, row=k + 1)), centre, radius, weights.uses + b.uses)


def _joined(target: _Target, scene: _Scene) -> Trials:
    """Values beside each other; for a matrix also vectors as its columns, and values over each other."""
    if target.kind == 1:
        yield from _beside(target.centre, target.half, scene.wholes)
        return
    upright = [_turned(a) for a in scene.wholes if a.shape[0] == 1]
    yield from _beside(target.centre, target.half, [*scene.matrices, *upright])
    for count, made in _beside(_turn(target.centre), _turn(target.half), [*scene.turns, *upright]):
        yield _Trial(count, made and _turned(made))


def _beside(centre: Table, half: Table, sources: Operands) -> Trials:
    """Values beside each other that fill a grid: each is the first that agrees with what the grid has after the last.
    The choice of each costs bits."""
    height, width = len(centre), len(centre[0])
    parts: list[_Operand] = []
    done, extra = 0, 0.0
    while done < width:
        fitting = [a for a in sources if len(a.centre) == height and len(a.columns) <= width - done]
        yield _Trial(len(fitting))
        part = next((a for a in fitting if _stands_at(a, centre, half, done)), None)
        if part is None:
            return
        parts.append(part)
        done, extra = done + len(part.columns), extra + math.log2(len(fitting) + 1)
    if len(parts) > 1:
        yield _Trial(0, _concatenated(parts, extra))


def _stands_at(a: _Operand, centre: Table, half: Table, start: int) -> bool:
    """Whether a value agrees with the columns of a grid from `start` on."""
    for row, errors, printed, halves in zip(a.centre, a.radius, centre, half, strict=True):
        for j, (x, e) in enumerate(zip(row, errors, strict=True), start):
            if not _is_same(x, e, printed[j], halves[j]):
                return False
    return True


def _concatenated(parts: Operands, extra: float) -> _Operand:
    centre = tuple(tuple(chain(*rows)) for rows in zip(*(a.centre for a in parts), strict=True))
    radius = tuple(tuple(chain(*rows)) for rows in zip(*(a.radius for a in parts), strict=True))
    uses = tuple(chain(*(a.uses for a in parts)))
    made = _operand(n.Concat(tuple(a.expr for a in parts), 1), centre, radius, uses)
    return replace(made, extra=extra)


# ── depth 2 ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _depth_2(target: _Target, scene: _Scene) -> Trials:
    yield from _functions_of_products(target, scene)
    yield from _functions_of_sums(target, scene)
    yield from _products_plus(target, scene)
    if target.kind:
        yield from _triples(target, scene)
        yield from _attention(target, scene)


def _functions_of_products(target: _Target, scene: _Scene) -> Trials:
    """(A B)/√d, an activation of A B, and the softmax of A B or of (A B)/√d, causal or not."""
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    each = _possible_each(target, [*_roots(scene.sizes), *(ACTIVATIONS if target.kind else ())])
    scales = _scales(scene.sizes)
    softmaxes = _possible_along(target, [_softmax_of(*scale) for scale in scales])
    ratios = [ratio for ratio in (target.by_rows, target.by_columns if target.kind == 2 else None) if ratio]
    count = len(each) + len(scales) * len(ratios) * (2 if target.is_causal else 1)
    for a, fitting in _factor_pairs(target, scene):
        row = a.centre[i]
        yield _Trial(len(fitting) * count)
        for b in fitting:
            blur = _blur(a, b)
            x = sum(map(mul, row, b.columns[j]))
            hits = [f for f in each if abs(_at(f.value, x) - m) <= h + f.slope * blur]
            looks_like_weights = any(_may_weigh(ratio, a, b, blur, scales) for ratio in ratios)
            if hits or looks_like_weights:
                product = _product(a, b)
                yield from _uncounted(_each(target, product, hits))
                if looks_like_weights:
                    yield from _uncounted(_along(target, product, softmaxes))
                    yield from _uncounted(_causal(target, product, scene.sizes))


def _uncounted(trials: Trials) -> Trials:
    """Trials that were counted before."""
    return (_Trial(0, made) for _, made in trials if made is not None)


def _may_weigh(
    ratio: _Ratio, a: _Operand, b: _Operand, blur: float, scales: Sequence[tuple[float, n.Expr | None]]
) -> bool:
    """Whether the scores A B, divided by one of some numbers, differ at two cells by what two printed weights tell."""
    (i, j), (k, m) = ratio.p, ratio.q
    gap = sum(map(mul, a.centre[i], b.columns[j])) - sum(map(mul, a.centre[k], b.columns[m]))
    return any(ratio.low * factor - 2 * blur <= gap <= ratio.high * factor + 2 * blur for factor, _ in scales)


def _functions_of_sums(target: _Target, scene: _Scene) -> Trials:
    """Layer norm, RMS norm, relu, tanh and softmax of A + B."""
    if not target.kind:
        return
    norms = _possible_along(target, [LAYER_NORM, RMS_NORM, _softmax_of(1.0, None)])
    each = _possible_each(target, ACTIVATIONS[:2])
    if not (each or norms.rows or norms.columns):
        return
    spreads = [spread for spread in _spreads(target, scene) if spread.how in PLUS.spreads]
    for a, b in chain(
        ((a, _Spread("same", b)) for a, b in _companions(target, scene, both=False)),
        ((a, spread) for spread in spreads for a in scene.views),
    ):
        made = _both(PLUS, a, b)
        if made is not None:
            yield from _each(target, made, each)
            yield from _along(target, made, norms)


def _products_plus(target: _Target, scene: _Scene) -> Trials:
    """A B + C, and the relu of that; the probe is not 0, so there both are the same."""
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    terms = [_Spread("same", a) for a in scene.views if a.is_finite and a.place is None]
    terms += [spread for spread in _spreads(target, scene) if spread.how in PLUS.spreads]
    heads = [(term.filled.centre[i][j], h + term.filled.radius[i][j]) for term in terms]
    relu = _possible_each(target, ACTIVATIONS[:1])
    for a, fitting in _factor_pairs(target, scene) if terms else ():
        row = a.centre[i]
        for b in fitting:
            gap, blur = m - sum(map(mul, row, b.columns[j])), _blur(a, b)
            yield _Trial(len(terms) * (1 + len(relu)))
            for k, (x, reach) in enumerate(heads):
                if abs(gap - x) <= reach + blur:
                    yield from _product_plus(target, a, b, terms[k], relu)


def _product_plus(target: _Target, a: _Operand, b: _Operand, term: _Spread, functions: Sequence[_Each]) -> Trials:
    """One A B + C, and functions of it; these trials were counted before."""
    made = _both(PLUS, _product(a, b), term)
    if made is not None:
        yield _held(target, 0, made.expr, made.centre, made.radius, made.uses)
        yield from _uncounted(_each(target, made, functions))


def _triples(target: _Target, scene: _Scene) -> Trials:
    """(A B) C, each but the first transposed or not; a vector times two matrices."""
    lefts = scene.matrices if target.kind == 2 else [a for a in scene.wholes if a.shape[1] > 1]
    for a, b, row in _left_products(target, scene, lefts, (*scene.matrices, *scene.turns)):
        yield from _times_third(target, a, b, row, None, scene)


def _left_products(
    target: _Target, scene: _Scene, lefts: Operands, rights: Operands
) -> Iterator[tuple[_Operand, _Operand, Row]]:
    """Products A B that a third value fits, with the one row of them that the probe needs."""
    i, (r, c) = target.probe[0], target.shape
    shapes = _by_shape(b for b in rights if (len(b.columns), c) in scene.thirds)
    fitting: dict[int, list[_Operand]] = defaultdict(list)
    for (height, _), operands in shapes.items():
        fitting[height] += operands
    for a in lefts:
        if a.is_finite and len(a.centre) == r:
            for b in fitting.get(len(a.columns), ()):
                yield a, b, tuple([sum(map(mul, a.centre[i], column)) for column in b.columns])


def _times_third(target: _Target, a: _Operand, b: _Operand, row: Row, weigh: _Along | None, scene: _Scene) -> Trials:
    """A B times every value that fits, or its softmax times every value; `row` is the row of the probe of that."""
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    thirds, blur = scene.thirds[len(row), target.shape[1]], _blur(a, b)
    yield _Trial(len(thirds))
    for c in thirds:
        error = len(row) * (max(map(abs, row)) * c.reach + blur * (c.size + c.reach)) if blur or c.reach else 0.0
        if abs(sum(map(mul, row, c.columns[j])) - m) <= h + error:
            left = _product(a, b)
            if weigh is not None:
                weights = _apply_along(weigh, left.centre, left.radius)
                left = _operand(weigh.expr(left.expr), *weights, left.uses)
            made = _product(left, c)
            yield _held(target, 0, made.expr, made.centre, made.radius, made.uses)


def _attention(target: _Target, scene: _Scene) -> Trials:
    """softmax(A Bᵀ) C and softmax(A Bᵀ/√d) C; for a vector, A is a vector or a row."""
    rows = [a for a in scene.lines if a.place is None or a.place[0] == "row"]
    lefts = scene.matrices if target.kind == 2 else rows
    softmaxes = [(factor, _softmax_of(factor, divisor)) for factor, divisor in _scales(scene.sizes)]
    for a, b, scores in _left_products(target, scene, lefts, scene.turns):
        for factor, weigh in softmaxes:
            yield from _times_third(target, a, b, _weights(scores, factor), weigh, scene)
