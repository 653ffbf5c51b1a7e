"""Transport problems as sheets state them: two lists of masses that balance, the points they sit on, and the cost.

Also plan tables: a row of places that mass goes to, and under it a row for each place that it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from flint import fmpq

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.cells import rational
from qkv.sheet.model import Sheet, Statement
from qkv.theory.words import ABOUT_TRANSPORT, COSTS, POINTS, SQUARED
from qkv.transport import Distribution, TransportResult, decimals, transport

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
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
    cost: str | tuple[tuple[fmpq, ...], ...]
    plan: tuple[tuple[fmpq, ...], ...] | None = None  # the plan that the sheet itself gives

    def solved(self) -> TransportResult:
        """The optimal plan and its proof."""
        return transport(self.source, self.target, self.cost)


@dataclass
class _Found:
    """What one part of a sheet has given so far."""

    masses: list[tuple[str, int, tuple[fmpq, ...]]] = field(default_factory=list)
    points: dict[int, tuple[fmpq, ...]] = field(default_factory=dict)  # place in masses → points; −1 is for all
    costs: tuple[tuple[fmpq, ...], ...] | None = None


def transport_problems(sheet: Sheet) -> tuple[TransportProblem, ...]:
    """The transport problems of a document, those of its text first, then those of its plan tables."""
    if not ABOUT_TRANSPORT.search(sheet.text):
        return ()
    lines = sheet.text.splitlines()
    by_part: dict[int, list[Statement]] = {}
    for statement in sheet.statements:
        if not statement.struck:
            by_part.setdefault(statement.part, []).append(statement)
    found = []
    for part, statements in by_part.items():
        here = sheet.parts[part]
        words = "\n".join((sheet.parts[0].title, here.title, *lines[here.line - 1 : here.end_line]))
        problem = _of_part(statements, part, words) if ABOUT_TRANSPORT.search(words) else None
        found += [problem] if problem else []
    return (*found, *(_from_table(table, sheet) for table in plan_tables(sheet.text)))


def _of_part(statements: Sequence[Statement], part: int, words: str) -> TransportProblem | None:
    found = _Found()
    for statement in statements:
        _take(statement, found)
    found.masses += _indexed(statements)
    for (a, line, p), (b, end, q) in pairwise(found.masses):
        problem = _problem(found, (a, p), (b, q), words)
        if problem is not None:
            source, target, cost = problem
            return TransportProblem(min(line, end), max(line, end), part, (a, b), source, target, cost)
    return None


def _take(statement: Statement, found: _Found) -> None:
    """A named vector is a list of masses, a nameless one after 'points' their places, a nameless matrix the costs."""
    first, last = statement.links[0].expr, statement.links[-1].expr
    cells = _numbers(last)
    if cells is None or not isinstance(last, n.Matrix):
        return
    if len(statement.links) == 1:
        if len(cells) > 1 and (statement.origin.value == "table" or COSTS.search(statement.before)):
            found.costs = cells
        elif POINTS.search(statement.before[-40:]) and 1 in (len(cells), len(cells[0])):
            found.points[len(found.masses) - 1] = _flat(cells)
    elif isinstance(first, n.Name) and len(statement.links) == 2 and 1 in (len(cells), len(cells[0])):
        found.masses.append((str(first.symbol), statement.at.line, _flat(cells)))
    elif isinstance(first, n.Name) and COSTS.search(statement.before + first.symbol.base.replace("C", "cost")):
        found.costs = cells


def _flat(cells: Sequence[Sequence[fmpq]]) -> tuple[fmpq, ...]:
    return tuple(cell for row in cells for cell in row)


def _numbers(expr: n.Expr) -> tuple[tuple[fmpq, ...], ...] | None:
    if not isinstance(expr, n.Matrix) or expr.is_ragged or not expr.rows or expr.shape[0] * expr.shape[1] > 40_000:
        return None
    cells = [[_number(cell) for cell in row] for row in expr.rows]
    if any(cell is None for row in cells for cell in row):
        return None
    return tuple(tuple(row) for row in cells)


def _number(expr: n.Expr) -> fmpq | None:
    match expr:
        case n.Number(value=value):
            return rational(value)
        case n.Quotient(numerator=n.Number(value=a), denominator=n.Number(value=b)) if b:
            return rational(a / b)
        case n.Negate(arg=n.Number(value=value)):
            return rational(-value)
        case _:
            return None


def _indexed(statements: Sequence[Statement]) -> list[tuple[str, int, tuple[fmpq, ...]]]:
    """P_1 = 3, P_2 = 2, … as one list for each letter; the numbers must run from 1 without a gap."""
    cells: dict[str, dict[int, tuple[int, fmpq]]] = {}
    for statement in statements:
        first, last = statement.links[0].expr, statement.links[-1].expr
        value = _number(last)
        if len(statement.links) != 2 or not isinstance(first, n.Name) or value is None:
            continue
        indices = first.symbol.indices
        if len(indices) == 1 and indices[0].isdigit():
            cells.setdefault(first.symbol.base, {}).setdefault(int(indices[0]), (statement.at.line, value))
    return [
        (letter, min(line for line, _ in numbered.values()), tuple(numbered[i][1] for i in sorted(numbered)))
        for letter, numbered in cells.items()
        if sorted(numbered) == list(range(1, len(numbered) + 1)) and len(numbered) > 1
    ]


def _problem(
    found: _Found, a: tuple[str, tuple[fmpq, ...]], b: tuple[str, tuple[fmpq, ...]], words: str
) -> tuple[Distribution, Distribution, str | tuple[tuple[fmpq, ...], ...]] | None:
    p, q = a[1], b[1]
    if sum(p) != sum(q) or sum(p) == 0 or min(*p, *q) < 0 or max(len(p), len(q)) > MOST_MASSES:
        return None
    places = [name for name, _, _ in found.masses]
    try:
        source = Distribution.of(p, _points(found, places.index(a[0]), len(p)))
        target = Distribution.of(q, _points(found, places.index(b[0]), len(q)))
    except QkvError:  # the points are not theirs
        return None
    if found.costs is not None and (len(found.costs), len(found.costs[0])) == (len(p), len(q)):
        return source, target, found.costs
    return source, target, "squared" if SQUARED.search(words) else "distance"


def _points(found: _Found, place: int, count: int) -> Sequence[fmpq] | None:
    """The points said just after a list of masses, or before all of them; None stands for 1, 2, 3, …"""
    for key in (place, -1):
        if len(found.points.get(key, ())) == count:
            return found.points[key]
    return None


# ── plan tables ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PlanTable:
    """Places that mass comes from (rows) and goes to (columns), and how much; lines of the document from 1."""

    line: int
    end_line: int
    sources: tuple[fmpq, ...]
    targets: tuple[fmpq, ...]
    plan: tuple[tuple[fmpq, ...], ...]


def plan_tables(text: str) -> Iterator[PlanTable]:
    """Tables under the words 'from' and 'to': a line that ends in k numbers, then lines of 1 + k numbers."""
    lines = text.splitlines()
    rows = [_row(line) for line in lines]
    start = 0
    while start < len(lines):
        targets = rows[start]
        end = start + 1
        while end < len(lines) and len(targets) >= 2 and len(rows[end]) == len(targets) + 1:
            end += 1
        near = " ".join(lines[max(0, start - 10) : end]).lower()
        if end - start > 1 and "from" in near and re.search(r"\bto\b|\(t[od0b]\)", near):
            body = rows[start + 1 : end]
            plan = tuple(tuple(row[1:]) for row in body)
            if all(cell >= 0 for row in plan for cell in row) and any(cell for row in plan for cell in row):
                yield PlanTable(start + 1, end, tuple(row[0] for row in body), tuple(targets), plan)
        start = end


def _row(line: str) -> list[fmpq]:
    """The numbers of a line up to the first piece of mathematics or sentence beside it."""
    beside = re.split(r"\$[^$]*\\(?:Rightarrow|implies)|⇒|=>", line)[0]
    return [rational_text(text) for text in NUMBER.findall(re.sub(r"\$[^$]*\$", " ", beside))]


def rational_text(text: str) -> fmpq:
    """A decimal as an exact number."""
    value = n.number(text).value
    return rational(value)


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


Numbers = tuple[tuple[str, ...], ...]
Solved = tuple[TransportProblem, str, tuple[tuple[str, str], ...], tuple[tuple[str, str, Numbers], ...]]


def solved_problems(sheet: Sheet) -> Iterator[Solved]:
    """Each problem with words, formulas and values (name, formula, rows)."""
    for problem in transport_problems(sheet):
        result = problem.solved()
        unique = "It is the only optimal plan." if result.unique else "It is not the only optimal plan."
        words = (
            f"The least cost is {result.cost} (a unit costs {result.costs.formula}), proven by prices for the points. "
            f"{unique} Per unit of mass it is {result.per_unit}."
        )
        formulas = ((f"cost = {result.cost}", rf"\mathrm{{cost}} = {result.cost}"),)
        yield problem, words, formulas, tuple(_values(problem, result))


def _values(problem: TransportProblem, result: TransportResult) -> Iterator[tuple[str, str, Numbers]]:
    rows, columns = result.costs.shape
    yield (
        "C",
        f"cost of a unit, {result.costs.formula}",
        tuple(tuple(str(result.costs.exact(i, j)) for j in range(columns)) for i in range(rows)),
    )
    yield "plan", "an optimal plan", tuple(tuple(map(str, row)) for row in result.table())
    if result.alternative is not None:
        yield (
            "other plan",
            "another optimal plan",
            tuple(tuple(map(str, row)) for row in result.table(result.alternative)),
        )
    yield "cost", "the least cost", ((str(result.cost),),)
    if result.source.total != 1:
        yield "cost per unit", "the least cost over the total mass", ((str(result.per_unit),),)
    if result.root is not None:
        yield "W_2", "√cost", ((decimals(result.root, 12),),)
        yield "W_1", "the least cost for |x − y|", ((str(transport(problem.source, problem.target).cost),),)
    if result.line:
        yield "surplus", "carried from each point to the next", (tuple(str(step.surplus) for step in result.line),)
