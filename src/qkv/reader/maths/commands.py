"""Numerals with their powers of ten, and commands with arguments: fractions, roots, sums, crossed-out values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qkv.errors import Location
from qkv.expr.names import Symbol
from qkv.expr.nodes import Call, Expr, Matrix, Name, Number, Power, Quotient, Root, Series, number
from qkv.reader.maths import arrays, operands
from qkv.reader.maths.brackets import Unreadable
from qkv.reader.maths.names import WORDS
from qkv.reader.maths.numerals import decimal
from qkv.reader.maths.tokens import Token

if TYPE_CHECKING:
    from qkv.reader.maths.terms import Terms


def numeral(reader: Terms, token: Token) -> Expr:
    """A numeral with its power of ten (7.9 × 10^{-32} is one number) or its per cent sign."""
    start = reader.i - 1
    if reader.i < reader.hi and reader.tokens[reader.i].kind == "percent":
        reader.i += 1
        plain = decimal(token.text)
        return Number(plain.value / 100, (plain.places or 0) + 2, f"{token.text}%", at=reader.at(start))
    ten = reader.i + 1
    if "e" not in token.text.lower() and ten + 1 < reader.hi and reader.tokens[reader.i].text in "×·*":
        exponent, end = _exponent(reader, ten + 1) if reader.tokens[ten].text == "10" else ("", 0)
        if exponent:
            plain = decimal(f"{token.text}e{exponent}")
            reader.i = end
            return Number(plain.value, plain.places, reader.text(start, end), at=reader.at(start))
    return decimal(token.text, reader.at(start))


def _exponent(reader: Terms, i: int) -> tuple[str, int]:
    """The whole number raised at token i, and where it ends; nothing where it is no plain one."""
    token = reader.tokens[i]
    lo, hi, after = (
        (i, i + 1, i + 1) if token.kind == "sup" else reader.argument_range(i + 1) if token.text == "^" else (i, i, i)
    )
    digits = "".join(t.text for t in reader.tokens[lo:hi])
    return (digits, after) if digits.lstrip("-+").isdigit() and len(digits) < 8 else ("", i)


def command(reader: Terms, token: Token, start: int) -> Expr:
    at, name = reader.at(start), token.text
    match name:
        case "frac":
            top = _numerator(reader)
            return Quotient(top, reader.argument(), at=at)
        case "sqrt":
            return _root(reader, at)
        case "sum":
            return _series(reader, at)
        case "cancel":
            return Call("struck", (reader.argument(),), at=at)
        case "first" | "second" | "group":
            chosen = reader.argument()
            chosen = reader.argument() if name == "second" else chosen
            reader.scripts()  # what stands under a brace: a size, or words
            return chosen
        case "binom":  # a column of two
            return Matrix(((reader.argument(),), (reader.argument(),)), at=at)
    raise Unreadable(f"{reader.quoted(start)} was not expected here", at)


def _numerator(reader: Terms) -> Expr:
    """What stands above the bar: one expression, or cells that are all divided (e^a, e^b over a sum)."""
    start = reader.i
    end = reader.partner[start] if start < reader.hi else -1
    if (
        end > start
        and reader.tokens[start].text == "{"
        and any(reader.tokens[k].text == "," for k in reader.own_level(start + 1, end))
    ):
        reader.i = end + 1
        return arrays.bracket(reader, start + 1, end, "[", start)
    return reader.argument()


def _root(reader: Terms, at: Location) -> Expr:
    degree: Expr | None = None
    if reader.i < reader.hi and reader.tokens[reader.i].text == "[":
        end = reader.partner[reader.i]
        degree = reader.expression(reader.i + 1, end)
        reader.i = end + 1
    if reader.i < reader.hi and reader.tokens[reader.i].kind in WORDS:
        arg = operands.named(reader, reader.tokens[reader.i])  # √d_k
    else:
        arg = reader.argument()
    return Root(arg, at=at) if degree is None else Power(arg, Quotient(number(1), degree), at=at)


def _series(reader: Terms, at: Location) -> Expr:
    """Σ with its limits; its body is the term behind it."""
    index, low, high = "", None, None
    for script in reader.scripts()[0]:
        if script.mark == "^":
            high = reader.script_value(script)
            continue
        lo, hi = script.start, script.start + len(script.tokens)
        relation = next((k for k in range(lo, hi) if reader.tokens[k].kind == "rel"), hi)
        index = "".join(t.text for t in reader.tokens[lo:relation] if t.kind not in ("open", "close", "script"))
        if relation + 1 < hi and reader.tokens[relation].text == "=":
            low = reader.expression(relation + 1, hi - (reader.tokens[hi - 1].text == "}"))
    if reader.i >= reader.hi or reader.tokens[reader.i].kind == "op":
        return Name(Symbol("Sigma"), "Σ", at=at)
    return Series(index, low, high, reader.term(), at=at)
