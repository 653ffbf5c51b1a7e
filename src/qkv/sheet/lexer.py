"""Characters → tokens, in one pass and linear time.

One regular expression of our own instead of pylatexenc's walker: that one costs about ten times as much per token and
stops at damaged LaTeX, which is what scanners give us. Noise (spacing, sizes, ticks, labels) ends here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from qkv.expr.late import late
from qkv.sheet import notation as table
from qkv.sheet.alike import normalised
from qkv.sheet.numerals import Comma, plain_digits
from qkv.sheet.signs import COMMANDS, SIGNS
from qkv.sheet.words import pieces_of_word, spelling_key


class Token(NamedTuple):
    """A piece of mathematics. `gap` is what stands before it: 0 nothing, 1 blanks, 2 a line end.

    kind    text
    num     digits, plain                 text   what \\text{…} holds      open, close  the delimiter
    name    base of a symbol              prose  a word of a language      begin, end   the environment
    word    a longer name                 rel    a relation                grid, list   source of plain numbers
    func    a function                    op     + - × / ⊙ ⊗ ⊕             row, wide    between rows, between statements
    bb      blackboard letter             cmp    < > …                     cmd          a command with arguments
    sub, sup  a finished script           script _ or ^                    sep          , ; : . | ¦ ‖ &
    inf     ∞                             prime  '                         strike       ~~
    """

    kind: str
    text: str
    start: int
    end: int
    gap: int


_SUBS, _SUPS, _GREEK = ("".join(t) for t in (table.SUBSCRIPTS, table.SUPERSCRIPTS, table.GREEK))
_LATIN = "A-Za-zÀ-ÖÙ-öù-ɏ"
_NUMBER = r"(?:\d++(?:\.(?!\.)\d*+)?+|\.\d++)(?:[eE][+\-]?\d+)?"
_CELL = rf"\s*+-?\s*+(?:{_NUMBER})\s*+"
_BRACED = r"\{([^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+)\}"
_GRID_NAMES = r"[bpBvV]?(?:small)?matrix|array"
_TEXTS = "text|textbf|textit|textrm|textsf|texttt|textnormal|textup|textsc|mbox|hbox"
_WORD_FONTS = r"mathrm|operatorname\*?|mathsf|mathtt|mathit|mathop"
_ROMANS = "|".join((_WORD_FONTS, *sorted(table.FONTS - {"mathbb"}, key=len, reverse=True)))
_BOLD = r"\\(?:mathbf|boldsymbol|mathrm|bm)"
_SPEC = rf"(?:\s*\[\w*\])?(?:\s*{_BRACED})?"
_SPECCED = "|".join(rf"(?<={name}\}})" for name in ("array", "tabular", "alignat", r"alignat\*", "alignedat"))
_POINT_NUMBERS = rf"\d+\{{\.\}}\d+|\d+(?:(?:\{{,\}}|\\,|\\!,|,)\d{{3}}(?!\d))+(?:\.\d+)?|\d+\{{,\}}\d+|{_NUMBER}"
_COMMA_NUMBERS = rf"\d{{1,3}}(?:\{{,\}}\d{{3}}){{2,}}(?!\d)|\d+(?:,|\{{,\}})\d+|{_NUMBER}"
_ACCENTED = r"\\(?:alpha|beta|omega|sigma|lambda|mu)"  # letters that scores and weights are called by
_Rules = tuple[tuple[str, str], ...]
# A rule begins, where it can, with one character or class: then it is ruled out by that, and not tried. Of those that
# can begin alike the first wins; what comes most often stands first.
_SIGNS: _Rules = (
    ("ws", r"\s\s*"),
    ("sign", r"[{}_^+/|]"),
    ("letter", rf"[A-WYZa-wyz](?![{_LATIN}\d.])"),
    ("bracket", r"[()\]]"),
    ("lone", r"(?:,(?!\d)|=(?![=>:])|&(?![A-Za-z])|-(?!>))"),
)
_GRID: _Rules = (
    (
        "grid",
        rf"begin\{{(?:{_GRID_NAMES})\}}(?:\{{[lcr|\s]*\}})?(?:{_CELL}(?:&|\\\\))*+{_CELL}(?:\\\\\s*)?\\end\{{(?:{_GRID_NAMES})\}}",
    ),
)
_BACKSLASH: _Rules = (  # what follows a backslash
    ("bold", r"(?:mathbf|boldsymbol|mathrm|bm|vec)\{[A-Za-z]\}"),
    ("cmd", r"(?:quad|top|cdot|times|approx|sqrt|alpha|sum)(?![A-Za-z*])"),
    ("escaped_percent", r"(?<=\d\\)(?:[,;: ]\\?)?%"),
    ("text", rf"(?:{_TEXTS})\s*{_BRACED}"),
    (
        "accent",
        rf"(?:wide)?(tilde|hat|bar)(?:\s*\{{\s*(?:{_BOLD}\s*\{{?\s*)?([A-Za-z]|{_ACCENTED})\s*\}}{{1,2}}"
        rf"|\s+([A-Za-z])(?![A-Za-z])|\s*({_ACCENTED})(?![A-Za-z]))",
    ),
    ("roman", rf"(?:{_ROMANS})\s*\{{\s*((?:[{_LATIN}]|[ \-~]|\\[_,; ])++)\}}"),
    ("bb", r"(?:mathbb|mathds|Bbb)\s*(?:\{\s*([A-Za-z])\s*\}|\s([A-Za-z]))"),
    ("begin", rf"begin\s*\{{\s*([A-Za-z]++\*?)\s*\}}(?:(?:{_SPECCED}){_SPEC}|(?:\[[lcr]\])?)"),
    ("end", r"end\s*\{\s*([A-Za-z]++\*?)\s*\}"),
    ("row", r"\\\*?(?:\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in|mu|pc|bp|sp)\s*\])?"),
    ("digits", r"[dt]?frac\s*(\d)\s*(\d)"),
    ("sided", r"(left|right)(?![A-Za-z])\s*(\\[A-Za-z]+|\\.|[^\s\\])"),
    ("drop", rf"(?:{'|'.join(table.NOISE_WITH_ARGUMENT)})\*?\s*{_BRACED}"),
    ("command", r"[A-Za-z][A-Za-z]*\*?"),
    ("escaped", r"[^A-Za-z]"),
)
_LIST: _Rules = (("list", rf"\[{_CELL}(?:,{_CELL})++,?\s*\]"),)
_WORDS: _Rules = (
    ("module", r"(?:(?:np|numpy|torch|jnp|jax|tf|mx|nn|functional|F)\.)+(?=[A-Za-z])"),
    ("word", rf"(?:[{_LATIN}]{{2,}}(?:\\?_[{_LATIN}]{{2,}})+|[{_LATIN}]+)(?:\d{{1,2}}(?![.,]?\d))?"),
)
_PAIR: _Rules = (("pair", r"\d(?<=_\d),\d(?![\d.,])"),)  # s_1,2
_OTHERS: _Rules = (
    ("percent", r"(?<=\d)~?\\?%"),
    ("method", r"\.(?:T|t\(\)|transpose\([^()\n]*\)|float\(\)|double\(\)|half\(\))(?![A-Za-z])"),
    ("markup", f"(?:{'|'.join(table.MARKUP)})"),
    ("rel", r"(?::=|==|=>|=:|~=|->|<-|[=≈≡≜≔⇒→←∈])"),
    ("sub", f"[{_SUBS}][{_SUBS}]*"),
    ("sup", f"[{_SUPS}][{_SUPS}]*"),
    ("greek", f"[{_GREEK}]"),
    ("vulgar", "[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"),
    ("prose", rf"(?:(?:https?://|www\.)[^\s]+|[^\W\d_{_LATIN}{_SUBS}{_SUPS}{_GREEK}ΣØø]+|[\"“”„«»`?])"),
    ("comment", r"[%#][^\n]*"),
    ("strike", "~~"),
    ("other", r"."),
)


def _either(rules: _Rules) -> str:
    """Any of the rules; the empty group behind a rule tells which."""
    return "|".join(f"{rule}(?P<{kind}>)" for kind, rule in rules)


def _compiled(numbers: str, backslash: _Rules, lists: _Rules) -> re.Pattern[str]:
    num = ("num", f"(?:{numbers})")
    rules = rf"{_either(_SIGNS)}|\\(?:{_either(backslash)})|{_either((*_PAIR, num, *lists, *_WORDS, *_OTHERS))}"
    return late(rules, re.DOTALL)


_WITH_POINT = _compiled(_POINT_NUMBERS, (*_GRID, *_BACKSLASH), _LIST)
_WITH_COMMA = _compiled(_COMMA_NUMBERS, _BACKSLASH, ())
_INNER_COMMAND = late(r"\\[A-Za-z]+\s*|\\(.)|[{}$]", re.DOTALL)
_WORDY = late(rf"\\(?:{_WORD_FONTS})")
_CALLED = re.compile(r"\s?(?:\\left|\\big|\\Big)?[([]|\s*\{|\s*\\(?:begin|left)")
_BEFORE_OPERAND = frozenset(("rel", "op", "open"))
_DEFINED = re.compile(r"(?:\\?_[A-Za-z]+\d*)?\s*(?:=|≈|:=|\\approx|\\simeq|\\equiv)")  # 'new =', 'new_w3 ='
_DOTTED = re.compile(r"\s?[·⋅∙]\s?[^\W\d_]")  # 'cat · sat = 3': words that are multiplied are vectors
_TIMES = frozenset("xX")
_MATRIX_NEXT = late(r"\s*(?:\\left\s*[\[(|]\s*)?(?:\\begin\{|\[\s*[-\d])")


def tokens_of(
    source: str, *, strict: bool = True, comma: Comma = Comma.UNTOLD, words: frozenset[str] = frozenset()
) -> list[Token]:
    """The tokens of a stretch of mathematics; `words` are those that the document uses as names.

    >>> [t.text for t in tokens_of("Q K^T")]
    ['Q', 'K', '^', 'T']
    """
    return _Lexer(normalised(source, strict=strict), strict=strict, comma=comma, words=words).run()


def _inner(m: re.Match[str], back: int) -> str:
    """A group inside of the rule that matched, counted from the last one; nothing where it took no part."""
    return m.group((m.lastindex or 0) - back) or ""


class _Lexer:
    """The state of one pass: what was read so far, how deep in brackets, and what gap comes before the next token."""

    __slots__ = ("comma", "depth", "gap", "out", "source", "strict", "words")

    def __init__(self, source: str, *, strict: bool, comma: Comma, words: frozenset[str]) -> None:
        self.source, self.strict, self.comma, self.words = source, strict, comma, words
        self.out: list[Token] = []
        self.depth = self.gap = 0

    def run(self) -> list[Token]:
        append, new = self.out.append, tuple.__new__  # a token is a tuple; its own constructor costs twice as much
        for m in (_WITH_COMMA if self.comma is Comma.BARE else _WITH_POINT).finditer(self.source):
            kind, text = m.lastgroup, m.group()
            if kind == "ws":
                gap = 2 if "\n" in text else 1
                self.gap = gap if gap > self.gap else self.gap
            elif kind == "letter":
                append(new(Token, ("name", text, *m.span(), self.gap)))
                self.gap = 0
            elif kind in _LONE_SIGNS and (sign := _PLAIN_SIGNS.get(text)) is not None:
                append(new(Token, (*sign, *m.span(), self.gap)))
                self.gap = 0
            elif kind in _AS_FOUND:
                append(new(Token, (kind, text, *m.span(), self.gap)))
                self.gap = 0
            else:
                _HANDLERS[kind](self, m)  # type: ignore[index]
        return self.out

    def add(self, kind: str, text: str, m: re.Match[str]) -> None:
        self.out.append(tuple.__new__(Token, (kind, text, *m.span(), self.gap)))
        self.gap = 0

    def blank(self, m: re.Match[str]) -> None:
        self.gap = max(self.gap, 1)

    def num(self, m: re.Match[str]) -> None:
        text = m.group()
        if text.isdigit():
            self.add("num", text, m)
        elif "{.}" in text:
            self.add("num", text.replace("{.}", "."), m)
        elif "," in text and self._separates(text):
            self._apart(m)
        else:
            self.add("num", plain_digits(text, decimal_comma=self.comma is not Comma.UNTOLD), m)

    def _separates(self, text: str) -> bool:
        """Whether the commas of 100,200,300 part a list: inside brackets they do, unless a group such as 048 tells."""
        if "{" in text or "\\" in text or self.comma is Comma.BARE:
            return False
        groups = text.split(",")[1:]
        if self.depth > 0:
            return not any(g[0] == "0" and g != "000" for g in groups)
        return text[0] == "0" and not (self.out and self.out[-1].kind == "rel")

    def _apart(self, m: re.Match[str]) -> None:
        offset = m.start()
        for part in m.group().split(","):
            if offset > m.start():
                self.out.append(Token("sep", ",", offset - 1, offset, 0))
            self.out.append(Token("num", part, offset, offset + len(part), self.gap))
            self.gap = 0
            offset += len(part) + 1

    def pair(self, m: re.Match[str]) -> None:
        """s_1,2 of a plain line is s_{1,2}; between math delimiters only the braces could say so."""
        first, second = m.group().split(",")
        start = m.start()
        tokens = [
            ("num", first, start, start + 1),
            ("sep", ",", start + 1, start + 2),
            ("num", second, start + 2, m.end()),
        ]
        if not self.strict:
            tokens = [("open", "{", start, start), *tokens, ("close", "}", m.end(), m.end())]
        self.out.extend(Token(*token, 0) for token in tokens)
        self.gap = 0

    def word(self, m: re.Match[str]) -> None:
        text, start = m.group(), m.start()
        letters = text.rstrip("0123456789")
        if letters in _TIMES and self._between_numbers(m, len(letters)):
            self.out.append(Token("op", "×", start, start + 1, self.gap))
            if len(text) > 1:
                self.out.append(Token("num", text[1:], start + 1, m.end(), 0))
            self.gap = 0
            return
        if text in _TIMES and self._between_matrices(m):
            self.add("op", "×", m)
            return
        called, defined = _CALLED.match(self.source, m.end()), _DEFINED.match(self.source, m.end())
        beside = start > 0 and self.source[start - 1] == "_"  # q_cat, whatever comes after it
        if len(letters) > 1 and (beside or _DOTTED.match(self.source, m.end())):
            defined = defined or m
        kind = ""
        operand = text in self.words and bool(self.out) and self.out[-1].kind in _BEFORE_OPERAND
        named = bool(defined) or operand or self._labels()
        for kind, piece, first, last in pieces_of_word(letters, self.strict, bool(called), named):
            self.out.append(Token(kind, piece, start + first, start + last, self.gap))
            self.gap = 0
        if kind == "word" and defined:
            self._join_names()
        if len(letters) < len(text):
            digits = "sub" if kind in ("name", "word", "sub") else "num"
            self.out.append(Token(digits, text[len(letters) :], start + len(letters), m.end(), 0))

    def _labels(self) -> bool:
        """Whether a word stands in a script: the cat of q_cat and e_{it,cat} is no prose."""
        tail = [] if self.gap else [token.kind for token in self.out[-4:] if token.text != ","]
        inside = bool(tail) and self.out[-1].text in ("{", ",") and {"script", "open"} <= set(tail)
        return inside or tail[-1:] == ["script"]

    def _join_names(self) -> None:
        """Attention Weights = …: two words that name quantities are one name."""
        if len(self.out) > 1 and self.out[-1].gap == 1 and self.out[-2].kind in ("word", "func"):
            first, second = self.out[-2:]
            if first.text.lower() in table.NAME_WORDS and second.text.lower() in table.NAME_WORDS:
                self.out[-2:] = [first._replace(kind="word", text=f"{first.text}_{second.text}", end=second.end)]

    def _between_matrices(self, m: re.Match[str]) -> bool:
        """Whether a lone x is a times sign: Q x K^T in a plain line, X between two matrices written out."""
        before = self.out[-1] if self.out and self.gap == 1 else None
        if before is not None and before.kind in ("grid", "list", "end") and _MATRIX_NEXT.match(self.source, m.end()):
            return True
        if self.strict or m.group() == "X":
            return False
        after = self.source[m.end() : m.end() + 2]
        left = before is not None and (before.kind in ("sub", "sup", "close", "list", "grid") or before.text.isupper())
        return left and after[:1] == " " and (after[1:].isupper() or after[1:] in ("[", "("))

    def _between_numbers(self, m: re.Match[str], size: int) -> bool:
        if not self.out or self.out[-1].kind != "num":
            return False
        return len(m.group()) > size or self.source[m.end() : m.end() + 3].strip()[:1].isdigit()

    def text(self, m: re.Match[str]) -> None:
        content = _INNER_COMMAND.sub(lambda c: c.group(1) or "", _inner(m, 1))
        words = content.strip(" ~")
        if len(content) == 1 and content.isalpha() and content.isascii():
            self.add("name", content, m)
        elif words and not words.strip("-"):
            self.add("op", "-", m)  # part of a drawn line
        elif spelling_key(words) in table.FUNCTIONS:
            self.add("func", words, m)
        elif words:
            self.add("text", content, m)

    def roman(self, m: re.Match[str]) -> None:
        words = _inner(m, 1).strip(" ~")
        key = spelling_key(words)
        if key in table.FUNCTIONS and len(key) > 1:
            self.add("func", words, m)
        elif words.isalpha():
            offset = m.start((m.lastindex or 0) - 1)
            bold = not _WORDY.match(m.group())
            pieces = pieces_of_word(words, strict=True, called=False, defined=not bold)
            for k, (kind, piece, first, last) in enumerate(pieces):
                start = offset + first if k else m.start()
                end = offset + last if k + 1 < len(pieces) else m.end()
                self.out.append(Token("word" if kind == "prose" else kind, piece, start, end, self.gap))
                self.gap = 0
        else:
            self.add("text", re.sub(r"\\_", "_", words), m)

    def accent(self, m: re.Match[str]) -> None:
        """\\tilde s and \\hat s may be other quantities than s (an arrow is none): a label says so."""
        letter = _inner(m, 3) or _inner(m, 2) or _inner(m, 1)
        self.add("name", letter.removeprefix("\\"), m)
        self.out.append(Token("sub", _inner(m, 4), m.end(), m.end(), 0))

    def bb(self, m: re.Match[str]) -> None:
        self.add("bb", _inner(m, 2) or _inner(m, 1), m)

    def digits(self, m: re.Match[str]) -> None:
        index = m.lastindex or 0
        self.add("cmd", "frac", m)
        for group in (index - 2, index - 1):
            self.out.append(Token("num", m.group(group), m.start(group), m.end(group), 0))

    def vulgar(self, m: re.Match[str]) -> None:
        self.add("cmd", "frac", m)
        for digits in unicodedata.normalize("NFKC", m.group()).split("⁄"):
            self.out.append(Token("num", digits, m.start(), m.end(), 0))

    def sided(self, m: re.Match[str]) -> None:
        side, mark = _inner(m, 2), _inner(m, 1)
        mark = table.DELIMITER_COMMANDS.get(mark[1:], ".") if mark[0] == "\\" else mark
        self.add("open" if side == "left" else "close", "left" + mark, m)

    def cmd(self, m: re.Match[str]) -> None:
        name = m.group()[1:].rstrip("*")
        kind, text = COMMANDS.get(name, ("word", name))
        if kind == "mark":
            self.mark(text, m)
        elif kind:
            self.add(kind, text, m)
        else:
            self.blank(m)

    def escaped(self, m: re.Match[str]) -> None:
        mark = table.ESCAPED.get(m.group()[1:])
        if mark is None:
            self.blank(m)
        else:
            self.mark(mark, m)

    def markup(self, m: re.Match[str]) -> None:
        for mark in table.MARKUP[m.group()] or ():
            self.mark(mark, m)
        self.gap = max(self.gap, 0 if self.out and self.out[-1].end == m.end() else 1)

    def other(self, m: re.Match[str]) -> None:
        self.mark(m.group(), m)

    def mark(self, mark: str, m: re.Match[str]) -> None:
        """One sign, or the delimiter that a command spells."""
        kind, text = SIGNS.get(mark, ("", ""))
        if not kind:
            self.blank(m)
            return
        if kind in ("open", "close") and text in "([)]":
            self.depth = max(0, self.depth + (1 if kind == "open" else -1))
        self.add(kind, text, m)


_PLAIN_SIGNS = {sign: token for sign, token in SIGNS.items() if sign not in ("(", ")", "[", "]")}
_LONE_SIGNS = frozenset(("sign", "lone", "other"))
_AS_FOUND = frozenset(("grid", "list", "prose", "row", "strike", "percent"))
_HANDLERS: dict[str, Callable[[_Lexer, re.Match[str]], None]] = {
    "num": _Lexer.num, "word": _Lexer.word, "text": _Lexer.text, "roman": _Lexer.roman, "bb": _Lexer.bb,
    "digits": _Lexer.digits, "sided": _Lexer.sided, "cmd": _Lexer.cmd, "escaped": _Lexer.escaped, "other": _Lexer.other,
    "vulgar": _Lexer.vulgar, "accent": _Lexer.accent, "pair": _Lexer.pair,
    "bold": lambda self, m: self.add("name", m.group()[-2], m), "command": _Lexer.cmd, "bracket": _Lexer.other,
    "escaped_percent": lambda self, m: self.add("percent", m.group(), m),
    "markup": _Lexer.markup, "drop": _Lexer.blank, "module": _Lexer.blank, "comment": _Lexer.blank,
    "method": lambda self, m: self.add("sup", "T", m) if "t" in m.group().lower()[1:2] else self.blank(m),
    "begin": lambda self, m: self.add("begin", _inner(m, 2), m),
    "end": lambda self, m: self.add("end", _inner(m, 1), m),
    "rel": lambda self, m: self.add("rel", table.RELATIONS[m.group()], m),
    "sub": lambda self, m: self.add("sub", "".join(map(table.SUBSCRIPTS.__getitem__, m.group())), m),
    "sup": lambda self, m: self.add("sup", "".join(map(table.SUPERSCRIPTS.__getitem__, m.group())), m),
    "greek": lambda self, m: self.add("name", table.GREEK[m.group()], m),
}  # fmt: skip
