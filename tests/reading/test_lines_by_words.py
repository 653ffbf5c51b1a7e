"""A word that labels a line of a printed array stands for that line."""

from __future__ import annotations

import qkv

TABLE = "The embeddings are\n\nthe -> (1, 0)\ndog -> (0, 2)\nbarks -> (1, 1)\n\n"


def verdicts(text: str) -> list[str]:
    return [claim.verdict.value for claim in qkv.check(text).claims]


def test_products_of_words_are_judged() -> None:
    assert verdicts(TABLE + "barks·the = 1, barks·dog = 2, barks·barks = 2\n") == ["right"] * 3


def test_a_slip_in_a_product_of_words_is_found() -> None:
    assert verdicts(TABLE + "barks·the = 1, barks·dog = 3\n") == ["right", "wrong"]


def test_a_word_that_labels_lines_of_two_arrays_stands_for_neither() -> None:
    keys = "The keys are\n\nthe -> (3, 1)\ndog -> (1, 2)\nbarks -> (2, 5)\n\n"
    assert "wrong" not in verdicts(TABLE + keys + "barks·the = 4\n")


def test_shares_of_exponentials_are_called_a_softmax() -> None:
    text = TABLE + "Scaled: 0.707, 1.414, 1.414\nexp: 2.028, 4.113, 4.113 sum 10.254, so weights 0.198, 0.401, 0.401\n"
    (weights,) = [claim for claim in qkv.check(text).claims if claim.name == "weights"]
    assert weights.formula.startswith("softmax(")
