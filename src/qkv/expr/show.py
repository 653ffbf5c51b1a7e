"""Expressions and symbols as plain text and as LaTeX. What is written here, the reader reads back."""

from __future__ import annotations

from functools import lru_cache

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.regex import regex

GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "pi"),
        *("rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Omega", "Delta", "Gamma"),
    )
)

SCIENTIFIC = regex(r"([-+]?[\d.]+)[eE]([-+]?\d+)")

# How tightly a node binds; a child that binds looser than its place is put in brackets.
SUM, PRODUCT, UNARY, POSTFIX, ATOM = range(5)
LEVEL: dict[type, int] = {
    n.Sum: SUM,
    n.Negate: SUM,
    n.Product: PRODUCT,
    n.Quotient: PRODUCT,
    n.Power: POSTFIX,
    n.Transpose: POSTFIX,
    n.Entry: POSTFIX,
    n.Series: SUM,
}


@lru_cache(maxsize=4096)
def symbol_plain(symbol: Symbol) -> str:
    """A symbol as people type it.

    >>> symbol_plain(Symbol("W", ("Q",), ("0",))), symbol_plain(Symbol("d", ("k",)))
    ('W_0^Q', 'd_k')
    """
    sub, sup = _scripts(symbol)
    return symbol.base + "'" * symbol.primes + _script("_", sub) + _script("^", sup)


def symbol_latex(symbol: Symbol) -> str:
    r"""A symbol in LaTeX.

    >>> print(symbol_latex(Symbol("W", ("Q",), ("0",))), symbol_latex(Symbol("Output")))
    W_{0}^{Q} \text{Output}
    """
    sub, sup = _scripts(symbol)
    base = symbol.base
    if base in GREEK:
        base = "\\" + base
    elif len(base) > 1:
        base = "\\text{" + base.replace("_", r"\_") + "}"
    sub_text = ",".join(_word(x) for x in sub)
    sup_text = ",".join(_word(x) for x in sup)
    return base + "'" * symbol.primes + (f"_{{{sub_text}}}" if sub else "") + (f"^{{{sup_text}}}" if sup else "")


def _word(text: str) -> str:
    return text if len(text) == 1 or text.isdigit() else f"\\text{{{text}}}"


def _scripts(symbol: Symbol) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Indices go below; labels go above where there are indices, below otherwise."""
    return (symbol.indices, symbol.labels) if symbol.indices else (symbol.labels, ())


def _script(mark: str, parts: tuple[str, ...]) -> str:
    text = ",".join(parts)
    if not text:
        return ""
    return mark + (text if len(text) == 1 or text.isalnum() else "{" + text + "}")


def plain(node: n.Expr) -> str:
    """An expression on one line.

    >>> plain(n.Quotient(n.Product(n.Name(Symbol("Q")), n.Transpose(n.Name(Symbol("K")))), n.Root(n.number(3))))
    'Q K^T / √3'
    """
    match node:
        case n.Number():
            return node.text or str(node.value)
        case n.Infinite(sign=sign):
            return "∞" if sign > 0 else "-∞"
        case n.Matrix(rows=rows):
            return "[" + "; ".join(", ".join(plain(cell) for cell in row) for row in rows) + "]"
        case n.Name(symbol=symbol):
            return symbol_plain(symbol)
        case n.Sum(terms=terms):
            return "".join(_signed(term, i, plain) for i, term in enumerate(terms))
        case n.Product(left=a, right=b):
            return _in(a, PRODUCT, plain) + (" · " if _needs_dot(_last(a), _first(b)) else " ") + _in(b, POSTFIX, plain)
        case n.Quotient(numerator=a, denominator=b):
            return _in(a, PRODUCT, plain) + " / " + _in(b, POSTFIX, plain)
        case n.Root(arg=n.Root() as a):
            return f"√({plain(a)})"
        case n.Root(arg=a):
            return "√" + _in(a, ATOM, plain)
        case n.Exp(arg=a):
            return "e^" + _in(a, ATOM, plain)
        case n.Power(base=a, exponent=b):
            return _in(a, ATOM, plain) + "^" + _in(b, ATOM, plain)
        case n.Transpose(arg=n.Name(symbol=symbol)) if "^" in symbol_plain(symbol):
            return f"({symbol_plain(symbol)})^T"
        case n.Transpose(arg=a):
            return _in(a, ATOM, plain) + "^T"
        case n.Negate(arg=a):
            return "-" + _in(a, PRODUCT, plain)
        case n.Absolute(arg=a):
            return f"|{plain(a)}|"
        case _:
            return _call(node)


def _call(node: n.Expr) -> str:
    match node:
        case n.Concat(parts=parts, axis=axis):
            return ("Concat(" if axis else "Stack(") + ", ".join(plain(p) for p in parts) + ")"
        case n.Mask(arg=a, pattern=None):
            return f"causal({plain(a)})"
        case n.Mask(arg=a, pattern=n.Node() as pattern, truth=truth):
            return f"mask({plain(a)}, {plain(pattern)})" if truth else plain(n.Sum((a, pattern)))
        case n.Entry(arg=a):
            return f"{_in(a, ATOM, plain)}{_picked(node)}"
        case n.Series(index=index, low=low, high=high, body=body):
            span = f"_{{{index}={plain(low)}}}^{plain(high)}" if low and high else f"_{index}"
            return f"Σ{span} {_in(body, PRODUCT, plain)}"
        case n.Call(function="hadamard", args=(a, b)):
            return f"{_in(a, ATOM, plain)} ∘ {_in(b, ATOM, plain)}"
        case n.Call(function="larger", args=args):
            return f"max({', '.join(plain(a) for a in args)})"
        case n.Call(function=function, args=args):
            return f"{function}({', '.join(plain(a) for a in args)})"
        case n.Softmax(arg=a, axis=axis):
            return ("softmax(" if axis else "softmax over columns(") + plain(a) + ")"
        case n.Normalise(arg=a):
            return f"normalise({plain(a)})"
        case _:
            raise TypeError(type(node).__name__)


def _picked(node: n.Entry) -> str:
    """What an entry picks: Q[2], Q[2, 1], or columns as a script that counts from 1."""
    if node.columns:
        return f"_{{:,{node.columns[0]}:{node.columns[1] or ''}}}"
    row = ":" if node.row is None else str(node.row)
    return f"[{row if node.column is None else f'{row}, {node.column}'}]"


def latex(node: n.Expr) -> str:
    r"""An expression in LaTeX.

    >>> print(latex(n.Softmax(n.Quotient(n.Name(Symbol("S")), n.Root(n.Name(Symbol("d", ("k",))))))))
    \mathrm{softmax}\left(\frac{S}{\sqrt{d_{k}}}\right)
    """
    match node:
        case n.Number():
            return _latex_number(node.text or str(node.value))
        case n.Infinite(sign=sign):
            return r"\infty" if sign > 0 else r"-\infty"
        case n.Matrix(rows=rows):
            body = r" \\ ".join(" & ".join(latex(cell) for cell in row) for row in rows)
            return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
        case n.Name(symbol=symbol):
            return symbol_latex(symbol)
        case n.Sum(terms=terms):
            return "".join(_signed(term, i, latex) for i, term in enumerate(terms))
        case n.Product(left=a, right=b):
            dot = r" \cdot " if isinstance(_first(b), n.Number) else r" \, "
            return _in(a, PRODUCT, latex) + dot + _in(b, POSTFIX, latex)
        case n.Quotient(numerator=a, denominator=b):
            return rf"\frac{{{latex(a)}}}{{{latex(b)}}}"
        case n.Root(arg=a):
            return rf"\sqrt{{{latex(a)}}}"
        case n.Exp(arg=a):
            return f"e^{{{latex(a)}}}"
        case n.Power(base=a, exponent=b):
            return f"{_in(a, ATOM, latex)}^{{{latex(b)}}}"
        case n.Transpose(arg=n.Name(symbol=symbol)) if "^" in symbol_latex(symbol):
            return rf"({symbol_latex(symbol)})^\top"
        case n.Transpose(arg=a):
            return rf"{_in(a, ATOM, latex)}^\top"
        case n.Negate(arg=a):
            return "-" + _in(a, PRODUCT, latex)
        case n.Absolute(arg=a):
            return rf"\left|{latex(a)}\right|"
        case _:
            return _latex_call(node)


def _latex_call(node: n.Expr) -> str:
    match node:
        case n.Entry(arg=a):
            return _in(a, ATOM, latex) + _picked(node)
        case n.Series(index=index, low=low, high=high, body=body):
            span = f"_{{{index}={latex(low)}}}^{{{latex(high)}}}" if low and high else f"_{{{index}}}"
            return rf"\sum{span} {_in(body, PRODUCT, latex)}"
        case n.Concat(parts=parts, axis=axis):
            return _function("Concat" if axis else "Stack", parts)
        case n.Mask(arg=a, pattern=None):
            return _function("causal", (a,))
        case n.Mask(arg=a, pattern=n.Node() as pattern, truth=truth):
            return _function("mask", (a, pattern)) if truth else latex(n.Sum((a, pattern)))
        case n.Softmax(arg=a, axis=axis):
            return _function("softmax" if axis else "softmax over columns", (a,))
        case n.Call(function="hadamard", args=(a, b)):
            return rf"{_in(a, ATOM, latex)} \odot {_in(b, ATOM, latex)}"
        case n.Call(function=function, args=args) if function in BY_KEY:
            return BY_KEY[function].latex + r"\left(" + ", ".join(latex(a) for a in args) + r"\right)"
        case n.Call(function=function, args=args):
            return _function(function, args)
        case n.Normalise(arg=a):
            return _function("normalise", (a,))
        case _:
            raise TypeError(type(node).__name__)


def _function(name: str, args: tuple[n.Expr, ...]) -> str:
    return rf"\mathrm{{{name}}}\left(" + ", ".join(latex(a) for a in args) + r"\right)"


def _latex_number(text: str) -> str:
    """A number as it was printed: 6.03e-6 as a power of ten, and what is LaTeX already as it is."""
    power = SCIENTIFIC.fullmatch(text)
    return rf"{power[1]} \times 10^{{{int(power[2])}}}" if power else text


def _signed(term: n.Expr, position: int, show: object) -> str:
    if isinstance(term, n.Negate):
        return (" - " if position else "-") + _in(term.arg, PRODUCT, show)
    text = _in(term, SUM, show)
    return text if position == 0 else " + " + text


def _in(node: n.Expr, place: int, show: object) -> str:
    text: str = show(node)  # type: ignore[operator]
    level = LEVEL.get(type(node), ATOM)
    if isinstance(node, n.Number):
        level = SUM if node.value < 0 else PRODUCT if "/" in text else ATOM
    if isinstance(node, n.Mask) and node.pattern is not None and not node.truth:
        level = SUM  # a mask of 0 and −∞ is added
    if isinstance(node, n.Call) and node.function == "hadamard":
        level = SUM  # A B ∘ C could be (A B) ∘ C
    loose = level < place
    return f"({text})" if loose else text


def _needs_dot(left: n.Expr, right: n.Expr) -> bool:
    """Whether a blank between factors says too little: 2 · 3, [1, 1] · B."""
    literal = isinstance(left, n.Number | n.Matrix), isinstance(right, n.Number | n.Matrix)
    return all(literal) if n.Matrix not in (type(left), type(right)) else not all(literal)


def _first(node: n.Expr) -> n.Expr:
    while isinstance(node, (n.Product, n.Quotient, n.Power)):
        node = (
            node.left if isinstance(node, n.Product) else node.numerator if isinstance(node, n.Quotient) else node.base
        )
    return node


def _last(node: n.Expr) -> n.Expr:
    while isinstance(node, n.Product):
        node = node.right
    return node
