"""Where something could not be worked out: what was read, what is missing for it, and the command that adds it.

The command is tried before it is shown: where the page holds all that is missing, what is said to work does work.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.judging.judge import Judged
from qkv.program.model import Program
from qkv.reader.model import Sheet
from qkv.reader.told import Told, with_told
from qkv.reading.choose import END
from qkv.reading.equation import Kind
from qkv.reading.missing import Gap, gaps_of_expr, gaps_of_role, is_open, read_names, said
from qkv.reading.page import Spot
from qkv.reading.proposed import proposed

MOST = 12  # quantities that are listed
NOTATION = (
    'To go on: say what is meant with --let "NAME = EXPRESSION" and --ask NAME, '
    "or in the page: <!-- qkv: NAME = EXPRESSION -->"
)
Solve = Callable[[Sheet], Sequence[Program]]


def advice_for(judged: Judged, programs: Sequence[Program], solve: Solve) -> Iterator[str]:
    """What a person needs to get from this page to a worked one; `solve` tries what is proposed."""
    worked = any(program.steps or any(answer.says for answer in program.answers) for program in programs)
    lets = _by_name(let for program in programs for answer in program.answers for let in answer.lets)
    if not worked:
        yield from _read(judged)
        if not lets:
            gaps = list(_gaps(judged))
            lets = _by_name(gap.let for gap in gaps if gap.written)
            yield from [f"Missing: {said(gaps)}."] if gaps else []
            yield from (f"What would help: {gap.hint}" for gap in gaps if gap.hint)
    if lets:
        yield from _command(judged.reading.sheet, lets, solve)
    elif not worked:
        yield NOTATION


def _read(judged: Judged) -> Iterator[str]:
    """What of the page was read, and what was not."""
    reading = judged.reading
    read = list(read_names(reading.values))
    more = f" and {len(read) - MOST} more" if len(read) > MOST else ""
    yield f"Read: {', '.join(read[:MOST])}{more}." if read else "Nothing on the page reads as NAME = numbers."
    for unread in reading.sheet.unread[:3]:
        yield f"Not read: line {unread.line}: {' '.join(unread.text.split())[:60]} ({unread.reason})."


def _by_name(lets: Iterable[str]) -> list[str]:
    """One line to tell for each name."""
    return list({let.partition(" = ")[0]: let for let in reversed(list(lets))}.values())[::-1]


def _gaps(judged: Judged) -> Iterator[Gap]:
    """What the formulas of each problem lack; where it has none, what attention would need."""
    values, page = judged.reading.values, judged.reading.page
    used = frozenset(j.equation.index for j in judged.judgements if j.fit is not None)
    for scope in page.scopes:
        spot = Spot(scope, END)
        formulas = [i.expr for e in page.own if e.scope == scope for i in e.of(Kind.FORMULA) if n.names_in(i.expr)]
        gaps = [gap for formula in formulas for gap in gaps_of_expr(formula, values, spot)]
        if not formulas and page.own:
            gaps = gaps_of_role(Role.HEAD, values, spot)
        yield from proposed(gaps, values, spot, used)


def _command(sheet: Sheet, lets: Sequence[str], solve: Solve) -> Iterator[str]:
    """The command that adds what is missing, and how the page itself may say it."""
    told = [f'--let "{statement.text}"' for statement in sheet.told if not statement.at.line]
    told += [f'--let "{let}"' for let in lets]
    told += [f'--ask "{q.text}"' for q in sheet.questions if q.expr is not None and not q.line]
    if any(map(is_open, lets)):
        head = "Fill in the blanks (_), a row for each query, key or token, and run:"
    else:
        head = "This works it out, if it is what is meant:" if _works(sheet, lets, solve) else "Correct this, and run:"
    file = shlex.quote(sheet.file) if sheet.file else "FILE"
    yield "\n".join([head, " \\\n".join([f"qkv solve {file}", *(f"  {each}" for each in told)])])
    yield f"or write {'it' if len(lets) == 1 else 'each'} into the page: <!-- qkv: {lets[0]} -->"


def _works(sheet: Sheet, lets: Sequence[str], solve: Solve) -> bool:
    """Whether all that can be asked for is worked out once these lines are told."""
    try:
        added = with_told(sheet, map(Told, lets))
        programs = solve(replace(added, told=(*sheet.told, *added.told)))
    except QkvError:
        return False
    missing = [answer for program in programs for answer in program.answers if answer.lets]
    return not missing and any(program.steps for program in programs)
