"""Which line of an array words speak of: 'weights of token 2', 'scores of "cat"', 'for the last'."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.judging.fit import How, Meaning
from qkv.library.roles import roles_in_words
from qkv.library.said import places_said
from qkv.library.words import pattern
from qkv.reader.model import Origin
from qkv.reading.equation import Equation
from qkv.reading.naming import role_symbol
from qkv.reading.page import Spot
from qkv.reading.system import LINE, System

LINED = frozenset({Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.OUTPUT})

_NUMBERED = re.compile(rf"(?:{pattern('line')})\s*#?\s*(\d{{1,2}})\b|第\s*(\d{{1,2}})\s*(?:行|个)")
_WORD = re.compile(r"[^\W\d_]+")


def lined(equation: Equation, system: System, spot: Spot) -> Iterator[Meaning]:
    """The lines of what words name, where the same words say which line."""
    words = f"{equation.words[-90:]} {equation.label}".lower()
    roles = [role for role in roles_in_words(equation.label or words) if role in LINED]
    if equation.origin is Origin.TABLE:  # what is said above a table holds for all its columns
        beside = (e for e in system.page.equations if e.line == equation.line and e.origin is Origin.TABLE)
        words = " ".join(e.words[-90:] for e in beside).lower()
    places = list(dict.fromkeys(_places(words, equation, system))) if roles else []
    if len(places) == 1:
        for head in (None, *system.heads_in(spot.scope)):
            whole = n.Name(role_symbol(roles[0], head))
            yield Meaning(How.WORDED, n.Call(LINE, (whole, n.number(places[0]))), spot)


def _places(words: str, equation: Equation, system: System) -> Iterator[int]:
    """The rows that words speak of, from 1: by number, by a word of the page's tokens, by an ordinal."""
    numbers = [int(a or b) for a, b in _NUMBERED.findall(words)]
    yield from (number + (_counts_from_zero(system) or 0) for number in numbers)
    if numbers:
        return
    tokens = [token.lower() for token in system.page.tokens.get(equation.scope, ()) or equation.columns]
    named = [tokens.index(word) + 1 for word in _WORD.findall(words) if word in tokens]
    yield from named
    if not named:
        yield from (place if place > 0 else len(tokens) for place in places_said(words) if place > 0 or tokens)


def _counts_from_zero(system: System) -> bool:
    """Whether words of the page count rows from 0."""
    return system.choices.zero_based or "0" in {a or b for a, b in _NUMBERED.findall(system.page.words)}
