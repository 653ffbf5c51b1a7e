"""Who follows what qkv says gets from a page that it cannot read to a worked sheet."""

from __future__ import annotations

import re

import pytest

import qkv

SCORES = "The query has entries three and four; key one has entries one and zero, key two zero and one.\n\nCompute the scores."
ONE_HOT = 'Tokens are one-hot over (a, b, c). Sequence: "a c". W_v doubles.\n\nCompute the output of self-attention.'
_LET = re.compile(r'--let "(\w+) = ')


@pytest.mark.parametrize(
    ("page", "known", "name", "answer"),
    [
        (SCORES, {"Q": "[3, 4]", "K": "[1, 0; 0, 1]"}, "S", (("3", "4"),)),
        (
            ONE_HOT,
            {"Q": "[1, 0, 0; 0, 0, 1]", "K": "[1, 0, 0; 0, 0, 1]", "V": "[2, 0, 0; 0, 0, 2]"},
            "Z",
            (("1.28091", "0", "0.719085"), ("0.719085", "0", "1.28091")),
        ),
    ],
)
def test_the_lines_that_it_says_lead_to_the_answer(
    page: str, known: dict[str, str], name: str, answer: tuple[tuple[str, ...], ...]
) -> None:
    """All that is missing is said at once, each as a line to be completed."""
    said = qkv.read(page).solve().to_text(width=1000)
    wanted = list(dict.fromkeys(_LET.findall(said.partition("not answered")[2].partition("\n")[0])))
    assert wanted == list(known)
    solved = qkv.read(page, let=[f"{each} = {known[each]}" for each in wanted]).solve()
    assert "not answered" not in solved.to_text()
    assert solved[name].digits(6) == answer
