"""The files of the page: scripts, styles and a font, as they lie here, and the style of our reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from qkv.render.page import CSS

KINDS = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
    "LICENSE": "text/plain; charset=utf-8",
}
NAMES = tuple(
    f.name for f in files(__name__).iterdir() if f.name.rpartition(".")[2] in KINDS
)  # what may be asked for, and nothing else


@dataclass(frozen=True, slots=True)
class Asset:
    """A file and its type."""

    body: bytes
    kind: str


@cache
def asset(name: str) -> Asset | None:
    """A file of the page by its name; None where there is no such file."""
    if name == "report.css":
        return Asset(CSS.encode(), KINDS["css"])
    if name not in NAMES:
        return None
    return Asset(files(__name__).joinpath(name).read_bytes(), KINDS[name.rpartition(".")[2]])
