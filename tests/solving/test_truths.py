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


def test_a_prime_transposes_what_has_numbers_and_no_primed_namesake() -> None:
    page = "Q = [1 2; 3 4]\nK = [0 1; 2 1]\n\nS = Q K'\n"
    assert qkv.solve(page)["S"].digits() == (("2", "4"), ("4", "10"))
    assert qkv.solve(page.replace("S =", "K' = [1 0; 0 1]\nS ="))["S"].digits() == (("1", "2"), ("3", "4"))


def test_heads_of_columns_name_the_weights_of_queries_keys_and_values() -> None:
    page = (
        "token      embedding\n---------------------\nThe        1 0 2\ndog        0 1 1\n\n"
        "weights for query    weights for key     weights for value\n"
        "1 0                  0 1                 1 1\n0 1                  1 0                 0 2\n"
        "1 1                  1 1                 1 0\n\n(a) Compute the output.\n"
    )
    assert qkv.solve(page)["Q"].digits() == (("3", "2"), ("1", "2"))


def test_arrays_that_were_not_used_are_named_beside_what_was_assumed() -> None:
    page = "X = [1 0; 0 1; 1 1]\n\nSome matrix B = [1 2; 3 4].\n\nCompute the self-attention output.\n"
    assert "not used: B (line 3)" in qkv.solve(page).to_text(width=1000)
