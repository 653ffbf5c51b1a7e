"""What could not be judged, grouped by why: said once, with the line to add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qkv.check.model import Advice, Claim, Verdict
from qkv.judging.judge import Judged
from qkv.judging.walk import Judgement
from qkv.library.roles import roles_in_words
from qkv.reading.equation import Kind
from qkv.reading.missing import MADE_OF, Gap, gaps_of_expr, gaps_of_role, told
from qkv.reading.page import Spot

_UNTOLD = (
    "nothing on the page says what these should equal",
    'write the formula beside them (S = Q K^T = …), or say what leads to them: --let "NAME = EXPRESSION"',
)
_ELSEWHERE = "the assignment that gives it (--against FILE), or "


def advice_on(claims: Sequence[Claim], judged: Judged) -> tuple[Advice, ...]:
    """Why claims could not be judged, each reason once with all its lines."""
    unread = {claim.id: claim for claim in claims if claim.verdict is Verdict.UNREAD and not claim.reason}
    used = frozenset(j.equation.index for j in judged.judgements)
    lines: dict[str, set[int]] = {}
    gaps: dict[str, list[Gap]] = {}
    for judgement in judged.judgements:
        if judgement.number in unread:
            found = list(_gaps(judgement, judged, used))
            kind = "" if not found else "absent" if not any(gap.hint for gap in found) else told(found)[0]
            lines.setdefault(kind, set()).add(unread[judgement.number].line)
            gaps.setdefault(kind, []).extend(found)
    said = {kind: told(found, _ELSEWHERE) if found else _UNTOLD for kind, found in gaps.items()}
    return tuple(Advice(tuple(sorted(lines[kind])), *said[kind]) for kind in said)


def _gaps(judgement: Judgement, judged: Judged, used: frozenset[int]) -> Iterator[Gap]:
    """What is missing to know what a printed value should equal: for its formula, for its name, for its words."""
    equation, values = judgement.equation, judged.reading.values
    spot = Spot(equation.scope, equation.line)
    for item in equation.of(Kind.FORMULA):
        yield from gaps_of_expr(item.expr, values, spot, used)
    if equation.of(Kind.FORMULA):
        return
    places = [place for symbol in equation.names if (place := values.system.place(symbol)) is not None]
    roles = [place.role for place in places] or roles_in_words(equation.label)[:1]
    for role in (role for role in roles if role in MADE_OF):
        yield from gaps_of_role(role, values, spot, used)
