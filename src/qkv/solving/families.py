"""Numbers that are worked out one by one, as one row: e_1, e_2 and e_3 are the scores of three words; so are products
of numbers in lines below each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.program.model import Step

NEAR = 5  # lines between calculations of one list
Family = tuple[str, tuple[str, ...], int, int]  # the base, all scripts but the last, how many of them, primes


def rows_of(steps: tuple[Step, ...], known: Mapping[Symbol, Value]) -> Iterator[Step]:
    """A step for each family of numbers that differ in their last script only, and for lines that work out alike."""
    single = [step for step in steps if step.role is Role.OTHER and known[step.symbol].shape == (1, 1)]
    gathered = {step.expr for step in steps}
    named = sorted((step for step in single if step.spelled and _has_script(step)), key=_family)
    for family, members in groupby(named, key=_family):
        symbol = Symbol("row", tuple(filter(None, family[1])), (family[0],), family[3])
        yield from _row(symbol, _in_order(list(members)), gathered)
    nameless = [step for step in single if step.symbol.base == "value"]
    worked: dict[tuple[int | None, str], Step] = {}  # a formula and its working are one
    for step in nameless:
        worked.setdefault((step.line, str(known[step.symbol])), step)
    for number, lines in enumerate(_alike(list(worked.values())), 1):
        yield from _row(Symbol("row", (), (str(number),)), lines, gathered)


def _in_order(members: list[Step]) -> list[Step]:
    """Members by their numbers, where all have one: what is given may be written before what is worked out."""
    numbers = [step.symbol.indices[-1] if step.symbol.indices else "" for step in members]
    return sorted(members, key=lambda s: int(s.symbol.indices[-1])) if all(map(str.isdecimal, numbers)) else members


def _row(symbol: Symbol, members: list[Step], gathered: set[n.Expr]) -> Iterator[Step]:
    """The step that sets numbers side by side, unless there is one."""
    row = n.Matrix((tuple(n.Name(step.symbol) for step in members),))
    if len(members) > 1 and row not in gathered:
        called = ", ".join(dict.fromkeys(step.spelled for step in members if step.spelled))
        yield Step(symbol, row, Role.OTHER, called, line=max((s.line for s in members if s.line), default=None))


def _alike(steps: list[Step]) -> Iterator[list[Step]]:
    """Numbers without a name in lines near each other that are worked out by the same operation."""
    for _, found in groupby(sorted(steps, key=_operation), key=_operation):
        run: list[Step] = []
        for step in sorted(found, key=lambda step: step.line or 0):
            if run and (step.line or 0) - (run[-1].line or 0) > NEAR:
                yield run
                run = []
            run.append(step)
        yield run


def _operation(step: Step) -> str:
    """The last operation of a calculation; a dot product is a sum of products."""
    return "dot" if isinstance(step.expr, (n.Sum, n.Product)) else type(step.expr).__name__


def _has_script(step: Step) -> bool:
    return bool(step.symbol.labels or step.symbol.indices) and step.symbol.base != "value"


def _family(step: Step) -> Family:
    """What members of a family have in common; a label that tells one from the other is the last script."""
    symbol = step.symbol
    scripts = symbol.indices[:-1] if symbol.indices else symbol.labels[:-1]
    kept = (*symbol.labels, "", *scripts) if symbol.indices else scripts
    return symbol.base, kept, len(symbol.labels) + len(symbol.indices), symbol.primes
