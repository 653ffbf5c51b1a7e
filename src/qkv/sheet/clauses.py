"""Where one statement ends and the next begins, and which words stand between them."""

from __future__ import annotations

from qkv.expr.late import late
from qkv.records import record
from qkv.sheet.expressions import Reader
from qkv.sheet.lexer import Token
from qkv.sheet.notation import PROSE_WORDS
from qkv.sheet.operators import SCRIPTS

_JOINING_WORDS = frozenset(("and", "or", "&", "und", "et", "y", "и", "和", "且", "with", "where"))
# What a formula is made of: outside of brackets it neither ends a statement nor needs a second look.
_PLAIN = frozenset(
    (
        "num",
        "name",
        "word",
        "func",
        "bb",
        "sub",
        "sup",
        "script",
        "prime",
        "inf",
        "rel",
        "op",
        "cmp",
        "open",
        "begin",
        "grid",
        "list",
        "cmd",
    )
)
_GIVEN = frozenset("XQKVW")
_ROWS = frozenset(("row", "rows"))
_OPERAND_WORD = late(r"[^\W\d_][\w \-]*")


@record(frozen=True, slots=True)
class Piece:
    """Tokens lo … hi of one statement, the words before it, and the separator that they follow."""

    lo: int
    hi: int
    separator: str = ""
    lead: str = ""
    struck: bool = False
    marks: tuple[int, ...] = ()  # its relations outside of brackets


class _Cutter:
    """One walk over the tokens outside of brackets."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.pieces: list[Piece] = []
        self.lo = self.hi = 0
        self.words: list[str] = []
        self.separator = ""
        self.struck = False
        self.marks: list[int] = []

    def run(self) -> list[Piece]:
        kinds, partner, plain = self.reader.kinds, self.reader.partner, self.reader.strict
        i, end = 0, len(kinds)
        while i < end:
            kind, other = kinds[i], partner[i]
            after = (other if other > i else i) + 1
            if kind == "rel":
                self.marks.append(i)
            if plain and kind in _PLAIN:
                self.hi = after
            else:
                self._step(i, after)
            i = after
        self._cut("", end)
        if self.words:
            self.pieces.append(Piece(0, 0, self.separator, self._lead()))
        return self.pieces

    def _step(self, i: int, after: int) -> None:
        token = self.reader.tokens[i]
        if token.kind == "prose" and self.marks and self.lo < self.hi and (end := self._of_each_row(i)):
            self.hi = end  # it says how, and the equation goes on
            for word in range(i, end):
                self.reader.take_for(word, "text", self.reader.tokens[word].text)
        elif i < self.hi:
            return
        elif token.kind == "strike":
            self._cut("strike", i)
            self.struck = not self.struck
            self.lo = self.hi = after
        elif token.kind in ("text", "prose") and not self._is_name(i):
            self._word(i, token, after)
        elif after > i + 1 and not self.reader.strict and self._holds_words(i, after):
            self._word(i, token._replace(text=self.reader.text(i, after)), after)  # brackets around words
        elif token.kind in ("row", "wide") or token.text in (",", ";", ".", ":", "&"):
            if token.kind == "sep" or self._divides(i, after):
                self._separate(i, token, after)
        else:
            if not self.reader.strict and token.gap and self._begins_anew(i, token):
                self._cut("row", i)
                self.lo = self.hi = i
            self.hi = after

    def _of_each_row(self, i: int) -> int:
        """The end of 'of each row' or 'along the rows' before a relation, as in A = softmax of each row = …; 0 if there
        is no such thing."""
        tokens, end = self.reader.tokens, i + 1
        while end < len(tokens) and tokens[end].kind in ("prose", "word") and tokens[end].gap == 1:
            end += 1
        said = end < len(tokens) and tokens[end].kind == "rel" and end > i + 1
        return end if said and tokens[end - 1].text.lower() in _ROWS else 0

    def _holds_words(self, i: int, after: int) -> bool:
        """Whether a bracket holds words; as an exponent it belongs to its formula all the same."""
        tokens = self.reader.tokens
        raised = i > 0 and tokens[i - 1].kind == "script"
        return not raised and any(token.kind == "prose" for token in tokens[i:after])

    def _separate(self, i: int, token: Token, after: int) -> None:
        if token.text == ":" and self._defines(after):
            self.reader.take_for(i, "rel", "=")  # W_O: [[1, 0], [0, 1]]
            self.marks.append(i)
            self.hi = after
            return
        if token.text == ":" and self.lo < self.hi and self._is_heading():
            self._as_words(i)
        elif token.text == ":" and self._announces(i):
            self.hi = i - 1
            self._cut("row", i - 1)
            self.hi = i
            self._as_words(i)
        else:
            self._cut(token.text if token.kind == "sep" else token.kind, i)
        self.lo = self.hi = after

    def _divides(self, i: int, after: int) -> bool:
        """Whether a line end or a wide gap parts two statements: not beside a relation or an operator."""
        tokens = self.reader.tokens
        if self.lo >= self.hi:
            return True
        following = tokens[after] if after < len(tokens) else None
        if tokens[self.hi - 1].kind in ("rel", "op", "cmp"):
            return False
        return following is None or following.kind not in ("rel", "op", "cmp")

    def _begins_anew(self, i: int, token: Token) -> bool:
        """Whether a plain line ends before a token, or 'v1 = …' begins in the middle of one: after a wide gap, or
        after a list that it is no factor of."""
        if token.gap == 2:
            return self._divides(i - 1, i)
        reader = self.reader
        if token.kind not in ("name", "word") or not self.marks or self.lo >= self.hi:
            return False
        if token.start - reader.tokens[i - 1].end < 2 and not self._follows_value(i):
            return False
        end, tokens = i + 1, reader.tokens
        while end < len(tokens) and tokens[end].kind in SCRIPTS:
            end += 1
            if tokens[end - 1].kind == "script" and end < len(tokens):
                end = max(reader.partner[end], end) + 1
        return end < len(tokens) and tokens[end].kind == "rel" and self._divides(i - 1, i)

    def _follows_value(self, i: int) -> bool:
        """Whether a name stands after the whole value of another: 'Q = [[1, 0]] K = …', 'S ∈ R^{2×2} S = …'. What is
        multiplied with a list is a W (q = [1, 0] W = …) or, for an output, the V."""
        tokens, first = self.reader.tokens, self.marks[-1] + 1
        if first >= self.hi:
            return False
        if tokens[first - 1].text == "∈":
            return True
        defined, token = tokens[self.lo], tokens[i]
        if token.text in ("Q", "X") and all(t.kind == "num" or t.text == "/" for t in tokens[first : self.hi]):
            return True
        if defined.kind != "name" or defined.text not in _GIVEN or not self._is_list(first, self.hi):
            return False
        return token.text[:1] != "W" or defined.text in "XW"

    def _is_list(self, lo: int, hi: int) -> bool:
        """Whether a range is one list."""
        token = self.reader.tokens[lo]
        return hi == lo + 1 if token.kind == "list" else token.text == "[" and self.reader.partner[lo] == hi - 1

    def _defines(self, after: int) -> bool:
        """Whether a colon stands between a bare symbol and a literal."""
        tokens = self.reader.tokens
        if self.lo >= self.hi or self.words or after >= len(tokens) or tokens[self.lo].kind != "name":
            return False
        value = tokens[after]
        literal = value.kind in ("list", "grid", "begin") or (value.kind == "open" and "[" in value.text)
        allowed = ("name", "script", "sub", "sup", "num", "open", "close", "text")
        return literal and self.hi - self.lo < 7 and all(t.kind in allowed for t in tokens[self.lo : self.hi])

    def _announces(self, i: int) -> bool:
        """Whether the word before a colon belongs to what follows it: 'P ≈ [0.2, 0.8] Output: O = P V'."""
        if self.hi != i or self.hi - self.lo < 2:
            return False
        last, before = self.reader.tokens[i - 1], self.reader.tokens[i - 2]
        return last.kind == "word" and last.gap > 0 and (before.kind == "list" or before.text == "]")

    def _is_heading(self) -> bool:
        tokens = self.reader.tokens[self.lo : self.hi]
        return tokens[0].kind in ("word", "name", "num", "func") and not any(
            t.kind in ("rel", "grid", "list", "begin") for t in tokens
        )

    def _cut(self, separator: str, end: int) -> None:
        """End the piece at hand."""
        if self.lo < self.hi:
            lead, marks = self._lead() if self.words else "", tuple(self.marks)
            if marks and (marks[0] < self.lo or marks[-1] >= self.hi):
                marks = tuple([i for i in marks if self.lo <= i < self.hi])
            self.pieces.append(Piece(self.lo, self.hi, self.separator, lead, self.struck, marks))
            self.separator = separator
        elif separator and self.separator in ("", ",", "wide"):
            self.separator = separator if separator != "wide" or not self.separator else self.separator
        self.lo = self.hi = end
        if self.marks:
            self.marks = [i for i in self.marks if i >= end] if self.marks[-1] >= end else []

    def _lead(self) -> str:
        lead, self.words = " ".join(self.words), []
        return lead

    def _as_words(self, end: int) -> None:
        self.words.append(self.reader.text(self.lo, self.hi))
        self.lo = self.hi = end

    def _word(self, i: int, token: Token, after: int) -> None:
        following = self.reader.tokens[after].kind if after < len(self.reader.tokens) else ""
        if token.kind == "text" and self.lo < self.hi and following == "rel":
            self.hi = after  # words beside the quantity that is being defined
            return
        if self.lo < self.hi and self._is_numbering():
            self._as_words(i)
        self._cut("words", i)
        self.lo = self.hi = after
        words = token.text.strip()
        if words.strip(" ,.;:~").lower() not in _JOINING_WORDS and any(c.isalnum() for c in words):
            self.words.append(words)

    def _is_numbering(self) -> bool:
        """'1.' or '(2)' before words counts paragraphs."""
        tokens = self.reader.tokens[self.lo : self.hi]
        inner = [t for t in tokens if t.kind not in ("open", "close")]
        return len(inner) == 1 and inner[0].kind in ("num", "name") and (len(tokens) > 1 or inner[0].kind == "num")

    def _is_name(self, i: int) -> bool:
        """Whether words in a formula are a quantity: scripted, related, or beside an operator."""
        tokens = self.reader.tokens
        token = tokens[i]
        if not _OPERAND_WORD.fullmatch(token.text.strip()):
            return False
        if token.kind == "text" and (token.text[-1:].isspace() or self._is_defined(i)):
            return self._is_defined(i) and self._wordy(token.text)
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        before = tokens[i - 1] if i else None
        if token.kind == "prose" and ((before is not None and before.kind == "prose") or not self.reader.strict):
            return False  # in a line of prose words announce a value, in whatever script they are
        if following is not None and (following.kind in ("script", "rel", "prime", "sub", "sup")):
            return True
        if token.kind == "prose":
            return False
        called = following is not None and following.kind == "open" and following.text in ("(", "[", "left(", "left[")
        return called or (before is not None and before.kind in ("op", "rel"))

    def _is_defined(self, i: int) -> bool:
        """Whether a relation follows, with nothing or a wide gap before it."""
        tokens = self.reader.tokens
        i += 1
        while i < len(tokens) and tokens[i].kind == "wide":
            i += 1
        return i < len(tokens) and tokens[i].kind == "rel"

    def _wordy(self, text: str) -> bool:
        """Whether words before a relation name a quantity: not 'so' or 'where', and few if a blank ends them."""
        words = text.lower().split()
        return not PROSE_WORDS.issuperset(words) and (len(words) <= 3 or not text[-1].isspace())


def pieces_of(reader: Reader) -> list[Piece]:
    """The statements of a stretch, in order."""
    return _Cutter(reader).run()


def _joins_sizes(tokens: list[Token], i: int) -> bool:
    return tokens[i].text == "×" and tokens[i - 1].kind == "close" and tokens[i + 1].kind == "open"


BEFORE_SIZES = frozenset(("num", "open", "cmd"))  # what sizes begin with


def sizes_in(reader: Reader, lo: int, hi: int) -> tuple[tuple[int, int], ...] | None:
    """The sizes that a range consists of (3×4 4×3), or None where it is anything else."""
    if lo >= hi or reader.tokens[lo].kind not in BEFORE_SIZES:
        return None
    if "×" not in [token.text for token in reader.tokens[lo:hi]]:
        return None
    between = [i for i in range(lo + 1, hi - 1) if _joins_sizes(reader.tokens, i)]  # (3×2)×(2×3)
    tokens = [
        t
        for i, t in enumerate(reader.tokens[lo:hi], lo)
        if t.kind not in ("open", "close", "wide") and t.text != "cancel" and i not in between
    ]
    if not tokens or len(tokens) % 3:
        return None
    sizes = []
    for k in range(0, len(tokens), 3):
        rows, sign, columns = tokens[k : k + 3]
        if rows.kind != "num" or columns.kind != "num" or sign.text != "×":
            return None
        if not all(size.text.removesuffix(".").isdigit() and len(size.text) < 9 for size in (rows, columns)):
            return None
        if "·" in reader.source[sign.start : sign.end] or "dot" in reader.source[sign.start : sign.end]:
            return None
        sizes.append((int(rows.text.removesuffix(".")), int(columns.text.removesuffix("."))))
    return tuple(sizes)
