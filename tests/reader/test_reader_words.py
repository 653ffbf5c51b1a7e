"""Upright words in a formula: names that the page defines, or labels of what follows."""

from __future__ import annotations

import pytest

import qkv
from qkv.reading.equations import equations


@pytest.mark.parametrize("product", [r"\text{amber}B^\top", r"\text{amber} B^T"])
def test_a_word_that_the_page_defines_begins_a_product(product: str) -> None:
    text = rf"$$\text{{amber}} = [[2, 1], [2, 2]]$$ $$B = [[0, 1], [1, 2]]$$ $${product} = [[1, 4], [2, 6]]$$"
    assert [claim.verdict for claim in qkv.check(text).claims] == ["right"]


def test_a_word_before_a_name_with_its_value_is_a_label() -> None:
    text = r"$$\text{scores} = [[2, 1], [2, 2]]$$ $$\text{scores } S_1 = [[0, 1], [1, 2]]$$"
    assert [[str(symbol) for symbol in made.names] for made in equations(qkv.read(text))] == [["scores"], ["S_1"]]


PLAIN = """
$$\\theta = [[1, 1], [1, 0]]$$ $$\\phi = 4$$

Delta = [2 1; 1 1]

theta Delta^T / √phi = [1.5 1; 1 0.5]
"""


def test_a_greek_letter_written_out_is_the_letter() -> None:
    assert [(claim.verdict, claim.formula) for claim in qkv.check(PLAIN).claims] == [("right", "theta Delta^T / √phi")]


def test_a_greek_letter_before_an_equals_sign_is_a_name_after_any_words() -> None:
    said = "kappa = [1 2]\n\nContext vector tau = 2 kappa:\n\n[2 4]\n"
    assert ["tau"] in [[str(symbol) for symbol in made.names] for made in equations(qkv.read(said))]


def test_words_are_arguments() -> None:
    text = r"$$\text{river} = [[1], [3]]$$ $$Q = [[1, 0]]$$ $$K = [[1, 0], [1, 0]]$$ $$f(Q, K, \text{river}) = Q K^T \text{river} = [[4]]$$"
    assert [claim.verdict for claim in qkv.check(text).claims] == ["right"]


CAPTIONED = """
gravel_1:
    d1  d2
d1   1   2

gravel_2:
    d1  d2
d1   0   1

psi:
    d1  d2
d1   1   1
d2   1   0

Queries xi_1 = gravel_1 psi:
    d1  d2
d1   3   1

P:
    d1  d2
d1   1   1
d2   1   0

Keys E = Gravel P:
    d1  d2
d1   3   1
d2   1   0
"""


def test_a_word_is_a_name_after_a_name_with_an_index_and_all_of_numbered_words_is_one() -> None:
    claims = qkv.check(CAPTIONED).claims
    assert [(claim.formula, claim.verdict) for claim in claims] == [("gravel_1 psi", "right"), ("Gravel P", "right")]


@pytest.mark.parametrize("caption", ["Gewichte nach Softmax mu = softmax(phi)", "what comes after tanh mu = tanh(phi)"])
def test_a_function_in_a_caption_is_not_taken_of_the_name_behind_it(caption: str) -> None:
    made = equations(qkv.read(f"phi = [1, 2]\n\n{caption} = [0.3, 0.7]\n"))
    assert [str(symbol) for symbol in made[1].names] == ["mu"]
