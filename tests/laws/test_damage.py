"""Damaged documents: cut, doubled, reversed, spliced, with stray signs. Nothing but our own errors, and soon."""

from __future__ import annotations

import pytest

from laws.shares import DOCUMENTS
from qkv.practice.laws import hurt

CASES = 300
SLICES = 6
SECONDS = 2.0
BROKEN = 1  # of each slice end in an exception that is not ours or take too long today; the aim is 0


@pytest.mark.parametrize("part", range(SLICES))
def test_damage_is_survived(part: int) -> None:
    tried = [hurt(DOCUMENTS, seed) for seed in range(part, CASES, SLICES)]
    broken = [case for case in tried if case.error or case.seconds > SECONDS]
    assert len(broken) <= BROKEN, "\n".join(map(str, broken))
