"""TEXT → SHEET: a document as people write it, read into statements with their places.

file ──bytes──▶ text ──segments──▶ blocks ──prose, tables, code──▶ events ──draft──▶ Sheet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from qkv.errors import ReadError
from qkv.expr.late import late
from qkv.sheet.code import read_code
from qkv.sheet.cues import questions
from qkv.sheet.draft import Asked, Event, Stated, Titled, assemble
from qkv.sheet.headings import PROBLEM
from qkv.sheet.limits import DEFAULT, Limits, check_size
from qkv.sheet.model import Sheet
from qkv.sheet.notation import EVERYWHERE
from qkv.sheet.notebook import is_notebook, notebook_text
from qkv.sheet.numerals import comma_of_document, with_digits
from qkv.sheet.outputs import with_outputs
from qkv.sheet.prose import read_paragraph
from qkv.sheet.reading import Reading, defined_words
from qkv.sheet.segments import Drawn, Fence, Paragraph, Rows, Title, blocks
from qkv.sheet.tables import read_rows
from qkv.sheet.tex import is_tex, plain_tex

_EVERYWHERE = late(f"[{''.join(EVERYWHERE)}]")  # few documents hold one: str.translate would look each character up


def read_file(path: str | Path, limits: Limits = DEFAULT) -> Sheet:
    """Read a .md, .txt, .tex or .ipynb file; any other name is read as text."""
    place = Path(path)
    try:
        data = place.read_bytes()
    except OSError as problem:
        raise ReadError(f"{place} cannot be read: {problem.strerror or problem}") from problem
    return read_sheet(decode(data, str(place)), str(place), limits)


def read_sheet(text: str, file: str = "", limits: Limits = DEFAULT) -> Sheet:
    """Read a document.

    >>> sheet = read_sheet("# Exercise 1\\n\\n$$Q = [1, 2]$$")
    >>> sheet.parts[0].title
    'Exercise 1'
    """
    check_size(text, limits)
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    source = text
    if is_notebook(text, file):
        source = notebook_text(text)
    if is_tex(source, file):
        source = plain_tex(source, limits)
    if not source.isascii():
        source = _EVERYWHERE.sub(lambda found: EVERYWHERE[found[0]], source)
    source = with_digits(source)
    reading = Reading(limits, comma_of_document(source), defined_words(source))
    return assemble(chain.from_iterable(_events(source, reading)), file, text)


def decode(data: bytes, file: str = "") -> str:
    """Text from bytes: UTF-8 (with or without a mark), UTF-16 with a mark, else Latin-1; a binary file is refused.

    >>> decode("é".encode("latin-1")), decode("é".encode("utf-16"))
    ('é', 'é')
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:65536]:
        raise ReadError(f"{file or 'the document'} is not text: it holds zero bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _events(text: str, reading: Reading) -> Iterator[Iterable[Event]]:
    """The events of one block after the other."""
    levels = _Levels()
    for block in with_outputs(blocks(text)):
        match block:
            case Title():
                yield (Titled(block.text, block.line, levels.level(block), minor=block.rank < PROBLEM),)
                yield [Asked(text, block.line) for text, _ in questions(block.text)]
                if block.source:
                    yield [e for e in read_paragraph(block.source, block.line, reading) if isinstance(e, Stated)]
            case Paragraph():
                yield read_paragraph(block.text, block.line, reading)
            case Rows():
                yield read_rows(block, reading)
            case Drawn():
                for part in block.parts:
                    yield read_rows(part, reading)
            case Fence():
                yield read_code(block, reading)


class _Levels:
    """Levels of headings: '#' headings say theirs; a problem number ranks below the last '#' heading, or with the one
    that began with the same word ('## Exercise 1', then '**Exercise 2**'); steps rank below problems."""

    def __init__(self) -> None:
        self.marked = 0
        self.words: dict[str, int] = {}

    def level(self, title: Title) -> int:
        """The level of the next heading."""
        if title.rank > 0:
            self.marked = title.rank
            self.words[title.word] = title.rank
            return title.rank
        below = self.marked + 1
        if title.rank == PROBLEM:
            return self.words.setdefault(title.word, below) if title.word else below
        return below + 1
