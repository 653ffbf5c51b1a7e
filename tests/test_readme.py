"""What the README shows is what one gets. `python tests/test_readme.py` writes the outputs of its commands anew."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from qkv import demo

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"```console\n\$ qkv (.*?)\n(.*?)```", re.DOTALL)
SHOWN = CONSOLE.findall(README)


def test_python() -> None:
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize("command, output", SHOWN, ids=[command for command, _ in SHOWN])
def test_commands(command: str, output: str) -> None:
    assert _output(command) == output


def _output(command: str) -> str:
    start = [sys.executable, "-c", "from qkv.cli import main; main()"]
    plain = os.environ | {"COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([*start, *command.split()], cwd=ROOT, env=plain, capture_output=True, encoding="utf-8")
    assert done.stderr == ""
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines()) + "\n"


@pytest.mark.parametrize("name", ["check.svg", "solve.svg", "block.svg"])
def test_the_pictures_show_what_is_printed(name: str) -> None:
    """`python docs/pictures.py` draws them anew."""
    pictures = runpy.run_path(str(ROOT / "docs" / "pictures.py"))["PICTURES"]
    kept = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert _words(kept) == _words(pictures[name]())


def _words(svg: str) -> str:
    """What a picture says, without how it looks."""
    return re.sub(r"<style>.*?</style>|<[^>]*>|\s|&#160;", "", svg, flags=re.DOTALL)


def test_the_first_screen_has_a_picture_an_install_line_and_three_doors() -> None:
    first = README.partition("\n## ")[0]
    assert len(first.splitlines()) < 30
    assert "](docs/check.svg)" in first
    assert "pip install ." in first
    assert all(f"`{command}`" in first for _, command, _ in demo.DOORS)


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) >= 4
    assert all((ROOT / target).exists() for target in targets)


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{target}:" in makefile for target in re.findall(r"make ([a-z][a-z-]+)", README))


if __name__ == "__main__":
    fresh = CONSOLE.sub(lambda hit: f"```console\n$ qkv {hit[1]}\n{_output(hit[1])}```", README)
    (ROOT / "README.md").write_text(fresh, encoding="utf-8")
