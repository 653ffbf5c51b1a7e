"""What a page prints and asks of scores with a bias by distance (ALiBi), with the formulas that its words say.

The slope is a name or a number of the page, or its own formula for head h; the bias is what a page calls so, and
scores that it shows after that are the sum of both. Here this becomes formulas; the rest is as for any equation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.tables import distances
from qkv.library import around_said as said
from qkv.library.roles import places, roles_in_words
from qkv.library.said import places_said
from qkv.library.words import means, spoken
from qkv.reader.model import Question, Relation, Sheet
from qkv.reading.by_words import by_scope, free, told
from qkv.reading.equation import Equation, Item, Kind
from qkv.regex import regex

_BIAS, _SLOPE = (regex(spoken(word), re.IGNORECASE) for word in ("bias", "slope"))
_NO_BIAS = regex(rf"{spoken('without')}[^.;]{{0,20}}(?:{said.ALIBI.pattern}|{spoken('bias')})", re.IGNORECASE)
_NUMBER = regex(
    rf"{spoken('slope')}(?:\W|[^\W\d]){{0,16}}?(?P<over>\d+(?:[.,]\d+)?)(?:/(?P<under>\d+))?", re.IGNORECASE
)
_NEAR = 80  # characters before a value that may say what it is
_SCORES = frozenset({Role.SCORES, Role.SCALED, Role.MASKED})


def with_biased(made: list[Equation], sheet: Sheet) -> tuple[list[Equation], Sheet]:
    """The equations and questions of a page that takes distances off its scores, with what words say of them."""
    if not said.ALIBI.search(sheet.text.lower()):
        return made, sheet
    return by_scope(made, sheet, _Biased.of)


@dataclass
class _Biased:
    """The scores of one problem, what is taken off them, and the formulas that this gives."""

    slope: n.Expr
    negative: bool  # whether the slope has its sign already
    scores: Symbol
    given: Equation | None
    shape: tuple[int, int] | None
    causal: bool
    bias: Symbol
    biased: Symbol
    scope: int
    part: int
    named: bool = False  # whether the page has printed the bias
    summed: bool = False  # and the scores with it
    needed: dict[Symbol, tuple[n.Expr, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, made: Sequence[Equation], sheet: Sheet, lines: range) -> _Biased | None:
        text = "\n".join(sheet.lines[lines.start - 1 : lines.stop - 1])
        slope, given = _slope(made, text), next(filter(_is_scores, made), None)
        if slope is None or not said.ALIBI.search(text.lower()):
            return None
        numbers = (item.expr for e in made if slope in [n.Name(s) for s in e.names] for item in e.of(Kind.VALUE))
        negative = any(isinstance(x, n.Negate) or (isinstance(x, n.Number) and x.value < 0) for x in numbers)
        value = given.items[-1].expr if given is not None else None
        used = {s for e in made for s in e.names}
        name = given.names[0] if given is not None and given.names else free(Symbol("S"), used)
        bias = next((s for e in made for s in e.names if _is_bias(e)), free(Symbol("B"), used))
        hidden = isinstance(value, n.Matrix) and any(isinstance(x, n.Infinite) for x in value.rows[0][1:])
        shape = value.shape if isinstance(value, n.Matrix) else None
        slopes = dict(_of_heads(made, used))
        return cls(
            slope, negative, name, given, shape, hidden or "causal" in text.lower(), bias,
            Symbol(name.base, ("biased",)), made[0].scope, made[0].part,
            needed=slopes,
        )  # fmt: skip

    def formula(self, shape: tuple[int, int], causal: bool) -> n.Expr:
        """The slope times the distance of every query and key."""
        made = n.Product(self.slope, distances(*shape, Fraction(-1 if self.negative else 1)))
        return n.Mask(made) if causal and shape[0] > 1 else made

    def told(self) -> Iterator[Equation]:
        """The equations for what the page has no name for."""
        above = self.given.line if self.given is not None else 0
        for symbol, (expr, line) in self.needed.items():
            yield told(symbol, expr, max(line, above), self.scope, self.part)

    def judged(self, equation: Equation) -> Equation:
        """An equation with the formula of what it prints: of the bias, of the scores with it, of their weights."""
        if equation is self.given:
            return equation if equation.names else _named(equation, self.scores)
        value = next((item.expr for item in equation.of(Kind.VALUE)[-1:] if isinstance(item.expr, n.Matrix)), None)
        if value is None or equation.struck or (self.given is not None and equation.line < self.given.line):
            return equation
        formulas = equation.of(Kind.FORMULA)
        if formulas:
            return self._by_formula(equation, formulas[0].expr, value.shape)
        return equation if equation.of(Kind.WORKING) else self._by_words(equation, value)

    def _by_formula(self, equation: Equation, formula: n.Expr, shape: tuple[int, int]) -> Equation:
        """The distances of 'penalty = slope × distance', which the page need not print; a name for S + B."""
        for symbol in n.names_in(formula):
            if means(str(symbol).lower(), "distance"):
                self.needed[symbol] = distances(*shape, Fraction(-1)), equation.line
                self.bias, self.named = (equation.names or (self.bias,))[0], True
        terms = formula.terms if isinstance(formula, n.Sum) else ()
        if n.Name(self.scores) in terms and len(terms) == 2 and shape == self.shape:
            self.summed, self.named = True, True
            self.biased = (equation.names or (self.biased,))[0]
            return equation if equation.names else _named(equation, self.biased)
        return equation

    def _by_words(self, equation: Equation, value: n.Matrix) -> Equation:
        """What words before numbers say that they are."""
        words = equation.words[-_NEAR:].lower()
        roles = set(roles_in_words(words)) | {place.role for s in equation.names for place in places(s)[:1]}
        biased = _BIAS.search(words) or said.ALIBI.search(words)
        if self.summed and Role.WEIGHTS in roles and not _NO_BIAS.search(words):
            weights = n.Softmax(n.Name(self.biased), 1, by_rows=True)
            row = row_said(equation.label)
            if value.shape == self.shape:
                return _with(equation, weights)
            if self.shape is not None and value.shape == (1, self.shape[1]) and 0 < row <= self.shape[0]:
                return _with(equation, n.Entry(weights, row=row))
            return equation
        if Role.WEIGHTS in roles or not biased or (self.shape is not None and value.shape != self.shape):
            return equation
        if _NO_BIAS.search(words) or (self.given is not None and value == self.given.items[-1].expr):
            return equation
        if not _SCORES & roles and _BIAS.search(words) and _is_by_distance(value):
            made = equation if equation.names else _named(equation, self.bias)
            self.bias, self.named = made.names[0], True
            return _with(made, self.formula(value.shape, any(isinstance(x, n.Infinite) for x in value.rows[0])))
        if self.named and _SCORES & roles and self.given is not None:
            made = equation if equation.names else _named(equation, self.biased)
            self.biased, self.summed = made.names[0], True
            return _with(made, n.Sum((n.Name(self.scores), n.Name(self.bias))))
        return equation

    def asked(self, question: Question) -> Question:
        """A question with the formula of what it asks for: the bias, the scores with it, their weights."""
        if self.shape is None:
            return question
        text = question.text.removeprefix(question.label)
        roles, without = set(roles_in_words(text)), bool(_NO_BIAS.search(text))
        if Role.WEIGHTS in roles:
            expr: n.Expr = n.Softmax(n.Name(self.scores if without else self._sum(question.line)), 1, by_rows=True)
        elif _SCORES & roles and (_BIAS.search(text) or said.ALIBI.search(text.lower())):
            expr = n.Name(self._sum(question.line))
        elif _BIAS.search(text) and not _SLOPE.search(text):
            expr = n.Name(self._bias(question.line))
        else:
            return question
        row = row_said(text)
        return replace(question, expr=n.Entry(expr, row=row) if 0 < row <= self.shape[0] > 1 else expr)

    def _bias(self, line: int) -> Symbol:
        if not self.named and self.shape is not None:
            self.needed.setdefault(self.bias, (self.formula(self.shape, self.causal), line))
        return self.bias

    def _sum(self, line: int) -> Symbol:
        if not self.summed:
            made = n.Sum((n.Name(self.scores), n.Name(self._bias(line))))
            self.needed.setdefault(self.biased, (made, line))
        return self.biased


def _is_by_distance(value: n.Matrix) -> bool:
    """Whether nothing is taken off where a query meets its own key; other biases are given."""
    rows, columns = value.shape
    own = [value.rows[i][i + columns - rows] for i in range(rows)] if rows <= columns else []
    return bool(own) and all(isinstance(cell, n.Number) and cell.value == 0 for cell in own)


def row_said(text: str) -> int:
    """The one row that words speak of: 'the third row', 'query 3'; 0 for none, or for all."""
    numbers = [int(found["number"]) for found in _ROW.finditer(text)]
    rows = [*places_said(text), *numbers]
    return rows[0] if len(set(rows)) == 1 else 0


_ROW = regex(
    rf"(?:{spoken('line')}|{spoken('vector')})\s*(?:n°|#)?\s*(?P<number>\d{{1,2}})(?!\d|[.,]\d)", re.IGNORECASE
)


def _slope(made: Sequence[Equation], text: str) -> n.Expr | None:
    """The slope: a name of the page (of the head that it works out), or the number behind the word."""
    heads = {e.items[-1].expr for e in made for s in e.names if str(s) == "h" and e.of(Kind.VALUE)}
    for equation in made:
        for symbol in equation.names:
            if (symbol.base == "m" or means(symbol.base, "slope")) and len(equation.items) > 1:
                head = heads.pop() if len(heads) == 1 else None
                if symbol.indices and not symbol.indices[0].isdecimal():
                    if not isinstance(head, n.Number):
                        continue
                    symbol = symbol._replace(indices=(str(int(head.value)),))
                return n.Name(symbol)
    found = _NUMBER.search(text)
    if found is None:
        return None
    return n.number(Fraction(found["over"].replace(",", ".")) / int(found["under"] or 1))


def _of_heads(made: Sequence[Equation], used: set[Symbol]) -> Iterator[tuple[Symbol, tuple[n.Expr, int]]]:
    """The slopes of heads that formulas name by a number, where the page has one formula for every head."""
    head = n.Name(Symbol("h"))
    rules = [(s, e.items[-1].expr, e.line) for e in made for s in e.names if head in n.walk(e.items[-1].expr)]
    mentioned = {s for e in made for item in e.of(Kind.FORMULA) for s in n.names_in(item.expr)} - used
    for symbol in sorted(mentioned):
        for rule, expr, line in rules:
            if symbol.base == rule.base and len(symbol.indices) == 1 and symbol.indices[0].isdecimal():
                yield symbol, (n.replaced(expr, head, n.number(int(symbol.indices[0]))), line)


def _is_scores(equation: Equation) -> bool:
    """Whether an equation gives scores as a matrix."""
    value = equation.items[-1].expr
    if (
        not isinstance(value, n.Matrix)
        or min(value.shape) < 2
        or equation.of(Kind.FORMULA, Kind.WORKING)
        or equation.struck
    ):
        return False
    named = {place.role for symbol in equation.names for place in places(symbol)[:1]}
    return bool(_SCORES & named) or (not equation.names and bool(_SCORES & set(roles_in_words(equation.words[-160:]))))


def _is_bias(equation: Equation) -> bool:
    return bool(_BIAS.search(equation.words[-_NEAR:])) and isinstance(equation.items[-1].expr, n.Matrix)


def _named(equation: Equation, symbol: Symbol) -> Equation:
    name = Item(Kind.NAME, n.Name(symbol), Relation.FIRST, equation.line, equation.column)
    return replace(equation, items=(name, equation.items[0]._replace(relation=Relation.EQUAL), *equation.items[1:]))


def _with(equation: Equation, expr: n.Expr) -> Equation:
    """An equation with a formula between its name and its numbers."""
    formula = Item(Kind.FORMULA, expr, Relation.EQUAL, equation.line, equation.column)
    names = tuple(item for item in equation.items if item.kind is Kind.NAME)
    rest = tuple(item for item in equation.items if item.kind is not Kind.NAME)
    return replace(equation, items=(*names, formula, *rest))
