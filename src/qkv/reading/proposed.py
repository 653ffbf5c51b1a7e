"""What to write for something that is missing: an array of the page that nobody has a use for, its vectors as rows,
numbers that a sentence tells, or blanks in the shape that fits.

A proposal is for a person to confirm. It is written in the notation that is always understood, so that it can be
taken over as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.show import plain as plain_text
from qkv.library.roles import mentions, roles_in_words
from qkv.reading.equation import Equation, Kind
from qkv.reading.missing import BLANK, MADE_OF, Gap
from qkv.reading.page import Spot
from qkv.reading.spoken import Row, Spoken, spoken_of
from qkv.reading.values import Values

ATTENDING = (Role.Q, Role.K, Role.V)
_ORDER = {role: place for place, role in enumerate((Role.X, *ATTENDING))}
_TOKENS = Gap("X", "the tokens (X)", Role.X)


class Offer(NamedTuple):
    """An array of the page that has no use yet: how it is written, its line, what stands beside it as its name, and the
    roles that words beside it say."""

    written: str
    line: int
    label: str
    roles: tuple[Role, ...]


class Sizes(NamedTuple):
    """How long a query and a key are, and how many keys there are; 0 where nobody knows."""

    width: int = 0
    keys: int = 0
    columns: bool = False


WIDEST = 8  # blanks that are written out in a row


def proposed(gaps: Iterable[Gap], values: Values, spot: Spot, used: frozenset[int] = frozenset()) -> list[Gap]:
    """Gaps with what to write for each; `used` are equations whose numbers are known to be something else."""
    found = list(dict.fromkeys(gaps))
    if not found:
        return []
    spoken, offers = spoken_of(values.system.page.sheet.lines), list(offers_of(values, used))
    if _are_tokens(found, spoken, offers):
        found = [_TOKENS, *(gap for gap in found if gap.role not in ATTENDING)]
    sizes, filled = _known_sizes(values, spot), list[Gap]()
    for gap in sorted(found, key=lambda gap: _ORDER.get(gap.role, 9) if gap.role is not None else 9):
        if gap.hint:
            filled.append(gap)
            continue
        gap, rows = _filled(gap, spoken, offers, sizes)
        filled.append(gap)
        sizes = _with(sizes, gap.role, rows)
    return filled


def _filled(
    gap: Gap, spoken: dict[Role | str, Spoken], offers: list[Offer], sizes: Sizes
) -> tuple[Gap, tuple[Row, ...]]:
    """A gap with what to write for it, and the rows of that where they are known; an offer is used up."""
    words = spoken.get(gap.name) or (spoken.get(gap.role) if gap.role is not None else None)
    rows = _shaped(gap.role, words.groups, sizes) if words is not None else ()
    offer = next((offer for offer in offers if gap.role in offer.roles or gap.name == offer.label), None)
    if offer is None and not rows and (gap.role is not None or "_" not in gap.name):
        offer = next((offer for offer in offers if not offer.roles), None)
    if offer is not None:
        offers.remove(offer)
        return gap._replace(written=offer.written, line=offer.line), ()
    if words is not None and rows:
        return gap._replace(written=written(rows, sizes.columns), line=words.line, quote=words.quote), rows
    gap = gap._replace(line=words.line, quote=words.quote) if words is not None else gap
    blanks = _blanks(gap, words, sizes)
    return gap._replace(written=written(blanks, sizes.columns)), blanks


def _are_tokens(gaps: Sequence[Gap], spoken: dict[Role | str, Spoken], offers: Sequence[Offer]) -> bool:
    """Whether queries, keys and values are all missing, and the page has one array, or tells numbers of tokens only."""
    if not set(ATTENDING) <= {gap.role for gap in gaps} or any(role in spoken for role in ATTENDING):
        return False
    if any(role in ATTENDING for offer in offers for role in offer.roles):
        return False
    return len(offers) == 1 or any(Role.X in offer.roles for offer in offers) or Role.X in spoken


# — arrays that have no use —


def offers_of(values: Values, used: frozenset[int]) -> Iterator[Offer]:
    """The printed arrays of a page that play no role and are not the result of anything; vectors in a row as one."""
    system = values.system
    arrays = dict(system.choices.arrays)
    formulas = (item.expr for equation in system.page.own for item in equation.of(Kind.FORMULA))
    mentioned = {symbol for formula in formulas for symbol in n.names_in(formula)}
    told = {row for e in system.page.equations if e.told for grid in _grids(e) for row in grid.rows}

    def is_idle(equation: Equation) -> bool:
        if any(role in MADE_OF for *_, role in mentions(equation.label)):
            return False  # scores, weights, outputs
        if any(set(grid.rows) <= told for grid in _grids(equation)):
            return False  # somebody told what it is
        plain = not equation.of(Kind.FORMULA, Kind.WORKING) and not equation.struck and equation.index not in used
        return plain and all(system.place(symbol) is None and symbol not in mentioned for symbol in equation.names)

    shapes = [(e, shape) for e in system.page.own if (shape := _shape(e)) is not None and is_idle(e)]
    lines = [e.line for e in system.page.own if _shape(e) is not None]
    for equation, shape in shapes:
        if min(shape) > 1 and equation.index not in arrays:
            name = _array_name(equation, alone=lines.count(equation.line) == 1)
            yield Offer(name, equation.line, equation.label, roles_in_words(equation.label))
    for _, run in groupby(((e, max(shape)) for e, shape in shapes if min(shape) == 1), key=lambda each: each[1]):
        yield from _stack([equation for equation, _ in run])


def _stack(vectors: Sequence[Equation]) -> Iterator[Offer]:
    """Vectors of one length as the rows of an array, if each has a name or a word to be called by."""
    names = [str(e.names[0]) if e.names else _last_word(e.label) for e in vectors]
    if len(names) > 1 and all(names) and len(set(names)) == len(names):
        label = vectors[0].label
        yield Offer(f"[{'; '.join(names)}]", vectors[0].line, "", roles_in_words(label))


def _grids(equation: Equation) -> list[n.Matrix]:
    return [item.expr for item in equation.of(Kind.VALUE) if isinstance(item.expr, n.Matrix)]


def _shape(equation: Equation) -> tuple[int, int] | None:
    printed = _grids(equation)
    return printed[-1].shape if printed else None


def _array_name(equation: Equation, alone: bool) -> str:
    """How an array may be called: by its name, by the words that label its rows, by its line if it stands there alone,
    or by its numbers."""
    if equation.names:
        return str(equation.names[0])
    words = equation.rows
    plain = bool(words) and all(word.isalpha() for word in words) and len(set(words)) == len(words)
    if plain:
        return f"[{'; '.join(words)}]"
    grid = equation.of(Kind.VALUE)[-1].expr
    if alone or not isinstance(grid, n.Matrix):
        return f"@{equation.line}"
    return written([tuple(plain_text(cell) for cell in row) for row in grid.rows])


def _last_word(label: str) -> str:
    words = re.findall(r"[^\W\d_]+", label)
    return words[-1] if words else ""


# — numbers of sentences, and blanks —


def _known_sizes(values: Values, spot: Spot) -> Sizes:
    columns = "columns" in values.system.conventions(spot.scope)
    sizes = Sizes(columns=columns)
    size = values.role(Role.D_K, None, spot)
    if size is not None and size.exact and size.shape == (1, 1):
        sizes = sizes._replace(width=int(size.cell.p))
    for role in (Role.Q, Role.K):
        if (value := values.role(role, None, spot)) is not None:
            count, width = value.shape[::-1] if columns else value.shape
            sizes = sizes._replace(width=width, keys=count if role is Role.K else sizes.keys)
    return sizes


def _with(sizes: Sizes, role: Role | None, rows: Sequence[Row]) -> Sizes:
    """Sizes with what a proposal adds to them."""
    if not rows or role not in (Role.Q, Role.K):
        return sizes
    return sizes._replace(width=len(rows[0]), keys=len(rows) if role is Role.K else sizes.keys)


def _shaped(role: Role | None, groups: tuple[Row, ...], sizes: Sizes) -> tuple[Row, ...]:
    """Groups of numbers as the rows of an array that fits; nothing where they do not."""
    flat = tuple(number for group in groups for number in group)
    width = sizes.width if role in (Role.Q, Role.K) else 0
    if role is Role.V and sizes.keys:
        width = len(flat) // sizes.keys if len(flat) % sizes.keys == 0 else len(flat) + 1
    alike = len(set(map(len, groups))) == 1
    if role is Role.Q and all(len(group) == 1 for group in groups) and width in (0, len(flat)):
        return (flat,)  # a vector that stands upright
    if alike and len(groups) > 1:
        return groups if width in (0, len(groups[0])) else ()
    if len(groups) == 1 and not width:
        return groups
    if not width or len(flat) % width or len(groups) > 1:
        return ()
    return tuple(flat[i : i + width] for i in range(0, len(flat), width))


def _blanks(gap: Gap, words: Spoken | None, sizes: Sizes) -> tuple[Row, ...]:
    """Blanks in the shape that fits, two by two where nobody knows it; of many in a row the first and the last."""
    count = sizes.keys if gap.role in (Role.K, Role.V) else 1 if "_" in gap.name else 0
    width = sizes.width or 2
    row = (BLANK,) * width if width <= WIDEST else (BLANK, "…", BLANK)
    return (row,) * (count or (len(words.groups) if words is not None else 2))


def written(rows: Sequence[Row], columns: bool = False) -> str:
    """Rows of numbers in the notation that is always understood.

    >>> written((("1", "0"), ("2", "3")))
    '[1, 0; 2, 3]'
    """
    lines = tuple(zip(*rows, strict=True)) if columns else rows
    return f"[{'; '.join(', '.join(row) for row in lines)}]"
