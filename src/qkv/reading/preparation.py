"""Expressions that need values before they can be worked out.

head(Q, 2, 4)       the second quarter of Q            Σ_i without bounds   runs over what its names run over
line(A, 2)          a row of A, a cell of a vector     ‖q‖ of a vector      is its length
family(a_ij)        the matrix of all a_ij             identity()           is as large as tokens are wide
cells(PE_1)         the row PE_1,0 PE_1,1 …            places(PE)           the codes of all positions
pattern(S, P)       who sees whom, for scores S        FFN(x)               is what the page says it is
slope(∂L/∂x)        by the formulas from x to L        like(a b, x)         cell by cell, where x is such a vector
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, Protocol

from flint import fmpq

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF
from qkv.interpret.certified import Value
from qkv.interpret.loop import unrolled
from qkv.library.around_said import POSITIONS_FROM_ONE
from qkv.library.defined import KEY_SIZE, defined
from qkv.library.rows import renamed
from qkv.reading.asked import all_asked
from qkv.reading.equation import Kind
from qkv.reading.indexed import is_stepping
from qkv.reading.naming import role_symbol
from qkv.reading.page import Spot
from qkv.reading.slopes import SLOPE
from qkv.reading.system import CELLS, FAMILY, HEAD, IDENTITY, LIKE, LINE, PATTERN, PLACES, System

MOST_CELLS = 64  # of a row that is put together from cells


class Look(Protocol):
    """Whoever works out names and expressions."""

    system: System

    def of(self, expr: n.Expr, spot: Spot, top: bool = True) -> Value | None: ...

    def name(self, symbol: Symbol, spot: Spot) -> Value | None: ...

    def slope(self, symbol: Symbol, spot: Spot) -> n.Expr | None: ...


_UNREADY = frozenset({n.Call, n.Mask, n.Series, n.Absolute, n.Entry, n.Softmax})  # what may need values
_STATISTICS = frozenset({"mean", "var", "std"})  # nobody takes these of one number
_PRODUCTS, _SUMS = frozenset({n.Product}), frozenset({n.Sum})
_DOTTED = ({Role.Q, Role.K}, {Role.SOURCE, Role.STATES})  # whose products are scores


class Preparation(NamedTuple):
    """Makes expressions ready at one spot, with the values that are known there."""

    look: Look
    spot: Spot

    @property
    def _system(self) -> System:
        return self.look.system

    @property
    def _conventions(self) -> frozenset[str]:
        return self._system.choices.conventions[self.spot.scope]

    def _value(self, expr: n.Expr) -> Value | None:
        return self.look.of(expr, self.spot, False)

    def _named(self, symbol: Symbol) -> Value | None:
        return self.look.name(symbol, self.spot)

    def of(self, expr: n.Expr) -> n.Expr | None:
        """An expression that can be worked out; None where a value is missing for that."""
        down = "keys" in self._conventions
        kinds = n.kinds_in(expr)
        expr = n.rewrite(expr, self._with_dots, _PRODUCTS) if n.Transpose in kinds else expr
        expr = n.rewrite(expr, self._with_gains, _SUMS) if n.Sum in kinds and n.names_in(expr) else expr
        if kinds.isdisjoint(_UNREADY):
            return expr
        failed = False

        def change(node: n.Expr) -> n.Expr:
            nonlocal failed
            if isinstance(node, n.Call) and node.function in _RESOLVED:
                made = _RESOLVED[node.function](self, node)
                failed |= made is None
                return made or node
            if isinstance(node, n.Call) and node.function in _STATISTICS:
                return self._of_each(node)
            if isinstance(node, n.Call) and node.function not in BY_KEY:
                made = self._called(node)
                failed |= made is None
                return made or node
            if isinstance(node, n.Mask) and node.pattern is not None and not node.truth:
                pattern = self._value(node.pattern)
                if pattern is not None:
                    return replace(node, pattern=self._spread(node, pattern), truth=_is_truth(pattern))
            if isinstance(node, n.Series) and not (isinstance(node.low, n.Number) and isinstance(node.high, n.Number)):
                node = self._bounded(node)
            if isinstance(node, n.Series) and isinstance(node.low, n.Number) and isinstance(node.high, n.Number):
                return unrolled(node)
            if isinstance(node, n.Absolute):
                return self._norm(node)
            if isinstance(node, n.Entry):
                return self._cell_of_vector(node)
            return self._downward(node) if down and isinstance(node, n.Softmax) else node

        made = n.rewrite(expr, change, _UNREADY)
        return None if failed else made

    def _flat(self, expr: n.Expr) -> n.Expr:
        """The aᵀ b of two vectors that are written as rows, as their dot product."""
        product = expr if isinstance(expr, n.Product) and isinstance(expr.left, n.Transpose) else None
        if product is None or not isinstance(product.left, n.Transpose) or not n.names_in(expr):
            return expr
        sides = self._value(product.left.arg), self._value(product.right)
        rows = all(side is not None and side.shape[0] == 1 < side.shape[1] for side in sides)
        return n.Product(product.left.arg, product.right) if rows else expr

    def _of_each(self, call: n.Call) -> n.Call:
        """mean(g x̂) of two rows: of their products cell by cell."""
        arg = call.args[0]
        sides = (self._value(arg.left), self._value(arg.right)) if isinstance(arg, n.Product) else (None, None)
        shapes = {side.shape if side is not None else (1, 1) for side in sides}
        if not isinstance(arg, n.Product) or len(shapes) != 1 or 1 not in (shape := shapes.pop()) or shape == (1, 1):
            return call
        return replace(call, args=(n.Call("hadamard", (arg.left, arg.right)),))

    def _with_gains(self, node: n.Expr) -> n.Expr:
        """γ x̂ + β of three rows of one length, diag(p) − p pᵀ of a row p: nobody adds a dot product to these."""
        if not isinstance(node, n.Sum):
            return node
        node = self._with_units(node)
        if not any(isinstance(_unsigned(term), n.Product) for term in node.terms):
            return node
        added = [self._value(term) for term in node.terms if not isinstance(_unsigned(term), n.Product)]
        shapes = {value.shape for value in added if value is not None and value.shape != (1, 1)}

        def gain(term: n.Expr) -> n.Expr:
            if isinstance(term, n.Negate):
                return replace(term, arg=gain(term.arg))
            if not isinstance(term, n.Product) or not shapes:
                return term
            turned = term.right.arg if isinstance(term.right, n.Transpose) else None
            left, right = self._value(term.left), self._value(turned or term.right)
            shape = left.shape if left is not None and right is not None and left.shape == right.shape else (0, 0)
            if turned is not None and shape[0] == 1 and (shape[1], shape[1]) in shapes:
                return n.Product(n.Transpose(term.left), turned)
            return (
                n.Call("hadamard", (term.left, term.right))
                if turned is None and shape in shapes and 1 in shape
                else term
            )

        return replace(node, terms=tuple(map(gain, node.terms)))

    def _with_units(self, node: n.Sum) -> n.Sum:
        """p − e_3: where nothing says what e is, a 1 in the third place of a vector like p."""
        units = [
            x.symbol for term in node.terms if isinstance(x := _unsigned(term), n.Name) and self._is_unit(x.symbol)
        ]
        values = (self._value(term) for term in node.terms) if units else ()
        shape = next((v.shape for v in values if v is not None and 1 in v.shape and v.shape != (1, 1)), None)
        if shape is None:
            return node
        for unit in units:
            cells = [n.number(int(k == int(unit.indices[0]))) for k in range(1, max(shape) + 1)]
            made = n.Matrix((tuple(cells),) if shape[0] == 1 else tuple((cell,) for cell in cells))
            node = replace(node, terms=tuple(n.replaced(term, n.Name(unit), made) for term in node.terms))
        return node

    def _is_unit(self, symbol: Symbol) -> bool:
        """Whether a name is e_3, and the page does not say what any e is."""
        numbered = len(symbol.indices) == 1 and symbol.indices[0].isdecimal() and symbol.indices[0] != "0"
        page = self._system.page
        return symbol.base == "e" and numbered and not symbol.primes and not page.same_letter(symbol)

    def _with_dots(self, node: n.Expr) -> n.Expr:
        """The qᵀ k of a query and a key, the vᵀ tanh(..) of additive scores: numbers, however vectors are written."""
        left = node.left.arg if isinstance(node, n.Product) and isinstance(node.left, n.Transpose) else None
        if not isinstance(node, n.Product) or not isinstance(left, n.Name):
            return node
        sides = [self._system.place(side.symbol) for side in (left, node.right) if isinstance(side, n.Name)]
        roles = {place.role for place in sides if place is not None}
        return self._flat(node) if roles in _DOTTED or Role.V_A in roles else node

    def _downward(self, softmax: n.Softmax) -> n.Softmax:
        """A softmax without a word about its axis, where each column of Kᵀ Q holds the scores of a query."""
        value = self._value(softmax.arg) if softmax.axis == 1 and not softmax.by_rows else None
        matrix = value is not None and 1 not in value.shape
        return replace(softmax, axis=0) if matrix else softmax

    def _cell_of_vector(self, node: n.Entry) -> n.Entry:
        """softmax(z)[2], where z is one vector: its second cell, for it has no second row."""
        value = self._value(node.arg) if node.column is None and node.columns is None else None
        one_row = value is not None and value.shape[0] == 1 < value.shape[1]
        return replace(node, row=1, column=node.row) if one_row else node

    def _called(self, call: n.Call) -> n.Expr | None:
        """A function that the page defines, or that the library says what it is, for its arguments."""
        for function in (*self._system.functions.get(call.function, ()), *defined(call.function)):
            made = function.of(call.args)
            made = renamed(made, self._system.gains) if made is not None and self._system.gains else made
            if made is not None and KEY_SIZE in n.walk(made) and self._value(KEY_SIZE) is None:
                keys = self._value(call.args[1])
                made = n.replaced(made, KEY_SIZE, n.number(keys.shape[1])) if keys is not None else made
            if made is not None and all(self._named(symbol) is not None for symbol in n.names_in(made)):
                return self.of(made)
        return None

    def _cut(self, call: n.Call) -> n.Expr | None:
        """The block of a head: head(Q, 2, 4) is the second quarter of Q."""
        whole, which, count = call.args
        value = self._value(whole)
        if value is None or not isinstance(which, n.Number) or not isinstance(count, n.Number):
            return None
        columns = "columns" in self._conventions
        size, i, parts = value.shape[0 if columns else 1], int(which.value), int(count.value)
        if size % parts:
            return None
        width = size // parts
        span = (i - 1) * width + 1, i * width
        return n.Transpose(n.Entry(n.Transpose(whole), columns=span)) if columns else n.Entry(whole, columns=span)

    def _line(self, call: n.Call) -> n.Expr | None:
        """line(A, 2): the second cell of a vector, or the second row of a matrix (column, where tokens are columns)."""
        whole, which = call.args
        value = self._value(whole)
        if value is None or not isinstance(which, n.Number):
            return None
        i = int(which.value)
        if 1 in value.shape and value.shape != (1, 1):
            return n.Entry(whole, row=1, column=i) if value.shape[0] == 1 else n.Entry(whole, row=i, column=1)
        return n.Entry(whole, column=i) if "columns" in self._conventions else n.Entry(whole, row=i)

    def _identity(self, call: n.Call) -> n.Expr | None:
        """identity(): the matrix I, as large as tokens are wide where its size is not said."""
        if call.args and isinstance(call.args[0], n.Number):
            size = int(call.args[0].value)
        else:
            roles = (Role.X, Role.STATES, Role.Q, Role.K)
            tokens = next((v for role in roles if (v := self._named(role_symbol(role))) is not None), None)
            columns = "columns" in self._conventions
            size = 0 if tokens is None else tokens.shape[0 if columns else 1]
        rows = tuple(tuple(n.number(int(i == j)) for j in range(size)) for i in range(size))
        return n.Matrix(rows) if 0 < size <= 64 else None

    def _cells(self, call: n.Call) -> n.Expr | None:
        """cells(PE_1): the row of PE_1,0, PE_1,1 …, as long as cells of its kind are known, or as d_model says."""
        symbol = call.args[0].symbol if isinstance(call.args[0], n.Name) else Symbol("")
        family = [s for s in self._system.page.family(symbol) if len(s.indices) == len(symbol.indices) + 1]
        here = [s.indices[-1] for s in family if s.indices[:-1] == symbol.indices and s.indices[-1].isdecimal()]
        first = "1" not in here or "0" in here
        size = len(here) if sorted(map(int, here)) == list(range(1 - first, len(here) + 1 - first)) else 0
        if size < 2:
            bodies = (d.expr for s in family if is_stepping(s.indices[-1]) for d in self._system.page.definitions[s])
            named = (self._named(name) for body in bodies for name in n.names_in(body))
            sizes = [v.cell for v in named if v is not None and v.shape == (1, 1) and v.exact and v.cell.q == 1]
            size, first = int(max(sizes, default=fmpq(0)).p), True
        if not 1 < size <= MOST_CELLS:
            return None
        cells = (n.Name(symbol._replace(indices=(*symbol.indices, str(j + (not first))))) for j in range(size))
        return n.Matrix((tuple(cells),))

    def _family(self, call: n.Call) -> n.Expr | None:
        """family(a_ij): the matrix of all a_ij, as far as what they are made of goes."""
        if not isinstance(call.args[0], n.Name):
            return None
        symbol = call.args[0].symbol
        bodies = [d.expr for d in self._system.page.definitions.get(symbol, ())]
        sizes = [
            max((k for body in bodies for k in self._lengths(body, letter)), default=0) for letter in symbol.indices
        ]
        if len(sizes) == 2 and not any(sizes):  # B_{ij} = -m (i - j): as many as there are of what it is added to
            sizes = list(next(self._added_to(symbol._replace(indices=symbol.indices[:-2])), ()))
        first = 0 if self._system.choices.zero_based else 1
        if not sizes or not all(sizes) or len(sizes) > 2 or max(sizes) > MOST_CELLS:
            return None
        runs = [[str(k + first) for k in range(size)] for size in sizes]
        if len(runs) == 1 and (vectors := self._stacked([symbol._replace(indices=(j,)) for j in runs[0]])) is not None:
            return vectors
        if len(runs) == 1 and "keys" in self._conventions:
            return n.Matrix(tuple((n.Name(symbol._replace(indices=(j,))),) for j in runs[0]))
        rows = runs[0] if len(runs) == 2 else [""]
        cells = tuple(tuple(n.Name(symbol._replace(indices=(i, j) if i else (j,))) for j in runs[-1]) for i in rows)
        return n.Matrix(cells)

    def _slope(self, call: n.Call) -> n.Expr | None:
        """slope(∂L/∂x): the derivative by the formulas that lead from x to L, or to names with a known one."""
        return self.look.slope(call.args[0].symbol, self.spot) if isinstance(call.args[0], n.Name) else None

    def _alike(self, call: n.Call) -> n.Expr:
        """like(a b, x): the product cell by cell where a and b are vectors as x is one, and no other way gives that."""
        expr, like = call.args
        value, wanted = self._value(expr), self._value(like)
        if value is None or wanted is None or value.shape == wanted.shape or 1 not in wanted.shape:
            return expr

        def each(node: n.Expr) -> n.Expr:
            if not isinstance(node, n.Product):
                return node
            sides = self._value(node.left), self._value(node.right)
            alike = all(side is not None and side.shape == wanted.shape for side in sides)
            return n.Call("hadamard", (node.left, node.right)) if alike else node

        made = n.rewrite(expr, each)
        value = self._value(made)
        return made if value is not None and value.shape == wanted.shape else expr

    def _places(self, call: n.Call) -> n.Expr | None:
        """places(PE): the codes of all positions, as many as there are tokens that they are added to."""
        if not isinstance(call.args[0], n.Name):
            return None
        symbol, system = call.args[0].symbol, self._system
        rows, columns = next(self._added_to(symbol), (0, 0))
        if not 0 < rows <= MOST_CELLS or columns > MOST_CELLS:
            return None
        first = 1 if POSITIONS_FROM_ONE.search(system.page.words) else 0
        count = len(next(iter(system.codes_of_places(symbol))).indices)
        places = [(str(first + k),) for k in range(rows)]
        ends: list[tuple[str, ...]] = [(str(j),) for j in range(columns)] if count == 2 else [()]
        lines = [[self._put(symbol._replace(indices=(*place, *end))) for end in ends] for place in places]
        if any(cell is None for line in lines for cell in line):
            return None
        told = [tuple(cell for cell in line if cell is not None) for line in lines]
        return n.Matrix(tuple(told)) if count == 2 else n.Concat(tuple(line[0] for line in told), 0)

    def _put(self, symbol: Symbol) -> n.Expr | None:
        """What the page's formula for every index gives at the indices of a name."""
        return next(self._system.schema(symbol, self.spot), None)

    def _added_to(self, symbol: Symbol) -> Iterator[tuple[int, int]]:
        """The shapes of what formulas of the page add a name to."""
        page = self._system.page
        written = (item.expr for equation in page.equations for item in equation.of(Kind.FORMULA))
        for expr in chain(written, all_asked(page)):
            for node in n.walk(expr):
                terms = node.terms if isinstance(node, n.Sum) else ()
                others = [t for t in terms if isinstance(t, n.Name) and t.symbol != symbol]
                if len(others) < len(terms):
                    yield from (value.shape for t in others if (value := self._named(t.symbol)) is not None)

    def _stacked(self, symbols: list[Symbol]) -> n.Expr | None:
        """Vectors of one family as the array that has them as its lines; None where they are numbers."""
        shapes = {value.shape for symbol in symbols if (value := self._named(symbol)) is not None}
        shape = shapes.pop() if len(shapes) == 1 else (1, 1)
        if 1 not in shape or shape == (1, 1):
            return None
        columns = "columns" in self._conventions
        turned = (shape[1] == 1) != columns
        return n.Concat(tuple(n.Transpose(n.Name(s)) if turned else n.Name(s) for s in symbols), int(columns))

    def _norm(self, node: n.Absolute) -> n.Expr:
        """‖q‖ of a vector is its length."""
        value = self._value(node.arg)
        if value is None or value.shape == (1, 1) or 1 not in value.shape:
            return node
        turned = n.Transpose(node.arg)
        return n.Root(n.Product(node.arg, turned) if value.shape[0] == 1 else n.Product(turned, node.arg))

    def _spread(self, mask: n.Mask, pattern: Value) -> n.Expr | None:
        """A list of keys that may be seen, said of every query."""
        scores = self._value(mask.arg) if 1 in pattern.shape else None
        if scores is None or scores.shape == pattern.shape or mask.pattern is None:
            return mask.pattern
        row = mask.pattern if pattern.shape[0] == 1 else n.Transpose(mask.pattern)
        return n.Concat((row,) * scores.shape[0], 0) if scores.shape[1] == max(pattern.shape) else mask.pattern

    def _seen(self, call: n.Call) -> n.Expr | None:
        """pattern(S, P): who sees whom, as words say it, for scores of this shape."""
        sight = self._system.sight(self.spot.scope)
        scores = next((value for arg in call.args if (value := self._value(arg)) is not None), None)
        if scores is None or sight is None:
            return None
        causal = "causal" in self._conventions
        if "keys" in self._conventions:
            return n.Transpose(sight.pattern(scores.shape[1], scores.shape[0], causal))
        return sight.pattern(*scores.shape, causal)

    def _bounded(self, series: n.Series) -> n.Series:
        """A Σ without numbers as bounds runs over what its names run over, by the only letter that they have."""
        letters = {i for symbol in n.names_in(series.body) for i in symbol.indices if not i.isdecimal()}
        if not series.index and len(letters) == 1:
            series = replace(series, index=letters.pop())
        low = series.low if isinstance(series.low, n.Number) else n.number(0 if self._system.choices.zero_based else 1)
        if (
            isinstance(series.high, n.Name)
            and (high := self._named(series.high.symbol)) is not None
            and high.shape == (1, 1)
        ):
            last = high.cell
            if type(last) is fmpq and last.q == 1:
                return replace(series, low=low, high=n.number(int(last.p)))
        size = max(self._lengths(series.body, series.index), default=0)
        return replace(series, low=low, high=n.number(int(low.value) + size - 1)) if size else series

    def _lengths(self, body: n.Expr, index: str) -> Iterator[int]:
        """How far an index runs, by the names that carry it."""
        for symbol in n.names_in(body):
            if index not in symbol.indices:
                continue
            where = symbol.indices.index(index)
            alike = [
                s
                for s in self._system.page.symbols
                if s.base == symbol.base and s.labels == symbol.labels and len(s.indices) == len(symbol.indices)
            ]
            numbers = {s.indices[where] for s in alike if s.indices[where].isdecimal()}
            if numbers:
                yield len(numbers)
                continue
            whole = self._whole(symbol)
            if whole is not None:
                yield max(whole.shape) if 1 in whole.shape else whole.shape[where]

    def _whole(self, symbol: Symbol) -> Value | None:
        """What an indexed name is a part of."""
        for base in (symbol.base.upper(), symbol.base):
            value = self._named(symbol._replace(base=base, indices=()))
            if value is not None:
                return value
        place = self._system.place(symbol)
        return self._named(role_symbol(place.role, place.head)) if place is not None else None


_RESOLVED = {
    HEAD: Preparation._cut,
    LINE: Preparation._line,
    FAMILY: Preparation._family,
    CELLS: Preparation._cells,
    PLACES: Preparation._places,
    PATTERN: Preparation._seen,
    SLOPE: Preparation._slope,
    LIKE: Preparation._alike,
    IDENTITY: Preparation._identity,
    "eye": Preparation._identity,
}


def _unsigned(term: n.Expr) -> n.Expr:
    return term.arg if isinstance(term, n.Negate) else term


def _is_truth(pattern: Value) -> bool:
    """Whether a mask holds 1 for what is seen and 0 for what is not."""
    cells = [cell for row in pattern.rows for cell in row]
    return all(cell is not NEG_INF and cell in (0, 1) for cell in cells) and any(cell == 1 for cell in cells)
