"""The text layer of a PDF as lines of text: signs where they stand, a matrix and a fraction as one sign of a line."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any

from qkv.errors import MissingExtra, ReadError
from qkv.reader.model import Unread

CLOSING = {"[": "]", "(": ")", "|": "|"}
TALL = 1.35  # how much taller than its line a bracket is that holds several rows
AXIS = 0.25  # how far above the line of a formula its middle is, in sizes of its font
SCANNED = "a scan: its pages are pictures without text; a text recognition (such as ocrmypdf) makes text of it"


@dataclass(frozen=True, slots=True)
class Glyph:
    """A sign, or several that belong together, with its box; `base` is where it stands, `size` that of its font."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    base: float
    size: float
    order: int = -1  # in the file, blanks not counted
    spaced: bool = False  # whether the file has a blank before it

    @property
    def middle(self) -> float:
        return (self.bottom + self.top) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """A thin horizontal line, such as the bar of a fraction."""

    left: float
    right: float
    height: float


def pdf_text(data: bytes, file: str) -> tuple[str, tuple[Unread, ...]]:
    """The text of a PDF, and what is lost of it: pictures, and signs that are no letters in the file."""
    if find_spec("pypdfium2") is None:
        way = "install it with: pip install 'qkv[pdf]', or copy the text into a .md file"
        raise MissingExtra(f"{file} is a PDF, and reading one needs pypdfium2; {way}.")
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise ReadError(f"{file} is a PDF that cannot be opened: it is damaged, or has a password") from error
    lines: list[str] = []
    lost: list[Unread] = []
    for number, page in enumerate(document, 1):
        glyphs, nameless = _glyphs(page)
        pictures = sum(1 for each in page.get_objects(max_depth=4) if each.type == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE)
        lost += _lost(number, len(lines) + 1, pictures, nameless)
        lines += [*_lines(glyphs, _rules(page, pypdfium2)), ""]
    if not any(line.strip() for line in lines):
        raise ReadError(f"{file} is {SCANNED if lost else 'a PDF without text'}")
    return "\n".join(lines), tuple(lost)


def _lost(page: int, line: int, pictures: int, nameless: int) -> Iterator[Unread]:
    if pictures:
        yield Unread(line, f"page {page}", f"{pictures} picture{'s' * (pictures > 1)} could not be read")
    if nameless:
        yield Unread(line, f"page {page}", f"{nameless} sign{'s' * (nameless > 1)} without a letter in the file")


def _glyphs(page: Any) -> tuple[list[Glyph], int]:
    """The signs of a page that are letters, digits or the like, and how many others there are."""
    from pypdfium2 import raw

    layer, nameless = page.get_textpage(), 0
    found: list[Glyph] = []
    x, y = ctypes.c_double(), ctypes.c_double()
    high, spaced = 0, False
    for index in range(layer.count_chars()):
        code = raw.FPDFText_GetUnicode(layer.raw, index)
        if 0xD800 <= code < 0xDC00:  # letters beyond the first plane, such as 𝑄, come as two halves
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
        text = chr(code)
        if text.isspace() or raw.FPDFText_IsGenerated(layer.raw, index) == 1:
            spaced = True
            continue
        if text == "\ufffd" or code < 0x20 or raw.FPDFText_HasUnicodeMapError(layer.raw, index) == 1:
            nameless += 1
            continue
        left, bottom, right, top = layer.get_charbox(index)
        raw.FPDFText_GetCharOrigin(layer.raw, index, x, y)
        size = raw.FPDFText_GetFontSize(layer.raw, index)
        found.append(Glyph(text, left, bottom, right, top, y.value, size, len(found), spaced))
        spaced = False
    return found, nameless


def _rules(page: Any, pdfium: Any) -> list[Rule]:
    """The thin horizontal lines of a page."""
    found = []
    for each in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_PATH], max_depth=4):
        left, bottom, right, top = each.get_bounds()
        if top - bottom < 2 and 3 < right - left < 300:
            found.append(Rule(left, right, (top + bottom) / 2))
    return found


def _lines(glyphs: list[Glyph], rules: Sequence[Rule]) -> list[str]:
    """Signs as lines of text; a blank line where there is more room between two lines than usual."""
    if not glyphs:
        return []
    size = median(glyph.size for glyph in glyphs)
    roots = [(rule, sign) for rule in rules for sign in glyphs if _covers(sign, rule)]
    bars = [rule for rule in rules if rule not in [root for root, _ in roots]]
    whole = _with_matrices(_with_fractions(_with_roots(glyphs, roots), bars, size), size)
    rows = _rows(whole)
    lines: list[str] = []
    for row, above in zip(rows, [None, *rows], strict=False):
        if above is not None and max(g.base for g in above) - max(g.base for g in row) > 1.6 * size:
            lines.append("")
        lines.append(_written(row))
    return lines


def _with_matrices(glyphs: list[Glyph], size: float) -> list[Glyph]:
    """Tall brackets and what stands in rows between them as one sign each: [1 0; 1 2]."""
    left = sorted(glyphs, key=lambda g: g.left)
    for opening in [g for g in left if g.text in CLOSING and g.top - g.bottom > TALL * size]:
        closing = next((g for g in left if g.left > opening.left and _closes(opening, g)), None)
        if opening not in left or closing is None:
            continue
        bottom, top = _reach(opening, left, size)
        inside = [g for g in left if opening.right - 1 < g.left < closing.left and bottom < g.middle < top]
        text = f"{opening.text}{'; '.join(map(_cells, _rows(inside)))}{closing.text}"
        base = (bottom + top) / 2 - AXIS * size
        taken = {id(g) for g in (opening, closing, *inside)}
        made = Glyph(text, opening.left, base, closing.right, base + 0.7 * size, base, size)
        left = sorted([*(g for g in left if id(g) not in taken), made], key=lambda g: g.left)
    return left


def _closes(opening: Glyph, other: Glyph) -> bool:
    tall = abs((other.top - other.bottom) - (opening.top - opening.bottom)) < 1
    return other.text == CLOSING[opening.text] and tall and abs(other.middle - opening.middle) < 2


def _reach(bracket: Glyph, glyphs: Sequence[Glyph], size: float) -> tuple[float, float]:
    """From where to where a bracket goes. A file may name only one piece of a large one; it is as high above the middle
    of the formula before it as it is deep below."""
    low, high = bracket.bottom - size, bracket.top + 2 * size
    before = [g for g in glyphs if -4 * size < g.right - bracket.left < 1 and low < g.base < high]
    if not before or any(abs(g.base + AXIS * size - bracket.middle) < 0.4 * size for g in before):
        return bracket.bottom - 1, bracket.top + 1
    axis = max(before, key=lambda g: g.right).base + AXIS * size
    half = max(axis - bracket.bottom, bracket.top - axis) + 1
    return axis - half, axis + half


def _covers(sign: Glyph, rule: Rule) -> bool:
    """Whether a line is the upper part of a root."""
    return sign.text == "√" and abs(sign.right - rule.left) < 1.5 and abs(sign.top - rule.height) < 2


def _with_roots(glyphs: list[Glyph], roots: Sequence[tuple[Rule, Glyph]]) -> list[Glyph]:
    """What stands under the line of a root, and the root, as one sign each: √(d_k)."""
    left = glyphs
    for rule, sign in sorted(roots, key=lambda root: root[0].right - root[0].left):
        under = [g for g in left if _beside(g, rule) and sign.bottom - 1 < g.middle < rule.height and g is not sign]
        taken = {id(g) for g in (sign, *under)}
        main = max(under, key=lambda g: g.size, default=sign)
        text = f"√({_written(under)})" if under else "√"
        made = Glyph(text, sign.left, sign.bottom, rule.right, rule.height, main.base, main.size)
        left = [*(g for g in left if id(g) not in taken), made]
    return left


def _with_fractions(glyphs: list[Glyph], rules: Sequence[Rule], size: float) -> list[Glyph]:
    """What stands above and below a bar as one sign each: (a)/(b)."""
    left = glyphs
    for rule in sorted(rules, key=lambda r: r.right - r.left):
        over = [g for g in left if _beside(g, rule) and 0 < g.middle - rule.height < 1.2 * size]
        under = [g for g in left if _beside(g, rule) and 0 < rule.height - g.middle < 1.2 * size]
        if not over or not under or not _spans(rule, [*over, *under], size):
            continue
        text = f"({_written(over)})/({_written(under)})"
        taken = {id(g) for g in (*over, *under)}
        base = rule.height - 0.25 * size
        made = Glyph(text, rule.left, base, rule.right, base + 0.7 * size, base, size)
        left = [*(g for g in left if id(g) not in taken), made]
    return left


def _beside(glyph: Glyph, rule: Rule) -> bool:
    return rule.left - 1 <= (glyph.left + glyph.right) / 2 <= rule.right + 1


def _spans(rule: Rule, glyphs: Sequence[Glyph], size: float) -> bool:
    """Whether a line is as long as what stands around it, unlike the rule of a table or of a root."""
    wide = max(g.right for g in glyphs) - min(g.left for g in glyphs)
    return wide > rule.right - rule.left - size and wide < rule.right - rule.left + 0.3 * size


def _rows(glyphs: Sequence[Glyph]) -> list[list[Glyph]]:
    """Signs by the line that they stand on, from top to bottom; a small sign right behind a larger one hangs on it."""
    rows: list[list[Glyph]] = []
    holders = _holders(glyphs)
    for glyph in sorted(glyphs, key=lambda g: (-round(g.base), g.left)):
        near = [row for row in rows if abs(row[0].base - glyph.base) < 0.3 * min(glyph.size, row[0].size)]
        if glyph in holders:
            continue
        if near:
            near[-1].append(glyph)
        else:
            rows.append([glyph])
    for glyph, holder in holders.items():
        next(row for row in (*rows, [holder]) if holder in row).append(glyph)
    return sorted(rows, key=lambda row: -row[0].base)


def _holders(glyphs: Sequence[Glyph]) -> dict[Glyph, Glyph]:
    """Small signs, and the larger sign that each hangs on: right behind it, or behind another that hangs on it."""
    holders: dict[Glyph, Glyph] = {}
    ends = sorted(glyphs, key=lambda g: g.right)
    reach = 0.4 * max((g.size for g in glyphs), default=0.0)
    for glyph in sorted(glyphs, key=lambda g: g.left):
        first = bisect_left(ends, glyph.left - reach, key=lambda g: g.right)
        close = ends[first : bisect_left(ends, glyph.left + reach, key=lambda g: g.right)]
        direct = next((other for other in close if _hangs(glyph, other)), None)
        before = next((other for other in close if other in holders and _goes_on(glyph, other)), None)
        if before is not None:
            holders[glyph] = holders[before]
        elif direct is not None:
            holders[glyph] = holders.get(direct, direct)
    return holders


def _goes_on(glyph: Glyph, other: Glyph) -> bool:
    gap = glyph.left - other.right
    return (
        abs(glyph.base - other.base) < 0.5 and -0.2 * other.size < gap < 0.35 * other.size and glyph.size == other.size
    )


def _hangs(glyph: Glyph, other: Glyph) -> bool:
    """Whether a sign is an index or a power of another."""
    gap, rise = glyph.left - other.right, abs(glyph.base - other.base)
    close = -0.3 * other.size < gap < 0.22 * other.size and glyph.left > other.left
    return close and glyph.size < 0.85 * other.size and 0.05 * other.size < rise < 0.7 * other.size


def _cells(row: Sequence[Glyph]) -> str:
    """A row of a matrix: cells apart by blanks, nothing within a cell."""
    return " ".join(_written(row).split())


def _written(row: Sequence[Glyph]) -> str:
    """Signs of one line as text: gaps as blanks, raised and lowered signs as ^ and _."""
    pieces: list[str] = []
    last: Glyph | None = None
    main = max(row, key=lambda g: g.size)
    for glyph in sorted(row, key=lambda g: g.left):
        shift = _shift(glyph, main)
        before = _shift(last, main) if last is not None else ""
        if before and shift != before:
            pieces.append("}")
        if last is not None and not (shift and before):
            pieces.append(_blanks(last, glyph, main.size))
        if shift and shift != before:
            pieces.append(f"{shift}{{")
        pieces.append(glyph.text)
        last = glyph
    if last is not None and _shift(last, main):
        pieces.append("}")
    return "".join(pieces).strip()


def _blanks(last: Glyph, glyph: Glyph, size: float) -> str:
    """The blanks between two signs: the file's own where they follow each other in it, else as many as fit."""
    gap = glyph.left - last.right
    if glyph.order == last.order + 1 > 0 and gap < size:
        return " " * glyph.spaced
    return " " * round(max(0.0, gap - 0.12 * size) / (0.28 * size) + 0.3)


def _shift(glyph: Glyph, main: Glyph) -> str:
    if glyph.size > 0.85 * main.size:
        return ""
    rise = glyph.base - main.base
    return "^" if rise > 0.15 * main.size else "_" if rise < -0.05 * main.size else ""
