"""What a sentence about costs speaks of: which steps of attention, and which sort of operation."""

from __future__ import annotations

import re
from typing import NamedTuple

from qkv.regex import regex
from qkv.theory.parameters import parts_said

# Sorts of operations by the words for them; the word comes right after the formula, or before it.
SORTS: tuple[tuple[str, str], ...] = (
    ("multiplications", r"mult\w*iplica\w*|multiplikation\w*|moltiplicazion\w*|умножен\w*|乘法|掛け算|곱셈|\bmults?\b"),
    ("additions", r"addition\w*|additionen|adici\w+|adiç\w+|addizion\w*|sumas|somas|сложен\w*|加法|足し算|덧셈"),
    ("divisions", r"division\w*|divisões|divisiones|divisioni|делен\w*|除法|割り算|나눗셈"),
    ("exponentials", r"exponential\w*|exponentiation\w*|экспонент\w*|指数"),
    ("operations", r"operation\w*|complexit\w*|flops?|komplexität|complejidad|complexidade|сложност\w*|复杂度|計算量"),
    (
        "parameters",
        r"parameters?\b|params\b|parameter\b|paramètres|parámetros|parâmetros|parametri|параметр\w*|参数|パラメータ|파라미터",
    ),
    ("times", r"times\b|mal\b|fois|veces|vezes|раз\b|次"),
)
_AFTER = (
    r"\s*(?:scalar|floating[- ]point|total|more|further)?\s*(?:"
    + "|".join(f"(?P<{sort}>{words})" for sort, words in SORTS)
    + ")"
)
SORT_AFTER = regex(_AFTER, re.IGNORECASE)
COUNTED = regex(r"(?:\$|\\\))\s*+(?=[^\W\d_])" + _AFTER, re.IGNORECASE)  # a formula with such a word right after it
SORT_BEFORE = [(sort, regex(words, re.IGNORECASE)) for sort, words in SORTS if sort != "times"]

# Steps of attention by the words and the mathematics for them, W_O before the rest of the products. Alternatives begin
# with a letter or a sign, so that text is searched fast.
STEPS: tuple[tuple[str, str], ...] = (
    (
        "total",
        r"total(?<=\btotal)\b|overall|altogether|in all\b|insgesamt|gesamt|au total|en total|MSA(?<=\bMSA)\b|entire"
        r"|whole layer",
    ),
    ("output", r"W\s*[\^_]\s*\{?\\?[a-z]*\{?O|output projection|W<sub>[oO]"),
    ("projections", r"linear (transformation|projection|map)|Q\s*,\s*K\s*,?\s*(and|&)?\s*V\b|projection|W[\^_]\{?Q"),
    ("softmax", r"soft-?max"),
    ("scale", r"divid\w+ by|dividing|\\sqrt|√|scal(e|ing)"),
    ("scores", r"Q\}?\s*(\\times|\\cdot|·|\*)?\s*(\\mathbf\{)?K\}?\s*\^|QK|scores?\b|dot products?"),
    ("values", r"A(?<=\bA)\s*V\b|\)\s*(\\times|\\cdot|·)?\s*V\b|weighted sum|times V|by V\b|final matrix"),
)
STEP_WORDS = [(step, regex(words, re.IGNORECASE)) for step, words in STEPS]
# Words for other layers, other kinds of attention and parts of a matrix: claims about them are not judged here.
ELSEWHERE = regex(
    r"feed-?\s?forward|FFN(?<=\bFFN)\b|MLP(?<=\bMLP)\b|convolut|recurren|RNN(?<=\bRNN)|LSTM(?<=\bLSTM)|layer ?norm"
    r"|embedding (layer|table)|sparse"
    r"|local|window|restricted|linear attention|linformer|performer|flash|back-?ward|gradient|training|causal|masked"
    r"|triang|half",
    re.IGNORECASE,
)
MANY_HEADS = regex(r"MSA(?<=\bMSA)\b|MHA(?<=\bMHA)\b|multi-?\s?head", re.IGNORECASE)

SAID = {
    "total": "in total",
    "output": "for the output projection",
    "projections": "for Q, K and V",
    "softmax": "for the softmax",
    "scale": "for the scale",
    "scores": "for Q Kᵀ",
    "values": "for the weighted sums of V",
    "attention": "of attention",
    "feed-forward": "of the feed-forward layer",
    "norm": "of the norms",
    "block": "of a block",
}


class Speaks(NamedTuple):
    """Steps and sort of operation that a sentence speaks of."""

    steps: tuple[str, ...]
    sort: str
    many_heads: bool

    def __str__(self) -> str:
        return f"{self.sort} {' and '.join(SAID[step] for step in self.steps)}"


LONGEST = (
    1_000  # characters that a sentence reaches back: without a full stop anywhere, time would grow as their square
)


def steps_said(sentence: str) -> tuple[str, ...]:
    """The steps that a sentence mentions."""
    found = [step for step, words in STEP_WORDS if words.search(sentence)]
    if "output" in found:
        found = [step for step in found if step not in ("values", "projections")]
    if "softmax" in found and "scale" in found:
        found.remove("scale")
    return tuple(found)


def sort_said(after: str, before: str) -> str | None:
    """The sort of operation: the word right after the formula, otherwise the last one before it."""
    if found := SORT_AFTER.match(after):
        return found.lastgroup
    places = [(found.end(), sort) for sort, words in SORT_BEFORE for found in words.finditer(before)] if before else []
    return max(places)[1] if places else None


def spoken_of(sentence: str, after: str, before: str, surrounding: str = "") -> Speaks | None:
    """What is claimed to be counted; None where the sentence does not say."""
    sort = sort_said(after, before)
    if sort is None:
        return None
    sentence = sentence[-LONGEST:]
    if sort == "parameters":
        parts = parts_said(sentence)
        return Speaks(parts, sort, many_heads=False) if parts else None
    steps = steps_said(sentence)
    if not steps or ELSEWHERE.search(sentence):
        return None
    if sort == "times":
        sort = "divisions" if steps == ("scale",) else "operations"
    return Speaks(steps, sort, bool(MANY_HEADS.search(sentence + surrounding)))
