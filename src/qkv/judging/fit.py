"""A printed value against one meaning: a verdict for each cell, and what that is worth in bits."""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import Agreement, Shown, agreement, follows
from qkv.check.model import SEVERITY, Cause, Verdict
from qkv.expr import nodes as n
from qkv.interpret.cells import Cell, same_cell
from qkv.interpret.certified import Value
from qkv.reading.bits import grid_bits
from qkv.reading.page import Spot

SLIP = 3.0  # bits that a wrong cell costs beside its place
MOST_SLIPS = 12.0  # several wrong cells are one slip that spread, or a mistake: they cost no more than this


class How(Enum):
    """How one knows what a value is meant to be: what it costs to take it so, and what it costs to deny it."""

    ASSIGNED = "what the assignment makes of it"
    STATED = "a formula in its own chain"
    WORKING = "numbers put in right beside it"
    CAPTION = "a formula in the words before it"
    DEFINED = "its name has a formula elsewhere"
    COPY = "the same name was printed before"
    NAMED = "what the library says of its name"
    WORDED = "what words say"
    SEARCHED = "a short expression over earlier values that gives all of its digits"

    @property
    def prior(self) -> float:
        """Bits that it costs to take a value so."""
        return _COSTS[self][0]

    @property
    def denial(self) -> float:
        """Bits that it costs to say that the value is not meant so."""
        return _COSTS[self][1]


_COSTS = {
    How.ASSIGNED: (0.0, 60.0),
    How.STATED: (0.0, 40.0),
    How.WORKING: (0.0, 40.0),
    How.CAPTION: (1.0, 25.0),
    How.DEFINED: (1.0, 25.0),
    How.COPY: (1.0, 15.0),
    How.NAMED: (3.0, 12.0),
    How.WORDED: (5.0, 5.0),
    How.SEARCHED: (2.0, 0.0),
}


class Meaning(NamedTuple):
    """What a printed value may be meant to be: an expression to be worked out at a spot."""

    how: How
    expr: n.Expr
    spot: Spot
    cost: float = 0.0  # bits beside those of `how`
    sure: bool = True  # every name in it is known from the page itself
    names: bool = True  # it is worked out from names; a working in numbers has no true value
    known_as: n.Expr | None = None  # what later formulas call it, where `expr` is how it is worked out
    side: int | None = None  # which side of its equation says so: a side with several readings is denied by none alone
    unit: int | Fraction = 1  # what the unit behind the value multiplies with; `expr` is divided by it

    @property
    def whole(self) -> n.Expr:
        """The quantity itself, not in the unit that stands behind its value: bytes for 128 KB."""
        return self.expr.numerator if self.unit != 1 and isinstance(self.expr, n.Quotient) else self.expr


class Fit(NamedTuple):
    """A printed value held against a meaning."""

    meaning: Meaning
    true: Value | None
    own: Value | None
    used: frozenset[int]
    verdicts: tuple[tuple[Verdict, ...], ...]
    agreed: float
    slips: int
    cause: Cause | None = None  # the known mistake behind what is wrong
    repair: str = ""  # how damaged cells are read
    misfit: Value | None = None  # what was meant, where that has another shape than what is shown
    right: Value | None = None  # what the author's numbers give with all that is false put right
    larger: Value | None = None  # the same, where that has another shape: a row was left out above
    instead: Value | None = None  # what the known mistake gives

    @property
    def worst(self) -> Verdict:
        """The worst verdict of its cells."""
        return max((verdict for row in self.verdicts for verdict in row), key=SEVERITY.__getitem__)

    @property
    def is_clean(self) -> bool:
        """Whether nothing in it is a slip made here."""
        return self.worst not in (Verdict.WRONG, Verdict.MISROUNDED)

    @property
    def bits(self) -> float:
        """What this meaning saves: the digits that agree, less what it costs and what its slips cost."""
        cells = len(self.verdicts) * len(self.verdicts[0])
        slips = min(MOST_SLIPS, self.slips * (math.log2(cells) + SLIP))
        return self.agreed - self.meaning.how.prior - self.meaning.cost - slips


def fit(
    grid: Grid,
    meaning: Meaning,
    true: Value | None,
    own: Value | None,
    used: frozenset[int],
    false: bool,
    mended: Value | None,
) -> Fit | None:
    """Hold a printed grid against what a meaning gives; None where the shapes do not fit or it gives nothing.

    `false` says that the author's numbers stand on a false claim, `mended` what they give with those put right."""
    shape = shape_of(grid)
    truly = fitted(true, shape) if true is not None else None
    owned = fitted(own, shape) if own is not None else None
    right = fitted(mended, shape) if mended is not None else None
    if truly is None and owned is None:
        return None
    bits, rows, agreed, slips = grid_bits(grid), [], 0.0, 0
    finest = min((shown.half for row in grid for shown in row if shown.half), default=0)
    for i, row in enumerate(grid):
        line = []
        for j, shown in enumerate(row):
            t = truly.rows[i][j] if truly is not None else None
            o = owned.rows[i][j] if owned is not None else None
            r = right.rows[i][j] if right is not None else None
            touched = false and not (r is not None and o is not None and same_cell(r, o))
            t = r if t is None and touched else t
            verdict = cell_verdict(shown, t, o, touched)
            if verdict is Verdict.MISROUNDED and shown.half > finest:
                verdict = Verdict.WRONG  # 0.6 among numbers of three places stands for itself
            if verdict is Verdict.WRONG:
                slips += 1
            else:
                agreed += bits[i][j] if verdict is not Verdict.MISROUNDED else max(bits[i][j] - 4, 0)
            line.append(verdict)
        rows.append(tuple(line))
    larger = mended if right is None else None
    return Fit(meaning, truly, owned, used, tuple(rows), agreed, slips, right=right, larger=larger)


def cell_verdict(shown: Shown, true: Cell | None, own: Cell | None, carried: bool) -> Verdict:
    """The verdict of one cell: against what is true, then against what the author's own numbers give."""
    to_true = agreement(shown, true) if true is not None else None
    if to_true is Agreement.EQUAL:
        return Verdict.RIGHT
    if to_true in (Agreement.ROUNDED, Agreement.OPEN):
        return Verdict.ROUNDED
    to_own = follows(shown, own) if own is not None else None
    if to_own is not None and to_own <= Agreement.OPEN:
        if carried:
            return Verdict.CARRIED
        if true is not None:
            return Verdict.DRIFTED
        return Verdict.RIGHT if to_own is Agreement.EQUAL else Verdict.ROUNDED
    if to_own is Agreement.NEAR or (to_true is Agreement.NEAR and not carried):
        return Verdict.MISROUNDED
    return Verdict.WRONG
