r"""Mistakes that are told by two expressions in our own notation: what is right, and what was done instead.

A row is `name: sentence`, and below it `right -> wrong` as often as needed. Every letter stands for any expression, the
same one wherever it occurs. Functions of the library (layernorm, rmsnorm) are written out, each of their rows in turn.
To add a mistake, write it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from itertools import product

from qkv.check.mistakes.scene import Rule, Scene, Variants
from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.library.defined import defined
from qkv.library.notation import expression

ROWS = r"""
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
"""

Pair = tuple[n.Expr, n.Expr]
ROOTS = (n.Call, n.Quotient, n.Root, n.Sum, n.Negate)  # what the right sides of the table begin with


@cache
def sentences() -> dict[str, str]:
    """The mistakes of the table with what they say, in order."""
    heads = (line.partition(": ") for line in ROWS.strip().splitlines() if not line.startswith(" "))
    return {key: says for key, _, says in heads}


def rule(key: str) -> Rule:
    """The rule of one mistake: wherever a right side fits, what was done instead."""

    def change(node: n.Expr, scene: Scene) -> Variants:
        for right, wrong in pairs()[key]:
            bound: dict[Symbol, n.Expr] = {}
            if matches(right, node, bound) and bound.keys() >= set(n.names_in(wrong)):
                yield filled(wrong, bound), ""

    return Rule(ROOTS, change)


@cache
def pairs() -> Mapping[str, tuple[Pair, ...]]:
    """Right and wrong of every mistake, read by our own reader when they are first needed."""
    found: dict[str, tuple[Pair, ...]] = {}
    key = ""
    for line in ROWS.strip().splitlines():
        if not line.startswith(" "):
            key = line.partition(": ")[0]
            continue
        right, _, wrong = line.partition(" -> ")
        found[key] = (*found.get(key, ()), *_paired(right, wrong))
    return found


def _paired(right: str, wrong: str) -> Iterator[Pair]:
    """Each row of a function with the same row on the other side; where they are other functions, with all of them."""
    rights, wrongs = (list(_written_out(expression(side))) for side in (right, wrong))
    yield from zip(rights, wrongs, strict=True) if len(rights) == len(wrongs) else product(rights, wrongs)


def _written_out(expr: n.Expr) -> Iterator[n.Expr]:
    """An expression with the functions of the library replaced by each of their rows."""
    call = next((p for p in n.walk(expr) if isinstance(p, n.Call) and p.function not in BY_KEY), None)
    if call is None:
        yield expr
        return
    for row in defined(call.function):
        made = row.of(call.args)
        if made is not None:
            yield from _written_out(n.replaced(expr, call, made))


def matches(pattern: n.Expr, node: n.Expr, bound: dict[Symbol, n.Expr]) -> bool:
    """Whether a pattern fits an expression; what its letters stand for is noted."""
    if isinstance(pattern, n.Name):
        return bound.setdefault(pattern.symbol, node) == node
    if type(pattern) is not type(node):
        return False
    for field in fields(pattern):
        if field.compare and not _alike(getattr(pattern, field.name), getattr(node, field.name), bound):
            return False
    return True


def _alike(pattern: object, part: object, bound: dict[Symbol, n.Expr]) -> bool:
    if isinstance(pattern, n.Node):
        return isinstance(part, n.Node) and matches(pattern, part, bound)  # type: ignore[arg-type]
    if isinstance(pattern, tuple) and isinstance(part, tuple):
        return len(pattern) == len(part) and all(_alike(a, b, bound) for a, b in zip(pattern, part, strict=True))
    return pattern == part


def filled(pattern: n.Expr, bound: Mapping[Symbol, n.Expr]) -> n.Expr:
    """A pattern with what its letters stand for."""
    return n.rewrite(pattern, lambda node: bound.get(node.symbol, node) if isinstance(node, n.Name) else node)
