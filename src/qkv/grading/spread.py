"""Hand-ins graded on a Dask cluster. Needs the extra `dask`: pip install 'qkv[dask]'."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from qkv.errors import MissingExtra
from qkv.grading.one import Graded, Setup, Submission, assignment_for, grade_one

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 8  # hand-ins that are sent ahead for every thread of the cluster
TRIES = 5  # how often a hand-in is tried anew when the worker that had it dies


def client_of(address: str | None) -> Client:
    """A cluster by its address, or one of processes on this machine."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("--engine dask needs the package distributed: pip install 'qkv[dask]'") from error
    return Client(address) if address else Client(processes=True, threads_per_worker=1, dashboard_address=None)


def graded(submissions: Iterable[Submission], setup: Setup, client: Client) -> Generator[Graded]:
    """Each submission graded once, in the order in which they are done; a worker that dies loses nothing."""
    from distributed import as_completed

    assignment_for(setup)
    waiting = iter(submissions)
    [shared] = client.scatter([setup], broadcast=True)

    def sent(count: int) -> list[Any]:
        return [
            client.submit(grade_one, shared, submission, pure=False, retries=TRIES)
            for submission in islice(waiting, count)
        ]

    threads = sum(client.nthreads().values()) or 1
    futures = as_completed(sent(AHEAD * threads))
    for future in futures:
        result: Graded = future.result()
        future.release()
        for more in sent(1):
            futures.add(more)
        yield result
