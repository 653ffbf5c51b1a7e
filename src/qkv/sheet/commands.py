"""Numerals with their powers of ten, and commands with arguments: fractions, roots, sums, crossed-out values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qkv.errors import Location, ReadError
from qkv.expr.nodes import Call, Expr, Matrix, Name, Number, Power, Quotient, Root, Series, number
from qkv.sheet import matrices
from qkv.sheet import notation as table
from qkv.sheet.lexer import KIND, Token
from qkv.sheet.numerals import WHOLE_NUMBER, decimal
from qkv.sheet.symbols import symbol_of

if TYPE_CHECKING:
    from qkv.sheet.expressions import Reader


class Unreadable(ReadError):
    """A stretch that spells no expression."""


def command(reader: Reader, token: Token, start: int) -> Expr:
    """What the command at token `start`, already stepped over, makes of its arguments."""
    name, at = token.text, reader.at(start)
    if name == "frac":
        top = _numerator(reader)
        return Quotient(top, reader.argument(), at=at)
    if name == "sqrt":
        return _root(reader, at)
    if name == "sum":
        return _series(reader, at)
    if name == "cancel":
        return Call("struck", (reader.argument(),), at=at)
    if name in table.STACKED:
        first = reader.argument()
        chosen = reader.argument() if table.STACKED[name] else first
        reader.scripts()  # what stands under a brace: a size, or words
        return chosen
    if name == "binom":  # sheets on attention choose no subsets: this is a column of two
        return Matrix(((reader.argument(),), (reader.argument(),)), at=at)
    raise Unreadable(f"{reader.quoted(start)} was not expected here", at)


def _numerator(reader: Reader) -> Expr:
    """What stands above the bar: one expression, or the cells of a row that are all divided (e^a, e^b over a sum)."""
    start, end = reader.i, reader.partner[reader.i] if reader.i < reader.hi else -1
    if end > start and reader.tokens[start].text == "{" and len(matrices.comma_spans(reader, start + 1, end)) > 1:
        reader.i = end + 1
        return matrices.bracket(reader, start + 1, end, "[", start)
    return reader.argument()


def _root(reader: Reader, at: Location) -> Expr:
    degree: Expr | None = None
    if reader.i < reader.hi and reader.tokens[reader.i].text == "[":
        end = reader.partner[reader.i]
        degree = reader.expression(reader.i + 1, end)
        reader.i = end + 1
    arg = reader.argument()
    return Root(arg, at=at) if degree is None else Power(arg, Quotient(number(1), degree), at=at)


def _series(reader: Reader, at: Location) -> Expr:
    """Σ with its limits; its body is the term behind it."""
    index, low, high = "", None, None
    scripts, _ = reader.scripts()
    for script in scripts:
        lo, hi = script.start, script.start + len(script.tokens)
        if script.mark == "^":
            high = reader.script_value(script)
            continue
        kinds = list(map(KIND, script.tokens))
        relation = lo + kinds.index("rel") if "rel" in kinds else hi
        index = "".join([t.text for t in reader.tokens[lo:relation] if t.kind not in ("open", "close", "script")])
        if relation + 1 < hi and reader.tokens[relation].text == "=":
            low = reader.expression(relation + 1, hi)
    if reader.i >= reader.hi or reader.tokens[reader.i].kind == "op":
        return Name(symbol_of("Sigma", ())[0], "Σ", at=at)
    return Series(index, low, high, reader.term(), at=at)


def numeral(reader: Reader, token: Token) -> Expr:
    """A numeral with its power of ten (7.9 × 10^{-32} is one number) or its per cent sign."""
    start = reader.i - 1
    if reader.i < reader.hi and reader.tokens[reader.i].kind == "percent":
        reader.i += 1
        plain = decimal(token.text)
        return Number(plain.value / 100, (plain.places or 0) + 2, token.text + "%", at=reader.at(start))
    ten = reader.i + 1
    plain_digits = "e" not in token.text and "E" not in token.text
    if plain_digits and ten + 1 < reader.hi and reader.tokens[reader.i].text == "×" and reader.tokens[ten].text == "10":
        exponent, end = _exponent(reader, ten + 1)
        if exponent:
            reader.i = end
            plain = decimal(f"{token.text}e{exponent}", reader.at(start))
            return Number(plain.value, plain.places, reader.text(start, end), at=plain.at)
    return decimal(token.text, reader.at(start))


def _exponent(reader: Reader, i: int) -> tuple[str, int]:
    """The whole number raised at token i, and where it ends; nothing where it is no plain one."""
    token = reader.tokens[i]
    if token.kind == "sup":
        return (token.text if WHOLE_NUMBER.fullmatch(token.text) else ""), i + 1
    if token.text != "^":
        return "", i
    lo, hi, after = reader.argument_range(i + 1)
    digits = "".join(t.text for t in reader.tokens[lo:hi])
    return (digits if WHOLE_NUMBER.fullmatch(digits) else ""), after
