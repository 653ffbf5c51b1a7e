"""The equations of each identity, for given sizes, in the expression language; and of the altered statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

from qkv.errors import ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.fit import Shape
from qkv.theory.prove import Equation


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of the symbolic matrices."""

    queries: int = 2
    keys: int = 3
    d: int = 2
    d_k: int = 2
    d_v: int = 2
    heads: int = 2

    def __post_init__(self) -> None:
        for name in ("queries", "keys", "d", "d_k", "d_v", "heads"):
            if not 1 <= getattr(self, name) <= 6:
                raise ValueRefused(f"{name} = {getattr(self, name)}: sizes for a symbolic proof go from 1 to 6.")


Case = tuple[tuple[Equation, ...], Mapping[Symbol, Shape]]
Build = Callable[[Sizes], Case]


def name(letter: str, *labels: str, primes: int = 0) -> n.Name:
    """A matrix by its letter."""
    return n.Name(Symbol(letter, labels, primes=primes))


Q, K, V, X, A, S, SHIFT = (name(letter) for letter in ("Q", "K", "V", "X", "A", "S", "c"))
W_Q, W_K, W_V = (name("W", label) for label in "QKV")


def row(matrix: n.Expr, i: int) -> n.Entry:
    return n.Entry(matrix, row=i)


def times(*factors: n.Expr) -> n.Expr:
    product = factors[0]
    for factor in factors[1:]:
        product = n.Product(product, factor)
    return product


def attention(q: n.Expr, k: n.Expr, v: n.Expr, causal: bool = False) -> n.Expr:
    """softmax(q kᵀ) v; the scale is a constant that no identity below needs."""
    scores: n.Expr = n.Product(q, n.Transpose(k))
    return n.Product(n.Softmax(n.Mask(scores) if causal else scores, by_rows=True), v)


def self_attention(x: n.Expr, causal: bool = False) -> n.Expr:
    return attention(times(x, W_Q), times(x, W_K), times(x, W_V), causal)


def permutation(order: tuple[int, ...]) -> n.Matrix:
    """The matrix that puts row order[i] in place i."""
    return n.matrix([[int(j == target) for j in range(len(order))] for target in order])


def orders(count: int) -> list[tuple[int, ...]]:
    """All orders of few things; for more, one swap and one turn, which generate them all."""
    listed = tuple(range(count))
    if count <= 3:
        return [order for order in permutations(listed) if order != listed]
    return [(1, 0, *listed[2:]), (*listed[1:], 0)]


def _said(order: tuple[int, ...]) -> str:
    return f"order {' '.join(str(i + 1) for i in order)}"


def sized(**shapes: Shape) -> dict[Symbol, Shape]:
    """Names to shapes; W_Q is spelled W_Q."""
    return {Symbol(*((key[0], (key[2:],)) if "_" in key else (key,))): shape for key, shape in shapes.items()}


def _dot(i: int, j: int) -> n.Expr:
    """Query i times key j."""
    return n.Product(row(Q, i), n.Transpose(row(K, j)))


def scores(z: Sizes, turned: bool = False) -> Case:
    """Each score as a dot product; `turned` has them transposed."""
    queries, whole = z.keys if turned else z.queries, n.Product(Q, n.Transpose(K))
    entries = n.Transpose(whole) if turned else whole
    equations = tuple(
        Equation(f"(QKᵀ)_{i}{j} = q_{i}ᵀ k_{j}", n.Entry(entries, row=i, column=j), _dot(i, j))
        for i in range(1, queries + 1)
        for j in range(1, z.keys + 1)
    )
    return equations, sized(Q=(queries, z.d_k), K=(z.keys, z.d_k))


def untransposed(z: Sizes) -> Case:
    size = max(z.keys, 2)
    equations = tuple(
        Equation(f"(QK)_{i}{j}", n.Entry(n.Product(Q, K), row=i, column=j), _dot(i, j))
        for i in range(1, size + 1)
        for j in range(1, size + 1)
    )
    return equations, sized(Q=(size, size), K=(size, size))


def weighted_sum(z: Sizes, turned: bool = False) -> Case:
    count = max(z.queries, z.keys) if turned else z.queries
    keys = count if turned else z.keys
    equations = []
    for i in range(1, count + 1):
        terms = tuple(n.Product(n.Entry(A, *((j, i) if turned else (i, j))), row(V, j)) for j in range(1, keys + 1))
        equations.append(Equation(f"(AV)_{i} = Σ_j a_{i}j v_jᵀ", row(n.Product(A, V), i), n.Sum(terms)))
    return tuple(equations), sized(A=(count, keys), V=(keys, z.d_v))


def stacked(z: Sizes, transposed: bool = True) -> Case:
    d_k = z.d_k if transposed else z.d
    weight: n.Expr = n.Transpose(W_Q) if transposed else W_Q
    equations = tuple(
        Equation(
            f"(X W_Q)_{i} = (W_Qᵀ x_{i})ᵀ",
            row(n.Product(X, W_Q), i),
            n.Transpose(n.Product(weight, n.Transpose(row(X, i)))),
        )
        for i in range(1, z.queries + 1)
    )
    return equations, sized(X=(z.queries, z.d), W_Q=(z.d, d_k))


def causal_rows(z: Sizes, masked: bool = True) -> Case:
    """Row i of the output, with the tokens after i and with others in their place."""
    tokens, other = max(z.keys, 2), name("X", primes=1)
    equations = []
    for i in range(1, tokens):
        mixed = n.Concat(tuple(row(X if j <= i else other, j) for j in range(1, tokens + 1)), axis=0)
        equations.append(
            Equation(
                f"row {i}, tokens {i + 1}…{tokens} replaced",
                row(self_attention(X, masked), i),
                row(self_attention(mixed, masked), i),
            )
        )
    return tuple(equations), {**_token_shapes(z, tokens), other.symbol: (tokens, z.d)}


def _token_shapes(z: Sizes, tokens: int) -> dict[Symbol, Shape]:
    return sized(X=(tokens, z.d), W_Q=(z.d, z.d_k), W_K=(z.d, z.d_k), W_V=(z.d, z.d_v))


def keys_permuted(z: Sizes, values_too: bool = True) -> Case:
    keys = max(z.keys, 2)
    equations = tuple(
        Equation(
            _said(order),
            attention(Q, times(permutation(order), K), times(permutation(order), V) if values_too else V),
            attention(Q, K, V),
        )
        for order in orders(keys)
    )
    return equations, sized(Q=(z.queries, z.d_k), K=(keys, z.d_k), V=(keys, z.d_v))


def tokens_permuted(z: Sizes, output_too: bool = True, causal: bool = False) -> Case:
    tokens = max(z.keys, 2)
    equations = tuple(
        Equation(
            _said(order),
            self_attention(times(permutation(order), X), causal),
            times(permutation(order), self_attention(X, causal)) if output_too else self_attention(X, causal),
        )
        for order in orders(tokens)
    )
    return equations, _token_shapes(z, tokens)


def shift(z: Sizes, scaled: bool = False, by_column: bool = False) -> Case:
    keys = max(z.keys, 2)
    if scaled:
        changed = n.Concat(tuple(n.Product(n.Entry(SHIFT, i, 1), row(S, i)) for i in range(1, z.queries + 1)), axis=0)
    else:
        changed = n.Sum((S, SHIFT))  # type: ignore[assignment]
    shape = (1, keys) if by_column else (z.queries, 1)
    equation = Equation("softmax(S + c) = softmax(S)", n.Softmax(changed, by_rows=True), n.Softmax(S, by_rows=True))
    return (equation,), sized(S=(z.queries, keys), c=shape)


def heads(z: Sizes, swapped: bool = False) -> Case:
    heads = max(z.heads, 2)
    blocks = [n.Name(Symbol("W", ("Q",), (str(i),))) for i in range(1, heads + 1)]
    parts = tuple(times(X, block) for block in blocks)
    equation = Equation(
        "X [W_1 … W_h] = [X W_1 … X W_h]",
        times(X, n.Concat(tuple(blocks))),
        n.Concat(parts[::-1] if swapped else parts),
    )
    shapes: dict[Symbol, Shape] = {block.symbol: (z.d, z.d_k) for block in blocks}
    return (equation,), {**sized(X=(z.queries, z.d)), **shapes}


def output(z: Sizes, swapped: bool = False) -> Case:
    heads = max(z.heads, 2)
    parts = [n.Name(Symbol("Z", (), (str(i),))) for i in range(1, heads + 1)]
    weights = [n.Name(Symbol("W", ("O",), (str(i),))) for i in range(1, heads + 1)]
    terms = tuple(map(n.Product, parts, weights[::-1] if swapped else weights))
    equation = Equation(
        "Concat(Z_1, …, Z_h) W_O = Σ_i Z_i W_O^(i)",
        times(n.Concat(tuple(parts)), n.Concat(tuple(weights), axis=0)),
        n.Sum(terms),
    )
    shapes: dict[Symbol, Shape] = {part.symbol: (z.queries, z.d_v) for part in parts}
    return (equation,), {**shapes, **{weight.symbol: (z.d_v, z.d) for weight in weights}}
