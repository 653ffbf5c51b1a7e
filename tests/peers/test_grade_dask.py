"""A class graded on a Dask cluster of processes, one of which dies on the way: nothing is lost and nothing comes twice."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore"),
]
distributed = pytest.importorskip("distributed")

CLASS = Path(__file__).resolve().parents[2] / "examples" / "class"


def pid() -> int:
    return os.getpid()


def test_a_worker_that_dies_loses_nothing() -> None:
    from qkv.grading import spread
    from qkv.grading.model import DEFAULT
    from qkv.grading.one import Setup, Submission, grade_one

    setup = Setup((CLASS / "assignment.md").read_text(encoding="utf-8"), "assignment.md", DEFAULT)
    data = sorted((CLASS / "hand-ins").iterdir())
    submissions = [Submission(f"{k}-{path.name}", path.read_bytes()) for k in range(4) for path in data]
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        victim, *_ = client.run(pid).values()
        seen: Counter[str] = Counter()
        marks = {}
        for graded in spread.graded(iter(submissions), setup, client):
            if sum(seen.values()) == 5:
                os.kill(victim, signal.SIGKILL)
            seen[graded.mark.file] += 1
            marks[graded.mark.file] = graded.mark
    assert seen == Counter(submission.name for submission in submissions)
    for submission in submissions[: len(data)]:
        assert marks[submission.name] == grade_one(setup, submission).mark


def test_the_command(tmp_path: Path) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "qkv", "grade", str(CLASS / "hand-ins"), "--against", str(CLASS / "assignment.md")]
    for engine in ("processes", "dask"):
        done = subprocess.run(
            [*command, "--engine", engine, "--out", str(tmp_path / engine)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "processes" / "marks.csv").read_bytes() == (tmp_path / "dask" / "marks.csv").read_bytes()
