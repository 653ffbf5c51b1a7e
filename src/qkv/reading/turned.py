"""What a page prints and asks of turned vectors (RoPE), with the formulas that its sentences say in words.

A printed 'q at 2: [0.24, 2.22]' gets the formula of the query turned by two positions; a question for the score gets
that of the two turned vectors. From there on they are equations like any others: worked out, judged, blamed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from flint import fmpq

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluated
from qkv.library.roles import roles_in_words
from qkv.library.said import UNSCALED
from qkv.library.words import spoken
from qkv.reader.model import Question, Relation, Sheet
from qkv.reading.by_words import by_scope, free, told
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.turning import (
    Put,
    Turning,
    Vector,
    called,
    is_turned,
    is_version,
    placed,
    spots,
    turning_of,
    vectors_of,
    with_places,
)  # fmt: skip
from qkv.regex import regex

_TURNED = regex(spoken("turned"), re.IGNORECASE)
_PLAIN = regex(rf"{spoken('without')}[^.;]{{0,20}}{spoken('turned')}|un-?rotated|not (?:yet )?rotated", re.IGNORECASE)
_ROOT = regex(r"√|\\?sqrt|" + spoken("divide"), re.IGNORECASE)
_VECTORS = regex(spoken("vector"), re.IGNORECASE)
_NEAR = 60  # characters before a value that may say what it is
_TOLD = "rot"  # the label of a turned vector that has no name on the page


def with_turned(made: list[Equation], sheet: Sheet) -> tuple[list[Equation], Sheet]:
    """The equations and questions of a page that turns vectors by their positions, with what words say of them."""
    return by_scope(made, sheet, _Turned.of) if is_turned(sheet.text.lower()) else (made, sheet)


@dataclass
class _Turned:
    """The vectors of one problem, how they are turned, and the formulas that this gives."""

    turning: Turning
    vectors: list[Vector]
    known: dict[Symbol, Value]  # the numbers that the problem gives
    scope: int
    part: int
    words: str
    angles: Symbol
    quarter: Symbol
    names: dict[tuple[Symbol, int], Symbol]  # of a vector at a position
    told_of: dict[Symbol, tuple[n.Expr, int]]  # names that nobody prints, with the line that first needs them
    scaled: bool | None = None  # whether the scores that were asked for last are

    @classmethod
    def of(cls, made: Sequence[Equation], sheet: Sheet, lines: range) -> _Turned | None:
        vectors = vectors_of(made)
        if not vectors:
            return None
        text = "\n".join(sheet.lines[lines.start - 1 : lines.stop - 1])
        turning = turning_of(made, text.lower(), vectors[0].width, sheet.lines)
        if turning is None:
            return None
        questions = {question.line for question in sheet.questions}
        stated = "\n".join(sheet.lines[line - 1] for line in lines if line not in questions)
        vectors = with_places([v for v in vectors if v.width == turning.width], stated)
        used = {s for e in made for s in e.names}
        angles, quarter = (free(Symbol(letter), used) for letter in ("Theta", "J"))
        known = _known(made)
        for symbol, expr in ((angles, turning.spread), (quarter, turning.quarter)):
            if (value := evaluated(expr, known, Certified())) is not None:
                known[symbol] = value
        return cls(turning, vectors, known, made[0].scope, made[0].part, text.lower(), angles, quarter, {}, {})

    # — names —

    def name(self, vector: Vector, place: int, line: int) -> n.Expr:
        """The name of a vector at a position."""
        key = vector.symbol, place
        if key not in self.names:
            usual = (place,) == vector.places
            labels = (*vector.symbol.labels, _TOLD)
            symbol = vector.symbol._replace(
                labels=labels, indices=(*vector.symbol.indices, *(() if usual else (str(place),)))
            )
            self.names[key] = symbol
            self.told_of[symbol] = self.formula(vector, place), line
        return n.Name(self.names[key])

    def formula(self, vector: Vector, place: int) -> n.Expr:
        """A vector turned by so many positions."""
        return self.turning.of(vector.expr, place, n.Name(self.angles), n.Name(self.quarter))

    def told(self) -> Iterator[Equation]:
        """The equations for what the page has no name for, and for the angles and pairs."""
        if not self.names:
            return
        where = min(v.line for v in self.vectors)
        yield told(self.angles, self.turning.spread, where, self.scope, self.part)
        yield told(self.quarter, self.turning.quarter, where, self.scope, self.part)
        for symbol, (expr, line) in self.told_of.items():
            yield told(symbol, expr, max(line, where), self.scope, self.part)

    # — what is printed —

    def judged(self, equation: Equation) -> Equation:
        """An equation with the formula of the turned vector that it prints."""
        value = next((item for item in equation.of(Kind.VALUE)[-1:] if isinstance(item.expr, n.Matrix)), None)
        if value is None or equation.of(Kind.FORMULA) or equation.struck:
            return equation
        if sorted(value.expr.shape) == [1, self.turning.width]:  # type: ignore[union-attr]
            found = self._vector_of(equation)
            if found is None:
                return equation
            return self._with(equation, *found)
        return self._with_scores(equation, value)

    def _vector_of(self, equation: Equation) -> tuple[Vector, int] | None:
        """The vector that an equation prints turned, and where it stands: by its name, or by its label."""
        if any(v.line == equation.line and v.symbol in equation.names for v in self.vectors):
            return None
        for vector in self.vectors:
            named = any(is_version(s, vector.symbol) for s in equation.names)
            put = placed_in_label(equation.label, self.vectors) if not equation.names or named else {}
            places = put.get(vector.symbol) or (vector.places if named or vector.symbol in put else ())
            if (named or vector.symbol in put) and len(places) == 1 and self._may_be(equation, vector, places[0]):
                return vector, places[0]
        return None

    def _may_be(self, equation: Equation, vector: Vector, place: int) -> bool:
        """Whether numbers may be a vector that was turned, if not rightly: it has kept its length or that of a pair, or
        one of the components agrees. Whatever is neither may be anything else."""
        shown = _floats(evaluated(equation.items[-1].expr, {}, Certified()))
        before = _floats(evaluated(vector.given, {}, Certified()))
        after = _floats(evaluated(self.formula(vector, place), self.known, Certified()))
        if place and shown == before:
            return False
        half = len(before) // 2
        pairs = [(i, i + half) if self.turning.halves else (2 * i, 2 * i + 1) for i in range(half)]
        lengths = [[math.hypot(*x), *(math.hypot(x[a], x[b]) for a, b in pairs)] for x in (before, shown)]
        kept = any(x and math.isclose(x, y, rel_tol=0.01) for x, y in zip(*lengths, strict=True))
        return kept or any(x and math.isclose(x, y, rel_tol=0.01) for x, y in zip(after, shown, strict=False))

    def _with(self, equation: Equation, vector: Vector, place: int) -> Equation:
        symbol = next(iter(equation.names), None)
        head: tuple[Item, ...] = ()
        if symbol is None:
            symbol = vector.symbol._replace(labels=(*vector.symbol.labels, _TOLD))
            if symbol in self.names.values():
                symbol = symbol._replace(indices=(*symbol.indices, str(place)))
            head = (Item(Kind.NAME, n.Name(symbol), Relation.FIRST, equation.line, equation.column),)
        self.names.setdefault((vector.symbol, place), symbol)
        formula = Item(Kind.FORMULA, self.formula(vector, place), Relation.EQUAL, equation.line, equation.column)
        named = tuple(item for item in equation.items if item.kind is Kind.NAME)
        rest = tuple(
            item._replace(relation=Relation.EQUAL if item.relation is Relation.FIRST else item.relation)
            for item in equation.items
            if item.kind is not Kind.NAME
        )
        return replace(equation, items=(*head, *named, formula, *rest))

    def _with_scores(self, equation: Equation, value: Item) -> Equation:
        """Numbers that words call scores, as many as keys that were printed turned before them."""
        words = equation.words[-_NEAR:]
        query = next((v for v in self.vectors if v.role is Role.Q and (v.symbol, *v.places) in self.names), None)
        keys = [v for v in self.vectors if v.role is Role.K and (v.symbol, *v.places) in self.names]
        said = set(roles_in_words(words)) & {Role.SCORES, Role.SCALED, Role.WEIGHTS}
        plain = equation.names or equation.of(Kind.WORKING) or re.search(r"[·*.](?=\s*k)|\bk\s*\^?T", equation.label)
        shape = value.expr.shape if isinstance(value.expr, n.Matrix) else (0, 0)
        if (
            query is None
            or plain
            or _PLAIN.search(words)
            or Role.SCORES not in said
            or Role.WEIGHTS in said
            or shape != (1, len(keys))
        ):
            return equation
        rows = tuple(self.name(v, v.places[0], equation.line) for v in keys)
        scores: n.Expr = n.Product(self.name(query, query.places[0], equation.line), n.Transpose(n.Concat(rows, 0)))
        scaled = n.Quotient(scores, n.Root(n.number(self.turning.width)))
        first, other = (scaled, scores) if _ROOT.search(words) else (scores, scaled)
        formula = Item(Kind.FORMULA, first, Relation.FIRST, equation.line, equation.column, options=(other,))
        return replace(
            equation, items=(formula, equation.items[0]._replace(relation=Relation.EQUAL), *equation.items[1:])
        )

    # — what is asked —

    def asked(self, question: Question) -> Question:
        """A question with the formula of what it asks for: a turned vector, a score, weights."""
        text = question.text.removeprefix(question.label)
        roles = set(roles_in_words(text))
        if _PLAIN.search(text):
            return question
        put = placed(text, self.vectors)
        self.vectors = [v if v.places else replace(v, places=put.get(v.symbol, ())) for v in self.vectors]
        queries, keys = ([v for v in self.vectors if v.role is role] for role in (Role.Q, Role.K))
        weights, score = Role.WEIGHTS in roles, bool({Role.SCORES, Role.SCALED} & roles)
        follows = self.scaled is not None and bool(put)
        if _TURNED.search(text) and not (weights or score):
            expr = self._vectors_asked(text, put, question.line)
        elif (weights or score or follows) and len(queries) == 1 and keys:
            expr = self._scores(queries[0], keys, put, text, question.line, weights)
        else:
            expr = None
        if expr is None:
            return question
        return replace(question, expr=expr)

    def _places(self, vector: Vector, put: Put) -> tuple[int, ...]:
        return put.get(vector.symbol, vector.places)

    def _vectors_asked(self, text: str, put: Put, line: int) -> n.Expr | None:
        """The turned vectors that a question speaks of."""
        named = [v for v in self.vectors if v.symbol in put or mentioned(text, v, self.vectors)]
        spoken_of = named or (self.vectors if _VECTORS.search(text) else [])
        found = [self.name(v, place, line) for v in spoken_of for place in self._places(v, put)]
        if not found:
            return None
        return found[0] if len(found) == 1 else n.Concat(tuple(found), 0)

    def _scores(
        self, query: Vector, keys: Sequence[Vector], put: Put, text: str, line: int, weights: bool
    ) -> n.Expr | None:
        """The scores of the turned query over the turned keys, scaled where words say so; their softmax."""
        where = self._places(query, put)
        ends = [self.name(key, place, line) for key in keys for place in self._places(key, put)]
        if len(where) != 1 or not ends:
            return None
        stack = ends[0] if len(ends) == 1 else n.Concat(tuple(ends), 0)
        product: n.Expr = n.Product(self.name(query, where[0], line), n.Transpose(stack))
        if UNSCALED.search(text.lower()):
            self.scaled = False
        elif _ROOT.search(text):
            self.scaled = True
        elif self.scaled is None:
            self.scaled = weights and not UNSCALED.search(self.words)
        if self.scaled:
            product = n.Quotient(product, n.Root(n.number(self.turning.width)))
        made = n.Softmax(product, 1, by_rows=True) if weights else product
        usual = all(self._places(v, put) == v.places for v in (query, *keys))
        indices = () if usual else tuple(str(p) for v in (query, *keys) for p in self._places(v, put))
        symbol = Symbol("weights" if weights else "score", (_TOLD,), indices)
        while symbol in self.told_of:
            symbol = symbol._replace(primes=symbol.primes + 1)
        self.told_of[symbol] = made, line
        return n.Name(symbol)


def _known(made: Sequence[Equation]) -> dict[Symbol, Value]:
    """What the names of a problem are worth that its numbers alone tell."""
    known: dict[Symbol, Value] = {}
    pi = evaluated(n.Call("pi", (n.number(1),)), {}, Certified())
    if pi is not None:
        known[Symbol("pi")] = pi
    for equation in made:
        value = evaluated(equation.items[-1].expr, known, Certified())
        if value is not None:
            known |= {symbol: value for symbol in equation.names if symbol not in known}
    return known


def _floats(value: Value | None) -> list[float]:
    """All cells of a value as floats, which decide nothing but whether it may be meant."""
    cells = [cell for row in value.rows for cell in row] if value is not None else []
    return [float(cell.p) / float(cell.q) if isinstance(cell, fmpq) else float(cell) for cell in cells]  # type: ignore[arg-type]


def mentioned(text: str, vector: Vector, vectors: Sequence[Vector]) -> bool:
    """Whether a text speaks of a vector."""
    return any(vector.symbol in who for who, _ in spots(text, vectors))


def placed_in_label(label: str, vectors: Sequence[Vector]) -> Put:
    """The vector that a label begins with, and the number behind it: 'k1 at 1', 'q'."""
    for vector in vectors:
        found = called(vector.symbol).match(label.strip(" -*•"))
        if found:
            number = re.fullmatch(
                r"['′~̃\s]*(?:\w{1,9}\.?\s+){0,3}(?P<place>\d{1,4})?\s*(?P<degrees>[°º].*)?[\s:=]*",
                label.strip(" -*•")[found.end() :],
            )
            if number and (number["place"] is None or not number["degrees"]):
                return {vector.symbol: (int(number["place"]),) if number["place"] else vector.places}
            if number:
                return {vector.symbol: vector.places}
    return {}
