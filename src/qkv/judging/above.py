"""What was printed right above may be all that a value is: its rows or cells, what adds up to it, what words do
to it, its shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from flint import fmpq

from qkv.check.cells import Grid, shape_of
from qkv.check.compare import Shown
from qkv.expr import nodes as n
from qkv.judging.assembled import assembled, gathered, laid_anew
from qkv.judging.copies import Copies
from qkv.judging.fit import Fit, How, Meaning
from qkv.judging.lately import RUN, Operand, put_in, row_of, singles, whole_of
from qkv.judging.operands import is_centred
from qkv.judging.phrases import Operation, operation, statistics_said
from qkv.judging.seen import MATRIX, Copied, cell_of, is_near
from qkv.judging.shares import added_up, shares, softmaxed
from qkv.library.words import ROW_SUMS
from qkv.reading.equation import Equation, Kind
from qkv.reading.holding import AFTER_Q
from qkv.reading.page import Spot
from qkv.reading.search.functions import normed
from qkv.regex import regex

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

ARRAYS = 3  # of these, arrays: the columns of a table
SHOWN = 12.0  # bits of numbers under a name that what was printed before explains: then they are not given
TELLING = 10_000  # whole numbers from here on tell what they are made of
_COUNT = regex(r"(?<![\w.,])\d{1,4}(?![\w.,]*\d)")
ENOUGH = 8.0  # bits that a short expression has to save before numbers under a name are no longer given


def from_above(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A printed value as what was printed right above it makes it."""
    yield from assembled(copies, grid, spot)
    yield from laid_anew(copies, equation, grid, spot)
    if not equation.of(Kind.WORKING):
        yield from statistics(copies, equation, grid, spot)
    yield from softmaxed(copies, equation, grid, spot)
    yield from _operated(copies, equation, grid, spot)
    yield from _counted(copies, equation, grid, spot)
    stated = equation.of(Kind.FORMULA, Kind.WORKING)  # what is stated is not a list of numbers from anywhere
    single = bool(equation.names) and shape_of(grid) == (1, 1)  # α_3 is no copy of α_1
    if not stated and not single and (found := gathered(copies, grid, spot)) is not None:
        yield found
    if not equation.of(Kind.WORKING):
        yield from shares(copies, equation, grid, spot)
        yield from _in_per_cent(copies, grid, spot)


def _in_per_cent(copies: Copies, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """Percentages that are cells of one array above, in any order: '46 % to cat, 27 % to itself'."""
    percent = len(grid) == 1 and all("%" in shown.text for shown in grid[0])
    for seen in copies.recent(spot)[:RUN] if percent else ():
        left = [(i, j) for i, row in enumerate(seen.grid) for j, shown in enumerate(row) if "%" not in shown.text]
        found: list[Copied] = []
        for shown in grid[0]:
            at = next((at for at in left if _is_about(shown, seen.grid[at[0]][at[1]])), None)
            if at is None:
                break
            left.remove(at)
            found.append(cell_of(seen, *at))
        row, put = row_of(found)
        made = put_in(copies, grid, Meaning(How.COPY, row, spot), put) if len(found) == len(grid[0]) else None
        if made is not None and made.is_clean:
            yield made
            return


def _is_about(percentage: Shown, shown: Shown) -> bool:
    """Whether a percentage is a printed number, rounded."""
    if percentage.value is None or shown.value is None:
        return False
    return bool(abs(percentage.value - shown.value) <= percentage.half)


def shown_before(walk: Walk, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """What numbers under a name may be made of, so that they are not given: a sum, or numbers printed singly."""
    yield from statistics(walk.copies, equation, grid, spot)
    if any(symbol.base.lower() == "softmax" for symbol in equation.names):  # 'Softmax ≈ [0.7, 0.3]' names what is done
        yield from softmaxed(walk.copies, equation, grid, spot)
    if len(grid[0]) > 1 and (found := gathered(walk.copies, grid, spot)) is not None:
        yield found
    yield from (made for made in shares(walk.copies, equation, grid, spot) if made.is_clean and made.agreed > SHOWN)
    page, places = walk.system.page, [walk.system.place(symbol) for symbol in equation.names]
    solution = page.task is not None and equation.index >= page.assigned  # it works out more than it gives
    result = max(shape_of(grid)) > 1 and all(place is None or place.role in AFTER_Q for place in places)
    found = walk.searched(grid, equation, spot, SHOWN if result else ENOUGH) if solution or result else None
    if found is not None:
        yield found


def statistics(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A number that words call the sum, the mean or the largest, taken of what was printed right before it."""
    words = " ".join((equation.label, *(str(symbol) for symbol in equation.names))).lower()
    if len(grid) == 1 < len(grid[0]) and ROW_SUMS.search(words):
        yield from _row_sums(copies, grid, spot)
    for function in statistics_said(words) if shape_of(grid) == (1, 1) else ():
        added = added_up(copies, grid, spot) if function == "sum" else None
        yield from [added] if added is not None and added.is_clean else []
        for whole, cells, exponentials in _runs(copies, spot):
            row, put = row_of(cells)
            terms = tuple(map(n.Exp, row.rows[0])) if exponentials else row.rows[0]
            if exponentials and function != "sum":
                continue
            expr = n.Sum(terms) if function == "sum" else n.Call(function, (row,))
            made = put_in(copies, grid, Meaning(How.CAPTION, expr, spot), put)
            if made is not None and made.is_clean:
                shown = n.Call(function, (whole,)) if whole is not None and function != "sum" else made.meaning.expr
                yield made._replace(meaning=made.meaning._replace(expr=shown))
                return
        some = _some_of(copies, grid, spot) if function == "sum" else None
        found = some if some is not None else added if added is not None and not added.is_clean else None
        if found is not None:
            yield found
            return


def _some_of(copies: Copies, grid: Grid, spot: Spot) -> Fit | None:
    """What words call a total, as the sum of some of the whole numbers above: of the parts, not of their parts."""
    numbers, shown = singles(copies.recent(spot)[:RUN]), grid[0][0].value
    if shown is None or shown.q != 1 or abs(shown) < TELLING:
        return None
    sums: dict[fmpq, tuple[int, ...]] = {fmpq(0): ()}
    for k, value in ((k, seen.grid[0][0].value) for k, seen in enumerate(numbers)):
        if value is not None and value.q == 1:
            sums = {total + value: (*parts, k) for total, parts in sums.items()} | sums
    row, put = row_of([cell_of(numbers[k], 0, 0) for k in sums.get(shown, ())])
    return put_in(copies, grid, Meaning(How.CAPTION, n.Sum(row.rows[0]), spot), put) if len(put) > 1 else None


def _counted(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """So many times a number above as the label says: '12 layers: 85,054,464' below '… per layer: 7,087,872'."""
    shown = grid[0][0].value if shape_of(grid) == (1, 1) and not equation.of(Kind.FORMULA, Kind.WORKING) else None
    if shown is None or shown.q != 1 or abs(shown) < TELLING:
        return
    for count, seen in product(map(int, _COUNT.findall(equation.label)), copies.recent(spot)[:RUN]):
        if shape_of(seen.grid) == (1, 1) and count > 1 and seen.grid[0][0].value == shown / count:
            name, put = whole_of(copies, seen)
            made = put_in(copies, grid, Meaning(How.CAPTION, n.Product(n.number(count), name), spot), put)
            yield from [made] if made is not None else []
            return


def _row_sums(copies: Copies, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """Numbers that words call the sums of rows, taken of the last array with as many rows whose rows add up to them."""
    arrays = [seen for seen in copies.recent(spot)[:RUN] if len(seen.grid) == len(grid[0])]
    for name, put in (whole_of(copies, seen) for seen in arrays[:ARRAYS]):
        made = put_in(copies, grid, Meaning(How.CAPTION, n.Call("rowsum", (name,)), spot), put)
        if made is not None and made.is_clean:
            yield made
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
    numbers = singles(last)
    for count in range(2, len(numbers) + 1):
        yield None, [cell_of(seen, 0, 0) for seen in numbers[-count:]], False
    if any(n.holds(seen.expr, n.Exp) for seen in numbers):
        for array in [seen for seen in last if max(shape_of(seen.grid)) > 1][:ARRAYS]:
            rows, columns = shape_of(array.grid)
            for i in range(rows):
                yield None, [cell_of(array, i, j) for j in range(columns)], True


def _operated(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """What words do to the numbers right before them: 'divide by √2: 2.828, 5.657'."""
    if equation.of(Kind.FORMULA, Kind.WORKING):
        return
    made, after = _said_above(copies, equation)
    keeps_shape = made is None or not isinstance(made(n.number(1)), n.Product)
    for operand, put in _before(copies, grid, spot, after, keeps_shape) if made is not None else ():
        found = put_in(copies, grid, Meaning(How.WORDED, made(operand), spot), put) if made is not None else None
        if found is not None and (found.is_clean or _is_misrounded(found) or is_near(found, grid)):
            yield found
            return
        if found is not None and isinstance(found.meaning.expr, (n.Quotient, n.Product)) and _is_most(found):
            yield found._replace(meaning=found.meaning._replace(how=How.CAPTION))
            return
    if made is normed and not equation.names:
        yield from _centred(copies, grid, spot, after)


def _is_misrounded(made: Fit) -> bool:
    """Whether the cells that words do not give miss a last digit only, and enough others are what they give."""
    return not made.slips and made.agreed >= MATRIX


def _is_most(made: Fit) -> bool:
    """Whether most cells are what words say, and say enough: then the others are meant so too."""
    return 2 * made.slips < len(made.verdicts) * len(made.verdicts[0]) and made.agreed >= MATRIX


def _centred(copies: Copies, grid: Grid, spot: Spot, after: int) -> Iterator[Fit]:
    """A layer norm that words take of what was printed last in the same shape, where rows are about zero since."""
    last = (seen for seen in copies.recent(spot)[after:][:RUN] if shape_of(seen.grid) == shape_of(grid))
    operand = next(last, None) if max(shape_of(grid)) > 1 and is_centred(grid) else None
    if operand is not None and not is_centred(operand.grid):
        name, put = whole_of(copies, operand)
        found = put_in(copies, grid, Meaning(How.CAPTION, normed(name), spot), put)
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
    if division := _DIVISION.search(between):
        return operation(f"÷{division['by']}", copies.page), 0
    formula = next((item.text for item in above.of(Kind.FORMULA, Kind.WORKING)), "")
    made, after = operation(f"{above.label} {formula}", copies.page), len(above.of(Kind.VALUE))
    line = [e for e in copies.page.equations[: equation.index] if e.line == above.line and e.label]
    if made is None and line and operation(line[0].label, copies.page) is normed:  # 'LayerNorm (γ = 1): mean 2.4'
        return normed, 0
    return made, after


_TITLE = regex(  # 'Step 3: Softmax (each row)' on a line of its own
    r"^\W*(?:[^\W\d]+\s*\d+\s*[:.—–-]+\s*)?(?P<said>(?:apply(?:ing)?\s+)?softmax\b[^\n]{0,40})$",
    re.MULTILINE | re.IGNORECASE,
)
_DIVISION = regex(r"÷(?:[^=):\n]*[=≈])*(?P<by>[^=≈):\n]+)")  # 'Scaled scores (÷ √d_k = √4 = 2):' above a matrix
_ARROW = regex(r"[↓⬇→⇒]\s*([^\s:：↓⬇→⇒][^:：↓⬇→⇒]{0,30}?)\s+\w+\s*[:：]?\s*$")  # '↓ softmax', then 'weights:'


def _before(copies: Copies, grid: Grid, spot: Spot, after: int, keeps_shape: bool) -> Iterator[Operand]:
    """What was printed last in the shape of a grid, but for a few: numbers one by one, or one thing; before a product
    just what was printed last."""
    shape, recent = shape_of(grid), copies.recent(spot)[after:]
    if not keeps_shape:
        yield from (whole_of(copies, seen) for seen in recent[:1])
        return
    numbers = singles(recent)
    if min(shape) == 1 and 1 < max(shape) <= len(numbers):
        yield row_of([cell_of(seen, 0, 0) for seen in numbers[-max(shape) :]])
    yield from (whole_of(copies, seen) for seen in [seen for seen in recent if shape_of(seen.grid) == shape][:1])
