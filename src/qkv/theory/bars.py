"""Small bars for the terminal, as strings."""

from __future__ import annotations

EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(value: float, largest: float, width: int = 24) -> str:
    """A bar of up to `width` characters, to an eighth of one.

    >>> bar(3, 4, 4), bar(0, 4, 4)
    ('███', '')
    """
    if not largest > 0 or not value > 0:
        return ""
    eighths = round(min(value / largest, 1) * width * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()
