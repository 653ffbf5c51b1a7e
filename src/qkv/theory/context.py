"""What a sheet says around its theory questions: its letters for sizes, their values, and the kind of attention."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.library.model_said import LAYERS
from qkv.reader.model import Sheet
from qkv.regex import regex
from qkv.theory.counts_said import MANY_HEADS
from qkv.theory.formula import meaning

# Letters for sizes, the telling ones first: (size, pattern inside mathematics, how it is written)
LETTERS: tuple[tuple[str, str, str], ...] = (
    ("n", r"N'", "N'"),
    ("n", r"(?<![\w\\])N(?![\w'(])", "N"),
    ("n_q", r"n_\{?q", "n_q"),
    ("n_k", r"n_\{?k", "n_k"),
    ("d", r"d_\{?(\\(text|mathrm)\{)?model", "d_model"),
    ("d", r"(?<![\w\\])D(?![\w'(_])", "D"),
    ("d_k", r"D_\{?[kK]", "D_k"),
    ("d_v", r"D_\{?[vV]", "D_v"),
)
MATH = regex(r"\$\$.+?\$\$|\$[^$\n]+\$|\\\[.+?\\\]|\\\(.+?\\\)", re.DOTALL)
SELF = regex(r"self-?attention|X\s*W", re.IGNORECASE)
LAYERED = regex(rf"\W{{0,4}}{LAYERS}", re.IGNORECASE)  # N = 6 layers
PROJECTED = regex(r"W[\^_]\{?\\?[a-z{]*[QKV]|weight matri", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Context:
    """The letters and the numbers of a sheet."""

    spelling: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    kind: str = "attention"

    @property
    def one_sequence(self) -> bool:
        """Whether the sheet speaks of one length only."""
        return "n" in self.spelling and "n_q" not in self.spelling


class Background(NamedTuple):
    """What is known of a whole sheet, found once."""

    sheet: Sheet
    spelling: Mapping[str, str]
    stated: Mapping[int, Mapping[str, int]]  # part → sizes

    def context(self, around: str, part: int) -> Context:
        """The context of a question; `around` is the text near it."""
        return Context(self.spelling, self.stated.get(part, {}), _kind(self.sheet, around, part))


def background(sheet: Sheet) -> Background:
    """The letters and the stated sizes of a sheet."""
    mathematics = " ".join(MATH.findall(sheet.text))
    spelling: dict[str, str] = {}
    for size, pattern, letter in LETTERS:
        if size not in spelling and re.search(pattern, mathematics):
            spelling[size] = letter
    return Background(sheet, spelling, _stated(sheet))


def _kind(sheet: Sheet, around: str, part: int) -> str:
    title = sheet.parts[part].title if part < len(sheet.parts) else ""
    if MANY_HEADS.search(around + title):
        return "multi-head"
    return "self" if PROJECTED.search(around) or (SELF.search(around) and "Q" not in around) else "attention"


def _stated(sheet: Sheet) -> dict[int, dict[str, int]]:
    """n = 128, d_model = 512, h = 8, by the part that says so; the first value counts."""
    found: dict[int, dict[str, int]] = {}
    for statement in sheet.statements:
        first, last = statement.links[0].expr, statement.links[-1].expr
        if not isinstance(first, n.Name) or not isinstance(last, n.Number):
            continue
        size = meaning(first.symbol)
        if size == "n" and LAYERED.match(statement.after):
            continue
        if size not in (None, "mu", "sigma", "s") and last.value.denominator == 1 and last.value > 0:
            found.setdefault(statement.part, {}).setdefault(str(size), int(last.value))
    return found
