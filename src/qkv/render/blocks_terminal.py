"""Headings, paragraphs and tables in the terminal; apart from the blocks, which need no rich."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from qkv.render import blocks


def terminal(shown: Iterable[blocks.Block]) -> Group:
    """The blocks as a rich renderable."""
    parts: list[RenderableType] = []
    for block in shown:
        match block:
            case blocks.Heading(text):
                parts += [Text(text, style="bold"), Text()]
            case blocks.Paragraph(text):
                parts += [Text(text), Text()]
            case blocks.Table():
                parts += [_table(block), Text()]
    return Group(*parts[:-1])


def _table(block: blocks.Table) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=block.title or None, title_justify="left", title_style="bold")
    for place, header in enumerate(block.headers):
        table.add_column(header, justify="right" if place in block.right else "left", overflow="fold")
    for place, row in enumerate(block.rows):
        table.add_row(*(Text(cell) for cell in row), style="bold" if place in block.strong else None)
    return table
