"""Decimals of certified cells: nearest, halves away from zero, every digit decided or none given."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

import qkv
from qkv.interpret.cells import NEG_INF, power, precision
from qkv.interpret.rounding import exact_decimal, round_digits, round_places

PLACES = st.integers(0, 8)


@given(st.integers(-(10**9), 10**9), st.integers(0, 9), PLACES)
def test_places_agree_with_decimal(value: int, shift: int, places: int) -> None:
    exact = Decimal(value).scaleb(-shift)
    text = round_places(fmpq(value, 10**shift), places)
    expected = exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    assert text is not None
    assert Decimal(text) == expected
    assert len(text.partition(".")[2]) == places


@given(st.fractions(), st.integers(1, 12))
def test_digits_are_within_half_a_unit(value: Fraction, digits: int) -> None:
    text = round_digits(fmpq(value.numerator, value.denominator), digits)
    assert text is not None
    if value == 0:
        assert text == "0"
        return
    shown = Fraction(text)
    exponent = len(str(abs(value.numerator))) - len(str(value.denominator))
    top = Fraction(10) ** (exponent + 1)
    unit = top / Fraction(10) ** (digits - 1)
    assert abs(shown - value) <= unit / 2


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_short_decimals_stay_as_they_are(value: int, shift: int) -> None:
    text = exact_decimal(fmpq(value, 10**shift), 12)
    assert text is not None
    assert Fraction(text) == Fraction(value, 10**shift)


@pytest.mark.parametrize(
    "cell, digits, text",
    [
        (fmpq(0), 6, "0"),
        (fmpq(10**6), 6, "1000000"),
        (fmpq(1234567), 6, "1.23457e6"),
        (fmpq(999999, 1000000), 3, "1.00"),
        (fmpq(-2, 3), 2, "-0.67"),
        (fmpq(1, 3 * 10**9), 4, "3.333e-10"),
        (fmpq(100000) - fmpq(1, 3), 6, "99999.7"),
        (NEG_INF, 6, "-inf"),
    ],
)
def test_forms(cell: object, digits: int, text: str) -> None:
    assert round_digits(cell, digits) == text


def test_a_ball_that_leaves_a_digit_open_gives_none() -> None:
    wide = arb(fmpq(1, 2), fmpq(1, 10))
    assert round_places(wide, 1) is None
    assert round_digits(wide, 2) is None
    assert round_digits(arb(0, fmpq(1, 10**9)), 3) is None
    assert round_places(arb(fmpq(1, 3), fmpq(1, 10**9)), 4) == "0.3333"


@pytest.mark.parametrize("exponent", [-(10**8), -5000, 10**7])
def test_numbers_far_from_one_are_as_easy_as_others(exponent: int) -> None:
    with precision(200):
        cell = arb(exponent).exp()
    with mp.workdps(40):
        mantissa, _, power = mp.nstr(mp.exp(exponent), 12, strip_zeros=False).partition("e")
    assert round_digits(cell, 12) == f"{mantissa}e{int(power)}"
    assert round_digits(-cell, 12) == f"-{mantissa}e{int(power)}"
    if exponent < 0:
        assert round_places(cell, 5) == "0.00000"


def test_ties_and_zeros_behind_a_root_come_out() -> None:
    """Equal scores over √3 give weights of exactly 1/2, which balls can only approach."""
    s = qkv.work(Q=[[1, 1, 1]], K=[[1, 2, 3], [3, 2, 1]], V=[["0.125", 1, -1], ["0.125", -1, "0.75"]])
    assert s["Output"].decimals(2) == (("0.13", "0.00", "-0.13"),)
    assert s["Output"].digits(4) == (("0.1250", "0", "-0.1250"),)


def test_powers_of_what_may_be_zero_stay_balls() -> None:
    """(Z - Y)² of two equal values that no one knows exactly is near zero, not nothing."""
    near = arb(0, 1e-20)
    assert [power(near, fmpq(k)).is_finite() for k in (1, 2, 3, 4)] == [True] * 4
    assert abs(power(near, fmpq(2))) < 1e-39
