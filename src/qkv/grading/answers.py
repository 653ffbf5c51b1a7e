"""JUDGED → which quantity of the assignment each claim of a hand-in shows, and which of its cells.

Names are a hint only. What a claim is about is decided by what it should equal: the true value behind it is the value
of a quantity of the worked assignment, or a row, a column or a cell of one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qkv.check.model import Verdict
from qkv.expr.names import Role
from qkv.grading.asked import Assignment, Known
from qkv.grading.sameness import Cells, parts_of
from qkv.interpret.cells import START_BITS, precision
from qkv.interpret.certified import Value
from qkv.judging.judge import Judged
from qkv.judging.walk import Judgement
from qkv.reading.system import System


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim, the quantity that it shows, and which cells of it in the order of the claim's own."""

    claim: int
    name: str
    cells: Cells


def answers_of(judged: Judged, assignment: Assignment) -> tuple[Answer, ...]:
    """What each judged claim answers; claims about nothing that the assignment has are left out."""
    seen: dict[str, set[tuple[int, int]]] = {}
    found: list[Answer] = []
    with precision(START_BITS):
        for judgement in judged.judgements:
            answer = _answer(judgement, judged.reading.system, assignment.known, seen)
            if answer is not None:
                seen.setdefault(answer.name, set()).update(answer.cells)
                found.append(answer)
    return tuple(found)


def _answer(
    judgement: Judgement, system: System, known: Iterable[Known], seen: dict[str, set[tuple[int, int]]]
) -> Answer | None:
    value = _meant(judgement)
    if value is None:
        return None
    hints = _hints(judgement, system)
    places = [
        (each, cells)
        for each in known
        for cells in parts_of(value, each.value)
        if each.role in hints or len(cells) >= max(each.value.shape)  # what is less than a row may equal anything
    ]
    if not places and judgement.verdict is Verdict.WRONG:  # it stands on something that the assignment does not have
        places = [(each, _all_cells(each)) for each in known if each.role in hints and each.value.shape == value.shape]
    if not places:
        return None

    def rank(place: tuple[Known, Cells]) -> tuple[bool, bool, bool]:
        each, cells = place
        return each.role in hints, not seen.get(each.name, set()) & set(cells), not each.given

    best, cells = max(places, key=rank)  # of equals the first
    return Answer(judgement.number, best.name, cells)


def _all_cells(known: Known) -> Cells:
    rows, columns = known.value.shape
    return tuple((i, j) for i in range(1, rows + 1) for j in range(1, columns + 1))


def _meant(judgement: Judgement) -> Value | None:
    """What a claim should equal; of a value that has the wrong shape, what was meant."""
    if judgement.fit is None:
        return None
    return judgement.fit.misfit or judgement.fit.true


def _hints(judgement: Judgement, system: System) -> set[Role]:
    """What names and formulas say that a claim is about."""
    meaning = judgement.fit.meaning if judgement.fit is not None else None
    roles = set(system.roles(meaning.expr)) if meaning is not None else set()
    named = (system.place(symbol) for symbol in judgement.equation.names)
    return roles | {place.role for place in named if place is not None}
