"""Blocks of a document: what is a heading, a table, a grid, a fence; and places that stay those of the file."""

import pytest

from qkv.sheet.segments import Fence, Paragraph, Rows, Title, blocks


def kinds(text):
    return [type(block).__name__ for block in blocks(text)]


@pytest.mark.parametrize(
    "line, rank",
    [
        ("# Attention", 1),
        ("### N1. Three tokens, $d_k = 2$", 3),
        (r"\subsection*{Head 0}", 2),
        ("<h2>Worked <b>example</b></h2>", 2),
        ("Question 1: [0 points]", 0),
        ("**Exercise 3 - By Hand**", 0),
        ("Part II", 0),
        ("1.) Masked Self-Attention:", 0),
        ("2 Justifying Scaled-Dot Product Attention", 0),
        ("Aufgabe 2", 0),
        ("Задача 3.", 0),
        ("练习 2：缩放", 0),
        ("問題2", 0),
        ("**第一步：投影**", -1),
        ("**Solution**", -1),
        ("Step 2 :", -1),
    ],
)
def test_headings(line, rank):
    (title,) = blocks(f"\n{line}\n\n")
    assert isinstance(title, Title)
    assert (title.rank, title.line) == (rank, 2)


@pytest.mark.parametrize(
    "line",
    [
        "parts plan table",
        "Part 1 of the sum is small, so it is dropped here.",
        "1. Output vectors of the first head will be given by",
        "2. Likewise",
        "**Weights**, rounded: $a = 1$",
        "Step 1: $Q = XW^Q$ (computed from the output)",
        "Find the weights",
    ],
)
def test_lines_that_are_no_headings(line):
    assert kinds(line) == ["Paragraph"]


def test_underlined_headings():
    first, second, _ = blocks("Übung 5: Maske\n====\n\nLösung\n------\n\ntext")
    assert (first.text, first.rank, second.text, second.rank) == ("Übung 5: Maske", 1, "Lösung", 2)


def test_comments_front_matter_and_quotes_leave_places_alone():
    text = "<!-- a\n$$x$$ -->\n---\ntitle: T\n---\n> quoted $x = 1$"
    (block,) = blocks(text)
    assert block == Paragraph("  quoted $x = 1$", 6)


def test_a_display_runs_over_a_blank_line_only_if_it_closes():
    assert kinds("$$\nA = 1\n\nB = 2\n$$") == ["Paragraph"]
    assert [b.text for b in blocks("$$A = 1\n\nwords\n\n$$B = 2$$")] == ["$$A = 1", "words", "$$B = 2$$"]


def test_fences():
    (fence,) = blocks("```python\nx = 1\n\n# no heading\n```")
    assert fence == Fence("python", "x = 1\n\n# no heading", 2)


def test_an_open_fence_ends_with_the_document():
    (fence,) = blocks("```\nx = [1]")
    assert fence.text == "x = [1]"


def cells(text):
    (rows,) = blocks(text)
    assert isinstance(rows, Rows)
    return [[cell.text for cell in row] for row in rows.cells]


def test_a_grid_with_its_name_beside_the_middle_row():
    assert cells("\t1\t2\nE =\t3\t4\n\t5\t6") == [["", "1", "2"], ["E =", "3", "4"], ["", "5", "6"]]


def test_a_grid_set_with_blanks():
    assert cells("Q = 1 0 2\n    2 -2 2") == [["Q =", "1", "0", "2"], ["", "2", "-2", "2"]]


def test_a_grid_of_bracketed_rows():
    assert cells("[1 0 2]\n[2 2 2]") == [["1", "0", "2"], ["2", "2", "2"]]


def test_a_grid_with_labels():
    assert cells("      I    am\nI   0.9  0.1\nam  0.2  0.8") == [
        ["", "I", "am"],
        ["I", "0.9", "0.1"],
        ["am", "0.2", "0.8"],
    ]


def test_bars_inside_of_mathematics_divide_nothing():
    assert cells("| a | $|x|$ |\n|---|---|\n| 1 | `a|b` |") == [["a", "$|x|$"], ["1", "`a|b`"]]


def test_sizes_in_the_margin_are_no_grid():
    assert kinds("3×4 4×3\n 3×3") == ["Paragraph"]


def test_cells_know_their_columns():
    (rows,) = blocks("|  a | bc |\n|---|---|\n| 10 |  7 |")
    assert [(cell.line, cell.column) for cell in rows.cells[1]] == [(3, 3), (3, 9)]


def test_prompts_of_a_console_are_no_quote_marks():
    session = ">>> X = f(1)\n>>> X\n[1, 2]"
    assert list(blocks(session)) == [Fence("python", session, 1)]
    assert list(blocks(f"```\n{session}\n```")) == [Fence("", session, 2)]
    assert list(blocks(">>> quoted thrice")) == [Paragraph("    quoted thrice", 1)]
