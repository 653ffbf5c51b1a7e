"""The one door from documents to the grammar: how the mathematics of a document is read."""

from __future__ import annotations

from dataclasses import dataclass

from qkv.errors import Location, QkvError
from qkv.sheet.grammar import Parsed, parse_math
from qkv.sheet.limits import DEFAULT, Limits
from qkv.sheet.model import Unread
from qkv.sheet.numerals import Comma


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a document before its mathematics is read: its limits, and what its commas are."""

    limits: Limits = DEFAULT
    comma: Comma = Comma.UNTOLD

    def math(self, source: str, at: Location, *, strict: bool = True) -> Parsed:
        """What the grammar reads; a refusal of one stretch is an Unread, never the end of the document."""
        try:
            return parse_math(source, at, strict=strict, comma=self.comma)
        except QkvError as refusal:
            return Parsed((), (Unread(at.line, _short(source), refusal.message),))


def _short(source: str) -> str:
    bare = " ".join(source.split())
    return bare if len(bare) <= 80 else bare[:79] + "…"
