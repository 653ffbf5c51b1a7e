"""Answers that stand apart from their questions, under the same numbers: '3. 0.37, 0.09, 0.54'."""

from __future__ import annotations

from collections import Counter

from qkv.reader.model import Question
from qkv.reading.equation import Equation
from qkv.reading.page import Page, found_once
from qkv.regex import regex

_LABEL = regex(
    r"\s*(?:[-*+•]\s+)?(?:\*\*)?[(（]?(?P<label>[a-zA-Z]?\d{1,2}[a-z]?|[a-z])[.)）:]+(?:\*\*)?\s+"
    r"(?=[^\w\s]|\d|[a-z]+ \d)"
)


def question_of(equation: Equation, page: Page) -> str:
    """The question above that has the number with which the line of some numbers begins; nothing where two have it."""
    lines = page.sheet.lines
    if equation.names or not 0 < equation.line <= len(lines):
        return ""
    found = _LABEL.match(lines[equation.line - 1])
    question = _by_number(page).get(found["label"].lower()) if found else None
    return question.text if question is not None and question.line < equation.line else ""


@found_once
def _by_number(page: Page) -> dict[str, Question]:
    """Questions by their numbers, where no two have the same."""
    numbered = [(question.label.strip("()[]. :）（*").lower(), question) for question in page.sheet.questions]
    counts = Counter(number for number, _ in numbered)
    return {number: question for number, question in numbered if number and counts[number] == 1}
