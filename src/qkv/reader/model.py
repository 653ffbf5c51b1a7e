"""What a document says, as data: statements in order, each with its place.

Sheet        all of a document
  Part       a stretch under one heading or question number
  Statement  one chain of relations (Q = X W^Q = [..] ≈ [..]), or one bare value, with the words around it
    Link     a relation and the expression to its right; the first link of a chain has no relation
  Question   a sentence that asks for something
  Unread     text that looked like mathematics and could not be read, and why
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from qkv.errors import Location
from qkv.expr.nodes import Expr

if TYPE_CHECKING:
    from qkv.reader.maths.names import Names


class Relation(StrEnum):
    """How a link is tied to the one before it."""

    FIRST = ""
    EQUAL = "="
    APPROX = "≈"
    IMPLIES = "⇒"  # the next step follows
    IN = "∈"  # Q ∈ R^{n×d}: a statement about a shape
    ARROW = "→"  # 'next', not 'equals'


class Origin(StrEnum):
    """Where a statement was written."""

    DISPLAY = "display"  # $$…$$, \\[…\\], align, …
    INLINE = "inline"  # $…$
    PLAIN = "plain"  # mathematics outside of any math delimiters
    TABLE = "table"  # a Markdown table or a plain grid
    CODE = "code"  # a Python-like fence: never run, only its literals are read


@dataclass(frozen=True, slots=True)
class Link:
    """One expression of a chain.

    `alternatives` are other readings of the same text, the usual one being `expr`: b^2 a power or an index, PE(0) a
    call or a product, X[1] counted from 0 or from 1. `note` is what stands beside the expression: an arrow to
    'Input_1', a tick. `struck` marks a value that its author crossed out. `shapes` are sizes printed in the margin,
    such as _{(2 × 3)}. `units` are what the unit behind a number may multiply it with: 80.4M, 5.2 GB."""

    relation: Relation
    expr: Expr
    text: str
    at: Location
    struck: bool = False
    note: str = ""
    shapes: tuple[tuple[int, int], ...] = ()
    alternatives: tuple[Expr, ...] = ()
    units: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A chain of links with the words around it, all in the language of the document.

    label           the words on its own line, or in its own cell, before the first link: 'mean of row 1', 'Score 1'
    caption         the line or heading right above a table, a grid or a display that speaks of it
    before, after   the prose since the statement before, and the rest of its own line
    row_label       for a statement made of one row of a table: the text of its label cell
    row_labels      for a table or a grid: the texts of its label cells; `column_labels` are those of its head
    continues       it begins with a relation: it goes on from the statement before
    """

    links: tuple[Link, ...]
    at: Location
    end_line: int
    text: str
    origin: Origin
    part: int  # index into Sheet.parts
    before: str = ""
    after: str = ""
    label: str = ""
    caption: str = ""
    struck: bool = False
    continues: bool = False
    row_label: str = ""
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the document under one heading or question number."""

    title: str
    line: int
    end_line: int
    level: int = 1  # 1 for '#', 2 for '##' …; question numbers and bold headings rank below the last '#' heading


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence or list item that asks for something.

    `label` is its number as written: '(a)', '2.3'. `expr` is what it asks for, where a person told that beside the page
    in our own notation; `line` is 0 where that was on the command line."""

    text: str
    line: int
    part: int
    label: str = ""
    expr: Expr | None = None


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
    """A document as read."""

    file: str
    text: str = field(repr=False)
    parts: tuple[Part, ...]
    statements: tuple[Statement, ...]
    questions: tuple[Question, ...] = ()
    unread: tuple[Unread, ...] = ()
    repairs: tuple[Repair, ...] = ()
    lost: tuple[Unread, ...] = ()  # what the file holds that is no text, such as the pictures of a PDF
    told: tuple[Statement, ...] = ()  # what a person says beside the page, in a comment or on the command line (line 0)
    source: str = field(default="", repr=False, compare=False)  # the text, of a notebook its cells
    names: Names | None = field(
        default=None, repr=False, compare=False
    )  # the page's own table of names, for who reads more of it

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the document."""
        return self.text.splitlines()

    @cached_property
    def source_lines(self) -> list[str]:
        """The lines of the source."""
        return self.source.split("\n")
