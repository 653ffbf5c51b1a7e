"""Rules that turn what should be worked out into what a mistaken author works out.

A rule looks at one node and yields what might stand there instead, with a detail for the sentence.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations

from qkv.check.mistakes.scene import Rule, Scene, Variants
from qkv.expr import nodes as n
from qkv.expr.names import Role

R = Role


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


def root_of_keys(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Quotient) and isinstance(node.denominator, n.Root):
        shape = scene.shape(node)
        if shape is not None:
            yield replace(node, denominator=n.Root(n.number(shape[1]))), f"√{shape[1]}"


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


def values_turned(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and scene.role(node.left) is R.WEIGHTS:
        yield replace(node, right=_turned(node.right)), ""
    elif isinstance(node, n.Product) and scene.role(node.right) is R.WEIGHTS:
        yield replace(node, left=_turned(node.left)), ""


def values_first(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and R.WEIGHTS in (scene.role(node.left), scene.role(node.right)):
        yield n.Product(node.right, node.left), ""


def factor_left_out(*roles: Role) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        if isinstance(node, n.Product):
            for lost, kept in ((node.right, node.left), (node.left, node.right)):
                item = scene.item(lost)
                if item is not None and item.role in roles:
                    yield kept, item.spelled

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

_WEIGHTS, _VECTORS, _TOKENS, _BIASES, _ADDITIVE = (
    frozenset({R.W_Q, R.W_K, R.W_V}),
    frozenset({R.Q, R.K, R.V}),
    frozenset({R.X, R.Y}),
    frozenset({R.B_Q, R.B_K, R.B_V}),
    frozenset({R.W_A, R.U_A}),
)
# What may be taken for a quantity: its like, the tokens for what is made of them, the scores for the weights.
TAKEN_FOR: dict[Role, frozenset[Role]] = {
    **{role: group - {role} for group in (_WEIGHTS, _TOKENS, _BIASES, _ADDITIVE) for role in group},
    **{role: (_VECTORS | _TOKENS) - {role} for role in _VECTORS},
    R.WEIGHTS: frozenset({R.SCORES, R.SCALED}),
}


def other_operand(node: n.Expr, scene: Scene) -> Variants:
    item = scene.item(node) if isinstance(node, n.Name) else None
    if item is None:
        return
    for other in scene.named(TAKEN_FOR.get(item.role, ()), item.head):
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
