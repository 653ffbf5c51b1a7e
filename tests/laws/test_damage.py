"""Damaged documents: cut, doubled, reversed, spliced, with stray signs. Nothing but our own errors, and soon."""

from __future__ import annotations

import pytest

from laws.damage import hurt
from laws.shares import DOCUMENTS

CASES = 120  # `make bench` hurts 2,000
SLICES = 6
SECONDS = 10.0  # none hangs; 2 s is the aim, and a busy machine misses it


@pytest.mark.parametrize("part", range(SLICES))
def test_damage_is_survived(part: int) -> None:
    tried = [hurt(DOCUMENTS, seed) for seed in range(part, CASES, SLICES)]
    broken = [case for case in tried if case.error or case.seconds > SECONDS]
    assert not broken, "\n".join(map(str, broken))
