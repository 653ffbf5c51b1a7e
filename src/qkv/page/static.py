"""The page without a server: a folder of plain files, in which the visitor's own browser runs Python and qkv."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from qkv.errors import WriteError
from qkv.files import reason
from qkv.page import packages
from qkv.page.assets import NAMES, asset
from qkv.page.respond import PAGES, respond

RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PACKED = (".wasm", ".zip", ".whl", ".json")  # of these, a gzipped copy is shipped
CONTENTS = "contents.json"  # tells a folder of ours from others
ABSENT = (  # modules that answers of the page never load: what needs NumPy, worker processes or a terminal
    *("kernel/", "dask/", "torch/", "jax.py", "transformers.py", "compare/", "grading/"),
    *("__main__.py", "cli", "demo.py", "workers.py"),
    *("page/server.py", "page/crew.py", "page/static.py", "page/packages.py", "page/assets/"),
)
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'"
)
HEAD = '<meta charset="utf-8">\n'
SOURCES = """\
Python for browsers: Pyodide, from the npm registry (pyodide), Mozilla Public License 2.0.
Exact arithmetic: python-flint, from PyPI, MIT, with FLINT (LGPL), GMP (LGPL) and MPFR (LGPL) inside.
Formulas: latex2mathml, from PyPI, MIT. Files that end in .packed are gzipped.
"""

Step = Callable[[str], AbstractContextManager[None]]  # shows what is being done, while it is done


@dataclass(frozen=True, slots=True)
class Size:
    """How large a folder is."""

    files: int
    bytes: int
    gzipped: int

    def __str__(self) -> str:
        return f"{self.files} files, {self.bytes / 1e6:.1f} MB ({self.gzipped / 1e6:.1f} MB gzipped)"


def write(folder: str | Path, step: Step = lambda doing: nullcontext()) -> Size:
    """Write the page into a folder, whole or not at all; a page that was written there before is replaced."""
    target = Path(folder)
    _check(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:40]}.") as place:
            made = Path(place, "page")
            _build(made, Path(place), step)
            size = _size(made)
            if target.exists():
                target.rename(Path(place, "old"))
            made.rename(target)
    except OSError as error:
        raise WriteError(f"{folder} cannot be written: {reason(error)}") from error
    return size


def _check(target: Path) -> None:
    """Refuse to replace what is not a page of ours."""
    if not os.path.lexists(target):
        return
    if target.is_symlink() or not target.is_dir():
        raise WriteError(f"{target} is not written: it is not a folder")
    if any(target.iterdir()) and not (target / "python" / CONTENTS).is_file():
        raise WriteError(f"{target} is not written: it is a folder with other files in it; name a new one")


def _build(made: Path, place: Path, step: Step) -> None:
    python, fetched = made / "python", place / "fetched"
    python.mkdir(parents=True)
    fetched.mkdir()
    with step("writing the pages"):
        _write_pages(made)
    with step("fetching Pyodide (npm)"):
        runtime = packages.pyodide(fetched)
    with step("fetching python-flint for Pyodide (PyPI)"):
        wheels = packages.wheels(runtime, fetched)
    with step("compiling qkv for Pyodide"):
        own = packages.compiled(runtime, _own_modules(fetched / "modules.zip"), fetched / "qkv.whl")
    with step("packing"):
        _pack([*(runtime / name for name in RUNTIME), *wheels, own], python)


def _write_pages(made: Path) -> None:
    assets = made / "assets"
    assets.mkdir()
    for path in PAGES:
        page = str(respond(path, {}).body)
        assert HEAD in page
        meta = f'{HEAD}<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        (made / path).write_text(page.replace(HEAD, meta, 1), encoding="utf-8")
    for name in (*NAMES, "report.css"):
        found = asset(name)
        assert found is not None
        (assets / name).write_bytes(found.body)
    own = files("qkv.page.assets") / "static"
    for name, where in {"transport.js": assets, "transport.css": assets, "worker.js": made / "python"}.items():
        (where / name).write_bytes((own / name).read_bytes())
    (made / "python" / "SOURCES.txt").write_text(SOURCES, encoding="utf-8")


def _own_modules(path: Path) -> Path:
    """The modules of qkv in an archive."""
    with as_file(files("qkv")) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(source.rglob("*.py")):
            name = file.relative_to(source).as_posix()
            if not name.startswith(ABSENT):
                archive.writestr(zipfile.ZipInfo(f"qkv/{name}"), file.read_bytes())
    return path


def _pack(sources: list[Path], python: Path) -> None:
    """Copy files into the folder of Python, the large ones gzipped, and write down what there is."""
    sizes = {}
    for source in sources:
        if source.suffix in PACKED:
            data = source.read_bytes()
            (python / f"{source.name}.packed").write_bytes(gzip.compress(data, mtime=0))
            sizes[source.name] = len(data)
        else:
            shutil.copyfile(source, python / source.name)
    wheels = [source.name for source in sources if source.suffix == ".whl"]
    megabytes = round(sum(_gzipped(path) for path in python.iterdir()) / 1e6)
    contents = {"packed": sizes, "wheels": wheels, "megabytes": megabytes}
    (python / CONTENTS).write_text(json.dumps(contents, indent=1), encoding="utf-8")


def _size(folder: Path) -> Size:
    paths = list(_files(folder))
    return Size(len(paths), sum(path.stat().st_size for path in paths), sum(map(_gzipped, paths)))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _gzipped(path: Path) -> int:
    """The bytes of a file as a web server sends it: what is packed already is not packed again."""
    size = path.stat().st_size
    return size if path.suffix in (".packed", ".woff2") else len(gzip.compress(path.read_bytes()))
