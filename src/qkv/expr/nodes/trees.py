"""Ways over trees of nodes: their parts, everything below, rebuilding, and what they mention."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import chain
from typing import Any, NamedTuple, get_args

from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.expr.nodes.kinds import Call, Expr, Infinite, Matrix, Name, Node, Number, Product


def _parts_of(kind: type[Node]) -> tuple[str, ...]:
    return tuple(spec.name for spec in fields(kind) if "Expr" in str(spec.type))


# The fields of each kind of node that hold nodes, looked up once: trees are walked all the time.
_PARTS: dict[type, tuple[str, ...]] = {kind: _parts_of(kind) for kind in get_args(Expr)}


def part_names(node: Expr) -> tuple[str, ...]:
    """The fields of a node that hold nodes."""
    return _PARTS[type(node)]


def _reader(kind: type[Node]) -> Callable[[Any], tuple[Expr, ...]]:
    """What reads the parts of one kind of node; most are read by a getter of the standard library, without a call."""
    names = _PARTS[kind]
    types = [str(spec.type) for spec in fields(kind) if spec.name in names]
    if types == ["tuple[Expr, ...]"] or (len(types) > 1 and set(types) == {"Expr"}):
        return operator.attrgetter(*names)
    if types == ["Expr"] and names == ("arg",):
        return lambda node: (node.arg,)
    return _read


def _read(node: Expr) -> tuple[Expr, ...]:
    """For parts that may be missing, and for the rows of a matrix."""
    found: list[Expr] = []
    for name in _PARTS[type(node)]:
        value = getattr(node, name)
        if type(value) is tuple:
            found += chain.from_iterable(value)
        elif value is not None:
            found.append(value)
    return tuple(found)


_READERS = {kind: _reader(kind) for kind in get_args(Expr) if _PARTS[kind]}


def children(node: Expr) -> tuple[Expr, ...]:
    """The direct parts of a node, left to right.

    >>> from fractions import Fraction
    >>> from qkv.expr.nodes import Sum
    >>> [str(part.value) for part in children(Sum((Number(Fraction(1)), Number(Fraction(2)))))]
    ['1', '2']
    """
    reader = _READERS.get(type(node))
    return reader(node) if reader else ()


def walk(node: Expr) -> list[Expr]:
    """The node and everything below it, top down (no recursion, so depth is no danger)."""
    found: list[Expr] = []
    stack = [node]
    while stack:
        top = stack.pop()
        found.append(top)
        if reader := _READERS.get(type(top)):
            stack += reader(top)[::-1]
    return found


def rewrite(node: Expr, change: Callable[[Expr], Expr], kinds: frozenset[type] | None = None) -> Expr:
    """Rebuild a tree bottom up, passing every node through `change`; a matrix of plain numbers is passed whole. Where
    `kinds` says which nodes `change` is about, branches without any of these stay as they are."""
    if kinds is not None and kinds.isdisjoint(_found(node).kinds):
        return node
    names = _PARTS[type(node)]
    if not names or (type(node) is Matrix and is_plain(node)):
        return change(node)
    updates: dict[str, Any] = {}
    for name in names:
        value = getattr(node, name)
        if value is None:
            continue
        made: Any
        if type(value) is tuple:
            made = _rewritten(value, change, kinds)
        else:
            made = rewrite(value, change, kinds)
        if made is not value:
            updates[name] = made
    return change(replace(node, **updates) if updates else node)


def replaced(node: Expr, old: Expr, new: Expr) -> Expr:
    """The tree with one expression in the place of another, wherever that occurs."""
    return rewrite(node, lambda part: new if part == old else part)


def _rewritten(
    items: tuple[Any, ...], change: Callable[[Expr], Expr], kinds: frozenset[type] | None
) -> tuple[Any, ...]:
    """The same object where nothing changed, so that unchanged branches are shared."""
    made = tuple(
        [_rewritten(item, change, kinds) if type(item) is tuple else rewrite(item, change, kinds) for item in items]
    )
    return items if all(map(operator.is_, made, items)) else made


class Found(NamedTuple):
    """What a tree mentions. Trees are asked for it all the time, so it is kept on their nodes."""

    names: tuple[Symbol, ...] = ()
    literal: bool = True  # no name and no unknown function
    plain: bool = False  # a matrix whose cells are all numbers as printed
    kinds: frozenset[type] = frozenset()  # of the nodes in it, but for cells of plain numbers


# What most links of a document are.
_NAME = frozenset({Name})
_NUMBER = Found(kinds=frozenset({Number}))
_PLAIN_MATRIX = Found(plain=True, kinds=frozenset({Matrix}))
_PRINTED = frozenset({Number, Infinite})


def _found(node: Expr) -> Found:
    """What a tree mentions, kept from the first time it is asked."""
    try:
        return node._found
    except AttributeError:
        pass
    if type(node) is Number:
        found = _NUMBER
    elif type(node) is Name:
        found = Found((node.symbol,), False, False, _NAME)
    elif type(node) is Matrix and _holds_numbers(node):
        found = _PLAIN_MATRIX
    else:
        found = _mentioned(node)
    object.__setattr__(node, "_found", found)
    return found


def _mentioned(node: Expr) -> Found:
    """Top down, without recursion, and not into what is known already or into cells of plain numbers."""
    names: dict[Symbol, None] = {}
    kinds: set[type] = {type(node)}
    known_calls = type(node) is not Call or node.function in BY_KEY
    stack = list(children(node)[::-1])
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is Name:
            names[top.symbol] = None  # type: ignore[union-attr]
        elif reader := _READERS.get(kind):
            known = getattr(top, "_found", None)
            if known is not None:
                names.update(dict.fromkeys(known.names))
                kinds |= known.kinds
                known_calls &= known.literal or bool(known.names)
                continue
            known_calls &= kind is not Call or top.function in BY_KEY  # type: ignore[union-attr]
            if kind is not Matrix or not _holds_numbers(top):  # type: ignore[arg-type]
                stack += reader(top)[::-1]
        kinds.add(kind)
    return Found(tuple(names), not names and known_calls, False, frozenset(kinds))


def _holds_numbers(matrix: Matrix) -> bool:
    return _PRINTED.issuperset(map(type, chain.from_iterable(matrix.rows)))


def is_plain(matrix: Matrix) -> bool:
    """Whether every cell of a matrix is a number as printed."""
    return _found(matrix).plain


def names_in(node: Expr) -> tuple[Symbol, ...]:
    """The symbols that a tree mentions, each once, in order."""
    return _found(node).names


def kinds_in(node: Expr) -> frozenset[type]:
    """The kinds of the nodes in a tree, for who asks for several; as for `holds`."""
    return _found(node).kinds


def holds(node: Expr, kind: type[Node]) -> bool:
    """Whether a node of this kind is in a tree; numbers that are cells of a plain matrix do not count.

    >>> from qkv.expr.nodes import Root
    >>> holds(Root(Name(Symbol("d"))), Name)
    True
    """
    return kind in _found(node).kinds


def factors(node: Expr) -> list[Expr]:
    """The factors of a product, left to right."""
    found: list[Expr] = []
    stack = [node]
    while stack:
        top = stack.pop()
        if type(top) is Product:
            stack += (top.right, top.left)
        else:
            found.append(top)
    return found


def is_literal(node: Expr) -> bool:
    """Whether a tree mentions no name and no unknown function, so that it has a value of its own."""
    return _found(node).literal
