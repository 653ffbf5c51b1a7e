"""Random problems of every kind, digit for digit against an oracle that shares no code with qkv."""

from __future__ import annotations

from collections.abc import Iterator

import attention_oracle as oracle
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import qkv
from interpret.float_oracle import floats

DIGITS = 12
SIZE = st.integers(1, 4)
# Whole numbers, decimals, and now and then numbers that make scores of several hundred.
ENTRY = st.one_of(
    st.integers(-9, 9),
    st.integers(-99, 99).map(lambda k: f"{k / 10:.1f}"),
    st.fractions(-3, 3, max_denominator=7),
    st.integers(-40, 40),
)
ORDINARY = settings(max_examples=60)


@pytest.fixture(scope="module", autouse=True)
def _many_digits() -> Iterator[None]:
    """mpmath's precision is global, and other tests set it too."""
    with mp.workdps(600):  # tanh saturates: 1 − tanh(500) begins at the 435th digit
        yield


@st.composite
def matrices(draw: st.DrawFn, *shapes: tuple[int, int]) -> list[list[list[object]]]:
    return [[[draw(ENTRY) for _ in range(columns)] for _ in range(rows)] for rows, columns in shapes]


def check(solution: qkv.Solution, name: str, expected: oracle.Rows) -> None:
    """Every shown digit of a quantity is right, and as many are shown as were asked for."""
    table = solution[name].digits(DIGITS)
    assert (len(table), len(table[0])) == (len(expected), len(expected[0]))
    value = solution[name]._value()
    for i, row in enumerate(table):
        for j, text in enumerate(row):
            assert oracle.agrees(text, expected[i][j], DIGITS), (name, i, j, text, expected[i][j])
            if not solution[name].exact and not hasattr(value.rows[i][j], "q"):
                assert oracle.significant(text) == DIGITS or text == "0"
    found = floats(solution.traces[0].program)[solution[name].expr.symbol]
    # An array program loses digits where large terms cancel; the scale of the problem is what it is measured against.
    scale = max(1.0, *(abs(float(x)) for row in expected for x in row))
    assert np.allclose(found, [[float(x) for x in row] for row in expected], rtol=1e-7, atol=1e-7 * scale)


def sizes(draw: st.DrawFn, count: int) -> list[int]:
    return [draw(SIZE) for _ in range(count)]


@given(st.data())
@ORDINARY
@pytest.mark.parametrize("scale", ["usual", None, 3, "2.5", "sqrt(7)", "d_k"])
def test_queries_keys_values(scale: object, data: st.DataObject) -> None:
    n_q, n_k, d_k, d_v = sizes(data.draw, 4)
    q, k, v = data.draw(matrices((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    divisors = {
        "usual": mp.sqrt(d_k),
        None: mpf(1),
        3: mpf(3),
        "2.5": mpf("2.5"),
        "sqrt(7)": mp.sqrt(7),
        "d_k": mpf(d_k),
    }
    scores, weights, output = oracle.attend(*map(oracle.reals, (q, k, v)), divisors[scale])
    s = qkv.work(Q=q, K=k, V=v, scale=scale)
    check(s, "S", scores)
    check(s, "A", weights)
    check(s, "Output", output)


LAYOUTS = {"rows": False, "W x": True, "W^T x": "W^T x"}


@given(st.data())
@ORDINARY
@pytest.mark.parametrize("layout", LAYOUTS)
def test_self_attention_in_every_layout_with_and_without_biases(layout: str, data: st.DataObject) -> None:
    n, d, d_k, d_v = sizes(data.draw, 4)
    x, w_q, w_k, w_v = data.draw(matrices((n, d), (d, d_k), (d, d_k), (d, d_v)))
    (b_q,), (b_v,) = data.draw(matrices((1, d_k), (1, d_v)))
    q = oracle.project(oracle.reals(x), oracle.reals(w_q), oracle.reals([b_q])[0])
    k = oracle.project(oracle.reals(x), oracle.reals(w_k))
    v = oracle.project(oracle.reals(x), oracle.reals(w_v), oracle.reals([b_v])[0])
    scores, weights, output = oracle.attend(q, k, v, mp.sqrt(d_k))
    upright = layout != "rows"
    turn = oracle.turned if upright else list
    weight = oracle.turned if layout == "W x" else list
    s = qkv.work(
        X=turn(x), W_Q=weight(w_q), W_K=weight(w_k), W_V=weight(w_v), b_Q=b_q, b_V=b_v, columns=LAYOUTS[layout]
    )
    check(s, "Q", turn(q))
    check(s, "S", scores)
    check(s, "A", weights)
    check(s, "Output", turn(output))


@given(st.data())
@ORDINARY
def test_cross_attention(data: st.DataObject) -> None:
    n_q, n_k, d, d_k, d_v = sizes(data.draw, 5)
    x, y, w_q, w_k, w_v = data.draw(matrices((n_q, d), (n_k, d), (d, d_k), (d, d_k), (d, d_v)))
    q, k, v = (oracle.project(oracle.reals(a), oracle.reals(w)) for a, w in ((x, w_q), (y, w_k), (y, w_v)))
    _, weights, output = oracle.attend(q, k, v, mp.sqrt(d_k))
    s = qkv.work(X=x, Y=y, W_Q=w_q, W_K=w_k, W_V=w_v)
    assert s.traces[0].program.kind == "cross-attention"
    check(s, "A", weights)
    check(s, "Output", output)


@given(st.data())
@ORDINARY
@pytest.mark.parametrize("written", ["causal", "additive", "truth", "ones"])
def test_masks(written: str, data: st.DataObject) -> None:
    n_q, n_k, d_k, d_v = sizes(data.draw, 4)
    q, k, v = data.draw(matrices((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    allowed = oracle.causal(n_q, n_k)
    if written != "causal":
        allowed = [[data.draw(st.booleans()) for _ in range(n_k)] for _ in range(n_q)]
        for row in allowed:  # every query sees something, and something says 1
            row[data.draw(st.integers(0, n_k - 1))] = True
    writings: dict[str, object] = {
        "causal": "causal",
        "additive": [[0 if ok else float("-inf") for ok in row] for row in allowed],
        "truth": allowed,
        "ones": [[int(ok) for ok in row] for row in allowed],
    }
    _, weights, output = oracle.attend(*map(oracle.reals, (q, k, v)), mp.sqrt(d_k), allowed)
    s = qkv.work(Q=q, K=k, V=v, mask=writings[written])
    check(s, "A", weights)
    check(s, "Output", output)
    hidden = [(i, j) for i in range(n_q) for j in range(n_k) if not allowed[i][j]]
    assert all(s["A"].digits(6)[i][j] == "0" for i, j in hidden)


@given(st.data())
@ORDINARY
def test_heads_with_their_own_sizes(data: st.DataObject) -> None:
    n, d, out = sizes(data.draw, 3)
    heads = data.draw(st.lists(st.tuples(SIZE, SIZE), min_size=1, max_size=3))
    (x,) = data.draw(matrices((n, d)))
    w_q, w_k, w_v = (data.draw(matrices(*((d, width[i]) for width in heads))) for i in (0, 0, 1))
    (w_o,) = data.draw(matrices((sum(d_v for _, d_v in heads), out)))
    outputs = []
    for i, (d_k, _) in enumerate(heads):
        q, k, v = (oracle.project(oracle.reals(x), oracle.reals(w[i])) for w in (w_q, w_k, w_v))
        outputs.append(oracle.attend(q, k, v, mp.sqrt(d_k))[2])
    joined = [[cell for part in outputs for cell in part[row]] for row in range(n)]
    s = qkv.work(X=x, W_Q=w_q, W_K=w_k, W_V=w_v, W_O=w_o)
    for i, output in enumerate(outputs, 1):
        check(s, f"Z_{i}", output)
    check(s, "Concat", joined)
    check(s, "Output", oracle.times(joined, oracle.reals(w_o)))


@given(st.data())
@ORDINARY
@pytest.mark.parametrize("columns", [False, True])
def test_one_big_matrix_cut_into_heads(columns: bool, data: st.DataObject) -> None:
    n, d, d_k, d_v, heads = sizes(data.draw, 5)
    x, w_q, w_k, w_v = data.draw(matrices((n, d), (d, d_k * heads), (d, d_k * heads), (d, d_v * heads)))
    q, k, v = (oracle.project(oracle.reals(x), oracle.reals(w)) for w in (w_q, w_k, w_v))
    joined: oracle.Rows = [[] for _ in range(n)]
    for h in range(heads):
        parts = ([row[h * width : (h + 1) * width] for row in m] for m, width in ((q, d_k), (k, d_k), (v, d_v)))
        for row, more in zip(joined, oracle.attend(*parts, mp.sqrt(d_k))[2], strict=True):
            row.extend(more)
    turn = oracle.turned if columns else list
    s = qkv.work(X=turn(x), W_Q=turn(w_q), W_K=turn(w_k), W_V=turn(w_v), heads=heads, columns=columns)
    check(s, "Concat", turn(joined))


@given(st.data())
@ORDINARY
@pytest.mark.parametrize("score", ["dot", "general", "additive"])
def test_one_source_vector(score: str, data: st.DataObject) -> None:
    n, d_h, d_s, inner = sizes(data.draw, 4)
    d_s = d_h if score == "dot" else d_s
    (s_,), h, w, u, (v,) = data.draw(
        matrices((1, d_s), (n, d_h), (d_s, d_h) if score == "general" else (inner, d_s), (inner, d_h), (1, inner))
    )
    source, states = oracle.reals([s_])[0], oracle.reals(h)
    given_ = {"s": s_, "h": h}
    if score == "dot":
        scores = oracle.times([source], oracle.turned(states))[0]
    elif score == "general":
        given_["W_a"] = w
        scores = oracle.times(oracle.times([source], oracle.reals(w)), oracle.turned(states))[0]
    else:
        given_ |= {"W_a": w, "U_a": u, "v_a": v}
        (vector,) = oracle.reals([v])
        scores = oracle.additive_scores(source, states, oracle.reals(w), oracle.reals(u), vector)
    weights = oracle.softmax(scores)
    worked = qkv.work(**given_)
    check(worked, "S", [scores])
    check(worked, "A", [weights])
    check(worked, "c", [oracle.mixed(scores, weights, states)])


@given(st.data())
@ORDINARY
def test_weights_by_the_plain_sum(data: st.DataObject) -> None:
    n, d = sizes(data.draw, 2)
    (s_,), h = data.draw(matrices((1, d), (n, d)))
    scores = oracle.times(oracle.reals([s_]), oracle.turned(oracle.reals(h)))[0]
    assume(oracle.total(scores) != 0)
    weights = oracle.shares(scores)
    worked = qkv.work(s=s_, h=h, normalise="sum")
    check(worked, "A", [weights])
    check(worked, "c", oracle.times([weights], oracle.reals(h)))
    assert worked["A"].exact
