"""Names that nothing defines, read as what their numbers are; names that something defines are left alone."""

from __future__ import annotations

import qkv

ROWS = r"""
$\xi_1 = [0, 0, 1]$, $\xi_2 = [2, 0, 1]$, $\Omega = [[1, 2], [1, 3], [0, 2]]$

$\Lambda = [[0, 0, 1], [2, 0, 1]]$

$\Psi = \Xi \Omega = [[0, 2], [2, 6]]$
"""


def test_a_name_is_known_where_its_rows_are() -> None:
    assert [(claim.verdict, claim.formula) for claim in qkv.check(ROWS).claims] == [("right", "Xi Omega")]
