"""Attention on a cluster of processes: as on one machine, in little memory, and though a worker dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

distributed = pytest.importorskip("distributed", reason="Dask is not installed: make test-peers installs it")
import dask.array as da  # noqa: E402
from dask_inputs import lazy  # noqa: E402

import qkv  # noqa: E402
from qkv.kernel import warmup  # noqa: E402

pytestmark = pytest.mark.peers
HERE = str(Path(__file__).parent)


def start(workers, **options):
    """A client of a cluster of processes with one thread each, which find the modules of this folder."""
    warmup()  # on disk before the workers ask for it
    environment = {"PYTHONPATH": os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")])} | options.pop("env", {})
    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", env=environment, **options
    )
    return cluster, distributed.Client(cluster)


@pytest.fixture(scope="module")
def client():
    cluster, client = start(2)
    with cluster, client:
        qkv.dask.warmup(client)
        yield client


BIAS = np.random.default_rng(5).standard_normal((4, 200, 300)).astype(np.float32)
OPTIONS = {
    "plain": {},
    "causal": {"causal": True},
    "window": {"window": (70, 30)},
    "lengths": {"lengths": [300, 130], "causal": "lower-right"},
    "bias": {"bias": da.from_array(BIAS, chunks=(2, 60, 100)), "sinks": 0.5, "softcap": 3.0},
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("name", OPTIONS)
def test_as_on_one_machine(client, name, dtype):
    options = OPTIONS[name]
    shapes = ((2, 4, 200, 32), (1, 2, 60, 32)), ((2, 2, 300, 32), (1, 1, 70, 32)), ((2, 2, 300, 16), (2, 1, 100, 16))
    q, k, v = (lazy(shape, chunks, seed, dtype) for seed, (shape, chunks) in enumerate(shapes))
    out, lse = qkv.dask.attention(q, k, v, return_lse=True, **options)
    dout = lazy(out.shape, out.chunks, 3, dtype)
    slopes = qkv.dask.attention_backward(dout, q, k, v, out, lse, **options)
    got = client.compute([out, lse, *slopes], sync=True)
    arrays = client.compute([q, k, v, dout], sync=True)
    known = {key: np.asarray(x) if isinstance(x, da.Array) else x for key, x in options.items()}
    one = qkv.attention(*arrays[:3], return_lse=True, **known)
    expected = [*one, *qkv.attention_backward(arrays[3], *arrays[:3], *one, **known)]
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.dtype == theirs.dtype
        size = max(1.0, np.abs(theirs[np.isfinite(theirs)]).max())
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6 * size)


LIMIT = 500_000_000  # bytes a worker may use, of which Python, Numba and Dask take 210 million


def _peak_bytes():
    """Of this program alone; what `resource` tells counts the process that started it too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def test_a_sequence_larger_than_the_memory_of_a_worker():
    """Every query uses every key before it: 550 MB of inputs, more than a worker may use, twice what it has free."""
    cluster, client = start(2, memory_limit=LIMIT)
    with cluster, client:
        q, k, v = (lazy((8, 7_500, 768), (8, 300, 768), seed) for seed in range(3))
        assert q.nbytes + k.nbytes + v.nbytes > LIMIT
        workers = client.run(os.getpid)
        out = client.persist(qkv.dask.attention(q, k, v, causal=True))
        distributed.wait(out)
        assert client.run(os.getpid) == workers  # nobody was restarted for using too much
        assert max(client.run(_peak_bytes).values()) <= LIMIT
        got = {i: out.blocks[:, i].compute() for i in (0, 12, 24)}
    q, k, v = (x.compute(scheduler="threads") for x in (q, k, v))
    for i, block in got.items():
        rows = slice(300 * i, 300 * (i + 1))
        expected = qkv.attention(q[:, rows], k, v, causal=True, offset=rows.start)
        np.testing.assert_allclose(block, expected, rtol=0, atol=1e-6)


def test_a_worker_that_is_killed_changes_nothing():
    cluster, client = start(3)
    with cluster, client:
        q, k, v = (lazy((2, 8_000, 64), (1, 500, 64), seed) for seed in range(3))
        before = client.run(os.getpid)
        out, lse = client.persist(qkv.dask.attention(q, k, v, causal=True, return_lse=True))
        blocks = distributed.futures_of(out)
        next(iter(distributed.as_completed(blocks)))
        os.kill(next(iter(before.values())), signal.SIGKILL)
        assert not all(future.done() for future in blocks)
        got = client.gather(client.compute([out, lse]))
        assert len(set(client.run(os.getpid).values()) - set(before.values())) == 1  # one is new
    arrays = [x.compute(scheduler="threads") for x in (q, k, v)]
    for mine, theirs in zip(got, qkv.attention(*arrays, causal=True, return_lse=True), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


def _compiled_and_loaded():
    from qkv.kernel.decode import decode
    from qkv.kernel.forward import forward
    from qkv.kernel.gradient import backward

    kernels = (forward, decode, backward)
    return sum(sum(k.stats.cache_misses.values()) for k in kernels), sum(
        sum(k.stats.cache_hits.values()) for k in kernels
    )


def test_one_worker_compiles_for_all(tmp_path):
    cluster, client = start(3, env={"NUMBA_CACHE_DIR": str(tmp_path)})
    with cluster, client:
        qkv.dask.warmup(client)
        counts = sorted(client.run(_compiled_and_loaded).values())
    assert counts == [(0, 6), (0, 6), (6, 0)]  # three kernels for two types
