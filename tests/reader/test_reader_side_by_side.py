"""Matrices side by side without brackets, and words with a number as their names."""

from __future__ import annotations

from qkv.expr.show import plain
from qkv.reader import read_sheet


def statements(text: str) -> list[list[str]]:
    return [[plain(link.expr) for link in s.links] for s in read_sheet(text, "page.txt").statements]


def test_matrices_side_by_side_behind_their_names_need_no_brackets() -> None:
    page = "A =  1 -1     B = 2 0\n     0  3         1 4\n\nA B = 1 -4     B A = 2 -2\n      3 12           1 11\n"
    assert statements(page) == [
        ["A", "[1, -1; 0, 3]"],
        ["B", "[2, 0; 1, 4]"],
        ["A B", "[1, -4; 3, 12]"],
        ["B A", "[2, -2; 1, 11]"],
    ]


def test_numbers_that_do_not_stand_below_their_names_are_left_alone() -> None:
    assert ["A", "[1, 2; 5, 6]"] not in statements("A = 1 2     B = 3 4\n5 6 7\n")


def test_a_word_and_a_number_alone_before_rows_are_a_name_everywhere() -> None:
    page = "Ausgabe 1 =\n1,0 0,0\n0,5 2,0\n\nAusgabe 2 =\n3,0 1,0\n1,5 2,5\n\n[Ausgabe 1 | Ausgabe 2] M =\n1,0 2,5\n3,0 4,0\n"
    assert [links[0] for links in statements(page)] == ["Ausgabe_1", "Ausgabe_2", "Concat(Ausgabe_1, Ausgabe_2) M"]


def test_a_word_in_quotes_in_brackets_is_the_index_of_a_letter() -> None:
    assert statements('Q("sat") · K("The") = 0.3×0.1 + 0.8×0.2 = 0.19\n')[0][0] == "Q_sat K_The"
