"""Functions that a page may call without saying what they are, as equations in our own notation.

Of several rows for one function the first counts whose further names (γ, β, ε, W_1 …) the page gives values to.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.notation import expression

SPELLINGS = {
    "layernorm": "layernorm", "layernormalization": "layernorm", "layernormalisation": "layernorm",
    "ln": "layernorm", "rmsnorm": "rmsnorm", "ffn": "ffn", "feedforward": "ffn", "mlp": "ffn",
    "swiglu": "swiglu", "σ": "sigma", "attn": "attention", "attention": "attention", "selfattention": "attention",
    "crossattention": "attention", "dotproductattention": "attention", "scaleddotproductattention": "attention",
}  # fmt: skip

_ROWS = r"""
layernorm(x) = hadamard(\gamma, (x - mean(x)) / \sqrt{var(x) + \epsilon}) + \beta
layernorm(x) = hadamard(\gamma, (x - mean(x)) / \sqrt{var(x)}) + \beta
layernorm(x) = hadamard(\gamma, (x - mean(x)) / \sqrt{var(x) + \epsilon})
layernorm(x) = hadamard(\gamma, (x - mean(x)) / \sqrt{var(x)})
layernorm(x) = (x - mean(x)) / \sqrt{var(x) + \epsilon}
layernorm(x) = (x - mean(x)) / \sqrt{var(x)}
rmsnorm(x) = hadamard(\gamma, x / \sqrt{mean(hadamard(x, x)) + \epsilon})
rmsnorm(x) = hadamard(\gamma, x / \sqrt{mean(hadamard(x, x))})
rmsnorm(x) = x / \sqrt{mean(hadamard(x, x)) + \epsilon}
rmsnorm(x) = x / \sqrt{mean(hadamard(x, x))}
ffn(x) = relu(x W_1 + b_1) W_2 + b_2
ffn(x) = relu(x W_1) W_2
swiglu(x) = hadamard(silu(x W_1), x W_3) W_2
sigma(x) = sigmoid(x)
attention(q, k, v) = softmax(q k^T / \sqrt{d_k}) v
"""
KEY_SIZE = expression("d_k")  # where a page does not say it, the keys in the call do: they are its second argument


class Defined(NamedTuple):
    """A function by an expression over its parameters."""

    parameters: tuple[Symbol, ...]
    expr: n.Expr

    def of(self, args: tuple[n.Expr, ...]) -> n.Expr | None:
        """The expression for some arguments; None where their number does not fit."""
        if len(args) != len(self.parameters):
            return None
        put = dict(zip(self.parameters, args, strict=True))
        return n.rewrite(self.expr, lambda node: put.get(node.symbol, node) if isinstance(node, n.Name) else node)


def defined(function: str) -> tuple[Defined, ...]:
    """What a function is that a page calls by this name, the fullest row first.

    >>> len(defined("LayerNorm")), defined("banana")
    (6, ())
    """
    word = "".join(letter for letter in function.lower() if letter.isalpha())
    return _table().get(SPELLINGS.get(word, ""), ())


def is_activation(function: str) -> bool:
    """Whether a page may call any activation by this name: σ is the sigmoid where nothing shows another."""
    return "".join(letter for letter in function.lower() if letter.isalpha()) in ("σ", "sigma")


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[Defined, ...]]:
    made: dict[str, tuple[Defined, ...]] = {}
    for line in _ROWS.strip().splitlines():
        left, _, right = line.partition(" = ")
        name, _, inside = left.rstrip(")").partition("(")
        parameters = tuple(Symbol(letter.strip()) for letter in inside.split(","))
        made[name] = (*made.get(name, ()), Defined(parameters, expression(right)))
    return made
