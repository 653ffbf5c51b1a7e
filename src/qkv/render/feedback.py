"""The page that the author of a hand-in gets: the points of each question with the reason, then the hand-in, marked."""

from __future__ import annotations

from html import escape

from qkv.check.model import Report
from qkv.grading.model import LOOKS, Because, Earned, Mark, Points
from qkv.render import html
from qkv.render.plainly import said

# How the row of a quantity looks: the tone of the verdict that is nearest.
TONES = {
    Because.SHOWN: "right",
    Because.IMPLIED: "right",
    Because.CARRIED: "carried",
    Because.AGAIN: "carried",
    Because.ROUNDING: "misrounded",
    Because.SLIP: "wrong",
    Because.CHARGED: "wrong",
    Because.TRIVIAL: "wrong",
    Because.PARTLY: "unread",
    Because.DAMAGED: "misread",
    Because.UNREAD: "unread",
    Because.MISSING: "unread",
}
STYLE = """<style>
.qkv .score{font-size:1.5rem;font-weight:650;margin:.2rem 0 .6rem}.qkv .table+h1{margin-top:1.6rem}
.qkv table.marks{min-width:min(100%,34rem)}.qkv table.marks td:first-child{box-shadow:inset .2rem 0 0 var(--tone)}
.qkv table.marks .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
</style>"""


def feedback(mark: Mark, report: Report) -> str:
    """The body of the page: the marks, and below them the report on the hand-in."""
    return f"{_marks(mark)}\n{html.body(report)}"


def refused(mark: Mark) -> str:
    """The body of the page of a hand-in that could not be graded."""
    return f"<h1>{escape(mark.file)}</h1>\n{_marks(mark)}"


def points(mark: Mark) -> str:
    """5 of 6 points; 4.3 to 6 of 6 points where a person has to look."""
    return f"{_between(mark.low, mark.high)} of {said(mark.of)} points"


def _between(least: Points, most: Points) -> str:
    """5, or 4.3 to 6."""
    low, high = said(least), said(most)
    return low if low == high else f"{low} to {high}"


def _marks(mark: Mark) -> str:
    looks = "".join(f"<li>{escape(why)}</li>" for why in mark.looks)
    look = f'<div class="note unread"><b>A person will look at this</b><ul>{looks}</ul></div>' if looks else ""
    empty = '<p class="soft">No number stands in it.</p>' if mark.empty else ""
    rows = "".join(map(_row, mark.earned))
    head = "<thead><tr><th>question</th><th>asked for</th><th>points</th><th>why</th></tr></thead>"
    table = f'<div class="table"><table class="marks">{head}<tbody>{rows}</tbody></table></div>'
    return f'{STYLE}<p class="score">{points(mark)}</p>{look}{empty}{table}'


def _row(each: Earned) -> str:
    where = f" (line {each.line})" if each.line is not None and each.because is not Because.SHOWN else ""
    why = f"{each.because}{where}" + (": a person decides" if each.because in LOOKS else "")
    return (
        f'<tr class="{TONES[each.because]}"><td>{escape(each.label)}</td><td><code>{escape(each.name)}</code></td>'
        f'<td class="n">{_between(each.low, each.high)} of {said(each.of)}</td><td>{escape(why)}</td></tr>'
    )
