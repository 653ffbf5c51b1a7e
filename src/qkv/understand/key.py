"""Givens from another document: the assignment that a solution answers."""

from __future__ import annotations

from dataclasses import replace

from qkv.expr import nodes as n
from qkv.program.model import Given
from qkv.understand.gathering import Gathering
from qkv.understand.repair import similar


def nearest_key(found: Gathering, keys: tuple[Gathering, ...]) -> Gathering:
    """The problem of the assignment that shares most givens with a problem of the solution."""
    return max(keys, key=lambda key: _shared(found, key))


def _shared(found: Gathering, key: Gathering) -> int:
    both = [(found.givens[k].expr, key.givens[k].expr) for k in found.givens.keys() & key.givens.keys()]
    both += [(found.tokens[k].expr, key.tokens[k].expr) for k in found.tokens.keys() & key.tokens.keys()]
    return sum(isinstance(a, n.Matrix) and isinstance(b, n.Matrix) and similar(a, b) for a, b in both)


def with_givens_of(found: Gathering, key: Gathering) -> Gathering:
    """The solution's problem with the assignment's numbers; what the solution prints of them are copies to judge."""
    givens = {k: _from(given, key.givens.get(k)) for k, given in found.givens.items()}
    tokens = {k: _from(given, key.tokens.get(k)) for k, given in found.tokens.items()}
    others = {k: _from(given, key.others.get(k)) for k, given in found.others.items()}
    return replace(found, givens=givens, tokens=tokens, others=others)


def _from(given: Given, key: Given | None) -> Given:
    return given if key is None else replace(given, expr=key.expr, line=None)
