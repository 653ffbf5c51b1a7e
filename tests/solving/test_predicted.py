"""From the last hidden state to the loss and back, as people ask for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

import qkv
from qkv.library.predicted_said import target_said

TABLE = """# From the hidden state to the loss

The final hidden state is h = (1, 2), and the unembedding matrix has one row a word:

| word | E_1 | E_2 |
|---|---|---|
| tea | 1 | 0 |
| milk | 0 | 1 |
| sugar | 1 | 1 |
| salt | -1 | 0 |

(a) Write down the four logits.

(b) Give the probabilities of the four words at T = 1.

(c) ... and at T = 0.5 and at T = 2?

(d) Top-k with k = 2 at T = 1: which probabilities do the two words have after renormalising?

(e) The true next word is "milk". What is the cross-entropy loss?

(f) What is the gradient of the loss with respect to the logits?

(g) And with respect to `h`?

(h) What is the entropy of the probabilities at T = 1?
"""
LOGITS = [1.0, 2.0, 3.0, -1.0]
ROWS = [[1, 0], [0, 1], [1, 1], [-1, 0]]


def softmax(scores: Sequence[float], heat: float = 1.0) -> list[float]:
    powers = [math.exp(score / heat) for score in scores]
    return [power / sum(powers) for power in powers]


def answers(page: str) -> list[list[float]]:
    """The numbers of every part of every answer, in the order of the page."""
    found = []
    for trace in qkv.solve(page).traces:
        for answer in trace.program.answers:
            for part in answer.parts:
                value = trace.evaluate(part.expr)
                found.append(
                    [float(cell) if hasattr(cell, "q") else float(cell.mid()) for r in value.rows for cell in r]
                )
    return found


def test_everything_from_a_hidden_state_and_a_table_of_words():
    shares = softmax(LOGITS)
    slope = [p - (i == 1) for i, p in enumerate(shares)]
    wanted = [
        LOGITS,
        shares,
        softmax(LOGITS, 0.5),
        softmax(LOGITS, 2.0),
        softmax([2.0, 3.0]),
        [-math.log(shares[1])],
        slope,
        [sum(slope[k] * ROWS[k][j] for k in range(4)) for j in range(2)],
        [-sum(p * math.log(p) for p in shares)],
    ]
    made = answers(TABLE)
    assert len(made) == len(wanted)
    for numbers, expected in zip(made, wanted, strict=True):
        assert numbers == pytest.approx(expected, rel=1e-9)


def test_a_square_table_that_may_lie_either_way_is_not_guessed():
    page = "The final hidden state is h = (1, 2) and E = [[1, 2], [3, 5]].\n\n1. What are the logits?\n"
    assert answers(page) == []


@pytest.mark.parametrize(
    "page, target",
    [
        (
            "Die Logits für rot, blau, gelb sind z = (1, 0, 2). Das richtige Wort ist „blau“.\n\n1. Berechne den Verlust.\n",
            1,
        ),
        ("Логиты слов: z = (1; 0; 2). Правильное слово — второе.\n\n1. Вычислите кросс-энтропию.\n", 1),
        ("Los logits de sol, mar, luz son z = (1, 0, 2). La palabra correcta es luz.\n\n1. Calcule la pérdida.\n", 2),
    ],
)
def test_the_word_that_is_right_in_several_languages(page: str, target: int):
    assert answers(page) == [pytest.approx([-math.log(softmax([1, 0, 2])[target])])]


def test_a_temperature_is_no_probability():
    page = "Give the probabilities at T = 0.5.\n\n1. The true word is sugar. What is the cross-entropy loss?\n"
    assert answers(page) == []


def test_losses_of_a_list_of_probabilities():
    page = "The model gave the right words the probabilities 0.5, 0.2, 0.4, 0.1 in turn.\n\n1. Give the mean loss and the perplexity.\n"
    mean = -sum(map(math.log, (0.5, 0.2, 0.4, 0.1))) / 4
    assert answers(page) == [pytest.approx([mean]), pytest.approx([math.exp(mean)])]


def test_what_a_target_is_called():
    assert target_said("The true next word was *sugar*.", ["tea", "sugar"], 2) == 1
    assert target_said("Nothing is said of it: sugar.", ["tea", "sugar"], 2) is None


BACK = r"""# Blatt 7

Ein Vektor $x=(2,6,4,0)^\top$ wird durch eine Layer-Norm-Schicht

$$ y_i=\gamma_i\,\hat x_i+\beta_i,\qquad \hat x_i=\frac{x_i-\mu}{\sqrt{\sigma^2+\varepsilon}} $$

geschickt mit $\gamma=(1,1,2,1)^\top$, $\beta=(0,1,-1,1)^\top$, $\varepsilon=0$ und $\partial L/\partial y=(1,2,0,-1)^\top$.

a) Bestimmen Sie $\mu$ und $\hat x$.

b) Berechnen Sie $\partial L/\partial\gamma$.

c) Berechnen Sie $\partial L/\partial x$.

d) Berechnen Sie $x$ nach einem Schritt Gradientenabstieg mit $\eta=0.1$.
"""


def norm(x: Sequence[float]) -> list[float]:
    mean = sum(x) / len(x)
    spread = math.sqrt(sum((c - mean) ** 2 for c in x) / len(x))
    return [(c - mean) / spread for c in x]


def test_a_layer_norm_forwards_and_backwards_by_the_formulas_of_the_page():
    x, gain, up, step = [2.0, 6.0, 4.0, 0.0], [1, 1, 2, 1], [1, 2, 0, -1], 1e-6

    def loss(x: Sequence[float]) -> float:
        return sum(u * g * c for u, g, c in zip(up, gain, norm(x), strict=True))

    moved = [[c + step * (i == j) for j, c in enumerate(x)] for i in range(4)]
    slope = [(loss(there) - loss(x)) / step for there in moved]
    mean, normed, by_gain, by_x, after = answers(BACK)
    assert mean == [3.0]
    assert normed == pytest.approx(norm(x))
    assert by_gain == pytest.approx([u * c for u, c in zip(up, norm(x), strict=True)])
    assert by_x == pytest.approx(slope, abs=1e-5)
    assert after == pytest.approx([c - 0.1 * s for c, s in zip(x, slope, strict=True)], abs=1e-5)
