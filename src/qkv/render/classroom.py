"""The class at a glance, as one page: how the points are spread, what went wrong and where, and who needs a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import mean, median
from urllib.parse import quote

from qkv.grading.model import ClassSummary, Mark
from qkv.render.feedback import points
from qkv.render.page import page
from qkv.render.plainly import said, shortened
from qkv.render.summary import count

BINS, MOST_BARS = 10, 20
LOOK = "need a look"
MOST_ROWS = 1000  # of marks on the page; the rest is in marks.csv
MOST_LISTED = 200
MOST_MISTAKES = 30
MOST_CHARACTERS = 80  # of what an example shows
STYLE = """<style>
.qkv .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.7rem;
margin:1rem 0;max-width:62rem}
.qkv .tile{background:var(--panel);border-radius:.5rem;padding:.6rem .9rem}
.qkv .tile b{display:block;font-size:1.5rem;font-variant-numeric:tabular-nums}
.qkv .tile span{color:var(--soft);font-size:.85rem}.qkv .tile.look b{color:var(--misread)}
.qkv .spread{display:grid;grid-template-columns:repeat(var(--bins),1fr);gap:.25rem;max-width:46rem;margin:.8rem 0 .2rem}
.qkv .spread div{display:flex;flex-direction:column;justify-content:flex-end;min-height:9.5rem;text-align:center;
font-size:.8rem;font-variant-numeric:tabular-nums}
.qkv .spread i{background:var(--right);border-radius:.2rem .2rem 0 0;height:calc(var(--share)*.07rem + 2px)}
.qkv .spread span{color:var(--soft);border-top:1px solid var(--line);padding-top:.15rem}
.qkv table .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.qkv table.bars{width:100%;max-width:46rem}.qkv table.bars .bar{width:60%}
.qkv .bar i,.qkv .mistakes i{display:block;border-radius:.2rem;width:calc(var(--share)*1%)}
.qkv .bar i{height:.7rem;background:var(--right)}
.qkv .mistakes{list-style:none;padding:0;max-width:62rem}
.qkv .mistakes li{display:grid;grid-template-columns:2.5rem minmax(0,1fr);padding:.5rem 0;
border-top:1px solid var(--line)}
.qkv .mistakes li>b{font-size:1.15rem;font-variant-numeric:tabular-nums}
.qkv .mistakes i{height:.3rem;margin:.2rem 0 .3rem;background:var(--wrong)}
.qkv .mistakes .soft{display:block;font-size:.9rem}
.qkv .looks li{margin:.15rem 0}
.qkv table.all{width:100%;max-width:62rem}.qkv .all td:first-child{overflow-wrap:anywhere}
</style>"""


@dataclass(frozen=True, slots=True)
class Row:
    """The marks of a hand-in, and where its feedback is."""

    mark: Mark
    link: str


def summary_page(summary: ClassSummary, rows: Sequence[Row], assignment: str) -> str:
    """The page of a class."""
    links = {row.mark.file: row.link for row in rows}
    parts = [f"{STYLE}<h1>{escape(assignment)}: {count(summary.marks, 'hand-in')}</h1>", _tiles(summary)]
    if summary.shares:
        parts.append(_spread(summary))
    parts += [_looks(summary, links), _questions(summary), _mistakes(summary, links), _table(rows)]
    return page(f"{assignment} graded", "\n".join(part for part in parts if part))


def _tiles(summary: ClassSummary) -> str:
    of = float(summary.of)
    tiles = [(str(summary.marks), "handed in")]
    if summary.shares:
        tiles.append((f"{mean(summary.shares) * of:.1f}", f"mean of {said(summary.of)} points"))
        tiles.append((f"{median(summary.shares) * of:.1f}", "median"))
        tiles.append((str(sum(share == 1 for share in summary.shares)), "with full marks"))
    tiles.append((str(len(summary.looks)), LOOK))
    if summary.empty:
        tiles.append((str(len(summary.empty)), "with nothing in it"))
    shown = (
        f'<div class="tile{" look" * (word == LOOK and number != "0")}"><b>{number}</b><span>{word}</span></div>'
        for number, word in tiles
    )
    return f'<div class="tiles">{"".join(shown)}</div>'


def _spread(summary: ClassSummary) -> str:
    """How the points are spread: a bar for each point, or for each tenth of all points if there are many."""
    steps = int(summary.of) if summary.of.denominator == 1 and 1 < summary.of <= MOST_BARS else BINS
    bins = [0] * (steps + 1)
    for share in summary.shares:
        bins[min(int(share * steps + 1e-9), steps)] += 1
    most, of = max(bins), float(summary.of)
    bars = []
    for i, number in enumerate(bins):
        bar = f'{number}<i style="--share:{100 * number / most:.0f}"></i>' if number else ""
        bars.append(f"<div>{bar}<span>{of * i / steps:.3g}</span></div>")
    without = "; those that a person has to look at are not among them" if summary.looks else ""
    return (
        f'<h2>Points</h2>\n<div class="spread" style="--bins:{len(bins)}">{"".join(bars)}</div>\n'
        f'<p class="soft">How many have so many points, or up to the next bar{without}.</p>'
    )


def _looks(summary: ClassSummary, links: dict[str, str]) -> str:
    if not summary.looks:
        return ""
    rows = (
        f"<li>{_link(file, links)} <span class='soft'>{escape(why)}</span></li>"
        for file, why in summary.looks[:MOST_LISTED]
    )
    more = _more(len(summary.looks) - MOST_LISTED)
    return f'<h2>For a person to look at</h2>\n<ul class="looks">{"".join(rows)}</ul>{more}'


def _mistakes(summary: ClassSummary, links: dict[str, str]) -> str:
    """The commonest mistakes with an example of each."""
    if not summary.mistakes:
        return "<h2>Mistakes</h2>\n<p>No slip was found.</p>"
    most = max(summary.mistakes.values())
    items = []
    for mistake, number in summary.mistakes.most_common(MOST_MISTAKES):
        file, slip = summary.examples[mistake]
        told = f'<span class="soft">{escape(slip.says)}</span>' if slip.says and slip.says != mistake else ""
        example = (
            f"{_link(file, links)}, line {slip.line}: <code>{escape(shortened(slip.shown, MOST_CHARACTERS))}</code>"
        )
        items.append(
            f'<li><b>{number}</b><div>{escape(mistake)}<i style="--share:{100 * number / most:.0f}"></i>{told}'
            f'<span class="soft">for example {example}</span></div></li>'
        )
    first = ", ".join(f"<code>{escape(step or '?')}</code> ({number})" for step, number in summary.steps.most_common(8))
    return f'<h2>Mistakes</h2>\n<p>The first slip was made in {first}.</p>\n<ul class="mistakes">{"".join(items)}</ul>'


def _questions(summary: ClassSummary) -> str:
    """Which share of its points each quantity brought."""
    rows = []
    for (label, name), (got, of) in summary.lost.items():
        share = float(got / of) if of else 0.0
        named = f"<td>{escape(label)}</td><td><code>{escape(name)}</code></td>"
        rows.append(f'<tr>{named}<td class="n">{share:.0%}</td>{_bar(share)}</tr>')
    return f"<h2>Questions</h2>\n{_grid('bars', '<th>question</th><th>asked for</th><th>earned</th><th></th>', rows)}"


def _table(rows: Sequence[Row]) -> str:
    shown = [_row(row) for row in rows[:MOST_ROWS]]
    head = "<th>hand-in</th><th>points</th><th>first slip</th>"
    return f"<h2>All hand-ins</h2>\n{_grid('all', head, shown)}{_more(len(rows) - MOST_ROWS)}"


def _row(row: Row) -> str:
    slip = row.mark.slips[0] if row.mark.slips else None
    told = f"line {slip.line}, {slip.step}: {slip.mistake or 'no known cause'}" if slip else ""
    note = told or ("nothing handed in" if row.mark.empty else "to be looked at" if row.mark.looks else "")
    got, link = points(row.mark).removesuffix(" points"), _link(row.mark.file, {row.mark.file: row.link})
    return f'<tr><td>{link}</td><td class="n">{got}</td><td>{escape(note)}</td></tr>'


def _grid(name: str, head: str, rows: Sequence[str]) -> str:
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<div class="table"><table class="{name}">{top}<tbody>{"".join(rows)}</tbody></table></div>'


def _bar(share: float) -> str:
    return f'<td class="bar"><i style="--share:{100 * share:.0f}"></i></td>'


def _link(file: str, links: dict[str, str]) -> str:
    return f'<a href="{escape(quote(links[file]))}">{escape(file)}</a>'


def _more(number: int) -> str:
    return f'<p class="soft">{number} more are in marks.csv.</p>' if number > 0 else ""
