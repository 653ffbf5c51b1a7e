"""What of a page was not judged: the numbers that are given, and those that nobody read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.check.model import Left
from qkv.expr import nodes as n
from qkv.judging.judge import Judged
from qkv.reader.model import Origin, Sheet
from qkv.reading.equation import Item, Kind

_DECIMAL = re.compile(r"(?<![\w.,\\/:-])[-−]?\d{1,6}\.\d{1,8}(?![\w.,:%]*\w)")
_LABEL = re.compile(r"\s*[#*>(-]*\s*\d{1,2}\.\d{1,2}[.)]?\s")  # '2.3 Compute …'
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?")
_NOTATION = re.compile(
    r"^\s*#|\\(?:begin|end|usepackage|documentclass|vspace|hspace|includegraphics|set\w*)\b|^\s*(?:<|\||```)"
)


def given_in(judged: Judged) -> int:
    """How many printed numbers of a page are given."""
    judgements = {(j.equation.index, j.item.line, j.item.column) for j in judged.judgements}
    values = (
        (equation.index, item) for equation in judged.reading.page.own for item in equation.of(Kind.VALUE)
        if not equation.struck and not item.struck
    )  # fmt: skip
    return sum(_numbers(item) for index, item in values if (index, item.line, item.column) not in judgements)


def _numbers(item: Item) -> int:
    return sum(map(len, item.expr.rows)) if isinstance(item.expr, n.Matrix) else 1


def left_in(judged: Judged) -> Iterator[Left]:
    """The numbers that nobody read: in mathematics that could not be read, and decimals in lines that say nothing."""
    sheet = judged.reading.sheet
    for unread in sheet.unread:
        if numbers := len(_NUMBER.findall(unread.text)):
            yield Left(unread.line, numbers, unread.text, unread.reason)
    if sheet.text.lstrip()[:1] == "{":  # a notebook holds pictures too
        return
    known = _lines_read(judged)
    for number, line in enumerate(sheet.lines, 1):
        found = [] if number in known or _NOTATION.search(line) else _DECIMAL.findall(_LABEL.sub(" ", line, count=1))
        if found:
            yield Left(number, len(found), line.strip(), "these numbers belong to no equation that was read")


def _lines_read(judged: Judged) -> set[int]:
    """The lines of which something was read, said about theory or sizes, told, or listed as unread."""
    sheet: Sheet = judged.reading.sheet
    spans = [(statement.at.line, statement.end_line) for statement in (*sheet.statements, *sheet.told)]
    spans += [(equation.line, equation.end_line) for equation in judged.reading.page.own]
    spans += [(unread.line, unread.line + unread.text.count("\n")) for unread in sheet.unread]
    spans += [(claim.line, claim.line) for claim in judged.theory]
    spans += [(q.line, q.line + 1) for q in sheet.questions]
    fences = _fenced(sheet) if any(s.origin is Origin.CODE for s in sheet.statements) else set()
    return {line for first, last in spans for line in range(first, last + 1)} | fences


def _fenced(sheet: Sheet) -> set[int]:
    """The lines of code: what it prints is read, what it is made of is no claim."""
    found, inside = set(), False
    for number, line in enumerate(sheet.lines, 1):
        inside ^= line.lstrip().startswith(("```", "~~~"))
        found |= {number} if inside else set()
    return found
