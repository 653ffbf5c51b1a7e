"""Arrays whose cells a page works out one by one, bold lines that are formulas, and parts that go on from the last."""

from __future__ import annotations

import json

import pytest

import qkv


def verdicts(text: str) -> list[str]:
    """What each claim is said to be."""
    return [claim.verdict.value for claim in qkv.check(text).claims]


GRADIENT = r"""
$$\frac{\partial L}{\partial z_1} = 0.65 - 1 = {}$$

$$\frac{\partial L}{\partial z_2} = 0.35 - 0 = 0.35$$

$$\nabla_z L = [{}, 0.35]$$
"""


@pytest.mark.parametrize(
    ("first", "said"), [("-0.35", ["right", "right", "right"]), ("-0.45", ["wrong", "right", "carried"])]
)
def test_an_array_whose_cells_are_worked_out_above_is_not_given(first: str, said: list[str]) -> None:
    assert verdicts(GRADIENT.replace("{}", first)) == said


FFN = """# Two layers

**H = X × W**

```
X = [1, 2]
    [3, 4]

W = [0.5, 0.25]
    [0.1, 0.2]

H[0][0] = 1 × 0.5 + 2 × 0.1 = 0.7
H[0][1] = 1 × 0.25 + 2 × 0.2 = 0.65
H[1][0] = 3 × 0.5 + 4 × 0.1 = 1.9
H[1][1] = 3 × 0.25 + 4 × 0.2 = 1.55

H = [0.7, 0.65]
    [1.9, 1.55]
```

## Part 2: Residual

**Y = X + H**

```
H = [0.7, 0.65]
    [1.9, 1.55]

Y = [1.7, 2.65]
    [4.9, 5.55]
```
"""


def test_a_bold_formula_is_no_title_and_a_part_goes_on_from_what_it_repeats() -> None:
    assert set(verdicts(FFN)) == {"right"}
    slip = FFN.replace("0.65", "0.75").replace("2.65", "2.75")
    assert verdicts(slip) == ["right", "wrong", "right", "right", "carried", "wrong", "carried"]
    (problem,) = json.loads(qkv.solve(slip).to_json())["problems"]
    assert [step["value"] for step in problem["steps"] if step["name"] == "Y"] == [[["1.7", "2.65"], ["4.9", "5.55"]]]


def test_minus_signs_with_a_gap_before_them_are_a_sum_behind_a_factor() -> None:
    assert verdicts(r"$$-\frac{1}{2}(-1.5 -2.5) = 2$$") == ["right"]
    assert verdicts(r"$$-\frac{1}{2}(-1.5 -2.5) = 3$$") == ["wrong"]


def test_logarithms_are_copied_without_their_signs() -> None:
    text = "$$\\ln(0.200) = -1.609$$\n\n$$\\ln(0.100) = -2.393$$\n\n$$t = 1.609 + 2.393 = 4.002$$\n"
    assert verdicts(text) == ["rounded", "wrong", "carried"]


ROWS = """```python
x = [[1.0, 2.0], [3.0, 1.0]]
W = [[1.0, 0.5], [0.2, 0.1], [0.4, 0.3]]
```

For the first: `h[0] = W @ x[0]`

```python
h[0] = [2.0, 0.4, 1.0]
h[1] = [3.5, 0.7, {}]
```
"""


def test_heads_of_a_table_are_functions_of_its_first_column() -> None:
    table = (
        "| x | GELU(x) | ReLU(x) |\n|---|---|---|\n| -1.0 | -0.159 | 0.0 |\n| 0.5 | {} | 0.5 |\n| 2.0 | 1.954 | 2.0 |\n"
    )
    assert verdicts(table.replace("{}", "0.346")) == ["rounded", "right"]
    assert verdicts(table.replace("{}", "0.436")) == ["wrong", "right"]


def test_means_in_code_are_worked_out() -> None:
    code = "```python\nx = np.array([1.0, 2.0, 3.0, 6.0])\nmiddle = x.mean()\ny = x - middle\nprint(y)\n```\n\n```\n[-2. -1. 0. {}]\n```\n"
    assert verdicts(code.replace("{}", "3.")) == ["right"]
    assert verdicts(code.replace("{}", "4.")) == ["wrong"]


@pytest.mark.parametrize(("shown", "verdict"), [("0.731", "rounded"), ("0.931", "wrong")])
def test_exponentials_over_sum_are_a_softmax(shown: str, verdict: str) -> None:
    assert verdicts(f"Row 1: exp([1, 2]) / sum = [0.269, {shown}]\n") == [verdict]
