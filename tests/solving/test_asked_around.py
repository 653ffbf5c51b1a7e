"""Exercises in words about norms, positions, feed-forward layers and losses, as a person types them."""

from __future__ import annotations

import pytest

import qkv

X = "X = [[1, 2, 3, 4], [0, 1, 0, 3]]\n\n"
TOKENS = [[1, 2, 3, 4], [0, 1, 0, 3]]
LOGITS = "The logits are z = [2, 1, 0.1] and the correct class is 0.\n\n"
SHEETS = [
    (X + "Compute LayerNorm(X).", {"X": TOKENS, "norm": "pre"}, "N_1"),
    (X + "gamma = [1, 2, 1, 2], beta = [0, 1, 0, 1], eps = 0.01. Apply layer normalization to X.", {"X": TOKENS, "norm": "pre", "gamma_1": [1, 2, 1, 2], "beta_1": [0, 1, 0, 1], "eps": "0.01"}, "N_1"),
    (X + "Apply RMSNorm to each token.", {"X": TOKENS, "norm": "pre rms"}, "N_1"),
    (X + "Output = [[1, 0, 1, 0], [0, 2, 0, 2]]\n\nAdd the residual and apply layer norm.", {"X": TOKENS, "Output": [[1, 0, 1, 0], [0, 2, 0, 2]], "norm": "post"}, "N_1"),
    (X + "Add the sinusoidal positional encoding to X.", {"X": TOKENS, "positions": "sinusoidal"}, "X_P"),
    (X + "P = [[1, 0, 0, 1], [0, 1, 1, 0]] are learned positional embeddings. Compute X + P.", {"X": TOKENS, "positions": [[1, 0, 0, 1], [0, 1, 1, 0]]}, "X_P"),
    ("x = [1, 2], W_gate = [[1, 0], [0, 1]], W_up = [[1, 1], [0, 1]], W_down = [[1, 0], [1, 1]]\n\nCompute the output of the SwiGLU feed-forward layer.", {"X": [[1, 2]], "W_1": [[1, 0], [0, 1]], "W_3": [[1, 1], [0, 1]], "W_2": [[1, 0], [1, 1]]}, "F"),
    (LOGITS + "Compute the cross-entropy loss.", {"L": [[2, 1, "0.1"]], "targets": [0]}, "loss"),
    (LOGITS + "Compute the perplexity.", {"L": [[2, 1, "0.1"]], "targets": [0]}, "PPL"),
    ("The logits are z = [1, 3, 2]. Which word is the most likely?", {"L": [[1, 3, 2]], "predict": True}, "next"),
    ("The logits are z = [1, 3, 2] and T = 0.5. What are the probabilities with this temperature?", {"L": [[1, 3, 2]], "temperature": "0.5"}, "P"),
]  # fmt: skip


@pytest.mark.parametrize("text, arguments, name", SHEETS, ids=[name + str(i) for i, (_, _, name) in enumerate(SHEETS)])
def test_what_is_asked_for_in_words_is_what_the_library_gives(text, arguments, name):
    solved = qkv.solve(text + "\n")
    assert solved[name].digits(8) == qkv.work(**arguments)[name].digits(8)
    assert any("without a formula" in note for note in solved.notes)


def test_the_gradient_of_the_logits_and_entropies():
    gradient = qkv.solve(LOGITS + "Compute the cross-entropy loss and the gradient of the loss by the logits.\n")
    assert gradient["gradient"].decimals(3) == (("-0.341", "0.242", "0.099"),)
    entropy = qkv.solve("Attention weights: a = [0.7, 0.2, 0.1]. Compute the entropy in nats and in bits.\n")
    assert (entropy["H"].decimals(4), entropy["H_bits"].decimals(4)) == ((("0.8018",),), (("1.1568",),))


def test_a_formula_of_the_page_comes_before_words():
    solved = qkv.solve(X + "LN(x) = (x - mean(x)) / 2\n\nY = LN(X)\n\nApply layer norm: compute Y.\n")
    assert not any("without a formula" in note for note in solved.notes)


def test_a_loss_without_a_target_is_not_guessed():
    assert "loss" not in qkv.solve("The logits are z = [2, 1, 0.1]. Compute the cross-entropy loss.\n")
