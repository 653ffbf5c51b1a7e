"""Handing a job to a waiting thread through memory, without Python and its lock.

A thread that has nothing to do looks at its mailbox for a short while before it sleeps, so that calls which follow each
other closely do not pay for waking it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from qkv.kernel.atomics import exchange_if, fetch, publish, relax
from qkv.kernel.emit import intrinsic
from qkv.kernel.jit import entry
from qkv.kernel.memory import peek, poke

MAILBOX = np.dtype([("state", np.int64), ("kernel", np.int64), ("job", np.int64), ("double", np.int64)])
KERNEL, JOB_PLACE, DOUBLE = 8, 16, 24  # where they stand in a mailbox
# Asleep until rung for; looking at the mailbox; someone is writing to it; there is a job in it; at work on that.
ASLEEP, LISTENING, WRITING, FULL, WORKING = range(5)
BUSY, HEARD, RING = range(3)  # what became of a job that was to be posted


@intrinsic
def _call(typing: Any, function: Any, job: Any, one: Any) -> Any:
    """Call the machine code of a compiled kernel; 0 if it ended well."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = (types.int64, one)
        kind = context.call_conv.get_function_type(types.none, kinds)
        place = builder.inttoptr(arguments[0], kind.as_pointer())
        status, _ = context.call_conv.call_function(builder, place, types.none, kinds, arguments[1:])
        return status.code

    return types.int32(types.int64, types.int64, one), code


@entry
def post(mailbox: int, kernel: int, job: int, double: int) -> int:
    """Leave a job in a mailbox, unless its thread is at work."""
    asleep = False
    if not exchange_if(mailbox, LISTENING, WRITING):
        asleep = exchange_if(mailbox, ASLEEP, WRITING)
        if not asleep:
            return BUSY
    poke(mailbox + KERNEL, kernel)
    poke(mailbox + JOB_PLACE, job)
    poke(mailbox + DOUBLE, double)
    publish(mailbox, FULL)
    return RING if asleep else HEARD


@entry
def listen(mailbox: int, looks: int) -> None:
    """Do the jobs that come, until none has come for so many looks at the mailbox; then its thread counts as asleep."""
    exchange_if(mailbox, ASLEEP, LISTENING)
    left = looks
    while True:
        if exchange_if(mailbox, FULL, WORKING):
            kernel, job = peek(mailbox + KERNEL, 0), peek(mailbox + JOB_PLACE, 0)
            # A kernel can only fail for want of memory, before its first task: no task is lost, the caller does them.
            if peek(mailbox + DOUBLE, 0):
                _call(kernel, job, np.float64(1))
            else:
                _call(kernel, job, np.float32(1))
            publish(mailbox, LISTENING)
            left = looks
        elif left > 0:
            left -= 1
            while left > 0 and fetch(mailbox) != FULL:
                relax()
                left -= 1
        elif exchange_if(mailbox, LISTENING, ASLEEP):
            return


@entry
def finished(done: int, tasks: int, looks: int) -> bool:
    """Whether so many tasks are done, or will be within so many looks."""
    while looks > 0 and fetch(done) != tasks:
        relax()
        looks -= 1
    return looks > 0


def native(kernel: Any, double: int) -> int:
    """Where the machine code of a compiled kernel for float32 or float64 stands."""
    kinds = (types.int64, types.float64 if double else types.float32)
    if kinds not in kernel.overloads:
        kernel.compile(kinds)
    made = kernel.overloads[kinds]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))
