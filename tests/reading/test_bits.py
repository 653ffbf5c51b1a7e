"""What printed cells tell, in bits."""

from __future__ import annotations

import math

import pytest
from flint import arb, fmpq

from qkv.check.compare import shown_cell, shown_number
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF
from qkv.reading.bits import cell_bits, grid_bits


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0.468", 3), ("0.0468", 3), ("-12.50", 4), ("7", 1), ("1234", 4), ("0.500", 3), ("3.1e-5", 2), ("2e3", 1)],
)
def test_a_digit_is_worth_its_logarithm(text: str, digits: int) -> None:
    assert cell_bits(shown_number(n.number(text))) == pytest.approx(digits * math.log2(10))


@pytest.mark.parametrize("text", ["0", "0.000", "1", "1.00", "-1"])
def test_zeros_and_ones_tell_one_bit(text: str) -> None:
    assert cell_bits(shown_number(n.number(text))) == 1


def test_what_is_no_decimal() -> None:
    assert cell_bits(shown_cell("-∞", NEG_INF)) == 1
    assert cell_bits(shown_cell("2/3", fmpq(2, 3))) == pytest.approx(2 * math.log2(10))
    assert cell_bits(shown_cell("1/√2", 1 / arb(2).sqrt())) == pytest.approx(2 * math.log2(10))


def test_zeros_that_need_not_be_digits_do_not_count() -> None:
    assert cell_bits(shown_number(n.number("10300"), approximate=True)) == pytest.approx(3 * math.log2(10))


def test_a_repeated_text_tells_at_most_one_bit() -> None:
    grid = [[shown_number(n.number(text)) for text in row] for row in (("0.25", "0.75"), ("0.75", "0"))]
    (first, second), (third, fourth) = grid_bits(grid)
    assert first == second == pytest.approx(2 * math.log2(10))
    assert third == fourth == 1
