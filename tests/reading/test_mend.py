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


def test_a_matrix_that_was_printed_before_is_not_too_wide() -> None:
    page = (
        "A = [[1, 1, 0], [0, 1, 1], [1, 0, 1]], X = [[1, 8, 2], [3, 10, 0], [2, 8, 4]], W = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]\n\n"
        "V = X W = [[8, 1, 2], [10, 3, 0], [8, 2, 4]]\n\n"
        "Z = A V = [[1, 1, 0], [0, 1, 1], [1, 0, 1]] × [[8, 1, 2], [10, 3, 0], [8, 2, 4]] = [[18, 2], [18, 4], [16, 6]]"
    )
    assert all(not claim.repair for claim in qkv.check(page).claims)
    assert qkv.check(page).claims[-1].verdict != "right"  # the second column of Z is missing
