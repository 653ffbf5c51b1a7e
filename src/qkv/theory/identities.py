"""The identities that courses ask to show, each as equations in the expression language, with the steps of its proof.

Each row also lists altered statements that look alike and are false: they show that the proof is not a rubber stamp.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

from qkv.errors import NameUnknownError
from qkv.theory import cases
from qkv.theory.cases import Build, Sizes
from qkv.theory.prove import Verdict, prove_all


@dataclass(frozen=True, slots=True)
class Identity:
    """A statement, its equations for given sizes, and its proof as a course would write it: (formula, reason) lines;
    and false statements that look like the true one, with their equations."""

    key: str
    title: str
    statement: str
    latex: str
    build: Build
    steps: tuple[tuple[str, str], ...]
    altered: tuple[tuple[str, Build], ...]


# For each identity its key and title, the statement, the same in LaTeX; the steps of its proof (-) with their reasons;
# and altered statements (!).
ROWS = r"""
[scores] The scores are dot products
(Q Kᵀ)_ij = q_iᵀ k_j
(QK^\top)_{ij} = q_i^\top k_j
- (Q Kᵀ)_ij = Σ_l Q_il (Kᵀ)_lj | the definition of the product
- = Σ_l Q_il K_jl | a transpose swaps the indices
- = q_iᵀ k_j | row i of Q is q_iᵀ and row j of K is k_jᵀ
! (Q Kᵀ)_ij = q_jᵀ k_i
! (Q K)_ij = q_iᵀ k_j (K not transposed)
[values] Each output row is a weighted sum of the values
(A V)_i = Σ_j a_ij v_jᵀ
(AV)_i = \sum_j a_{ij} v_j^\top
- (A V)_il = Σ_j a_ij V_jl | the definition of the product
- (A V)_i = Σ_j a_ij [V_j1 … V_jd_v] | all columns l at once; a_ij does not depend on l
- = Σ_j a_ij v_jᵀ | row j of V is v_jᵀ
! (A V)_i = Σ_j a_ji v_jᵀ
[stack] X W_Q stacks the queries of all tokens
row i of X W_Q = (W_Qᵀ x_i)ᵀ
(XW_Q)_i = (W_Q^\top x_i)^\top
- row i of X W_Q = (row i of X) W_Q = x_iᵀ W_Q | a product is worked out row by row
- = (W_Qᵀ x_i)ᵀ | (A B)ᵀ = Bᵀ Aᵀ
- = q_iᵀ | q_i = W_Qᵀ x_i
! row i of X W_Q = (W_Q x_i)ᵀ (not transposed)
[causal] Under a causal mask a row depends on the tokens up to it only
row i of causal self-attention is the same whatever tokens i+1 … n are
\text{row } i \text{ depends on } x_1, \dots, x_i \text{ only}
- a_ij = e^(s_ij) / Σ_(l ≤ i) e^(s_il) for j ≤ i, and 0 for j > i | e^(−∞) = 0
- z_i = Σ_(j ≤ i) a_ij v_j | the other weights are 0
- s_ij = q_iᵀ k_j, and q_i, k_j, v_j come from x_i, x_j | with j ≤ i no later token occurs
! the same without the mask
[keys] Keys and values are a set: their order does not matter
softmax(Q (P K)ᵀ) (P V) = softmax(Q Kᵀ) V for every permutation P
\mathrm{softmax}(Q(PK)^\top)(PV) = \mathrm{softmax}(QK^\top)V
- Q (P K)ᵀ = (Q Kᵀ) Pᵀ | the columns of the scores are permuted
- softmax((Q Kᵀ) Pᵀ) = softmax(Q Kᵀ) Pᵀ | a row's sum does not depend on its order
- softmax(Q Kᵀ) Pᵀ P V = softmax(Q Kᵀ) V | Pᵀ P = I
! only the keys are permuted
[tokens] Self-attention does not know positions: permuted tokens give permuted outputs
f(P X) = P f(X) for every permutation P
f(PX) = P f(X)
- P X W_Q = P Q, P X W_K = P K, P X W_V = P V | products are worked out row by row
- softmax(P Q Kᵀ Pᵀ) = P softmax(Q Kᵀ) Pᵀ | rows and columns move, each row's sum stays
- P softmax(Q Kᵀ) Pᵀ P V = P softmax(Q Kᵀ) V | Pᵀ P = I
! f(P X) = f(X)
! f(P X) = P f(X) with a causal mask
[shift] A constant added to a row of scores changes nothing
softmax(S + c 1ᵀ) = softmax(S)
\mathrm{softmax}(S + c\mathbf{1}^\top) = \mathrm{softmax}(S)
- e^(s_ij + c_i) / Σ_l e^(s_il + c_i) = e^(c_i) e^(s_ij) / (e^(c_i) Σ_l e^(s_il)) | e^(a+b) = e^a e^b
- = e^(s_ij) / Σ_l e^(s_il) | e^(c_i) is not zero and cancels
! softmax of each row times a constant is the same
! a constant added to each column changes nothing
[heads] The heads' projections side by side are one block matrix
X [W_1 … W_h] = [X W_1 … X W_h]
X\,[W_1 \cdots W_h] = [XW_1 \cdots XW_h]
- column l of X B = X (column l of B) | a product is worked out column by column
- so the columns of block i give X W_i | each block has its own columns
! X [W_1 … W_h] = [X W_h … X W_1]
[output] The output projection adds up what the heads say
Concat(Z_1, …, Z_h) W_O = Σ_i Z_i W_O^(i), W_O^(i) the rows of W_O that meet head i
\mathrm{Concat}(Z_1,\dots,Z_h)W_O = \sum_i Z_i W_O^{(i)}
- (C W_O)_ij = Σ_l C_il (W_O)_lj | the definition of the product
- = Σ_heads Σ_(l in head) C_il (W_O)_lj | the sum is cut at the heads' borders
! with the blocks of W_O in the opposite order
"""
# The equations of each statement, and of its altered ones in their order.
BUILDS: dict[str, tuple[Build, ...]] = {
    "scores": (cases.scores, partial(cases.scores, turned=True), cases.untransposed),
    "values": (cases.weighted_sum, partial(cases.weighted_sum, turned=True)),
    "stack": (cases.stacked, partial(cases.stacked, transposed=False)),
    "causal": (cases.causal_rows, partial(cases.causal_rows, masked=False)),
    "keys": (cases.keys_permuted, partial(cases.keys_permuted, values_too=False)),
    "tokens": (
        cases.tokens_permuted,
        partial(cases.tokens_permuted, output_too=False),
        partial(cases.tokens_permuted, causal=True),
    ),
    "shift": (cases.shift, partial(cases.shift, scaled=True), partial(cases.shift, by_column=True)),
    "heads": (cases.heads, partial(cases.heads, swapped=True)),
    "output": (cases.output, partial(cases.output, swapped=True)),
}


def _identity(text: str) -> Identity:
    """One identity of the table."""
    (head, statement, latex), rest = text.split("\n")[:3], text.split("\n")[3:]
    key, title = head.split("] ")
    steps = tuple((formula, because) for formula, because in (line[2:].split(" | ") for line in rest if line[0] == "-"))
    altered = [line[2:] for line in rest if line[0] == "!"]
    build, *others = BUILDS[key]
    return Identity(key, title, statement, latex, build, steps, tuple(zip(altered, others, strict=True)))


IDENTITIES = tuple(_identity(text) for text in ROWS.strip().removeprefix("[").split("\n["))


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
    return tuple(Proof(identity, statement, sizes, prove_all(*build(sizes))) for statement, build in identity.altered)
