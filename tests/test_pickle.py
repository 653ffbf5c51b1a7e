"""What people send to other processes: the package as a global of a function, and worked solutions."""

from __future__ import annotations

import pickle

import cloudpickle

import qkv


def test_a_function_that_uses_qkv_can_be_sent():
    sent = cloudpickle.loads(cloudpickle.dumps(lambda: qkv.attention))
    assert sent() is qkv.attention
    assert pickle.loads(pickle.dumps(qkv)) is qkv


def test_a_solution_can_be_sent():
    solution = qkv.work(Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]], mask=[[1, 1]])
    solution["A"].digits(30)  # values are kept from here on; they are not sent
    sent = pickle.loads(pickle.dumps(solution))
    assert sent == solution
    assert sent.to_json() == solution.to_json()
    assert str(pickle.loads(pickle.dumps(solution["A"]))) == str(solution["A"])


def test_a_sheet_can_be_sent_after_it_was_checked():
    sheet = qkv.read("$$2 + 2 = 5$$")
    assert sheet.check().summary == {"wrong": 1}
    sent = pickle.loads(pickle.dumps(sheet))
    assert sent == sheet
    assert sent.check() == sheet.check()
