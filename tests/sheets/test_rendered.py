"""Every example in every form: nothing fails, nothing internal shows, nothing is wider than the screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import qkv
from qkv.check.model import Report
from qkv.render.options import Depth, Options
from qkv.render.targets import Target, readings, reports, solutions
from qkv.solution import Solution

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENTS = sorted(path for end in ("md", "tex", "txt", "ipynb") for path in EXAMPLES.rglob(f"*.{end}"))
FORMS = ("terminal", "markdown", "latex", "html", "json")
WIDTH = 90
INTERNAL = re.compile(r"§|\bnan\b|\bNone\b|\bobject at 0x|\[ *\] *$", re.MULTILINE)


def rendered(form: str, solution: Solution, report: Report) -> str:
    target = Target(form, WIDTH)
    depths = Depth if form == "terminal" else (Depth.NORMAL,)
    worked = [solutions([solution], Options(depth), target) for depth in depths]
    return "\n".join(map(str, (*worked, reports([report], Options(), target))))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_shows_in_every_form(path: Path) -> None:
    sheet = qkv.read(path)
    solution, report = sheet.solve(), sheet.check()
    texts = {form: rendered(form, solution, report) for form in FORMS}
    assert not [found for text in texts.values() for found in INTERNAL.findall(text)]
    shown = texts["terminal"] + readings([sheet.understand()], Target("terminal", WIDTH))
    assert [line for line in shown.splitlines() if len(line) > WIDTH and "--let" not in line] == []


@pytest.mark.parametrize(
    "text",
    [
        "The attention weights are $A = softmax([1, 2] [3; 4])$. Compute $A$.",  # a number, though a matrix stands in it
        "$q_1 = [1, 2]$, $k_1 = [1, 1]$, $z_{1,i} = q_1 k_i^T$\n\nShow that $Q K^T$ holds all $z_{i,j}$.",
    ],
)
def test_a_small_document_shows_in_every_form(text: str) -> None:
    sheet = qkv.read(text)
    for form in FORMS:
        assert not INTERNAL.findall(rendered(form, sheet.solve(), sheet.check()))
