"""What relations tie: one chain of a stretch of mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from qkv.errors import Location
from qkv.expr.names import Symbol
from qkv.expr.nodes import Call, Expr, Name, is_literal
from qkv.reader.model import Link
from qkv.regex import regex

_LETTERS = regex(r"(?<![\w,] )(?<!\w)(?:[^\W\d_]\s*,\s*){1,5}\Z")
_COMMA = regex(r"\s*(?:,|，|、|\\quad|\\[,;])+\s*")


class Chain(NamedTuple):
    """Links that relations tie. `start` and `end` are offsets in the stretch; `continues` says that it begins with a
    relation; `after` is the sign that parts it from the chain before; `trail` a relation that nothing follows."""

    links: tuple[Link, ...]
    at: Location
    end_line: int
    text: str
    start: int = 0
    end: int = 0
    continues: bool = False
    struck: bool = False
    after: str = ""
    trail: str = ""
    counts: bool = False  # one token right before a word: '2 heads'
    remarks: tuple[str, ...] = ()  # one behind each row of its last array: '[1, 0] ← cat'


def each_of_its_own(chains: list[Chain], source: str) -> Iterator[Chain]:
    """Names before a relation and as many formulas behind it are a chain each: Q, K, V = X W_Q, X W_K, X W_V."""
    at = 0
    while at < len(chains):
        first, named = _names_at(chains, at, source)
        formulas = [named.links[1], *_formulas(chains, first, source, len(_named(named)))] if named else []
        names = _named(named) if named else []
        if named is None or len(names) != len(formulas) or len(names) < 2:
            yield chains[at]
            at += 1
            continue
        for name, formula in zip(names, formulas, strict=True):
            left = replace(named.links[0], expr=name, text=str(name.symbol))
            yield named._replace(links=(left, replace(formula, relation=named.links[1].relation)))
        at = first + len(names)


def _names_at(chains: list[Chain], at: int, source: str) -> tuple[int, Chain | None]:
    """The place of the chain 'V = …' behind names that commas part, and that chain with all of the names."""
    names: list[Name] = []
    for k in range(at, len(chains)):
        chain = chains[k]
        if chain.continues or chain.struck or (k > at and not _follows(chains[k - 1], chain, source)):
            break
        if len(chain.links) == 2:
            names = [*_before(chain, source), *_named(chain)] if k == at else [*names, *_named(chain)]
            if len(names) < 2 or is_literal(chain.links[1].expr):
                break
            left = replace(chain.links[0], expr=Call("list", tuple(names), at=names[0].at))
            return k, chain._replace(links=(left, chain.links[1]), at=chains[at].at, start=chains[at].start)
        if len(chain.links) > 2 or not isinstance(chain.links[0].expr, Name):
            break
        names.append(chain.links[0].expr)
    return at, None


def _before(chain: Chain, source: str) -> list[Name]:
    """Letters that commas part from a chain, in prose: the Q and K of 'Step 1: Q, K, V = …'."""
    found = _LETTERS.search(source, max(0, chain.start - 40), chain.start)
    return [Name(Symbol(letter)) for letter in re.findall(r"\w", found[0])] if found else []


def _named(chain: Chain) -> list[Name]:
    """The names on the left of a chain."""
    left = chain.links[0].expr
    parts: tuple[Expr, ...] = left.args if isinstance(left, Call) and left.function == "list" else (left,)
    names = [part for part in parts if isinstance(part, Name)]
    return names if len(names) == len(parts) else []


def _formulas(chains: list[Chain], at: int, source: str, count: int) -> Iterator[Link]:
    """The formulas behind a chain that commas part from it, if there are just so many."""
    behind = chains[at + 1 : at + count]
    listed = all(_follows(*pair, source) for pair in zip(chains[at:], behind, strict=False))
    if listed and all(len(c.links) == 1 and not c.continues and not is_literal(c.links[0].expr) for c in behind):
        yield from (chain.links[0] for chain in behind)


def _follows(above: Chain, below: Chain, source: str) -> bool:
    return bool(_COMMA.fullmatch(source[above.end : below.start]))
