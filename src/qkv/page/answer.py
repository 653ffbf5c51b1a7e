"""What goes back to a visitor."""

from __future__ import annotations

from dataclasses import dataclass

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """A page, a piece of one, or a file to be kept under a name."""

    body: str | bytes
    status: int = 200
    kind: str = HTML
    name: str = ""
