"""Rules about what stands around attention, where two expressions (patterns.py) do not tell them."""

from __future__ import annotations

from qkv.check.mistakes.patterns import filled, matches
from qkv.check.mistakes.rules import is_bias, is_scores
from qkv.check.mistakes.scene import Scene, Thing, Variants
from qkv.check.mistakes.table import Mistake, on
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.expr.tables import quarter_turn
from qkv.interpret.fit import Shape
from qkv.library.notation import expression


@on("residual left out", n.Sum, keeps_shape=True)
def residual_left_out(node: n.Sum, scene: Scene) -> Variants:
    """X + F without X or without F: two arrays of one shape, none of them a bias."""
    if len(node.terms) != 2 or any(isinstance(term, n.Negate) for term in node.terms) or is_bias(node, scene):
        return
    shapes = [scene.shape(term) for term in node.terms]
    if shapes[0] == shapes[1] not in (None, (1, 1)):
        for kept, lost in (node.terms, node.terms[::-1]):
            yield kept, plain(lost) if isinstance(lost, n.Name) else "one of the two"


@on("sine and cosine swapped", n.Node, whole=True, keeps_shape=True)
def waves_swapped(node: n.Expr, scene: Scene) -> Variants:
    """Every sine for a cosine and every cosine for a sine."""
    if any(isinstance(part, n.Call) and part.function in WAVES for part in n.walk(node)):
        yield n.rewrite(node, _other_wave), ""


WAVES = {"sin": "cos", "cos": "sin", "sind": "cosd", "cosd": "sind"}


def _other_wave(node: n.Expr) -> n.Expr:
    return n.Call(WAVES[node.function], node.args) if isinstance(node, n.Call) and node.function in WAVES else node


def _positions_moved(key: str, by: int) -> Mistake:
    """sin((p + 1) / …) for sin(p / …), sin((p + 1) Θ) for sin(p Θ): positions that begin at another number."""

    @on(key, n.Node, whole=True, keeps_shape=True)
    def rule(node: n.Expr, scene: Scene) -> Variants:
        made = n.rewrite(node, _moved)
        if made != node:
            yield made, ""

    def _moved(node: n.Expr) -> n.Expr:
        if not isinstance(node, n.Call) or node.function not in WAVES:
            return node
        angle = node.args[0]
        if isinstance(angle, n.Quotient):
            return n.Call(node.function, (n.Quotient(n.Sum((angle.numerator, n.number(by))), angle.denominator),))
        if isinstance(angle, n.Product) and isinstance(angle.left, n.Number):
            return n.Call(node.function, (n.Product(n.number(angle.left.value + by), angle.right),))
        return n.Call(node.function, (n.Sum((angle, n.number(by))),)) if isinstance(angle, n.Number) else node

    return rule


positions_from_1, positions_from_0 = _positions_moved("positions from 1", 1), _positions_moved("positions from 0", -1)


@on("loss with the wrong index", n.Call, keeps_shape=True)
def wrong_target(node: n.Call, scene: Scene) -> Variants:
    """The logarithm of another probability than that of the target: of a neighbour, or of any other of one row."""
    if node.function == "hadamard" and isinstance(node.args[1], n.Call) and node.args[1].function == "ln":
        shape = scene.shape(node.args[0])
        if shape is not None and shape == scene.shape(node.args[1]) and shape[1] > 1:
            for by in range(1, shape[1]) if shape[0] == 1 else (1, -1):
                yield n.Call("hadamard", (n.Product(node.args[0], _shift(shape, by)), node.args[1])), ""
    if node.function == "ln" and isinstance(node.args[0], n.Entry) and node.args[0].column is not None:
        shape = scene.shape(node.args[0].arg)
        for column in range(1, shape[1] + 1) if shape is not None else ():
            if column != node.args[0].column:
                yield n.Call("ln", (n.Entry(node.args[0].arg, node.args[0].row, column),)), ""


def _shift(shape: Shape, by: int) -> n.Matrix:
    """The matrix that moves every column of a row `by` places to the right, the last ones to the front."""
    size = shape[1]
    return n.Matrix(tuple(tuple(n.number(int(j == (i + by) % size)) for j in range(size)) for i in range(size)))


ROTATION = r"hadamard(x, \cos(t)) + hadamard(x j, \sin(t))"


@on("pairs the other way", n.Sum)
def other_pairs(node: n.Sum, scene: Scene) -> Variants:
    """Rotary positions with columns 1 and 2 as a pair for 1 and 1 + d/2, or the other way round."""
    bound: dict[Symbol, n.Expr] = {}
    if not matches(expression(ROTATION), node, bound):
        return
    x, t, j = (bound[Symbol(letter)] for letter in "xtj")
    turn, shape = scene.value(j), scene.shape(x)
    if turn is None or shape is None or shape[1] < 4 or shape[1] % 2:
        return
    size, halves = shape[1], turn.rows[0][1] == 1  # to halves, if columns 1 and 2 are a pair now
    source = [2 * (k % (size // 2)) if halves else k // 2 for k in range(size)]
    moves = n.Matrix(tuple(tuple(n.number(int(source[k] == i)) for k in range(size)) for i in range(size)))
    put = {Symbol("x"): x, Symbol("t"): n.Product(t, moves), Symbol("j"): quarter_turn(size, halves)}
    yield filled(expression(ROTATION), put), ""


@on("groups tiled", n.Product)
def tiled(node: n.Product, scene: Scene) -> Variants:
    """Grouped queries: of two groups, keys and values in the order 1 2 1 2 for 1 1 2 2."""
    left, right = scene.thing(node.left), scene.thing(node.right)
    if left is None or right is None or left.head is None or right.role not in (Role.K, Role.V):
        return
    heads = [thing.head for thing in _by_head(left, scene)]
    groups = list(dict.fromkeys((thing.expr, thing.spelled) for thing in _by_head(right, scene)))
    if left.head not in heads or not 1 < len(groups) < len(heads):
        return
    expr, spelled = groups[heads.index(left.head) % len(groups)]
    if expr != right.expr:
        yield n.replaced(node, right.expr, expr), f"{spelled} in place of {right.spelled}"


def _by_head(like: Thing, scene: Scene) -> list[Thing]:
    """What plays the same part in each head, in the order of the heads."""
    found = [thing for thing in scene.things((like.role,), like) if thing.head is not None and thing.head.isdecimal()]
    return sorted(found, key=lambda thing: int(thing.head or 0))


@on("cache in the wrong order", n.Concat)
def cache_order(node: n.Concat, scene: Scene) -> Variants:
    """The keys of new tokens above those of the cache."""
    if node.axis == 0 and len(node.parts) == 2:
        yield n.Concat(node.parts[::-1], 0), ""


@on("transpose left out", n.Product)
def transpose_left_out(node: n.Product, scene: Scene) -> Variants:
    """A dZ for Aᵀ dZ: in gradients, where what is transposed is no key."""
    if is_scores(node, scene):
        return
    if isinstance(node.left, n.Transpose):
        yield n.Product(node.left.arg, node.right), plain(node.left.arg)
    if isinstance(node.right, n.Transpose):
        yield n.Product(node.left, node.right.arg), plain(node.right.arg)
