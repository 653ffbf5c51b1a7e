"""Text → tokens. The lexer knows signs and commands; which words are names is for the page's own table to say."""

from __future__ import annotations

import re
import unicodedata

from qkv.reader.maths import signs
from qkv.reader.maths.afterwards import laid_bare, with_sums, with_times
from qkv.reader.maths.numerals import Comma, plain_digits
from qkv.reader.maths.plainer import plainer
from qkv.reader.maths.slopes import with_slopes
from qkv.reader.maths.tokens import TOKEN, Token, another_begins
from qkv.reader.maths.units import is_counted, is_magnitude
from qkv.regex import regex


def tokens_of(source: str, *, strict: bool = True, comma: Comma = Comma.UNTOLD) -> list[Token]:
    """The tokens of a stretch. `strict` says that it is mathematics, so that runs of letters are not words of prose.

    >>> [token.text for token in tokens_of("Q K^T")]
    ['Q', 'K', '^', 'T']
    """
    lexer = _Lexer(plainer(source.translate(_ALIKE)), strict, comma)
    for found in TOKEN.finditer(lexer.source):
        lexer.read(found)
    out = laid_bare([_full_stop(token, source) for token in lexer.out])
    return with_slopes(with_sums(with_times(out, strict)))


def _full_stop(token: Token, source: str) -> Token:
    """A full stop of another script is no dot of a product: ε = 0。RMSNorm(x)."""
    full = token.kind == "sep" and token.text == "." and source[token.start : token.start + 1] == "。"
    return token._replace(text="。") if full else token


_ALIKE = {ord(a): b for a, b in signs.SAME.items()} | signs.DIGITS
_ALIKE |= dict.fromkeys(map(ord, signs.LEFT_PIECES), "[") | dict.fromkeys(map(ord, signs.RIGHT_PIECES), "]")


_OPERATION = regex(r"\s*(?:[×*/+÷·^²³]|\\(?:times|cdot|div)\b)")
_WORD = regex(r"[^\W\d_]{2,}")
_TIES = regex(r"[=≈:]|[+×·*/÷]\s+(?=\S)")  # what a wide gap before it does not part: a = [1]   + [2]
_BARE_COMMA = regex(r",(?!\})")
_FAR = 400  # characters of a list that are looked at
_NO_PAIR = regex(r"\[\s*[-−]0,\d+\s*(?:\]|$)|\]\s*;\s*\[")
_CALL = regex(r"(\w+)\s*\(\s*(\w+)\s*\)")


class _Lexer:
    """The state of one pass: the tokens so far, whether a gap comes before the next, and how deep in brackets it is."""

    def __init__(self, source: str, strict: bool, comma: Comma) -> None:
        self.source, self.strict, self.comma = source, strict, comma
        self.out: list[Token] = []
        self.gap = False
        self.depth = 0

    def read(self, found: re.Match[str]) -> None:
        """Take the next match; each kind has its own short method, or is noise."""
        kind = found.lastgroup or ""
        for outer in ("env", "fence", "bb", "accent", "font", "halves"):
            if found[outer] is not None:
                kind = outer
        method = getattr(self, f"_{kind}", None)
        if method is None:
            self.gap = True
        else:
            method(found)

    def add(self, kind: str, text: str, found: re.Match[str], start: int | None = None, end: int | None = None) -> None:
        first = found.start() if start is None else start
        self.out.append(Token(kind, text, first, found.end() if end is None else end, self.gap))
        self.gap = False
        if kind == "open" and text != "{":
            self.depth += 1
        elif kind == "close" and text != "}":
            self.depth = max(0, self.depth - 1)

    # — white space and layout —

    def _space(self, found: re.Match[str]) -> None:
        """A wide gap of a plain line parts statements."""
        wide = not self.strict and not self.depth and (len(found[0]) > 2 or "\t" in found[0] or self._parts(found))
        wide = wide or (not self.depth and another_begins(self.out, found, strict=self.strict))
        tied = bool(_TIES.match(self.source, found.end())) or (self.out and self.out[-1].kind in ("rel", "line", "op"))
        if wide and self.out and not tied:
            self.add("wide", " ", found)
        self.gap = True

    def _parts(self, found: re.Match[str]) -> bool:
        """Whether two blanks part what stands beside them: '0.330  0.670', '85.2%  C = 3', '354,823,168  blocks'."""
        after, last = self.source[found.end() : found.end() + 1], self.out[-1] if self.out else None
        if len(found[0]) != 2 or last is None:
            return False
        word = _WORD.match(self.source, found.end())
        named = word is not None and last.kind == "num" and not is_counted(word[0]) and not is_magnitude(word[0])
        return named or ("." in last.text and after.isdigit()) or (last.kind == "percent" and after.isalpha())

    def _line(self, found: re.Match[str]) -> None:
        self.add("line", "\n", found)
        self.gap = True

    def _row(self, found: re.Match[str]) -> None:
        self.add("row", "\\\\", found)

    def _dots(self, found: re.Match[str]) -> None:
        self.add("dots", "…", found)

    def _blank(self, found: re.Match[str]) -> None:
        self.add("blank", "", found)

    def _colon(self, found: re.Match[str]) -> None:
        self.add("sep", ":", found)

    def _strike(self, found: re.Match[str]) -> None:
        self.add("strike", "~~", found)

    def _comment(self, found: re.Match[str]) -> None:
        self.add("note", found[0].lstrip("#/ "), found)

    # — words —

    def _word(self, found: re.Match[str]) -> None:
        text = found[0]
        if text.lower() in ("inf", "infinity") and (self.depth or (self.out and self.out[-1].text == "-")):
            self.add("inf", "∞", found)
        elif (
            self.out and self.out[-1].kind == "num" and not self.gap and not text.isascii() and signs.SCRIPT.match(text)
        ):
            self.add("prose", text, found)  # the 일 of 64일
        elif text == "nan" or text == "NaN":
            self.add("nan", text, found)
        else:
            self.add("letters" if self.strict else "word", text, found)

    def _abbreviation(self, found: re.Match[str]) -> None:
        self.add("prose", found[0], found)

    def _upright(self, found: re.Match[str]) -> None:
        inside = found[0][found[0].index("{") + 1 : -1]
        words = re.sub(r"\\(?:_)|\\[A-Za-z]+\s*|[{}$]", lambda m: "_" if m[0] == "\\_" else "", inside).strip(" ~")
        unit = bool(self.out) and self.out[-1].kind == "num" and words in tuple("KMBGT")
        if len(words) == 1 and words.isalpha() and not unit:
            self.add("letters", words, found)
        elif called := _CALL.fullmatch(words):  # \text{Softmax(Scores)}
            for kind, text in (("upright", called[1]), ("open", "("), ("upright", called[2]), ("close", ")")):
                self.add(kind, text, found)
        elif words and not words.strip("-—–_ "):
            self.add("op", "-", found)  # a part of a drawn line
        elif words:
            self.add("prose" if words[0] == "(" and words[-1] == ")" and len(words) > 3 else "upright", words, found)

    def _font(self, found: re.Match[str]) -> None:
        letters = found["styled"] or found["one"]
        if letters:
            self.add("letters", _base(letters), found)

    def _accent(self, found: re.Match[str]) -> None:
        under = found["deep"] or found["inner"] or found["next"]
        self.add("letters", _base(under), found)
        self.out.append(Token("accent", found["hat"].removeprefix("wide"), found.end(), found.end()))

    def _hatted(self, found: re.Match[str]) -> None:
        self.add("letters", found[0][0], found)
        self.out.append(Token("accent", signs.HATS[found[0][1]], found.end(), found.end()))

    def _bb(self, found: re.Match[str]) -> None:
        self.add("bb", found["black"], found)

    # — numbers and scripts —

    def _num(self, found: re.Match[str]) -> None:
        text = found[0].replace("{.}", ".").replace("−", "-")
        ends = text[-1] == "." and not self.depth  # the end of a sentence
        text, end = (text[:-1], found.end() - 1) if ends else (text, found.end())
        if "," not in text and "\\" not in text and "~" not in text:
            self.add("num", text, found, end=end)
        elif self._lists(text, found.end()) or self._is_pair(text, found):
            self._apart(text, found)
        else:
            self.add("num", plain_digits(text, decimal_comma=self.comma is not Comma.UNTOLD), found, end=end)
        if ends:
            self.add("sep", ".", found, start=end)

    def _lists(self, text: str, end: int) -> bool:
        """Whether the commas of 100,200,300 part a list: in brackets and scripts they do, unless a group tells."""
        if "{,}" in text or "\\" in text or "~" in text:
            return "{,}" in text and len(_BARE_COMMA.split(text)) > 1  # 0{,}42,0{,}15
        groups = text.split(",")
        if self._is_scripted():
            return True
        if self.comma is Comma.BARE:
            return len(groups) > 2 and not all(len(g) == 3 for g in groups[1:])
        thousands = len(groups[0]) <= 3 and groups[0] != "0" and all(len(g.partition(".")[0]) == 3 for g in groups[1:])
        if self.depth:
            telling = any(g[0] == "0" and g != "000" for g in groups[1:]) or self._is_operand(end)
            return not (thousands and telling)
        return not thousands and not (len(groups) == 2 and groups[0] == "0" and self._after_relation())

    def _is_scripted(self) -> bool:
        """Whether a number begins a script; where commas are decimal marks those of an exponent are, e^0,5."""
        within = self.out[-2:] if self.out and self.out[-1].text == "{" else self.out[-1:]
        raised = self.comma is Comma.BARE and bool(within) and within[0].text == "^"
        return bool(within) and not raised and (within[0].kind == "script" or within[-1].text == "{")

    def _is_pair(self, text: str, found: re.Match[str]) -> bool:
        """Whether [2,0] is a list although 0,5 is a half here: one number alone would need no brackets."""
        before, after = (
            self.source[max(0, found.start() - 8) : found.start()].rstrip(),
            self.source[found.end() : found.end() + 3].lstrip(),
        )
        if self.comma is not Comma.BARE or not re.fullmatch(r"\d{1,2},\d{1,2}", text):
            return False
        if before.endswith("[") and after.startswith("]"):
            return not self._is_beside_decimals(found.start())
        opens = re.search(r"[=≈\d]\s*\($", before) is not None
        return opens and after.startswith(")") and after[1:2] not in tuple("*/·^")

    def _is_beside_decimals(self, at: int) -> bool:
        """Whether a row stands in a list of rows with one such as [-0,2], since nobody lists a zero with a sign; or of
        rows that a semicolon parts: who parts with commas parts rows with them too."""
        start, end = self.source.rfind("[[", max(0, at - _FAR), at), self.source.find("]]", at, at + _FAR)
        return start >= 0 and end >= 0 and _NO_PAIR.search(self.source[start:end]) is not None

    def _is_operand(self, end: int) -> bool:
        """Whether a number that ends here is calculated with in round brackets: 3 × (1,600 × 6,400)."""
        opener = next((t.text for t in reversed(self.out) if t.kind == "open"), "")
        behind = self.out[-1].kind == "op" and self.out[-1].text not in "-±"
        return opener.endswith("(") and (behind or bool(_OPERATION.match(self.source, end)))

    def _after_relation(self) -> bool:
        return bool(self.out) and self.out[-1].kind == "rel"

    def _apart(self, text: str, found: re.Match[str]) -> None:
        offset = found.start()
        for k, part in enumerate(_BARE_COMMA.split(text)):
            if k:
                self.add("sep", ",", found, offset - 1, offset)
            digits = plain_digits(part, decimal_comma=self.comma is not Comma.UNTOLD)
            self.add("num", digits, found, offset, offset + len(part))
            offset += len(part) + 1

    def _vulgar(self, found: re.Match[str]) -> None:
        top, _, bottom = unicodedata.normalize("NFKC", found[0]).partition("⁄")
        self._fraction(found, top, bottom)

    def _halves(self, found: re.Match[str]) -> None:
        self._fraction(found, found["top"], found["bottom"])

    def _fraction(self, found: re.Match[str], top: str, bottom: str) -> None:
        for kind, text in (("cmd", "frac"), ("num", top), ("num", bottom)):
            self.add(kind, text, found)

    def _sub(self, found: re.Match[str]) -> None:
        self.add("sub", "".join(map(signs.SUBSCRIPTS.__getitem__, found[0])), found)

    def _sup(self, found: re.Match[str]) -> None:
        self.add("sup", "".join(signs.SUPERSCRIPTS.get(sign, ".") for sign in found[0]), found)

    def _transpose(self, found: re.Match[str]) -> None:
        self.add("sup", "T", found)

    # — signs and commands —

    def _rel(self, found: re.Match[str]) -> None:
        if found[0] in ("←", "<-"):  # '[1, 0] ← cat' remarks on a row
            end = self.source.find("\n", found.start())
            end = end if end >= 0 else len(self.source)
            self.add("note", self.source[found.end() : end].strip(" \"“”'"), found, end=end)
            self.out.append(Token("mute", "", found.end(), end))
        else:
            self.add("rel", signs.RELATIONS[found[0]], found)

    def _cmp(self, found: re.Match[str]) -> None:
        self.add("cmp", signs.COMPARISONS[found[0]], found)

    def _env(self, found: re.Match[str]) -> None:
        self.add(found["side"], found["name"], found)

    def _fence(self, found: re.Match[str]) -> None:
        mark = found["mark"]
        mark = signs.DELIMITERS.get(mark[1:], ".") if mark[0] == "\\" else mark
        self.add("open" if found["which"] == "left" else "close", f"left{mark}", found)

    def _tag(self, found: re.Match[str]) -> None:
        if found[0].startswith("</"):
            self.add("close", "}", found)
        elif found[0][1:4] in ("sub", "sup"):
            self.add("script", "_" if found[0][1:4] == "sub" else "^", found)
            self.add("open", "{", found)
        else:
            self.gap = True

    def _command(self, found: re.Match[str]) -> None:
        name = found[0][1:].rstrip("*")
        if name in signs.RELATIONS:
            self.add("rel", signs.RELATIONS[name], found)
        elif name in signs.DELIMITERS:
            self._delimiter(signs.DELIMITERS[name], found)
        elif name == "checkmark":
            self.add("note", "✓", found)
        elif name == "prime":
            self.add("prime", "'", found)
        elif known := _COMMANDS.get(name):
            self.add(*known, found)
        elif name in signs.NOISE:
            self.gap |= name not in signs.TIGHT
        else:
            self.add("letters", name, found)

    def _escaped(self, found: re.Match[str]) -> None:
        mark = found[0][1:]
        if mark == "%" and self.out and self.out[-1].kind == "num":
            self.add("percent", "%", found)
        elif mark == "_":
            self.add("script", "_", found)
        elif mark in signs.DELIMITERS:
            self._delimiter(signs.DELIMITERS[mark], found)
        elif mark == "&":
            self.add("wide", " ", found)
        else:
            self.gap |= mark != "!"

    def _delimiter(self, mark: str, found: re.Match[str]) -> None:
        kind = "open" if mark in signs.OPENERS else "close" if mark in signs.OPENERS.values() else "sep"
        self.add(kind, mark, found)

    def _sign(self, found: re.Match[str]) -> None:
        sign = found[0]
        before = self.out[-1] if self.out else None
        if sign in signs.OPERATORS:
            self._operator(sign, found, before)
        elif sign in signs.OPENERS or sign in signs.OPENERS.values() or sign in "|‖":
            self._delimiter(sign, found)
        elif sign in "_^":
            self.add("script", sign, found)
        elif sign in ",;:.&":
            self.add("sep", sign, found)
        elif sign == "'" or sign == "’":
            attached = before is not None and not self.gap and before.end == found.start()
            self.add(
                "prime" if attached and (self.strict or not _apostrophe(self.source, found.end())) else "quote",
                "'",
                found,
            )
        elif sign == "%":
            self._percent(found, before)
        elif sign in signs.GREEK:
            self.add("letters" if self.strict else "word", sign, found)
        elif sign == "√":
            self.add("cmd", "sqrt", found)
        elif sign == "∞":
            self.add("inf", "∞", found)
        elif sign in '"“”„«»`‘':
            self.add("quote", sign, found)
        elif sign in signs.TICKS:
            self.add("note", sign, found)
        elif sign in "?!—–":
            self._dash(sign, found)
        else:
            self.gap = True

    def _operator(self, sign: str, found: re.Match[str], before: Token | None) -> None:
        if sign == "*" and before is not None and before.text == "*" and before.end == found.start():
            self.out[-1] = before._replace(kind="script", text="^", end=found.end())  # x**2
        else:
            self.add("op", signs.OPERATORS[sign], found)

    def _dash(self, sign: str, found: re.Match[str]) -> None:
        """A dash is a minus sign before a number or in mathematics, and a pause between words."""
        following = self.source[found.end() : found.end() + 1]
        minus = sign in "—–" and (self.strict or (self.depth and self.gap) or following.isdigit() or following == "∞")
        self.add("op" if minus else "prose", "-" if minus else sign, found)

    def _percent(self, found: re.Match[str], before: Token | None) -> None:
        if before is not None and before.kind == "num":
            self.add("percent", "%", found)
        elif self.strict:
            end = self.source.find("\n", found.start())
            self.out.append(Token("mute", "", found.start(), end if end >= 0 else len(self.source)))


_COMMANDS: dict[str, tuple[str, str]] = {
    **{name: ("letters", base) for name, base in signs.NAME_COMMANDS.items()},
    **{name: ("op", sign) for name, sign in signs.OPERATORS.items() if name.isalpha()},
    **{name: ("cmp", sign) for name, sign in signs.COMPARISONS.items() if name.isalpha()},
    **{name: ("cmd", action) for name, action in signs.COMMANDS.items()},
    **dict.fromkeys(signs.WIDE, ("wide", " ")),
    **dict.fromkeys(signs.ROW_ENDS, ("row", "\\\\")),
    **dict.fromkeys(signs.DOTS, ("dots", "…")),
    "infty": ("inf", "∞"),
}


def _base(letters: str) -> str:
    """The letters of a name, or the one that a command such as \\alpha spells."""
    return signs.NAME_COMMANDS.get(letters[1:], letters[1:]) if letters[0] == "\\" else letters


def _apostrophe(source: str, end: int) -> bool:
    """Whether a word goes on behind an apostrophe: 'token 2's', 'let's'; the k of y'ₖ is none."""
    return source[end : end + 1].isalpha() and source[end] not in signs.SUBSCRIPTS
