"""Attention layers with one mistake planted in them, each written in three ways that run on NumPy, torch and JAX arrays.

`plain` uses products and reshapes, `einsum` nothing but einsum, `fused` one matrix for q, k and v and a loop over heads.
Nothing here imports qkv.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

BATCH, TOKENS, HEADS, D_K = 2, 5, 4, 6
D = HEADS * D_K


@dataclass(frozen=True)
class Plant:
    """A mistake, where it must be found, and what `compare` is told."""

    bug: str
    stage: str
    mistake: str
    told: dict = field(default_factory=dict)
    causal: bool = False
    rope: str | None = None
    padded: bool = False
    kv_heads: int = HEADS
    queries: int = TOKENS
    layout: str = "blocks"

    def __str__(self):
        return self.bug


CAUSAL = {"causal": True}
PADDED = {"lengths": [3, 5]}
PLANTS = (
    Plant("W_Q transposed", "projection", "W transposed"),
    Plant("W_V transposed", "projection", "W transposed"),
    Plant("b_Q left out", "projection", "bias forgotten"),
    Plant("view without transpose", "split", "heads viewed without transpose"),
    Plant("every h-th column", "split", "heads woven together"),
    Plant(
        "blocks for interleaved", "split", "fused QKV read in blocks", {"fused": "interleaved"}, layout="interleaved"
    ),
    Plant("interleaved for blocks", "split", "fused QKV read interleaved", {"fused": "blocks"}),
    Plant("groups tiled", "split", "groups tiled for repeated", kv_heads=2),
    Plant("batch first", "split", "batch_first forgotten"),
    Plant("halves for pairs", "position", "RoPE halves for pairs", {"rope": "pairs"}, rope="pairs"),
    Plant("pairs for halves", "position", "RoPE pairs for halves", {"rope": "halves"}, rope="halves"),
    Plant("base", "position", "RoPE base", {"rope": "halves"}, rope="halves"),
    Plant("turned values", "position", "RoPE on V", {"rope": "pairs"}, rope="pairs"),
    Plant("queries late", "position", "RoPE one off", {"rope": "halves"}, rope="halves"),
    Plant("keys not turned", "position", "RoPE on one side", {"rope": "halves"}, rope="halves"),
    Plant("K and V swapped", "scores", "K and V swapped"),
    Plant("Q and K swapped", "scores", "Q and K swapped"),
    Plant("K reshaped", "scores", "K not transposed"),
    Plant("scale 1", "scale", "no scale"),
    Plant("scaled twice", "scale", "scaled twice"),
    Plant("scale d_k", "scale", "divided by d_k"),
    Plant("scale inverted", "scale", "multiplied by the scale"),
    Plant("scale d_model", "scale", "sqrt(d_model) for sqrt(d_k)"),
    Plant("scale heads", "scale", "sqrt(heads) for sqrt(d_k)"),
    Plant("scaled late", "scale", "scaled after the softmax"),
    Plant("no mask", "mask", "mask forgotten", CAUSAL, causal=True),
    Plant("polarity", "mask", "mask the wrong way round", CAUSAL, causal=True),
    Plant("polarity of padding", "mask", "mask the wrong way round", PADDED, padded=True),
    Plant("turned round", "mask", "causal mask turned round", CAUSAL, causal=True),
    Plant("one late", "mask", "mask one off", causal=True),
    Plant("one early", "mask", "mask one off", causal=True),
    Plant("corner", "mask", "causal corner", CAUSAL, causal=True, queries=3),
    Plant("after softmax", "mask", "mask after softmax", causal=True),
    Plant("set to 0", "mask", "masked with 0 in place of -inf", causal=True),
    Plant("0 and 1 added", "mask", "mask added as 0 and 1", CAUSAL, causal=True),
    Plant("padding left", "mask", "padding on the wrong side", PADDED, padded=True),
    Plant("padding unmasked", "mask", "mask forgotten", PADDED, padded=True),
    Plant("softmax over queries", "softmax", "softmax down the columns"),
    Plant("softmax over heads", "softmax", "softmax over the heads"),
    Plant("plain sum", "softmax", "normalised by the plain sum"),
    Plant("not normalised", "softmax", "not normalised"),
    Plant("dropout", "softmax", "dropout active"),
    Plant("weights transposed", "mix", "weights transposed"),
    Plant("keys mixed", "mix", "keys mixed for values"),
    Plant("merge without transpose", "merge", "merged without transpose"),
    Plant("heads reversed", "merge", "heads concatenated in another order"),
    Plant("W_O left out", "output", "projection left out"),
    Plant("W_O transposed", "output", "W_O transposed"),
    Plant("b_O left out", "output", "b_O forgotten"),
)


def weights(plant, seed=0):
    """Matrices as (in, out), biases, and the same for q, k and v together in the layout that is meant."""
    rng = np.random.default_rng(seed)
    kv = plant.kv_heads * D_K
    p = {
        "w_q": (D, D),
        "w_k": (D, kv),
        "w_v": (D, kv),
        "w_o": (D, D),
        "b_q": (D,),
        "b_k": (kv,),
        "b_v": (kv,),
        "b_o": (D,),
    }
    p = {name: rng.standard_normal(shape) / (4 if len(shape) == 2 else 1) for name, shape in p.items()}
    for kind in "wb":
        parts = [p[f"{kind}_{name}"] for name in "qkv"]
        together = np.concatenate(parts, -1)
        if plant.layout == "interleaved":
            together = np.stack([x.reshape(*x.shape[:-1], HEADS, D_K) for x in parts], -2).reshape(together.shape)
        if "transposed" not in plant.bug:
            p[f"{kind}_qkv"] = together
    return p


class Common:
    """What the three ways share: angles, masks, and the choice of a factor."""

    def __init__(self, xp, plant, held):
        self.xp, self.plant, self.bug = xp, plant, plant.bug
        self.p = SimpleNamespace(**held)

    def factor(self):
        return {
            "scale 1": 1.0, "scaled twice": D_K**-1.0, "scale d_k": 1 / D_K, "scale inverted": D_K**0.5,
            "scale d_model": D**-0.5, "scale heads": HEADS**-0.5, "scaled late": 1.0,
        }.get(self.bug, D_K**-0.5)  # fmt: skip

    def allowed(self, n_q, n_k):
        """True for keys to be used, or None."""
        xp, bug = self.xp, self.bug
        if self.plant.padded and bug != "padding unmasked":
            lengths = xp.asarray([3, 5])[:, None, None, None]
            keys = xp.arange(n_k)
            return {"padding left": keys >= n_k - lengths, "polarity of padding": keys >= lengths}.get(
                bug, keys < lengths
            )
        if not self.plant.causal or bug == "no mask":
            return None
        i, j = xp.arange(n_q)[:, None] + (0 if bug == "corner" else n_k - n_q), xp.arange(n_k)
        return {"polarity": j > i, "turned round": j >= i, "one late": j <= i + 1, "one early": j < i}.get(bug, j <= i)

    def turn(self, x, first=0.0):
        """Rotary positions along axis −2."""
        xp, bug = self.xp, self.bug
        kind = {"halves for pairs": "halves", "pairs for halves": "pairs"}.get(bug, self.plant.rope)
        base = 500.0 if bug == "base" else 10000.0
        n, d = x.shape[-2], x.shape[-1]
        angles = (xp.arange(n)[:, None] + first) * base ** (-(xp.arange(d // 2) * 2.0) / d)
        cos, sin = xp.cos(angles), xp.sin(angles)
        if kind == "pairs":
            a, b = x[..., 0::2], x[..., 1::2]
            return xp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)
        a, b = x[..., : d // 2], x[..., d // 2 :]
        return xp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    def positions(self, q, k, v):
        if self.plant.rope is None:
            return q, k, v
        q = self.turn(q, 1.0 if self.bug == "queries late" else 0.0)
        return (
            q,
            k if self.bug == "keys not turned" else self.turn(k),
            self.turn(v) if self.bug == "turned values" else v,
        )

    def dropped(self, a):
        if self.bug != "dropout":
            return a
        kept = np.random.default_rng().random(tuple(a.shape)) > 0.3
        return a * self.xp.asarray(kept) / 0.7

    def reshaped(self, k):
        return k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])


class Plain(Common):
    def project(self, x):
        p, bug = self.p, self.bug
        if bug in ("blocks for interleaved", "interleaved for blocks"):
            y = x @ p.w_qkv + p.b_qkv
            if bug == "blocks for interleaved":
                return y[..., :D], y[..., D : 2 * D], y[..., 2 * D :]
            y = y.reshape(*y.shape[:2], HEADS, 3, D_K)
            return tuple(y[..., i, :].reshape(*y.shape[:2], D) for i in range(3))
        q = x[:, -self.plant.queries :] @ (p.w_q.T if bug == "W_Q transposed" else p.w_q) + (
            0 if "b_Q" in bug else p.b_q
        )
        k = x @ p.w_k + p.b_k
        v = x @ (p.w_v.T if bug == "W_V transposed" else p.w_v) + p.b_v
        return q, k, v

    def split(self, x, heads):
        b, n = x.shape[:2]
        if self.bug == "view without transpose":
            return x.reshape(b, heads, n, D_K)
        if self.bug == "every h-th column":
            return self.xp.moveaxis(x.reshape(b, n, D_K, heads), -1, 1)
        return x.reshape(b, n, heads, D_K).swapaxes(1, 2)

    def __call__(self, x):
        xp, p, bug = self.xp, self.p, self.bug
        if bug == "batch first":
            x = x.swapaxes(0, 1)
        q, k, v = self.project(x)
        q, k, v = self.split(q, HEADS), self.split(k, self.plant.kv_heads), self.split(v, self.plant.kv_heads)
        if self.plant.kv_heads != HEADS:
            order = [0, 1, 0, 1] if bug == "groups tiled" else [0, 0, 1, 1]
            k, v = k[:, order], v[:, order]
        q, k, v = self.positions(q, k, v)
        if bug == "K and V swapped":
            k, v = v, k
        if bug == "Q and K swapped":
            q, k = k, q
        s = q @ (self.reshaped(k) if bug == "K reshaped" else k.swapaxes(-1, -2))
        if bug == "scaled twice":
            s = s / D_K**0.5 / D_K**0.5
        else:
            s = s * self.factor()
        a = self.weights(s)
        z = (a.swapaxes(-1, -2) if bug == "weights transposed" else a) @ (k if bug == "keys mixed" else v)
        if bug == "merge without transpose":
            z = z.reshape(z.shape[0], z.shape[2], -1)
        else:
            z = (xp.flip(z, (1,)) if bug == "heads reversed" else z).swapaxes(1, 2)
            z = z.reshape(*z.shape[:2], -1)
        if bug != "W_O left out":
            z = z @ (p.w_o.T if bug == "W_O transposed" else p.w_o) + (0 if bug == "b_O left out" else p.b_o)
        return z.swapaxes(0, 1) if bug == "batch first" else z

    def weights(self, s):
        xp, bug = self.xp, self.bug
        allowed = self.allowed(*s.shape[-2:])
        late = bug == "after softmax"
        if allowed is not None and not late:
            s = s + allowed if bug == "0 and 1 added" else xp.where(allowed, s, 0.0 if bug == "set to 0" else -1e9)
        axis = {"softmax over queries": -2, "softmax over heads": 1}.get(bug, -1)
        if bug == "plain sum":
            return s / xp.sum(s, axis=-1, keepdims=True)
        e = xp.exp(s - xp.amax(s, axis=axis, keepdims=True))
        a = e if bug == "not normalised" else e / xp.sum(e, axis=axis, keepdims=True)
        if bug == "scaled late":
            a = a / D_K**0.5
        return self.dropped(a * allowed if late else a)


class Einsum(Common):
    def project(self, x):
        xp, p, bug = self.xp, self.p, self.bug
        if bug in ("blocks for interleaved", "interleaved for blocks"):
            spec, shape = (
                ("bnd,dshk->sbhnk", (D, 3, HEADS, D_K))
                if bug.startswith("blocks")
                else ("bnd,dhsk->sbhnk", (D, HEADS, 3, D_K))
            )
            b = p.b_qkv.reshape(shape[1:])
            b = b if bug.startswith("blocks") else b.swapaxes(0, 1)
            return xp.einsum(spec, x, p.w_qkv.reshape(shape)) + b[:, None, :, None]
        if bug in ("view without transpose", "every h-th column"):
            flat = [xp.einsum("bnd,de->bne", x, w) + b for w, b in ((p.w_q, p.b_q), (p.w_k, p.b_k), (p.w_v, p.b_v))]
            if bug == "view without transpose":
                return [y.reshape(y.shape[0], HEADS, y.shape[1], D_K) for y in flat]
            return [xp.einsum("bnkh->bhnk", y.reshape(*y.shape[:2], D_K, HEADS)) for y in flat]
        made = []
        for name in "qkv":
            w, bias = getattr(p, f"w_{name}"), getattr(p, f"b_{name}")
            heads = bias.shape[0] // D_K
            if bug == f"W_{name.upper()} transposed":
                w = xp.einsum("de->ed", w)
            tokens = x[:, -self.plant.queries :] if name == "q" else x
            y = xp.einsum("bnd,dhk->bhnk", tokens, w.reshape(D, heads, D_K))
            made.append(y if name == "q" and "b_Q" in bug else y + bias.reshape(heads, 1, D_K))
        return made

    def __call__(self, x):
        xp, p, bug = self.xp, self.p, self.bug
        if bug == "batch first":
            x = xp.einsum("bnd->nbd", x)
        q, k, v = self.positions(*self.project(x))
        if k.shape[1] != HEADS:
            shape = (k.shape[0], HEADS, *k.shape[2:])
            ones = xp.ones(2)
            spec = "bgnk,r->brgnk" if bug == "groups tiled" else "bgnk,r->bgrnk"
            k, v = (xp.einsum(spec, y, xp.asarray(ones, dtype=y.dtype)).reshape(shape) for y in (k, v))
        if bug == "K and V swapped":
            k, v = v, k
        if bug == "Q and K swapped":
            q, k = k, q
        q = q * (D_K**-0.5 if bug == "scaled twice" else self.factor())  # before the product, as many do
        s = (
            xp.einsum("bhik,bhkj->bhij", q, self.reshaped(k))
            if bug == "K reshaped"
            else xp.einsum("bhik,bhjk->bhij", q, k)
        )
        if bug == "scaled twice":
            s = s * D_K**-0.5
        a = self.weights(s)
        mixed = "bhji,bhjk->bihk" if bug == "weights transposed" else "bhij,bhjk->bihk"
        z = xp.einsum(mixed, a, k if bug == "keys mixed" else v)
        if bug == "merge without transpose":
            z = xp.einsum("bihk->bhik", z).reshape(z.shape)
        if bug == "heads reversed":
            z = xp.flip(z, (2,))
        if bug == "W_O left out":
            out = z.reshape(*z.shape[:2], D)
        else:
            w = xp.einsum("de->ed", p.w_o) if bug == "W_O transposed" else p.w_o
            out = xp.einsum("bihk,hkd->bid", z, w.reshape(HEADS, D_K, D)) + (0 if bug == "b_O left out" else p.b_o)
        return xp.einsum("nbd->bnd", out) if bug == "batch first" else out

    def weights(self, s):
        xp, bug = self.xp, self.bug
        allowed = self.allowed(*s.shape[-2:])
        late = bug == "after softmax"
        if allowed is not None and not late:
            if bug == "set to 0":
                s = s * allowed
            else:
                added = 1.0 * allowed if bug == "0 and 1 added" else xp.where(allowed, 0.0, -np.inf)
                s = s + xp.asarray(added, dtype=s.dtype)
        axis = {"softmax over queries": "bj", "softmax over heads": "bij"}.get(bug, "bhi")
        if bug == "plain sum":
            return xp.einsum("bhij,bhi->bhij", s, 1 / xp.einsum("bhij->bhi", s))
        e = xp.exp(s)
        if bug == "softmax over queries":
            a = xp.einsum("bhij,bhj->bhij", e, 1 / xp.einsum("bhij->bhj", e))
        elif bug == "not normalised":
            a = e
        else:
            a = xp.einsum(f"bhij,{axis}->bhij", e, 1 / xp.einsum(f"bhij->{axis}", e))
        if bug == "scaled late":
            a = a * D_K**-0.5
        return self.dropped(a * allowed if late else a)


class Fused(Common):
    def __call__(self, x):
        xp, p, bug = self.xp, self.p, self.bug
        if bug == "batch first":
            x = xp.moveaxis(x, 0, 1)
        q, k, v = self.positions(*self.project(x))
        if bug == "K and V swapped":
            k, v = v, k
        if bug == "Q and K swapped":
            q, k = k, q
        group = HEADS // self.plant.kv_heads
        pick = (lambda h: h % self.plant.kv_heads) if bug == "groups tiled" else (lambda h: h // group)
        scores = []
        for h in range(HEADS):
            keys = k[:, pick(h)]
            turned = self.reshaped(keys) if bug == "K reshaped" else xp.moveaxis(keys, -1, -2)
            scores.append(xp.matmul(q[:, h] / D_K**0.5 if bug == "scaled twice" else q[:, h], turned))
        s = xp.stack(scores, 1)
        s = s / D_K**0.5 if bug == "scaled twice" else s / (1 / self.factor())
        a = self.weights(s)
        if bug == "weights transposed":
            a = xp.moveaxis(a, -1, -2)
        heads = [xp.matmul(a[:, h], (k if bug == "keys mixed" else v)[:, pick(h)]) for h in range(HEADS)]
        heads = heads[::-1] if bug == "heads reversed" else heads
        if bug == "merge without transpose":
            z = xp.stack(heads, 1).reshape(x.shape[0], -1, D)
        else:
            z = xp.concatenate(heads, -1)
        if bug != "W_O left out":
            z = xp.matmul(z, p.w_o.T if bug == "W_O transposed" else p.w_o)
            z = z if bug == "b_O left out" else z + p.b_o
        return xp.moveaxis(z, 0, 1) if bug == "batch first" else z

    def project(self, x):
        xp, p, bug, kv = self.xp, self.p, self.bug, self.plant.kv_heads
        if "transposed" in bug:
            w = xp.concatenate(
                [getattr(p, f"w_{n}").T if bug.startswith(f"W_{n.upper()}") else getattr(p, f"w_{n}") for n in "qkv"],
                -1,
            )
        else:
            w = p.w_qkv
        y = xp.matmul(x, w)
        if "transposed" in bug:
            y = y + xp.concatenate([p.b_q, p.b_k, p.b_v])
        elif bug != "b_Q left out":
            y = y + p.b_qkv
        rows = y.shape[:2]
        read = "interleaved" if bug == "interleaved for blocks" else "blocks"
        if bug == "view without transpose":
            return [y[..., i * D : (i + 1) * D].reshape(rows[0], HEADS, rows[1], D_K) for i in range(3)]
        if bug == "every h-th column":
            return [xp.moveaxis(y[..., i * D : (i + 1) * D].reshape(*rows, D_K, HEADS), -1, 1) for i in range(3)]
        if read == "interleaved":
            y = y.reshape(*rows, HEADS, 3, D_K)
            return [xp.moveaxis(y[..., i, :], 2, 1) for i in range(3)]
        q, k, v = y[..., :D], y[..., D : D + kv * D_K], y[..., D + kv * D_K :]
        q = q[:, -self.plant.queries :]
        return [xp.moveaxis(z.reshape(*z.shape[:2], -1, D_K), 2, 1) for z in (q, k, v)]

    def weights(self, s):
        """exp(s) · allowed over its sum: nothing is ever −inf."""
        xp, bug = self.xp, self.bug
        allowed = self.allowed(*s.shape[-2:])
        axis = {"softmax over queries": 2, "softmax over heads": 1}.get(bug, 3)
        if bug == "plain sum":
            return s / xp.sum(s, axis=axis, keepdims=True)
        e = xp.exp(s - 1.0)
        if allowed is not None and bug == "set to 0":
            e = xp.where(allowed, xp.exp(s), 1.0)
        elif allowed is not None and bug == "0 and 1 added":
            e = xp.where(allowed, xp.exp(s + 1), xp.exp(s))
        elif allowed is not None and bug != "after softmax":
            e = e * allowed
        if bug == "not normalised":
            a = xp.exp(s)
        else:
            total = xp.sum(e, axis=axis, keepdims=True)
            a = e / xp.where(total == 0, 1.0, total)
        if bug == "after softmax":
            a = xp.where(allowed, a, 0.0)
        if bug == "scaled late":
            a = a / D_K**0.5
        return self.dropped(a)


STYLES = {"plain": Plain, "einsum": Einsum, "fused": Fused}
RIGHT = tuple(
    Plant("", "", "", told, causal, rope, padded, kv_heads, queries, layout)
    for told, causal, rope, padded, kv_heads, queries, layout in (
        ({}, False, None, False, HEADS, TOKENS, "blocks"),
        ({}, True, None, False, HEADS, TOKENS, "blocks"),
        (CAUSAL, True, None, False, HEADS, TOKENS, "blocks"),
        (CAUSAL, True, None, False, HEADS, 3, "blocks"),
        (PADDED, False, None, True, HEADS, TOKENS, "blocks"),
        ({}, False, None, True, HEADS, TOKENS, "blocks"),
        ({}, False, "halves", False, HEADS, TOKENS, "blocks"),
        ({}, True, "pairs", False, HEADS, TOKENS, "blocks"),
        ({"rope": "halves"}, True, "halves", False, HEADS, TOKENS, "blocks"),
        ({}, True, None, False, 2, TOKENS, "blocks"),
        ({}, False, "halves", False, 2, TOKENS, "blocks"),
    )
)
