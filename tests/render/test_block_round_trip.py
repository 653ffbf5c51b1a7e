"""What is written of a block, forwards and backwards, is read back and called right."""

from __future__ import annotations

import pytest

import qkv
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
