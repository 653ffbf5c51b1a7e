"""Which documents are meant, reading them, and writing results: whole or not at all, never over what somebody needs."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from qkv.errors import LimitError, ReadError, WriteError

STDIN = STDOUT = "-"
STDIN_NAME = "standard input"
LIMIT_MB = 20
DOCUMENTS = (".md", ".markdown", ".txt", ".tex", ".ipynb", ".pdf")  # what is taken from a folder
FORMATS = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".tex": "latex",
    ".json": "json",
    ".pdf": "pdf",
}


def name_of(path: str) -> str:
    """How a source is called in messages and reports."""
    return STDIN_NAME if path == STDIN else path


def expanded(arguments: Sequence[str]) -> list[str]:
    """The documents that arguments name, each once: files, all documents in a folder, all that a pattern matches.

    An argument that names nothing stays as it is, so that reading it says so.
    """
    named = [path for argument in arguments for path in _named(argument)]
    return list(dict.fromkeys(named))


def _named(argument: str) -> list[str]:
    if os.path.isdir(argument):
        return _inside(argument) or [argument]
    if glob.has_magic(argument) and not os.path.lexists(argument):
        matches = sorted(glob.glob(argument, recursive=True))
        return [path for match in matches for path in (_inside(match) if os.path.isdir(match) else [match])] or [
            argument
        ]
    return [argument]


def _inside(folder: str) -> list[str]:
    """The documents in a folder and the folders in it; what is hidden stays so."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            os.path.join(place, name) for name in names if name.lower().endswith(DOCUMENTS) and not name.startswith(".")
        ]
    return sorted(found)


def read_bytes(path: str, limit_mb: int = LIMIT_MB) -> bytes:
    """The bytes of a file, or of standard input for '-', refusing more than the limit."""
    most = limit_mb * 1_000_000
    data = _up_to(path, most + 1)  # one byte more than the limit, so that a file without end ends
    if len(data) > most:
        raise LimitError(f"{name_of(path)} is larger than {limit_mb} MB; --limit-mb raises the limit")
    return data


def _up_to(path: str, most: int) -> bytes:
    if path == STDIN:
        return sys.stdin.buffer.read(most)
    if os.path.isdir(path):
        raise ReadError(f"{path} is a folder without a document in it ({', '.join(DOCUMENTS)})")
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise ReadError(f"{path} cannot be read: {reason(error)}") from error


def check_target(path: str, inputs: Sequence[str] = ()) -> None:
    """Refuse to write over a document that is read, over a link, or over what may not be written."""
    target = Path(path)
    problem = next(_problems(target, inputs), "")
    if problem:
        raise WriteError(f"{path} is not written: it is {problem}")


def _problems(target: Path, inputs: Sequence[str]) -> Iterator[str]:
    if not os.path.lexists(target):
        return
    if any(_same(target, source) for source in inputs):
        yield "one of the documents to read"
    if target.is_symlink() and (
        target.is_file() or not target.exists()
    ):  # a link to a device, such as /dev/stdout, may be
        yield "a link; name the file that it leads to, or another"
    if target.is_dir():
        yield "a folder"
    if target.is_file() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        yield "read-only"


def _same(target: Path, source: str) -> bool:
    return source != STDIN and os.path.exists(source) and target.exists() and os.path.samefile(target, source)


def write(path: str, content: str | bytes) -> None:
    """Write a file whole or not at all: a temporary file beside it takes its place at the end."""
    check_target(path)
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {reason(error)}") from error


def _replace(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _mode(target: Path) -> int:
    """The permissions that the file had, or those that a new file gets (a temporary file is private)."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def reason(error: OSError | ValueError) -> str:
    """Why the system refused, in its own words without the first capital."""
    words = getattr(error, "strerror", None) or str(error)
    return words[:1].lower() + words[1:]
