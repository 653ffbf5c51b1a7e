"""Threads: the same bits for any number of them, many callers at once, children after fork, no pool for small problems."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from qkv.kernel import attention, attention_backward


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


CASES = {
    "panels": (random(4, 300, 32), random(4, 300, 32), {}),
    "causal": (random(3, 500, 20), random(3, 500, 20), {"causal": True}),
    "split keys": (random(1, 1, 64), random(1, 9000, 64), {}),
    "split keys of a panel": (random(1, 20, 32), random(1, 5000, 32), {"causal": True}),
    "groups": (random(8, 1, 64), random(2, 5000, 64), {"window": (4000, 0)}),
    "masked": (random(2, 300, 32), random(2, 300, 32), {"mask": np.random.default_rng(0).random((300, 300)) < 0.5}),
}


@pytest.mark.parametrize("name", CASES)
def test_bitwise_the_same_for_any_number_of_threads(name):
    q, k, options = CASES[name]
    first = attention(q, k, k, threads=1, **options)
    for threads in (1, 2, 3, 8, None):
        np.testing.assert_array_equal(attention(q, k, k, threads=threads, **options), first)


def test_gradients_are_bitwise_the_same_too():
    q, k = random(4, 200, 16), random(2, 2500, 16)
    out, lse = attention(q, k, k, return_lse=True)
    first = attention_backward(out, q, k, k, out, lse, threads=1)
    for threads in (2, 5):
        for mine, theirs in zip(attention_backward(out, q, k, k, out, lse, threads=threads), first, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_many_python_threads_at_once():
    expected = {name: attention(q, k, k, **options) for name, (q, k, options) in CASES.items()}
    wrong = []

    def call(name):
        q, k, options = CASES[name]
        for _ in range(15):
            if not np.array_equal(attention(q, k, k, **options), expected[name]):
                wrong.append(name)

    callers = [threading.Thread(target=call, args=(name,)) for name in [*CASES] * 2]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert not wrong
    assert not any(caller.is_alive() for caller in callers)


FORK = """
import os, sys
import numpy as np
from qkv.kernel import attention
x = np.random.default_rng(0).standard_normal((4, 400, 32), dtype=np.float32)
expected = attention(x, x, x, threads=2)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(attention(x, x, x, threads=2), expected) else 3)
_, status = os.waitpid(child, 0)
assert np.array_equal(attention(x, x, x, threads=2), expected)
sys.exit(os.waitstatus_to_exitcode(status))
"""

SMALL = """
import threading
import numpy as np
from qkv.kernel import attention
x = np.ones((2, 20, 8), np.float32)
attention(x, x, x)
attention(x, x, x, causal=True, threads=8)
assert threading.active_count() == 1, threading.enumerate()
"""

SET_BY_NUMBA = """
import threading
import numpy as np
from qkv.kernel import attention
x = np.ones((8, 300, 32), np.float32)
attention(x, x, x)
assert threading.active_count() == 3, threading.enumerate()
"""

IDLE = """
import time
import numpy as np
from qkv.kernel import attention
x = np.ones((8, 300, 32), np.float32)
attention(x, x, x, threads=4)
time.sleep(0.05)
before = time.process_time()
time.sleep(0.5)
assert time.process_time() - before < 0.1
"""

AT_THE_END = """
import numpy as np
from qkv.kernel import attention
x = np.ones((8, 300, 32), np.float32)
attention(x, x, x, threads=2)
"""


def run_alone(program, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=os.environ | environment,
        timeout=120,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_can_compute():
    done = run_alone(FORK)
    assert done.returncode == 0, done.stderr


def test_small_problems_stay_on_the_calling_thread():
    done = run_alone(SMALL)
    assert done.returncode == 0, done.stderr


def test_threads_follow_numba():
    done = run_alone(SET_BY_NUMBA, NUMBA_NUM_THREADS="3")
    assert done.returncode == 0, done.stderr


def test_threads_with_nothing_to_do_sleep():
    done = run_alone(IDLE)
    assert done.returncode == 0, done.stderr


def test_a_process_may_end_while_its_threads_wait_for_more():
    done = run_alone(AT_THE_END)
    assert done.returncode == 0, done.stderr


def test_single_and_double_precision_share_the_threads():
    q, k = random(4, 200, 32), random(4, 200, 32)
    single = attention(q, k, k, threads=1)
    double = attention(q.astype(float), k.astype(float), k.astype(float), threads=1)
    for _ in range(20):
        np.testing.assert_array_equal(attention(q, k, k, threads=3), single)
        np.testing.assert_array_equal(attention(q.astype(float), k.astype(float), k.astype(float), threads=3), double)
