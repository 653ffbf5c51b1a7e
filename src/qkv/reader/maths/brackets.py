"""Which bracket closes which. Every bracket that is kept has its partner, so that the grammar works on ranges and
never has to guess where something ends; damaged brackets are dropped and reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from qkv.errors import ReadError
from qkv.reader.maths import signs
from qkv.reader.maths.tokens import Token

NESTING_LIMIT = 40  # levels of brackets; each costs the grammar several frames of Python's stack


class Unreadable(ReadError):
    """A stretch that spells no expression."""


class Paired(NamedTuple):
    """Tokens whose brackets all match: partner[i] is the other end (i itself for other tokens)."""

    tokens: list[Token]
    partner: list[int]
    dropped: tuple[Token, ...] = ()


def paired(tokens: list[Token]) -> Paired:
    """Match brackets, drop those without a partner, and lay the rows of align and its like open."""
    tokens = _with_plain_relations(tokens)
    partner = _partners(tokens)
    dropped = tuple(t for i, t in enumerate(tokens) if partner[i] < 0)
    opened = _opened_rows(tokens, partner)
    kept = [i for i in range(len(tokens)) if partner[i] >= 0 and i not in opened and not _is_idle(tokens, i)]
    place = {old: new for new, old in enumerate(kept)}
    return Paired([tokens[i] for i in kept], [place.get(partner[i], place[i]) for i in kept], dropped)


def _with_plain_relations(tokens: list[Token]) -> list[Token]:
    """A relation with something set above it, \\overset{!}{=}, as that relation."""
    out: list[Token] = []
    for token in tokens:
        stacked = (
            len(out) > 4 and token.text == "}" and out[-1].kind == "rel" and out[-2].text == "{" and out[-3].text == "}"
        )
        if stacked:
            first = next((k for k in range(len(out) - 4, max(-1, len(out) - 20), -1) if out[k].text == "second"), None)
            if first is not None:
                out[first:] = [out[-1]]
                continue
        out.append(token)
    return out


def _family(token: Token) -> str:
    if token.kind in ("begin", "end"):
        return "env"
    if token.text.startswith("left"):
        return "left"
    mark = token.text
    return (
        "brace"
        if mark in "{}"
        else "curly"
        if mark in "⟦⟧"
        else "angle"
        if mark in "⟨⟩"
        else mark
        if token.kind == "open"
        else _OPENER[mark]
    )


_OPENER = {closer: opener for opener, closer in signs.OPENERS.items()}


def _partners(tokens: list[Token]) -> list[int]:
    """The partner of each bracket, −1 for one that has none, the index itself for other tokens."""
    partner = list(range(len(tokens)))
    stack: list[tuple[int, str]] = []
    waiting: Counter[str] = Counter()
    for i, token in enumerate(tokens):
        if token.kind in ("open", "begin"):
            family = _family(token)
            stack.append((i, family))
            waiting[family] += 1
            partner[i] = -1
        elif token.kind in ("close", "end"):
            family = _family(token)
            partner[i] = -1
            if not waiting[family]:
                continue
            while stack:
                top, kind = stack.pop()
                waiting[kind] -= 1
                if kind == family:
                    partner[top], partner[i] = i, top
                    break
    return partner


def _opened_rows(tokens: list[Token], partner: list[int]) -> set[int]:
    """The ends of environments whose rows are statements: align and its like, and any that holds a relation."""
    opened: set[int] = set()
    stack: list[int] = []
    for i, token in enumerate(tokens):
        if partner[i] < 0:
            continue
        if token.kind in ("open", "begin"):
            stack.append(i)
        elif token.kind in ("close", "end") and stack:
            stack.pop()
        elif token.kind == "rel" and stack and tokens[stack[-1]].kind == "begin":
            opened |= {stack[-1], partner[stack[-1]]}
    opened |= {
        j
        for i, t in enumerate(tokens)
        if t.kind == "begin" and t.text in signs.STATEMENTS and partner[i] >= 0
        for j in (i, partner[i])
    }
    return opened


def _is_idle(tokens: list[Token], i: int) -> bool:
    """An & beside a relation only aligns it."""
    if tokens[i].text != "&" or tokens[i].kind != "sep":
        return False
    around = tokens[max(0, i - 1)], tokens[min(len(tokens) - 1, i + 1)]
    return any(t.kind == "rel" for t in around)


def size_in(tokens: Sequence[Token]) -> tuple[int, int] | None:
    """The size that a script or a bracket holds: (2 × 3), 2×3."""
    core = [t for t in tokens if t.kind not in ("open", "close") and t.text != "cancel"]
    if len(core) != 3 or core[1].text not in ("×",) or core[0].kind != "num" or core[2].kind != "num":
        return None
    rows, columns = core[0].text, core[2].text
    sizes = rows.isdigit() and columns.isdigit() and len(rows) < 9 and len(columns) < 9
    return (int(rows), int(columns)) if sizes else None
