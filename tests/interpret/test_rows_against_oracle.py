"""Layers, decoders and other kinds of heads, digit for digit against an oracle that shares no code with qkv."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import attention_oracle as attention
import block_oracle as oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from test_block_against_oracle import agree, drawn

import qkv

FEW = settings(max_examples=10, deadline=None)
Matrices = dict[str, list[list[str]]]


@pytest.fixture(scope="module", autouse=True)
def _many_digits() -> Iterator[None]:
    with mp.workdps(120):
        yield


def exactly(matrices: Matrices) -> dict[str, attention.Rows]:
    return {name: attention.reals(rows) for name, rows in matrices.items()}


def norm(x: attention.Rows) -> attention.Rows:
    return oracle.layer_norm(x, None, None, Fraction("0.1"))


def layer(x: attention.Rows, own: dict[str, attention.Rows], place: str) -> attention.Rows:
    if place == "post":
        middle = norm(oracle.plus(x, oracle.self_attention(x, own)))
        return norm(oracle.plus(middle, oracle.feed_forward(middle, own, "relu")))
    middle = oracle.plus(x, oracle.self_attention(norm(x), own))
    return oracle.plus(middle, oracle.feed_forward(norm(middle), own, "relu"))


def of_a_layer(data: st.DataObject, d: int) -> Matrices:
    k, f = (data.draw(st.integers(1, 3)) for _ in range(2))
    return drawn(data, W_Q=(d, k), W_K=(d, k), W_V=(d, d), W_1=(d, f), W_2=(f, d))


@pytest.mark.parametrize("place", ["pre", "post"])
@given(st.data())
@FEW
def test_layers_read_each_other(place: str, data: st.DataObject) -> None:
    n, d, count = (data.draw(st.integers(low, high)) for low, high in ((1, 3), (2, 3), (1, 3)))
    (x,) = drawn(data, X=(n, d)).values()
    same = data.draw(st.booleans())
    own = [of_a_layer(data, d) for _ in range(1 if same else count)] * (count if same else 1)
    given = {**own[0], "layers": count} if same else {"layers": own}
    s = qkv.work(X=x, **given, norm=place, eps="0.1")
    state = attention.reals(x)
    result = "N_2" if place == "post" else "R_2"
    for number, matrices in enumerate(own, 1):
        state = layer(state, exactly(matrices), place)
        agree(s, result if count == 1 else f"{result[0]}_{{2,{number}}}^L", state)


@pytest.mark.parametrize("place", ["pre", "post"])
@given(st.data())
@FEW
def test_a_layer_of_a_decoder(place: str, data: st.DataObject) -> None:
    n, m, d, e, k = (data.draw(st.integers(low, 3)) for low in (1, 1, 2, 1, 1))
    own = of_a_layer(data, d)
    crossing = drawn(data, W_Q=(d, k), W_K=(e, k), W_V=(e, d))
    tokens = drawn(data, X=(n, d), Y=(m, e))
    s = qkv.work(**tokens, **own, cross=crossing, mask="causal", norm=place, eps="0.1")
    exact, other, (x, y) = exactly(own), exactly(crossing), exactly(tokens).values()
    seen = attention.causal(n, n)
    if place == "post":
        one = norm(oracle.plus(x, oracle.attention_to(x, x, exact, seen)))
        two = norm(oracle.plus(one, oracle.attention_to(one, y, other)))
        out = norm(oracle.plus(two, oracle.feed_forward(two, exact, "relu")))
    else:
        one = oracle.plus(x, oracle.attention_to(norm(x), norm(x), exact, seen))
        two = oracle.plus(one, oracle.attention_to(norm(one), y, other))
        out = oracle.plus(two, oracle.feed_forward(norm(two), exact, "relu"))
    letter = "N" if place == "post" else "R"
    for number, state in enumerate((one, two, out), 1):
        agree(s, f"{letter}_{number}", state)


@given(st.data())
@FEW
def test_the_likeliest_words(data: st.DataObject) -> None:
    n, words = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 5))
    top = data.draw(st.integers(1, words))
    (logits,) = drawn(data, L=(n, words)).values()
    s = qkv.work(L=logits, top=top, temperature="0.7")
    exact = attention.reals(logits)
    order = [sorted(range(words), key=lambda i, row=row: (-row[i], i))[:top] for row in exact]
    agree(s, "top", [[mpf(i) for i in row] for row in order])
    kept = [[row[i] / Fraction("0.7") for i in places] for row, places in zip(exact, order, strict=True)]
    agree(s, "P_best", [attention.softmax(row) for row in kept])


def heads(data: st.DataObject) -> tuple[Matrices, attention.Rows, attention.Rows, attention.Rows]:
    n_q, n_k, d_k, d_v = (data.draw(st.integers(low, 3)) for low in (1, 1, 2, 1))
    matrices = drawn(data, Q=(n_q, d_k), K=(n_k, d_k), V=(n_k, d_v))
    q, k, v = exactly(matrices).values()
    return matrices, q, k, v


@pytest.mark.parametrize("feature", oracle.FEATURES)
@given(st.data(), st.booleans())
@FEW
def test_linear_attention(feature: str, data: st.DataObject, shared: bool) -> None:
    matrices, q, k, v = heads(data)
    scores = attention.times(
        *([[oracle.phi(feature, x) for x in row] for row in rows] for rows in (q, attention.turned(k)))
    )
    assume(not shared or all(mp.fsum(row) for row in scores))  # ReLU may leave nothing to divide by
    s = qkv.work(**matrices, linear=feature, normalise="softmax" if shared else None)
    agree(s, "Output", oracle.linear_attention(q, k, v, feature, shared))


@pytest.mark.parametrize("scale", [None, "0.1"])
@given(st.data())
@FEW
def test_cosines(scale: str | None, data: st.DataObject) -> None:
    matrices, q, k, v = heads(data)
    assume(all(any(row) for row in (*q, *k)))
    s = qkv.work(**matrices, score="cosine", **({"scale": scale} if scale else {}))
    scores = oracle.cosines(q, k)
    agree(s, "S", scores)
    weights = [attention.softmax([x / mpf(scale or 1) for x in row]) for row in scores]
    agree(s, "A", weights)
    agree(s, "Output", attention.times(weights, v))


@given(st.data(), st.booleans())
@FEW
def test_sliding_windows(data: st.DataObject, causal: bool) -> None:
    n, d, before, after = (data.draw(st.integers(low, 4)) for low in (1, 1, 0, 0))
    matrices = drawn(data, Q=(n, d), K=(n, d), V=(n, 2))
    q, k, v = exactly(matrices).values()
    s = qkv.work(**matrices, window=(before, after), mask="causal" if causal else None)
    allowed = [[i - before <= j <= i + (0 if causal else after) for j in range(n)] for i in range(n)]
    agree(s, "Output", attention.attend(q, k, v, mp.sqrt(d), allowed)[2])


@given(st.data())
@FEW
def test_the_jacobian_of_a_softmax(data: st.DataObject) -> None:
    """Row by row; and what comes back through it is what comes back anyway."""
    matrices, q, k, v = heads(data)
    s = qkv.work(**matrices, scale=None).backward(jacobian=True)
    weights = attention.attend(q, k, v, mpf(1))[1]
    back = attention.times([[mpf(1)] * len(v[0])] * len(q), attention.turned(v))
    for i, row in enumerate(weights):
        agree(s, f"J_{i + 1}^A", oracle.jacobian(row))
    if len(k) > 1:
        agree(s, "dS", [attention.times([g], oracle.jacobian(p))[0] for g, p in zip(back, weights, strict=True)])


SLOPES = [{"linear": "elu+1"}, {"score": "cosine"}, {"window": 1}]


@pytest.mark.parametrize("kind", SLOPES, ids=[next(iter(kind)) for kind in SLOPES])
def test_gradients_of_other_heads_are_slopes(kind: dict[str, object]) -> None:
    """Against a quotient of differences of the certified values themselves."""
    matrices = {"Q": [["1", "2"], ["-0.5", "1"]], "K": [["2", "-1"], ["1", "1"]], "V": [["1", "0.5"], ["3", "-1"]]}
    back = qkv.work(**matrices, **kind).backward()
    h = Fraction(1, 10**20)

    def total(name: str, i: int, j: int, by: Fraction) -> mpf:
        rows = [list(row) for row in matrices[name]]
        rows[i][j] = str(Fraction(rows[i][j]) + by)
        out = qkv.work(**{**matrices, name: rows}, **kind)["Output"]
        return mp.fsum(mpf(cell) for row in out.digits(70) for cell in row)

    for name in matrices:
        for i, j in ((i, j) for i in range(2) for j in range(2)):
            slope = (total(name, i, j, h) - total(name, i, j, -h)) / (2 * mpf(h.numerator) / h.denominator)
            assert abs(mpf(back[f"d{name}"].digits(15)[i][j]) - slope) < mpf(10) ** -13, (name, i, j)
