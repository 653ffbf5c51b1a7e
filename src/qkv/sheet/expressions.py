"""Ranges of tokens → expression trees: sums of products of scripted operands.

Brackets are paired beforehand, so every bracket is read as a range of its own; depth is bounded by
`brackets.NESTING_LIMIT` and by `OPERAND_LIMIT`, and no input can exhaust Python's stack.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from qkv.errors import LimitError, Location
from qkv.expr.nodes import (
    Absolute,
    Call,
    Expr,
    Infinite,
    Matrix,
    Name,
    Number,
    Product,
    Quotient,
    Sum,
    number,
)
from qkv.sheet import commands, functions, matrices, naming
from qkv.sheet.brackets import NESTING_LIMIT, Paired
from qkv.sheet.commands import Unreadable
from qkv.sheet.lexer import Token
from qkv.sheet.numerals import WHOLE_NUMBER, decimal, value_of
from qkv.sheet.operators import SCRIPTS, joined, negated, scripted
from qkv.sheet.places import Places
from qkv.sheet.symbols import Script, size_in, symbol_of

FACTOR_LIMIT: Final = 100  # factors of one product: its tree is as deep as it is long
SCRIPT_LIMIT: Final = 12  # scripts on one operand
OPERAND_LIMIT: Final = 80  # operands inside operands; a bracket counts twice, √ in √√x once

_STARTS: Final = frozenset((
    "num", "name", "word", "func", "text", "bb", "inf", "grid", "list", "open", "begin", "cmd", "deep", "broken",
))  # fmt: skip
_BREAKS: Final = frozenset(
    ("rel", "cmp", "cmd")
)  # what divides an expression outside of its brackets; of commands \\over
_LITERALS: Final = frozenset(("num", "grid", "list"))
EDGES: Final = frozenset(("wide", "row", "sep", "text"))
LEAVES: Final = frozenset(("name", "word", "num", "grid", "list"))  # an expression that begins with one is placed there
_SINGLE: Final = frozenset(("num", "name"))  # a script of one token
_ENDS_ARGUMENT: Final = frozenset(("close", "end", "row", "wide", "rel", "sep"))


def _too_deep() -> LimitError:
    return LimitError(f"mathematics nested more than {OPERAND_LIMIT} deep is not read")


class Reader:
    """Reads expressions from paired tokens. `shapes` collects the sizes printed beside quantities on the way."""

    def __init__(
        self, paired: Paired, source: str, places: Places, known: naming.Known, *, strict: bool, decimal_comma: bool
    ) -> None:
        self.tokens, self.kinds, self.partner = paired.tokens, paired.kinds, paired.partner
        self.source, self.places, self.known = source, places, known
        self.strict, self.decimal_comma = strict, decimal_comma
        self.shapes: list[tuple[int, int]] = []
        breaks = [i for i, kind in enumerate(self.kinds) if kind in _BREAKS]
        self.breaks = [i for i in breaks if self.kinds[i] != "cmd" or self.tokens[i].text == "over"]
        self.i = self.hi = self.depth = 0
        self.new = -1  # the last token that was found to begin no known name

    # — ranges —

    def at(self, i: int) -> Location:
        """Where token i begins."""
        start, places = self.tokens[i].start, self.places
        if start < places.first_end:
            return tuple.__new__(Location, (places.line, places.column + start))
        return places.at(start)

    def take_for(self, i: int, kind: str, text: str) -> None:
        """Let token i be of another kind."""
        self.tokens[i] = self.tokens[i]._replace(kind=kind, text=text)
        self.kinds[i] = kind

    def text(self, lo: int, hi: int) -> str:
        """The source of a range."""
        return self.source[self.tokens[lo].start : self.tokens[hi - 1].end] if lo < hi else ""

    def expression(self, lo: int, hi: int) -> Expr:
        """The expression that the tokens from lo to hi spell, all of them."""
        kinds = self.kinds
        if lo < hi and (kinds[lo] in EDGES or kinds[hi - 1] in EDGES):
            lo, hi = self.trimmed(lo, hi)
        if lo >= hi:
            raise Unreadable("nothing stands where an expression should")
        kind = kinds[lo]
        if hi - lo == 1 and kind in _LITERALS:
            return self._literal(lo, kind)
        saved = self.i, self.hi
        self.i, self.hi = lo, hi
        node = naming.known_name(self, lo, whole=True) if kind == "name" or kind == "word" else None
        if node is None or self.i < hi:
            first = bisect_left(self.breaks, lo)
            divided = first < len(self.breaks) and self.breaks[first] < hi
            node = (self._divided(lo, hi) if divided else None) or self._whole(lo, node)
        self.i, self.hi = saved
        return node

    def _literal(self, i: int, kind: str) -> Expr:
        """A number or a plain matrix: most ranges hold no more."""
        token = self.tokens[i]
        if kind == "num":
            return Number(*value_of(token.text), token.text, at=self.at(i))
        return (matrices.plain_grid if kind == "grid" else matrices.plain_list)(token, self.places)

    def _divided(self, lo: int, hi: int) -> Expr | None:
        """What a relation, a comparison or a stroke outside of brackets divides."""
        i = lo
        while i < hi:
            token = self.tokens[i]
            if token.kind == "rel":
                return self._equation(lo, hi)
            if token.kind == "cmp":
                return Call(token.text, (self.expression(lo, i), self.expression(i + 1, hi)), at=self.at(lo))
            if token.kind == "cmd" and token.text == "over":
                return Quotient(self.expression(lo, i), self.expression(i + 1, hi), at=self.at(lo))
            other = self.partner[i]
            i = (other if other > i else i) + 1
        return None

    def _whole(self, lo: int, first: Expr | None) -> Expr:
        """A sum of terms that fills a range; its first factor may have been read already."""
        self.depth += 1
        if self.depth > OPERAND_LIMIT or (first is not None and self.depth == OPERAND_LIMIT):
            raise _too_deep()
        hi = self.hi
        node = None if self.kinds[lo] == "op" else self.term(first)
        if node is None or (self.i < hi and self.kinds[self.i] == "op"):
            node = self._sum(lo, node)
        while self.i < hi and self.tokens[self.i].text in (".", ":", ",", ";", "!"):
            self.i += 1
        if self.i < hi:
            raise Unreadable(f"{self.quoted(self.i)} was not expected here", self.at(self.i))
        self.depth -= 1
        return node

    def trimmed(self, lo: int, hi: int) -> tuple[int, int]:
        """A range without separators at its ends and words behind it."""
        tokens, kinds = self.tokens, self.kinds
        while lo < hi and (kinds[lo] in ("wide", "row") or tokens[lo].text in (",", ";", "&", ":")):
            lo += 1
        while lo < hi and (kinds[hi - 1] in ("wide", "row") or tokens[hi - 1].text in (",", ";", "&", ".", ":")):
            hi -= 1
        while lo + 1 < hi and kinds[hi - 1] == "text" and kinds[hi - 2] not in ("op", "script", "cmd"):
            hi -= 1  # words beside a quantity
        return lo, hi

    def _equation(self, lo: int, hi: int) -> Expr:
        """An equation where an expression should be, as in √(d_k = 2): its last side counts."""
        cut = max(i for i in matrices.own_level(self, lo, hi) if self.kinds[i] == "rel")
        return self.expression(cut + 1, hi) if cut + 1 < hi else self.expression(lo, cut)

    def quoted(self, i: int) -> str:
        token = self.tokens[i]
        return f"'{self.source[token.start : token.end][:40]}'"

    # — sums and products —

    def _sum(self, start: int, first: Expr | None) -> Expr:
        """A sum whose first term, if it has no sign, was read already."""
        terms: list[Expr] = [] if first is None else [first]
        while not terms or (self.i < self.hi and self.kinds[self.i] == "op"):
            begin = self.i
            sign, either = self._signs()
            if self.i >= self.hi:
                if terms:
                    break  # a trailing sign: the sum goes on elsewhere
                raise Unreadable("a sign has no operand", self.at(self.hi - 1))
            term = self.term()
            if sign < 0:
                term = negated(term, self.at(begin), fold=not terms)
            terms.append(Call("±", (term,), at=term.at) if either else term)
        return terms[0] if len(terms) == 1 else Sum(tuple(terms), at=self.at(start))

    def _signs(self) -> tuple[int, bool]:
        sign, either = 1, False
        while self.i < self.hi:
            token = self.tokens[self.i]
            if token.kind != "op" or token.text not in "+-±":
                break
            sign = -sign if token.text == "-" else sign
            either |= token.text == "±"
            self.i += 1
        return sign, either

    def term(self, first: Expr | None = None) -> Expr:
        """A product; its first factor may have been read already."""
        start, kinds = self.i, self.kinds
        left = self.factor() if first is None else first
        if self.i >= self.hi:
            return left
        at = left.at if first is not None or kinds[start] in LEAVES else None
        for _ in range(FACTOR_LIMIT):
            if self.i >= self.hi:
                return left
            kind, sign = kinds[self.i], "×"
            if kind == "op":
                sign = self.tokens[self.i].text
                if sign in "+-±":
                    return left
                self.i += 1
                if self.i >= self.hi:
                    return left  # a trailing operator: the product goes on elsewhere
                kind = kinds[self.i]
            elif kind not in _STARTS and not self._juxtaposed(self.tokens[self.i]):
                return left
            elif isinstance(left, Matrix) and self._is_margin_size():
                continue
            at = at or self.at(start)
            named = (kind == "name" or kind == "word") and self.depth < OPERAND_LIMIT
            right = (naming.known_name(self, self.i) if named else None) or self.factor()
            plain = sign == "×" and not isinstance(right, Call)
            left = Product(left, right, at=at) if plain else joined(sign, left, right, at)
        raise LimitError(f"a product of more than {FACTOR_LIMIT} factors is not read")

    def _is_margin_size(self) -> bool:
        """Take (2 × 3) behind a matrix as its size."""
        end = self.partner[self.i]
        if end <= self.i or "(" not in self.tokens[self.i].text:
            return False
        if (size := size_in(self.tokens[self.i : end + 1])) is None:
            return False
        self.shapes.append(size)
        self.i = end + 1
        return True

    def _juxtaposed(self, token: Token) -> bool:
        if token.kind == "prose":
            return self.strict
        return token.text in ("|", "‖") and self._closing_bar(self.i) > 0

    def factor(self) -> Expr:
        self.depth += 1
        if self.depth > OPERAND_LIMIT:
            raise _too_deep()
        start = self.i
        sign = self._signs()[0] if start < self.hi and self.kinds[start] == "op" else 1
        if self.i >= self.hi:
            raise Unreadable("an operator has no right side", self.at(self.hi - 1))
        node = self._operand()
        self.depth -= 1
        return negated(node, self.at(start), fold=True) if sign < 0 else node

    # — operands —

    def _operand(self) -> Expr:
        start, token = self.i, self.tokens[self.i]
        if token.kind in ("name", "word", "text", "prose"):
            return naming.named(self, token)
        if token.kind == "func":
            node = functions.applied(self, token)
        elif token.kind == "bb":
            node = functions.blackboard(self, token)
        else:
            node = self._atom(token)
        return scripted(self, node, start) if self.i < self.hi and self.kinds[self.i] in SCRIPTS else node

    def _atom(self, token: Token) -> Expr:
        kind = token.kind
        start = self.i
        self.i += 1
        if kind == "num":
            return commands.numeral(self, token)
        if kind == "grid":
            return matrices.plain_grid(token, self.places)
        if kind == "list":
            return matrices.plain_list(token, self.places)
        if kind == "inf":
            return Infinite(1, at=self.at(start))
        if kind in ("open", "begin"):
            return self._group(start)
        if kind == "cmd":
            return commands.command(self, token, start)
        if kind == "sep" and token.text in ("|", "‖"):
            return self._absolute(start)
        if kind == "deep":
            raise LimitError(f"brackets nested more than {NESTING_LIMIT} deep are not read")
        if kind == "broken":
            raise Unreadable(f"{self.quoted(start)} is never closed")
        raise Unreadable(f"{self.quoted(start)} was not expected here", self.at(start))

    def _group(self, start: int) -> Expr:
        end = self.partner[start]
        token = self.tokens[start]
        self.i = end + 1
        if token.kind == "begin":
            return matrices.grid(self, start + 1, end, self.at(start), environment=token.text)
        mark = token.text.removeprefix("left")
        if mark == "{":
            return self.expression(start + 1, end)
        if mark in "|‖":
            inner = matrices.bracket(self, start + 1, end, mark, start)
            drawn = isinstance(inner, Matrix) and len(inner.rows) > 1  # a matrix with bars for brackets
            return inner if drawn else Absolute(inner, at=self.at(start))
        return matrices.bracket(self, start + 1, end, mark, start)

    def _absolute(self, start: int) -> Expr:
        end = self._closing_bar(start)
        if end < 0:
            raise Unreadable("a bar | has no partner", self.at(start))
        node = self.expression(self.i, end)
        self.i = end + 1
        return Absolute(node, at=self.at(start))

    def _closing_bar(self, start: int) -> int:
        mark = self.tokens[start].text
        i = start + 1
        while i < self.hi:
            if self.tokens[i].text == mark and self.kinds[i] == "sep":
                return i
            i = max(self.partner[i], i) + 1
        return -1

    # — names and scripts —

    def script_value(self, script: Script) -> Expr:
        first = script.tokens[0]
        if first.kind == "sup":
            return number(first.text) if WHOLE_NUMBER.fullmatch(first.text) else Name(symbol_of(first.text, ())[0])
        if len(script.tokens) == 1 and first.kind == "num":
            return decimal(first.text)  # a bare exponent stands beside its base, and needs no place of its own
        return self.expression(script.start, script.start + len(script.tokens))

    def scripts(self) -> tuple[list[Script], int]:
        """The scripts and primes from here on; sizes among them go to `shapes`."""
        found: list[Script] = []
        primes = 0
        while self.i < self.hi and len(found) < SCRIPT_LIMIT:
            token = self.tokens[self.i]
            if token.kind == "prime":
                primes += 1
                self.i += 1
            elif token.kind in ("sub", "sup"):
                rows, _, columns = token.text.partition("x")
                if rows.isdigit() and columns.isdigit() and len(token.text) < 9:
                    self.shapes.append((int(rows), int(columns)))  # ℝ²ˣ³
                else:
                    found.append(Script("_" if token.kind == "sub" else "^", (token,), self.i))
                self.i += 1
            elif token.kind == "script":
                lo = self.i + 1
                plain = lo < self.hi and self.kinds[lo] in _SINGLE
                lo, hi, self.i = (lo, lo + 1, lo + 1) if plain else self.argument_range(lo)
                inside = tuple(self.tokens[lo:hi])
                if len(inside) > 2 and (size := size_in(inside)) is not None:
                    self.shapes.append(size)
                elif inside:
                    found.append(Script(token.text, inside, lo))
            else:
                break
        return found, primes

    def argument_range(self, i: int) -> tuple[int, int, int]:
        """What a command or a script at token i takes: the range inside its braces, and where reading goes on."""
        if i >= self.hi or self.kinds[i] in _ENDS_ARGUMENT:
            return i, i, i
        token = self.tokens[i]
        if token.kind == "open":
            end = self.partner[i]
            return (i + 1, end, end + 1) if token.text == "{" else (i, end + 1, end + 1)
        end = i + 1
        if token.kind == "op" and end < self.hi:
            end += 1
        elif token.kind == "cmd":
            for _ in range(2 if token.text in ("frac", "binom") else 1):
                end = self.partner[end] + 1 if end < self.hi else end
        return i, end, end

    def argument(self) -> Expr:
        """The next argument of a command: what braces hold, or one operand."""
        if self.i < self.hi and self.tokens[self.i].text == "{" and self.kinds[self.i] == "open":
            start = self.i
            self.i = self.partner[start] + 1
            return self.expression(start + 1, self.partner[start])
        if self.i >= self.hi:
            raise Unreadable("a command has no argument", self.at(self.hi - 1))
        return self.factor()
