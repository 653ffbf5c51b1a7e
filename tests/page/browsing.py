"""The page in both transports and a browser to open it: for the tests of this folder and for `make bench-page`."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TRANSPORTS = ("server", "static")
LOADING = 240_000  # milliseconds that Python may take to load in a browser, on a machine that is busy
PATIENCE = 60_000  # milliseconds for everything else
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # and if something did ask, it would not get out
)


def missing() -> str:
    """What is not here that a browser needs; empty if all is."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed: make test-page installs it"
    return "" if _chromium() else "Chromium is not installed, and only root may install it with apt"


def missing_for(transport: str) -> str:
    """What is not here that a transport needs."""
    return "npm is not installed: Pyodide comes from its registry" if transport == "static" and not _npm() else ""


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _npm() -> str | None:
    return shutil.which("npm")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=list(FLAGS))
        yield browser
        browser.close()


@contextlib.contextmanager
def served(transport: str, folder: Path) -> Iterator[str]:
    """The address under which the page can be opened; `folder` is for what has to be written."""
    with _server() if transport == "server" else _static(folder) as address:
        yield address


@contextlib.contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, "-m", "qkv", "serve", "--port", "0", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[4] + "/"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


@contextlib.contextmanager
def _static(folder: Path) -> Iterator[str]:
    """Plain files below a folder of a plain web server, as on a teacher's web space."""
    from qkv.page import static

    below = "courses/week 3"
    static.write(folder / below)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{quote(below)}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Visitor:
    """Somebody with one tab of a browser, who sees what it asks for and what goes wrong in it."""

    tab: Page
    address: str
    transport: str
    asked: list[str] = field(default_factory=list)  # addresses
    errors: list[str] = field(default_factory=list)  # of scripts

    @classmethod
    def of(cls, browser: Browser, address: str, transport: str) -> Visitor:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
        context.set_default_timeout(PATIENCE)
        visitor = cls(context.new_page(), address, transport)
        context.on("request", lambda request: visitor.asked.append(request.url))
        visitor.tab.on("pageerror", lambda error: visitor.errors.append(str(error)))
        visitor.tab.on("console", lambda line: visitor.errors.append(line.text) if line.type == "error" else None)
        return visitor

    def open(self, path: str = "index.html") -> Page:
        """Open a view, as it is for somebody who was never here; Python, once loaded in the browser, stays."""
        if self.tab.url.startswith(self.address):
            self.tab.evaluate("localStorage.clear()")
        if self.transport == "static" and self.tab.url.startswith(self.address):
            go = "async (to) => { history.pushState(null, '', to); await window.qkv.visit(to); }"
            self.tab.evaluate(go, self.address + path)
        else:
            self.tab.goto("about:blank")
            self.tab.goto(self.address + path, timeout=LOADING)
        self.tab.wait_for_selector("#loading", state="detached", timeout=LOADING)
        return self.tab

    def strayed(self) -> list[str]:
        """Requests to anywhere else."""
        return [url for url in self.asked if not url.startswith((self.address, "data:", f"blob:{self.address[:20]}"))]
