"""Claims about theory (counts, orders of growth, E and Var, transport) as claims of the report."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.check.model import CellVerdict, Claim, Verdict
from qkv.reader import read_sheet
from qkv.sheet.model import Sheet
from qkv.theory.claims import Judged, TheoryClaim, theory_claims

VERDICTS = {Judged.RIGHT: Verdict.RIGHT, Judged.WRONG: Verdict.WRONG, Judged.CARRIED: Verdict.CARRIED}


def judge_theory(sheet: Sheet, first: int) -> Iterator[Claim]:
    """The theory claims of a sheet, numbered from `first`; what is not understood for certain is left out."""
    wrong: list[int] = []
    number = first
    for said in theory_claims(read_sheet(sheet.text, sheet.file)):
        if said.verdict not in VERDICTS:
            continue
        claim = _claim(said, number, tuple(wrong))
        if claim.verdict is Verdict.WRONG:
            wrong.append(number)
        number += 1
        yield claim


def _claim(said: TheoryClaim, number: int, wrong: tuple[int, ...]) -> Claim:
    verdict = VERDICTS[said.verdict]
    cells = () if verdict is Verdict.RIGHT else (CellVerdict(1, 1, said.text, said.truth, None, verdict, said.says),)
    return Claim(
        id=number,
        line=said.line,
        end_line=said.line,
        name=said.about,
        formula="",
        text=said.text,
        verdict=verdict,
        cells=cells,
        follows_from=wrong[-1:] if verdict is Verdict.CARRIED else (),
        reason=said.says if said.says and not cells else None,  # the cell's working says it
        shown=((said.text,),),
    )
