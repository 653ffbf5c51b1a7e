"""From what was gathered to a Spec: layout, names, and what scores are divided by."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.loop import evaluated
from qkv.interpret.shapes import Shapes
from qkv.program.model import Given
from qkv.program.spec import Key, Scale, Score, Spec, default_symbol
from qkv.records import replace
from qkv.understand.formulas import BIAS_OF
from qkv.understand.gathering import Gathering
from qkv.understand.masks import mask_of
from qkv.understand.places import place_of

R = Role


def to_spec(found: Gathering, title: str, line: int) -> Spec:
    """The Spec of a gathering."""
    shapes = _shapes(found)
    columns = _is_columns(found, shapes)
    scale, divisor, notes = _scale(found, shapes, columns)
    used = {key: given for key, given in found.givens.items() if key[0] is not R.OTHER}
    used.update(_lying(used, columns))
    if mask := mask_of(found, shapes):
        used[R.MASK, None] = mask.given
        notes = (*notes, *([mask.note] if mask.note else ()))
    split, cut_notes = _split(found, shapes, columns)
    turned, layout_notes = _layout(found, shapes, columns)
    return Spec(
        givens=used,
        shapes=shapes,
        split=split,
        first_head=0 if any(head == 0 for _, head in found.names) else 1,
        groups=_groups(used),
        scale=scale,
        divisor=divisor,
        causal=found.causal and (found.hides_future or _is_square(shapes)),
        plain_sum=found.plain_sum,
        mask_truth=mask.truth if mask else found.mask_truth,
        score=_score(found),
        values_from=_third_sequence(found),
        columns=columns,
        turned=turned,
        keys_first=found.keys_first and columns,
        names=_names(found),
        title=title,
        line=line,
        notes=(*found.notes, *notes, *cut_notes, *layout_notes),
    )


def _shapes(found: Gathering) -> dict[Key, tuple[int, int]]:
    return {key: shape for key, given in found.givens.items() if (shape := shape_of_given(found, given))}


def takes_columns(found: Gathering) -> bool:
    """Whether tokens are taken as columns."""
    return _is_columns(found, _shapes(found))


def _groups(used: dict[Key, Given]) -> dict[int, int]:
    """Grouped queries: with 4 query heads and 2 key heads, heads 1 and 2 share the first keys, 3 and 4 the second."""
    queries = sorted({h for role, h in used if role in (R.Q, R.W_Q) and h is not None})
    own = sorted({h for role, h in used if role in (R.K, R.V, R.W_K, R.W_V) and h is not None})
    if not 1 < len(own) < len(queries) or len(queries) % len(own):
        return {}
    size = len(queries) // len(own)
    return {head: own[i // size] for i, head in enumerate(queries)}


def _lying(used: dict[Key, Given], columns: bool) -> dict[Key, Given]:
    """A bias has a number for each feature, so it lies as tokens do, however it is written: a square takes both."""
    return {
        key: replace(given, expr=n.Matrix(tuple(zip(*given.expr.rows, strict=True)), at=given.expr.at))
        for key, given in used.items()
        if key[0] in BIAS_OF and isinstance(given.expr, n.Matrix) and given.expr.shape[0 if columns else 1] == 1
        if not given.expr.is_ragged
    }


def _split(found: Gathering, shapes: dict[Key, tuple[int, int]], columns: bool) -> tuple[int | None, tuple[str, ...]]:
    """How many heads the big matrices are cut into, and why not where their width does not allow it."""
    heads, axis = found.split, 0 if columns else 1
    if heads is None or any(head is not None for _, head in found.givens):
        return None, ()
    wide = (R.Q, R.K, R.V, R.W_Q, R.W_K, R.W_V)
    odd = next((key for key, shape in shapes.items() if key[0] in wide and shape[axis] % heads), None)
    if odd is None:
        return heads, ()
    name, width = found.givens[odd].spelled, shapes[odd][axis]
    return None, (f"{heads} heads are spoken of, but {name} has {width} numbers a token and cannot be cut so.",)


def _score(found: Gathering) -> Score:
    roles = {role for role, _ in found.givens}
    if found.cosine:
        return Score.COSINE
    if {R.W_A, R.U_A, R.V_A} <= roles:
        return Score.ADDITIVE
    return Score.GENERAL if R.W_A in roles else Score.DOT


def _third_sequence(found: Gathering) -> Symbol | None:
    """What the values are projected from, where formulas give them another sequence than the keys."""
    values = found.sources.get(R.V)
    return values if values in found.others and (R.Y, None) in found.givens else None


def shape_of_given(found: Gathering, given: Given) -> tuple[int, int] | None:
    if isinstance(given.expr, n.Matrix):
        return given.expr.shape
    if isinstance(given.expr, n.Concat) and all(isinstance(x, (n.Name, n.Transpose)) for x in given.expr.parts):
        first = next((g for g in found.tokens.values() if g.role is given.role), None)
        if first and isinstance(first.expr, n.Matrix):
            return len(given.expr.parts), max(first.expr.shape)
    if isinstance(given.expr, n.Name):  # Q = X, with an X of rows that are given one by one
        named = next((g for g in found.givens.values() if g.symbol == given.expr.symbol), None)
        if named is not None and not isinstance(named.expr, n.Name):
            return shape_of_given(found, named)
    known = {g.symbol: g.expr.shape for g in (*found.others.values(), *found.tokens.values(), *found.givens.values())
             if isinstance(g.expr, n.Matrix)}  # fmt: skip
    return evaluated(given.expr, known, Shapes())


def _is_square(shapes: dict[Key, tuple[int, int]]) -> bool:
    """Whether there may be as many queries as keys: 'masked' alone means another mask where there are not."""
    queries, keys = shapes.get((R.Q, None)), shapes.get((R.K, None))
    return queries is None or keys is None or queries[0] == keys[0]


def _is_columns(found: Gathering, shapes: dict[Key, tuple[int, int]]) -> bool:
    """Tokens are columns if formulas or words say so and the shapes allow it, or if only that fits."""
    if not _columns_fit(shapes):
        return False
    x = shapes[R.X, None]
    rows_fit = all(shape[0] == x[1] for (role, _), shape in shapes.items() if role in (R.W_Q, R.W_K, R.W_V))
    return found.columns or found.said_columns or not rows_fit


def _layout(found: Gathering, shapes: dict[Key, tuple[int, int]], columns: bool) -> tuple[bool, tuple[str, ...]]:
    """Whether the weights are to be transposed, and what is to be said where the usual X W does not fit."""
    x = shapes.get((R.X, None))
    weights = {key: shape for key, shape in shapes.items() if key[0] in (R.W_Q, R.W_K, R.W_V)}
    if x is None or not weights or all(shape[0] == x[1] for shape in weights.values()):
        return False, ()
    first = found.givens[next(iter(weights))].spelled
    name = found.givens[R.X, None].spelled
    if columns:
        if found.columns or found.said_columns:
            return False, ()
        return False, (f"{name} {first} does not fit, {first} {name} does: the tokens are taken as columns.",)
    if all(shape[1] == x[1] for shape in weights.values()):
        return True, (f"{name} {first} does not fit, {name} {first}ᵀ does: the weights are transposed.",)
    return False, ()


def _columns_fit(shapes: dict[Key, tuple[int, int]]) -> bool:
    x = shapes.get((R.X, None))
    weights = [shape for (role, _), shape in shapes.items() if role in (R.W_Q, R.W_K, R.W_V)]
    return x is not None and bool(weights) and all(shape[1] == x[0] for shape in weights)


def _names(found: Gathering) -> dict[Key, Symbol]:
    """The sheet's own names for what is worked out, each symbol for one role only."""
    heads = {head for _, head in found.givens if head is not None}
    names: dict[Key, Symbol] = {}
    taken = {given.symbol for given in found.givens.values()}
    for (role, head), symbol in found.names.items():
        key = (R.HEAD, head) if role is R.OUTPUT and head is not None and heads else (role, head)
        whole = found.split is not None and head is not None and not symbol.indices  # K, said beside 'head 2'
        if key not in names and symbol not in taken and key not in found.givens and not whole:
            names[key] = symbol
            taken.add(symbol)
    for role, spare in SPARE_BASES.items():
        for head in (*heads, None):
            if (role, head) not in names and default_symbol(role, head) in taken:
                names[role, head] = default_symbol(role, head)._replace(base=spare)
    return names


# Letters to fall back on where a sheet uses the usual one for something else.
SPARE_BASES = {R.SCORES: "Scores", R.SCALED: "Scaled", R.MASKED: "Masked", R.WEIGHTS: "Weights", R.HEAD: "Head"}


def _scale(
    found: Gathering, shapes: dict[Key, tuple[int, int]], columns: bool
) -> tuple[Scale, n.Expr | None, tuple[str, ...]]:
    """The sheet's own formula wins; where it gives none, scores are divided by √d_k, and that is said."""
    if (number := _defined_divisor(found, shapes, columns)) is not None:
        return Scale.GIVEN, number, (f"Scores are divided by {plain(number)}, as the sheet says.",)
    if found.divisors and not (found.unscaled and _are_settings(found.divisors)):
        return _given_scale(found)
    if found.said_scaled and not found.unscaled and not found.looks_unscaled:
        return _given_scale(found)
    ready = any((role, None) in found.givens for role in (R.SOURCE, R.SCORES, R.SCALED, R.MASKED))
    if found.unscaled or found.looks_unscaled or found.cosine or ready:
        return Scale.NONE, None, ()
    return Scale.ROOT_DK, None, ("The sheet does not say how scores are scaled; they are divided by √d_k.",)


def _are_settings(divisors: list[n.Expr]) -> bool:
    """softmax(l/2), softmax(l/0.5): temperatures that are tried, beside scores that are said to be unscaled."""
    return all(isinstance(divisor, n.Number) for divisor in divisors) and len(set(divisors)) > 1


def _defined_divisor(found: Gathering, shapes: dict[Key, tuple[int, int]], columns: bool) -> n.Expr | None:
    """The number that the sheet defines scores to be divided by, where it is not √d_k in numbers."""
    keys, weights = shapes.get((R.K, None)), shapes.get((R.W_K, None))
    axis = 0 if columns else 1
    size = keys[axis] if keys else weights[axis] if weights else None
    numbers = set(found.defining)
    symbolic = any(not n.is_literal(divisor) for divisor in found.divisors)
    if len(numbers) != 1 or symbolic or size is None or R.D_K in found.sizes:
        return None
    number = numbers.pop()
    usual = number in (n.Root(n.number(size)), n.number(size)) or _square(number) == size
    return None if usual else number


def _square(number: n.Expr) -> Fraction | None:
    """The number under a root, or the square of a plain one."""
    if isinstance(number, n.Root):
        return number.arg.value if isinstance(number.arg, n.Number) else None
    return number.value**2 if isinstance(number, n.Number) else None


def _given_scale(found: Gathering) -> tuple[Scale, n.Expr | None, tuple[str, ...]]:
    stated = found.sizes.get(R.D_K)
    for divisor in found.divisors:
        if isinstance(divisor, n.Name):
            return Scale.GIVEN, divisor, ()  # a temperature; without a value nothing after it can be worked out
        if not n.is_literal(divisor):
            named = [place_of(symbol).roles for symbol in n.names_in(divisor)]
            if named and named[0][:1] == (R.D_MODEL,):
                return Scale.GIVEN, _root_of(found.sizes.get(R.D_MODEL)) or divisor, ()
            return Scale.ROOT_DK, _root_of(stated), ()
    return Scale.ROOT_DK, _root_of(stated), ()


def _root_of(size: n.Number | None) -> n.Expr | None:
    return n.Root(n.number(int(size.value))) if size is not None else None


def stated_names(found: Gathering) -> Iterator[Given]:
    """Everything printed that is no part of the plan, such as W^{UK}."""
    yield from found.tokens.values()
    yield from found.others.values()
