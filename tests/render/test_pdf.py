"""Pages on paper: what Typst is given, and, where it is installed, what comes out."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from render_problems import KINDS, report, traces

from qkv import cli
from qkv.api import check, read_source, solve_sheet
from qkv.errors import MissingExtra
from qkv.render import html, pdf, typst
from qkv.render.options import DEFAULT
from qkv.render.targets import Target, reports, solutions
from qkv.render.typst_math import math
from qkv.solution import Solution

PDF = Target("pdf")
SLIP = Path(__file__).resolve().parent.parent.parent / "examples" / "slip.md"


def formula(latex: str) -> str:
    from qkv.render import mathml

    return math(fromstring(mathml.converted(latex, display=False) or ""))


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("A V", "$A V$"),
        (r"\frac{1}{2}", "$#math.frac($1$, $2$);$"),
        (r"\sqrt{d_k}", "$#math.sqrt($#math.attach($d$, b: $k$);$);$"),
        ("K^T", "$#math.attach($K$, t: $T$);$"),
        (r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}", '#math.mat(delim: "[", '),
        ("a - b", r"$a − b$"),
        (r"\text{cat}", '$#"cat";$'),
    ],
)  # fmt: skip
def test_formulas(latex: str, wanted: str) -> None:
    assert wanted in formula(latex)


def test_text_of_a_document_is_never_a_command() -> None:
    nasty = 'We #import "x", write `a`, $5 and "quotes" \\ and [brackets] ];'
    source = typst.document(nasty, f"<p>{nasty}</p>".replace("&", "&amp;"))
    assert '#"We #import \\"x\\", write `a`, $5 and \\"quotes\\" \\\\ and [brackets] ];";' in source


def test_marks_stand_where_they_stand_on_the_page() -> None:
    source = typst.document(*html.reported([check(SLIP)]))
    assert source.count("#row(") == source.count("#row([")
    assert "cell(tones.wrong, $3$)" in source
    assert source.count("cell(tones.carried, ") == 5
    assert source.count("#note(tones.") == 3


def test_weights_are_shaded() -> None:
    assert "heat(" in typst.document(*html.solved([Solution(tuple(traces("unscaled")), "x")]))


def test_without_typst_one_sentence_comes_before_the_work(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(pdf, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'qkv\[pdf\]'"):
        pdf.made("x", "<p>x</p>")
    monkeypatch.setattr("qkv.api.check_sheet", None)
    assert cli.status(["check", str(SLIP), "-o", "x.pdf"]) == 2
    assert "A PDF needs typst" in capsys.readouterr().err


@pytest.mark.peers
class TestSet:
    """With Typst."""

    @pytest.fixture(autouse=True)
    def _typst(self) -> None:
        pytest.importorskip("typst")

    @pytest.mark.parametrize("kind", KINDS)
    def test_solutions_of_every_kind(self, kind: str) -> None:
        assert solutions([Solution(tuple(traces(kind)), "x")], DEFAULT, PDF).startswith(b"%PDF")

    def test_every_verdict(self) -> None:
        assert reports([report()], DEFAULT, PDF).startswith(b"%PDF")

    @pytest.mark.parametrize("path", sorted(SLIP.parent.glob("sheets/*0-*.md")), ids=lambda path: path.stem)
    def test_examples(self, path: Path) -> None:
        sheet = read_source(path.read_text(encoding="utf-8"), path.name)
        assert reports([check(path)], DEFAULT, PDF).startswith(b"%PDF")
        assert solutions([Solution(solve_sheet(sheet).traces, path.name)], DEFAULT, PDF).startswith(b"%PDF")

    def test_the_name_tells_the_format(self, tmp_path: Path) -> None:
        target = tmp_path / "report.pdf"
        assert cli.status(["check", str(SLIP), "-o", str(target)]) == 1
        assert target.read_bytes().startswith(b"%PDF")

    def test_the_words_are_on_the_page(self, tmp_path: Path) -> None:
        pdfium = pytest.importorskip("pypdfium2")
        page = pdfium.PdfDocument(reports([check(SLIP)], DEFAULT, PDF))[0]
        words = page.get_textpage().get_text_range()
        assert "One slip (line 20, cell (2,3)) explains 2 carried claims." in words
        assert "1·1 + 3·1 = 4" in words
