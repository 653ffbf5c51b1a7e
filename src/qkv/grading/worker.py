"""What serves in a worker process (workers.py) that grades one hand-in after the other."""

from __future__ import annotations

from qkv.grading.one import Graded, Setup, Submission, assignment_for, grade_one, troubled


class Grader:
    """The assignment worked out, and hand-ins graded by it."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        assignment_for(setup)

    def __call__(self, submission: Submission) -> Graded:
        try:
            return grade_one(self.setup, submission)
        except Exception as error:  # noqa: BLE001  a bug of ours costs this file its marks, not the class
            why = f"a bug in qkv: {type(error).__name__}: {error}"
            return troubled(submission.name, assignment_for(self.setup).asked, why, submission.on_paper)
