"""Mistakes from the softmax to the output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from qkv.compare.formula import Array, Arrays, Setting, Step, projected, softmax_along
from qkv.compare.mistakes.model import Mistake, Way, Ways, always, given, never


def _weights(make: Callable[[Array], Array]) -> Step:
    return lambda t, s: {"weights": make(t["masked"])}


def _by_sum(x: Array) -> Array:
    kept = np.where(np.isfinite(x), x, 0)
    return np.asarray(kept / kept.sum(-1, keepdims=True))


def _greatest(x: Array) -> Array:
    return np.asarray(x == x.max(-1, keepdims=True)).astype(float)


def _one_more(x: Array) -> Array:
    e = np.exp(x)
    return np.asarray(e / (1 + e.sum(-1, keepdims=True)))


def _twice(x: Array) -> Array:
    once = softmax_along(x, -1)
    return softmax_along(np.where(np.isfinite(x), once, -np.inf), -1)


EXPONENTIALS: tuple[Callable[[Array], Array], ...] = (
    lambda x: np.exp(x),
    lambda x: np.exp(x - x.max(-1, keepdims=True)),
    lambda x: np.exp(x - x.max()),
)


def _some(*makes: Callable[[Array], Array]) -> Ways:
    return lambda s: tuple(Way({"softmax": _weights(make)}) for make in makes)


def _mixed(name: str) -> Step:
    return lambda t, s: {"mixed": t["weights"] @ t[name]}


def _transposed(t: Arrays, s: Setting) -> Arrays:
    return {"mixed": t["weights"].swapaxes(-1, -2) @ t["v"]}


def _other_head(t: Arrays, s: Setting) -> Arrays:
    return {"mixed": t["weights"] @ np.roll(t["v"], 1, axis=1)}


def _averaged(t: Arrays, s: Setting) -> Arrays:
    return {"mixed": t["weights"] @ t["v"] / t["v"].shape[2]}


def _several(s: Setting) -> bool:
    return s.heads > 1


def _square(s: Setting) -> bool:
    return bool(s.q.shape[1] == s.k.shape[1])


def _viewed(t: Arrays, s: Setting) -> Arrays:
    z = t["mixed"]
    return {"merged": z.reshape(z.shape[0], z.shape[2], -1)}


def _woven(t: Arrays, s: Setting) -> Arrays:
    z = t["mixed"].transpose(0, 2, 3, 1)
    return {"merged": z.reshape(*z.shape[:2], -1)}


def _backwards(t: Arrays, s: Setting) -> Arrays:
    z = t["mixed"][:, ::-1].swapaxes(1, 2)
    return {"merged": z.reshape(*z.shape[:2], -1)}


def _batch_and_heads(t: Arrays, s: Setting) -> Arrays:
    batch, heads, n, d = t["mixed"].shape
    z = t["mixed"].reshape(heads, batch, n, d).transpose(1, 2, 0, 3)
    return {"merged": z.reshape(batch, n, -1)}


def _together(join: Callable[..., Array]) -> Step:
    return lambda t, s: {"merged": join(t["mixed"], axis=1)}


def _with(changed: Setting) -> Step:
    return lambda t, s: {"output": projected(t["merged"], changed, "o")}


def _without_projection(s: Setting) -> Iterator[Way]:
    if s.weights.get("o") is not None:
        yield Way({"output": lambda t, s: {"output": t["merged"]}})


def _without_bias(s: Setting) -> Iterator[Way]:
    if s.biases.get("o") is not None:
        yield Way({"output": _with(replace(s, biases={k: b for k, b in s.biases.items() if k != "o"}))})


def _turned(s: Setting) -> Iterator[Way]:
    w = s.weights.get("o")
    if w is not None and w.shape[0] == w.shape[1]:
        yield Way({"output": _with(replace(s, weights={**s.weights, "o": w.T}))})


# Which weights are dropped is a matter of chance, so no rewrite gives them: diagnose.py looks for zeros.
DROPOUT = Mistake(
    "dropout active",
    "softmax",
    "some weights are 0 and the others are larger by 1/(1 − p): dropout is at work",
    "F.dropout(weights, p, training=self.training), and module.eval()",
    never,
)

ROWS: tuple[Mistake, ...] = (
    Mistake(
        "softmax down the columns",
        "softmax",
        "the softmax runs over the queries: columns add up to 1, but each row must",
        "softmax(dim=-1)",
        _some(lambda x: softmax_along(x, -2)),
    ),
    Mistake(
        "softmax over the heads",
        "softmax",
        "the softmax runs over the heads instead of the keys",
        "softmax(dim=-1)",
        given(_several, softmax=_weights(lambda x: softmax_along(x, 1))),
    ),
    Mistake(
        "softmax over the batch",
        "softmax",
        "the softmax runs over the batch instead of the keys",
        "softmax(dim=-1)",
        given(lambda s: s.q.shape[0] > 1, softmax=_weights(lambda x: softmax_along(x, 0))),
    ),
    Mistake(
        "softmax over the whole matrix",
        "softmax",
        "the softmax runs over queries and keys together, but each row must add up to 1",
        "softmax(dim=-1)",
        _some(lambda x: softmax_along(x, (-1, -2))),
    ),
    Mistake(
        "softmax left out",
        "softmax",
        "the scores themselves were used as weights",
        "weights = scores.softmax(-1)",
        _some(lambda x: np.where(np.isfinite(x), x, 0), lambda x: x),
    ),
    Mistake(
        "softmax twice",
        "softmax",
        "the softmax was taken twice",
        "weights = scores.softmax(-1), once",
        _some(_twice, lambda x: softmax_along(softmax_along(x, -1), -1)),
    ),
    Mistake(
        "normalised by the plain sum",
        "softmax",
        "scores were divided by their sum, without exponentials",
        "weights = scores.softmax(-1)",
        _some(_by_sum),
    ),
    Mistake(
        "not normalised",
        "softmax",
        "the exponentials were not divided by their sum",
        "e / e.sum(-1, keepdims=True)",
        _some(*EXPONENTIALS),
    ),
    Mistake(
        "another base than e",
        "softmax",
        "powers of 2 or 10 were taken instead of e",
        "exp(scores)",
        _some(
            lambda x: softmax_along(x * np.log(2), -1),
            lambda x: softmax_along(x * np.log(10), -1),
            lambda x: softmax_along(x / np.log(2), -1),
        ),
    ),
    Mistake(
        "exponents negated",
        "softmax",
        "the softmax of the negated scores was taken",
        "softmax(scores), not softmax(-scores)",
        _some(lambda x: softmax_along(np.where(np.isfinite(x), -x, -np.inf), -1)),
    ),
    Mistake(
        "sigmoid for softmax",
        "softmax",
        "each score went through a sigmoid of its own",
        "weights = scores.softmax(-1)",
        _some(lambda x: 1 / (1 + np.exp(-x))),
    ),
    Mistake(
        "one added to the sum",
        "softmax",
        "1 was added to the sum of the exponentials, so the rows add up to less than 1",
        "e / e.sum(-1, keepdims=True)",
        _some(_one_more),
    ),
    Mistake(
        "all weight on the greatest score",
        "softmax",
        "the greatest score got all the weight",
        "weights = scores.softmax(-1)",
        _some(_greatest),
    ),
    Mistake(
        "logarithm of the softmax",
        "softmax",
        "the logarithms of the weights were used",
        "softmax, not log_softmax",
        _some(lambda x: np.log(softmax_along(x, -1))),
    ),
    DROPOUT,
    Mistake(
        "weights transposed",
        "mix",
        "the weights were used transposed: Aᵀ V",
        "out = weights @ v",
        given(_square, mix=_transposed),
    ),
    Mistake(
        "keys mixed for values",
        "mix",
        "keys were mixed instead of values",
        "out = weights @ v",
        always(mix=_mixed("k")),
    ),
    Mistake(
        "queries mixed for values",
        "mix",
        "queries were mixed instead of values",
        "out = weights @ v",
        given(_square, mix=_mixed("q")),
    ),
    Mistake(
        "values of the other head",
        "mix",
        "weights of one head met values of another",
        "out = weights @ v, head by head",
        given(_several, mix=_other_head),
    ),
    Mistake(
        "mean for sum",
        "mix",
        "the weighted values were averaged instead of added",
        "out = weights @ v",
        always(mix=_averaged),
    ),
    Mistake(
        "merged without transpose",
        "merge",
        "heads were merged by a view of (batch, heads, tokens, d): that mixes tokens and heads",
        "out.transpose(1, 2).reshape(batch, tokens, heads * d)",
        given(_several, merge=_viewed),
    ),
    Mistake(
        "heads merged woven",
        "merge",
        "columns of the heads were woven into each other instead of standing side by side",
        "out.transpose(1, 2).reshape(batch, tokens, heads * d)",
        given(_several, merge=_woven),
    ),
    Mistake(
        "heads concatenated in another order",
        "merge",
        "heads stand in the reverse order",
        "concatenate head 0 first",
        given(_several, merge=_backwards),
    ),
    Mistake(
        "batch and heads mixed up",
        "merge",
        "(batch · heads) was read as (heads · batch)",
        "out.view(batch, heads, tokens, d).transpose(1, 2)",
        given(lambda s: s.heads > 1 and s.q.shape[0] > 1, merge=_batch_and_heads),
    ),
    Mistake(
        "averaged heads",
        "merge",
        "the heads were averaged instead of concatenated",
        "out.transpose(1, 2).reshape(batch, tokens, heads * d)",
        given(_several, merge=_together(np.mean)),
    ),
    Mistake(
        "added heads",
        "merge",
        "the heads were added instead of concatenated",
        "out.transpose(1, 2).reshape(batch, tokens, heads * d)",
        given(_several, merge=_together(np.sum)),
    ),
    Mistake("projection left out", "output", "W_O was left out", "return merged @ W_O + b_O", _without_projection),
    Mistake(
        "W_O transposed",
        "output",
        "W_O was used transposed",
        "merged @ W.T where W is (out, in) as nn.Linear keeps it, merged @ W where it is (in, out)",
        _turned,
    ),
    Mistake("b_O forgotten", "output", "b_O was not added", "return merged @ W_O + b_O", _without_bias),
)
