"""Exercises in words about norms, positions, feed-forward layers and losses, as a person types them."""

from __future__ import annotations

import math

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


def answered(text: str) -> list[list[list[float]]]:
    """The numbers of every answer, part by part."""
    traces = qkv.solve(text).traces
    cells = [trace.digits(part.expr.symbol, 9) for trace in traces for a in trace.program.answers for part in a.parts]
    return [[[float(number) for number in row] for row in rows] for rows in cells]


def test_a_slope_that_is_said_biases_the_scores():
    given = {"Q": [[1, 0], [0, 1], [1, 1]], "K": [[1, 1], [0, 1], [1, 0]], "V": [[1, 2], [3, 4], [5, 6]]}
    bias = [["0", "-1/2", "-1"], ["-1/2", "0", "-1/2"], ["-1", "-1/2", "0"]]
    lines = ", ".join(f"{name} = {rows}" for name, rows in given.items())
    solved = qkv.solve(
        f"{lines}\n\nUse ALiBi with slope m = 0.5 and a causal mask.\n\na) Compute the attention weights.\n"
    )
    assert solved["A"].digits(8) == qkv.work(**given, bias=bias, mask="causal")["A"].digits(8)


def test_a_new_token_goes_below_the_cache():
    text = (
        "The KV cache holds K = [1 0; 0 1] and V = [1 2; 3 4]. A new token arrives with q = [1, 1], k = [1, 1], v = [5, 6].\n\n"
        "a) Append the new key and value to the cache.\nb) Compute the attention output for the new token.\n"
    )
    whole = qkv.work(Q=[[1, 1]], K=[[1, 0], [0, 1], [1, 1]], V=[[1, 2], [3, 4], [5, 6]])["Output"].digits(9)
    keys, values, output = answered(text)
    assert (keys, values) == ([[1, 0], [0, 1], [1, 1]], [[1, 2], [3, 4], [5, 6]])
    assert output == [[float(number) for number in row] for row in whole]


def test_the_jacobian_is_that_of_the_softmax():
    _, jacobian = answered(
        "Let p = softmax(z) with z = [1, 2, 0].\n\na) Compute p.\nb) Compute the Jacobian of the softmax at z.\n"
    )
    e = [math.exp(z) for z in (1, 2, 0)]
    p = [x / sum(e) for x in e]
    true = [[p[i] * ((i == j) - p[j]) for j in range(3)] for i in range(3)]
    assert all(
        abs(a - b) < 1e-8 for row, line in zip(jacobian, true, strict=True) for a, b in zip(row, line, strict=True)
    )
