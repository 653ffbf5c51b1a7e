"""The forms that a document takes on its way to a Sheet: blocks of lines, stretches of tokens, and events in order."""

from __future__ import annotations

from typing import NamedTuple

from qkv.errors import Location
from qkv.reader.chain import Chain
from qkv.reader.limits import DEFAULT, Limits
from qkv.reader.maths.names import Names
from qkv.reader.maths.numerals import Comma
from qkv.reader.maths.tokens import Token
from qkv.reader.model import Link, Origin, Unread


class Cell(NamedTuple):
    """The text of a cell and where it begins."""

    text: str
    line: int
    column: int

    @property
    def at(self) -> Location:
        return Location(self.line, self.column)


# — blocks: what lines are —


class Title(NamedTuple):
    """A heading. `rank` is its level for '#' headings; 0 for a problem number, -1 for what divides a problem."""

    text: str
    line: int
    rank: int
    word: str = ""
    source: str = ""  # the whole line, where the heading holds mathematics


class Paragraph(NamedTuple):
    """Lines of prose and mathematics; column 1 of the text is column 1 of the file."""

    text: str
    line: int


class Fence(NamedTuple):
    """A fenced block: its language (may be empty), its body, and the code that printed it if it is an output."""

    language: str
    text: str
    line: int
    code: str = ""


class Rows(NamedTuple):
    """Cells in rows, from a table or a grid. `heads` are the cells above the columns, `labels` those before
    the rows, `corner` the cell where they meet, `name` what is said to be this grid ('E =')."""

    body: tuple[tuple[Cell, ...], ...]
    line: int
    end_line: int
    heads: tuple[Cell, ...] = ()
    labels: tuple[Cell, ...] = ()
    corner: Cell | None = None
    name: Cell | None = None


Block = Title | Paragraph | Fence | Rows


# — stretches: what is read with the table of names —


class Stretch(NamedTuple):
    """A paragraph as tokens: its text without markup, the tokens, and where each kind of mathematics begins."""

    text: str
    line: int
    tokens: tuple[Token, ...]
    origins: tuple[tuple[int, Origin], ...]  # offsets from which on the text is of an origin


class Page(NamedTuple):
    """What the second pass knows: the table of names, what commas are, and how much may be asked."""

    names: Names
    comma: Comma = Comma.UNTOLD
    limits: Limits = DEFAULT


# — events: what blocks say —


class Said(NamedTuple):
    """Words, or mathematics that states nothing, as part of the running text."""

    text: str
    line: int


class Mention(NamedTuple):
    """A name or formula that ends a line of words: what stands below may be its value."""

    links: tuple[Link, ...]
    line: int


class Stated(NamedTuple):
    """A chain that was read, with what its own block says of it."""

    chain: Chain
    origin: Origin
    label: str = ""
    struck: bool = False
    row_label: str = ""
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()
    whole: bool = False  # it is a block of its own, which a line above may name


class Titled(NamedTuple):
    """A heading with its level; the words of a minor one count as words before what follows."""

    title: str
    line: int
    level: int
    minor: bool


class Asked(NamedTuple):
    """A sentence that asks, with its number as written."""

    text: str
    line: int
    label: str = ""


Event = Said | Mention | Stated | Titled | Asked | Unread
