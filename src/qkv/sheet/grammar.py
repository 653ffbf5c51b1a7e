"""Mathematics → expression trees: chains of relations, in whatever notation they are written."""

from __future__ import annotations

from dataclasses import dataclass

from qkv.errors import Location
from qkv.sheet.model import Link, Unread


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain of relations as read. `continues` marks one that began with a relation (=, ≈, ⇒), `lead` and `trail`
    are words inside the mathematics before and after it."""

    links: tuple[Link, ...]
    at: Location
    end_line: int
    text: str
    continues: bool = False
    struck: bool = False
    lead: str = ""
    trail: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a stretch of mathematics says, and what of it could not be read."""

    chains: tuple[Chain, ...]
    unread: tuple[Unread, ...] = ()


def parse_math(source: str, at: Location, *, strict: bool = True) -> Parsed:
    """Read a stretch of mathematics that begins at `at`; it may span lines."""
    return Parsed((), (Unread(at.line, source, "not read yet"),))
