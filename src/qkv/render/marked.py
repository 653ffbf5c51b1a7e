"""A checked document in HTML: its own text and formulas, each claim marked in place, notes beside it."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from xml.etree.ElementTree import Element

from qkv.check.model import SEVERITY, Claim, Report
from qkv.regex import regex
from qkv.render import mathml
from qkv.render.document import Block, Document, Formula, Kind, cut, line_ends, places, readable
from qkv.render.plainly import plainly
from qkv.render.summary import LOOKS

_INLINE = regex(
    r"\*\*(?P<strong>[^*\n]+)\*\*|`(?P<code>[^`\n]+)`|~~(?P<s>[^~\n]+)~~|(?<!\w)\*(?P<em>[^*\s](?:[^*\n]*[^*\s])?)\*(?!\w)|"
    r"\[(?P<link>[^\[\]\n]{1,200})\]\((?:https?:|[#/])[^)\s]{0,500}\)|"
    r"(?P<bare>\\[A-Za-z]+(?:\{[^{}\n]*\})*(?:[_^](?:\{[^{}\n]*\}|\w))*)"
)
_QUOTE = regex(r"(?m)^[ \t]*>[ \t]?")
_MARKUP = " \t\n`~*|.,;"  # a stretch of nothing else needs no mark of its own
_ALIGNED = regex(r"\s*\\begin\{(?:align|aligned|alignedat|eqnarray|split|flalign|gather|gathered)\*?\}")
_HEAD = regex(r"#{1,6}\s+|\\(?:(?:sub)*section|chapter|paragraph|title)\*?\{|\}\s*$|\s#+\s*$")


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    claim: Claim


@dataclass(frozen=True)
class Marked:
    """One report as rows of a page: line number, text, notes."""

    report: Report
    claims: Sequence[Claim]
    cards: Mapping[int, str]  # what is said beside a claim, by its id
    prefix: str  # of anchors, so that several reports fit on a page
    _done: set[int] = field(default_factory=set)  # claims that have their badge

    def rows(self) -> Iterator[str]:
        """The whole document, then the notes of claims that have no place in it."""
        text = readable(self.report.text, self.report.file)
        document = cut(text)
        where = places(text, tuple(self.claims))
        spans = sorted((_Span(*where[claim.id], claim) for claim in self.claims), key=lambda s: (s.start, s.end))
        breaks = [at for at, x in enumerate(text) if x == "\n"]
        waiting, inside = deque(spans), list[_Span]()
        for block in document.blocks:
            inside = [span for span in inside if span.end > block.start]
            fresh = []
            while waiting and waiting[0].start < block.end:
                fresh.append(waiting.popleft())
            fresh = [span for span in fresh if span.end > block.start]
            inside += fresh
            line = bisect_right(breaks, block.start + _indent(text, block) - 1) + 1
            yield self._row(line, self.set(document, block, inside), [span.claim for span in fresh])
        rest = [claim for claim in self.claims if claim.id not in self._done and claim.id in self.cards]
        if rest:
            yield self._row(0, "", rest)

    def _row(self, line: int, said: str, claims: Sequence[Claim]) -> str:
        self._done.update(claim.id for claim in claims)
        notes = "".join(self.cards.get(claim.id, "") for claim in claims)
        number = str(line) if line else ""
        return (
            f'<div class="row"><div class="number">{number}</div><div class="said">{said}</div>'
            f'<div class="notes">{notes}</div></div>'
        )

    def set(self, document: Document, block: Block, spans: list[_Span]) -> str:
        """One block of the document."""
        match block.kind:
            case Kind.HEADING:
                level = min(block.level + 1, 4)
                return f"<h{level}>{self._heading(document, block, spans)}</h{level}>"
            case Kind.VERBATIM:
                end = block.start + len(document.text[block.start : block.end].rstrip())
                return f"<pre>{self._plain(document.text, block.start, end, spans, escape)}</pre>"
            case Kind.TABLE:
                return f'<div class="table"><table>{"".join(self._table(document, block, spans))}</table></div>'
            case _:
                return f"<p>{self._flow(document, block.start, block.end, spans)}</p>"

    def _heading(self, document: Document, block: Block, spans: list[_Span]) -> str:
        start, end = block.start, block.end
        opening = _HEAD.match(document.text[start:end].lstrip())
        if opening:
            start += end - start - len(document.text[start:end].lstrip()) + opening.end()
        if document.text[start:end].rstrip().endswith("}") and "\\" in document.text[block.start : start]:
            end = start + document.text[start:end].rindex("}")
        return self._flow(document, start, end, spans)

    def _table(self, document: Document, block: Block, spans: list[_Span]) -> Iterator[str]:
        at = block.start
        for number, line in enumerate(document.text[block.start : block.end].split("\n")):
            if number != 1 and line.strip():
                tag = "th" if number == 0 else "td"
                cells = (f"<{tag}>{self._flow(document, a, b, spans)}</{tag}>" for a, b in _cells(line, at, document))
                yield f"<tr>{''.join(cells)}</tr>"
            at += len(line) + 1

    def _flow(self, document: Document, start: int, end: int, spans: list[_Span]) -> str:
        """Text with its formulas set."""
        pieces, at = [], start
        for formula in document.formulas_in(start, end):
            pieces.append(self._plain(document.text, at, formula.start, spans, _inline))
            pieces.append(self._formula(document.text, formula, spans))
            at = min(formula.end, end)
        pieces.append(self._plain(document.text, at, end, spans, _inline))
        return "".join(pieces).strip()

    def _plain(self, text: str, start: int, end: int, spans: list[_Span], show: object) -> str:
        """Text without formulas, cut where claims begin and end."""
        edges = {edge for span in spans for edge in (span.start, span.end) if start < edge < end}
        points = [start, *sorted(edges), end]
        return "".join(self._stretch(text, a, b, spans, show) for a, b in pairwise(points))

    def _stretch(self, text: str, start: int, end: int, spans: list[_Span], show: object) -> str:
        body: str = show(_QUOTE.sub("", text[start:end]))  # type: ignore[operator]
        over = [span for span in spans if span.start < end and span.end > start]
        if not over or not text[start:end].strip(_MARKUP):
            return body
        worst = max(over, key=lambda span: SEVERITY[span.claim.verdict]).claim
        return f'<span class="claim {worst.verdict}">{body}{self._badges(over)}</span>'

    def _formula(self, text: str, formula: Formula, spans: list[_Span]) -> str:
        """A formula, marked piece by piece where its pieces can be set by themselves, row by row where it is aligned,
        else as a whole."""
        over = [span for span in spans if span.start < formula.end and span.end > formula.start]
        name = "display" if formula.display else ""
        pieces = _pieces(text, formula, over, over)
        if pieces and len(pieces) > 1:
            body = "".join(self._claimed(piece, inside, "piece" if inside else "") for piece, inside in pieces)
            return self._claimed(body, [], name)
        if (aligned := _by_rows(text, formula, over)) is not None:
            return self._claimed(aligned + self._badges(over), [], name)
        rows = _pieces(text, formula, over, [])
        if rows:
            return self._claimed("".join(body for body, _ in rows), over, name)
        return self._claimed(f"<code>{escape(text[formula.start : formula.end])}</code>", over, name)

    def _claimed(self, body: str, over: Sequence[_Span], name: str) -> str:
        if not over:
            return f'<span class="{name}">{body}</span>' if name else body
        worst = max(over, key=lambda span: SEVERITY[span.claim.verdict]).claim
        return f'<span class="{f"claim {name}".strip()} {worst.verdict}">{body}{self._badges(over)}</span>'

    def _badges(self, spans: Sequence[_Span]) -> str:
        """A badge for each claim, at the first piece of it; it leads to the note beside it."""
        fresh = [span.claim for span in spans if span.claim.id not in self._done]
        self._done.update(claim.id for claim in fresh)
        return "".join(self._badge(claim, claim.name if len(spans) > 1 else "") for claim in fresh)

    def _badge(self, claim: Claim, name: str) -> str:
        anchor = f"{self.prefix}c{claim.id}"
        text = escape(f"{LOOKS[claim.verdict].sign} {plainly(name)} {claim.verdict}")
        if claim.id in self.cards:
            tag = f'<a class="badge {claim.verdict}" id="{anchor}" data-line="{claim.line}"'
            return f'{tag} href="#{self.prefix}n{claim.id}">{text}</a>'
        mark = LOOKS[claim.verdict].sign
        label = f'role="img" aria-label="{claim.verdict}" title="{claim.verdict}"'
        return f'<span class="badge {claim.verdict}" id="{anchor}" {label}>{mark}</span>'


def unmarked(text: str) -> str:
    """A document of ours as a piece of a page: its text with its formulas set, and nothing judged."""
    document = cut(text)
    marked = Marked(Report("", ()), (), {}, "")
    return "\n".join(marked.set(document, block, []) for block in document.blocks)


def _pieces(
    text: str, formula: Formula, over: Sequence[_Span], cuts: Sequence[_Span]
) -> list[tuple[str, list[_Span]]] | None:
    """The formula cut at its line breaks and where claims begin and end, each piece with its claims; None if a piece
    has no meaning of its own."""
    start, end = formula.inner_start, formula.inner_end
    breaks = dict(line_ends(text, start, end))
    edges = {edge for span in cuts for edge in (span.start, span.end)} | {*breaks, *breaks.values()}
    pieces: list[tuple[str, list[_Span]]] = []
    for a, b in pairwise([start, *sorted(edge for edge in edges if start < edge < end), end]):
        inside = [span for span in over if span.start < b and span.end > a]
        if a in breaks:
            pieces.append(('<span class="break"></span>', []))
        elif not text[a:b].strip(_MARKUP + ">"):
            pieces.append((escape(text[a:b].strip(" \t\n>")), []))
        elif (body := _set(text[a:b], formula.display, inside)) is not None:
            pieces.append((body, inside))
        else:
            return None
    return pieces


def _by_rows(text: str, formula: Formula, over: Sequence[_Span]) -> str | None:
    """An aligned formula whose rows have claims of their own, each in its tone; None where it is none."""
    opening = _ALIGNED.match(text, formula.inner_start, formula.inner_end)
    root = mathml.tree(text[formula.inner_start : formula.inner_end]) if opening and len(over) > 1 else None
    table = next(root.iter("mtable"), None) if root is not None else None
    if root is None or opening is None or table is None:
        return None
    ends = [end for _, end in line_ends(text, opening.end(), formula.inner_end)]
    marks: dict[Element, str] = {}
    for span in sorted(over, key=lambda span: SEVERITY[span.claim.verdict]):  # the worst is said last
        rows = list(table)[bisect_right(ends, span.start) : bisect_right(ends, span.end - 1) + 1]
        marks |= dict.fromkeys(rows, f"claim {span.claim.verdict}")
        for row in rows:
            marks |= _bad_cells(row, span.claim)
    return mathml.written(root, formula.display, marks)


def _bad_cells(root: Element, claim: Claim) -> dict[Element, str]:
    """The cells of a claim that are not right, each with its class."""
    found: dict[Element, str] = {}
    for verdict in {cell.verdict for cell in claim.cells}:
        cells = [(c.row, c.column, c.shown) for c in claim.cells if c.verdict is verdict]
        found |= dict.fromkeys(mathml.find_cells(root, cells), f"cell {verdict}")
    return found


def _set(source: str, display: bool, over: Sequence[_Span]) -> str | None:
    """LaTeX as MathML with the bad cells of the claims outlined; None where it does not convert."""
    if not any(span.claim.cells for span in over):
        return mathml.converted(source, display)
    root = mathml.tree(source)
    if root is None:
        return None
    marks: dict[Element, str] = {}
    for span in over:
        marks |= _bad_cells(root, span.claim)
    return mathml.written(root, display, marks)


def _indent(text: str, block: Block) -> int:
    piece = text[block.start : block.end]
    return len(piece) - len(piece.lstrip())


def _cells(line: str, start: int, document: Document) -> Iterator[tuple[int, int]]:
    """The cells of a table row as offsets; a bar inside of a formula is no border."""
    inside = [(f.start, f.end) for f in document.formulas_in(start, start + len(line))]
    bars = [start + k for k, x in enumerate(line) if x == "|" and not any(a <= start + k < b for a, b in inside)]
    edges = [start - 1, *bars, start + len(line)]
    for a, b in pairwise(edges):
        if document.text[a + 1 : b].strip() or (a != start - 1 and b != start + len(line)):
            yield a + 1, b


def _inline(text: str) -> str:
    """Text with its bold, code and crossed-out pieces and its stray LaTeX set; everything else as it is."""
    pieces, at = [], 0
    for found in _INLINE.finditer(text):
        pieces += [_stray(text[at : found.start()]), _tagged(str(found.lastgroup), found[str(found.lastgroup)])]
        at = found.end()
    return "".join([*pieces, _stray(text[at:])])


def _tagged(kind: str, text: str) -> str:
    if kind == "link":  # nothing leads out of the page
        return escape(text)
    if kind == "bare":
        return mathml.converted(text, display=False) or escape(text)
    return f"<{kind}>{escape(text)}</{kind}>"


def _stray(text: str) -> str:
    """Marks around a claim or a formula stand alone here: what they say (code, crossed out) the claim shows itself."""
    return escape(text).replace("~~", "").replace("`", "")
