"""A file that holds several documents: each is read as if the others were not there."""

from __future__ import annotations

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
