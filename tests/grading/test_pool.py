"""Worker processes: what takes too long or too much costs its own row, and a broken-off run ends its workers."""

from __future__ import annotations

import time

from qkv.grading.model import DEFAULT
from qkv.grading.one import Setup, Submission, _marked, grade_one
from qkv.grading.pool import graded
from qkv.workers import Limits

GOOD = Submission("good.md", b"S = [[1, 2, 0], [2, 0, 2], [2, 2, 1]]")


def test_who_takes_too_long_is_ended_and_the_others_go_on(masked: str) -> None:
    slow = Submission("slow.md", b"\n".join(b"S = [[1, 2, 0], [2, 0, 2], [2, 2, %d]]" % i for i in range(4000)))
    limits = Limits(seconds=3)
    found = {
        each.mark.file: each.mark for each in graded([GOOD, slow, GOOD], Setup(masked, "t.md", DEFAULT), 1, limits)
    }
    assert found["slow.md"].trouble == "it took longer than 3 seconds"
    assert found["slow.md"].low == 0
    assert found["slow.md"].high == found["slow.md"].of
    assert found["good.md"].low == 2


def test_all_are_graded_once_whatever_the_number_of_workers(masked: str) -> None:
    names = [f"{i}.md" for i in range(12)]
    submissions = [Submission(name, GOOD.data) for name in names]
    found = [each.mark.file for each in graded(submissions, Setup(masked, "t.md", DEFAULT), 3)]
    assert sorted(found) == sorted(names)


def test_who_stops_early_leaves_nothing_behind(masked: str) -> None:
    read: list[int] = []

    def endless():
        while True:
            read.append(1)
            yield GOOD

    results = graded(endless(), Setup(masked, "t.md", DEFAULT), 2)
    next(results)
    begin = time.monotonic()
    results.close()
    assert time.monotonic() - begin < 20
    before = len(read)
    time.sleep(0.3)
    assert len(read) == before < 20


def test_what_several_hand_in_is_judged_once_and_each_has_a_page_of_their_own(masked: str) -> None:
    setup = Setup(masked, "t.md", DEFAULT)
    _marked.cache_clear()
    one, two = (grade_one(setup, Submission(name, GOOD.data)) for name in ("one.md", "two.md"))
    assert _marked.cache_info().hits == 1
    assert (one.mark.file, two.mark.file) == ("one.md", "two.md")
    assert one.feedback.replace("one.md", "two.md") == two.feedback
