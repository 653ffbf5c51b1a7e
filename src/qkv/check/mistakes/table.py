r"""The known mistakes: a name and a sentence for each, and two expressions below it where these tell what happened;
elsewhere a rule of that name does (rules.py, softmax.py, block.py).

A row is `name: sentence`, {} in it is the rule's detail, and below it `right -> wrong` in our own notation, as often as
needed. Every letter stands for any expression, the same one wherever it occurs. Functions of the library (layernorm,
rmsnorm) are written out, each of their rows in turn. To add a mistake, write it here; where several explain a
value, they are told in this order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from qkv.check.mistakes.scene import Scene, Variants
from qkv.expr import nodes as n

ROWS = r"""
softmax down the columns: the softmax runs down the columns, but each row must add up to 1
no scale: the scores were not divided by √d_k
divided by d_k: the scores were divided by d_k instead of √d_k
sqrt(d_model) for sqrt(d_k): the scores were divided by √d_model ({}), the size of a token, instead of √d_k
sqrt(d_v) for sqrt(d_k): the scores were divided by √d_v ({}), the size of a value, instead of √d_k
sqrt(n) for sqrt(d_k): the scores were divided by √n ({}), the number of keys, instead of √d_k
scaled after the softmax: the weights were divided by √d_k; the scores must be, before the softmax
multiplied by the scale: the scores were multiplied by √d_k instead of divided
K not transposed: K was not transposed: this is Q K, not Q Kᵀ
Q and K swapped: Q and K are swapped: these are the scores transposed, K Qᵀ
W X for X W: the product was taken in the other order: W times the tokens
W transposed: the weight matrix was used transposed
mask after softmax: the mask was put on after the softmax, so the rows no longer add up to 1
masked with 0 in place of -inf: forbidden scores were set to 0, but e^0 = 1 still counts: they must be −∞
mask the wrong way round: the mask hides the wrong side: allowed and forbidden keys are swapped
mask one off: the mask lets every query see one key too {}
mask forgotten: the mask was forgotten
normalised by the plain sum: the scores were divided by their plain sum; softmax takes exponentials first
not normalised: the exponentials were not divided by their sum
softmax over the whole matrix: the exponentials were divided by the sum over the whole matrix, not over each row
divided by the sum of another row: the exponentials were divided by the sum of row {}, not of their own
a key left out: key {} was left out of the softmax
softmax left out: no softmax was taken: these are the scores themselves
another base than e: these are powers of {}, but softmax takes powers of e
exponents negated: the exponents have the wrong sign: the smallest score got the greatest weight
sigmoid for softmax: each score went through a sigmoid of its own; softmax shares 1 among the keys
all weight on the greatest score: the greatest score got all the weight, but softmax gives every key a share
heads concatenated in another order: the heads are concatenated in the order {}
heads stacked: the heads are stacked on top of each other instead of side by side
averaged heads: the heads were averaged instead of concatenated
added heads: the heads were added instead of concatenated
W_O left out: the output matrix W_O was left out
projection left out: the tokens were not multiplied by {}
W_a left out: the matrix W_a was left out of the scores
weights of the other head: the weights of another head were used: {}
values of the other head: the values of another head were used: {}
matrix of the other head: a matrix of another head was used: {}
one matrix for another: {} was used
A transposed: the weights were used transposed
V transposed: the values were used transposed
V A for A V: the product was taken in the other order: V A instead of A V
bias forgotten: the bias was forgotten
bias subtracted: the bias was subtracted instead of added
tanh forgotten: the tanh was forgotten
    \tanh(x) -> x
a term left out: one of the two terms inside the tanh was left out
    \tanh(a + b) -> \tanh(a)
    \tanh(a + b) -> \tanh(b)
residual left out: the residual sum is missing: {} was not added
sine and cosine swapped: sine and cosine are swapped
positions from 1: the positions begin one too high
positions from 0: the positions begin one too low
loss with the wrong index: the probability of another word than the target was taken
pairs the other way: other columns were turned together: 1 and 2, or 1 and 1 + d/2
groups tiled: neighbouring heads share keys and values (1 1 2 2, not 1 2 1 2): {}
cache in the wrong order: new keys and values come after those of the cache
transpose left out: {} was not transposed
layer norm down the columns: mean and variance were taken down the columns, but each token (each row) has its own
    layernorm(x) -> layernorm(x^T)^T
    mean(x) -> mean(x^T)
    var(x) -> var(x^T)
n - 1 in the variance: the variance was divided by n − 1, but a norm divides by n
    var(x) -> samplevar(x)
    std(x) -> \sqrt{samplevar(x)}
epsilon forgotten: the ε under the root was forgotten
    a / \sqrt{v + \epsilon} -> a / \sqrt{v}
    \sqrt{var(x) + \epsilon} -> \sqrt{var(x)}
    \sqrt{mean(x) + \epsilon} -> \sqrt{mean(x)}
divided by the variance: the root was left out: a norm divides by the standard deviation, not by the variance
    (x - mean(x)) / \sqrt{v} -> (x - mean(x)) / v
    \sqrt{var(x) + \epsilon} -> var(x) + \epsilon
    \sqrt{var(x)} -> var(x)
mean not subtracted: the mean was not subtracted
    (x - mean(x)) / s -> x / s
layer norm for RMS norm: the mean was subtracted, but an RMS norm only divides
    rmsnorm(x) -> layernorm(x)
norm before for after: the norm was taken before the sum, but it comes after it
    layernorm(x + f) -> x + layernorm(f)
    layernorm(x + f) -> layernorm(x) + f
    rmsnorm(x + f) -> x + rmsnorm(f)
    rmsnorm(x + f) -> rmsnorm(x) + f
scale of the norm forgotten: the norm was not multiplied by γ
    hadamard(g, (x - m) / s) + b -> (x - m) / s + b
    hadamard(g, (x - m) / s) -> (x - m) / s
    hadamard(g, x / s) -> x / s
shift of the norm forgotten: β was not added after the norm
    hadamard(g, (x - m) / s) + b -> hadamard(g, (x - m) / s)
activation left out: the activation was left out
    relu(x) -> x
    gelu(x) -> x
    gelutanh(x) -> x
    silu(x) -> x
ReLU for GELU: this is ReLU, not GELU
    gelu(x) -> relu(x)
    gelutanh(x) -> relu(x)
gate for value: the activation was put on the other product
    hadamard(silu(x a), x b) -> hadamard(x a, silu(x b))
    hadamard(gelu(x a), x b) -> hadamard(x a, gelu(x b))
added before the projection: the tokens were added before the product with the output matrix, not after it
    x + a w -> (x + a) w
    x + (a w + b) -> (x + a) w + b
turned the other way: the pairs were turned by minus their angle
    hadamard(x, \cos(t)) + hadamard(y, \sin(t)) -> hadamard(x, \cos(t)) - hadamard(y, \sin(t))
softmax's derivative without its sum: the softmax was differentiated cell by cell: its row sum is missing
    hadamard(a, r - rowsum(hadamard(a, r))) -> hadamard(a, r)
another logarithm: the logarithm to another base was taken; the loss is in natural ones
    \ln(p) -> \ln(p) / \ln(2)
    \ln(p) -> \ln(p) / \ln(10)
a column left out: the products of column {0} with row {0} were left out everywhere
rows swapped: rows {} are swapped
columns swapped: columns {} are swapped
result transposed: the result is transposed
a row left out: row {} is missing
a column of the result left out: column {} is missing
another size under the root: the scores were divided by {}, the root of another size
"""

SAYS = dict(line.split(": ", 1) for line in ROWS.strip().splitlines() if not line.startswith(" "))
Change = Callable[[Any, Scene], Variants]


class Mistake(NamedTuple):
    """What may happen to a node of some kinds. A `whole` one happens to the result alone and to nothing inside of it;
    one that `keeps_shape` puts nothing of another shape anywhere; a `rare` one is told only where no other explains
    what is shown; one that `swaps` has rows or columns change places."""

    key: str
    kinds: tuple[type[n.Node], ...]
    change: Change
    whole: bool = False
    keeps_shape: bool = False
    rare: bool = False
    swaps: bool = False

    @property
    def says(self) -> str:
        """The sentence for students."""
        return SAYS[self.key]


def on(key: str, *kinds: type[n.Node], **how: bool) -> Callable[[Change], Mistake]:
    """The mistake of this name, made in nodes of these kinds."""
    return lambda change: Mistake(key, kinds, change, **how)
