"""Costs on the page: the figures are those of `qkv.theory.cost`, the plots hold what they say."""

from __future__ import annotations

import re

import pytest
from markup import text, tree

from qkv.page.costs import LARGEST, MODELS, SLIDERS, _link, counted
from qkv.page.plot import Axis, Curve, Rule, Share, bar, plot, short
from qkv.page.respond import respond
from qkv.theory.cost import cost
from qkv.theory.polynomial import number
from qkv.theory.sizes import Convention, all_together

START = {name: slider.start for name, slider in SLIDERS.items()}


def said(**form: object) -> str:
    answer = respond("costs", {name: str(value) for name, value in form.items()})
    assert isinstance(answer.body, str)
    return answer.body


def exact(html: str) -> list[int]:
    """The figures at the top, with all their digits."""
    return [int(found.replace(",", "")) for found in re.findall(r'<dd title="([\d,]+) ', html)]


@pytest.mark.parametrize("biases", [{}, {"biases": "yes"}])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_the_figures_are_those_of_the_theory(biases: dict[str, str], width: int) -> None:
    kind = "model-with-biases" if biases else "model"
    known = cost(kind, convention=Convention.FLOPS, sizes=START)
    wanted = [number(known.parameters), number(all_together(known.total))]
    wanted += [width * (number(size) or 0) for size in (known.kv_cache, known.stored)]
    assert exact(said(bytes=width, **biases)) == wanted


def test_gpt_2_has_as_many_parameters_as_it_has() -> None:
    """124,439,808 are published; 1,024 positions of width 768 are in a table that this count leaves out."""
    assert exact(said(**START, biases="yes"))[0] == 124_439_808 - 1024 * 768


def test_the_crossing_is_at_twice_the_width() -> None:
    assert "n = 2d = <b>1,536</b>" in said()
    assert "<b>1,024</b>" in said(kv_heads=4)  # n = (1 + g/h) d


def test_fewer_keys_and_values_make_a_smaller_cache() -> None:
    assert exact(said())[2] == 3 * exact(said(kv_heads=4))[2]


def test_the_parts_of_the_parameters_make_the_whole() -> None:
    shares = [float(part) for part in re.findall(r"(\d+)%</li>", said(biases="yes"))]
    assert len(shares) == 3
    assert abs(sum(shares) - 100) <= 1


@pytest.mark.parametrize(
    "form", [{}, {"n": 1}, {"n": LARGEST}, {"d": 1, "h": 1, "kv_heads": 1}, {"layers": 1, "words": 1}]
)
def test_every_size_can_be_drawn(form: dict[str, int]) -> None:
    root = tree(said(**form))
    drawn = root.findall(".//svg")
    assert len(drawn) == 3
    assert all(each.get("aria-label") for each in drawn)
    points = [float(x) for line in root.iter("polyline") for x in re.split("[ ,]", line.get("points", ""))]
    assert all(0 <= point <= 600 for point in points)
    marks = [(float(mark.get("cx", "-1")), float(mark.get("cy", "-1"))) for mark in root.iter("circle")]
    assert all(0 <= x <= 600 and 0 <= y <= 340 for x, y in marks)


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"d": "770"}, "cannot be cut into 12 heads"),
        ({"kv_heads": "5"}, "cannot share 5"),
        ({"n": "0"}, "a whole number from 1"),
        ({"n": "-3"}, "a whole number from 1"),
        ({"n": "<b>"}, "a whole number from 1"),
        ({"n": "9" * 400}, "a whole number from 1"),
        ({"layers": ""}, "a whole number from 1"),
    ],
)
def test_sizes_that_make_no_sense_are_said(form: dict[str, str], says: str) -> None:
    html = said(**form)
    assert html.startswith('<p class="summary none">')
    assert says in html


def test_the_page_opens_with_the_costs_of_its_sliders() -> None:
    page = respond("costs.html", {}).body
    assert isinstance(page, str)
    inside = counted({"biases": "yes"}).body
    assert isinstance(inside, str)
    assert inside in page
    assert all(_link(sizes) in page.replace("&amp;", "&") for sizes in MODELS.values())


def test_a_plot_has_its_words() -> None:
    axis = Axis("from here", 1, 100, ((1, "one"), (100, "a < hundred")))
    root = tree(plot("What it shows", axis, axis, [Curve("a line", "warm", [(1, 1), (100, 100)])], [Rule(10, "here")]))
    words = {text(each) for each in root.iter("text")}
    assert words == {"one", "a < hundred", "from here", "here"}
    line = root.find(".//polyline")
    assert line is not None
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in line.get("points", "").split())
    assert x1 < x2
    assert y1 > y2


def test_a_bar_is_as_long_as_its_shares() -> None:
    widths = [
        float(rect.get("width", "0")) for rect in tree(bar("", [Share("a", "", 1), Share("b", "", 3)])).iter("rect")
    ]
    assert abs(widths[1] / widths[0] - 3) < 0.1


@pytest.mark.parametrize(
    ("count", "says"), [(0, "0"), (999, "999"), (1000, "1 k"), (999_999, "1000 k"), (37_748_736, "37.7 M")]
)
def test_counts_as_people_say_them(count: int, says: str) -> None:
    assert short(count) == says
