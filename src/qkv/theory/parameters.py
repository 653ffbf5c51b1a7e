"""How many parameters a block has, in symbols: what a sentence counts, and all that is right to say of it.

Courses differ in whether biases and norms count, in gates, and in d_ff = 4 d. What is right in one reading is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from qkv.interpret.counts import Size
from qkv.regex import regex
from qkv.theory.cost import cost
from qkv.theory.polynomial import SYMBOL, ZERO, substitute

# Parts of a block by the words for them; 'block' is all of them.
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (part, regex(words, re.IGNORECASE))
    for part, words in (
        ("feed-forward", r"feed-?\s?forward|\bFFN\b|\bMLP\b"),
        ("attention", r"attention|\bMHA\b"),
        ("norm", r"layer\s?-?norm|normali[sz]ation"),
        ("block", r"\bblocks?\b|\b(?:encoder|decoder|transformer) layers?\b|\bper layer\b|\beach layer\b"),
    )
)
# Words for parts and models with other matrices than a usual block: claims about them are not judged here.
_OTHER = regex(
    r"cross|encoder-decoder|embedding|vocab|LoRA|adapter|expert|\bMoE\b|group|multi-?query|\bGQA\b|\bMQA\b|shared|tied|convolut"
    r"|matri|W_|W\^|weights?\b|projection|first|second|each|(?:per|a|one|of) head|bias|quer|\bkeys?\b|values?\b|linear"
    r"|\b[QKV]\b|whole model"
    r"|recurren|LSTM|position|memory|bytes|cache|only|without|ignoring|approx|roughly|about|output head|model has",
    re.IGNORECASE,
)


def parts_said(sentence: str) -> tuple[str, ...]:
    """The parts of a block that a sentence counts parameters of; none where it speaks of anything else too.

    >>> parts_said("The feed-forward layer has"), parts_said("With cross-attention a block has")
    (('feed-forward',), ())
    """
    found = tuple(part for part, words in _WORDS if words.search(sentence))
    if _OTHER.search(sentence):
        return ()
    return ("block",) if "block" in found and len(found) != 2 else tuple(part for part in found if part != "block")


def right_parameters(parts: tuple[str, ...]) -> Iterator[Size]:
    """Every number of parameters that some parts together may be said to have, the plainest first."""
    table = _table()
    every = ("attention", "feed-forward", "norm") if parts == ("block",) else parts
    choices = [(*table[part], ZERO) if part == "norm" and parts == ("block",) else table[part] for part in every]
    if parts == ("block",):
        choices[-1] = choices[-1][::-1]
    for chosen in product(*choices):
        total = sum(chosen, ZERO)
        yield total
        yield substitute(total, {"d_ff": 4 * SYMBOL["d"]})


@cache
def _table() -> dict[str, tuple[Size, ...]]:
    """The parameters of each part: plain, with biases, with a gate; norms with a shift or without, one or two."""
    d, d_ff = SYMBOL["d"], SYMBOL["d_ff"]
    attention = [cost("multi-head", shared_width=shared).parameters for shared in (True, False)]
    fed = cost("block").parameters - attention[0]
    return {
        "attention": (*attention, *(size + 4 * d for size in attention)),
        "feed-forward": (fed, fed + d_ff + d, fed + d * d_ff),
        "norm": (d, 2 * d, 4 * d),
    }
