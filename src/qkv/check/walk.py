"""A walk through one problem: the author's numbers, and the claims so far."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from qkv.check.author import Author
from qkv.check.cells import Grid, Judged, fitted, judge_grid, shape_of
from qkv.check.model import Claim, Verdict
from qkv.errors import Location, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import START_BITS
from qkv.interpret.certified import Value
from qkv.program.model import Given
from qkv.records import dataclass, record, replace
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.problems import Problem
from qkv.understand.repair import similar
from qkv.understand.resolve import family_of
from qkv.understand.roles import HYPOTHETICAL, REPLACED

if TYPE_CHECKING:
    from qkv.check.runs import Run

REACH = 6  # lines that an answer to 'what if' takes
FALSE = frozenset({Verdict.WRONG, Verdict.CARRIED})  # what was misread is damaged text: its author had it right
ENDS_OPEN = "ends with ×"  # the reader's note on a product that goes on elsewhere
_PLAIN = re.compile(r"[-−]?\d+(?:\.\d+)?")
SLIPS = frozenset({Verdict.WRONG, Verdict.MISREAD})
Judgement = tuple[tuple[Judged, ...], ...]
Ratio = tuple[int, int]  # a printed number: hashing and comparing a Fraction takes many times as long


@dataclass
class Walk:
    """The state of a walk: what the author holds, every claim so far, and the last workings of each subject."""

    problem: Problem
    author: Author
    claims: list[Claim]
    exercises: tuple[int | None, ...] = ()  # for each part of the sheet, the exercise that it belongs to
    workings: dict[Symbol, list[n.Expr]] = field(default_factory=dict)
    shown: dict[tuple[Location, Symbol], Verdict] = field(default_factory=dict)  # the verdict on a quantity in a chain
    rows_seen: dict[Symbol, int] = field(default_factory=dict)
    queries: dict[int, int] = field(default_factory=dict)  # rows of scores and weights that were right → the last line
    families: dict[tuple[str, ...], Symbol] = field(default_factory=dict)  # a_1, a_2, … turned out to be cells of this
    copied: dict[int, tuple[int, ...]] = field(default_factory=dict)  # id(working) → false copies among its operands
    versions: dict[int, list[Source]] = field(default_factory=dict)  # id(working) → products of side-by-side versions
    runs: dict[tuple[int, int], Run] = field(default_factory=dict)  # rows that were shown in a place of a line
    false_prints: dict[Ratio, int] = field(default_factory=dict)  # numbers shown by a false cell, and its claim
    good_prints: set[Ratio] = field(default_factory=set)  # numbers that are given, or shown by a cell that is not
    supposed: int = 0  # the last line of what follows from replacing something that is given
    sizes: dict[Symbol, n.Number] = field(default_factory=dict)  # d_k = 64: the last size that was said
    grids: dict[int, tuple[n.Expr, Grid | None]] = field(default_factory=dict)  # id(operand) → it, cell by cell
    _true: dict[Hashable, tuple[n.Expr, Value]] = field(default_factory=dict)  # the true values asked for so far
    _taken: dict[tuple[n.Entry, int], n.Entry] = field(default_factory=dict)  # see taken_of
    _given_lines: dict[Symbol, int] = field(default_factory=dict)  # see known_from
    _supposing: dict[str, bool] = field(default_factory=dict)  # words before a chain → whether they suppose something

    def __post_init__(self) -> None:
        """Let formulas know what the names of cells turned out to be; what is given is good."""
        matrices = (given.expr for given in self.problem.program.givens if isinstance(given.expr, n.Matrix))
        self.good_prints |= {
            cell.value.as_integer_ratio() for m in matrices for row in m.rows for cell in row if type(cell) is n.Number
        }
        resolver = replace(self.problem.resolver, families=self.families)
        self.problem = replace(self.problem, resolver=resolver)

    def blame_of(self, expr: n.Expr) -> tuple[int, ...]:
        """The false claims whose numbers are typed into a working; a number that is also shown rightly blames none."""
        false = self.false_prints.keys() - self.good_prints
        if not false or _is_dot_product(expr):
            return ()
        typed = {part.value.as_integer_ratio() for part in n.walk(expr) if isinstance(part, n.Number)}
        return tuple(sorted([self.false_prints[value] for value in false & typed]))

    def note_prints(self, claim: Claim) -> None:
        """Remember the numbers that a claim shows."""
        false = {(cell.row, cell.column) for cell in claim.cells if cell.verdict in FALSE}
        for i, row in enumerate(claim.shown, 1):
            for j, text in enumerate(row, 1):
                value = _decimal(text)
                if value is not None and (i, j) in false:
                    self.false_prints.setdefault(value, claim.id)
                elif value is not None:
                    self.good_prints.add(value)

    def is_foreign(self, fact: Fact) -> bool:
        """Whether a fact may speak of something else than the problem's own quantities: it stands in a later exercise
        that gives nothing of its own, or the words before it change what was given ('let the third row be …')."""
        if self.exercise(fact) not in self.homes:
            line = fact.statement.at.line
            if any(home is not None for home, first in self.homes.items() if first < line):
                return True  # else given for all of them
        return self._is_supposed(fact)

    def _is_supposed(self, fact: Fact) -> bool:
        """'Suppose A = [..] and B = [..]': what a sentence supposes; what follows if 'k_3 is replaced by …'."""
        before, line = fact.statement.before, fact.statement.at.line
        if self._supposes(before):
            self.supposed = line + REACH if REPLACED.search(before) else self.supposed
            return True
        if line <= self.supposed:
            return True
        if len(before) > 12 or "." in before:
            return False
        here = self.on_line[line]
        last = next((here[i - 1] for i, other in enumerate(here[:9]) if i and other.statement is fact.statement), None)
        return last is not None and self._supposes(last.statement.before)

    def _supposes(self, words: str) -> bool:
        """Whether words suppose something; most chains have none before them, or those of another chain."""
        if words and words not in self._supposing:
            self._supposing[words] = bool(HYPOTHETICAL.search(words))
        return bool(words) and self._supposing[words]

    def exercise(self, fact: Fact) -> int | None:
        """The exercise that a fact belongs to."""
        part = fact.statement.part
        return self.exercises[part] if part < len(self.exercises) else None

    @cached_property
    def on_line(self) -> dict[int, list[Fact]]:
        """The facts that begin on each line."""
        found: dict[int, list[Fact]] = {}
        for fact in self.problem.facts:
            found.setdefault(fact.statement.at.line, []).append(fact)
        return found

    @cached_property
    def given_on(self) -> dict[Symbol, int | None]:
        """The line on which each given is given."""
        return {given.symbol: given.line for given in self.problem.program.givens}

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """The heads of the problem, by number."""
        return tuple(sorted({item.head for item in self.problem.program.items if item.head is not None}))

    @cached_property
    def homes(self) -> dict[int | None, int]:
        """The exercises in which the problem begins or gives something, and the line from which they do."""
        lines = set(self.given_on.values())
        first = self.problem.facts[0]
        giving = [f for f in self.problem.facts if f.value is not None and f.value.at.line in lines]
        return {self.exercise(fact): fact.statement.at.line for fact in (*reversed(giving), first)}

    @property
    def minds(self) -> tuple[Author, ...]:
        """The author by the print; and without slips of the pen, where there may be some."""
        return self.author, *self.author.in_mind

    def is_printed(self, symbol: Symbol) -> bool:
        """Whether all of a quantity was printed, at once or row by row."""
        return symbol in self.author.printed and not self.author.missing.get(symbol)

    @cached_property
    def plural(self) -> frozenset[Symbol]:
        """Names that are given different values with no word on how they came: one for each setting, or attempt."""
        return differing([f for f in self.problem.facts if f.formula is None and f.working is None])

    @cached_property
    def varied(self) -> frozenset[Symbol]:
        """Names that are given different values, however they came."""
        return differing(self.problem.facts)

    def taken_of(self, formula: n.Expr, entry: n.Entry) -> n.Entry:
        """The same row, column or cell of what a formula gives; one node, so that what is known of it is found."""
        key = entry, id(formula)
        if key not in self._taken:
            self._taken[key] = replace(entry, arg=formula)
        return self._taken[key]

    def known_from(self, expr: n.Expr) -> int:
        """The last line on which something is given that an expression stands on; q_1 stands on x_1 alone."""
        if (parts := self._parts_of_row(expr)) is not None:
            return max(map(self.known_from, parts))
        return max(map(self._given_by, n.names_in(expr)), default=0)

    def _given_by(self, symbol: Symbol) -> int:
        line = self._given_lines.get(symbol)
        if line is None:
            item = self.problem.program.item(symbol)
            below = self.known_from(item.expr) if item is not None else 0  # X may be a stack of x_1, x_2
            own = item.line or 0 if isinstance(item, Given) else 0
            line = self._given_lines[symbol] = max(own, below)
        return line

    def _parts_of_row(self, expr: n.Expr) -> tuple[n.Expr, ...] | None:
        """What a row of a stack, or of a product, is made of."""
        inner = expr.arg if isinstance(expr, n.Transpose) else expr
        if not isinstance(inner, n.Entry) or not isinstance(inner.arg, n.Name) or inner.row is None:
            return None
        row, item = inner.row, self.problem.program.item(inner.arg.symbol)
        if item is None:
            return None
        if isinstance(item.expr, n.Concat) and item.expr.axis == 0 and row <= len(item.expr.parts):
            return (item.expr.parts[row - 1],)
        match item.expr:
            case n.Product(left=whole, right=beside) | n.Quotient(numerator=whole, denominator=beside):
                return n.Entry(whole, row=row), beside
            case n.Softmax(arg=scores, axis=1) | n.Normalise(arg=scores, axis=1):
                return (n.Entry(scores, row=row),)
            case _:
                return None

    def family(self, fact: Fact) -> Symbol | None:
        """The quantity that a name's siblings turned out to be parts of: a_4 is a weight if a_1 was one."""
        return self.families.get(family_of(fact.symbol)) if fact.symbol is not None else None

    def evaluated(self, expr: n.Expr) -> Value | None:
        """The true value of an expression, if it has one."""
        try:
            return self.true(expr)
        except QkvError:
            return None

    def true(self, expr: n.Expr, bits: int = START_BITS) -> Value:
        """The true value of an expression, worked out once."""
        if isinstance(expr, n.Name):
            return self.problem.trace.value(expr.symbol, bits)
        key = n.key(expr), bits
        known = self._true.get(key)
        if known is None:  # kept with the expression: its id may be the key
            known = self._true[key] = expr, self.problem.trace.evaluate(expr, bits)
        return known[1]


def differing(facts: Iterable[Fact]) -> frozenset[Symbol]:
    """The names that are shown with different values beside one head."""
    prints: dict[tuple[Symbol, int | None], list[n.Matrix]] = {}
    for fact in facts:
        if fact.value is None or not fact.subjects or fact.pending or fact.statement.struck:
            continue
        value = None if fact.value.note.endswith(ENDS_OPEN) else fact.shown
        if value is not None and max(value.shape) > 1:
            prints.setdefault((fact.subjects[0].symbol, fact.head), []).append(value)
    return frozenset(
        symbol
        for (symbol, _), values in prints.items()
        if any(value.shape == values[0].shape and not similar(value, values[0], rounded=True) for value in values[1:])
    )


@record(frozen=True)
class Source:
    """A way in which the author may have come to a value: its numbers, and the false claims that it stands on."""

    value: Value
    blamed: tuple[int, ...]
    expr: n.Expr | None = None


def judged_against(walk: Walk, expr: n.Expr, grid: Grid, sources: list[Source]) -> Judgement | None:
    """Every shown cell against the true value of an expression and the author's sources; None if shapes differ."""
    shape = shape_of(grid)

    def true(bits: int) -> Value:
        value = fitted(walk.true(expr, bits), shape)
        if value is None:
            raise QkvError("the shown value has another shape")
        return value

    try:
        return judge_grid(grid, true, [source.value for source in sources])
    except QkvError:
        return None


def add_claim(walk: Walk, fact: Fact, link: Link, name: str, verdict: Verdict, **more: object) -> Claim:
    """Write a claim down."""
    claim = Claim(
        id=len(walk.claims) + 1,
        line=link.at.line,
        end_line=link.at.line + link.text.strip().count("\n"),
        name=name,
        formula=str(more.pop("formula", "")),
        text=link.text.strip(),
        verdict=verdict,
        column=link.at.column,
        **more,  # type: ignore[arg-type]
    )
    walk.claims.append(claim)
    walk.note_prints(claim)
    return claim


@lru_cache(maxsize=1024)  # the same few numbers are shown again and again
def _decimal(text: str) -> Ratio | None:
    """The number that a cell shows, if it is a plain one."""
    return Fraction(text.replace("−", "-")).as_integer_ratio() if _PLAIN.fullmatch(text) else None


def _is_dot_product(expr: n.Expr) -> bool:
    """2·0 + 1·3: of vectors that were given, whatever else was 3 before."""
    terms = expr.terms if isinstance(expr, n.Sum) else (expr,)
    factors = [n.factors(term) for term in terms if isinstance(term, n.Product)]
    whole = all(isinstance(x, n.Number) and not x.places for pair in factors for x in pair)
    return len(factors) == len(terms) and whole
