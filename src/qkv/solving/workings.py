"""Workings with what their rounded numbers are copies of: e^0.707 / 2.028 stands for e^(S_11) / Σ e^(S_1j)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qkv.check.cells import fitted, shape_of
from qkv.check.compare import meets
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import Cell, bounds
from qkv.judging.beside import written_out
from qkv.judging.copies import Copies
from qkv.judging.originals import meant
from qkv.reading.definitions import Source, has_decimals
from qkv.reading.equation import Kind
from qkv.reading.evidence import printed_grid
from qkv.reading.naming import ROLE
from qkv.reading.page import Spot
from qkv.reading.values import Values

Option = tuple[n.Expr, Spot, Source | None]  # an expression that gives a name, where it is worked out, whence it is


@dataclass(frozen=True)
class Workings:
    """The workings of a page, and what its author copied into them."""

    values: Values
    copies: Copies

    def meant(self, expr: n.Expr, spot: Spot, of: Symbol | None = None) -> n.Expr:
        """A working with what its numbers copy in their places; one `of` a name is not explained by that name."""
        return meant(self.copies, expr, lambda part: None if of in n.names_in(part) else self.values.true(part, spot))

    def beside(self, symbol: Symbol, spot: Spot) -> Iterator[Option]:
        """The workings beside a name, with what their numbers copy in their places, if none stands for itself.

        A formula in names says more than a working, which says more than what attention usually does."""
        found = self.values.source(symbol, spot)
        if found is not None and found[2] in (None, Source.STATED) and not is_usual(found[0]):
            return
        equations = (e for e in self.values.system.page.equations if e.scope == spot.scope and e.line <= spot.line)
        above = [equation for equation in equations if symbol in equation.names]
        for item in above[-1].of(Kind.WORKING, Kind.FORMULA) if above else ():
            expr = self.meant(item.expr, where := Spot(spot.scope, above[-1].line), symbol)
            if symbol in n.names_in(expr) or not self._has_its_shape(expr, symbol, where):
                continue
            copied = expr != item.expr and not self._is_typed(expr, where)
            if copied or self._is_guessed_otherwise(symbol, spot, expr, where):
                yield expr, where, Source.STATED

    def printed_instead(self, symbol: Symbol, spot: Spot) -> Iterator[Option]:
        """The numbers printed for a name whose formula is over names that the page says nothing of, where what these
        usually are gives other numbers: p = softmax(u) = [0.7, 0.3] gives p, whatever u was. With keys on the page a
        name may be that of scores."""
        found, page = self.values.source(symbol, spot), self.values.system.page
        if found is None or found[2] is not Source.STATED or self.values.role(Role.K, None, spot) is not None:
            return
        if any(page.definitions.get(s) for name in n.names_in(found[0]) for s in page.same_letter(name)):
            return
        made = self.values.true(found[0], found[1])
        stated = [e for e in page.equations if symbol in e.names and e.scope == spot.scope and e.line <= spot.line]
        for item in stated[-1].of(Kind.VALUE) if stated and made is not None else ():
            grid = printed_grid(item)
            value = fitted(made, shape_of(grid)) if grid is not None and made is not None else None
            if grid is None or value is None:
                continue
            pairs = [pair for shown, row in zip(grid, value.rows, strict=True) for pair in zip(shown, row, strict=True)]
            if len(pairs) > 1 and 2 * sum(meets(shown, cell) for shown, cell in pairs) < len(pairs):
                yield item.expr, spot, Source.GIVEN

    def _is_guessed_otherwise(self, symbol: Symbol, spot: Spot, expr: n.Expr, where: Spot) -> bool:
        """Whether a name has its value by what is usual only, and that is far from what the page works out for it.

        With keys on the page attention may be what is usual here, and the working a slip."""
        if self.values.role(Role.K, None, spot) is not None:
            return False
        found, worked = self.values.source(symbol, spot), self.values.true(expr, where)
        guess = self.values.true(found[0], found[1]) if found is not None and found[2] is None else None
        if guess is None or worked is None or guess.shape != worked.shape:
            return False
        cells = ((a, b) for x, y in zip(guess.rows, worked.rows, strict=True) for a, b in zip(x, y, strict=True))
        return any(_are_apart(a, b) for a, b in cells)

    def share(self, symbol: Symbol, spot: Spot) -> Iterator[Option]:
        """The share of exponentials that a name is, where one of its family is written out as one and this one only
        has rounded numbers: after α_1 = e²/(e² + e¹) = 0.73 comes α_2 = 2.72/10.11, or 0.27."""
        page = self.values.system.page
        here = [e for e in page.equations if e.scope == spot.scope and e.line <= spot.line and symbol in e.names]
        if here and not here[-1].of(Kind.FORMULA) and (made := written_out(symbol, here[-1], page)) is not None:
            where = Spot(spot.scope, here[-1].line)
            typed = [item.expr for item in here[-1].of(Kind.WORKING)]
            if all(map(has_decimals, typed)) and self._has_its_shape(made, symbol, where):
                yield self.meant(made, where), where, Source.STATED

    def _has_its_shape(self, expr: n.Expr, symbol: Symbol, spot: Spot) -> bool:
        """Whether a working is all that a name stands for, not a line of it."""
        made, whole = self.values.true(expr, spot), self.values.true(n.Name(symbol), spot)
        return made is not None and (whole is None or whole.shape == made.shape)

    def _is_typed(self, expr: n.Expr, spot: Spot) -> bool:
        """Whether numbers are put in that stand for themselves: 0.97 / sum, where the sum is only printed as 3.07."""
        sources = (self.values.source(symbol, spot) for symbol in n.names_in(expr))
        given = (found[0] for found in sources if found is not None and found[2] is Source.GIVEN)
        return has_decimals(expr) or any(isinstance(number, n.Number) and has_decimals(number) for number in given)


def _are_apart(a: Cell, b: Cell) -> bool:
    """Whether two cells differ by more than rounding on the way explains: by a tenth of the larger one."""
    (low, high), (least, most) = bounds(a), bounds(b)
    size = max(abs(float(bound)) for bound in (low, high, least, most))
    return float(low) > float(most) + size / 10 or float(least) > float(high) + size / 10


def is_usual(expr: n.Expr) -> bool:
    """Whether an expression is of the library, not of the page."""
    return any(symbol.base == ROLE for symbol in n.names_in(expr))
