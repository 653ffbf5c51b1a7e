"""Reading files and writing results: whole or not at all, and a clear sentence where the system refuses."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from qkv.errors import LimitError, ReadError

STDIN = "-"
STDIN_NAME = "standard input"
LIMIT_MB = 20


def name_of(path: str) -> str:
    """How a source is called in messages and reports."""
    return STDIN_NAME if path == STDIN else path


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
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise ReadError(f"{path} cannot be read: {reason(error)}") from error


def write_text(path: str, text: str) -> None:
    """Write a file whole or not at all: a temporary file beside it takes its place at the end."""
    target = Path(path)
    try:
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
            target.write_text(text, encoding="utf-8")
        else:
            _replace(target, text)
    except OSError as error:
        raise ReadError(f"{path} cannot be written: {reason(error)}") from error


def _replace(target: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
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
