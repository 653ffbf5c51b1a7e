"""What a problem says in words and does not print: heads, masks, the way of scoring."""

from __future__ import annotations

from itertools import pairwise

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.understand.facts import Fact
from qkv.understand.gathering import Gathering
from qkv.understand.roles import CAUSAL_FLAG, COSINE, HIDES_FUTURE, ONES_FORBID, SHARED_KEYS, SOFTMAX_OF_COLUMNS
from qkv.understand.words import (
    divisor_said,
    heads_mentioned,
    heads_split,
    is_otherwise,
    is_unprojected,
    not_worked,
    rules,
    says,
)

R = Role


def note_sentences(found: Gathering, facts: tuple[Fact, ...], words: str) -> None:
    """Heads and masks that are said and not printed."""
    found.notes.extend(not_worked(words))
    found.otherwise = is_otherwise(words)
    told = tuple(rules(words))
    found.rules, found.later_rules = (tuple(rule for rule in told if rule.later is later) for later in (False, True))
    found.causal = found.causal or bool(CAUSAL_FLAG.search(words))
    found.keys_first = found.keys_first or bool(SOFTMAX_OF_COLUMNS.search(words))
    number = divisor_said(words)
    if number is not None and not found.divisors:
        found.divisors.append(n.number(number))
        found.defining.append(n.number(number))
    found.cosine = bool(COSINE.search(words))
    found.ones_forbid = says(words, ONES_FORBID)
    found.hides_future = found.hides_future or bool(HIDES_FUTURE.search(words))
    found.grouped = bool(SHARED_KEYS.search(words))
    found.unprojected = is_unprojected(words)
    found.split = _blocks(facts) or heads_split(words)
    heads = found.sizes.get(R.HEADS)
    found.maybe_split = int(heads.value) if heads is not None else heads_mentioned(words)


def _blocks(facts: tuple[Fact, ...]) -> int | None:
    """Q_1 = Q[:, 0:2], Q_2 = Q[:, 2:4]: how many heads, where the parts follow each other from the first column on."""
    parts: dict[Symbol, set[tuple[int, int | None]]] = {}
    for fact in facts:
        cut = fact.formula
        if isinstance(cut, n.Entry) and cut.columns is not None and isinstance(cut.arg, n.Name):
            parts.setdefault(cut.arg.symbol, set()).add(cut.columns)
    for spans in parts.values():
        ordered = sorted(spans, key=lambda span: span[0])
        follow = all(a[1] is not None and a[1] + 1 == b[0] for a, b in pairwise(ordered))
        if len(ordered) > 1 and ordered[0][0] == 1 and follow:
            return len(ordered)
    return None
