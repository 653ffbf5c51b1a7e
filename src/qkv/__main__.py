"""The command `qkv`, also as `python -m qkv`: Ctrl-C ends it quietly, with status 130, at whatever moment."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` without the milliseconds that its names take

_signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # until `main` begins, Ctrl-C just ends the process

import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402

TYPE_CHECKING = False  # typing's own costs more to import than all of this
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 128 + signal.SIGINT  # what shells expect


def main() -> None:
    """Run the command line. Nothing is imported, and nothing ends, without somebody who expects Ctrl-C."""
    working = False

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        nonlocal working
        if not working:  # starting, ending, or interrupted before: there is nothing to tidy up
            os._exit(INTERRUPTED)
        working = False
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    sys.unraisablehook = _unraisable
    from qkv import cli

    try:
        working = True
        status = cli.status(sys.argv[1:])
        working = False
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:  # now: Python would end itself by the signal, and threads may still be at work
        os._exit(INTERRUPTED)
    sys.exit(status)


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """An interrupt that arrives where Python cannot raise it, as in a finalizer, ends the program all the same."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    main()
