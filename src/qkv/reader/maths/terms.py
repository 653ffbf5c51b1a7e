"""Ranges of tokens → expression trees: sums of products of scripted operands.

Brackets are paired beforehand, so every bracket is a range of its own; depth is bounded, and no input can exhaust
Python's stack. Where a text may be read in two ways the usual one is taken and the doubt is noted: reading the same
range again with that doubt turned round gives the alternative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from qkv.errors import LimitError, Location
from qkv.expr.names import Symbol
from qkv.expr.nodes import (
    Absolute,
    Call,
    Expr,
    Infinite,
    Matrix,
    Name,
    Negate,
    Number,
    Product,
    Quotient,
    Sum,
)
from qkv.reader.maths import arrays, calls, commands, operands
from qkv.reader.maths.brackets import NESTING_LIMIT, Paired, Unreadable, size_in
from qkv.reader.maths.names import WORDS, Names
from qkv.reader.maths.numerals import decimal
from qkv.reader.maths.symbols import Script
from qkv.reader.maths.tokens import Places, Token
from qkv.regex import regex

FACTOR_LIMIT: Final = 100  # factors of one product: its tree is as deep as it is long
SCRIPT_LIMIT: Final = 12  # scripts on one operand
DEPTH_LIMIT: Final = 80  # operands inside operands

STARTS: Final = frozenset(
    ("num", "letters", "word", "upright", "name", "func", "bb", "inf", "open", "begin", "cmd", "dots")
)
_EDGES: Final = frozenset(("wide", "row", "sep", "line", "edge", "note", "quote"))
_REST = regex(r"[\s,:]*\]")  # of an index: X[1, :]


_NUMBERED = WORDS | {"accent"}  # x1, x̂1


@dataclass(slots=True)
class Terms:
    """Reads expressions from paired tokens; `shapes` collects sizes, `doubts` what may be read otherwise."""

    paired: Paired
    source: str
    places: Places
    names: Names
    turned: frozenset[str] = frozenset()  # doubts that are turned round
    shapes: list[tuple[int, int]] = field(default_factory=list)
    doubts: set[str] = field(default_factory=set)
    i: int = 0
    hi: int = 0
    depth: int = 0

    @property
    def tokens(self) -> list[Token]:
        return self.paired.tokens

    @property
    def partner(self) -> list[int]:
        return self.paired.partner

    # — ranges —

    def at(self, i: int) -> Location:
        """Where token i begins."""
        return self.places.at(self.tokens[i].start)

    def text(self, lo: int, hi: int) -> str:
        """The source of a range, to the bracket that closes an index: X[1, :]."""
        if lo >= hi:
            return ""
        start, end = self.tokens[lo].start, max(t.end for t in self.tokens[lo:hi])
        opened = self.source.count("[", start, end) > self.source.count("]", start, end)
        rest = _REST.match(self.source, end) if opened else None
        return self.source[start : rest.end() if rest is not None else end]

    def own_level(self, lo: int, hi: int) -> list[int]:
        """The tokens of a range that stand in no bracket of it."""
        found, i = [], lo
        while i < hi:
            found.append(i)
            i = max(self.partner[i], i) + 1
        return found

    def doubt(self, about: str) -> bool:
        """Note that something may be read otherwise; whether that is wanted now."""
        self.doubts.add(about)
        return about in self.turned

    def trimmed(self, lo: int, hi: int) -> tuple[int, int]:
        """A range without separators and remarks at its ends."""
        while lo < hi and self._is_edge(lo):
            lo += 1
        while lo < hi and self._is_edge(hi - 1):
            hi -= 1
        return lo, hi

    def _is_edge(self, i: int) -> bool:
        token = self.tokens[i]
        return token.kind in _EDGES and token.text not in ("|", "‖")

    def expression(self, lo: int, hi: int) -> Expr:
        """The expression that the tokens from lo to hi spell, all of them."""
        lo, hi = self.trimmed(lo, hi)
        if lo >= hi:
            raise Unreadable("nothing stands where an expression should")
        if hi - lo == 1 and self.tokens[lo].kind == "num":  # most cells
            return decimal(self.tokens[lo].text, self.at(lo))
        saved = self.i, self.hi
        self.i, self.hi = lo, hi
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise LimitError(f"mathematics nested more than {DEPTH_LIMIT} deep is not read")
        node = self._divided(lo, hi) or arrays.row_of_numbers(self, lo, hi) or self._sum()
        while self.i < hi and self._is_edge(self.i):
            self.i += 1
        if self.i < hi:
            raise Unreadable(f"{self.quoted(self.i)} was not expected here", self.at(self.i))
        self.depth -= 1
        self.i, self.hi = saved
        return node

    def _divided(self, lo: int, hi: int) -> Expr | None:
        """What a relation, a comparison or \\over outside of brackets divides; of √(d_k = 2) the last side counts."""
        for i in reversed(self.own_level(lo, hi)):
            token = self.tokens[i]
            if token.kind == "rel":
                self.i = hi
                return self.expression(i + 1, hi) if i + 1 < hi else self.expression(lo, i)
            if token.kind == "cmp":
                self.i = hi
                return Call(token.text, (self.expression(lo, i), self.expression(i + 1, hi)), at=self.at(lo))
            if token.kind == "cmd" and token.text == "over":
                self.i = hi
                return Quotient(self.expression(lo, i), self.expression(i + 1, hi), at=self.at(lo))
        return None

    def quoted(self, i: int) -> str:
        """A token as the document has it, in quotes."""
        token = self.tokens[i]
        return f"'{self.source[token.start : token.end][:40]}'"

    # — sums and products —

    def _sum(self) -> Expr:
        start, terms = self.i, list[Expr]()
        while not terms or (self.i < self.hi and self.tokens[self.i].kind == "op"):
            begin, sign, either = self.i, *self._signs()
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
        while self.i < self.hi and self.tokens[self.i].kind in ("op", "line"):
            token = self.tokens[self.i]
            if token.kind == "op" and token.text not in "+-±":
                break
            sign = -sign if token.text == "-" else sign
            either |= token.text == "±"
            self.i += 1
        return sign, either

    def term(self) -> Expr:
        """A product."""
        start = self.i
        left = self.factor()
        for _ in range(FACTOR_LIMIT):
            if self.i >= self.hi:
                return left
            token, sign = self.tokens[self.i], "×"
            if token.kind == "line":
                self.i += 1
                continue
            if token.kind == "op":
                sign = token.text
                if sign in "+-±":
                    return left
                self.i += 1
                if self.i >= self.hi:
                    return left  # a trailing operator: the product goes on elsewhere
            elif token.kind not in STARTS and not self._opens_bars(token):
                return left
            elif self._crossed_word():
                continue
            right = self.factor()
            if sign == "/" and isinstance(right, Number) and self._is_coefficient() and not self.doubt("coefficient"):
                right = joined("×", right, self.factor(), self.at(start))
            if sign == "*" and not isinstance(left, Number):
                sign = "⊙" if self.doubt("star") else "·"  # programs multiply cell by cell
            left = joined(sign, left, right, self.at(start))
        raise LimitError(f"a product of more than {FACTOR_LIMIT} factors is not read")

    def _is_coefficient(self) -> bool:
        """Whether a name stands right behind the number that was read: 1/2σ divides by 2σ."""
        return (
            0 < self.i < self.hi
            and self.tokens[self.i].kind == "name"
            and self.tokens[self.i].start == self.tokens[self.i - 1].end
        )

    def _crossed_word(self) -> bool:
        """Skip a word that is crossed out behind a value."""
        start = self.i
        end = self.partner[start + 1] if self.tokens[start].text == "cancel" and start + 1 < self.hi else -1
        words = end > start and all(t.kind in WORDS | {"prose"} for t in self.tokens[start + 2 : end])
        self.i = end + 1 if words else start
        return words

    def _opens_bars(self, token: Token) -> bool:
        return token.text in ("|", "‖") and self._closing_bar(self.i) > 0

    def factor(self) -> Expr:
        """An operand with its sign."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise LimitError(f"mathematics nested more than {DEPTH_LIMIT} deep is not read")
        start = self.i
        sign, _ = self._signs()
        if self.i >= self.hi:
            raise Unreadable("an operator has no right side", self.at(self.hi - 1))
        node = self._operand()
        self.depth -= 1
        return negated(node, self.at(start), fold=True) if sign < 0 else node

    # — operands —

    def _operand(self) -> Expr:
        start, token = self.i, self.tokens[self.i]
        if token.kind in ("letters", "word", "upright", "name"):
            return operands.named(self, token)
        if token.kind == "func":
            return operands.scripted(self, calls.applied(self), start)
        return operands.scripted(self, self._atom(token), start)

    def _atom(self, token: Token) -> Expr:
        start, kind = self.i, token.kind
        self.i += 1
        if kind == "num":
            return commands.numeral(self, token)
        if kind == "inf":
            return Infinite(1, at=self.at(start))
        if kind == "nan":
            raise Unreadable("NaN is no number", self.at(start))
        if kind in ("open", "begin"):
            return self._group(start)
        if kind == "cmd":
            return commands.command(self, token, start)
        if kind == "bb":
            return calls.blackboard(self, token)
        if kind == "dots":
            return Name(Symbol("dots"), "…", at=self.at(start))
        if kind == "sep" and token.text in ("|", "‖"):
            return self._absolute(start)
        raise Unreadable(f"{self.quoted(start)} was not expected here", self.at(start))

    def _group(self, start: int) -> Expr:
        end, token = self.partner[start], self.tokens[start]
        self.i = end + 1
        if token.kind == "begin":
            return arrays.grid(self, start + 1, end, self.at(start))
        mark = token.text.removeprefix("left")
        if mark == "{":
            return self.expression(start + 1, end)
        if mark in "|‖":
            inner = arrays.bracket(self, start + 1, end, "(", start)
            drawn = isinstance(inner, Matrix) and len(inner.rows) > 1  # a matrix with bars for brackets
            return inner if drawn else Absolute(inner, at=self.at(start))
        return arrays.bracket(self, start + 1, end, mark, start)

    def _absolute(self, start: int) -> Expr:
        doubled = self.i < self.hi and self.tokens[self.i].text == "|" and not self.tokens[self.i].gap  # ||q||
        if doubled:
            self.i += 1
        end = self._closing_bar(self.i - 1)
        if end < 0:
            raise Unreadable("a bar | has no partner", self.at(start))
        node = self.expression(self.i, end)
        self.i = min(end + 1 + doubled, self.hi)
        return Absolute(node, at=self.at(start))

    def _closing_bar(self, start: int) -> int:
        mark = self.tokens[start].text
        return next((i for i in self.own_level(start + 1, self.hi) if self.tokens[i].text == mark), -1)

    # — commands with arguments —

    def argument_range(self, i: int, depth: int = 0) -> tuple[int, int, int]:
        """The tokens of the argument at i (a group, or one operand with its sign), and where what follows begins."""
        if i >= self.hi or depth > NESTING_LIMIT:
            raise Unreadable("an argument is missing", self.at(self.hi - 1))
        token = self.tokens[i]
        if token.kind == "open" and self.partner[i] > i:
            end = self.partner[i]
            return (i + 1, end, end + 1) if token.text == "{" else (i, end + 1, end + 1)
        if token.kind == "op" and token.text in "+-" and i + 1 < self.hi:
            return i, i + 2, i + 2
        if token.kind == "cmd" and token.text in ("frac", "sqrt"):
            end = self.argument_range(i + 1, depth + 1)[2]
            end = self.argument_range(end, depth + 1)[2] if token.text == "frac" else end
            return i, end, end
        if token.kind == "func" and i + 1 < self.hi and self.tokens[i + 1].kind == "open":  # √softmax(x)
            end = max(self.partner[i + 1], i + 1) + 1
            return i, end, end
        return (i, max(self.partner[i], i) + 1, max(self.partner[i], i) + 1)

    def argument(self) -> Expr:
        """The argument at hand."""
        lo, hi, after = self.argument_range(self.i)
        node = self.expression(lo, hi)
        self.i = after
        return node

    # — names and scripts —

    def scripts(self) -> tuple[list[Script], int]:
        """The scripts and primes from here on; sizes among them go to `shapes`."""
        found: list[Script] = []
        primes = 0
        while self.i < self.hi and len(found) < SCRIPT_LIMIT:
            token, before = self.tokens[self.i], self.tokens[self.i - 1]
            if token.kind == "prime":
                primes += 1
                self.i += 1
            elif token.kind in ("sub", "sup", "accent"):
                found.append(Script("^" if token.kind == "sup" else "_", (token,), self.i))
                self.i += 1
            elif token.kind == "num" and not token.gap and before.kind in _NUMBERED and token.start == before.end:
                found.append(Script("_", (token,), self.i))  # q1
                self.i += 1
            elif token.kind == "script":
                lo, hi, self.i = self.argument_range(self.i + 1)
                if (size := size_in(self.tokens[lo:hi])) is not None:
                    self.shapes.append(size)
                elif lo < hi:
                    found.append(Script(token.text, tuple(self.tokens[lo:hi]), lo))
            else:
                break
        return found, primes

    def script_value(self, script: Script) -> Expr:
        """What a raised script is as an expression."""
        first = script.tokens[0]
        if first.kind == "sup":
            whole = first.text.lstrip("-+").replace(".", "", 1).isdigit()
            return decimal(first.text.lstrip("+")) if whole and len(first.text) < 8 else Name(Symbol(first.text))
        return self.expression(script.start, script.start + len(script.tokens))


def negated(node: Expr, at: Location, *, fold: bool) -> Expr:
    """−a; the sign of a number belongs to it where it stands first."""
    if isinstance(node, Infinite):
        return Infinite(-node.sign, at=at)
    if fold and isinstance(node, Number) and node.value >= 0:
        return Number(-node.value, node.places, f"-{node.text}", at=at)
    return Negate(node, at=at)


_JOINED: dict[str, Callable[..., Expr]] = {"×": Product, "·": Product, "*": Product, "/": Quotient}


def joined(sign: str, left: Expr, right: Expr, at: Location) -> Expr:
    """Two factors with the sign between them."""
    if build := _JOINED.get(sign):
        return build(left, right, at=at)
    return Call("hadamard" if sign == "⊙" else sign, (left, right), at=at)
