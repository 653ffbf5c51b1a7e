"""A class with masked, two-head and block sheets: everybody has the sheet of a kind, and many have a slip planted."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from qkv.exercises.draw import exercise
from qkv.exercises.model import TOLD_APART, Exercise
from qkv.exercises.written import key, sheet, with_slip

KINDS = {"masked": 3, "multi-head": 4, "block": 5}
STUDENTS = 6  # of each kind; every second one makes a mistake


def handed_in(made: Exercise, number: int) -> tuple[str, str | None]:
    """What a student hands in, and the mistake in it: slips are planted into the same sheet, each another one."""
    if number % 2 == 0:
        return key(made), None
    found = with_slip(made, number)
    [slip] = found.slips
    return found.text, slip.mistake


@pytest.mark.parametrize("kind", KINDS)
def test_a_class(kind: str, tmp_path: Path) -> None:
    made = exercise(kind, KINDS[kind], 11)
    task, hand_ins, out = tmp_path / "task.md", tmp_path / "in", tmp_path / "out"
    hand_ins.mkdir()
    task.write_text(sheet(made), encoding="utf-8")
    mistakes: dict[str, str | None] = {}
    for number in range(STUDENTS):
        text, mistakes[f"{number}.md"] = handed_in(made, number)
        (hand_ins / f"{number}.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "qkv", "grade", str(hand_ins), "--against", str(task), "--out", str(out)]
    done = subprocess.run([*command, "--gradescope"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with (out / "marks.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    for name, mistake in mistakes.items():
        row = rows[name]
        assert not row["needs a look"], name
        if mistake is None:
            assert (row["points"], row["first slip"]) == (row["of"], ""), name
        else:
            assert float(row["of"]) - 2 <= float(row["points"]) < float(row["of"]), (
                name
            )  # one step of one or two points
            assert mistake not in TOLD_APART or mistake in row["mistake"], name
        scored = json.loads((out / "gradescope" / name / "results.json").read_text(encoding="utf-8"))["score"]
        assert scored == float(row["points"])
