"""A walk through one problem: the author's numbers, the claims so far, and how a verdict is written down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from qkv.check.author import Author
from qkv.check.cells import Grid, Judged, fitted, judge_grid, shape_of
from qkv.check.compare import loosened
from qkv.check.mistakes import explain
from qkv.check.model import BAD, SEVERITY, CellVerdict, Claim, Verdict
from qkv.check.targets import Target
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, bounds, fraction
from qkv.interpret.certified import Certified, Value
from qkv.interpret.rounding import round_digits
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.problems import Problem
from qkv.understand.roles import HYPOTHETICAL

FALSE = frozenset({Verdict.WRONG, Verdict.CARRIED, Verdict.MISREAD})
Judgement = tuple[tuple[Judged, ...], ...]


@dataclass
class Walk:
    """The state of a walk: what the author holds, every claim so far, and the last workings of each subject."""

    problem: Problem
    author: Author
    claims: list[Claim]
    exercises: tuple[int | None, ...] = ()  # for each part of the sheet, the exercise that it belongs to
    workings: dict[Symbol, list[n.Expr]] = field(default_factory=dict)
    rows_seen: dict[Symbol, int] = field(default_factory=dict)
    copied: dict[int, tuple[int, ...]] = field(default_factory=dict)  # id(working) → false copies among its operands
    versions: dict[int, list[Source]] = field(default_factory=dict)  # id(working) → products of side-by-side versions

    def is_foreign(self, fact: Fact) -> bool:
        """Whether a fact may speak of something else than the problem's own quantities: it stands in a later exercise
        that gives nothing of its own, or the words before it change what was given ('let the third row be …')."""
        here = self.exercise(fact)
        return here not in self.homes or bool(HYPOTHETICAL.search(fact.statement.before))

    def exercise(self, fact: Fact) -> int | None:
        """The exercise that a fact belongs to."""
        part = fact.statement.part
        return self.exercises[part] if part < len(self.exercises) else None

    @cached_property
    def homes(self) -> frozenset[int | None]:
        """The exercises in which the problem begins or gives something."""
        lines = {given.line for given in self.problem.program.givens}
        first = self.exercise(self.problem.facts[0])
        giving = (f for f in self.problem.facts if f.value is not None and f.value.at.line in lines)
        return frozenset({first, *(self.exercise(fact) for fact in giving)})

    def evaluated(self, expr: n.Expr) -> Value | None:
        """The true value of an expression, if it has one."""
        try:
            return self.problem.trace.evaluate(expr)
        except QkvError:
            return None


@dataclass(frozen=True)
class Source:
    """A way in which the author may have come to a value: its numbers, and the false claims that it stands on."""

    value: Value
    blamed: tuple[int, ...]
    expr: n.Expr | None = None


def judged_against(walk: Walk, expr: n.Expr, grid: Grid, sources: list[Source]) -> Judgement | None:
    """Every shown cell against the true value of an expression and the author's sources; None if shapes differ."""
    shape = shape_of(grid)

    def true(bits: int) -> Value:
        value = fitted(walk.problem.trace.evaluate(expr, bits), shape)
        if value is None:
            raise QkvError("the shown value has another shape")
        return value

    try:
        return judge_grid(grid, true, [source.value for source in sources])
    except QkvError:
        return None


def add_claim(walk: Walk, fact: Fact, link: Link, name: str, verdict: Verdict, **more: object) -> Claim:
    """Write a claim down."""
    claim = Claim(
        id=len(walk.claims) + 1,
        line=link.at.line,
        end_line=link.at.line + link.text.strip().count("\n"),
        name=name,
        formula=str(more.pop("formula", "")),
        text=link.text.strip(),
        verdict=verdict,
        column=link.at.column,
        **more,  # type: ignore[arg-type]
    )
    walk.claims.append(claim)
    return claim


def conclude(
    walk: Walk, fact: Fact, link: Link, target: Target, judged: Judgement, sources: list[Source], **more: object
) -> Claim:
    """Settle blame, find the cause, and remember what the author goes on with."""
    settled, culprits = _settle_blame(walk, judged, sources)
    worst = worst_of(settled)
    formula = next((s.expr for s in sources if s.expr is not None and not n.is_literal(s.expr)), None)
    cause = explain(walk.problem.trace, walk.author, target.expr, settled) if worst is Verdict.WRONG else None
    claim = add_claim(
        walk,
        fact,
        link,
        target.name,
        worst,
        formula=plain(formula) if formula is not None else "",
        cells=cell_verdicts(settled),
        follows_from=culprits,
        cause=cause,
        **more,
    )
    _remember(walk, target, settled, claim)
    return claim


def worst_of(judged: Judgement) -> Verdict:
    """The worst verdict of a claim's cells."""
    return max((cell.verdict for row in judged for cell in row), key=lambda verdict: SEVERITY[verdict])


def _settle_blame(walk: Walk, judged: Judgement, sources: list[Source]) -> tuple[Judgement, tuple[int, ...]]:
    """DRIFTED becomes CARRIED where the numbers that lead here stand on a false claim."""
    culprits: list[int] = []
    rows = []
    for row in judged:
        cells = []
        for cell in row:
            false = _false_claims(walk, cell, sources) if cell.verdict is Verdict.DRIFTED else ()
            cells.append(replace(cell, verdict=Verdict.CARRIED) if false else cell)
            culprits.extend(false)
        rows.append(tuple(cells))
    return tuple(rows), tuple(dict.fromkeys(culprits))


def _false_claims(walk: Walk, cell: Judged, sources: list[Source]) -> tuple[int, ...]:
    for source in sources:
        if any(value is cell.own for row in source.value.rows for value in row):
            return tuple(i for i in source.blamed if walk.claims[i - 1].verdict in FALSE)
    return ()


def cell_verdicts(judged: Judgement) -> tuple[CellVerdict, ...]:
    """The cells that are not simply right."""
    return tuple(
        CellVerdict(i, j, cell.shown.text, _say(cell.true, cell), _say(cell.own, cell), cell.verdict)
        for i, row in enumerate(judged, 1)
        for j, cell in enumerate(row, 1)
        if cell.verdict not in (Verdict.RIGHT, Verdict.ROUNDED)
    )


def _say(cell: Cell | None, judged: Judged) -> str | None:
    """A computed cell to about as many digits as are shown."""
    if cell is None:
        return None
    if cell is NEG_INF:
        return "-∞"
    shown = judged.shown.text.partition("\\times")[0].partition("e")[0]
    digits = min(max(sum(ch.isdigit() for ch in shown), 3), 9) + 1
    low, high = bounds(cell)
    return round_digits(cell, digits) or round_digits((low + high) / 2, digits) or "0"


def _remember(walk: Walk, target: Target, judged: Judgement, claim: Claim) -> None:
    if isinstance(target.expr, n.Root) and len(judged) == len(judged[0]) == 1:
        square = walk.evaluated(target.expr.arg)
        if square is not None and square.exact:
            walk.author.print_root(fraction(square.cell), Value(((judged[0][0].kept,),)))
    # Where something is false, the digits that are not shown are unknown in every cell, also in those that look right.
    kept = Value(
        tuple(tuple(loosened(cell.shown) if claim.verdict in FALSE else cell.kept for cell in row) for row in judged)
    )
    blamed = (claim.id,) if claim.verdict in BAD else ()
    if target.subject is None:
        whole = walk.evaluated(target.expr) if isinstance(target.expr, (n.Product, n.Sum, n.Tanh, n.Quotient)) else None
        turned = fitted(kept, whole.shape) if whole is not None else None
        if turned is not None:
            walk.author.print_part(target.expr, turned, blamed)
        return
    symbol, expr = target.subject, target.expr
    if isinstance(expr, n.Transpose):
        expr, kept = expr.arg, Certified().transpose(kept)
    if isinstance(expr, n.Entry) and expr.row is not None and isinstance(expr.arg, n.Name) and symbol in walk.author:
        _remember_row(walk, symbol, expr, kept, blamed)
    elif symbol in walk.author:
        whole = fitted(kept, walk.author[symbol].shape)
        if whole is not None:
            walk.author.print(symbol, whole, blamed)


def _remember_row(walk: Walk, symbol: Symbol, expr: n.Entry, kept: Value, blamed: tuple[int, ...]) -> None:
    row = expr.row or 1
    walk.rows_seen[symbol] = row
    whole = walk.author[symbol]
    line = list(whole.rows[row - 1])
    cells = [cell for r in kept.rows for cell in r]
    if expr.column is not None:
        line[expr.column - 1] = cells[0]
    elif len(cells) == len(line):
        line = cells
    rows = (*whole.rows[: row - 1], tuple(line), *whole.rows[row:])
    # The rows not printed yet still stand on what the whole stands on.
    standing = walk.author.blamed(n.Name(symbol))
    walk.author.print(symbol, Value(rows), tuple(dict.fromkeys((*standing, *blamed))))
