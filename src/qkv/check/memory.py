"""What the author goes on with: the print; and what was meant by it, where a cell is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from flint import fmpq

from qkv.check.cells import Grid, Judged, fitted
from qkv.check.compare import Agreement, loosened
from qkv.check.mistakes.rewrites import STRUCTURAL
from qkv.check.model import BAD, Claim, Verdict
from qkv.check.targets import Target, by_role, targets
from qkv.check.walk import FALSE, SLIPS, Judgement, Walk
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF, Cell, bounds, fraction, interval
from qkv.interpret.certified import Certified, Value
from qkv.records import replace
from qkv.understand.facts import Fact
from qkv.understand.places import place_of
from qkv.understand.roles import SCORE_ROLES

EMPTY: Final[Mapping[Symbol, Value]] = MappingProxyType({})


def remember(walk: Walk, fact: Fact, target: Target, judged: Judgement, claim: Claim) -> None:
    """What the author goes on with: the print; and what was meant by it, where a cell is wrong."""
    if isinstance(target.expr, n.Root) and len(judged) == len(judged[0]) == 1:
        square = walk.evaluated(target.expr.arg)
        if square is not None and square.exact:
            walk.author.print_root(fraction(square.cell), Value(((judged[0][0].kept,),)))
    entry = _as_entry(walk, fact, target)
    both = (target,) if entry is target or entry == target else (target, entry)
    meanings = [one for one in both if _may_be_kept(one)]
    if not meanings:
        return
    # Where something is false, the digits that are not shown are unknown in every cell, also in those that look right.
    slip = claim.verdict in SLIPS
    kept = Value(tuple([tuple([loosened(x.shown) if slip else x.kept for x in row]) for row in judged]))
    for one in meanings:
        _keep(walk, fact, one, judged, kept, claim)


PARTS = (n.Product, n.Sum, n.Tanh, n.Quotient, n.Exp)  # of a formula: what may be printed on its own


def _may_be_kept(target: Target) -> bool:
    return target.subject is not None or isinstance(target.expr, PARTS)


def _keep(walk: Walk, fact: Fact, target: Target, judged: Judgement, kept: Value, claim: Claim) -> None:
    """Remember a value as the quantity that it is, or is a part of."""
    blamed = (claim.id,) if claim.verdict in BAD else ()
    if claim.verdict is Verdict.MISROUNDED:  # badly rounded, and what it was worked out from may be false all the same
        blamed = (*blamed, *walk.author.blamed(target.expr))
    printed = _placed(walk, target, kept)
    if printed is None:
        return
    symbol, whole = printed
    better = walk.shown.get((fact.statement.at, symbol))
    if better is not None and claim.verdict in FALSE and better not in FALSE:
        return  # a second version in the same chain: the author goes on with the good one
    walk.shown[fact.statement.at, symbol] = claim.verdict
    inner = target.expr.arg if isinstance(target.expr, n.Transpose) else target.expr
    if isinstance(inner, n.Entry):  # the rows not printed yet still stand on what the whole stands on
        blamed = tuple(dict.fromkeys((*walk.author.blamed(n.Name(symbol)), *blamed)))
    meant = _placed_as_meant(walk, target, judged, kept, claim)
    upstream = walk.author.blamed(_step_expr(walk, symbol)) if meant is not None else ()  # before it is printed
    sound = _placed(walk, target, _put_right(judged, kept, claim), walk.author.unblamed) if blamed else None
    if isinstance(inner, n.Entry):
        walk.rows_seen[symbol] = inner.row or 1
        _note_query(walk, fact, symbol, inner.row, claim)
        _note_printed(walk, symbol, inner, whole)
    walk.author.print(symbol, whole, blamed)
    if meant is not None:
        walk.author.mean(symbol, meant[1], upstream)
    if sound is not None:
        walk.author.put_right(symbol, sound[1])


def _placed_as_meant(
    walk: Walk, target: Target, judged: Judgement, kept: Value, claim: Claim
) -> tuple[Symbol, Value] | None:
    """What was meant by a wrong print, and by a row of a matrix in which another one is wrong."""
    wrong = claim.verdict is Verdict.WRONG
    inner = target.expr.arg if isinstance(target.expr, n.Transpose) else target.expr
    if not wrong and not (isinstance(inner, n.Entry) and target.subject in walk.author.meant):
        return None
    others = {symbol: value for symbol, (value, _) in walk.author.meant.items()}
    return _placed(walk, target, _meant(judged, kept) if wrong else kept, others)


def _note_query(walk: Walk, fact: Fact, symbol: Symbol, row: int | None, claim: Claim) -> None:
    item = walk.problem.program.item(symbol)
    role = item.role if item is not None else None
    if role in SCORE_ROLES | {Role.WEIGHTS} and row and claim.verdict not in BAD:
        walk.queries[row] = fact.statement.at.line


def leave_open(walk: Walk, fact: Fact, grid: Grid) -> None:
    """A print that could not be judged: what it may be meant as is remembered, since later numbers may stand on it."""
    value = Value(tuple([tuple(map(loosened, row)) for row in grid]))
    for target in targets(fact, walk.problem, walk.is_printed):
        symbol = target.expr.symbol if isinstance(target.expr, n.Name) else None
        whole = walk.evaluated(target.expr) if symbol is not None and not walk.is_printed(symbol) else None
        if symbol is not None and whole is not None and (turned := fitted(value, whole.shape)) is not None:
            walk.author.leave_open(symbol, turned)
            return


def _note_printed(walk: Walk, symbol: Symbol, entry: n.Entry, whole: Value) -> None:
    """Strike the cells of a row, or one cell, off the list of those that are still to come."""
    rows, columns = whole.shape
    every = {(i, j) for i in range(1, rows + 1) for j in range(1, columns + 1)}
    left = walk.author.missing.setdefault(symbol, every)
    left -= {(i, j) for i, j in every if i == entry.row and entry.column in (j, None)}


def _step_expr(walk: Walk, symbol: Symbol) -> n.Expr:
    item = walk.problem.program.item(symbol)
    return item.expr if item is not None else n.Name(symbol)


def _score_of_vectors(walk: Walk, expr: n.Expr) -> n.Entry | None:
    """q_2 · k_3 of vectors that are given one by one: the cell of the scores in which they meet."""
    if not isinstance(expr, n.Product):
        return None
    left, right = (part.arg if isinstance(part, n.Transpose) else part for part in (expr.left, expr.right))
    for step in walk.problem.program.steps:
        factors = (step.expr.left, step.expr.right) if isinstance(step.expr, n.Product) else ()
        row, column = (_row_in(walk, factors[0], left), _row_in(walk, factors[1], right)) if factors else (None, None)
        if row and column:
            return n.Entry(n.Name(step.symbol), row, column)
    return None


def _row_in(walk: Walk, factor: n.Expr, vector: n.Expr) -> int | None:
    """Which row of a factor, transposed or not, a vector is."""
    inner = factor.arg if isinstance(factor, n.Transpose) else factor
    if isinstance(vector, n.Entry) and vector.arg == inner and vector.column is None:
        return vector.row
    stack = _stacked(walk, factor)
    return stack.index(vector) + 1 if vector in stack else None


def _stacked(walk: Walk, factor: n.Expr) -> tuple[n.Expr, ...]:
    """The vectors that a matrix is made of; where nothing is projected, Q is X and is made of its tokens."""
    inner = factor.arg if isinstance(factor, n.Transpose) else factor
    item = walk.problem.program.item(inner.symbol) if isinstance(inner, n.Name) else None
    if item is not None and isinstance(item.expr, n.Name):
        item = walk.problem.program.item(item.expr.symbol)
    parts = item.expr.parts if item is not None and isinstance(item.expr, n.Concat) and item.expr.axis == 0 else ()
    return tuple(part.arg if isinstance(part, n.Transpose) else part for part in parts)


def _as_entry(walk: Walk, fact: Fact, target: Target) -> Target:
    """s_{1,2} = q_1 · k_2 is a cell of the scores, and q_1 = x_1 W a row of Q: the one whose value it has."""
    symbol = target.subject or (fact.symbol if isinstance(target.expr, n.Product | n.Sum | n.Quotient) else None)
    if symbol is None or symbol in walk.author:
        cell = _score_of_vectors(walk, target.expr) or _cell_by_digits(walk, symbol, target.expr)
        return target if cell is None else replace(target, expr=cell, subject=n.names_in(cell)[0])
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
    cell = _cell_by_digits(walk, symbol, target.expr)
    return target if cell is None else replace(target, expr=cell, subject=n.names_in(cell)[0])


def _cell_by_digits(walk: Walk, symbol: Symbol | None, expr: n.Expr) -> n.Entry | None:
    """S_{12} where there are no twelve heads: the cell in row 1 and column 2 whose value it has."""
    digits = symbol.indices[0] if symbol is not None and len(symbol.indices) == 1 else ""
    if symbol is None or len(digits) != 2 or not digits.isdigit() or not place_of(symbol).roles:
        return None
    true = walk.evaluated(expr)
    if true is None:
        return None
    row, column = int(digits[0]), int(digits[1])
    for step in walk.problem.program.steps:
        entry = n.Entry(n.Name(step.symbol), row, column)
        value = walk.evaluated(entry) if step.role in (*SCORE_ROLES, Role.WEIGHTS) else None
        if value is not None and value.shape == true.shape and same_values(value, true):
            return entry
    return None


def same_values(a: Value, b: Value | None) -> bool:
    """Whether two values cannot be told apart."""
    if b is None:
        return False
    if a.rows == b.rows:
        return True
    pairs = ((x, y) for one, other in zip(a.rows, b.rows, strict=True) for x, y in zip(one, other, strict=True))
    return all(x is y if NEG_INF in (x, y) else _meet(x, y) for x, y in pairs)


def _meet(x: Cell, y: Cell) -> bool:
    (a, b), (c, d) = bounds(x), bounds(y)
    return bool(a <= d and c <= b)


def _put_right(judged: Judgement, kept: Value, claim: Claim) -> Value:
    """The print with its false cells as they truly are, rounded or not; after a mistake that makes all of them, the
    others are true by chance only."""
    half = _usual_half(judged)
    every = claim.cause is not None and set(claim.cause.mistake.split(" or ")) <= STRUCTURAL
    return Value(
        tuple(
            tuple(
                _about(cell.true, half) if every or cell.verdict in BAD else value
                for cell, value in zip(*pair, strict=True)
            )
            for pair in zip(judged, kept.rows, strict=True)
        )
    )


def _usual_half(judged: Judgement) -> fmpq:
    """Half a unit of the place to which most cells are shown."""
    halves = [cell.shown.half for row in judged for cell in row if "." in cell.shown.text]
    return max(set(halves), key=halves.count) if halves else fmpq(0)


def _about(cell: Cell, half: fmpq) -> Cell:
    """A value, rounded or not."""
    return cell if cell is NEG_INF else interval(bounds(cell)[0] - half, bounds(cell)[1] + half)


def _meant(judged: Judgement, kept: Value) -> Value | None:
    """The print with wrong cells as the author's own numbers give them, rounded or not; or as they truly are, where
    the cells beside them are true and do not follow from the author's numbers."""
    half = _usual_half(judged)
    rows = []
    for cells, printed in zip(judged, kept.rows, strict=True):
        row = []
        is_true = _beside_true(cells)
        for cell, value in zip(cells, printed, strict=True):
            if cell.verdict is Verdict.WRONG:
                own = cell.true if is_true else cell.own
                if own is None:
                    return None
                value = _about(own, half)
            row.append(value)
        rows.append(tuple(row))
    return Value(tuple(rows))


def _beside_true(cells: tuple[Judged, ...]) -> bool:
    """Whether the cells of a row that are not wrong are true, and follow from no source."""
    others = [cell for cell in cells if cell.verdict is not Verdict.WRONG]
    sources = range(min((len(cell.following) for cell in others), default=0))
    follow = any(all(cell.following[k][0] is Agreement.ROUNDED for cell in others) for k in sources)
    return bool(others) and not follow and all(cell.how <= Agreement.OPEN for cell in others)


def _placed(
    walk: Walk, target: Target, value: Value | None, others: Mapping[Symbol, Value] = EMPTY
) -> tuple[Symbol, Value] | None:
    """The quantity that a printed value becomes, whole: a row or a cell is put into its matrix as printed, or as
    `others` have it."""
    if value is None:
        return None
    symbol, expr = target.subject, target.expr
    if symbol is None:
        whole = walk.evaluated(expr) if isinstance(expr, PARTS) else None
        turned = fitted(value, whole.shape) if whole is not None else None
        return None if turned is None else (walk.author.part(expr), turned)
    if symbol not in walk.author:
        return None
    if isinstance(expr, n.Transpose):
        expr, value = expr.arg, Certified().transpose(value)
    if isinstance(expr, n.Entry) and expr.row is not None and isinstance(expr.arg, n.Name):
        return symbol, _with_row(others[symbol] if symbol in others else walk.author[symbol], expr, value)
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
