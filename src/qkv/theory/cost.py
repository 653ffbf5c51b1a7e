"""What a program costs: operations by step and in total, memory with and without tiles, parameters and the KV cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from qkv.errors import NameUnknownError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain as expression
from qkv.expr.show import symbol_plain
from qkv.interpret.counts import Operations, Size, SizePair, area
from qkv.interpret.loop import worked
from qkv.program.block import with_block
from qkv.program.kinds import plan
from qkv.program.model import Given, Program, Step
from qkv.program.spec import GROUPED, LEARNED, Key, Scale, Score, Spec, default_symbol
from qkv.theory.cost_kinds import AROUND, KINDS, ONCE, PER_HEAD, SHAPES, Kind
from qkv.theory.polynomial import CONTEXT, NAMES, ONE, SYMBOL, ZERO, constant, fraction, number, polynomial, substitute
from qkv.theory.sizes import Convention, Counting, changed

S = SYMBOL
TILE = 64  # scores are worked out in tiles of so many queries by so many keys
INSIDE_TILES = frozenset({Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS})
CACHED = frozenset({Role.K, Role.V, Role.STATES})
PROJECTIONS = frozenset({Role.Q, Role.K, Role.V, Role.W_O})
HEAD = 1  # the one head that is written out; it stands for h


class CostStep(NamedTuple):
    """One step: what it makes, and how many operations that takes (all heads together)."""

    name: str
    formula: str
    role: Role
    shape: SizePair
    counts: Operations
    times: Size  # how many heads do this
    held: Size  # numbers that it leaves in memory, all heads together; none for a part of another matrix
    projection: bool


class Cost(NamedTuple):
    """What a program costs, as polynomials in the sizes that are left open."""

    kind: str
    convention: Convention
    steps: tuple[CostStep, ...]
    parameters: Size
    kv_cache: Size  # numbers kept for each layer: keys and values of all tokens
    tile: Size

    @property
    def total(self) -> Operations:
        """All steps together."""
        return _sum(step.counts for step in self.steps)

    @property
    def projections(self) -> Operations:
        """The products with weights: Q, K, V and the output."""
        return _sum(step.counts for step in self.steps if step.projection)

    @property
    def attention(self) -> Operations:
        """Scores, softmax and weighted sums."""
        return _sum(s.counts for s in self.steps if not s.projection and s.role is not Role.BLOCK)

    @property
    def around(self) -> Operations:
        """Everything around attention: norms, residual sums, the feed-forward layer, logits."""
        return _sum(step.counts for step in self.steps if step.role is Role.BLOCK)

    @property
    def stored(self) -> Size:
        """Numbers held if every matrix is kept."""
        return sum((step.held for step in self.steps), ZERO)

    @property
    def tiled(self) -> Size:
        """Numbers held if scores and weights exist only a tile at a time, with a running maximum and sum a row."""
        return sum((step.held for step in self.steps if step.role not in INSIDE_TILES), self.tile)

    def step(self, role: Role) -> CostStep | None:
        """The (first) step of a role."""
        return next((step for step in self.steps if step.role is role), None)

    def changed(self, change: Callable[[Size], Size]) -> Cost:
        """Every polynomial passed through a function."""
        steps = tuple(
            step._replace(
                shape=(change(step.shape[0]), change(step.shape[1])),
                counts=changed(step.counts, change),
                times=change(step.times),
                held=change(step.held),
            )
            for step in self.steps
        )
        return self._replace(
            steps=steps,
            parameters=change(self.parameters),
            kv_cache=change(self.kv_cache),
            tile=change(self.tile),
        )

    def at(self, **sizes: int) -> Cost:
        """The cost with numbers for some sizes."""
        return self.changed(lambda size: substitute(size, sizes))


def _sum(counts: Iterable[Operations]) -> Operations:
    return changed(sum(counts, Operations()), polynomial)


def program_of(kind: Kind, scaled: bool = True, causal: bool = False) -> Program:
    """The program of a kind, its givens named and not filled in; of several heads one is written out."""
    givens: dict[Key, Given] = {}
    for role in kind.roles:
        head = HEAD if kind.heads and role in PER_HEAD else None
        symbol = default_symbol(role, head)
        givens[role, head] = Given(symbol, n.Matrix(()), role, str(symbol), head)
    # Any size: it only fills in d_k, which is not used here; but a source is one vector.
    shapes = {(role, head): (2, 1) if role is Role.SOURCE else (2, 2) for role, head in givens}
    scale = Scale.ROOT_DK if scaled else Scale.NONE
    program = plan(Spec(givens, shapes, scale=scale, causal=causal, score=kind.score))
    return with_block(program, kind.around) if kind.around else program


def cost(
    kind: str = "attention",
    *,
    scaled: bool = True,
    causal: bool = False,
    convention: Convention = Convention.TEXTBOOK,
    shared_width: bool = True,
    sizes: Mapping[str, int | None] | None = None,
) -> Cost:
    """The cost of a kind of attention, in symbols or for sizes by name: n, n_q, n_k, d, d_k, d_v, h.

    Heads share the width, d_k = d_v = d/h, unless sizes say otherwise or `shared_width` is False.

    >>> from qkv.theory.polynomial import plain
    >>> plain(cost().total.multiplications), plain(cost("multi-head").total.multiplications)
    ('n_q n_k (d_k + d_v)', '4 n d² + 2 n² d')
    """
    if kind not in KINDS:
        raise NameUnknownError(f"The kind {kind!r} is unknown; there are {', '.join(KINDS)}.")
    given = {name: size for name, size in (sizes or {}).items() if size is not None}
    _check(given)
    if not given:
        return _in_symbols(kind, scaled, causal, convention, shared_width)
    return _sized(_counted(kind, scaled, causal, convention), KINDS[kind], given, shared_width)


# In symbols there are only so many costs, and sheets ask for the same ones again and again.
@cache
def _in_symbols(kind: str, scaled: bool, causal: bool, convention: Convention, shared_width: bool) -> Cost:
    return _sized(_counted(kind, scaled, causal, convention), KINDS[kind], {}, shared_width)


@cache
def _counted(kind: str, scaled: bool, causal: bool, convention: Convention) -> Cost:
    chosen = KINDS[kind]
    algebra = Counting(convention, S["h"] if chosen.heads else ONE, S["kv_heads"] if chosen.around else None)
    program = program_of(chosen, scaled, causal)
    known = {item.symbol: AROUND.get(item.spelled) or _shape_of(item.role, chosen) for item in program.givens}
    counted = _count(program, algebra, known, S["layers"] if "E" in chosen.around else ONE)
    return counted._replace(kind=f"{'causal ' if causal else ''}{chosen.says}")


def _check(sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if name not in NAMES:
            known = ", ".join(name for name in NAMES if name not in ("mu", "sigma", "s"))
            raise NameUnknownError(f"The size {name!r} is unknown; there are {known}.")
        if size < 1:
            raise ValueRefused(f"{name} = {size}: a size must be a positive whole number.")


def _shape_of(role: Role, kind: Kind) -> SizePair:
    if role is Role.W_A and kind.score is Score.GENERAL:
        return S["d"], S["d"]
    return SHAPES[role]


def _sized(cost: Cost, kind: Kind, given: Mapping[str, int], shared_width: bool) -> Cost:
    """Sizes that are tied to each other put together: one sequence has one length, heads share the width."""
    ties: dict[str, Size | int] = {}
    if kind.one_sequence:
        length = constant(given["n"]) if "n" in given else S["n"]
        ties = {"n_q": length, "n_k": length}
    elif "n" in given:
        ties = {"n_q": given["n"], "n_k": given["n"]}
    ties |= {name: size for name, size in given.items() if name != "n"}
    if kind.around and "kv_heads" not in given:
        cost = cost.changed(lambda size: substitute(size, {"kv_heads": S["h"]}))
    if kind.heads and shared_width and not {"d_k", "d_v"} & set(given):
        if "d" in given and "h" in given:
            width, rest = divmod(given["d"], given["h"])
            if rest:
                raise ValueRefused(f"d = {given['d']} cannot be cut into {given['h']} heads of equal width.")
            ties |= {"d_k": width, "d_v": width}
        else:
            cost = cost.changed(_shared_width)
    return _small_tile(cost.changed(lambda size: substitute(size, ties)))


def _shared_width(size: Size) -> Size:
    """h heads of width d_k = d_v = d/h; stays as it is where that would leave a fraction."""
    h, d, d_k, d_v = (NAMES.index(name) for name in ("h", "d", "d_k", "d_v"))
    terms: dict[tuple[int, ...], object] = {}
    for exponents, coefficient in size.to_dict().items():
        powers = [int(power) for power in exponents]
        width = powers[d_k] + powers[d_v]
        if powers[h] < width:
            return size
        powers[h], powers[d], powers[d_k], powers[d_v] = powers[h] - width, powers[d] + width, 0, 0
        terms[tuple(powers)] = terms.get(tuple(powers), 0) + coefficient
    return CONTEXT.from_dict(terms)


def _small_tile(cost: Cost) -> Cost:
    """A tile is no larger than the scores, where their size is known."""
    scores = cost.step(Role.SCORES)
    if scores is None:
        return cost
    rows, columns = (min(TILE, number(size) or TILE) for size in scores.shape)
    return cost._replace(tile=constant(rows * columns + 2 * rows))


def program_cost(program: Program, convention: Convention = Convention.TEXTBOOK) -> Cost:
    """The cost of a program whose givens have their values, such as a sheet's."""
    return _small_tile(_count(program, Counting(convention), None))


def _count(program: Program, algebra: Counting, known: Mapping[Symbol, SizePair] | None, layers: Size = ONE) -> Cost:
    roles = {item.symbol: item.role for item in program.givens}
    steps: list[CostStep] = []
    sizes: list[tuple[Given | Step, Size]] = []
    for item, shape in worked(program, algebra, known):
        spent = algebra.take()
        times = _times(item, algebra) * (ONE if item.spelled in ONCE else layers)
        sizes.append((item, polynomial(area(shape)) * times))
        if isinstance(item, Step):
            uses = {roles.get(symbol) for symbol in n.names_in(item.expr)}
            steps.append(_step(item, shape, spent, times, uses))
    return Cost(
        program.kind,
        algebra.convention,
        tuple(steps),
        parameters=sum((size for item, size in sizes if item.role in LEARNED), ZERO),
        kv_cache=sum((size for item, size in sizes if item.role in CACHED and not _is_cut(item)), ZERO),
        tile=constant(TILE**2 + 2 * TILE),
    )


def _times(item: Given | Step, algebra: Counting) -> Size:
    """How many heads an item stands for; of keys and values there are as many as there are groups."""
    if item.head is None:
        return ONE
    shared = item.role in GROUPED and algebra.groups is not None
    return polynomial(algebra.groups if shared else algebra.heads)


def _is_cut(item: Given | Step) -> bool:
    return isinstance(item.expr, n.Entry)


def _step(step: Step, shape: SizePair, spent: Operations, times: Size, uses: set[Role | None]) -> CostStep:
    any_head = step if times == 1 else _any_head(step)
    formula = expression(any_head.expr)
    if step.role is Role.CONCAT and len(n.names_in(step.expr)) == 1:
        formula = "Concat(Z_1, …, Z_h)"
    return CostStep(
        symbol_plain(any_head.symbol),
        formula,
        step.role,
        (polynomial(shape[0]), polynomial(shape[1])),
        changed(spent, lambda count: count * times),
        times,
        held=ZERO if _is_cut(step) else polynomial(area(shape)) * times,
        projection=step.role in PROJECTIONS or Role.W_O in uses,
    )


def _any_head(step: Step) -> Step:
    """Head 1 stands for every head i."""

    def general(symbol: Symbol) -> Symbol:
        return symbol._replace(indices=tuple("i" if index == str(HEAD) else index for index in symbol.indices))

    def change(node: n.Expr) -> n.Expr:
        return n.Name(general(node.symbol)) if isinstance(node, n.Name) else node

    return replace(step, symbol=general(step.symbol), expr=n.rewrite(step.expr, change))


class Crossing(NamedTuple):
    """From how many tokens on attention takes more multiplications than the projections."""

    tokens: Fraction | None  # None where a size is open
    formula: Size | None  # None where it is no polynomial


def crossing(cost: Cost) -> Crossing | None:
    """Where projections (∝ n) and attention (∝ n²) cost the same, for a cost with n open; None where one is missing.

    >>> from qkv.theory.polynomial import plain
    >>> plain(crossing(cost("multi-head")).formula)
    '2 d'
    """
    linear, square = cost.projections.multiplications * S["n"], cost.attention.multiplications
    if not linear or not square or linear.is_constant():
        return None
    quotient, rest = divmod(linear, square)
    if not rest:
        return Crossing(fraction(quotient), quotient)
    top, bottom = (number(substitute(part, {"n": 1})) for part in (linear, square))
    return Crossing(Fraction(top, bottom) if top and bottom else None, None)
