"""The one door from documents to the grammar: how the mathematics of a document is read."""

from __future__ import annotations

import ast
import re
from dataclasses import field

from qkv.errors import Location, QkvError
from qkv.expr.names import Symbol
from qkv.expr.nodes import Expr
from qkv.records import dataclass
from qkv.sheet.grammar import Parsed, parse_math
from qkv.sheet.limits import DEFAULT, Limits
from qkv.sheet.model import Unread
from qkv.sheet.naming import Known
from qkv.sheet.numerals import Comma

Shown = tuple[Expr | None, Expr | None, str]  # an expression, the formula that it then had, and its source


@dataclass(slots=True)
class Assigned:
    """What the code of a document assigned so far, over all its fences and cells: the formulas that names have, those
    that were assigned anew in terms of themselves, what else names were assigned (masks), and what the last fence
    prints."""

    formulas: dict[Symbol, Expr] = field(default_factory=dict)
    anew: set[Symbol] = field(default_factory=set)
    unread: dict[str, ast.expr] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a document before its mathematics is read: its limits, what its commas are, and the words that
    it uses as names ('wei = …'); and, as reading goes on, the names that were `known` before and what code assigned."""

    limits: Limits = DEFAULT
    comma: Comma = Comma.UNTOLD
    words: frozenset[str] = frozenset()
    known: Known = field(default_factory=dict, compare=False, repr=False)
    assigned: Assigned = field(default_factory=Assigned, compare=False, repr=False)

    def math(self, source: str, at: Location, *, strict: bool = True) -> Parsed:
        """What the grammar reads; a refusal of one stretch is an Unread, never the end of the document."""
        try:
            return parse_math(source, at, strict=strict, comma=self.comma, words=self.words, known=self.known)
        except QkvError as refusal:
            return Parsed((), (Unread(at.line, _short(source), refusal.message),))


_DEFINED_WORD = re.compile(r"\n[ \t>*-]*([a-z]{3,16})\d?[ \t]*=(?!=)")


def defined_words(text: str) -> frozenset[str]:
    r"""The words that stand before an equals sign at the beginning of a line.

    >>> sorted(defined_words("wei = q k^T\n\nso that x = 1"))
    ['wei']
    """
    return frozenset(_DEFINED_WORD.findall(f"\n{text}"))  # a line end is sought many times faster than ^


def _short(source: str) -> str:
    bare = " ".join(source.split())
    return bare if len(bare) <= 80 else bare[:79] + "…"
