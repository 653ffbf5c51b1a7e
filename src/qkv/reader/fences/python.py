"""Python expressions → our expressions, as far as they are about attention; nothing is ever run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from qkv.errors import Location
from qkv.expr.names import Symbol
from qkv.expr.nodes import (
    Call,
    Concat,
    Entry,
    Exp,
    Expr,
    Infinite,
    Mask,
    Matrix,
    Name,
    Negate,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Softmax,
    Sum,
    Transpose,
    children,
    names_in,
    number,
)
from qkv.reader.fences.causal import adds_later, called, hides_later, is_lowest, is_module, shows_earlier
from qkv.reader.maths.arrays import part_of
from qkv.reader.maths.names import Names
from qkv.reader.maths.numerals import decimal
from qkv.reader.maths.symbols import identifier

_SAME = (
    "array", "tensor", "asarray", "matrix", "Tensor", "FloatTensor", "constant", "float", "double", "numpy", "astype",
    "to", "copy", "clone", "view", "reshape", "float32", "round", "detach", "cpu", "tolist", "squeeze",
    "DataFrame",
)  # fmt: skip
_TRANSPOSES = ("transpose", "t", "permute", "swapaxes")
_PRODUCTS = ("matmul", "dot", "mm", "bmm", "inner")
_ONE: dict[str, Callable[[Expr], Expr]] = {"sqrt": Root, "exp": Exp, "tanh": lambda x: Call("tanh", (x,))}
_OF_ROWS = {"sum": "rowsum", "mean": "mean", "std": "std", "var": "var", "max": "rowmax", "amax": "rowmax"}
_OPERATORS: dict[type[ast.operator], Callable[[Expr, Expr], Expr]] = {
    ast.Add: lambda a, b: Sum((a, b)),
    ast.Sub: lambda a, b: Sum((a, Negate(b))),
    ast.Mult: Product,
    ast.MatMult: Product,
    ast.Div: Quotient,
    ast.Pow: Power,
}


Shown = tuple[Expr | None, Expr | None, str]  # what is printed, the formula of its name, and its source


@dataclass(slots=True)
class Assigned:
    """What the code of a document has assigned so far."""

    formulas: dict[Symbol, Expr] = field(default_factory=dict)
    literals: dict[str, Matrix] = field(default_factory=dict)
    anew: set[Symbol] = field(default_factory=set)  # names that were assigned in terms of themselves
    unread: dict[str, ast.expr] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)  # the values that the last fence prints
    layouts: list[str] = field(
        default_factory=list
    )  # what each of its prints puts on the page, as a regular expression


class Reader:
    """Reads expressions of one fence; `line` is the line of the file on which the current statement begins."""

    def __init__(self, assigned: Assigned, names: Names) -> None:
        self.line = 1
        self.indent = 0  # characters cut off before each line
        self.formulas, self.literals = assigned.formulas, assigned.literals
        self.anew, self.unread = assigned.anew, assigned.unread
        self.made: Symbol | None = None  # the name that the statement before assigned a formula
        self.names = names
        self.torch = False  # whether arrays are torch's, whose variance is over n − 1

    def place(self, node: ast.expr) -> Location:
        """Where a node stands in the file."""
        return Location(self.line + node.lineno - 1, self.indent + node.col_offset + 1)

    def read(self, node: ast.expr) -> Expr | None:
        """The expression, or None where it is not about matrices and numbers that we know."""
        try:
            return self._read(node)
        except RecursionError:
            return None

    def _read(self, node: ast.expr) -> Expr | None:
        match node:
            case ast.Constant(value=int() | float() as value):
                return _finite(int(value) if isinstance(value, bool) else value, self.place(node))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _negative(self._read(operand), self.place(node))
            case ast.List(elts=cells) | ast.Tuple(elts=cells):
                return self._matrix(cells, self.place(node))
            case ast.Name(id=spelled):
                return self._name(spelled, self.place(node))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(left, op, right)
            case ast.Attribute(attr="inf" | "Inf" | "infty") | ast.Call(args=[ast.Constant(value="inf" | "Infinity")]):
                return Infinite(1, at=self.place(node))
            case ast.Call(args=[ast.Constant(value="-inf" | "-Infinity")]):
                return Infinite(-1, at=self.place(node))
            case ast.Attribute(value=value, attr="T" | "mT"):
                inner = self._read(value)
                return Transpose(inner) if inner is not None else None
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=index):
                return self._width(name, index, self.place(node))
            case ast.Subscript(value=value, slice=index):
                return self._entry(value, index)
            case ast.Call():
                return self._call(node)
        return None

    def _width(self, name: str, index: ast.expr, at: Location) -> Expr | None:
        """K.shape[-1] is the number of columns of K, a number where the code has written K out."""
        last = isinstance(index, ast.UnaryOp) or (isinstance(index, ast.Constant) and index.value == 1)
        if name in self.literals:
            rows, columns = self.literals[name].shape
            return replace(number(columns if last else rows), at=at)
        named = self._name(name, at)
        return Call("columns" if last else "rows", (named,), at=at) if named is not None else None

    def _matrix(self, cells: list[ast.expr], at: Location) -> Expr | None:
        read = [self._read(cell) for cell in cells]
        if not read or any(cell is None for cell in read):
            return None
        values = [cell for cell in read if cell is not None]
        if all(isinstance(value, Matrix) and value.loose and len(value.rows) == 1 for value in values):
            return Matrix(tuple(value.rows[0] for value in values if isinstance(value, Matrix)), at=at)
        if len(values) == 1 and isinstance(values[0], Matrix):
            return values[0]  # a batch of one
        if any(isinstance(value, Matrix) for value in values):
            return None
        return Matrix((tuple(values),), loose=True, at=at)

    def _name(self, spelled: str, at: Location) -> Expr | None:
        return Name(identifier(self.names, spelled), spelled, at=at)

    def _binary(self, left: ast.expr, op: ast.operator, right: ast.expr) -> Expr | None:
        build = _OPERATORS.get(type(op))
        if isinstance(op, ast.Div) and (softmax := self._written_softmax(left, right)):
            return softmax
        a, b = self._read(left), self._read(right)
        if isinstance(op, ast.Add) and a is not None and adds_later(right, self.unread):
            return Mask(a)
        if build is None or a is None or b is None:
            return None
        if isinstance(op, ast.Pow) and isinstance(b, Number) and b.value * 2 == 1:
            return Root(a)
        if isinstance(op, ast.Mult) and self._is_array(a) and self._is_array(b):
            return Call("hadamard", (a, b))
        return build(a, b)

    def _is_array(self, expr: Expr) -> bool:
        """Whether an expression holds several numbers for certain, so that * multiplies them one by one."""
        if isinstance(expr, Name):
            known = self.literals.get(expr.spelled) or self.formulas.get(expr.symbol)
            return known is not None and expr.symbol not in names_in(known) and self._is_array(known)
        if isinstance(expr, Product):  # of two vectors it is a number
            return False
        whole = isinstance(expr, Matrix) and expr.shape != (1, 1)
        return whole or (not isinstance(expr, Entry) and any(map(self._is_array, children(expr))))

    def _written_softmax(self, left: ast.expr, right: ast.expr) -> Expr | None:
        """`np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)`, in any of its spellings."""
        while isinstance(right, ast.Call) and called(right) in ("view", "reshape", "unsqueeze"):
            right = right.func.value if isinstance(right.func, ast.Attribute) else right.args[0]
        if not isinstance(right, ast.Call) or called(right) != "sum":
            return None
        method = isinstance(right.func, ast.Attribute) and not is_module(right.func.value)
        summed = right.func.value if method and isinstance(right.func, ast.Attribute) else (right.args or [left])[0]
        top, bottom = self._read(left), self._read(summed)
        if not isinstance(top, Exp) or top != bottom:
            return None
        return Softmax(top.arg, _axis(right, right.args if method else right.args[1:]))

    def _entry(self, value: ast.expr, index: ast.expr) -> Expr | None:
        inner = self._read(value)
        if inner is None:
            return None
        match index:
            case ast.Slice():
                return _part(inner, index, columns=False)
            case ast.Tuple(elts=[ast.Slice() as rows, ast.Slice(lower=None, upper=None)]):
                return _part(inner, rows, columns=False)
            case ast.Tuple(elts=[ast.Slice(lower=None, upper=None), ast.Slice() as columns]):
                return _part(inner, columns, columns=True)
            case ast.Constant(value=int() as row):
                return Entry(inner, row=row + 1)
            case ast.Tuple(elts=[ast.Constant(value=int() as row), ast.Constant(value=int() as column)]):
                return Entry(inner, row=row + 1, column=column + 1)
            case ast.Tuple(elts=[ast.Slice(lower=None, upper=None), ast.Constant(value=int() as column)]):
                return Entry(inner, column=column + 1)
        return None

    def _call(self, node: ast.Call) -> Expr | None:
        name = called(node)
        method = isinstance(node.func, ast.Attribute) and not is_module(node.func.value)
        given = [node.func.value, *node.args] if method and isinstance(node.func, ast.Attribute) else list(node.args)
        if name in ("eye", "identity", "zeros", "ones", "full"):
            return _filled(name, given, self.place(node))
        if not given:
            return None
        if name == "where" and len(given) == 3:
            return self._where(*given)
        if name in ("concatenate", "concat", "cat", "hstack", "vstack", "stack"):
            return self._joined(name, node, given)
        first = self._read(given[0])
        if first is None:
            return None
        if name in _SAME:
            return first
        if name in _TRANSPOSES:
            return Transpose(first)
        if name in _ONE:
            return _ONE[name](first)
        if name == "softmax":
            return Softmax(first, _axis(node, given[1:]))
        if name in ("masked_fill", "masked_fill_") and len(given) > 1:
            return Mask(first) if hides_later(given[1], self.unread) else None
        if name in _OF_ROWS:
            return self._of_row(name, node, first, given[1:])
        if name in _PRODUCTS and len(given) > 1:
            second = self._read(given[1])
            return Product(first, second) if second is not None else None
        return None

    def _of_row(self, name: str, node: ast.Call, of: Expr, positional: list[ast.expr]) -> Expr | None:
        """x.mean(axis=-1) of each row, x.sum(axis=0) of each column, and x.mean() of a vector; a variance over n − 1 is
        none of ours."""
        told = {keyword.arg for keyword in node.keywords}
        row = self.literals.get(of.spelled) if isinstance(of, Name) else of
        vector = isinstance(row, Matrix) and len(row.rows) == 1
        if (name in ("std", "var") and self.torch) or told - {"axis", "dim", "keepdims", "keepdim"}:
            return None
        axis = (positional and not isinstance(node.func, ast.Name)) or told & {"axis", "dim"}  # max(a, b) has none
        if vector or not axis:
            return Call(_OF_ROWS[name], (of,)) if vector else None
        down = _axis(node, positional) == 0
        made = Call(_OF_ROWS[name], (Transpose(of) if down else of,))
        return Transpose(made) if down else made

    def _where(self, mask: ast.expr, chosen: ast.expr, other: ast.expr) -> Expr | None:
        """np.where(mask, -np.inf, scores), and np.where(mask, scores, -np.inf)."""
        for hidden, shown, hides in ((chosen, other, hides_later), (other, chosen, shows_earlier)):
            scores = self._read(shown)
            if is_lowest(hidden) and scores is not None:
                return Mask(scores) if hides(mask, self.unread) else None
        return None

    def _joined(self, name: str, node: ast.Call, given: list[ast.expr]) -> Expr | None:
        if not isinstance(given[0], (ast.List, ast.Tuple)):
            return None
        parts = [self._read(part) for part in given[0].elts]
        if not parts or any(part is None for part in parts):
            return None
        axis = {"hstack": 1, "vstack": 0, "stack": 0}.get(name, _axis(node, given[1:], missing=0))
        return Concat(tuple(part for part in parts if part is not None), axis)


def _part(node: Expr, cut: ast.Slice, *, columns: bool) -> Expr | None:
    """Q[:, :2] with bounds written as numbers."""
    bounds = [bound.value if isinstance(bound, ast.Constant) else bound for bound in (cut.lower, cut.upper)]
    first, end = bounds
    if cut.step or not all(bound is None or isinstance(bound, int) for bound in bounds):
        return None
    return part_of(node, columns=columns, first=1 + (first or 0), end=end)  # type: ignore[operator,arg-type]


def _finite(value: float, at: Location) -> Expr | None:
    text = repr(value)
    return decimal(text, at) if text not in ("inf", "nan") else None


def _negative(inner: Expr | None, at: Location) -> Expr | None:
    if isinstance(inner, Number):
        return Number(-inner.value, inner.places, f"-{inner.text}", at=at)
    if isinstance(inner, Infinite):
        return Infinite(-inner.sign, at=at)
    return Negate(inner) if inner is not None else None


def _axis(node: ast.Call, positional: list[ast.expr], missing: int = 1) -> int:
    given = next((word.value for word in node.keywords if word.arg in ("axis", "dim")), None)
    given = given or (positional[0] if positional else None)
    try:
        value = ast.literal_eval(given) if given is not None else missing
    except ValueError:
        return missing
    return 0 if value in (0, -2) else 1


def _filled(name: str, given: list[ast.expr], at: Location) -> Expr | None:
    """np.eye(n), np.zeros((n, m)) and np.ones((n, m)) of sizes written as numbers."""
    try:
        sizes = [ast.literal_eval(size) for size in given]
    except ValueError:
        return None
    flat = [int(n) for size in sizes for n in (size if isinstance(size, tuple) else (size,)) if isinstance(n, int)]
    if name == "full" or not flat or len(flat) > 2 or max(flat) > 1000:
        return None
    rows, columns = (flat[0], flat[-1]) if name in ("eye", "identity") or len(flat) == 2 else (1, flat[0])
    on, off = {"zeros": (0, 0), "ones": (1, 1)}.get(name, (1, 0))
    body = tuple(tuple(number(on if i == j else off) for j in range(columns)) for i in range(rows))
    return Matrix(body, loose=rows == 1 and name != "eye", at=at)


def holds_nan(node: ast.expr) -> bool:
    """Whether a value is made of np.nan or float('nan'), which no attention can use."""
    named = (getattr(part, "attr", None) or getattr(part, "value", None) for part in ast.walk(node))
    return any(isinstance(name, str) and name.lower() == "nan" for name in named)
