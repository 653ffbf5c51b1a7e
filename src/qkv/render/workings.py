"""How one cell comes about: `2·2 + 2·3 + 2·1 = 12`, `e^2/(e^2 + 2e^4) ≈ 0.0634`, `4/√3 ≈ 2.3094`.

A working is written by walking the expression down to the cell that is asked for; a Style says how the pieces look, in
plain text or in LaTeX. Rows and columns count from 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from qkv.expr import nodes as n
from qkv.expr.show import latex, plain
from qkv.interpret.cells import NEG_INF, Cell
from qkv.interpret.certified import Value
from qkv.interpret.fit import Shape, Way, along, product_way
from qkv.interpret.loop import axis_of, unrolled
from qkv.interpret.rounding import MINUS_INFINITY
from qkv.render.options import Depth, Options
from qkv.render.shown import cell_text, is_whole

Values = Callable[[n.Expr], Value]
T = TypeVar("T")


class Style(NamedTuple):
    """How the pieces of a working are written."""

    times: str
    root: str  # a template for one part, as are the next three
    exp: str
    tanh: str
    over: str  # a template for numerator and denominator
    fence_over: bool  # whether sums in a fraction need brackets
    approx: str
    infinity: str
    dots: str
    ten: str  # a template for mantissa and exponent
    power: str  # a template for base and exponent
    words: str  # a template for words between formulas
    most_terms: int  # a longer sum is written with its middle left out
    show: Callable[[n.Expr], str]


PLAIN = Style(
    times="·",
    root="√{}",
    exp="e^{}",
    tanh="tanh({})",
    over="{}/{}",
    fence_over=True,
    approx="≈",
    infinity="∞",
    dots="…",
    ten="{}e{}",
    power="{}^{}",
    words="{}",
    most_terms=10,
    show=plain,
)
LATEX = Style(
    times=r" \cdot ",
    root=r"\sqrt{{{}}}",
    exp="e^{{{}}}",
    tanh=r"\tanh({})",
    over=r"\frac{{{}}}{{{}}}",
    fence_over=False,
    approx=r"\approx",
    infinity=r"\infty",
    dots=r"\cdots",
    ten=r"{} \times 10^{{{}}}",
    power="{}^{{{}}}",
    words=r"\text{{{}}}",
    most_terms=24,
    show=latex,
)


def cell_workings(
    expr: n.Expr, values: Values, digits: int = 6, places: int | None = None, show: Callable[[n.Expr], str] = plain
) -> Callable[[int, int], str]:
    """How each cell of an expression comes about, by its row and column, in plain text; `show` writes a name.

    >>> from qkv.interpret.trace import Trace
    >>> from qkv.program.model import Program
    >>> left, right = n.matrix([[2, 2, 2]]), n.matrix([[2], [3], [1]])
    >>> cell_workings(n.Product(left, right), Trace(Program("", (), ())).evaluate)(1, 1)
    '2·2 + 2·3 + 2·1 = 12'
    """
    writer = Writer(PLAIN._replace(show=show), remembered(values), digits, places)
    return lambda row, column: writer.equation(expr, row, column)


def remembered(values: Values) -> Values:
    """The same values, each expression evaluated once: a working asks for its operands cell by cell."""
    kept: dict[int, tuple[n.Expr, Value]] = {}

    def look(expr: n.Expr) -> Value:
        if id(expr) not in kept:
            kept[id(expr)] = (expr, values(expr))  # the expression is kept too, so that its id stays its own
        return kept[id(expr)][1]

    return look


def decimal(text: str, style: Style) -> str:
    """A decimal as a style writes it: −∞ and powers of ten."""
    if text == MINUS_INFINITY:
        return "-" + style.infinity
    mantissa, e, exponent = text.partition("e")
    return style.ten.format(mantissa, exponent) if e else text


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes workings of one expression after another; each decimal is worked out once."""

    style: Style
    values: Values
    digits: int
    places: int | None
    rounded: list[str] = field(default_factory=list)  # decimals in the working that are not the whole truth
    texts: dict[int, tuple[Cell, str, bool]] = field(default_factory=dict)  # by id; the cell is kept, so ids stay

    def equation(self, expr: n.Expr, row: int, column: int) -> str:
        """The working and its result."""
        i, j = row - 1, column - 1
        self.rounded.clear()
        cell = self.values(expr).rows[i][j]
        text = cell_text(cell, self.digits, self.places)
        body, result = self.body(expr, i, j), decimal(text, self.style)
        if body == result:
            return result
        if isinstance(expr, n.Mask) and body.endswith((":", ":}")):
            return f"{body} {result}"
        # A softmax that is rational (equal scores, a masked key) is so whatever its exponents are.
        whole = is_whole(cell, text) and (not self.rounded or isinstance(expr, n.Softmax))
        sign = "=" if whole else self.style.approx
        return f"{body} {sign} {result}"

    def number(self, expr: n.Expr, i: int, j: int) -> str:
        """The value of a cell as a decimal."""
        return self.decimal(self.values(expr).rows[i][j])

    def decimal(self, cell: Cell) -> str:
        if id(cell) not in self.texts:
            text = cell_text(cell, self.digits, self.places)
            self.texts[id(cell)] = (cell, decimal(text, self.style), is_whole(cell, text))
        _, written, whole = self.texts[id(cell)]
        if not whole:
            self.rounded.append(written)
        return written

    def body(self, expr: n.Expr, i: int, j: int) -> str:
        """The cell, written out one level."""
        match expr:
            case n.Product():
                return self.product(expr, i, j)
            case n.Sum(terms=terms):
                return self.sum(terms, lambda term: self.term(term, *self.place(term, i, j)))
            case n.Quotient(numerator=a, denominator=b):
                return self.quotient(a, b, i, j)
            case n.Softmax(arg=a):
                return self.softmax(self.line_of(a, axis_of(expr), i, j), self.values(a).rows[i][j])
            case n.Normalise(arg=a):
                shares = self.line_of(a, axis_of(expr), i, j)
                total = self.sum(shares, lambda cell: fenced(self.decimal(cell)))
                return self.over(self.number(a, i, j), total, len(shares) > 1)
            case n.Transpose(arg=a):
                return self.body(a, j, i)
            case n.Series():
                return self.body(unrolled(expr), i, j)
            case n.Matrix(rows=rows) if self.is_plain_grid(expr):
                return self.body(rows[i][j], 0, 0)
            case _:
                return self.small(expr, i, j)

    def small(self, expr: n.Expr, i: int, j: int) -> str:
        """Operations on one cell."""
        style = self.style
        match expr:
            case n.Negate(arg=a):
                return "-" + fenced(self.body(a, i, j))
            case n.Root(arg=a):
                return style.root.format(self.number(a, i, j))
            case n.Absolute(arg=a):
                return f"|{self.number(a, i, j)}|"
            case n.Exp(arg=a):
                return style.exp.format(self.exponent(self.number(a, i, j)))
            case n.Call(function="tanh", args=(a,)):
                return style.tanh.format(self.body(a, i, j))
            case n.Power(base=a, exponent=b):
                return style.power.format(fenced(self.number(a, 0, 0)), fenced(self.number(b, 0, 0)))
            case n.Mask(arg=a, pattern=pattern, truth=truth):
                return self.mask(a, pattern, truth, i, j)
            case n.Concat() | n.Entry():
                return self.picked(expr, i, j)
            case _:
                return self.number(expr, i, j)

    def product(self, expr: n.Product, i: int, j: int) -> str:
        a, b = self.values(expr.left), self.values(expr.right)
        match product_way(a.shape, b.shape):
            case Way.SCALE_RIGHT:
                pairs = [(a.cell, b.rows[i][j])]
            case Way.SCALE_LEFT:
                pairs = [(a.rows[i][j], b.cell)]
            case Way.DOT:
                pairs = list(zip(_flat(a), _flat(b), strict=True))
            case Way.ROW:
                pairs = list(zip(_flat(a), _column(b, j), strict=True))
            case Way.COLUMN:
                pairs = list(zip(a.rows[i], _flat(b), strict=True))
            case _:
                pairs = list(zip(a.rows[i], _column(b, j), strict=True))
        return self.sum(pairs, lambda pair: self.style.times.join(fenced(self.decimal(x)) for x in pair))

    def sum(self, terms: Sequence[T], show: Callable[[T], str]) -> str:
        """a + b + c; a long sum loses its middle."""
        if len(terms) <= self.style.most_terms:
            return " + ".join(map(show, terms))
        kept = [*map(show, terms[:3]), self.style.dots, *map(show, terms[-2:])]
        return " + ".join(kept) + " " + self.style.words.format(f"({len(terms)} terms)")

    def term(self, expr: n.Expr, i: int, j: int) -> str:
        """One term of a sum: a product stays written out, anything else is a number."""
        if isinstance(expr, n.Product):
            return self.product(expr, i, j)
        return fenced(self.number(expr, i, j))

    def place(self, term: n.Expr, i: int, j: int) -> tuple[int, int]:
        """Where a cell of a sum comes from in one term: a bias has one row (or one column) for all."""
        rows, columns = self.values(term).shape
        return (i if i < rows else 0), (j if j < columns else 0)

    def quotient(self, a: n.Expr, b: n.Expr, i: int, j: int) -> str:
        rows, columns = self.values(b).shape
        k, m = (i if rows > 1 else 0), (j if columns > 1 else 0)
        below = self.body(b, k, m) if isinstance(b, n.Root) else self.number(b, k, m)
        above = self.product(a, i, j) if isinstance(a, n.Product) else self.number(a, i, j)
        return self.over(above, below, False)

    def over(self, above: str, below: str, sum_below: bool) -> str:
        if not self.style.fence_over:
            return self.style.over.format(above, below)
        top = f"({above})" if " " in above else above
        return self.style.over.format(top, f"({below})" if sum_below or below.startswith("-") else below)

    def line_of(self, arg: n.Expr, axis: int | None, i: int, j: int) -> tuple[Cell, ...]:
        """The row or column that a softmax shares out."""
        value = self.values(arg)
        return _column(value, j) if along(value.shape, axis) == 0 else value.rows[i]

    def softmax(self, line: tuple[Cell, ...], own: Cell) -> str:
        """e^2/(e^2 + 2e^4): equal exponents collected, masked keys left out of the sum."""
        counts = Counter(self.exponent(self.decimal(x)) for x in line if x is not NEG_INF)
        parts = list(counts.items())
        top = self.style.exp.format(self.exponent(self.decimal(own)))
        total = self.sum(parts, lambda part: ("" if part[1] == 1 else str(part[1])) + self.style.exp.format(part[0]))
        return self.over(top, total, len(parts) > 1 or parts[0][1] > 1)

    def exponent(self, text: str) -> str:
        """An exponent: in plain text an infinite or scientific one is put in brackets."""
        return f"({text})" if self.style.fence_over and ("e" in text or self.style.infinity in text) else text

    def mask(self, arg: n.Expr, pattern: n.Expr | None, truth: bool, i: int, j: int) -> str:
        if pattern is not None and not truth:
            return self.sum((arg, pattern), lambda part: fenced(self.number(part, i, j)))
        rows, columns = self.values(arg).shape
        hidden = j > i + max(columns - rows, 0) if pattern is None else self.values(pattern).rows[i][j] == 0
        return self.style.words.format(f"query {i + 1} may not see key {j + 1}:") if hidden else self.number(arg, i, j)

    def picked(self, expr: n.Concat | n.Entry, i: int, j: int) -> str:
        """The cell of another matrix that this one is."""
        if isinstance(expr, n.Entry):
            first = (expr.columns or (1, 1))[0]
            row, column = (expr.row or 1) - 1 + (0 if expr.row else i), (expr.column or first) - 1
            return self.cell_name(expr.arg, row, column + (0 if expr.column else j))
        for part in expr.parts:
            length = self.values(part).shape[expr.axis]
            if (j if expr.axis else i) < length:
                return self.cell_name(part, i, j)
            i, j = (i, j - length) if expr.axis else (i - length, j)
        raise IndexError("a cell outside of what was concatenated")

    def cell_name(self, expr: n.Expr, i: int, j: int) -> str:
        return f"{self.style.show(expr)}({i + 1}, {j + 1})" if isinstance(expr, n.Name) else self.body(expr, i, j)

    def is_plain_grid(self, expr: n.Matrix) -> bool:
        """Whether each cell of a matrix is one number (not a block of its own)."""
        return self.values(expr).shape == expr.shape and not expr.is_ragged


def fenced(text: str) -> str:
    """A factor or term in brackets if it begins with a minus or holds a product of its own."""
    loose = text.startswith("-") or r"\times" in text
    return f"({text})" if loose else text


def _flat(value: Value) -> Iterable[Cell]:
    return (cell for row in value.rows for cell in row)


def _column(value: Value, j: int) -> tuple[Cell, ...]:
    return tuple(row[j] for row in value.rows)


def tells(expr: n.Expr) -> bool:
    """Whether the cells of a step have a story."""
    kinds = n.Product | n.Sum | n.Quotient | n.Softmax | n.Normalise | n.Series
    return isinstance(expr, kinds) or (isinstance(expr, n.Call) and expr.function == "tanh")


def explained(expr: n.Expr, shape: Shape, values: Values, options: Options) -> Iterator[tuple[int, int]]:
    """The cells whose working a depth asks for; a calculation in numbers, 2 · 512 · 2048, is its own working."""
    if shape == (1, 1) and n.is_literal(expr):
        return
    if options.depth is Depth.FULL:
        yield from ((i + 1, j + 1) for i in range(shape[0]) for j in range(shape[1]))
    elif options.depth is Depth.NORMAL and tells(expr):
        yield _example(expr, shape, values)


def _example(expr: n.Expr, shape: Shape, values: Values) -> tuple[int, int]:
    """The cell to explain where one is enough: the first, or the first of the last row if a mask leaves the first row
    of a softmax with nothing to share out."""
    if not isinstance(expr, n.Softmax):
        return 1, 1
    seen = [sum(cell is not NEG_INF for cell in row) for row in values(expr.arg).rows]
    return (shape[0], 1) if seen[-1] > seen[0] else (1, 1)
