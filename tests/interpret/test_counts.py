"""Counts are exact, and hold for symbols as they do for numbers."""

from __future__ import annotations

from flint import Ordering, fmpz_mpoly_ctx
from hypothesis import given
from hypothesis import strategies as st

import qkv
from qkv.expr.names import Role, Symbol
from qkv.interpret.counts import Operations, count

SIZE = st.integers(1, 6)


def zeros(rows: int, columns: int) -> list[list[int]]:
    return [[0] * columns for _ in range(rows)]


def by_role(s: qkv.Solution) -> dict[Role, Operations]:
    return {step.step.role: step.operations for step in s.cost().steps}


@given(SIZE, SIZE, SIZE, SIZE)
def test_the_textbook_formulas(n_q: int, n_k: int, d_k: int, d_v: int) -> None:
    s = qkv.work(Q=zeros(n_q, d_k), K=zeros(n_k, d_k), V=zeros(n_k, d_v))
    assert by_role(s) == {
        Role.SCORES: Operations(multiplications=n_q * n_k * d_k, additions=n_q * n_k * (d_k - 1)),
        Role.SCALED: Operations(divisions=n_q * n_k, roots=1),
        Role.WEIGHTS: Operations(
            additions=n_q * (n_k - 1),
            divisions=n_q * n_k,
            exponentials=n_q * n_k,
            comparisons=n_q * (n_k - 1),
        ),
        Role.OUTPUT: Operations(multiplications=n_q * n_k * d_v, additions=n_q * d_v * (n_k - 1)),
    }
    assert s.cost().total.multiplications == n_q * n_k * (d_k + d_v)


def test_two_queries_three_keys() -> None:
    total = qkv.work(Q=zeros(2, 2), K=zeros(3, 2), V=zeros(3, 3)).cost().total
    assert (total.multiplications, total.additions, total.divisions) == (30, 22, 12)
    assert (total.exponentials, total.comparisons) == (6, 4)


def test_masks_biases_and_heads() -> None:
    open_mask = [[0, 0], [0, 0]]
    parts = by_role(qkv.work(Q=zeros(2, 3), K=zeros(2, 3), V=zeros(2, 1), scale=None, mask=open_mask))
    assert parts[Role.MASKED] == Operations(additions=4)
    assert by_role(qkv.work(Q=zeros(2, 3), K=zeros(2, 3), mask="causal"))[Role.MASKED] == Operations()
    biased = by_role(qkv.work(X=zeros(5, 4), W_Q=zeros(4, 3), W_K=zeros(4, 3), b_Q=[1, 2, 3]))
    assert biased[Role.Q] == Operations(multiplications=60, additions=45 + 15)
    heads = qkv.work(X=zeros(2, 4), W_Q=zeros(4, 4), W_K=zeros(4, 4), W_V=zeros(4, 4), heads=2).cost()
    assert sum(step.operations.multiplications for step in heads.steps if step.step.head) == 2 * (2 * 2 * (2 + 2))


def test_one_source_vector() -> None:
    parts = by_role(qkv.work(s=[0] * 3, h=zeros(4, 3), W_a=zeros(2, 3), U_a=zeros(2, 3), v_a=[0, 0]))
    # W s: 2·3; U Hᵀ: 2·3·4; vᵀ(…): 2·4 multiplications. Additions: within each, and W s + U h for 2×4 cells.
    assert parts[Role.SCORES] == Operations(multiplications=6 + 24 + 8, additions=4 + 16 + 4 + 8, tanhs=8)
    plain = by_role(qkv.work(s=[1] * 3, h=[[1, 1, 1]] * 4, normalise="sum"))
    assert plain[Role.WEIGHTS] == Operations(additions=3, divisions=4)


def test_symbols_give_polynomials() -> None:
    n_q, n_k, d_k, d_v = fmpz_mpoly_ctx.get(["n_q", "n_k", "d_k", "d_v"], Ordering.lex).gens()
    program = qkv.work(Q=zeros(2, 3), K=zeros(4, 3), V=zeros(4, 5)).traces[0].program
    total = count(program, {Symbol("Q"): (n_q, d_k), Symbol("K"): (n_k, d_k), Symbol("V"): (n_k, d_v)}).total
    assert total.multiplications == n_q * n_k * (d_k + d_v)
    assert total.additions == n_q * (n_k * (d_k + d_v) - d_v - 1)
    assert total.divisions == 2 * n_q * n_k
