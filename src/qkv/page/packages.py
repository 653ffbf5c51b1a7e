"""What the page without a server is made of, from the registries: npm has Pyodide, PyPI the wheels for it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, requires
from importlib.resources import as_file, files
from pathlib import Path

from qkv.errors import QkvError

PYODIDE = "pyodide@314"
WHEELS = ("python-flint", "latex2mathml")  # of what qkv requires, what answers of the page import
SECONDS = 600  # that one step may take


def pyodide(into: Path) -> Path:
    """A folder with the files of Pyodide, the Python that runs in browsers."""
    if shutil.which("npm") is None:
        raise QkvError("npm is not installed: the page without a server takes Pyodide from the npm registry")
    command = ["npm", "pack", PYODIDE, "--silent", "--pack-destination", str(into)]
    _run(command, "Pyodide could not be fetched", into)
    with tarfile.open(next(into.glob("pyodide-*.tgz"))) as archive:
        archive.extractall(into, filter="data")
    return into / "package"


def wheels(runtime: Path, into: Path) -> list[Path]:
    """The wheels that qkv needs there, for the version of Python that a folder of Pyodide has."""
    info = json.loads((runtime / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    version = ".".join(info["python"].split(".")[:2])
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "--dest", str(into)),
        *("--implementation", "cp", "--python-version", version),
        *("--platform", f"pyemscripten_{info['abi_version']}_{info['arch']}"),
    ]
    _run([*command, *_requirements()], f"wheels for Python {version} in browsers could not be fetched", into)
    return sorted(into.glob("*.whl"))


def compiled(runtime: Path, source: Path, target: Path) -> Path:
    """An archive of modules as bytecode, compiled by the Python of a folder of Pyodide; node comes with npm."""
    with as_file(files("qkv.page.assets") / "static" / "compile.mjs") as script:
        command = ["node", str(script), str(runtime), str(source), str(target)]
        _run(command, "qkv could not be compiled for Pyodide", target.parent)
    return target


def _requirements() -> list[str]:
    """What qkv says that it requires of them."""
    try:
        said = requires("qkv") or []
    except PackageNotFoundError:  # run from its source
        said = []
    asked = {re.split(r"[^\w.-]", line)[0]: line.partition(";")[0].strip() for line in said}
    return [asked.get(name, name) for name in WHEELS]


def _run(command: list[str], failure: str, folder: Path) -> None:
    """Run a program; if it fails, its last line says why."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise QkvError(f"{failure} within {SECONDS} seconds") from error
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise QkvError(f"{failure}: {lines[-1].strip() if lines else 'no reason was given'}")
