"""SHEET × TRACE → REPORT: every equation of a document, in order, against the truth and against its author's own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from qkv.check.author import Author, Loose
from qkv.check.cells import Grid, Judged, fitted, judge_grid, score, shape_of, shown_grid
from qkv.check.compare import shown_cell
from qkv.check.mistakes import explain
from qkv.check.model import BAD, SEVERITY, CellVerdict, Claim, Report, Verdict
from qkv.check.targets import Target, targets
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.interpret.rounding import round_digits, round_places
from qkv.sheet.model import Link, Origin, Relation, Sheet
from qkv.understand.facts import Fact, Form, form, plain_value
from qkv.understand.problems import Problem, understand
from qkv.understand.resolve import Resolver

FALSE = frozenset({Verdict.WRONG, Verdict.CARRIED, Verdict.MISREAD})


@dataclass
class Walk:
    """The state of a walk through one problem: the author's numbers, the claims so far, the last workings by subject."""

    problem: Problem
    author: Author
    claims: list[Claim]
    workings: dict[Symbol, list[n.Expr]] = field(default_factory=dict)
    rows_seen: dict[Symbol, int] = field(default_factory=dict)
    copied: dict[int, tuple[int, ...]] = field(default_factory=dict)  # id(working) → false copies among its operands


@dataclass(frozen=True)
class Source:
    """A way in which the author may have come to a value: its numbers, and the false claims that it stands on."""

    value: Value
    blamed: tuple[int, ...]
    expr: n.Expr | None = None


def check_sheet(sheet: Sheet) -> Report:
    """Judge a whole document."""
    claims: list[Claim] = []
    author: Author | None = None
    for problem in understand(sheet):
        author = _next_author(problem, author)
        walk = Walk(problem, author, claims)
        for fact in problem.facts:
            judge_fact(walk, fact)
    ordered = sorted(claims, key=lambda claim: (claim.line, claim.column, claim.id))
    return Report(sheet.file, tuple(ordered), sheet.text)


def _next_author(problem: Problem, before: Author | None) -> Author:
    """Numbers printed in an earlier problem count on where the quantity is the same."""
    author = Author(problem.trace)
    if before is not None:
        for symbol, value in before.printed.items():
            old, new = before.trace.program.item(symbol), problem.program.item(symbol)
            if old is not None and new is not None and old.expr == new.expr:
                author.print(symbol, value, before.blame.get(symbol, ()))
    return author


def judge_fact(walk: Walk, fact: Fact) -> None:
    """Judge the links of one chain, left to right."""
    if fact.statement.origin is Origin.CODE or _is_given(walk.problem, fact):
        return
    _strike(walk, fact)
    if fact.statement.struck:
        return
    before: list[Link] = []
    for link in fact.links:
        kind = form(link.expr)
        if kind is Form.WORKING:
            _judge_copies(walk, fact, link)
            _judge_working(walk, fact, link, before)
            if fact.symbol is not None:
                walk.workings.setdefault(fact.symbol, []).append(link.expr)
        elif kind is Form.VALUE and (fact.subjects or before or fact.cue.role or _is_matrix(link)):
            _judge_value(walk, fact, link, before)
        before.append(link)


def _is_matrix(link: Link) -> bool:
    return isinstance(link.expr, (n.Matrix, n.Transpose))


def _is_given(problem: Problem, fact: Fact) -> bool:
    """Whether this chain is where a given is given."""
    if fact.value is None:
        return False
    lines = {given.symbol: given.line for given in problem.program.givens}
    return bool(fact.subjects) and all(lines.get(name.symbol) == fact.value.at.line for name in fact.subjects)


def _strike(walk: Walk, fact: Fact) -> None:
    links = fact.statement.links if fact.statement.struck else tuple(x for x in fact.statement.links if x.struck)
    for link in links[-1:]:
        if form(link.expr) in (Form.VALUE, Form.WORKING):
            name = fact.subjects[0].spelled if fact.subjects else ""
            _add(walk, fact, link, name, Verdict.STRUCK, reason="crossed out by its author")


def _add(walk: Walk, fact: Fact, link: Link, name: str, verdict: Verdict, **more: object) -> Claim:
    claim = Claim(
        id=len(walk.claims) + 1,
        line=link.at.line,
        end_line=max(link.at.line, link.at.line + link.text.strip().count("\n")),
        name=name,
        formula=str(more.pop("formula", "")),
        text=link.text.strip(),
        verdict=verdict,
        column=link.at.column,
        **more,  # type: ignore[arg-type]
    )
    walk.claims.append(claim)
    return claim


# ---------------------------------------------------------------- values


def _judge_value(walk: Walk, fact: Fact, link: Link, before: list[Link]) -> None:
    matrix = plain_value(link.expr)
    grid = shown_grid(matrix, link.relation is Relation.APPROX) if matrix is not None else None
    if grid is None:
        _judge_damaged(walk, fact, link, before)
        return
    best = _best(walk, fact, grid, before, link)
    if best is None:
        _judge_literal(walk, fact, link, grid, before)
        return
    target, judged, sources = best
    _conclude(walk, fact, link, target, judged, sources, matrix)


Found = tuple[Target, tuple[tuple[Judged, ...], ...], list[Source]]


def _best(walk: Walk, fact: Fact, grid: Grid, before: list[Link], link: Link) -> Found | None:
    """The likeliest meaning under which the shown value makes sense."""
    best: Found | None = None
    points = -1.0
    for target in _meanings(walk, fact, grid, link):
        sources = list(_sources(walk, fact, target, before, shape_of(grid)))
        judged = _judged(walk, target, grid, sources)
        if judged is None:
            continue
        reached = score(judged)
        if reached > points + 1e-9:
            best, points = (target, judged, sources), reached
        if reached >= 0.9:
            break
    if best is None or (points < 0.5 and not best[0].certain):
        return None
    return best


def _meanings(walk: Walk, fact: Fact, grid: Grid, link: Link) -> Iterator[Target]:
    """Targets in the shape of what is shown: whole, or the row that the words or the order tell, or any row."""
    shape = shape_of(grid)
    for target in targets(fact, walk.problem):
        whole = _evaluated(walk, target.expr)
        if whole is None:
            continue
        if fitted(whole, shape) is not None:
            yield target
        elif min(shape) == 1 and max(shape) > 1:
            yield from _rows(walk, fact, target, whole.shape, max(shape), link)
    if not fact.subjects and max(shape) > 1:
        yield from _anything(walk, shape)


def _rows(walk: Walk, fact: Fact, target: Target, shape: tuple[int, int], width: int, link: Link) -> Iterator[Target]:
    if shape[1] == width:
        order = _row_order(walk, fact, target, shape[0], link)
        for rank, row in enumerate(order):
            certain = target.certain and rank == 0
            yield Target(n.Entry(target.expr, row=row), certain, f"{target.name}, row {row}", target.subject)
    elif shape[0] == width:
        for column in range(1, shape[1] + 1):
            yield Target(n.Entry(target.expr, column=column), False, f"{target.name}, column {column}", target.subject)


def _row_order(walk: Walk, fact: Fact, target: Target, count: int, link: Link) -> list[int]:
    """The row that is spoken of first: said in words, or the next one in order."""
    label = "".join(ch for ch in link.note if ch.isdigit())
    said = int(label) if label and len(label) < 4 else fact.cue.row
    if said is None and target.subject is not None:
        said = walk.rows_seen.get(target.subject, 0) + 1
    rows = list(range(1, count + 1))
    return [said, *(row for row in rows if row != said)] if said in rows else rows


def _anything(walk: Walk, shape: tuple[int, int]) -> Iterator[Target]:
    """A nameless value may be any quantity, or any row of one; only perfect agreement will count."""
    for item in walk.problem.program.items:
        value = walk.problem.trace.value(item.symbol)
        if value.shape in (shape, shape[::-1]) and max(shape) > 1:
            yield Target(n.Name(item.symbol), False, item.spelled, item.symbol)
        elif shape[0] == 1 and value.shape[1] == shape[1]:
            for row in range(1, value.shape[0] + 1):
                expr = n.Entry(n.Name(item.symbol), row=row)
                yield Target(expr, False, f"{item.spelled}, row {row}", item.symbol)


def _evaluated(walk: Walk, expr: n.Expr) -> Value | None:
    try:
        return walk.problem.trace.evaluate(expr)
    except QkvError:
        return None


def _judged(walk: Walk, target: Target, grid: Grid, sources: list[Source]) -> tuple[tuple[Judged, ...], ...] | None:
    shape = shape_of(grid)

    def true(bits: int) -> Value:
        value = fitted(walk.problem.trace.evaluate(target.expr, bits), shape)
        if value is None:
            raise QkvError("the shown value has another shape")
        return value

    try:
        return judge_grid(grid, true, [source.value for source in sources])
    except QkvError:
        return None


def _sources(walk: Walk, fact: Fact, target: Target, before: list[Link], shape: tuple[int, int]) -> Iterator[Source]:
    """Every way in which the author may have come to the value, nearest first."""
    for expr, blamed in _derivations(walk, fact, target, before):
        value = walk.author.own(expr)
        turned = fitted(value, shape) if value is not None else None
        if turned is not None:
            yield Source(turned, blamed + walk.author.blamed(expr), expr)


def _derivations(
    walk: Walk, fact: Fact, target: Target, before: list[Link]
) -> Iterator[tuple[n.Expr, tuple[int, ...]]]:
    row = target.expr if isinstance(target.expr, n.Entry) and isinstance(target.expr.arg, n.Name) else None
    for link in reversed(before):
        yield from _as_derivation(walk, fact, link.expr, row)
    if fact.symbol is not None:
        for expr in reversed(walk.workings.get(fact.symbol, [])):
            yield from _as_derivation(walk, fact, expr, row)
    if isinstance(target.expr, n.Name) and target.expr.symbol in walk.author.printed:
        yield target.expr, ()
    inner = target.expr.arg if row is not None and isinstance(target.expr, n.Entry) else target.expr
    item = walk.problem.program.item(inner.symbol) if isinstance(inner, n.Name) else None
    if item is not None:
        yield (replace(row, arg=item.expr) if row is not None else item.expr), ()
    if row is not None:
        yield target.expr, ()
    if item is None:
        yield target.expr, ()


def _as_derivation(
    walk: Walk, fact: Fact, expr: n.Expr, row: n.Entry | None
) -> Iterator[tuple[n.Expr, tuple[int, ...]]]:
    blamed = walk.copied.get(id(expr), ())
    for rows in (False, True):
        meant = Resolver(walk.problem.program, walk.problem.resolver.aliases, rows).expr(expr, fact.head)
        if meant is not None:
            yield meant, blamed
            if row is not None:
                yield replace(row, arg=meant), blamed
        if n.is_literal(expr):
            break


def _conclude(
    walk: Walk,
    fact: Fact,
    link: Link,
    target: Target,
    judged: tuple[tuple[Judged, ...], ...],
    sources: list[Source],
    matrix: n.Matrix | None,
) -> Claim:
    """Settle blame, find the cause, and remember what the author goes on with."""
    settled, culprits = _settle_blame(walk, judged, sources)
    worst = max((cell.verdict for row in settled for cell in row), key=lambda v: SEVERITY[v])
    own_expr = next((s.expr for s in sources if s.expr is not None), None)
    cells = _cell_verdicts(settled)
    cause = explain(walk.problem.trace, walk.author, target.expr, settled) if worst is Verdict.WRONG else None
    claim = _add(
        walk, fact, link, target.name, worst,
        formula=plain(own_expr) if own_expr is not None and not n.is_literal(own_expr) else "",
        cells=cells, follows_from=culprits if worst is not Verdict.RIGHT else (), cause=cause,
    )  # fmt: skip
    _remember(walk, target, settled, claim)
    return claim


def _settle_blame(
    walk: Walk, judged: tuple[tuple[Judged, ...], ...], sources: list[Source]
) -> tuple[tuple[tuple[Judged, ...], ...], tuple[int, ...]]:
    """DRIFTED becomes CARRIED where the numbers that lead here stand on a false claim."""
    culprits: list[int] = []
    rows = []
    for row in judged:
        cells = []
        for cell in row:
            if cell.verdict is Verdict.DRIFTED:
                blamed = _blamed_for(cell, sources)
                false = tuple(i for i in blamed if walk.claims[i - 1].verdict in FALSE)
                if false:
                    cell = replace(cell, verdict=Verdict.CARRIED)
                    culprits.extend(false)
            cells.append(cell)
        rows.append(tuple(cells))
    return tuple(rows), tuple(dict.fromkeys(culprits))


def _blamed_for(cell: Judged, sources: list[Source]) -> tuple[int, ...]:
    for source in sources:
        if any(value is cell.own for row in source.value.rows for value in row):
            return source.blamed
    return ()


def _cell_verdicts(judged: tuple[tuple[Judged, ...], ...]) -> tuple[CellVerdict, ...]:
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
    digits = max(sum(ch.isdigit() for ch in judged.shown.text), 3) + 1
    return round_digits(cell, digits) or round_places(cell, 3) or round_places(cell, 1)


def _remember(walk: Walk, target: Target, judged: tuple[tuple[Judged, ...], ...], claim: Claim) -> None:
    if target.subject is None:
        return
    kept = Value(tuple(tuple(cell.kept for cell in row) for row in judged))
    blamed = (claim.id,) if claim.verdict in BAD else ()
    symbol = target.subject
    expr = target.expr
    if isinstance(expr, n.Transpose):
        expr, kept = expr.arg, Certified().transpose(kept)
    if isinstance(expr, n.Name):
        whole = fitted(kept, walk.author[symbol].shape) if symbol in walk.author else kept
        if whole is not None:
            walk.author.print(symbol, whole, blamed)
    elif isinstance(expr, n.Entry) and expr.row is not None and isinstance(expr.arg, n.Name) and symbol in walk.author:
        _remember_row(walk, symbol, expr, kept, blamed)


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
    walk.author.print(symbol, Value(rows), walk.author.blame.get(symbol, ()) + blamed)


# ---------------------------------------------------------------- workings and literals


def _judge_copies(walk: Walk, fact: Fact, link: Link) -> None:
    """The operands of [..] × [..] are copies of what the formula names; each is a claim of its own."""
    if not isinstance(link.expr, n.Product):
        return
    formula = _formula_of(walk, fact)
    if formula is None:
        return
    false: list[int] = []
    for operand, meant in zip(_factors(link.expr), _factors(formula), strict=False):
        claim = _judge_copy(walk, fact, link, operand, meant)
        if claim is not None and claim.verdict in BAD:
            false.append(claim.id)
    walk.copied[id(link.expr)] = tuple(false)


def _judge_copy(walk: Walk, fact: Fact, link: Link, operand: n.Expr, meant: n.Expr) -> Claim | None:
    matrix = plain_value(operand)
    grid = shown_grid(matrix, False) if matrix is not None and max(matrix.shape) > 1 else None
    if grid is None:
        return None
    target = Target(meant, False, plain(meant))
    value = walk.author.own(meant)
    turned = fitted(value, shape_of(grid)) if value is not None else None
    sources = [Source(turned, walk.author.blamed(meant), meant)] if turned is not None else []
    judged = _judged(walk, target, grid, sources)
    if judged is None or score(judged) < 0.5:
        return None
    at = operand.at or link.at
    place = replace(link, at=at, text=plain(operand))
    return _conclude(walk, fact, place, target, judged, sources, matrix)


def _formula_of(walk: Walk, fact: Fact) -> n.Expr | None:
    """The product whose operands are written out: from the chain, or the step of its subject."""
    for link in fact.links:
        if form(link.expr) is Form.FORMULA:
            meant = walk.problem.resolver.expr(link.expr, fact.head)
            if isinstance(meant, n.Product):
                return meant
    for target in targets(fact, walk.problem):
        inner = target.expr.arg if isinstance(target.expr, n.Transpose) else target.expr
        item = walk.problem.program.item(inner.symbol) if isinstance(inner, n.Name) else None
        if item is not None and isinstance(item.expr, n.Product):
            return item.expr
    return None


def _factors(expr: n.Expr) -> list[n.Expr]:
    if isinstance(expr, n.Product):
        return [*_factors(expr.left), *_factors(expr.right)]
    return [expr]


def _judge_working(walk: Walk, fact: Fact, link: Link, before: list[Link]) -> None:
    """Numbers put into a formula: are they the right ones?"""
    if isinstance(link.expr, n.Product) and any(isinstance(x, n.Matrix) for x in _factors(link.expr)):
        return
    try:
        value = evaluate(link.expr, {}, Loose())
    except QkvError:
        return
    grid = tuple(tuple(shown_cell(plain(link.expr), cell) for cell in row) for row in value.rows)
    if value.shape == (1, 1) and not fact.subjects:
        return
    best = _best(walk, fact, grid, before, link)
    if best is None or not best[0].certain and score(best[1]) < 0.9:
        return
    target, judged, sources = best
    claim = _conclude(walk, fact, link, replace(target, subject=None), judged, sources, None)
    if claim.verdict in BAD:
        walk.copied[id(link.expr)] = (claim.id,)


def _judge_literal(walk: Walk, fact: Fact, link: Link, grid: Grid, before: list[Link]) -> None:
    """An equation between numbers alone: 8.3421 + 2.0281 + 4.1133 = 14.4835."""
    literal = next((x for x in reversed(before) if n.is_literal(x.expr)), None)
    name = fact.subjects[0].spelled if fact.subjects else ""
    if literal is None:
        if fact.subjects or _is_matrix(link):
            _add(walk, fact, link, name, Verdict.UNREAD, reason="nothing in the document says what this should equal")
        return
    judged = _judge_equation(literal.expr, grid)
    if judged is None or (score(judged) < 0.5 and max(shape_of(grid)) > 1):
        _add(walk, fact, link, name, Verdict.UNREAD, reason="it is not clear what this should equal")
        return
    worst = max((cell.verdict for row in judged for cell in row), key=lambda v: SEVERITY[v])
    false = walk.copied.get(id(literal.expr), ())
    if worst in (Verdict.RIGHT, Verdict.ROUNDED, Verdict.DRIFTED) and false:
        worst = Verdict.CARRIED
    _add(walk, fact, link, name, worst, formula=plain(literal.expr), cells=_cell_verdicts(judged), follows_from=false)


def _judge_equation(literal: n.Expr, grid: Grid) -> tuple[tuple[Judged, ...], ...] | None:
    shape = shape_of(grid)

    def true(bits: int) -> Value:
        with precision(bits):
            value = fitted(evaluate(literal, {}, Certified()), shape)
        if value is None:
            raise QkvError("the two sides differ in shape")
        return value

    try:
        loose = fitted(evaluate(literal, {}, Loose()), shape)
        return judge_grid(grid, true, [loose] if loose is not None else [])
    except QkvError:
        return None


def _judge_damaged(walk: Walk, fact: Fact, link: Link, before: list[Link]) -> None:
    name = fact.subjects[0].spelled if fact.subjects else ""
    _add(walk, fact, link, name, Verdict.UNREAD, reason="the rows of this matrix differ in length")
