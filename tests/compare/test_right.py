"""No alarm on right implementations, however they are written."""

from __future__ import annotations

import numpy as np
import pytest
from variants import ALL, arrays, right

import qkv

SOME = [ALL[i] for i in np.random.default_rng(0).permutation(len(ALL))[:200]]


@pytest.mark.parametrize("layout, scale, mask, softmax", SOME, ids=["-".join(choice) for choice in SOME])
def test_no_alarm(layout, scale, mask, softmax):
    mine = right(np, layout, scale, mask, softmax)
    result = qkv.compare(mine, *arrays(layout))
    assert result.agrees, result.says
    said = qkv.compare(mine, *arrays(layout), causal=mask != "none")
    assert said.agrees, said.says


@pytest.mark.parametrize("layout", ["bhnd", "bnd", "nd"])
def test_the_variants_can_be_wrong(layout):
    """The generator's own functions are not all alike: causal ones are no plain attention."""
    result = qkv.compare(right(np, layout, "scores", "where", "shifted"), *arrays(layout), causal=False)
    assert (result.agrees, result.stage) == (False, "mask")
