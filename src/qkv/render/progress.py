"""Patience: what a terminal shows while something takes long. Nothing is shown where nobody looks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

PATIENCE = 1.0  # seconds before a single file gets a spinner


def walking(paths: Sequence[str], doing: str) -> Iterator[str]:
    """The paths one by one, with a bar for several and a spinner for one that takes long."""
    if not sys.stderr.isatty():
        yield from paths
    elif len(paths) == 1:
        with waiting(f"{doing} {paths[0]}"):
            yield paths[0]
    else:
        yield from _bar(paths, doing)


def _bar(paths: Sequence[str], doing: str) -> Iterator[str]:
    from rich.console import Console
    from rich.progress import track

    yield from track(paths, description=doing, console=Console(stderr=True), transient=True)


@contextmanager
def waiting(message: str, after: float = PATIENCE) -> Iterator[None]:
    """A spinner while the block runs, from `after` seconds on."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(message)
    timer = threading.Timer(after, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()
