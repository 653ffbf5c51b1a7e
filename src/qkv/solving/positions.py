"""Positions that a question asks for by their numbers: 'Compute PE(3)', 'the encoding of positions 0, 1 and 2'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from qkv.check.cells import may_agree
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import sinusoids
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluated
from qkv.library.around_said import PLACE_NUMBERED, PLACES_ASKED, WIDTH
from qkv.program.model import Answer, Part, Program, Step
from qkv.reader.model import Question
from qkv.reading.asked import questions_of
from qkv.reading.equation import Kind
from qkv.reading.page import Page

_BASE = 10000
_MOST = 64  # columns of an encoding that are written out
_WIDTHS = frozenset({"d_model", "d", "D", "d_emb", "dim"})
_TRIED = ((2, 1, 8), (5, 0, 6))  # a position, a pair of columns and a width at which a formula is tried


def with_positions(program: Program, page: Page, scope: int) -> Program:
    """The program with the sinusoidal encodings of the positions that its questions number, if it has no others."""
    words = page.words_of(scope).lower()
    learned = "learn" in words and "sin" not in words
    if learned or program.item(Symbol("PE")) is not None or not PLACES_ASKED.search(words):
        return program
    width, base = _width(program, words), _base(page, scope)
    if width is None or base is None:
        return program
    steps: dict[Symbol, Step] = {}
    answers = {answer.line: answer for answer in program.answers}
    for question in questions_of(page, scope):
        known = answers.get(question.line)
        if known is not None and known.parts:
            continue  # the page's formulas answer it
        asked = [_step(place, width, base) for place in _places(question.text)]
        steps |= {step.symbol: step for step in asked if program.item(step.symbol) is None}
        if asked:
            answers[question.line] = _answer(question, known, asked)
    if not steps:
        return program
    ordered = tuple(answers[line] for line in sorted(answers))
    return replace(program, steps=(*program.steps, *steps.values()), answers=ordered)


def _answer(question: Question, known: Answer | None, steps: list[Step]) -> Answer:
    parts = tuple(Part(step.spelled, n.Name(step.symbol)) for step in steps)
    if known is not None:
        return replace(known, parts=parts, says="", missing="")
    return Answer(question.label, question.text, question.line, parts)


def _step(place: int, width: int, base: int) -> Step:
    row = sinusoids(1, width, n.number(base), place)
    return Step(Symbol("PE", (), (str(place),)), row, Role.BLOCK, f"PE({place})", says=f"position {place}")


def _places(text: str) -> list[int]:
    """The positions that a question numbers, each once.

    >>> _places("PE(0), PE(1) and PE(3)"), _places("for positions 0, 1 and 2 with d = 4"), _places("positions 0 to 3")
    ([0, 1, 3], [0, 1, 2], [0, 1, 2, 3])
    """
    found: dict[int, None] = {}
    for match in PLACE_NUMBERED.finditer(text):
        numbers = [int(number) for number in re.findall(r"\d+", match["numbers"])]
        if (
            re.search(r"to|bis|à|–|-|до|至|到", match["numbers"])
            and len(numbers) == 2
            and numbers[0] < numbers[1] < _MOST
        ):
            numbers = list(range(numbers[0], numbers[1] + 1))
        found |= dict.fromkeys(numbers)
    return list(found)


def _width(program: Program, words: str) -> int | None:
    """How many numbers an encoding has: a given d_model, or what the words say."""
    given = [g.expr for g in program.givens if symbol_plain(g.symbol) in _WIDTHS and isinstance(g.expr, n.Number)]
    said = WIDTH.search(words)
    width = (
        int(given[0].value) if given and given[0].value.denominator == 1 else int(said[1] or said[2]) if said else None
    )
    return width if width is not None and 1 < width <= _MOST else None


def _base(page: Page, scope: int) -> int | None:
    """The base of the page's own formula for sines, or the usual one; None where its formula is another one."""
    waves = list(_waves(page, scope))
    if not waves:
        return _BASE
    powers = [node.base for wave in waves for node in n.walk(wave) if isinstance(node, n.Power)]
    base = next((int(node.value) for node in powers if isinstance(node, n.Number) and node.value > 1), None)
    return base if base is not None and all(_is_usual(wave, base) for wave in waves) else None


def _waves(page: Page, scope: int) -> Iterator[n.Call]:
    """The formulas of a page that are the sine or the cosine of an angle with names in it."""
    for equation in page.equations:
        for item in equation.of(Kind.FORMULA) if equation.scope == scope else ():
            wave = isinstance(item.expr, n.Call) and item.expr.function in ("sin", "cos")
            if wave and isinstance(item.expr, n.Call) and n.names_in(item.expr):
                yield item.expr


def _is_usual(wave: n.Call, base: int) -> bool:
    """Whether a formula over a position, a pair and a width is sin or cos of p / base^(2i/d)."""
    names = sorted(n.names_in(wave), key=symbol_plain)
    width = next((name for name in names if symbol_plain(name) in _WIDTHS), None)
    pair = next((name for name in names if symbol_plain(name) in ("i", "k", "j")), None)
    place = next((name for name in names if name not in (width, pair)), None)
    if width is None or pair is None or place is None or len(names) != 3:
        return False
    for p, i, d in _TRIED:
        made = evaluated(wave, {place: _number(p), pair: _number(i), width: _number(d)}, Certified())
        row = sinusoids(1, d, n.number(base), p).rows[0]
        usual = evaluated(row[2 * i + (wave.function == "cos")], {}, Certified())
        if made is None or usual is None or not may_agree(made, usual):
            return False
    return True


def _number(value: int) -> Value:
    made = evaluated(n.number(value), {}, Certified())
    assert made is not None
    return made
