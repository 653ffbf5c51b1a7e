"""Masses, points and costs as sheets write them: vectors, indexed numbers, sums of δ, tables and plan tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

from flint import fmpq

from qkv.expr import nodes as n
from qkv.interpret.cells import rational
from qkv.reader.model import Origin, Statement
from qkv.regex import regex
from qkv.theory.words import COSTS, POINTS

Vector = tuple[fmpq, ...]
Matrix = tuple[Vector, ...]
Place = tuple[fmpq, ...]  # a point: as many numbers as it has coordinates

POINT_LETTERS = frozenset("xyzstuX")  # letters for points, where something else is the masses
DELTAS = frozenset({"delta", "δ"})
NUMBER = regex(r"[-\d](?<![\w.].)(?:(?<=-)\d+|(?<=\d)\d*)(?:\.\d+)?(?![\w.])")  # begins so that it is sought fast
CONCLUSION = regex(r"\$[^$]*\\(?:Rightarrow|implies)|⇒|=>")
FORMULA = regex(r"\$[^$]*\$")
CELL = regex(r"-?\d+(?:\.\d+)?(?:/\d+)?")
SUPPLY = regex(r"suppl|angebot|vorrat|oferta|offre|запас|供", re.IGNORECASE)
DEMAND = regex(r"demand|bedarf|nachfrage|потребн|需", re.IGNORECASE)
MOST_CELLS = 40_000


@dataclass(frozen=True, slots=True)
class Heap:
    """A list of masses, with its points where they are said."""

    name: str
    line: int
    masses: Vector
    points: tuple[Place, ...] | None = None


@dataclass
class Found:
    """What a part of a sheet has given: heaps in order, points without a heap yet, and costs."""

    heaps: list[Heap] = field(default_factory=list)
    points: list[tuple[Place, ...]] = field(default_factory=list)
    costs: Matrix | None = None


def gathered(statements: Sequence[Statement], text: str, first_line: int) -> Found:
    """Everything that one part of a sheet says about masses, points and costs."""
    found = Found()
    spots = _indexed_points(statements)
    for statement in statements:
        if not (spots and _is_indexed(statement)):
            _take(statement, found)
    found.heaps += _indexed_masses(statements)
    found.points += spots
    if len(found.heaps) < 2 and (tabled := _tabled(text, first_line)) is not None:
        return tabled
    return found


def placed(found: Found) -> list[Heap]:
    """The heaps with points that were said before them, or of a heap as long as they are."""
    spare = list(found.points)
    heaps = []
    for heap in found.heaps:
        if heap.points is None and spare and len(spare[0]) == len(heap.masses):
            heap = replace(heap, points=spare[0])
            spare = spare[1:] or spare  # one list of points may serve all
        heaps.append(heap)
    shared = next((heap.points for heap in heaps if heap.points is not None), None)
    return [
        replace(heap, points=shared) if heap.points is None and shared and len(shared) == len(heap.masses) else heap
        for heap in heaps
    ]


# ── statements ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _take(statement: Statement, found: Found) -> None:
    """A named vector holds masses or points, a nameless one after 'points' their places, a matrix the costs."""
    first, last = statement.links[0].expr, _unturned(statement.links[-1].expr)
    name = first if isinstance(first, n.Name) and len(statement.links) == 2 else None
    if name is not None and (heap := _deltas(last)) is not None:
        found.heaps.append(replace(heap, name=str(name.symbol), line=statement.at.line))
        return
    if not isinstance(last, n.Matrix) or not last.rows:
        return
    if 1 not in last.shape:
        tabled = name is None and statement.origin is Origin.TABLE
        if tabled or (name is not None and name.symbol.base == "C") or COSTS.search(statement.before):
            found.costs = numbers(last) or found.costs
        return
    about_points = bool(POINTS.search(statement.before[-40:]))
    cells = numbers(last) if name is not None or about_points else None
    if cells is None:
        return
    if name is None or (name.symbol.base in POINT_LETTERS and (about_points or found.heaps)):
        _add_points(found, tuple([(cell,) for cell in _flat(cells)]))
    else:
        found.heaps.append(Heap(str(name.symbol), statement.at.line, _flat(cells)))


def _add_points(found: Found, points: tuple[Place, ...]) -> None:
    """Points said right after a heap of the same length are its own."""
    last = found.heaps[-1] if found.heaps else None
    if last is not None and last.points is None and len(last.masses) == len(points):
        found.heaps[-1] = replace(last, points=points)
    else:
        found.points.append(points)


def _unturned(expr: n.Expr) -> n.Expr:
    return expr.arg if isinstance(expr, n.Transpose) else expr


def _deltas(expr: n.Expr) -> Heap | None:
    """½ δ_0 + ½ δ_1 as masses on points."""
    terms = expr.terms if isinstance(expr, n.Sum) else (expr,)
    pairs = []
    for term in terms:
        factor, delta = (term.left, term.right) if isinstance(term, n.Product) else (n.number(1), term)
        mass = number(factor)
        if mass is None or not isinstance(delta, n.Name) or delta.symbol.base not in DELTAS:
            return None
        if len(delta.symbol.indices) != 1 or not delta.symbol.indices[0].lstrip("-").isdigit():
            return None
        pairs.append((mass, (fmpq(int(delta.symbol.indices[0])),)))
    return Heap("", 0, tuple(mass for mass, _ in pairs), tuple(place for _, place in pairs))


def _is_indexed(statement: Statement) -> bool:
    first = statement.links[0].expr
    return isinstance(first, n.Name) and len(first.symbol.indices) == 1 and first.symbol.indices[0].isdigit()


def _by_index(statements: Sequence[Statement], read: object) -> dict[str, tuple[int, tuple[object, ...]]]:
    """P_1 = 3, P_2 = 2, … as one list for each letter; the numbers must run from 1 without a gap."""
    cells: dict[str, dict[int, tuple[int, object]]] = {}
    for statement in statements:
        first = statement.links[0].expr
        if len(statement.links) != 2 or not isinstance(first, n.Name) or not _is_indexed(statement):
            continue
        value = read(statement.links[-1].expr)  # type: ignore[operator]
        if value is not None:
            place = int(first.symbol.indices[0])
            cells.setdefault(first.symbol.base, {}).setdefault(place, (statement.at.line, value))
    return {
        letter: (min(line for line, _ in listed.values()), tuple(listed[i][1] for i in sorted(listed)))
        for letter, listed in cells.items()
        if sorted(listed) == list(range(1, len(listed) + 1)) and len(listed) > 1
    }


def _indexed_masses(statements: Sequence[Statement]) -> list[Heap]:
    return [Heap(letter, line, values) for letter, (line, values) in _by_index(statements, number).items()]


def _indexed_points(statements: Sequence[Statement]) -> list[tuple[Place, ...]]:
    """x_1 = (0, 0), x_2 = (1, 0): points of several coordinates, where masses are indexed too."""

    def point(expr: n.Expr) -> Vector | None:
        cells = numbers(_unturned(expr))
        return _flat(cells) if cells is not None and 1 in (len(cells), len(cells[0])) else None

    found = [values for _, values in _by_index(statements, point).values()]
    return [values for values in found if len({len(p) for p in values}) == 1]  # type: ignore[misc, arg-type]


# ── numbers ────────────────────────────────────────────────────────────────────────────────────────────────────────


def numbers(expr: n.Expr) -> Matrix | None:
    """The cells of a matrix of numbers."""
    if not isinstance(expr, n.Matrix) or expr.is_ragged or not expr.rows or expr.shape[0] * expr.shape[1] > MOST_CELLS:
        return None
    rows = []
    for row in expr.rows:
        cells = [number(cell) for cell in row]
        if None in cells:
            return None
        rows.append(tuple(cells))
    return tuple(rows)


def number(expr: n.Expr) -> fmpq | None:
    """A number, a fraction of two, or the negative of one."""
    match expr:
        case n.Number(value=value):
            return rational(value)
        case n.Quotient(numerator=n.Number(value=a), denominator=n.Number(value=b)) if b:
            return rational(a / b)
        case n.Negate(arg=n.Number(value=value)):
            return rational(-value)
        case _:
            return None


def _flat(cells: Sequence[Sequence[fmpq]]) -> Vector:
    return tuple(chain.from_iterable(cells))


def _said(text: str) -> fmpq | None:
    """A cell of a table as a number."""
    bare = text.strip().strip("$*` ")
    if not CELL.fullmatch(bare) or bare.endswith("/0"):
        return None
    top, _, bottom = bare.partition("/")
    value = n.number(top).value / int(bottom or 1) if int(bottom or 1) else None
    return None if value is None else rational(value)


# ── tables ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tabled(text: str, first_line: int) -> Found | None:
    """What a Markdown table says: a tableau with supply and demand, or rows or columns P and Q."""
    for start, rows in _markdown_tables(text):
        for cells in (rows, [list(column) for column in zip(*rows, strict=False)]):
            found = _tableau(cells, first_line + start) or _two_rows(cells, first_line + start)
            if found is not None:
                return found
    return None


def _two_rows(cells: list[list[str]], line: int) -> Found | None:
    """Two rows of masses, perhaps with a row of points."""
    listed = [(row[0].strip("$*` "), _values(row[1:])) for row in cells if len(row) > 2]
    full = [(label, values) for label, values in listed if values is not None]
    points = next((v for label, v in full if POINTS.search(label) or label in POINT_LETTERS), None)
    heaps = [(label, v) for label, v in full if v is not points and label]
    if len(heaps) != 2 or len(full) - len(heaps) != (points is not None):
        return None
    places = None if points is None else tuple((p,) for p in points)
    return Found([Heap(label, line, values, places) for label, values in heaps])


def _tableau(cells: list[list[str]], line: int) -> Found | None:
    """Costs with the supply in the last column and the demand in the last row."""
    if len(cells) < 3 or not SUPPLY.search(cells[0][-1]) or not DEMAND.search(cells[-1][0]):
        return None
    body = [_values(row[1:]) for row in cells[1:-1]]
    demand = _values(cells[-1][1 : len(cells[0]) - 1])
    if demand is None or any(row is None or len(row) != len(demand) + 1 for row in body):
        return None
    full = [row for row in body if row is not None]
    heaps = [Heap("supply", line, tuple(row[-1] for row in full)), Heap("demand", line, demand)]
    return Found(heaps, costs=tuple(row[:-1] for row in full))


def _values(cells: Sequence[str]) -> Vector | None:
    """Cells that are all numbers."""
    values = [_said(cell) for cell in cells]
    return tuple(values) if values and None not in values else None


def _markdown_tables(text: str) -> Iterator[tuple[int, list[list[str]]]]:
    """Tables as rows of cells, without the rule under the header, with the line where each begins (from 0)."""
    rows: list[list[str]] = []
    lines = [*text.splitlines(), ""]
    for place, line in enumerate(lines):
        if line.strip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                rows.append(cells)
        elif rows:
            yield place - len(rows) - 1, rows
            rows = []


@dataclass(frozen=True, slots=True)
class PlanTable:
    """Places that mass comes from (rows) and goes to (columns), and how much; lines of the document from 1."""

    line: int
    end_line: int
    sources: Vector
    targets: Vector
    plan: Matrix


ABOVE = 10  # lines in which 'from' and 'to' stand above a table


def plan_tables(text: str) -> Iterator[PlanTable]:
    """Tables under the words 'from' and 'to': a line that ends in k numbers, then lines of 1 + k numbers."""
    lines = text.splitlines()
    said = [at for at, line in enumerate(lines) if "from" in line.lower()]
    row = cache(lambda at: _row(lines[at]))
    start = 0
    while start < len(lines):
        near = bisect_left(said, start - ABOVE)
        if near == len(said):
            return
        if said[near] > start and not row(said[near]):
            start = said[near]  # no table reaches the next 'from'
            continue
        end = start + 1
        targets = row(start) if end < len(lines) and lines[end].strip() else []
        while end < len(lines) and len(targets) >= 2 and len(row(end)) == len(targets) + 1:
            end += 1
        if end - start > 1 and _is_of_plan(" ".join(lines[max(0, start - ABOVE) : end]).lower()):
            body = [_numbers(row(at)) for at in range(start + 1, end)]
            plan = tuple(tuple(cells[1:]) for cells in body)
            if all(cell >= 0 for cells in plan for cell in cells) and any(cell for cells in plan for cell in cells):
                yield PlanTable(start + 1, end, tuple(cells[0] for cells in body), tuple(_numbers(targets)), plan)
        start = end


def _is_of_plan(near: str) -> bool:
    return "from" in near and re.search(r"\bto\b|\(t[od0b]\)", near) is not None


def _numbers(texts: list[str]) -> list[fmpq]:
    return [rational(n.number(text).value) for text in texts]


def _row(line: str) -> list[str]:
    """The numbers of a line up to a conclusion (⇒ 7) beside it; nothing where there are not two."""
    if len(NUMBER.findall(line)) < 2:
        return []
    beside = CONCLUSION.split(line, maxsplit=1)[0]
    return NUMBER.findall(FORMULA.sub(" ", beside))
