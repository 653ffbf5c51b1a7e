"""Token by token and matrix at once are two views of one program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qkv
from qkv.errors import NameUnknownError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.program.views import parse_symbol, resolve

X = [[1, 0, 2], [0, 1, 1], [2, 1, 0], [1, 1, 1]]
W = [[1, 2], [0, 1], [1, 1]]
V = [[3, 0, 1, 1], [1, 1, 0, 2], [0, 2, 1, 0]]


def turned(rows: list[list[int]]) -> list[list[int]]:
    return [list(row) for row in zip(*rows, strict=True)]


ROWS = qkv.work(X=X, W_Q=W, W_K=turned([[1, 1, 0], [2, 0, 1]]), W_V=V)
COLUMNS = qkv.work(X=turned(X), W_Q=turned(W), W_K=[[1, 1, 0], [2, 0, 1]], W_V=turned(V), columns=True)
HEADS = qkv.work(X=X, W_Q=[W, W], W_K=[W, [[0, 1], [1, 0], [1, 1]]], W_V=[V, V], W_O=[[1]] * 8)

TOKEN = st.integers(1, 4)


@given(TOKEN, st.sampled_from("qkvxoz"))
def test_vectors_are_rows_and_columns(i: int, letter: str) -> None:
    matrix = {"o": "Output", "z": "Output"}.get(letter, letter.upper())
    row = ROWS[matrix].digits()[i - 1]
    assert ROWS[f"{letter}_{i}"].digits() == (row,)
    assert COLUMNS[f"{letter}_{i}"].digits() == tuple((cell,) for cell in row)
    assert ROWS[f"{letter}_{i},2"].digits()[0][0] == row[1] or letter == "z"


@given(TOKEN, TOKEN)
def test_scores_and_weights_are_cells(i: int, j: int) -> None:
    for s in (ROWS, COLUMNS):
        for letter in "zse":
            assert s[f"{letter}_{i},{j}"].digits() == ((s["S"].digits()[i - 1][j - 1],),)
        for letter in ("a", "α", "alpha"):
            assert s[f"{letter}_{{{i},{j}}}"].digits() == ((s["A"].digits()[i - 1][j - 1],),)
        assert s[f"a_{i}{j}"].digits() == s[f"a_{i},{j}"].digits()
        # z_ij = q_i · k_j, and o_i = Σ_j a_ij v_j, worked from the vectors themselves.
        trace, program = s.traces[0], s.traces[0].program
        q, k = resolve(f"q_{i}", program), resolve(f"k_{j}", program)
        assert q is not None
        assert k is not None
        assert str(trace.evaluate(n.Product(q, k)).cell) == str(trace.evaluate(resolve(f"z_{i},{j}", program)).cell)  # type: ignore[arg-type]


@given(TOKEN)
def test_outputs_are_weighted_sums_of_values(i: int) -> None:
    trace = ROWS.traces[0]
    terms = [n.Product(resolve(f"a_{i},{j}", trace.program), resolve(f"v_{j}", trace.program)) for j in (1, 2, 3, 4)]  # type: ignore[arg-type]
    summed = trace.evaluate(n.Sum(tuple(terms))).rows[0]
    assert all(
        a.overlaps(b) for a, b in zip(summed, trace.evaluate(resolve(f"o_{i}", trace.program)).rows[0], strict=True)
    )  # type: ignore[arg-type]


def test_heads_come_first() -> None:
    assert HEADS["q_2,3"].digits() == (HEADS["Q_2"].digits()[2],)
    assert HEADS["z_2,3,1"].digits() == ((HEADS["S_2"].digits()[2][0],),)
    assert HEADS["a_1,4,2"].digits() == ((HEADS["A_1"].digits()[3][1],),)
    assert HEADS["z_1,2"].digits() == (HEADS["Z_1"].digits()[1],)
    assert HEADS["o_2"].digits() == (HEADS["Output"].digits()[1],)
    assert HEADS["E_1"].digits() == HEADS["S_1"].digits()
    assert HEADS["x_3"].digits() == (HEADS["X"].digits()[2],)
    assert "q_1" not in HEADS  # of which head?


def test_one_source_vector() -> None:
    s = qkv.work(s=[1, 2], h=[[1, 0], [0, 1], [1, 1]])
    assert [s[f"α_{i}"].digits()[0][0] for i in (1, 2, 3)] == list(s["A"].digits()[0])
    assert s["e_3"].digits() == (("3",),)
    assert s["h_2"].digits() == (("0", "1"),)
    assert s["c"].digits() == s["context"].digits()


WRITTEN = [
    ("q_2", Symbol("q", (), ("2",))),
    ("z_3,1", Symbol("z", (), ("3", "1"))),
    ("z_{3,1}", Symbol("z", (), ("3", "1"))),
    ("W_1^Q", Symbol("W", ("Q",), ("1",))),
    ("W^{(1)}_Q", Symbol("W", ("Q",), ("1",))),
    ("α_{2}", Symbol("alpha", (), ("2",))),
    ("X'", Symbol("X", (), (), 1)),
    ("2x", None),
    ("", None),
]


@pytest.mark.parametrize("text, symbol", WRITTEN)
def test_symbols_as_people_type_them(text: str, symbol: Symbol | None) -> None:
    assert parse_symbol(text) == symbol


@pytest.mark.parametrize("name", ["B", "q_i", "q", "z_1,2,3,4", "W_3^Q", "!?", ""])
def test_an_unknown_name_is_said_with_what_there_is(name: str) -> None:
    with pytest.raises(NameUnknownError) as caught:
        ROWS[name]
    assert str(caught.value).startswith(f"there is no {name} here; there are X, W_Q, W_K, W_V, d_k, Q, K, V, S")


def test_a_token_that_is_not_there() -> None:
    with pytest.raises(qkv.QkvError, match="a 4×2 matrix has no row 9"):
        ROWS["q_9"].digits()
