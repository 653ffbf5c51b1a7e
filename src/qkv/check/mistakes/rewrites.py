"""Known mistakes: rules that turn what should be worked out into what a mistaken author works out.

A rule looks at one node and yields what might stand there instead, with a detail for the sentence. To add a mistake,
add a row to TABLE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations

from qkv.check.mistakes.scene import Scene
from qkv.expr import nodes as n
from qkv.expr.names import Role

R = Role
Variants = Iterator[tuple[n.Expr, str]]
Rule = Callable[[n.Expr, Scene], Variants]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One row: `says` is for students, {} in it is the rule's detail. A `whole` rule looks at the result alone, not at
    every node inside of it."""

    key: str
    says: str
    rule: Rule
    whole: bool = False


# ---------------------------------------------------------------- softmax


def _down_columns(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, (n.Softmax, n.Normalise)) and node.axis == 1:
        yield replace(node, axis=0), ""


def _plain_sum(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax):
        yield n.Normalise(node.arg, node.axis, node.by_rows), ""


def _not_normalised(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax):
        yield n.Exp(node.arg), ""


def _whole_matrix(node: n.Expr, scene: Scene) -> Variants:
    shape = scene.shape(node.arg) if isinstance(node, n.Softmax) else None
    if isinstance(node, n.Softmax) and shape is not None and min(shape) > 1:
        exps = n.Exp(node.arg)
        total = n.Product(n.Product(_ones(1, shape[0]), exps), _ones(shape[1], 1))
        yield n.Quotient(exps, total), ""


def _no_softmax(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax):
        yield node.arg, ""


def _ones(rows: int, columns: int) -> n.Matrix:
    return n.Matrix(((n.number(1),) * columns,) * rows)


# ---------------------------------------------------------------- scale


def _no_scale(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Quotient):
        yield node.numerator, ""


def _no_root(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Quotient) and isinstance(node.denominator, n.Root):
        yield replace(node, denominator=node.denominator.arg), ""


def _root_of(role: Role) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        if isinstance(node, n.Quotient) and isinstance(node.denominator, n.Root):
            head = next((item.head for part in n.walk(node) if (item := scene.item(part)) and item.head), None)
            size = scene.size(role, head)
            if size is not None:
                yield replace(node, denominator=n.Root(n.number(size))), f"√{size}"

    return rule


def _times_scale(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Quotient):
        yield n.Product(node.denominator, node.numerator), ""


# ---------------------------------------------------------------- products


def _is_scores(node: n.Expr, scene: Scene) -> bool:
    return isinstance(node, n.Product) and {scene.role(node.left), scene.role(node.right)} == {R.Q, R.K}


def _bare(expr: n.Expr) -> n.Expr:
    return expr.arg if isinstance(expr, n.Transpose) else expr


def _turned(expr: n.Expr) -> n.Expr:
    return expr.arg if isinstance(expr, n.Transpose) else n.Transpose(expr)


def _k_not_turned(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and _is_scores(node, scene):
        yield n.Product(_bare(node.left), _bare(node.right)), ""


def _swapped_scores(node: n.Expr, scene: Scene) -> Variants:
    if _is_scores(node, scene):
        yield n.Transpose(node), ""


def _weight_first(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and WEIGHTS & {scene.role(node.left), scene.role(node.right)}:
        yield n.Product(node.right, node.left), ""


def _weight_turned(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and scene.role(node.right) in WEIGHTS:
        yield replace(node, right=_turned(node.right)), ""
    elif isinstance(node, n.Product) and scene.role(node.left) in WEIGHTS:
        yield replace(node, left=_turned(node.left)), ""


def _weights_turned(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and scene.role(node.left) is R.WEIGHTS:
        yield replace(node, left=_turned(node.left)), ""
    elif isinstance(node, n.Product) and scene.role(node.right) is R.WEIGHTS:
        yield replace(node, right=_turned(node.right)), ""


def _values_first(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Product) and R.WEIGHTS in (scene.role(node.left), scene.role(node.right)):
        yield n.Product(node.right, node.left), ""


def _factor_left_out(role: Role) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        if isinstance(node, n.Product) and role in (scene.role(node.left), scene.role(node.right)):
            yield (node.left if scene.role(node.right) is role else node.right), ""

    return rule


def _index_left_out(node: n.Expr, scene: Scene) -> Variants:
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


def _other_operand(node: n.Expr, scene: Scene) -> Variants:
    item = scene.item(node) if isinstance(node, n.Name) else None
    if item is None:
        return
    for group in GROUPS:
        for other in scene.named(group - {item.role}, item.head) if item.role in group else ():
            found = scene.item(other)
            yield other, f"{found.spelled if found else other} in place of {item.spelled}"


def _of_other_head(*roles: Role) -> Rule:
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


def _zeros_after(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Softmax) and isinstance(node.arg, n.Mask):
        yield from _zeroed(replace(node, arg=node.arg.arg), node.arg, scene)


def _zero_scores(node: n.Expr, scene: Scene) -> Variants:
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


def _wrong_way(node: n.Expr, scene: Scene) -> Variants:
    seen = _seen(node, scene) if isinstance(node, n.Mask) else None
    if isinstance(node, n.Mask) and seen is not None:
        if len(seen) == len(seen[0]):
            yield _pattern(node, [list(column) for column in zip(*seen, strict=True)]), ""
        yield _pattern(node, [[not ok for ok in row] for row in seen]), ""


def _mask_shifted(node: n.Expr, scene: Scene) -> Variants:
    seen = _seen(node, scene) if isinstance(node, n.Mask) and node.pattern is None else None
    if isinstance(node, n.Mask) and seen is not None:
        yield _pattern(node, [[True, *row[:-1]] for row in seen]), ""


def _pattern(node: n.Mask, seen: list[list[bool]]) -> n.Mask:
    return n.Mask(node.arg, n.Matrix(tuple(tuple(n.number(int(ok)) for ok in row) for row in seen)), truth=True)


def _no_mask(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Mask):
        yield node.arg, ""


# ---------------------------------------------------------------- heads


def _other_order(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat) and 1 < len(node.parts) <= 4:
        for order in list(permutations(range(len(node.parts))))[1:]:
            told = ", ".join(str(i + 1) for i in order)
            yield replace(node, parts=tuple(node.parts[i] for i in order)), told


def _stacked(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat):
        yield replace(node, axis=1 - node.axis), ""


def _averaged(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat) and len(node.parts) > 1:
        yield n.Quotient(n.Sum(node.parts), n.number(len(node.parts))), ""


def _added(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Concat) and len(node.parts) > 1:
        yield n.Sum(node.parts), ""


# ---------------------------------------------------------------- sums


def _no_bias(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Sum) and len(node.terms) == 2 and scene.role(node.terms[1]) in BIASES:
        yield node.terms[0], ""


def _bias_off(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Sum) and len(node.terms) == 2 and scene.role(node.terms[1]) in BIASES:
        yield n.Sum((node.terms[0], n.Negate(node.terms[1]))), ""


def _no_tanh(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Tanh):
        yield node.arg, ""


def _term_left_out(node: n.Expr, scene: Scene) -> Variants:
    if isinstance(node, n.Tanh) and isinstance(node.arg, n.Sum):
        for term in node.arg.terms:
            yield n.Tanh(term), ""


BIASES = frozenset({R.B_Q, R.B_K, R.B_V, R.B_O})


# ---------------------------------------------------------------- the result as a whole


def _turned_result(node: n.Expr, scene: Scene) -> Variants:
    shape = scene.shape(node)
    if shape is not None and min(shape) > 1 and not _is_scores(node, scene):
        yield n.Transpose(node), ""


def _swapped(axis: int) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        shape = scene.shape(node)
        if shape is None or not 2 <= shape[axis] <= 6:
            return
        for i, j in combinations(range(1, shape[axis] + 1), 2):
            order = [{i: j, j: i}.get(k, k) for k in range(1, shape[axis] + 1)]
            parts = tuple(n.Entry(node, row=k) if axis == 0 else n.Entry(node, column=k) for k in order)
            yield n.Concat(parts, axis), f"{i} and {j}"

    return rule


def _missing(axis: int) -> Rule:
    def rule(node: n.Expr, scene: Scene) -> Variants:
        shape = scene.shape(node)
        if shape is None or shape[axis] < 3:
            return
        for k in range(1, shape[axis] + 1):
            kept = (i for i in range(1, shape[axis] + 1) if i != k)
            parts = tuple(n.Entry(node, row=i) if axis == 0 else n.Entry(node, column=i) for i in kept)
            yield n.Concat(parts, axis), str(k)

    return rule


TABLE: tuple[Mistake, ...] = (
    Mistake(
        "softmax down the columns",
        "the softmax runs down the columns, but each row must add up to 1",
        _down_columns,
    ),
    Mistake("no scale", "the scores were not divided by √d_k", _no_scale),
    Mistake("divided by d_k", "the scores were divided by d_k instead of √d_k", _no_root),
    Mistake(
        "sqrt(d_model) for sqrt(d_k)",
        "the scores were divided by √d_model ({}), the size of a token, instead of √d_k",
        _root_of(R.X),
    ),
    Mistake(
        "sqrt(d_v) for sqrt(d_k)",
        "the scores were divided by √d_v ({}), the size of a value, instead of √d_k",
        _root_of(R.V),
    ),
    Mistake("multiplied by the scale", "the scores were multiplied by √d_k instead of divided", _times_scale),
    Mistake("K not transposed", "K was not transposed: this is Q K, not Q Kᵀ", _k_not_turned),
    Mistake("Q and K swapped", "Q and K are swapped: these are the scores transposed, K Qᵀ", _swapped_scores),
    Mistake("W X for X W", "the product was taken in the other order: W times the tokens", _weight_first),
    Mistake("W transposed", "the weight matrix was used transposed", _weight_turned),
    Mistake(
        "mask after softmax",
        "the mask was put on after the softmax, so the rows no longer add up to 1",
        _zeros_after,
    ),
    Mistake(
        "masked with 0 in place of -inf",
        "forbidden scores were set to 0, but e^0 = 1 still counts: they must be −∞",
        _zero_scores,
    ),
    Mistake(
        "mask the wrong way round", "the mask hides the wrong side: allowed and forbidden keys are swapped", _wrong_way
    ),
    Mistake("mask one off", "the mask lets every query see one key too many", _mask_shifted),
    Mistake("mask forgotten", "the mask was forgotten", _no_mask),
    Mistake(
        "normalised by the plain sum",
        "the scores were divided by their plain sum; softmax takes exponentials first",
        _plain_sum,
    ),
    Mistake("not normalised", "the exponentials were not divided by their sum", _not_normalised),
    Mistake(
        "softmax over the whole matrix",
        "the exponentials were divided by the sum over the whole matrix, not over each row",
        _whole_matrix,
    ),
    Mistake("softmax left out", "no softmax was taken: these are the scores themselves", _no_softmax),
    Mistake("heads concatenated in another order", "the heads are concatenated in the order {}", _other_order),
    Mistake("heads stacked", "the heads are stacked on top of each other instead of side by side", _stacked),
    Mistake("averaged heads", "the heads were averaged instead of concatenated", _averaged),
    Mistake("added heads", "the heads were added instead of concatenated", _added),
    Mistake("W_O left out", "the output matrix W_O was left out", _factor_left_out(R.W_O)),
    Mistake("W_a left out", "the matrix W_a was left out of the scores", _factor_left_out(R.W_A)),
    Mistake("weights of the other head", "the weights of another head were used: {}", _of_other_head(R.WEIGHTS)),
    Mistake("values of the other head", "the values of another head were used: {}", _of_other_head(R.V)),
    Mistake(
        "matrix of the other head",
        "a matrix of another head was used: {}",
        _of_other_head(R.Q, R.K, R.W_Q, R.W_K, R.W_V, R.HEAD, R.SCORES, R.SCALED),
    ),
    Mistake("one matrix for another", "{} was used", _other_operand),
    Mistake("A transposed", "the weights were used transposed", _weights_turned),
    Mistake("V A for A V", "the product was taken in the other order: V A instead of A V", _values_first),
    Mistake("bias forgotten", "the bias was forgotten", _no_bias),
    Mistake("bias subtracted", "the bias was subtracted instead of added", _bias_off),
    Mistake("tanh forgotten", "the tanh was forgotten", _no_tanh),
    Mistake("a term left out", "one of the two terms inside the tanh was left out", _term_left_out),
    Mistake(
        "a column left out",
        "the products of column {0} with row {0} were left out everywhere",
        _index_left_out,
    ),
    Mistake("rows swapped", "rows {} are swapped", _swapped(0), whole=True),
    Mistake("columns swapped", "columns {} are swapped", _swapped(1), whole=True),
    Mistake("result transposed", "the result is transposed", _turned_result, whole=True),
)

# A result that lacks a row or a column: a mistake only where all of it should be shown.
LEFT_OUT: tuple[Mistake, ...] = (
    Mistake("a row left out", "row {} is missing", _missing(0), whole=True),
    Mistake("a column of the result left out", "column {} is missing", _missing(1), whole=True),
)


Place = tuple[n.Expr, Callable[[n.Expr], n.Expr]]  # a node, and the whole with something else in its stead


def variants(mistake: Mistake, places: Sequence[Place], scene: Scene) -> Variants:
    """What a mistake makes of an expression: at each place where its rule applies, one at a time."""
    for node, whole in places[:1] if mistake.whole else places:
        for made, detail in mistake.rule(node, scene):
            yield whole(made), detail


def places_in(node: n.Expr) -> Iterator[Place]:
    """Every node of an expression, but for cells of matrices, from the top down."""
    yield node, lambda made: made
    for name in n.part_names(node):
        value = getattr(node, name)
        if isinstance(value, n.Node):
            yield from _within(value, partial(_with_part, node, name))  # type: ignore[arg-type]
        elif isinstance(value, tuple) and value and isinstance(value[0], n.Node):
            for i, part in enumerate(value):
                yield from _within(part, partial(_with_item, node, name, i))


def _within(part: n.Expr, outer: Callable[[n.Expr], n.Expr]) -> Iterator[Place]:
    for node, inner in places_in(part):
        yield node, partial(_nested, outer, inner)


def _nested(outer: Callable[[n.Expr], n.Expr], inner: Callable[[n.Expr], n.Expr], made: n.Expr) -> n.Expr:
    return outer(inner(made))


def _with_part(node: n.Expr, name: str, made: n.Expr) -> n.Expr:
    return replace(node, **{name: made})  # type: ignore[arg-type]


def _with_item(node: n.Expr, name: str, i: int, made: n.Expr) -> n.Expr:
    value = getattr(node, name)
    return replace(node, **{name: (*value[:i], made, *value[i + 1 :])})  # type: ignore[arg-type]
