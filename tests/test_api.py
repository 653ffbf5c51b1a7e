"""qkv in Python: what a person types, and what comes back."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import qkv
from qkv.errors import NameUnknownError

Q, K, V = [[1, 2], [3, 1]], [[2, 1], [1, 1], [0, 1]], [[1, 2, -2], [1, 1, 2], [0, 1, -1]]


@pytest.fixture(scope="module")
def solved() -> qkv.Solution:
    return qkv.work(Q=Q, K=K, V=V, title="By hand")


def test_quantities(solved: qkv.Solution) -> None:
    weights = solved["A"]
    assert weights.shape == (2, 3)
    assert not weights.exact
    assert solved["S"].exact
    assert weights.decimals(4)[0] == ("0.5760", "0.2840", "0.1400")
    assert weights.digits(3)[1] == ("0.882", "0.106", "0.0127")
    assert str(solved["S"]) == "4  3  2\n7  4  1"
    assert repr(solved["S"]) == "S (2×3)\n4  3  2\n7  4  1"


def test_arrays_are_the_nearest_floats(solved: qkv.Solution) -> None:
    mp.dps = 60
    scores = np.array([[4, 3, 2], [7, 4, 1]])
    for i, row in enumerate(scores):
        exps = [mp.exp(int(x) / mp.sqrt(2)) for x in row]
        nearest = [float(e / sum(exps)) for e in exps]
        assert solved["A"].to_numpy()[i].tolist() == nearest
    assert solved["S"].to_numpy().tolist() == scores.tolist()


def test_a_hundred_digits(solved: qkv.Solution) -> None:
    mp.dps = 130
    exps = [mp.exp(x / mp.sqrt(2)) for x in (4, 3, 2)]
    assert solved["A"].decimals(100)[0][0] == mp.nstr(exps[0] / sum(exps), 100, strip_zeros=False)


def test_weights_far_below_the_smallest_float_are_numbers() -> None:
    """Scores of thousands: exponentials overflow in floats, and most weights are below 1e-308."""
    s = qkv.work(Q=[[90, 0], [0, 90]], K=[[90, 1], [1, 90], [45, 45]], V=[[1], [2], [3]], scale=None)
    mp.dps = 60
    expected = mp.exp(90 - 8100) / (1 + mp.exp(90 - 8100) + mp.exp(4050 - 8100))
    assert s["A"].digits(6)[0][1] == mp.nstr(expected, 6).replace("e-0", "e-")
    assert s["Output"].digits(6) == (("1.00000",), ("2.00000",))
    assert s["Output"].to_numpy().tolist() == [[1.0], [2.0]]


def test_several_names_for_one_thing(solved: qkv.Solution) -> None:
    assert solved.names == ("Q", "K", "V", "d_k", "S", "S_scaled", "A", "Output")
    assert list(solved) == list(solved.names)
    assert solved["scores"].digits() == solved["E"].digits() == solved["S"].digits()
    assert solved["weights"].digits() == solved["A"].digits()
    assert solved["output"].digits() == solved["Output"].digits()
    assert "A" in solved
    assert "q_1" in solved
    assert "B" not in solved
    with pytest.raises(NameUnknownError, match="there is no B here; there are Q, K, V, d_k, S, S_scaled, A, Output"):
        solved["B"]


def test_a_document_of_two_problems_asks_which(solved: qkv.Solution) -> None:
    both = qkv.Solution(solved.traces + qkv.work(Q=Q, K=K).traces, "sheet.md")
    with pytest.raises(NameUnknownError, match=r"A occurs in 2 problems; ask one of them: s.problems\[0\]\['A'\]"):
        both["A"]
    assert both.problems[1]["A"].digits() == solved["A"].digits()
    assert both["Output"].digits() == solved["Output"].digits()  # only one problem has it
    assert len(json.loads(both.to_json())["problems"]) == 2


def test_printed(solved: qkv.Solution) -> None:
    text = str(solved)
    for part in ("By hand", "S = Q Kᵀ", "1·2 + 2·1 = 4", "0.575975", "1.88165"):
        assert part in text
    assert "0.57598" in solved.to_text(digits=5)
    assert "0.58" in solved.to_text(places=2)
    assert max(map(len, solved.to_text(width=60).splitlines())) <= 60
    assert repr(solved) == "<Solution: scaled dot-product attention; Q, K, V, d_k, S, S_scaled, A, Output>"


def test_depths(solved: qkv.Solution) -> None:
    brief, normal, full = (solved.to_text(depth=depth) for depth in ("brief", "normal", "full"))
    assert len(brief) < len(normal) < len(full)
    assert "3·2 + 1·1 = 7" in full
    assert "3·2 + 1·1 = 7" not in normal


def test_many_queries_over_one_key_are_explained_row_by_row() -> None:
    text = qkv.work(Q=[[1], [2]], K=[[1]], V=[[3]], scale=None).to_text(depth="full")
    assert "A(2,1) = e^2/e^2 = 1" in text


def test_markdown_and_latex(solved: qkv.Solution) -> None:
    assert r"\begin{" in solved.to_markdown()
    assert "0.575975" in solved.to_markdown()
    assert r"\begin{" in solved.to_latex()
    assert "0.575975" in solved.to_latex()
    assert solved._repr_markdown_() == solved.to_markdown()
    assert solved._repr_latex_().startswith("$$\\begin{aligned}\nS &= Q \\, K^\\top = \\begin{bmatrix} 4 & 3 & 2")
    assert solved["S"]._repr_latex_() == r"$\displaystyle S = \begin{bmatrix} 4 & 3 & 2 \\ 7 & 4 & 1 \end{bmatrix}$"
    assert "<math" in solved._repr_html_()
    assert "0.575975" in solved._repr_html_()
    assert r"-\infty" in qkv.work(Q=Q, K=Q, mask="causal")._repr_latex_()


def test_json_is_the_contract(solved: qkv.Solution) -> None:
    form = json.loads(solved.to_json(digits=4))
    assert form["schema"] == "qkv.solution/1"
    (problem,) = form["problems"]
    assert (problem["title"], problem["kind"]) == ("By hand", "scaled dot-product attention")
    weights = next(step for step in problem["steps"] if step["role"] == "weights")
    assert weights["shape"] == [2, 3]
    assert weights["value"][0] == ["0.5760", "0.2840", "0.1400"]
    assert weights["exact"] is False
    assert [given["name"] for given in problem["givens"]][:3] == ["Q", "K", "V"]


def test_exact_input_gives_exact_output() -> None:
    s = qkv.work(Q=[["1/3"]], K=[[Fraction(3, 7)]], V=[["0.1"]], scale=None)
    assert s["S"].digits(4) == (("0.1429",),)
    assert s["Output"].digits() == (("0.1",),)
    assert s["Output"].exact


def test_public_names() -> None:
    assert "work" in dir(qkv)
    with pytest.raises(AttributeError, match="module 'qkv' has no attribute 'wrok'"):
        qkv.wrok  # noqa: B018
