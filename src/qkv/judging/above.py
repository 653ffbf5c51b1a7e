"""What was printed right above may be all that a value is: its rows or cells, what adds up to it, what words do
to it, its shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, shape_of
from qkv.check.compare import Shown
from qkv.check.loose import Loose
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.judging.copies import COPY, Copies
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.operands import is_centred, is_stochastic
from qkv.judging.phrases import Operation, normed, operation, statistics_said
from qkv.judging.seen import Copied, Seen, as_row, cell_of, claims_of, is_near, worth
from qkv.library.roles import roles_in_words
from qkv.reading.equation import Equation, Kind
from qkv.reading.holding import AFTER_Q
from qkv.reading.page import Spot

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

RUN = 12  # prints that a sum may be taken of
ARRAYS = 3  # of these, arrays: the columns of a table
SHOWN = 12.0  # bits of numbers under a name that what was printed before explains: then they are not given
ENOUGH = 8.0  # bits that a short expression has to save before numbers under a name are no longer given
SHARE = 4.0  # bits: which of the last prints it is a share of


def from_above(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A printed value as what was printed right above it makes it."""
    yield from assembled(copies, grid, spot)
    yield from _laid_anew(copies, equation, grid, spot)
    yield from statistics(copies, equation, grid, spot)
    yield from _operated(copies, equation, grid, spot)
    stated = equation.of(Kind.FORMULA, Kind.WORKING)  # what is stated is not a list of numbers from anywhere
    single = bool(equation.names) and shape_of(grid) == (1, 1)  # α_3 is no copy of α_1
    if not stated and not single and (gathered := copies.gathered(grid, spot)) is not None:
        yield gathered
    yield from _shares(copies, equation, grid, spot)


def shown_before(walk: Walk, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """What numbers under a name may be made of, so that they are not given: a sum, or numbers printed singly."""
    yield from statistics(walk.copies, equation, grid, spot)
    if len(grid[0]) > 1 and (gathered := walk.copies.gathered(grid, spot)) is not None:
        yield gathered
    yield from (made for made in _shares(walk.copies, equation, grid, spot) if made.is_clean and made.agreed > SHOWN)
    page, places = walk.system.page, [walk.system.place(symbol) for symbol in equation.names]
    solution = page.task is not None and equation.index >= page.assigned  # it works out more than it gives
    result = max(shape_of(grid)) > 1 and all(place is None or place.role in AFTER_Q for place in places)
    found = walk.searched(grid, equation, spot, SHOWN if result else ENOUGH) if solution or result else None
    if found is not None:
        yield found


def statistics(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A number that words call the sum, the mean or the largest, taken of what was printed right before it."""
    words = " ".join((equation.label, *(str(symbol) for symbol in equation.names))).lower()
    for function in statistics_said(words) if shape_of(grid) == (1, 1) else ():
        for whole, cells, exponentials in _runs(copies, spot):
            row, put = _row(cells)
            terms = tuple(map(n.Exp, row.rows[0])) if exponentials else row.rows[0]
            if exponentials and function != "sum":
                continue
            expr = n.Sum(terms) if function == "sum" else n.Call(function, (row,))
            made = _put(copies, grid, Meaning(How.CAPTION, expr, spot), put)
            if made is not None and made.is_clean:
                shown = n.Call(function, (whole,)) if whole is not None and function != "sum" else made.meaning.expr
                yield replace(made, meaning=replace(made.meaning, expr=shown))
                return


def _runs(copies: Copies, spot: Spot) -> Iterator[tuple[n.Expr | None, list[Copied], bool]]:
    """What a sum may be taken of: a row of the last array, all of it, or the last single numbers; last, where single
    exponentials were printed, those of a whole row."""
    last = copies.recent(spot)[:RUN]
    for array in [seen for seen in last if max(shape_of(seen.grid)) > 1][:ARRAYS]:
        rows, columns = shape_of(array.grid)
        for i in range(rows if columns > 1 else 0):
            line = array.expr if rows == 1 else n.Entry(array.expr, row=i + 1)
            yield line, [cell_of(array, i, j) for j in range(columns)], False
        yield array.expr, [cell_of(array, i, j) for i in range(rows) for j in range(columns)], False
    singles = _singles(last)
    for count in range(2, len(singles) + 1):
        yield None, [cell_of(seen, 0, 0) for seen in singles[-count:]], False
    if any(n.holds(seen.expr, n.Exp) for seen in singles):
        for array in [seen for seen in last if max(shape_of(seen.grid)) > 1][:ARRAYS]:
            rows, columns = shape_of(array.grid)
            for i in range(rows):
                yield None, [cell_of(array, i, j) for j in range(columns)], True


def _operated(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """What words do to the numbers right before them: 'divide by √2: 2.828, 5.657'."""
    if equation.of(Kind.FORMULA, Kind.WORKING):
        return
    made, after = _said_above(copies, equation)
    for operand, put in _before(copies, grid, spot, after) if made is not None else ():
        found = _put(copies, grid, Meaning(How.WORDED, made(operand), spot), put) if made is not None else None
        if found is not None and (found.is_clean or is_near(found, grid)):
            yield found
            return
    yield from _clearly(copies, made, equation, grid, spot, after) if made is not None else ()


def _clearly(copies: Copies, made: Operation, equation: Equation, grid: Grid, spot: Spot, after: int) -> Iterator[Fit]:
    """What words do to what was printed last, where the value looks like the result of it: shares after a softmax, rows
    about zero after a layer norm."""
    last = [seen for seen in copies.recent(spot)[after:] if made is normed or seen is copies.recent(spot)[after]]
    operand = next((seen for seen in last[:RUN] if shape_of(seen.grid) == shape_of(grid)), None)
    looks = {n.Softmax: is_stochastic, normed: is_centred}.get(made)
    if operand is None or looks is None or equation.names or max(shape_of(grid)) == 1:
        return
    if looks(grid) and not looks(operand.grid):
        name = n.Name(Symbol(COPY, (), ("0",)))
        found = _put(copies, grid, Meaning(How.CAPTION, made(name), spot), {name.symbol: copies.whole(operand)})
        yield from [found] if found is not None else []


def _said_above(copies: Copies, equation: Equation) -> tuple[Operation | None, int]:
    """What the words before a value do to what was printed before, and how many values stand between: 'divide by √d_k =
    √2 ≈ 1.414:', then the numbers."""
    made = operation(equation.label, copies.page)
    if made is None and (arrow := _ARROW.search(equation.words.removesuffix(equation.label))):
        made = operation(arrow[1], copies.page)
    if made is not None or equation.label or not equation.index:
        return made, 0
    above = copies.page.equations[equation.index - 1]
    between = "\n".join(copies.page.sheet.lines[above.end_line : equation.line - 1])
    if title := _TITLE.search(between):
        return operation(title["said"], copies.page), 0
    formula = next((item.text for item in above.of(Kind.FORMULA, Kind.WORKING)), "")
    made, after = operation(f"{above.label} {formula}", copies.page), len(above.of(Kind.VALUE))
    line = [e for e in copies.page.equations[: equation.index] if e.line == above.line and e.label]
    if made is None and line and operation(line[0].label, copies.page) is normed:  # 'LayerNorm (γ = 1): mean 2.4'
        return normed, 0
    return made, after


_TITLE = re.compile(  # 'Step 3: Softmax (each row)' on a line of its own
    r"^\W*(?:[^\W\d]+\s*\d+\s*[:.—–-]+\s*)?(?P<said>(?:apply(?:ing)?\s+)?softmax\b[^\n]{0,40})$",
    re.MULTILINE | re.IGNORECASE,
)
_ARROW = re.compile(r"[↓⬇→⇒]\s*([^\s:：↓⬇→⇒][^:：↓⬇→⇒]{0,30}?)\s+\w+\s*[:：]?\s*$")  # '↓ softmax', then 'weights:'


def _before(copies: Copies, grid: Grid, spot: Spot, after: int) -> Iterator[tuple[n.Expr, dict[Symbol, Copied]]]:
    """What was printed last in the shape of a grid, but for a few: numbers one by one, or one thing."""
    shape, recent = shape_of(grid), copies.recent(spot)[after:]
    singles = _singles(recent)
    if min(shape) == 1 and 1 < max(shape) <= len(singles):
        yield _row([cell_of(seen, 0, 0) for seen in singles[-max(shape) :]])
    for seen in [seen for seen in recent if shape_of(seen.grid) == shape][:1]:
        name = n.Name(Symbol(COPY, (), ("0",)))
        yield name, {name.symbol: copies.whole(seen)}


def _singles(recent: list[Seen]) -> list[Seen]:
    """The single numbers that were printed last, in their order."""
    return list(takewhile(lambda seen: shape_of(seen.grid) == (1, 1), recent))[::-1]


def _row(cells: list[Copied]) -> tuple[n.Matrix, dict[Symbol, Copied]]:
    symbols = [Symbol(COPY, (), (str(i),)) for i in range(len(cells))]
    return n.Matrix((tuple(map(n.Name, symbols)),)), dict(zip(symbols, cells, strict=True))


def _put(copies: Copies, grid: Grid, meaning: Meaning, put: dict[Symbol, Copied]) -> Fit | None:
    own = worth(meaning.expr, {symbol: copied.own for symbol, copied in put.items()}, Loose())
    return copies.put(grid, meaning, meaning.expr, put, own)


# — rows and cells —


def assembled(copies: Copies, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """An array made of the rows, or the single numbers, that were printed right above it."""
    rows, columns = shape_of(grid)
    yield from _of_rows(copies, grid, copies.recent(spot)[:rows][::-1], spot) if min(rows, columns) > 1 else ()
    if rows * columns > 1:
        yield from _of_cells(copies, grid, copies.recent(spot)[: rows * columns][::-1], spot)


def _of_rows(copies: Copies, grid: Grid, last: list[Seen], spot: Spot) -> Iterator[Fit]:
    lines = [as_row(seen) for seen in last]
    fitting = len(last) == len(grid) and all(shape_of(line.grid) == (1, len(grid[0])) for line in lines)
    if fitting and _reads_alike(grid, [shown for line in lines for shown in line.grid[0]]):
        yield from _made(copies, grid, n.Concat(tuple(line.expr for line in lines), 0), lines, spot)


def _of_cells(copies: Copies, grid: Grid, last: list[Seen], spot: Spot) -> Iterator[Fit]:
    rows, columns = shape_of(grid)
    singles = len(last) == rows * columns and all(shape_of(seen.grid) == (1, 1) for seen in last)
    if singles and _reads_alike(grid, [seen.grid[0][0] for seen in last]):
        exprs = [seen.expr for seen in last]
        matrix = n.Matrix(tuple(tuple(exprs[i * columns : (i + 1) * columns]) for i in range(rows)))
        yield from _made(copies, grid, matrix, last, spot)


def _reads_alike(grid: Grid, cells: list[Shown]) -> bool:
    return all(a.value == b.value for a, b in zip((shown for row in grid for shown in row), cells, strict=True))


def _laid_anew(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A name whose cells were printed before in another shape: a vector cut into heads."""
    names = {n.Name(symbol) for symbol in equation.names}
    before = [seen for seen in copies.recent(spot) if seen.expr in names] if min(shape_of(grid)) > 1 else []
    for seen in before[:1]:
        cells = [shown for row in seen.grid for shown in row]
        if (
            shape_of(seen.grid) != shape_of(grid)
            and len(cells) == len(grid) * len(grid[0])
            and _reads_alike(grid, cells)
        ):
            yield from _made(copies, grid, seen.expr, [seen], spot)


def _made(copies: Copies, grid: Grid, expr: n.Expr, parts: list[Seen], spot: Spot) -> Iterator[Fit]:
    """An array against the prints that it is made of, in order."""
    columns = len(grid[0])
    trues = [copies.truth(part) for part in parts]
    true = _laid([t for t in trues if t is not None], columns) if all(t is not None for t in trues) else None
    own = _laid([part.printed.held for part in parts], columns)
    mended = _laid([part.printed.mended or part.printed.held for part in parts], columns)
    used = frozenset(claim for part in parts for claim in claims_of(part))
    made = fit(grid, Meaning(How.COPY, expr, spot), true, own, used, copies.is_false(used), mended)
    if made is not None:
        yield made


def _laid(values: list[Value], columns: int) -> Value:
    """Rows or cells one after the other, as a matrix with so many columns."""
    cells = [cell for value in values for row in value.rows for cell in row]
    return Value(tuple(tuple(cells[i : i + columns]) for i in range(0, len(cells), columns)))


# — shares —


def _shares(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """Weights as exponentials that were printed, over their sum: the printed one, or what it should be."""
    parts, after = _exponentials(copies, spot)
    count = len(parts)
    if count < 2 or max(shape_of(grid)) not in (1, count) or min(shape_of(grid)) > 1:
        return
    near: Fit | None = None  # all but one of them, where words speak of weights
    said = Role.WEIGHTS in roles_in_words(equation.words[-60:])
    for total in (*after, None):
        row, put = _row([*parts, *([total] if total is not None else [])])
        names = row.rows[0][:count]
        below = row.rows[0][count] if total is not None else n.Sum(names)
        shares = [n.Quotient(name, below) for name in names]
        for option in [n.Matrix((tuple(shares),))] if max(shape_of(grid)) == count else shares:
            made = _put(copies, grid, Meaning(How.SEARCHED, option, spot, SHARE), put)
            if made is not None and made.is_clean:
                yield made
                return
            if made is not None and said and made.slips == 1 and count > 2:
                near = near or replace(made, meaning=replace(made.meaning, how=How.WORDED, cost=0.0))
    yield from [near] if near is not None else []


def _exponentials(copies: Copies, spot: Spot) -> tuple[list[Copied], list[Copied]]:
    """The exponentials that were printed last, one by one or as a vector, and single numbers printed after them."""
    after: list[Copied] = []
    parts: list[Copied] = []
    for seen in copies.recent(spot)[:RUN]:
        single = shape_of(seen.grid) == (1, 1)
        if n.holds(seen.expr, n.Exp) and not n.holds(seen.expr, n.Sum) and not n.holds(seen.expr, n.Quotient):
            if not single:
                vector = [cell_of(seen, i, j) for i, row in enumerate(seen.grid) for j in range(len(row))]
                return (vector, after) if not parts and 1 in shape_of(seen.grid) else (parts, after)
            parts.insert(0, cell_of(seen, 0, 0))
        elif parts:
            break
        elif single:
            after.append(cell_of(seen, 0, 0))
    return parts, after
