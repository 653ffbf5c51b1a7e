"""Any equation that somebody types, proven or refuted: `(Q K^T)^T = K Q^T`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from qkv.errors import Location, NameUnknownError, ReadError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.fit import Shape
from qkv.reader.grammar import parse_math
from qkv.regex import regex
from qkv.theory.cases import Sizes
from qkv.theory.prove import Equation, Verdict, prove_all

SIZE = regex(r"\s*([^=\s]+)\s*=\s*(\d+)\s*[x×,]\s*(\d+)\s*")
LARGEST = 6


def usual_shapes(z: Sizes) -> dict[Symbol, Shape]:
    """The shapes that names usually have."""
    shapes: dict[Symbol, Shape] = {
        Symbol("X"): (z.keys, z.d),
        Symbol("Q"): (z.queries, z.d_k),
        Symbol("K"): (z.keys, z.d_k),
        Symbol("V"): (z.keys, z.d_v),
        Symbol("A"): (z.queries, z.keys),
        Symbol("S"): (z.queries, z.keys),
        Symbol("W", ("Q",)): (z.d, z.d_k),
        Symbol("W", ("K",)): (z.d, z.d_k),
        Symbol("W", ("V",)): (z.d, z.d_v),
        Symbol("W", ("O",)): (z.d_v, z.d),
        Symbol("d", ("k",)): (1, 1),
        Symbol("c"): (z.queries, 1),  # a constant for each row
        Symbol("s"): (1, 1),
    }
    for letter, width in (("q", z.d_k), ("k", z.d_k), ("v", z.d_v), ("x", z.d)):
        shapes |= {Symbol(letter, (), index): (width, 1) for index in ((), *((str(i),) for i in range(1, 7)))}
    return shapes


def said_shapes(texts: tuple[str, ...]) -> dict[Symbol, Shape]:
    """`A=2x3` as a name and its shape.

    >>> said_shapes(("W_Q=2x3",))
    {Symbol(base='W', labels=('Q',), indices=(), primes=0): (2, 3)}
    """
    shapes = {}
    for text in texts:
        found = SIZE.fullmatch(text)
        name = _parsed(found.group(1))[0] if found else None
        if found is None or not isinstance(name, n.Name):
            raise ReadError(f"{text!r} is not a size; write it as A=2x3.")
        rows, columns = int(found.group(2)), int(found.group(3))
        if not (1 <= rows <= LARGEST and 1 <= columns <= LARGEST):
            raise ValueRefused(f"{text}: sizes for a symbolic proof go from 1 to {LARGEST}.")
        shapes[name.symbol] = (rows, columns)
    return shapes


def prove_statement(text: str, sizes: Sizes | None = None, shapes: Mapping[Symbol, Shape] | None = None) -> Verdict:
    """Prove or refute `left = right` for symbolic matrices.

    >>> prove_statement("(Q K^T)^T = K Q^T").holds, prove_statement("Q K^T = K Q^T", Sizes(3, 3)).holds
    (True, False)
    """
    links = _parsed(text)
    if len(links) < 2:
        raise ReadError(f"{text!r} is no equation; write left = right.")
    known = {**usual_shapes(sizes or Sizes()), **(shapes or {})}
    names = dict.fromkeys(symbol for link in links for symbol in n.names_in(link))
    unknown = [symbol_plain(symbol) for symbol in names if symbol not in known]
    if unknown:
        raise NameUnknownError(f"The size of {', '.join(unknown)} is not known; say it with --size {unknown[0]}=2x3.")
    equations = tuple(Equation(text, left, right) for left, right in pairwise(links))
    return prove_all(equations, {symbol: known[symbol] for symbol in names})


def _parsed(text: str) -> list[n.Expr]:
    parsed = parse_math(text, Location(1))
    if parsed.unread or len(parsed.chains) != 1:
        raise ReadError(f"{text!r} could not be read as mathematics.")
    return [link.expr for link in parsed.chains[0].links]
