"""Workings put rounded numbers in; solve goes on with what these are copies of, and gathers numbers worked out singly."""

from __future__ import annotations

from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet

# The third score is false (0.149), and so is what is printed after it.
SLIPPED = """
We have a = 0.3 and u_1 = 2, u_2 = 1, u_3 = 0.5.

e_1 = tanh(a u_1) = tanh(0.6) = 0.537
e_2 = tanh(a u_2) = tanh(0.3) = 0.291
e_3 = tanh(a u_3) = tanh(0.15) = 0.194

exp(0.537) = 1.711
exp(0.291) = 1.338
exp(0.194) = 1.214

N = 1.711 + 1.338 + 1.214 = 4.263

w_1 = 1.711 / 4.263 = 0.401
w_2 = 1.338 / 4.263 = 0.314
w_3 = 1.214 / 4.263 = 0.285
"""


def solved(text: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """What the steps of a page come to, by how they are spelled."""
    traces = solve_sheet(read_sheet(text)).traces
    return {step.spelled: trace.digits(step.symbol, 4) for trace in traces for step in trace.program.steps}


def test_a_copied_slip_is_not_gone_on_with() -> None:
    """0.194 stands for tanh(0.15) = 0.1489, wherever it is put in."""
    found = solved(SLIPPED)
    assert found["e_3"] == (("0.1489",),)
    assert found["w_3"] == (("0.2757",),)


def test_numbers_of_one_name_are_gathered() -> None:
    found = solved("a = 0.25\n\ng_one = a + 1 = 1.25\ng_two = a + 2 = 2.25\n")
    assert found["g_one, g_two"] == (("1.25", "2.25"),)


def test_a_formula_in_names_says_more_than_a_working() -> None:
    """The working takes 5 for 4: the formula holds."""
    found = solved("p = [1.5, 2.5]\nq = [2, 0.4]\n\nr = p · q = 1.5 · 2 + 2.5 · 0.5 = 4.25\n")
    assert found["r"] == (("4",),)


def test_an_index_is_a_token_where_no_head_is_spoken_of() -> None:
    """Scaled_1 is printed as a vector: it is a row, and Output_1 too."""
    text = """
Q = [[1, 1], [0, 2]], K = [[1, 0], [1, 1]], V = [[2, 0], [0, 2]]

Scaled_1 = [1/1.414, 2/1.414] = [0.707, 1.414]
α_1 = [0.330, 0.670]
Output_1 = 0.330 · [2, 0] + 0.670 · [0, 2] = [0.660, 1.340]
"""
    assert solved(text)["Output_1"] == (("0.6605", "1.340"),)


def test_a_calculation_that_is_left_open_is_worked_out_as_it_is_written() -> None:
    assert solved("Second row: 0.25 · [2, 4] + 0.75 · [0, 8]\n")["Second row"] == (("0.5", "7"),)


def test_words_set_beside_a_matrix_name_its_rows() -> None:
    text = r"$$G = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \begin{matrix} \text{(Row 1: \"up\")} \\ \text{(Row 2: \"down\")} \end{matrix}$$"
    assert solved(text + "\n\n$$H = G^T$$\n")["H"] == (("1", "3"), ("2", "4"))


def test_remarks_beside_the_rows_of_a_list_are_no_part_of_it() -> None:
    text = "```\nG = [ [1, 0],      first word\n      [0, 2] ]     second word     shape (2, 2)\n\nH = G G\n```\n"
    assert solved(text)["H"] == (("1", "0"), ("0", "4"))
