"""A process that grades one hand-in after the other: `python -m qkv.grading.worker`, spoken to over its pipes.

It gets a Setup and a limit of memory, then Submissions, and answers each with a Graded. It ends when its input does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys

from qkv.grading.one import Graded, Submission, assignment_for, grade_one, troubled

READY = "ready"  # said when the assignment is worked out: from here on, time counts


def main() -> None:
    """Serve until there is no more input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who pressed Ctrl-C meant the whole: it tells us to end
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but answers may come out of the pipe
    questions = sys.stdin.buffer
    setup, memory = pickle.load(questions)
    _limit(memory)
    assignment_for(setup)
    pickle.dump(READY, answers)
    answers.flush()
    while True:
        try:
            submission: Submission = pickle.load(questions)
        except EOFError:
            return
        try:
            graded: Graded = grade_one(setup, submission)
        except Exception as error:  # noqa: BLE001  a bug of ours costs this file its marks, not the class
            why = f"a bug in qkv: {type(error).__name__}: {error}"
            graded = troubled(submission.name, assignment_for(setup).asked, why)
        pickle.dump(graded, answers)
        answers.flush()


def _limit(megabytes: int) -> None:
    """Memory for this process, where the system knows such a limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000,) * 2)


if __name__ == "__main__":
    main()
