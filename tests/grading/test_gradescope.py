"""What Gradescope gets: a result for each hand-in, and a zip that runs in a folder laid out as Gradescope does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = "from qkv.cli import main; main()"


@pytest.fixture
def autograder(tmp_path: Path, masked: str) -> Path:
    """A folder as Gradescope makes it: the zip unpacked in source, run_autograder beside it."""
    (tmp_path / "task.md").write_text(masked)
    (tmp_path / "scheme.toml").write_text("[points]\nS = 4\n")
    made = [sys.executable, "-c", SCRIPT, "grade", "--autograder", "task.md", "--scheme", "scheme.toml", "-o", "a.zip"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    root = tmp_path / "autograder"
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(root / "source")
        assert archive.getinfo("run_autograder").external_attr >> 16 & 0o111
    (root / "submission").mkdir()
    (root / "results").mkdir()
    (root / "run_autograder").write_bytes((root / "source" / "run_autograder").read_bytes())
    return root


def results(root: Path) -> dict[str, object]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = clean | {"AUTOGRADER_ROOT": str(root), "PYTHON": sys.executable}
    subprocess.run(
        ["bash", str(root / "run_autograder")], check=True, env=environment, capture_output=True, timeout=120
    )
    found: dict[str, object] = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    return found


def test_a_hand_in(autograder: Path) -> None:
    (autograder / "submission" / "solution.md").write_text("S = [[1, 2, 0], [2, 0, 2], [2, 2, 9]]\n")
    found = results(autograder)
    assert found["score"] == 0
    assert [(test["name"], test["max_score"]) for test in found["tests"]] == [("1 S", 4), ("2 A", 3), ("3 Z", 1)]  # type: ignore[attr-defined]
    assert "line 1" in str(found["output"])


def test_several_files_count_together(autograder: Path) -> None:
    (autograder / "submission" / "one.md").write_text("S = [[1, 2, 0], [2, 0, 2], [2, 2, 1]]\n")
    (autograder / "submission" / "two.md").write_text("output = [[1, 2], [1.391, 1.609], [1.604, 1.593]]\n")
    assert results(autograder)["score"] == 8


def test_no_file_at_all(autograder: Path) -> None:
    found = results(autograder)
    assert found["score"] == 0
    assert len(found["tests"]) == 3  # type: ignore[arg-type]
