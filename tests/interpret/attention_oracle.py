"""Attention written out plainly: its own formulas, nothing of qkv. Tokens are rows.

Numbers are fractions until a root or an exponential is taken, and mpmath's from there on: a value that is exactly 0
may stand beside weights of 1e-400, and no number of digits would tell it from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 50

Real = Fraction | mpf
Rows = list[list[Real]]
MASKED = None  # a score that is forbidden


def approx(x: Real) -> mpf:
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else x


def decimal(text: str) -> mpf:
    mantissa, _, exponent = text.partition("e")  # apart, since 10^-40000000 is no fraction to write out
    return approx(Fraction(mantissa)) * mpf(10) ** int(exponent or 0)


def total(numbers: Iterable[Real]) -> Real:
    found = list(numbers)
    if all(isinstance(x, Fraction) for x in found):
        return sum(found, Fraction(0))
    return mp.fsum(map(approx, found))


def product(x: Real, y: Real) -> Real:
    return x * y if isinstance(x, Fraction) and isinstance(y, Fraction) else approx(x) * approx(y)


def dot(xs: Iterable[Real], ys: Iterable[Real]) -> Real:
    return total(product(x, y) for x, y in zip(xs, ys, strict=True))


def reals(rows: list[list[object]]) -> Rows:
    return [[Fraction(str(cell)) for cell in row] for row in rows]


def times(a: Rows, b: Rows) -> Rows:
    return [[dot(row, column) for column in turned(b)] for row in a]


def turned(a: Rows) -> Rows:
    return [[row[j] for row in a] for j in range(len(a[0]))]


def project(x: Rows, w: Rows, bias: list[Real] | None = None) -> Rows:
    return [[cell + (bias[j] if bias else 0) for j, cell in enumerate(row)] for row in times(x, w)]


def softmax(row: list[Real | None]) -> list[mpf]:
    """Shifted by the largest score; forbidden scores weigh 0."""
    top = max(x for x in row if x is not MASKED)
    exps = [mpf(0) if x is MASKED else mp.exp(approx(x - top)) for x in row]
    whole = mp.fsum(exps)
    return [e / whole for e in exps]


def shares(row: list[Real]) -> list[Real]:
    whole = total(row)
    return [x / whole for x in row]


def attend(q: Rows, k: Rows, v: Rows, divisor: mpf, allowed: list[list[bool]] | None = None) -> tuple[Rows, Rows, Rows]:
    """Scores, weights and output."""
    scores = [[dot(query, key) for key in k] for query in q]
    scaled = [[approx(x) / divisor for x in row] for row in scores]
    seen = [
        [x if allowed is None or allowed[i][j] else MASKED for j, x in enumerate(row)] for i, row in enumerate(scaled)
    ]
    weights = [softmax(row) for row in seen]
    return scores, weights, [mixed(row, shares_, v) for row, shares_ in zip(seen, weights, strict=True)]


def mixed(scores: list[Real | None], weights: list[Real], v: Rows) -> list[Real]:
    """The values, weighed. Those of equal scores are added first: where they cancel, they do so exactly."""
    equal = {score: [i for i, other in enumerate(scores) if other == score] for score in scores}
    alike = [[total(v[i][j] for i in found) for found in equal.values()] for j in range(len(v[0]))]
    return [dot([weights[found[0]] for found in equal.values()], column) for column in alike]


def causal(queries: int, keys: int) -> list[list[bool]]:
    """The last query sees all keys."""
    late = max(keys - queries, 0)
    return [[j <= i + late for j in range(keys)] for i in range(queries)]


def additive_scores(s: list[Real], h: Rows, w: Rows, u: Rows, v: list[Real]) -> list[mpf]:
    """v·tanh(W s + U h_i) for each state."""
    left = [dot(row, s) for row in w]
    out = []
    for state in h:
        right = [dot(row, state) for row in u]
        out.append(dot(v, [mp.tanh(approx(a + b)) for a, b in zip(left, right, strict=True)]))
    return out


def agrees(shown: str, expected: Real, digits: int) -> bool:
    """Whether a decimal is the true value, correctly rounded to so many significant digits (or is exact and shorter)."""
    written, true = decimal(shown), approx(expected)
    if written == 0:
        return abs(true) < mpf(10) ** -40
    exponent = int(mp.floor(mp.log10(abs(true))))
    half = mpf(10) ** (exponent - digits + 1) / 2
    return abs(written - true) <= half * (1 + mpf(10) ** -25)


def significant(shown: str) -> int:
    """How many significant digits a decimal shows."""
    mantissa = shown.lower().partition("e")[0].lstrip("-").replace(".", "").lstrip("0")
    return len(mantissa)
