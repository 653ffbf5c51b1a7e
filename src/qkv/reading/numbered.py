"""Answers that stand apart from their questions, under the same numbers: '3. 0.37, 0.09, 0.54'."""

from __future__ import annotations

from collections import Counter

from qkv.reader.model import Sheet
from qkv.reading.equation import Equation
from qkv.regex import regex

_LABEL = regex(
    r"\s*(?:[-*+•]\s+)?(?:\*\*)?[(（]?(?P<label>[a-zA-Z]?\d{1,2}[a-z]?|[a-z])[.)）:]+(?:\*\*)?\s+"
    r"(?=[^\w\s]|\d|[a-z]+ \d)"
)


def question_of(equation: Equation, sheet: Sheet) -> str:
    """The question above that has the number with which the line of some numbers begins; nothing where two have it."""
    if equation.names or not 0 < equation.line <= len(sheet.lines):
        return ""
    found = _LABEL.match(sheet.lines[equation.line - 1])
    if found is None:
        return ""
    labels = Counter(question.label.strip("()[]. :）（*").lower() for question in sheet.questions if question.label)
    label = found["label"].lower()
    asked = (q for q in sheet.questions if q.label.strip("()[]. :）（*").lower() == label and q.line < equation.line)
    question = next(asked, None) if labels[label] == 1 else None
    return question.text if question is not None else ""
