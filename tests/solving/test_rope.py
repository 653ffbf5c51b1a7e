"""Rotary positions that words ask for."""

from __future__ import annotations

from math import cos, sin

import pytest

from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet

VECTORS = "q = [1, 0, 0.5, 2]\nk = [0, 1, 1, -1]\n\n"


def worked(page: str) -> dict[str, list[float]]:
    """The first rows of all steps by their names."""
    found = {}
    for trace in solve_sheet(read_sheet(page)).traces:
        for step in trace.program.steps:
            found[step.spelled] = [float(cell) for cell in trace.digits(step.symbol, 8)[0]]
    return found


def test_a_query_and_a_key_are_turned_by_the_positions_that_are_said():
    made = worked(
        "Apply RoPE to the query at position 2 and the key at position 1.\n\n" + VECTORS + "1. Compute the score."
    )
    angle = 2 / 100
    assert made["q_rot"] == pytest.approx(
        [cos(2), sin(2), 0.5 * cos(angle) - 2 * sin(angle), 0.5 * sin(angle) + 2 * cos(angle)], abs=1e-6
    )
    assert made["S"] == pytest.approx([-0.683454], abs=1e-5)


def test_halves_are_paired_where_the_page_says_so():
    made = worked(
        "Apply RoPE (pairs of halves) to q at position 1 and k at position 0.\n\n" + VECTORS + "1. Compute the score."
    )
    assert made["q_rot"][0] == pytest.approx(cos(1) - 0.5 * sin(1), abs=1e-6)
    assert made["k_rot"] == [0, 1, 1, -1]


def test_scores_of_vectors_that_were_not_turned_are_no_answer():
    made = worked("Apply RoPE.\n\n" + VECTORS + "1. Compute the score of the rotated vectors.")
    assert "S" not in made


def test_a_page_that_only_mentions_rope_is_worked_out_as_it_stands():
    assert worked("Many models have RoPE; here there are no positions.\n\n" + VECTORS + "1. Compute the score.")[
        "S"
    ] == [-1.5]
