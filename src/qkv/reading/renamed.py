"""Names that a page writes in other ways: calls and derivatives as names with indices, the letter in a label."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.library.defined import defined
from qkv.library.roles import STAGES
from qkv.library.words import head_said, means
from qkv.reader.model import Relation, Sheet
from qkv.reading.equation import Equation, Item, Kind, kind_of
from qkv.regex import regex


def with_families(equations: Iterable[Equation]) -> list[Equation]:
    """The equations with such calls as names: of functions that are called with two numbers somewhere on the page, or
    defined for even and odd numbers apart."""
    made = list(equations)
    calls = [c for equation in made for item in equation.items for c in n.walk(item.expr) if isinstance(c, n.Call)]
    pairs = [c for c in calls if len(c.args) == 2]
    found = {c.function for c in pairs if all(isinstance(arg, n.Number) for arg in c.args) or _is_odd(c.args[1])}
    found = {function for function in found if function not in BY_KEY and not defined(function)}
    return [replace(e, items=tuple(_item(item, found) for item in e.items)) for e in made] if found else made


def with_running(equations: Sequence[Equation]) -> list[Equation]:
    """The equations with words in brackets as indices where a formula calculates with them, the pos of
    PE(pos) = (sin(pos), cos(pos)), or where all of it is said of any position."""
    named = ((e.items[0].expr, n.names_in(item.expr)) for e in equations for item in e.items[1:])
    running = {
        name.symbol for name, used in named
        if isinstance(name, n.Name) and len(name.symbol.labels) == 1 and len(name.symbol.labels[0]) > 1
        and Symbol(name.symbol.labels[0]) in used
    }  # fmt: skip
    for equation in equations:  # h_pos = x_pos + PE_pos
        shared = [s for item in equation.items for s in n.names_in(item.expr) if len(s.labels) == 1 and not s.indices]
        placed = [s for s in shared if means(s.labels[0], "place")]
        running |= set(placed) if len(placed) > 1 else set()
    if not running:
        return list(equations)

    def run(node: n.Expr) -> n.Expr:
        if not isinstance(node, n.Name) or node.symbol not in running:
            return node
        return replace(node, symbol=node.symbol._replace(labels=(), indices=node.symbol.labels))

    return [
        replace(e, items=tuple(item._replace(expr=n.rewrite(item.expr, run)) for item in e.items)) for e in equations
    ]


def with_own_gelu(equations: Sequence[Equation]) -> list[Equation]:
    """The equations with the GELU that the page has a formula for: the one with tanh, if it states no other."""
    sides = [item.expr for e in equations for item in e.items if _defines_gelu(e) and item.expr != e.items[0].expr]
    if not sides or not all(
        any(isinstance(node, n.Call) and node.function == "tanh" for node in n.walk(side)) for side in sides
    ):
        return list(equations)

    def own(node: n.Expr) -> n.Expr:
        return replace(node, function="gelutanh") if isinstance(node, n.Call) and node.function == "gelu" else node

    return [
        replace(e, items=tuple(item._replace(expr=n.rewrite(item.expr, own)) for item in e.items)) for e in equations
    ]


def _defines_gelu(equation: Equation) -> bool:
    """Whether an equation says what GELU(x) is."""
    first = equation.items[0].expr if len(equation.items) > 1 else None
    return isinstance(first, n.Call) and first.function == "gelu" and all(isinstance(x, n.Name) for x in first.args)


def _item(item: Item, found: set[str]) -> Item:
    expr = n.rewrite(item.expr, lambda node: _cell_name(node, found))
    return item if expr == item.expr else item._replace(expr=expr, kind=kind_of(expr))


def _cell_name(node: n.Expr, found: set[str]) -> n.Expr:
    if not isinstance(node, n.Call) or node.function not in found or not 0 < len(node.args) < 3:
        return node
    indices = [_index(arg) for arg in node.args]
    return n.Name(Symbol(node.function, (), tuple(i for i in indices if i)), at=node.at) if all(indices) else node


def _is_odd(arg: n.Expr) -> bool:
    """Whether an argument runs over the odd numbers: 2i + 1."""
    return re.fullmatch(r"2[a-z]\+1", _index(arg)) is not None


def _index(arg: n.Expr) -> str:
    """An argument as an index: 3, pos, 2i, 2i+1; nothing where it is none."""
    if isinstance(arg, n.Number) and arg.value.denominator == 1:
        return str(arg.value.numerator)
    if isinstance(arg, n.Name) and arg.symbol == Symbol(arg.symbol.base):
        return arg.symbol.base
    if isinstance(arg, n.Product):
        parts = _index(arg.left), _index(arg.right)
        return "".join(parts) if parts[0].isdigit() and parts[1].isalpha() else ""
    if isinstance(arg, n.Sum) and len(arg.terms) == 2:
        parts = _index(arg.terms[0]), _index(arg.terms[1])
        return "+".join(parts) if parts[0] and parts[1].isdigit() else ""
    return ""


_CALLED = regex(
    r"\W*(?:(?P<before>[A-Z])[`$]*\s*[(（][^()（）]*[)）]|(?:\w+\s+){1,3}[(（][`$]*(?P<within>[A-Z])[`$]*[)）])\W*"
)


def with_letters(made: Iterable[Equation]) -> Iterator[Equation]:
    """The equations; an array is named by the letter that its label calls it by: 'Q (question)', 'Values (V)'."""
    for equation in made:
        first = equation.items[0]
        alone = len(equation.items) == 1 and first.kind is Kind.VALUE and isinstance(first.expr, n.Matrix)
        called = _CALLED.fullmatch(equation.label) if alone else None
        if called is not None:
            symbol = Symbol(called["before"] or called["within"])
            name = Item(Kind.NAME, n.Name(symbol), Relation.FIRST, first.line, first.column, str(symbol))
            equation = replace(equation, items=(name, first._replace(relation=Relation.EQUAL)))
        yield equation


def headed(made: Sequence[Equation], sheet: Sheet) -> list[Equation]:
    """Equations in which names that several heads have in common carry the number of their head."""
    heads = {part: head for part, title in enumerate(p.title for p in sheet.parts) if (head := head_said(title or ""))}
    if len(set(heads.values())) < 2:
        return list(made)
    under: dict[Symbol, set[str]] = defaultdict(set)
    for equation in made:
        for symbol in equation.names if equation.part in heads else ():
            under[symbol].add(heads[equation.part])
    common = {symbol for symbol, found in under.items() if len(found) > 1 and not symbol.indices}
    return [_of_head(e, common, heads[e.part]) if e.part in heads and common else e for e in made]


def _of_head(equation: Equation, common: set[Symbol], head: str) -> Equation:
    def change(node: n.Expr) -> n.Expr:
        if isinstance(node, n.Name) and node.symbol in common:
            return replace(node, symbol=node.symbol._replace(indices=(head,)))
        return node

    items = (i._replace(expr=n.rewrite(i.expr, change), options=()) for i in equation.items)
    return replace(equation, items=tuple(items))


def qualified(made: Sequence[Equation]) -> list[Equation]:
    """Equations in which a word before a name that the page also uses alone marks it: 'Masked Scores' are no Scores."""
    plain = {equation.names[0] for equation in made if equation.names and not _qualifier(equation)}
    return [_marked(e, _qualifier(e)) if _qualifier(e) and e.names[0] in plain else e for e in made]


def _qualifier(equation: Equation) -> str:
    """The word right before the name of an equation that tells a stage: the 'masked' of 'Masked Scores ≈ …'."""
    first = equation.items[0].expr
    if not isinstance(first, n.Name) or first.symbol != Symbol(first.symbol.base) or len(first.symbol.base) < 3:
        return ""
    before = (equation.label or equation.words.removesuffix(first.symbol.base)).lower().split()
    return before[-1] if before and before[-1] in STAGES else ""


def _marked(equation: Equation, word: str) -> Equation:
    first = equation.items[0]
    name = n.Name(Symbol(equation.names[0].base, (word,)), at=first.expr.at)
    return replace(equation, items=(first._replace(expr=name, options=()), *equation.items[1:]))


MARKS = frozenset(map(Symbol, ("partial", "∂", "d")))
_NABLA = frozenset({"nabla", "∇"})


def with_derivatives(expr: n.Expr) -> n.Expr:
    """An expression with its derivatives as names."""
    if not n.kinds_in(expr) & {n.Quotient, n.Product}:
        return expr
    return n.rewrite(expr, _slope_name)


def _slope_name(node: n.Expr) -> n.Expr:
    if isinstance(node, n.Quotient):
        over, under = _differential(node.numerator), _differential(node.denominator)
        if over is not None and under is not None:
            return n.Name(derivative(over, under), at=node.at)
    if isinstance(node, n.Product) and isinstance(node.left, n.Quotient):  # ∂p/∂z on one line
        whole = n.Quotient(node.left.numerator, n.Product(node.left.denominator, node.right))
        made = _slope_name(whole) if _is_mark(node.left.denominator) else node
        return made if isinstance(made, n.Name) else node
    if isinstance(node, n.Product) and isinstance(node.left, n.Name) and node.left.symbol.base in _NABLA:
        by = node.left.symbol
        letters = (*by.labels, *by.indices)
        if isinstance(node.right, n.Name) and len(letters) == 1:
            return n.Name(derivative(node.right.symbol, Symbol(letters[0])), at=node.at)
    return node


def derivative(over: Symbol, under: Symbol) -> Symbol:
    """The name of a derivative: its indices are those of both."""
    return Symbol(f"∂{over.base}/∂{under.base}", under.labels, over.indices + under.indices)


def _differential(node: n.Expr) -> Symbol | None:
    """What ∂z or dz stands over."""
    if isinstance(node, n.Product) and _is_mark(node.left) and isinstance(node.right, n.Name):
        return node.right.symbol
    if isinstance(node, n.Name) and len(node.symbol.base) > 1 and node.symbol.base[0] in "d∂":
        return node.symbol._replace(base=node.symbol.base[1:])
    return None


def _is_mark(node: n.Expr) -> bool:
    return isinstance(node, n.Name) and node.symbol in MARKS
