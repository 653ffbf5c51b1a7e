"""The values of a weighted sum, written out: 0.2·[1, 1] + 0.3·[2, 0] + 0.5·[0, 2] copies v_1, v_2 and v_3."""

from __future__ import annotations

from qkv.check.cells import shape_of, shown_grid
from qkv.check.conclude import conclude
from qkv.check.model import Verdict
from qkv.check.targets import Target
from qkv.check.walk import Source, Walk, judged_against
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.nodes import factors
from qkv.interpret.certified import Value
from qkv.records import replace
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.values import plain_value


def judge_addends(walk: Walk, fact: Fact, link: Link) -> None:
    """Judge the one vector of a weighted sum that is no copy of its value, where all others are, at least two."""
    vectors = _vectors(link.expr)
    values = _values(walk, fact, len(vectors)) if len(vectors) > 2 else None
    if values is None:
        return
    symbol, whole = values
    false = [j for j, vector in enumerate(vectors) if _row(walk, vector) != whole.rows[j]]
    if len(false) != 1:
        return
    j = false[0]
    meant, vector = n.Entry(n.Name(symbol), row=j + 1), vectors[j]
    if any(fact.shown is not None and vector.rows[0] in fact.shown.rows for fact in walk.problem.facts):
        return  # a copy of what was shown under another name
    grid = shown_grid(vector, False)
    source = Source(Value((whole.rows[j],)), (), meant)
    judged = judged_against(walk, meant, grid, [source]) if grid is not None else None
    if grid is None or judged is None or shape_of(grid) != (1, len(whole.rows[j])):
        return
    place = replace(link, at=vector.at or link.at)
    claim = conclude(walk, fact, place, Target(meant, True, f"{symbol}, row {j + 1}"), judged, [source], keep=False)
    if claim.verdict is Verdict.WRONG:
        walk.copied[id(link.expr)] = (claim.id,)


def _vectors(expr: n.Expr) -> list[n.Matrix]:
    """The vectors of a sum whose terms are numbers times vectors; none where it is anything else."""
    found = []
    for term in expr.terms if isinstance(expr, n.Sum) else ():
        parts = factors(term)
        vector = plain_value(parts[-1]) if len(parts) == 2 and isinstance(parts[0], n.Number) else None
        if vector is None or 1 not in vector.shape:
            return []
        found.append(
            vector if len(vector.rows) == 1 else n.Matrix((tuple(row[0] for row in vector.rows),), at=vector.at)
        )
    return found


def _values(walk: Walk, fact: Fact, count: int) -> tuple[Symbol, Value] | None:
    """The only quantity that so many values may be the rows of."""
    items = [item for item in walk.problem.program.items if item.role in (Role.V, Role.STATES)]
    own = [item.symbol for item in items if item.head in (fact.head, None)]
    found = [(symbol, value) for symbol in own if (value := walk.evaluated(n.Name(symbol))) is not None]
    found = [(symbol, value) for symbol, value in found if len(value.rows) == count]
    return found[0] if len(found) == 1 else None


def _row(walk: Walk, vector: n.Matrix) -> tuple[object, ...]:
    value = walk.evaluated(vector)
    return value.rows[0] if value is not None else ()
