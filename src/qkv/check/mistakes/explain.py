"""Which known mistake reproduces what is shown: the table tried on the author's own numbers and on the true ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qkv.check.author import Author
from qkv.check.cells import Judged, fitted
from qkv.check.compare import Agreement, follows
from qkv.check.mistakes.rewrites import TABLE, Mistake, variants
from qkv.check.mistakes.scene import Scene, levels
from qkv.check.mistakes.slips import slips
from qkv.check.model import Cause, Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.certified import Value
from qkv.interpret.trace import Trace

JudgedGrid = tuple[tuple[Judged, ...], ...]
MOST_NAMED = 2  # where more mistakes than this would explain a value, it tells too little to name any


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mistake made in a certain place: what its author works out, and the sentence for it."""

    mistake: Mistake
    expr: n.Expr
    says: str


def explain(trace: Trace, author: Author, target: n.Expr, judged: JudgedGrid) -> Cause | None:
    """The known mistake that explains a wrong value, if there is one; two, if both do."""
    scene = Scene(trace)
    found: dict[str, str] = {}
    wrong = [(i, j) for i, row in enumerate(judged) for j, cell in enumerate(row) if cell.verdict is Verdict.WRONG]
    copied = _is_copy(scene, author, target)
    if not copied:
        whole = range(len(judged))
        if len(judged) * len(judged[0]) > 1:
            found = _reproducing(scene, author, target, judged, whole)
        rows = sorted({i for i, _ in wrong})
        if not found and len(rows) < len(judged) and len(wrong) > 1 and len(judged[0]) > 1:
            found = _reproducing(scene, author, target, judged, rows)
    if not found:
        found = slips(scene, author, target, judged, wrong, copied)
    return _cause(found)


def _is_copy(scene: Scene, author: Author, target: n.Expr) -> bool:
    """Whether the value repeats one that was given or printed before: then nothing was worked out here."""
    item = scene.item(target)
    return item is not None and (item.symbol in author.printed or item in scene.trace.program.givens)


def _cause(found: dict[str, str]) -> Cause | None:
    if not 1 <= len(found) <= MOST_NAMED:
        return None
    return Cause(" or ".join(found), "; or ".join(found.values()))


def _reproducing(
    scene: Scene, author: Author, target: n.Expr, judged: JudgedGrid, rows: range | list[int]
) -> dict[str, str]:
    found: dict[str, str] = {}
    tried: dict[n.Expr, bool] = {}
    for candidate in candidates(scene, author, target):
        if candidate.mistake.key in found:
            continue
        if candidate.expr not in tried:
            values = _values(scene, author, candidate.expr)
            tried[candidate.expr] = any(_shows(value, judged, rows) for value in values)
        if tried[candidate.expr]:
            found[candidate.mistake.key] = candidate.says
    return found


def candidates(scene: Scene, author: Author, target: n.Expr) -> Iterator[Candidate]:
    """Every mistake of the table at every place of the target, written out as far as the author may look."""
    for base in levels(scene, target, author.printed):
        for mistake in TABLE:
            for expr, detail in variants(mistake, base, scene):
                yield Candidate(mistake, expr, mistake.says.format(detail))


def _values(scene: Scene, author: Author, expr: n.Expr) -> Iterator[Value]:
    own = author.own(expr)
    if own is not None:
        yield own
    try:
        yield scene.trace.evaluate(expr)
    except QkvError:
        return


def _shows(value: Value, judged: JudgedGrid, rows: range | list[int]) -> bool:
    value_here = fitted(value, (len(judged), len(judged[0])))
    return value_here is not None and all(
        follows(cell.shown, made) is Agreement.ROUNDED or (cell.shown.half == 0 and cell.shown.cell == made)
        for i in rows
        for cell, made in zip(judged[i], value_here.rows[i], strict=True)
    )
