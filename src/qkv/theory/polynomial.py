"""Polynomials in the sizes of attention (FLINT), and how people write them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

# n is for a single sequence (n_q = n_k = n). Terms are sorted by this order, so that 4 n d² comes before 2 n² d;
# factors within a term are printed in their own.
NAMES = ("d_k", "d_v", "d", "n_q", "n_k", "n", "h", "sigma", "mu", "s", "d_ff", "layers", "kv_heads", "words")
PRINTED = ("layers", "h", "kv_heads", "n", "n_q", "n_k", "d", "d_k", "d_v", "d_ff", "words", "mu", "sigma", "s")
CONTEXT: Any = fmpq_mpoly_ctx.get(list(NAMES), Ordering.deglex)
SYMBOL: dict[str, fmpq_mpoly] = dict(zip(NAMES, CONTEXT.gens(), strict=True))
ONE: fmpq_mpoly = CONTEXT.constant(1)
ZERO: fmpq_mpoly = CONTEXT.constant(0)

PLAIN = {"mu": "μ", "sigma": "σ", "layers": "L", "kv_heads": "g", "words": "V"}
LATEX = {**PLAIN, "d_ff": r"d_{\text{ff}}", "mu": r"\mu", "sigma": r"\sigma"}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

Spelling = Mapping[str, str]  # how this sheet or person calls a size: {"n": "N'", "d": "D"}


def constant(value: int) -> fmpq_mpoly:
    """A number as a polynomial."""
    return CONTEXT.constant(value)


def polynomial(value: Any) -> fmpq_mpoly:
    """A size as a polynomial, whether it is one already or a number."""
    return value if isinstance(value, fmpq_mpoly) else constant(value)


def substitute(size: fmpq_mpoly, sizes: Mapping[str, int | fmpq_mpoly]) -> fmpq_mpoly:
    """The polynomial with some sizes replaced.

    >>> plain(substitute(SYMBOL["n_q"] * SYMBOL["n_k"], {"n_k": SYMBOL["n_q"]}))
    'n_q²'
    """
    if size.is_constant():  # most operations are done not once in most steps
        return size
    known = {name: polynomial(value) for name, value in sizes.items()}
    return size.compose(*[known.get(name, SYMBOL[name]) for name in NAMES], ctx=CONTEXT)


# Exponents and coefficients: FLINT's polynomials have no hash, and that of its fractions is slow.
Terms = frozenset[tuple[tuple[int, ...], int | Fraction]]


def terms(size: fmpq_mpoly) -> Terms:
    """A polynomial as its terms."""
    return frozenset([(tuple(map(int, exponents)), _exact(factor)) for exponents, factor in size.to_dict().items()])


def _exact(value: fmpq) -> int | Fraction:
    return int(value.p) if value.q == 1 else Fraction(int(value.p), int(value.q))


def of_terms(form: Terms) -> fmpq_mpoly:
    """A polynomial of its terms."""
    return CONTEXT.from_dict({exponents: fmpq(x.numerator, x.denominator) for exponents, x in form})


def renamed(form: Terms, letters: Mapping[str, str | None]) -> Terms:
    """Terms with some sizes called by other letters, or taken for 1; many times faster than `substitute`.

    >>> plain(of_terms(renamed(terms(SYMBOL["h"] * SYMBOL["n_q"] * SYMBOL["n_k"]), {"n_k": "n_q", "h": None})))
    'n_q²'
    """
    moves = [(NAMES.index(old), None if new is None else NAMES.index(new)) for old, new in letters.items()]
    made: dict[tuple[int, ...], int | Fraction] = {}
    for exponents, factor in form:
        powers = list(exponents)
        for old, new in moves:
            if new is not None:
                powers[new] += powers[old]
            powers[old] = 0
        moved = tuple(powers)
        made[moved] = made.get(moved, 0) + factor
    return frozenset([term for term in made.items() if term[1]])


def number(size: fmpq_mpoly) -> int | None:
    """Its value, if no size is left open and it is a whole number."""
    value = fraction(size)
    return value.numerator if value is not None and value.denominator == 1 else None


def fraction(size: fmpq_mpoly) -> Fraction | None:
    """Its value, if no size is left open."""
    if not size.is_constant():
        return None
    value = size.to_dict().get((0,) * len(NAMES), fmpq(0))
    return Fraction(int(value.p), int(value.q))


def leading(size: fmpq_mpoly) -> fmpq_mpoly:
    """What stays in O(…): the terms that no other term outgrows, without their coefficients.

    >>> n, d = SYMBOL["n"], SYMBOL["d"]
    >>> plain(leading(4 * n * d**2 + 2 * n**2 * d - n * d))
    'n d (d + n)'
    """
    return CONTEXT.from_dict({exponents: fmpq(1) for exponents in growth(size)})


def growth(size: fmpq_mpoly) -> frozenset[tuple[int, ...]]:
    """The exponents of the terms that no other term outgrows: two formulas are of one order where these agree."""
    return outgrown_by_none(terms(size))


def outgrown_by_none(form: Terms) -> frozenset[tuple[int, ...]]:
    """The exponents of those terms that no other term outgrows."""
    powers = [exponents for exponents, _ in form]
    return frozenset([a for a in powers if not any(a is not b and all(map(operator.le, a, b)) for b in powers)])


def plain(size: fmpq_mpoly, spelling: Spelling | None = None) -> str:
    """A polynomial on one line, with a common factor in front where that is shorter.

    >>> plain(SYMBOL["n_q"] * SYMBOL["n_k"] * (SYMBOL["d_k"] - 1))
    'n_q n_k (d_k − 1)'
    """
    names: dict[str, str] = {**PLAIN, **(spelling or {})}
    return _factored(size, lambda name, power: str(names.get(name, name)) + raised(power), "{} ({})")


def latex(size: fmpq_mpoly, spelling: Spelling | None = None) -> str:
    r"""A polynomial in LaTeX.

    >>> print(latex(4 * SYMBOL["n"] * SYMBOL["d"] ** 2))
    4 n d^{2}
    """
    names: dict[str, str] = {**LATEX, **(spelling or {})}
    text = _factored(
        size,
        lambda name, power: str(names.get(name, name)) + (f"^{{{power}}}" if power > 1 else ""),
        r"{} \left({}\right)",
    )
    return text.replace("−", "-")


def raised(power: int) -> str:
    """An exponent in small digits; none for 1."""
    return str(power).translate(SUPERSCRIPTS) if power > 1 else ""


def _factored(size: fmpq_mpoly, symbol: Any, bracket: str) -> str:
    terms = size.to_dict()
    if len(terms) < 2:
        return _sum(terms, symbol)
    common = tuple(map(min, zip(*terms, strict=True)))
    # 4 n d² + 2 n² d is read as it stands; n_q n_k d_k + n_q n_k d_v is not.
    whole = all(abs(coefficient) == 1 for coefficient in terms.values())
    if not any(common) or not (whole or len(terms) > 2):
        return _sum(terms, symbol)
    inside = {tuple(map(operator.sub, e, common)): c for e, c in terms.items()}
    return bracket.format(_sum({common: fmpq(1)}, symbol), _sum(inside, symbol))


def _sum(terms: Mapping[tuple[int, ...], fmpq], symbol: Any) -> str:
    ordered = sorted(terms.items(), key=lambda term: term[1] < 0)  # a minus does not come first
    powers = ((dict(zip(NAMES, exponents, strict=True)), coefficient) for exponents, coefficient in ordered)
    return summed(([symbol(name, int(has[name])) for name in PRINTED if has[name]], times) for has, times in powers)


def summed(terms: Iterable[tuple[list[str], fmpq]]) -> str:
    """A sum of terms, each of them its factors and its coefficient.

    >>> summed([(["n", "d"], fmpq(2)), (["d"], fmpq(-1))])
    '2 n d − d'
    """
    text = ""
    for names, coefficient in terms:
        size = abs(coefficient)
        body = " ".join(([] if size == 1 and names else [str(size)]) + names)
        if text:
            text += (" − " if coefficient < 0 else " + ") + body
        else:
            text = ("−" if coefficient < 0 else "") + body
    return text or "0"
