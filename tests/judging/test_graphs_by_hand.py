"""Pages that name things loosely: σ for any activation, weights of neighbours only, a vector named in a sentence."""

from __future__ import annotations

import pytest
from judged import claims


def said(text: str) -> list[str]:
    return [claim.verdict.value for claim in claims(text)]


def test_sigma_is_the_activation_that_its_values_show() -> None:
    page = (
        "x = [0.435, -1.5]\n\n$y = \\sigma(x) = \\sigma([0.435, -1.5]) = [0.435, 0]$\n\n$u = \\sigma(2x) = [{}, 0]$\n"
    )
    assert said(page.format("0.870"))[-1] == "right"
    assert said(page.format("0.780"))[-1] == "wrong"
    assert said("z = [0.5, -1]\n\nσ(z) = [0.6225, 0.2689]\n\nu = σ(2z) = [0.7311, 0.5]\n") == ["rounded", "wrong"]


def test_what_a_formula_came_to_needs_no_names_for_its_parts() -> None:
    page = "p · r_1 = [1, 2] · [3, 1] = 5\n\np · r_2 = [1, 2] · [2, 2] = 6\n\nd = (p · r_1) + 2(p · r_2) = {}\n"
    assert said(page.format(17))[-1] == "right"
    assert said(page.format(18))[-1] == "wrong"


@pytest.mark.parametrize(
    "given", ["The weight vector `w` is [1, 2] and $q$ is $[2, 3]$.", "El vector w es [1, 2], el vector q es [2, 3]."]
)
def test_a_vector_may_be_named_in_a_sentence(given: str) -> None:
    assert said(f"{given}\n\nq · w = 8\n") == ["right"]
    assert said(f"{given}\n\nq · w = 7\n") == ["wrong"]


def test_a_line_of_a_matrix_in_a_sentence_is_not_all_of_it() -> None:
    assert said("Q = [[3, 1], [1, 2]]\n\nThe second row of Q is [1, 2].\n\nQ Q = [[10, 5], [5, 5]]\n")[-1] == "right"


def test_cells_that_nobody_prints_are_not_seen() -> None:
    scores = "e_11 = 1.0\ne_12 = 0.5\ne_21 = 0.2\ne_22 = 0.9\ne_23 = 1.4\n\n"
    first = "α_11 = exp(e_11)/(exp(e_11) + exp(e_12)) = 0.62\nα_12 = exp(e_12)/(exp(e_11) + exp(e_12)) = 0.38\n\n"
    second = "For node 2:\n\nα_21 = 0.16\nα_22 = 0.32\nα_23 = {}\n"
    assert said(scores + first + second.format("0.52")) == ["rounded"] * 5
    assert said(scores + first + second.format("0.61")) == [*["rounded"] * 4, "wrong"]


def test_an_adjacency_matrix_is_no_attention() -> None:
    page = "The adjacency matrix of the graph:\n\nA = [[0, 1], [1, 0]]\n\nX = [[1, 2], [3, 4]]\n\nA X = [[3, 4], [1, {}]]\n"
    assert said(page.format(2)) == ["right"]
    assert said(page.format(3)) == ["wrong"]
