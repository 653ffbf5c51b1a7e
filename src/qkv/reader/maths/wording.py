"""Which words are mathematics: each run of letters becomes a name, several names, a function, or prose.

In mathematics every run is a name unless it is upright text that only speaks. In plain text a word is prose unless
the page defines it, or it stands where only an operand can stand."""

from __future__ import annotations

from collections.abc import Sequence

from qkv.library.words import CONCEPTS
from qkv.reader.maths import signs
from qkv.reader.maths.calls import is_called
from qkv.reader.maths.names import WORDS, Names, is_symbol, is_whole_script
from qkv.reader.maths.slopes import MARK
from qkv.reader.maths.tokens import Token, value_begins
from qkv.reader.maths.units import is_counted, is_magnitude

_GLUE = frozenset(("op", "rel", "script", "sub", "sup", "cmd", "accent"))  # what ties a word to mathematics
_OPEN_END = frozenset(
    ("line", "sep", "edge", "close", "wide", "row", "note", "op", "rel", "sup", "end", "strike", "percent")
)
_BREAKS = frozenset(("line", "sep", "edge", "rel", "wide", "row", "op", "note", "dots", "strike", "open", "begin"))
_FACTOR_ENDS = frozenset(("name", "num", "close", "end", "sub", "sup", "prime"))
_PLAIN_JOINTS = CONCEPTS["connective"]
_JOINTS = CONCEPTS["connective"] | CONCEPTS["copula"]
_ARTICLES = frozenset(word for word in CONCEPTS["article"] | CONCEPTS["connective"] if len(word) == 1)


def resolved(tokens: Sequence[Token], names: Names) -> list[Token]:
    """The tokens with every word settled: kinds letters, word and upright become name, func, sup or prose."""
    out: list[Token] = []
    braces: list[bool] = []  # whether each open brace is that of a script
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.text == "{":
            braces.append(bool(out) and out[-1].kind == "script")
        elif token.text == "}" and braces:
            braces.pop()
        if token.kind in WORDS and braces and braces[-1]:
            token = token._replace(kind="upright" if token.kind == "upright" else "name")
        elif token.kind in WORDS:
            i = _word(tokens, i, out, names)
            continue
        elif _is_said(tokens, i, out, names):
            token = token._replace(kind="prose")
        out.append(token)
        i += 1
    return out


def _word(tokens: Sequence[Token], i: int, out: list[Token], names: Names) -> int:
    """Settle the word at i; the index of what comes after it."""
    token = tokens[i]
    before = out[-1] if out else None
    if before is not None and before.kind == "script":
        return _in_script(tokens, i, out, names)
    following = tokens[i + 1] if i + 1 < len(tokens) else None
    if (is_counted(token.text) and _is_unit(token, before, following)) or _is_seconds(tokens, i, before, names):
        out.append(token._replace(kind="prose"))
        return i + 1
    if is_called(token.text, _behind_scripts(tokens, i + 1), names) and not _is_spoken(tokens, i, before):
        out.append(token._replace(kind="func"))
        return i + 1
    end = _joined(tokens, i, names)
    if end > i + 1:
        text = "_".join(t.text for t in tokens[i:end] if t.kind in WORDS)
        out.append(Token("name", text, token.start, tokens[end - 1].end, token.gap))
        return end
    if token.kind == "upright":
        factor = before is not None and before.kind in _FACTOR_ENDS
        alone = before is not None and before.kind == "edge" and following is not None and following.kind == "edge"
        unit = before is not None and before.kind == "num" and following is not None and not _opens(following)
        listed = before is not None and before.kind in ("open", "sep")
        listed = listed and following is not None and following.kind in ("close", "sep")  # Attention(Q, K, river)
        named = token.text in names.words and (factor or alone or listed or _is_multiplied(tokens, i, before))
        named = named or (not unit and _names_quantity(tokens, i, before, following))
        out.append(token._replace(kind="name" if named else "prose"))
    elif token.kind == "letters" and not _is_plain_word(token.text):
        _add_names(token, out, names, called=following is not None and _opens(following) and following.text == "(")
    elif token.kind == "letters":
        glued = following is not None and following.kind in _GLUE | {"prime"}
        operand = before is not None and before.kind in ("op", "rel", "cmd", "open")
        out.append(token._replace(kind="name" if glued or operand or token.text in names.words else "prose"))
    elif _is_unit(token, before, following):
        out.append(token._replace(kind="prose"))
    elif _is_mathematical(tokens, i, out, names):
        _add_names(token, out, names, called=following is not None and _opens(following) and following.text == "(")
    else:
        out.append(token._replace(kind="prose"))
    return i + 1


def _is_unit(token: Token, before: Token | None, following: Token | None) -> bool:
    """Whether letters right behind a number are its unit: 80.4M, 1.6GiB."""
    tied = before is not None and before.kind == "num"
    tied = tied and (len(token.text) > 1 or not token.gap or not token.text.isascii())
    scripted = following is not None and following.kind in ("script", "sub", "sup", "prime") and not following.gap
    return tied and not scripted and is_magnitude(token.text)


def _is_seconds(tokens: Sequence[Token], i: int, before: Token | None, names: Names) -> bool:
    """Whether an s ends a number of seconds, 1.8e9 s ≈ …, where the page has no s of its own."""
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    ends = after is None or after.kind in ("rel", "line", "wide", "edge") or after.text in (",", ")")
    digits = before is not None and (before.kind == "sup" or (before.kind == "num" and len(before.text) > 1))
    behind = digits and tokens[i].gap
    return tokens[i].text == "s" and behind and ends and "s" not in names.letters | names.words


def _is_spoken(tokens: Sequence[Token], i: int, before: Token | None) -> bool:
    """Whether words name a function whose value follows, 'after softmax [[0.7, 0.3], [0.2, 0.8]].', or which a formula
    behind a name takes: 'after softmax A = softmax(S)'."""
    after = tokens[i + 1]
    if tokens[i].kind != "word" or before is None or before.kind != "prose":
        return False
    if after.kind != "open":
        k = next((k for k in range(i + 2, len(tokens)) if tokens[k].kind in ("rel", "line")), len(tokens))
        return k + 1 < len(tokens) and tokens[k + 1].text.lower() == tokens[i].text.lower()
    if after.text != "[" or not after.gap:
        return False
    depth = 0
    for k in range(i + 1, len(tokens)):
        depth += {"open": 1, "close": -1}.get(tokens[k].kind, 0)
        if depth == 0:
            return k + 1 == len(tokens) or tokens[k + 1].kind in ("sep", "line", "prose", "word")
    return False


def _behind_scripts(tokens: Sequence[Token], k: int) -> Token | None:
    """The first token from k on that is no script: the bracket of softmax_{row}(…)."""
    while k + 1 < len(tokens) and tokens[k].kind == "script":
        end = k + 1
        while tokens[k + 1].text == "{" and end + 1 < len(tokens) and tokens[end].text != "}" and end < k + 12:
            end += 1
        k = end + 1
    return tokens[k] if k < len(tokens) else None


def _is_plain_word(text: str) -> bool:
    """Whether letters in a formula are a word of another script: 给定, решение."""
    return len(text) > 1 and not text.isascii() and text[0] not in signs.GREEK


def _add_names(token: Token, out: list[Token], names: Names, *, called: bool = False) -> None:
    at, gap = token.start, token.gap
    parts = names.split(token.text, strict=token.kind == "letters")
    if called and not all(part in names.letters for part in parts):
        parts = [token.text]
    whole = token.end - token.start == len(token.text)
    for k, part in enumerate(parts):
        last = k + 1 == len(parts)
        turned = last and k and part == "T" and part not in names.letters
        end = at + len(part) if whole and not last else token.end
        out.append(Token("sup" if turned else "name", part, at if whole else token.start, end, gap))
        at, gap = at + len(part), False


def _in_script(tokens: Sequence[Token], i: int, out: list[Token], names: Names) -> int:
    """A run behind _ or ^: in LaTeX only its first letter is the script, unless it is plainly a word."""
    token = tokens[i]
    if is_whole_script(token) or token.text in names.tokens:
        out.append(token._replace(kind="upright" if token.kind == "upright" else "name"))
        return i + 1
    start = token.start
    out.append(Token("name", token.text[0], start, start + 1, token.gap))
    rest = Token("letters", token.text[1:], start + 1, token.end)
    _add_names(rest, out, names)
    return i + 1


def _joined(tokens: Sequence[Token], i: int, names: Names) -> int:
    """Where a name such as attention_weights ends: underscores join words, unless the last is a label of the page."""
    end = i + 1
    while (
        end + 1 < len(tokens)
        and len(tokens[end - 1].text) > 1
        and tokens[end - 1].text[0] != MARK
        and tokens[end].text == "_"
        and not tokens[end].gap
        and tokens[end + 1].kind in ("word", "letters")
        and not tokens[end + 1].gap
        and len(tokens[end + 1].text) > 1
        and tokens[end + 1].text not in names.tokens
    ):
        end += 2
    return end


def _names_quantity(tokens: Sequence[Token], i: int, before: Token | None, following: Token | None) -> bool:
    """Whether upright words in a formula are a quantity: scripted, related, called, or beside an operator."""
    words = tokens[i].text.split()
    if not words or len(words) > 4 or not tokens[i].text.replace("_", "").replace(" ", "").replace("-", "").isalnum():
        return False
    if all(word.lower() in _PLAIN_JOINTS or word.lower() in CONCEPTS["answer"] for word in words):
        return False
    k = i + 1
    while k < len(tokens) and (tokens[k].kind == "wide" or tokens[k].text == "&"):
        k += 1
    if following is not None and (following.kind in _GLUE or following.kind == "prime" or _opens(following)):
        return True
    if k < len(tokens) and tokens[k].kind == "rel":
        return True
    return before is not None and before.kind in ("op", "rel", "cmd", "open") and before.text != "→"


def _is_multiplied(tokens: Sequence[Token], i: int, before: Token | None) -> bool:
    """Whether a word begins a product: that of amber Bᵀ = …, not the label of scores S_1 = …"""
    begins = before is None or before.kind in ("edge", "line", "sep", "rel", "row")
    if not begins or i + 2 >= len(tokens) or tokens[i + 1].kind not in ("letters", "upright"):
        return False
    numbered = tokens[i + 2].text == "_" or tokens[i + 2].kind == "sub"
    behind = _behind_scripts(tokens, i + 2) if numbered else tokens[i + 2]
    return behind is not None and behind.kind in ("letters", "upright", "script", "sup", "prime", "op")


def _opens(token: Token) -> bool:
    return token.kind == "open" and token.text.removeprefix("left") in ("(", "[") and not token.gap


# — plain text —


def _is_said(tokens: Sequence[Token], i: int, out: list[Token], names: Names) -> bool:
    """The hyphen of 'dot-product', the stroke of 'key/value', a dash between words, the 1 of 'Residual 1 (X + A)'."""
    if not out or i + 1 >= len(tokens):
        return False
    before, after = out[-1], tokens[i + 1]
    if tokens[i].kind == "num":
        return before.kind == "prose" and before.text[-1:].isalpha() and after.text == "(" and after.gap
    if tokens[i].text not in ("-", "/"):
        return False
    if before.kind == "prose" and before.text.isalpha():
        if len(out) > 1 and out[-2].kind == "num" and after.kind in ("num", "open"):
            return False  # 4 bytes / 2
        if tokens[i].gap and not after.gap and i + 2 < len(tokens) and _opens(tokens[i + 2]):
            return False  # the loss is -log(0.5)
        if tokens[i].gap and not after.gap and is_called(after.text, next(iter(tokens[i + 2 : i + 3]), None), names):
            return False  # the loss is -ln 0.5
        return after.kind == "word" or tokens[i].gap == after.gap
    return False


def _is_mathematical(tokens: Sequence[Token], i: int, out: list[Token], names: Names) -> bool:
    """Whether a word of plain text stands for a quantity."""
    token = tokens[i]
    before = out[-1] if out else None
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    if after is not None and (_ties(tokens, i + 1, token) or (token.text in names.functions and _opens(after))):
        return True
    if after is not None and after.kind == "rel" and after.text not in ("→", "⇒"):
        return _may_be_defined(token, before, names)
    if after is not None and after.text == ":" and is_symbol(token.text) and value_begins(tokens, i + 2):
        return before is None or before.kind in _BREAKS or (_is_letter(token) and _is_factor(out))
    tied = before is not None and _tied_before(before, out, token)
    ends = after is None or after.kind in _OPEN_END or _opens(after)
    if ends and before is not None and before.kind in ("open", "sep") and _in_call(out):
        return True
    if len(token.text) == 1 or len(names.split(token.text, strict=False)) > 1:
        return _letter(tokens, i, out, names, tied, ends)
    small = token.text[:1].lower() + token.text[1:]
    if small in names.words and small != token.text and i + 2 < len(tokens) and tokens[i + 2].kind in ("sup", "script"):
        return after is not None and after.kind == "word" and not tokens[i + 2].gap  # Willow gold^T, all of willow_1, …
    if token.text in names.words:
        factor = after is not None and after.kind == "word" and (after.text in names.words or len(after.text) == 1)
        if factor and after is not None and i + 2 < len(tokens):  # lantern moss, lantern F^T
            said = after.text == token.text  # the first of 'Attention weights weights = …'
            return tied or (tokens[i + 2].kind in _GLUE and not said) or _in_call(out)
        return tied or (after is not None and (after.kind in _GLUE or (_opens(after) and token.text in names.words)))
    if before is None or not (ends or _factor_follows(tokens, i + 1, names)):
        return False
    return tied and before.kind in ("op", "rel", "cmd")


def _is_letter(token: Token) -> bool:
    return len(token.text) == 1 and token.text.isupper()


def _is_factor(out: list[Token]) -> bool:
    """Whether what stands before is a letter right of '=': the A of 'O = A V: [..]'."""
    return len(out) > 1 and out[-1].kind == "name" and len(out[-1].text) == 1 and out[-2].kind in ("rel", "op")


def _factor_follows(tokens: Sequence[Token], k: int, names: Names) -> bool:
    """Whether a name follows that ends a formula or is tied to it: the V of 'output = weights V = …'."""
    if k + 1 >= len(tokens) or tokens[k].kind != "word":
        return False
    if len(tokens[k].text) > 1:
        turned = tokens[k + 1].kind in ("sup", "sub") or (tokens[k + 1].kind == "script" and not tokens[k + 1].gap)
        return turned or (tokens[k].text in names.words and tokens[k + 1].kind in _GLUE | _OPEN_END)
    return tokens[k + 1].kind in _GLUE or (tokens[k + 1].kind == "num" and not tokens[k + 1].gap)


def _in_call(out: list[Token]) -> bool:
    """Whether an open bracket belongs to a function or a name, or a list in it is open: sin(pos), tanh(W [c; s])."""
    depth = 0
    for k in range(len(out) - 1, max(0, len(out) - 40), -1):
        depth += {"close": 1, "open": -1}.get(out[k].kind, 0)
        if depth < 0 and out[k].text == "(":
            return not out[k].gap and out[k - 1].kind in ("func", "name")
        depth = max(depth, 0)
    return False


def _ties(tokens: Sequence[Token], k: int, token: Token) -> bool:
    """Whether what follows makes a name of any word: x_love, h1, Σκορ², FFN(x) = …"""
    after = tokens[k]
    if after.kind in ("sub", "sup", "accent", "prime") or (after.kind == "script" and not after.gap):
        return True
    if after.kind == "num" and not after.gap:
        return True
    if after.text == "[" and not after.gap and k + 1 < len(tokens):
        return tokens[k + 1].kind == "num" or tokens[k + 1].text == ":"
    if not _opens(after) or after.text != "(":
        return False
    depth = 0
    for j in range(k, min(len(tokens), k + 60)):
        depth += {"open": 1, "close": -1}.get(tokens[j].kind, 0)
        if depth == 0:
            return j + 1 < len(tokens) and tokens[j + 1].kind in ("rel", "op")
    return False


def _may_be_defined(token: Token, before: Token | None, names: Names) -> bool:
    """Whether the word right before '=' is a name: it stands alone, is a Greek letter, or the page has it as a name."""
    if len(token.text) == 1 or token.text in names.words or len(names.split(token.text, strict=False)) > 1:
        return True
    if token.text in signs.GREEK.values():
        return True
    if before is None or before.kind in _BREAKS or before.kind == "quote":
        return True
    return before.kind == "prose" and before.text.lower() in _PLAIN_JOINTS


def _tied_before(before: Token, out: list[Token], token: Token) -> bool:
    """Whether an operator, a relation or a factor stands right before a word."""
    if before.kind in ("op", "cmd", "name", "sup", "func"):
        return True
    if before.kind == "rel":
        return before.text not in ("→", "⇒") or len(token.text) == 1
    if before.kind == "num":
        return not token.gap or (len(out) > 1 and out[-2].kind in ("op", "rel", "open", "script", "sep", "name"))
    return before.kind in ("open", "close", "sub", "prime") and not (
        before.kind == "close" and token.gap and len(token.text) > 1
    )


def _joins(tokens: Sequence[Token], i: int, out: list[Token], names: Names) -> bool:
    """Whether a letter is the 'and' or the 'is' of another language: 'W_K = [..] y W_V = [..]', 'calcula QK^T y
    divídela por 2', 'lo stato è s = [..]'."""
    if tokens[i].text not in _JOINTS or not out or out[-1].kind in _BREAKS:
        return False
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    if after is None or not (tokens[i].gap and after.gap):
        return False
    numbered = i + 2 < len(tokens) and tokens[i + 2].kind == "num" and not tokens[i + 2].gap  # k2
    ended = out[-1].kind in ("close", "end", "num") or tokens[i].text not in names.letters
    behind = _behind_scripts(tokens, i + 2 + numbered) if ended else None
    said = after.kind == "word" and len(after.text) > 1 and after.text not in names.words
    return said or (behind is not None and behind.kind == "rel")


def _letter(tokens: Sequence[Token], i: int, out: list[Token], names: Names, tied: bool, ends: bool) -> bool:
    """Whether a single letter, or a run of letters that the page defines, is a factor and not an article."""
    token = tokens[i]
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    if after is not None and after.kind in _GLUE:
        hyphen = (
            after.text == "-"
            and not after.gap
            and i + 2 < len(tokens)
            and tokens[i + 2].kind == "word"
            and not tokens[i + 2].gap
        )
        return not (hyphen and not tied and len(tokens[i + 2].text) > 1)
    counted = bool(out) and out[-1].kind == "num" and (len(out) < 2 or out[-2].kind != "script")  # by no index
    particle = counted and signs.SCRIPT.match(token.text) and token.text not in names.letters
    if _joins(tokens, i, out, names) or particle:
        return False  # the 로 of '0.090, 0.245 로'
    opened = bool(out) and out[-1].kind == "open" and after is not None and after.gap and after.kind in ("num", "word")
    if opened and token.text in _ARTICLES - names.letters:
        return False  # (a 3x3 matrix)
    if tied:
        return ends or (after is not None and after.kind in ("word", "num", "open", "letters"))
    if after is None or after.kind not in ("word", "letters", "func") or i + 2 >= len(tokens):
        return False
    if signs.SCRIPT.match(token.text) and token.text not in names.letters | names.scripted:
        return False  # the word 键 of '键 Э = Г Л'
    begins = not out or out[-1].kind in _BREAKS
    article = token.text.lower() in _ARTICLES and (token.text not in names.letters if begins else token.text.islower())
    behind = i + 2
    while behind + 1 < len(tokens) and {tokens[behind - 1].text, tokens[behind].text} <= names.letters:
        behind += 1  # A L P^T
    second = tokens[behind]
    tied_next = second.kind in _GLUE or (second.kind == "num" and not second.gap)
    return not article and tied_next and (len(after.text) <= 2 or after.text in names.words)
