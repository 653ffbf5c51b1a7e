"""The author's own numbers: what was printed, and what follows from it, as intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from qkv.check.compare import loosened, shown_number
from qkv.errors import NameUnknownError, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.certified import Certified, Value, scalar
from qkv.interpret.loop import evaluate
from qkv.interpret.trace import Trace


class Loose(Certified):
    """Certified arithmetic in which a printed decimal stands for everything that rounds to it."""

    def number(self, node: n.Number) -> Value:
        return scalar(loosened(shown_number(node)))


@dataclass
class Author(Mapping[Symbol, Value]):
    """A view of a program's quantities as its author holds them: the last printed value, else what follows from it.

    `blame` keeps, for each printed quantity, the claims that were found false when it was printed.
    """

    trace: Trace
    printed: dict[Symbol, Value] = field(default_factory=dict)
    blame: dict[Symbol, tuple[int, ...]] = field(default_factory=dict)
    _made: dict[Symbol, Value] = field(default_factory=dict)

    def __getitem__(self, symbol: Symbol) -> Value:
        if symbol in self.printed:
            return self.printed[symbol]
        if symbol not in self._made:
            item = self.trace.program.item(symbol)
            if item is None:
                raise NameUnknownError(f"nothing here defines {symbol}")
            self._made[symbol] = self._follow(item.expr, symbol)
        return self._made[symbol]

    def _follow(self, expr: n.Expr, symbol: Symbol) -> Value:
        if not any(self.has_printed(name) for name in n.names_in(expr)):
            return self.trace.value(symbol)
        try:
            return evaluate(expr, self, Certified())
        except QkvError:
            return self.trace.value(symbol)

    def has_printed(self, symbol: Symbol) -> bool:
        """Whether a quantity, or anything that it is made of, was printed."""
        if symbol in self.printed:
            return True
        item = self.trace.program.item(symbol)
        return item is not None and any(self.has_printed(name) for name in n.names_in(item.expr))

    def __iter__(self) -> Iterator[Symbol]:
        return (item.symbol for item in self.trace.program.items)

    def __len__(self) -> int:
        return len(self.trace.program.items)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self.printed or any(item.symbol == symbol for item in self.trace.program.items)

    def own(self, expr: n.Expr, exact: bool = False) -> Value | None:
        """An expression worked out with the author's numbers; decimals in it stand for what rounds to them, unless they
        are known copies of printed values, which the author's names already stand for."""
        try:
            return evaluate(expr, self, Certified() if exact else Loose())
        except QkvError:
            return None

    def print(self, symbol: Symbol, value: Value, blamed: tuple[int, ...]) -> None:
        """Remember a printed value, and what is wrong with it."""
        self.printed[symbol] = value
        self.blame[symbol] = blamed
        self._made.clear()

    def blamed(self, expr: n.Expr) -> tuple[int, ...]:
        """The false claims that an expression stands on."""
        found: list[int] = []
        for symbol in n.names_in(expr):
            found.extend(self._blamed(symbol))
        return tuple(dict.fromkeys(found))

    def _blamed(self, symbol: Symbol) -> tuple[int, ...]:
        if symbol in self.printed:
            return self.blame.get(symbol, ())
        item = self.trace.program.item(symbol)
        return self.blamed(item.expr) if item is not None else ()
