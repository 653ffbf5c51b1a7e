"""Printed values in thousands, millions and powers of 1024; sizes that labels name."""

from __future__ import annotations

import pytest

from qkv.judging.report import check_sheet
from qkv.reader.read import read_sheet


@pytest.mark.parametrize(
    "text, verdict",
    [
        ("- a: 2 × 1,024 × 1,600 × 1,600 = 5.24 GFLOPs", "rounded"),
        ("- a: 2 × 1,024 × 1,600 × 1,600 = 6.24 GFLOPs", "wrong"),
        ("- a: 20.97 GFLOPs × 48 layers = 1.007 TFLOPs", "rounded"),
        ("- a: 128 KB * 4096 = 512 MB", "right"),
        ("- a: 2 × 80 × 128 × 128 × 8192 × 2 = ~27 GB", "wrong"),
        ("- a: 2 × 80 × 128 × 128 × 8192 × 2 = 40 GB", "right"),
        ("2 × 32 × 8 × 128 × 2 bytes = 131,072 bytes", "right"),
        ("2 × 32 × 8 × 128 × 2 bytes = 131,702 bytes", "wrong"),
        (r"\[2 \times 4096 \times 128 \ \text{bytes} = 1{,}048{,}576\ \text{bytes}\]", "right"),
        ("- a: 14 GiB / 0.5 MiB = 28,672 tokens", "right"),
        ("- a: 14 GiB / 0.5 MiB = 29,672 tokens", "wrong"),
        ("- a: 3.5T / 300B ≈ 11.7", "rounded"),
        ("N = 2 × 12.5B × 3.2T = 8.0 × 10²²", "right"),
        ("N = 2 × 12.5B × 3.2T = 9.0 × 10²²", "wrong"),
        ("Time: 8.1 × 10¹¹ / (250 × 1000) = 3.24 × 10⁶ s ≈ 37.5 days", "right"),
        ("- a: 70e9 × 20 ≈ 1 400 milliards de tokens", "right"),
        ("- a: 70e9 × 20 ≈ 1 500 milliards de tokens", "wrong"),
        ("- a: 50,257 tokens × 1,600 dimensions -> 80.4M parameters", "rounded"),
    ],
)
def test_a_value_may_be_printed_in_its_unit(text, verdict):
    (claim,) = check_sheet(read_sheet(text)).claims
    assert claim.verdict.value == verdict


def test_one_case_of_a_function_does_not_define_the_others():
    page = "logit(A) = 0.5 × 0.2 = 0.1\nlogit(B) = 0.5 × 0.6 = 0.3"
    assert {claim.verdict.value for claim in check_sheet(read_sheet(page)).claims} <= {"right", "rounded"}


def test_a_comma_before_a_unit_is_decimal_and_a_point_beside_it_parts_thousands():
    text = "2 × 32 × 32 × 128 × 2 = 524.288 bytes = 0,5 MiB\n\n`8.192 × 0,5 MiB = {} GiB`\n\nS · n = 14 GiB / 0,5 MiB = 28.672\n"
    for shown, verdicts in (("4", {"right"}), ("6", {"right", "wrong"})):
        assert {claim.verdict.value for claim in check_sheet(read_sheet(text.format(shown))).claims} == verdicts


def test_a_comma_before_three_digits_is_what_agrees() -> None:
    page = "Q = [[1.5, 0.5]]. Then √2 ≈ 1,414 and 128 × 256 = 32,768, but 2 + 2 = 1,414."
    verdicts = [claim.verdict.value for claim in check_sheet(read_sheet(page)).claims]
    assert verdicts == ["rounded", "right", "wrong"]


@pytest.mark.parametrize("shown, verdict", [("1 GiB", "right"), ("512 MiB", "right"), ("3 GiB", "wrong")])
def test_sizes_alone_count_numbers_of_two_or_four_bytes(shown, verdict):
    claims = check_sheet(read_sheet(f"B = 1, H = 32, N = 4096\n\nScores: B·H·N² = {shown}")).claims
    assert [claim.verdict.value for claim in claims] == [verdict]


def test_a_word_behind_two_blanks_is_no_factor():
    text = "blocks = 24\n\nN = 354,823,168  blocks share 85.2%\n\n2 N = 709,646,336"
    verdicts = {claim.verdict.value for claim in check_sheet(read_sheet(text)).claims}
    assert "wrong" not in verdicts
    assert "right" in verdicts
