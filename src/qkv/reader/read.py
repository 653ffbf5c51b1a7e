"""TEXT → SHEET: a document as people write it, read into statements with their places.

text ──blocks──▶ blocks ──spans──▶ tokens ──names──▶ the page's table ──prose, tables, code──▶ events ──▶ Sheet

Nothing is read as mathematics before the table of names is made from the whole page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from qkv.errors import ReadError
from qkv.reader.assemble import assemble
from qkv.reader.blocks import blocks
from qkv.reader.cells import bare
from qkv.reader.dumped import blocks_of
from qkv.reader.fences.code import csv_rows, kind_of, names_in_code, read_output, read_python
from qkv.reader.fences.outputs import with_outputs
from qkv.reader.fences.python import Assigned
from qkv.reader.headings import PROBLEM
from qkv.reader.latex import is_tex, with_accents
from qkv.reader.limits import DEFAULT, Limits, check_size
from qkv.reader.maths.lexer import tokens_of
from qkv.reader.maths.names import is_symbol, names_of
from qkv.reader.maths.numerals import Comma, comma_in, comma_of_page, has_points
from qkv.reader.maths.tokens import Token
from qkv.reader.model import Origin, Sheet
from qkv.reader.notebook import is_notebook, notebook_text
from qkv.reader.page import Block, Event, Fence, Page, Paragraph, Rows, Stated, Stretch, Title, Titled
from qkv.reader.prose import read_paragraph, read_stretch
from qkv.reader.questions import questions
from qkv.reader.source import plain_source
from qkv.reader.spans import stretch_of
from qkv.reader.tables import read_rows
from qkv.reader.told import Told, told_in, with_told
from qkv.regex import regex


def read_file(path: str | Path, limits: Limits = DEFAULT, told: Sequence[Told] = ()) -> Sheet:
    """Read a .md, .txt, .tex or .ipynb file; any other name is read as text."""
    place = Path(path)
    try:
        data = place.read_bytes()
    except OSError as problem:
        raise ReadError(f"{place} cannot be read: {problem.strerror or problem}") from problem
    return read_sheet(decode(data, str(place)), str(place), limits, told)


def read_sheet(text: str, file: str = "", limits: Limits = DEFAULT, told: Sequence[Told] = ()) -> Sheet:
    """Read a document; `told` is what a person says beside it.

    >>> sheet = read_sheet("# Exercise 1\\n\\n$$Q = [1, 2]$$")
    >>> sheet.parts[0].title
    'Exercise 1'
    """
    check_size(text, limits)
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    text = with_accents(text) if is_tex(text, file) else text
    cells = notebook_text(text) if is_notebook(text, file) else text
    comments, laid_out = told_in(cells)
    source = plain_source(laid_out, file, limits)
    comma = comma_of_page(source)
    prepared = [_Prepared(block, _stretch(block, comma)) for block in _opened(with_outputs(blocks_of(source)))]
    words = [word for item in prepared if isinstance(item.block, Fence) for word in names_in_code(item.block)]
    words += _titles_of_grids(prepared)
    words += [
        word for item in prepared if isinstance(item.block, Paragraph) for word in _ENDING.findall(item.block.text)
    ]
    streams = (stream for item in prepared for stream in _streams(item))
    names = names_of(streams, comma, words, (*_captions(prepared), *_LINE_LABEL.findall(source)))._replace(
        points=has_points(source)
    )
    shown = (
        text if text.count("\n") >= cells.count("\n") else cells
    )  # a notebook without line breaks counts in its cells
    sheet = assemble(_events(prepared, Page(names, comma, limits)), file, shown)
    sheet = replace(sheet, names=names, source=cells)
    return with_told(sheet, (*told, *comments))


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


# — the first pass: tokens —


class _Prepared(NamedTuple):
    """A block, and its tokens if it is read as running text."""

    block: Block
    stretch: Stretch | None = None


def _opened(found: Iterator[Block]) -> Iterator[Block]:
    """Blocks with fences of plain text and of comma-separated values laid open."""
    for block in found:
        kind = kind_of(block) if isinstance(block, Fence) and not block.code else ""
        if isinstance(block, Fence) and kind == "csv":
            yield csv_rows(block)
        elif isinstance(block, Fence) and kind == "plain":
            for inner in blocks(block.text, block.line):
                comment = isinstance(inner, Title) and inner.rank > PROBLEM and block.language not in _MARKDOWN
                yield Paragraph(inner.text, inner.line) if comment and isinstance(inner, Title) else inner
        else:
            yield block


_MARKDOWN = frozenset({"markdown", "md"})  # elsewhere '# Mean' in a fence is a comment and begins no chapter


_SECTION = regex(r"^\d+(?:\.\d+)+\.?(?=\s+[^\W\d])")  # '4.2 Scores': the number of a section is no value


def _stretch(block: Block, comma: Comma) -> Stretch | None:
    if isinstance(block, Paragraph):
        return stretch_of(block.text, block.line, comma)
    if isinstance(block, Title) and block.source:
        said = _SECTION.sub("", block.source.lstrip("# "))
        return stretch_of(said.rjust(len(block.source)), block.line, comma)
    if isinstance(block, Fence) and kind_of(block) == "math":
        tokens = tokens_of(block.text, comma=comma_in(block.text, comma))
        return Stretch(block.text, block.line, tuple(tokens), ((0, Origin.DISPLAY),))
    return None


def _streams(item: _Prepared) -> Iterator[Sequence[Token]]:
    """The tokens of a block that may define names."""
    if item.stretch is not None:
        yield item.stretch.tokens
    if isinstance(item.block, Rows):
        rows = item.block
        for cell in (*rows.heads, *rows.labels, *(c for c in (rows.corner, rows.name) if c)):
            yield tokens_of(bare(cell.text), strict="$" in cell.text or "\\" in cell.text)
        for cell in (cell for row in rows.body for cell in row if "=" in cell.text):
            yield tokens_of(bare(cell.text), strict="$" in cell.text or "\\" in cell.text)


_LINE_LABEL = regex(  # the word before a vector of a list or a table: 'cats -> [1, 0]'
    r"(?m)^[ \t]*(?:[-*+•|][ \t]*)?[*_\"“'`]{0,2}([^\W\d_]{2,})[*_\"”'`]{0,2}[ \t]*(?:-+>|→|:|\||\t)[ \t]*"
    r"[`$]?[\[(][ \t]*[-−]?\d"
)


def _captions(prepared: Sequence[_Prepared]) -> Iterator[str]:
    """The last words of lines that stand right above something: 'Weights of the queries moss:', 'Tokens pebble_1:'."""
    for item in prepared:
        if item.stretch is not None and isinstance(item.block, Paragraph):
            *above, last = item.stretch.text.rstrip().split("\n")
            for line in (*(line for line in above if line.rstrip().endswith(":")), last):  # above bullets, or a block
                said = re.sub(r"\s+\([^()]*\)\s*(?=:?\s*$)", "", line)
                if found := re.search(r"([^\W\d_]+)(?:_\{?\d+)?[}$`*:\s]*$", said):
                    yield found[1]


_ENDING = regex(  # the word that is all of a formula at the end of a line: 'Weights of the values $\\text{moss}$:'
    r"(?m)\$\s*\\(?:text|math(?:rm|it|bf|sf))\s*\{\s*([^\W\d_]{2,})\s*\}\s*\$[*_]*:[ \t]*$"
)


def _titles_of_grids(prepared: Sequence[_Prepared]) -> Iterator[str]:
    """The symbols that stand alone above rows of numbers: 'Wq:'."""
    for above, below in pairwise(prepared):
        if isinstance(above.block, Paragraph) and isinstance(below.block, Rows):
            title = above.block.text.rstrip().rpartition("\n")[2].strip(" *_:`$")
            if len(title) > 1 and is_symbol(title):
                yield title


# — the second pass: events —


def _events(prepared: Sequence[_Prepared], page: Page) -> Iterator[Event]:
    """The events of one block after the other."""
    levels, assigned = _Levels(), Assigned()
    for item in prepared:
        block, stretch = item.block, item.stretch
        match block:
            case Title():
                yield Titled(block.text, block.line, levels.level(block), minor=block.rank < PROBLEM)
                if block.rank >= PROBLEM or block.text.endswith("?"):
                    yield from questions(block.text, block.line)
                if stretch is not None:
                    yield from (event for event in read_stretch(stretch, page) if isinstance(event, Stated))
            case Paragraph() if stretch is not None:
                yield from read_paragraph(block, stretch, page)
            case Rows():
                yield from read_rows(block, page)
            case Fence():
                yield from _fence_events(block, stretch, page, assigned)


def _fence_events(block: Fence, stretch: Stretch | None, page: Page, assigned: Assigned) -> Iterator[Event]:
    if told := read_output(block, page, assigned):
        yield from told
    elif stretch is not None:
        yield from read_stretch(stretch, page)
    elif not block.code:
        yield from read_python(block, page, assigned)
    else:
        inner = _opened(iter([block._replace(code="")]))
        yield from _events([_Prepared(part, _stretch(part, page.comma)) for part in inner], page)


class _Levels:
    """Levels of headings: '#' headings say theirs; a problem number ranks below the last '#' heading, or with the
    one that began with the same word ('## Exercise 1', then '**Exercise 2**'); steps rank below problems."""

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
