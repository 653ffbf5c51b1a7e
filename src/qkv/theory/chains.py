"""Chains of equations between symbolic expressions, judged: matrices written out in a_ij and v_jl, and the definitions.

Two readings. In the free one every indexed name is a symbol of its own, so that a sum of products can be wrong. In the
bound one the names mean what they usually mean (Q = X W_Q, q_i its rows): what holds then is right, what does not may
use another convention and is left open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain, pairwise

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.loop import evaluate
from qkv.theory.ring import Ring
from qkv.theory.symbols import Cells, Symbolic, shape_of

SIZES = {"d": 2, "k": 3, "v": 2}  # widths of tokens, keys and values in the bound reading; any would do
TOKENS = 3
MOST_NAMES = 100
MOST_TOKENS = 6  # in the bound reading
ROOM = 128

Reading = Callable[[Sequence[n.Expr]], tuple[Symbolic, Mapping[Symbol, Cells]]]


def chain_judged(links: Sequence[n.Expr]) -> tuple[bool | None, str, str]:
    """Whether the links of a chain are equal, and two that are not.

    >>> from qkv.theory.formula import written
    >>> chain_judged([written("a_{11} v_{12} + a_{12} v_{22}"), written("a_{12} v_{22} + v_{12} a_{11}")])[0]
    True
    """
    free = _compared(links, _free)
    if free[0] is not None:
        return free
    bound = _compared(links, _bound)
    return bound if bound[0] else (None, "", "")


def _compared(links: Sequence[n.Expr], reading: Reading) -> tuple[bool | None, str, str]:
    algebra, env = reading(links)
    sides = _sides(links, env.keys())
    known: list[tuple[n.Expr, Cells]] = []
    for link in sides if len(sides) > 1 else ():
        try:
            known.append((link, evaluate(link, env, algebra)))
        except QkvError:  # a name or a function that this reading does not know: the link is passed over
            continue
    same = [(a, b) for a, b in pairwise(known) if shape_of(a[1]) == shape_of(b[1])]
    for (a, left), (b, right) in same:
        if left != right:
            sure = reading is _free and _speak_of_the_same(a, b)
            cells = zip(chain.from_iterable(left), chain.from_iterable(right), strict=True)
            left_cell, right_cell = map(algebra.ring.show, next((x, y) for x, y in cells if x != y))
            return (False if sure else None), left_cell, right_cell
    return (True if same else None), "", ""


def _sides(links: Sequence[n.Expr], known: Set[Symbol]) -> list[n.Expr]:
    """The links that may have a value: all their names are known, or there is a Σ, under which they are others."""
    return [link for link in links if known >= set(n.names_in(link)) or n.holds(link, n.Series)]


def _free(links: Sequence[n.Expr]) -> tuple[Symbolic, Mapping[Symbol, Cells]]:
    """Every name with an index as a symbol of its own."""
    ring = Ring(ROOM)
    names = {symbol for link in links for symbol in _unrolled_names(link) if symbol.indices and symbol.base.islower()}
    if len(names) > MOST_NAMES or len(_sides(links, names)) < 2:
        return Symbolic(ring), {}
    return Symbolic(ring), {symbol: ((ring.symbol(symbol, f"{symbol}_1"),),) for symbol in sorted(names)}


def _unrolled_names(link: n.Expr) -> Sequence[Symbol]:
    """The names of an expression, those under a Σ for each value of its index."""
    found = list(n.names_in(link))
    for part in n.walk(link) if n.holds(link, n.Series) else ():
        if isinstance(part, n.Series) and isinstance(part.low, n.Number) and isinstance(part.high, n.Number):
            for symbol in n.names_in(part.body):
                for value in range(int(part.low.value), min(int(part.high.value), 50) + 1):
                    indices = tuple([str(value) if index == part.index else index for index in symbol.indices])
                    found.append(Symbol(symbol.base, symbol.labels, indices, symbol.primes))
    return found


def _speak_of_the_same(a: n.Expr, b: n.Expr) -> bool:
    """Whether both sides are made of cells (a_12) of the same matrices: z_12 = q_11 k_21 + … would be a definition."""
    sides = [_unrolled_names(link) for link in (a, b)]
    cells = all(len("".join(symbol.indices)) >= 2 and symbol.base.islower() for side in sides for symbol in side)
    letters = [{symbol.base for symbol in side} for side in sides]
    return cells and letters[0] == letters[1] != set()


def _bound(links: Sequence[n.Expr]) -> tuple[Symbolic, Mapping[Symbol, Cells]]:
    """What names usually mean, for as many tokens as are stacked."""
    stacked = [link for link in links if n.holds(link, n.Concat)]
    stacks = [len(part.parts) for link in stacked for part in n.walk(link) if isinstance(part, n.Concat)]
    tokens = max(stacks, default=TOKENS)
    if tokens > MOST_TOKENS:
        return Symbolic(Ring(ROOM)), {}
    ring, env = _usual(tokens)
    return Symbolic(ring.copy()), env


@lru_cache(maxsize=MOST_TOKENS)
def _usual(tokens: int) -> tuple[Ring, Mapping[Symbol, Cells]]:
    """X, W and A free; Q, K and V made from them; small letters their rows."""
    algebra = Symbolic(Ring(ROOM))
    X, A = algebra.matrix("x", tokens, SIZES["d"]), algebra.matrix("a", tokens, tokens)
    env: dict[Symbol, Cells] = {Symbol("X"): X, Symbol("A"): A}
    whole = {"x": X}
    for letter, width in (("Q", "k"), ("K", "k"), ("V", "v")):
        weight = algebra.matrix(f"w{letter}", SIZES["d"], SIZES[width])
        env[Symbol("W", (letter,))] = weight
        env[Symbol(letter)] = whole[letter.lower()] = algebra.multiply(X, weight)
    for letter, matrix in {**whole, "a": A}.items():
        for i, row in enumerate(matrix, 1):
            if letter in whole:
                env[Symbol(letter, (), (str(i),))] = algebra.transpose((row,))  # vectors are columns
            for j, cell in enumerate(row, 1):
                env[Symbol(letter, (), (str(i), str(j)))] = ((cell,),)
    return algebra.ring, env
