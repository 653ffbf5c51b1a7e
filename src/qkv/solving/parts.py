"""Long formulas in small steps: the functions that a page applies, a norm, what an activation takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.library.around_said import PARTS
from qkv.library.defined import Defined, defined
from qkv.program.model import Step

ACTIVATIONS = frozenset({"relu", "gelu", "gelutanh", "silu", "elu", "leakyrelu", "softplus"})
# What a part is called where no other quantity is, and why it is a step.
MEAN, NORM = ("mu", "the mean of each token"), ("N", "the norm")
ROOT, SPREAD = ("rho", "the root of its mean square"), ("sigma", "how far its numbers spread")
BEFORE, AFTER = ("U", "what the activation takes"), ("G", "the activation")
BESIDE = ("U", "what the activation is multiplied with")
GATED, FED = ("H", "one product is the gate of the other"), ("F", "the product after the activation")
_NAMED = frozenset({ROOT, NORM, AFTER, GATED, FED})

Free = Callable[[Symbol], Symbol]


def calls_in(expr: n.Expr, functions: Mapping[str, tuple[Defined, ...]]) -> Iterator[n.Call]:
    """The functions of somebody's that an expression applies, the innermost first: SiLU(x W), then FFN(x)."""
    for node in n.walk(expr):
        if isinstance(node, n.Call) and (rows := (*functions.get(node.function, ()), *defined(node.function))):
            for arg in node.args:
                yield from calls_in(arg, functions)
            body = rows[0].of(node.args) if node.function in functions else None
            if body is not None and node.function not in {c.function for c in n.walk(body) if isinstance(c, n.Call)}:
                yield from calls_in(body, functions)
            yield node


def asked_in(words: str, steps: Iterable[Step]) -> Iterator[Step]:
    """The steps for parts of formulas that words ask for: 'the hidden layer after the ReLU'."""
    steps = [step for step in steps if step.role is Role.BLOCK]
    for letter in (letter for letter, said in PARTS if said.search(words)):
        yield from (step for step in steps if (letter, step.says) in _NAMED)


def in_parts(expr: n.Expr, steps: Mapping[Symbol, Step], free: Free) -> tuple[list[Step], n.Expr]:
    """New steps for the parts of an expression, and the expression in their names: the last one, if that is all of it.

    >>> from qkv.expr.show import plain
    >>> x, w = n.Name(Symbol("x")), n.Name(Symbol("W"))
    >>> fed = n.Product(n.Call("relu", (n.Product(x, w),)), n.Name(Symbol("V")))
    >>> steps, whole = in_parts(fed, {}, lambda symbol: symbol)
    >>> [plain(step.expr) for step in steps], plain(whole)
    (['x W', 'relu(U)', 'G V'], 'F')
    """
    known = {step.expr: symbol for symbol, step in steps.items() if not isinstance(step.expr, (n.Name, n.Number))}
    made: list[Step] = []
    kinds: dict[Symbol, tuple[str, str]] = {}

    def named(node: n.Expr, kind: tuple[str, str]) -> n.Expr:
        if isinstance(node, (n.Name, n.Matrix, n.Number)):
            return node
        if node not in known:
            symbol = free(Symbol(kind[0]))
            while symbol in kinds:
                symbol = free(symbol._replace(primes=symbol.primes + 1))
            known[node], kinds[symbol] = symbol, kind
            made.append(Step(symbol, node, Role.BLOCK, symbol_plain(symbol), says=kind[1]))
        return n.Name(known[node])

    def is_kind(node: n.Expr, *wanted: tuple[str, str]) -> bool:
        return isinstance(node, n.Name) and kinds.get(node.symbol) in wanted

    def change(node: n.Expr) -> n.Expr:
        if node in known:
            return n.Name(known[node])
        match node:
            case n.Root() if (kind := _spread(node)) is not None:
                return named(node, kind)
            case n.Quotient(numerator=above, denominator=below) if is_kind(below, ROOT, SPREAD):
                return named(n.Quotient(n.rewrite(above, mean_of), below), NORM)
            case n.Call(function=function, args=(arg,)) if function in ACTIVATIONS:
                return named(n.Call(function, (named(arg, BEFORE),)), AFTER)
            case n.Call(function="hadamard", args=(a, b)) if is_kind(a, AFTER) != is_kind(b, AFTER):
                return named(n.Call("hadamard", (named(a, BESIDE), named(b, BESIDE))), GATED)
            case n.Product(left=left) if is_kind(left, AFTER, GATED):
                return named(node, FED)
        return node

    def mean_of(node: n.Expr) -> n.Expr:
        return named(node, MEAN) if isinstance(node, n.Call) and node.function == "mean" else node

    whole = n.rewrite(expr, change)
    return made, whole


def _spread(root: n.Root) -> tuple[str, str] | None:
    """What the root under a norm is: of a mean square, or of a variance."""
    called = {node.function for node in n.walk(root) if isinstance(node, n.Call)}
    return SPREAD if "var" in called else ROOT if "mean" in called else None
