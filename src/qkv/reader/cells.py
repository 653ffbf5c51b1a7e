"""One cell of a table: what its text is, and the number, vector or formula in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from qkv.errors import Location
from qkv.expr.nodes import Call, Expr, Infinite, Matrix, Name, Number, Transpose, names_in, number, rewrite
from qkv.library.words import CONCEPTS, means
from qkv.reader.grammar import Parsed, parse_math
from qkv.reader.grids import NUMBER
from qkv.reader.maths.calls import key_of
from qkv.reader.maths.names import is_symbol
from qkv.reader.maths.numerals import Comma, value_of
from qkv.reader.maths.units import factors_behind, is_magnitude
from qkv.reader.model import Link, Relation
from qkv.reader.page import Cell, Page
from qkv.regex import regex

INDICES = frozenset("ijklntm")
EMPTY = ("", "-", "—", "–", "·", ".", "*", "×", "✗")
RELATED = regex(r"[=≈]|\\approx")
MATHEMATICAL = regex(r"[\\^_·×√α-ωΑ-Ω$`₀-₉=/]|^\W*[A-Za-z]['′]?$|^[A-Z][a-z]?\d$")
_PLAIN = regex(r"[-+−–]?\d+(?:\.\d+)?(?:[eE][-+−]?\d+)?$")
_COMMAS = regex(r"[-−]?\d+,\d+(?:,\d{3})*$")
_THOUSANDS = regex(r"[-−]?[1-9]\d{0,2}(?:,\d{3})+$")
_INFINITE = regex(r"[-−–](?:∞|inf(?:inity)?|\\infty)$", re.IGNORECASE)
_VECTOR = regex(r"\s*[`$]?\s*(?:\\left)?\s*[\[(]\s*[-−+\d.√\\].*[,;\s&].*[\])]\s*[`$]?")
_LISTED = regex(r"[-−]?\d+(?:[.,]\d+)?(?:[,;]\s+[-−]?\d+(?:[.,]\d+)?)+")  # 1, 0
_ROWS_OF_NUMBERS = regex(r"(?=.*[,;])[\[(]?\s*[-−]?\d[-−\d.,;()\[\]\s∞]*")
_WORKING = regex(r"(?:[-+−\d.,×·*/()√^²³{}\s]|\\(?:[dt]?frac|sqrt|times|cdot|infty)|e\^)+")
_AMOUNT = regex(r"[~≈]?\s*(?P<digits>\d[\d.,]*)\s?(?P<unit>[^\W\d_]+)")
_MARKS = regex(r"\*\*|[`$]|~~")
_WORD = regex(r"[^\W\d_]{3,}")
_AXES = regex(r"\\(?![A-Za-z])|\\backslash|[↓→↘]|^\W*[^\W\d_]{2,}\s*/\s*[^\W\d_]{2,}[\s\d]*$")
_NAME_BEHIND = regex(r"[^$]*[^\W\d_]{2,}[\s:]+\$(?P<name>[^$]{1,40})\$\s*")
_NAME_IN_BRACKETS = regex(  # keys ($K$), Key (K)
    r"[^\W\d_]{2,}\s*[(（]\s*(?:\$\s*(?P<set>\\?[^\W\d_][^$()=]{0,12})\$|(?P<plain>[QKVX]))\s*[)）]\s*$"
)
_ASIDE = regex(r"\s*\([^()]*\)\s*$")
_CALLED = regex(r"([A-Za-z]\w*)\([a-z]\)")
_WORKED_HEAD = regex(r"\\(?:cdot|exp|frac|sqrt|alpha)|·|√|e\^|exp\(|^[^\W\d](?:_\{?[ijkt]\}?|[ᵢⱼ])$")


# — texts —


def bare(text: str) -> str:
    """A cell without emphasis, dollars and ticks."""
    return _MARKS.sub("", text).strip()


def texts(cells: Sequence[Cell]) -> tuple[str, ...]:
    """The bare texts of cells."""
    return tuple(bare(cell.text) for cell in cells)


def sort_of(column: Sequence[Cell]) -> str:
    """What a column holds: numbers, amounts in units, vectors, words (one each), nothing, or anything else."""
    filled = [cell.text for cell in column if bare(cell.text) not in EMPTY]
    if not filled:
        return "empty"
    if all(map(_VECTOR.match, filled)) or all(_LISTED.fullmatch(bare(text)) for text in filled):
        return "vector"
    numbers = sum(bool(NUMBER.match(bare(text))) or is_working(bare(text)) for text in filled)
    if numbers == len(filled) or (numbers and numbers >= len(filled) - 1 and len(filled) > 3):
        return "number"
    if all(is_amount(bare(text)) or NUMBER.match(bare(text)) for text in filled):
        return "amount"
    return "word" if all(bare(text).replace("-", "").isalpha() for text in filled) else "other"


def is_amount(text: str) -> bool:
    """Whether a cell is a number with its unit: 38.6M, ~512 MB."""
    found = _AMOUNT.fullmatch(text)
    return found is not None and is_magnitude(found["unit"])


def is_working(text: str) -> bool:
    """Arithmetic without names: 1×2+3, \\frac{1}{2}, √2."""
    return bool(_WORKING.fullmatch(text)) and any(map(str.isdigit, text))


def is_total(text: str) -> bool:
    """Whether a label or head says that the others are added up."""
    return bare(text).lower().strip(":") in CONCEPTS["total"] | {"σ", "\\sigma", "\\sum", "∑", "row sum"}


def is_quantity(text: str) -> bool:
    """Whether a head or label speaks of a quantity of its own: 'score', 'exp', $a_j$, 'mean μ'."""
    plain = bare(text)
    words = re.sub(r"\(.*?\)|[^\w\s]", " ", plain).split()
    told = means(plain, "quantity") or (bool(words) and (means(words[0], "quantity") or means(words[-1], "quantity")))
    return told or is_call(plain) or bool(_WORKED_HEAD.search(plain))


def is_call(text: str) -> bool:
    """Whether a head is a function of one letter that we know: GELU(x).

    >>> is_call("GELU(x)"), is_call("Query (q)")
    (True, False)
    """
    found = _CALLED.fullmatch(text)
    return found is not None and key_of(found[1]) is not None


def names_something(text: str) -> bool:
    """Whether a cell holds a name or a formula and not words."""
    plain = bare(text)
    if not plain or len(plain) > 60 or plain.isdigit() or is_axes(text):
        return False
    return bool(MATHEMATICAL.search(text)) or is_symbol(plain) or is_call(plain)


def is_axes(text: str) -> bool:
    """'q \\ k', 'from / to': what the rows and the columns are."""
    return bool(_AXES.search(bare(text)))


# — expressions —


def parsed_cell(cell: Cell, page: Page, text: str | None = None) -> Parsed:
    """What the grammar reads in a cell, or in the part of it that `text` is."""
    source = bare(cell.text) if text is None else text
    strict = "\\" in cell.text or "$" in cell.text or not _WORD.search(source) or source in page.names.words
    return parse_math(source, cell.at, strict=strict, comma=page.comma, names=page.names)


def formula_in(cell: Cell, page: Page) -> Link | None:
    """The one expression that a cell consists of."""
    parsed, text = parsed_cell(cell, page), bare(cell.text)
    whole = len(parsed.chains) == 1 and not parsed.unread and len(parsed.chains[0].links) == 1
    return parsed.chains[0].links[0] if whole and len(parsed.chains[0].text) >= len(text) - 2 else None


def calculation_in(cell: Cell, page: Page) -> Link | None:
    """What a cell calculates: 50304 × 768 beside what it comes to is a product, no shape."""
    link = formula_in(cell, page)
    if link is not None and isinstance(link.expr, Call) and link.expr.function == "shapes" and len(link.expr.args) == 1:
        return replace(link, expr=link.expr.args[0], shapes=())
    return link


def amount_in(cell: Cell, page: Page) -> Link | None:
    """The number of a cell as what the cell before it comes to, with what its unit may multiply with."""
    text = bare(cell.text)
    sign = Relation.APPROX if text[:1] in ("~", "≈") else Relation.EQUAL
    found = _AMOUNT.fullmatch(text)
    value = value_in(cell._replace(text=found["digits"] if found else text), page)
    units = factors_behind(text, found.end("digits")) if found else ()
    return Link(sign, value, cell.text, cell.at, units=units) if value is not None else None


def vector_in(cell: Cell, page: Page) -> Link | None:
    """The vector that a cell ends with, perhaps with a remark behind it; '1, 0' needs no brackets."""
    if _LISTED.fullmatch(bare(cell.text)):
        return array_in(cell, page)
    plain = cell._replace(text=_MARKS.sub(" ", cell.text))
    chains = parse_math(plain.text, cell.at, strict="\\" in cell.text, comma=page.comma, names=page.names).chains
    return chains[0].links[-1] if chains else None


def array_in(cell: Cell, page: Page) -> Link | None:
    """The array that a cell consists of, perhaps without brackets: '3, 4, 0 ; 3, 0, 6', '(1, 2) ; (3, 4)'."""
    text = bare(cell.text)
    if not _ROWS_OF_NUMBERS.fullmatch(text):
        return None
    inside = re.sub(r"(?<=[\])])\s*;\s*(?=[\[(])", ", ", text)
    chains = parse_math(f"[{inside}]", cell.at, strict=True, comma=page.comma, names=page.names).chains
    link = chains[0].links[0] if len(chains) == 1 and len(chains[0].links) == 1 else None
    return link if link is not None and isinstance(link.expr, Matrix) and not link.expr.is_ragged else None


def value_in(cell: Cell, page: Page) -> Expr | None:
    """The number, or other expression, in a cell; None for an empty one or one that is not readable."""
    text = bare(cell.text)
    if text in EMPTY:
        return None
    if _PLAIN.match(text):
        return _decimal(text, cell.at)
    if _INFINITE.match(text):
        return Infinite(-1, at=cell.at)
    if _COMMAS.match(text):
        thousands = _THOUSANDS.match(text) and (page.comma is Comma.UNTOLD or text.count(",") > 1)
        return _decimal(text.replace(",", "" if thousands else "."), cell.at)
    if re.fullmatch(r"\d{1,9}/\d{1,9}", text) and int(text.partition("/")[2]):
        return replace(number(Fraction(text)), at=cell.at)
    chains = parsed_cell(cell, page).chains
    return chains[0].links[0].expr if len(chains) == 1 and len(chains[0].links) == 1 else None


def _decimal(text: str, at: Location) -> Number:
    plain = text.replace("−", "-").replace("–", "-").lstrip("+")
    value, places = value_of(plain)
    return Number(value, places, plain, at=at)


def entries_of(expr: Expr | None) -> tuple[Expr, ...] | None:
    """The entries of a vector, be it a row, a column or a turned row; None for anything else."""
    expr = expr.arg if isinstance(expr, Transpose) else expr
    if not isinstance(expr, Matrix) or min(expr.shape) > 1:
        return None
    return expr.rows[0] if len(expr.rows) == 1 else tuple(row[0] for row in expr.rows)


def with_index(link: Link, value: str, at: Location) -> Link:
    """A link with its running index put in."""

    def change(node: Expr) -> Expr:
        if not isinstance(node, Name):
            return node
        indices = tuple(value if index in INDICES else index for index in node.symbol.indices)
        return Name(node.symbol._replace(indices=indices), node.spelled, at=node.at)

    return replace(link, expr=rewrite(link.expr, change), at=at, relation=Relation.FIRST)


def names_in_cell(cell: Cell | None, page: Page) -> tuple[Link, ...]:
    """What stands in a name cell: 'E =', 'Q = X W_q =', '$Q$', 'K (keys)', 'keys ($K$)', 'Key $k$', 'concat @ W_O'."""
    if cell is None or not cell.text:
        return ()
    named = _NAME_IN_BRACKETS.search(cell.text) or _NAME_BEHIND.fullmatch(cell.text)
    text = bare(next(filter(None, named.groups())) if named else cell.text)
    said = text.endswith(("=", "≈"))
    text = text.rstrip("=≈: ") if said else text if is_call(text) else _ASIDE.sub("", text).rstrip(":")
    if not said and (not names_something(text) or means(text, "counter")):
        return ()
    parsed = parsed_cell(cell, page, text)
    links = parsed.chains[0].links if len(parsed.chains) == 1 and not parsed.unread else ()
    return links if said or all(names_in(link.expr) for link in links) else ()
