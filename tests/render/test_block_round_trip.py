"""What is written of a block, forwards and backwards, is read back and called right."""

from __future__ import annotations

import pytest

import qkv
from qkv.expr.nodes import Name
from qkv.render.shown import RESULTS

I3 = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
GIVEN: dict[str, object] = {
    "W_Q": [[1, 0], [0, 1], [1, 1]], "W_K": [[1, 1], [0, 1], [1, 0]], "W_V": [[1, 0, 1], [0, 1, 0], [1, 1, 0]],
    "W_1": [[1, -1, 0, 2], [0, 1, 1, -1], [1, 0, -1, 1]], "W_2": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]],
    "gamma_1": [1, 1, 2],
}  # fmt: skip
WAYS: dict[str, dict[str, object]] = {
    "post-norm, GELU, tokens as they are": {
        "X": [[1, 0, 2], [0, 1, 1]], "b_1": ["0.1", 0, 0, 1], "b_2": [0, 0, 1], "beta_1": [0, 0, 1], "norm": "post",
        "eps": "1e-5", "W_U": [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, -1]], "targets": [3, 0], "activation": "gelu",
    },
    "pre-norm, RMS, SwiGLU, tied embedding": {
        "tokens": [0, 2], "E": [[1, 0, 2], [0, 1, 1], [1, 1, 0]], "positions": "sinusoidal", "norm": "pre rms",
        "W_3": [[1, -1, 0, 2], [0, 1, 1, -1], [1, 0, -1, 1]], "tied": True, "targets": [2, 1], "temperature": "0.7",
    },
}  # fmt: skip

HEADS = {"Q": [[1, 2], [1, -1]], "K": [[2, -1], [1, 1], [0, 3]], "V": [[1, 2], [3, 1], [0, 1]]}
OTHER = {**GIVEN, "W_Q": [[1, 2], [0, 1], [1, 0]], "W_1": [[1, 0, 2, 1], [3, 1, 1, 0], [0, 1, -1, 2]]}
CROSS = {"W_Q": [[1, 2], [0, 1], [1, 1]], "W_K": [[1, 0], [2, 1]], "W_V": [[1, 0, 1], [0, 2, 1]]}
ENDS = {"X": [[1, 0, 2], [0, 1, 1]], "W_U": [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, -1]], "targets": [3, 0]}
ROWS: dict[str, dict[str, object]] = {
    "linear attention, elu + 1": {**HEADS, "linear": "elu+1"},
    "linear attention, ReLU, nothing divided": {**HEADS, "linear": "relu", "normalise": None},
    "cosines": {**HEADS, "score": "cosine"},
    "scaled cosines": {**HEADS, "score": "cosine", "scale": "0.1"},
    "a window": {**HEADS, "window": 1},
    "a causal window": {"X": [[1, 2, 0], [0, 1, 1], [1, 1, 1]], **{n: GIVEN[n] for n in ("W_Q", "W_K", "W_V")}, "window": 1, "mask": "causal"},
    "two layers, alike": {**GIVEN, **ENDS, "norm": "post", "layers": 2},
    "two layers, each its own": {**ENDS, "norm": "pre", "layers": [GIVEN, OTHER], "gamma_3": [1, 2, 1], "top": 2},
    "a decoder": {**GIVEN, **ENDS, "Y": [[1, 1], [2, 0]], "cross": CROSS, "mask": "causal", "norm": "post", "gamma_3": [1, 1, 2]},
}  # fmt: skip


@pytest.mark.parametrize("form", ["to_markdown", "to_latex"])
@pytest.mark.parametrize("way", ROWS)
def test_every_row_is_read_back_and_right(way: str, form: str) -> None:
    solution = qkv.work(**ROWS[way]).backward(jacobian=True)
    claims = qkv.check(getattr(solution, form)(digits=9, depth="brief")).claims
    shown = [step for step in solution.traces[0].program.steps if step.role in RESULTS]
    assert {str(step.symbol) for step in shown if not isinstance(step.expr, Name)} <= {claim.name for claim in claims}
    assert {claim.verdict.value for claim in claims} <= {"right", "rounded", "drifted"}


@pytest.mark.parametrize("form", ["to_markdown", "to_latex"])
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_every_step_is_read_back_and_right(way: str, back: bool, form: str) -> None:
    solution = qkv.work(**GIVEN, **WAYS[way])
    solution = solution.backward(rate="0.1") if back else solution
    claims = qkv.check(getattr(solution, form)(digits=9, depth="brief")).claims
    shown = [step for step in solution.traces[0].program.steps if step.role in RESULTS]
    assert len(claims) >= len(shown)
    assert {claim.verdict.value for claim in claims} <= {"right", "rounded", "drifted"}
