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


WHOLE = """
Ц = [2 1 1; 1 2 -1]

Б = [1 1 0; 0 0 2; -1 0 2]

л_1 = ц_1 Б = [2 1 1] × [1 1 0; 0 0 2; -1 0 2] = [1 2 4]

л_2 = ц_2 Б = [1 2 -1] × [1 1 0; 0 0 2; -1 0 2] = [2 1 2]
"""


def test_a_row_is_known_where_its_matrix_is_though_it_looks_like_another_row() -> None:
    assert {str(claim.verdict) for claim in qkv.check(WHOLE).claims} == {"right"}
