"""Claims about theory: right ones are never accused, wrong ones are found."""

from __future__ import annotations

import pathlib

import pytest

from qkv.reader import Sheet, read_sheet
from qkv.theory.claims import Judged, TheoryClaim, judge_formula, theory_said
from qkv.theory.expected import chain_holds
from qkv.theory.formula import Unclear, formula, ring, written

SHARED = pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "sheets"
SCORES, VALUES = "The product $QK^T$ requires", "The final matrix multiplication $AV$ requires"


def theory_claims(sheet: Sheet) -> list[TheoryClaim]:
    """What is claimed; what is assumed is no claim."""
    return [claim for claim in theory_said(sheet) if claim.verdict is not Judged.ASSUMED]


def claims(text):
    return [(claim.line, claim.verdict.value) for claim in theory_claims(read_sheet(text))]


@pytest.mark.parametrize(
    "text, shown",
    [
        ("2 N'^2 D", "2 n² d"),
        ("n_q n_k (d_k - 1)", "n_q n_k d_k − n_q n_k"),
        (r"n_{q} \cdot n_{k} \times d_{k}", "n_q n_k d_k"),
        (r"4 N' D^{2} + 2 {N'}^2 D", "2 n² d + 4 n d²"),
        (r"\frac{1}{2} n^2 d_{\text{model}}", "1/2 n² d"),
        (r"D_k(\sigma^4 + 2\mu^2\sigma^2)", "2 d_k μ² σ² + d_k σ⁴"),
        ("n²d", "n² d"),
        (r"\sum_{i=1}^{D_k} \mu^2", "d_k μ²"),
        (r"\sqrt{d_k} \sqrt{d_k}", "d_k"),
    ],
)
def test_formulas_are_read(text, shown):
    rings = ring()
    assert rings.show(formula(written(text), rings).value) == shown


@pytest.mark.parametrize("text", [r"\Omega(4N'D^2)", r"\mathcal{O}(n^2 d)", "O(n^2 d)", r"\Theta(n d)"])
def test_orders_are_read(text):
    assert formula(written(text), ring()).order


@pytest.mark.parametrize("text", ["W^2 n", r"\log n", "n / 0", "Q K^T"])
def test_other_formulas_stay_open(text):
    with pytest.raises(Unclear):
        formula(written(text), ring())


@pytest.mark.parametrize(
    "before, claimed, after, verdict",
    [
        (SCORES, "n_q n_k d_k", "multiplications", "right"),
        (SCORES, "n_q n_k (d_k - 1)", "additions", "right"),
        (SCORES, "n^2 d", "multiplications", "right"),
        (SCORES, "n^2 d_k", "multiplications", "right"),
        (SCORES, "n_q n_k d_k", "additions", "right"),  # the machine's convention
        (SCORES, "2 n_q n_k d_k", "FLOPs", "right"),
        (SCORES, "n_q n_k d_v", "multiplications", "wrong"),
        (SCORES, "n_q n_k (d_k + 1)", "additions", "wrong"),
        (SCORES, "n d^2", "operations", "wrong"),
        (VALUES, "n_q n_k d_v", "multiplications", "right"),
        (VALUES, "n_q d_v (n_k - 1)", "additions", "right"),
        (VALUES, "n_q d_v n_k^2", "multiplications", "wrong"),
        ("Applying the softmax takes", "n_q n_k", "divisions", "right"),
        ("Applying the softmax takes", "n_q", "divisions", "wrong"),
        (r"Dividing by $\sqrt{d_k}$ is done", "n_q n_k", "times", "right"),
        ("The linear transformations to Q, K and V take", "3ND^2", "operations", "right"),
        ("The linear transformations to Q, K and V take", "3N^2D", "operations", "wrong"),
        ("The output projection with $W^O$ takes", "N'D^2", "operations", "right"),
        ("In total multi-head attention takes", "4ND^2 + 2N^2D", "multiplications", "right"),
        ("In total multi-head attention takes", "4ND^2 + 2ND^2", "multiplications", "wrong"),
        ("In total attention takes", "n_q n_k (d_k + d_v)", "multiplications", "right"),
        ("The overall complexity of self-attention is", "O(n^2 d)", "", "right"),
        ("The overall complexity of self-attention is", "O(n^2 d + n d^2)", "", "right"),
        ("The overall complexity of self-attention is", "O(n^2)", "", "right"),  # the width counts as a constant
        ("The overall complexity of multi-head attention is", "O(n^2 d)", "", "right"),  # without the projections
        ("The overall complexity of self-attention is", "O(n d)", "", "wrong"),
        ("For all heads $QK^T$ takes", "h n^2 d_k", "multiplications", "right"),
        ("In total the linear projections take", "4 n d^2", "multiplications", "right"),
        ("Computing Q, K and V takes", "n d (2 d_k + d_v)", "multiplications", "right"),
        ("Computing Q, K and V takes", "h n d (2 d_k + d_v)", "multiplications", "right"),
        (r"The scaled scores $QK^T/\sqrt{d_k}$ take", "n^2 (d_k + 1)", "multiplications", "right"),
        ("The stable softmax takes", "n (n - 1) + n^2", "additions", "right"),
        ("The overall complexity of self-attention is", "O(n^3 d)", "", "wrong"),
    ],
)
def test_counts(before, claimed, after, verdict):
    assert judge_formula(claimed, f"{before} ", f" {after}").verdict == verdict


@pytest.mark.parametrize(
    "before, claimed, after",
    [
        ("We choose", "n^2 d", "multiplications"),  # of what?
        (SCORES, "n^2 d", "bananas"),
        (SCORES, "w n d", "multiplications"),  # w is nothing that we know
        ("The feed-forward network has two linear transformations and takes", "8 n d^2", "multiplications"),
        ("With a causal mask, half of $QK^T$ takes", "n (n + 1) d", "multiplications"),
        ("Linear attention in total takes", "n d^2", "multiplications"),
    ],
)
def test_what_is_not_understood_is_not_judged(before, claimed, after):
    assert judge_formula(claimed, f"{before} ", f" {after}") is None


def test_a_wrong_term_is_carried_on():
    text = (
        "The overall complexity of the MSA is\n\n"
        r"$$\Omega(3N'D^2 + 2N'D^2 + N'D^2) \Rightarrow \Omega(4N'D^2 + 2N'D^2)$$"
    )
    assert claims(text) == [(3, "wrong"), (3, "carried")]
    (first, _) = theory_claims(read_sheet(text))
    assert first.truth == "4 N' D² + 2 N'² D"


@pytest.mark.parametrize(
    "chain, verdict",
    [
        (r"\mathbb{E}[q^\top k] = \sum_{i=1}^{D_k} \mathbb{E}[q_i k_i] = D_k \mu^2", True),
        (r"\mathbb{E}[q^\top k] = D_k \mu", False),
        (r"\mathrm{Var}(q^\top k) = D_k(\sigma^4 + 2\mu^2\sigma^2)", True),
        (r"\mathrm{Var}(q^\top k) = D_k \sigma^4", False),
        (r"\mathrm{Var}(q_i k_i) = E[q_i^2 k_i^2] - E[q_i k_i]^2", True),
        (r"\mathrm{Var}(q_i k_i) = E[q_i^2 k_i^2] + E[q_i k_i]^2", False),
        (r"\mathrm{Var}\left(\frac{q^\top k}{s}\right) = \frac{1}{s} \mathrm{Var}(q^\top k)", False),
        (r"\mathrm{Var}\left(\frac{q^\top k}{s}\right) = \frac{1}{s^2} \mathrm{Var}(q^\top k)", True),
        (r"\mathrm{Var}\left(\frac{q^\top k}{s}\right) = 1", None),  # a condition on s
        (r"\mathrm{Var}(aX + b) = a^2 \mathrm{Var}(X)", True),
        (r"\mathrm{Var}(aX + b) = a \mathrm{Var}(X)", False),
        (r"\mathrm{Var}(aX + b) = a^2 \mathrm{Var}(X) + b", False),
        (r"\mathrm{Var}(q \cdot k) = n(\sigma^4 + 2\mu^2\sigma^2)", True),
        (r"E[q \cdot k] = d \mu", False),
        (r"\mathrm{Var}(q^\top k / \sqrt d) = \frac{1}{d} \mathrm{Var}(q^\top k)", True),
        (r"\mathrm{Var}(q^\top k) = 64", None),  # with a size put in
        (r"E[q_i^3] = \mu^3", None),  # needs more than mean and variance
    ],
)
def test_expectations(chain, verdict):
    (statement,) = read_sheet(f"$${chain}$$").statements
    assert chain_holds([link.expr for link in statement.links], standard=False)[0] is verdict


def test_the_standard_case_needs_to_be_assumed():
    chain = [written(r"\mathrm{Var}(q^\top k)"), written("D_k")]
    assert chain_holds(chain, standard=True)[0] is True
    assert chain_holds(chain, standard=False)[0] is False


@pytest.mark.parametrize(
    "said, verdicts",
    [
        (
            r"Let $E[q_i]=E[k_i]=0$ and $\mathrm{Var}[q_i]=\mathrm{Var}[k_i]=1$. Then $\mathrm{Var}[q^\top k]=d$.",
            ["right"],
        ),
        (r"Let $E[q_i]=0$ and $\mathrm{Var}(q_i)=1$. Then $\mathrm{Var}(q^\top k)=d^2$.", ["wrong"]),
        (r"With zero mean and variance 2, $\mathrm{Var}(q^\top k)=4d$.", []),
        (r"Then $\mathrm{Var}(q^\top k)=4d$.", []),  # of which components is not said
    ],
)
def test_what_is_assumed_of_components_is_no_claim(said, verdicts):
    assert [verdict for _, verdict in claims(said) if verdict != "open"] == verdicts


@pytest.mark.parametrize("scale, verdict", [(r"\sqrt{D_k}", "right"), (r"\pm\sqrt{D_k}", "right"), ("D_k", "wrong")])
def test_the_scale(scale, verdict):
    assert claims(rf"Assume $\mu = 0$ and $\sigma = 1$. So $s = {scale}$.") == [(1, verdict)]


@pytest.mark.parametrize(
    "chain, verdict",
    [
        (
            r"AV = \begin{bmatrix} a_{11} & a_{12} \end{bmatrix} \begin{bmatrix} v_{11} \\ v_{21} \end{bmatrix} = \begin{bmatrix} a_{11} v_{11} + a_{12} v_{21} \end{bmatrix}",
            ["right"],
        ),
        (
            r"AV = \begin{bmatrix} a_{11} & a_{12} \end{bmatrix} \begin{bmatrix} v_{11} \\ v_{21} \end{bmatrix} = \begin{bmatrix} a_{11} v_{11} + a_{12} v_{12} \end{bmatrix}",
            ["wrong"],
        ),
        (
            r"Q = \begin{bmatrix} q_1^T \\ q_2^T \end{bmatrix} = \begin{bmatrix} x_1^T W_Q \\ x_2^T W_Q \end{bmatrix}",
            ["right"],
        ),
        (r"Q = \begin{bmatrix} (W_Q x_1)^T \\ (W_Q x_2)^T \end{bmatrix}", []),  # another convention
        (r"q^\top k = \sum_{i=1}^{D_k} q_i k_i", ["right"]),
        (r"z_{12} = \sum_{l=1}^{2} q_{1l} k_{2l}", []),  # a definition
    ],
)
def test_chains_of_symbols(chain, verdict):
    assert [verdict_ for _, verdict_ in claims(f"$${chain}$$")] == verdict


@pytest.mark.parametrize(
    "sentence, verdict",
    [
        ("Softmax is applied row-wise.", ["right"]),
        ("Is softmax applied row-wise or column-wise?", []),
        (r"The shape of $QK^\top$ is $n_q \times n_k$.", ["right"]),
        (r"The shape of $QK^\top$ is $n_q \times d_k$.", ["wrong"]),
        (r"The shape of the result is $n_q \times d_v$.", ["right"]),
        (r"The dimension of $Q$ is $N \times D_k$.", ["right"]),
        (r"The dimension of $V$ is $n_k \times n_q$.", ["wrong"]),
        (r"We scale by $\sqrt{d_k}$, where $\sqrt{d_k}$ is the dimension of the keys.", ["wrong"]),
        ("The value of $d$ is $d_k$.", ["right"]),
        (r"The image has size $w \times h$.", []),
    ],
)
def test_statements_in_words(sentence, verdict):
    assert [verdict_ for _, verdict_ in claims(sentence)] == verdict


def test_transport_costs():
    table = "We move mass. The transport plan:\n\nfrom \\ to  4 6\n1  1 0\n2  0 1\n\nso the {} is $1 + 6 = {}$."
    assert claims(table.format("total cost", 7)) == [(7, "right")]
    assert claims(table.format("total cost", 71)) == [(7, "wrong")]
    assert claims(table.format("total cost", 8)) == [(7, "wrong")]
    assert claims(table.format("cost from 1 to 4", 3)) == []
    assert claims(table.format("cost of the cheapest move", 3)) == [(7, "right")]


def test_rounded_distances():
    text = (
        "Optimal transport: $P = (1/2, 1/3, 1/6)$ becomes $Q = (2/5, 3/5)$, the total cost for $(x-y)^2$ is $W = {}$."
    )
    assert claims(text.format("0.27")) == [(1, "right")]
    assert claims(text.format("0.516")) == [(1, "right")]  # its root
    assert claims(text.format("0.3")) == [(1, "right")]
    assert claims(text.format("0.26")) == [(1, "open")]  # cut off, not rounded
    assert claims(text.format("0.4")) == [(1, "wrong")]


@pytest.mark.skipif(not SHARED.exists(), reason="the sheets are not here")
@pytest.mark.parametrize(
    "name, wrong",
    [
        ("000-two-heads-and-transport.md", [(87, "wrong"), (87, "carried"), (95, "wrong"), (108, "wrong")]),
        ("003-dot-product-and-scaled.md", []),
        ("004-tokens-and-scaling.md", []),
    ],
)
def test_the_sheets(name, wrong):
    found = theory_claims(read_sheet((SHARED / name).read_text(encoding="utf-8")))
    assert [(c.line, c.verdict.value) for c in found if c.verdict in (Judged.WRONG, Judged.CARRIED)] == wrong
    assert sum(c.verdict is Judged.RIGHT for c in found) >= 3


@pytest.mark.parametrize(
    "before, claimed, verdict",
    [
        ("A transformer block has", r"4d^2 + 2 \cdot d \cdot d_{ff}", "right"),
        ("A transformer block has", "12 d^2", "right"),  # d_ff = 4 d
        ("A block has", "12 d^2 + 13 d", "right"),  # with biases and norms
        ("A block has", "4d^2 + d d_{ff}", "wrong"),
        ("Multi-head attention has", "4 d_{model}^2", "right"),
        ("Multi-head attention has", "3 d_{model}^2", "wrong"),
        ("The FFN has", "2 d d_{ff} + d_{ff} + d", "right"),
        ("The SwiGLU FFN has", "3 d d_{ff}", "right"),
        ("The FFN has", "d d_{ff}", "wrong"),
    ],
)
def test_parameters_in_symbols(before, claimed, verdict):
    assert judge_formula(claimed, before, "parameters").verdict.value == verdict


@pytest.mark.parametrize(
    "before",
    ["The first matrix of the FFN has", "The projections of attention to Q, K and V have", "With LoRA attention has"],
)
def test_parameters_of_something_else_are_not_judged(before):
    assert judge_formula("d d_{ff}", before, "parameters") is None
