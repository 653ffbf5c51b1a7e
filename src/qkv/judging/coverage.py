"""What of a page was not judged: the numbers that are given, those that nobody read, and the claims that could not be
judged: each reason once, with the line to add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qkv.check.model import Advice, Claim, Left, Verdict
from qkv.expr import nodes as n
from qkv.judging.judge import Judged
from qkv.judging.walk import Judgement
from qkv.library.roles import roles_in_words
from qkv.reader.model import Origin, Sheet
from qkv.reading.equation import Item, Kind
from qkv.reading.missing import MADE_OF, Gap, gaps_of_expr, gaps_of_role, told
from qkv.reading.page import Spot
from qkv.reading.proposed import proposed
from qkv.regex import regex

_DECIMAL = regex(r"(?<![\w.,\\/:-])[-−]?\d{1,6}\.\d{1,8}(?![\w.,:%]*\w)")
_LABEL = regex(r"[\s#*>(-]*\d{1,2}\.\d{1,2}[.)]?\s")  # '2.3 Compute …', at the beginning of a line
_NUMBER = regex(r"(?<![\w.])\d+(?:[.,]\d+)?")
_NOTATION = regex(
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
        label = _LABEL.match(line)
        found = [] if number in known or _NOTATION.search(line) else _DECIMAL.findall(line, label.end() if label else 0)
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


_UNTOLD = (
    "nothing on the page says what these should equal",
    'write the formula beside them (S = Q K^T = …), or say what leads to them: --let "NAME = EXPRESSION"',
)
_ELSEWHERE = "the assignment that gives it (--against FILE), or "


def advice_on(claims: Sequence[Claim], judged: Judged) -> tuple[Advice, ...]:
    """Why claims could not be judged, each reason once with all its lines."""
    unread = {claim.id: claim for claim in claims if claim.verdict is Verdict.UNREAD and not claim.reason}
    used = frozenset(j.equation.index for j in judged.judgements if j.fit is not None)
    lines: dict[str, set[int]] = {}
    gaps: dict[str, list[Gap]] = {}
    for judgement in judged.judgements:
        if judgement.number in unread:
            spot = Spot(judgement.equation.scope, judgement.equation.line)
            found = proposed(_gaps(judgement, judged, spot), judged.reading.values, spot, used)
            kind = "" if not found else "absent" if all(gap.is_open for gap in found) else told(found)[0]
            lines.setdefault(kind, set()).add(unread[judgement.number].line)
            gaps.setdefault(kind, []).extend(found)
    said = {kind: told(found, _ELSEWHERE) if found else _UNTOLD for kind, found in gaps.items()}
    return tuple(Advice(tuple(sorted(lines[kind])), *said[kind]) for kind in said)


def _gaps(judgement: Judgement, judged: Judged, spot: Spot) -> Iterator[Gap]:
    """What is missing to know what a printed value should equal: for its formula, for its name, for its words."""
    equation, values = judgement.equation, judged.reading.values
    for item in equation.of(Kind.FORMULA):
        yield from gaps_of_expr(item.expr, values, spot)
    if equation.of(Kind.FORMULA, Kind.WORKING):
        return
    places = [place for symbol in equation.names if (place := values.system.place(symbol)) is not None]
    roles = [place.role for place in places] or roles_in_words(equation.label)[:1]
    for role in (role for role in roles if role in MADE_OF):
        yield from gaps_of_role(role, values, spot)
