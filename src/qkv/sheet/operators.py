"""Signs between operands, and scripts behind operands that are no plain names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qkv.errors import Location
from qkv.expr.nodes import (
    Absolute,
    Call,
    Concat,
    Entry,
    Expr,
    Infinite,
    Matrix,
    Name,
    Negate,
    Normalise,
    Number,
    Power,
    Product,
    Quotient,
    Transpose,
    is_literal,
)
from qkv.sheet.phrases import SUM_HEAD
from qkv.sheet.slices import cut_by
from qkv.sheet.symbols import Script, extended, is_power, symbol_of

if TYPE_CHECKING:
    from qkv.sheet.expressions import Reader

SCRIPTS = frozenset(("script", "sub", "sup", "prime"))


def scripted(reader: Reader, node: Expr, start: int) -> Expr:
    """The node with the scripts that follow it: transposes, powers, entries, sizes."""
    if reader.i >= reader.hi or reader.tokens[reader.i].kind not in SCRIPTS:
        return node
    scripts, primes = reader.scripts()
    if not scripts and not primes:
        return node
    if isinstance(node, Name) and not any(is_power(node.symbol.base, script, alone=True) for script in scripts):
        symbol, transposed = extended(node.symbol, scripts, primes)
        name = Name(symbol, reader.text(start, reader.i), at=node.at)
        return Transpose(name, at=node.at) if transposed else name
    for script in scripts:
        node = _one_script(reader, node, script)
    return Transpose(node, at=node.at) if primes else node


def _one_script(reader: Reader, node: Expr, script: Script) -> Expr:
    if script.mark == "^" and len(script.tokens) == 1 and script.tokens[0].kind == "num":
        return Power(node, reader.script_value(script), at=node.at)
    if (part := cut_by(reader, script, node)) is not None:
        return part
    symbol, transposed = symbol_of("", [script])
    if script.mark == "^":
        return Transpose(node, at=node.at) if transposed else Power(node, reader.script_value(script), at=node.at)
    if len(symbol.indices) == 1 and len(symbol.indices[0]) == 2 and symbol.indices[0].isdigit():
        symbol = symbol._replace(indices=tuple(symbol.indices[0]))  # (Q Kᵀ)₁₂ is a cell
    counts = [int(x) for x in symbol.indices if x.isdigit() and len(x) < 9]
    if not symbol.indices or isinstance(node, (Number, Absolute)):
        return node
    if len(counts) == len(symbol.indices) <= 2:
        return Entry(node, counts[0], counts[1] if len(counts) > 1 else None, at=node.at)
    return Call("entry", (node, *(Name(symbol_of(x, ())[0], x) for x in symbol.indices)), at=node.at)


def negated(node: Expr, at: Location, *, fold: bool) -> Expr:
    """−node, with the sign at `at`; a lone number takes the sign itself, as masks' −∞ does."""
    if isinstance(node, Number) and fold:
        return Number(-node.value, node.places, f"-{node.text}", at=at)
    if isinstance(node, Infinite):
        return Infinite(-node.sign, at=at)
    return Negate(node, at=at)


def _is_own_sum(left: Expr, right: Expr) -> bool:
    """[e^2, e^1] / sum: numbers divided by what they add up to."""
    listed = isinstance(left, Matrix) and len(left.rows) == 1 < len(left.rows[0]) and is_literal(left)
    return listed and isinstance(right, Name) and SUM_HEAD.fullmatch(right.spelled) is not None


def joined(sign: str, left: Expr, right: Expr, at: Location) -> Expr:
    """Two operands and the sign between them."""
    if isinstance(right, Call) and right.function == "struck" and isinstance(right.args[0], Name):
        return left  # a crossed-out scribble behind a value
    if sign == "/":
        return Normalise(left, at=at) if _is_own_sum(left, right) else Quotient(left, right, at=at)
    if sign == "⊕":
        parts = left.parts if isinstance(left, Concat) else (left,)
        return Concat((*parts, right), at=at)
    if sign in "⊙⊗":
        return Call(sign, (left, right), at=at)
    return Product(left, right, at=at)
