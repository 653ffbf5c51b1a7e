"""Names with their scripts → expressions: symbols, their transposes and powers, e to a power, calls by name.

Most names of a document come many times: what was read once is kept for the rest of it (`Reader.known`), and is read
the same there. No other document has a say in that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qkv.expr.names import Symbol
from qkv.expr.nodes import Call, Exp, Expr, Name, Power, Transpose
from qkv.sheet import functions
from qkv.sheet.commands import Unreadable
from qkv.sheet.lexer import Token
from qkv.sheet.operators import SCRIPTS, scripted
from qkv.sheet.slices import in_script, is_sliced, sliced
from qkv.sheet.symbols import Script, is_power, symbol_of

if TYPE_CHECKING:
    from qkv.sheet.expressions import Reader

Known = dict[tuple[str, str], tuple[Symbol, bool, tuple[Expr, ...]]]  # a symbol, whether it is transposed, its powers
KNOWN_LIMIT: Final = 10_000
_SIMPLE: Final = frozenset(("open", "num", "name"))  # scripts that end where their bracket or they themselves do


def named(reader: Reader, token: Token) -> Expr:
    """The quantity whose name is at hand."""
    start = reader.i
    if token.kind == "prose" and not reader.strict:
        raise Unreadable(f"{reader.quoted(start)} is prose", reader.at(start))
    if token.text in ("NaN", "nan", "NAN"):
        raise Unreadable("NaN is no number", reader.at(start))
    reader.i += 1
    if token.text == "e" and (power := _exponential(reader, start)) is not None:
        return power
    tried = reader.new == start  # it was sought among the known ones already
    return (None if tried else known_name(reader, start)) or _read(reader, token, start)


def _exponential(reader: Reader, start: int) -> Expr | None:
    """e^x and e²."""
    following = reader.tokens[reader.i] if reader.i < reader.hi else None
    if following is None:
        return None
    if following.text == "^":
        lo, hi, reader.i = reader.argument_range(reader.i + 1)
        return scripted(reader, Exp(reader.expression(lo, hi), at=reader.at(start)), start)
    if following.kind == "sup":
        reader.i += 1
        return Exp(reader.script_value(Script("^", (following,), reader.i - 1)), at=reader.at(start))
    return None


def known_name(reader: Reader, start: int, *, whole: bool = False) -> Expr | None:
    """A name spelled as one before it, with its scripts; if `whole`, then rather all that is at hand."""
    hi, tokens, kinds = reader.hi, reader.tokens, reader.kinds
    end = start + 1
    while end < hi and (kind := kinds[end]) in SCRIPTS:
        end += 1
        if kind == "script":
            simple = end < hi and kinds[end] in _SIMPLE
            end = reader.partner[end] + 1 if simple else reader.argument_range(end)[2]
    token = tokens[start]
    spelled = reader.source[token.start : tokens[end - 1].end]
    known = reader.known.get((token.kind, spelled))
    if end < hi:
        longer = reader.source[token.start : tokens[hi - 1].end] if whole and not tokens[end].gap else ""
        if longer and (token.kind, longer) in reader.known:  # the KT of QKT
            spelled, known, end = longer, reader.known[token.kind, longer], hi
        elif kinds[end] == "open":
            known = None  # it may call what the brackets hold
    if known is None:
        reader.new = start
        return None
    reader.i = end
    symbol, transposed, powers = known
    name = Name(symbol, spelled, at=reader.at(start))
    return _raised(name, transposed, powers) if transposed or powers else name


def _read(reader: Reader, token: Token, start: int) -> Expr:
    """A name or a call that is new."""
    sizes, base = len(reader.shapes), token.text.strip()
    scripts, primes = reader.scripts()
    bracketed = reader.i < reader.hi and reader.kinds[reader.i] == "open"
    if bracketed and is_sliced(reader):
        symbol, _ = symbol_of(base, scripts, primes)
        return sliced(reader, Name(symbol, reader.text(start, reader.i), at=reader.at(start)))
    if scripts and (part := in_script(reader, base, scripts, primes, start)) is not None:
        return part
    if bracketed and (args := functions.call_arguments(reader, token)) is not None:
        name = str(symbol_of(base, scripts, primes)[0])
        return scripted(reader, Call(name, args, at=reader.at(start)), start)
    powers = [s for s in scripts if s.mark == "^" and is_power(token.text, s, alone=len(scripts) == 1)]
    symbol, transposed = symbol_of(base, [s for s in scripts if s not in powers] if powers else scripts, primes)
    exponents = tuple([reader.script_value(script) for script in powers])
    spelled = reader.text(start, reader.i)
    placed = powers and any(power.at is not None for power in exponents)  # a power that was read for this one place
    if len(reader.shapes) == sizes and len(reader.known) < KNOWN_LIMIT and not placed:
        reader.known[token.kind, spelled] = symbol, transposed, exponents
    return _raised(Name(symbol, spelled, at=reader.at(start)), transposed, exponents)


def _raised(node: Expr, transposed: bool, powers: tuple[Expr, ...]) -> Expr:
    """A name with what stands above it."""
    at = node.at
    if transposed:
        node = Transpose(node, at=at)
    for power in powers:
        node = Power(node, power, at=at)
    return node
