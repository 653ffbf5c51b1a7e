"""Names with their scripts, and scripts on anything else: quantities, e to a power, calls, transposes, entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qkv.expr.names import Symbol
from qkv.expr.nodes import Exp, Expr, Name, Power, Transpose
from qkv.reader.maths import arrays, calls, signs
from qkv.reader.maths.brackets import Unreadable
from qkv.reader.maths.symbols import Script, spelled
from qkv.reader.maths.tokens import Token

if TYPE_CHECKING:
    from qkv.reader.maths.terms import Terms

SCRIPTS = frozenset(("script", "sub", "sup", "prime", "accent"))


def named(reader: Terms, token: Token) -> Expr:
    """The name at hand with its scripts, as a quantity, a call, an entry or e to a power."""
    start = reader.i
    reader.i += 1
    if token.text == "e" and (power := _exponential(reader, start)) is not None:
        return power
    if token.text in ("NaN", "nan"):
        raise Unreadable("NaN is no number", reader.at(start))
    scripts, primes = reader.scripts()
    name = calls.quantity(reader, token.text, scripts, primes, start)
    if reader.i < reader.hi and reader.tokens[reader.i].kind == "open":
        return scripted(reader, calls.behind_name(reader, token, name, scripts, primes, start), start)
    return name


def _exponential(reader: Terms, start: int) -> Expr | None:
    """e^x and e²."""
    if reader.i >= reader.hi:
        return None
    token, at = reader.tokens[reader.i], reader.at(start)
    if token.text == "^":
        lo, hi, reader.i = reader.argument_range(reader.i + 1)
        return scripted(reader, Exp(reader.expression(lo, hi), at=at), start)
    if token.kind == "sup":
        reader.i += 1
        return Exp(reader.script_value(Script("^", (token,), reader.i - 1)), at=at)
    return None


def scripted(reader: Terms, node: Expr, start: int) -> Expr:
    """An operand that is no name, with its scripts: (Q Kᵀ)ᵀ, [1, 2]ᵀ, (Q Kᵀ)_{1,2}, x²."""
    if reader.i >= reader.hi or reader.tokens[reader.i].kind not in SCRIPTS:
        return node
    scripts, _ = reader.scripts()
    for script in scripts:
        if script.mark == "^" and any(t.text in signs.TRANSPOSES for t in script.tokens):
            node = Transpose(node, at=node.at)
        elif script.mark == "^" and not (isinstance(node, Name) and script.tokens[0].text == "("):
            node = Power(node, reader.script_value(script), at=reader.at(start))
        elif isinstance(node, Name):
            node = _extended(reader, node, script)  # {W_Q}^{(0)}
        else:
            node = arrays.entry_by_script(reader, node, script)
    return node


def _extended(reader: Terms, name: Name, script: Script) -> Name:
    """A name with one more script."""
    own, more = name.symbol, spelled(reader.names, name.symbol.base, [script]).symbol
    labels = tuple(sorted((*own.labels, *more.labels)))
    symbol = Symbol(own.base, labels, own.indices + more.indices, own.primes + more.primes)
    return Name(symbol, name.spelled, at=name.at)
