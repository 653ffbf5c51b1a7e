"""Questions that nothing on the page answers, but for a name that they call: 'the variance of h', 'apply LayerNorm'.

Each is worked out by the rows of library/asked.py for the one array that it speaks of: the one that it names, what the
question before it came to, or the only array that is given and is no weight of a layer.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import one_hot
from qkv.interpret.certified import Value
from qkv.library.around_said import ALIASES, FROM_ONE, target_said
from qkv.library.asked import asked_for, is_named, operand_said, rows
from qkv.library.rows import Row, renamed
from qkv.program.model import Answer, Given, Part, Program, Step
from qkv.reading.asked import questions_of
from qkv.reading.page import Page
from qkv.regex import regex
from qkv.solving.known import known_values

_STATE, _TARGET = Symbol("X"), Symbol("T", ("y",))
_OF_ONE = frozenset({"mu", "v", "sigma", "Y", "N", "rho", "R", "P", "H", "ell", "PPL", "D"})  # steps of one computation
_NEAR = 3  # lines from an array to a question about it
_NO_EPSILON = regex(
    r"(?:no|without|ohne|sans|sin|sem|senza) ε?\(?(?:eps|ε|\\varepsilon)|(?:eps(?:ilon)?|ε) ?= ?0(?![.,]\d)",
    re.IGNORECASE,
)
# What questions call the names of the rows, beside what blocks do.
_ALIASES = {**ALIASES, "g": "gamma_1", "gain": "gamma_1", "W_vocab": "W_U", "W_lm": "W_U"}


def with_open_questions(program: Program, page: Page, scope: int) -> Program:
    """The program with steps for each question that is open and names what it wants, as far as it can be worked out."""
    if program.columns:
        return program
    lines = {answer.line for answer in program.answers}
    left = (Answer(q.label, q.text, q.line) for q in questions_of(page, scope) if q.line not in lines and not q.expr)
    answers = sorted((*program.answers, *left), key=lambda answer: answer.line)
    if not any(_is_open(answer) and any(asked_for(answer.text)) for answer in answers):
        return program
    made = _Asked(replace(program, answers=tuple(answers)), page.words_of(scope).lower()).program
    return replace(made, answers=tuple(a for a in made.answers if a.line in lines or a.parts))


@lru_cache(maxsize=1)
def _names() -> dict[str, Symbol]:
    """What the rows are made of, by its plain name."""
    return {symbol_plain(symbol): symbol for row in rows() for symbol in n.names_in(row.expr)}


def _is_open(answer: Answer) -> bool:
    return not answer.parts and not answer.says


class _Asked:
    """A program while its open questions are answered one after the other."""

    def __init__(self, program: Program, words: str) -> None:
        self.program, self.words = program, words
        names = {name: symbol for name, symbol in _names().items() if name != "X"}
        self.meant = {names[name]: given.symbol for given in program.givens if (name := _named(given)) in names}
        self.conventions = frozenset({_activation(words, Symbol("W", (), ("3",)) in self.meant)})
        self.state: Symbol | None = None
        self.made_of: dict[Symbol, Symbol] = {}  # what was worked out here, and of which array
        answers = []
        for answer in program.answers:
            made = self._answered(answer) if _is_open(answer) else answer
            last = made.parts[-1].expr if made.parts else None
            self.state = last.symbol if isinstance(last, n.Name) else self.state
            answers.append(made)
        self.program = replace(self.program, answers=tuple(answers))

    def _answered(self, answer: Answer) -> Answer:
        wanted = list(asked_for(answer.text))
        values = self._values()
        state = self._operand(answer, values) if wanted else None
        if state is None:
            return answer
        state = self.made_of.get(state, state) if set(wanted) <= _OF_ONE else state
        meant = {**self.meant, _STATE: state, **self._target(values[state])}
        made = self.program.item(state)
        if isinstance(made, Step) and isinstance(made.expr, n.Softmax):
            meant[Symbol("P")] = state  # shares, of which nobody takes a softmax again
        if _NO_EPSILON.search(answer.text):
            meant.pop(_names()["epsilon"], None)
        before = self.program
        found = [symbol for key in wanted if (symbol := self._step(key, meant)) is not None]
        if len(found) < len(wanted):
            self.program = before
            return answer
        parts = tuple(Part(self._spelled(symbol), n.Name(symbol)) for symbol in found)
        return replace(answer, parts=parts, missing="", lets=())

    def _operand(self, question: Answer, values: dict[Symbol, Value]) -> Symbol | None:
        """The array that a question speaks of: it names it, it goes on from the question before, there is no other, or
        it stands right above."""
        weights = set(self.meant.values())
        arrays = [item for item in self.program.items if item.symbol in values and values[item.symbol].shape != (1, 1)]
        arrays = [item for item in arrays if item.symbol not in weights]
        for words in (operand_said(question.text), question.text):
            named = (item.symbol for item in arrays if item.spelled and is_named(item.spelled, words))
            if (symbol := next(named, None)) is not None:
                return symbol
        if self.state in values:
            return self.state
        given = [item.symbol for item in arrays if isinstance(item, Given)]
        near = [item.symbol for item in arrays if item.line and 0 <= question.line - item.line < _NEAR]
        return given[0] if len(given) == 1 else near[0] if near else None

    def _target(self, state: Value) -> dict[Symbol, Symbol]:
        """The word that is right, where the page says which, as a row with a single 1."""
        width = state.shape[1]
        logits = self.program.item(self.meant.get(Symbol("W", ("U",)), Symbol("")))
        if isinstance(logits, Given) and isinstance(logits.expr, n.Matrix):
            width = logits.expr.shape[1]
        target = target_said(self.words, width, from_one=bool(FROM_ONE.search(self.words)))
        if target is None or not 0 <= target < width:
            return {}
        if self.program.item(_TARGET) is None:
            given = Given(_TARGET, one_hot([target], width), Role.BLOCK, symbol_plain(_TARGET))
            self.program = replace(self.program, givens=(*self.program.givens, given))
        return {_TARGET: _TARGET}

    def _step(self, key: str, meant: dict[Symbol, Symbol]) -> Symbol | None:
        """The name of what a row gives for an array, with the steps that lead there, if nothing is missing."""
        for row in rows():
            if symbol_plain(row.symbol) == key and row.when <= self.conventions:
                made = self._by(row, meant)
                if made is not None:
                    return made
        return None

    def _by(self, row: Row, meant: dict[Symbol, Symbol]) -> Symbol | None:
        names = dict(meant)
        for symbol in n.names_in(row.expr):
            if symbol not in names:
                made = self._step(symbol_plain(symbol), meant) if symbol != row.symbol else None
                if made is None:
                    return None
                names[symbol] = made
        expr = renamed(row.expr, names)
        same = next((step for step in self.program.steps if step.expr == expr), None)
        if same is not None:
            return same.symbol
        symbol = row.symbol
        while self.program.item(symbol) is not None:
            symbol = symbol._replace(primes=symbol.primes + 1)
        step = Step(symbol, expr, Role.BLOCK, symbol_plain(symbol), says=row.says)
        if symbol not in self._values(step):
            return None
        self.program = replace(self.program, steps=(*self.program.steps, step))
        self.made_of[symbol] = meant[_STATE]
        return symbol

    def _values(self, *more: Step) -> dict[Symbol, Value]:
        return known_values((*self.program.givens, *self.program.steps, *more))

    def _spelled(self, symbol: Symbol) -> str:
        return next((item.spelled for item in self.program.items if item.symbol == symbol), symbol_plain(symbol))


def _named(given: Given) -> str:
    """What a given is called in the rows, if they have it."""
    name = symbol_plain(given.symbol)
    if isinstance(given.expr, n.Number) and _ALIASES.get(name, name) in ("epsilon", "tau") and given.expr.value <= 0:
        return ""  # ε = 0 is none
    return _ALIASES.get(name, name)


def _activation(words: str, gated: bool) -> str:
    if gated:
        return "geglu" if "gelu" in words else "swiglu"
    return "gelu" if "gelu" in words else "silu" if re.search("silu|swish", words) else "relu"
