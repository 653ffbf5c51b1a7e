"""A worked solution as a document: title, task, givens, steps; with the place of every value."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.trace import Table
from qkv.practice.chains import Shown, Writer, given_texts, tokens_of
from qkv.practice.hand import Line, Style
from qkv.practice.notation import Chain
from qkv.practice.pen import USUAL, Dress, Page, Pen
from qkv.practice.words import LANGUAGES, Words
from qkv.program.model import Given, Program, Step

R = Role
OPENED = frozenset({R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.HEAD})
ASKED = "{} = ?"  # how a page without prose asks


@dataclass(frozen=True, slots=True)
class Placed:
    """A shown part of a step and its first and last line in the document."""

    shown: Shown
    line: int
    end_line: int


@dataclass(frozen=True)
class Author:
    """Writes documents about one program, in one style and one dress."""

    program: Program
    style: Style
    dress: Dress

    def solution(self, lines: tuple[Line, ...]) -> tuple[str, tuple[Placed, ...]]:
        """The worked document, and where each part of the working stands in it."""
        page, rng = Page(), Random(self.dress.turns)
        self._begin(page, rng)
        before = len(page.places)
        first = self.dress.pens[0].notation
        page.heading(first, self._words.solution)
        written: list[Shown] = []
        for head, group in _groups(lines):
            if head is not None:
                page.heading(first, self._words.head.format(head))
            elif group[0].step.role in (R.CONCAT, R.OUTPUT) and len(lines) > len(group):
                page.heading(first, self._words.together)
            turns = [(line, rng.choice(self.dress.pens)) for line in group]
            parts = [(pen, part) for line, pen in turns for part in self._writer(lines, pen).shown(line)]
            page.write([(pen.notation, part.chain) for pen, part in parts])
            written += [part for _, part in parts]
        page.say(*first.foot)
        places = page.places[before:]
        return page.text, tuple(Placed(part, *place) for part, place in zip(written, places, strict=True))

    def assignment(self) -> tuple[str, Symbol]:
        """The problem without its working: the formula of every step where formulas are stated, and what is asked."""
        page, rng = Page(), Random(self.dress.turns)
        self._begin(page, rng)
        pen = self.dress.pens[0]
        steps = self.program.steps if self.style.formulas else ()
        for step in steps:
            if step.role is not R.MASKED:  # the task says in words what is masked
                formula = pen.show(n.rewrite(step.expr, self._unmasked))
                page.say("", pen.math(f"{pen.name(step.symbol)} = {formula}"))
        asked = self.program.steps[-1].symbol
        page.say("", (self._words.task or ASKED).format(pen.math(pen.name(asked))), *pen.notation.foot)
        return page.text, asked

    def _unmasked(self, part: n.Expr) -> n.Expr:
        item = self.program.item(part.symbol) if isinstance(part, n.Name) else None
        return _opened(item.expr, self.program) if isinstance(item, Step) and item.role is R.MASKED else part

    @property
    def _words(self) -> Words:
        return LANGUAGES[self.dress.language]

    def _writer(self, lines: tuple[Line, ...], pen: Pen) -> Writer:
        return Writer(lines, self.program, self.style, pen, self._words.roles)

    def _begin(self, page: Page, rng: Random) -> None:
        """Title, task and givens."""
        if self.dress.above:
            page.say(*self.dress.above.rstrip().splitlines())
            return
        pen = self.dress.pens[0]
        page.say(*pen.notation.head)
        page.heading(pen.notation, self._words.title.format(self.program.kind.capitalize()))
        if self._words.task:
            page.say(self._task(pen), "")
        givens = [given for given in self.program.givens if not given.implied or self._says_sizes]
        if self.dress.order:
            Random(self.dress.order).shuffle(givens)
        turns = [(given, rng.choice(self.dress.pens)) for given in givens]
        page.write([(pen.notation, chain) for given, pen in turns for chain in self._given(given, pen)])

    @property
    def _says_sizes(self) -> bool:
        """Whether sizes are stated among the givens: where no sentence says them, and under names of their own."""
        return self.dress.names is not USUAL or not self._words.here

    def _task(self, pen: Pen) -> str:
        """What is asked, with the formula that decides about the scale."""
        said = [self._words.task.format(pen.math(pen.show(_formula(self.program))))]
        if any(step.role is R.MASKED for step in self.program.steps):
            said.append(self._words.mask)
        if self.program.columns:
            said.append(self._words.columns)
        size = next((given for given in self.program.givens if given.role is R.D_K), None)
        if size is not None:
            said.append(self._words.here.format(pen.math(f"{pen.name(size.symbol)} = {plain(size.expr)}")))
        return " ".join(said)

    def _given(self, given: Given, pen: Pen) -> list[Chain]:
        """A given as one matrix, or token by token: x_1, x_2, …"""
        table = given_texts(given)
        words = self._words.roles.get(given.role, "")
        letter = {R.X: "x", R.STATES: "h"}.get(given.role)
        if letter and given.role in self.style.by_row:
            return [_token(words if i == 1 else "", letter, i, row, pen) for i, row in enumerate(table, 1)]
        return [Chain(words, (), table, True, pen.name(given.symbol), tokens_of(given.role, self.program))]


def _token(words: str, letter: str, i: int, row: tuple[str, ...], pen: Pen) -> Chain:
    value: Table = (row,)
    return Chain(words, (), value, True, pen.name(Symbol(letter, (), (str(i),))))


def _groups(lines: tuple[Line, ...]) -> list[tuple[int | None, list[Line]]]:
    groups: list[tuple[int | None, list[Line]]] = []
    for line in lines:
        if not groups or groups[-1][0] != line.step.head:
            groups.append((line.step.head, []))
        groups[-1][1].append(line)
    return groups


def _formula(program: Program) -> n.Expr:
    """softmax(Q Kᵀ / √d_k) V: what mixes the values, with everything down to queries, keys and values put in; of a
    block its last quantity."""
    if program.steps[-1].role is R.BLOCK:
        return n.Name(program.steps[-1].symbol)
    expr = next(step for step in program.steps if step.role in (R.HEAD, R.OUTPUT, R.CONTEXT)).expr
    for _ in range(4):
        expr = n.rewrite(expr, lambda part: _opened(part, program))
    return expr


def _opened(part: n.Expr, program: Program) -> n.Expr:
    if isinstance(part, n.Mask):
        return part.arg
    item = program.item(part.symbol) if isinstance(part, n.Name) else None
    return item.expr if isinstance(item, Step) and item.role in OPENED else part
