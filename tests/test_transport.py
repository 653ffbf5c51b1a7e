"""Earth mover's distance against SciPy's linear program, brute force and the laws that hold."""

from __future__ import annotations

import builtins
import itertools
import time
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.errors import LimitError, MissingExtra, ShapeError, ValueRefused
from qkv.transport import Distribution, Move, transport
from qkv.transport.entropic import one_sided, sinkhorn
from qkv.transport.exact import decimals, rational, root, sign, to_float

linprog = pytest.importorskip("scipy.optimize").linprog


def least_cost(a, b, C):
    """The oracle: the whole linear program in floats."""
    m, n = C.shape
    equations = np.zeros((m + n, m * n))
    for i in range(m):
        equations[i, i * n : (i + 1) * n] = 1
    for j in range(n):
        equations[m + j, j::n] = 1
    return linprog(C.ravel(), A_eq=equations, b_eq=[*a, *b]).fun


def integer_plans(supply, demand):
    """Every integer plan, by filling the first cell with every amount."""
    if not supply:
        return [()] if not any(demand) else []
    head, *rest = supply
    plans = []
    for row in itertools.product(*(range(min(head, d) + 1) for d in demand)):
        if sum(row) == head:
            plans += [(row, *more) for more in integer_plans(rest, [d - r for d, r in zip(demand, row, strict=True)])]
    return plans


@st.composite
def balanced(draw, most_points=5, most_mass=4):
    a = draw(st.lists(st.integers(0, most_mass), min_size=1, max_size=most_points))
    b = draw(st.lists(st.integers(0, most_mass), min_size=1, max_size=most_points))
    a[0] += max(0, sum(b) - sum(a)) + (sum(a) + sum(b) == 0)
    b[0] += max(0, sum(a) - sum(b))
    d = draw(st.integers(1, 3))
    points = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
    return Distribution.of(a, [draw(points) for _ in a]), Distribution.of(b, [draw(points) for _ in b])


def cost_of(result, plan: tuple[Move, ...]):
    total = result.costs.zero
    for move in plan:
        total = total + move.cost
    return total


@settings(max_examples=150, deadline=None)
@given(balanced(), st.sampled_from(["distance", "manhattan", "squared"]))
def test_cost_plan_and_prices(pair, metric):
    source, target = pair
    result = transport(source, target, metric)
    floats = [[float(to_float(m)) for m in d.masses] for d in pair]
    assert to_float(result.cost) == pytest.approx(least_cost(*floats, result.costs.floats), abs=1e-7)
    table = result.table()
    assert [sum(row, fmpq(0)) for row in table] == list(source.masses)
    assert [sum(column, fmpq(0)) for column in zip(*table, strict=True)] == list(target.masses)
    # the prices bound every plan from below, and this one is at the bound
    for i, u in enumerate(result.prices_from):
        for j, v in enumerate(result.prices_to):
            slack = sign(result.costs.exact(i, j) - u - v)
            assert slack >= 0
            assert slack == 0 or table[i][j] == 0
    assert sign(cost_of(result, result.plan) - result.cost) == 0


@settings(max_examples=80, deadline=None)
@given(balanced(most_points=3, most_mass=3), st.sampled_from(["distance", "squared"]))
def test_unique_means_one_integer_plan(pair, metric):
    source, target = pair
    result = transport(source, target, metric)
    plans = integer_plans([int(m) for m in source.masses], [int(m) for m in target.masses])
    costs = result.costs
    best = []
    for plan in plans:
        excess = costs.zero - result.cost
        for i, row in enumerate(plan):
            for j, mass in enumerate(row):
                excess = excess + costs.exact(i, j) * fmpq(mass)
        assert sign(excess) >= 0
        best += [plan] if sign(excess) == 0 else []
    assert result.unique == (len(best) == 1)
    if result.alternative:
        assert result.table(result.alternative) != result.table()
        assert sign(cost_of(result, result.alternative) - result.cost) == 0
        sums = [sum(row, fmpq(0)) for row in result.table(result.alternative)]
        assert sums == list(source.masses)


def test_two_blocks_have_two_plans():
    result = transport("1:1,2:1", "4:1,6:1")
    assert result.cost == 7
    assert not result.unique
    both = {tuple(map(tuple, result.table(plan))) for plan in (result.plan, result.alternative)}
    assert both == {((1, 0), (0, 1)), ((0, 1), (1, 0))}
    assert sum(step.cost for step in result.line) == 7


def test_running_differences():
    result = transport("3,2,1,4", "1,2,4,3")
    assert [step.surplus for step in result.line] == [2, 2, -1]
    assert result.cost == 5


def test_fractions_and_the_root():
    result = transport("1:1/2, 2:1/3, 3:1/6", "1:2/5, 2:3/5", "squared")
    assert result.cost == fmpq(4, 15)
    assert result.table() == [[fmpq(2, 5), fmpq(1, 10)], [0, fmpq(1, 3)], [0, fmpq(1, 6)]]
    assert result.unique
    assert decimals(result.root, 8) == "0.51639778"
    assert transport("1:1/2, 2:1/3, 3:1/6", "1:2/5, 2:3/5").cost == fmpq(4, 15)


def test_a_given_matrix():
    result = transport(Distribution.of([3, 5]), Distribution.of([4, 4]), [["1/2", 2], [3, "-1"]])
    assert result.cost == fmpq(1, 2) * 3 + 3 - 4
    with pytest.raises(ShapeError, match="2×3"):
        transport(Distribution.of([3, 5]), Distribution.of([4, 4]), [[1, 2, 3], [4, 5, 6]])


@settings(max_examples=60, deadline=None)
@given(balanced(most_points=6))
def test_on_a_line_the_steps_sum_to_the_cost(pair):
    source, target = (Distribution.of(d.masses, [p[0] for p in d.points]) for d in pair)
    result = transport(source, target)
    assert sum((step.cost for step in result.line), fmpq(0)) == result.cost


@pytest.mark.parametrize(
    "source, target, cost, words",
    [
        ("1:1", "2:2", "distance", "1 to move, 2 to fill"),
        ("1:-1,2:2", "1:1", "distance", "cannot be negative"),
        ("1:0", "1:0", "distance", "nothing to move"),
        ("1:x", "1:1", "distance", "not a number"),
        ("1:nan", "1:1", "distance", "not a number"),
        ("1:1/0", "1:1", "distance", "divides by zero"),
        ("1:1,2", "1:2", "distance", "has a point"),
        ("", "1:1", "distance", "at least one point"),
        ("1:1", "1:1", "taxi", "unknown"),
    ],
)
def test_refusals(source, target, cost, words):
    with pytest.raises(ValueRefused, match=words):
        transport(source, target, cost)


def test_points_must_have_the_same_dimension():
    with pytest.raises(ShapeError):
        transport("(1,2):1", "1:1")


def test_too_many_cells_are_refused():
    many = Distribution.of([1] * 2001)
    with pytest.raises(LimitError, match="4,004,001"):
        transport(many, many)


def cloud(n, rng, kind):
    points = rng.integers(0, 9, (n, 2)) if kind == "grid" else np.round(rng.normal(size=(n, 2)), 3)
    return rng.integers(1, 50, n), points.tolist()


@pytest.mark.parametrize("kind", ["grid", "cloud"])
@pytest.mark.parametrize("metric", ["distance", "manhattan", "squared"])
def test_large_problems_agree_with_the_whole_program(kind, metric):
    rng = np.random.default_rng(5)
    (a, x), (b, y) = cloud(60, rng, kind), cloud(50, rng, kind)
    a[0] += max(0, b.sum() - a.sum())
    b[0] += max(0, a.sum() - b.sum())
    result = transport(Distribution.of(a.tolist(), x), Distribution.of(b.tolist(), y), metric)
    assert "HiGHS" in result.solver
    assert to_float(result.cost) == pytest.approx(least_cost(a, b, result.costs.floats), rel=1e-7)


def test_huge_numbers_are_exact():
    big = 10**400
    result = transport(f"0:{big},{big}:1", f"1:{big},{big + 1}:1")
    assert result.cost == big + 1


def test_one_thousand_points_a_side():
    rng = np.random.default_rng(1)
    points = [np.round(rng.normal(size=(1000, 2)), 4).tolist() for _ in range(2)]
    source, target = (Distribution.of([1] * 1000, p) for p in points)
    start = time.perf_counter()
    result = transport(source, target, "squared")
    assert time.perf_counter() - start < 30  # about two on an idle core
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(result.costs.floats)
    assert to_float(result.cost) == pytest.approx(result.costs.floats[rows, columns].sum())


def test_without_scipy_small_problems_work_and_large_ones_say_so(monkeypatch):
    real = builtins.__import__

    def no_scipy(name, *rest):
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_scipy)
    grid = [(i, j) for i in range(7) for j in range(7)]
    assert transport("(0,0):1,(1,1):1", "(0,1):1,(1,0):1").decimals() == "2.00000"
    with pytest.raises(MissingExtra, match="SciPy"):
        transport(Distribution.of([1] * 49, grid), Distribution.of([1] * 49, grid[::-1]))


# --- exact numbers


@given(st.fractions(min_value=0, max_value=10**6), st.fractions(min_value=0, max_value=10**6))
def test_roots(p, q):
    a, b = (fmpq(f.numerator, f.denominator) for f in (p, q))
    assert to_float(root(a)) == pytest.approx(float(p) ** 0.5)
    assert sign(root(a) - root(b)) == (p > q) - (p < q)
    assert root(a) - root(a) == root(fmpq(0))


def test_roots_that_differ_late():
    # √(n²+1) − n is about 1/(2n)
    n = 10**40
    assert sign(root(fmpq(n * n + 1)) - root(fmpq(n * n))) == 1


@given(st.fractions(max_denominator=10**6), st.integers(1, 12))
def test_decimals_are_the_nearest(value, digits):
    text = decimals(fmpq(value.numerator, value.denominator), digits)
    shown = Fraction(text)
    if value:
        exponent = Fraction(10) ** (len(text.lstrip("-0.").replace(".", "").split("e")[0]) - digits)
        assert exponent == 1 or "e" in text or len(text.lstrip("-0.").replace(".", "")) >= digits
        assert abs(shown - value) <= abs(value) * Fraction(1, 2 * 10 ** (digits - 1))
    else:
        assert text == "0"


def test_written_numbers():
    assert [rational(t) for t in ("1/3", "0.25", "1e-3", 0.1, -2)] == [
        fmpq(1, 3),
        fmpq(1, 4),
        fmpq(1, 1000),
        fmpq(1, 10),
        fmpq(-2),
    ]


# --- entropy


def test_sinkhorn_has_the_masses_and_comes_near_the_optimum():
    result = transport("1:1/2, 2:1/3, 3:1/6", "1:2/5, 2:3/5", "squared")
    plan = sinkhorn([1 / 2, 1 / 3, 1 / 6], [2 / 5, 3 / 5], result.costs.floats, epsilon=0.02)
    assert plan.plan.sum(axis=1) == pytest.approx([1 / 2, 1 / 3, 1 / 6])
    assert plan.plan.sum(axis=0) == pytest.approx([2 / 5, 3 / 5])
    assert plan.cost == pytest.approx(4 / 15, abs=1e-3)
    assert plan.cost >= 4 / 15 - 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 5))
def test_sinkhorn_is_the_minimum(seed, epsilon):
    rng = np.random.default_rng(seed)
    p, q, C = rng.dirichlet(np.ones(3)) + 0.05, rng.dirichlet(np.ones(4)), rng.uniform(size=(3, 4))
    q = q / q.sum() * p.sum()
    found = sinkhorn(p, q, C, epsilon)

    def energy(P):
        return (P * C).sum() + epsilon * (P * (np.log(P) - 1)).sum()

    change = rng.normal(size=(3, 4))
    change -= change.mean(axis=0, keepdims=True)
    change -= change.mean(axis=1, keepdims=True)  # rows and columns keep their sums
    step = 0.5 * (found.plan / np.abs(change)).min()
    assert energy(found.plan + step * change) >= energy(found.plan) - 1e-9


def test_sinkhorn_refuses_what_makes_no_sense():
    with pytest.raises(ValueRefused, match="positive"):
        sinkhorn([1], [1], [[1]], epsilon=0)
    with pytest.raises(ValueRefused, match="balance"):
        sinkhorn([1], [2], [[1]], epsilon=1)
    with pytest.raises(ValueRefused, match="negative"):
        sinkhorn([-1, 2], [1], [[1], [1]], epsilon=1)
    with pytest.raises(ShapeError):
        sinkhorn([1], [1], [[1, 2]], epsilon=1)


def test_attention_is_the_one_sided_case():
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(5, 8)), rng.normal(size=(7, 8))
    shown = one_sided(Q, K)
    scores = Q @ K.T / np.sqrt(8)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert shown.plan == pytest.approx(weights)
    assert shown.weights == pytest.approx(weights)
    assert shown.column_sums == pytest.approx(weights.sum(axis=0))
    assert shown.spread < 1e-12
    with pytest.raises(ShapeError):
        one_sided(Q, K[:, :3])
