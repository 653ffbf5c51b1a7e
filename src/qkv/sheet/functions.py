"""Functions and what they become: softmax, exp, tanh, √, Concat, NumPy's constructors, and calls kept as written.

Also the calls that no table names: a word, or a letter such as f, O or 𝔼, with brackets right behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from qkv.errors import Location
from qkv.expr.nodes import (
    Absolute,
    Call,
    Concat,
    Exp,
    Expr,
    Matrix,
    Name,
    Normalise,
    Product,
    Root,
    Softmax,
    Tanh,
    Transpose,
)
from qkv.sheet import matrices
from qkv.sheet import notation as table
from qkv.sheet.lexer import KIND, Token
from qkv.sheet.symbols import size_in, symbol_of
from qkv.sheet.words import spelling_key

if TYPE_CHECKING:
    from qkv.sheet.expressions import Reader

_COLUMN_WORDS = frozenset(("col", "cols", "column", "columns"))
_TEMPERATURES = frozenset(("beta", "tau", "T", "lambda", "gamma"))
_DOTS = frozenset(("op", "sep"))
_STARTS_ARGUMENT = frozenset(
    ("num", "name", "word", "func", "text", "bb", "inf", "grid", "list", "begin", "cmd", "open")
)


def applied(reader: Reader, token: Token) -> Expr:
    """The function at hand with its argument; without one its word is a name (Concat = …)."""
    start = reader.i
    reader.i += 1
    scripts, primes = reader.scripts()
    key = spelling_key(token.text)
    action = table.FUNCTIONS[key]
    axis = 0 if scripts and any(t.text.strip() in _COLUMN_WORDS for s in scripts for t in s.tokens) else 1
    at = reader.at(start)
    following = reader.tokens[reader.i] if reader.i < reader.hi else None
    if following is None or following.kind not in _STARTS_ARGUMENT or not _takes(action, following):
        name, transposed = symbol_of(token.text.strip(), scripts, primes)
        node: Expr = Name(name, reader.text(start, reader.i), at=at)
        return Transpose(node, at=at) if transposed else node
    if following.kind == "open" and following.text != "{":
        axis = _axis_argument(reader, axis)
        args = arguments(reader)
    else:
        args = (reader.argument(),)
    if action == "softmax" and any(t.text.lstrip("\\") in _TEMPERATURES for s in scripts for t in s.tokens):
        action = "call"  # softmax_β: whether β multiplies or divides is for the sheet to say
    if action in ("call", "apply"):
        return Call(str(symbol_of(token.text.strip(), scripts, primes)[0]), args, at=at)
    return _BUILD[action](args, axis, at) if args else Call(key, (), at=at)


def _takes(action: str, following: Token) -> bool:
    """Functions that are not evaluated, and Concat, need brackets; softmax, exp, tanh, √ and ln take what follows."""
    if action in ("call", "concat", "stack", "literal", "product", "transpose", "abs"):
        return following.kind == "open" and following.text != "{" and (following.gap == 0 or "left" in following.text)
    return True


def _axis_argument(reader: Reader, axis: int) -> int:
    """axis=0 or dim=0 among the arguments of the call at hand."""
    end = reader.partner[reader.i]
    for i in range(reader.i + 1, end - 2):
        if reader.tokens[i].text in ("dim", "axis") and reader.tokens[i + 1].kind == "rel":
            return 0 if reader.tokens[i + 2].text in ("0", "-2") else 1
    return axis


def _row(args: tuple[Expr, ...]) -> Expr:
    """Several arguments of a function of one vector are that vector's entries."""
    return args[0] if len(args) == 1 else Matrix((args,), loose=True, at=args[0].at)


def _parts(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    if len(args) == 1 and isinstance(args[0], Matrix) and len(args[0].rows) == 1:
        return args[0].rows[0]
    if len(args) == 1 and isinstance(args[0], Concat):
        return args[0].parts
    if len(args) == 1 and isinstance(args[0], Call) and args[0].function == "stack":
        return args[0].args
    return args


_BUILD: dict[str, Callable[[tuple[Expr, ...], int, Location], Expr]] = {
    "softmax": lambda args, axis, at: Softmax(_row(args), axis, at=at),
    "normalise": lambda args, axis, at: Normalise(_row(args), axis, at=at),
    "exp": lambda args, axis, at: Exp(_row(args), at=at),
    "sqrt": lambda args, axis, at: Root(_row(args), at=at),
    "tanh": lambda args, axis, at: Tanh(_row(args), at=at),
    "abs": lambda args, axis, at: Absolute(_row(args), at=at),
    "concat": lambda args, axis, at: Concat(_parts(args), axis, at=at),
    "stack": lambda args, axis, at: Concat(_parts(args), 0, at=at),
    "transpose": lambda args, axis, at: Transpose(args[0], at=at),
    "product": lambda args, axis, at: reduce(lambda a, b: Product(a, b, at=at), args),
    "literal": lambda args, axis, at: args[0],
}


# — calls —


def call_arguments(reader: Reader, token: Token) -> tuple[Expr, ...] | None:
    """The arguments of a word or letter that calls what stands in the bracket right behind it."""
    opener, end = reader.tokens[reader.i], reader.partner[reader.i]
    if opener.text in ("{", "{|", "left{|"):
        return None
    if (size := size_in(reader.tokens[reader.i : end + 1])) is not None:
        reader.shapes.append(size)
        reader.i = end + 1
        return None
    if opener.gap and not opener.text.startswith("left"):
        return None
    if token.kind == "name" and not _letter_calls(reader, token.text, opener.text, end):
        return None
    return arguments(reader)


def _letter_calls(reader: Reader, letter: str, mark: str, end: int) -> bool:
    if letter not in table.CALLING_LETTERS:
        named = any(token.kind == "name" for token in reader.tokens[reader.i : end])
        return letter.islower() and "(" in mark and named and _lists(reader, end)  # e = a(s, h)
    listed = _lists(reader, end)
    if letter == "E":
        return "[" in mark and not listed
    return "(" in mark and (listed or letter not in ("N", "P", "p"))


def _lists(reader: Reader, end: int) -> bool:
    return "," in [reader.tokens[i].text for i in matrices.own_level(reader, reader.i + 1, end)]


def arguments(reader: Reader) -> tuple[Expr, ...]:
    """The arguments in the bracket at hand; keyword arguments (dim=-1, dtype=…) are left out."""
    start = reader.i
    end = reader.partner[start]
    reader.i = end + 1
    inside = reader.tokens[start + 1 : end]
    if inside and inside[0].kind in _DOTS and all(token.kind in _DOTS for token in inside):
        text = reader.text(start + 1, end)  # softmax(·), softmax(…): what stands above
        return (Name(symbol_of("dots", ())[0], text, at=reader.at(start + 1)),)
    spans = matrices.comma_spans(reader, start + 1, end)
    if "rel" in map(KIND, inside):
        spans = [span for span in spans if not _is_keyword(reader, *span)]
    if len(spans) == 1:
        return (matrices.bracket(reader, *spans[0], "(", start),)
    return tuple(reader.expression(a, b) for a, b in spans)


def _is_keyword(reader: Reader, lo: int, hi: int) -> bool:
    return hi - lo > 2 and reader.tokens[lo].kind in ("word", "func") and reader.tokens[lo + 1].kind == "rel"


def blackboard(reader: Reader, token: Token) -> Expr:
    """𝔼[…] is a call, ℝ^{2×3} a size."""
    start = reader.i
    reader.i += 1
    after = reader.tokens[reader.i] if reader.i < reader.hi else None
    if after is not None and after.kind == "open" and after.text not in ("{", "{|"):
        return Call(token.text, arguments(reader), at=reader.at(start))
    if after is not None and after.text == "^":
        lo, hi, reader.i = reader.argument_range(reader.i + 1)
        if (size := size_in(reader.tokens[lo:hi])) is not None:
            reader.shapes.append(size)
        spelled = any(t.kind in _STARTS_ARGUMENT for t in reader.tokens[lo:hi])
        return Call("reals", (reader.expression(lo, hi),) if spelled else (), at=reader.at(start))
    return Name(symbol_of(token.text, ())[0], reader.text(start, reader.i), at=reader.at(start))
