"""Weights without a formula: the softmax that words take of what was printed last, or the shares of exponentials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

from flint import arb

from qkv.check.cells import Grid, shape_of
from qkv.check.compare import loosened
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.cells import NEG_INF, bounds, rational
from qkv.judging.copies import Copies
from qkv.judging.fit import Fit, How, Meaning
from qkv.judging.lately import RUN, Operand, put_in, row_of, singles, whole_of
from qkv.judging.operands import are_shares, is_stochastic
from qkv.judging.phrases import is_supposed
from qkv.judging.seen import Copied, Seen, cell_of
from qkv.library.roles import roles_in_words
from qkv.library.words import means, pattern
from qkv.reading.equation import Equation, Kind
from qkv.reading.page import Spot
from qkv.regex import regex

SHARE = 4.0  # bits: which of the last prints it is a share of
_OTHER = regex(  # what is done beside a softmax, and not printed
    rf"(?<![^\W\d_])(?:{pattern('divide')}|{pattern('multiply')}|temperature|mask\w*|without|unscaled)(?![^\W\d_])|√|sqrt",
    re.IGNORECASE,
)


def softmaxed(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """Shares as the softmax of what was printed last in their shape, where the page speaks of nothing but a softmax
    between the two."""
    if equation.of(Kind.FORMULA, Kind.WORKING) or max(shape_of(grid)) == 1 or not are_shares(grid):
        return
    if all(shown.text in ("0", "1") for row in grid for shown in row):
        return  # a unit vector
    places = [copies.system.place(symbol) for symbol in equation.names]  # α ≈ softmax ≈ […] names nothing but weights
    if any(place is not None and place.role is not Role.WEIGHTS for place in places) or is_supposed(equation):
        return
    for last, (operand, put) in _scores(copies, grid, spot):
        said = " ".join((_between(copies, last, equation), *(symbol.base for symbol in equation.names)))
        hidden = [_are_hidden_alike(seen.grid, grid) for seen in copies.recent(spot)[:RUN]].count(True) == 1  # one head
        if hidden or ("softmax" in said.lower() and not _OTHER.search(said)):
            made = put_in(copies, grid, Meaning(How.CAPTION, n.Softmax(operand), spot), put)
            if made is not None and made.is_clean:  # what a name says is better
                made = made._replace(meaning=made.meaning._replace(how=How.WORDED))
            yield from (
                [made] if made is not None and (made.is_clean or not hidden or _is_no_softmax(last.grid, grid)) else []
            )
        return


def _are_hidden_alike(scores: Grid, grid: Grid) -> bool:
    """Whether shares are 0 just where the scores right above them are −∞; a mask alone has no other scores."""
    if shape_of(scores) != shape_of(grid) or min(shape_of(grid)) == 1:
        return False
    pairs = [pair for row, shares in zip(scores, grid, strict=True) for pair in zip(row, shares, strict=True)]
    hidden = [score.cell is NEG_INF for score, _ in pairs]
    told = any(score.value for score, _ in pairs) and any(hidden)
    return told and hidden == [share.value == 0 for _, share in pairs]


def _scores(copies: Copies, grid: Grid, spot: Spot) -> Iterator[tuple[Seen, Operand]]:
    """What was printed last in the shape of a grid, with no weights since: numbers one by one, or one thing."""
    recent, shape = copies.recent(spot)[:RUN], shape_of(grid)
    last = singles(recent)
    if min(shape) == 1 and len(last) == max(shape) and _are_alike(last):
        yield last[-1], row_of([cell_of(seen, 0, 0) for seen in last])
    for seen in recent:
        if is_stochastic(seen.grid) and len(seen.grid[0]) == shape[1] > 1:
            return
        if shape_of(seen.grid) == shape and not n.holds(seen.expr, n.Exp) and not _is_exponential(seen.expr):
            yield seen, whole_of(copies, seen)


def _are_alike(numbers: list[Seen]) -> bool:
    """Whether numbers were worked out by the same operation, so that they may be the scores of one query: d_k, √64 and
    a sigmoid are not."""
    operations = {type(seen.expr) for seen in numbers} - {n.Sum}
    return len(operations) < 2 or operations <= {n.Product, n.Number, n.Name, n.Quotient, n.Negate}


def _between(copies: Copies, last: Seen, equation: Equation) -> str:
    """The text of the page between a print and a value."""
    lines, page = copies.page.sheet.lines, copies.page
    line = last.printed.spot.line
    end = max((e.end_line for e in page.equations[: equation.index] if e.line == line), default=line)
    if end >= equation.line:
        return equation.label
    return "\n".join((*lines[end : equation.line - 1], lines[equation.line - 1][: equation.column], equation.label))


def _is_no_softmax(scores: Grid, grid: Grid) -> bool:
    """Whether no temperature makes shares of scores: what two shares of a row tell of it, two others deny."""
    found: list[arb] = []
    for row in zip(scores, grid, strict=True):
        cells = [(arb(loosened(score)), arb(loosened(share))) for score, share in zip(*row, strict=True) if share.value]
        pairs = [(b - a, q.log() - p.log()) for (a, p), (b, q) in pairwise(cells)]
        found += [apart / gap for gap, apart in pairs if not gap.contains(0)]
    return not all(a.overlaps(b) for a, b in combinations(found, 2))


def shares(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """Weights as exponentials that were printed, over their sum: the printed one, or what it should be."""
    parts, after = _exponentials(copies, spot)
    count = len(parts)
    if count < 2 or max(shape_of(grid)) not in (1, count) or min(shape_of(grid)) > 1:
        return
    near: Fit | None = None  # all but one of them, where words speak of weights
    said = Role.WEIGHTS in roles_in_words(equation.words[-60:])
    sums = [total for total in after if n.holds(total.part, n.Sum)]
    for total in (*(sums or after), None):
        row, put = row_of([*parts, *([total] if total is not None else [])])
        names = row.rows[0][:count]
        below = row.rows[0][count] if total is not None else n.Sum(names)
        each: list[n.Expr] = [n.Quotient(name, below) for name in names]
        options: list[n.Expr] = [n.Matrix((tuple(each),))] if max(shape_of(grid)) == count else each
        whole = _softmax(parts) if total is None or n.holds(total.part, n.Sum) else None
        for j, option in enumerate(options):
            made = put_in(copies, grid, Meaning(How.SEARCHED, option, spot, SHARE), put)
            if made is None:
                continue
            if whole is not None:  # what a person calls it
                spoken = whole if isinstance(option, n.Matrix) else n.Entry(whole, row=1, column=j + 1)
                made = made._replace(meaning=made.meaning._replace(expr=spoken))
            if made.is_clean:
                yield made
            if said and made.slips == 1 and count > 2:
                near = near or made._replace(meaning=made.meaning._replace(how=How.WORDED, cost=0.0))
    yield from [near] if near is not None else []


def _softmax(parts: list[Copied]) -> n.Expr | None:
    """The softmax that shares of exponentials are: of one vector, or of numbers one by one."""
    of = [part.part.arg if isinstance(part.part, n.Entry) else part.part for part in parts]
    args = [expr.arg for expr in of if isinstance(expr, n.Exp)]
    if len(args) < len(parts):
        return None
    if all(isinstance(part.part, n.Entry) for part in parts):
        return n.Softmax(args[0])
    return n.Softmax(n.Matrix((tuple(args),)))


def added_up(copies: Copies, grid: Grid, spot: Spot) -> Fit | None:
    """What words call a sum, right after the exponentials of a whole row: it is theirs, though it be false. What is not
    even half or twice as large is the sum of something else."""
    parts, after = _exponentials(copies, spot)
    if len(parts) < 2 or after or not _are_whole_row(copies, parts, spot):
        return None
    row, put = row_of(parts)
    made = put_in(copies, grid, Meaning(How.CAPTION, n.Sum(row.rows[0]), spot), put)
    shown, total = grid[0][0].value, made.own.cell if made is not None and made.own is not None else None
    if shown is None or total is None or total is NEG_INF:
        return None
    low, high = bounds(total)
    return made if low / 2 < shown < high * 2 else None


def _are_whole_row(copies: Copies, parts: list[Copied], spot: Spot) -> bool:
    """Whether exponentials are one printed vector, or each was taken of one number of a printed line."""
    if all(isinstance(part.part, n.Entry) for part in parts):
        return True
    exponents = [rational(x.value) for part in parts if isinstance(x := _exponent(part.part), n.Number)]
    lines = [line for seen in copies.recent(spot)[:RUN] for line in (*seen.grid, *zip(*seen.grid, strict=True))]
    return exponents in [[shown.value for shown in line] for line in lines]


def _exponentials(copies: Copies, spot: Spot) -> tuple[list[Copied], list[Copied]]:
    """The exponentials that were printed last, one by one or as a vector, and single numbers printed after them."""
    after: list[Copied] = []
    parts: list[Copied] = []
    for seen in copies.recent(spot):
        single = shape_of(seen.grid) == (1, 1)
        if _is_exponential(seen.expr):
            if not single:
                vector = [cell_of(seen, i, j) for i, row in enumerate(seen.grid) for j in range(len(row))]
                return (vector, after) if not parts and 1 in shape_of(seen.grid) else (parts, after)
            parts.insert(0, cell_of(seen, 0, 0))
        elif parts:
            break
        elif single:
            after.append(cell_of(seen, 0, 0))
    return parts, after


def _exponent(expr: n.Expr) -> n.Expr | None:
    """What an exponential is taken of."""
    return expr.arg if isinstance(expr, n.Exp) else None


def _is_exponential(expr: n.Expr) -> bool:
    """e^0.5, or what a page calls exp."""
    if isinstance(expr, n.Name):
        return means(expr.symbol.base.lower(), "exponential")
    outside = n.rewrite(expr, lambda node: n.Exp(n.number(0)) if isinstance(node, n.Exp) else node)  # of e^(1/2 + 1)
    return n.holds(outside, n.Exp) and not n.holds(outside, n.Sum) and not n.holds(outside, n.Quotient)
