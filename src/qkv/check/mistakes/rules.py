"""Rules that turn what should be worked out into what a mistaken author works out.

A rule looks at one node and yields what might stand there instead, with a detail for the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, permutations

from qkv.check.mistakes.scene import Scene
from qkv.expr import nodes as n
from qkv.expr.names import Role

R = Role
Variants = Iterator[tuple[n.Expr, str]]
Rule = Callable[[n.Expr, Scene], Variants]


# ---------------------------------------------------------------- softmax


def down_columns(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, (n.Softmax, n.Normalise)) and node.axis == 1:
        yield replace(node, axis=0), ""


def plain_sum(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax):
        yield n.Normalise(node.arg, node.axis, node.by_rows), ""


def not_normalised(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax):
        yield n.Exp(node.arg), ""


def whole_matrix(node: n.Expr, scene: Scene) -> Variants:
    shape = scene.shape(node.arg) if isinstance(node, n.Softmax) else None
    if isinstance(node, n.Softmax) and shape is not None and min(shape) > 1:
        exps = n.Exp(node.arg)
        total = n.Product(n.Product(_ones(1, shape[0]), exps), _ones(shape[1], 1))
        yield n.Quotient(exps, total), ""


def other_sum(node: n.Expr, scene: Scene) -> Variants:
    """The exponentials of every row over the sum of one row: told in the rows where that is the wrong one."""
    shape = scene.shape(node.arg) if isinstance(node, n.Softmax) else None
    if isinstance(node, n.Softmax) and shape is not None and shape[0] > 1 and node.axis == 1:
        exps = n.Exp(node.arg)
        for k in range(1, shape[0] + 1):
            yield n.Quotient(exps, n.Product(n.Entry(exps, row=k), _ones(shape[1], 1))), str(k)


def key_left_out(node: n.Expr, scene: Scene) -> Variants:
    shape = scene.shape(node.arg) if isinstance(node, n.Softmax) else None
    if isinstance(node, n.Softmax) and shape is not None and shape[1] > 2 and node.axis == 1:
        for k in range(1, shape[1] + 1):
            seen = tuple(tuple(n.number(int(j != k)) for j in range(1, shape[1] + 1)) for _ in range(shape[0]))
            yield replace(node, arg=n.Mask(node.arg, n.Matrix(seen), truth=True)), str(k)


def no_softmax(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax):
        yield node.arg, ""


def _ones(rows: int, columns: int) -> n.Matrix:
    return n.Matrix(((n.number(1),) * columns,) * rows)


# ---------------------------------------------------------------- scale


def no_scale(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Quotient):
        yield node.numerator, ""


def no_root(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Quotient) and isinstance(node.denominator, n.Root):
        yield replace(node, denominator=node.denominator.arg), ""


def root_of(role: Role) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        if isinstance(node, n.Quotient) and isinstance(node.denominator, n.Root):
            head = next((item.head for part in n.walk(node) if (item := scene.item(part)) and item.head), None)
            size = scene.size(role, head)
            if size is not None:
                yield replace(node, denominator=n.Root(n.number(size))), f"√{size}"

    return rule


def times_scale(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Quotient):
        yield n.Product(node.denominator, node.numerator), ""


# ---------------------------------------------------------------- products


def _is_scores(node: n.Expr, scene: Scene) -> bool:
    return isinstance(node, n.Product) and {scene.role(node.left), scene.role(node.right)} == {R.Q, R.K}


def _bare(expr: n.Expr) -> n.Expr:
    return expr.arg if isinstance(expr, n.Transpose) else expr


def _turned(expr: n.Expr) -> n.Expr:
    return expr.arg if isinstance(expr, n.Transpose) else n.Transpose(expr)


def k_not_turned(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and _is_scores(node, scene):
        yield n.Product(_bare(node.left), _bare(node.right)), ""


def swapped_scores(node: n.Expr, scene: Scene) -> Variants:
    if _is_scores(node, scene):
        yield n.Transpose(node), ""


def weight_first(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and WEIGHTS & {scene.role(node.left), scene.role(node.right)}:
        yield n.Product(node.right, node.left), ""


def weight_turned(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and scene.role(node.right) in WEIGHTS:
        yield replace(node, right=_turned(node.right)), ""
    elif isinstance(node, n.Product) and scene.role(node.left) in WEIGHTS:
        yield replace(node, left=_turned(node.left)), ""


def weights_turned(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and scene.role(node.left) is R.WEIGHTS:
        yield replace(node, left=_turned(node.left)), ""
    elif isinstance(node, n.Product) and scene.role(node.right) is R.WEIGHTS:
        yield replace(node, right=_turned(node.right)), ""


def values_first(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and R.WEIGHTS in (scene.role(node.left), scene.role(node.right)):
        yield n.Product(node.right, node.left), ""


def factor_left_out(role: Role) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        if isinstance(node, n.Product) and role in (scene.role(node.left), scene.role(node.right)):
            yield (node.left if scene.role(node.right) is role else node.right), ""

    return rule


def index_left_out(node: n.Expr, scene: Scene) -> Variants:
    """X W without the k-th column of X and the k-th row of W."""
    if not isinstance(node, n.Product):
        return
    left, right = scene.shape(node.left), scene.shape(node.right)
    if left is None or right is None or left[1] != right[0] or left[1] < 2:
        return
    for k in range(1, left[1] + 1):
        lost = n.Product(n.Entry(node.left, column=k), n.Entry(node.right, row=k))
        yield n.Sum((node, n.Negate(lost))), str(k)


WEIGHTS = frozenset({R.W_Q, R.W_K, R.W_V, R.W_O, R.W_A, R.U_A})


# ---------------------------------------------------------------- one operand for another

GROUPS = (
    frozenset({R.W_Q, R.W_K, R.W_V}),
    frozenset({R.Q, R.K, R.V}),
    frozenset({R.X, R.Y}),
    frozenset({R.B_Q, R.B_K, R.B_V}),
    frozenset({R.W_A, R.U_A}),
)


def other_operand(node: n.Expr, scene: Scene) -> Variants:
    item = scene.item(node) if isinstance(node, n.Name) else None
    if item is None:
        return
    for group in GROUPS:
        for other in scene.named(group - {item.role}, item.head) if item.role in group else ():
            found = scene.item(other)
            yield other, f"{found.spelled if found else other} in place of {item.spelled}"


def of_other_head(*roles: Role) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        item = scene.item(node) if isinstance(node, n.Name) else None
        if item is None or item.role not in roles or item.head is None:
            return
        for other in reversed(scene.trace.program.items):
            if other.role is item.role and other.head not in (item.head, None):
                yield n.Name(other.symbol), f"{other.spelled} in place of {item.spelled}"

    return rule


# ---------------------------------------------------------------- masks


def _seen(node: n.Mask, scene: Scene) -> list[list[bool]] | None:
    """Which keys each query may see."""
    shape = scene.shape(node.arg)
    if shape is None:
        return None
    probe = n.Mask(n.Matrix(((n.number(0),) * shape[1],) * shape[0]), node.pattern, node.truth)
    return [[cell == 0 for cell in row] for row in scene.trace.evaluate(probe).rows]


def zeros_after(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax) and isinstance(node.arg, n.Mask):
        yield from _zeroed(replace(node, arg=node.arg.arg), node.arg, scene)


def zero_scores(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Mask):
        yield from _zeroed(node.arg, node, scene)


def _zeroed(inner: n.Expr, mask: n.Mask, scene: Scene) -> Variants:
    seen = _seen(mask, scene)
    if seen is not None:
        rows = tuple(
            tuple(n.Entry(inner, i, j) if ok else n.number(0) for j, ok in enumerate(row, 1))
            for i, row in enumerate(seen, 1)
        )
        yield n.Matrix(rows), ""


def wrong_way(node: n.Expr, scene: Scene) -> Variants:
    seen = _seen(node, scene) if isinstance(node, n.Mask) else None
    if isinstance(node, n.Mask) and seen is not None:
        if len(seen) == len(seen[0]):
            yield _pattern(node, [list(column) for column in zip(*seen, strict=True)]), ""
        yield _pattern(node, [[not ok for ok in row] for row in seen]), ""


def mask_shifted(node: n.Expr, scene: Scene) -> Variants:
    seen = _seen(node, scene) if isinstance(node, n.Mask) and node.pattern is None else None
    if isinstance(node, n.Mask) and seen is not None:
        yield _pattern(node, [[True, *row[:-1]] for row in seen]), ""


def _pattern(node: n.Mask, seen: list[list[bool]]) -> n.Mask:
    return n.Mask(node.arg, n.Matrix(tuple(tuple(n.number(int(ok)) for ok in row) for row in seen)), truth=True)


def no_mask(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Mask):
        yield node.arg, ""


# ---------------------------------------------------------------- heads


def other_order(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat) and 1 < len(node.parts) <= 4:
        for order in list(permutations(range(len(node.parts))))[1:]:
            told = ", ".join(str(i + 1) for i in order)
            yield replace(node, parts=tuple(node.parts[i] for i in order)), told


def stacked(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat):
        yield replace(node, axis=1 - node.axis), ""


def averaged(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat) and len(node.parts) > 1:
        yield n.Quotient(n.Sum(node.parts), n.number(len(node.parts))), ""


def added(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat) and len(node.parts) > 1:
        yield n.Sum(node.parts), ""


# ---------------------------------------------------------------- sums


def no_bias(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Sum) and len(node.terms) == 2 and scene.role(node.terms[1]) in BIASES:
        yield node.terms[0], ""


def bias_off(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Sum) and len(node.terms) == 2 and scene.role(node.terms[1]) in BIASES:
        yield n.Sum((node.terms[0], n.Negate(node.terms[1]))), ""


def no_tanh(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Tanh):
        yield node.arg, ""


def term_left_out(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Tanh) and isinstance(node.arg, n.Sum):
        for term in node.arg.terms:
            yield n.Tanh(term), ""


BIASES = frozenset({R.B_Q, R.B_K, R.B_V, R.B_O})


# ---------------------------------------------------------------- the result as a whole


def turned_result(node: n.Expr, scene: Scene) -> Variants:
    shape = scene.shape(node)
    if shape is not None and min(shape) > 1 and not _is_scores(node, scene):
        yield n.Transpose(node), ""


def swapped(axis: int) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        shape = scene.shape(node)
        if shape is None or not 2 <= shape[axis] <= 6:
            return
        for i, j in combinations(range(1, shape[axis] + 1), 2):
            order = [{i: j, j: i}.get(k, k) for k in range(1, shape[axis] + 1)]
            parts = tuple(n.Entry(node, row=k) if axis == 0 else n.Entry(node, column=k) for k in order)
            yield n.Concat(parts, axis), f"{i} and {j}"

    return rule


def missing(axis: int) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        shape = scene.shape(node)
        if shape is None or shape[axis] < 3:
            return
        for k in range(1, shape[axis] + 1):
            kept = (i for i in range(1, shape[axis] + 1) if i != k)
            parts = tuple(n.Entry(node, row=i) if axis == 0 else n.Entry(node, column=i) for i in kept)
            yield n.Concat(parts, axis), str(k)

    return rule
