"""Givens from another document: the assignment that a solution answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.program.model import Given
from qkv.records import dataclass, replace
from qkv.sheet.model import Sheet
from qkv.understand.gathering import Gathering
from qkv.understand.repair import similar
from qkv.understand.scopes import EXERCISE_WORDS

# Exercise 2, Aufgabe 2(b), Q2; or, where no heading has such a word, 2. Masked attention
_NUMBER = r"(\d+(?:\.\d+)*(?:[a-h]\b|\s?\([a-h]\))?)"
_CALLED = late(rf"(?:(?:{EXERCISE_WORDS})\w*|\bQ)\W{{0,3}}{_NUMBER}", re.IGNORECASE)
_NUMBERED = late(rf"^\W*{_NUMBER}[.):]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Assigned:
    """A problem of the assignment: what it is called there, and what it gives."""

    label: str
    found: Gathering


def exercise_labels(sheet: Sheet) -> tuple[str, ...]:
    """The exercise that each part of a sheet belongs to, as its heading calls it: '2', '2b', '' before the first."""
    titles = [part.title for part in sheet.parts]
    own = [_label(_CALLED.search(title)) for title in titles]
    if not any(own):
        own = [_label(_NUMBERED.search(title)) for title in titles]
    current = ""
    found = []
    for label in own:
        current = label or current
        found.append(current)
    return tuple(found)


def _label(hit: re.Match[str] | None) -> str:
    return re.sub(r"[\s()]", "", hit[1]).lower() if hit else ""


def shared_labels(sheet: Sheet, keys: Sequence[Assigned]) -> tuple[str, ...]:
    """The labels of a solution's parts, as far as the assignment has them; none where it has one problem only."""
    known = {key.label for key in keys}
    labels = exercise_labels(sheet) if len(keys) > 1 else ()
    return tuple(label if label in known else "" for label in labels)


def nearest_key(found: Gathering, label: str, position: int, keys: Sequence[Assigned]) -> Gathering:
    """The problem of the assignment that a problem of the solution answers: the one of that name, the one that
    shares most givens with it, or the one in the same place."""
    named = [key for key in keys if label and key.label == label] or list(keys)
    shares = [_shared(found, key.found) for key in named]
    if len(named) > 1 and not any(shares):
        return named[min(position, len(named) - 1)].found
    return named[shares.index(max(shares))].found


def _shared(found: Gathering, key: Gathering) -> int:
    both = [(found.givens[k].expr, key.givens[k].expr) for k in found.givens.keys() & key.givens.keys()]
    both += [(found.tokens[k].expr, key.tokens[k].expr) for k in found.tokens.keys() & key.tokens.keys()]
    return sum(isinstance(a, n.Matrix) and isinstance(b, n.Matrix) and similar(a, b) for a, b in both)


def with_givens_of(found: Gathering, key: Gathering) -> Gathering:
    """The solution's problem with the assignment's numbers and conventions; what the solution prints of the numbers
    are copies to judge."""
    givens = {k: _from(given, key.givens.get(k)) for k, given in found.givens.items()}
    tokens = {k: _from(given, key.tokens.get(k)) for k, given in found.tokens.items()}
    others = {k: _from(given, key.others.get(k)) for k, given in found.others.items()}
    return replace(
        found,
        givens=givens,
        tokens=tokens,
        others=others,
        causal=found.causal or key.causal,
        plain_sum=found.plain_sum or key.plain_sum,
        mask_truth=found.mask_truth or key.mask_truth,
        columns=found.columns or key.columns,
        speaks=True,
    )


def _from(given: Given, key: Given | None) -> Given:
    return given if key is None else replace(given, expr=key.expr, line=None)
