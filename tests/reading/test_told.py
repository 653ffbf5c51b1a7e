"""What a person tells beside the page: it is always understood, and it outranks what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv
from qkv.errors import ReadError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.reader.read import read_sheet
from qkv.reader.told import Told

BULLETS = """Die Schlüssel:

- Ich: [1, 0, 0]
- liebe: [0, 1, 0]
- Katzen: [1, 1, 1]

Frage: q = [1, 0, 1]
"""
KEYS = (("1", "0", "0"), ("0", "1", "0"), ("1", "1", "1"))


@pytest.mark.parametrize(
    "told",
    ["K = [Ich; liebe; Katzen]", "K = [Ich, liebe, Katzen]", "K = @3", "K = @4", "K = [Ich@3; liebe@3; Katzen@5]",
     "K = [1 0 0; 0 1 0; 1 1 1]", "K = [[1, 0, 0], [0, 1, 0], [1, 1, 1]]", "K = I @3"],
)  # fmt: skip
def test_rows_and_lines_of_the_page_can_be_named(told: str) -> None:
    assert qkv.solve(BULLETS, let=[told])["K"].digits() == KEYS


@pytest.mark.parametrize("comment", ["<!-- qkv: {} -->", "% qkv: {}", "# qkv: {}", "// qkv: {}", "<!--\nqkv: {}\n-->"])
def test_a_comment_tells_the_same_as_the_command_line(comment: str) -> None:
    page = BULLETS + "\n" + comment.format("K = 2 [Ich; liebe; Katzen]") + "\n"
    assert qkv.solve(page)["K"].digits() == qkv.solve(BULLETS, let=["K = 2 [Ich; liebe; Katzen]"])["K"].digits()


def test_a_comment_in_a_notebook_and_in_latex() -> None:
    cells = [{"cell_type": "code", "source": ["q = [1, 0, 1]\n", "# qkv: q = [2, 2, 2]\n"], "outputs": []}]
    assert qkv.solve(json.dumps({"cells": cells}, indent=1))["q"].digits() == (("2", "2", "2"),)
    page = "\\begin{document}\n$q = [1, 0]$ % qkv: q = [3, 3]\n\\end{document}\n"
    assert qkv.solve(page)["q"].digits() == (("3", "3"),)


def test_what_is_told_outranks_the_page_which_then_claims() -> None:
    page = "X = [1 2; 3 4]\nW = [1 0; 1 1]\nQ = X W = [3 2; 7 4]\nR = Q Q^T = [13 29; 29 65]\n"
    assert qkv.check(page).is_clean
    verdicts = [(claim.line, claim.verdict.value) for claim in qkv.check(page, let=["W = [1 0; 1 2]"]).claims]
    assert verdicts == [(2, "wrong"), (3, "carried"), (4, "carried")]
    assert qkv.solve(page, let=["W = [1 0; 1 2]"])["R"].digits()[0][0] == "25"


def test_it_holds_in_every_problem_or_where_it_stands() -> None:
    problems = "# Exercise 1\nX = [1 2; 3 4]\nY = 2 X\n\n# Exercise 2\nX = [5 6; 7 8]\nZ = 3 X\n"
    everywhere = qkv.solve(problems, let=["X = [1 1; 1 1]"])
    assert (everywhere["Y"].digits()[0][0], everywhere["Z"].digits()[0][0]) == ("2", "3")
    here = qkv.solve(problems + "<!-- qkv: X = [1 1; 1 1] -->\n")
    assert (here["Y"].digits()[0][0], here["Z"].digits()[0][0]) == ("2", "3")


def test_a_comment_in_a_hand_in_does_not_overrule_the_assignment() -> None:
    task = "X = [1 2; 3 4]\n\nCompute Y = 2 X.\n"
    work = "<!-- qkv: X = [1 2; 3 5] -->\nX = [1 2; 3 5]\nY = 2 X = [2 4; 6 10]\n"
    wrong = [claim.line for claim in qkv.check(work, against=task).claims if claim.verdict == "wrong"]
    assert wrong == [2]
    assert qkv.check(work, against=task, let=["X = [1 2; 3 5]"]).is_clean


@pytest.mark.parametrize("name", ["Z", "A V", "softmax(q K^T) K"])
def test_what_is_asked_for_is_worked_out(name: str) -> None:
    solution = qkv.solve(BULLETS, let=["K = @3", "V = K"], ask=[name])
    wanted = {"Z": "Z", "A V": "Z"}.get(name, name)
    assert wanted in solution


@pytest.mark.parametrize(
    "told, message",
    [
        ("K = [Ich; libe]", 'nothing on the page is called libe; did you mean liebe?'),
        ("K = @2", "line 2 prints no numbers"),
        ("K = Hund@3", "the array in line 3 has no row Hund"),
        ("K", "write NAME = EXPRESSION"),
        ("K = [1, 2", "a bracket has no partner"),
        ("K = ", "write NAME = EXPRESSION"),
        ("", "not one equation"),
        ("2 + 2 = 5", "write NAME = EXPRESSION"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_refused_in_one_sentence(told: str, message: str) -> None:
    with pytest.raises(ReadError, match=re.escape(message)) as refused:
        qkv.read(BULLETS, let=[told])
    assert str(refused.value).startswith(f'--let "{told.strip()}"')
    assert "\n" not in str(refused.value)


def test_the_place_of_a_comment_is_said() -> None:
    with pytest.raises(ReadError, match="line 9"):
        qkv.read(BULLETS + "\n% qkv: K = libe\n")


# — the promise: what the notation can write is read as it was written —

NAMES = [
    n.Name(symbol)
    for symbol in (
        *map(Symbol, ("X", "Q", "I", "love", "cats", "Ich", "embedding", "alpha", "PE")), Symbol("W", ("Q",)),
        Symbol("x", (), ("1",)), Symbol("W", ("Q",), ("2",)), Symbol("d", ("k",)), Symbol("head", (), ("1",)),
    )
]  # fmt: skip
numbers = st.integers(0, 99).map(n.number) | st.decimals(0, 9, places=2).map(lambda x: n.number(str(x)))


def larger(inner: st.SearchStrategy[n.Expr]) -> st.SearchStrategy[n.Expr]:
    """Expressions made of smaller ones, in every way that the notation has."""
    return st.one_of(
        st.builds(n.Product, inner, inner),
        st.builds(n.Quotient, inner, inner | numbers),
        st.builds(lambda a, b: n.Sum((a, b)), inner, inner),
        st.builds(n.Transpose, st.sampled_from(NAMES)),
        st.builds(n.Root, inner | numbers),
        st.builds(n.Softmax, inner),
        st.builds(lambda x: n.Call("tanh", (x,)), inner),
        st.builds(lambda a: n.Call("relu", (a,)), inner),
    )


expressions = st.recursive(st.sampled_from(NAMES), larger, max_leaves=6)
matrices = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(numbers, min_size=width, max_size=width).map(tuple), min_size=1, max_size=3)
).map(lambda rows: n.Matrix(tuple(rows)))  # fmt: skip
PAGE = "".join(f"{plain(name)} = [1, 2; 3, 4]\n" for name in NAMES)


@given(expressions | matrices)
@settings(max_examples=200, deadline=None)
def test_what_the_notation_writes_is_read_as_it_was_written(expr: n.Expr) -> None:
    written = plain(expr)
    for page in ("", PAGE):
        read = read_sheet(page, told=[Told(f"T = {written}")]).told[0].links
        assert len(read) == 2
        assert plain(read[1].expr) == written


@given(
    st.lists(
        st.sampled_from(["cats", "I", "love", "x_1", "QK", "Wq", "été", "猫"]), min_size=2, max_size=4, unique=True
    )
)
def test_a_list_of_words_is_the_array_of_their_vectors(words: list[str]) -> None:
    page = "".join(f"{word} = [{i}, {i + 1}]\n\n" for i, word in enumerate(words))
    rows = tuple((str(i), str(i + 1)) for i, _ in enumerate(words))
    assert qkv.solve(page, let=[f"X = [{'; '.join(words)}]"])["X"].digits() == rows


NOTATION = Path(__file__).resolve().parents[2] / "docs" / "notation.md"


def test_every_line_of_the_page_about_the_notation_is_understood() -> None:
    page = "I = [1, 0]\nlove = [0, 1]\ncats = [1, 1]\n- cats: [1, 2]\n- mats: [2, 1]\n" + "".join(
        f"{name} = [1 0; 0 1]\n" for name in ("Q", "S", "A_1", "V_1", "head_2", "B", "A", "V")
    )
    numbered = re.findall(r"^\d+\. (.*(?:\n   .*)*)", NOTATION.read_text(encoding="utf-8"), re.MULTILINE)
    told = [code for line in numbered for code in re.findall(r"`([^`]*)`", line) if re.match(r"[\w']+ = ", code)]
    assert len(numbered) == 10
    assert len(told) > 8
    for code in told:
        assert qkv.read(page, let=[code]).told


def test_a_name_that_is_told_to_be_another_keeps_no_role_of_its_own() -> None:
    page = "A = [1 0; 1 2]\n\nB = [1 1; 0 2]\n\nC = [2 0; 0 4]\n\nCompute the scaled dot-product attention."
    solution = qkv.solve(page, let=["Q = A", "K = B", "V = C"])
    assert solution["Z"].decimals(3) == (("1.340", "1.321"), ("0.660", "2.679"))
    assert [part for trace in solution.traces for answer in trace.program.answers for part in answer.parts]


def test_a_question_may_be_a_formula_in_plain_text() -> None:
    page = "Q = [1 0; 1 2]\n\nK = [1 1; 0 2]\n\nV = [2 0; 0 4]\n\nCompute softmax(Q K^T / sqrt(2)) V."
    (answer,) = (answer for trace in qkv.solve(page).traces for answer in trace.program.answers)
    assert len(answer.parts) == 1
    assert not answer.missing
