"""What the printed numbers say where the words do not: masked or not, scaled or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flint import fmpq

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import Cell, rational
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate, evaluated
from qkv.interpret.rounding import round_places
from qkv.interpret.trace import Trace
from qkv.program.model import Program, Step
from qkv.program.spec import Key
from qkv.records import replace
from qkv.understand.facts import Fact
from qkv.understand.formulas import softmax_arguments
from qkv.understand.gathering import FACTORS, Gathering
from qkv.understand.values import Form, plain_value

R = Role


def looks_causal(found: Gathering) -> bool:
    """Printed weights with nothing above the diagonal."""
    for (role, _), matrix in found.printed.items():
        rows, columns = matrix.shape
        if role is R.WEIGHTS and rows == columns > 2 and not matrix.is_ragged:  # one zero alone is no evidence
            above = [matrix.rows[i][j] for i in range(rows) for j in range(i + 1, columns)]
            if all(isinstance(cell, n.Number) and cell.value == 0 for cell in above):
                return True
    return False


def shows_triangle(facts: Iterable[Fact]) -> bool:
    """A printed matrix with −∞ right where a causal mask puts it, whatever the words around it say."""
    printed = [fact for fact in facts if fact.value is not None and isinstance(fact.value.expr, n.Matrix)]
    return any(_is_triangle(fact.shown) for fact in printed if fact.shown is not None and not fact.statement.struck)


def _is_triangle(matrix: n.Matrix) -> bool:
    if not 1 < len(matrix.rows) == len(matrix.rows[0]) or matrix.is_ragged:
        return False
    return all(isinstance(c, n.Infinite) is (j > i) for i, row in enumerate(matrix.rows) for j, c in enumerate(row))


def follow_unmasked(found: Gathering) -> bool:
    """Whether every printed matrix of weights is the softmax of the scores printed for it, so that no mask is needed:
    scores far apart make zeros too."""
    weights = {head: matrix for (role, head), matrix in found.printed.items() if role is R.WEIGHTS}
    scores = {head: found.printed.get((R.SCALED, head)) for head in weights}
    return all(_is_softmax(matrix, scores[head]) for head, matrix in weights.items())


def _is_softmax(weights: n.Matrix, scores: n.Matrix | None) -> bool:
    if scores is None or scores.is_ragged or scores.shape != weights.shape:
        return False
    try:
        value = evaluate(n.Softmax(scores, by_rows=True), {}, Certified())
    except QkvError:
        return False
    pairs = zip(value.rows, weights.rows, strict=True)
    return all(_rounds_to(x, y) for made, shown in pairs for x, y in zip(made, shown, strict=True))


def explains_weights(trace: Trace, found: Gathering) -> bool:
    """Whether a program gives every printed weight, to the digits shown."""
    weights = {key: matrix for key, matrix in found.printed.items() if key[0] is R.WEIGHTS}
    cells = sum(len(row) for matrix in weights.values() for row in matrix.rows)
    return agreement_with(trace, replace(found, printed=weights, cells={})) == cells


def is_masked(program: Program) -> bool:
    return program.find(R.MASKED) is not None or any(item.role is R.MASKED for item in program.items)


def is_scaled(program: Program) -> bool:
    return any(step.role is R.SCALED for step in program.steps)


UNSETTLED = (Form.FORMULA, Form.WORKING)


def softens_raw_scores(trace: Trace, facts: Iterable[Fact]) -> bool:
    """softmax([2, 4, 4]) = [..] where 2, 4, 4 are scores that nothing was divided by."""
    open_links = [pair for fact in facts for pair in zip(fact.links, fact.forms, strict=True) if pair[1] in UNSETTLED]
    softened = [link.expr for link, _ in open_links if n.holds(link.expr, n.Softmax)]
    arguments = [x for expr in softened for x in softmax_arguments(expr) if n.is_literal(x)]
    rows = [tuple(rational(c.value) for c in row if isinstance(c, n.Number)) for x in arguments for row in _cells(x)]
    if not rows:
        return False
    raw, scaled = (_rows(trace, role) for role in (R.SCORES, R.SCALED))
    return any(row in raw for row in rows) and not any(row in scaled for row in rows)


def _cells(expr: n.Expr) -> tuple[tuple[n.Expr, ...], ...]:
    value = plain_value(expr)
    return value.rows if value is not None and max(value.shape) > 1 else ()


def _rows(trace: Trace, role: Role) -> set[tuple[Cell, ...]]:
    steps = [step for step in trace.program.steps if step.role is role]
    values = [trace.value(step.symbol) for step in steps]
    return {row for value in values if value.exact for row in value.rows}


TELLING = frozenset({R.WEIGHTS, R.SCALED, R.MASKED, R.OUTPUT, R.HEAD, R.CONTEXT})


def most_agreement(found: Gathering) -> int:
    """How many printed cells there are that a program could explain."""
    printed = sum(len(row) for (role, _), matrix in found.printed.items() if role in TELLING for row in matrix.rows)
    printed += sum(len(row) for _, matrix in found.hinted for row in matrix.rows)
    return printed + sum(role is R.WEIGHTS for role, _, _ in found.cells)


def agreement_with(trace: Trace, found: Gathering) -> int:
    """How many printed cells of weights and outputs a program explains, to the digits shown: by its true values, or,
    after a slip, by those that the matrices printed before them give."""
    count = 0
    held = _Held(trace, found)
    named = (((role, head), matrix) for (role, head), matrix in found.printed.items() if role in TELLING)
    nameless = (((role, None), matrix) for role, matrix in found.hinted)
    for (role, head), matrix in (*named, *nameless):
        symbol = trace.program.find(role, head)
        if symbol is None:
            continue
        value = trace.value(symbol)
        if value.shape == matrix.shape and not matrix.is_ragged:
            met = _cells_met(value, matrix)
            own = held.worked_out(symbol) if met < matrix.shape[0] * matrix.shape[1] else None
            count += met if own is None or own.shape != matrix.shape else max(met, _cells_met(own, matrix))
    for (role, row, column), shown in found.cells.items():
        symbol = trace.program.find(role)
        value_rows = trace.value(symbol).rows if symbol is not None else ()
        if role is R.WEIGHTS and row <= len(value_rows) and column <= len(value_rows[0]):
            count += _rounds_to(value_rows[row - 1][column - 1], shown)
    return count


def _cells_met(value: Value, matrix: n.Matrix) -> int:
    pairs = zip(value.rows, matrix.rows, strict=True)
    return sum(_rounds_to(x, y) for a, b in pairs for x, y in zip(a, b, strict=True))


def _is_print_of(shown: n.Matrix, made: Value) -> bool:
    """Whether a slip is all that may be wrong with a print: else it is of something else."""
    rows, columns = shown.shape
    return made.shape == shown.shape and 2 * _cells_met(made, shown) >= rows * columns


class _Held(Mapping[Symbol, Value]):
    """The quantities of a program with the printed matrices in place of what they should be."""

    def __init__(self, trace: Trace, found: Gathering) -> None:
        self.trace = trace
        self.made: dict[Symbol, Value] = {}
        self.printed = {
            symbol: matrix
            for (role, head), matrix in found.printed.items()
            if (symbol := trace.program.find(role, head)) is not None and not matrix.is_ragged
        }

    def worked_out(self, symbol: Symbol) -> Value | None:
        """What the matrices printed before it give for a quantity; None if that is nothing new."""
        item = self.trace.program.item(symbol)
        if item is None or not self.printed.keys() - {symbol}:
            return None
        return evaluated(item.expr, self, Certified())

    def __getitem__(self, symbol: Symbol) -> Value:
        if symbol not in self.made:
            item = self.trace.program.item(symbol)
            made = evaluate(item.expr, self, Certified()) if isinstance(item, Step) else self.trace.value(symbol)
            shown = self.printed.get(symbol)
            is_print = shown is not None and _is_print_of(shown, made)
            self.made[symbol] = evaluate(shown, {}, Certified()) if shown is not None and is_print else made
        return self.made[symbol]

    def __iter__(self) -> Iterator[Symbol]:
        return (item.symbol for item in self.trace.program.items)

    def __len__(self) -> int:
        return len(self.trace.program.items)


def vectors_met(program: Program, found: Gathering) -> int:
    """How many printed vectors of single tokens (q_1, k_2) a program explains."""
    trace = Trace(program)
    count = 0
    for (role, row), given in found.claimed_tokens.items():
        symbol, shown = program.find(role), plain_value(given.expr)
        if symbol is None or shown is None:
            continue
        rows = _value_rows(trace, symbol)
        cells = [cell for line in shown.rows for cell in line]
        made = rows[row - 1] if 0 < row <= len(rows) else ()
        count += len(made) == len(cells) and all(_rounds_to(x, y) for x, y in zip(made, cells, strict=True))
    return count


def projections_shown(found: Gathering) -> dict[Key, n.Matrix]:
    """The printed Q, K and V."""
    return {key: matrix for key, matrix in found.printed.items() if key[0] in FACTORS and not matrix.is_ragged}


def gives_all(program: Program, values: Mapping[Symbol, Value], shown: Mapping[Key, n.Matrix]) -> bool:
    """Whether the values of a program explain every cell that is shown."""
    return all(_gives(values, program.find(role, head), matrix) for (role, head), matrix in shown.items())


def _gives(values: Mapping[Symbol, Value], symbol: Symbol | None, matrix: n.Matrix) -> bool:
    try:
        rows = values[symbol].rows if symbol is not None else ()
    except QkvError:
        return False
    if not rows or (len(rows), len(rows[0])) != matrix.shape:
        return False
    pairs = zip(rows, matrix.rows, strict=True)
    return all(_rounds_to(x, y) for made, printed in pairs for x, y in zip(made, printed, strict=True))


def _value_rows(trace: Trace, symbol: Symbol) -> tuple[tuple[Cell, ...], ...]:
    try:
        return trace.value(symbol).rows
    except QkvError:
        return ()


def _rounds_to(cell: Cell, shown: n.Expr) -> bool:
    if not isinstance(shown, n.Number) or shown.places is None:
        return False
    value = rational(shown.value)
    exactly = isinstance(cell, fmpq) and cell == value
    return exactly or round_places(cell, shown.places) == round_places(value, shown.places)
