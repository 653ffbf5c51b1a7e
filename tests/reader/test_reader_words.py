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
