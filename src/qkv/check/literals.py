"""Numbers put into a formula, equations between numbers alone, and damaged matrices."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product

from qkv.check.cells import Grid, fitted, judge_grid, score, shape_of, shown_grid
from qkv.check.compare import shown_cell
from qkv.check.conclude import cell_verdicts, conclude, note_rounded, worst_of
from qkv.check.exponentials import judge_exponentials
from qkv.check.loose import Loose
from qkv.check.meanings import SURE, Found, best_meaning, is_exactly
from qkv.check.model import BAD, Verdict
from qkv.check.targets import Target
from qkv.check.walk import Judgement, Source, Walk, add_claim, judged_against
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.nodes import factors
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, bounds, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.records import replace
from qkv.sheet.model import Link, Relation
from qkv.understand.facts import Fact
from qkv.understand.repair import readings
from qkv.understand.values import plain_value

MAX_REPAIRS = 2_000  # ways to read a damaged matrix that are tried


def judge_working(walk: Walk, fact: Fact, link: Link, before: list[Link]) -> Target | None:
    """Numbers put into a formula: are they the right ones? Where they are, what is to come of them is known."""
    if id(link.expr) in walk.copied or (
        isinstance(link.expr, n.Product) and any(isinstance(x, n.Matrix) for x in factors(link.expr))
    ):
        return None
    value = walk.author.typed(link.expr)
    if value is None:
        return None
    if value.shape == (1, 1) and not fact.subjects:
        _judge_step(walk, fact, link, before)
        return None
    best = best_meaning(walk, fact, _shown_as(link.expr, value), before, link)
    if best is None or (not best[0].certain and score(best[1]) < SURE):
        return None
    target, judged, sources = best
    if worst_of(judged) is Verdict.WRONG and fact.formula is None:
        return None  # numbers alone may be about something else than the name suggests; the value will tell
    claim = conclude(walk, fact, link, replace(target, subject=None), judged, sources, keep=False)
    if claim.verdict in BAD:
        walk.copied[id(link.expr)] = (claim.id,)
    elif is_exactly(walk, link.expr, target.expr):
        walk.copied[id(link.expr)] = ()
    return target if claim.verdict is not Verdict.WRONG else None


def blame_working(walk: Walk, fact: Fact, found: Found, before: list[Link]) -> Found:
    """q·k = 2 + 0 + 1 + 1 = 4 where it is 3: what follows from nothing but false numbers put in does not follow."""
    target, judged, sources = found
    link = before[-1] if before else None
    if link is None or worst_of(judged) is not Verdict.DRIFTED:
        return found
    if not target.certain and (target.subject is None or walk.family(fact) != target.subject):
        return found
    if not isinstance(link.expr, n.Sum) or id(link.expr) in walk.copied or fact.symbol in walk.author.printed:
        return found  # what was printed before may have become something else, such as a running total
    own = [source for source in sources if source.expr is not None and not n.is_literal(source.expr)]
    put_in = next((source.value for source in sources if source.expr is link.expr), None)
    if put_in is None or put_in.shape != (1, 1) or not own:
        return found
    wrong = judged_against(walk, target.expr, _shown_as(link.expr, put_in), own)
    if wrong is None or worst_of(wrong) is not Verdict.WRONG:
        return found
    claim = conclude(walk, fact, link, replace(target, subject=None), wrong, own, keep=False)
    walk.copied[id(link.expr)] = (claim.id,)
    return target, judged, [_blaming(source, link.expr, claim.id) for source in sources]


def _shown_as(working: n.Expr, value: Value) -> Grid:
    """What numbers put in give, as if it were shown."""
    text = plain(working)
    return tuple([tuple([shown_cell(text, cell) for cell in row]) for row in value.rows])


def _blaming(source: Source, expr: n.Expr, claim: int) -> Source:
    return replace(source, blamed=(claim, *source.blamed)) if source.expr is expr else source


def _judge_step(walk: Walk, fact: Fact, link: Link, before: list[Link]) -> None:
    """(1·1 + (-1)·2)/√2 = 1/√2: whole numbers alone, of which nothing is rounded, must stay what they were."""
    written = next((earlier.expr for earlier in reversed(before) if n.is_literal(earlier.expr)), None)
    if written is None or link.relation is not Relation.EQUAL or not (_is_whole(written) and _is_whole(link.expr)):
        return
    grid = ((shown_cell(link.text.strip(), evaluate(link.expr, {}, Certified()).cell),),)
    judged = _judge_equation(written, grid, [], walk.author.loose)
    if judged is not None and worst_of(judged) is Verdict.WRONG:
        claim = add_claim(
            walk, fact, link, "", Verdict.WRONG, formula=plain(written), cells=cell_verdicts(judged), shown=()
        )
        walk.copied[id(link.expr)] = (claim.id,)


def _is_whole(expr: n.Expr) -> bool:
    numbers = [part for part in n.walk(expr) if isinstance(part, n.Number)]
    return bool(numbers) and not any(part.places for part in numbers) and not n.holds(expr, n.Matrix)


def judge_literal(walk: Walk, fact: Fact, link: Link, grid: Grid, before: list[Link]) -> None:
    """An equation between numbers alone: 8.3421 + 2.0281 + 4.1133 = 14.4835."""
    literals = [link for link in reversed(before) if n.is_literal(link.expr)]
    literal = next(iter(literals), None)
    name = fact.subjects[0].spelled if fact.subjects else ""
    if literal is None:
        if fact.subjects or isinstance(link.expr, n.Matrix):
            add_claim(walk, fact, link, name, Verdict.UNREAD, reason="nothing says what this should equal")
            if isinstance(link.expr, n.Number):  # d = 64
                walk.good_prints.add(link.expr.value.as_integer_ratio())
        return
    if not fact.subjects and (
        judge_exponentials(walk, fact, link, grid, literal.expr) or _judge_cell(walk, fact, link, grid, literals)
    ):
        return
    judged = _judge_equation(literal.expr, grid, [link.expr for link in literals], walk.author.loose)
    if judged is None or (score(judged) < 0.5 and max(shape_of(grid)) > 1 and not _is_plain(literal.expr)):
        add_claim(walk, fact, link, name, Verdict.UNREAD, reason="it is not clear what this should equal")
        return
    note_rounded(walk, judged)
    worst = worst_of(judged)
    if worst in BAD and fact.addends and not _adds_all(walk, fact):
        return
    _note_root(walk, literal.expr, judged)
    false = walk.copied.get(id(literal.expr), ()) or walk.blame_of(literal.expr)
    false = () if _is_unity(literal.expr, grid) or _is_root(literal.expr) else false
    if worst in (Verdict.RIGHT, Verdict.ROUNDED, Verdict.DRIFTED) and false:
        worst = Verdict.CARRIED
    shown = tuple(tuple(cell.text for cell in row) for row in grid)
    cells = cell_verdicts(judged)
    formula = plain(literal.expr)
    add_claim(walk, fact, link, name, worst, formula=formula, cells=cells, follows_from=false, shown=shown)


def _is_unity(literal: n.Expr, grid: Grid) -> bool:
    """0.2 + 0.5 + 0.3 = 1: weights add up to one, the true ones as well as false ones."""
    return isinstance(literal, n.Sum) and shape_of(grid) == (1, 1) and grid[0][0].value == 1


def _is_root(literal: n.Expr) -> bool:
    """√4 = 2: of a size, whatever else was 4 before."""
    return isinstance(literal, n.Root) and isinstance(literal.arg, n.Number)


def _adds_all(walk: Walk, fact: Fact) -> bool:
    """Whether a total has a term for every key; an exponential that comes twice is often written once."""
    weights = [step.symbol for step in walk.problem.program.steps if step.role is Role.WEIGHTS]
    return any(walk.problem.trace.value(symbol).shape[1] == fact.addends for symbol in weights)


def _judge_cell(walk: Walk, fact: Fact, link: Link, grid: Grid, literals: list[Link]) -> bool:
    """3/1.414 = 2.12 where 3/√2 is a scaled score, or [1, 0]·[1, 1] = 1 of a query and a key: that cell, so that what
    is made of it is known to follow."""
    literal = literals[0].expr
    entry = next((cell for before in literals if (cell := _meeting(walk, before.expr)) is not None), None)
    if shape_of(grid) != (1, 1) or (entry is None and not isinstance(literal, n.Quotient)):
        return False
    try:
        value = evaluate(literal, {}, walk.author.loose if entry is None else Certified())
    except QkvError:
        return False
    entry = entry or _cell_with(walk, value)
    target = Target(entry, True, plain(entry), entry.arg.symbol) if entry and isinstance(entry.arg, n.Name) else None
    sources = [Source(value, (), literal)]
    judged = judged_against(walk, entry, grid, sources) if entry is not None else None
    if target is None or judged is None:
        return False
    conclude(walk, fact, link, target, judged, sources)
    return True


def _meeting(walk: Walk, expr: n.Expr) -> n.Entry | None:
    """The first score that was not shown yet in which two vectors meet that are typed out, a query and a key."""
    if not isinstance(expr, n.Product) or not all(isinstance(x, n.Matrix) and 1 in x.shape for x in factors(expr)):
        return None
    vectors = [walk.evaluated(operand) for operand in (expr.left, expr.right)]
    query, key = (tuple(cell for row in x.rows for cell in row) if x is not None else () for x in vectors)
    for step in walk.problem.program.steps:
        if step.role is not Role.SCORES or not isinstance(step.expr, n.Product):
            continue
        left, right = walk.evaluated(step.expr.left), walk.evaluated(step.expr.right)
        missing = walk.author.missing.get(step.symbol)
        if left is None or right is None or (step.symbol in walk.author.printed and not missing):
            continue
        rows = [i for i, row in enumerate(left.rows, 1) if row == query]
        columns = [j for j, column in enumerate(zip(*right.rows, strict=True), 1) if column == key]
        for cell in ((i, j) for i in rows for j in columns):
            if missing is None or cell in missing:
                return n.Entry(n.Name(step.symbol), *cell)
    return None


def _cell_with(walk: Walk, value: Value) -> n.Entry | None:
    """The first scaled score, or weight, of that value that was not shown yet."""
    low, high = bounds(value.cell)
    for item in walk.problem.program.steps:
        whole = walk.evaluated(n.Name(item.symbol)) if item.role in (Role.SCALED, Role.WEIGHTS) else None
        if whole is None or (item.symbol in walk.author.printed and not walk.author.missing.get(item.symbol)):
            continue
        left = walk.author.missing.get(item.symbol)
        for i, row in enumerate(whole.rows, 1):
            for j, cell in enumerate(row, 1):
                if cell is not NEG_INF and (left is None or (i, j) in left):
                    a, b = bounds(cell)
                    if a <= high and low <= b:
                        return n.Entry(n.Name(item.symbol), i, j)
    return None


def _note_root(walk: Walk, expr: n.Expr, judged: Judgement) -> None:
    """√3 ≈ 1.73: the decimal that the author goes on with."""
    if isinstance(expr, n.Root) and isinstance(expr.arg, n.Number) and worst_of(judged) not in BAD:
        walk.author.print_root(expr.arg.value, Value(((judged[0][0].kept,),)))


def _is_plain(expr: n.Expr) -> bool:
    """softmax of one vector, a weighted sum of vectors, a row times a matrix: nothing else can be meant than that."""
    if isinstance(expr, n.Product) and isinstance(expr.left, n.Matrix) and isinstance(expr.right, n.Matrix):
        return expr.left.shape == (1, len(expr.right.rows)) and not expr.right.is_ragged
    if isinstance(expr, n.Sum):
        return all(isinstance(n.factors(term)[-1], n.Matrix) for term in expr.terms)
    if not isinstance(expr, n.Softmax):
        return False
    scores = plain_value(expr.arg)
    return scores is not None and not scores.is_ragged and min(scores.shape) == 1


def _judge_equation(literal: n.Expr, grid: Grid, written: list[n.Expr], loosely: Loose) -> Judgement | None:
    """Whether a literal gives what is shown; whoever went on from something written before it is right too."""
    shape = shape_of(grid)

    def true(bits: int) -> Value:
        with precision(bits):
            value = fitted(evaluate(literal, {}, Certified()), shape)
        if value is None:
            raise QkvError("the two sides differ in shape")
        return value

    try:
        loose = [fitted(evaluate(expr, {}, loosely), shape) for expr in written]
        return judge_grid(grid, true, [value for value in loose if value is not None])
    except QkvError:
        return None


def judge_damaged(walk: Walk, fact: Fact, link: Link, before: list[Link]) -> None:
    """A ragged matrix: misread, if exactly one repair makes it agree with what it should be."""
    matrix = plain_value(link.expr)
    name = fact.subjects[0].spelled if fact.subjects else ""
    fitting = []
    for candidate in _repairs(matrix) if matrix is not None else ():
        grid = shown_grid(candidate, False)
        best = best_meaning(walk, fact, grid, before, link) if grid is not None else None
        if best is not None and score(best[1]) >= 0.999:
            fitting.append((candidate, best))
    if len({_values(candidate) for candidate, _ in fitting}) != 1:
        add_claim(walk, fact, link, name, Verdict.UNREAD, reason="the rows of this matrix differ in length")
        return
    candidate, (target, judged, sources) = fitting[0]
    text = " \\\\ ".join(" & ".join(plain(cell) for cell in row) for row in candidate.rows)
    claim = conclude(walk, fact, link, target, judged, sources, repair=text)
    walk.claims[claim.id - 1] = replace(claim, verdict=Verdict.MISREAD)


def _repairs(matrix: n.Matrix) -> Iterator[n.Matrix]:
    """All matrices of one width that the ragged rows can be read as."""
    widths = sorted({len(row) for row in matrix.rows}, key=lambda w: -sum(len(row) == w for row in matrix.rows))
    for width in widths[:1]:
        choices = [list(readings(row, width)) for row in matrix.rows]
        if all(choices):
            yield from (n.Matrix(rows) for rows in islice(product(*choices), MAX_REPAIRS))


def _values(matrix: n.Matrix) -> tuple[tuple[Fraction | None, ...], ...]:
    return tuple(tuple(cell.value if isinstance(cell, n.Number) else None for cell in row) for row in matrix.rows)
