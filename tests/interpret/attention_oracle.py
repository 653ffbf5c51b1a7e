"""Attention written out plainly with mpmath at 50 digits: its own formulas, nothing of qkv. Tokens are rows."""

from __future__ import annotations

from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 50

Rows = list[list[mpf]]
MASKED = None  # a score that is forbidden


def real(value: object) -> mpf:
    mantissa, _, exponent = str(value).partition("e")  # apart, since 10^-40000000 is no fraction to write out
    exact = Fraction(mantissa)
    return mpf(exact.numerator) / mpf(exact.denominator) * mpf(10) ** int(exponent or 0)


def reals(rows: list[list[object]]) -> Rows:
    return [[real(cell) for cell in row] for row in rows]


def times(a: Rows, b: Rows) -> Rows:
    return [[mp.fsum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def turned(a: Rows) -> Rows:
    return [[row[j] for row in a] for j in range(len(a[0]))]


def project(x: Rows, w: Rows, bias: list[mpf] | None = None) -> Rows:
    return [[cell + (bias[j] if bias else 0) for j, cell in enumerate(row)] for row in times(x, w)]


def softmax(row: list[mpf | None]) -> list[mpf]:
    """Shifted by the largest score; forbidden scores weigh 0."""
    top = max(x for x in row if x is not MASKED)
    exps = [mpf(0) if x is MASKED else mp.exp(x - top) for x in row]
    total = mp.fsum(exps)
    return [e / total for e in exps]


def shares(row: list[mpf]) -> list[mpf]:
    total = mp.fsum(row)
    return [x / total for x in row]


def attend(q: Rows, k: Rows, v: Rows, divisor: mpf, allowed: list[list[bool]] | None = None) -> tuple[Rows, Rows, Rows]:
    """Scores, weights and output."""
    scores = [[mp.fsum(x * y for x, y in zip(query, key, strict=True)) for key in k] for query in q]
    scaled = [[x / divisor for x in row] for row in scores]
    seen = [
        [x if allowed is None or allowed[i][j] else MASKED for j, x in enumerate(row)] for i, row in enumerate(scaled)
    ]
    weights = [softmax(row) for row in seen]
    return scores, weights, times(weights, v)


def causal(queries: int, keys: int) -> list[list[bool]]:
    """The last query sees all keys."""
    late = max(keys - queries, 0)
    return [[j <= i + late for j in range(keys)] for i in range(queries)]


def additive_scores(s: list[mpf], h: Rows, w: Rows, u: Rows, v: list[mpf]) -> list[mpf]:
    """v·tanh(W s + U h_i) for each state."""
    left = [mp.fsum(x * y for x, y in zip(row, s, strict=True)) for row in w]
    out = []
    with mp.workdps(600):  # tanh saturates: 1 − tanh(500) begins at the 435th digit
        for state in h:
            right = [mp.fsum(x * y for x, y in zip(row, state, strict=True)) for row in u]
            out.append(mp.fsum(c * mp.tanh(a + b) for c, a, b in zip(v, left, right, strict=True)))
    return out


def agrees(shown: str, true: mpf, digits: int) -> bool:
    """Whether a decimal is the true value, correctly rounded to so many significant digits (or is exact and shorter)."""
    written = real(shown)
    if written == 0:
        return abs(true) < mpf(10) ** -40
    exponent = int(mp.floor(mp.log10(abs(true))))
    half = mpf(10) ** (exponent - digits + 1) / 2
    return abs(written - true) <= half * (1 + mpf(10) ** -25)


def significant(shown: str) -> int:
    """How many significant digits a decimal shows."""
    mantissa = shown.lower().partition("e")[0].lstrip("-").replace(".", "").lstrip("0")
    return len(mantissa)
