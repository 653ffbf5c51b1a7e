"""Patience: what a terminal shows while something takes long. Nothing is shown where nobody looks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

PATIENCE = 1.0  # seconds before anything is shown


def walking(paths: Sequence[str], doing: str) -> Iterator[str]:
    """The paths one by one, with a bar for several and a spinner for one; neither is shown for quick work."""
    if not sys.stderr.isatty():
        yield from paths
    elif len(paths) == 1:
        with waiting(f"{doing} {paths[0]}"):
            yield paths[0]
    else:
        yield from _bar(paths, doing)


def _bar(paths: Sequence[str], doing: str) -> Iterator[str]:
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(console=Console(stderr=True), transient=True)
    task = progress.add_task(doing, total=len(paths))
    with _shown(progress.start, progress.stop, PATIENCE):
        for path in paths:
            yield path
            progress.advance(task)


@contextmanager
def waiting(message: str, after: float = PATIENCE) -> Iterator[None]:
    """A spinner while the block runs, from `after` seconds on."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(message)
    with _shown(status.start, status.stop, after):
        yield


@contextmanager
def _shown(start: Callable[[], None], stop: Callable[[], None], after: float) -> Iterator[None]:
    """Show something while the block runs, from `after` seconds on."""
    timer = threading.Timer(after, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be starting just now
        stop()


@contextmanager
def counting(total: int, doing: str) -> Iterator[Callable[[], None]]:
    """A bar that goes on by one whenever the function is called that this gives."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda: bar.advance(task)
