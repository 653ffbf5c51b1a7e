"""Workings that copy rounded or false numbers: solve goes on with what is true."""

from __future__ import annotations

import json

import qkv


def values(text: str) -> set[str]:
    problems = json.loads(qkv.solve(text).to_json(digits=12))["problems"]
    return {step["value"][0][0] for problem in problems for step in problem["steps"]}


def test_a_slip_does_not_go_on():
    page = "First: 8,192 × 57,344 = 470,810,624\n\nSecond: 470,810,624 + 1,000,000 = 471,810,624\n\nAll: 471,810,624 × 80 = 37,744,849,920\n"
    assert {"469762048", "470762048", "37660963840"} <= values(page)


def test_units_are_multiplied_out():
    page = "Per token: 2 × 32 × 8 × 128 × 2 = 131,072 bytes = 128 KB\n\nContext: 128 KB × 4096 = 512 MB\n\nUsers: 512 MB × 128 = 64 GB\n"
    assert {"131072", "536870912", "68719476736"} <= values(page)


def test_one_vector_attends_to_nothing():
    """Layer norm of one vector is no self-attention of one token."""
    solved = qkv.solve("input = [1, 2, 3, 6]\n\nattention_output = [0, 1, 0, 1]\n\nmu = (1 + 2 + 3 + 6) / 4 = 3\n")
    assert "scores" not in solved.to_json()


def test_cells_worked_out_one_by_one_are_a_vector():
    page = "z = (2, 1, 0)\n\n∂L/∂z₀ = softmax(z)₀ − 1 = −0.335\n∂L/∂z₁ = softmax(z)₁ − 0 = 0.245\n∂L/∂z₂ = softmax(z)₂ − 0 = 0.090\n"
    problems = json.loads(qkv.solve(page).to_json(digits=3))["problems"]
    assert [["-0.335", "0.245", "0.0900"]] in [step["value"] for problem in problems for step in problem["steps"]]
    assert {claim.verdict.value for claim in qkv.check(page).claims} == {"rounded"}


def test_a_gradient_that_is_called_like_its_weight_changes_no_weight():
    """W[0] = ∂L/∂z × x[0]: a slip of the pen, but neither a false number nor another weight."""
    page = "W = [0.5, 0.3], x = [1.2, -0.1]\n\n∂L/∂z = 0.6 - 1 = -0.4\nW[0] = ∂L/∂z × x[0] = -0.4 × 1.2 = -0.48\nW[1] = ∂L/∂z × x[1] = -0.4 × (-0.1) = 0.04\n∂L/∂x[0] = ∂L/∂z × W[0] = -0.4 × 0.5 = {}\n"
    for shown, bad in (("-0.20", set()), ("-0.24", {"wrong"})):
        verdicts = {claim.verdict.value for claim in qkv.check(page.format(shown)).claims}
        assert verdicts & {"wrong", "carried"} == bad
