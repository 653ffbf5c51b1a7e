"""Claims about theory (counts, orders of growth, E and Var, transport) as claims of the report.

What theory speaks of is not judged a second time as plain numbers: `owned` tells the walk where that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qkv.check.model import CellVerdict, Claim, Verdict
from qkv.theory.model import Judged, TheoryClaim

VERDICTS = {Judged.RIGHT: Verdict.RIGHT, Judged.WRONG: Verdict.WRONG, Judged.CARRIED: Verdict.CARRIED}
Places = frozenset[tuple[int, int]]


def owned(said: Sequence[TheoryClaim]) -> Places:
    """Where statements begin that theory understands: line and column of each of their links."""
    return frozenset(place for claim in said if claim.verdict is not Judged.OPEN for place in claim.places)


def judge_theory(said: Sequence[TheoryClaim], first: int) -> Iterator[Claim]:
    """The theory claims of a sheet, numbered from `first`; what is not understood for certain is left out."""
    wrong: tuple[int, ...] = ()
    for number, claim in enumerate((claim for claim in said if claim.verdict in VERDICTS), first):
        if claim.verdict is Judged.WRONG:
            wrong = (number,)
        yield _claim(claim, number, wrong)


def _claim(said: TheoryClaim, number: int, wrong: tuple[int, ...]) -> Claim:
    verdict = VERDICTS[said.verdict]
    cells = () if verdict is Verdict.RIGHT else (CellVerdict(1, 1, said.text, said.truth, None, verdict, said.says),)
    return Claim(
        number, said.line, said.line, said.about, "", said.text, verdict, cells,
        follows_from=wrong if verdict is Verdict.CARRIED else (),
        reason=said.says if said.says and not cells else None,  # the cell's working says it
        column=min((column for line, column in said.places if line == said.line), default=1),
        shown=((said.text,),),
    )  # fmt: skip
