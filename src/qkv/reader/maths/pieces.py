"""Where statements begin and end in a stream of tokens: words, separators, arrows and the ends of lines part them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from qkv.library.words import means
from qkv.reader.maths.brackets import Paired, size_in
from qkv.reader.maths.tokens import Token, value_begins
from qkv.reader.model import Relation

NEXT = (Relation.ARROW.value, Relation.IMPLIES.value)


def without_asides(tokens: list[Token]) -> list[Token]:
    """The tokens with round brackets laid open that hold words or a statement of their own: 2 heads (d_head = 2)."""
    tokens = _without_remarks(tokens)
    out, stack = list(tokens), list[int]()
    related: set[int] = set()
    for i, token in enumerate(tokens):
        if token.kind in ("open", "begin"):
            stack.append(i)
        elif stack and (token.kind == "prose" or (token.kind == "rel" and token.text in "=≈")):
            related.add(stack[-1])
        elif token.kind in ("close", "end") and stack:
            first = stack.pop()
            aside = first in related and tokens[first].text + token.text in ("()", "{}") and _is_aside(tokens, first)
            if aside or _is_size_of_array(tokens, first, i):
                out[first] = tokens[first]._replace(kind="wide")
                out[i] = token._replace(kind="wide")
    return out


def _is_size_of_array(tokens: list[Token], first: int, last: int) -> bool:
    """Whether brackets behind an array say how large it is: [2 1] (1×2), [[1, 0], [0, 1], [1, 1]] (3, 2)."""
    array = first > 0 and tokens[first].gap and (tokens[first - 1].text == "]" or tokens[first - 1].kind == "end")
    if not array or tokens[first].text != "(":
        return False
    inside = tokens[first + 1 : last]
    listed = [t.text for t in inside] if [t.kind for t in inside] == ["num", "sep", "num"] else []
    return size_in(tokens[first : last + 1]) is not None or (bool(listed) and listed[::2] == _size_of(tokens, first))


def _size_of(tokens: list[Token], end: int) -> list[str]:
    """How many rows and columns a list of lists has that ends before a token; nothing where it is no such list."""
    depth, rows, numbers = 0, 0, 0
    for token in reversed(tokens[:end]):
        depth += {"]": 1, "[": -1}.get(token.text, 0)
        rows += token.text == "]" and depth == 2
        numbers += token.kind == "num" and depth == 2
        if depth == 0:
            break
    return [str(rows), str(numbers // rows)] if rows and numbers % rows == 0 else []


def _without_remarks(tokens: list[Token]) -> list[Token]:
    """The tokens without words in brackets between a name and what it is: k_1 (river) = [1, 0]."""
    out: list[Token] = []
    for i, token in enumerate(tokens):
        out.append(token)
        if token.text != ")" or i + 1 >= len(tokens) or tokens[i + 1].text not in ("=", "≈"):
            continue
        first = next((k for k in range(len(out) - 2, max(len(out) - 8, 0), -1) if out[k].text == "("), 0)
        inside = out[first + 1 : -1] if first else []
        apart = out[first].gap
        first -= first > 1 and out[first - 1].kind == "wide"
        named = first > 0 and out[first - 1].kind in ("name", "sub", "num")
        if apart and inside and named and all(t.kind in ("prose", "quote") for t in inside):
            del out[first:]
    return out


def _is_aside(tokens: list[Token], first: int) -> bool:
    before = tokens[first - 1] if first else None
    if before is None or before.kind in ("prose", "sep", "line", "edge", "rel", "row", "wide"):
        return True
    return tokens[first].text == "(" and tokens[first].gap and before.kind not in ("op", "cmd", "func")


class Piece(NamedTuple):
    """A range of tokens that is one chain, the sign before it, and whether it is crossed out."""

    lo: int
    hi: int
    after: str
    struck: bool
    notes: tuple[str, ...] = ()
    until: str = ""  # the kind of the token that ends it

    def is_array(self, pairs: Paired) -> bool:
        """Whether a bracket full of numbers, or an environment, is in it: such a piece is not lost in silence."""
        if any(t.kind in ("prose", "quote") for t in pairs.tokens[self.lo : self.hi]):
            return False
        return any(
            t.kind == "begin"
            or (
                t.text.removeprefix("left") == "["
                and self.lo + k + 1 < self.hi
                and pairs.tokens[self.lo + k + 1].kind in ("num", "open", "op")
            )
            for k, t in enumerate(pairs.tokens[self.lo : self.hi])
        )


_CUTS = frozenset(("prose", "wide", "row", "edge", "strike", "quote", "note", "line", "blank"))


def pieces(pairs: Paired) -> Iterator[Piece]:
    """The ranges between words, separators, arrows and the ends of lines."""
    tokens, partner = pairs.tokens, pairs.partner
    lo, i, after, struck = 0, 0, "", False
    while i < len(tokens):
        token = tokens[i]
        if not _cuts(tokens, i, lo):
            i = max(partner[i], i) + 1
            continue
        notes = tuple(t.text for t in tokens[i : i + 2] if t.kind == "note")
        if lo < i:
            until = "joint" if token.kind == "prose" and means(token.text, "connective") else token.kind
            yield Piece(lo, i, after, struck, notes, until)
        joint = token.kind in ("wide", "line", "edge") or (token.kind == "prose" and means(token.text, "connective"))
        joint = joint or (token.kind == "prose" and after in NEXT)  # '-> scaled 0.7'
        if token.kind == "edge" and after in (",", ";"):
            after = "edge"
        elif (token.kind == "prose" and means(token.text, "connective") and lo < i) or (joint and after == "and"):
            after = "and"
        elif not (joint and lo == i and after):
            after = token.text if token.kind in ("sep", "rel") else token.kind
        struck ^= token.kind == "strike"
        i += 1
        lo = i
    if lo < len(tokens):
        yield Piece(lo, len(tokens), after, struck)


def _cuts(tokens: list[Token], i: int, lo: int) -> bool:
    """Whether the token at i ends a piece that began at lo."""
    token = tokens[i]
    before = tokens[i - 1] if i > lo else None
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    if token.kind == "rel":
        return token.text in NEXT or (token.text == "≡" and any(t.kind == "rel" for t in tokens[lo:i]))
    if token.kind == "sep":
        return token.text in (",", ";", ".", "。", "&") or (token.text == ":" and not _defines(tokens, lo, i))
    if token.kind not in _CUTS:
        return False
    if token.kind in ("line", "edge", "wide"):
        return not _goes_on(tokens, i, before, after)
    return token.kind != "quote" or before is None or before.kind not in ("name", "open", "sep")


def _goes_on(tokens: list[Token], i: int, before: Token | None, after: Token | None) -> bool:
    """Whether a formula goes on over the end of a line, or of a stretch between dollars."""
    if before is None or after is None:
        return False
    if before.kind == "rel" or (before.kind == "op" and tokens[i].kind == "edge"):
        return after.kind not in ("prose", "line") or tokens[i].kind == "edge"
    if after.kind == "rel":
        return after.text not in NEXT
    if after.kind == "edge" and i + 2 < len(tokens) and tokens[i].kind == "line" and tokens[i].text != "$$":
        return tokens[i + 2].kind == "rel" and tokens[i + 2].text not in NEXT and tokens[i + 1].text != "$$"
    if _opens_array(tokens, i + 1) and tokens[i].kind == "line" and tokens[i].text != "$$":
        return before.kind in ("end", "close", "name", "num", "sub", "sup", "prime", "op")  # a factor on its own line
    if after.kind == "op" and tokens[i].kind == "line":
        signs = "+×·−-" if before.kind == "end" else "+×"  # a dot after a matrix marks no item of a list
        return before.kind in ("close", "end", "num", "name", "sub") and after.text in signs
    return before.kind == "op" and tokens[i].kind == "line" and after.kind in ("open", "begin", "num", "name")


def _opens_array(tokens: list[Token], i: int) -> bool:
    """Whether a matrix begins at a token, in brackets of its own or not: \\begin{bmatrix}, \\left(\\begin{matrix}."""
    first = next((token for token in tokens[i : i + 2] if token.kind != "open"), None)
    return first is not None and first.kind == "begin"


def _defines(tokens: list[Token], lo: int, i: int) -> bool:
    """Whether a colon gives a name its value, W_O: [[1, 0], [0, 1]]; 'times W_O: …' says what is done with it."""
    if lo and tokens[lo - 1].kind == "prose" and means(tokens[lo - 1].text, "acts"):
        return False
    names = all(t.kind in ("name", "script", "sub", "prime", "accent", "num") or t.text in "{}" for t in tokens[lo:i])
    call = i + 1 < len(tokens) and tokens[i + 1].kind == "func"
    return lo < i and names and tokens[lo].kind == "name" and (call or value_begins(tokens, i + 1))


def is_numbering(tokens: list[Token], piece: Piece) -> bool:
    """Whether a piece only counts: the '2.' of '2. Scores', the '(1)' behind a formula."""
    inside = tokens[piece.lo : piece.hi]
    if len(inside) == 3 and piece.after in ("wide", "edge") and piece.hi == len(tokens):
        return [t.text for t in inside if t.kind != "num"] == ["(", ")"]
    before_words = (
        piece.hi + 1 < len(tokens) and tokens[piece.hi].text in (".", "。") and tokens[piece.hi + 1].kind == "prose"
    )
    return len(inside) == 1 and inside[0].kind == "num" and inside[0].text.isdigit() and before_words
