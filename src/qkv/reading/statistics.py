"""Names that only formulas with a square or a norm use: σ where σ² = …, and the μ and σ of (x − μ) / √(σ² + ε)."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.around_said import NORM
from qkv.library.words import means
from qkv.reading.definitions import Source
from qkv.reading.equation import Equation, Kind
from qkv.reading.indexed import LETTER
from qkv.reading.page import Page, found_once

EPSILON = frozenset(("epsilon", "varepsilon", "eps", "ε"))


@found_once
def statistics(page: Page) -> dict[Symbol, n.Expr]:
    """What names without a definition are by the squares and the norms in which a page has them."""
    found: dict[Symbol, n.Expr] = {}
    formulas = [item.expr for equation in page.equations for item in equation.of(Kind.FORMULA)]
    said = NORM.search(page.words) is not None
    norms = [pair for expr in formulas for node in n.walk(expr) for pair in _of_norm(node, said)]
    squares = [_square(equation, kind) for kind in (Kind.FORMULA, Kind.VALUE) for equation in page.equations]
    named = _by_names(page) if said and "rms" not in page.words else ()
    stated, printed = squares[: len(page.equations)], squares[len(page.equations) :]
    for symbol, expr in (pair for pair in (*stated, *norms, *named, *printed) if pair is not None):
        own = any(d.source is not Source.GIVEN for d in page.definitions.get(symbol, ()))
        if not own and symbol not in n.names_in(expr):
            found.setdefault(symbol, expr)
    return found


def _square(equation: Equation, kind: Kind) -> tuple[Symbol, n.Expr] | None:
    """The σ of σ² = …"""
    first = equation.items[0].expr
    base = first.base if isinstance(first, n.Power) and first.exponent == n.number(2) else None
    others = [item.expr for item in equation.items[1:] if item.kind is kind and not item.struck]
    return (base.symbol, n.Root(others[0])) if isinstance(base, n.Name) and others else None


def _of_norm(node: n.Expr, said: bool) -> Iterator[tuple[Symbol, n.Expr]]:
    """The mean that a difference has and the deviation, or the variance, below it; letters that do not tell need words
    that speak of a norm."""
    above = node.numerator if isinstance(node, n.Quotient) else None
    terms = above.terms if isinstance(above, n.Sum) and len(above.terms) == 2 else (None, None)
    cell, less = terms[0], terms[-1]
    middle = less.arg if isinstance(less, n.Negate) else None
    if not isinstance(node, n.Quotient) or not isinstance(middle, n.Name) or not isinstance(cell, n.Name):
        return
    if not (said or means(middle.symbol.base, "mean")):
        return
    of = n.Name(_whole(cell.symbol, middle.symbol))
    yield middle.symbol, n.Call("mean", (of,))
    root = isinstance(node.denominator, n.Root)
    for term in _terms(node.denominator.arg if isinstance(node.denominator, n.Root) else node.denominator):
        square = isinstance(term, n.Power) and term.exponent == n.number(2)
        name = term.base if isinstance(term, n.Power) and square else term
        if isinstance(name, n.Name) and name.symbol.base not in EPSILON:
            yield name.symbol, n.Call("var" if root and not square else "std", (of,))


def _by_names(page: Page) -> Iterator[tuple[Symbol, n.Expr]]:
    """What names are usual for on a page about a layer norm of one vector x: μ, σ, x̂, and y with γ and β."""
    given = {s: next((d.expr for d in ds if d.source is Source.GIVEN), None) for s, ds in page.definitions.items()}
    x = Symbol("x")
    if not isinstance(given.get(x), n.Matrix):
        return
    of, eps = n.Name(x), next((s for s in page.definitions if s.base in EPSILON), None)
    spread = n.Root(n.Sum((n.Call("var", (of,)), n.Name(eps)))) if eps is not None else n.Call("std", (of,))
    yield Symbol("mu"), n.Call("mean", (of,))
    yield Symbol("sigma"), n.Call("std", (of,))
    hats = (Symbol("x", ("hat",)), Symbol("xhat"), Symbol("x", ("norm",)))
    hat = next((s for s in hats if s in page.mentioned), None)
    normed = n.Quotient(n.Sum((of, n.Negate(n.Call("mean", (of,))))), spread)
    if hat is not None:
        yield hat, normed
    gain, bias = Symbol("gamma"), Symbol("beta")
    if gain in given and bias in given:
        scaled = n.Call("hadamard", (n.Name(gain), n.Name(hat) if hat is not None else normed))
        yield Symbol("y"), n.Sum((scaled, n.Name(bias)))


def _terms(expr: n.Expr) -> tuple[n.Expr, ...]:
    return expr.terms if isinstance(expr, n.Sum) else (expr,)


def _whole(cell: Symbol, mean: Symbol) -> Symbol:
    """What a mean is taken of: all of x, where x_i differs from it for every i."""
    kept = tuple(i for i in cell.indices if i in mean.indices or not LETTER.match(i))
    return cell._replace(indices=kept)
