"""Costs against formulas that courses print, and against counting the operations one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv
from qkv.errors import NameUnknownError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret import fit
from qkv.interpret.loop import worked
from qkv.program.model import Step
from qkv.theory.cost import cost, crossing, program_cost
from qkv.theory.cost_kinds import KINDS
from qkv.theory.polynomial import SYMBOL, leading, number, plain, polynomial
from qkv.theory.sizes import Convention, all_together, listed

n_q, n_k, d_k, d_v, N, D, h = (SYMBOL[name] for name in ("n_q", "n_k", "d_k", "d_v", "n", "d", "h"))


def test_scaled_dot_product_attention():
    total = cost().total
    assert total.multiplications == n_q * n_k * (d_k + d_v)
    assert total.additions == n_q * (n_k * (d_k + d_v) - d_v - 1)
    assert total.divisions == 2 * n_q * n_k
    assert total.exponentials == n_q * n_k
    assert plain(leading(total.multiplications)) == "n_q n_k (d_k + d_v)"


def test_multi_head_self_attention():
    total = cost("multi-head").total
    assert total.multiplications == 4 * N * D**2 + 2 * N**2 * D
    assert total.additions == 4 * N * D * (D - 1) + N**2 * (D - h) + N * (N - 1) * D + h * N * (N - 1)
    assert cost("multi-head").parameters == 4 * D**2
    assert cost("multi-head").kv_cache == 2 * N * D
    assert crossing(cost("multi-head")).formula == 2 * D


def test_the_numbers_of_a_layer():
    sizes = {"n": 128, "d": 512, "h": 8}
    layer = cost("multi-head", sizes=sizes)
    assert number(layer.parameters) == 1_048_576
    scores = layer.step(Role.SCORES)
    assert number(scores.held) == 131_072
    assert number(scores.counts.multiplications) == 8_388_608


def test_the_small_example():
    total = cost(sizes={"n_q": 2, "n_k": 3, "d_k": 2, "d_v": 3}).total
    counts = [number(polynomial(x)) for x in (total.multiplications, total.additions, total.divisions)]
    assert counts == [30, 22, 12]


def test_flops_of_a_product_are_two_for_each_multiplication():
    scores = cost(convention=Convention.FLOPS).step(Role.SCORES)
    assert all_together(scores.counts) == 2 * n_q * n_k * d_k


@pytest.mark.parametrize("kind", KINDS)
def test_symbols_and_numbers_agree(kind):
    sizes = {"n": 5, "d": 6, "h": 3, "d_k": 2, "d_v": 4}
    if not KINDS[kind].one_sequence:
        sizes |= {"n_q": 4, "n_k": 7}
        del sizes["n"]
    numbers = cost(kind, sizes=sizes)
    symbols = cost(kind, sizes={"d_k": 2, "d_v": 4}).at(**sizes, **({"n": 5} if "n" not in sizes else {}))
    assert listed(numbers.total) == listed(symbols.total)
    assert numbers.stored == symbols.stored
    assert numbers.parameters == symbols.parameters


def test_crossing():
    assert crossing(cost("multi-head", sizes={"d": 768, "h": 12})).tokens == 1536
    assert crossing(cost("self", sizes={"d": 10, "d_k": 3, "d_v": 5})).tokens == Fraction(10 * (3 + 3 + 5), 3 + 5)
    assert crossing(cost()) is None
    layer = cost("multi-head", sizes={"n": 1536, "d": 768, "h": 12})
    assert layer.projections.multiplications == layer.attention.multiplications


def test_tiles_hold_no_scores():
    layer = cost("multi-head", sizes={"n": 4096, "d": 64, "h": 4})
    assert number(layer.stored) > 4 * 3 * 4096**2
    assert number(layer.tiled) < 10 * 4096 * 64
    assert number(cost(sizes={"n": 8, "d_k": 4, "d_v": 4}).tile) == 8 * 8 + 2 * 8


@pytest.mark.parametrize(
    "kind, sizes, words",
    [
        ("attention", {"n_q": 0}, "positive"),
        ("attention", {"d_k": -3}, "positive"),
        ("multi-head", {"d": 10, "h": 3}, "equal width"),
    ],
)
def test_sizes_that_make_no_sense(kind, sizes, words):
    with pytest.raises(ValueRefused, match=words):
        cost(kind, sizes=sizes)


def test_unknown_kinds_and_sizes():
    with pytest.raises(NameUnknownError, match="multi-head"):
        cost("hyper")
    with pytest.raises(NameUnknownError, match="d_k"):
        cost(sizes={"depth": 3})


# --- the oracle: numbers that write down each operation done to them


class Tally:
    """Counts of operations."""

    def __init__(self):
        self.done = dict.fromkeys(("multiplications", "additions", "divisions", "exponentials", "comparisons"), 0)

    def take(self):
        done, self.done = self.done, dict.fromkeys(self.done, 0)
        return done


class Counted:
    """A float that counts what is done with it."""

    def __init__(self, value, tally):
        self.value, self.tally = value, tally

    def _did(self, sort, value):
        self.tally.done[sort] += 1
        return Counted(value, self.tally)

    def __add__(self, other):
        return self._did("additions", self.value + other.value)

    def __mul__(self, other):
        return self._did("multiplications", self.value * other.value)

    def __truediv__(self, other):
        return self._did("divisions", self.value / other.value)

    def __gt__(self, other):
        self.tally.done["comparisons"] += 1
        return self.value > other.value

    def exp(self):
        return self._did("exponentials", math.exp(min(self.value, 50)))


def total_of(values):
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


class OneByOne:
    """Attention in the most pedestrian way: lists of counted floats."""

    def __init__(self, tally):
        self.tally = tally

    def number(self, node: n.Number):
        return [[Counted(float(node.value), self.tally)]]

    def table(self, matrix):
        return self.stack([[self.number(cell) for cell in row] for row in matrix.rows])

    def stack(self, rows):
        return [[cell for block in row for cell in block[0]] for row in rows]

    def add(self, a, b):
        if len(b) == 1:
            b = b * len(a)
        if len(b[0]) == 1:
            b = [row * len(a[0]) for row in b]
        return [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]

    def multiply(self, a, b):
        columns = list(zip(*b, strict=True))
        return [[total_of([x * y for x, y in zip(r, c, strict=True)]) for c in columns] for r in a]

    def divide(self, a, b):
        return [[x / b[0][0] for x in row] for row in a]

    def root(self, a):
        return [[Counted(math.sqrt(x.value), self.tally) for x in row] for row in a]

    def apply(self, function, args):
        return [[Counted(function.floats(x.value), self.tally) for x in row] for row in args[0]]

    def transpose(self, a):
        return [list(column) for column in zip(*a, strict=True)]

    def softmax(self, a, axis):
        assert fit.along((len(a), len(a[0])), axis) == 1
        for row in a:
            largest = row[0]
            for x in row[1:]:
                largest = x if x > largest else largest
        powers = [[x.exp() for x in row] for row in a]
        return [[x / total for x in row] for row, total in ((row, total_of(row)) for row in powers)]

    def concat(self, parts, axis):
        if axis:
            return [[x for row in rows for x in row] for rows in zip(*parts, strict=True)]
        return [row for part in parts for row in part]

    def mask(self, a, pattern, truth):
        return a if pattern is None or truth else self.add(a, pattern)


def filled(rows, columns):
    return [[(3 * i + 5 * j) % 7 - 3 for j in range(columns)] for i in range(rows)]


size = st.integers(1, 5)


def one_by_one(program):
    tally = Tally()
    for item, _ in worked(program, OneByOne(tally)):
        done = tally.take()
        if isinstance(item, Step):
            yield done


def agrees(program):
    counted = [dict(listed(step.counts)) for step in program_cost(program).steps]
    for expected, found in zip(one_by_one(program), counted, strict=True):
        for sort, times in expected.items():
            assert number(polynomial(found.get(sort, 0))) == times, (sort, program.kind)


@settings(max_examples=40, deadline=None)
@given(size, size, size, size, st.sampled_from([None, "causal"]))
def test_given_matrices_counted_one_by_one(queries, keys, dk, dv, mask):
    keys = max(keys, queries) + 1  # more than one key; no query masked everywhere
    solution = qkv.work(Q=filled(queries, dk), K=filled(keys, dk), V=filled(keys, dv), mask=mask)
    agrees(solution.traces[0].program)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), size, size, size, st.integers(2, 3))
def test_heads_counted_one_by_one(tokens, d, dk, dv, heads):
    solution = qkv.work(
        X=filled(tokens, d),
        W_Q=[filled(d, dk)] * heads,
        W_K=[filled(d, dk)] * heads,
        W_V=[filled(d, dv)] * heads,
        W_O=filled(heads * dv, d),
    )
    program = solution.traces[0].program
    agrees(program)
    symbols = cost("multi-head", sizes={"n": tokens, "d": d, "d_k": dk, "d_v": dv, "h": heads})
    assert listed(symbols.total) == listed(program_cost(program).total)


@pytest.mark.parametrize(
    "kind, extra",
    [
        ("dot", {}),
        ("general", {"W_a": filled(3, 3)}),
        ("additive", {"W_a": filled(2, 3), "U_a": filled(2, 3), "v_a": filled(2, 1)}),
    ],
)
def test_one_source_vector(kind, extra):
    solution = qkv.work(s=[[1], [2], [1]], h=filled(4, 3), **extra)
    program = solution.traces[0].program
    agrees(program)
    assert listed(program_cost(program).total) == listed(cost(kind, sizes={"n_k": 4, "d": 3, "d_k": 2}).total)


BLOCKS = {
    "block": "4 d² + 2 d d_ff",
    "block-with-biases": "4 d² + 2 d d_ff + 9 d + d_ff",
    "model": "d (4 L d + 2 L d_ff + V)",
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_parameters_of_blocks_and_models(kind):
    assert plain(cost(kind).parameters) == BLOCKS[kind]


def test_models_as_they_are_published():
    """GPT-2: 124,439,808 parameters, of which the table of 1024 positions has 786,432."""
    small = {"n": 1024, "d": 768, "h": 12, "d_ff": 3072, "layers": 12, "words": 50257}
    counted = cost("model-with-biases", sizes=small)
    assert number(counted.parameters) == 124_439_808 - 1024 * 768
    assert number(counted.kv_cache) == 2 * 12 * 1024 * 768


def test_groups_share_keys_and_values():
    """A layer of Llama 3 8B: 32 heads of 128, 8 groups; 1,024 numbers of keys and as many of values for each token."""
    sizes = {"n": 1, "d": 4096, "h": 32, "kv_heads": 8, "d_ff": 14336, "layers": 32, "words": 128256}
    assert number(cost("model", sizes=sizes).kv_cache) == 2 * 32 * 1024
    assert number(cost("block", sizes=sizes).parameters) == 2 * 4096 * 4096 + 2 * 4096 * 1024 + 2 * 4096 * 14336


def test_a_block_costs_what_its_steps_cost():
    """The symbolic count at sizes is the count of a worked block of that size."""
    ones = lambda rows, columns: [[1] * columns] * rows  # noqa: E731
    given = {"X": [[1, 2], [3, 5], [0, 1]], "W_O": ones(4, 2), "W_1": ones(2, 3), "W_2": ones(3, 2)}
    lists = {name: [ones(2, 2)] * 2 for name in ("W_Q", "W_K", "W_V")}
    worked = qkv.work(**given, **lists, norm="pre", eps=1).cost().total
    counted = cost("block", sizes={"n": 3, "d": 2, "h": 2, "d_k": 2, "d_v": 2, "d_ff": 3}).total
    assert {f: number(getattr(counted, f)) for f in ("multiplications", "exponentials", "divisions")} == {
        f: getattr(worked, f) for f in ("multiplications", "exponentials", "divisions")
    }
