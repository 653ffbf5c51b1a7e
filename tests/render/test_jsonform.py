"""The machine forms are a contract: field by field."""

from __future__ import annotations

import json

import pytest
from render_problems import KINDS, report, traces

from qkv.reader.model import Unread
from qkv.render import jsonform
from qkv.render.options import Options


def test_solution() -> None:
    form = jsonform.solution("sheet.md", traces("two heads", "Exercise 2"), [Unread(9, "$$x=", "not closed")])
    assert list(form) == ["schema", "file", "problems", "unread", "advice"]
    assert form["schema"] == "qkv.solution/1"
    assert form["unread"] == [{"line": 9, "text": "$$x=", "reason": "not closed"}]
    (problem,) = form["problems"]
    assert list(problem) == ["title", "line", "kind", "givens", "steps", "notes", "answers"]
    assert (problem["title"], problem["kind"]) == ("Exercise 2", "multi-head self-attention")
    given = next(g for g in problem["givens"] if g["name"] == "W_1^Q")
    assert given == {
        "name": "W_1^Q", "role": "W_Q", "head": 1, "line": None, "shape": [4, 3],
        "value": [["1", "0", "1"], ["1", "0", "0"], ["0", "0", "1"], ["0", "1", "1"]],
    }  # fmt: skip
    step = problem["steps"][0]
    assert step == {
        "name": "Q_1", "role": "Q", "head": 1, "formula": "X W_1^Q", "shape": [3, 3],
        "value": [["1", "0", "2"], ["2", "2", "2"], ["2", "1", "3"]], "exact": True,
    }  # fmt: skip


def test_rounded_values_are_not_called_exact() -> None:
    (problem,) = jsonform.solution("", traces("unscaled"))["problems"]
    weights = next(step for step in problem["steps"] if step["role"] == "weights")
    assert weights["value"][1] == ["6.03366e-6", "0.982008", "0.0179861"]
    assert weights["exact"] is False


def test_numbers_of_the_sheet_are_repeated_in_full() -> None:
    import qkv

    worked = qkv.work(Q=[["0.12345678901", 0]], K=[[1, 0]], V=[[1]])
    (problem,) = jsonform.solution("", worked.traces, options=Options(digits=3))["problems"]
    assert problem["givens"][0]["value"] == [["0.12345678901", "0"]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_json_and_every_number_a_string(kind: str) -> None:
    form = json.loads(json.dumps(jsonform.solution("f", traces(kind))))
    for problem in form["problems"]:
        for item in (*problem["givens"], *problem["steps"]):
            rows, columns = item["shape"]
            assert len(item["value"]) == rows
            assert all(len(row) == columns and all(float(cell) or True for cell in row) for row in item["value"])
            assert all(isinstance(cell, str) for row in item["value"] for cell in row)


def test_report() -> None:
    form = jsonform.report(report())
    assert list(form) == ["schema", "file", "claims", "summary", "coverage", "advice", "left"]
    assert form["schema"] == "qkv.report/1"
    assert form["summary"] == {"right": 1, "rounded": 1, "struck": 1, "unread": 1, "carried": 1, "wrong": 1}
    wrong = form["claims"][1]
    assert {key: wrong[key] for key in ("id", "line", "end_line", "name", "formula", "verdict")} == {
        "id": 2, "line": 5, "end_line": 5, "name": "E", "formula": "Q K^T", "verdict": "wrong",
    }  # fmt: skip
    assert wrong["cells"] == [
        {
            "row": 2, "column": 2, "shown": "18", "expected": "12", "from_own": "12", "verdict": "wrong",
            "working": "2·2 + 2·3 + 2·1 = 12",
        }
    ]  # fmt: skip
    assert wrong["cause"] == {"mistake": "digit", "says": "one product <was> doubled"}
    assert form["claims"][2]["follows_from"] == [2]
    assert form["claims"][0]["cause"] is form["claims"][0]["repair"] is form["claims"][0]["reason"] is None


def test_only_wrong_lists_fewer_and_counts_all() -> None:
    form = jsonform.report(report(), Options(only_wrong=True))
    assert [claim["verdict"] for claim in form["claims"]] == ["wrong", "carried"]
    assert sum(form["summary"].values()) == 6
