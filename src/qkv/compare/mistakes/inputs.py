"""Mistakes before the scores: projections, the split into heads, positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from qkv.compare.formula import Array, Arrays, Rope, Setting, Step, in_heads, projected, turned
from qkv.compare.formula import merge as right_merge
from qkv.compare.formula import project as right_project
from qkv.compare.formula import split as right_split
from qkv.compare.mistakes.model import Way, Ways, given

View = Callable[[Array, int], Array]  # projected tokens and a number of heads → (batch, heads, tokens, d)

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


def _split_by(view: View, names: str) -> Step:
    def split(t: Arrays, s: Setting) -> Arrays:
        made = dict(right_split(t, s))
        for name in names:
            heads = s.heads if name == "q" else s.kv_heads
            made[name] = np.repeat(view(t[name], heads), s.heads // heads, axis=1)
        return made

    return split


def _split_ways(view: View) -> Ways:
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


def _has_memory(s: Setting) -> bool:
    return s.q is not s.k and (s.q.shape != s.k.shape or not np.array_equal(s.q, s.k)) and "q" in s.weights


def _turns(s: Setting) -> bool:
    return s.rope is not None and s.heads > 1


WAYS: dict[str, Ways] = {
    "W transposed": _turned_weights,
    "bias forgotten": _without_biases,
    "projection skipped": _without_weights,
    "one matrix for another": _one_for_another,
    "keys from the queries' tokens": given(_has_memory, projection=_memory("q")),
    "queries from the keys' tokens": given(_has_memory, projection=_memory("k")),
    "heads viewed without transpose": _split_ways(lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], -1)),
    "heads woven together": _split_ways(lambda x, heads: x.reshape(*x.shape[:2], -1, heads).transpose(0, 3, 1, 2)),
    "fused QKV read in blocks": _fused_as("blocks"),
    "fused QKV read interleaved": _fused_as("interleaved"),
    "groups tiled for repeated": given(lambda s: 1 < s.kv_heads < s.heads, split=_tiled),
    "batch_first forgotten": given(
        lambda s: s.q.shape[:2] == s.k.shape[:2], split=_batch_for_tokens, mask=_batch_masked, merge=_merged_back
    ),
    "another number of heads": _other_heads,
    "RoPE halves for pairs": _rope("halves for pairs"),
    "RoPE pairs for halves": _rope("pairs for halves"),
    "RoPE base": _rope("base"),
    "RoPE on V": _rope("values"),
    "RoPE one off": _rope("one off"),
    "RoPE left out": _rope("left out"),
    "RoPE on one side": _rope("one side"),
    "RoPE turned backwards": _rope("backwards"),
    "RoPE before the split": given(_turns, split=_turned_before_split, position=lambda t, s: {}),
    "RoPE by head": given(_turns, position=_turned_by_head),
}
