"""Feedback on paper: what a hand-in says is words there too, and a page that cannot be set costs nobody any marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from qkv.errors import WriteError
from qkv.grading import one
from qkv.grading.model import DEFAULT
from qkv.grading.one import Setup, Submission, grade_one
from qkv.render import pdf, typst

S_RIGHT = "S = [[1, 2, 0], [2, 0, 2], [2, 2, 1]]"
HOSTILE = f'{S_RIGHT}\n\n#import "x": * and $5 `raw` ]; #panic() \\\\ <script>alert(1)</script> @ref // *a* _b_\n'


def graded(masked: str, text: str, name: str = "a.md") -> one.Graded:
    return grade_one(Setup(masked, "t.md", DEFAULT), Submission(name, text.encode(), on_paper=True))


def test_what_a_hand_in_says_is_never_a_command(masked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_pages: list[str] = []
    monkeypatch.setattr(pdf, "made", lambda title, body: set_pages.append(typst.document(title, body)) or b"%PDF")
    assert graded(masked, HOSTILE, 'a"]; #panic().md').pdf == b"%PDF"
    [page] = set_pages
    assert '#"#import \\"x\\": * and ' in page
    assert '"a\\"]; #panic().md' in page
    assert ".qkv .score{" not in page  # the style of the HTML is not printed


def test_a_page_that_cannot_be_set_costs_no_marks(masked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(title: str, body: str) -> bytes:
        if "could not be set" not in body:
            raise WriteError("Typst could not set the page")
        return b"%PDF without it"

    monkeypatch.setattr(pdf, "made", made)
    found = graded(masked, S_RIGHT)
    assert found.mark.earned[0].low == 2
    assert found.pdf == b"%PDF without it"


@pytest.mark.peers
def test_with_typst(masked: str, tmp_path: Path) -> None:
    pytest.importorskip("typst")
    pdfium = pytest.importorskip("pypdfium2")
    for text in (HOSTILE, "S = " + "[" * 300, "\x00\x01 S = [[1]]", "ᚠ ∑ 中文 😀 $\\frac{1}{" * 20):
        made = graded(masked, text).pdf
        assert made is not None
        assert len(pdfium.PdfDocument(made)) > 0
