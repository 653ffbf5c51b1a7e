"""The expression language: a closed set of frozen nodes.

What the reader reads, the planner writes, the interpreters evaluate and the renderers print are these trees.
Every node may know where it stands in its document (`at`); equality ignores that.

    Number      a decimal as written: 0.468 remembers its three places
    Infinite    ∞ or −∞, as masks use it
    Matrix      rows of cells, each cell an expression; vectors are matrices with one row or one column
    Name        a quantity, see names.py
    Sum         a + b + c           Negate  −a
    Product     a b: scalar, matrix or dot product, as the shapes say
    Quotient    a / b
    Power       a^n                 Root    √a            Absolute  |a|
    Exp         e^a
    Transpose   aᵀ
    Softmax     along rows (axis 1) or down columns (axis 0)
    Normalise   divide by the plain sum along an axis
    Concat      side by side (axis 1) or on top of each other (axis 0)
    Mask        scores where a pattern forbids become −∞; no pattern means causal
    Entry       a row, column, block of columns or cell of something, indices from 1
    Series      Σ over an index
    Call        a function of the table (functions.py); any other is kept as written
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, get_args

from qkv.errors import Location
from qkv.expr.names import Symbol

if TYPE_CHECKING:
    from qkv.expr.nodes.trees import Found


class _Room:
    """Room on a node for what was found out about it; no field, so equality, hashes and copies leave it out."""

    __slots__ = ("_found", "_hash")
    _found: Found
    _hash: int


@dataclass(frozen=True, slots=True)
class Node(_Room):
    """Base of all nodes; `at` is where the node begins in its document."""

    at: Location | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A decimal as written. `places` counts digits after the point (negative for 3e5), so one unit in the last place
    is 10**-places; None marks an exact number that nobody printed in decimals (a fraction, a size)."""

    value: Fraction
    places: int | None = 0
    text: str = field(default="", compare=False)

    @property
    def ulp(self) -> Fraction:
        """One unit in the last place shown; zero for an exact number."""
        return Fraction(0) if self.places is None else Fraction(10) ** -self.places


@dataclass(frozen=True, slots=True)
class Infinite(Node):
    """∞ (sign 1) or −∞ (sign −1); one that is not `printed` stands where a page leaves out what a mask hides."""

    sign: int = -1
    printed: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Matrix(Node):
    """Rows of cells. `loose` marks a bracket list such as [1, 2, 3], whose notation does not say row or column.
    Ragged rows are kept as printed; `is_ragged` tells."""

    rows: tuple[tuple[Expr, ...], ...]
    loose: bool = field(default=False, compare=False)

    @property
    def is_ragged(self) -> bool:
        """Whether the rows differ in length."""
        return len(set(map(len, self.rows))) > 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns (of the longest row)."""
        return len(self.rows), max(map(len, self.rows), default=0)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A quantity by its symbol; `spelled` is how the document writes it (LaTeX or plain)."""

    symbol: Symbol
    spelled: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """a + b + …"""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Negate(Node):
    """−a"""

    arg: Expr


@dataclass(frozen=True, slots=True)
class Product(Node):
    """a b. Shapes decide whether it scales, multiplies matrices or takes a dot product."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Quotient(Node):
    """a / b"""

    numerator: Expr
    denominator: Expr


@dataclass(frozen=True, slots=True)
class Power(Node):
    """a^n"""

    base: Expr
    exponent: Expr


@dataclass(frozen=True, slots=True)
class Root(Node):
    """√a"""

    arg: Expr


@dataclass(frozen=True, slots=True)
class Absolute(Node):
    """|a|"""

    arg: Expr


@dataclass(frozen=True, slots=True)
class Exp(Node):
    """e^a"""

    arg: Expr


@dataclass(frozen=True, slots=True)
class Transpose(Node):
    """aᵀ"""

    arg: Expr


@dataclass(frozen=True, slots=True)
class Softmax(Node):
    """Softmax along each row (axis 1) or down each column (axis 0). On a page a column of scores is one distribution,
    whatever the axis; `by_rows` marks a softmax that is meant row by row even then (many queries, one key)."""

    arg: Expr
    axis: int = 1
    by_rows: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Normalise(Node):
    """Each entry over the plain sum of its row (axis 1) or column (axis 0); `by_rows` as for Softmax."""

    arg: Expr
    axis: int = 1
    by_rows: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Concat(Node):
    """Parts side by side (axis 1) or stacked (axis 0)."""

    parts: tuple[Expr, ...]
    axis: int = 1


@dataclass(frozen=True, slots=True)
class Mask(Node):
    """Scores with −∞ where `pattern` forbids. A pattern holds 0 / −∞ (additive) or 1 / 0 (true / false, `truth`);
    no pattern means causal: query i sees keys up to i (the last query sits at the last key)."""

    arg: Expr
    pattern: Expr | None = None
    truth: bool = False


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """A row, a column, a cell or a block of columns (`columns`: first and last, None for the end), from 1."""

    arg: Expr
    row: int | None = None
    column: int | None = None
    columns: tuple[int, int | None] | None = None


@dataclass(frozen=True, slots=True)
class Series(Node):
    """Σ of body for index = low … high (low and high are None where the sheet writes a bare Σ)."""

    index: str
    low: Expr | None
    high: Expr | None
    body: Expr


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function by its key in functions.py, or as written where it has none."""

    function: str
    args: tuple[Expr, ...]


Expr = (
    Number | Infinite | Matrix | Name | Sum | Negate | Product | Quotient | Power | Root | Absolute | Exp
    | Transpose | Softmax | Normalise | Concat | Mask | Entry | Series | Call
)  # fmt: skip


_COMPARED = {kind: attrgetter(*[f.name for f in fields(kind) if f.compare]) for kind in get_args(Expr)}


def _hash(node: Node) -> int:
    """Of what is compared, worked out once a node: trees are keys everywhere."""
    try:
        return node._hash
    except AttributeError:
        made = hash((type(node), _COMPARED[type(node)](node)))
        object.__setattr__(node, "_hash", made)
        return made


for _kind in get_args(Expr):
    _kind.__hash__ = _hash


def number(value: int | str | Fraction) -> Number:
    """A number from an int, an exact fraction, or a decimal as written.

    >>> number("0.468").places, number(3).places
    (3, 0)
    """
    if isinstance(value, Fraction):
        return Number(value, None, str(value))
    if isinstance(value, int):
        return Number(Fraction(value), 0, str(value))
    digits, _, exponent = value.lower().partition("e")
    _, _, decimals = digits.partition(".")
    return Number(Fraction(value), len(decimals) - int(exponent or 0), value)


def matrix(rows: object) -> Matrix:
    """A matrix from nested lists of ints, strings or nodes; a flat list is a loose vector."""
    listed = list(rows)  # type: ignore[call-overload]
    if listed and not isinstance(listed[0], (list, tuple)):
        return Matrix((tuple(_cell(c) for c in listed),), loose=True)
    return Matrix(tuple(tuple(_cell(c) for c in row) for row in listed))


def _cell(value: object) -> Expr:
    return value if isinstance(value, Node) else number(value)  # type: ignore[return-value,arg-type]
