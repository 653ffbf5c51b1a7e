"""From the bytes of a file to text: text itself, the text layer of a PDF, and for everything else a way out."""

from __future__ import annotations

from typing import NamedTuple

from qkv.errors import ReadError
from qkv.reader.model import Unread
from qkv.reader.read import decode

OCR = "a text recognition (such as ocrmypdf, or a phone's scanner) makes text of it"
WORD = "save it as PDF, Markdown or plain text (pandoc {file} -o {stem}.md)"
PICTURE = f"a picture; {OCR}, which qkv reads"
# How files that are no text begin, what they are, and what to do.
KINDS: tuple[tuple[bytes, str], ...] = (
    *((start, PICTURE) for start in (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"II*\0", b"MM\0*")),
    (b"\xd0\xcf\x11\xe0", f"an Office document; {WORD}"),
    (b"{\\rtf", f"a Rich Text document; {WORD}"),
    (b"\x1f\x8b", "packed; unpack it first"),
)
ARCHIVES = {
    b"word/": f"a Word document; {WORD}",
    b"ppt/": f"a PowerPoint document; {WORD}",
    b"xl/": "an Excel document; save it as text, or copy the cells into a .md file",
    b"opendocument": f"an OpenDocument file; {WORD}",
}


class Text(NamedTuple):
    """The text of a document, and what of the document is not in it."""

    text: str
    lost: tuple[Unread, ...] = ()


def text_of(data: bytes, file: str) -> Text:
    """The text of a file; one that holds none is refused with a sentence that says what to do."""
    if data.lstrip()[:5] == b"%PDF-":
        from qkv.pdf_text import pdf_text

        text, lost = pdf_text(data, file)
        return Text(text, lost)
    kind = _kind(data)
    if kind is not None:
        stem = file.rpartition(".")[0] or file
        raise ReadError(f"{file or 'the document'} is {kind.format(file=file, stem=stem)}")
    return Text(decode(data, file))


def _kind(data: bytes) -> str | None:
    """What a file is that is no text, and what to do with it."""
    if data.startswith(b"PK\x03\x04"):
        return next((says for mark, says in ARCHIVES.items() if mark in data[:200_000]), "packed; unpack it first")
    if data[4:8] == b"ftyp" or (data.startswith(b"RIFF") and data[8:12] == b"WEBP"):
        return PICTURE
    return next((says for start, says in KINDS if data.startswith(start)), None)
