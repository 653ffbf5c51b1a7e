"""The node tests that the ONNX project ships for its Attention operator: 93 cases that nobody here wrote."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("onnx", reason="onnx is not installed: make test-peers installs it", exc_type=ImportError)

from onnx_attention import run_node

pytestmark = pytest.mark.peers


def cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, while they make their data
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases("Attention")
    return [c for c in found if c.name.startswith("test_attention_") and not c.name.endswith("_expanded")]


CASES = {case.name: case for case in cases()}


def test_all_of_them_are_here():
    assert len(CASES) >= 93


@pytest.mark.parametrize("name", CASES)
def test_node(name):
    case = CASES[name]
    (node,) = case.model.graph.node
    for inputs, expected in case.data_sets:
        for mine, theirs in zip(run_node(node, list(inputs)), expected, strict=True):
            assert mine.dtype == theirs.dtype
            assert mine.shape == theirs.shape
            # Two units of bfloat16's last place: their own runner's rule.
            rtol = max(case.rtol, 2**-6) if theirs.dtype.name == "bfloat16" else case.rtol
            np.testing.assert_allclose(mine.astype(np.float64), theirs.astype(np.float64), rtol=rtol, atol=case.atol)
