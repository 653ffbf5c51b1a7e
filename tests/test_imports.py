"""What importing and using qkv loads: seen from a fresh interpreter, as lists of modules, not as time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "torch", "jax", "sympy", "scipy", "matplotlib", "onnxruntime", "dask")
USES = {
    "nothing": ("", (*HEAVY, "numpy", "flint", "rich", "click", "mpmath")),
    "work": (
        "qkv.work(Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]])['A'].digits(6)",
        (*HEAVY, "numpy", "rich", "click"),
    ),
    "a chain in symbols": (
        r"assert qkv.check('$$ \\sum_{j=1}^2 a_{1j} v_{j1} = \\sum_{j=1}^2 v_{j1} a_{1j} $$').claims",
        (*HEAVY, "numpy", "rich", "click"),
    ),
    "print": ("str(qkv.work(Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]]))", HEAVY),
    "dir": ("dir(qkv)", (*HEAVY, "numpy", "flint", "rich")),
}


@pytest.mark.parametrize("use", USES)
def test_only_what_is_needed_is_loaded(use: str) -> None:
    code, unwanted = USES[use]
    script = f"import json, sys, qkv\n{code}\nprint(json.dumps(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "qkv" in loaded
    assert not loaded & set(unwanted)
