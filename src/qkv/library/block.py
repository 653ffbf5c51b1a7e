r"""What stands around attention, as equations in our own notation: embedding, positions, norms, feed-forward, loss.

A row is `name = right side | conventions | what it is`. Rows stand in the order in which they are worked out. A row
counts where all its conventions hold and every name on its right has a value; of several rows for one name the first
that counts. So a fuller equation stands above a plainer one, and what nobody gives is left out.

    T_x E           one-hot tokens, table of embeddings     X X_P PE    tokens, with positions, positions
    R_1 R_2 …       sums of the residual stream             N_1 N_2 …   after a norm (γ_1, β_1 and ε are its own)
    U G F           feed-forward: before and after the activation, result
    L P ℓ           logits, probabilities, loss of each token; T_y one-hot targets; § is how many words are asked for

To add a row, write it here: names that `qkv.work` takes, steps, costs and gradients follow from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import symbol_plain
from qkv.library.rows import Row, rows_of
from qkv.regex import regex

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
top = ranking(L)_{:,1:§} - 1         | top        | the likeliest words, counted from 0, the likeliest first
L_{best} = descending(L)_{:,1:§}     | top        | their logits
P_{best} = softmax(L_{best} / \tau)  | top        | their probabilities, where one of them is drawn
P_{best} = softmax(L_{best})         | top        | their probabilities, where one of them is drawn
\ell = -rowsum(hadamard(T_y, \ln(P)))  |          | the loss of each token: −ln of the probability of its target
loss = mean(\ell)                    |            | cross-entropy
PPL = e^{loss}                       |            | perplexity
"""
# Words that say that there are norms, and that they come before what they are for.
NORM_SAID = regex(
    r"layer.?norm|rms.?norm|add\s*(?:&|\+|and)\s*norm|post.?norm|pre.?norm|post-?ln|pre-?ln|残差|归一化", re.IGNORECASE
)
NORM_FIRST = regex(r"pre.?norm|pre-?ln|before (?:the )?(?:attention|each sub.?layer)", re.IGNORECASE)

# Where norms stand decides what each part of a block reads, what it is added to, and what comes out. Parts have numbers:
# attention is 1, cross-attention 2 where there is any, the feed-forward layer the last.
CROSS = "Output_{cross}"


@lru_cache(maxsize=1)
def embedding() -> tuple[Row, ...]:
    """The equations that make tokens and add their positions."""
    return rows_of(EMBEDDING)


@lru_cache(maxsize=1)
def before() -> tuple[Row, ...]:
    """The equations from the tokens to what attention reads."""
    return rows_of(_of(NORM, "X", "1", "pre"))


@lru_cache(maxsize=1)
def attended() -> tuple[Row, ...]:
    """The equations from the output of attention to what the next part reads."""
    return rows_of(*_stream(1, "Output", {"post": ("X",), "pre": ("X",)}, "attention added to its tokens"))


@lru_cache(maxsize=1)
def crossed() -> tuple[Row, ...]:
    """The equations from the output of cross-attention to what the feed-forward layer reads."""
    return rows_of(*_stream(2, CROSS, {"post": ("N_1",), "pre": ("R_1",)}, "cross-attention added"))


@lru_cache(maxsize=2)
def fed(part: int) -> tuple[Row, ...]:
    """The equations of the feed-forward layer, which is this part of its block, and of what is added to it."""
    last = part - 1
    reads = {"post": (f"N_{last}",), "pre": (f"N_{part}", "N_1"), "bare": (CROSS, "Output", "X")}
    added = {"post": (f"N_{last}",), "pre": (f"R_{last}", "X")}
    texts = [_of(FEED_FORWARD, state, "", norm) for norm, states in reads.items() for state in states]
    return rows_of(*texts, *list(_stream(part, "F", added, "the feed-forward layer added"))[:-1])


@lru_cache(maxsize=8)
def ends(part: int, top: int = 1) -> tuple[Row, ...]:
    """The equations after the last block, from its last part on: a norm, logits, the `top` likeliest words, the loss."""
    texts = [_of(LOGITS, state, "", norm) for norm, states in results(part).items() for state in states]
    return rows_of(_of(NORM, f"R_{part}", str(part + 1), "pre final"), *texts, LOSS.replace("§", str(top)))


@lru_cache(maxsize=16)
def norm(state: str, number: str) -> tuple[Row, ...]:
    """The equations of a norm of some state."""
    return rows_of(_of(NORM, state, number, ""))


@lru_cache(maxsize=1)
def feed(state: str) -> tuple[Row, ...]:
    """The equations of the feed-forward layer of some state."""
    return rows_of(_of(FEED_FORWARD, state, "", ""))


@lru_cache(maxsize=1)
def logits(state: str) -> tuple[Row, ...]:
    """The equations of the logits of some state."""
    return rows_of(_of(LOGITS, state, "", ""))


@lru_cache(maxsize=4)
def loss(top: int) -> tuple[Row, ...]:
    """What is made of logits: probabilities, the `top` likeliest words, the loss."""
    return rows_of(LOSS.replace("§", str(top)))


def results(part: int) -> dict[str, list[str]]:
    """What comes out of a block by where its norms stand, of which the first that there is counts."""
    return {
        "post": [f"N_{i}" for i in range(part, 0, -1)],
        "pre": [f"N_{part + 1}", *(f"R_{i}" for i in range(part, 0, -1))],
        "bare": ["F", CROSS, "Output", "X_P", "X"],
    }


@lru_cache(maxsize=1)
def names() -> dict[str, Symbol]:
    """Every name of the rows as people type it: those that no row gives have to be given, the others may be.

    >>> names()["gamma_1"], "W_U" in names()
    (Symbol(base='gamma', labels=(), indices=('1',), primes=0), True)
    """
    rows = (*embedding(), *before(), *attended(), *crossed(), *fed(2), *fed(3), *ends(2), *ends(3))
    found = dict.fromkeys(symbol for row in rows for symbol in (*n.names_in(row.expr), row.symbol))
    return {symbol_plain(symbol): symbol for symbol in found}


def _stream(part: int, output: str, added: dict[str, tuple[str, ...]], says: str) -> Iterator[str]:
    """Rows of the residual stream: a part added to what was there, the norm after it, and the norm before the next."""
    for norm, states in added.items():
        for state in states:
            yield f"R_{part} = {state} + {output} | {norm} | {says}"
    yield _of(NORM, f"R_{part}", str(part), "post")
    yield _of(NORM, f"R_{part}", str(part + 1), "pre")


def _of(rows: str, state: str, number: str, norm: str) -> str:
    """Rows of a part for the state that it reads, its number, and where norms stand."""
    lines = rows.strip().replace("@", state).replace("#", number).splitlines()
    return "\n".join(
        f"{written} | {when} {norm} | {says}" for written, when, says in (line.split("|") for line in lines)
    )
