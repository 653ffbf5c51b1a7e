"""Lists under a caption, a word or a letter before each: 'Key vectors:', then 'tea → [1, 1]', 'cup → [0, 2]'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.records import replace
from qkv.sheet.model import Link, Relation, Statement
from qkv.sheet.phrases import SPELLED_OUT
from qkv.understand.roles import cue_of

R = Role
_BY_ROW = frozenset({R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.OUTPUT})
_SENTENCE_END = late(r"(?<=[.!?。])\s+")


def captioned(run: Sequence[tuple[Statement, str]], first: int) -> Iterator[Statement] | None:
    """The lists of a run as rows of what its caption names, counted from `first`; None where no caption names one
    quantity. A single list may belong to any token."""
    caption = _caption(*run[0]) if len(run) > 1 else ""
    letters = [letter.lower() for letter, pattern in SPELLED_OUT if pattern.search(caption)]
    role = cue_of(caption).role
    if role in _BY_ROW and not letters:
        return (_as_row(statement, f"{caption} row {number}") for number, (statement, _) in enumerate(run, first))
    if len(letters) == 1 and role is None:
        return (as_vector(*entry, letters[0], number) for number, entry in enumerate(run, 1))
    return None


def _caption(statement: Statement, word: str) -> str:
    """The last sentence before the first list, without the word that calls it."""
    before = statement.before
    if len(statement.links) == 1:
        before = before[: before.rfind(word)]
    return _SENTENCE_END.split(before.rstrip())[-1]


def as_vector(statement: Statement, word: str, letter: str, number: int) -> Statement:
    """A list as the vector of a token: x_2 = [0, 1]."""
    at, value = statement.links[0].at, statement.links[-1]
    name = Link(Relation.FIRST, n.Name(Symbol(letter, (), (str(number),)), word, at=at), word, at)
    return replace(statement, links=(name, replace(value, relation=Relation.EQUAL)))


def _as_row(statement: Statement, before: str) -> Statement:
    """A list that words alone name."""
    return replace(statement, links=(replace(statement.links[-1], relation=Relation.FIRST),), before=before)
