"""What a page asks for in words around attention, one kind after the other: each takes a program and may add to it."""

from __future__ import annotations

from qkv.program.model import Program
from qkv.reading.system import System
from qkv.solving.around import with_block
from qkv.solving.asked_around import asked_around
from qkv.solving.backward import with_gradients
from qkv.solving.losses import with_losses
from qkv.solving.open_questions import with_open_questions
from qkv.solving.positions import with_positions
from qkv.solving.rope import with_rope
from qkv.solving.temperatures import with_temperatures


def with_words(program: Program, system: System, scope: int, operated: bool) -> Program:
    """The program with all that words ask for; `operated` says that its operations in words are in it already."""
    page, words = system.page, system.page.words_of(scope)
    if (tempered := with_temperatures(program, page, scope)) is not program:
        return tempered
    program = with_block(program, words)
    program = with_gradients(program if operated else asked_around(program, system, scope, words), words)
    for further in (with_positions, with_losses, with_rope):
        program = further(program, page, scope)
    return with_open_questions(program, page, scope)
