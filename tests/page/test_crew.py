"""The two lanes of a server: quick pages do not wait for slow ones, and nobody works for a visitor who has left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the page with a server: make test-page")

from qkv.page import crew as crews
from qkv.page.crew import BUSY, LIMITS, Crew

SLIP = "Q = [1 0; 1 2], K = [1 1; 0 2]\n\nS = Q K^T = [1 0; 2 4]\n"
ENDLESS = "\n".join(f"S = [1 2 0; 2 0 2; 2 2 {i}]" for i in range(1200))  # 35 kB, and minutes
PATIENT = replace(LIMITS, seconds=60)


def form(text: str) -> dict[str, str]:
    return {"text": text, "file": "sheet.md"}


@asynccontextmanager
async def crew(size: int = 1) -> AsyncIterator[Crew]:
    found = Crew(size, PATIENT)
    await found.start()
    try:
        yield found
    finally:
        found.close()


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 120))


def test_a_slow_page_makes_room_for_quick_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "MOST_SLOW", 1)

    async def visit() -> None:
        async with crew() as found:  # one quick process, one slow one
            slow = asyncio.ensure_future(found.answer("sheet", form(ENDLESS)))
            await asyncio.sleep(0.2)
            for edit in range(3):
                answer = await found.answer("sheet", form(SLIP + "\n" * edit))
                assert "wrong" in answer.body  # type: ignore[operator]
            assert not slow.done()
            assert await found.answer("sheet", form(ENDLESS + "\n")) is BUSY
            slow.cancel()
            await asyncio.wait({slow})

    run(visit())


def test_who_leaves_is_worked_for_no_longer() -> None:
    async def visit() -> None:
        async with crew() as found:
            start = time.monotonic()
            long = asyncio.ensure_future(found.answer("sheet", form(ENDLESS * 2)))  # in the slow lane at once
            waiting = asyncio.ensure_future(found.answer("sheet", form(ENDLESS * 2 + "\n")))
            await asyncio.sleep(0.5)
            for leaving in (waiting, long):
                leaving.cancel()
                await asyncio.wait({leaving})
            assert "wrong" in (await found.answer("sheet", form(SLIP + " " * crews.LONG))).body  # type: ignore[operator]
            assert time.monotonic() - start < PATIENT.seconds

    run(visit())


def test_an_answer_is_remembered_but_not_that_others_were_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "MOST_SLOW", 0)

    async def visit() -> None:
        async with crew() as found:
            once = await found.answer("sheet", form(SLIP))
            assert await found.answer("sheet", form(SLIP)) is once
            long = form(SLIP + " " * crews.LONG)
            assert await found.answer("sheet", long) is BUSY
            monkeypatch.setattr(crews, "MOST_SLOW", 1)
            assert await found.answer("sheet", long) is not BUSY

    run(visit())
