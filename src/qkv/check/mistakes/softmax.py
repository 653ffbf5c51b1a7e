"""Rules about the softmax and the mask before it."""

from __future__ import annotations

from dataclasses import replace

from qkv.check.mistakes.scene import Scene, Variants
from qkv.check.mistakes.table import on
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell, bounds


@on("softmax down the columns", n.Softmax, n.Normalise, keeps_shape=True)
def down_columns(node: n.Softmax | n.Normalise, scene: Scene) -> Variants:
    if node.axis == 1:
        yield replace(node, axis=0), ""


@on("normalised by the plain sum", n.Softmax, keeps_shape=True)
def plain_sum(node: n.Softmax, scene: Scene) -> Variants:
    yield n.Normalise(node.arg, node.axis, node.by_rows), ""


@on("not normalised", n.Softmax, keeps_shape=True)
def not_normalised(node: n.Softmax, scene: Scene) -> Variants:
    yield n.Exp(node.arg), ""


@on("softmax over the whole matrix", n.Softmax, keeps_shape=True)
def whole_matrix(node: n.Softmax, scene: Scene) -> Variants:
    shape = scene.shape(node.arg)
    if shape is not None and min(shape) > 1:
        exps = n.Exp(node.arg)
        total = n.Product(n.Product(_ones(1, shape[0]), exps), _ones(shape[1], 1))
        yield n.Quotient(exps, total), ""


@on("divided by the sum of another row", n.Softmax)
def other_sum(node: n.Softmax, scene: Scene) -> Variants:
    """The exponentials of every row over the sum of one row: told in the rows where that is the wrong one."""
    shape = scene.shape(node.arg)
    if shape is not None and shape[0] > 1 and node.axis == 1:
        exps = n.Exp(node.arg)
        for k in range(1, shape[0] + 1):
            yield n.Quotient(exps, n.Product(n.Entry(exps, row=k), _ones(shape[1], 1))), str(k)


@on("a key left out", n.Softmax)
def key_left_out(node: n.Softmax, scene: Scene) -> Variants:
    shape = scene.shape(node.arg)
    if shape is not None and shape[1] > 2 and node.axis == 1:
        for k in range(1, shape[1] + 1):
            seen = n.Matrix((tuple(n.number(int(j != k)) for j in range(1, shape[1] + 1)),))
            every_row = n.Product(_ones(shape[0], 1), seen)
            yield replace(node, arg=n.Mask(node.arg, every_row, truth=True)), str(k)


@on("softmax left out", n.Softmax, keeps_shape=True)
def no_softmax(node: n.Softmax, scene: Scene) -> Variants:
    yield node.arg, ""


@on("another base than e", n.Softmax, keeps_shape=True, rare=True)
def other_base(node: n.Softmax, scene: Scene) -> Variants:
    """2^x and 10^x are e^(x ln 2) and e^(x ln 10): the logarithms to more digits than anybody prints."""
    for base, logarithm in LOGARITHMS:
        yield replace(node, arg=n.Product(n.number(logarithm), node.arg)), base


LOGARITHMS = (
    ("2", "0.693147180559945309417232121458176568"),
    ("10", "2.302585092994045684017991454684364208"),
)


@on("exponents negated", n.Softmax, keeps_shape=True, rare=True)
def negated(node: n.Softmax, scene: Scene) -> Variants:
    if not isinstance(node.arg, n.Mask):
        yield replace(node, arg=n.Negate(node.arg)), ""


@on("sigmoid for softmax", n.Softmax, keeps_shape=True, rare=True)
def sigmoid(node: n.Softmax, scene: Scene) -> Variants:
    shape = scene.shape(node.arg)
    if shape is not None:
        exps = n.Exp(node.arg)
        yield n.Quotient(exps, n.Sum((exps, _ones(*shape)))), ""


@on("all weight on the greatest score", n.Softmax, keeps_shape=True, rare=True)
def hard_maximum(node: n.Softmax, scene: Scene) -> Variants:
    """All weight on the greatest score of each row, if it is greater than the others."""
    value = scene.value(node) if node.axis == 1 else None
    if value is None:
        return
    rows = value.rows
    greatest = [[all(other is cell or _is_less(other, cell) for other in row) for cell in row] for row in rows]
    if all(map(any, greatest)):
        yield n.Matrix(tuple(tuple(n.number(int(top)) for top in row) for row in greatest)), ""


def _is_less(a: Cell, b: Cell) -> bool:
    return a is NEG_INF or (b is not NEG_INF and bool(bounds(a)[1] < bounds(b)[0]))


@on("scaled after the softmax", n.Softmax, keeps_shape=True)
def scaled_after(node: n.Softmax, scene: Scene) -> Variants:
    if isinstance(node.arg, n.Quotient):
        yield n.Quotient(replace(node, arg=node.arg.numerator), node.arg.denominator), ""


def _ones(rows: int, columns: int) -> n.Matrix:
    return n.Matrix(((n.number(1),) * columns,) * rows)


# ---------------------------------------------------------------- masks


def _seen(node: n.Mask, scene: Scene) -> list[list[bool]] | None:
    """Which keys each query may see."""
    shape = scene.shape(node.arg)
    if shape is None:
        return None
    probe = n.Mask(n.Matrix(((n.number(0),) * shape[1],) * shape[0]), node.pattern, node.truth)
    value = scene.value(probe)
    return [[cell == 0 for cell in row] for row in value.rows] if value is not None else None


@on("mask after softmax", n.Softmax, keeps_shape=True)
def zeros_after(node: n.Softmax, scene: Scene) -> Variants:
    if isinstance(node.arg, n.Mask):
        yield from _zeroed(replace(node, arg=node.arg.arg), node.arg, scene)


@on("masked with 0 in place of -inf", n.Mask, keeps_shape=True)
def zero_scores(node: n.Mask, scene: Scene) -> Variants:
    yield from _zeroed(node.arg, node, scene)


def _zeroed(inner: n.Expr, mask: n.Mask, scene: Scene) -> Variants:
    seen = _seen(mask, scene)
    if seen is not None:
        rows = tuple(
            tuple(n.Entry(inner, i, j) if ok else n.number(0) for j, ok in enumerate(row, 1))
            for i, row in enumerate(seen, 1)
        )
        yield n.Matrix(rows), ""


@on("mask the wrong way round", n.Mask, keeps_shape=True)
def wrong_way(node: n.Mask, scene: Scene) -> Variants:
    seen = _seen(node, scene)
    if seen is not None:
        if len(seen) == len(seen[0]):
            yield _pattern(node, [list(column) for column in zip(*seen, strict=True)]), ""
        yield _pattern(node, [[not ok for ok in row] for row in seen]), ""


@on("mask one off", n.Mask, keeps_shape=True)
def mask_shifted(node: n.Mask, scene: Scene) -> Variants:
    seen = _seen(node, scene) if node.pattern is None else None
    if seen is not None:
        yield _pattern(node, [[True, *row[:-1]] for row in seen]), "many"
        yield _pattern(node, [[*row[1:], False] for row in seen]), "few"


def _pattern(node: n.Mask, seen: list[list[bool]]) -> n.Mask:
    return n.Mask(node.arg, n.Matrix(tuple(tuple(n.number(int(ok)) for ok in row) for row in seen)), truth=True)


@on("mask forgotten", n.Mask, keeps_shape=True)
def no_mask(node: n.Mask, scene: Scene) -> Variants:
    yield node.arg, ""
