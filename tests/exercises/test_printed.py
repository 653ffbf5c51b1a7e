"""Sheets on paper: what Typst is given, and, where it is installed, what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from click.testing import CliRunner

from qkv.cli import app
from qkv.exercises import printed, written
from qkv.exercises.draw import exercise
from qkv.exercises.files import documents
from qkv.render import pdf, typst
from qkv.render.marked import unmarked

HOSTILE = '#import "x": * $5 `a` <b>&amp; ]; \\ #panic() \x00 \ud800 =HYPERLINK(1) @ref //'


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "zh"])
def test_a_blank_sheet_has_a_matrix_to_fill_in_for_each_question(language: str) -> None:
    made = exercise("masked", 3, 4, language)
    page = fromstring(f"<main>{''.join(printed.body(made))}</main>")
    blanks = [(each.get("data-rows"), each.get("data-columns")) for each in page.iter("div") if each.get("data-rows")]
    assert blanks == [(str(len(q.answer)), str(len(q.answer[0]))) for q in made.questions]
    words = "".join(page.itertext())
    assert written.title(made) in words
    assert made.words.mask in words
    assert not any(cell in words for q in made.questions[6:] for row in q.answer for cell in row if "." in cell)


def test_the_name_of_a_student_is_never_a_command() -> None:
    source = typst.document("x", "\n".join(printed.body(exercise("given", 1, 1), HOSTILE)))
    [name] = [line for line in source.split("#block[") if "#import" in line]
    assert name.startswith('#"Name: #import \\"x\\": * $5 `a` <b>&amp; ]; \\\\ #panic()')


def test_keys_and_schemes_are_set_with_their_formulas() -> None:
    made = exercise("multi-head", 4, 2)
    for text in (written.key(made), written.scheme(made), written.slip_sheet(made)):
        page = fromstring(f"<main>{unmarked(text)}</main>")
        assert len(list(page.iter("math"))) >= text.count("$$") // 2
        assert "begin{bmatrix}" not in "".join(page.itertext())


def test_without_typst_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["practice", "--out", str(tmp_path / "a"), "--format", "md,pdf"])
    assert "pip install 'qkv[pdf]'" in str(done.exception)
    assert not (tmp_path / "a").exists()


@pytest.mark.peers
class TestSet:
    """With Typst."""

    @pytest.fixture(autouse=True)
    def _typst(self) -> Iterator[None]:
        pytest.importorskip("typst")
        return iter(())

    def test_the_same_seed_gives_the_same_bytes(self) -> None:
        one, two = (dict(documents(exercise("self", 2, 3), "a", ("pdf",), slips=False)) for _ in range(2))
        assert one == two
        assert set(one) == {"a.pdf", "a-key.pdf", "a-scheme.pdf"}

    def test_hostile_words_are_words_on_paper(self) -> None:
        pdfium = pytest.importorskip("pypdfium2")
        page = pdfium.PdfDocument(printed.sheet(exercise("given", 1, 1), HOSTILE))[0]
        assert '#import "x": * $5 `a` <b>&amp; ];' in page.get_textpage().get_text_range()

    def test_find_the_slip(self) -> None:
        made = dict(documents(exercise("masked", 3, 1), "a", ("pdf",), slips=True))
        assert set(made) == {"a.pdf", "a-key.pdf"}
        assert all(isinstance(page, bytes) and page.startswith(b"%PDF") for page in made.values())
