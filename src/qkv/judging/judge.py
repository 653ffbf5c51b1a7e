"""READING → JUDGED: every printed value of a sheet, judged once for the report, the solution and `qkv read`."""

from __future__ import annotations

from dataclasses import dataclass

from qkv.interpret.cells import START_BITS, precision
from qkv.judging.doubts import doubted
from qkv.judging.shapes import owned as size_places
from qkv.judging.theory import owned as theory_places
from qkv.judging.walk import Judgement, Walk
from qkv.reading.reading import Reading
from qkv.theory.claims import theory_said
from qkv.theory.model import TheoryClaim


@dataclass(frozen=True)
class Judged:
    """A reading, what is said of its printed values, and what it says about theory.

    The walk keeps what the author had printed at the end of the page; `judgements` are in the order of the page."""

    reading: Reading
    walk: Walk
    judgements: tuple[Judgement, ...]
    theory: tuple[TheoryClaim, ...]


def judged(reading: Reading) -> Judged:
    """Every printed value of a reading judged; claims about theory and sizes have rules of their own."""
    with precision(START_BITS):
        theory = tuple(theory_said(reading.sheet))
        elsewhere = theory_places(theory) | size_places(reading.sheet)
        walk = Walk(reading.system, reading.values, elsewhere)
        judgements = walk.run()
        if names := doubted(judgements):
            walk = Walk(reading.system, reading.values, elsewhere, names)
            judgements = walk.run()
        return Judged(reading, walk, tuple(judgements), theory)
