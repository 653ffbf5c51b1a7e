"""Headings, paragraphs and tables: what the theory commands print, and how Markdown prints them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Heading:
    """A title."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or two."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers; `strong` marks rows to stand out (totals)."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    right: tuple[int, ...] = ()  # columns of numbers, aligned to the right
    strong: frozenset[int] = field(default_factory=frozenset)


Block = Heading | Paragraph | Table


def markdown(blocks: Iterable[Block]) -> str:
    """The blocks in Markdown."""
    parts = []
    for block in blocks:
        match block:
            case Heading(text):
                parts.append(f"## {text}")
            case Paragraph(text):
                parts.append(_escaped(text))
            case Table():
                parts.append(_markdown_table(block))
    return "\n\n".join(parts) + "\n"


def _markdown_table(block: Table) -> str:
    rule = ["---:" if place in block.right else "---" for place in range(len(block.headers))]
    rows = [[f"**{cell}**" if k in block.strong and cell else cell for cell in row] for k, row in enumerate(block.rows)]
    lines = ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in ([*block.headers], rule, *rows)]
    return (f"**{block.title}**\n\n" if block.title else "") + "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")


EIGHTHS = " ▏▎▍▌▋▊▉"  # of a character


def bar(value: float, largest: float, width: int = 24) -> str:
    """A bar of up to `width` characters, to an eighth of one.

    >>> bar(3, 4, 4), bar(0, 4, 4)
    ('███', '')
    """
    if not largest > 0 or not value > 0:
        return ""
    eighths = round(min(value / largest, 1) * width * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()
