"""Sheets that go on after attention without a formula: what solve makes of the matrices that they give."""

from __future__ import annotations

import pytest

import qkv

ATTENTION = "X = [[1, 0, 2], [0, 1, 1]]\n\nW_Q = [[1, 0], [0, 1], [1, 1]]\n\nW_K = [[1, 1], [0, 1], [1, 0]]\n\nW_V = [[1, 0, 1], [0, 1, 0], [1, 1, 0]]\n\n"
FED = "W_1 = [[1, -1, 0, 2], [0, 1, 1, -1], [1, 0, -1, 1]]\n\nb_1 = [0.1, 0, 0, 1]\n\nW_2 = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]\n\n"
GIVEN = {
    "X": [[1, 0, 2], [0, 1, 1]], "W_Q": [[1, 0], [0, 1], [1, 1]], "W_K": [[1, 1], [0, 1], [1, 0]],
    "W_V": [[1, 0, 1], [0, 1, 0], [1, 1, 0]], "W_1": [[1, -1, 0, 2], [0, 1, 1, -1], [1, 0, -1, 1]],
    "b_1": ["0.1", 0, 0, 1], "W_2": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]],
}  # fmt: skip

SHEETS = [
    ("The result of self-attention is passed to the FFN (ReLU). Compute its output.", {}, "F"),
    ("After self-attention, Add & Norm, the feed-forward network with GELU, and Add & Norm again. What comes out?", {"norm": "post", "activation": "gelu"}, "N_2"),
    ("Self-attention with residual connections and layer normalization (post-norm), then the FFN with SiLU.", {"norm": "post", "activation": "silu"}, "F"),
]  # fmt: skip


@pytest.mark.parametrize("words, options, name", SHEETS, ids=[words[:30] for words, _, _ in SHEETS])
def test_the_rest_of_the_block_is_worked_out(words: str, options: dict[str, str], name: str) -> None:
    solved = qkv.solve(ATTENTION + FED + words + "\n")
    assert solved[name].digits(8) == qkv.work(**GIVEN, **options)[name].digits(8)
    assert any("without a formula" in note for note in solved.notes)


def test_a_formula_of_the_page_comes_first() -> None:
    text = ATTENTION + FED + "Z = softmax(Q K^T / sqrt(2)) V\n\nH = X W_1 + b_1\n\nY = relu(H) W_2\n\nCompute Y.\n"
    assert not any("without a formula" in note for note in qkv.solve(text).notes)


def test_norms_before_attention_make_the_tokens_that_it_reads() -> None:
    solved = qkv.solve(ATTENTION + FED + "A pre-norm block: layer norm before attention and before the FFN.\n")
    assert solved["R_2"].digits(8) == qkv.work(**GIVEN, norm="pre")["R_2"].digits(8)


def test_matrices_of_heads_are_no_feed_forward_layer() -> None:
    text = "X = [[1, 0], [0, 1]]\n\nW_1^Q = [[1, 0], [0, 1]]\n\nW_2^Q = [[1, 1], [0, 1]]\n\nCompute Q_1 and Q_2.\n"
    assert "F" not in qkv.solve(text)
