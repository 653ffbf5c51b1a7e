"""The answers to choose from in a quiz: their author offers them and claims none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

# '- (A) …', 'B) …', '**C.** …'; small letters number the parts of a question just as well, so they are no evidence.
_OPTION = re.compile(r"\s*(?:[-*+•]\s+|\\item\s*|\|\s*)?(?:\[[ xX]?\]\s*)?(?:\*\*|\$)?\(?([A-F])[).](?:\*\*)?[\s:]")


def choices(text: str) -> frozenset[int]:
    """The lines with answers to choose from: at least three in a row, lettered A, B, C, … from the first.

    >>> sorted(choices("What is it?\\n(A) 1\\n(B) 2\\n(C) 3\\nIt is (B)."))
    [2, 3, 4]
    """
    lettered = [
        (number, found[1]) for number, line in enumerate(text.splitlines(), 1) if (found := _OPTION.match(line))
    ]
    return frozenset(line for group in _groups(lettered) if len(group) > 2 for line in group)


def _groups(lettered: list[tuple[int, str]]) -> Iterator[list[int]]:
    """Stretches of near lines that count on from A."""
    group: list[int] = []
    for (line, letter), (after, following) in pairwise([*lettered, (-9, "")]):
        if letter == "A":
            group = [line]
        elif group:
            group.append(line)
        if group and not (0 < after - line <= 3 and following == chr(ord(letter) + 1)):
            yield group
            group = []
