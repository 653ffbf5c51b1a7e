"""Numbers with units and words behind them."""

from __future__ import annotations

import pytest

from qkv.expr.show import plain
from qkv.reader.read import read_sheet

CASES = [
    ("- all: 50,257 tokens × 1,600 dimensions -> 80.4M parameters", ["50257 · 1600", "80.4"]),
    ("- one: 4 × 5.24 GFLOPs = 20.97 GFLOPs", ["4 · 5.24", "20.97"]),
    ("- two: 20.97 GFLOPs × 48 layers = 1.007 TFLOPs", ["20.97 · 48", "1.007"]),
    ("cache = 2 * 2 Bytes * 28 * 2048 = 0.2 MB per token", ["cache", "2 · 2 · 28 · 2048", "0.2"]),
    ("For all tokens: 128 KB * 4096 = 512 MB per sequence", ["128 · 4096", "512"]),
    ("Total = 3.4 GiB + 0.85 GiB + 1.6 GiB = 5.85 GiB", ["Total", "3.4 + 0.85 + 1.6", "5.85"]),
    (r"$160 \text{ (one)} + 196 \text{ (two)} = 356$", ["160 + 196", "356"]),
    (r"$2,127 \times 4 \text{ bytes} / (1024^3 \text{ GB}) = 7.92 \text{ GB}$", ["2127 · 4 / 1024^3", "7.92"]),
    ("p: 24.53 / 40.04 = $0.61$ (61%)", ["24.53 / 40.04", "0.61"]),
    ('- $e^{3.2}$ (for "mat") $\\approx 24.53$', ["e^3.2", "24.53"]),
    ("```\nall = 2 * 80 * 128 * 2 bytes\n    = 0.041 MB\n```", ["all", "2 · 80 · 128 · 2", "0.041"]),
    ("a: 2 (Key, Value) × 5,120 (dim) × 2 Bytes (FP16) = 20,480 Bytes", ["2 · 5120 · 2", "20480"]),
    (r"Weights: $13\text{B} \times 2\text{ Bytes} = \mathbf{26\text{ GB}}$", ["13 · 2", "26"]),
    ("Temps : 7.2e23 / 4e14 FLOP/s = 1.8e9 s", ["7.2e23 / 4e14", "1.8e9"]),
    ("参数量 = 4 × 768² = 2,359,296（约 2.36M）。", ["参数量", "4 · 768^2", "2359296"]),
    ("Tokens : 70e9 × 20 ≈ 1 400 milliards de tokens", ["70e9 · 20", "1400"]),
    ("Taille : 16 384 octets × 3 = 49 152 octets", ["16384 · 3", "49152"]),
    ("共 12 层：$12 \\times 7.08 = 85$M", ["12 · 7.08", "85"]),
]


@pytest.mark.parametrize("text, expected", CASES)
def test_words_behind_numbers_do_not_end_a_calculation(text, expected):
    links = read_sheet(text).statements[-1].links
    assert [plain(link.expr) for link in links] == expected


def test_what_a_unit_may_multiply_with_is_kept():
    (statement,) = read_sheet("- all: 2 × 80 × 128 × 8192 = 42.9 MB").statements
    assert {10**6, 2**20} <= set(statement.links[-1].units)
    (statement,) = read_sheet("- all: 2 × 80 = 160 tokens").statements
    assert statement.links[-1].units == ()


def test_a_column_of_arithmetic_stands_before_amounts():
    page = "| part | how | count |\n|---|---|---|\n| E | 300 × 768 | 0.23M |\n| A | 4 × 768² | ~2.36M |\n| Total | | 2.59M |"
    shown = [[plain(link.expr) for link in statement.links] for statement in read_sheet(page).statements]
    assert shown == [["300 · 768", "0.23"], ["4 · 768^2", "2.36"], ["2.59"]]


def test_a_full_stop_of_another_script_ends_a_statement():
    shown = [
        [plain(link.expr) for link in statement.links]
        for statement in read_sheet("x = (3, 4)，ε = 0。f(x) 是多少？").statements
    ]
    assert shown[:2] == [["x", "[3, 4]"], ["epsilon", "0"]]
