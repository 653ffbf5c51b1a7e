"""Values that code printed: the fence under a fence, a console, and what a notebook keeps."""

from __future__ import annotations

import json

import pytest

import qkv

GIVEN = "Q = np.array([[1., 0.], [0., 2.]])\nK = np.array([[1., 1.], [0., 1.]])\n"
SCORES = "[[1. 0.]\n [2. 3.]]"  # the last is 2

DOCUMENTS = {
    "the fence under the code": f"```python\n{GIVEN}scores = Q @ K.T\nprint(scores)\n```\n\n```\n{SCORES}\n```\n",
    "an output that is announced": f"```python\n{GIVEN}s = Q @ K.T\ns\n```\n**Output:**\n```text\narray({SCORES})\n```\n",
    "several arrays": f"```python\n{GIVEN}print(K)\nprint(Q @ K.T)\n```\n```\n[[1. 1.]\n [0. 1.]]\n{SCORES}\n```\n",
    "a console in a fence without a language": f"```python\n{GIVEN}s = Q @ K.T\n```\n```\n>>> s\narray({SCORES})\n```\n",
    "an expression at a prompt": f"```python\n{GIVEN}s = Q @ K.T\n```\n```\n>>> s / 2\n[[0.5 0. ]\n [1.  2. ]]\n```\n",
    "words before an array": f"```python\n{GIVEN}s = Q @ K.T\nprint('Scores:\\n', s)\n```\n```\nScores:\n {SCORES}\n```\n",
    "words on both sides of it": (
        f"```python\n{GIVEN}s = Q @ K.T\nprint('=== run ===')\nprint(f'K is {{K}}, S is {{s}} here')\n```\n"
        f"```\n=== run ===\nK is [[1. 1.]\n [0. 1.]], S is {SCORES} here\n```\n"
    ),
    "a remark beside each row": (
        f"```python\n{GIVEN}s = Q @ K.T\nprint('S', s)\n```\n*Output:*\n```\nS [[1. 0.]  # the cat\n [2. 3.]]  # the mat\n```\n"
    ),
    "a table that pandas shows": (
        f"```python\n{GIVEN}s = Q @ K.T\nprint('sums', K.sum(axis=1))\npd.DataFrame(s, columns=['a', 'b']).round(1)\n```\n"
        "```\nsums [2. 1.]\n     a    b\nq  1.0  0.0\nr  2.0  3.0\n```\n"
    ),
    "a script that shows what it printed": f"```python\n{GIVEN}s = Q @ K.T\nprint(s)\n>>> tensor({SCORES})\n```\n",
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_false_output_is_found(document: str) -> None:
    *_, claim = qkv.check(document).claims
    assert claim.verdict.value == "wrong"
    assert [(cell.row, cell.column) for cell in claim.cells if cell.verdict.value == "wrong"] == [(2, 2)]


SUMS = f"{GIVEN}T = Q * K\nprint(T)\n# [[1 0]\n#  [0 2]]\nprint(T.sum(axis=1))  # [1 2]\nprint(np.sum(K, axis=0))  # [1 2]\n"


def test_arrays_are_multiplied_cell_by_cell_and_added_along_an_axis() -> None:
    found = qkv.check(f"```python\n{SUMS}```\n").claims
    assert [claim.verdict.value for claim in found] == ["right", "right", "right"]


def test_what_was_printed_above_the_table_of_the_last_line_is_read() -> None:
    code = f"```python\n{GIVEN}s = Q @ K.T\nprint('Sums:', s.sum(axis=1))\npd.DataFrame(s)\n```\n"
    table = "     k1   k2\nq1  1.0  0.0\nq2  2.0  2.0\n"
    claim = next(claim for claim in qkv.check(f"{code}```\nSums: [1. 4.]\n{table}```\n").claims if claim.line == 9)
    assert claim.verdict.value == "right"


def test_words_that_no_print_has_leave_an_output_to_its_own_words() -> None:
    document = f"```python\n{GIVEN}s = Q @ K.T\nprint('Scores:', s)\n```\n```\nTimings: [[1. 0.]\n [2. 3.]]\n```\n"
    assert not [claim for claim in qkv.check(document).claims if claim.verdict.value == "wrong"]


def test_an_output_of_something_else_is_no_claim_about_the_last_name() -> None:
    document = f"```python\n{GIVEN}s = Q @ K.T\nprint(s.shape)\nprint(s)\n```\n```\n{SCORES}\n```\n"
    assert not [claim for claim in qkv.check(document).claims if claim.verdict.value == "wrong"]


def test_a_name_that_is_assigned_anew_in_a_later_fence() -> None:
    first = f"```python\n{GIVEN}s = Q @ K.T\nprint(s)\n```\n```\n[[1. 0.]\n [2. 2.]]\n```\n"
    again = "```python\ns = s / 2\nprint(s)\nw = softmax(s)\n```\n```\n[[0.5 0. ]\n [1.  1. ]]\n```\n"
    assert [claim.verdict.value for claim in qkv.check(first + again).claims] == ["right", "right"]


def test_a_batch_of_one() -> None:
    code = "x = torch.tensor([[[1., 0.], [0., 2.]]])\nW_q = torch.tensor([[1., 1.], [0., 1.]])\nq = x @ W_q\nprint(q)\n"
    claims = qkv.check(f"```python\n{code}```\n```\ntensor([[[1., 1.],\n         [0., 3.]]])\n```\n").claims
    assert [claim.verdict.value for claim in claims] == ["wrong"]


def notebook(*, above: bool, indent: int | None = 1) -> str:
    outputs = [
        {"data": {"text/plain": SCORES.splitlines(True)}, "output_type": "execute_result"},
        {"data": {"image/png": "abc"}, "output_type": "display_data"},
    ]
    source = {"source": ["s = Q @ K.T\n", "s"]}
    shown = {"outputs": outputs} | source if above else source | {"outputs": outputs}
    cells = [{"cell_type": "code", "outputs": [], "source": GIVEN.splitlines(True)}, {"cell_type": "code"} | shown]
    return json.dumps({"cells": cells}, indent=indent)


@pytest.mark.parametrize("above", [True, False])
def test_a_notebook_keeps_what_its_code_printed(above: bool) -> None:
    text = notebook(above=above)
    (claim,) = qkv.check(text).claims
    assert claim.verdict.value == "wrong"
    assert "[[1. 0.]" in text.split("\n")[claim.line - 1]


def test_a_notebook_on_one_line_keeps_it_too() -> None:
    (claim,) = qkv.check(notebook(above=False, indent=None)).claims
    assert claim.verdict.value == "wrong"
