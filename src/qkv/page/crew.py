"""Worker processes that answer the visitors of a server in turn, so that a hostile page costs only itself.

There are two lanes. A page has a moment of processor in the quick lane; one that needs more, and one that is so long
that it must, goes on in the slow lane. Its process lets all others go first, and it takes few pages: so quick pages
never wait for slow ones. A process stops when its visitor has left.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import escape

from qkv.errors import QkvError
from qkv.page.answer import Answer
from qkv.page.respond import Task
from qkv.workers import Limits, Stopped, Worker

LIMITS = Limits(seconds=10, megabytes=2000)
QUICK = 1.0  # seconds of processor that a page may use in the quick lane
SHORT = 10_000  # characters of a request that finds a process of the quick lane kept free of longer ones
LONG = 40_000  # characters of a request that goes to the slow lane at once
MOST_SLOW = 8  # pages in the slow lane, the one in work among them; who comes then is told to come back
KEPT = 200  # answers that are remembered: a class opens the same sheet
LARGEST_KEPT = 200_000  # characters
BUSY = Answer('<p class="summary none">Others are at work on long pages; try this one again in a few seconds.</p>')


class Lane:
    """Some worker processes; a request waits while all of them are at work."""

    def __init__(self, size: int, limits: Limits, steps_back: bool = False) -> None:
        self.inside = 0  # requests that are answered or wait
        self._idle = [Worker("qkv.page.respond:Responder", None, limits, steps_back) for _ in range(size)]
        self._all = tuple(self._idle)
        self._room = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(size)  # each waits for one process

    async def start(self) -> None:
        """Start the processes, so that the first visitor need not wait for them."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(self._threads, worker.start) for worker in self._all))

    def close(self) -> None:
        """End all processes."""
        for worker in self._all:
            worker.close()
        self._threads.shutdown()

    async def answer(self, task: Task) -> Answer:
        """The answer to a request, within the limits of the lane. A request that is cancelled leaves the queue or stops
        its process."""
        self.inside += 1
        try:
            async with self._room:
                return await self._asked(task)
        finally:
            self.inside -= 1

    async def _asked(self, task: Task) -> Answer:
        worker = self._idle.pop()
        asked = asyncio.get_running_loop().run_in_executor(self._threads, worker.ask, task)
        try:
            found: Answer = await asyncio.shield(asked)
            return found
        finally:
            while not asked.done():  # cancelled; a process that has not begun yet does not hear of it
                worker.stop()
                await asyncio.wait({asked}, timeout=0.2)
            asked.exception()  # where it is not raised, nobody is there to hear it
            self._idle.append(worker)


class Crew:
    """Two lanes of worker processes, and the answers that they gave."""

    def __init__(self, size: int, limits: Limits = LIMITS) -> None:
        self._quick = Lane(size, replace(limits, processor=QUICK))
        self._slow = Lane(max(1, size // 4), limits, steps_back=True)  # started when it is first needed
        self._longer = asyncio.Semaphore(size - 1 or 1)  # requests in the quick lane that are not short
        self._kept: OrderedDict[tuple[str, frozenset[tuple[str, str]]], Answer] = OrderedDict()

    async def start(self) -> None:
        """Start the processes of the quick lane."""
        await self._quick.start()

    def close(self) -> None:
        """End all processes."""
        self._quick.close()
        self._slow.close()

    async def answer(self, path: str, form: dict[str, str]) -> Answer:
        """The answer to a request: one that was given before, or that of a process within its limits."""
        key = path, frozenset(form.items())
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        try:
            answer = await self._made((path, form))
        except QkvError as error:
            return Answer(f'<p class="summary none">This could not be finished: {escape(str(error))}.</p>')
        if len(answer.body) <= LARGEST_KEPT and answer is not BUSY:
            self._kept[key] = answer
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return answer

    async def _made(self, task: Task) -> Answer:
        length = sum(map(len, task[1].values()))
        try:
            if length <= SHORT:
                return await self._quick.answer(task)
            if length <= LONG:
                async with self._longer:
                    return await self._quick.answer(task)
        except Stopped:
            pass  # it was not that quick
        return await self._slow.answer(task) if self._slow.inside < MOST_SLOW else BUSY


def usual_size() -> int:
    """How many processes serve in the quick lane: one for each core, and at least two."""
    return max(2, os.cpu_count() or 2)
