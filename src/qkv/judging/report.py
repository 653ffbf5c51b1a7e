"""WALK → REPORT: what was said of every printed value, as claims that a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from flint import arb

from qkv.check.cells import shape_of
from qkv.check.model import GOOD, CellVerdict, Claim, Left, Report, Verdict
from qkv.expr import nodes as n
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, START_BITS, Cell, bounds, precision
from qkv.interpret.fit import say
from qkv.interpret.rounding import round_digits
from qkv.judging.causes import cell_working
from qkv.judging.coverage import advice_on, given_in, left_in
from qkv.judging.definitions import judge_definitions
from qkv.judging.fit import Fit, How
from qkv.judging.judge import Judged, judged
from qkv.judging.kept import FALSE
from qkv.judging.shapes import judge_shapes
from qkv.judging.theory import judge_theory
from qkv.judging.walk import Judgement, Walk
from qkv.reader.model import Origin, Sheet
from qkv.reading.equation import Item, Kind
from qkv.reading.naming import ROLE
from qkv.reading.reading import reading_of
from qkv.regex import regex


def check_sheet(sheet: Sheet, against: Sheet | None = None) -> Report:
    """Judge a whole document; `against` is the one that decides what is given, such as the assignment."""
    return report_of(judged(reading_of(sheet, against)))


def report_of(judged: Judged) -> Report:
    """What was said of every printed value, formula, size and theory claim, in the order of the document."""
    reading, sheet = judged.reading, judged.reading.sheet
    with precision(START_BITS):
        claims = [_claim(judgement, judged.walk) for judgement in judged.judgements]
        claims += judge_definitions(reading.page, reading.system, reading.values, len(claims) + 1)
        claims += judge_shapes(reading.page, reading.values, len(claims) + 1)
        claims += judge_theory(judged.theory, len(claims) + 1)
        ordered = sorted(claims, key=attrgetter("line", "column", "id"))
        left, advice = _left(ordered, judged), advice_on(ordered, judged)
        return Report(sheet.file, tuple(ordered), sheet.text, (), given_in(judged), left, advice)


def _left(claims: list[Claim], judged: Judged) -> tuple[Left, ...]:
    """What nobody read, but for lines of which something is said after all."""
    said = {line for claim in claims for line in range(claim.line, claim.end_line + 1)}
    return tuple(left for left in left_in(judged) if left.line not in said)


def _claim(judgement: Judgement, walk: Walk) -> Claim:
    equation, chosen = judgement.equation, judgement.fit
    name = str(equation.names[0]) if equation.names else equation.label
    first = _first_side(judgement, walk.system.page.sheet.lines)
    line, end_line = _false_rows(judgement) or (first.line, _end_line(judgement))
    return Claim(
        judgement.number, line, end_line, name,
        _formula(chosen, walk) if chosen is not None else "", equation.text, _verdict(judgement),
        cells=_cells(judgement, chosen, walk) if chosen is not None and judgement.verdict not in GOOD else (),
        follows_from=tuple(sorted(_blamed(chosen.used, walk))) if chosen and _is_carried(judgement) else (),
        cause=chosen.cause if chosen is not None else None,
        repair=(chosen.repair if chosen is not None else "") or judgement.item.repair or None,
        reason=_reason(judgement),
        column=first.column,
        shown=tuple(tuple(shown.text for shown in row) for row in judgement.grid),
    )  # fmt: skip


def _end_line(judgement: Judgement) -> int:
    """The last line of a printed value: where its equation goes on further down, that of its own text."""
    equation, item = judgement.equation, judgement.item
    last = max(equation.end_line, item.line)
    goes_on = any(other.line > item.line for other in equation.items)
    return min(last, item.line + item.text.count("\n")) if goes_on else last


def _false_rows(judgement: Judgement) -> tuple[int, int] | None:
    """The first and the last line of what is false in an array whose rows stand on lines of their own, each with a
    label; None for any other value, and for a table with slips of its own, which is one thing."""
    shown, equation = judgement.item.expr, judgement.equation
    if judgement.fit is None or judgement.verdict not in (Verdict.WRONG, Verdict.CARRIED):
        return None
    if not equation.rows or (equation.origin is Origin.TABLE and judgement.verdict is Verdict.WRONG):
        return None
    cells = [row[0].at for row in shown.rows] if isinstance(shown, n.Matrix) else []
    if len(cells) != len(judgement.fit.verdicts):
        return None
    false = [at.line for at, row in zip(cells, judgement.fit.verdicts, strict=True) if at and not FALSE.isdisjoint(row)]
    return (false[0], false[-1]) if false else None


def _first_side(judgement: Judgement, lines: Sequence[str]) -> Item:
    """Where a claim begins that takes several lines: at the name or formula, not at the numbers below it. What is false
    by the numbers above it is false in its own line."""
    sides = judgement.equation.items
    before = sides[: sides.index(judgement.item)] if judgement.item in sides else ()
    worked = any(side.kind is Kind.WORKING for side in before)
    stated = judgement.fit is not None and judgement.fit.meaning.how is How.WORKING
    if judgement.verdict in FALSE and (stated or (worked and judgement.verdict is Verdict.WRONG)):
        return judgement.item
    at = sides.index(judgement.item) if judgement.item in sides else 0
    while at and sides[at - 1].kind is not Kind.VALUE and _goes_on(sides[at - 1], sides[at], lines):
        at -= 1
    return sides[at] if judgement.item in sides and sides[at].line < judgement.item.line else judgement.item


_SIGN = regex(r"[\s&=≈]*(?:\\(?:approx|quad|qquad)?)?[\s&=≈\\]*")


def _goes_on(above: Item, below: Item, lines: Sequence[str]) -> bool:
    """Whether nothing but a sign stands on the lines between two sides of a chain."""
    end = above.line + above.text.count("\n")
    between = lines[end : below.line - 1]
    return end <= below.line and all(line.strip() and _SIGN.fullmatch(line) for line in between)


def _verdict(judgement: Judgement) -> Verdict:
    """The verdict of a value; one that agrees only as damaged text was mended is misread."""
    agrees = judgement.fit is not None and judgement.verdict in GOOD | {Verdict.DRIFTED}
    return Verdict.MISREAD if agrees and judgement.item.repair else judgement.verdict


def _formula(chosen: Fit, walk: Walk) -> str:
    """What a value was held against; a role that the page has no name for is said by what gives it."""
    expr, spot = chosen.meaning.expr, chosen.meaning.spot
    scene = walk.scene(spot)
    role = isinstance(expr, n.Name) and expr.symbol.base == ROLE and scene.in_names(expr) == expr
    source = walk.values.source(expr.symbol, spot) if role and isinstance(expr, n.Name) else None
    return plain(scene.as_written(source[0] if source is not None else expr))


def _reason(judgement: Judgement) -> str | None:
    if judgement.verdict is Verdict.STRUCK:
        return "crossed out by its author"
    meant = judgement.fit.misfit if judgement.fit is not None else None
    return f"this is {say(shape_of(judgement.grid))}, and should be {say(meant.shape)}" if meant is not None else None


def _is_carried(judgement: Judgement) -> bool:
    return judgement.verdict is Verdict.CARRIED


def _blamed(claims: frozenset[int], walk: Walk) -> set[int]:
    """The false ones of some claims."""
    return {claim for claim in claims if walk.verdicts.get(claim) in FALSE}


def _cells(judgement: Judgement, chosen: Fit, walk: Walk) -> tuple[CellVerdict, ...]:
    found: list[CellVerdict] = []
    if chosen.misfit is not None:
        return ()
    working = cell_working(walk.scene(chosen.meaning.spot), chosen) if chosen.worst is Verdict.WRONG else None
    for i, row in enumerate(chosen.verdicts):
        for j, verdict in enumerate(row):
            if verdict not in GOOD:
                text = judgement.grid[i][j].text
                meant = chosen.true or (chosen.right if verdict is Verdict.CARRIED else None)
                expected = _say(meant.rows[i][j], text) if meant is not None else None
                own = _say(chosen.own.rows[i][j], text) if chosen.own is not None else None
                how = working(i + 1, j + 1) if working is not None and verdict is Verdict.WRONG else ""
                found.append(CellVerdict(i + 1, j + 1, text, expected or own, own, verdict, how))
    return tuple(found)


def _say(cell: Cell, shown: str) -> str:
    """A computed cell to about as many digits as are shown."""
    if cell is NEG_INF:
        return "-∞"
    if isinstance(cell, arb) and not cell.is_finite():
        return "?"  # rounded numbers that cancel leave nothing to say
    digits = min(max(sum(map(str.isdigit, shown.partition("e")[0])), 3), 9) + 1
    return round_digits(cell, digits) or round_digits(sum(bounds(cell)) / 2, digits) or "0"
