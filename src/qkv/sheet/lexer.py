"""Characters → tokens, in one pass and linear time.

One regular expression of our own (rules.py) instead of pylatexenc's walker: that one costs about ten times as much per
token and stops at damaged LaTeX, which is what scanners give us. Noise (spacing, sizes, ticks, labels) ends here.
"""

from __future__ import annotations

import re
import unicodedata
from operator import attrgetter
from typing import NamedTuple

from qkv.expr.late import late
from qkv.sheet import notation as table
from qkv.sheet.alike import normalised
from qkv.sheet.numerals import Comma, plain_digits
from qkv.sheet.rules import ACCENT, BLACKBOARD, LATIN, PAIR, TEXTS, WITH_COMMA, WITH_POINT, WORD_FONTS
from qkv.sheet.signs import COMMANDS, SIGNS, SPELLED
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


KIND, TEXT = attrgetter("kind"), attrgetter("text")
_INNER_COMMAND = late(r"\\[A-Za-z]+\s*|\\(.)|[{}$]", re.DOTALL)
_WORDY = late(rf"\\(?:{WORD_FONTS})")
_CALLED = late(r"\s?(?:\\left|\\big|\\Big)?[([]|\s*\{|\s*\\(?:begin|left)")
_BEFORE_OPERAND = frozenset(("rel", "op", "open"))
_DEFINED = late(r"(?:\\?_[A-Za-z]+\d*)?\s*(?:=|≈|:=|\\approx|\\simeq|\\equiv)")  # 'new =', 'new_w3 ='
_DOTTED = late(r"\s?[·⋅∙]\s?[^\W\d_]")  # 'cat · sat = 3': words that are multiplied are vectors
_TIMES = frozenset("xX")
_LATIN_LETTER, _WORD = late(f"[{LATIN}]"), late("[A-Za-z]+")
_PAIRS, _ACCENTED_LETTER = late(PAIR), late(rf"\\{ACCENT}")
_GRID_ENDS = (*(f"\\end{{{kind}{small}matrix}}" for kind in ("", *"bpBvV") for small in ("", "small")), r"\end{array}")
_SIDES = ("left", "right")
_COUNTED = frozenset("()[]")
_PER_CENT = ("%", "~%", r"~\%")
_VULGAR, _QUOTES = frozenset("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"), frozenset('"“”„«»`?')
_MATRIX_NEXT = late(r"\s*(?:\\left\s*[\[(|]\s*)?(?:\\begin\{|\[\s*[-\d])")


def tokens_of(
    source: str, *, strict: bool = True, comma: Comma = Comma.UNTOLD, words: frozenset[str] = frozenset()
) -> list[Token]:
    """The tokens of a stretch of mathematics; `words` are those that the document uses as names.

    >>> [t.text for t in tokens_of("Q K^T")]
    ['Q', 'K', '^', 'T']
    """
    return _Lexer(normalised(source, strict=strict), strict=strict, comma=comma, words=words).run()


def _literal(text: str) -> tuple[str, str] | None:
    """A number or a matrix of numbers."""
    if text.replace(".", "", 1).isdecimal():
        return "num", text
    grid = text[-1] == "}" and text[:7] == "\\begin{" and text.endswith(_GRID_ENDS)
    return ("grid", text) if grid else None


class _Lexer:
    """The state of one pass: what was read so far, what gap comes before the next token, and how deep in brackets the
    first `counted` tokens lead."""

    __slots__ = ("comma", "counted", "depth", "gap", "out", "source", "strict", "words")

    def __init__(self, source: str, *, strict: bool, comma: Comma, words: frozenset[str]) -> None:
        self.source, self.strict, self.comma, self.words = source, strict, comma, words
        self.out: list[Token] = []
        self.depth = self.counted = self.gap = 0

    def run(self) -> list[Token]:
        """What was matched is told by its text: most of it is in a table, and no match objects need to be made."""
        append, new, spelled = self.out.append, tuple.__new__, SPELLED.get
        start = gap = 0
        for text in (WITH_COMMA if self.comma is Comma.BARE else WITH_POINT).findall(self.source):
            end = start + len(text)
            known = spelled(text) or _literal(text)
            if known is None:
                self.gap = gap
                self.read(text, start, end)
                gap = self.gap
                start = end
                continue
            kind, meant = known
            if kind:
                append(new(Token, (kind, meant, start, end, gap)))  # its own constructor costs twice as much
                gap = 0
            elif not gap:
                gap = 1
            start = end
        return self.out

    def add(self, kind: str, text: str, start: int, end: int) -> None:
        self.out.append(tuple.__new__(Token, (kind, text, start, end, self.gap)))
        self.gap = 0

    def blank(self) -> None:
        self.gap = max(self.gap, 1)

    def read(self, text: str, start: int, end: int) -> None:
        """A token that is in no table, told by its first character."""
        lead = text[0]
        if lead == "\\":
            self.command(text, start, end)
        elif lead.isspace():
            self.gap = 2 if "\n" in text else max(self.gap, 1)
        elif lead.isdecimal() or (lead == "." and text[1:2].isdecimal()):
            self.num(text, start, end)
        elif _LATIN_LETTER.match(lead):
            if text[-1] == ".":
                self.blank()  # np. and torch.
            else:
                self.word(text, start, end)
        elif lead == "[" and len(text) > 1:
            self.add("list", text, start, end)
        elif lead in table.SUBSCRIPTS:
            self.add("sub", "".join(map(table.SUBSCRIPTS.__getitem__, text)), start, end)
        elif lead in table.GREEK:  # α1
            self.add("name", table.GREEK[lead], start, start + 1)
            self.add("sub", text[1:], start + 1, end)
        elif lead in table.SUPERSCRIPTS:
            self.add("sup", "".join(map(table.SUPERSCRIPTS.__getitem__, text)), start, end)
        elif text in table.MARKUP:
            self.markup(text, start, end)
        elif lead == "." and len(text) > 1:
            if text[1].lower() == "t":
                self.add("sup", "T", start, end)
            else:
                self.blank()
        elif text in _PER_CENT and self.source[start - 1 : start].isdecimal():
            self.add("percent", text, start, end)
        elif lead in _VULGAR:
            self.vulgar(text, start, end)
        elif text == "~~":
            self.add("strike", text, start, end)
        elif lead.isalnum() or text in _QUOTES:
            self.add("prose", text, start, end)
        elif len(text) == 1:
            self.mark(text, start, end)
        else:
            self.blank()  # a comment

    def command(self, text: str, start: int, end: int) -> None:
        """What begins with a backslash."""
        name = text[1:].removesuffix("*")
        if _WORD.fullmatch(name) and not (text[-1] == "*" and name in _SIDES):
            kind, meant = COMMANDS.get(name, ("word", name))
            if kind == "mark":
                self.mark(meant, start, end)
            elif kind:
                self.add(kind, meant, start, end)
            else:
                self.blank()
        elif found := _WORD.match(text, 1):
            self.with_argument(found[0], text, start, end)
        elif text[1:2] == "\\":
            self.add("row", text, start, end)
        elif text[-1] == "%" and self.source[start - 1 : start].isdecimal():
            self.add("percent", text, start, end)
        elif (mark := table.ESCAPED.get(text[1:])) is not None:
            self.mark(mark, start, end)
        else:
            self.blank()

    def with_argument(self, name: str, text: str, start: int, end: int) -> None:
        """A command with its argument."""
        if name in TEXTS:
            self.text(text, start, end)
        elif name == "begin" or name == "end":
            self.add(name, text[text.index("{") + 1 : text.index("}")].strip(), start, end)
        elif name in _SIDES:
            mark = text[len(name) + 1 :].lstrip()
            mark = table.DELIMITER_COMMANDS.get(mark[1:], ".") if mark[0] == "\\" else mark
            self.add("open" if name == "left" else "close", "left" + mark, start, end)
        elif name in table.FRACTIONS:
            first = start + len(text[:-1].rstrip()) - 1
            self.add("cmd", "frac", start, end)
            self.out.append(Token("num", self.source[first], first, first + 1, 0))
            self.out.append(Token("num", text[-1], end - 1, end, 0))
        elif name in table.NOISE_WITH_ARGUMENT:
            self.blank()
        elif name in BLACKBOARD:
            self.add("bb", text.rstrip("} \t\n")[-1], start, end)
        elif _ACCENTED_LETTER.fullmatch(text):
            # \tilde s and \hat s may be other quantities than s (an arrow is none): a label says so
            self.add("name", _WORD.findall(text)[-1], start, end)
            self.out.append(Token("sub", name.removeprefix("wide"), end, end, 0))
        else:
            self.roman(text, start, end)

    def num(self, text: str, start: int, end: int) -> None:
        if "{.}" in text:
            self.add("num", text.replace("{.}", "."), start, end)
        elif "," in text and _PAIRS.match(self.source, start):
            self.pair(text, start, end)
        elif "," in text and self._separates(text):
            self._apart(text, start)
        else:
            self.add("num", plain_digits(text, decimal_comma=self.comma is not Comma.UNTOLD), start, end)

    def _separates(self, text: str) -> bool:
        """Whether the commas of 100,200,300 part a list: inside brackets they do, unless a group such as 048 tells."""
        if "{" in text or "\\" in text or self.comma is Comma.BARE:
            return False
        groups = text.split(",")[1:]
        if self._in_brackets():
            return not any(g[0] == "0" and g != "000" for g in groups)
        return text[0] == "0" and not (self.out and self.out[-1].kind == "rel")

    def _in_brackets(self) -> bool:
        """Whether a bracket is open here; only numerals with commas ask, so that it is told when they do."""
        for token in self.out[self.counted :]:
            if token.kind == "open" and token.text in _COUNTED:
                self.depth += 1
            elif token.kind == "close" and token.text in _COUNTED and self.depth:
                self.depth -= 1
        self.counted = len(self.out)
        return self.depth > 0

    def _apart(self, text: str, start: int) -> None:
        offset = start
        for part in text.split(","):
            if offset > start:
                self.out.append(Token("sep", ",", offset - 1, offset, 0))
            self.out.append(Token("num", part, offset, offset + len(part), self.gap))
            self.gap = 0
            offset += len(part) + 1

    def pair(self, text: str, start: int, end: int) -> None:
        """s_1,2 of a plain line is s_{1,2}; between math delimiters only the braces could say so."""
        tokens = [
            ("num", text[0], start, start + 1),
            ("sep", ",", start + 1, start + 2),
            ("num", text[2], start + 2, end),
        ]
        if not self.strict:
            tokens = [("open", "{", start, start), *tokens, ("close", "}", end, end)]
        self.out.extend(Token(*token, 0) for token in tokens)
        self.gap = 0

    def word(self, text: str, start: int, end: int) -> None:
        letters = text.rstrip("0123456789")
        if letters in _TIMES and self._between_numbers(text, end, len(letters)):
            self.out.append(Token("op", "×", start, start + 1, self.gap))
            if len(text) > 1:
                self.out.append(Token("num", text[1:], start + 1, end, 0))
            self.gap = 0
            return
        if text in _TIMES and self._between_matrices(text, end):
            self.add("op", "×", start, end)
            return
        called, defined = _CALLED.match(self.source, end), bool(_DEFINED.match(self.source, end))
        beside = start > 0 and self.source[start - 1] == "_"  # q_cat, whatever comes after it
        if len(letters) > 1 and (beside or _DOTTED.match(self.source, end)):
            defined = True
        kind = ""
        operand = letters in self.words and bool(self.out) and self.out[-1].kind in _BEFORE_OPERAND
        named = defined or operand or self._labels()
        for kind, piece, first, last in pieces_of_word(letters, self.strict, bool(called), named):
            self.out.append(Token(kind, piece, start + first, start + last, self.gap))
            self.gap = 0
        if kind == "word" and defined:
            self._join_names()
        if len(letters) < len(text):
            digits = "sub" if kind in ("name", "word", "sub") else "prose" if kind == "prose" else "num"
            self.out.append(Token(digits, text[len(letters) :], start + len(letters), end, 0))

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

    def _between_matrices(self, text: str, end: int) -> bool:
        """Whether a lone x is a times sign: Q x K^T in a plain line, X between two matrices written out."""
        before = self.out[-1] if self.out and self.gap == 1 else None
        if before is not None and before.kind in ("grid", "list", "end") and _MATRIX_NEXT.match(self.source, end):
            return True
        if self.strict or text == "X":
            return False
        after = self.source[end : end + 2]
        left = before is not None and (before.kind in ("sub", "sup", "close", "list", "grid") or before.text.isupper())
        return left and after[:1] == " " and (after[1:].isupper() or after[1:] in ("[", "("))

    def _between_numbers(self, text: str, end: int, size: int) -> bool:
        if not self.out or self.out[-1].kind != "num":
            return False
        return len(text) > size or self.source[end : end + 3].strip()[:1].isdigit()

    def text(self, text: str, start: int, end: int) -> None:
        content = _INNER_COMMAND.sub(lambda c: c.group(1) or "", text[text.index("{") + 1 : -1])
        words = content.strip(" ~")
        if len(content) == 1 and content.isalpha() and content.isascii():
            self.add("name", content, start, end)
        elif words and not words.strip("-"):
            self.add("op", "-", start, end)  # part of a drawn line
        elif spelling_key(words) in table.FUNCTIONS:
            self.add("func", words, start, end)
        elif words:
            self.add("text", content, start, end)

    def roman(self, text: str, start: int, end: int) -> None:
        inside = text[text.index("{") + 1 : -1].lstrip()
        words = inside.strip(" ~")
        key = spelling_key(words)
        if key in table.FUNCTIONS and len(key) > 1:
            self.add("func", words, start, end)
        elif words.isalpha():
            offset = end - 1 - len(inside)
            bold = not _WORDY.match(text)
            pieces = pieces_of_word(words, strict=True, called=False, defined=not bold)
            for k, (kind, piece, first, last) in enumerate(pieces):
                begins = offset + first if k else start
                ends = offset + last if k + 1 < len(pieces) else end
                self.out.append(Token("word" if kind == "prose" else kind, piece, begins, ends, self.gap))
                self.gap = 0
        else:
            self.add("text", words.replace("\\_", "_"), start, end)

    def vulgar(self, text: str, start: int, end: int) -> None:
        self.add("cmd", "frac", start, end)
        for digits in unicodedata.normalize("NFKC", text).split("⁄"):
            self.out.append(Token("num", digits, start, end, 0))

    def markup(self, text: str, start: int, end: int) -> None:
        for mark in table.MARKUP[text]:
            self.mark(mark, start, end)
        self.gap = max(self.gap, 0 if self.out and self.out[-1].end == end else 1)

    def mark(self, mark: str, start: int, end: int) -> None:
        """One sign, or the delimiter that a command spells."""
        kind, text = SIGNS.get(mark, ("", ""))
        if not kind:
            self.blank()
            return
        self.add(kind, text, start, end)
