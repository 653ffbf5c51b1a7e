"""Whole classes through the command: the shared one, practice sheets of other kinds, and a hostile one."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from laws.authors import draft
from qkv.grading.model import DEFAULT
from qkv.grading.one import Setup, Submission, grade_one

CLASS = Path(__file__).resolve().parents[3] / "shared" / "class"
RUN = [sys.executable, "-m", "qkv", "grade"]


def run(*arguments: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*RUN, *map(str, arguments)], capture_output=True, text=True, timeout=300, **more)  # type: ignore[call-overload]


def rows(out: Path) -> dict[str, dict[str, str]]:
    with (out / "marks.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


@pytest.mark.skipif(not CLASS.exists(), reason="the shared class is not here")
def test_the_shared_class(tmp_path: Path) -> None:
    done = run(CLASS / "submissions", "--against", CLASS / "assignment.md", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    truth, found = json.loads((CLASS / "truth.json").read_text()), rows(tmp_path)
    assert found.keys() == truth.keys()
    looks = 0
    for name, want in truth.items():
        row = found[name]
        if want["says"] == "faulty":
            assert (row["points"], row["up to"]) == ("5", "5"), name  # one step of six, and only that
            assert want["line"] is None or row["first slip"].startswith(f"line {want['line']}:"), name
        elif want["says"] == "right":
            looks += bool(row["needs a look"])
            assert row["points"] == row["of"] or row["needs a look"], name
        elif want["says"] == "nothing":
            assert row["up to"] == "0", name
    assert looks <= 3


KINDS = ("self", "cross", "given", "multi-head", "heads", "biases", "columns", "source", "general", "additive")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("slips", [0, 1])
def test_practice_sheets_of_every_kind(kind: str, slips: int) -> None:
    """A sheet without a slip has full marks; one whose result is false has not, and it is the planted slip that costs."""
    for seed in range(3):
        practice = draft(kind, seed, "bmatrix", slips, stated=True).written()
        graded = grade_one(
            Setup(practice.question.text, "task.md", DEFAULT), Submission("a.md", practice.text.encode())
        )
        mark = graded.mark
        if not practice.slips:
            assert mark.low == mark.of, (seed, mark.earned)
        elif practice.key[-1].verdict != "fine":
            assert mark.low < mark.of, (seed, mark.earned)
            assert mark.looks or mark.slips[0].line <= practice.slips[0].line


GOOD = "S = [[1, 2, 0], [2, 0, 2], [2, 2, 1]]\nweights = [[1, 0, 0], [0.804, 0.196, 0], [0.401, 0.401, 0.198]]\n"


def hostile(folder: Path) -> list[str]:
    """A folder with hand-ins that want to do harm, and two good ones; the names of those that can be graded."""
    folder.mkdir()
    good = [
        "good.md",
        "also good.md",
        '"quoted" & <b>.md',
        "new\nline.md",
        "=HYPERLINK(1).md",
        "up_...md",
    ]
    for name in good:
        (folder / name).write_text(GOOD)
    (folder / "noise.md").write_bytes(os.urandom(20_000).replace(b"\0", b"!"))
    (folder / "zeros.md").write_bytes(b"\0" * 5000)
    (folder / "brackets.md").write_text("S = " + "[" * 10_000)
    (folder / "powers.md").write_text("S = 9^9^9^9^9^9\nA = 10^(10^10)\n")
    (folder / "script.md").write_text(
        "<script>alert(1)</script> S = [[1, 2, 0]] <img src=x onerror=alert(1)>\n=cmd|' /C calc'!A0\n"
    )
    with (folder / "huge.md").open("wb") as file:
        file.truncate(50_000_000)
    with zipfile.ZipFile(folder / "bomb.md", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("a", b"0" * 10_000_000)
    (folder / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.md")
    return good


class Tags(HTMLParser):
    """Every tag of a page and its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_hostile_class_harms_nobody(tmp_path: Path, masked: str) -> None:
    task = tmp_path / "task.md"
    task.write_text(masked)
    good = hostile(tmp_path / "in")
    out = tmp_path / "out"
    done = run(tmp_path / "in", "--against", task, "--out", out, "--seconds", 20, "--gradescope")
    assert done.returncode == 0, done.stderr
    found = rows(out)
    assert len(found) == len(list((tmp_path / "in").iterdir()))
    for name in good:
        row = next(row for shown, row in found.items() if shown.lstrip("'") == name.replace("\n", " "))
        assert (row["points"], row["needs a look"]) == ("5", ""), name
    for name in ("zeros.md", "huge.md", "bomb.md", "link.md", "pipe.md"):
        assert found[name]["needs a look"], name
    assert "root:" not in "".join(page.read_text() for page in (out / "feedback").iterdir())
    for cell in (cell for row in found.values() for cell in row.values()):
        assert not cell.startswith(("=", "+", "-", "@")), cell
    for page in (out / "summary.html", *(out / "feedback").iterdir()):
        tags = Tags(page.read_text(encoding="utf-8"))
        assert not tags.tags & {"script", "img", "iframe", "object", "form"}, page
        assert not any(name.startswith("on") for name in tags.attributes), page


def test_a_second_run_grades_what_is_new_or_changed(tmp_path: Path, masked: str) -> None:
    task, hand_ins, out = tmp_path / "task.md", tmp_path / "in", tmp_path / "out"
    task.write_text(masked)
    hand_ins.mkdir()
    (hand_ins / "a.md").write_text(GOOD)
    (hand_ins / "b.md").write_text(GOOD)
    run(hand_ins, "--against", task, "--out", out)
    journal = out / ".graded.jsonl"
    first = journal.read_text()
    assert first.count('"key"') == 2
    journal.write_text(first + '{"key": "torn')  # as if the run had been ended while it wrote
    (hand_ins / "b.md").write_text(GOOD.replace("[1, 2, 0]", "[1, 2, 5]"))
    (hand_ins / "c.md").write_text(GOOD)
    run(hand_ins, "--against", task, "--out", out)
    assert journal.read_text().count('"key"') == 2 + 1 + 2  # two before, a torn one, two new ones
    assert [row["points"] for row in rows(out).values()] == ["5", "3", "5"]


def test_the_same_bytes_every_time(tmp_path: Path, masked: str) -> None:
    task, hand_ins = tmp_path / "task.md", tmp_path / "in"
    task.write_text(masked)
    hand_ins.mkdir()
    for name in "abcdef":
        (hand_ins / f"{name}.md").write_text(GOOD)
    for out, jobs in (("one", 1), ("two", 3)):
        run(hand_ins, "--against", task, "--out", tmp_path / out, "--jobs", jobs)
    for name in ("marks.csv", "summary.html", "feedback/a.md.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_class_of_the_readme(tmp_path: Path) -> None:
    """`docs/class.png` is a picture of its summary."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "class"
    done = run(folder / "hand-ins", "--against", folder / "assignment.md", "--out", tmp_path)
    assert done.stdout.startswith(
        "12 hand-ins graded, 1 for a person to look at.\nOf the others, the mean is 7.36 of 9"
    )
    assert [row["file"] for row in rows(tmp_path).values() if row["mistake"] == "no scale"] == ["eli.md", "fay.txt"]
