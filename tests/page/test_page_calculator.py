"""The calculator: what a form holds is worked out as `qkv.work` does it, and said with its digits."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

import pytest
from markup import text, tree

import qkv
from qkv.page.calculator import EXAMPLES, FIELDS, MOST, matrix
from qkv.page.respond import respond

Q, K, V = (matrix(name, FIELDS["QKV"][name].start) for name in "QKV")
X = {name: matrix(name, field.start) for name, field in FIELDS["X"].items()}


def said(path: str = "calculator", **form: str) -> str:
    answer = respond(path, form)
    assert isinstance(answer.body, str)
    return answer.body


def maps(html: str) -> list[list[list[str]]]:
    """The heat maps, as rows of printed weights."""
    tables = tree(html).findall(".//table[@class='heats']")
    return [[[text(cell) for cell in row.findall("td")] for row in table.findall("tbody/tr")] for table in tables]


def shown(solution: qkv.Solution, name: str = "A") -> list[list[str]]:
    return [list(row) for row in solution[name].decimals(3)]


def weights(*names: str) -> dict[str, list[list[str]]]:
    return {name: X[name] for name in ("X", "W_Q", "W_K", "W_V", *names)}


def test_the_page_is_well_formed_and_every_field_has_a_label() -> None:
    root = tree(said("calculator.html"))
    labelled = {id(field) for label in root.iter("label") for field in label.iter("input")}
    fields = [field for field in root.iter("input") if field.get("type") not in ("hidden", "radio")]
    assert len(fields) > 30
    assert all(field.get("aria-label") or id(field) in labelled for field in fields)


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ({}, {}),
        ({"mask": "causal"}, {"mask": "causal"}),
        ({"scale": "none"}, {"scale": None}),
        ({"scale": "own", "own": "3"}, {"scale": 3}),
        ({"scale": "own", "own": "0,5"}, {"scale": "0.5"}),
        ({"temperature": "2"}, {"scale": "sqrt(8)"}),
        ({"temperature": "0.5", "scale": "none"}, {"scale": "0.5"}),
        ({"temperature": "2", "scale": "own", "own": "1.5"}, {"scale": 3}),
        ({"normalise": "sum"}, {"normalise": "sum"}),
    ],
)
def test_the_weights_are_those_of_qkv_work(form: dict[str, str], options: dict[str, object]) -> None:
    assert maps(said(**{"from": "QKV"}, **form)) == [shown(qkv.work(Q=Q, K=K, V=V, **options))]
    assert maps(said(**form)) == [shown(qkv.work(**weights(), **options))]


def test_heads_have_a_map_each() -> None:
    solution = qkv.work(**weights(), heads=2)
    assert maps(said(heads="2")) == [shown(solution, "A_1"), shown(solution, "A_2")]


def test_temperature_scales_the_width_of_a_head() -> None:
    solution = qkv.work(**weights(), heads=2, scale="sqrt(4)")  # 2·√1
    assert maps(said(heads="2", temperature="2"))[0] == shown(solution, "A_1")
    assert "2·√1 = √4" in said(heads="2", temperature="2")


def test_norms_and_the_output_projection_are_worked_out() -> None:
    solution = qkv.work(**weights("W_O"), norm="post", eps="0.00001")
    html = said(project="yes", norm="post")
    assert solution["N_1"].digits()[0][0] in html


def test_tokens_are_on_the_axes_if_there_are_as_many() -> None:
    heads = [text(each) for each in tree(said(tokens="I <3 cats")).findall(".//table[@class='heats']//th")]
    assert heads == ["I", "<3", "cats"] * 2
    assert "q1" in said(tokens="I love")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_links_that_work(name: str) -> None:
    assert 'class="heats"' in said(**dict(parse_qsl(EXAMPLES[name])))


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"X": "a 1 1"}, "X, row 1, column 1, has"),
        ({"X": "1 2; 3 4"}, "X is 2×2 and W_Q is 3×2"),
        ({"X": ""}, "X is empty"),
        ({"X": "1 2; 3"}, "X"),
        ({"X": "1; " * (MOST + 1)}, "too large"),
        ({"X": "9" * 500}, "too large"),
        ({"heads": "3"}, "cannot be cut into 3 heads"),
        ({"scale": "own", "own": "0"}, "zero"),
        ({"scale": "own", "own": "x"}, "not a number"),
        ({"scale": "own", "own": "1e999999"}, "out of reach"),
        ({"temperature": "0"}, "above zero"),
        ({"temperature": "-1"}, "above zero"),
        ({"from": "<b>"}, "&lt;b&gt;"),
        ({"norm": "post"}, "cannot be added"),
    ],
)
def test_what_cannot_be_worked_is_said(form: dict[str, str], says: str) -> None:
    html = said(**form)
    assert html.startswith('<p class="summary none">')
    assert says in html


def test_why_one_scales() -> None:
    """For large d_k one key gets all weight unless the scores are divided."""
    largest = {}
    for power in ("0", "10"):
        html = said("calculator/why", power=power)
        rows = [[float(text(cell)) for cell in row.findall("td")] for row in tree(html).findall(".//tbody/tr")]
        largest[power] = [max(row) for row in rows]
    assert largest["10"][0] < 0.6 < 0.9 < largest["10"][1]
    assert largest["0"][0] == largest["0"][1]
    assert "d_k = <b>1024</b>" in html


@pytest.mark.parametrize("form", [{"power": "99"}, {"power": "x"}, {"heat": "nan"}, {"heat": "-5"}, {"heat": "1e999"}])
def test_sliders_are_held_within_their_range(form: dict[str, str]) -> None:
    numbers = re.findall(r'<td class="heat h(\d+)">', said("calculator/why", **form))
    assert numbers
    assert all(0 <= int(number) <= 10 for number in numbers)
