"""Arrays that stand side by side over several lines, as columns of their own that keep their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from qkv.reader.page import Paragraph

_GUTTER = 3  # blanks, in every line
_BETWEEN, _OPEN = frozenset("@×·*/+=≈→"), frozenset("@×·*/+≈→")  # signs between columns; 'A =' is a name above its own


def columns_of(paragraph: Paragraph) -> tuple[Paragraph, ...]:
    """A paragraph, or its columns, where lists that run over its lines stand beside each other, with what is said above
    each:

    >>> text = "S:            A:" + chr(10) + "[[1, 0],      [[0.7, 0.3]," + chr(10) + " [0, 1]]       [0.3, 0.7]]"
    >>> [" ".join(column.text.split()) for column in columns_of(Paragraph(text, 1))]
    ['S: [[1, 0], [0, 1]]', 'A: [[0.7, 0.3], [0.3, 0.7]]']
    """
    lines = paragraph.text.split("\n")
    if len(lines) < 2 or paragraph.text.count("[") < 2:
        return (paragraph,)
    for start, end in _gutters(lines):
        left = [line[:start] for line in lines]
        right = [" " * end + line[end:] if line[end:].strip() else "" for line in lines]
        if _is_drawn_on(left, right):
            return (paragraph,)
        if _is_column(left) and (_is_column(right) or _is_line(right)):
            first, rest = (replace(paragraph, text="\n".join(side)) for side in (left, right))
            return (first, *columns_of(rest))
    return (paragraph,)


def _gutters(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Where all lines are blank, between what stands left and right of it."""
    used = sorted({at for line in lines for at, sign in enumerate(line) if sign != " "})
    return ((a + 1, b) for a, b in pairwise(used) if b - a > _GUTTER)


def _is_drawn_on(left: list[str], right: list[str]) -> bool:
    """Whether a sign stands between two columns, before a list: a product or an equation is drawn over the lines."""
    lead = (line.lstrip()[:1] for line in right if "[" in line)
    return any(sign in _BETWEEN for sign in lead if sign) or any(
        line.rstrip()[-1:] in _OPEN for line in left if line.strip()
    )


def _is_column(lines: list[str]) -> bool:
    """Whether lines hold a list that begins in one and ends in another, and nothing is left open."""
    opened = [line.count("[") - line.count("]") for line in lines]
    return sum(opened) == 0 and any(opened) and all(sum(opened[:k]) >= 0 for k in range(len(opened)))


def _is_line(lines: list[str]) -> bool:
    """Whether one line of all holds a list, and nothing else: 'row sums of A: [1, 1]', but no remark on a row."""
    said = [line.strip() for line in lines if line.strip()]
    return len(said) == 1 and said[0].endswith("]") and "[" in said[0] and said[0][0] not in "#/←<%"
