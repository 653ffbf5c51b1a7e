"""Which sequence is which: decoder and encoder, a cache and what is appended to it, a state that attends to others."""

from __future__ import annotations

import re

from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.program.model import Given
from qkv.program.spec import default_symbol
from qkv.records import replace
from qkv.understand.gathering import Gathering

R = Role

ASKING = late(r"dec(?:oder)?|tgt|targets?|trg|q|quer(?:y|ies)|latents?", re.IGNORECASE)
ASKED = late(r"enc(?:oder)?|src|sources?|mem(?:ory)?|kv|ctx|context", re.IGNORECASE)
CACHED = frozenset({"cache", "cached", "past", "prev", "old"})
NEW = frozenset({"new", "cur", "curr", "now", "t"})
STATES_OF_ONE = frozenset("hsdq")  # letters for the state that attends


def settle_sequences(found: Gathering) -> None:
    """Everything about who attends to whom that names tell and formulas do not."""
    _two_sequences(found)
    _appended(found)
    _attending_state(found)


def _spoken(symbol: Symbol, pattern: re.Pattern[str]) -> bool:
    """Whether a label of a name, or a word of it (X_enc, memory, decoder_input), says something."""
    words = (*symbol.labels, *re.split(r"_", symbol.base))
    return any(pattern.fullmatch(word) for word in words if len(word) > 1)


def _two_sequences(found: Gathering) -> None:
    """X_dec and X_enc, target and memory: queries from the one, keys and values from the other."""
    weights = {role for role, _ in found.givens} & {R.W_Q, R.W_K}
    if found.sources or (R.Y, None) in found.givens or (R.SOURCE, None) in found.givens:
        return
    held = [*found.givens.values(), *found.others.values()]
    matrices = [g for g in held if isinstance(g.expr, n.Matrix) and min(g.expr.shape) > 0 and g.role not in weights]
    plain = [g for g in matrices if g.role in (R.X, R.STATES, R.OTHER, R.SOURCE, R.Y)]
    asking = next((g for g in plain if _spoken(g.symbol, ASKING)), None)
    asked = next((g for g in plain if _spoken(g.symbol, ASKED)), None)
    asking = asking or found.givens.get((R.X, None))
    if asking is None or asked is None or asking is asked:
        return
    if not weights:
        _unprojected(found, asking, asked)
        return
    for role in (R.X, R.STATES):
        found.givens.pop((role, None), None)
    for given in (asking, asked):
        found.others.pop(given.symbol, None)
    found.givens[R.X, None] = replace(asking, role=R.X)
    found.givens[R.Y, None] = replace(asked, role=R.Y)


def _unprojected(found: Gathering, asking: Given, asked: Given) -> None:
    """Decoder states over encoder states, nothing projected: the ones are queries, the others keys and values."""
    matrices = all(isinstance(g.expr, n.Matrix) and min(g.expr.shape) > 1 for g in (asking, asked))
    held = (*found.givens, *found.claimed, *found.claimed_tokens)
    if not matrices or any(role in (R.Q, R.K, R.V, R.SCORES, R.W_A) for role, _ in held):
        return
    for role in (R.X, R.STATES):
        found.givens.pop((role, None), None)
    for given in (asking, asked):
        found.others.pop(given.symbol, None)
    symbol = default_symbol(R.V)
    found.givens[R.Q, None] = replace(asking, role=R.Q)
    found.givens[R.K, None] = replace(asked, role=R.K)
    found.givens[R.V, None] = Given(symbol, n.Name(asked.symbol), R.V, symbol_plain(symbol), implied=True)


def _appended(found: Gathering) -> None:
    """K_cache and k_3: the keys are those of the cache and the new one below them; the same for values."""
    for role in (R.K, R.V):
        cache = found.claimed.get((role, None))
        new = _new_vector(found, role, cache) if cache is not None else None
        if cache is None or new is None:
            continue
        cached = CACHED.intersection(label.lower() for label in cache.symbol.labels)
        if not cached and not NEW.intersection(new.symbol.labels):
            continue
        del found.claimed[role, None]
        found.others[cache.symbol] = replace(cache, role=R.OTHER)
        found.others[new.symbol] = replace(new, role=R.OTHER)
        whole = n.Concat((n.Name(cache.symbol), n.Name(new.symbol)), axis=0)
        symbol = default_symbol(role)
        if symbol == cache.symbol:
            symbol = symbol._replace(labels=("all",))
        found.givens[role, None] = Given(symbol, whole, role, symbol_plain(symbol), None, cache.line, implied=True)
        found.names.pop((role, None), None)


def _new_vector(found: Gathering, role: Role, cache: Given) -> Given | None:
    """The vector of the token that comes after those in the cache."""
    letter = default_symbol(role).base.lower()
    held = [given for (other, _), given in found.claimed_tokens.items() if other is role]
    named = [given for symbol, given in found.others.items() if symbol.base == letter]
    width = cache.expr.shape[1] if isinstance(cache.expr, n.Matrix) else 0
    fitting = [g for g in (*held, *named) if isinstance(g.expr, n.Matrix) and g.expr.shape == (1, width)]
    return fitting[0] if len(fitting) == 1 else None


def _attending_state(found: Gathering) -> None:
    """h_t beside h_1, h_2, … and a matrix W_a, or a query over states without keys: the vector that attends."""
    if (R.STATES, None) not in found.givens or (R.SOURCE, None) in found.givens or (R.X, None) in found.givens:
        return
    keys = any(role in (R.K, R.W_K) for role, _ in (*found.givens, *found.claimed, *found.claimed_tokens))
    if keys or (R.SCORES, None) in found.givens:
        return
    queries = [given for (role, _), given in found.claimed_tokens.items() if role is R.Q]
    others = [given for symbol, given in found.others.items() if _is_state(symbol)]
    states = [g for g in (*others, *queries) if isinstance(g.expr, n.Matrix) and min(g.expr.shape) == 1]
    if len(states) == 1 and max(states[0].expr.shape) > 1:  # type: ignore[union-attr]
        found.others.pop(states[0].symbol, None)
        found.givens[R.SOURCE, None] = replace(states[0], role=R.SOURCE)
        for key in [key for key in found.givens if key[0] is R.Q]:
            del found.givens[key]


def _is_state(symbol: Symbol) -> bool:
    timed = any(index.startswith("t") for index in symbol.indices) or bool(NEW.intersection(symbol.labels))
    return symbol.base in STATES_OF_ONE and (timed or _spoken(symbol, ASKING))
