"""Where nothing could be worked out: what was read, what is missing for it, and the line to add."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.judging.judge import Judged
from qkv.reading.choose import END
from qkv.reading.equation import Kind
from qkv.reading.missing import Gap, gaps_of_expr, gaps_of_role, read_names, told
from qkv.reading.page import Spot

MOST = 12  # quantities that are listed
NOTATION = (
    'say what is meant with --let "NAME = EXPRESSION" and --ask NAME, or in the page: <!-- qkv: NAME = EXPRESSION -->'
)


def advice_for(judged: Judged) -> Iterator[str]:
    """What a person needs to get from this page to a worked one."""
    reading = judged.reading
    read = list(read_names(reading.values))
    more = f" and {len(read) - MOST} more" if len(read) > MOST else ""
    yield f"Read: {', '.join(read[:MOST])}{more}." if read else "No printed numbers were found."
    for unread in reading.sheet.unread[:3]:
        yield f"Not read: line {unread.line}: {' '.join(unread.text.split())[:60]} ({unread.reason})."
    used = frozenset(j.equation.index for j in judged.judgements if j.fit is not None)
    for scope in reading.page.scopes:
        if gaps := list(_gaps(judged, Spot(scope, END), used)):
            yield "Missing: {}. What would help: {}".format(*told(gaps))
    yield f"To go on: {NOTATION}"


def _gaps(judged: Judged, spot: Spot, used: frozenset[int]) -> Iterator[Gap]:
    """What the formulas of a problem lack; where it has none, what attention would need."""
    values, page = judged.reading.values, judged.reading.page
    formulas = [i.expr for e in page.own if e.scope == spot.scope for i in e.of(Kind.FORMULA) if n.names_in(i.expr)]
    for formula in formulas:
        yield from gaps_of_expr(formula, values, spot, used)
    if not formulas and page.own:
        yield from gaps_of_role(Role.HEAD, values, spot, used)
