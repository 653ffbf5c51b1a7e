"""Hand-ins found in folders, and read with care: a link, a device or a giant is not opened."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from qkv import files
from qkv.errors import ReadError
from qkv.grading.one import Setup, Submission


def found_in(paths: Iterable[str | Path]) -> Iterator[tuple[str, Path]]:
    """The files of some folders, and files that are named, by the name that they have in the marks; no hidden ones."""
    for path in map(Path, paths):
        if not path.is_dir():
            yield _shown(path.name), path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith("."):
                    place = Path(folder, name)
                    yield _shown(place.relative_to(path).as_posix()), place


def _shown(name: str) -> str:
    """A file's name as text, whatever its bytes are."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read(name: str, path: Path, limit_mb: int, on_paper: bool = False) -> Submission:
    """A hand-in with its bytes. What is no ordinary file of a reasonable size is refused without being opened."""
    try:
        found = path.lstat()
    except (OSError, ValueError) as error:
        raise ReadError(f"cannot be read: {files.reason(error)}") from error
    if stat.S_ISLNK(found.st_mode):
        raise ReadError("is a link to another file, which is not followed")
    if not stat.S_ISREG(found.st_mode):
        raise ReadError("is no ordinary file")
    if found.st_size > limit_mb * 1_000_000:
        raise ReadError(f"has {found.st_size / 1e6:.0f} MB; the limit is {limit_mb} MB (--limit-mb)")
    return Submission(name, files.read_bytes(str(path), limit_mb), on_paper)


def key_of(setup: Setup, submission: Submission) -> str:
    """What the marks of a hand-in depend on, in short: the same key, the same marks."""
    found = hashlib.sha256(f"{setup!r}\0{submission.name}\0".encode())
    found.update(submission.data)
    return found.hexdigest()


def file_name(name: str) -> str:
    """A name for the feedback on a hand-in, of letters, digits, dots and dashes; a changed name gets a mark of its own.

    >>> file_name("anna.md"), file_name('a"/b.md')
    ('anna.md', 'a-b.md-10dd8a')
    """
    safe = "".join(ch if ch.isalnum() or ch in "._-" else "-" for ch in name).strip(".-")[:80]
    while "--" in safe:
        safe = safe.replace("--", "-")
    if safe == name:
        return safe
    return f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
