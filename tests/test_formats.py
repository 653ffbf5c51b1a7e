"""Files that are no text: a PDF is read by its text layer, everything else gets a sentence that says what to do."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

import qkv
from qkv import cli, formats
from qkv.errors import MissingExtra, ReadError

SHEET = r"""
= Attention by hand
Let $Q = mat(1, 0; 1, 2; delim: "[")$, $K = mat(1, 1; 0, 2; delim: "[")$ and $V = mat(2, 0; 0, 4; delim: "[")$.

$ S = Q K^T = mat(1, 0; 2, 4; delim: "[") $
$ A = "softmax"(S / sqrt(2)) = mat(0.67, 0.33; 0.20, 0.80; delim: "[") $
"""
TALL = '$ W_Q = mat(1, 0; 0, 1; 1, 1; 2, 3; delim: "[") $'


def packed(name: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr(name, "x")
    return held.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("scan.jpg", b"\xff\xd8\xff\xe0" + bytes(40), "scan.jpg is a picture; a text recognition"),
        ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(40), "photo.png is a picture; a text recognition"),
        ("photo.heic", b"\0\0\0\x24ftypheic" + bytes(40), "photo.heic is a picture; a text recognition"),
        ("photo.webp", b"RIFF\x10\0\0\0WEBP" + bytes(40), "photo.webp is a picture; a text recognition"),
        ("week1.docx", packed("word/document.xml"), "week1.docx is a Word document; save it as PDF, Markdown or plain text (pandoc week1.docx -o week1.md)"),
        ("slides.pptx", packed("ppt/presentation.xml"), "slides.pptx is a PowerPoint document; save it"),
        ("cells.xlsx", packed("xl/workbook.xml"), "cells.xlsx is an Excel document; save it as text"),
        ("all.zip", packed("a.md"), "all.zip is packed; unpack it first"),
        ("old.doc", b"\xd0\xcf\x11\xe0" + bytes(40), "old.doc is an Office document; save it"),
        ("note.rtf", b"{\\rtf1 hello}", "note.rtf is a Rich Text document; save it"),
    ],
)  # fmt: skip
def test_one_sentence_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes, sentence: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert cli.status(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sentence in err.replace(f"{tmp_path}/", "")
    with pytest.raises(ReadError):
        qkv.read(path)


def test_text_stays_text() -> None:
    assert formats.text_of(b"Q = [1]", "x.md") == formats.Text("Q = [1]")


def test_without_pypdfium2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qkv.pdf_text.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"x.pdf is a PDF, and reading one needs pypdfium2; .*qkv\[pdf\]"):
        formats.text_of(b"%PDF-1.7 ...", "x.pdf")


@pytest.mark.peers
class TestPdf:
    """With pypdfium2, on files that Typst makes."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("pypdfium2")
        pytest.importorskip("typst")

    @staticmethod
    def pdf(tmp_path: Path, source: str, name: str = "sheet.pdf") -> Path:
        import typst

        path = tmp_path / name
        path.write_bytes(typst.compile(source.encode(), format="pdf"))
        return path

    def text(self, tmp_path: Path, source: str) -> str:
        return formats.text_of(self.pdf(tmp_path, source).read_bytes(), "sheet.pdf").text

    def test_matrices_fractions_and_powers_stay_what_they_are(self, tmp_path: Path) -> None:
        lines = self.text(tmp_path, SHEET).splitlines()
        assert "Attention by hand" in lines
        assert "𝑆 = 𝑄𝐾^{𝑇} =  [1 0; 2 4]" in lines
        assert "𝐴 = softmax ((𝑆)/(√(2)))  =  [0.67 0.33; 0.20 0.80]" in lines

    def test_brackets_made_of_pieces(self, tmp_path: Path) -> None:
        assert "[1 0; 0 1; 1 1; 2 3]" in self.text(tmp_path, TALL)

    def test_it_is_checked_as_the_page_that_it_is(self, tmp_path: Path) -> None:
        report = qkv.check(self.pdf(tmp_path, SHEET))
        assert {claim.name: claim.verdict.value for claim in report.claims} == {"S": "wrong", "A": "carried"}

    def test_what_was_lost_is_said(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        dots = '#image(bytes((255, 0, 0, 255) * 1), format: (encoding: "rgba8", width: 1, height: 1), width: 2cm)'
        path = self.pdf(tmp_path, SHEET + dots)
        assert cli.status(["check", str(path)]) == 1
        assert "page 1: 1 picture could not be read" in capsys.readouterr().out
        assert [item.reason for item in qkv.solve(path).unread][:1] == ["1 picture could not be read"]

    def test_a_scan(self, tmp_path: Path) -> None:
        dots = '#image(bytes((255, 0, 0, 255) * 1), format: (encoding: "rgba8", width: 1, height: 1), width: 12cm)'
        with pytest.raises(ReadError, match=r"is a scan: its pages are pictures without text; .*ocrmypdf"):
            qkv.check(self.pdf(tmp_path, dots))

    def test_an_empty_and_a_damaged_one(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match="is a PDF without text"):
            qkv.check(self.pdf(tmp_path, "#pagebreak()"))
        with pytest.raises(ReadError, match="cannot be opened: it is damaged, or has a password"):
            formats.text_of(b"%PDF-1.7\nnonsense", "x.pdf")

    def test_what_we_write_we_read(self, tmp_path: Path) -> None:
        slip = Path(__file__).resolve().parent.parent / "examples" / "two-heads.md"
        assert cli.status(["solve", str(slip), "-o", str(tmp_path / "key.pdf")]) == 0
        report = qkv.check(tmp_path / "key.pdf")
        assert report.is_clean
        assert report.summary["right"] + report.summary.get("rounded", 0) > 8
