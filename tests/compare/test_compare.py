"""Functions of q, k and v: probes, masks, 16 bits, black boxes, mistakes without a name, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import qkv
from qkv.errors import ValueRefused

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal((2, 3, 5, 8)) for _ in range(3))
MASK = (RNG.random((5, 5)) > 0.4) | np.eye(5, dtype=bool)
PADDING = np.arange(5) < np.array([3, 5])[:, None]


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def scores(q, k):
    return q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])


def masked(q, k, v, mask, fill=-np.inf):
    with np.errstate(invalid="ignore"):
        return softmax(np.where(mask, scores(q, k), fill)) @ v


def departs(result, stage, mistake):
    assert (result.agrees, result.stage, result.mistake) == (False, stage, mistake), result.says


@pytest.mark.parametrize(
    "mine", [lambda q, k, v: softmax(scores(q, k)) @ v, lambda q, k, v: softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v]
)
def test_a_function_needs_no_inputs(mine):
    assert qkv.compare(mine).agrees


def test_an_argument_for_what_is_said_gets_it():
    assert qkv.compare(lambda q, k, v, mask: masked(q, k, v, mask), mask=MASK).agrees


def test_masks_are_recognised_among_the_inputs():
    assert qkv.compare(masked, Q, K, V, MASK).agrees
    assert qkv.compare(lambda q, k, v, mask: masked(q, k, v, mask[:, None, None]), Q, K, V, PADDING).agrees


@pytest.mark.parametrize(
    "mine, mask, mistake",
    [
        (lambda q, k, v, mask: masked(q, k, v, ~mask), MASK, "mask the wrong way round"),
        (lambda q, k, v, mask: softmax(scores(q, k) + mask) @ v, MASK, "mask added as 0 and 1"),
        (lambda q, k, v, mask: masked(q, k, v, mask, -10.0), MASK, "masked too weakly"),
        (lambda q, k, v, mask: masked(q, k, v, mask[:, None, :, None]), PADDING, "mask on the queries"),
        (lambda q, k, v, mask: masked(q, k, v, True), PADDING, "mask forgotten"),
        (lambda q, k, v, mask: masked(q, k, v, mask[:, None, None, ::-1]), PADDING, "padding on the wrong side"),
    ],
)
def test_masks_that_are_used_wrongly(mine, mask, mistake):
    departs(qkv.compare(mine, Q, K, V, mask), "mask", mistake)


@pytest.mark.parametrize("fill", [-np.inf, -1e9])
def test_a_row_that_is_masked_everywhere(fill):
    result = qkv.compare(
        lambda q, k, v, mask: masked(q, k, v, mask, fill), Q, K, V, MASK & (np.arange(5)[:, None] != 2)
    )
    departs(result, "mask", "a row masked everywhere")
    assert result.row == 2


def test_the_corner_of_a_causal_mask_shows_with_fewer_queries():
    upper = lambda q, k, v: masked(q, k, v, np.tri(q.shape[-2], k.shape[-2], dtype=bool))  # noqa: E731
    departs(qkv.compare(upper, Q[:, :, -3:], K, V, causal=True), "mask", "causal corner")
    assert qkv.compare(upper, Q[:, :, -3:], K, V, causal="upper-left").agrees
    assert qkv.compare(upper, causal=True).agrees


def test_grouped_heads_are_probed_too():
    def mine(q, k, v):
        k, v = (np.tile(x, (1, q.shape[1] // x.shape[1], 1, 1)) for x in (k, v))
        return softmax(scores(q, k)) @ v

    departs(qkv.compare(mine), "split", "groups tiled for repeated")


def test_16_bits_are_no_mistake_but_what_does_not_fit_is():
    def rounded(q, k, v):
        q, k, v = (x.astype(np.float16) for x in (q, k, v))
        return softmax(scores(q, k).astype(np.float16)) @ v

    result = qkv.compare(rounded)
    assert result.agrees
    assert "precision" in result.says

    def filled(q, k, v):
        with np.errstate(over="ignore", invalid="ignore"):
            future = 1 - np.tri(q.shape[-2], dtype=q.dtype)
            return softmax(scores(q, k).astype(q.dtype) + future * np.array(-1e9).astype(q.dtype)) @ v

    departs(qkv.compare(filled, *(x.astype(np.float16) for x in (Q, K, V)), causal=True), "mask", "-1e9 in float16")
    assert qkv.compare(filled, Q, K, V, causal=True).agrees


def by_hand(slope=1.0, base=math.e, order=1):
    """A black box: lists and loops, which nothing can watch."""

    def mine(q, k, v):
        q, k, v = (np.asarray(x).tolist() for x in (q, k, v))
        out = np.zeros(np.shape(v))
        for b, h, i in np.ndindex(np.shape(q)[:3]):
            row = [slope * sum(map(float.__mul__, q[b][h][i], key)) / math.sqrt(len(key)) for key in k[b][h]]
            e = [base**x for x in row]
            for weight, value in zip(e, v[b][h][::order], strict=True):
                out[b, h, i] += np.array(value) * weight / sum(e)
        return out

    return mine


@pytest.mark.parametrize(
    "options, stage, mistake",
    [
        ({"slope": 1.3}, "scale", None),
        ({"slope": math.sqrt(8)}, "scale", "no scale"),
        ({"base": 2.0}, "softmax", "another base than e"),
    ],
)
def test_a_black_box_is_asked(options, stage, mistake):
    assert qkv.compare(by_hand()).agrees
    departs(qkv.compare(by_hand(**options)), stage, mistake)


@pytest.mark.parametrize(
    "stage, mine",
    [
        ("projection", lambda q, k, v: softmax(scores(q, np.maximum(k, 0))) @ v),
        ("position", lambda q, k, v: softmax(scores(q + 0.3 * np.arange(5)[:, None], k)) @ v),
        ("scores", lambda q, k, v: softmax(np.abs(q @ k.swapaxes(-1, -2)) / np.sqrt(8)) @ v),
        ("scale", lambda q, k, v: softmax(1.7 * q @ k.swapaxes(-1, -2)) @ v),
        ("mask", lambda q, k, v: softmax(scores(q, k) + 0.2 * np.arange(5)) @ v),
        ("softmax", lambda q, k, v: softmax(scores(q, k)) ** 2 @ v),
        ("mix", lambda q, k, v: softmax(scores(q, k)) @ np.roll(v, 1, axis=2)),
        ("mix", lambda q, k, v: softmax(scores(q, k)) @ v + v),
    ],
)
def test_a_mistake_without_a_name_is_placed(stage, mine):
    result = qkv.compare(mine, Q, K, V, causal=False)
    departs(result, stage, None)
    assert "No known mistake" in result.says


def test_two_implementations():
    plain, causal = (
        (lambda q, k, v: softmax(scores(q, k)) @ v),
        (lambda q, k, v: masked(q, k, v, np.tri(5, dtype=bool))),
    )
    assert qkv.compare(causal, reference=causal, inputs=(Q, K, V)).agrees
    departs(qkv.compare(plain, reference=causal, inputs=(Q, K, V)), "mask", "mask forgotten")


def test_assert_attention_fails_with_the_story():
    with pytest.raises(AssertionError, match=r"no scale[\s\S]*Change it to"):
        qkv.assert_attention(lambda q, k, v: softmax(q @ k.swapaxes(-1, -2)) @ v)


def test_what_cannot_be_called_or_is_not_known_is_refused():
    with pytest.raises(ValueRefused, match="could not be called"):
        qkv.compare(lambda q, k, v: q.no_such_thing)
    with pytest.raises(ValueRefused, match="rope='half' is not known"):
        qkv.compare(lambda q, k, v: v, rope="half")


def test_trace_works_a_small_head_out():
    traced = qkv.trace(
        lambda q, k, v: masked(q, k, v, np.tri(3, dtype=bool)), *(x[0, 0, :3, :2] for x in (Q, K, V)), causal=True
    )
    np.testing.assert_allclose(traced.solution()["A"].to_numpy(), traced["weights"][0, 0], atol=1e-12)
    assert "softmax" in str(traced)
