"""Compiling once for all workers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from qkv.kernel import warmup as compile_here


def warmup(client: Any) -> None:
    """Compile every kernel on one worker of each machine, then load it on all of them.

    Workers find the machine code on disk: beside the package, or in NUMBA_CACHE_DIR, which may be a folder that all
    machines share. Without this, all workers of a machine would compile the same code at the same time.
    """
    first = {urlsplit(address).hostname: address for address in client.nthreads()}
    client.run(_compile, workers=list(first.values()))
    client.run(_compile)


def _compile() -> float:
    return compile_here()
