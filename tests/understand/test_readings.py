"""Small documents in notations of their own, each with one number that only the right reading gives."""

from __future__ import annotations

import pytest

import qkv

QKV = "Q = [[1, 0], [0, 1], [1, 1]]\nK = [[1, 1], [0, 1], [2, 0]]\nV = [[1, 0], [0, 2], [3, 1]]\n\n"

# A document, the name of a quantity, and its first row to three places.
CASES = {
    "the only state that attends": (
        "$s_3 = (1, -1)^T$, $h_1 = (2, 0)^T$, $h_2 = (0, 1)^T$. Compute $e_{3j} = s_3^T h_j$, the weights and $c_3$.",
        "c",
        ("1.905", "0.047"),
    ),
    "a weight for each key": (QKV + "The last token is padding.", "A", ("0.670", "0.330", "0.000")),
    "ones forbid": (QKV + "mask = [0, 0, 1]  (1 = ignore)", "A", ("0.670", "0.330", "0.000")),
    "truth values": (
        QKV + "mask = [[True, False, False], [True, True, False], [True, True, True]]",
        "A",
        ("1.000", "0.000", "0.000"),
    ),
    "a temperature": (QKV + "$\\tau = 0.5$, $A = \\mathrm{softmax}(QK^T/\\tau)$", "A", ("0.117", "0.016", "0.867")),
    "a number to divide by": (QKV + "The scores are divided by 2.", "A", ("0.307", "0.186", "0.506")),
    "scores one by one": (
        "e_1 = 0.5, e_2 = 1.0; h_1 = [1, 0], h_2 = [0, 1]. Find the weights and the context vector.",
        "c",
        ("0.378", "0.622"),
    ),
    "weights and values": ("$A = [[0.7, 0.3]]$, $V = [[1, 2], [3, 4]]$. Find $AV$.", "Output", ("1.600", "2.600")),
    "given heads": (
        "$Z_1 = [[1, 0]]$, $Z_2 = [[3, 1]]$, $W_O = [[1, 0], [0, 1], [1, 0], [0, 1]]$",
        "Output",
        ("4.000", "1.000"),
    ),
    "a cache": (
        "$K_{cache} = [[1, 0], [0, 2]]$, $V_{cache} = [[1, 0], [0, 1]]$, $q_3 = [1, 1]$, $k_3 = [1, 1]$, $v_3 = [2, 2]$",
        "A",
        ("0.198", "0.401", "0.401"),
    ),
    "words for tokens": (
        "$q_{cat} = [1, 0]$, $k_{the} = [1, 1]$, $k_{cat} = [0, 1]$, $v_{the} = [1, 0]$, $v_{cat} = [0, 2]$",
        "A",
        ("0.670", "0.330"),
    ),
    "grouped keys": (
        "$Q_1 = [[1, 0]], Q_2 = [[0, 1]], K = [[1, 1], [0, 1]], V = [[1, 0], [0, 2]]$",
        "A_2",
        ("0.500", "0.500"),
    ),
    "tokens that are used as they are": (
        "Word vectors: cat = [1, 0], sat = [0, 2]. There are no learned projections. Find the attention output.",
        "A",
        ("0.670", "0.330"),
    ),
    "queries of words": (
        'Q("I") = [1, 0], K("I") = [1, 1], K("go") = [0, 1], V("I") = [1, 0], V("go") = [0, 2]',
        "A",
        ("0.670", "0.330"),
    ),
    "JSON": (
        '```json\n{"Q": [[1, 0]], "K": [[1, 1], [0, 1]], "V": [[1], [2]]}\n```\nFind the attention output.',
        "A",
        ("0.670", "0.330"),
    ),
    "roots in cells": (
        "$$Q = \\begin{bmatrix} \\sqrt{2} & 0 \\end{bmatrix}, K = [[1, 1], [0, 1]], V = [[1], [2]]$$",
        "A",
        ("0.731", "0.269"),
    ),
}


@pytest.mark.parametrize(("text", "name", "row"), CASES.values(), ids=CASES.keys())
def test_notation(text: str, name: str, row: tuple[str, ...]) -> None:
    assert qkv.solve(text)[name].decimals(3)[0] == row


def test_matrices_drawn_side_by_side() -> None:
    text = "     | 1 0 |        | 1 1 |\nQ =  | 0 1 |   K =  | 0 1 |\n\nV = [[1], [2]]"
    assert qkv.solve(text)["A"].decimals(3) == (("0.670", "0.330"), ("0.500", "0.500"))


def test_what_fits_only_transposed_is_said() -> None:
    text = "$$X = [[1, 0, 1], [0, 1, 2]], W_Q = W_K = W_V = \\begin{bmatrix} 1 & 0 & 1 \\\\ 0 & 1 & 0 \\end{bmatrix}$$"
    solution = qkv.solve(text)
    assert solution["Q"].decimals(0) == (("2", "0"), ("2", "1"))
    assert any("transposed" in note for note in solution.problems[0].notes)


def test_a_supposition_changes_nothing() -> None:
    plain = qkv.solve(QKV)["A"].decimals(3)
    assert qkv.solve(QKV + "In practice one would use 2 heads and pad the last token.")["A"].decimals(3) == plain


def test_matrices_of_weights_are_not_the_weights_of_keys() -> None:
    text = (
        "Macierze wag: W_Q = [[1, 0], [0, 1]], W_K = [[1, 1], [0, 1]], W_V = [[1, 0], [2, 1]], X = [[1, 0], [1, 1]]\n\n"
        "Krok 1. S = Q K^T / sqrt(2)\n\nKrok 2. Nakładamy maskę przyczynową: A = softmax(S)\n"
    )
    assert len(qkv.solve(text).problems) == 1
