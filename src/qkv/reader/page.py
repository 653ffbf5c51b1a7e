"""The forms that a document takes on its way to a Sheet: blocks of lines, stretches of tokens, and events in order."""

from __future__ import annotations

from dataclasses import dataclass

from qkv.errors import Location
from qkv.reader.chain import Chain
from qkv.reader.limits import DEFAULT, Limits
from qkv.reader.maths.names import Names
from qkv.reader.maths.numerals import Comma
from qkv.reader.maths.tokens import Token
from qkv.reader.model import Link, Origin, Unread


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell and where it begins."""

    text: str
    line: int
    column: int

    @property
    def at(self) -> Location:
        return Location(self.line, self.column)


# — blocks: what lines are —


@dataclass(frozen=True, slots=True)
class Title:
    """A heading. `rank` is its level for '#' headings; 0 for a problem number, -1 for what divides a problem."""

    text: str
    line: int
    rank: int
    word: str = ""
    source: str = ""  # the whole line, where the heading holds mathematics


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines of prose and mathematics; column 1 of the text is column 1 of the file."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its language (may be empty), its body, and the code that printed it if it is an output."""

    language: str
    text: str
    line: int
    code: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
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


@dataclass(frozen=True, slots=True)
class Stretch:
    """A paragraph as tokens: its text without markup, the tokens, and where each kind of mathematics begins."""

    text: str
    line: int
    tokens: tuple[Token, ...]
    origins: tuple[tuple[int, Origin], ...]  # offsets from which on the text is of an origin


@dataclass(frozen=True, slots=True)
class Page:
    """What the second pass knows: the table of names, what commas are, and how much may be asked."""

    names: Names
    comma: Comma = Comma.UNTOLD
    limits: Limits = DEFAULT


# — events: what blocks say —


@dataclass(frozen=True, slots=True)
class Said:
    """Words, or mathematics that states nothing, as part of the running text."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or formula that ends a line of words: what stands below may be its value."""

    links: tuple[Link, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Stated:
    """A chain that was read, with what its own block says of it."""

    chain: Chain
    origin: Origin
    label: str = ""
    struck: bool = False
    row_label: str = ""
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()
    whole: bool = False  # it is a block of its own, which a line above may name


@dataclass(frozen=True, slots=True)
class Titled:
    """A heading with its level; the words of a minor one count as words before what follows."""

    title: str
    line: int
    level: int
    minor: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence that asks, with its number as written."""

    text: str
    line: int
    label: str = ""


Event = Said | Mention | Stated | Titled | Asked | Unread
