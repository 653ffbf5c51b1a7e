"""Words that say something mathematical: a name at the end of a cue, identity matrices in a sentence, questions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.expr.late import late
from qkv.sheet.phrases import ASK, ASK_CJK, ASK_LATIN_QUESTION, COPULA, IDENTITY, IDENTITY_HINTS, NOUN, OFFER, OPERAND

_ASIDE = late(r"\s*[(（][^()（）]*[)）]\s*$")  # a shape or a remark in parentheses
_TAIL = late(r"[\s:：=\-—–.,*_]+$")
_GREEK = "α-ωΑ-Ω"
_SCRIPT = r"(?:[_^](?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\?\w+|[*'])|[₀-₉ₐ-ₜᵀ⁰-⁹'′]|\[\d+\])"
_LETTER = rf"(?:[A-Za-z{_GREEK}]|\\(?:math\w+|boldsymbol|bm|hat|tilde|bar|vec|text)\s*\{{[^{{}}]*\}}|\\[a-zA-Z]+)"
# A bare name is one letter with scripts, or W with a letter (Wq, WQ1, WO), or words_with_underscores.
_BARE_NAME = late(
    rf"(?:^|(?<=[\s(（,，、:：\u4e00-\u9fff\u3040-\u30ff]))(?P<name>{_LETTER}{_SCRIPT}*|W[qkvoQKVO]\d?|[bd][qkvQKV]|[A-Za-z]+(?:_\w+)+)$"
)
_MARKED_NAME = late(r"(?:\$(?P<dollar>[^$]{1,60})\$|`(?P<tick>[^`]{1,40})`|\\\((?P<paren>[^()]{1,60})\\\))$")


_WORD_ALONE = late(r"\s*(?P<name>[A-Za-z]{2,24})\s*[=≈]\s*$")  # 'weights =' on a line of its own
_WORDS_OF_ONE_LETTER = ("a", "i", "e", "y", "o", "à", "и", "в")


def name_at_end(cue: str) -> str | None:
    """The source of the name that a cue line ends with, if it says that what follows is that quantity.

    >>> name_at_end("Input Matrix X (3 × 4):"), name_at_end("W_Q ="), name_at_end("weights ="), name_at_end("Times V:")
    ('X', 'W_Q', 'weights', None)
    """
    if alone := _WORD_ALONE.match(cue):
        return alone["name"]
    text = _trimmed(cue[-200:])
    if found := _MARKED_NAME.search(text):
        name = found["dollar"] or found["tick"] or found["paren"]
        before = text[: found.start()].rstrip()
        return None if OPERAND.search(before) else name.strip()
    found = _BARE_NAME.search(text)
    if not found or (found["name"] in _WORDS_OF_ONE_LETTER and text != found["name"]):
        return None
    before = text[: found.start()].rstrip()
    if not before or before[-1] in ",，、;；:：." or (NOUN.search(before) and not OPERAND.search(before)):
        return found["name"]
    return None


def _trimmed(cue: str) -> str:
    """A cue without its colon, its remark in parentheses and its 'is given by'."""
    text = cue.strip()
    for _ in range(3):
        text = _TAIL.sub("", text)
        text = _ASIDE.sub("", text)
        text = COPULA.sub("", _TAIL.sub("", text)) if len(text.split()) > 1 else text
    return re.sub(r"\*\*|__(?=\s|$)", "", _TAIL.sub("", text))


_LISTED = late(r"\s*(?:,|，|、|;|\band\b|\bund\b|\bet\b|\by\b|\be\b|\bи\b|和|与|及|と|&)\s*")


def identities(sentence: str) -> list[tuple[str, int]]:
    """Names that a sentence says are identity matrices, each with its offset.

    >>> [name for name, _ in identities("W_Q, W_K and W_V are identity matrices, so")]
    ['W_Q', 'W_K', 'W_V']
    """
    lowered = sentence.lower()
    for hint in IDENTITY_HINTS:
        if hint in lowered:
            return _identities(sentence)
    return []


def _identities(sentence: str) -> list[tuple[str, int]]:
    listed: list[tuple[str, int]] = []
    for found in IDENTITY.finditer(sentence):
        head = re.split(r"[.;:。；：]\s", sentence[max(0, found.start() - 200) : found.start()])[-1]
        offset = found.start() - len(head)
        names = []
        for part in reversed(list(_spans(head))):
            text = sentence[offset + part[0] : offset + part[1]].strip()
            if not (name := _listed_name(text)):
                break
            names.append((name, offset + part[0] + head[part[0] : part[1]].find(name)))
        listed += reversed(names)
    return listed


def _spans(head: str) -> Iterator[tuple[int, int]]:
    at = 0
    for cut in _LISTED.finditer(head):
        if cut.end() > cut.start():
            yield at, cut.start()
            at = cut.end()
    if head[at:].strip():
        yield at, len(head)


def _listed_name(text: str) -> str | None:
    if found := _MARKED_NAME.search(text):
        return found["dollar"] or found["tick"] or found["paren"]
    bare = _BARE_NAME.search(text.split()[-1] if text.split() else "")
    return bare["name"] if bare else None


_BULLET = late(r"^\s*(?:[-*+•]\s+|\\item\s*)?(?=\S)")
_LABEL = late(
    r"^\s*(?:[-*+•]\s+|\\item(?:\[[^\]]*\])?\s*)?(?:\*\*)?(?:[(（]?(?:[a-zA-Zа-я]|[ivx]+|\d{1,2})[.)）]+\s+|第[一二三四五\d]+[问題题小]\S?\s*)?(?:\*\*)?"
)


def _has_eastern(text: str) -> bool:
    """Whether there is a Chinese, Japanese or Korean letter; re takes long to compile a range of so many."""
    return max(text) >= "\u3040" and any("\u3040" <= letter <= "\uffff" for letter in text)


_CLAUSE = late(r"[,;:]\s+")
_QUESTION = 2_000  # characters of a sentence in which it must begin to ask


def questions(text: str) -> list[tuple[str, int]]:
    """The sentences of a paragraph that ask, each with the offset at which it begins.

    >>> [asked for asked, _ in questions("Let $d = 2$. Compute the output. What is its shape?")]
    ['Compute the output.', 'What is its shape?']
    """
    asked: list[tuple[str, int]] = []
    at = 0
    for sentence in _sentences(text):
        label = _LABEL.match(sentence)
        bare = sentence[label.end() if label else 0 :].strip().replace("**", "")
        asks = bare.endswith(("?", "？")) or (
            not bare.isascii() and _has_eastern(bare) and ASK_CJK.search(bare) is not None
        )
        if not asks:  # else a word asks: the first of the sentence or of a clause
            clauses = _CLAUSE.finditer(bare, 0, _QUESTION)
            found = ASK.match(bare, 0, *map(re.Match.end, clauses))
            asks = found is not None and not ASK_LATIN_QUESTION.match(bare, found.start())
        if asks and len(bare) > 3 and not OFFER.match(bare):
            asked.append((" ".join(_BULLET.sub("", sentence).split()), at + len(sentence) - len(sentence.lstrip())))
        at += len(sentence)
    return asked


def is_display(text: str) -> bool:
    """Whether a paragraph is one display and no words."""
    if text.startswith("$$"):
        return text.find("$$", 2) == len(text) - 2
    return text.startswith("\\[") and text.find("\\]") == len(text) - 2


_SENTENCE_ENDS, _DISPLAY_ENDS = r"(?:\*\*|__)?\s+(?=[^\s\d])", r"\s*\n"
_CUT = late(  # each way begins with a character of its own, so that other places are passed over fast
    rf"\.{_SENTENCE_ENDS}|\?{_SENTENCE_ENDS}|!{_SENTENCE_ENDS}|。|？|！"
    rf"|\}}{_DISPLAY_ENDS}|\$\${_DISPLAY_ENDS}|\\\]{_DISPLAY_ENDS}"
    r"|\n(?=\s*(?:[-*+•]|\\item|\(?\w{1,3}[.)])\s)|\((?<=\s\()(?=[a-h]\)\s)"  # the next list item
)


def _sentences(text: str) -> list[str]:
    """Sentences, with the white space after them; a list item begins one."""
    sentences: list[str] = []
    at = 0
    for cut in _CUT.finditer(text):
        end = cut.start() if cut[0] == "(" else cut.end()
        if end > at:
            sentences.append(text[at:end])
            at = end
    if at < len(text):
        sentences.append(text[at:])
    return sentences
