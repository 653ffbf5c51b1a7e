"""Mistakes around attention, each on a page of its own: it is found, it has its name, and nothing else is accused."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, erf, exp, log, sin, sqrt

import pytest

import qkv

Rows = list[list[float]]
X: Rows = [[1, 2, 4], [3, -1, 0.5]]
Z: Rows = [[0.5, 1, -1], [2, 0, 1]]
W: Rows = [[1, 0, 2], [0, 1, -1], [1, 1, 0]]
B: list[float] = [0.5, -1, 2]
C: Rows = [[1, 2, 0], [3, 5, 1], [0.5, 1, -1]]
P: Rows = [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]


def each(change: Callable[[float], float], a: Rows) -> Rows:
    return [[change(x) for x in row] for row in a]


def turned(a: Rows) -> Rows:
    return [list(column) for column in zip(*a, strict=True)]


def plus(a: Rows, b: Rows) -> Rows:
    return [[x + y for x, y in zip(left, right, strict=True)] for left, right in zip(a, b, strict=True)]


def times(a: Rows, b: Rows) -> Rows:
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in turned(b)] for row in a]


def norm(a: Rows, eps: float = 0.0, less: int = 0, power: float = 0.5, middle: float = 1.0) -> Rows:
    out = []
    for row in a:
        mean = middle * sum(row) / len(row)
        variance = sum((x - sum(row) / len(row)) ** 2 for x in row) / (len(row) - less)
        out.append([(x - mean) / (variance + eps) ** power for x in row])
    return out


def rms(a: Rows) -> Rows:
    return [[x / sqrt(sum(y * y for y in row) / len(row)) for x in row] for row in a]


def waves(first: int, sine: Callable[[float], float] = sin, cosine: Callable[[float], float] = cos) -> Rows:
    return [[sine(p), cosine(p), sine(p / 100), cosine(p / 100)] for p in range(first, first + 2)]


PE = r"""PE = \begin{bmatrix} \sin(0 / 10000^{0/4}) & \cos(0 / 10000^{0/4}) & \sin(0 / 10000^{2/4}) & \cos(0 / 10000^{2/4}) \\
\sin(1 / 10000^{0/4}) & \cos(1 / 10000^{0/4}) & \sin(1 / 10000^{2/4}) & \cos(1 / 10000^{2/4}) \end{bmatrix}"""

Z4: Rows = [[1, 2, -1, 0.5], [0.5, -2, 3, 1]]
ROPE = r"R = Q_4 \odot \cos(\Theta) + (Q_4 J) \odot \sin(\Theta)"
ANGLES: Rows = [[0.5, 0.5, 0.25, 0.25], [1, 1, 0.5, 0.5]]


def rotated(x: Rows, sign: int, halves: bool = False) -> Rows:
    pairs = [(0, 2), (1, 3)] if halves else [(0, 1), (2, 3)]
    out = [[0.0] * 4 for _ in x]
    for row, made, angles in zip(x, out, ANGLES, strict=True):
        for (a, b), angle in zip(pairs, (angles[0], angles[2]), strict=True):
            made[a] = row[a] * cos(angle) - sign * row[b] * sin(angle)
            made[b] = sign * row[a] * sin(angle) + row[b] * cos(angle)
    return out


# the mistake, the formula on the page, what its author shows
PAGES: list[tuple[str, str, Rows]] = [
    ("layer norm down the columns", r"N = \text{LayerNorm}(X)", turned(norm(turned(X)))),
    ("n - 1 in the variance", r"N = \text{LayerNorm}(X)", norm(X, less=1)),
    ("epsilon forgotten", r"N = \frac{X - \operatorname{mean}(X)}{\sqrt{\operatorname{var}(X) + \epsilon}}", norm(X)),
    ("divided by the variance", r"N = \text{LayerNorm}(X)", norm(X, power=1)),
    ("mean not subtracted", r"N = \text{LayerNorm}(X)", norm(X, middle=0)),
    ("layer norm for RMS norm", r"N = \text{RMSNorm}(X)", norm(X)),
    ("norm before for after", r"N = \text{LayerNorm}(X + Z)", plus(X, norm(Z))),
    ("residual left out", r"N = \text{LayerNorm}(X + Z)", norm(Z)),
    ("residual left out", "R = X + Z", Z),
    ("added before the projection", "R = X + Z W", times(plus(X, Z), W)),
    ("activation left out", r"G = \text{ReLU}(X W + b)", [[x + y for x, y in zip(row, B, strict=True)] for row in times(X, W)]),
    ("bias forgotten", r"G = \text{ReLU}(X W + b)", each(lambda x: max(x, 0), times(X, W))),
    ("ReLU for GELU", r"G = \text{GELU}(Z)", each(lambda x: max(x, 0), Z)),
    ("gate for value", r"G = \text{SiLU}(X W) \odot (X C)", [[a * b / (1 + exp(-b)) for a, b in zip(*rows, strict=True)] for rows in zip(times(X, W), times(X, C), strict=True)]),
    ("sine and cosine swapped", PE, waves(0, cos, sin)),
    ("positions from 1", PE, waves(1)),
    ("loss with the wrong index", r"\ell = -\operatorname{rowsum}(T \odot \ln P)", [[-log(0.4)], [-log(0.1)]]),
    ("softmax's derivative without its sum", r"dS = P \odot (D - \operatorname{rowsum}(P \odot D))", each(lambda x: x, [[p * d for p, d in zip(*rows, strict=True)] for rows in zip(P, [[1, 2, 3, 5], [2, -1, 0, 1]], strict=True)])),
    ("turned the other way", ROPE, rotated(Z4, -1)),
    ("pairs the other way", ROPE, rotated(Z4, 1, halves=True)),
    ("cache in the wrong order", r"K = Stack(K_{cache}, K_{new})", [[0.5, 2, 1], *X]),
    ("transpose left out", r"dW = C^\top C", times(C, C)),
]  # fmt: skip


def matrix(rows: Rows, digits: int = 6) -> str:
    return (
        r"\begin{bmatrix} "
        + r" \\ ".join(" & ".join(f"{x:.{digits}g}" for x in row) for row in rows)
        + r" \end{bmatrix}"
    )


GIVEN = {
    "X": matrix(X), "Z": matrix(Z), "W": matrix(W), "b": matrix([B]), r"\epsilon": "0.1", "P": matrix(P),
    "T": matrix([[0, 0, 1, 0], [1, 0, 0, 0]]), "D": matrix([[1, 2, 3, 5], [2, -1, 0, 1]]), "C": matrix(C),
    "Q_4": matrix(Z4), "J": matrix([[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1], [0, 0, -1, 0]]), r"\Theta": matrix(ANGLES),
    "K_{cache}": matrix(X), "K_{new}": matrix([[0.5, 2, 1]]),
}  # fmt: skip


def page(formula: str, shown: Rows) -> str:
    names = [name for name in GIVEN if name in formula]
    return "\n\n".join([*(f"$${name} = {GIVEN[name]}$$" for name in names), f"$${formula} \\approx {matrix(shown)}$$"])


@pytest.mark.parametrize("mistake, formula, shown", PAGES, ids=[f"{key}, {formula[:30]}" for key, formula, _ in PAGES])
def test_a_mistake_has_its_name(mistake: str, formula: str, shown: Rows) -> None:
    report = qkv.check(page(formula, shown))
    wrong = [claim for claim in report.claims if claim.verdict == "wrong"]
    assert [claim.cause.mistake for claim in wrong if claim.cause] == [mistake]
    assert len(wrong) == 1


RIGHT: list[tuple[str, Rows]] = [
    (r"N = \text{LayerNorm}(X)", norm(X)),
    ("R = X + Z", plus(X, Z)),
    (r"N = \frac{X - \operatorname{mean}(X)}{\sqrt{\operatorname{var}(X) + \epsilon}}", norm(X, 0.1)),
    (r"N = \text{RMSNorm}(X + Z)", rms(plus(X, Z))),
    (r"G = \text{GELU}(X W)", each(lambda x: x * (1 + erf(x / sqrt(2))) / 2, times(X, W))),
    (r"G = \text{SiLU}(X W)", each(lambda x: x / (1 + exp(-x)), times(X, W))),
    (PE, waves(0)),
    (ROPE, rotated(Z4, 1)),
    (r"K = Stack(K_{cache}, K_{new})", [*X, [0.5, 2, 1]]),
    (r"\ell = -\operatorname{rowsum}(T \odot \ln P)", [[-log(0.3)], [-log(0.7)]]),
]


@pytest.mark.parametrize("formula, shown", RIGHT, ids=[formula[:40] for formula, _ in RIGHT])
def test_what_is_right_is_called_so(formula: str, shown: Rows) -> None:
    assert set(qkv.check(page(formula, shown)).summary) <= {"right", "rounded"}
