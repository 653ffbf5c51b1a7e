"""The known mistakes of implementations: under the stage at which each is made, its name and a sentence, {} in it the
detail; below it the line to write instead. How the mistake is made stands under its name in the module of its stage.
Where several explain an output, they are told in this order. Hand-worked solutions have the same keys in `check`."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.compare.mistakes import inputs, masks, outputs, scores
from qkv.compare.mistakes.model import Mistake

ROWS = """
[projection]
W transposed: {} was used transposed
    x @ W.T where W is (out, in) as nn.Linear keeps it, x @ W where it is (in, out)
bias forgotten: {} was not added
    q = x @ W_Q + b_Q
projection skipped: {} was left out: the tokens themselves were used
    q = x @ W_Q
one matrix for another: {} was used
    q from W_Q, k from W_K, v from W_V
keys from the queries' tokens: keys and values were made from the queries' tokens
    k = memory @ W_K; v = memory @ W_V
queries from the keys' tokens: queries were made from the tokens of the keys
    q = x @ W_Q, not memory @ W_Q
[split]
heads viewed without transpose: {} was cut into heads by a view of (batch, heads, tokens, d): that mixes tokens and heads
    q = q.view(batch, tokens, heads, d).transpose(1, 2)
heads woven together: heads of {} were read as every h-th column instead of neighbouring columns
    q = q.view(batch, tokens, heads, d), not (batch, tokens, d, heads)
fused QKV read in blocks: the fused projection is laid out head by head (q, k, v of each), but it was read as three blocks
    qkv.view(batch, tokens, heads, 3, d).unbind(3)
fused QKV read interleaved: the fused projection is laid out in three blocks, but it was read head by head (q, k, v of each)
    qkv.view(batch, tokens, 3, heads, d).unbind(2)
groups tiled for repeated: key heads were tiled (0 1 0 1) over the query heads; neighbours share a key head (0 0 1 1)
    k.repeat_interleave(group, dim=1), jnp.repeat or np.repeat, not repeat or tile
batch_first forgotten: the batch was taken for the tokens: sequences attend to each other
    nn.MultiheadAttention(…, batch_first=True), or x.transpose(0, 1) before and after
another number of heads: there are {}
    heads = the number that was asked for
[position]
RoPE halves for pairs: columns i and i + d/2 were turned together instead of 2i and 2i + 1
    x1, x2 = x[..., 0::2], x[..., 1::2]
RoPE pairs for halves: columns 2i and 2i + 1 were turned together instead of i and i + d/2
    x1, x2 = x.chunk(2, dim=-1)
RoPE base: the angles have the base {}
    base ** (-arange(0, d, 2) / d)
RoPE on V: the values were turned too
    turn q and k only
RoPE one off: positions are shifted: {}
    positions = arange(keys)[-queries:] for q, arange(keys) for k
RoPE left out: queries and keys were not turned
    q, k = rope(q), rope(k)
RoPE on one side: {} were turned
    q, k = rope(q), rope(k)
RoPE turned backwards: queries and keys were turned by the negative angle
    x1·cos − x2·sin, x2·cos + x1·sin
RoPE before the split: all columns were turned together, before they were cut into heads
    split into heads first, then turn each head
RoPE by head: the angle follows the head instead of the token
    positions run along the tokens' axis
[scores]
scores overflow float16: scores above 65,504 do not fit into float16
    scale q before the product: (q / math.sqrt(d_k)) @ k.transpose(-2, -1)
K and V swapped: queries were compared with the values, and keys were mixed
    scores = q @ k.transpose(-2, -1); out = weights @ v
Q and K swapped: the scores are K Qᵀ, the transpose of Q Kᵀ
    scores = q @ k.transpose(-2, -1)
K not transposed: K was reshaped to (d, keys), not transposed
    k.transpose(-2, -1), not k.view or reshape
queries against queries: the scores are Q Qᵀ
    scores = q @ k.transpose(-2, -1)
keys against keys: the scores are K Kᵀ
    scores = q @ k.transpose(-2, -1)
cosines for dot products: queries and keys were brought to length 1 first
    scores = q @ k.transpose(-2, -1)
[scale]
no scale: the scores were not divided by √d_k
    scores / math.sqrt(q.shape[-1])
sqrt(d_model) for sqrt(d_k): the scores were divided by √d_model, the size of a token, instead of √d_k, the size of a head
    scores / math.sqrt(d_model // heads)
scaled twice: the scores were divided by √d_k twice
    divide q or the scores by √d_k, not both
divided by d_k: the scores were divided by d_k instead of √d_k
    scores / math.sqrt(d_k)
multiplied by the scale: the scores were multiplied by √d_k instead of divided
    scores / math.sqrt(d_k), or scores * d_k ** -0.5
sqrt(heads) for sqrt(d_k): the scores were divided by the root of the number of heads instead of √d_k
    scores / math.sqrt(d_model // heads)
sqrt(n) for sqrt(d_k): the scores were divided by the root of the number of keys instead of √d_k
    scores / math.sqrt(q.shape[-1])
sqrt(d_v) for sqrt(d_k): the scores were divided by √d_v, the size of a value, instead of √d_k
    scores / math.sqrt(q.shape[-1])
divided by d_model: the scores were divided by d_model instead of √d_k
    scores / math.sqrt(d_model // heads)
divided by the number of heads: the scores were divided by the number of heads instead of √d_k
    scores / math.sqrt(d_model // heads)
multiplied by d_k: the scores were multiplied by d_k instead of divided by √d_k
    scores / math.sqrt(d_k)
half a scale: only one of q and k was scaled by d_k to the power −1/4
    scale both by d_k ** -0.25, or the scores by d_k ** -0.5
scale doubled: the scores are twice as large as they should be
    scores / math.sqrt(d_k)
scale halved: the scores are half as large as they should be
    scores / math.sqrt(d_k)
scaled after the softmax: the weights were divided by √d_k; the scores must be, before the softmax
    (scores / math.sqrt(d_k)).softmax(-1)
[mask]
-1e9 in float16: -1e9 does not fit into float16: it becomes −∞, and 0 · ∞ or a row of −∞ becomes NaN
    torch.finfo(scores.dtype).min, or masked_fill(~allowed, float('-inf'))
mask forgotten: {} not put on
    scores.masked_fill(~allowed, -inf) before the softmax
mask the wrong way round: the mask has the other polarity: {} (SDPA keeps True, nn.MultiheadAttention drops it)
    negate the mask: masked_fill(~allowed, -inf), or attn_mask=allowed for SDPA
causal mask turned round: each query sees its own key and later ones instead of earlier ones
    torch.ones(n, n).tril(), not triu()
mask one off: the causal mask is shifted by one: {}
    tril(diagonal=0) keeps, triu(diagonal=1) drops
causal corner: the causal mask begins at the upper left corner; with a cache the last query must see the last key
    tril(diagonal=n_k - n_q)
mask after softmax: the mask was put on after the softmax, so the rows no longer add up to 1
    scores.masked_fill(~allowed, -inf).softmax(-1)
masked with 0 in place of -inf: forbidden scores were set to 0, but e^0 = 1 still counts: they must be −∞
    masked_fill(~allowed, float('-inf')); mind 1e-9 for -1e9
mask added as 0 and 1: the mask was added as numbers: {}
    scores.masked_fill(~allowed, -inf), or add a mask of 0 and −inf
masked too weakly: forbidden scores were {}, and still count
    masked_fill(~allowed, float('-inf'))
masked with plus infinity: forbidden scores became large instead of −∞
    masked_fill(~allowed, float('-inf'))
padding on the wrong side: the mask drops keys at the other end of the sequence
    arange(n_k) < lengths[:, None] for padding on the right
mask on the queries: the mask was laid over the queries instead of the keys
    mask[:, None, None, :], so that its last axis is the keys
mask in another order than the heads: masks of the batch meet the heads in the wrong order
    mask.repeat_interleave(heads, dim=0) for (batch · heads, n, n)
a row masked everywhere: a query may use no key, and {}; its output must be 0
    weights.masked_fill(~allowed.any(-1, keepdim=True), 0)
[softmax]
softmax down the columns: the softmax runs over the queries: columns add up to 1, but each row must
    softmax(dim=-1)
softmax over the heads: the softmax runs over the heads instead of the keys
    softmax(dim=-1)
softmax over the batch: the softmax runs over the batch instead of the keys
    softmax(dim=-1)
softmax over the whole matrix: the softmax runs over queries and keys together, but each row must add up to 1
    softmax(dim=-1)
softmax left out: the scores themselves were used as weights
    weights = scores.softmax(-1)
softmax twice: the softmax was taken twice
    weights = scores.softmax(-1), once
normalised by the plain sum: scores were divided by their sum, without exponentials
    weights = scores.softmax(-1)
not normalised: the exponentials were not divided by their sum
    e / e.sum(-1, keepdims=True)
another base than e: powers of 2 or 10 were taken instead of e
    exp(scores)
exponents negated: the softmax of the negated scores was taken
    softmax(scores), not softmax(-scores)
sigmoid for softmax: each score went through a sigmoid of its own
    weights = scores.softmax(-1)
one added to the sum: 1 was added to the sum of the exponentials, so the rows add up to less than 1
    e / e.sum(-1, keepdims=True)
all weight on the greatest score: the greatest score got all the weight
    weights = scores.softmax(-1)
logarithm of the softmax: the logarithms of the weights were used
    softmax, not log_softmax
dropout active: some weights are 0 and the others are larger by 1/(1 − p): dropout is at work
    F.dropout(weights, p, training=self.training), and module.eval()
[mix]
weights transposed: the weights were used transposed: Aᵀ V
    out = weights @ v
keys mixed for values: keys were mixed instead of values
    out = weights @ v
queries mixed for values: queries were mixed instead of values
    out = weights @ v
values of the other head: weights of one head met values of another
    out = weights @ v, head by head
mean for sum: the weighted values were averaged instead of added
    out = weights @ v
[merge]
merged without transpose: heads were merged by a view of (batch, heads, tokens, d): that mixes tokens and heads
    out.transpose(1, 2).reshape(batch, tokens, heads * d)
heads merged woven: columns of the heads were woven into each other instead of standing side by side
    out.transpose(1, 2).reshape(batch, tokens, heads * d)
heads concatenated in another order: heads stand in the reverse order
    concatenate head 0 first
batch and heads mixed up: (batch · heads) was read as (heads · batch)
    out.view(batch, heads, tokens, d).transpose(1, 2)
averaged heads: the heads were averaged instead of concatenated
    out.transpose(1, 2).reshape(batch, tokens, heads * d)
added heads: the heads were added instead of concatenated
    out.transpose(1, 2).reshape(batch, tokens, heads * d)
[output]
projection left out: W_O was left out
    return merged @ W_O + b_O
W_O transposed: W_O was used transposed
    merged @ W.T where W is (out, in) as nn.Linear keeps it, merged @ W where it is (in, out)
b_O forgotten: b_O was not added
    return merged @ W_O + b_O
"""
WAYS = {**inputs.WAYS, **scores.WAYS, **masks.WAYS, **outputs.WAYS}
SHOWS = {"scaled twice": scores.scaled_once}


def _mistakes() -> Iterator[Mistake]:
    lines = iter(ROWS.strip().split("\n"))
    stage = ""
    for line in lines:
        if line.startswith("["):
            stage = line.strip("[]")
        else:
            key, says = line.split(": ", 1)
            yield Mistake(key, stage, says, next(lines).strip(), WAYS[key], SHOWS.get(key))


TABLE = tuple(_mistakes())
# No rewrite gives these: diagnose.py looks for weights that were dropped, half.py runs an implementation in float16.
DROPOUT, OVERFLOW, TOO_LARGE = (
    next(row for row in TABLE if row.key == key)
    for key in ("dropout active", "-1e9 in float16", "scores overflow float16")
)
