"""Numbers that are worked out one by one under one name, as one row: e_1, e_2 and e_3 are the scores of three words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.program.model import Step

Family = tuple[str, tuple[str, ...], int, int]  # the base, all scripts but the last, how many of them, primes


def rows_of(steps: tuple[Step, ...], known: Mapping[Symbol, Value]) -> Iterator[Step]:
    """A step for each family of numbers that differ in their last script only."""
    single = [s for s in steps if s.role is Role.OTHER and s.spelled and known[s.symbol].shape == (1, 1)]
    gathered = {step.expr for step in steps}
    for family, members in groupby(sorted(filter(_has_script, single), key=_family), key=_family):
        found = {step.symbol: step for step in members}
        row = n.Matrix((tuple(map(n.Name, found)),))
        if len(found) > 1 and row not in gathered:
            symbol = Symbol("row", tuple(filter(None, family[1])), (family[0],), family[3])
            lines = [step.line for step in found.values() if step.line is not None]
            called = ", ".join(step.spelled for step in found.values())
            yield Step(symbol, row, Role.OTHER, called, line=max(lines, default=None))


def _has_script(step: Step) -> bool:
    return bool(step.symbol.labels or step.symbol.indices) and step.symbol.base != "value"


def _family(step: Step) -> Family:
    """What members of a family have in common; a label that tells one from the other is the last script."""
    symbol = step.symbol
    scripts = symbol.indices[:-1] if symbol.indices else symbol.labels[:-1]
    kept = (*symbol.labels, "", *scripts) if symbol.indices else scripts
    return symbol.base, kept, len(symbol.labels) + len(symbol.indices), symbol.primes
