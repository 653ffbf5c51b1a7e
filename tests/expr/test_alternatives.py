"""Alternatives by their first letters."""

from __future__ import annotations

import re

import pytest

from qkv.expr.alternatives import by_first_letter
from qkv.understand.roles import HYPOTHETICAL, PHRASES

TEXT = """Scores: divide the dot products by 2, scale, then mask; the masked scaled scores give attention weights (softmax).
Gewichtete Summe, Ausgabe; poids, sortie. 重み付き和 und 加权求和, 가중 합: result of multiplying with V. Let us suppose that
the weights would be replaced; let x be the weighted sum. Escala, prodotto scalare, iç çarpım, скалярное произведение."""


@pytest.mark.parametrize(
    ("pattern", "grouped"),
    [
        ("mask|scale|masked", "m(?:ask|asked)|scale"),
        (r"ma|\bm|mb", r"ma|\bm|mb"),  # not moved past what may begin alike
        ("m?a|mb|mc", "m?a|m(?:b|c)"),
        ("(?:a|b)c|a[|]|ab", "(?:a|b)c|a(?:[|]|b)"),
        ("(a)|ab|ac", "(a)|ab|ac"),  # brackets keep their numbers
        (r"a\|b|ac", r"a(?:\|b|c)"),
    ],
)
def test_grouped(pattern: str, grouped: str) -> None:
    assert by_first_letter(pattern) == grouped


@pytest.mark.parametrize("pattern", ["|".join(pattern for _, pattern in PHRASES), HYPOTHETICAL._source])
def test_finds_the_same(pattern: str) -> None:
    places = [hit.span() for hit in re.finditer(by_first_letter(pattern), TEXT.lower())]
    assert places == [hit.span() for hit in re.finditer(pattern, TEXT.lower())]
    assert places
