"""Mistakes before the scores: projections, the split into heads, positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from qkv.compare.formula import Array, Arrays, Rope, Setting, Step, in_heads, projected, turned
from qkv.compare.formula import merge as right_merge
from qkv.compare.formula import project as right_project
from qkv.compare.formula import split as right_split
from qkv.compare.mistakes.model import Mistake, Way, Ways, given

BASES = (10.0, 100.0, 1_000.0, 10_000.0, 100_000.0, 500_000.0, 1_000_000.0)
SOME = ("qkv", "q", "k", "v", "qk", "kv")  # a mistake is made in all three projections, in one, or in two of them


def _spelled(names: str, sign: str = "W") -> str:
    return " and ".join(f"{sign}_{name.upper()}" for name in names)


def _projected_otherwise(changed: Setting) -> Step:
    return lambda t, s: right_project(t, changed)


def _turned_weights(s: Setting) -> Iterator[Way]:
    for names in SOME:
        held = [s.weights.get(name) for name in names]
        if all(w is not None and w.shape[0] == w.shape[1] for w in held):
            weights = {**s.weights, **{name: s.weights[name].T for name in names}}
            yield Way({"projection": _projected_otherwise(replace(s, weights=weights))}, _spelled(names))


def _without_biases(s: Setting) -> Iterator[Way]:
    for names in SOME:
        if all(s.biases.get(name) is not None for name in names):
            biases = {name: b for name, b in s.biases.items() if name not in names}
            yield Way({"projection": _projected_otherwise(replace(s, biases=biases))}, _spelled(names, "b"))


def _without_weights(s: Setting) -> Iterator[Way]:
    for names in SOME:
        held = [s.weights.get(name) for name in names]
        if all(w is not None and w.shape[0] == w.shape[1] for w in held):
            weights = {name: w for name, w in s.weights.items() if name not in names}
            biases = {name: b for name, b in s.biases.items() if name not in names}
            changed = replace(s, weights=weights, biases=biases)
            yield Way({"projection": _projected_otherwise(changed)}, _spelled(names))


def _one_for_another(s: Setting) -> Iterator[Way]:
    for used, meant in permutations("qkv", 2):
        if s.weights.get(used) is not None and s.weights.get(meant) is not None:
            weights = {**s.weights, meant: s.weights[used]}
            biases = {**s.biases, **({meant: s.biases[used]} if used in s.biases else {})}
            changed = replace(s, weights=weights, biases=biases)
            yield Way({"projection": _projected_otherwise(changed)}, f"{_spelled(used)} in place of {_spelled(meant)}")


def _memory(which: str) -> Step:
    return lambda t, s: {name: projected(t[which], s, name) for name in "qkv"}


def _viewed(x: Array, heads: int) -> Array:
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def _woven(x: Array, heads: int) -> Array:
    return x.reshape(*x.shape[:2], -1, heads).transpose(0, 3, 1, 2)


def _split_by(view: object, names: str) -> Step:
    def split(t: Arrays, s: Setting) -> Arrays:
        made = dict(right_split(t, s))
        for name in names:
            heads = s.heads if name == "q" else s.kv_heads
            made[name] = np.repeat(view(t[name], heads), s.heads // heads, axis=1)  # type: ignore[operator]
        return made

    return split


def _split_ways(view: object) -> Ways:
    def ways(s: Setting) -> Iterator[Way]:
        if s.heads > 1:
            for names in SOME:
                yield Way({"split": _split_by(view, names)}, " and ".join(names.upper()))

    return ways


def _tiled(t: Arrays, s: Setting) -> Arrays:
    group = s.heads // s.kv_heads
    k, v = (np.tile(in_heads(t[name], s.kv_heads), (1, group, 1, 1)) for name in "kv")
    return {"q": in_heads(t["q"], s.heads), "k": k, "v": v}


LAYOUTS = {"blocks": (1, 0, 2), "interleaved": (0, 1, 2)}  # where heads, (q, k, v) and d stand in a fused row


def _fused_as(other: str) -> Ways:
    """One row of q, k and v together, written in the layout that is meant and read in the other."""

    def read_otherwise(t: Arrays, s: Setting) -> Arrays:
        together = np.stack([t[name].reshape(*t[name].shape[:2], s.heads, -1) for name in "qkv"], axis=3)
        meant = LAYOUTS[s.fused or "blocks"]
        row = together.transpose(0, 1, *(2 + np.argsort(meant))).reshape(*together.shape[:2], -1)
        sizes = np.empty(3, int)
        sizes[list(LAYOUTS[other])] = together.shape[2:]
        read = row.reshape(*together.shape[:2], *sizes).transpose(0, 1, *(2 + np.array(LAYOUTS[other])))
        return {name: read[:, :, :, i].swapaxes(1, 2) for i, name in enumerate("qkv")}

    def fits(s: Setting) -> bool:
        return s.fused not in (None, other) and s.heads > 1 and s.heads == s.kv_heads

    return given(fits, split=read_otherwise)


def _batch_for_tokens(t: Arrays, s: Setting) -> Arrays:
    return right_split({name: t[name].swapaxes(0, 1) for name in "qkv"}, s)


def _batch_masked(t: Arrays, s: Setting) -> Arrays:
    n_q, n_k = t["scaled"].shape[-2:]
    allowed = np.tri(n_q, n_k, n_k - n_q, dtype=bool) if s.causal else True
    return {"masked": np.where(allowed, t["scaled"], -np.inf)}


def _merged_back(t: Arrays, s: Setting) -> Arrays:
    return {"merged": right_merge(t, s)["merged"].swapaxes(0, 1)}


def _other_heads(s: Setting) -> Iterator[Way]:
    """Another number of heads than the one that was asked for."""
    width = s.columns("q")
    for heads in range(1, width + 1) if s.heads_said else ():
        if width % heads == 0 and heads != s.heads and s.heads == s.kv_heads and s.columns("v") % heads == 0:
            changed = replace(s, heads=heads, kv_heads=heads)
            yield Way(
                {
                    "split": lambda t, s, changed=changed: right_split(t, changed),  # type: ignore[misc]
                    "scale": lambda t, s, changed=changed: {"scaled": t["scores"] / changed.d_k**0.5},  # type: ignore[misc]
                },
                f"{heads} heads instead of {s.heads}",
            )


def _positions(q: Rope | None, k: Rope | None, q_first: float = 0, k_first: float = 0, sign: float = 1) -> Step:
    def position(t: Arrays, s: Setting) -> Arrays:
        behind = t["k"].shape[2] - t["q"].shape[2]
        return {
            "q": t["q"] if q is None else turned(t["q"], q, behind + q_first, sign),
            "k": t["k"] if k is None else turned(t["k"], k, k_first, sign),
        }

    return position


def _rope(which: str) -> Ways:
    """The ways of getting rotary positions wrong, by name."""

    def ways(s: Setting) -> Iterator[Way]:
        if s.rope is None:
            return
        rope, other = s.rope, replace(s.rope, pairs=not s.rope.pairs)
        behind = s.k.shape[1] - s.q.shape[1]
        table: dict[str, list[tuple[Step, str]]] = {
            "halves for pairs": [(_positions(other, other), "")] if rope.pairs else [],
            "pairs for halves": [] if rope.pairs else [(_positions(other, other), "")],
            "base": [
                (_positions(made, made), f"{base:g}")
                for base in (*BASES, *([rope.seen] if rope.seen else []))
                if not np.isclose(base, rope.base) and (made := replace(rope, base=base))
            ],
            "values": [(_with_values(rope), "")],
            "one off": [
                (_positions(rope, rope, 1), "queries one position late"),
                (_positions(rope, rope, -1), "queries one position early"),
                (_positions(rope, rope, 0, 1), "keys one position late"),
                *(
                    [(_positions(rope, rope, -behind), "queries counted from 0, not from the end of the cache")]
                    * (behind > 0)
                ),
            ],
            "left out": [(_positions(None, None), "")],
            "one side": [
                (_positions(rope, None), "the queries only"),
                (_positions(None, rope), "the keys only"),
            ],
            "backwards": [(_positions(rope, rope, sign=-1), "")],
        }
        yield from (Way({"position": step}, detail) for step, detail in table[which])

    return ways


def _with_values(rope: Rope) -> Step:
    turning = _positions(rope, rope)
    return lambda t, s: {**turning(t, s), "v": turned(t["v"], rope)}


def _turned_before_split(t: Arrays, s: Setting) -> Arrays:
    assert s.rope is not None
    behind = t["k"].shape[1] - t["q"].shape[1]
    return right_split({**t, "q": turned(t["q"], s.rope, behind), "k": turned(t["k"], s.rope)}, s)


def _turned_by_head(t: Arrays, s: Setting) -> Arrays:
    assert s.rope is not None
    rope = s.rope
    return {name: turned(t[name].swapaxes(1, 2), rope).swapaxes(1, 2) for name in "qk"}


def _nothing(t: Arrays, s: Setting) -> Arrays:
    return {}


def _has_memory(s: Setting) -> bool:
    return s.q is not s.k and (s.q.shape != s.k.shape or not np.array_equal(s.q, s.k)) and "q" in s.weights


def _turns(s: Setting) -> bool:
    return s.rope is not None and s.heads > 1


ROWS: tuple[Mistake, ...] = (
    Mistake(
        "W transposed",
        "projection",
        "{} was used transposed",
        "x @ W.T where W is (out, in) as nn.Linear keeps it, x @ W where it is (in, out)",
        _turned_weights,
    ),
    Mistake("bias forgotten", "projection", "{} was not added", "q = x @ W_Q + b_Q", _without_biases),
    Mistake(
        "projection skipped",
        "projection",
        "{} was left out: the tokens themselves were used",
        "q = x @ W_Q",
        _without_weights,
    ),
    Mistake(
        "one matrix for another",
        "projection",
        "{} was used",
        "q from W_Q, k from W_K, v from W_V",
        _one_for_another,
    ),
    Mistake(
        "keys from the queries' tokens",
        "projection",
        "keys and values were made from the queries' tokens",
        "k = memory @ W_K; v = memory @ W_V",
        given(_has_memory, projection=_memory("q")),
    ),
    Mistake(
        "queries from the keys' tokens",
        "projection",
        "queries were made from the tokens of the keys",
        "q = x @ W_Q, not memory @ W_Q",
        given(_has_memory, projection=_memory("k")),
    ),
    Mistake(
        "heads viewed without transpose",
        "split",
        "{} was cut into heads by a view of (batch, heads, tokens, d): that mixes tokens and heads",
        "q = q.view(batch, tokens, heads, d).transpose(1, 2)",
        _split_ways(_viewed),
    ),
    Mistake(
        "heads woven together",
        "split",
        "heads of {} were read as every h-th column instead of neighbouring columns",
        "q = q.view(batch, tokens, heads, d), not (batch, tokens, d, heads)",
        _split_ways(_woven),
    ),
    Mistake(
        "fused QKV read in blocks",
        "split",
        "the fused projection is laid out head by head (q, k, v of each), but it was read as three blocks",
        "qkv.view(batch, tokens, heads, 3, d).unbind(3)",
        _fused_as("blocks"),
    ),
    Mistake(
        "fused QKV read interleaved",
        "split",
        "the fused projection is laid out in three blocks, but it was read head by head (q, k, v of each)",
        "qkv.view(batch, tokens, 3, heads, d).unbind(2)",
        _fused_as("interleaved"),
    ),
    Mistake(
        "groups tiled for repeated",
        "split",
        "key heads were tiled (0 1 0 1) over the query heads; neighbours share a key head (0 0 1 1)",
        "k.repeat_interleave(group, dim=1), jnp.repeat or np.repeat, not repeat or tile",
        given(lambda s: 1 < s.kv_heads < s.heads, split=_tiled),
    ),
    Mistake(
        "batch_first forgotten",
        "split",
        "the batch was taken for the tokens: sequences attend to each other",
        "nn.MultiheadAttention(…, batch_first=True), or x.transpose(0, 1) before and after",
        given(
            lambda s: s.q.shape[:2] == s.k.shape[:2], split=_batch_for_tokens, mask=_batch_masked, merge=_merged_back
        ),
    ),
    Mistake("another number of heads", "split", "there are {}", "heads = the number that was asked for", _other_heads),
    Mistake(
        "RoPE halves for pairs",
        "position",
        "columns i and i + d/2 were turned together instead of 2i and 2i + 1",
        "x1, x2 = x[..., 0::2], x[..., 1::2]",
        _rope("halves for pairs"),
    ),
    Mistake(
        "RoPE pairs for halves",
        "position",
        "columns 2i and 2i + 1 were turned together instead of i and i + d/2",
        "x1, x2 = x.chunk(2, dim=-1)",
        _rope("pairs for halves"),
    ),
    Mistake("RoPE base", "position", "the angles have the base {}", "base ** (-arange(0, d, 2) / d)", _rope("base")),
    Mistake(
        "RoPE on V",
        "position",
        "the values were turned too",
        "turn q and k only",
        _rope("values"),
    ),
    Mistake(
        "RoPE one off",
        "position",
        "positions are shifted: {}",
        "positions = arange(keys)[-queries:] for q, arange(keys) for k",
        _rope("one off"),
    ),
    Mistake(
        "RoPE left out", "position", "queries and keys were not turned", "q, k = rope(q), rope(k)", _rope("left out")
    ),
    Mistake("RoPE on one side", "position", "{} were turned", "q, k = rope(q), rope(k)", _rope("one side")),
    Mistake(
        "RoPE turned backwards",
        "position",
        "queries and keys were turned by the negative angle",
        "x1·cos − x2·sin, x2·cos + x1·sin",
        _rope("backwards"),
    ),
    Mistake(
        "RoPE before the split",
        "position",
        "all columns were turned together, before they were cut into heads",
        "split into heads first, then turn each head",
        given(_turns, split=_turned_before_split, position=_nothing),
    ),
    Mistake(
        "RoPE by head",
        "position",
        "the angle follows the head instead of the token",
        "positions run along the tokens' axis",
        given(_turns, position=_turned_by_head),
    ),
)
