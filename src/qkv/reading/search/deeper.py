"""Depth 2: functions of two values together, and three values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import mul

from qkv.expr import nodes as n
from qkv.reading.search.functions import (
    ACTIVATIONS,
    LAYER_NORM,
    RMS_NORM,
    Along,
    Each,
    possible_along,
    possible_each,
    roots_of,
    scales_of,
    softmax_of,
    value_at,
    weights_of,
)
from qkv.reading.search.operands import (
    Operand,
    Operands,
    Scene,
    Trial,
    Trials,
    by_shape,
    operand_of,
    row_of,
    tried,
    uncounted,
)
from qkv.reading.search.pairs import (
    MINUS,
    OVER,
    PLUS,
    TIMES,
    Spread,
    blur_of,
    combined,
    companions,
    error_at,
    error_of,
    factor_pairs,
    line_errors,
    product_in,
    product_of,
    spreads_of,
)
from qkv.reading.search.single import along_axes, apply_along, causal_softmax, each_of
from qkv.reading.search.tables import Row, turn
from qkv.reading.search.target import Ratio, Target


def deeper(target: Target, scene: Scene) -> Trials:
    yield from _functions_of_products(target, scene)
    yield from _functions_of_sums(target, scene)
    yield from _normalised(target, scene)
    yield from _products_plus(target, scene)
    if target.kind:
        yield from _triples(target, scene)
        yield from _attention(target, scene)


def _functions_of_products(target: Target, scene: Scene) -> Trials:
    """(A B)/√d, an activation of A B, and the softmax of A B or of (A B)/√d, causal or not."""
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    each = possible_each(target, [*roots_of(scene.sizes), *(ACTIVATIONS if target.kind else ())])
    scales = scales_of(scene.sizes)
    softmaxes = possible_along(target, [softmax_of(*scale) for scale in scales])
    ratios = [ratio for ratio in (target.by_rows, target.by_columns if target.kind == 2 else None) if ratio]
    count = len(each) + len(scales) * len(ratios) * (2 if target.is_causal else 1)
    for a, fitting in factor_pairs(target, scene):
        row = a.centre[i]
        yield Trial(len(fitting) * count)
        for b in fitting:
            blur = blur_of(a, b)
            x = sum(map(mul, row, b.columns[j]))
            hits = [f for f in each if abs(value_at(f.value, x) - m) <= h + f.slope * blur]
            line = product_of(row_of(a, i), b) if hits else None
            hits = [f for f in hits if line and any(uncounted(each_of(target.line, line, [f])))]
            looks_like_weights = any(_may_weigh(ratio, a, b, blur, scales) for ratio in ratios)
            if hits or looks_like_weights:
                product = product_of(a, b)
                yield from uncounted(each_of(target, product, hits))
                if looks_like_weights:
                    yield from uncounted(along_axes(target, product, softmaxes))
                    yield from uncounted(causal_softmax(target, product, scene.sizes))


def _may_weigh(
    ratio: Ratio, a: Operand, b: Operand, blur: float, scales: Sequence[tuple[float, n.Expr | None]]
) -> bool:
    """Whether the scores A B, divided by one of some numbers, differ at two cells by what two printed weights tell."""
    (i, j), (k, m) = ratio.p, ratio.q
    gap = sum(map(mul, a.centre[i], b.columns[j])) - sum(map(mul, a.centre[k], b.columns[m]))
    return any(ratio.low * factor - 2 * blur <= gap <= ratio.high * factor + 2 * blur for factor, _ in scales)


def _functions_of_sums(target: Target, scene: Scene) -> Trials:
    """Layer norm, RMS norm, relu, tanh and softmax of A + B."""
    if not target.kind:
        return
    norms = possible_along(target, [LAYER_NORM, RMS_NORM, softmax_of(1.0, None)])
    each = possible_each(target, ACTIVATIONS[:2])
    if not (each or norms.rows or norms.columns):
        return
    spreads = [spread for spread in spreads_of(target, scene) if spread.how in PLUS.spreads]
    for a, b in chain(
        ((a, Spread("same", b)) for a, b in companions(target, scene, both=False)),
        ((a, spread) for spread in spreads for a in scene.views),
    ):
        made = combined(PLUS, a, b)
        if made is not None:
            yield from each_of(target, made, each)
            yield from along_axes(target, made, norms)


def _normalised(target: Target, scene: Scene) -> Trials:
    """(A − m)/s and (A − m) s with two numbers that were printed, such as a mean and a deviation."""
    numbers = [spread for spread in spreads_of(target, scene) if spread.how == "number"] if target.kind else []
    i, j = target.probe
    m = target.centre[i][j]
    reach = target.half[i][j] + abs(m) / 10  # which no rounding of the numbers makes up for
    for a in scene.views if len(numbers) > 1 else ():
        for less in numbers:
            yield Trial(2 * len(numbers))
            x = a.centre[i][j] - less.filled.centre[0][0]
            scales = [scale for scale in numbers if scale is not less and scale.filled.centre[0][0]]
            for two, scale in ((two, scale) for scale in scales for two in (TIMES, OVER)):
                if abs(two.value(x, scale.filled.centre[0][0]) - m) <= reach:
                    difference = combined(MINUS, a, less)
                    made = combined(two, difference, scale) if difference is not None else None
                    yield tried(target, made, 0) if made is not None else Trial(0)


def _products_plus(target: Target, scene: Scene) -> Trials:
    """A B + C, and the relu of that; the probe is not 0, so there both are the same."""
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    terms = [Spread("same", a) for a in scene.views if a.is_finite and a.place is None]
    terms += [spread for spread in spreads_of(target, scene) if spread.how in PLUS.spreads]
    heads = [(term.filled.centre[i][j], h + term.filled.radius[i][j]) for term in terms]
    relu = possible_each(target, ACTIVATIONS[:1])
    for a, fitting in factor_pairs(target, scene) if terms else ():
        row = a.centre[i]
        for b in fitting:
            gap, blur = m - sum(map(mul, row, b.columns[j])), blur_of(a, b)
            yield Trial(len(terms) * (1 + len(relu)))
            near = [k for k, (x, reach) in enumerate(heads) if abs(gap - x) <= reach + blur]
            error = error_at(a, b, i, j) if near else 0.0
            for k in near:
                x, reach = heads[k]
                if abs(gap - x) <= reach + error and target.tells_of(error + reach - h):
                    yield from _product_plus(target, a, b, terms[k], relu)


def _product_plus(target: Target, a: Operand, b: Operand, term: Spread, functions: Sequence[Each]) -> Trials:
    """One A B + C, and functions of it, if the row of the probe agrees; these trials were counted before."""
    i = target.probe[0]
    line = Spread(term.how, row_of(term.filled, i))
    if any(made for _, made in _sums(target.line, row_of(a, i), b, line, functions)):
        yield from _sums(target, a, b, term, functions)


def _sums(target: Target, a: Operand, b: Operand, term: Spread, functions: Sequence[Each]) -> Trials:
    made = combined(PLUS, product_of(a, b), term)
    if made is not None:
        yield tried(target, made, 0)
        yield from uncounted(each_of(target, made, functions))


def _triples(target: Target, scene: Scene) -> Trials:
    """(A B) C, each but the first transposed or not; a vector times two matrices."""
    lefts = scene.matrices if target.kind == 2 else [a for a in scene.wholes if a.shape[1] > 1]
    i = target.probe[0]
    for a, b, thirds in _left_pairs(target, scene, lefts, (*scene.matrices, *scene.turns)):
        yield Trial(len(thirds))
        row = tuple([sum(map(mul, a.centre[i], column)) for column in b.columns])
        yield from _times_third(target, a, b, row, None, thirds)


def _left_pairs(
    target: Target, scene: Scene, lefts: Operands, rights: Operands
) -> Iterator[tuple[Operand, Operand, Operands]]:
    """Pairs A and B that can be multiplied, with the values that can be multiplied to A B."""
    r, c = target.shape
    fitting: dict[int, list[Operand]] = defaultdict(list)
    for b in chain.from_iterable(by_shape(rights).values()):
        if (len(b.columns), c) in scene.thirds:
            fitting[len(b.centre)].append(b)
    for a in lefts:
        if a.is_finite and len(a.centre) == r:
            for b in fitting.get(len(a.columns), ()):
                yield a, b, scene.thirds[len(b.columns), c]


def _times_third(target: Target, a: Operand, b: Operand, row: Row, weigh: Along | None, thirds: Operands) -> Trials:
    """A B times some values, or its softmax times them; `row` is the row of the probe of that. They are counted."""
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    blur, most = blur_of(a, b), max(map(abs, row))
    left: Operand | None = None
    errors: Row | None = None
    for c in thirds:
        bound = len(row) * (most * c.reach + blur * (c.size + c.reach)) if blur or c.reach else 0.0
        if abs(sum(map(mul, row, c.columns[j])) - m) > h + bound:
            continue
        errors = errors or (_errors_of_row(a, b, i, weigh) if bound else (0.0,) * len(row))
        if _row_agrees(target, row, errors, c):
            left = left or _left_of(a, b, weigh)
            yield Trial(0, product_in(target, left, c))


def _row_agrees(target: Target, row: Row, errors: Row, c: Operand) -> bool:
    """Whether a row times C may be the row of the probe, and tells something of the probe."""
    i, j = target.probe
    blurs = turn(c.radius)
    return target.tells_of(error_of(row, errors, c.columns[j], blurs[j])) and all(
        abs(sum(map(mul, row, column)) - m) <= h + error_of(row, errors, column, blur)
        for column, blur, m, h in zip(c.columns, blurs, target.centre[i], target.half[i], strict=True)
    )


def _left_of(a: Operand, b: Operand, weigh: Along | None) -> Operand:
    """A B, or its softmax."""
    product = product_of(a, b)
    if weigh is None:
        return product
    return operand_of(weigh.expr(product.expr), *apply_along(weigh, product.centre, product.radius), product.uses)


def _errors_of_row(a: Operand, b: Operand, i: int, weigh: Along | None) -> Row:
    """What one row of A B, or of its softmax, may be off."""
    errors = line_errors(a, b, i)
    if weigh is None:
        return errors
    scores = tuple([sum(map(mul, a.centre[i], column)) for column in b.columns])
    return apply_along(weigh, (scores,), (errors,))[1][0]


def _attention(target: Target, scene: Scene) -> Trials:
    """softmax(A Bᵀ) C and softmax(A Bᵀ/√d) C; for a vector, A is a vector or a row."""
    rows = [a for a in scene.lines if a.place is None or a.place[0] == "row"]
    lefts = scene.matrices if target.kind == 2 else rows
    softmaxes = [(factor, softmax_of(factor, divisor)) for factor, divisor in scales_of(scene.sizes)]
    mixable = {id(c) for thirds in scene.thirds.values() for c in thirds if _may_be_mixed(target, c)}
    i = target.probe[0]
    for a, b, thirds in _left_pairs(target, scene, lefts, scene.turns):
        left = [c for c in thirds if id(c) in mixable] if mixable else ()
        scores = tuple([sum(map(mul, a.centre[i], column)) for column in b.columns]) if left else ()
        for factor, weigh in softmaxes:
            yield Trial(len(thirds))
            if left:
                yield from _times_third(target, a, b, weights_of(scores, factor), weigh, left)


def _may_be_mixed(target: Target, values: Operand) -> bool:
    """Whether the grid may be made of weighted means of rows: each of its columns lies within that of the values."""
    columns = zip(turn(target.centre), turn(target.half), values.columns, turn(values.radius), strict=False)
    return values.shape[1] == target.shape[1] and all(
        min(column) - max(errors) - max(halves) <= min(printed)
        and max(printed) <= max(column) + max(errors) + max(halves)
        for printed, halves, column, errors in columns
    )
