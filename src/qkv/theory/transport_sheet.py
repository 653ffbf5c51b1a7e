"""Transport problems as sheets state them: two heaps that balance, the points they sit on, and the cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from flint import fmpq

from qkv.errors import QkvError
from qkv.reader.model import Sheet, Statement
from qkv.theory.heaps import Heap, Matrix, PlanTable, gathered, placed, plan_tables
from qkv.theory.model import Answer, Value
from qkv.theory.words import SQUARED, is_about_transport
from qkv.transport import Distribution, TransportResult, decimals, transport

MOST_MASSES = 200


@dataclass(frozen=True, slots=True)
class TransportProblem:
    """A problem that a sheet states: what is moved where, at which cost, and where in the document it stands."""

    line: int
    end_line: int
    part: int
    names: tuple[str, str]
    source: Distribution
    target: Distribution
    cost: str | Matrix
    plan: Matrix | None = None  # the plan that the sheet itself gives

    def solved(self) -> TransportResult:
        """The optimal plan and its proof."""
        return transport(self.source, self.target, self.cost)


def transport_problems(sheet: Sheet) -> tuple[TransportProblem, ...]:
    """The transport problems of a document, those of its text first, then those of its plan tables."""
    if not is_about_transport(sheet.text):
        return ()
    lines = sheet.lines
    by_part: dict[int, list[Statement]] = {}
    for statement in sheet.statements:
        if not statement.struck:
            by_part.setdefault(statement.part, []).append(statement)
    found = []
    for part, statements in by_part.items():
        here = sheet.parts[part]
        text = "\n".join(lines[here.line - 1 : here.end_line])
        words = f"{sheet.parts[0].title}\n{here.title}\n{text}"
        if is_about_transport(words):
            found += _of_part(statements, part, words, text, here.line)
    return (*found, *(_from_table(table, sheet) for table in plan_tables(sheet.text)))


def _of_part(
    statements: Sequence[Statement], part: int, words: str, text: str, first_line: int
) -> list[TransportProblem]:
    """The first two heaps that balance."""
    found = gathered(statements, text, first_line)
    for a, b in combinations(placed(found), 2):
        if _balance(a, b):
            problem = _problem(a, b, part, found.costs, words)
            if problem is not None:
                return [problem]
    return []


def _balance(a: Heap, b: Heap) -> bool:
    total = sum(a.masses)
    return bool(total == sum(b.masses) and total > 0 and min(*a.masses, *b.masses) >= 0) and (
        max(len(a.masses), len(b.masses)) <= MOST_MASSES
    )


def _problem(a: Heap, b: Heap, part: int, costs: Matrix | None, words: str) -> TransportProblem | None:
    try:
        source, target = (Distribution.of(heap.masses, heap.points) for heap in (a, b))
    except QkvError:  # the points are not theirs
        return None
    fits = costs is not None and (len(costs), len(costs[0])) == (len(a.masses), len(b.masses))
    cost: str | Matrix = costs if costs is not None and fits else "squared" if SQUARED.search(words) else "distance"
    if isinstance(cost, str) and source.dimension != target.dimension:
        return None
    return TransportProblem(min(a.line, b.line), max(a.line, b.line), part, (a.name, b.name), source, target, cost)


def _from_table(table: PlanTable, sheet: Sheet) -> TransportProblem:
    supply = [sum(row, fmpq(0)) for row in table.plan]
    demand = [sum(column, fmpq(0)) for column in zip(*table.plan, strict=True)]
    part = next((k for k, p in enumerate(sheet.parts) if p.line <= table.line <= p.end_line), 0)
    return TransportProblem(
        table.line,
        table.end_line,
        part,
        ("from", "to"),
        Distribution.of(supply, table.sources),
        Distribution.of(demand, table.targets),
        "squared" if SQUARED.search(sheet.text) else "distance",
        table.plan,
    )


def transport_answers(sheet: Sheet) -> Iterator[Answer]:
    """Each problem with its answer in words and values."""
    for problem in transport_problems(sheet):
        result = problem.solved()
        unique = "It is the only optimal plan." if result.unique else "It is not the only optimal plan."
        words = (
            f"The least cost is {result.cost} (a unit costs {result.costs.formula}), proven by prices for the points. "
            f"{unique} Per unit of mass it is {result.per_unit}."
        )
        yield Answer("Transport", words, tuple(_values(problem, result)), line=problem.line)


def _values(problem: TransportProblem, result: TransportResult) -> Iterator[Value]:
    rows, columns = result.costs.shape
    costs = [[result.costs.exact(i, j) for j in range(columns)] for i in range(rows)]
    yield Value("C", f"cost of a unit, {result.costs.formula}", _texts(costs))
    yield Value("plan", "an optimal plan", _texts(result.table()))
    if result.alternative is not None:
        yield Value("other plan", "another optimal plan", _texts(result.table(result.alternative)))
    yield Value("cost", "the least cost", _texts([[result.cost]]))
    if result.source.total != 1:
        yield Value("cost per unit", "the least cost over the total mass", _texts([[result.per_unit]]))
    if result.root is not None:
        least = transport(problem.source, problem.target).cost
        yield Value("W_2", "√cost", _texts([[decimals(result.root, 12)]]))
        yield Value("W_1", "the least cost for |x − y|", _texts([[least]]))
    if result.line:
        carried = [step.surplus for step in result.line]
        yield Value("surplus", "carried from each point to the next", _texts([carried]))


def _texts(rows: Iterable[Iterable[object]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(str, row)) for row in rows)
