"""What stands around attention, written out plainly with mpmath: its own formulas, nothing of qkv. Tokens are rows."""

from __future__ import annotations

from collections.abc import Callable

from attention_oracle import Real, Rows, approx, attend, dot, project, softmax, times, turned
from mpmath import mp, mpf

Change = Callable[[mpf], mpf]

ACTIVATIONS: dict[str, Change] = {
    "relu": lambda x: x if x > 0 else mpf(0),
    "gelu": lambda x: x * (1 + mp.erf(x / mp.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x**3))),
    "silu": lambda x: x / (1 + mp.exp(-x)),
}
GATES = {"swiglu": "silu", "geglu": "gelu"}


def plus(a: Rows, b: Rows) -> Rows:
    return [[approx(x) + approx(y) for x, y in zip(left, right, strict=True)] for left, right in zip(a, b, strict=True)]


def layer_norm(x: Rows, gamma: list[Real] | None, beta: list[Real] | None, eps: Real) -> Rows:
    out = []
    for row in x:
        numbers = list(map(approx, row))
        mean = mp.fsum(numbers) / len(numbers)
        variance = mp.fsum((y - mean) ** 2 for y in numbers) / len(numbers)
        out.append(_scaled([(y - mean) / mp.sqrt(variance + approx(eps)) for y in numbers], gamma, beta))
    return out


def rms_norm(x: Rows, gamma: list[Real] | None, beta: list[Real] | None, eps: Real) -> Rows:
    out = []
    for row in x:
        numbers = list(map(approx, row))
        square = mp.fsum(y**2 for y in numbers) / len(numbers)
        out.append(_scaled([y / mp.sqrt(square + approx(eps)) for y in numbers], gamma, None))
    return out


def _scaled(row: list[mpf], gamma: list[Real] | None, beta: list[Real] | None) -> Rows:
    scaled = [y * approx(g) for y, g in zip(row, gamma, strict=True)] if gamma else row
    return [y + approx(b) for y, b in zip(scaled, beta, strict=True)] if beta else scaled


def feed_forward(x: Rows, given: dict[str, Rows], activation: str) -> Rows:
    up = _projected(x, given, "W_1", "b_1")
    change = ACTIVATIONS[GATES.get(activation, activation)]
    inner = [[change(approx(y)) for y in row] for row in up]
    if activation in GATES:
        gate = times(x, given["W_3"])
        inner = [
            [y * approx(g) for y, g in zip(row, gates, strict=True)] for row, gates in zip(inner, gate, strict=True)
        ]
    return _projected(inner, given, "W_2", "b_2")


def _projected(x: Rows, given: dict[str, Rows], weights: str, bias: str) -> Rows:
    return project(x, given[weights], given[bias][0] if bias in given else None)


def sinusoids(tokens: int, width: int, base: Real, first: int) -> Rows:
    def cell(p: int, j: int) -> mpf:
        angle = p / approx(base) ** (mpf(2 * (j // 2)) / width)
        return mp.cos(angle) if j % 2 else mp.sin(angle)

    return [[cell(p, j) for j in range(width)] for p in range(first, first + tokens)]


def self_attention(x: Rows, given: dict[str, Rows]) -> Rows:
    q, k, v = (times(x, given[name]) for name in ("W_Q", "W_K", "W_V"))
    return attend(q, k, v, mp.sqrt(len(k[0])))[2]


def cross_entropy(logits: Rows, targets: list[int], temperature: Real) -> list[mpf]:
    losses = []
    for row, target in zip(logits, targets, strict=True):
        numbers = [approx(x) / approx(temperature) for x in row]
        losses.append(mp.log(mp.fsum(mp.exp(x - numbers[target]) for x in numbers)))
    return losses


def looked_up(table: Rows, ids: list[int]) -> Rows:
    return [table[i] for i in ids]


def tied(x: Rows, table: Rows) -> Rows:
    return times(x, turned(table))


def rotated(x: Rows, base: Real, first: int, halves: bool) -> Rows:
    """Each pair of numbers of a token as a point, turned by the angle of its position."""
    width = len(x[0])
    pairs = [(i, i + width // 2) if halves else (2 * i, 2 * i + 1) for i in range(width // 2)]
    out = []
    for p, row in enumerate(x, first):
        made = [mpf(0)] * width
        for i, (a, b) in enumerate(pairs):
            angle = p / approx(base) ** (mpf(2 * i) / width)
            made[a] = approx(row[a]) * mp.cos(angle) - approx(row[b]) * mp.sin(angle)
            made[b] = approx(row[a]) * mp.sin(angle) + approx(row[b]) * mp.cos(angle)
        out.append(made)
    return out


def biased_attention(q: Rows, k: Rows, v: Rows, bias: Rows) -> Rows:
    scores = [[cell / mp.sqrt(len(k[0])) for cell in map(approx, row)] for row in times(q, turned(k))]
    return times([softmax(row) for row in plus(scores, bias)], v)


def attention_to(x: Rows, states: Rows, given: dict[str, Rows], allowed: list[list[bool]] | None = None) -> Rows:
    q, k, v = times(x, given["W_Q"]), times(states, given["W_K"]), times(states, given["W_V"])
    return attend(q, k, v, mp.sqrt(len(k[0])), allowed)[2]


def cosines(q: Rows, k: Rows) -> Rows:
    def length(x: list[Real]) -> mpf:
        return mp.sqrt(mp.fsum(approx(y) ** 2 for y in x))

    return [[approx(dot(a, b)) / (length(a) * length(b)) for b in k] for a in q]


FEATURES: dict[str, Change] = {"elu+1": lambda x: x + 1 if x > 0 else mp.exp(x), "relu": ACTIVATIONS["relu"]}


def linear_attention(q: Rows, k: Rows, v: Rows, feature: str, shared: bool) -> Rows:
    """Query by query and key by key: what the other order of brackets has to give."""
    made = []
    for query in q:
        weights = [mp.fsum(phi(feature, a) * phi(feature, b) for a, b in zip(query, key, strict=True)) for key in k]
        whole = mp.fsum(weights) if shared else mpf(1)
        made.append([mp.fsum(w * approx(x) for w, x in zip(weights, c, strict=True)) / whole for c in turned(v)])
    return made


def phi(feature: str, x: Real) -> mpf:
    return FEATURES[feature](approx(x))


def jacobian(p: list[Real]) -> Rows:
    return [[approx(x) * ((i == j) - approx(y)) for j, y in enumerate(p)] for i, x in enumerate(p)]
