"""Words for what comes after the last hidden state: logits, probabilities, losses, gradients, as data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qkv.library import around_said
from qkv.library.said import places_said
from qkv.regex import regex

_I = re.IGNORECASE
LOGIT = regex(r"logit|логит|ロジット|로짓|对数几率", _I)
PROBABLE = regex(r"probabilit|wahrscheinlichkeit|probabilidad|probabilidade|вероятност|概率|機率|確率|확률|softmax", _I)
LOSS = regex(
    r"cross.?entrop|kreuzentrop|entropie croisée|entrop[íi]a cruzada|entropia (?:cruzada|incrociata)|кросс.?энтроп|交叉熵|交差エントロピー"
    r"|교차 ?엔트로피|\bloss(?:es)?\b|verlust|\bpertes?\b|pérdida|\bperdas?\b|perdit[ae]|потер|损失|損失|손실|log.?likelihood",
    _I,
)
PERPLEXITY = regex(r"perple|перплекс|困惑度|パープレキシティ|퍼플렉", _I)
ENTROPY = regex(r"(?<!cross.)(?<!cross)entropy|(?<!kreuz)entropie(?! crois)|\bentrop[íi]a(?! (?:cruz|incr))|(?<!кросс.)энтропи|(?<!交叉)熵|(?<!交差)エントロピー", _I)  # fmt: skip
GRADIENT = regex(r"gradient|ableitung|dérivée|derivad|derivative|градиент|производн|梯度|勾配|기울기|∂", _I)
TOP = regex(r"top.?k\b|top.?(?P<count>\d+)\b", _I)
KEPT = regex(r"\bk\s*=\s*\$?(?P<count>\d+)", _I)
ALL_WORDS = regex(
    r"\b(?:all|every) (?:\w+ )?(?:words?|tokens?|entries|classes)|alle \w+ wörter|tous les|todas las|所有|全て", _I
)
HIDDEN = regex(
    r"hidden|(?:final|last) state|verborgen|versteckt|zustand|caché|ocult|nascost|скрыт|隐藏|隠れ|은닉|контекст|kontext|context",
    _I,
)
WORD_ROWS = regex(r"(?:one )?row (?:a|per|for each|=) (?:word|token)|rows? (?:are|=) words|zeile (?:pro|je) wort|ligne par mot|fila por palabra|linha por palavra|riga per parola", _I)  # fmt: skip
BITS = regex(r"\bbits?\b|log_?\{?2\b|log₂|бит|比特|ビット|비트", _I)
MEAN = regex(
    r"\bmean\b|average|mittler|durchschnitt|mittelwert|moyenne|medi[ao]|médi[ao]|средн|平均|per (?:word|token)|pro (?:wort|token)|평균",
    _I,
)
EACH = regex(r"each|every|jede[rsnm]?\b|chaque|cada\b|ogni|каждо|每个|各|각", _I)
RIGHT = regex(
    r"\b(?:correct\w*|true|target|right|gold|actual|richtig\w*|korrekt\w*|bon(?:ne|s|nes)?|vraie?s?|just[eao]|verdader[ao]s?|corrett[aoie]|giust[aoie]|cert[ao])\b"
    r"|правильн\w*|верн\w*|целев\w*|正解|正确|真实|目标|정답|실제",
    _I,
)
REMAINS = regex(
    r"remain|renormal|übrig|verblei|restant|restent|quedan|restam|rimast|restano|осталь|оставш|残る|残った|剩余|剩下|重新归一|正規化し直|남은",
    _I,
)
_BOTH = regex(r"logits?\w* (?:and|und|et|y|e|и) ", _I)
_CONTINUES = regex(r"\W*(?:\(?\w{1,2}[.)]\s*)?(?:…|\.\.\.|and\b|und\b|et\b|y\b|e\b|и\b|same\b|那么|では)", _I)
_ENDS = regex(r"[.;!?。！？\n]")
_FAR = 80  # letters from the word that speaks of a target to its name


def kinds(question: str, before: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What a question asks for; one that goes on with 'and …' asks for the same as the one before it.

    >>> kinds("Give the mean loss and the perplexity."), kinds("... and at T = 2?", ("shares",))
    (('loss', 'perplexity'), ('shares',))
    """
    if GRADIENT.search(question):
        return ("gradient",)
    if TOP.search(question):
        return ("top",)
    named = (("entropy", ENTROPY), ("loss", LOSS), ("perplexity", PERPLEXITY))
    found = tuple(kind for kind, pattern in named if pattern.search(question))
    if found:
        return found
    if PROBABLE.search(question):
        return ("shares", *(["logits"] if _BOTH.search(question) else []))
    if LOGIT.search(question):
        return ("logits",)
    return before if _CONTINUES.match(question) else ()


def target_said(words: str, vocabulary: Sequence[str], count: int) -> int | None:
    """The place, from 0, of the word that is right: a word of the vocabulary, or a number, near words that say so.

    >>> target_said("The true next word was *sugar*.", ["tea", "sugar"], 2), target_said("正解の語が「犬」", ["犬", "猫"], 2)
    (1, 0)
    """
    names = [word.lower() for word in vocabulary]
    for found in RIGHT.finditer(words):
        end = _ENDS.search(words, found.end())
        tail = words[found.end() : min(end.start() if end else len(words), found.end() + _FAR)].lower()
        at = [
            i
            for i, name in enumerate(names)
            if name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)|[「『“\"«'*]{re.escape(name)}", tail)
        ]
        if len(at) == 1:
            return at[0]
        places = [place for place in places_said(tail) if 0 < place <= count]
        if not at and len(places) == 1:
            return places[0] - 1
    return around_said.target_said(words.lower(), count, from_one=bool(around_said.FROM_ONE.search(words)))
