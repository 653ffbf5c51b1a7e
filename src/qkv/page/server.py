"""The page with a server: starlette on this machine, and worker processes (crew.py) that do the work."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from qkv.errors import QkvError
from qkv.page.answer import Answer
from qkv.page.assets import asset
from qkv.page.crew import Crew, usual_size
from qkv.page.respond import PAGES, PARTS, respond

LARGEST = 4_000_000  # bytes of a request
PATIENCE = 10  # seconds for a request to arrive
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def application(crew: Crew) -> Starlette:
    """The page as an ASGI application."""

    async def page(request: Request) -> Response:
        path = request.path_params["path"] or "index.html"
        if not _is_ours(request):
            return _refused(400, "This server is not known under that name.")
        if path.startswith("assets/"):
            found = asset(path.removeprefix("assets/"))
            return _response(Answer(found.body, kind=found.kind)) if found else _refused(404, "There is no such file.")
        return _response(respond(path, {}) if path in PAGES else respond("", {}))

    async def part(request: Request) -> Response:
        if not (_is_ours(request) and _is_own(request)):
            return _refused(403, "This request does not come from the page.")
        if request.path_params["path"] not in PARTS:
            return _refused(404, "There is no such page.")
        try:
            form = await _form(request)
        except (TimeoutError, ClientDisconnect):
            return _refused(408, "The request did not arrive.")
        if form is None:
            return _refused(413, f"This is more than the page takes ({LARGEST // 1_000_000} MB).")
        return await _answered(crew, request, form)

    routes = [Route("/{path:path}", part, methods=["POST"]), Route("/{path:path}", page, methods=["GET"])]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await crew.start()
        try:
            yield
        finally:
            crew.close()

    app = Starlette(routes=routes, lifespan=lifespan)
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    return app


async def _answered(crew: Crew, request: Request, form: dict[str, str]) -> Response:
    answering = asyncio.ensure_future(crew.answer(request.path_params["path"], form))
    leaving = asyncio.ensure_future(_left(request))
    await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    if answering.done():
        return _response(answering.result())
    answering.cancel()  # its author has typed on
    await asyncio.wait({answering})
    return _refused(499, "")


async def _left(request: Request) -> None:
    """Returns when the visitor waits no longer."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _form(request: Request) -> dict[str, str] | None:
    """What was sent; None if it is too much."""
    body = bytearray()
    with anyio.fail_after(PATIENCE):
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST:
                return None
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=2000))


def _is_ours(request: Request) -> bool:
    """Whether the server is called by an address or as this machine: a name that somebody else's DNS leads here with is
    refused (DNS rebinding)."""
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return host in ("localhost", socket.gethostname().lower())


def _is_own(request: Request) -> bool:
    """Whether a post comes from the page itself: browsers say where it comes from."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    here = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    return here and site in ("same-origin", "none")


def _refused(status: int, why: str) -> Response:
    return _response(Answer(f'<p class="summary none">{why}</p>', status=status))


def _response(answer: Answer) -> Response:
    headers = dict(HEADERS)
    if answer.name:
        headers["Content-Disposition"] = f'attachment; filename="{_safe(answer.name)}"'
    return Response(answer.body, status_code=answer.status, media_type=answer.kind, headers=headers)


def _safe(name: str) -> str:
    """A file's name as a header may hold it."""
    return "".join(x if x.isascii() and (x.isalnum() or x in "-_. ") else "-" for x in name) or "sheet"


def listening(host: str, port: int) -> socket.socket:
    """A socket that waits for visitors; a port that is taken is said in one sentence."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen()  # who comes before the processes are started waits
    except OSError as error:
        found.close()
        raise QkvError(f"port {port} of {host} cannot be used ({error.strerror}); say another with --port") from error
    return found


def serve(listener: socket.socket, **options: Any) -> None:
    """Serve until Ctrl-C."""
    app = application(Crew(usual_size()))
    config = uvicorn.Config(app, log_level="warning", timeout_keep_alive=30, limit_concurrency=500, **options)
    uvicorn.Server(config).run(sockets=[listener])
