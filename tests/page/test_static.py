"""The folder without a server, made of small stand-ins for what comes from the registries."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from qkv.errors import QkvError, WriteError
from qkv.page import packages, static
from qkv.page.respond import PAGES


@pytest.fixture(autouse=True)
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    def pyodide(into: Path) -> Path:
        for name in static.RUNTIME:
            (into / name).write_bytes(name.encode() * 100)
        return into

    def wheels(runtime: Path, into: Path) -> list[Path]:
        (into / "python_flint-1.whl").write_bytes(b"wheel")
        return [into / "python_flint-1.whl"]

    def compiled(runtime: Path, source: Path, target: Path) -> Path:
        return source.rename(target)

    monkeypatch.setattr(packages, "compiled", compiled)
    monkeypatch.setattr(packages, "pyodide", pyodide)
    monkeypatch.setattr(packages, "wheels", wheels)


def test_all_that_the_pages_name_is_in_the_folder(tmp_path: Path) -> None:
    size = static.write(tmp_path / "page")
    assert size.files == sum(path.is_file() for path in (tmp_path / "page").rglob("*"))
    for path in PAGES:
        text = (tmp_path / "page" / path).read_text(encoding="utf-8")
        assert "wasm-unsafe-eval" in text
        for named in re.findall(r'(?:src|href)="([^"#]+)"', text):
            assert "//" not in named, "no other host"
            assert (tmp_path / "page" / named).is_file()


def test_what_is_packed_is_whole_and_its_size_is_told(tmp_path: Path) -> None:
    static.write(tmp_path / "page")
    python = tmp_path / "page" / "python"
    contents = json.loads((python / static.CONTENTS).read_text(encoding="utf-8"))
    for name, size in contents["packed"].items():
        assert len(gzip.decompress((python / f"{name}.packed").read_bytes())) == size
    assert contents["wheels"] == ["python_flint-1.whl", "qkv.whl"]


ANSWERS = """
import sys
sys.path.insert(0, sys.argv[1])
from qkv.page.respond import PAGES, PARTS
from qkv.page.respond import Responder
import qkv
assert qkv.__file__.startswith(sys.argv[1])
answer = Responder()
bugs = [path for path in (*PAGES, *PARTS) if "A bug in qkv" in str(answer((path, {})).body)]
assert not bugs, bugs
"""


def test_the_modules_that_go_along_are_enough_for_every_answer(tmp_path: Path) -> None:
    static.write(tmp_path / "page")
    packed = (tmp_path / "page" / "python" / "qkv.whl.packed").read_bytes()
    (tmp_path / "qkv.zip").write_bytes(gzip.decompress(packed))
    subprocess.run([sys.executable, "-c", ANSWERS, str(tmp_path / "qkv.zip")], cwd=tmp_path, check=True)
    assert not [name for name in zipfile.ZipFile(tmp_path / "qkv.zip").namelist() if name.startswith("qkv/kernel")]


def test_a_page_of_before_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    page, other = tmp_path / "page", tmp_path / "other"
    static.write(page)
    (page / "old.txt").write_text("old")
    static.write(page)
    assert not (page / "old.txt").exists()
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    with pytest.raises(WriteError, match="other files in it"):
        static.write(other)
    with pytest.raises(WriteError, match="not a folder"):
        static.write(other / "thesis.tex")
    assert (other / "thesis.tex").read_text() == "mine"


def test_it_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static.write(tmp_path / "page")
    before = sorted(tmp_path.rglob("*"))

    def refused(runtime: Path, into: Path) -> list[Path]:
        raise QkvError("wheels could not be fetched: no network")

    monkeypatch.setattr(packages, "wheels", refused)
    for name in ("page", "new"):
        with pytest.raises(QkvError, match="no network"):
            static.write(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_missing_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(QkvError, match=r"^npm is not installed: [^\n]+$"):
        static.write(tmp_path / "page")
    assert not (tmp_path / "page").exists()
    monkeypatch.setattr(packages.sys, "executable", "/bin/false")
    (tmp_path / "pyodide-lock.json").write_text(
        '{"info": {"python": "3.14.2", "abi_version": "2026_0", "arch": "wasm32"}}'
    )
    with pytest.raises(QkvError, match=r"^wheels for Python 3.14 in browsers could not be fetched: [^\n]+$"):
        packages.wheels(tmp_path, tmp_path)
