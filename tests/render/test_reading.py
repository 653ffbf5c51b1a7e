"""`qkv read`: each quantity with its line, its meaning, how that is known, what competes with it, and how to correct it."""

from __future__ import annotations

import json

import pytest

from qkv import api
from qkv.render.targets import Target, readings

PAGE = """The keys are

- Ich: [1, 0]
- liebe: [0, 1]

q = [1, 2]
s = [1, 3]

Scores: [1, 2]
foo = bar(q) = [0.31, 0.47]
"""


def shown(width: int = 100) -> str:
    return readings([api.understand_sheet(api.read(PAGE))], Target("text", width))


def line_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.split()[1:2] == [name])


def test_each_quantity_has_its_line_its_meaning_and_how_that_is_known() -> None:
    text = shown()
    assert line_of(text, "@3").split(maxsplit=3)[3].startswith("keys")
    assert "by the words beside it" in line_of(text, "@3")
    assert "queries" in line_of(text, "q")
    assert "by its name" in line_of(text, "q")
    assert "assumed" in line_of(text.replace("      S ", "   -  S "), "S")


def test_what_competes_with_a_meaning_is_said() -> None:
    lines = shown().splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[1:2] == ["s"])
    assert "or: the s" in lines[at + 1] + lines[at + 2]


def test_how_to_correct_it_is_said_with_a_line_of_the_page() -> None:
    assert 'such as --let "K = @3"' in shown()


@pytest.mark.parametrize("width", [60, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, shown(width).splitlines())) <= width


def test_the_machine_form_has_the_rivals() -> None:
    form = json.loads(readings([api.understand_sheet(api.read(PAGE))], Target("json")))
    quantities = {quantity["name"]: quantity for problem in form["problems"] for quantity in problem["quantities"]}
    assert quantities["s"]["rivals"]
    assert quantities["@3"]["role"] == "K"
