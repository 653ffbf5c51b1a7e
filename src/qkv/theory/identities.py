"""The identities that courses ask to show, each as equations in the expression language, with the steps of its proof.

Each row also lists altered statements that look alike and are false: they show that the proof is not a rubber stamp.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from qkv.errors import NameUnknownError
from qkv.theory import cases
from qkv.theory.cases import Build, Sizes
from qkv.theory.prove import Verdict, prove_all


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


IDENTITIES: tuple[Identity, ...] = (
    Identity(
        "scores",
        "The scores are dot products",
        "(Q Kᵀ)_ij = q_iᵀ k_j",
        r"(QK^\top)_{ij} = q_i^\top k_j",
        cases.scores,
        (
            ("(Q Kᵀ)_ij = Σ_l Q_il (Kᵀ)_lj", "the definition of the product"),
            ("= Σ_l Q_il K_jl", "a transpose swaps the indices"),
            ("= q_iᵀ k_j", "row i of Q is q_iᵀ and row j of K is k_jᵀ"),
        ),
        (
            Altered("(Q Kᵀ)_ij = q_jᵀ k_i", cases.scores_turned),
            Altered("(Q K)_ij = q_iᵀ k_j (K not transposed)", cases.untransposed),
        ),
    ),
    Identity(
        "values",
        "Each output row is a weighted sum of the values",
        "(A V)_i = Σ_j a_ij v_jᵀ",
        r"(AV)_i = \sum_j a_{ij} v_j^\top",
        cases.weighted_sum,
        (
            ("(A V)_il = Σ_j a_ij V_jl", "the definition of the product"),
            ("(A V)_i = Σ_j a_ij [V_j1 … V_jd_v]", "all columns l at once; a_ij does not depend on l"),
            ("= Σ_j a_ij v_jᵀ", "row j of V is v_jᵀ"),
        ),
        (Altered("(A V)_i = Σ_j a_ji v_jᵀ", lambda z: cases.weighted_sum(z, turned=True)),),
    ),
    Identity(
        "stack",
        "X W_Q stacks the queries of all tokens",
        "row i of X W_Q = (W_Qᵀ x_i)ᵀ",
        r"(XW_Q)_i = (W_Q^\top x_i)^\top",
        cases.stacked,
        (
            ("row i of X W_Q = (row i of X) W_Q = x_iᵀ W_Q", "a product is worked out row by row"),
            ("= (W_Qᵀ x_i)ᵀ", "(A B)ᵀ = Bᵀ Aᵀ"),
            ("= q_iᵀ", "q_i = W_Qᵀ x_i"),
        ),
        (Altered("row i of X W_Q = (W_Q x_i)ᵀ (not transposed)", lambda z: cases.stacked(z, transposed=False)),),
    ),
    Identity(
        "causal",
        "Under a causal mask a row depends on the tokens up to it only",
        "row i of causal self-attention is the same whatever tokens i+1 … n are",
        r"\text{row } i \text{ depends on } x_1, \dots, x_i \text{ only}",
        cases.causal_rows,
        (
            ("a_ij = e^(s_ij) / Σ_(l ≤ i) e^(s_il) for j ≤ i, and 0 for j > i", "e^(−∞) = 0"),
            ("z_i = Σ_(j ≤ i) a_ij v_j", "the other weights are 0"),
            ("s_ij = q_iᵀ k_j, and q_i, k_j, v_j come from x_i, x_j", "with j ≤ i no later token occurs"),
        ),
        (Altered("the same without the mask", lambda z: cases.causal_rows(z, masked=False)),),
    ),
    Identity(
        "keys",
        "Keys and values are a set: their order does not matter",
        "softmax(Q (P K)ᵀ) (P V) = softmax(Q Kᵀ) V for every permutation P",
        r"\mathrm{softmax}(Q(PK)^\top)(PV) = \mathrm{softmax}(QK^\top)V",
        cases.keys_permuted,
        (
            ("Q (P K)ᵀ = (Q Kᵀ) Pᵀ", "the columns of the scores are permuted"),
            ("softmax((Q Kᵀ) Pᵀ) = softmax(Q Kᵀ) Pᵀ", "a row's sum does not depend on its order"),
            ("softmax(Q Kᵀ) Pᵀ P V = softmax(Q Kᵀ) V", "Pᵀ P = I"),
        ),
        (Altered("only the keys are permuted", lambda z: cases.keys_permuted(z, values_too=False)),),
    ),
    Identity(
        "tokens",
        "Self-attention does not know positions: permuted tokens give permuted outputs",
        "f(P X) = P f(X) for every permutation P",
        r"f(PX) = P f(X)",
        cases.tokens_permuted,
        (
            ("P X W_Q = P Q, P X W_K = P K, P X W_V = P V", "products are worked out row by row"),
            ("softmax(P Q Kᵀ Pᵀ) = P softmax(Q Kᵀ) Pᵀ", "rows and columns move, each row's sum stays"),
            ("P softmax(Q Kᵀ) Pᵀ P V = P softmax(Q Kᵀ) V", "Pᵀ P = I"),
        ),
        (
            Altered("f(P X) = f(X)", lambda z: cases.tokens_permuted(z, output_too=False)),
            Altered("f(P X) = P f(X) with a causal mask", lambda z: cases.tokens_permuted(z, causal=True)),
        ),
    ),
    Identity(
        "shift",
        "A constant added to a row of scores changes nothing",
        "softmax(S + c 1ᵀ) = softmax(S)",
        r"\mathrm{softmax}(S + c\mathbf{1}^\top) = \mathrm{softmax}(S)",
        cases.shift,
        (
            ("e^(s_ij + c_i) / Σ_l e^(s_il + c_i) = e^(c_i) e^(s_ij) / (e^(c_i) Σ_l e^(s_il))", "e^(a+b) = e^a e^b"),
            ("= e^(s_ij) / Σ_l e^(s_il)", "e^(c_i) is not zero and cancels"),
        ),
        (
            Altered("softmax of each row times a constant is the same", lambda z: cases.shift(z, scaled=True)),
            Altered("a constant added to each column changes nothing", lambda z: cases.shift(z, by_column=True)),
        ),
    ),
    Identity(
        "heads",
        "The heads' projections side by side are one block matrix",
        "X [W_1 … W_h] = [X W_1 … X W_h]",
        r"X\,[W_1 \cdots W_h] = [XW_1 \cdots XW_h]",
        cases.heads,
        (
            ("column l of X B = X (column l of B)", "a product is worked out column by column"),
            ("so the columns of block i give X W_i", "each block has its own columns"),
        ),
        (Altered("X [W_1 … W_h] = [X W_h … X W_1]", lambda z: cases.heads(z, swapped=True)),),
    ),
    Identity(
        "output",
        "The output projection adds up what the heads say",
        "Concat(Z_1, …, Z_h) W_O = Σ_i Z_i W_O^(i), W_O^(i) the rows of W_O that meet head i",
        r"\mathrm{Concat}(Z_1,\dots,Z_h)W_O = \sum_i Z_i W_O^{(i)}",
        cases.output,
        (
            ("(C W_O)_ij = Σ_l C_il (W_O)_lj", "the definition of the product"),
            ("= Σ_heads Σ_(l in head) C_il (W_O)_lj", "the sum is cut at the heads' borders"),
        ),
        (Altered("with the blocks of W_O in the opposite order", lambda z: cases.output(z, swapped=True)),),
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
    return _proven(find(key), sizes or Sizes())


@lru_cache(maxsize=32)  # sheets ask for the same few
def _proven(identity: Identity, sizes: Sizes) -> Proof:
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
