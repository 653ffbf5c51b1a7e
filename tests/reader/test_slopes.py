"""Derivatives and sums on one line, in plain signs."""

from __future__ import annotations

import pytest

from qkv.errors import Location
from qkv.expr.show import plain
from qkv.reader.grammar import parse_math


@pytest.mark.parametrize(
    "text, sides",
    [
        ("dL/dv_i = a_i dL/do", ["∂L/∂v_i", "a_i ∂L/∂o"]),
        ("a1 dL/da1 = -0.54", ["a_1 ∂L/∂a_1", "-0.54"]),
        ("gamma' = gamma - 0.1 dL/dgamma", ["gamma'", "gamma - 0.1 ∂L/∂gamma"]),
        ("∂L/∂γ = (∂L/∂y) ⊙ x̂", ["∂L/∂gamma", "∂L/∂y ∘ x_hat"]),
        ("SUM = sum_j a_j g_j", ["SUM", "Σ_j a_j g_j"]),
    ],
)
def test_what_one_line_says(text: str, sides: list[str]) -> None:
    chain = parse_math(text, Location(1), strict=False).chains[0]
    assert [plain(link.expr) for link in chain.links] == sides


def test_two_sizes_are_no_derivative() -> None:
    chains = parse_math("dk/dv = 2", Location(1), strict=False).chains
    assert not any("∂" in plain(link.expr) for chain in chains for link in chain.links)
