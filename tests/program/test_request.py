"""What may be passed, and the one sentence for what may not."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import qkv
from qkv.errors import LimitError, MaskedRowError, NameUnknownError, QkvError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.show import plain
from qkv.program.entries import as_number, as_rows
from qkv.program.kinds import plan
from qkv.program.request import Options, request

I2 = [[1, 0], [0, 1]]
NAN, INF = float("nan"), float("inf")

NUMBERS = [
    (3, "3", 0),
    (-2, "-2", 0),
    (0.1, "0.1", 1),
    (2.0, "2", 0),
    ("0.468", "0.468", 3),
    ("−1.50", "-1.50", 2),
    ("1/3", "1/3", None),
    (Fraction(1, 3), "1/3", None),
    (Fraction(4, 2), "2", 0),
    (Decimal("0.250"), "0.250", 3),
    (np.float32(0.1), "0.1", 1),
    (np.int64(7), "7", 0),
    (1e-7, "1e-07", 7),
]


@pytest.mark.parametrize("value, text, places", NUMBERS, ids=[repr(v) for v, _, _ in NUMBERS])
def test_numbers_keep_the_digits_they_are_written_with(value: object, text: str, places: int | None) -> None:
    number = as_number("X", value)
    assert (number.value, number.places) == (Fraction(text), places)


def test_arrays_are_lists() -> None:
    lists = request({"Q": I2, "K": I2, "V": [[0.1, 0.2], [0.3, 0.4]]})
    arrays = request({"Q": np.array(I2), "K": tuple(map(tuple, I2)), "V": np.array([[0.1, 0.2], [0.3, 0.4]], "f4")})
    assert plan(lists) == plan(arrays)


def test_flat_lists_are_one_token() -> None:
    assert qkv.work(Q=[1, 2], K=I2, V=I2)["Q"].shape == (1, 2)
    assert qkv.work(Q=[1, 2], K=I2, V=I2, columns=True)["Q"].shape == (2, 1)
    assert qkv.work(s=[[1, 2]], h=I2)["A"].digits() == qkv.work(s=[[1], [2]], h=I2)["A"].digits()


REFUSED: list[tuple[type[QkvError], str, dict[str, object]]] = [
    (ShapeError, "Q = X W_Q: X is 3×4 and W_Q is 3×3, so 4 columns meet 3 rows", {"X": [[1] * 4] * 3, "W_Q": [[1] * 3] * 3, "W_K": [[1] * 3] * 4}),
    (ShapeError, "S = Q K^T: Q is 2×2 and K^T is 3×2, so 2 columns meet 3 rows", {"Q": I2, "K": [[1, 2, 3]] * 2}),
    (ShapeError, "Output = A V: A is 2×2 and V is 3×1, so 2 columns meet 3 rows", {"Q": I2, "K": I2, "V": [[1], [2], [3]]}),
    (ShapeError, "X is ragged: row 1 has 2 numbers and row 2 has 1", {"X": [[1, 2], [3]], "W_Q": I2, "W_K": I2}),
    (ShapeError, "X is ragged: row 2 is 3, not a list of numbers", {"X": [[1, 2], 3], "W_Q": I2, "W_K": I2}),
    (ShapeError, "X is ragged: row 1, column 2 holds a list, not a number", {"X": [1, [2]], "W_Q": I2, "W_K": I2}),
    (ShapeError, "X is 5, but it must be a matrix: a list of rows", {"X": 5, "W_Q": I2, "W_K": I2}),
    (ShapeError, "X is a list of matrices, but all heads share one X", {"X": [I2], "W_Q": I2, "W_K": I2}),
    (ShapeError, "Q is nested 4 deep; a matrix is a list of rows, and heads are a list of matrices", {"Q": [[I2]], "K": I2}),
    (ShapeError, "s is 2×2, but it must be one vector", {"s": I2, "h": I2}),
    (ShapeError, "the number of heads is not clear: W_Q says 2, W_K says 1", {"X": I2, "W_Q": [I2, I2], "W_K": [I2]}),
    (NameUnknownError, "W_q is no matrix that attention knows; did you mean W_Q?", {"W_q": I2}),
    (ValueRefused, "Q, row 1, column 2, has nan, which is not a finite number", {"Q": [[1, NAN]], "K": I2}),
    (ValueRefused, "Q, row 1, column 1, has -inf, which is not a finite number", {"Q": [[-INF, 1]], "K": I2}),
    (ValueRefused, "Q, row 1, column 2, has 'two', which is not a number", {"Q": [[1, "two"]], "K": I2}),
    (ValueRefused, "Q, row 1, column 1, has True, which is not a number", {"Q": [[True, 1]], "K": I2}),
    (ValueRefused, "Q, row 1, column 1, has None, which is not a number", {"Q": [[None, 1]], "K": I2}),
    (ValueRefused, "Q, row 1, column 1, has 1/0, which divides by zero", {"Q": [["1/0", 1]], "K": I2}),
    (ValueRefused, "Q is empty", {"Q": [], "K": I2}),
    (ValueRefused, "Q is empty", {"Q": [[]], "K": I2}),
    (ValueRefused, "Q is empty in row 2", {"Q": [[1, 2], []], "K": I2}),
    (LimitError, "Q, row 1, column 1, has 1e999999, which is over the limit of 5000 digits", {"Q": [["1e999999", 1]], "K": I2}),
    (ValueRefused, "nothing is given: give Q, K and V, or X with W_Q, W_K and W_V, or s and h", {}),
    (ValueRefused, "queries are missing: give Q, or W_Q with X", {"X": I2, "W_K": I2}),
    (ValueRefused, "keys are missing: give K, or W_K with X (or with Y, the second sequence)", {"X": I2, "W_Q": I2}),
    (ValueRefused, "h, the vectors attended to, is missing", {"s": [1, 2]}),
    (ValueRefused, "U_a is missing: additive scores are v_aᵀ tanh(W_a s + U_a h)", {"s": [1, 2], "h": I2, "W_a": I2, "v_a": [1, 1]}),
    (ValueRefused, "a scale of zero cannot divide the scores: use scale=None to leave them as they are", {"Q": I2, "K": I2, "scale": 0}),
    (ValueRefused, "a scale of zero cannot divide the scores: use scale=None to leave them as they are", {"Q": I2, "K": I2, "scale": "sqrt(0)"}),
    (ValueRefused, "scale has nan, which is not a finite number", {"Q": I2, "K": I2, "scale": NAN}),
    (ValueRefused, "scale is 'big', but it must be None, a number, 'sqrt(d_k)', 'd_k' or 'sqrt(d_model)'", {"Q": I2, "K": I2, "scale": "big"}),
    (ValueRefused, "d_model is the length of a token, but X is not given", {"Q": I2, "K": I2, "scale": "sqrt(d_model)"}),
    (ValueRefused, "mask is 'cusal', but it must be None, 'causal' or a matrix", {"Q": I2, "K": I2, "mask": "cusal"}),
    (ShapeError, "S_masked = S_scaled + M: S_scaled is 2×2 and M is 1×2, so the mask does not cover the scores", {"Q": I2, "K": I2, "mask": [[0, 0]]}),
    (MaskedRowError, "A = softmax(S_masked): row 2 is masked everywhere, so it has no softmax: let it see at least one key", {"Q": I2, "K": I2, "mask": [[True, True], [False, False]]}),
    (ValueRefused, "one source vector has no mask: leave out the states that it must not see", {"s": [1, 2], "h": I2, "mask": "causal"}),
    (ValueRefused, "normalise is 'max', but it must be 'softmax' or 'sum'", {"Q": I2, "K": I2, "normalise": "max"}),
    (ValueRefused, "columns is 'yes', but it must be False, True, 'W x' or 'W^T x'", {"Q": I2, "K": I2, "columns": "yes"}),
    (ValueRefused, "heads is 0, but there must be a whole number of them, 1 or more", {"Q": I2, "K": I2, "heads": 0}),
    (ValueRefused, "Q has 2 numbers a token and cannot be cut into 3 heads of one width", {"Q": I2, "K": I2, "heads": 3}),
    (ValueRefused, "A = normalise(S_scaled): division by zero", {"Q": [[1, 0]], "K": [[1, 0], [-1, 0]], "normalise": "sum"}),
]  # fmt: skip


@pytest.mark.parametrize("kind, sentence, arguments", REFUSED, ids=[sentence[:50] for _, sentence, _ in REFUSED])
def test_one_sentence_for_each_mistake(kind: type[QkvError], sentence: str, arguments: dict[str, object]) -> None:
    with pytest.raises(QkvError) as caught:
        qkv.work(**arguments)
    assert type(caught.value) is kind
    assert str(caught.value) == sentence


def test_what_nothing_needs_is_said() -> None:
    assert qkv.work(X=I2, Q=I2, K=I2, V=I2).notes == ("X is given, but nothing here needs it",)
    assert qkv.work(Q=I2, K=I2, V=I2).notes == ()


def test_ones_in_a_mask_are_what_may_be_seen() -> None:
    s = qkv.work(Q=I2, K=I2, V=I2, mask=[[1, 0], [1, 1]])
    assert s["A"].digits()[0] == ("1", "0")
    assert s.notes == ("the mask holds 0 and 1: 1 is read as 'may be seen'",)


def test_additive_masks_may_hold_any_number() -> None:
    s = qkv.work(Q=I2, K=I2, V=I2, scale=None, mask=[["0.5", -INF], [Decimal("-Infinity"), 0]])
    assert s["S_masked"].digits() == (("1.5", "-inf"), ("-inf", "1"))


@pytest.mark.parametrize(
    "scale, formula",
    [("usual", "S / √d_k"), ("sqrt(d_k)", "S / √d_k"), ("√d_k", "S / √d_k"), ("d_k", "S / d_k"), (8, "S / 8"),
     ("sqrt(d_model)", "S / √d_model"), ("√64", "S / √64"), ("0.5", "S / 0.5"), (Fraction(1, 3), "S / (1/3)")],
)  # fmt: skip
def test_scales(scale: object, formula: str) -> None:
    program = plan(request({"X": I2, "W_Q": I2, "W_K": I2}, Options(scale=scale)))
    step = next(step for step in program.steps if step.spelled == "S_scaled")
    assert plain(step.expr) == formula


def test_rows_of_a_mask_are_nodes() -> None:
    assert as_rows("mask", [[0, -INF]], mask=True) == ((n.number(0), n.Infinite(-1)),)
