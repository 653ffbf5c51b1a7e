r"""What stands around attention, as equations in our own notation: embedding, positions, norms, feed-forward, loss.

A row is `name = right side | conventions | what it is`. Rows stand in the order in which they are worked out. A row
counts where all its conventions hold and every name on its right has a value; of several rows for one name the first
that counts. So a fuller equation stands above a plainer one, and what nobody gives is left out.

    T_x E           one-hot tokens, table of embeddings     X X_P PE    tokens, with positions, positions
    R_1 R_2         sums of the residual stream             N_1 N_2 …   after a norm (γ_1, β_1 and ε are its own)
    U G F           feed-forward: before and after the activation, result
    L P ℓ           logits, probabilities, loss of each token; T_y one-hot targets

To add a row, write it here: names that `qkv.work` takes, steps, costs and gradients follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import symbol_plain
from qkv.library.notation import equation

NORM = r"""
\mu_# = mean(@)                                                    | layer | the mean of each token
\sigma_# = \sqrt{var(@) + \epsilon}                                | layer | how far its numbers spread
\sigma_# = \sqrt{var(@)}                                           | layer | how far its numbers spread
N_# = hadamard(\gamma_#, (@ - \mu_#) / \sigma_#) + \beta_#         | layer | layer norm
N_# = hadamard(\gamma_#, (@ - \mu_#) / \sigma_#)                   | layer | layer norm
N_# = (@ - \mu_#) / \sigma_#                                       | layer | layer norm
\rho_# = \sqrt{mean(hadamard(@, @)) + \epsilon}                    | rms   | the root of the mean square of each token
\rho_# = \sqrt{mean(hadamard(@, @))}                               | rms   | the root of the mean square of each token
N_# = hadamard(\gamma_#, @ / \rho_#)                               | rms   | RMS norm
N_# = @ / \rho_#                                                   | rms   | RMS norm
"""
FEED_FORWARD = r"""
U = @ W_1 + b_1                      |            | the feed-forward layer, first product
U = @ W_1                            |            | the feed-forward layer, first product
G = hadamard(silu(U), @ W_3)         | swiglu     | SwiGLU: one product is the gate of the other
G = hadamard(gelu(U), @ W_3)         | geglu      | GEGLU: one product is the gate of the other
G = relu(U)                          | relu       | the activation
G = gelu(U)                          | gelu       | the activation
G = gelutanh(U)                      | gelu_tanh  | the activation, by its approximation with tanh
G = silu(U)                          | silu       | the activation
F = G W_2 + b_2                      |            | the feed-forward layer, second product
F = G W_2                            |            | the feed-forward layer, second product
"""
LOGITS = r"""
L = @ W_U + b_U                      |            | a logit for every word
L = @ W_U                            |            | a logit for every word
L = @ E^T                            | tied       | a logit for every word, by the table of embeddings
"""
EMBEDDING = r"""
X = T_x E                            |            | the rows of E that the tokens name
X_P = X + \text{PE}                         |            | the tokens with their positions
"""
LOSS = r"""
P = softmax(L / \tau)                |            | the probability of every word
P = softmax(L)                       |            | the probability of every word
next = argmax(L) - 1                 | predict    | the likeliest word, counted from 0
\ell = -rowsum(hadamard(T_y, \ln(P)))  |          | the loss of each token: −ln of the probability of its target
loss = mean(\ell)                    |            | cross-entropy
PPL = e^{loss}                       |            | perplexity
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One equation: what it gives, the expression, the conventions under which it holds, and what it is in words."""

    symbol: Symbol
    expr: n.Expr
    when: frozenset[str]
    says: str


@lru_cache(maxsize=1)
def before() -> tuple[Row, ...]:
    """The equations up to the tokens that attention reads."""
    return tuple(_rows(EMBEDDING, *(_of(NORM, tokens, "1", "pre") for tokens in ("X_P", "X"))))


@lru_cache(maxsize=1)
def after() -> tuple[Row, ...]:
    """The equations from the output of attention on."""
    texts = [
        f"R_1 = {tokens} + Output | {norm} | attention added to its tokens" for tokens in ("X_P", "X") for norm in NORMS
    ]
    texts += [_of(NORM, "R_1", "1", "post"), _of(NORM, "R_1", "2", "pre")]
    texts += [_of(FEED_FORWARD, state, "", norm) for norm, states in FED.items() for state in states]
    texts += [
        f"R_2 = {state} + F | {norm} | the feed-forward layer added"
        for norm, states in ADDED.items()
        for state in states
    ]
    texts += [_of(NORM, "R_2", "2", "post"), _of(NORM, "R_2", "3", "pre final")]
    texts += [_of(LOGITS, state, "", norm) for norm, states in LAST.items() for state in states]
    return tuple(_rows(*texts, LOSS))


NORMS = ("post", "pre")
# Where a norm stands decides what the feed-forward layer reads, what is added to it, and what comes out of the block.
FED = {"post": ("N_1",), "pre": ("N_2", "N_1"), "bare": ("Output", "X_P", "X")}
ADDED = {"post": ("N_1",), "pre": ("R_1", "X_P", "X")}
LAST = {"post": ("N_2", "N_1"), "pre": ("N_3", "R_2", "R_1"), "bare": ("F", "Output", "X_P", "X")}


@lru_cache(maxsize=1)
def names() -> dict[str, Symbol]:
    """Every name of the rows as people type it: those that no row gives have to be given, the others may be.

    >>> names()["gamma_1"], "W_U" in names()
    (Symbol(base='gamma', labels=(), indices=('1',), primes=0), True)
    """
    rows = (*before(), *after())
    found = dict.fromkeys(symbol for row in rows for symbol in (*n.names_in(row.expr), row.symbol))
    return {symbol_plain(symbol): symbol for symbol in found}


def counted(rows: Iterable[Row], known: set[Symbol], conventions: frozenset[str]) -> Iterator[Row]:
    """The rows that count where some names are known; what they give is known from there on."""
    known = set(known)
    for row in rows:
        if row.symbol not in known and row.when <= conventions and known.issuperset(n.names_in(row.expr)):
            known.add(row.symbol)
            yield row


def _of(rows: str, state: str, number: str, norm: str) -> str:
    """Rows of a part for the state that it reads, its number, and where norms stand."""
    lines = rows.strip().replace("@", state).replace("#", number).splitlines()
    return "\n".join(
        f"{written} | {when} {norm} | {says}" for written, when, says in (line.split("|") for line in lines)
    )


def _rows(*texts: str) -> Iterator[Row]:
    for line in (line for text in texts for line in text.strip().splitlines()):
        written, when, says = line.split("|")
        left, right = equation(written)
        assert isinstance(left, n.Name)
        yield Row(left.symbol, n.rewrite(right, _plainly), frozenset(when.split()), says.strip())


def _plainly(node: n.Expr) -> n.Expr:
    """A node as a program has it: a softmax goes along rows, and nothing remembers where it was written."""
    if isinstance(node, n.Softmax):
        return n.Softmax(node.arg, 1, by_rows=True)
    return n.Name(node.symbol) if isinstance(node, n.Name) else node
