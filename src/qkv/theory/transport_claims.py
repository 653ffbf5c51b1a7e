"""Costs of transport that a sheet states, judged against the optimal plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from qkv.expr import nodes as n
from qkv.reader.model import Sheet, Statement
from qkv.theory.model import Judged, TheoryClaim
from qkv.theory.sayings import places
from qkv.theory.words import COSTS, WHOLE_COST, is_about_transport

if TYPE_CHECKING:
    from qkv.theory.transport_sheet import TransportProblem
    from qkv.transport import TransportResult


def transport_claims(sheet: Sheet, statements: Sequence[Statement]) -> Iterator[TheoryClaim]:
    """Costs that are said of the one transport problem of a part."""
    if not is_about_transport(sheet.text):
        return
    from qkv.theory.transport_sheet import transport_problems  # loaded only where there is something

    problems = transport_problems(sheet)
    solved: dict[int, TransportResult] = {}
    for statement in statements:
        last = statement.links[-1].expr
        here = [problem for problem in problems if problem.part == statement.part]
        if len(here) != 1 or not isinstance(last, n.Number):
            continue
        if not _speaks_of_cost(statement, here[0]):
            continue
        if here[0].line not in solved:
            solved[here[0].line] = here[0].solved()
        result = solved[here[0].line]
        verdict = _cost_verdict(last, _costs_said(here[0], result))
        says = f"the least cost is {result.cost}" + ("" if result.unique else ", for more than one plan")
        line, truth = statement.links[-1].at.line, str(result.cost)
        yield TheoryClaim(line, statement.text, "cost of transport", verdict, truth, says, places(statement))


def _cost_verdict(said: n.Number, costs: Sequence[Fraction]) -> Judged:
    """A printed decimal stands for what rounds to it; one unit in the last place off is left open."""
    if said.value in costs:
        return Judged.RIGHT
    unit = said.ulp
    offs = [abs(cost - said.value) for cost in costs]
    if any(off <= unit / 2 and cost.denominator > 1 for off, cost in zip(offs, costs, strict=True)):
        return Judged.RIGHT
    is_decimal = said.places is not None and said.places > 0
    return Judged.OPEN if is_decimal and min(offs) <= unit else Judged.WRONG


def _speaks_of_cost(statement: Statement, problem: TransportProblem) -> bool:
    beside_table = problem.plan is not None and problem.line <= statement.at.line <= problem.end_line
    words = statement.before[-160:]
    is_distance = _is_distance(statement.links[0].expr, problem)
    return beside_table or is_distance or bool(COSTS.search(words) and WHOLE_COST.search(words))


def _is_distance(expr: n.Expr, problem: TransportProblem) -> bool:
    """EMD = …, W = …, EMD(a, b) = …, W_1(a, b) = …, for the two heaps of the problem."""
    match expr:
        case n.Name(symbol=symbol):
            return symbol.base in ("W", "EMD") and not symbol.indices
        case n.Call(function=function, args=args):
            return "emd" in function.lower() and _are_heaps(args, problem)
        case n.Product(left=n.Name(symbol=symbol), right=n.Matrix(rows=(row,))):
            order = "1" if problem.cost == "distance" else "2"
            return symbol.base == "W" and symbol.indices in ((), (order,)) and _are_heaps(row, problem)
        case _:
            return False


def _are_heaps(args: Sequence[n.Expr], problem: TransportProblem) -> bool:
    return {arg.spelled for arg in args if isinstance(arg, n.Name)} == set(problem.names)


def _costs_said(problem: TransportProblem, result: TransportResult) -> list[Fraction]:
    """What may rightly be said to be a cost: the least one, per unit of mass, its root for squares, that of the sheet's
    own plan, and those of single moves."""
    from qkv.transport.exact import to_fraction

    said = [result.cost, result.per_unit, *([] if result.root is None else [result.root])]
    said += [cost for move in result.plan for cost in (move.unit_cost, move.cost)]
    if problem.plan is not None:
        cells = [(i, j, mass) for i, row in enumerate(problem.plan) for j, mass in enumerate(row)]
        said.append(sum((result.costs.exact(i, j) * mass for i, j, mass in cells), result.costs.zero))
    return [to_fraction(value) for value in said]
