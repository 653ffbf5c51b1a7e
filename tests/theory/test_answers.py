"""Theory questions are recognised and answered from the interpretations."""

from __future__ import annotations

import pathlib

import pytest

from qkv.expr import nodes as n
from qkv.reader import read_sheet
from qkv.theory.answers import answer, answers
from qkv.theory.context import Context
from qkv.theory.worked import _cell

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "sheets"


@pytest.mark.parametrize(
    "question, around, title, says",
    [
        ("Is softmax applied row-wise or column-wise?", "", "Axis of the softmax", "row-wise"),
        ("What is the shape of the result?", "the softmax function", "Axis of the softmax", "n_q × n_k"),
        ("What is the value of $d$?", "", "The divisor", "variance 1"),
        ("Why do we divide by $\\sqrt{d_k}$?", "", "The divisor", "saturates"),
        ("What is the computational complexity?", "", "Operations", "O(n_q n_k (d_k + d_v))"),
        ("How many additions and multiplications are required?", "", "Operations", "n_q n_k (d_k − 1) additions"),
        ("What are its values and its shape?", "a masking matrix is added", "The mask", "strictly above"),
        ("Compute $\\mathbb{E}[q^\\top k]$.", "random vectors", "Expectation of qᵀk", "d_k μ²"),
        ("What is $\\text{Var}(q^\\top k)$?", "independent components", "Variance of qᵀk", "d_k (σ⁴ + 2 σ² μ²)"),
        ("What should s be?", "Let s be the scaling factor", "The scale", "√d_k"),
        ("What are the dimensions of these matrices?", "", "Sizes of Q, K and V", "n × d_k"),
        ("Show that the entry $z_{ij}$ of $QK^T$ is $q_i^T k_j$.", "", "The scores are dot products", "it holds"),
        ("How many trainable parameters does the layer have?", "multi-head", "Parameters", "numbers"),
        ("How large is the KV cache?", "", "KV cache", "2 n d"),
        ("Warum teilt man durch $\\sqrt{d_k}$?", "", "The divisor", "variance 1"),
        ("Combien de multiplications faut-il ?", "", "Operations", "n_q n_k (d_k + d_v) multiplications"),
        ("¿Cuál es la complejidad?", "", "Operations", "O(n_q n_k (d_k + d_v))"),
        ("注意力的计算复杂度是多少?", "", "Operations", "O(n_q n_k (d_k + d_v))"),
        ("Wie groß ist die Varianz von $q^\\top k$?", "", "Variance of qᵀk", "d_k (σ⁴"),
    ],
)
def test_questions(question, around, title, says):
    found = answer(question, around)
    assert found.title == title
    assert any(says in line for line in (found.words, *found.details))


@pytest.mark.parametrize("question", ["Compute the weights.", "Apply a causal mask.", "What is the capital of France?"])
def test_other_questions(question):
    assert answer(question, f"{question} softmax") is None


def test_numbers_where_the_sizes_are_known():
    context = Context(sizes={"n": 128, "d": 512, "h": 8}, kind="multi-head")
    found = answer("How many parameters are there?", context=context)
    assert [value.rows for value in found.values] == [(("1048576",),)]
    counted = answer(
        "How many multiplications?", "multi-head", Context(sizes={"n": 2, "d": 4, "h": 2}, kind="multi-head")
    )
    assert counted.values[0].rows == ((str(4 * 2 * 16 + 2 * 4 * 4),),)


def test_a_layer_with_stated_sizes():
    text = "# A layer\n\nLet $n = 128$ tokens, $d_{model} = 512$, $h = 8$ heads.\n\n1. Parameters: $4 \\cdot 512^2$.\n"
    (found,) = answers(read_sheet(text))
    values = {value.name: value.rows[0][0] for value in found.values}
    assert values["parameters"] == "1048576"
    assert values["score entries"] == "131072"
    assert values["multiplications for Q Kᵀ of one head"] == "1048576"
    assert values["multiplications for Q Kᵀ"] == "8388608"


def test_a_sheets_own_letters():
    text = "# Layer\n\nLet $X$ be $N \\times D$ with $D_k$ wide keys and $W_Q$ weights.\n\n- What are the dimensions of $Q$?"
    (found,) = answers(read_sheet(text))
    assert "N × D_k" in found.words


def test_transport_is_answered():
    text = "# Moving mass\n\nPiles $P = (2, 0, 1)$ become $Q = (0, 1, 2)$ by optimal transport.\n\n(a) Find the cost."
    (found,) = answers(read_sheet(text))
    values = {value.name: value.rows for value in found.values}
    assert values["cost"] == (("3",),)
    assert "The least cost is 3" in found.words


@pytest.mark.parametrize(
    "name, costs",
    [("40-transport-worksheet.md", {"9", "3/2", "17", "17/9"}), ("58-transport-by-hand.md", {"10", "5/4"})],
)
def test_the_examples(name, costs):
    found = answers(read_sheet((ROOT / "examples" / "sheets" / name).read_text(encoding="utf-8")))
    shown = {v.rows[0][0] for a in found for v in a.values if v.name in ("cost", "cost per unit")}
    assert shown == costs


@pytest.mark.skipif(not SHARED.exists(), reason="the sheets are not here")
@pytest.mark.parametrize(
    "name, titles",
    [
        ("000-two-heads-and-transport.md", {"Operations", "Transport"}),
        ("003-dot-product-and-scaled.md", {"Axis of the softmax", "The divisor", "Operations", "The mask"}),
        (
            "004-tokens-and-scaling.md",
            {
                "Sizes of Q, K and V",
                "The scores are dot products",
                "Expectation of qᵀk",
                "Variance of qᵀk",
                "The scale",
            },
        ),
        ("wild/18-emd-shovelfuls-and-lp.md", {"Transport"}),
    ],
)
def test_the_sheets(name, titles):
    found = answers(read_sheet((SHARED / name).read_text(encoding="utf-8")))
    assert titles <= {a.title for a in found}


@pytest.mark.skipif(not SHARED.exists(), reason="the sheets are not here")
def test_sheets_without_theory_get_no_answers():
    for name in ("001-self-masked-cross.md", "002-two-heads-worksheet.md"):
        assert answers(read_sheet((SHARED / name).read_text(encoding="utf-8"))) == ()


def test_a_root_in_an_answer_is_an_expression() -> None:
    """A damaged sheet about transport gave '√2' as a value, which ended in a ValueError."""
    assert _cell("√2") == n.Root(n.number(2))
