"""Pages as PDF, set by Typst where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from qkv.errors import MissingExtra, WriteError
from qkv.render import typst as pages


def check_installed() -> None:
    """Refuse, in one sentence, where Typst is missing."""
    if find_spec("typst") is None:
        raise MissingExtra("A PDF needs typst; install it with: pip install 'qkv[pdf]'. Or write .html and print that.")


def made(title: str, body: str) -> bytes:
    """A page, given as the title and the body of its HTML, as PDF."""
    check_installed()
    import typst

    try:
        return bytes(typst.compile(pages.document(title, body).encode(), format="pdf"))
    except RuntimeError as error:  # what Typst says of a document that it cannot set
        raise WriteError(f"Typst could not set the page: {error}") from error
