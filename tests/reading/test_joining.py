"""Rows that stand below each other are one array, whatever their words look like."""

from __future__ import annotations

import pytest

from qkv.reader.read import read_sheet
from qkv.reading.equations import equations


@pytest.mark.parametrize(
    "words", [("I", "love", "cats"), ("we", "go", "home"), ("cats", "A", "run"), ("Das", "ist", "X")]
)
def test_short_words_of_a_list_are_words_as_the_long_ones_are(words: tuple[str, ...]) -> None:
    page = "\n".join(f"- {word}: [{k}, 0, 1]" for k, word in enumerate(words))
    found = equations(read_sheet(page, "page.md"))
    assert [equation.rows for equation in found] == [words]


def test_a_name_that_the_page_uses_stays_a_name() -> None:
    page = "- q: [1, 0]\n- token: [0, 1]\n\ns = q q^T"
    assert any("q" in map(str, equation.names) for equation in equations(read_sheet(page, "page.md")))
