"""Rules that turn what should be worked out into what a mistaken author works out.

A rule looks at one node and yields what might stand there instead, with a detail for the sentence.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations

from qkv.check.mistakes.scene import Scene, Variants
from qkv.check.mistakes.table import Mistake, on
from qkv.expr import nodes as n
from qkv.expr.names import Role

R = Role


# ---------------------------------------------------------------- scale


def _is_scale(node: n.Quotient, scene: Scene) -> bool:
    """Whether a quotient divides by a size, and not by a spread that was worked out, as norms do."""
    by: n.Expr | None = node.denominator
    if isinstance(by, n.Name):
        by = scene.formula(by.symbol) or by
    return by is not None and not n.holds(by, n.Call)


@on("no scale", n.Quotient, keeps_shape=True)
def no_scale(node: n.Quotient, scene: Scene) -> Variants:
    if _is_scale(node, scene):
        yield node.numerator, ""


@on("divided by d_k", n.Quotient, keeps_shape=True)
def no_root(node: n.Quotient, scene: Scene) -> Variants:
    if isinstance(node.denominator, n.Root) and _is_scale(node, scene):
        yield replace(node, denominator=node.denominator.arg), ""


def _root_of(key: str, role: Role) -> Mistake:
    @on(key, n.Quotient, keeps_shape=True)
    def rule(node: n.Quotient, scene: Scene) -> Variants:
        if isinstance(node.denominator, n.Root) and _is_scale(node, scene):
            head = next((thing.head for part in n.walk(node) if (thing := scene.thing(part)) and thing.head), None)
            size = scene.size(role, head)
            if size is not None:
                yield replace(node, denominator=n.Root(n.number(size))), f"√{size}"

    return rule


root_of_tokens = _root_of("sqrt(d_model) for sqrt(d_k)", R.X)
root_of_values = _root_of("sqrt(d_v) for sqrt(d_k)", R.V)


@on("sqrt(n) for sqrt(d_k)", n.Quotient, keeps_shape=True, rare=True)
def root_of_keys(node: n.Quotient, scene: Scene) -> Variants:
    if isinstance(node.denominator, n.Root) and _is_scale(node, scene):
        shape = scene.shape(node)
        if shape is not None:
            yield replace(node, denominator=n.Root(n.number(shape[1]))), f"√{shape[1]}"


@on("another size under the root", n.Quotient, keeps_shape=True)
def root_of_other_size(node: n.Quotient, scene: Scene) -> Variants:
    if isinstance(node.denominator, n.Root) and _is_scale(node, scene):
        for size in scene.sizes():
            yield replace(node, denominator=n.Root(n.number(size))), f"√{size}"


@on("multiplied by the scale", n.Quotient)
def times_scale(node: n.Quotient, scene: Scene) -> Variants:
    if _is_scale(node, scene):
        yield n.Product(node.denominator, node.numerator), ""


# ---------------------------------------------------------------- products


def is_scores(node: n.Expr, scene: Scene) -> bool:
    """Whether a product is that of queries and keys."""
    return isinstance(node, n.Product) and {scene.role(node.left), scene.role(node.right)} == {R.Q, R.K}


def _bare(expr: n.Expr) -> n.Expr:
    return expr.arg if isinstance(expr, n.Transpose) else expr


def _turned(expr: n.Expr) -> n.Expr:
    return expr.arg if isinstance(expr, n.Transpose) else n.Transpose(expr)


@on("K not transposed", n.Product)
def k_not_turned(node: n.Product, scene: Scene) -> Variants:
    if is_scores(node, scene):
        yield n.Product(_bare(node.left), _bare(node.right)), ""


@on("Q and K swapped", n.Product)
def swapped_scores(node: n.Product, scene: Scene) -> Variants:
    if is_scores(node, scene):
        yield n.Transpose(node), ""


@on("W X for X W", n.Product)
def weight_first(node: n.Product, scene: Scene) -> Variants:
    if WEIGHTS & {scene.role(node.left), scene.role(node.right)}:
        yield n.Product(node.right, node.left), ""


@on("W transposed", n.Product)
def weight_turned(node: n.Product, scene: Scene) -> Variants:
    if scene.role(node.right) in WEIGHTS:
        yield replace(node, right=_turned(node.right)), ""
    elif scene.role(node.left) in WEIGHTS:
        yield replace(node, left=_turned(node.left)), ""


@on("A transposed", n.Product)
def weights_turned(node: n.Product, scene: Scene) -> Variants:
    if _bare(node.left) is node.left and scene.role(node.left) is R.WEIGHTS:
        yield replace(node, left=n.Transpose(node.left)), ""
    elif _bare(node.right) is node.right and scene.role(node.right) is R.WEIGHTS:
        yield replace(node, right=n.Transpose(node.right)), ""


@on("V transposed", n.Product, rare=True)
def values_turned(node: n.Product, scene: Scene) -> Variants:
    if scene.role(node.left) is R.WEIGHTS:
        yield replace(node, right=_turned(node.right)), ""
    elif scene.role(node.right) is R.WEIGHTS:
        yield replace(node, left=_turned(node.left)), ""


@on("V A for A V", n.Product)
def values_first(node: n.Product, scene: Scene) -> Variants:
    if R.WEIGHTS in (scene.role(node.left), scene.role(node.right)):
        yield n.Product(node.right, node.left), ""


def _factor_left_out(key: str, *roles: Role) -> Mistake:
    @on(key, n.Product)
    def rule(node: n.Product, scene: Scene) -> Variants:
        for lost, kept in ((node.right, node.left), (node.left, node.right)):
            thing = scene.thing(lost)
            if thing is not None and thing.role in roles:
                yield kept, thing.spelled

    return rule


no_output_matrix = _factor_left_out("W_O left out", R.W_O)
no_projection = _factor_left_out("projection left out", R.W_Q, R.W_K, R.W_V)
no_additive_matrix = _factor_left_out("W_a left out", R.W_A)


@on("a column left out", n.Product, keeps_shape=True)
def index_left_out(node: n.Product, scene: Scene) -> Variants:
    """X W without the k-th column of X and the k-th row of W."""
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


@on("one matrix for another", n.Name)
def other_operand(node: n.Name, scene: Scene) -> Variants:
    thing = scene.thing(node)
    if thing is None:
        return
    for other in scene.things(TAKEN_FOR.get(thing.role, ()), thing):
        if other.head in (thing.head, None):
            yield other.expr, f"{other.spelled} in place of {thing.spelled}"


@on("one matrix for another", n.Name)
def other_name(node: n.Name, scene: Scene) -> Variants:
    for expr, spelled in scene.alike(node):
        thing = scene.thing(node)
        yield expr, f"{spelled} in place of {thing.spelled if thing is not None else node.symbol}"


def _of_other_head(key: str, *roles: Role) -> Mistake:
    @on(key, n.Name, rare=True)  # heads that share keys in another order have a name of their own
    def rule(node: n.Name, scene: Scene) -> Variants:
        thing = scene.thing(node)
        if thing is None or thing.role not in roles or thing.head is None:
            return
        for other in scene.things((thing.role,), thing):
            if other.head not in (thing.head, None):
                yield other.expr, f"{other.spelled} in place of {thing.spelled}"

    return rule


other_weights = _of_other_head("weights of the other head", R.WEIGHTS)
other_values = _of_other_head("values of the other head", R.V)
other_matrix = _of_other_head("matrix of the other head", R.Q, R.K, R.W_Q, R.W_K, R.W_V, R.HEAD, R.SCORES, R.SCALED)


# ---------------------------------------------------------------- heads


@on("heads concatenated in another order", n.Concat)
def other_order(node: n.Concat, scene: Scene) -> Variants:
    if 1 < len(node.parts) <= 4 and node.axis == 1:
        for order in list(permutations(range(len(node.parts))))[1:]:
            told = ", ".join(str(i + 1) for i in order)
            yield replace(node, parts=tuple(node.parts[i] for i in order)), told


@on("heads stacked", n.Concat)
def stacked(node: n.Concat, scene: Scene) -> Variants:
    yield replace(node, axis=1 - node.axis), ""


@on("averaged heads", n.Concat)
def averaged(node: n.Concat, scene: Scene) -> Variants:
    if len(node.parts) > 1:
        yield n.Quotient(n.Sum(node.parts), n.number(len(node.parts))), ""


@on("added heads", n.Concat)
def added(node: n.Concat, scene: Scene) -> Variants:
    if len(node.parts) > 1:
        yield n.Sum(node.parts), ""


# ---------------------------------------------------------------- sums


def is_bias(node: n.Sum, scene: Scene) -> bool:
    """Whether a sum adds a bias: one by its role, or one vector to every row of a product."""
    if len(node.terms) != 2:
        return False
    product, bias = node.terms
    if scene.role(bias) in BIASES:
        return True
    return isinstance(product, n.Product) and isinstance(bias, n.Name) and 1 in (scene.shape(bias) or ())


@on("bias forgotten", n.Sum)
def no_bias(node: n.Sum, scene: Scene) -> Variants:
    if is_bias(node, scene):
        yield node.terms[0], ""


@on("bias subtracted", n.Sum)
def bias_off(node: n.Sum, scene: Scene) -> Variants:
    if is_bias(node, scene):
        yield n.Sum((node.terms[0], n.Negate(node.terms[1]))), ""


BIASES = frozenset({R.B_Q, R.B_K, R.B_V, R.B_O})


# ---------------------------------------------------------------- the result as a whole


@on("result transposed", n.Node, whole=True)
def turned_result(node: n.Expr, scene: Scene) -> Variants:
    shape = scene.shape(node)
    if shape is not None and min(shape) > 1 and not is_scores(node, scene):
        yield n.Transpose(node), ""


def _swapped(key: str, axis: int) -> Mistake:
    @on(key, n.Node, whole=True, keeps_shape=True, swaps=True)
    def rule(node: n.Expr, scene: Scene) -> Variants:
        shape = scene.shape(node)
        if shape is None or not 2 <= shape[axis] <= 6:
            return
        lines = _lines(node, shape[axis], axis)
        for i, j in combinations(range(len(lines)), 2):
            parts = lines.copy()
            parts[i], parts[j] = lines[j], lines[i]
            yield n.Concat(tuple(parts), axis), f"{i + 1} and {j + 1}"

    return rule


rows_swapped, columns_swapped = _swapped("rows swapped", 0), _swapped("columns swapped", 1)


def _missing(key: str, axis: int) -> Mistake:
    @on(key, n.Node, whole=True)
    def rule(node: n.Expr, scene: Scene) -> Variants:
        shape = scene.shape(node)
        if shape is None or shape[axis] < 3:
            return
        lines = _lines(node, shape[axis], axis)
        for k in range(len(lines)):
            yield n.Concat(tuple(lines[:k] + lines[k + 1 :]), axis), str(k + 1)

    return rule


LEFT_OUT = (_missing("a row left out", 0), _missing("a column of the result left out", 1))


def _lines(node: n.Expr, count: int, axis: int) -> list[n.Expr]:
    """The rows (axis 0) or the columns of something."""
    return [n.Entry(node, column=k) if axis else n.Entry(node, row=k) for k in range(1, count + 1)]
