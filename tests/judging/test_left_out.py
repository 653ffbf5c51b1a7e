"""What a mask hides is left out of a matrix, in whatever way people leave it out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import qkv
from qkv.check.model import Claim

PAGE = """# Causal attention

Q = [[1, 0], [0, 1], [1, 1]], K = [[1, 1], [0, 1], [1, 0]], V = [[1, 2], [3, 4], [5, 6]]; no scaling, causal mask.

The scores S = Q K^T, and A = softmax of each row of them:

{scores}

{weights}
"""
SCORES, WEIGHTS = (("1",), ("1", "1"), ("2", "1", "1")), (("1",), ("0.5", "0.5"), ("0.576", "0.212", "0.212"))
SIGNS = ("-", "–", "*", ".", "·", "×")


Rows = tuple[tuple[str, ...], ...]


def table(name: str, rows: Rows, hidden: str) -> str:
    lines = [[name, "1", "2", "3"], ["---"] * 4]
    lines += [[str(i), *row, *(hidden,) * (3 - len(row))] for i, row in enumerate(rows, 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def drawn(name: str, rows: Rows, hidden: str) -> str:
    lines = [f"[ {' '.join((*row, *(hidden,) * (3 - len(row))))} ]" for row in rows]
    return "\n".join(f"    {name if i == 0 else ' ':<2}{'=' if i == 0 else ' '} {line}" for i, line in enumerate(lines))


def latex(name: str, rows: Rows, hidden: str) -> str:
    lines = r" \\ ".join(" & ".join((*row, *(hidden,) * (3 - len(row)))) for row in rows)
    return rf"$${name} = \begin{{pmatrix}} {lines} \end{{pmatrix}}$$"


def listed(name: str, rows: Rows, hidden: str) -> str:
    return f"{name} = [{', '.join('[' + ', '.join(row) + ']' for row in rows)}]"


LAYOUTS = [(lay, sign) for lay in (table, drawn) for sign in (*SIGNS, "")]
LAYOUTS += [(latex, sign) for sign in ("", "-", r"\cdot", r"\ast", r"\times", ".")] + [(listed, "")]


@pytest.mark.parametrize(("lay", "hidden"), LAYOUTS, ids=lambda part: getattr(part, "__name__", part))
def test_what_a_mask_hides_is_no_claim_of_its_own(lay: Callable[[str, Rows, str], str], hidden: str) -> None:
    def claims(weights: Rows) -> list[Claim]:
        report = qkv.check(PAGE.format(scores=lay("S", SCORES, hidden), weights=lay("A", weights, hidden)))
        return [claim for claim in report.claims if len(claim.cells) > 1 or claim.verdict == "wrong"]

    assert {claim.verdict.value for claim in claims(WEIGHTS)} <= {"right", "rounded", "drifted"}
    (wrong,) = (claim for claim in claims((*WEIGHTS[:2], ("0.567", "0.212", "0.212"))) if claim.verdict == "wrong")
    assert [(cell.row, cell.column) for cell in wrong.cells if cell.verdict == "wrong"] == [(3, 1)]


ALIBI = """The scores, already divided, with what comes later left out, and the bias of a head with slope m = 0.5:

$$S = \\begin{pmatrix} 1 & \\cdot & \\cdot \\\\ 0 & 2 & \\cdot \\\\ 1 & 0 & 1 \\end{pmatrix}$$

The bias is $B_{ij} = -m\\,(i - j)$ for $j \\le i$:

$$B = \\begin{pmatrix} 0 & \\cdot & \\cdot \\\\ -0.5 & 0 & \\cdot \\\\ %s & -0.5 & 0 \\end{pmatrix}$$

Scores with the bias:

$$S + B = \\begin{pmatrix} 1 & \\cdot & \\cdot \\\\ -0.5 & 2 & \\cdot \\\\ %s & -0.5 & 1 \\end{pmatrix}$$
"""


def test_a_formula_for_every_cell_is_what_the_matrix_is() -> None:
    assert not {claim.verdict.value for claim in qkv.check(ALIBI % ("-1", "0")).claims} & {"wrong", "carried", "unread"}
    wrong, carried = qkv.check(ALIBI % ("-0.5", "0.5")).claims
    cells = [(cell.row, cell.column, cell.expected) for cell in wrong.cells if cell.verdict == "wrong"]
    assert (wrong.verdict.value, cells, carried.verdict.value) == ("wrong", [(3, 1, "-1")], "carried")
