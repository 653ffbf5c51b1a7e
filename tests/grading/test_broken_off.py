"""Runs that are broken off, and hand-ins that take all memory: what is done is kept, and the others go on."""

from __future__ import annotations

import contextlib
import csv
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qkv.grading.model import DEFAULT
from qkv.grading.one import Graded, Setup, Submission, assignment_for, grade_one
from qkv.workers import Ended, Limits, Worker

GOOD = "S = [[1, 2, 0], [2, 0, 2], [2, 2, 1]]\n"
RUN = [sys.executable, "-m", "qkv", "grade"]
COUNT = 60
LIMITS = Limits(megabytes=400)


@pytest.mark.skipif(sys.platform != "linux", reason="the system knows no limit of memory")
def test_who_takes_all_memory_costs_their_own_row(masked: str) -> None:
    with contextlib.closing(Worker("qkv.grading.one:Grader", Setup(masked, "t.md", DEFAULT), LIMITS)) as worker:
        with pytest.raises(Ended):
            worker.ask(Submission("hungry.md", bytes(LIMITS.megabytes * 1_000_000)))
        found: Graded = worker.ask(Submission("good.md", GOOD.encode()))  # a new process takes the next one
        assert found.mark.earned[0].low == 2


def test_a_lack_of_memory_that_python_notices_is_said(masked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry(*given: object) -> None:
        raise MemoryError

    setup = Setup(masked, "t.md", DEFAULT)
    asked = assignment_for(setup).asked
    monkeypatch.setattr("qkv.grading.one.read_sheet", hungry)
    mark = grade_one(setup, Submission("a.md", b"S = 1")).mark
    assert mark.trouble == "it needs more memory than a hand-in may use"
    assert (mark.low, mark.high) == (0, sum(each.points for each in asked))


def marks(out: Path) -> list[str]:
    with (out / "marks.csv").open(encoding="utf-8", newline="") as file:
        return [row["points"] for row in csv.DictReader(file)]


def test_ctrl_c_keeps_what_is_done_and_the_next_run_does_the_rest(tmp_path: Path, masked: str) -> None:
    task, hand_ins, out = tmp_path / "task.md", tmp_path / "in", tmp_path / "out"
    task.write_text(masked)
    hand_ins.mkdir()
    for number in range(COUNT):
        (hand_ins / f"{number:02}.md").write_text(GOOD + "\n" * number)
    command = [*RUN, str(hand_ins), "--against", str(task), "--out", str(out), "--jobs", "1"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal, until = out / ".graded.jsonl", time.monotonic() + 60
    while time.monotonic() < until and (not journal.exists() or journal.read_text().count('"key"') < 3):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in said
    done = journal.read_text().count('"key"')
    assert 3 <= done < COUNT
    assert len(marks(out)) == done
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert journal.read_text().count('"key"') == COUNT  # nobody was graded twice
    assert marks(out) == ["2"] * COUNT
