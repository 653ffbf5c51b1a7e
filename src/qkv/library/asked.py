"""What questions around attention ask for by its name, as equations over the one array X that they speak of.

Rows are as in block.py: of several for one name the first that counts, so that a fuller one stands above a plainer one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from qkv.library import block
from qkv.library.rows import Row, rows_of
from qkv.library.words import pattern
from qkv.regex import regex

_ROWS = r"""
\mu = mean(X)                                           |            | the mean of its numbers
v = var(X)                                              |            | their variance, over n
\sigma = \sqrt{v + \epsilon}                            |            | how far they spread
\sigma = \sqrt{v}                                       |            | how far they spread
Y = (X - \mu) / \sigma                                  |            | normalised
N = hadamard(\gamma_1, Y) + \beta_1                     |            | layer norm
N = hadamard(\gamma_1, Y)                               |            | layer norm
N = (X - \mu) / \sigma                                  |            | layer norm
\rho = \sqrt{mean(hadamard(X, X)) + \epsilon}           |            | the root of the mean square
\rho = \sqrt{mean(hadamard(X, X))}                      |            | the root of the mean square
R = hadamard(\gamma_1, X / \rho)                        |            | RMS norm
R = X / \rho                                            |            | RMS norm
"""
_ENDS = r"""
P = softmax(X / \tau)                                   |            | the shares of a softmax
P = softmax(X)                                          |            | the shares of a softmax
H = -rowsum(hadamard(P, \ln(P)))                        |            | the entropy, in nats
\ell = -rowsum(hadamard(T_y, \ln(P)))                   |            | −ln of the probability of the target
PPL = e^{\ell}                                          |            | perplexity
D = P - T_y                                             |            | the gradient by the logits: P − T_y
"""
# What is said, and the row that is asked for; longer ones first, for each letter of a question belongs to one.
_SAID = (
    (r"gradient|ableitung|dérivée|derivada|градиент|梯度", "D"),
    (r"perplex\w*|перплекс\w*|困惑度", "PPL"),
    (r"(?<!cross.)(?<!cross)entropy|entropie(?! croisée)|\bentropía(?! cruzada)|(?<!交叉)熵", "H"),
    (r"cross.?entropy|\bloss\b|kreuzentropie|\bverlust|entropie croisée|\bperte\b|entropía cruzada|pérdida|交叉熵|损失|потер", "ell"),
    (r"rms.?norm\w*", "R"),
    (r"\brms\b|root mean square", "rho"),
    (rf"layer.?norm\w*|scale and shift|γ and β|gamma and beta|(?:{pattern('norm')})(?!\w)", "N"),
    (r"variance|varianz|varianza|variância|дисперси\w*|方差|分散", "v"),
    (r"standard deviation|standardabweichung|écart.type|desviación|desvio|标准差|\bσ\b|\\sigma", "sigma"),
    (r"\bmeans?\b|mittelwert|moyenne|\bmedia\b|média|средн\w*|均值|平均|\bμ\b|\\mu", "mu"),
    (r"normali[sz]\w*|x.?hat|x̂|\\hat", "Y"),
    (r"logits?\b|логит\w*", "L"),
    (r"probabilit\w*|distribution|softmax|wahrscheinlichkeit\w*|probabilidad\w*|вероятност\w*|概率", "P"),
    (r"feed.?forward|\bffn\b|\bmlp\b", "F"),
    (r"pre.?activation|hidden (?:layer|units?|activations?)", "U"),
    (r"activation|after (?:the )?(?:relu|gelu|silu)", "G"),
)  # fmt: skip
_PATTERN = regex("|".join(f"(?P<{name}>{said})" for said, name in _SAID), re.IGNORECASE)
_OF_ARRAYS = frozenset({"H", "ell", "PPL", "R", "rho", "N", "v", "sigma", "mu", "Y"})  # what is taken of something
_OPERAND = regex(
    rf"(?:[^.;:=?!\n]{{0,40}}?\s)?(?:{pattern('operand')}|every|each|jeder?|chaque|cada|ogni)\s(?P<of>[^.;:=?!\n]{{1,60}})",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    """Every row, in the order in which it can be worked out."""
    logits = block.LOGITS.replace("@", "X")
    return rows_of(_ROWS, block.FEED_FORWARD.replace("@", "X"), logits, _ENDS.replace("X", "L"), _ENDS)


def is_named(name: str, words: str) -> bool:
    """Whether words have a name in them."""
    return re.search(rf"(?<![\w\\]){re.escape(name)}(?![\w'])", words) is not None


def operand_said(question: str) -> str:
    """The words behind what a question asks for that say of what it wants it; none where it only names a quantity.

    >>> operand_said("Apply layer norm to each row of R."), operand_said("Compute R, the layer norm.")
    ('each row of R', '')
    """
    for found in _PATTERN.finditer(question):
        operand = _OPERAND.match(question, found.end()) if found.lastgroup in _OF_ARRAYS else None
        if operand is not None:
            return operand["of"]
    return ""


def asked_for(question: str) -> Iterator[str]:
    """The rows that a question asks for, in its order.

    >>> list(asked_for("Compute the mean and the variance, then apply LayerNorm."))
    ['mu', 'v', 'N']
    """
    yield from dict.fromkeys(found.lastgroup or "" for found in _PATTERN.finditer(question))
