"""Worker processes that answer the visitors of a server in turn, so that a hostile page costs only itself.

Whoever works longer than a moment makes room: another process takes its place, and it goes on at low priority until its
time is up. So quick pages never wait for slow ones.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from html import escape

import anyio.to_thread

from qkv.page.answer import Answer
from qkv.page.responder import Task
from qkv.workers import Ended, Limits, Worker

LIMITS = Limits(seconds=10, megabytes=2000)
QUICK = 2.0  # seconds after which a page makes room
MOST_SLOW = 2  # processes that may be slow at once; who comes then is told to come back
KEPT = 200  # answers that are remembered: a class opens the same sheet
LARGEST_KEPT = 200_000  # characters
BUSY = '<p class="summary none">Others are at work on long pages; try this one again in a few seconds.</p>'


class Crew:
    """Some worker processes and the answers that they gave."""

    def __init__(self, size: int, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self.workers = {self._worker() for _ in range(size)}
        self.slow = 0
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        self._kept: OrderedDict[tuple[str, frozenset[tuple[str, str]]], Answer] = OrderedDict()

    def _worker(self) -> Worker:
        return Worker("qkv.page.responder:Responder", None, self.limits)

    async def start(self) -> None:
        """Start the processes, so that the first visitor need not wait for them."""
        async with anyio.create_task_group() as group:
            for worker in self.workers:
                group.start_soon(anyio.to_thread.run_sync, worker.start)
        for worker in self.workers:
            self._free.put_nowait(worker)

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers:
            worker.close()

    async def free(self) -> Worker:
        """A worker, once there is one: it must be asked or given back."""
        return await self._free.get()

    def give_back(self, worker: Worker) -> None:
        """A worker that is not needed after all."""
        self._free.put_nowait(worker)

    def known(self, path: str, form: dict[str, str]) -> Answer | None:
        """An answer that was given before."""
        return self._kept.get((path, frozenset(form.items())))

    async def answer(self, worker: Worker, path: str, form: dict[str, str]) -> Answer:
        """The answer of a worker, within its limits."""
        asked = asyncio.ensure_future(anyio.to_thread.run_sync(self._ask, worker, (path, form)))
        done, _ = await asyncio.wait({asked}, timeout=QUICK)
        if done:
            self._free.put_nowait(worker)
            answer = asked.result()
        else:
            answer = await self._slowly(worker, asked)
        if len(answer.body) <= LARGEST_KEPT:
            self._kept[path, frozenset(form.items())] = answer
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return answer

    async def _slowly(self, worker: Worker, asked: asyncio.Future[Answer]) -> Answer:
        """The rest of a long answer, with another process in this one's place."""
        crowded = self.slow >= MOST_SLOW
        self.slow += 1
        worker.step_back()
        if crowded:
            worker.close()
        other = self._worker()
        self.workers.add(other)
        await anyio.to_thread.run_sync(other.start)
        self._free.put_nowait(other)
        try:
            answer = await asked
            return Answer(BUSY) if crowded else answer
        finally:
            self.slow -= 1
            worker.close()
            self.workers.discard(worker)

    @staticmethod
    def _ask(worker: Worker, task: Task) -> Answer:
        try:
            answer: Answer = worker.ask(task)
            return answer
        except Ended as error:
            return Answer(f'<p class="summary none">This could not be finished: {escape(str(error))}.</p>')


def usual_size() -> int:
    """How many processes serve: one for each core, and at least two."""
    return max(2, os.cpu_count() or 2)
