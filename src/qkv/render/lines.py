"""Paragraphs in the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.text import Text


def hanging(head: str, body: str, width: int, style: str = "") -> Iterator[Text]:
    """A paragraph whose further lines stand below its body.

    >>> [line.plain for line in hanging("note: ", "two words", 10)]
    ['note: two', '   words']
    """
    indent = " " * min(len(head), width // 3)
    for line in textwrap.wrap(head + body, width, subsequent_indent=indent, break_on_hyphens=False):
        yield Text(line, style=style)
