"""How a verdict is written down: blame settled, the cause found, and what the author goes on with remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flint import fmpq

from qkv.check.cells import Judged, fitted
from qkv.check.compare import Agreement, follows, meets
from qkv.check.explain import explain
from qkv.check.memory import remember
from qkv.check.mistakes.rewrites import STRUCTURAL
from qkv.check.mistakes.slips import cut_off
from qkv.check.model import BAD, GOOD, SEVERITY, CellVerdict, Claim, Verdict
from qkv.check.targets import Target, by_role
from qkv.check.walk import FALSE, Judgement, Source, Walk, add_claim
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, bounds, fraction, same_cell
from qkv.interpret.rounding import round_digits
from qkv.program.model import Step
from qkv.records import replace
from qkv.render.workings import cell_workings
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.resolve import family_of


def conclude(
    walk: Walk,
    fact: Fact,
    link: Link,
    target: Target,
    judged: Judgement,
    sources: list[Source],
    keep: bool = True,
    **more: object,
) -> Claim:
    """Settle blame, find the cause, and remember what the author goes on with, if it is to be kept."""
    settled, worst = judged, worst_of(judged)
    culprits: tuple[int, ...] = ()
    if worst is not Verdict.RIGHT:
        note_rounded(walk, judged)
        settled, culprits = _settle_blame(walk, judged, sources)
        worst = worst_of(settled)
    formulas = sorted([s.expr for s in sources if s.expr is not None], key=n.is_literal)  # one with names, if there is
    cause = None
    if worst is Verdict.WRONG:
        cause = explain(walk.problem.trace, walk.minds, target.expr, settled)
    elif worst in BAD:
        cause = cut_off(settled)
    if cause is not None and set(cause.mistake.split(" or ")) <= STRUCTURAL:
        settled = tuple(_wrong_rows(row) for row in settled)
    claim = add_claim(
        walk,
        fact,
        link,
        target.name,
        worst,
        formula=plain(formulas[0]) if formulas else "",
        cells=() if worst in GOOD else cell_verdicts(settled, _workings(walk, target)),
        follows_from=culprits,
        cause=cause,
        shown=tuple([tuple([cell.shown.text for cell in row]) for row in settled]),
        **more,
    )
    if keep:
        remember(walk, fact, target, settled, claim)
    return claim


def note_rounded(walk: Walk, judged: Judgement) -> None:
    """Numbers that are not the very values that they stand for: who goes on with them may have more digits in mind."""
    shown = [cell.shown.value for row in judged for cell in row if cell.how is not Agreement.EQUAL]
    walk.author.rounded.update([fraction(value) for value in shown if value is not None])


def rename(walk: Walk, fact: Fact, target: Target, claim: Claim) -> None:
    """S that turned out to be the scaled scores is meant as that from here on."""
    symbol, subject = fact.symbol, target.subject
    if symbol is not None and subject is not None and isinstance(target.expr, n.Entry) and claim.verdict not in BAD:
        walk.families.setdefault(family_of(symbol), subject)
    whole = isinstance(target.expr, n.Name) and not fact.pending and len(fact.subjects) == 1
    if whole and symbol is not None and subject is not None and symbol != subject and claim.verdict not in BAD:
        resolver = walk.problem.resolver
        if target.expr not in (expr for expr, _ in by_role(fact, symbol, resolver)):
            return  # a copied operand of the chain, not its subject
        item = walk.problem.program.item(subject)
        if item is not None and item.head is not None and item.head == fact.head and not symbol.indices:
            return  # Q beside 'head 1': beside 'head 2' it is another
        walk.problem = replace(walk.problem, resolver=replace(resolver, renamed={**resolver.renamed, symbol: subject}))


def worst_of(judged: Judgement) -> Verdict:
    """The worst verdict of a claim's cells."""
    return max({cell.verdict for row in judged for cell in row}, key=SEVERITY.__getitem__)


def _settle_blame(walk: Walk, judged: Judgement, sources: list[Source]) -> tuple[Judgement, tuple[int, ...]]:
    """DRIFTED becomes CARRIED where the numbers that lead here stand on a false claim."""
    culprits: list[int] = []
    rows = []
    for i, row in enumerate(judged):
        cells, carried = [], False
        for j, cell in enumerate(row):
            false = _false_claims(walk, cell, sources, i, j) if cell.verdict is Verdict.DRIFTED else ()
            if cell.verdict is Verdict.WRONG and walk.false_prints:
                false = _collected(walk, cell)
            cells.append(replace(cell, verdict=Verdict.CARRIED) if false else cell)
            culprits.extend(false)
            carried = carried or bool(false)
        rows.append(tuple(_not_by_chance(cells, sources, i) if carried else cells))
    return tuple(rows), tuple(dict.fromkeys(culprits))


def _collected(walk: Walk, cell: Judged) -> tuple[int, ...]:
    """'Second component: 0.4·3 + 0.2·2 = 1.701', and o = (0.732, 1.701): the false result of a sum without a name."""
    if not 0 < cell.shown.half <= fmpq(1, 200) or cell.shown.value is None:
        return ()
    claim = walk.false_prints.get(fraction(cell.shown.value).as_integer_ratio())
    return (claim,) if claim is not None and not walk.claims[claim - 1].name else ()


def _wrong_rows(row: tuple[Judged, ...]) -> tuple[Judged, ...]:
    """In a row that a known mistake gives, a cell lies near the true value by chance."""
    if all(cell.verdict is not Verdict.WRONG for cell in row):
        return row
    return tuple(replace(cell, verdict=Verdict.WRONG) if cell.verdict is Verdict.MISROUNDED else cell for cell in row)


def _not_by_chance(cells: list[Judged], sources: list[Source], i: int) -> Iterator[Judged]:
    """In a row that follows from a false claim, a cell that merely lies near the true value is a slip all the same."""
    used = next((source for source in sources if source.blamed), None)
    for j, cell in enumerate(cells):
        near = cell.verdict is Verdict.MISROUNDED
        apart = near and used is not None and follows(cell.shown, used.value.rows[i][j]) is Agreement.APART
        yield replace(cell, verdict=Verdict.WRONG) if apart else cell


def _false_claims(walk: Walk, cell: Judged, sources: list[Source], i: int, j: int) -> tuple[int, ...]:
    """The false claims behind a cell that follows from the author's numbers, if a source stands on some."""
    for source in sources:
        false = tuple(k for k in source.blamed if walk.claims[k - 1].verdict in FALSE)
        if false and meets(cell.shown, source.value.rows[i][j]) and not stands_without(walk, source, i, j):
            return false
    return ()


def stands_without(walk: Walk, source: Source, i: int, j: int) -> bool:
    """Whether a cell of a source is the same where nothing false was printed: a slip elsewhere is not behind it."""
    value = walk.author.unblamed.own(source.expr) if source.expr is not None and n.names_in(source.expr) else None
    turned = fitted(value, source.value.shape) if value is not None else None
    return turned is not None and same_cell(turned.rows[i][j], source.value.rows[i][j])


def cell_verdicts(judged: Judgement, working: Callable[[int, int], str] | None = None) -> tuple[CellVerdict, ...]:
    """The cells that are not simply right; for a slip, how the right value comes about."""
    found = []
    for i, row in enumerate(judged, 1):
        for j, cell in enumerate(row, 1):
            if cell.verdict not in GOOD:
                how = working(i, j) if working is not None and cell.verdict is Verdict.WRONG else ""
                expected, own = _say(cell.true, cell), _say(cell.own, cell)
                found.append(CellVerdict(i, j, cell.shown.text, expected, own, cell.verdict, how))
    return tuple(found)


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
    digits = min(max(sum(map(str.isdigit, shown)), 3), 9) + 1
    return round_digits(cell, digits) or round_digits(sum(bounds(cell)) / 2, digits) or "0"
