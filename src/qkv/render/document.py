"""A document cut into blocks and formulas, so that it can be shown again with each claim marked where it stands.

All places are offsets into the text. This is no Markdown reader: it keeps the document's own text and order, and knows
just enough (headings, fences, tables, formulas) to set it well.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from qkv.check.model import Claim
from qkv.regex import regex


class Kind(Enum):
    """How a block is set."""

    HEADING = "heading"
    TABLE = "table"
    VERBATIM = "verbatim"  # code, and grids that need their blanks
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the document that is set as one."""

    kind: Kind
    start: int
    end: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula with its delimiters (start to end) and without (inner)."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    display: bool


@dataclass(frozen=True, slots=True)
class Document:
    """The text, its blocks and its formulas, both in order."""

    text: str
    blocks: tuple[Block, ...]
    formulas: tuple[Formula, ...]

    def formulas_in(self, start: int, end: int) -> Iterator[Formula]:
        """The formulas that begin within a stretch."""
        at = bisect_left(self.formulas, start, key=lambda formula: formula.start)
        while at < len(self.formulas) and self.formulas[at].start < end:
            yield self.formulas[at]
            at += 1


_ENVIRONMENTS = r"equation|align|gather|multline|eqnarray|displaymath|flalign|math"
_MATRICES = r"[bpvBV]?matrix|array"  # may stand outside of any formula
_OPENER = regex(
    rf"(?P<dollars>\$\$)|(?P<bracket>\\\[)|(?P<round>\\\()|"
    rf"\\begin\{{(?P<env>(?:{_ENVIRONMENTS})\*?|{_MATRICES})\}}|(?P<escaped>\\.)|"
    r"(?P<dollar>\$)|(?P<fence>^ {0,3}(?:```+|~~~+))",
    re.MULTILINE | re.DOTALL,
)
_CLOSERS = {"dollars": "$$", "bracket": r"\]", "round": r"\)"}
_HEADING = regex(r"(?P<hashes>#{1,6})\s|\\(?P<section>(?:sub)*section|chapter|paragraph|title)\*?\{")
_RULE = regex(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_GRID = regex(r"[⎡⎢⎣⎛⎜⎝]|\S(?: {2,}|\t)\S|^\s*\[")
_BLANK = regex(r"\n[ \t>]*\n")


def cut(text: str) -> Document:
    """Cut a document into blocks and formulas.

    >>> document = cut("# Title\\n\\nLet $Q = 1$.")
    >>> [block.kind.value for block in document.blocks], len(document.formulas)
    (['heading', 'text'], 1)
    """
    formulas, fences = _scan(text)
    blocks: list[Block] = []
    at = 0
    for start, end in (*fences, (len(text), len(text))):
        blocks += _blocks(text, at, start, formulas)
        if end > start:
            blocks.append(Block(Kind.VERBATIM, *_inside_fence(text, start, end)))
        at = end
    return Document(text, tuple(blocks), tuple(formulas))


def _scan(text: str) -> tuple[list[Formula], list[tuple[int, int]]]:
    """All formulas and all code fences. A mark that is never closed is looked for once, so this takes linear time."""
    formulas: list[Formula] = []
    fences: list[tuple[int, int]] = []
    missing: set[str] = set()
    at = 0
    while found := _OPENER.search(text, at):
        at = found.end()
        if found["fence"]:
            end = _fence_end(text, found)
            fences.append((found.start(), end))
            at = end
        elif not found["escaped"]:
            formula = _formula(text, found, missing)
            if formula:
                formulas.append(formula)
                at = formula.end
    return formulas, fences


def _fence_end(text: str, found: re.Match[str]) -> int:
    closing = re.compile(rf"^[ \t]*{re.escape(found[0].strip())}+[ \t]*$", re.MULTILINE).search(text, found.end())
    return closing.end() if closing else len(text)


def _inside_fence(text: str, start: int, end: int) -> tuple[int, int]:
    """What stands between the marks of a fence."""
    first = text.find("\n", start, end)
    last = text.rfind("\n", start, end)
    closed = text[last + 1 : end].strip().startswith(text[start:end].lstrip()[:3])
    return (first + 1 if first >= 0 else end), (max(last, first + 1) if closed and last > first else end)


def _formula(text: str, found: re.Match[str], missing: set[str]) -> Formula | None:
    start, inner = found.start(), found.end()
    if found["dollar"]:
        end = text.find("$", inner)
        while end > 0 and text[end - 1] == "\\":
            end = text.find("$", end + 1)
        is_formula = end > inner and not text[inner].isspace() and not _BLANK.search(text, inner, end)
        return Formula(start, end + 1, inner, end, False) if is_formula else None
    closer = rf"\end{{{found['env']}}}" if found["env"] else _CLOSERS[str(found.lastgroup)]
    end = -1 if closer in missing else text.find(closer, inner)
    if end < 0:
        missing.add(closer)
        return None
    if found["env"]:
        display = re.fullmatch(_MATRICES, found["env"]) is None
        return Formula(start, end + len(closer), start, end + len(closer), display)
    return Formula(start, end + len(closer), inner, end, found["round"] is None)


def _blocks(text: str, start: int, end: int, formulas: list[Formula]) -> Iterator[Block]:
    """Paragraphs between blank lines (those inside of a formula aside), cut again at headings and tables."""
    at = start
    while at < end:
        stop = _paragraph_end(text, at, end, formulas)
        for a, b in _around_displays(text, at, stop, formulas):
            if text[a:b].strip():
                yield from _sorted(text, a, b)
        at = stop


def _around_displays(text: str, start: int, end: int, formulas: list[Formula]) -> Iterator[tuple[int, int]]:
    """A paragraph cut so that each displayed formula stands by itself, with what follows it on its last line."""
    at = start
    index = bisect_left(formulas, start, key=lambda formula: formula.start)
    while index < len(formulas) and formulas[index].start < end:
        formula = formulas[index]
        index += 1
        if not formula.display or formula.start < at:
            continue
        first = text.rfind("\n", at, formula.start) + 1 or at
        last = text.find("\n", formula.end, end)
        stop = end if last < 0 else last + 1
        if "|" not in text[first : formula.start]:  # a table keeps its rows together
            yield from ((at, first), (first, stop))
            at = stop
    yield at, end


def _paragraph_end(text: str, at: int, end: int, formulas: list[Formula]) -> int:
    place = at
    while found := _BLANK.search(text, place, end):
        index = bisect_left(formulas, found.start(), key=lambda formula: formula.start) - 1
        if index < 0 or formulas[index].end <= found.start():
            return found.end()
        place = formulas[index].end
    return end


def _sorted(text: str, start: int, end: int) -> Iterator[Block]:
    """One paragraph as blocks: headings by themselves, a table by itself, the rest as text."""
    rest = start
    for at, line in _lines(text, start, end):
        heading = _HEADING.match(line.lstrip(" "))
        if heading:
            if text[rest:at].strip():
                yield _body(text, rest, at)
            yield Block(Kind.HEADING, at, at + len(line), _level(heading))
            rest = min(at + len(line) + 1, end)
    if text[rest:end].strip():
        yield from _with_table(text, rest, end)


def _with_table(text: str, start: int, end: int) -> Iterator[Block]:
    lines = list(_lines(text, start, end))
    rule = next((k for k, (_, line) in enumerate(lines) if k and "|" in lines[k - 1][1] and _RULE.match(line)), None)
    if rule is None:
        yield _body(text, start, end)
        return
    first = lines[rule - 1][0]
    last = next((at for at, line in lines[rule + 1 :] if "|" not in line), end)
    if text[start:first].strip():
        yield _body(text, start, first)
    yield Block(Kind.TABLE, first, last)
    if text[last:end].strip():
        yield _body(text, last, end)


def _body(text: str, start: int, end: int) -> Block:
    piece = text[start:end]
    lines = [line for line in piece.splitlines() if line.strip()]
    is_grid = "$" not in piece and "\\" not in piece and len(lines) > 1 and sum(map(bool, map(_GRID.search, lines))) > 1
    return Block(Kind.VERBATIM if is_grid else Kind.TEXT, start, end)


def _level(heading: re.Match[str]) -> int:
    if heading["hashes"]:
        return len(heading["hashes"])
    return {"title": 1, "chapter": 1, "section": 2, "subsection": 3}.get(heading["section"], 4)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    for line in text[start:end].splitlines(keepends=True):
        yield start, line.rstrip("\n")
        start += len(line)


_ROW_END = regex(r"\\begin\{|\\end\{|\\\\(?:\[[^\]\n]*\])?")


def line_ends(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The line breaks of a formula that stand outside of any matrix or environment."""
    depth = 0
    for found in _ROW_END.finditer(text, start, end):
        if found[0].startswith("\\begin"):
            depth += 1
        elif found[0].startswith("\\end"):
            depth -= 1
        elif depth == 0:
            yield found.span()


def places(text: str, claims: tuple[Claim, ...]) -> dict[int, tuple[int, int]]:
    """Where each claim stands, by its id: at its column if its text is there, else where its lines hold its text,
    else its lines."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return {claim.id: _place(text, claim, starts) for claim in claims}


def _place(text: str, claim: Claim, starts: list[int]) -> tuple[int, int]:
    last = len(starts) - 2
    first_line, last_line = min(max(claim.line - 1, 0), last), min(max(claim.end_line - 1, 0), last)
    start, end = starts[first_line], max(starts[last_line + 1] - 1, starts[first_line])
    said = claim.text.strip()
    exact = start + claim.column - 1
    if said and text.startswith(said, exact):
        return exact, exact + len(said)
    found = text.find(said, start, end) if said else -1
    if found >= 0:
        return found, found + len(said)
    if claim.column > 1 and start < exact < end:
        return exact, _closing(text, exact, end)
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


_BRACKETS = {"[": "]", "(": ")"}


def _closing(text: str, at: int, end: int) -> int:
    """Where the matrix or list that begins at a place ends; the end of its line if none begins there."""
    opening = re.compile(r"\\begin\{(\w+)\}").match(text, at)
    if not opening and "\n" in text[at:end]:  # a grid of several lines
        return end
    closer = rf"\end{{{opening[1]}}}" if opening else _BRACKETS.get(text[at : at + 1], "")
    found = text.find(closer, at, end) if closer else -1
    if found >= 0:
        return found + len(closer)
    stop = text.find("\n", at, end)
    return end if stop < 0 else stop


def readable(text: str, file: str) -> str:
    """The text to show, line for line: a notebook without its JSON, LaTeX without its frame, no comments."""
    if file.lower().endswith(".ipynb"):
        return "\n".join(_notebook_lines(text))
    return _FRAME.sub(_blanks, _without_comments(text))


_FRAME = regex(
    r"^[ \t]*\\(?:documentclass|usepackage|begin\{document\}|end\{document\}|maketitle|setcounter)[^\n]*"
    r"|^[ \t>]*(?::{3,}[^\n]*|-{3,}[ \t]*)$",
    re.MULTILINE,
)


def _blanks(found: re.Match[str]) -> str:
    return _INK.sub(" ", found[0])


def _without_comments(text: str) -> str:
    pieces, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        pieces += [text[at:start], _INK.sub(" ", text[start : end + 3])]
        at = end + 3
    return "".join([*pieces, text[at:]])


_INK = regex(r"[^\n]")
_TEXTS = ('"source": [', '"text/plain": [', '"text": [')
_CELL_TYPE = regex(r'"cell_type":\s*"(\w+)"')


def _notebook_lines(text: str) -> Iterator[str]:
    """The sources of a notebook's cells, and what they printed, on the lines that they have in the file; code and
    outputs between fences."""
    fence, inside = "", False
    for line in text.split("\n"):
        bare = line.strip()
        if found := _CELL_TYPE.search(bare):
            fence = "```" if found[1] == "code" else ""
        if bare.startswith(_TEXTS):
            inside = True
            yield fence
        elif inside and bare.startswith("]"):
            inside = False
            yield fence
        else:
            yield _source(bare.rstrip(",")) if inside else ""


def _source(line: str) -> str:
    try:
        value = json.loads(line)
    except ValueError:
        return ""
    return value.rstrip("\n") if isinstance(value, str) else ""
