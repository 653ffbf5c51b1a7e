"""Brackets that lost or won a backslash."""

from __future__ import annotations

from qkv.expr.show import plain
from qkv.reader.read import read_sheet


def told(text: str) -> list[str]:
    return [" = ".join(plain(link.expr) for link in s.links) for s in read_sheet(text).statements]


def test_a_bracket_on_a_line_of_its_own_opens_a_display() -> None:
    assert told("So:\n[\np_1=\\frac{1}{4}=0.25\n]\n") == ["p_1 = 1 / 4 = 0.25"]
    assert told("[\n[0.5,;0.5]-0.1[1,;2]=[0.4,;0.3]\n]\n") == ["[0.5, 0.5] - 0.1 [1, 2] = [0.4, 0.3]"]
    assert told("[\nW=\n\\begin{bmatrix}\n1 & 2\\\n3 & 4\n\\end{bmatrix}\n]\n") == ["W = [1, 2; 3, 4]"]


def test_rows_of_numbers_between_such_brackets_are_an_array() -> None:
    assert told("K =\n[\n  [1, 0],\n  [0, 1]\n]\n") == ["K = [1, 0; 0, 1]"]


def test_an_escaped_list_is_a_list() -> None:
    assert told("| token | vector |\n|---|---|\n| a | \\[1, 2] |\n| b | \\[3, 4] |\n") == ["[1, 2; 3, 4]"]


def test_rows_of_an_escaped_list_and_spaced_rows_of_a_display() -> None:
    assert told(r"W = \[\[0, 1], \[1, 0]]" + "\n") == ["W = [0, 1; 1, 0]"]
    text = "$$\n\\begin{aligned}\nQ &= [1, 0] \\\\[4pt]\nK &= [0, 1]\n\\end{aligned}\n$$\n"
    assert told(text) == ["Q = [1, 0]", "K = [0, 1]"]


def test_a_matrix_in_brackets_on_a_line_of_its_own_is_a_factor() -> None:
    rows = r"\begin{matrix} 1 & 0 \\ 0 & 1 \end{matrix}"
    text = f"\\begin{{equation}} Q = X W = \\left({rows}\\right)\n\\left({rows}\\right)\n= \\left({rows}\\right) \\end{{equation}}\n"
    assert told(text) == ["Q = X W = [1, 0; 0, 1] [1, 0; 0, 1] = [1, 0; 0, 1]"]


def test_bars_between_columns_and_matrices_of_own_macros() -> None:
    assert told("$$C = \\begin{bmatrix} 1 & 2 & | & 3 \\\\ 4 & 5 & | & 6 \\end{bmatrix}$$\n") == [
        "C = [1, 2, 3; 4, 5, 6]"
    ]
    assert told("$$K = \\bpm 1 & 0 \\\\ 0 & 1 \\epm$$\n") == ["K = [1, 0; 0, 1]"]


def test_a_divisor_that_is_told_in_two_ways_is_a_statement() -> None:
    assert told("**Scale** ($\\div \\sqrt{d_k} = \\sqrt{2} \\approx 1.41$):\n") == ["√d_k = √2 = 1.41"]
    assert told("3 ÷ √2, then\n÷ √2 = 1.5\n") == []


def test_vectors_in_a_sentence_are_rows() -> None:
    assert told("The keys are [2, 0], [0, 2] and [1, 1].\n") == ["[2, 0; 0, 2; 1, 1]"]
    assert told("It attends over the values $[2, 0]$ and\n$[0, 2]$ alike.\n") == ["[2, 0; 0, 2]"]


def test_the_lines_of_a_text_in_the_strings_of_a_program() -> None:
    lines = ("'X = [[1, 0],  # tea\\n'", "'     [0, 1]]  # cup\\n\\n'", "'Q = K = X\\n'", "'Z = Q K\\n')")
    assert told("p = doc.add()\nr = p.run(\n" + "\n".join(lines) + "\n") == ["X = [1, 0; 0, 1]", "Q = K = X", "Z = Q K"]


def test_letters_behind_the_mark_of_an_own_macro() -> None:
    assert told("$\\vq = [1, 0]$, $\\vk_1 = [0, 1]$, $\\mu = 2$\n") == ["q = [1, 0]", "k_1 = [0, 1]", "mu = 2"]


def test_what_an_index_runs_over_is_no_array() -> None:
    assert told("Compute the weights $\\alpha_i$ for $i=1,2,3$, with $s = [1, 2, 3]$.\n") == ["s = [1, 2, 3]"]


def test_a_matrix_on_one_line_beside_one_over_two_is_a_factor() -> None:
    text = "```\nS = [[1, 2], [3, 4]] · [[1, 0],\n                        [0, 1]]\n```\n"
    assert told(text) == ["S = [1, 2; 3, 4] [1, 0; 0, 1]"]


def test_rows_in_brackets_behind_numbered_tokens_are_a_matrix() -> None:
    assert told("```\n    k₁   k₂\nq₁ [ 1  -∞ ]  ← token 1\nq₂ [ 0.5 2 ]\n```\n") == ["[1, -∞; 0.5, 2]"]
