"""Workings and copies: documents as text in, verdicts out."""

from __future__ import annotations

import pytest
from judged import claims

import qkv
from qkv.judging.report import check_sheet
from qkv.reader import read_sheet

GIVEN = """
X = [[1, 2], [3, 1]]
W = [[2, 0], [1, 3]]
U = [[1, 4], [2, 5]]
"""


def said(text: str) -> list[tuple[int, str, str, list[tuple[int, int]]]]:
    """Line, name, verdict and the cells that are not right of every claim."""
    report = check_sheet(read_sheet(text))
    return [(c.line, c.name, c.verdict.value, [(d.row, d.column) for d in c.cells]) for c in report.claims]


def verdicts(text: str) -> list[str]:
    return [verdict for _, _, verdict, _ in said(text)]


def test_operands_are_claims() -> None:
    text = GIVEN + "Q = X W = [[1, 2], [3, 1]] [[2, 0], [1, 3]] = [[4, 6], [7, 3]]\n"
    assert verdicts(text) == ["right", "right", "right"]


def test_a_miscopied_operand_is_the_slip_and_what_follows_is_not() -> None:
    """The result is that of the true operand: only the copy is wrong."""
    text = GIVEN + "Q = X W = [[1, 2], [3, 7]] [[2, 0], [1, 3]] = [[4, 6], [7, 3]]\n"
    assert [(v, cells) for _, _, v, cells in said(text)] == [("wrong", [(2, 2)]), ("right", []), ("right", [])]


def test_an_operand_that_is_no_copy_is_not_accused() -> None:
    text = GIVEN + "Q = X W = [[5, 6], [8, 9]] [[2, 0], [1, 3]] = [[4, 6], [7, 3]]\n"
    assert "wrong" not in verdicts(text)


def test_who_copies_a_false_print_carries_it_on() -> None:
    text = GIVEN + "Q = X W = [[4, 6], [7, 5]]\nS = Q U = [[4, 6], [7, 5]] [[1, 4], [2, 5]] = [[16, 46], [17, 53]]\n"
    assert [(v, cells) for _, _, v, cells in said(text)] == [
        ("wrong", [(2, 2)]),
        ("carried", [(2, 2)]),
        ("right", []),
        ("carried", [(2, 1), (2, 2)]),
    ]


def test_who_copies_the_right_value_after_a_slip_is_right() -> None:
    text = GIVEN + "Q = X W = [[4, 6], [7, 5]]\nS = Q U = [[4, 6], [7, 3]] [[1, 4], [2, 5]] = [[16, 46], [13, 43]]\n"
    assert verdicts(text) == ["wrong", "right", "right", "right"]


def test_decimals_of_a_weighted_sum_are_copies() -> None:
    """0.512 is false and was put in: the sum follows from it."""
    text = (
        "v_1 = [2, 2]\nv_2 = [0, 6]\ns = [1, 2]\n\nw = softmax(s) = [0.269, 0.512]\n"
        "c = 0.269 [2, 2] + 0.512 [0, 6] = [0.538, 3.610]\n"
    )
    assert verdicts(text)[-2:] == ["wrong", "carried"]


def test_a_softmax_that_is_written_out_copies_its_row() -> None:
    text = GIVEN + (
        "\n$$E = X U = \\begin{bmatrix} 5 & 14 \\\\ 5 & 19 \\end{bmatrix}$$\n\n$$A = \\text{softmax}(E)$$\n\n"
        "$$\\left[\\frac{e^5}{e^5 + e^{14}}, \\frac{e^{14}}{e^5 + e^{14}}\\right] = [0.00012, 0.99988]$$\n\n"
        "$$\\left[\\frac{e^5}{e^5 + e^{19}}, \\frac{e^{19}}{e^5 + e^{19}}\\right] = [0.0000008, 1.0000]$$\n\n"
        "$$A = \\begin{bmatrix} 0.00012 & 0.99988 \\\\ 0.0000008 & 1.0000 \\end{bmatrix}$$\n"
    )
    found = verdicts(text)
    assert found[0] == "wrong"
    assert found[-2:] == ["carried", "carried"]


def test_names_without_numbers_are_told_by_what_is_put_in() -> None:
    text = "$$Q = X W$$\n\n$$Q = \\begin{bmatrix} 1 & 2 \\\\ 3 & 1 \\end{bmatrix} \\begin{bmatrix} 2 & 0 \\\\ 1 & 3 \\end{bmatrix}$$\n\n"
    text += "$$Q = \\begin{bmatrix} 4 & 6 \\\\ 7 & 9 \\end{bmatrix}$$\n\n$$R = W X = \\begin{bmatrix} 2 & 4 \\\\ 10 & 5 \\end{bmatrix}$$\n"
    found = said(text)
    assert [(name, v, cells) for _, name, v, cells in found][-2:] == [("Q", "wrong", [(2, 2)]), ("R", "right", [])]


def test_a_product_may_go_on_in_the_next_display() -> None:
    text = GIVEN + (
        "\n$$Q = X W$$\n\n$$Q = \\begin{bmatrix} 1 & 2 \\\\ 3 & 1 \\end{bmatrix} \\times$$\n\n"
        "$$\\begin{bmatrix} 2 & 0 \\\\ 1 & 3 \\end{bmatrix}$$\n\n$$Q = \\begin{bmatrix} 4 & 6 \\\\ 7 & 3 \\end{bmatrix}$$\n"
    )
    assert verdicts(text) == ["right", "right", "right"]


@pytest.mark.parametrize("formula", [r"\emptyset K^T", r"\emptyset K T", r"\Theta K.T"])
def test_a_name_that_nothing_defines_is_the_one_whose_numbers_fit(formula: str) -> None:
    text = (
        "$$Q = \\begin{bmatrix} 1 & 2 & 5 \\\\ 3 & 1 & 4 \\end{bmatrix}$$\n\n"
        "$$K = \\begin{bmatrix} 2 & 0 & 7 \\\\ 1 & 3 & 6 \\end{bmatrix}$$\n\n"
        f"$$E = {formula}$$\n\n"
        "$$E = \\begin{bmatrix} 1 & 2 & 5 \\\\ 3 & 1 & 4 \\end{bmatrix} \\begin{bmatrix} 2 & 1 \\\\ 0 & 3 \\\\ 7 & 6 \\end{bmatrix}$$\n\n"
        "$$E = \\begin{bmatrix} 37 & 37 \\\\ 34 & 39 \\end{bmatrix}$$\n"
    )
    *others, last = [(verdict, cells) for _, _, verdict, cells in said(text)]
    assert last == ("wrong", [(2, 2)])
    assert len(others) >= 2
    assert all(verdict == "right" for verdict, _ in others)


def test_an_addend_that_is_not_what_stood_there() -> None:
    text = "e = tanh(1) + tanh(3) = 0.762 + 1.365 = 1.757\n"
    assert [(name, v) for _, name, v, _ in said(text)] == [("tanh(3)", "wrong"), ("e", "rounded")]
    assert "wrong" not in verdicts(text.replace("1.365", "0.995"))


def test_ragged_rows_are_read_by_the_product() -> None:
    text = GIVEN + (
        "\n$$Q = X W = \\begin{bmatrix} 1 & 2 \\\\ 3 & 1 \\end{bmatrix} \\begin{bmatrix} 2 & 0 \\\\ 13 \\end{bmatrix}"
        " = \\begin{bmatrix} 4 & 6 \\\\ 7 & 3 \\end{bmatrix}$$\n"
    )
    assert set(verdicts(text)) <= {"right", "misread"}


def test_numbers_put_in_beside_a_scalar_are_no_versions() -> None:
    """Two square factors side by side are two factors, not two versions of one."""
    text = GIVEN + "S = X W / 2 = \\frac{1}{2} [[1, 2], [3, 1]] [[2, 0], [1, 3]] = [[2, 3], [3.5, 1.5]]\n"
    assert "wrong" not in verdicts(text)


def test_a_sum_of_what_was_printed_right_before() -> None:
    text = "e^2 = 7.389, e^1 = 2.718\n\nSum: 10.107\n\nweights: 7.389/10.107 = 0.731\n"
    assert set(verdicts(text)) <= {"right", "rounded"}
    assert len(verdicts(text)) == 4


def test_a_name_for_a_sum_is_no_given() -> None:
    text = "e^2 = 7.389\ne^1 = 2.718\nsum = 10.107\n"
    assert [(name, v) for _, name, v, _ in said(text)][-1] == ("sum", "rounded")


def test_the_same_numbers_are_a_copy_before_similar_ones() -> None:
    page = "q = [0.1, 0.2, 0.3, 0.4], k_1 = [0.5, 0.6, 0.7, 0.8], k_2 = [0.1, 0.3, 0.2, 0.4]\n\n"
    report = check_sheet(read_sheet(page + r"$$[0.1, 0.2, 0.3, 0.4] \cdot [0.5, 0.6, 0.7, 0.8]^T = 0.71$$"))
    assert [(cell.shown, cell.expected) for claim in report.claims for cell in claim.cells] == [("0.71", "0.7")]


def test_what_is_given_is_put_in_as_it_is_not_as_all_that_rounds_so() -> None:
    page = "Q = [0.5, 0.2, 0.1, 0.8]\n\nK = [[0.1, 0.2, 0.3, 0.1], [0.5, 0.2, 0.1, 0.8]]\n\n"
    assert check_sheet(read_sheet(page + "s = 0.5*0.1 + 0.2*0.2 + 0.1*0.3 + 0.8*0.1 = 0.17")).summary == {"wrong": 1}
    assert check_sheet(read_sheet(page + "s = 0.5*0.1 + 0.2*0.2 + 0.1*0.3 + 0.8*0.1 = 0.20")).summary == {"right": 1}


CELLS = """
Q = [[1, 0], [2, 1]]
K = [[1, 1], [0, 2]]
V = [[3, 1], [1, 2]]
S = Q K^T = [[1, 0], [3, 2]]
e^1 = 2.718
e^0 = 1
e^3 = 20.086
e^2 = 7.389
a_{1,1} = 2.718/3.718 = 0.731
a_{1,2} = 1/3.718 = 0.369
a_{2,1} = 20.086/27.475 = 0.731
a_{2,2} = 7.389/27.475 = 0.269
"""


def test_a_matrix_of_cells_that_were_printed_one_by_one_is_a_copy_of_them() -> None:
    """The false weight is a slip where it is printed first, and carried where the matrix repeats it."""
    text = (
        CELLS
        + "Z = softmax(S) V = [[0.731, 0.369], [0.731, 0.269]] [[3, 1], [1, 2]] = [[2.562, 1.469], [2.462, 1.269]]\n"
    )
    found = {(line, name): verdict for line, name, verdict, _ in said(text)}
    assert [verdict for (line, _), verdict in found.items() if line == 11] == ["wrong"]
    assert [verdict for (line, _), verdict in found.items() if line == 14] == ["carried", "right", "carried"]


def test_a_working_tells_which_cells_are_carried_and_which_are_slips() -> None:
    text = (
        CELLS
        + "Z = softmax(S) V = [[0.731, 0.369], [0.731, 0.269]] [[3, 1], [1, 2]] = [[2.562, 1.469], [2.462, 1.869]]\n"
    )
    *_, (_, name, verdict, _) = said(text)
    cells = check_sheet(read_sheet(text)).claims[-1].cells
    assert (name, verdict) == ("Z", "wrong")
    assert {(d.row, d.column): d.verdict.value for d in cells if d.row == 1} == {(1, 1): "carried", (1, 2): "carried"}
    assert [d.verdict.value for d in cells if (d.row, d.column) == (2, 2)] == ["wrong"]


def test_numbers_that_are_copied_exactly_have_nothing_behind_them() -> None:
    """0.1 and 0.3 are given so: they do not stand for 0.14 and 0.34 too, however many cells that would explain."""
    x, w = "[[0.1, 0.3], [0.4, 0.2], [0.3, 0.5]]", "[[0.5, 0.2, 0.3], [0.1, 0.4, 0.6]]"
    values = "[[0.10, 0.14, 0.23], [0.22, 0.18, 0.26], [0.20, 0.28, 0.69]]"
    page = f"X = {x}\nW = {w}\n\nQ = {x} {w} = {values}\n"
    cells = check_sheet(read_sheet(page)).claims[-1].cells
    wrong = [(1, 1), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3)]
    assert [((d.row, d.column), d.verdict.value) for d in cells] == [(place, "wrong") for place in wrong]


def test_rows_that_are_carried_carry_on_what_is_stacked_of_them() -> None:
    """The rows have no formula, but were found to be made of a false number: they are not given."""
    page = (
        "e^0.7 = 2.014\n\ne^1.4 = 4.505\n\nSum = 2.014 + 2.014 + 4.505 = 8.533\n\n"
        "2.014 / 8.533 = 0.236\n\n2.014 / 8.533 = 0.236\n\n4.505 / 8.533 = 0.528\n\n"
        "Row_1 = [0.236, 0.236, 0.528]\n\nRow_2 = [0.200, 0.300, 0.500]\n\n"
        "A = [[0.236, 0.236, 0.528], [0.200, 0.300, 0.500]]\n"
    )
    said = [(claim.line, claim.verdict.value) for claim in claims(page)]
    assert (3, "wrong") in said
    assert (13, "carried") in said
    assert (17, "carried") in said


ROWS = "Q = [1, 0; 0, 2], K = [1, 1; 0, 2]\n\nS = Q Kᵀ / √2 = [0.707, 0; 1.414, 2.282]\n\n### Langkah 3: Softmax\n\n"


def test_a_row_that_stands_again_is_what_was_printed_though_it_be_false() -> None:
    page = f"{ROWS}Untuk baris kedua [1.414, 2.282]:\n\ne^1.414 ≈ 4.113, e^2.282 ≈ 9.796\n"
    assert [claim.verdict.value for claim in qkv.check(page).claims] == ["wrong", "carried", "rounded", "carried"]


def test_a_copy_is_of_what_was_printed_before_what_should_have_been() -> None:
    given = "Q = [1, 0; 0, 1], K = [1, 1; 0, 1]\n\nS = Q Kᵀ / √2 = [0.707, 0.707; 0, 0.707]\n\n"
    said = claims(f"{given}softmax([0.707, 0.707]) = [0.5, 0.5]\n\nsoftmax([0, 0.707]) = [0.330, 0.670]\n")
    assert {claim.verdict.value for claim in said[1:]} == {"carried"}
