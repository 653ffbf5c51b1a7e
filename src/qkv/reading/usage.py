"""What names are used for in a page's own formulas, whatever they are called.

In softmax(A Bᵀ / √c) D, A is a query, B a key, c the size of a key and D a value. Where A = E F is stated, E holds the
tokens and F the weights of the queries. Only the shape of formulas counts here; letters and words come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.reading.choices import DOWN_KEYS, DOWN_QUERIES, ROWS

R = Role
Roles = tuple[Role, ...]  # what fits a use, the likeliest first: letters and words may choose among them
Stated = Mapping[Symbol, tuple[n.Expr, ...]]  # the formulas that a page states for its names

TOKENS: Roles = (R.X, R.Y, R.STATES, R.SOURCE)
ASKING: Roles = (R.Q, R.SOURCE)
ASKED: Roles = (R.K, R.STATES)  # tokens that are asked as they are, are mixed too
MIXED: Roles = (R.V, R.STATES)
MIXED_SOMEHOW: Roles = (*MIXED, R.X, R.Y)  # nobody says what the weights are made of
DISTRIBUTED: Roles = (R.MASKED, R.SCALED, R.SCORES)  # what a softmax is taken of, with whatever was done to it
WEIGHTS = {R.Q: R.W_Q, R.K: R.W_K, R.V: R.W_V}
BIASES = {R.Q: R.B_Q, R.K: R.B_K, R.V: R.B_V}
DEPTH = 4


def used_roles(formulas: Iterable[n.Expr], stated: Stated) -> dict[Symbol, Roles]:
    """The roles that formulas give the names in them: of what is used in two ways those that fit both."""
    found: dict[Symbol, Roles] = {}
    for symbol, roles in _Uses(stated).of(formulas):
        found[symbol] = tuple(role for role in found.get(symbol, roles) if role in roles)
    return {symbol: roles for symbol, roles in found.items() if roles}


def stated_method(formulas: Iterable[n.Expr]) -> frozenset[str]:
    """The conventions that formulas show: how tokens lie, and whether scores are scaled; those in which all agree."""
    uses, shown, written = _Uses({}), list[frozenset[str]](), tuple(formulas)
    for product in (node for formula in written for node in n.walk(formula) if isinstance(node, n.Product)):
        for weights, _, layout in uses.mixtures(product):
            scores, _ = uses.scores(weights.arg)
            divided = isinstance(weights.arg, n.Quotient) or (
                isinstance(weights.arg, n.Product) and _scale(weights.arg) is not None
            )
            scale = "scaled" if divided else "unscaled"
            shown.append(layout | {scale} if isinstance(scores, n.Product) else layout)
    if shown:
        return frozenset.intersection(*shown)
    lone = [node.arg for formula in written for node in n.walk(formula) if isinstance(node, n.Softmax)]
    rooted = [isinstance(arg, n.Quotient) and n.holds(arg.denominator, n.Root) for arg in lone]
    return frozenset({"scaled"}) if rooted and all(rooted) else frozenset()


def layouts_shown(formulas: Iterable[n.Expr], stated: Stated) -> frozenset[frozenset[str]]:
    """How tokens lie where formulas mix values: softmax(…) V has them as rows, V softmax(…) as columns."""
    products = (node for formula in formulas for node in n.walk(formula) if isinstance(node, n.Product))
    uses = _Uses(stated)
    return frozenset(layout for product in products for *_, layout in uses.mixtures(product))


class _Uses:
    """Looks for attention in formulas, through the formulas that names are stated to be."""

    def __init__(self, stated: Stated) -> None:
        self.stated = stated

    def of(self, formulas: Iterable[n.Expr]) -> Iterator[tuple[Symbol, Roles]]:
        """Every name that is used as attention uses it."""
        parts = dict.fromkeys(node for formula in formulas for node in n.walk(formula))
        mixed: set[n.Expr] = set()
        for product in (part for part in parts if isinstance(part, n.Product)):
            for weights, values, layout in self.mixtures(product):
                mixed.add(weights)
                yield from self._attention(weights, values, layout)
        lone = (part for part in parts if isinstance(part, (n.Softmax, n.Quotient)) and part not in mixed)
        for part in lone:  # softmax(A Bᵀ / √c), or A Bᵀ / √c: what is mixed is not said
            yield from self._attention(part, None, ROWS)

    def mixtures(self, product: n.Product) -> Iterator[tuple[n.Softmax, n.Name, frozenset[str]]]:
        """Weights times values, and how tokens lie: in columns where the values come first."""
        left, right = product.left, product.right
        across = right.arg if isinstance(right, n.Transpose) else None
        for weights, values, layout in ((left, right, ROWS), (right, left, DOWN_KEYS), (across, left, DOWN_QUERIES)):
            softmax = self._opened(weights, n.Softmax) if weights is not None else None
            if isinstance(softmax, n.Softmax) and isinstance(values, n.Name):
                yield softmax, values, layout

    def _opened(self, expr: n.Expr, *kinds: type[n.Expr], depth: int = 0) -> n.Expr:
        """An expression; where it is a name that is stated to be something of a kind, that."""
        if isinstance(expr, n.Name) and depth < DEPTH:
            inner = (self._opened(formula, *kinds, depth=depth + 1) for formula in self.stated.get(expr.symbol, ()))
            return next((formula for formula in inner if isinstance(formula, kinds)), expr)
        return expr

    def _attention(
        self, weights: n.Softmax | n.Quotient, values: n.Name | None, layout: frozenset[str]
    ) -> Iterator[tuple[Symbol, Roles]]:
        """What the names in softmax(A Bᵀ / √c) D are for; without values only a division by a root shows attention."""
        arg = weights.arg if isinstance(weights, n.Softmax) else weights
        scores, sizes = self.scores(arg)
        if values is None and not (self._is_divided(arg) and isinstance(scores, n.Product)):
            return
        yield from ((size, (R.D_K,)) for size in sizes)
        yield from _between(scores)
        pair = _pair(scores, layout)
        if pair is None:
            if values is not None and isinstance(scores, n.Name):
                yield values.symbol, MIXED_SOMEHOW
                if scores == arg or self._is_divided(arg):
                    yield scores.symbol, DISTRIBUTED if scores == arg else (R.SCORES,)
            return
        query, key = pair
        mixed = values.symbol if values is not None else None
        if query == key and mixed in (key, None):
            yield query, (R.X, R.STATES)
            return
        if key == mixed:
            yield query, (R.SOURCE, R.Q, R.X)
            yield key, (R.STATES, R.K, R.X, R.Y)
            return
        made = ((query, R.Q, ASKING), (key, R.K, ASKED), (mixed, R.V, MIXED))
        projected: list[Symbol] = []
        for symbol, role, roles in made:
            if symbol is None:
                continue
            yield symbol, (role,) if symbol in self.stated else roles  # what is worked out before is no input
            for used, part in self._projection(symbol, role, layout != ROWS):
                if part is not R.X:
                    yield used, (part,)
                elif used not in self.stated:
                    projected.append(used)
        crossed = len(set(projected)) > 1  # one sequence asks another, whatever the two are called
        for used in dict.fromkeys(projected):
            itself = projected.count(used) > 1  # a sequence that asks itself is no single state
            yield used, ((R.X,) if used == projected[0] else (R.Y,)) if crossed else TOKENS[:3] if itself else TOKENS

    def _is_divided(self, arg: n.Expr) -> bool:
        """Whether what a softmax is taken of is divided by a root."""
        opened = self._opened(arg, n.Quotient, n.Product)
        below = opened.denominator if isinstance(opened, n.Quotient) else None
        scale = _scale(opened) if isinstance(opened, n.Product) else None
        return isinstance(below, n.Root) or (scale is not None and n.holds(scale, n.Root))

    def scores(self, arg: n.Expr) -> tuple[n.Expr, list[Symbol]]:
        """What a softmax is taken of, without scale and mask, and the names under the root that it is divided by."""
        sizes: list[Symbol] = []
        for _ in range(2 * DEPTH):
            arg = self._opened(arg, n.Quotient, n.Product, n.Mask, n.Sum)
            if isinstance(arg, n.Quotient):
                root = arg.denominator.arg if isinstance(arg.denominator, n.Root) else None
                sizes += [root.symbol] if isinstance(root, n.Name) else []
                arg = arg.numerator
            elif isinstance(arg, n.Sum):
                arg = arg.terms[0]
            elif isinstance(arg, n.Product) and (scale := _scale(arg)) is not None:
                sizes += n.names_in(scale)
                arg = _without_first(arg)
            else:
                break
        return arg, sizes

    def _projection(self, symbol: Symbol, role: Role, turned: bool) -> Iterator[tuple[Symbol, Role]]:
        """Tokens, weights and bias of what is stated to be a product of two names, perhaps with a bias."""
        made = self._opened(n.Name(symbol), n.Product, n.Sum)
        bias = made.terms[1] if isinstance(made, n.Sum) and len(made.terms) == 2 else None
        product = made.terms[0] if isinstance(made, n.Sum) else made
        if not isinstance(product, n.Product):
            return
        tokens, weights = (product.right, product.left) if turned else (product.left, product.right)
        if not isinstance(tokens, n.Name) or not isinstance(weights, n.Name) or tokens == weights:
            return
        yield tokens.symbol, R.X
        yield weights.symbol, WEIGHTS[role]
        if isinstance(bias, n.Name):
            yield bias.symbol, BIASES[role]


def _scale(product: n.Product) -> n.Expr | None:
    """The number that a product begins with: the 1/√c of 1/√c A Bᵀ."""
    first = product.left
    while isinstance(first, n.Product):
        first = first.left
    literal = n.is_literal(first) and not n.holds(first, n.Matrix)
    rooted = isinstance(first, n.Quotient) and n.is_literal(first.numerator) and isinstance(first.denominator, n.Root)
    return first if literal or rooted else None


def _without_first(product: n.Product) -> n.Expr:
    """A product without its first factor."""
    left = product.left
    return n.Product(_without_first(left), product.right) if isinstance(left, n.Product) else product.right


def _pair(scores: n.Expr, layout: frozenset[str]) -> tuple[Symbol, Symbol] | None:
    """The query and the key of a product that makes scores: A Bᵀ, aᵀ Bᵀ, or a M Bᵀ with a matrix between; with tokens
    as columns Bᵀ A, or Aᵀ B where weights are turned before they mix."""
    if not isinstance(scores, n.Product):
        return None
    left = scores.left.left if isinstance(scores.left, n.Product) else scores.left
    right = scores.right
    if (layout == ROWS) != isinstance(right, n.Transpose) or (layout != ROWS and not isinstance(left, n.Transpose)):
        return None
    sides = [side.arg if isinstance(side, n.Transpose) else side for side in (left, right)]
    names = [side.symbol for side in sides if isinstance(side, n.Name)]
    if len(names) < 2:
        return None
    return (names[1], names[0]) if layout == DOWN_KEYS else (names[0], names[1])


def _between(scores: n.Expr) -> Iterator[tuple[Symbol, Roles]]:
    """The weights of scores: M in a M Bᵀ; in vᵀ tanh(U Bᵀ + W a) all of v, U, W, and a and B too."""
    if not isinstance(scores, n.Product):
        return
    left = scores.left.arg if isinstance(scores.left, n.Transpose) else scores.left
    if isinstance(left, n.Product) and isinstance(left.right, n.Name) and isinstance(left.left, (n.Name, n.Transpose)):
        yield left.right.symbol, (R.W_A,)
    match scores.right:
        case n.Call("tanh", (n.Sum(terms),)) if isinstance(left, n.Name):
            yield left.symbol, (R.V_A,)
        case _:
            return
    for term in terms:
        if isinstance(term, n.Product) and isinstance(term.left, n.Name):
            many = isinstance(term.right, n.Transpose)
            other = term.right.arg if isinstance(term.right, n.Transpose) else term.right
            if isinstance(other, n.Name):
                yield term.left.symbol, (R.U_A if many else R.W_A,)
                yield other.symbol, (R.STATES if many else R.SOURCE,)
