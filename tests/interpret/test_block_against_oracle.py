"""Blocks of every kind, digit for digit against an oracle that shares no code with qkv."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import attention_oracle as attention
import block_oracle as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import qkv
from qkv.errors import NameUnknownError, ShapeError, ValueRefused
from qkv.expr.show import plain

DIGITS = 12
FEW = settings(max_examples=12, deadline=None)
ENTRY = st.integers(-20, 20).map(lambda tenths: f"{tenths / 10:.1f}")
NORMS = {"layer": oracle.layer_norm, "rms": oracle.rms_norm}


@pytest.fixture(scope="module", autouse=True)
def _many_digits() -> Iterator[None]:
    """mpmath's precision is global, and other tests set it too."""
    with mp.workdps(120):
        yield


def drawn(data: st.DataObject, **shapes: tuple[int, int]) -> dict[str, list[list[str]]]:
    return {
        name: [[data.draw(ENTRY) for _ in range(columns)] for _ in range(rows)]
        for name, (rows, columns) in shapes.items()
    }


def agree(solution: qkv.Solution, name: str, expected: attention.Rows) -> None:
    table = solution[name].digits(DIGITS)
    assert (len(table), len(table[0])) == (len(expected), len(expected[0]))
    for row, wanted in zip(table, expected, strict=True):
        for text, cell in zip(row, wanted, strict=True):
            assert attention.agrees(text, cell, DIGITS), (name, text, cell)


@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("kind", NORMS)
@given(st.data())
@FEW
def test_a_block(place: str, kind: str, data: st.DataObject) -> None:
    n, d, k, f = (data.draw(st.integers(low, 4)) for low in (1, 2, 1, 1))
    gated, scaled, biased = (data.draw(st.booleans()) for _ in range(3))
    activation = data.draw(st.sampled_from(list(oracle.GATES) if gated else list(oracle.ACTIVATIONS)))
    shapes = {"X": (n, d), "W_Q": (d, k), "W_K": (d, k), "W_V": (d, d), "W_1": (d, f), "W_2": (f, d)}
    shapes |= {"W_3": (d, f)} if gated else {}
    shapes |= {f"{name}_{i}": (1, d) for name in ("gamma", "beta") for i in (1, 2)} if scaled else {}
    shapes |= {"b_1": (1, f), "b_2": (1, d)} if biased else {}
    matrices = drawn(data, **shapes)
    s = qkv.work(**matrices, norm=place if kind == "layer" else f"{place} rms", eps="0.01", activation=activation)

    exact = {name: attention.reals(rows) for name, rows in matrices.items()}

    def norm(x: attention.Rows, i: int) -> attention.Rows:
        gamma, beta = (exact[f"{name}_{i}"][0] if scaled else None for name in ("gamma", "beta"))
        return NORMS[kind](x, gamma, beta, Fraction("0.01"))

    x = exact["X"]
    if place == "post":
        middle = norm(oracle.plus(x, oracle.self_attention(x, exact)), 1)
        out = norm(oracle.plus(middle, oracle.feed_forward(middle, exact, activation)), 2)
    else:
        middle = oracle.plus(x, oracle.self_attention(norm(x, 1), exact))
        out = oracle.plus(middle, oracle.feed_forward(norm(middle, 2), exact, activation))
    agree(s, "N_1" if place == "post" else "R_1", middle)
    agree(s, "N_2" if place == "post" else "R_2", out)


@given(st.data())
@FEW
def test_from_tokens_to_loss(data: st.DataObject) -> None:
    n, d, words, first = (data.draw(st.integers(low, 5)) for low in (1, 2, 2, 0))
    base = data.draw(st.sampled_from([10000, 100, "2.5"]))
    temperature = data.draw(st.sampled_from(["1", "0.7", "3/2"]))
    tokens, targets = ([data.draw(st.integers(0, words - 1)) for _ in range(n)] for _ in range(2))
    tied = data.draw(st.booleans())
    matrices = drawn(data, E=(words, d), **({} if tied else {"W_U": (d, words), "b_U": (1, words)}))
    s = qkv.work(
        **matrices, tokens=tokens, positions="sinusoidal", base=base, first_position=first,
        targets=targets, temperature=temperature, tied=tied,
    )  # fmt: skip
    exact = {name: attention.reals(rows) for name, rows in matrices.items()}
    positions = oracle.sinusoids(n, d, Fraction(str(base)), first)
    x = oracle.plus(oracle.looked_up(exact["E"], tokens), positions)
    logits = oracle.tied(x, exact["E"]) if tied else attention.project(x, exact["W_U"], exact["b_U"][0])
    losses = oracle.cross_entropy(logits, targets, Fraction(temperature))
    agree(s, "PE", positions)
    agree(s, "L", logits)
    agree(s, "ell", [[x] for x in losses])
    agree(s, "loss", [[mp.fsum(losses) / n]])
    agree(s, "PPL", [[mp.exp(mp.fsum(losses) / n)]])


def test_learned_positions_and_a_final_norm() -> None:
    x, table = [["1", "0.5"], ["-2", "3"]], [["0.1", "0"], ["0", "0.2"]]
    s = qkv.work(X=x, positions=table, norm="pre", W_1=x, W_2=table, gamma_3=[1, 2], beta_3=[0, 1])
    exact = oracle.plus(attention.reals(x), attention.reals(table))
    one = oracle.layer_norm(exact, None, None, mpf(0))
    fed = oracle.feed_forward(one, {"W_1": attention.reals(x), "W_2": attention.reals(table)}, "relu")
    agree(s, "N_3", oracle.layer_norm(oracle.plus(exact, fed), [mpf(1), mpf(2)], [mpf(0), mpf(1)], mpf(0)))


def loss_of(given: dict[str, attention.Rows], place: str, activation: str, targets: list[int]) -> mpf:
    """Tokens to loss, as one number of the oracle."""
    x = given["X"]
    gamma, beta = given["gamma_1"][0], given["beta_1"][0]
    if place == "post":
        middle = oracle.layer_norm(oracle.plus(x, oracle.self_attention(x, given)), gamma, beta, mpf("0.1"))
        fed = oracle.feed_forward(middle, given, activation)
        last = oracle.layer_norm(oracle.plus(middle, fed), None, None, mpf("0.1"))
    else:
        inner = oracle.self_attention(oracle.layer_norm(x, gamma, beta, mpf("0.1")), given)
        middle = oracle.plus(x, inner)
        fed = oracle.feed_forward(oracle.layer_norm(middle, None, None, mpf("0.1")), given, activation)
        last = oracle.plus(middle, fed)
    return mp.fsum(oracle.cross_entropy(attention.times(last, given["W_U"]), targets, mpf(1))) / len(targets)


@pytest.mark.parametrize("place", ["pre", "post"])
@given(st.data())
@settings(max_examples=4, deadline=None)
def test_gradients_are_slopes(place: str, data: st.DataObject) -> None:
    """Every gradient of the loss, against a quotient of differences so small that its error shows in no digit."""
    n, d, k, f, words = 2, 2, 2, 3, 3
    shapes = {"X": (n, d), "W_Q": (d, k), "W_K": (d, k), "W_V": (d, d), "W_1": (d, f), "b_1": (1, f), "W_2": (f, d)}
    matrices = drawn(data, **shapes, gamma_1=(1, d), beta_1=(1, d), W_U=(d, words))
    activation = data.draw(st.sampled_from(["gelu", "gelu_tanh", "silu"]))
    targets = [data.draw(st.integers(0, words - 1)) for _ in range(n)]
    s = qkv.work(**matrices, norm=place, eps="0.1", activation=activation, targets=targets).backward()
    exact = {name: [[mpf(cell) for cell in row] for row in rows] for name, rows in matrices.items()}
    h = mpf(10) ** -50

    def moved(name: str, i: int, j: int, by: mpf) -> mpf:
        rows = [list(row) for row in exact[name]]
        rows[i][j] += by
        return loss_of({**exact, name: rows}, place, activation, targets)

    for name, rows in exact.items():
        shown = s[f"d{name}"].digits(DIGITS)
        for i, j in ((i, j) for i in range(len(rows)) for j in range(len(rows[0]))):
            slope = (moved(name, i, j, h) - moved(name, i, j, -h)) / (2 * h)
            assert abs(mpf(shown[i][j]) - slope) <= mpf(10) ** -(DIGITS - 1) * max(1, abs(slope)), (name, i, j)


def test_one_step_of_descent() -> None:
    s = qkv.work(X=[[1, 2], [0, 1]], W_U=[[1, 0], [2, 1]], targets=[0, 1]).backward(rate="0.5")
    after, before, slope = (s[name].to_numpy() for name in ("W_U'", "W_U", "dW_U"))
    assert abs(after - (before - 0.5 * slope)).max() < 1e-15


def test_gradients_are_the_formulas_of_the_books() -> None:
    s = qkv.work(Q=[[1, 2], [0, 1]], K=[[2, 1], [1, 1]], V=[[1], [3]]).backward()
    steps = {step.spelled: plain(step.expr) for step in s.traces[0].program.steps}
    assert steps["dV"] == "A^T dOutput"
    assert steps["dA"] == "dOutput V^T"
    assert steps["dS_scaled"] == "A ∘ (dA - rowsum(A ∘ dA))"
    assert (steps["dS"], steps["dQ"], steps["dK"]) == ("dS_scaled / √d_k", "dS K", "dS^T Q")


def test_what_cannot_go_back_is_said() -> None:
    s = qkv.work(Q=[[1, 2]], K=[[2, 1], [1, 1]], V=[[1], [3]])
    with pytest.raises(NameUnknownError, match="W is not worked out here; there are S, S_scaled, A, Output"):
        s.backward("W")
    with pytest.raises(ShapeError, match="dOutput is 1×2 and Output is 1×1, but they must be alike"):
        s.backward(gradient=[1, 2])
    with pytest.raises(ValueRefused, match=r"the gradient of normalise\(S\) is not worked out"):
        qkv.work(Q=[[1, 2]], K=[[2, 1], [1, 1]], V=[[1], [3]], scale=None, normalise="sum").backward()


@pytest.mark.parametrize("pairs", ["interleaved", "halves"])
@given(st.data())
@FEW
def test_rotary_positions(pairs: str, data: st.DataObject) -> None:
    n_q, n_k, half, d_v, first = (data.draw(st.integers(low, 3)) for low in (1, 1, 1, 1, 0))
    matrices = drawn(data, Q=(n_q, 2 * half), K=(n_k, 2 * half), V=(n_k, d_v))
    s = qkv.work(**matrices, rope=pairs, base=100, first_position=first)
    q, k, v = (attention.reals(matrices[name]) for name in "QKV")
    q, k = (oracle.rotated(x, Fraction(100), first, pairs == "halves") for x in (q, k))
    agree(s, "Q_rot", q)
    agree(s, "K_rot", k)
    agree(s, "Output", attention.attend(q, k, v, mp.sqrt(2 * half))[2])


@given(st.data())
@FEW
def test_grouped_heads_with_a_bias_for_distance(data: st.DataObject) -> None:
    groups, n, d, k = (data.draw(st.integers(low, 2)) for low in (1, 1, 2, 1))
    heads = 4
    listed = data.draw(st.booleans())
    matrices = drawn(data, X=(n, d), W_Q=(d, heads * k), W_K=(d, groups * k), W_V=(d, groups * k))
    exact = {name: attention.reals(rows) for name, rows in matrices.items()}

    def cut(rows: list, i: int) -> list:  # the columns of a head
        return [row[i * k : (i + 1) * k] for row in rows]

    own = {"W_Q": heads, "W_K": groups, "W_V": groups}
    lists = {name: [cut(matrices[name], i) for i in range(count)] for name, count in own.items()}
    s = qkv.work(**{**matrices, **(lists if listed else {})}, heads=heads, kv_heads=groups, alibi=True)
    for i in range(heads):
        group = i * groups // heads
        weights = {name: cut(exact[name], i if name == "W_Q" else group) for name in own}
        q, keys, values = (attention.times(exact["X"], weights[name]) for name in ("W_Q", "W_K", "W_V"))
        slope = mpf(2) ** -(8 * (i + 1) // heads)
        bias = [[-slope * abs(a - b) for b in range(n)] for a in range(n)]
        agree(s, f"Z_{i + 1}", oracle.biased_attention(q, keys, values, bias))


@given(st.data())
@FEW
def test_a_cache_changes_nothing(data: st.DataObject) -> None:
    """One token after the others gives the last row of all of them at once."""
    n, d, k, d_v = (data.draw(st.integers(low, 3)) for low in (2, 1, 1, 1))
    matrices = drawn(data, X=(n, d), W_Q=(d, k), W_K=(d, k), W_V=(d, d_v))
    everything = qkv.work(**matrices, mask="causal")
    cache = {f"{name}_cache": everything[name].digits(40)[:-1] for name in "KV"}
    last = qkv.work(**{**matrices, "X": matrices["X"][-1:]}, **cache, mask="causal")
    assert last["Output"].digits(DIGITS) == everything["Output"].digits(DIGITS)[-1:]
    assert last["K"].digits(DIGITS) == everything["K"].digits(DIGITS)
