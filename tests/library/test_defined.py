"""Functions by equations: what a page calls without saying what it is."""

from __future__ import annotations

import mpmath
import pytest

import qkv
from qkv.check.model import Verdict

X = [[2, 1, 4], [1, 3, 5]]


def layer_norm(row: list[int]) -> list[str]:
    """By its formula, in another arithmetic than ours."""
    mean = mpmath.fsum(row) / len(row)
    deviation = mpmath.sqrt(mpmath.fsum((x - mean) ** 2 for x in row) / len(row))
    return [mpmath.nstr((x - mean) / deviation, 4) for x in row]


@pytest.mark.parametrize("name", ["LayerNorm", "layer_norm"])
def test_layer_norm_is_judged(name: str) -> None:
    right = ", ".join("[" + ", ".join(layer_norm(row)) + "]" for row in X)
    page = f"X = {X}\n\nL = {name}(X) = [{right}]\n"
    assert [claim.verdict for claim in qkv.check(page).claims] == [Verdict.ROUNDED]
    wrong = page.replace(layer_norm(X[0])[2], "1.937")
    (claim,) = qkv.check(wrong).claims
    assert claim.verdict is Verdict.WRONG
    assert [(cell.row, cell.column) for cell in claim.cells] == [(1, 3)]


def test_a_function_of_the_page_is_what_it_says() -> None:
    page = "X = [[1, -2], [3, 1]]\n\nf(u) = relu(u) + u\n\nf(X) = [[2, -2], [6, 2]]\n"
    assert [claim.verdict for claim in qkv.check(page).claims] == [Verdict.RIGHT]


def test_epsilon_is_taken_from_the_page() -> None:
    page = "x = [1, 3]\n\nε = 1\n\nLayerNorm(x) = [-0.707, 0.707]\n"
    assert qkv.check(page).claims[-1].verdict is Verdict.ROUNDED
