"""The HTML: one safe file in which each claim is marked where it stands."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_problems import DOCUMENT, KINDS, report, traces

from qkv.check.model import Claim, Report, Verdict
from qkv.judging.report import check_sheet
from qkv.reader.read import read_sheet
from qkv.render import html, mathml
from qkv.render.document import Kind, cut, places
from qkv.solution import Solution

VOID = {"meta", "br", "hr"}


class Balanced(HTMLParser):
    """Collects tags and attributes, and insists that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def assert_safe(page: str) -> None:
    """No script, nothing fetched, no handler, no link but to the page itself."""
    for tag, attributes in parsed(page).seen:
        assert tag not in ("script", "iframe", "img", "link", "object", "embed", "form", "base")
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "style", "action")
            assert name != "href" or (value or "").startswith("#")
            assert "url(" not in (value or "")
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_a_report_marks_each_claim_in_place() -> None:
    page = html.reports([report()])
    assert_safe(page)
    assert "One slip (line 5, cell (2,2)) explains 1 carried claim." in page
    assert re.search(r'<mtd class="cell wrong"><mn>18</mn></mtd>', page)
    assert re.search(r'<mtd class="cell carried"><mn>18</mn></mtd>', page)
    assert page.count('id="r0-c') == 6  # a badge for each claim
    assert '<a href="#r0-c2">follows from line 5</a>' in page


def test_nothing_of_the_document_is_executed() -> None:
    page = html.reports([report()])
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "sheet &lt;1&gt;.md" in page
    assert "one product &lt;was&gt; doubled" in page


def test_a_formula_that_does_not_convert_is_shown_as_its_source() -> None:
    assert r"<code>$\unknowncommand{A} = 7$</code>" in html.reports([report()])


@pytest.mark.parametrize(
    "attack",
    [
        r"\text{<script>alert(1)</script>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(http://x)}{x}",
        r"\class{claim wrong}{x}",
        r"\color{red;background:url(x)}{x}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\includegraphics{http://x}",
    ],
)
def test_formulas_cannot_smuggle_anything_in(attack: str) -> None:
    text = f"$$x = {attack}$$"
    page = html.reports([Report("x.md", (Claim(1, 1, 1, "x", attack, attack, Verdict.WRONG),), text)])
    assert_safe(page)
    assert 'class="claim wrong"' not in page.partition("</style>")[2].partition("<math")[2].partition("</math>")[0]


@settings(max_examples=150)
@given(st.text(alphabet="ab<>&\"'$\\[](){}|-#`~*_^=\n 1", max_size=120), st.integers(0, 8), st.integers(1, 9))
def test_any_document_gives_a_safe_page(text: str, line: int, column: int) -> None:
    claims = (Claim(1, line, line + 1, "Q", "a < b", "1", Verdict.WRONG, column=column),)
    assert_safe(html.reports([Report("x", claims, text)]))


def test_places_fall_back_from_column_to_text_to_line() -> None:
    text = "ab Q = 1\nQ = 1 and Q = 1\n  x  "
    claims = (
        Claim(1, 2, 2, "", "", "Q = 1", Verdict.RIGHT, column=11),
        Claim(2, 1, 1, "", "", "Q = 1", Verdict.RIGHT),
        Claim(3, 3, 3, "", "", "not there", Verdict.RIGHT),
        Claim(4, 99, 99, "", "", "beyond the end", Verdict.RIGHT),
    )
    found = places(text, claims)
    assert [text[slice(*found[k])] for k in (1, 2, 3, 4)] == ["Q = 1", "Q = 1", "x", "x"]
    assert found[1][0] == 19


def test_a_document_is_cut_into_blocks() -> None:
    kinds = [block.kind for block in cut(DOCUMENT + "\n```\n$not math$\n```\n").blocks]
    assert kinds == [Kind.HEADING, Kind.TEXT, Kind.TEXT, Kind.TABLE, Kind.TEXT, Kind.TEXT, Kind.VERBATIM]
    assert len(cut(DOCUMENT).formulas) == 5


MARKS = [
    "$",
    "$$",
    "\\[",
    "\\(",
    "```\n",
    "\\begin{align}",
    "|a|\n|-|\n",
    "# x\n",
    "[a ",
    "<!--",
    "*a ",
    "~~",
    "`a",
    "\\frac{",
]


@pytest.mark.parametrize("mark", MARKS)
def test_time_grows_with_the_size_only(mark: str) -> None:
    claims = (Claim(1, 1, 1, "", "", "1", Verdict.WRONG),)
    start = time.perf_counter()
    html.reports([Report("x.md", claims, mark * 30_000)])
    assert time.perf_counter() - start < 10  # a walk to the end for each mark would take minutes


@pytest.mark.parametrize("kind", KINDS)
def test_solutions_are_typeset(kind: str) -> None:
    page = html.solutions([Solution(tuple(traces(kind, "A <title>")), "x.md")])
    assert_safe(page)
    assert "A &lt;title&gt;" in page
    assert "<code>" not in page  # all of our own LaTeX converts


def test_weights_are_shaded() -> None:
    assert re.search(
        r'<mtd class="heat h10"><mn>0.982008</mn></mtd>', html.solution(Solution(tuple(traces("unscaled"))))
    )


def test_cells_are_found_by_what_they_show() -> None:
    root = mathml.tree(r"\begin{bmatrix} 1 & -2 \end{bmatrix} = \begin{bmatrix} 1 & -\infty \end{bmatrix}")
    assert root is not None
    assert len(mathml.find_cells(root, [(1, 2, "-2")])) == 1
    assert len(mathml.find_cells(root, [(1, 1, "1"), (1, 2, r"-\infty")])) == 2
    assert mathml.find_cells(root, [(1, 2, "3")]) == []
    assert mathml.find_cells(root, []) == []


def test_each_row_of_an_aligned_formula_has_a_tone_of_its_own() -> None:
    text = (
        "$X = [1, 0; 0, 1]$, $W = [1, 2; 0, 1]$\n\n\\begin{align*}\n"
        "Q &= X X = \\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix} \\\\\n"
        "K &= X W = \\begin{bmatrix} 1 & 2 \\\\ 0 & 5 \\end{bmatrix}\n\\end{align*}\n"
    )
    seen = parsed(html.body(check_sheet(read_sheet(text)))).seen
    rows = [str(attributes["class"]) for tag, attributes in seen if tag == "mtr" and "class" in attributes]
    assert rows == ["claim right", "claim wrong"]
    assert [str(a["class"]) for tag, a in seen if tag == "mtd" and "cell" in str(a.get("class"))] == ["cell wrong"]
    assert not any("display" in str(a.get("class")) and "wrong" in str(a.get("class")) for _, a in seen)
