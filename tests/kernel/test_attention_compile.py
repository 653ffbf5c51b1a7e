"""Compiling: other vector units, no folder for the cache, and a cache that notices changed sources."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from qkv.kernel import attention, jit, warmup

NARROW = """
import numpy as np
from qkv.kernel import attention, jit
print(jit.vector_unit().width)
rng = np.random.default_rng(0)
for n_q, n_k, d in ((1, 70, 20), (40, 70, 20)):
    q, k, v = (rng.standard_normal((2, n, d)).astype(np.float32) for n in (n_q, n_k, n_k))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(d)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(attention(q, k, v), expected, rtol=2e-5, atol=2e-6)
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="asks for x86 processors by name")
def test_another_vector_unit(tmp_path):
    other = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+f16c"}
    environment = os.environ | other | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", NARROW], env=environment, timeout=240, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "32"), done.stderr


def double(x: int) -> int:
    return 2 * x


def test_without_a_folder_to_write_to(monkeypatch):
    def refuse(self, function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(jit._KernelCache, "__init__", refuse)
    assert jit.entry(double)(21) == 42


def test_the_cache_goes_stale_with_any_source_of_the_kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(jit.numba.config, "CACHE_DIR", str(tmp_path))
    for stamp, hits in (("one", 0), ("one", 1), ("two", 0)):
        monkeypatch.setattr(jit, "sources_stamp", lambda stamp=stamp: stamp)
        function = jit.entry(double)
        assert function(21) == 42
        assert sum(function.stats.cache_hits.values()) == hits


COMPILE = """
import sys
from qkv.kernel import jit
sys.stderr.isatty = lambda: {terminal}
def double(x): return 2 * x
def triple(x): return 3 * x
jit.entry(double)(1), jit.entry(triple)(1)
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_of_compiling_once(tmp_path, terminal):
    script = tmp_path / "script.py"
    script.write_text(COMPILE.format(terminal=terminal))
    for times in (1, 0):  # what is on disk already is not compiled again
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        assert done.stderr.count("qkv: compiling") == (times if terminal else 0)
        assert done.stderr.count("qkv warmup") == (times if terminal else 0)


def test_warmup_says_what_it_compiles():
    said = []
    assert warmup(said.append) >= 0
    assert said
    assert np.isfinite(attention(np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 3)))).all()
