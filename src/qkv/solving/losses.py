"""Losses of probabilities that sentences say: 'the right token has the probability 0.31: cross-entropy, perplexity?'"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.around_said import LOSS, LOSS_ASKED, LOSS_SAID, OF_TOKENS, PROBABLE, TARGET, TARGET_NAMED
from qkv.program.model import Answer, Given, Part, Program, Step
from qkv.reader.model import Question
from qkv.reading.asked import questions_of
from qkv.reading.page import Page

_NUMERAL = re.compile(r"(\d*[.,]\d+|\d+)\s?(%)?")
_LISTED = re.compile(
    r"\[?[\w'\"“”‘’<>]+(?:\s*,\s*[\w'\"“”‘’<>]+)+(?:,?\s*(?:and|und|et|y|e|or|и)\s+[\w'\"“”‘’<>]+)?\]?"
)
SHARES, EACH, MEAN, PERPLEXITY = Symbol("p"), Symbol("ell"), Symbol("loss"), Symbol("PPL")


def target_said(words: str, count: int, from_one: bool = False) -> int | None:
    """The index, from 0, of the class that is right: by its number, or by its name in a list of as many names.

    >>> target_said("logits for the classes cat, dog, bird. the correct class is dog.", 3), target_said("target = 2", 3)
    (1, 2)
    """
    if (numbered := TARGET.search(words)) is not None:
        return int(numbered[1]) - from_one
    named = TARGET_NAMED.search(words)
    for found in _LISTED.finditer(words) if named is not None else ():
        names = [
            re.sub(r"^(?:and|und|et|y|e|or|и)\s|\W", "", name.strip())
            for name in re.split(r",|\s(?:and|und|et|y|or)\s", found[0])
        ]
        names = [name for name in names if name]
        if named is not None and len(names) == count and names.count(named["name"]) == 1:
            return names.index(named["name"])
    return None


def with_losses(program: Program, page: Page, scope: int) -> Program:
    """The program with the loss of each token, their mean and the perplexity, where questions ask for one of them."""
    words = page.words_of(scope).lower()
    asked = [question for question in questions_of(page, scope) if LOSS_ASKED.search(question.text.lower())]
    if not asked or program.steps or not LOSS.search(words):
        return program
    given, steps = _worked(words)
    if given is None:
        return program
    answers = {answer.line: answer for answer in program.answers}
    for question in asked:
        answers[question.line] = _answer(question, answers.get(question.line), steps)
    ordered = tuple(answers[line] for line in sorted(answers))
    return replace(program, givens=(given,), steps=steps, answers=ordered)


def _worked(words: str) -> tuple[Given | None, tuple[Step, ...]]:
    """What is given, probabilities or a loss, and what follows from it."""
    if (said := LOSS_SAID.search(words)) is not None and not PROBABLE.search(words):
        base = n.number(2) if "bit" in words else None
        loss = n.Name(MEAN)
        power: n.Expr = n.Power(base, loss) if base is not None else n.Exp(loss)
        given = Given(MEAN, n.number(said[1].replace(",", ".")), Role.BLOCK, "loss")
        return given, (Step(PERPLEXITY, power, Role.BLOCK, "PPL", says="perplexity"),)
    shares = list(_probabilities(words))
    if not shares:
        return None, ()
    row = n.Matrix((tuple(map(n.number, shares)),))
    return Given(SHARES, row, Role.BLOCK, "p"), (
        Step(EACH, n.Negate(n.Call("ln", (n.Name(SHARES),))), Role.BLOCK, "ell", says="−ln of each probability"),
        Step(MEAN, n.Call("mean", (n.Name(EACH),)), Role.BLOCK, "loss", says="cross-entropy"),
        Step(PERPLEXITY, n.Exp(n.Name(MEAN)), Role.BLOCK, "PPL", says="perplexity"),
    )


def _probabilities(words: str) -> Iterator[Fraction]:
    """The probabilities of the right tokens: all that are listed, or of a distribution the one that is right."""
    said = {found["numbers"] for found in PROBABLE.finditer(words)}
    listed = [_share(*pair) for pair in _NUMERAL.findall(said.pop())] if len(said) == 1 else []  # of one model only
    if not listed or not all(0 < share <= 1 for share in listed):
        return
    right = target_said(words, len(listed)) if len(listed) > 1 else None
    if right is not None and 0 <= right < len(listed):
        yield listed[right]
    elif len(listed) == 1 or (sum(listed) != 1 and OF_TOKENS.search(words)):
        yield from listed


def _share(digits: str, percent: str) -> Fraction:
    return Fraction(digits.replace(",", ".")) / (100 if percent else 1)


def _answer(question: Question, known: Answer | None, steps: tuple[Step, ...]) -> Answer:
    """A question with the steps that its words ask for."""
    said = question.text.lower()
    wanted = {
        EACH: re.search(r"each|every|jede|chaque|cada|каждо|每", said) is not None and len(steps) > 1,
        MEAN: re.search(r"entrop|loss|likelihood|verlust|perte|pérdida|perda|потер|熵|损失", said) is not None,
        PERPLEXITY: re.search(r"perple|перплекс|困惑", said) is not None,
    }
    wanted[MEAN] = wanted[MEAN] and not wanted[EACH]
    parts = tuple(Part(step.spelled, n.Name(step.symbol)) for step in steps if wanted[step.symbol])
    if known is not None:
        return replace(known, parts=parts, says="", missing="" if parts else known.missing)
    return Answer(question.label, question.text, question.line, parts)
