"""Mathematics → chains of relations, in whatever notation they are written.

    source ─lexer─▶ tokens ─brackets─▶ paired tokens ─statements─▶ pieces ─▶ chains of links ─joining─▶ Parsed

A piece is a stretch between separators of statements; a chain is a piece read, A = B ≈ C. Nothing here raises on any
input: what spells no mathematics is reported as `Unread`, and the rest is read.
"""

from __future__ import annotations

from itertools import pairwise

from qkv.errors import Location, QkvError
from qkv.expr.nodes import Call, Expr, Matrix, Name, Number, Product, Transpose, is_literal, number
from qkv.records import record, replace
from qkv.sheet.brackets import paired
from qkv.sheet.clauses import BEFORE_SIZES, Piece, pieces_of, sizes_in
from qkv.sheet.expressions import EDGES, LEAVES, Reader
from qkv.sheet.lexer import Token, tokens_of
from qkv.sheet.matrices import BEFORE_BLANKS, blank_list, own_level
from qkv.sheet.model import Link, Relation, Unread
from qkv.sheet.naming import Known
from qkv.sheet.numerals import Comma, comma_in
from qkv.sheet.places import Places


@record(frozen=True, slots=True)
class Chain:
    """One chain of relations as read.

    `continues` marks one that began with a relation (=, ≈, ⇒); `lead` and `trail` are words inside the mathematics
    before and after it. A trail of '=' says that the chain ends with a relation: its value stands elsewhere.
    """

    links: tuple[Link, ...]
    at: Location
    end_line: int
    text: str
    continues: bool = False
    struck: bool = False
    lead: str = ""
    trail: str = ""


@record(frozen=True, slots=True)
class Parsed:
    """What a stretch of mathematics says, and what of it could not be read."""

    chains: tuple[Chain, ...]
    unread: tuple[Unread, ...] = ()


def parse_math(
    source: str,
    at: Location,
    *,
    strict: bool = True,
    comma: Comma = Comma.UNTOLD,
    words: frozenset[str] = frozenset(),
    known: Known | None = None,
) -> Parsed:
    """Read a stretch of mathematics that begins at `at`; it may span lines.

    `strict` is for what stands between math delimiters. Without it the stretch is a line of prose: words end the
    mathematics, and only relations and bracketed numbers count. `comma` is what the document shows of its commas; by
    default the stretch itself must show that 0,5 is a half. `words` are those that the document uses as names,
    `known` the names that it has spelled so far; new ones are added.

    >>> parse_math("Q = X W^Q", Location(1)).chains[0].links[1].relation
    <Relation.EQUAL: '='>
    """
    here = comma_in(source, comma)
    pairs = paired(tokens_of(source, strict=strict, comma=here, words=words))
    places = Places(source, at)
    decimal = comma is not Comma.UNTOLD or here is not Comma.UNTOLD  # (1; 2) is a list where halves are written 0,5
    reader = Reader(pairs, source, places, {} if known is None else known, strict=strict, decimal_comma=decimal)
    joiner = _Joiner()
    unread = _strays(pairs.dropped, source, places) if strict and pairs.dropped else []
    for piece in pieces_of(reader):
        try:
            if new := _chains_of(reader, piece):
                joiner.add(new, piece.separator)
        except QkvError as error:
            if strict or any(t.kind in ("begin", "grid") for t in reader.tokens[piece.lo : piece.hi]):
                unread.append(Unread(reader.at(piece.lo).line, reader.text(piece.lo, piece.hi), error.message))
    chains = joiner.finished() if joiner.entries else joiner.chains
    return Parsed(tuple(chains if strict else filter(_is_mathematics, chains)), tuple(unread))


def _strays(dropped: tuple[Token, ...], source: str, places: Places) -> list[Unread]:
    """Brackets without a partner, reported once a line."""
    lines: dict[int, list[str]] = {}
    for token in dropped:
        lines.setdefault(places.at(token.start).line, []).append(source[token.start : token.end])
    return [Unread(line, " ".join(found[:9]), "a bracket has no partner") for line, found in lines.items()]


# — one piece —


_RELATIONS = {relation.value: relation for relation in Relation}
_LEADING = (Relation.IMPLIES, Relation.ARROW)  # what may begin a definition of its own


def _chains_of(reader: Reader, piece: Piece) -> list[Chain]:
    """The chains of a piece: one, or two where ⇒ leads to a definition of its own; words alone give none."""
    lo, hi, marks = piece.lo, piece.hi, piece.marks
    if lo >= hi:
        return [_words_only(reader, piece)] if piece.lead else []
    tokens, places = reader.tokens, reader.places
    first, last = tokens[lo], tokens[hi - 1].end
    may_be_sizes = first.kind in BEFORE_SIZES
    if may_be_sizes and (sizes := sizes_in(reader, lo, hi)) is not None:
        return [_sizes(reader, piece, sizes)]
    if first.text == "cancel" and (inner := _crossed_out(reader, piece)) is not None:
        return _chains_of(reader, inner)
    if may_be_sizes and marks and _are_sizes(reader, piece):
        return []
    reader.depth = 0
    links: list[Link] = []
    relation, start, trail, implied = Relation.FIRST, lo, "", False
    tied = len(marks) > 1 and ("≡" in reader.source or "\\equiv" in reader.source)
    for end in (*marks, hi):
        if start < end:
            _add_link(reader, links, relation, start, end, last=end == hi)
            relation, trail = Relation.FIRST, ""
        if end < hi:
            relation = relation or (_relation(reader, end) if tied else _RELATIONS[tokens[end].text])
            trail = str(relation)
            implied |= relation in _LEADING
        start = end + 1
    if not links:
        return []
    if links[0].relation is Relation.ARROW and len(links) > 1 and not is_literal(links[0].expr):
        links[0] = replace(links[0], relation=Relation.FIRST)  # '→ Q Kᵀ = …' is a line of its own
    chain = Chain(
        tuple(links),
        links[0].at,
        end_line=places.line if last <= places.first_end else places.at(last - 1).line,
        text=reader.source[first.start : last],
        continues=links[0].relation is not Relation.FIRST,
        struck=piece.struck or (links[0].struck and all(link.struck for link in links)),
        lead=piece.lead,
        trail=trail,
    )
    return _split_at_implications(chain) if implied else [chain]


def _are_sizes(reader: Reader, piece: Piece) -> bool:
    """(3×2)(2×3) = 3×3 says what fits what, and multiplies no numbers."""
    edges = (piece.lo - 1, *piece.marks, piece.hi)
    return all(sizes_in(reader, a + 1, b) is not None for a, b in pairwise(edges))


def _relation(reader: Reader, i: int) -> Relation:
    """The relation that token i spells beside others: there ≡ ties equations, not values."""
    token = reader.tokens[i]
    if reader.source[token.start : token.end] in ("\\equiv", "≡"):
        return Relation.IMPLIES
    return _RELATIONS[token.text]


def _crossed_out(reader: Reader, piece: Piece) -> Piece | None:
    """The inside of a piece that is crossed out as a whole."""
    lo, hi = piece.lo, piece.hi
    crossed = hi - lo > 3 and reader.tokens[lo].text == "cancel" and reader.partner[lo + 1] == hi - 1
    if not crossed:
        return None
    marks = tuple(i for i in own_level(reader, lo + 2, hi - 1) if reader.tokens[i].kind == "rel")
    return replace(piece, lo=lo + 2, hi=hi - 1, struck=True, marks=marks)


def _words_only(reader: Reader, piece: Piece) -> Chain:
    """Words behind all mathematics."""
    at = reader.at(len(reader.tokens) - 1)
    return Chain((), at, at.line, "", lead=piece.lead)


def _add_link(reader: Reader, links: list[Link], relation: Relation, lo: int, hi: int, *, last: bool) -> None:
    """Read one more link; words that an arrow points to are a note of the link before."""
    if relation is Relation.ARROW and links and last and _are_words(reader, lo, hi):
        links[-1] = replace(links[-1], note=f"{links[-1].note} {reader.text(lo, hi)}".strip())
        return
    reader.shapes = []
    tokens, kinds = reader.tokens, reader.kinds
    first, final = kinds[lo], tokens[hi - 1]
    listed = blank_list(reader, lo, hi, at_least=3 if reader.strict else 2) if first in BEFORE_BLANKS else None
    expr = listed or reader.expression(lo, hi)
    struck = isinstance(expr, Call) and expr.function == "struck"
    if isinstance(expr, Call) and struck:
        expr = expr.args[0]
    # an operator that a link ends with: its right side stands elsewhere
    note = f"ends with {final.text}" if final.kind == "op" and hi - lo > 1 else ""
    if first in EDGES or final.kind in EDGES:
        lo, hi = reader.trimmed(lo, hi)
    text = reader.source[tokens[lo].start : tokens[hi - 1].end]
    at = (expr.at if kinds[lo] in LEAVES else None) or reader.at(lo)
    links.append(Link(relation, expr, text, at, struck, note, tuple(reader.shapes)))


def _are_words(reader: Reader, lo: int, hi: int) -> bool:
    kinds = {token.kind for token in reader.tokens[lo:hi]}
    return kinds <= {"text", "prose", "word", "sub", "script", "num"} and bool(kinds & {"text", "prose", "word"})


def _sizes(reader: Reader, piece: Piece, sizes: tuple[tuple[int, int], ...]) -> Chain:
    """3×4 4×3: sizes written under a product."""
    parts = tuple(Product(number(rows), number(columns)) for rows, columns in sizes)
    at, text = reader.at(piece.lo), reader.text(piece.lo, piece.hi)
    link = Link(Relation.FIRST, Call("shapes", parts, at=at), text, at, shapes=sizes)
    return Chain((link,), at, reader.places.at(reader.tokens[piece.hi - 1].end - 1).line, text, lead=piece.lead)


def _split_at_implications(chain: Chain) -> list[Chain]:
    """A = B ⇒ C ≈ D says two things where C is a name, as does A = 2 → C ≈ D; A ⇒ 71 says one."""
    links = chain.links
    starts = [k for k in range(len(links) - 1) if _leads_on(links, k) and _defines(links[k], links[k + 1])]
    if not starts:
        return [chain]
    chains = [] if starts[0] == 0 else [replace(chain, links=links[: starts[0]], trail="")]
    for k, end in zip(starts, [*starts[1:], len(links)], strict=True):
        own = (replace(links[k], relation=Relation.FIRST), *links[k + 1 : end])
        last = end == len(links)
        lead, trail = ("" if k else chain.lead), (chain.trail if last else "")
        chains.append(replace(chain, links=own, at=links[k].at, continues=False, lead=lead, trail=trail))
    return chains


def _leads_on(links: tuple[Link, ...], k: int) -> bool:
    if links[k].relation is Relation.IMPLIES:
        return True
    return links[k].relation is Relation.ARROW and k > 1 and _is_bare(links[k].expr) and is_literal(links[k - 1].expr)


def _defines(link: Link, following: Link) -> bool:
    return following.relation in (Relation.EQUAL, Relation.APPROX) and not is_literal(link.expr)


# — pieces that belong together —


class _Joiner:
    """The chains so far. Numbers that only commas part wait in `entries` until their list is complete."""

    def __init__(self) -> None:
        self.chains: list[Chain] = []
        self.entries: list[Chain] = []
        self.names = 0  # chains at the end that are one bare name each, parted by commas

    def finished(self) -> list[Chain]:
        """All chains, the last of which ends with a list."""
        self._close_list()
        return self.chains

    def add(self, new: list[Chain], separator: str) -> None:
        """Take the chains of the next piece: entries of a list, sizes, words, continuations, or chains of their own."""
        first = new[0]
        if self.chains and separator in (",", ";") and self._takes_entry(first):
            self.entries.append(first)
            return
        if self.entries:
            self._close_list()
        last = self.chains[-1] if self.chains else None
        if last is None:
            self.chains.extend(new if first.links else [])  # words alone come alone
        elif not first.links:
            self.chains[-1] = replace(last, trail=f"{last.trail} {first.lead}".strip())
        elif separator == "wide" and _is_equation_number(first):
            return
        elif _is_sizes(first) and not first.lead:
            self.chains[-1] = _with_sizes(last, first)
        elif first.continues and separator in ("row", "wide"):
            self.chains[-1] = _continued(last, first)
            self.chains.extend(new[1:])
        elif separator == "," and self.names and _defines_name(first):
            self.chains[-self.names :] = [_listed_left(self.chains[-self.names :], first)]
            self.chains.extend(new[1:])
        else:
            self.chains.extend(new)
        bare = len(first.links) == 1 and not first.continues and _is_bare(first.links[0].expr)
        self.names = (self.names + 1 if separator == "," else 1) if bare else 0

    def _takes_entry(self, first: Chain) -> bool:
        if len(first.links) != 1 or first.lead or first.continues or not _is_scalar(first.links[0].expr):
            return False
        return bool(self.entries) or _is_scalar(self.chains[-1].links[-1].expr)

    def _close_list(self) -> None:
        """Weights = 0.5, 0.3: numbers that only commas part are one loose vector."""
        last, tail = self.chains[-1], self.chains[-1].links[-1]
        cells = (tail.expr, *(entry.links[0].expr for entry in self.entries))
        more = "".join(f", {entry.text}" for entry in self.entries)
        tail = replace(tail, expr=Matrix((cells,), loose=True, at=tail.at), text=tail.text + more)
        end_line = self.entries[-1].end_line
        self.chains[-1] = replace(last, links=(*last.links[:-1], tail), end_line=end_line, text=last.text + more)
        self.entries = []


def _is_equation_number(chain: Chain) -> bool:
    """(1) at the end of a display."""
    return chain.text.startswith("(") and chain.text.strip("()").isdigit() and len(chain.links) == 1


def _is_sizes(chain: Chain) -> bool:
    expr = chain.links[0].expr
    return isinstance(expr, Call) and expr.function == "shapes"


def _with_sizes(last: Chain, sizes: Chain) -> Chain:
    """Sizes behind a value are a note of it; sizes behind sizes make one list."""
    tail = last.links[-1]
    expr, more = tail.expr, sizes.links[0]
    if _is_sizes(last) and isinstance(expr, Call) and isinstance(more.expr, Call):
        expr = Call("shapes", expr.args + more.expr.args, at=expr.at)
    tail = replace(tail, expr=expr, shapes=tail.shapes + more.shapes)
    return replace(last, links=(*last.links[:-1], tail), end_line=sizes.end_line, text=f"{last.text} {sizes.text}")


def _continued(last: Chain, first: Chain) -> Chain:
    """A row that begins with a relation goes on from the row before."""
    text = f"{last.text} {first.text}"
    return replace(last, links=last.links + first.links, end_line=first.end_line, text=text, trail=first.trail)


def _is_scalar(expr: Expr) -> bool:
    return isinstance(expr, Number) or (is_literal(expr) and not isinstance(expr, (Matrix, Transpose)))


def _is_bare(expr: Expr) -> bool:
    return isinstance(expr, Name) or (isinstance(expr, Transpose) and isinstance(expr.arg, Name))


def _defines_name(chain: Chain) -> bool:
    return len(chain.links) > 1 and _is_bare(chain.links[0].expr) and not chain.lead


def _listed_left(names: list[Chain], chain: Chain) -> Chain:
    """Q, Kᵀ = …: names before a relation that commas part."""
    first = names[0]
    listed = tuple(c.links[0].expr for c in (*names, chain))
    before = "".join(f"{c.text}, " for c in names)
    left = replace(
        chain.links[0], expr=Call("list", listed, at=first.at), text=before + chain.links[0].text, at=first.at
    )
    return replace(chain, links=(left, *chain.links[1:]), at=first.at, text=before + chain.text, lead=first.lead)


# — prose —


def _is_change(chain: Chain) -> bool:
    """'The weight rises 0.5 → 0.67' equates nothing."""
    plain = all(isinstance(link.expr, Number) for link in chain.links)
    return len(chain.links) == 2 and plain and chain.links[1].relation is Relation.ARROW


def _is_mathematics(chain: Chain) -> bool:
    """Whether something found in prose is meant as mathematics: a relation, or brackets full of numbers."""
    if _is_change(chain):
        return False
    if len(chain.links) > 1 or (chain.continues and chain.links):
        return True
    if not chain.links:
        return False
    expr = chain.links[0].expr
    if isinstance(expr, Transpose):
        expr = expr.arg
    if isinstance(expr, Call) and expr.function == "shapes":
        return True
    if isinstance(expr, Product):
        return is_literal(expr) and isinstance(expr.left, Matrix) and isinstance(expr.right, Matrix)
    if (
        not isinstance(expr, Matrix)
        or sum(map(len, expr.rows)) < 2
        or not chain.text.startswith(("[", "\\", "a", "t", "n"))
    ):
        return False
    return is_literal(expr)
