"""The page with a server: starlette on this machine, with worker processes that have limits of time and memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import urlsplit

import anyio
from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qkv.page.answer import HTML, Answer
from qkv.page.assets import asset
from qkv.page.respond import PAGES, respond
from qkv.workers import Ended, Limits, Worker

LIMITS = Limits(seconds=10, megabytes=2000)
LARGEST = 2_000_000  # bytes of a request
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Responder:
    """What serves in a worker process."""

    def __init__(self, setup: None) -> None:
        for path in PAGES:
            respond(path, {})

    def __call__(self, task: tuple[str, dict[str, str]]) -> Answer:
        try:
            return respond(*task)
        except Exception as error:  # noqa: BLE001  a bug of ours costs this answer, not the server
            return Answer(f"<p>A bug in qkv: {escape(type(error).__name__)}</p>", status=500)


class Crew:
    """Worker processes that take turns."""

    def __init__(self, size: int, limits: Limits = LIMITS) -> None:
        self.workers = [Worker("qkv.page.server:Responder", None, limits) for _ in range(size)]
        self.free: Queue[Worker] = Queue()
        for worker in self.workers:
            self.free.put(worker)

    def answer(self, path: str, form: dict[str, str]) -> Answer:
        with self._taken() as worker:
            try:
                answer: Answer = worker.ask((path, form))
                return answer
            except Ended as error:
                return Answer(f'<p class="summary none">This could not be finished: {escape(str(error))}.</p>')

    @contextmanager
    def _taken(self) -> Iterator[Worker]:
        worker = self.free.get()
        try:
            yield worker
        finally:
            self.free.put(worker)

    def close(self) -> None:
        for worker in self.workers:
            worker.close()


def application(hosts: list[str], crew: Crew) -> Any:
    """The page as an ASGI application that answers to some host names only."""

    async def page(request: Request) -> Response:
        return _response(respond(request.path_params.get("path") or "index.html", dict(request.query_params)))

    async def part(request: Request) -> Response:
        if not _is_own(request):
            return _response(Answer("This request comes from another page.", status=403))
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST:
                return _response(Answer("<p>This document is too large for the page.</p>", status=413))
        form = {str(key): str(value) for key, value in (await _parsed(request, body)).items()}
        answer = await anyio.to_thread.run_sync(crew.answer, request.path_params["path"], form)
        return _response(answer)

    async def file(request: Request) -> Response:
        found = asset(Path(request.path_params["name"]).name)
        return Response(found.body, media_type=found.kind, headers=HEADERS) if found else Response(status_code=404)

    routes = [
        Route("/assets/{name}", file, methods=["GET"]),
        Route("/{path:path}", part, methods=["POST"]),
        Route("/{path:path}", page, methods=["GET"]),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts)
    return app


async def _parsed(request: Request, body: bytes) -> dict[str, str]:
    from urllib.parse import parse_qsl

    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _is_own(request: Request) -> bool:
    """Whether a post comes from the page itself: browsers say where it comes from."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _response(answer: Answer) -> Response:
    headers = dict(HEADERS)
    if answer.name:
        headers["Content-Disposition"] = f'attachment; filename="{answer.name}"'
    return Response(answer.body, status_code=answer.status, media_type=answer.kind or HTML, headers=headers)


def serve(host: str, port: int) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    crew = Crew(os.cpu_count() or 2)
    try:
        uvicorn.run(application(["127.0.0.1", "localhost"], crew), host=host, port=port, log_level="warning")
    finally:
        crew.close()
