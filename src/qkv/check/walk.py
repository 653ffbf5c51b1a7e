"""A walk through one problem: the author's numbers, the claims so far, and how a verdict is written down."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from flint import fmpq

from qkv.check.author import Author
from qkv.check.cells import Grid, Judged, fitted, judge_grid, shape_of
from qkv.check.compare import Agreement, follows, loosened
from qkv.check.mistakes import explain
from qkv.check.model import BAD, SEVERITY, CellVerdict, Claim, Verdict
from qkv.check.targets import Target, by_role
from qkv.errors import Location, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, START_BITS, Cell, bounds, fraction, interval
from qkv.interpret.certified import Certified, Value
from qkv.interpret.rounding import round_digits
from qkv.program.model import Step
from qkv.render.workings import cell_workings
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.problems import Problem
from qkv.understand.repair import similar
from qkv.understand.roles import HYPOTHETICAL
from qkv.understand.values import plain_value

FALSE = frozenset({Verdict.WRONG, Verdict.CARRIED, Verdict.MISREAD})
ENDS_OPEN = "ends with ×"  # the reader's note on a product that goes on elsewhere
SLIPS = frozenset({Verdict.WRONG, Verdict.MISREAD})
Judgement = tuple[tuple[Judged, ...], ...]


@dataclass
class Walk:
    """The state of a walk: what the author holds, every claim so far, and the last workings of each subject."""

    problem: Problem
    author: Author
    claims: list[Claim]
    exercises: tuple[int | None, ...] = ()  # for each part of the sheet, the exercise that it belongs to
    workings: dict[Symbol, list[n.Expr]] = field(default_factory=dict)
    shown: dict[tuple[Location, Symbol], Verdict] = field(default_factory=dict)  # the verdict on a quantity in a chain
    rows_seen: dict[Symbol, int] = field(default_factory=dict)
    families: dict[tuple[str, ...], Symbol] = field(default_factory=dict)  # a_1, a_2, … turned out to be cells of this
    copied: dict[int, tuple[int, ...]] = field(default_factory=dict)  # id(working) → false copies among its operands
    versions: dict[int, list[Source]] = field(default_factory=dict)  # id(working) → products of side-by-side versions
    _true: dict[Hashable, tuple[n.Expr, Value]] = field(default_factory=dict)  # the true values asked for so far

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
    def on_line(self) -> dict[int, list[Fact]]:
        """The facts that begin on each line."""
        found: dict[int, list[Fact]] = {}
        for fact in self.problem.facts:
            found.setdefault(fact.statement.at.line, []).append(fact)
        return found

    @cached_property
    def homes(self) -> frozenset[int | None]:
        """The exercises in which the problem begins or gives something."""
        lines = {given.line for given in self.problem.program.givens}
        first = self.exercise(self.problem.facts[0])
        giving = (f for f in self.problem.facts if f.value is not None and f.value.at.line in lines)
        return frozenset({first, *(self.exercise(fact) for fact in giving)})

    @property
    def minds(self) -> tuple[Author, ...]:
        """The author by the print; and without slips of the pen, where there may be some."""
        return self.author, *self.author.in_mind

    @property
    def printed_whole(self) -> frozenset[Symbol]:
        """What was printed at once, not row by row."""
        return frozenset(symbol for symbol in self.author.printed if not self.author.missing.get(symbol))

    @cached_property
    def plural(self) -> frozenset[Symbol]:
        """Names that are given different values with no word on how they came: one for each setting, or attempt."""
        prints: dict[Symbol, list[n.Matrix]] = {}
        for fact in self.problem.facts:
            shown = fact.value is not None and not fact.value.note.endswith(ENDS_OPEN)
            value = plain_value(fact.value.expr) if fact.value is not None and shown else None
            bare = fact.formula is None and fact.working is None and not fact.pending and not fact.statement.struck
            if bare and value is not None and fact.symbol is not None and max(value.shape) > 1:
                prints.setdefault(fact.symbol, []).append(value)
        return frozenset(
            symbol
            for symbol, values in prints.items()
            if any(value.shape == values[0].shape and not similar(value, values[0]) for value in values[1:])
        )

    def family(self, fact: Fact) -> Symbol | None:
        """The quantity that a name's siblings turned out to be parts of: a_4 is a weight if a_1 was one."""
        return self.families.get(_family(fact.symbol)) if fact.symbol is not None else None

    def evaluated(self, expr: n.Expr) -> Value | None:
        """The true value of an expression, if it has one."""
        try:
            return self.true(expr)
        except QkvError:
            return None

    def true(self, expr: n.Expr, bits: int = START_BITS) -> Value:
        """The true value of an expression, worked out once."""
        if isinstance(expr, n.Name):
            return self.problem.trace.value(expr.symbol, bits)
        key = n.key(expr), bits
        if key not in self._true:
            self._true[key] = (
                expr,
                self.problem.trace.evaluate(expr, bits),
            )  # with the expression: its id may be the key
        return self._true[key][1]


def _family(symbol: Symbol) -> tuple[str, ...]:
    return (symbol.base, *symbol.labels, str(len(symbol.indices)))


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
        value = fitted(walk.true(expr, bits), shape)
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
        cells=cell_verdicts(settled, _workings(walk, target)),
        follows_from=culprits,
        cause=cause,
        shown=tuple(tuple(cell.shown.text for cell in row) for row in settled),
        **more,
    )
    _remember(walk, fact, target, settled, claim)
    return claim


def rename(walk: Walk, fact: Fact, target: Target, claim: Claim) -> None:
    """S that turned out to be the scaled scores is meant as that from here on."""
    symbol, subject = fact.symbol, target.subject
    if symbol is not None and subject is not None and isinstance(target.expr, n.Entry) and claim.verdict not in BAD:
        walk.families.setdefault(_family(symbol), subject)
    whole = isinstance(target.expr, n.Name) and not fact.pending and len(fact.subjects) == 1
    if whole and symbol is not None and subject is not None and symbol != subject and claim.verdict not in BAD:
        resolver = walk.problem.resolver
        if target.expr not in (expr for expr, _ in by_role(fact, symbol, resolver)):
            return  # a copied operand of the chain, not its subject
        walk.problem = replace(walk.problem, resolver=replace(resolver, renamed={**resolver.renamed, symbol: subject}))


def worst_of(judged: Judgement) -> Verdict:
    """The worst verdict of a claim's cells."""
    return max((cell.verdict for row in judged for cell in row), key=lambda verdict: SEVERITY[verdict])


def _settle_blame(walk: Walk, judged: Judgement, sources: list[Source]) -> tuple[Judgement, tuple[int, ...]]:
    """DRIFTED becomes CARRIED where the numbers that lead here stand on a false claim."""
    culprits: list[int] = []
    rows = []
    for i, row in enumerate(judged):
        cells = []
        for j, cell in enumerate(row):
            false = _false_claims(walk, cell, sources, i, j) if cell.verdict is Verdict.DRIFTED else ()
            cells.append(replace(cell, verdict=Verdict.CARRIED) if false else cell)
            culprits.extend(false)
        carried = any(cell.verdict is Verdict.CARRIED for cell in cells)
        rows.append(tuple(_not_by_chance(cells, sources, i) if carried else cells))
    return tuple(rows), tuple(dict.fromkeys(culprits))


def _not_by_chance(cells: list[Judged], sources: list[Source], i: int) -> Iterator[Judged]:
    """In a row that follows from a false claim, a cell that merely lies near the true value is a slip all the same."""
    used = next(source for source in sources if source.blamed)
    for j, cell in enumerate(cells):
        near = cell.verdict is Verdict.MISROUNDED
        apart = near and follows(cell.shown, used.value.rows[i][j]) is Agreement.APART
        yield replace(cell, verdict=Verdict.WRONG) if apart else cell


def _false_claims(walk: Walk, cell: Judged, sources: list[Source], i: int, j: int) -> tuple[int, ...]:
    """The false claims behind a cell that follows from the author's numbers, if a source stands on some."""
    for source in sources:
        false = tuple(k for k in source.blamed if walk.claims[k - 1].verdict in FALSE)
        if false and follows(cell.shown, source.value.rows[i][j]) is Agreement.ROUNDED:
            return false
    return ()


def cell_verdicts(judged: Judgement, working: Callable[[int, int], str] | None = None) -> tuple[CellVerdict, ...]:
    """The cells that are not simply right; for a slip, how the right value comes about."""

    def work(cell: Judged, i: int, j: int) -> str:
        return working(i, j) if working is not None and cell.verdict is Verdict.WRONG else ""

    return tuple(
        CellVerdict(i, j, cell.shown.text, _say(cell.true, cell), _say(cell.own, cell), cell.verdict, work(cell, i, j))
        for i, row in enumerate(judged, 1)
        for j, cell in enumerate(row, 1)
        if cell.verdict not in (Verdict.RIGHT, Verdict.ROUNDED)
    )


def _workings(walk: Walk, target: Target) -> Callable[[int, int], str]:
    """How a cell of what is meant comes about: 2·2 + 2·3 + 2·1 = 12."""
    expr: n.Expr = target.expr
    row: int | None = None
    if isinstance(target.expr, n.Entry) and target.expr.column is None and target.expr.columns is None:
        expr, row = target.expr.arg, target.expr.row
    item = walk.problem.program.item(expr.symbol) if isinstance(expr, n.Name) else None
    how_cell = cell_workings(item.expr if isinstance(item, Step) else expr, walk.problem.trace.evaluate)

    def work(i: int, j: int) -> str:
        try:
            how = how_cell(row or i, j)
        except (QkvError, IndexError):
            return ""  # the shown value is turned, or a part of something: there is no such cell to explain
        return how if "=" in how or "≈" in how else ""  # what is given comes about in no way

    return work


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


def _remember(walk: Walk, fact: Fact, target: Target, judged: Judgement, claim: Claim) -> None:
    """What the author goes on with: the print; and what was meant by it, where a cell is wrong."""
    if isinstance(target.expr, n.Root) and len(judged) == len(judged[0]) == 1:
        square = walk.evaluated(target.expr.arg)
        if square is not None and square.exact:
            walk.author.print_root(fraction(square.cell), Value(((judged[0][0].kept,),)))
    # Where something is false, the digits that are not shown are unknown in every cell, also in those that look right.
    kept = Value(
        tuple(tuple(loosened(cell.shown) if claim.verdict in SLIPS else cell.kept for cell in row) for row in judged)
    )
    blamed = (claim.id,) if claim.verdict in BAD else ()
    target = _as_entry(walk, fact, target)
    meant = _placed(walk, target, _meant(judged, kept) if claim.verdict is Verdict.WRONG else kept, meant=True)
    printed = _placed(walk, target, kept)
    if printed is None:
        return
    symbol, whole = printed
    better = walk.shown.get((fact.statement.at, symbol))
    if better is not None and claim.verdict in FALSE and better not in FALSE:
        return  # a second version in the same chain: the author goes on with the good one
    walk.shown[fact.statement.at, symbol] = claim.verdict
    upstream = walk.author.blamed(_step_expr(walk, symbol))
    inner = target.expr.arg if isinstance(target.expr, n.Transpose) else target.expr
    if isinstance(inner, n.Entry):  # the rows not printed yet still stand on what the whole stands on
        walk.rows_seen[symbol] = inner.row or 1
        _note_printed(walk, symbol, inner, whole)
        blamed = tuple(dict.fromkeys((*walk.author.blamed(n.Name(symbol)), *blamed)))
    part_meant = isinstance(inner, n.Entry) and symbol in walk.author.meant
    walk.author.print(symbol, whole, blamed)
    if meant is not None and (claim.verdict is Verdict.WRONG or part_meant):
        walk.author.mean(symbol, meant[1], upstream)


def _note_printed(walk: Walk, symbol: Symbol, entry: n.Entry, whole: Value) -> None:
    """Strike the cells of a row, or one cell, off the list of those that are still to come."""
    rows, columns = whole.shape
    every = {(i, j) for i in range(1, rows + 1) for j in range(1, columns + 1)}
    left = walk.author.missing.setdefault(symbol, every)
    left -= {(i, j) for i, j in every if i == entry.row and entry.column in (j, None)}


def _step_expr(walk: Walk, symbol: Symbol) -> n.Expr:
    item = walk.problem.program.item(symbol)
    return item.expr if item is not None else n.Name(symbol)


def _as_entry(walk: Walk, fact: Fact, target: Target) -> Target:
    """s_{1,2} = q_1 · k_2 is a cell of the scores, and q_1 = x_1 W a row of Q: the one whose value it has."""
    symbol = target.subject or (fact.symbol if isinstance(target.expr, n.Product | n.Sum | n.Quotient) else None)
    if symbol is None or symbol in walk.author:
        return target
    true = walk.evaluated(target.expr)
    for expr, _ in by_role(fact, symbol, walk.problem.resolver) if true is not None else ():
        value = walk.evaluated(expr)
        turned = fitted(value, true.shape) if value is not None and true is not None else None
        inner = expr.arg if isinstance(expr, n.Transpose) else expr
        if (
            isinstance(inner, n.Entry)
            and isinstance(inner.arg, n.Name)
            and turned is not None
            and same_values(turned, true)
        ):
            return replace(target, expr=inner, subject=inner.arg.symbol)
    return target


def same_values(a: Value, b: Value | None) -> bool:
    """Whether two values cannot be told apart."""
    if b is None:
        return False
    pairs = ((x, y) for one, other in zip(a.rows, b.rows, strict=True) for x, y in zip(one, other, strict=True))
    return all(x is y if NEG_INF in (x, y) else _meet(x, y) for x, y in pairs)


def _meet(x: Cell, y: Cell) -> bool:
    (a, b), (c, d) = bounds(x), bounds(y)
    return bool(a <= d and c <= b)


def _meant(judged: Judgement, kept: Value) -> Value | None:
    """The print with wrong cells as the author's own numbers give them, rounded or not."""
    halves = [cell.shown.half for row in judged for cell in row if "." in cell.shown.text]
    half = max(set(halves), key=halves.count) if halves else fmpq(0)
    rows = []
    for cells, printed in zip(judged, kept.rows, strict=True):
        row = []
        for cell, value in zip(cells, printed, strict=True):
            if cell.verdict is Verdict.WRONG:
                if cell.own is None:
                    return None
                low, high = (cell.own, cell.own) if cell.own is NEG_INF else bounds(cell.own)
                value = NEG_INF if cell.own is NEG_INF else interval(low - half, high + half)
            row.append(value)
        rows.append(tuple(row))
    return Value(tuple(rows))


def _placed(walk: Walk, target: Target, value: Value | None, meant: bool = False) -> tuple[Symbol, Value] | None:
    """The quantity that a printed value becomes, whole: a row or a cell is put into its matrix as printed, or meant."""
    if value is None:
        return None
    symbol, expr = target.subject, target.expr
    if symbol is None:
        whole = walk.evaluated(expr) if isinstance(expr, (n.Product, n.Sum, n.Tanh, n.Quotient)) else None
        turned = fitted(value, whole.shape) if whole is not None else None
        return None if turned is None else (walk.author.part(expr), turned)
    if symbol not in walk.author:
        return None
    if isinstance(expr, n.Transpose):
        expr, value = expr.arg, Certified().transpose(value)
    if isinstance(expr, n.Entry) and expr.row is not None and isinstance(expr.arg, n.Name):
        before = walk.author.meant[symbol][0] if meant and symbol in walk.author.meant else walk.author[symbol]
        return symbol, _with_row(before, expr, value)
    turned = fitted(value, walk.author[symbol].shape)
    return None if turned is None else (symbol, turned)


def _with_row(whole: Value, entry: n.Entry, value: Value) -> Value:
    row = entry.row or 1
    line = list(whole.rows[row - 1])
    cells = [cell for r in value.rows for cell in r]
    if entry.column is not None:
        line[entry.column - 1] = cells[0]
    elif len(cells) == len(line):
        line = cells
    return Value((*whole.rows[: row - 1], tuple(line), *whole.rows[row:]))
