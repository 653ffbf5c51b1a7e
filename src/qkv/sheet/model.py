"""What a document says, as data: statements in order, each with its place.

Sheet        all of a document
  Part       a stretch under one heading or question number
  Statement  one chain of relations (Q = X W^Q = [..] ≈ [..]), or one bare matrix, with the words around it
    Link     a relation and the expression to its right; the first link has no relation
  Question   a sentence that asks for something
  Unread     text that looked like mathematics and could not be read, and why
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from functools import cached_property

from qkv.errors import Location
from qkv.expr.nodes import Expr
from qkv.records import dataclass, record


class Relation(StrEnum):
    """How a link is tied to the one before it."""

    FIRST = ""
    EQUAL = "="
    APPROX = "≈"
    IMPLIES = "⇒"
    IN = "∈"  # Q ∈ R^{n×d}: a statement about a shape
    ARROW = "→"


class Origin(StrEnum):
    """Where a statement was written."""

    DISPLAY = "display"  # $$…$$, \\[…\\], align, …
    INLINE = "inline"  # $…$
    PLAIN = "plain"  # mathematics outside of any math delimiters
    TABLE = "table"  # a Markdown table or a plain grid
    CODE = "code"  # a Python-like fence: never run, only its literals are read


@record(frozen=True, slots=True)
class Link:
    """One expression of a chain. `note` is what stands beside it: an arrow to 'Input_1', a tick, a shape (2 × 3).
    `struck` marks a value crossed out by its author."""

    relation: Relation
    expr: Expr
    text: str
    at: Location
    struck: bool = False
    note: str = ""
    shapes: tuple[tuple[int, int], ...] = ()  # sizes printed in the margin, such as _{(2 × 3)}


@record(frozen=True, slots=True)
class Statement:
    """A chain of links. `before` is the prose between the statement before and this one (of the same part), `after` the
    rest of its own line; both plain text in the language of the document."""

    links: tuple[Link, ...]
    at: Location
    end_line: int
    text: str
    origin: Origin
    part: int  # index into Sheet.parts
    before: str = ""
    after: str = ""
    struck: bool = False
    continues: bool = False  # begins with a relation: goes on from the statement before
    row_label: str = ""  # for a table row of its own: the text of its label cell
    row_labels: tuple[str, ...] = ()  # for a column of vectors in a table: the texts of the label cells


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the document under one heading or question number."""

    title: str
    line: int
    end_line: int
    level: int = 1  # 1 for '#', 2 for '##' …; question numbers and bold headings rank below the last '#' heading


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence or list item that asks for something."""

    text: str
    line: int
    part: int


@dataclass(frozen=True, slots=True)
class Unread:
    """Text that could not be read, and why."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Repair:
    """Something that the reader mended, and why it may."""

    line: int
    found: str
    read_as: str
    reason: str


@dataclass(frozen=True)
class Sheet:
    """A document as understood."""

    file: str
    text: str = field(repr=False)
    parts: tuple[Part, ...]
    statements: tuple[Statement, ...]
    questions: tuple[Question, ...] = ()
    unread: tuple[Unread, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the document."""
        return self.text.splitlines()

    @cached_property
    def headings(self) -> frozenset[int]:
        """The lines that hold headings."""
        return frozenset(part.line for part in self.parts if part.title)
