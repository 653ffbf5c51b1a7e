"""The author's own numbers: what was printed, and what follows from it, as intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from functools import cached_property, reduce
from itertools import chain

from qkv.check.loose import Loose
from qkv.check.powers import ones, row_sum, scores_raised
from qkv.errors import NameUnknownError, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.nodes import factors
from qkv.interpret.cells import fraction
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate, evaluated
from qkv.interpret.trace import Trace
from qkv.program.model import Given, Step
from qkv.records import dataclass, replace


@dataclass
class Author(Mapping[Symbol, Value]):
    """A view of a program's quantities as its author holds them: the last printed value, else what follows from it.

    `blame` keeps, for each printed quantity, the claims that were found false when it was printed.
    """

    trace: Trace
    printed: dict[Symbol, Value] = field(default_factory=dict)
    blame: dict[Symbol, tuple[int, ...]] = field(default_factory=dict)
    roots: dict[Fraction, Symbol] = field(default_factory=dict)  # √2 ≈ 1.414: roots that were printed in decimals
    parts: dict[n.Expr, Symbol] = field(default_factory=dict)  # U h_2 = [..]: printed values of expressions
    raised: set[n.Expr] = field(default_factory=set)  # e^0.5 = 1.649: scores whose exponentials are among the parts
    missing: dict[Symbol, set[tuple[int, int]]] = field(default_factory=dict)  # cells not yet printed, row by row
    meant: dict[Symbol, tuple[Value, tuple[int, ...]]] = field(default_factory=dict)  # see in_mind
    sound: dict[Symbol, Value] = field(default_factory=dict)  # false prints with their false cells put right
    before: dict[Symbol, tuple[Value, tuple[int, ...]]] = field(default_factory=dict)  # prints that were printed anew
    unjudged: dict[Symbol, Value] = field(default_factory=dict)  # prints that nothing could be said about
    rounded: set[Fraction] = field(default_factory=set)  # printed numbers that are known to be rounded
    by_print: Author | None = None  # for one who has something else in mind: the author of the print
    apart: frozenset[Symbol] = frozenset()  # and the quantities that are in mind
    _made: dict[Symbol, Value] = field(default_factory=dict)
    # Worked out since the last print; an expression is kept with its value, since its id is the key.
    _owned: dict[tuple[int, bool], tuple[n.Expr, Value | None]] = field(default_factory=dict)
    _stands: dict[Symbol, tuple[Symbol, ...]] = field(default_factory=dict)
    _on_print: dict[Symbol, bool] = field(default_factory=dict)
    _held: dict[int, tuple[n.Expr, n.Expr]] = field(default_factory=dict)  # the same until a part is printed
    _typed: dict[tuple[int, int | None], Value | None] = field(default_factory=dict)  # always the same
    _whole: dict[int, tuple[n.Expr, bool]] = field(default_factory=dict)  # id → numbers alone, whether all are whole
    _part_kinds: set[type] = field(default_factory=set)  # what an expression must hold for a part to be in it
    _usual: bool | None = None
    _in_mind: tuple[Author, ...] | None = None
    _unblamed: Author | None = None

    def __getitem__(self, symbol: Symbol) -> Value:
        value = self.printed.get(symbol) or self._made.get(symbol)
        if value is None:
            item = self.trace.program.item(symbol)
            if item is None:
                raise NameUnknownError(f"nothing here defines {symbol}")
            holder = self.holder(item.expr)
            value = self._made[symbol] = self._follow(item, symbol) if holder is self else holder[symbol]
        return value

    def _follow(self, item: Given | Step, symbol: Symbol) -> Value:
        expr = item.expr
        if isinstance(item, Given) and _is_rounded(item):
            return evaluate(expr, self, Loose())  # printed on the way, not an input: its digits are rounded
        on_prints = self.parts or self._has_rounded or any(map(self.has_printed, n.names_in(expr)))
        if not self.roots and (not on_prints or n.is_literal(expr)):
            return self.trace.value(symbol)
        value = self._own(expr, exact=True)
        return self.trace.value(symbol) if value is None else value

    def holder(self, expr: n.Expr) -> Author:
        """Whose numbers give an expression: those of the print, unless it stands on something that is in mind."""
        if self.by_print is None or not self.apart.isdisjoint(self.by_print.standing(expr)):
            return self
        return self.by_print

    def standing(self, expr: n.Expr) -> tuple[Symbol, ...]:
        """The quantities, printed or left open, that an expression stands on."""
        names = n.names_in(self.as_held(expr))
        stands = self._stands
        for symbol in names:
            if symbol not in stands:
                stands[symbol] = self._standing(symbol)
        if len(names) == 1:
            return stands[names[0]]
        return tuple(dict.fromkeys(chain.from_iterable(map(stands.__getitem__, names))))

    def _standing(self, symbol: Symbol) -> tuple[Symbol, ...]:
        item = None if symbol in self.printed else self.trace.program.item(symbol)
        below = self.standing(item.expr) if item is not None else ()
        return (symbol, *below) if symbol in self.printed or symbol in self.unjudged else below

    def print_root(self, square: Fraction, value: Value) -> None:
        """Remember the decimal that the author uses for a square root."""
        symbol = Symbol("√", (), (str(square),))
        self.roots[square] = symbol
        self.print(symbol, value, ())

    def part(self, expr: n.Expr) -> Symbol:
        """A symbol for the printed value of an expression that has no name of its own."""
        self._forget()
        self._held.clear()
        if (scores := scores_raised(expr)) is not None:
            self.raised.add(scores)
            self._part_kinds.add(n.Softmax)  # which is then written out
        self._part_kinds.add(type(expr))
        return self.parts.setdefault(expr, Symbol("part", (), (str(len(self.parts)),)))

    def _forget(self) -> None:
        """What was worked out may be different now."""
        self._owned.clear()
        self._stands.clear()
        self._on_print.clear()

    def as_held(self, expr: n.Expr) -> n.Expr:
        """The expression with those parts replaced whose values were printed on their own."""
        if self.by_print is not None:
            return self.by_print.as_held(expr)
        if type(expr) is n.Name or (type(expr) is n.Entry and type(expr.arg) is n.Name):
            return expr
        held = self._held.get(id(expr))
        if held is None:
            held = self._held[id(expr)] = expr, self._as_held(expr)
        return held[1]

    def _as_held(self, expr: n.Expr) -> n.Expr:
        if not self.roots and (n.is_literal(expr) or not (self._may_hold_parts(expr) or self._may_hold_steps(expr))):
            return expr
        whole = self._plain_sizes(expr)

        def change(part: n.Expr) -> n.Expr:
            if self.parts and part in self.parts:
                return n.Name(self.parts[part])
            if isinstance(part, n.Product) and self.parts:
                part = self._regrouped(part)
            square = self._square(part.arg) if self.roots and isinstance(part, n.Root) else None
            if square is not None and square in self.roots:
                return n.Name(self.roots[square])
            if type(part) not in self._step_kinds or self._looks(part) not in self._step_looks:
                return part
            plain = self._plain_sizes(part)
            known = self._steps.get(plain)
            if known is not None and not self.missing.get(known) and plain != whole:
                return n.Name(known)
            return self._written_out(part) if isinstance(part, n.Softmax) and part.arg in self.raised else part

        return n.rewrite(expr, change)

    def _written_out(self, softmax: n.Softmax) -> n.Expr:
        """A softmax of which exponentials were printed, row by row: those over their sum, which may be printed too."""
        rows, columns = self.trace.evaluate(softmax.arg).shape
        made: list[n.Expr] = []
        for i in range(1, rows + 1):
            cells = [self._exponential(softmax.arg, i, j) for j in range(1, columns + 1)]
            total = self.parts.get(row_sum(softmax.arg, i, columns))
            if total is None and all(isinstance(cell, n.Exp) for cell in cells):
                made.append(replace(softmax, arg=n.Entry(softmax.arg, row=i)))
            else:
                row = n.Matrix((tuple(cells),))
                made.append(n.Quotient(row, n.Name(total) if total is not None else n.Product(row, ones(columns))))
        return n.Concat(tuple(made), axis=0)

    def _exponential(self, scores: n.Expr, i: int, j: int) -> n.Expr:
        """e to the power of one score: as printed alone, or in a whole matrix, or as it follows."""
        alone = n.Exp(n.Entry(scores, i, j))
        whole = self.parts.get(n.Exp(scores))
        if alone in self.parts:
            return n.Name(self.parts[alone])
        return alone if whole is None else n.Entry(n.Name(whole), i, j)

    @cached_property
    def _has_rounded(self) -> bool:
        if self.by_print is not None:
            return self.by_print._has_rounded
        return any(map(_is_rounded, self.trace.program.givens))

    @cached_property
    def _steps(self) -> dict[n.Expr, Symbol]:
        """The steps by what they work out, so that Q Kᵀ / √2 is known for the scaled scores."""
        return {self._plain_sizes(step.expr): step.symbol for step in self.trace.program.steps}

    @cached_property
    def _step_looks(self) -> frozenset[tuple[type, tuple[Symbol, ...]]]:
        return frozenset(map(self._looks, self._steps))

    @cached_property
    def _step_kinds(self) -> frozenset[type]:
        return frozenset(map(type, self._steps)) - {n.Name, n.Number, n.Matrix}

    def _may_hold_parts(self, expr: n.Expr) -> bool:
        return not self._part_kinds.isdisjoint(n.kinds_in(expr))

    def _may_hold_steps(self, expr: n.Expr) -> bool:
        return not all(map(self._step_kinds.isdisjoint, map(n.kinds_in, n.children(expr))))

    def _looks(self, expr: n.Expr) -> tuple[type, tuple[Symbol, ...]]:
        """What a step and an expression must share to be the same, known without walking either."""
        return type(expr), tuple([symbol for symbol in n.names_in(expr) if symbol not in self._sizes])

    def _plain_sizes(self, expr: n.Expr) -> n.Expr:
        """The expression with the names of sizes (d_k) replaced by their numbers."""
        if self._sizes.keys().isdisjoint(n.names_in(expr)):
            return expr
        return n.rewrite(expr, lambda part: self._sizes.get(part.symbol, part) if isinstance(part, n.Name) else part)

    @cached_property
    def _sizes(self) -> dict[Symbol, n.Expr]:
        sizes: dict[Symbol, n.Expr] = {}
        for given in self.trace.program.givens:
            if isinstance(given.expr, n.Number):
                sizes[given.symbol] = n.number(int(given.expr.value))
        return sizes

    def _regrouped(self, product: n.Product) -> n.Expr:
        """sᵀ W h with W h printed: products may be grouped either way."""
        whole = factors(product)
        for part, symbol in self.parts.items():
            inner = factors(part)
            for i in range(len(whole) - len(inner) + 1):
                if len(inner) > 1 and whole[i : i + len(inner)] == inner:
                    whole[i : i + len(inner)] = [n.Name(symbol)]
                    return reduce(n.Product, whole)
        return product

    def _square(self, expr: n.Expr) -> Fraction | None:
        try:
            value = self.trace.evaluate(expr)
        except QkvError:
            return None
        return fraction(value.cell) if value.shape == (1, 1) and value.exact else None

    @property
    def has_usual_shapes(self) -> bool:
        """Whether everything was printed in the shape that it should have."""
        if self._usual is None:
            true = self.trace.values()
            self._usual = all(symbol not in true or true[symbol].shape == x.shape for symbol, x in self.printed.items())
        return self._usual

    def has_printed(self, symbol: Symbol) -> bool:
        """Whether a quantity, or anything that it is made of, was printed."""
        known = self._on_print.get(symbol)
        if known is None:
            item = self.trace.program.item(symbol)
            below = n.names_in(item.expr) if item is not None else ()
            known = self._on_print[symbol] = symbol in self.printed or any(map(self.has_printed, below))
        return known

    def __iter__(self) -> Iterator[Symbol]:
        return (item.symbol for item in self.trace.program.items)

    def __len__(self) -> int:
        return len(self.trace.program.items)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self.printed or (isinstance(symbol, Symbol) and self.trace.program.item(symbol) is not None)

    def own(self, expr: n.Expr, exact: bool = False) -> Value | None:
        """An expression worked out with the author's numbers; decimals in it stand for what rounds to them, unless they
        are known copies of printed values, which the author's names already stand for."""
        if type(expr) is n.Name:
            try:
                return self[expr.symbol]
            except QkvError:
                return None
        holder = self if self.by_print is None else self.holder(expr)
        return holder._own(expr, exact)

    def typed(self, expr: n.Expr, exact: bool = False) -> Value | None:
        """Numbers alone, worked out as they stand there: whatever else is printed, they give the same."""
        if id(expr) not in self._whole:
            numbers = [part for part in n.walk(expr) if type(part) is n.Number]
            self._whole[id(expr)] = expr, not [x for x in numbers if x.places or "." in x.text]
        exact = exact or self._whole[id(expr)][1]
        key = id(expr), None if exact else len(self.rounded)
        if key not in self._typed:
            self._typed[key] = evaluated(expr, {}, Certified() if exact else self.loose)
        return self._typed[key]

    def _own(self, expr: n.Expr, exact: bool) -> Value | None:
        known = self._owned.get((id(expr), exact))
        if known is not None:
            return known[1]
        if not self.roots and n.is_literal(expr):
            return self.typed(expr, exact)
        if not exact and not n.holds(expr, n.Number) and not n.holds(expr, n.Matrix):
            value = self._own(expr, exact=True)  # without numbers it is all one
        else:
            value = evaluated(self.as_held(expr), self, Certified() if exact else self.loose)
        self._owned[id(expr), exact] = expr, value
        return value

    @cached_property
    def loose(self) -> Loose:
        """How the author's decimals are read."""
        return Loose(self.inputs, self.rounded) if self.by_print is None else self.by_print.loose

    @cached_property
    def inputs(self) -> frozenset[Fraction]:
        """The numbers that are given."""
        matrices = [given.expr for given in self.trace.program.givens if not _is_rounded(given)]
        cells = [cell for matrix in matrices if isinstance(matrix, n.Matrix) for row in matrix.rows for cell in row]
        return frozenset([cell.value for cell in cells if isinstance(cell, n.Number)])

    def print(self, symbol: Symbol, value: Value, blamed: tuple[int, ...]) -> None:
        """Remember a printed value, and what is wrong with it."""
        if symbol in self.printed and not self.missing.get(symbol):
            self.before[symbol] = self.printed[symbol], self.blame.get(symbol, ())
        self.printed[symbol] = value
        self.blame[symbol] = blamed
        self.meant.pop(symbol, None)
        self.sound.pop(symbol, None)
        self.unjudged.pop(symbol, None)
        self._made.clear()
        self._forget()
        if symbol in self.missing or self.trace.program.item(symbol) is None:
            self._held.clear()
        self._in_mind = self._usual = self._unblamed = None

    def put_right(self, symbol: Symbol, value: Value) -> None:
        """Remember a false print as it would be without what is false in it."""
        self.sound[symbol] = value
        self._unblamed = None

    @property
    def unblamed(self) -> Author:
        """The author as he would be had he made no slip: what he still prints does not follow from one."""
        if self._unblamed is None:
            false = [symbol for symbol, blamed in self.blame.items() if blamed and self.trace.program.item(symbol)]
            true = {symbol: self.trace.value(symbol) for symbol in false}  # also where a print has another shape
            self._unblamed = self._minding({symbol: (value, ()) for symbol, value in (true | self.sound).items()})
        return self._unblamed

    def mean(self, symbol: Symbol, value: Value, blamed: tuple[int, ...]) -> None:
        """Remember what a wrong print should have shown after the author's own numbers."""
        self.meant[symbol] = value, blamed
        self._in_mind = None

    def leave_open(self, symbol: Symbol, value: Value) -> None:
        """Remember a print that could not be judged: later numbers may stand on it."""
        self.unjudged[symbol] = value
        self._forget()
        self._in_mind = None

    @property
    def in_mind(self) -> tuple[Author, ...]:
        """The author who wrote a number down wrongly and goes on with the right one: for each wrong print, and for all
        of them; the one who goes on with an earlier print (a student whom a grader put right in between), and with
        prints that could not be judged."""
        if self._in_mind is None:
            chosen = [{symbol: meant} for symbol, meant in self.meant.items()]
            chosen += [self.meant] if len(self.meant) > 1 else []
            chosen += [{symbol: print_} for symbol, print_ in self.before.items() if print_[1]]
            chosen += [{symbol: (value, ()) for symbol, value in self.unjudged.items()}] if self.unjudged else []
            self._in_mind = tuple(self._minding(meant) for meant in chosen)
        return self._in_mind

    def _minding(self, meant: dict[Symbol, tuple[Value, tuple[int, ...]]]) -> Author:
        printed = {**self.printed, **{symbol: value for symbol, (value, _) in meant.items()}}
        blame = {**self.blame, **{symbol: blamed for symbol, (_, blamed) in meant.items()}}
        mind = Author(self.trace, printed, blame, self.roots, self.parts, self.raised, self.missing)
        mind.by_print, mind.apart = self, frozenset(meant)
        return mind

    def blamed(self, expr: n.Expr) -> tuple[int, ...]:
        """The false claims that an expression stands on."""
        if not any(self.blame.values()):
            return ()
        standing = (self if self.by_print is None else self.by_print).standing(expr)
        return tuple(dict.fromkeys(chain.from_iterable([self.blame.get(symbol, ()) for symbol in standing])))


def _is_rounded(given: Given) -> bool:
    """Whether a matrix is said to be rounded, or looks worked out, with decimals of two places or more: weights that
    nothing leads to, and what plays no part in the plan."""
    if given.rounded:
        return True
    if given.role not in (Role.OTHER, Role.WEIGHTS) or not isinstance(given.expr, n.Matrix):
        return False
    places = [cell.places or 0 for row in given.expr.rows for cell in row if isinstance(cell, n.Number)]
    return bool(places) and max(places) >= 2
