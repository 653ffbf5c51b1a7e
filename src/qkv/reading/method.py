"""What words say about the method of a problem: rows or columns, scaled, masked.

Priors in bits, and what an assignment decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.library.roles import roles_in_words
from qkv.library.said import UNMASKED, UNSCALED
from qkv.library.words import pattern
from qkv.reading.asked import all_asked, questions_of, said_formulas, words_without
from qkv.reading.choices import DOWN_KEYS, DOWN_QUERIES, ROWS
from qkv.reading.equation import Kind
from qkv.reading.page import Page, found_once
from qkv.reading.usage import stated_method
from qkv.regex import regex

_SCALED = regex(r"√|\\sqrt|sqrt|(?<!un)scaled|skaliert|缩放|縮放|échelle|escalad|масштаб|スケール")
_ITSELF = (  # 'each token may look at itself and at the tokens before it'
    r"itself and (?:at |to )?(?:all |any )?(?:the )?"
    r"(?:earlier|previous|preceding|(?:tokens?|words?|positions?|those) before)"
    r"|sich selbst und (?:die|alle) (?:vor|früher)|lui-même et (?:les|aux) [^.;]{0,20}(?:précèd|avant|précédent)"
    r"|sí mism[oa] y (?:a )?(?:las|los) [^.;]{0,20}(?:anterior|antes)"
    r"|si mesm[oa] e (?:as|os|para) [^.;]{0,20}(?:anterior|antes)"
    r"|自己和(?:它)?(?:之前|前面)|себя и (?:предыдущ|на предыдущ)"
)
_CAUSAL = regex(
    rf"{_ITSELF}|"
    r"causal|kausal|autoregress|look.?ahead|future (?:token|position|word)|(?<!un)masked|因果|掩码|máscara|masque"
    r"|маск|マスク|sees only|only sees|up to itself|maskiert"
)
_ORDERED = regex(
    rf"{_ITSELF}|"
    r"causal|kausal|autoregress|look.?ahead|因果"
)  # masks that hide what comes later, where others are said too
_MASK = regex(r"mask|causal|kausal|因果|掩码|маск|マスク|máscara|masque|-∞|-\\infty|−∞|-inf")
_COLUMNS = regex(
    r"columns? (?:is|are|=|of) .{0,12}(?:token|word)|tokens? (?:vectors? )?(?:as|are|be|in|=) (?:the )?columns"
    r"|column vectors?"
    r"|(?:tokens?|words?|encoder states?|one) per column|spaltenvektor|列ベクトル|列向量"
    r"|vectores columna|вектор-столб|vecteurs colonnes"
)
_OTHER_RUN = regex(
    r"\b(?:repeat|recompute|redo|now|instead|what if|suppose|compare|why|explain|with and without)\b"
    r"|erneut|stattdessen|maintenant|pourquoi|ahora|por qué|agora|adesso|теперь|почему|现在|为什么"
)
_BOTH = regex(r"rows? (?:is|are|=|of) .{0,12}(?:token|word|query).{0,40}columns?")  # the two sides of scores
_ELSEWHERE = regex(
    r"\b(?:repeat|recompute|redo|again|now|instead|what if|if|suppose|were|would|compare|comparison|difference"
    r"|why|explain|discuss|bonus|optional)\b"
    r"|erneut|stattdessen|wenn|warum|erkläre|vergleiche|maintenant|pourquoi|expliqu|ahora"
    r"|\bwäre|\bwürde|\bserait|\bseraient|\bsería|\bseria|\bsarebbe|\bбы\b"
    r"|por qué|explica|теперь|почему|объясн|如果|现在|为什么|解释"
)
_WORKED = frozenset({Role.WEIGHTS, Role.HEAD, Role.CONCAT, Role.OUTPUT})  # what a scale and a mask come before
QUERIES_FIRST = regex(r"q[}\s]*\^?[{\s]*(?:\\top|t|⊤|ᵀ|\\intercal)[}\s\\,]*k")


def said_for_all(page: Page, scope: int, method: re.Pattern[str] = _CAUSAL) -> str:
    """The words of a problem that hold for all of it, about the mask or another method.

    Where several questions are asked, each may state its own; what is said before anything was asked for that needs
    it holds for all ('(b) Mask the scores. (c) Find the weights.'); another run ('now without a mask') does not."""
    words = page.words_of(scope)
    asked = page.asked if page.task is not None else tuple(questions_of(page, scope))
    if len(asked) < 2:
        return words
    own, worked = [], False
    for text in (question.text.lower() for question in asked):
        if worked or _ELSEWHERE.search(text):
            own.append(text)
        worked = worked or not _WORKED.isdisjoint(roles_in_words(text))
    return words_without(words, own) if any(map(method.search, own)) else words


_EACH_ROW = (
    r"(?:row[- ]?wise|row by row|(?:each|every|per|along|across|by) (?:the )?rows?\b|zeilenweise|jeder? zeile"
    r"|(?:par|chaque) ligne|(?:por|cada) filas?|(?:por|cada) linhas?|(?:per|ogni) rig[ah]e?"
    r"|по строк|построчн|按行|逐行|每行|行ごと|각 행)"
)
_BY_ROWS = regex(rf"softmax[^.。]{{0,40}}{_EACH_ROW}|{_EACH_ROW}[^.。]{{0,20}}softmax")


def layouts_of(text: str) -> list[frozenset[str]]:
    """How tokens may lie on a page that speaks so, likeliest first.

    A softmax of every row, where nobody speaks of columns and no formula begins with Qᵀ, leaves rows."""
    if QUERIES_FIRST.search(text):
        return [ROWS, DOWN_QUERIES, DOWN_KEYS]
    return [ROWS] if _BY_ROWS.search(text) and not _COLUMNS.search(text) else [ROWS, DOWN_KEYS, DOWN_QUERIES]


def prior_layout(layout: frozenset[str], text: str) -> float:
    columns = bool(_COLUMNS.search(text)) and not _BOTH.search(text)
    return (6.0 if columns else 0.0) if "columns" in layout else (0.0 if columns else 5.0)


class ScaleSaid(NamedTuple):
    """What words say of the scale: whether those of a problem deny it, whether they say it, whether any on the page do,
    and whether the page speaks of dot-product attention."""

    denied: bool
    here: bool
    anywhere: bool
    dotted: bool


def scale_said(words: str, text: str) -> ScaleSaid:
    """What the words of a problem, and the text of its page, say of the scale."""
    denied = any(UNSCALED.search(part) and not _ELSEWHERE.search(part) for part in _SENTENCE.split(words))
    here = _says_scaled(words)
    return ScaleSaid(denied, here, here or _says_scaled(text), bool(re.search(r"dot.product attention", text)))


def _says_scaled(words: str) -> bool:
    return bool(_SCALED.search(UNSCALED.sub("", words)))


def prior_scale(scaled: str, words: ScaleSaid, states: bool) -> float:
    """Scores of states, which no query matrix makes, are scaled where it is said; others are unless it is denied."""
    said = words.here if words.denied or states else words.anywhere
    if words.denied and not said:
        return 20.0 if scaled == "unscaled" else 0.0
    if words.denied:  # for the example at hand, beside words about what is usual
        return 4.0 if scaled == "scaled" else 0.0
    plain = words.dotted or states
    likely = "scaled" if said or not plain else "unscaled"
    return (10.0 if said else 3.0) if scaled == likely else 0.0


def prior_mask(mask: str, words: str, text: str, sighted: bool) -> float:
    words = UNMASKED.sub(" ", words)
    if (_ORDERED if sighted else _CAUSAL).search(words):
        said = 20.0 if _ORDERED.search(words) else 8.0
        return said if mask == "causal" else 0.0
    return (4.0 if _MASK.search(text) else 12.0) if mask == "open" else 0.0


_SUPPOSED = regex(rf"\b(?:{pattern('supposed')})\b")


def is_supposed(page: Page, index: int) -> bool:
    """Whether words set numbers for the sake of argument: 'Suppose we get head_1 = [..] and head_2 = [..]'."""
    equation = page.equations[index]
    before = page.equations[index - 1] if index else None
    said = f"{before.label if before and before.line == equation.line else ''} {equation.label}"
    return bool(_SUPPOSED.search(said.lower()))


def says_causal(words: str) -> bool:
    """Whether words speak of a causal mask.

    >>> says_causal("causal attention, 3 tokens"), says_causal("attention")
    (True, False)
    """
    return bool(_ORDERED.search(words))


def speaks_of_mask(words: str) -> bool:
    """Whether words speak of any mask.

    >>> speaks_of_mask("mit kausaler maske"), speaks_of_mask("softmax")
    (True, False)
    """
    return bool(_CAUSAL.search(words) or _MASK.search(words))


# — what an assignment decides —

_ROWS = regex(
    r"\brows? (?:of|is|are|=|per)\b|(?:tokens?|words?|vectors?) (?:as|are|in|=) (?:the )?rows|one row per"
    r"|row vectors?|each row|zeilenvektor|als zeilen"
    r"|lignes? de|filas? de|linhas? (?:de|da)|строк[аи]|行向量|行ベクトル"
)
_SENTENCE = regex(r"(?<=[.!?;。！？；])\s+|\n\s*\n|\n(?=\s*(?:[-*•]|\(?\w{1,2}[.)])\s)")


EITHER = {
    word: pair
    for pair in (frozenset({"scaled", "unscaled"}), frozenset({"rows", "columns"}), frozenset({"open", "causal"}))
    for word in pair
}


@found_once
def decided(page: Page, scope: int) -> frozenset[str]:
    """The conventions that an assignment leaves no choice about, in words or by the formula that it asks for.

    What is said of another run beside the first ('repeat with a mask', 'why do we scale?') decides nothing. A mask that
    nobody speaks of is not asked for."""
    asked = stated_method(all_asked(page))
    asked |= frozenset(word for word in _stated(page, scope) if not asked & EITHER[word])
    if page.task is None:
        return asked | _announced(page, scope)
    said = frozenset(_decided(page.words_of(scope), page.words))
    return asked | frozenset(word for word in said if not asked & EITHER.get(word, frozenset()))


def _stated(page: Page, scope: int) -> frozenset[str]:
    """Whether scores are scaled by the formula that a problem states for its output, where no words deny it."""
    plain = (e for e in page.equations if e.scope == scope and not e.of(Kind.VALUE, Kind.WORKING))
    own = (e for e in plain if e.names or isinstance(e.items[0].expr, n.Call))  # Z = …, Attention(Q, K, V) = …
    formulas = (item.expr for equation in own for item in equation.of(Kind.FORMULA))
    shown = stated_method(formulas) or stated_method(expr for expr in said_formulas(page) if n.holds(expr, n.Product))
    return shown & {"scaled"} if not UNSCALED.search(page.words_of(scope)) else frozenset()


def _announced(page: Page, scope: int) -> frozenset[str]:
    """The mask that the words above all numbers of a problem announce: 'Q2  causal self-attention, d_k = 2'."""
    first = page.lines_of(scope)[0]
    begins = min((equation.line for equation in page.equations if equation.scope == scope), default=first)
    said = "\n".join(page.sheet.lines[first - 1 : begins]).lower()
    plain = not _OTHER_RUN.search(said) and not UNMASKED.search(page.words_of(scope))
    return frozenset({"causal"}) if plain and _ORDERED.search(said) else frozenset()


def _decided(words: str, text: str) -> Iterator[str]:
    sentences = [sentence for sentence in _SENTENCE.split(words) if not _ELSEWHERE.search(sentence)]
    plain = [UNMASKED.sub(" ", sentence) for sentence in sentences]
    if any(_CAUSAL.search(sentence) for sentence in plain):
        yield from ("causal",) if not UNMASKED.search(words) else ()
    elif not _MASK.search(UNMASKED.sub(" ", text)):
        yield "open"
    denied = any(UNSCALED.search(sentence) for sentence in sentences)
    said = any(_SCALED.search(UNSCALED.sub(" ", sentence)) for sentence in sentences)
    if denied != said:
        yield "scaled" if said else "unscaled"
    if bool(_COLUMNS.search(words)) != bool(_ROWS.search(words)):
        yield "columns" if _COLUMNS.search(words) else "rows"
