"""Functions with their arguments, and what brackets behind a name mean: a call, an index, an entry, or a product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from qkv.errors import Location
from qkv.expr import functions
from qkv.expr.names import Symbol
from qkv.expr.nodes import (
    Absolute,
    Call,
    Concat,
    Exp,
    Expr,
    Matrix,
    Name,
    Normalise,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Softmax,
    Transpose,
    is_literal,
)
from qkv.reader.maths import arrays
from qkv.reader.maths.brackets import size_in
from qkv.reader.maths.names import WORDS, Names
from qkv.reader.maths.symbols import Script, spelled
from qkv.reader.maths.tokens import Token
from qkv.regex import regex

if TYPE_CHECKING:
    from qkv.reader.maths.terms import Terms

# Functions that have a node of their own; all others are rows of qkv.expr.functions, or calls that are kept as written.
ACTIONS = {
    "softmax": "softmax", "softargmax": "softmax", "exp": "exp", "sqrt": "sqrt", "tanh": "tanh", "concat": "concat",
    "concatenate": "concat", "cat": "concat", "hstack": "concat", "vstack": "stack", "stack": "stack",
    "transpose": "transpose", "matmul": "product", "dot": "product", "mm": "product", "bmm": "product",
    "inner": "product",
    "array": "literal", "tensor": "literal", "asarray": "literal", "floattensor": "literal", "matrix": "literal",
    "mat": "literal", "constant": "literal", "abs": "abs", "normalise": "normalise", "normalize": "normalise",
    "wurzel": "sqrt", "racine": "sqrt", "raíz": "sqrt", "raiz": "sqrt", "radice": "sqrt", "wortel": "sqrt",
    "루트": "sqrt", "根号": "sqrt", "根號": "sqrt", "корень": "sqrt",
}  # fmt: skip
_PREFIX = frozenset(("softmax", "exp", "sqrt", "tanh", "ln", "sin", "cos", "tan", "log2", "log10"))  # need no brackets
_COLUMN_WORDS = frozenset(("col", "cols", "column", "columns"))
_VALUES = frozenset(("num", "letters", "word", "name", "upright", "inf", "begin", "cmd", "open", "func"))
_JOINTS = regex(r"[\s\\_\-~]+")


@lru_cache(maxsize=4096)  # every word of a page is looked up
def key_of(word: str) -> str | None:
    """The function that a word spells: the name of its action, or its row of the table; None if it is none of ours.

    >>> key_of("Soft-Max"), key_of("ReLU"), key_of("love")
    ('softmax', 'relu', None)
    """
    if len(word) <= 2 and word.isupper():
        return None  # LN is a norm, no logarithm
    key = _JOINTS.sub("", word).lower()
    return ACTIONS.get(key) or functions.lookup(word) or functions.lookup(key)


def is_called(word: str, following: Token | None, names: Names) -> bool:
    """Whether a word is a function here: its argument follows, and the page does not use it as a name of its own."""
    key = key_of(word)
    if key is None or following is None or following.kind not in _VALUES or (len(word) == 1):
        return False
    mark = following.text.removeprefix("left")
    if following.kind == "open" and mark in "([":
        near = not following.gap or following.text.startswith("left")
        return near or key in _PREFIX
    return (
        key in _PREFIX
        and word not in names.words
        and (following.kind in ("num", "begin", "cmd") or word != word.capitalize() or key == "softmax")
    )


def quantity(reader: Terms, word: str, scripts: Sequence[Script], primes: int, start: int) -> Expr:
    """A symbol, transposed or raised as its scripts say."""
    at = reader.at(start)
    if scripts and (part := arrays.cut_by_script(reader, word, scripts, start)) is not None:
        return part
    found = spelled(reader.names, "_".join(word.split()), scripts, primes, powers_count="power" in reader.turned)
    if found.doubtful:
        reader.doubt("power")
    node: Expr = Name(found.symbol, reader.text(start, reader.i), at=at)
    if primes and word not in reader.names.primed and reader.doubt("prime"):
        symbol = found.symbol._replace(primes=primes - 1)
        node = Transpose(Name(symbol, reader.text(start, reader.i), at=at), at=at)
    if found.transposed:
        node = Transpose(node, at=at)
    for power in found.powers:
        node = Power(node, reader.script_value(power), at=at)
    return node


def applied(reader: Terms) -> Expr:
    """The function at hand with its argument."""
    start, token = reader.i, reader.tokens[reader.i]
    reader.i += 1
    scripts, primes = reader.scripts()
    at, key = reader.at(start), key_of(token.text) or token.text
    words = {t.text.strip() for s in scripts for t in s.tokens if t.kind in WORDS}
    axis = 0 if words & _COLUMN_WORDS else 1
    bases = {t.text for s in scripts for t in s.tokens if t.kind in ("num", "sub")}
    key = f"log{bases.pop()}" if key == "ln" and bases in ({"2"}, {"10"}) else key
    following = reader.tokens[reader.i] if reader.i < reader.hi else None
    if following is None or following.kind not in _VALUES:
        return quantity(reader, token.text, scripts, primes, start)
    if following.kind == "open" and following.text != "{":
        axis = _axis_argument(reader, axis)
        args = arguments(reader)
    else:
        args = (_prefixed(reader, key),)
    if any(
        len(word) == 1 or word in ("beta", "tau") for word in words - {"i", "j", "T"}
    ):  # softmax_β: β may multiply or divide
        return Call(str(spelled(reader.names, token.text, scripts).symbol), args, at=at)
    if not args:
        return Call(key, (), at=at)
    return _BUILD[key](args, axis, at) if key in _BUILD else Call(key, args, at=at)


def _prefixed(reader: Terms, key: str) -> Expr:
    """The operand of a function without brackets: tanh 2, ln x_1, sin 2θ; nobody divides a softmax by anything, so that
    of 'softmax of S/d' it is the quotient."""
    node = reader.factor()
    while key == "softmax" and reader.i < reader.hi and reader.tokens[reader.i].text == "/":
        reader.i += 1
        node = Quotient(node, reader.factor(), at=node.at)
    return node


def _axis_argument(reader: Terms, axis: int) -> int:
    """axis=0 or dim=0 among the arguments of the call at hand."""
    for i in range(reader.i + 1, reader.partner[reader.i] - 2):
        if reader.tokens[i].text in ("dim", "axis") and reader.tokens[i + 1].kind == "rel":
            return 0 if reader.tokens[i + 2].text in ("0", "-2") else 1
    return axis


def _row(args: tuple[Expr, ...]) -> Expr:
    """Several arguments of a function of one vector are that vector's entries."""
    return args[0] if len(args) == 1 else Matrix((args,), loose=True, at=args[0].at)


def _parts(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    if len(args) == 1 and isinstance(args[0], Matrix) and len(args[0].rows) == 1:
        return args[0].rows[0]
    return args[0].parts if len(args) == 1 and isinstance(args[0], Concat) else args


def _largest(args: tuple[Expr, ...], at: Location) -> Expr:
    """max(0, x) and max(a, b) are taken cell by cell; of one vector, or of several numbers, the largest is meant."""
    zeros = [arg for arg in args if isinstance(arg, Number) and arg.value == 0]
    if len(args) != 2 or all(is_literal(arg) and not isinstance(arg, Matrix) for arg in args):
        return Call("max", args, at=at)
    return (
        Call("relu", tuple(arg for arg in args if arg is not zeros[0]), at=at) if zeros else Call("larger", args, at=at)
    )


_BUILD: dict[str, Callable[[tuple[Expr, ...], int, Location], Expr]] = {
    "softmax": lambda args, axis, at: Softmax(_row(args), axis, at=at),
    "normalise": lambda args, axis, at: Normalise(_row(args), axis, at=at),
    "exp": lambda args, axis, at: Exp(_row(args), at=at),
    "sqrt": lambda args, axis, at: Root(_row(args), at=at),
    "tanh": lambda args, axis, at: Call("tanh", (_row(args),), at=at),
    "abs": lambda args, axis, at: Absolute(_row(args), at=at),
    "concat": lambda args, axis, at: Concat(_parts(args), axis, at=at),
    "stack": lambda args, axis, at: Concat(_parts(args), 0, at=at),
    "transpose": lambda args, axis, at: Transpose(args[0], at=at),
    "product": lambda args, axis, at: reduce(lambda a, b: Product(a, b, at=at), args),
    "literal": lambda args, axis, at: args[0],
    "max": lambda args, axis, at: _largest(args, at),
}


def arguments(reader: Terms) -> tuple[Expr, ...]:
    """The arguments in the bracket at hand; keyword arguments (dim=-1, dtype=…) are left out."""
    start, end = reader.i, reader.partner[reader.i]
    reader.i = end + 1
    inside = reader.tokens[start + 1 : end]
    if inside and all(t.kind in ("op", "dots", "sep") for t in inside):  # softmax(·): of what stands above
        return (Name(Symbol("dots"), reader.text(start + 1, end), at=reader.at(start + 1)),)
    spans = [span for span in _spans(reader, start + 1, end) if not _is_keyword(reader, *span)]
    if len(spans) == 1:
        return (arrays.bracket(reader, *spans[0], "(", start),)
    return tuple(reader.expression(a, b) for a, b in spans)


def _spans(reader: Terms, lo: int, hi: int) -> list[tuple[int, int]]:
    """Where arguments begin and end; an arrow parts them as a comma does: attention(2 → 1)."""
    cuts = [i for i in reader.own_level(lo, hi) if reader.tokens[i].text in (",", "→")]
    edges = [lo - 1, *cuts, hi]
    return [(a + 1, b) for a, b in pairwise(edges) if a + 1 < b]


def _is_keyword(reader: Terms, lo: int, hi: int) -> bool:
    return hi - lo > 2 and reader.tokens[lo].kind in WORDS | {"func"} and reader.tokens[lo + 1].kind == "rel"


def behind_name(reader: Terms, token: Token, name: Expr, scripts: Sequence[Script], primes: int, start: int) -> Expr:
    """What a bracket right behind a name makes of it: an indexed name, a call, an entry, or a product."""
    opener, end = reader.tokens[reader.i], reader.partner[reader.i]
    mark = opener.text.removeprefix("left")
    if mark == "{" or (size := size_in(reader.tokens[reader.i : end + 1])) is not None:
        if mark != "{" and size is not None:
            reader.shapes.append(size)
            reader.i = end + 1
        return name
    if opener.gap and not opener.text.startswith("left"):
        return name
    if mark == "[":
        expects = (
            token.text not in reader.names.letters
            and any(t.kind in WORDS for t in reader.tokens[reader.i + 1 : end])
            and len(token.text) == 1
        )
        if expects and not scripts and token.text.isupper():  # E[X]
            return Call(token.text, arguments(reader), at=reader.at(start))
        return arrays.indexed(reader, name) or name
    if mark != "(":
        return name
    if (part := arrays.sliced(reader, name)) is not None:
        return part
    if (index := _index_in(reader, end)) is not None and _is_indexed(reader, token):
        reader.i = end + 1
        symbol = name.symbol if isinstance(name, Name) else Symbol(token.text)
        labels, indices = index
        made = symbol._replace(labels=tuple(sorted((*symbol.labels, *labels))), indices=symbol.indices + indices)
        return Name(made, reader.text(start, end + 1), at=reader.at(start))
    if isinstance(name, Transpose) or not _calls(reader, token, end):
        return name
    word = str(spelled(reader.names, token.text, scripts, primes).symbol)
    return Call(word if scripts else token.text, arguments(reader), at=reader.at(start))


def _is_indexed(reader: Terms, token: Token) -> bool:
    return token.text in reader.names.indexed


def _index_in(reader: Terms, end: int) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The labels and indices in the bracket at hand where it holds numbers and words alone: (0), ("the"), (2 → 1)."""
    inside = [t for t in reader.tokens[reader.i + 1 : end] if t.kind != "quote" and t.text not in (",", "→")]
    if not inside or not all(t.kind == "num" or t.kind in WORDS | {"prose"} for t in inside):
        return None
    words = [t.text for t in inside if t.kind != "num"]
    if len(words) > 1:
        return (), tuple(t.text for t in inside)
    return tuple(words), tuple(t.text for t in inside if t.kind == "num")


def _calls(reader: Terms, token: Token, end: int) -> bool:
    """Whether a name calls what stands in brackets: a word does, a letter unless the page defines it as a quantity."""
    word, names = token.text, reader.names
    if word in names.functions or word in names.indexed:
        return True
    if len(word) > 1 and word not in names.words:
        return True
    known = word in names.letters or word in names.words or any(base == word for base, _ in names.labelled)
    listed = any(reader.tokens[i].text == "," for i in reader.own_level(reader.i + 1, end))
    return (listed or not known) != reader.doubt("call")


def blackboard(reader: Terms, token: Token) -> Expr:
    """𝔼[…] is a call, ℝ^{2×3} a size."""
    start = reader.i - 1
    after = reader.tokens[reader.i] if reader.i < reader.hi else None
    if after is not None and after.kind == "open" and after.text != "{":
        return Call(token.text, arguments(reader), at=reader.at(start))
    if after is not None and after.text == "^":
        lo, hi, reader.i = reader.argument_range(reader.i + 1)
        if (size := size_in(reader.tokens[lo:hi])) is not None:
            reader.shapes.append(size)
        return Call("reals", (reader.expression(lo, hi),), at=reader.at(start))
    return Name(Symbol(token.text), reader.text(start, reader.i), at=reader.at(start))
