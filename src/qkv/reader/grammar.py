"""A stretch of tokens → chains: where statements begin and end, what their links are, which pieces make a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from qkv.errors import Location, QkvError
from qkv.expr.nodes import (
    Call,
    Expr,
    Infinite,
    Matrix,
    Name,
    Number,
    Product,
    Quotient,
    Sum,
    Transpose,
    is_literal,
    number,
)
from qkv.reader.chain import Chain, each_of_its_own
from qkv.reader.maths.arrays import ELLIPSIS
from qkv.reader.maths.brackets import Paired, paired, size_in
from qkv.reader.maths.drawn import straightened
from qkv.reader.maths.lexer import tokens_of
from qkv.reader.maths.names import Names, names_of
from qkv.reader.maths.numerals import Comma, comma_in, decimal
from qkv.reader.maths.pieces import NEXT, Piece, is_numbering, pieces, without_asides
from qkv.reader.maths.terms import Terms
from qkv.reader.maths.tokens import Places, Token
from qkv.reader.maths.units import factors_behind, without_units
from qkv.reader.maths.wording import resolved
from qkv.reader.model import Link, Relation, Unread
from qkv.regex import regex

_RELATIONS = {relation.value: relation for relation in Relation}


class Parsed(NamedTuple):
    """What a stretch of mathematics says, and what of it could not be read."""

    chains: tuple[Chain, ...]
    unread: tuple[Unread, ...] = ()


def parse_math(
    source: str, at: Location, *, strict: bool = True, comma: Comma = Comma.UNTOLD, names: Names | None = None
) -> Parsed:
    """Read a stretch of mathematics that begins at `at`; it may span lines.

    `strict` is for what stands between math delimiters; without it the stretch is a line of prose. `names` is the
    table of the page; by default the stretch is a page of its own.

    >>> parse_math("Q = X W^Q", Location(1)).chains[0].links[1].relation
    <Relation.EQUAL: '='>
    """
    here = comma_in(source, comma)
    tokens = tokens_of(source, strict=strict, comma=here)
    table = (names or names_of([tokens]))._replace(comma=comma if comma is not Comma.UNTOLD else here)
    return read_stream(tokens, source, Places(source, at), table, strict=strict)


@lru_cache(maxsize=1024)  # the questions of an assignment are read again for every hand-in
def parse_formula(source: str, names: Names | None = None) -> Expr | None:
    """The one expression that a text is, with the names of its page; None where it is more, less or none."""
    try:
        chains = parse_math(source, Location(1), names=names).chains
    except QkvError:
        return None
    return chains[0].links[0].expr if len(chains) == 1 and len(chains[0].links) == 1 else None


def read_stream(tokens: list[Token], source: str, places: Places, names: Names, *, strict: bool) -> Parsed:
    """The chains of a stream of tokens, in order."""
    pairs = paired(straightened(without_asides(without_units(resolved(tokens, names))), source))
    unread = _strays(pairs.dropped, source, places) if strict else []
    chains: list[Chain] = []
    for piece in pieces(pairs):
        if is_numbering(pairs.tokens, piece):
            continue
        try:
            chains += _chain(piece, pairs, source, places, names)
        except QkvError as problem:
            if strict or piece.is_array(pairs):
                lo = pairs.tokens[piece.lo]
                text = source[lo.start : max(t.end for t in pairs.tokens[piece.lo : piece.hi])]
                unread.append(Unread(places.at(lo.start).line, text[:300], problem.message))
    return Parsed(tuple(each_of_its_own(list(_joined_lists(chains, source)), source)), tuple(unread))


def _strays(dropped: tuple[Token, ...], source: str, places: Places) -> list[Unread]:
    """Brackets without a partner, reported once a line."""
    lines: dict[int, list[str]] = {}
    for token in dropped:
        lines.setdefault(places.at(token.start).line, []).append(source[token.start : token.end])
    return [Unread(line, " ".join(found[:9]), "a bracket has no partner") for line, found in lines.items()]


# — one piece —


def _chain(piece: Piece, pairs: Paired, source: str, places: Places, names: Names) -> Iterator[Chain]:
    """The chain of a piece; words alone give none."""
    tokens, lo, hi = pairs.tokens, piece.lo, piece.hi
    if tokens[lo].kind == "op" and tokens[lo].text not in "+-±":
        if not (tokens[lo].text == "·" or _says_root(tokens[lo:hi])) or all(t.kind != "rel" for t in tokens[lo:hi]):
            return  # '÷ √2:' says what is done
        lo += 1  # the dot of 'a = 1 · b = 2' parts statements
    if _is_cancelled(pairs, lo, hi):
        lo, hi, piece = lo + 2, hi - 1, piece._replace(lo=lo + 2, hi=hi - 1, struck=True)
    reader = Terms(pairs, source, places, names)
    lo, hi = reader.trimmed(lo, hi)
    if lo >= hi:
        return
    marks = [
        i
        for i in reader.own_level(lo, hi)
        if tokens[i].kind == "rel" or (tokens[i].text == ":" and tokens[i].kind == "sep")
    ]
    text = source[tokens[lo].start : max(t.end for t in tokens[lo:hi])]
    end = max(t.end for t in tokens[lo:hi])
    if (sizes := _sizes(tokens[lo:hi])) is not None:
        parts = tuple(Product(number(rows), number(columns)) for rows, columns in sizes)
        link = Link(Relation.FIRST, Call("shapes", parts), text, reader.at(lo), shapes=sizes)
        yield Chain((link,), link.at, places.at(end - 1).line, text, tokens[lo].start, end, after=piece.after)
        return
    links, trail = _links(reader, (*marks, hi), lo, piece)
    if not links:
        return
    own = len(links) > 1 and not is_literal(links[0].expr)  # '⇒ S = …' defines S
    if piece.after in NEXT and links[0].relation is Relation.FIRST and not own:
        links[0] = replace(links[0], relation=_RELATIONS[piece.after])
    yield Chain(
        tuple(links),
        links[0].at,
        places.at(max(end - 1, 0)).line,
        text,
        tokens[lo].start,
        end,
        continues=links[0].relation is not Relation.FIRST,
        struck=piece.struck or all(link.struck for link in links),
        after=piece.after,
        trail=trail,
        counts=piece.until == "prose" and hi - lo == 1 and "." not in text,
        remarks=_remarks(links[-1], tokens[(marks or [lo])[-1] : hi]),
    )


def _says_root(tokens: list[Token]) -> bool:
    """Whether a divisor is told in two ways: '÷ √d_k = √2 ≈ 1.414'; '÷ √2 = 2.12' says what something else comes to."""
    texts = [token.text for token in tokens]
    roots = [texts[i + 1 : i + 2] == ["sqrt"] for i, token in enumerate(tokens) if token.kind == "rel"]
    return texts[:2] == ["/", "sqrt"] and any(roots)


def _links(reader: Terms, marks: tuple[int, ...], lo: int, piece: Piece) -> tuple[list[Link], str]:
    """The links of a piece that ends at the last mark, and the relation at its end that nothing follows."""
    links: list[Link] = []
    relation, trail = Relation.FIRST, ""
    for mark in marks:
        if lo < mark:
            try:
                links.append(_link(reader, relation, lo, mark, piece))
            except QkvError as problem:
                if not links or (mark == marks[-1] and not (len(links) > 1 and problem.message == ELLIPSIS)):
                    raise
            relation, trail = Relation.FIRST, ""  # what cannot be read between two sides leaves these equal
        if mark < marks[-1]:
            relation = relation or _RELATIONS.get(reader.tokens[mark].text, Relation.EQUAL)
            trail = str(relation)
        lo = mark + 1
    return links, trail


def _remarks(link: Link, tokens: list[Token]) -> tuple[str, ...]:
    """The remarks behind the rows of an array, where each row has one."""
    notes = tuple(token.text for token in tokens if token.kind == "note")
    array = link.expr
    return notes if isinstance(array, Matrix) and len(array.rows) == len(notes) > 1 else ()


def _is_cancelled(pairs: Paired, lo: int, hi: int) -> bool:
    """Whether a piece is crossed out as a whole: \\cancel{Q = 3}."""
    whole = hi - lo > 3 and pairs.tokens[lo].text == "cancel" and pairs.partner[lo + 1] == hi - 1
    return whole and any(t.kind == "rel" for t in pairs.tokens[lo + 2 : hi - 1])


def _link(reader: Terms, relation: Relation, lo: int, hi: int, piece: Piece) -> Link:
    """Read one link, and what it may mean otherwise."""
    reader.shapes, reader.doubts = [], set()
    notes = [token.text for token in reader.tokens[lo:hi] if token.kind == "note"]
    notes += piece.notes if hi >= piece.hi - 1 else ()
    lo, hi = reader.trimmed(lo, hi)
    expr = reader.expression(lo, hi)
    struck = isinstance(expr, Call) and expr.function == "struck"
    if reader.tokens[hi - 1].kind == "op" and hi - lo > 1:
        notes.append(f"ends with {reader.tokens[hi - 1].text}")  # its right side stands elsewhere
    shapes, doubts = tuple(reader.shapes), sorted(reader.doubts)
    text = reader.text(lo, hi)
    others = dict.fromkeys((*_alternatives(reader, lo, hi, doubts, expr), *_other_comma(reader, text, lo, expr)))
    value = expr.args[0] if struck and isinstance(expr, Call) else expr
    units = factors_behind(reader.source, reader.tokens[hi - 1].end) if isinstance(value, Number) else ()
    return Link(relation, value, text, reader.at(lo), struck, " ".join(notes), shapes, tuple(others), units)


def _alternatives(reader: Terms, lo: int, hi: int, doubts: list[str], usual: Expr) -> Iterator[Expr]:
    """The same range read with one doubt turned round."""
    for doubt in doubts:
        other = replace(reader, turned=frozenset((doubt,)), shapes=[], doubts=set(), depth=0)
        try:
            expr = other.expression(lo, hi)
        except QkvError:
            continue
        if expr != usual:
            yield expr


_THOUSAND = regex(r"[1-9]\d{0,2},\d{3}")
_ONE_COMMA = regex(r"[\[(]?\s*-?\d+,\d+\s*[\])]?")


def _other_comma(reader: Terms, text: str, lo: int, usual: Expr) -> Iterator[Expr]:
    """0,5 as a list where it was read as a half, or as a half where it was a list, if the page does not tell; 1,414 as
    a decimal where it was read as a thousand, whatever the page does elsewhere."""
    if isinstance(usual, Number) and _THOUSAND.fullmatch(text) and usual.value.denominator == 1:
        yield decimal(text.replace(",", "."), reader.at(lo))
    if reader.names.points or reader.names.comma is not Comma.UNTOLD or not _ONE_COMMA.fullmatch(text):
        return
    told = Comma.BARE if isinstance(usual, Matrix) else Comma.UNTOLD
    bracketed = text if told is Comma.BARE else f"[{text}]"
    names = reader.names._replace(comma=told, points=True)
    tokens = tokens_of(bracketed, comma=told)
    for chain in read_stream(tokens, bracketed, Places(bracketed, reader.at(lo)), names, strict=True).chains:
        if chain.links[0].expr != usual:
            yield chain.links[0].expr


def _sizes(tokens: list[Token]) -> tuple[tuple[int, int], ...] | None:
    """The sizes that a range consists of (3×4 4×3), or None where it is anything else."""
    core = [t for t in tokens if t.kind not in ("open", "close", "wide") and t.text != "cancel"]
    if not core or len(core) % 3 or core[0].kind != "num" or any(t.kind == "rel" for t in core):
        return None
    sizes = [size_in(core[k : k + 3]) for k in range(0, len(core), 3)]
    found = tuple(size for size in sizes if size is not None)
    return found if len(found) == len(sizes) and not any("·" in t.text for t in core) else None


# — pieces that belong together —


def _joined_lists(chains: list[Chain], source: str) -> Iterator[Chain]:
    """Chains with numbers that only commas part made one loose vector, and margins given to what they measure."""
    out: list[Chain] = []
    entries: list[Chain] = []
    for chain, following in zip(chains, (*chains[1:], None), strict=False):
        last = out[-1] if out else None
        if last is not None and _is_entry(chain) and _is_like(last.links[-1].expr, chain) and _lists(last, chain):
            entries.append(chain)
            continue
        if entries and last is not None:
            out[-1] = _listed(last, entries)
            entries = []
        last = out[-1] if out else None
        if last is not None and _is_sizes(chain) and chain.after in ("wide", "row"):
            tail = replace(last.links[-1], shapes=last.links[-1].shapes + chain.links[0].shapes)
            out[-1] = last._replace(links=(*last.links[:-1], tail), end=chain.end)
        elif (
            last is not None
            and chain.continues
            and chain.after in ("row", "wide", "edge")
            and chain.links[0].relation in "=≈"
        ):
            out[-1] = _continued(last, chain)
        elif last is not None and _is_result(_as_product(last), chain) and not _begins_list(chain, following):
            out[-1] = _continued(_as_product(last), chain)
        elif last is not None and _is_note(chain):
            tail = replace(last.links[-1], note=f"{last.links[-1].note} {chain.links[0].text}".strip())
            out[-1] = last._replace(links=(*last.links[:-1], tail), end=chain.end)
        else:
            while out and len(chain.links) > 1 and _is_listed_before(out[-1], chain, source):
                chain = _named_together(out.pop(), chain)
            out.append(chain)
    if entries:
        out[-1] = _listed(out[-1], entries)
    return iter(out)


def _lists(last: Chain, chain: Chain) -> bool:
    """Whether a number goes on a list: 0.5, 0.3; 0.5 and 0.3."""
    if chain.after in ("and", "wide", "edge"):
        return len(last.links) == 1 and _is_decimal(chain.links[0].expr) and _is_decimal(last.links[-1].expr)
    return chain.after in (",", ";")


def _begins_list(chain: Chain, following: Chain | None) -> bool:
    """Whether a number behind an arrow is the first of several: e^2.12 + e^0.71 -> 0.804  0.196."""
    value = chain._replace(links=chain.links[:1], continues=False)
    return following is not None and _is_entry(following) and _lists(value, following)


def _is_decimal(expr: Expr) -> bool:
    return isinstance(expr, Number) and bool(expr.places)


def is_scalar(expr: Expr) -> bool:
    """Whether an expression is one number, written out or as a small working."""
    return isinstance(expr, Number | Infinite) or (is_literal(expr) and not isinstance(expr, Matrix | Transpose))


def _is_entry(chain: Chain) -> bool:
    single = len(chain.links) == 1 and not chain.continues and not chain.trail and not chain.counts
    return single and (is_scalar(chain.links[0].expr) or _is_boxed(chain.links[0].expr))


def _is_like(expr: Expr, entry: Chain) -> bool:
    """Whether both are bare numbers, or numbers in brackets of their own: [10], [20]."""
    boxed = _is_boxed(entry.links[0].expr)
    return _is_boxed(expr) if boxed else is_scalar(expr)


def _is_boxed(expr: Expr) -> bool:
    return isinstance(expr, Matrix) and expr.shape == (1, 1) and is_scalar(expr.rows[0][0])


def _is_result(last: Chain, chain: Chain) -> bool:
    """Whether an arrow leads from a calculation in numbers to what it gives: 50,257 × 1,600 → 80.4M."""
    working, value = last.links[-1].expr, chain.links[0]
    arrow = value.relation is Relation.ARROW and len(chain.links) == 1 and isinstance(value.expr, Number)
    return arrow and isinstance(working, Product | Sum | Quotient) and is_literal(working) and not last.trail


def _as_product(chain: Chain) -> Chain:
    """A single size as the product that it may be: 50257×1600."""
    expr = chain.links[-1].expr
    if not isinstance(expr, Call) or not _is_sizes(chain) or len(expr.args) > 1:
        return chain
    return chain._replace(links=(replace(chain.links[0], expr=expr.args[0], shapes=()),))


def _is_note(chain: Chain) -> bool:
    """'→ Input_1' says what the value before it belongs to."""
    return len(chain.links) == 1 and chain.links[0].relation is Relation.ARROW and _is_bare(chain.links[0].expr)


def _is_sizes(chain: Chain) -> bool:
    expr = chain.links[0].expr
    return isinstance(expr, Call) and expr.function == "shapes"


def _listed(last: Chain, entries: list[Chain]) -> Chain:
    """Weights = 0.5, 0.3: numbers that only commas part are one loose vector; [10], [20] are rows of one number."""
    tail, end = last.links[-1], entries[-1]
    cells = (tail.expr, *(entry.links[0].expr for entry in entries))
    more = "".join(f", {entry.text}" for entry in entries)
    boxed = [cell.rows[0] for cell in cells if isinstance(cell, Matrix)]
    array = Matrix(tuple(boxed), at=tail.at) if boxed else Matrix((cells,), loose=True, at=tail.at)
    tail = replace(tail, expr=array, text=tail.text + more, alternatives=())
    return last._replace(links=(*last.links[:-1], tail), end_line=end.end_line, text=last.text + more, end=end.end)


def _continued(last: Chain, chain: Chain) -> Chain:
    """A row that begins with a relation goes on from the row before."""
    text = f"{last.text} {chain.text}"
    return last._replace(
        links=last.links + chain.links, end_line=chain.end_line, text=text, end=chain.end, trail=chain.trail
    )


def _is_bare(expr: Expr) -> bool:
    return isinstance(expr, Name) or (isinstance(expr, Transpose) and isinstance(expr.arg, Name))


def _is_listed_before(last: Chain, chain: Chain, source: str) -> bool:
    """Whether a name, and nothing but a comma, stands before what a chain names: Q, K = …"""
    between = source[last.end : chain.start]
    return chain.after == "," and not re.search(r"\w", between) and _is_lone_name(last) and _names(chain)


def _is_lone_name(chain: Chain) -> bool:
    return len(chain.links) == 1 and not chain.continues and _is_bare(chain.links[0].expr)


def _names(chain: Chain) -> bool:
    left = chain.links[0].expr
    return not chain.continues and (_is_bare(left) or (isinstance(left, Call) and left.function == "list"))


def _named_together(last: Chain, chain: Chain) -> Chain:
    """Q, Kᵀ = …: names before a relation that commas part."""
    left, right = last.links[0].expr, chain.links[0].expr
    behind = right.args if isinstance(right, Call) and right.function == "list" else (right,)
    expr = Call("list", (left, *behind), at=left.at)
    text = f"{last.text}, {chain.text}"
    head = replace(last.links[0], expr=expr, text=f"{last.links[0].text}, {chain.links[0].text}")
    return chain._replace(links=(head, *chain.links[1:]), at=last.at, text=text, start=last.start, after=last.after)
