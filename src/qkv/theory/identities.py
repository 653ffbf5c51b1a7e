"""The identities that courses ask to show, each as equations in the expression language, with the steps of its proof.

Each row also lists altered statements that look alike and are false: they show that the proof is not a rubber stamp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

from qkv.errors import NameUnknownError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.fit import Shape
from qkv.theory.prove import Equation, Verdict, prove_all


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


@dataclass(frozen=True, slots=True)
class Altered:
    """A false statement that looks like the true one."""

    statement: str
    build: Build


@dataclass(frozen=True, slots=True)
class Identity:
    """A statement, its equations for given sizes, and its proof as a course would write it: (formula, reason) lines."""

    key: str
    title: str
    statement: str
    latex: str
    build: Build
    steps: tuple[tuple[str, str], ...]
    altered: tuple[Altered, ...]


def name(letter: str, *labels: str, primes: int = 0) -> n.Name:
    """A matrix by its letter."""
    return n.Name(Symbol(letter, labels, primes=primes))


Q, K, V, X, A, S, P_C = (name(letter) for letter in ("Q", "K", "V", "X", "A", "S", "c"))
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
    return n.Product(n.Softmax(n.Mask(scores) if causal else scores), v)


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


# ── the cases ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _scores(z: Sizes) -> Case:
    cells = [(i, j) for i in range(1, z.queries + 1) for j in range(1, z.keys + 1)]
    return tuple(
        Equation(
            f"(QKᵀ)_{i}{j} = q_{i}ᵀ k_{j}",
            n.Entry(n.Product(Q, n.Transpose(K)), row=i, column=j),
            n.Product(row(Q, i), n.Transpose(row(K, j))),
        )
        for i, j in cells
    ), sized(Q=(z.queries, z.d_k), K=(z.keys, z.d_k))


def _scores_turned(z: Sizes) -> Case:
    equations, sizes = _scores(Sizes(z.keys, z.keys, z.d, z.d_k, z.d_v))
    turned = n.Transpose(n.Product(Q, n.Transpose(K)))
    return tuple(
        Equation(e.label, n.Entry(turned, e.left.row, e.left.column), e.right)
        for e in equations
        if isinstance(e.left, n.Entry)
    ), sizes


def _untransposed(z: Sizes) -> Case:
    size = max(z.keys, 2)
    equations = tuple(
        Equation(
            f"(QK)_{i}{j}",
            n.Entry(n.Product(Q, K), row=i, column=j),
            n.Product(row(Q, i), n.Transpose(row(K, j))),
        )
        for i in range(1, size + 1)
        for j in range(1, size + 1)
    )
    return equations, sized(Q=(size, size), K=(size, size))


def _weighted_sum(z: Sizes, turned: bool = False) -> Case:
    count = max(z.queries, z.keys) if turned else z.queries
    keys = count if turned else z.keys
    equations = []
    for i in range(1, count + 1):
        terms = tuple(n.Product(n.Entry(A, *((j, i) if turned else (i, j))), row(V, j)) for j in range(1, keys + 1))
        equations.append(Equation(f"(AV)_{i} = Σ_j a_{i}j v_jᵀ", row(n.Product(A, V), i), n.Sum(terms)))
    return tuple(equations), sized(A=(count, keys), V=(keys, z.d_v))


def _stacked(z: Sizes, transposed: bool = True) -> Case:
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


def _causal(z: Sizes, masked: bool = True) -> Case:
    """Row i of the output, with the tokens after i and with others in their place."""
    tokens = max(z.keys, 2)
    other = name("X", primes=1)
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
    shapes = _token_shapes(z, tokens)
    return tuple(equations), {**shapes, other.symbol: (tokens, z.d)}


def _token_shapes(z: Sizes, tokens: int) -> dict[Symbol, Shape]:
    return sized(X=(tokens, z.d), W_Q=(z.d, z.d_k), W_K=(z.d, z.d_k), W_V=(z.d, z.d_v))


def _keys_permuted(z: Sizes, values_too: bool = True) -> Case:
    equations = tuple(
        Equation(
            _said(order),
            attention(Q, times(permutation(order), K), times(permutation(order), V) if values_too else V),
            attention(Q, K, V),
        )
        for order in orders(max(z.keys, 2))
    )
    keys = max(z.keys, 2)
    return equations, sized(Q=(z.queries, z.d_k), K=(keys, z.d_k), V=(keys, z.d_v))


def _tokens_permuted(z: Sizes, output_too: bool = True, causal: bool = False) -> Case:
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


def _shift(z: Sizes, scaled: bool = False, by_column: bool = False) -> Case:
    keys = max(z.keys, 2)
    if scaled:
        changed = n.Concat(tuple(n.Product(n.Entry(P_C, i, 1), row(S, i)) for i in range(1, z.queries + 1)), axis=0)
    else:
        changed = n.Sum((S, P_C))  # type: ignore[assignment]
    shape = (1, keys) if by_column else (z.queries, 1)
    equation = Equation("softmax(S + c) = softmax(S)", n.Softmax(changed), n.Softmax(S))
    return (equation,), sized(S=(z.queries, keys), c=shape)


def _heads(z: Sizes, swapped: bool = False) -> Case:
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


def _output(z: Sizes, swapped: bool = False) -> Case:
    heads = max(z.heads, 2)
    parts = [n.Name(Symbol("Z", (), (str(i),))) for i in range(1, heads + 1)]
    weights = [n.Name(Symbol("W", ("O",), (str(i),))) for i in range(1, heads + 1)]
    terms = tuple(
        times(part, weight) for part, weight in zip(parts, weights[::-1] if swapped else weights, strict=True)
    )
    equation = Equation(
        "Concat(Z_1, …, Z_h) W_O = Σ_i Z_i W_O^(i)",
        times(n.Concat(tuple(parts)), n.Concat(tuple(weights), axis=0)),
        n.Sum(terms),
    )
    shapes: dict[Symbol, Shape] = {part.symbol: (z.queries, z.d_v) for part in parts}
    return (equation,), {**shapes, **{weight.symbol: (z.d_v, z.d) for weight in weights}}


# ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────────

IDENTITIES: tuple[Identity, ...] = (
    Identity(
        "scores",
        "The scores are dot products",
        "(Q Kᵀ)_ij = q_iᵀ k_j",
        r"(QK^\top)_{ij} = q_i^\top k_j",
        _scores,
        (
            ("(Q Kᵀ)_ij = Σ_l Q_il (Kᵀ)_lj", "the definition of the product"),
            ("= Σ_l Q_il K_jl", "a transpose swaps the indices"),
            ("= q_iᵀ k_j", "row i of Q is q_iᵀ and row j of K is k_jᵀ"),
        ),
        (
            Altered("(Q Kᵀ)_ij = q_jᵀ k_i", _scores_turned),
            Altered("(Q K)_ij = q_iᵀ k_j (K not transposed)", _untransposed),
        ),
    ),
    Identity(
        "values",
        "Each output row is a weighted sum of the values",
        "(A V)_i = Σ_j a_ij v_jᵀ",
        r"(AV)_i = \sum_j a_{ij} v_j^\top",
        _weighted_sum,
        (
            ("(A V)_il = Σ_j a_ij V_jl", "the definition of the product"),
            ("(A V)_i = Σ_j a_ij [V_j1 … V_jd_v]", "all columns l at once; a_ij does not depend on l"),
            ("= Σ_j a_ij v_jᵀ", "row j of V is v_jᵀ"),
        ),
        (Altered("(A V)_i = Σ_j a_ji v_jᵀ", lambda z: _weighted_sum(z, turned=True)),),
    ),
    Identity(
        "stack",
        "X W_Q stacks the queries of all tokens",
        "row i of X W_Q = (W_Qᵀ x_i)ᵀ",
        r"(XW_Q)_i = (W_Q^\top x_i)^\top",
        _stacked,
        (
            ("row i of X W_Q = (row i of X) W_Q = x_iᵀ W_Q", "a product is worked out row by row"),
            ("= (W_Qᵀ x_i)ᵀ", "(A B)ᵀ = Bᵀ Aᵀ"),
            ("= q_iᵀ", "q_i = W_Qᵀ x_i"),
        ),
        (Altered("row i of X W_Q = (W_Q x_i)ᵀ (not transposed)", lambda z: _stacked(z, transposed=False)),),
    ),
    Identity(
        "causal",
        "Under a causal mask a row depends on the tokens up to it only",
        "row i of causal self-attention is the same whatever tokens i+1 … n are",
        r"\text{row } i \text{ depends on } x_1, \dots, x_i \text{ only}",
        _causal,
        (
            ("a_ij = e^(s_ij) / Σ_(l ≤ i) e^(s_il) for j ≤ i, and 0 for j > i", "e^(−∞) = 0"),
            ("z_i = Σ_(j ≤ i) a_ij v_j", "the other weights are 0"),
            ("s_ij = q_iᵀ k_j, and q_i, k_j, v_j come from x_i, x_j", "with j ≤ i no later token occurs"),
        ),
        (Altered("the same without the mask", lambda z: _causal(z, masked=False)),),
    ),
    Identity(
        "keys",
        "Keys and values are a set: their order does not matter",
        "softmax(Q (P K)ᵀ) (P V) = softmax(Q Kᵀ) V for every permutation P",
        r"\mathrm{softmax}(Q(PK)^\top)(PV) = \mathrm{softmax}(QK^\top)V",
        _keys_permuted,
        (
            ("Q (P K)ᵀ = (Q Kᵀ) Pᵀ", "the columns of the scores are permuted"),
            ("softmax((Q Kᵀ) Pᵀ) = softmax(Q Kᵀ) Pᵀ", "a row's sum does not depend on its order"),
            ("softmax(Q Kᵀ) Pᵀ P V = softmax(Q Kᵀ) V", "Pᵀ P = I"),
        ),
        (Altered("only the keys are permuted", lambda z: _keys_permuted(z, values_too=False)),),
    ),
    Identity(
        "tokens",
        "Self-attention does not know positions: permuted tokens give permuted outputs",
        "f(P X) = P f(X) for every permutation P",
        r"f(PX) = P f(X)",
        _tokens_permuted,
        (
            ("P X W_Q = P Q, P X W_K = P K, P X W_V = P V", "products are worked out row by row"),
            ("softmax(P Q Kᵀ Pᵀ) = P softmax(Q Kᵀ) Pᵀ", "rows and columns move, each row's sum stays"),
            ("P softmax(Q Kᵀ) Pᵀ P V = P softmax(Q Kᵀ) V", "Pᵀ P = I"),
        ),
        (
            Altered("f(P X) = f(X)", lambda z: _tokens_permuted(z, output_too=False)),
            Altered("f(P X) = P f(X) with a causal mask", lambda z: _tokens_permuted(z, causal=True)),
        ),
    ),
    Identity(
        "shift",
        "A constant added to a row of scores changes nothing",
        "softmax(S + c 1ᵀ) = softmax(S)",
        r"\mathrm{softmax}(S + c\mathbf{1}^\top) = \mathrm{softmax}(S)",
        _shift,
        (
            ("e^(s_ij + c_i) / Σ_l e^(s_il + c_i) = e^(c_i) e^(s_ij) / (e^(c_i) Σ_l e^(s_il))", "e^(a+b) = e^a e^b"),
            ("= e^(s_ij) / Σ_l e^(s_il)", "e^(c_i) is not zero and cancels"),
        ),
        (
            Altered("softmax of each row times a constant is the same", lambda z: _shift(z, scaled=True)),
            Altered("a constant added to each column changes nothing", lambda z: _shift(z, by_column=True)),
        ),
    ),
    Identity(
        "heads",
        "The heads' projections side by side are one block matrix",
        "X [W_1 … W_h] = [X W_1 … X W_h]",
        r"X\,[W_1 \cdots W_h] = [XW_1 \cdots XW_h]",
        _heads,
        (
            ("column l of X B = X (column l of B)", "a product is worked out column by column"),
            ("so the columns of block i give X W_i", "each block has its own columns"),
        ),
        (Altered("X [W_1 … W_h] = [X W_h … X W_1]", lambda z: _heads(z, swapped=True)),),
    ),
    Identity(
        "output",
        "The output projection adds up what the heads say",
        "Concat(Z_1, …, Z_h) W_O = Σ_i Z_i W_O^(i), W_O^(i) the rows of W_O that meet head i",
        r"\mathrm{Concat}(Z_1,\dots,Z_h)W_O = \sum_i Z_i W_O^{(i)}",
        _output,
        (
            ("(C W_O)_ij = Σ_l C_il (W_O)_lj", "the definition of the product"),
            ("= Σ_heads Σ_(l in head) C_il (W_O)_lj", "the sum is cut at the heads' borders"),
        ),
        (Altered("with the blocks of W_O in the opposite order", lambda z: _output(z, swapped=True)),),
    ),
)


@dataclass(frozen=True, slots=True)
class Proof:
    """An identity (or an altered statement), the sizes it was checked for, and what was found."""

    identity: Identity
    statement: str
    sizes: Sizes
    verdict: Verdict


def find(key: str) -> Identity:
    """An identity by its key."""
    found = next((identity for identity in IDENTITIES if identity.key == key), None)
    if found is None:
        raise NameUnknownError(f"There is no identity {key!r}; there are {', '.join(i.key for i in IDENTITIES)}.")
    return found


def prove(key: str, sizes: Sizes | None = None) -> Proof:
    """Prove an identity for symbolic matrices.

    >>> prove("scores").verdict.holds
    True
    """
    identity, sizes = find(key), sizes or Sizes()
    return Proof(identity, identity.statement, sizes, prove_all(*identity.build(sizes)))


def refute(key: str, sizes: Sizes | None = None) -> tuple[Proof, ...]:
    """Put the altered statements of an identity to the same test.

    >>> [proof.verdict.holds for proof in refute("shift")]
    [False, False]
    """
    identity, sizes = find(key), sizes or Sizes()
    return tuple(
        Proof(identity, altered.statement, sizes, prove_all(*altered.build(sizes))) for altered in identity.altered
    )
