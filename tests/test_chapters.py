"""A file that holds several documents: each is read as if the others were not there."""

from __future__ import annotations

import json

import qkv
from qkv.chapters import chapters
from qkv.reader import read_sheet

FIRST = """# Attention

$X = [[1, 2], [3, 1]]$, $W_Q = [[2, 0], [1, 3]]$

$Q = X W_Q = [[4, 6], [7, 3]]$
"""
SECOND = """# Areas

$Q = 3$, $X = 2$

$W = Q X = 7$
"""
STEPS = """# Givens

$X = [[1, 2], [3, 1]]$, $W_Q = [[2, 0], [1, 3]]$

# Queries

$Q = X W_Q = [[4, 6], [7, 3]]$
"""


def test_a_chapter_that_gives_all_it_uses_stands_by_itself() -> None:
    assert len(chapters(read_sheet(f"{FIRST}\n{SECOND}"))) == 2
    assert [claim.verdict for claim in qkv.check(f"{FIRST}\n{SECOND}").claims] == ["right", "wrong"]


def test_lines_are_those_of_the_file_and_claims_count_on() -> None:
    both = qkv.check(f"{FIRST}\n{SECOND}").claims
    assert [(claim.id, claim.line) for claim in both] == [(1, 5), (2, 11)]


def test_steps_under_headings_of_their_own_go_on_from_what_is_given() -> None:
    assert len(chapters(read_sheet(STEPS))) == 1
    assert [claim.verdict for claim in qkv.check(STEPS).claims] == ["right"]


ANEW = """X = [[2, 1], [0, 1]]

W_Q = [[1, 1], [1, 0]]

Q = X W_Q = [[3, 2], [1, 0]]
"""


def test_matrices_given_anew_begin_a_document_without_a_heading() -> None:
    both = f"{FIRST}\n\nAnother one\n\n{ANEW}"
    assert len(chapters(read_sheet(both))) == 2
    assert [claim.verdict for claim in qkv.check(both).claims] == ["right", "right"]


def test_what_uses_a_name_from_above_goes_on() -> None:
    head = ANEW.replace("X = [[2, 1], [0, 1]]", "W_K = [[2, 1], [0, 1]]").replace(
        "[[3, 2], [1, 0]]", "[[3, 1], [4, 3]]"
    )
    assert len(chapters(read_sheet(f"{FIRST}\n\nAnother head\n\n{head}"))) == 1


def test_queries_and_keys_with_other_numbers_are_given_anew() -> None:
    given = "# Cross\n\n$Q = [[1, 1], [0, 2]]$, $K = [[1, 0], [2, 1]]$\n\n$Q K^T = [[1, 3], [0, 2]]$\n"
    assert len(chapters(read_sheet(f"{FIRST}\n{given}"))) == 2


def test_words_are_names_only_where_their_page_makes_them_names() -> None:
    named = FIRST + "\n$weights = Q X = [[22, 14], [16, 17]]$\n"
    said = f"{ANEW}\nAttention weights P = softmax(Q):\n\n[[0.731, 0.269], [0.731, 0.269]]\n"
    assert len(chapters(read_sheet(f"{named}\n\n\n{said}"))) == 2


def test_a_notebook_has_chapters_too() -> None:
    cells = [{"cell_type": "markdown", "source": text.splitlines(keepends=True)} for text in (FIRST, SECOND)]
    notebook = json.dumps({"cells": cells}, indent=1)
    checked = qkv.check(notebook).claims
    lines = [notebook.splitlines()[claim.line - 1] for claim in checked]
    assert [claim.verdict for claim in checked] == ["right", "wrong"]
    assert ["Q = X W_Q" in lines[0], "W = Q X" in lines[1]] == [True, True]


def test_a_long_file_is_cut_into_chapters_like_a_short_one() -> None:
    remark = f"<!-- {'and so on ' * 5000} -->"
    assert len(chapters(read_sheet(f"{FIRST}\n{remark}\n{FIRST}\n{ANEW}"))) == 3


def test_a_solution_goes_on_also_where_its_heading_is_latex() -> None:
    given = r"\section*{One}" + "\n\n$amber_1 = [1, 2]$, $amber_2 = [3, 1]$, $U = [[2, 0], [1, 3]]$\n\n"
    solved = r"\section*{Solution}" + "\n\n$x = [[1, 2], [3, 1]]$\n\n$y = x U = [[4, 6], [7, 3]]$\n"
    assert len(chapters(read_sheet(given + solved))) == 1


TABLE = """# Übung

| Wort | Query | Key | Value |
|---|---|---|---|
| Die | (1, 0) | (1, 1) | (1, 0) |
| Katze | (0, 1) | (0, 1) | (0, 2) |

Berechne die Ausgabe für „Katze“.
"""


def test_columns_of_queries_and_keys_are_inputs_of_their_own() -> None:
    assert len(chapters(read_sheet(f"{FIRST}\n{TABLE}"))) == 2


ADDITIVE = """# Additive

The score is $e_i = v^T \\tanh(U h_i)$.

$h_1 = [1, 0]^T$, $h_2 = [0, 1]^T$, $U = [[1, 0], [2, 1]]$, $v = [1, 1]^T$

$U h_1 = [1, 2]^T$
"""


def test_what_holds_for_givens_below_belongs_to_them() -> None:
    parts = chapters(read_sheet(f"{FIRST}\n{ADDITIVE}"))
    assert [part.source.strip().splitlines()[0] for part in parts] == ["# Attention", "# Additive"]


def test_results_under_a_heading_of_their_own_begin_no_document() -> None:
    heads = "# Heads\n\nX = [[1, 2], [3, 1]]\n\nZ_1 = [[0.9, 0.6], [0.4, 0.3]]\n\nZ_2 = [[0.1, 0.2], [0.5, 0.6]]\n\n"
    page = f"{heads}# All heads\n\nConcat = [[0.9, 0.6, 0.1, 0.2], [0.4, 0.3, 0.5, 0.7]]\n\nOutput = [[1, 2], [2, 2]]\n"
    assert len(chapters(read_sheet(page))) == 1


NUMBERED = """# Example

z = [2, 1, 0], y = [1, 0, 0]

# 2) Forward pass

p = softmax(z) = [0.665, 0.245, 0.090]

# 3) Backward pass

g = [-0.335, 0.245, 0.090]
"""


def test_a_later_step_under_a_heading_of_its_own_goes_on() -> None:
    report = qkv.check(NUMBERED)
    assert [(claim.formula, claim.verdict.value) for claim in report.claims][-1] == ("p - y", "rounded")


COMMENTS = """```python
# The token
h = [11.2, 12.5, 13.1, 16.4]

# Its mean
mean = (11.2 + 12.5 + 13.1 + 16.4) / 4
     = 53.2 / 4
     = 13.3

# What is left of it
rest = [-2.1, -0.8, -0.2, 3.1]
```
"""


def test_a_comment_in_a_fence_begins_no_chapter() -> None:
    sheet = read_sheet(COMMENTS)
    assert len(chapters(sheet)) == 1
    assert [claim.formula for claim in qkv.check(sheet.source).claims][-1] == "h - mean"


KEYS = "# One\n\nQ = [[1, 2], [0, 1]]\n\nK = [[1, 0], [1, 1]]\n\nS = Q K^T = [[1, 3], [0, 1]]\n\nA = softmax(S)\n\n"
OTHER_KEYS = "# Two\n\nQ = [[3, 1], [2, 2]]\n\nK = [[0, 1], [2, 5]]\n\nV = [[1, 0], [0, 1]]\n\nZ = A V = [[0.1, 0.9], [0.2, 0.8]]\n"
PILES = "# Two\n\nP = (5, 1, 2), R = (1, 3, 4)\n\nf_i = f_{i-1} + P_i - R_i with f_0 = 0\n\nf_1 = 0 + 5 - 1 = 4\n"


def test_who_gives_inputs_anew_begins_a_chapter() -> None:
    assert [len(chapters(read_sheet(KEYS + second))) for second in (OTHER_KEYS, PILES)] == [2, 2]
