"""Which lines are headings: '#', underlined, bold, LaTeX sections, numbered titles, 'Question 1' in any language."""

from __future__ import annotations

import re
from collections.abc import Callable

from qkv.expr.late import late
from qkv.records import dataclass
from qkv.sheet.phrases import (
    DOCUMENT_WORDS,
    PROBLEM_HEADING,
    PROBLEM_OPENING,
    PROBLEM_WORDS,
    STEP_HEADING,
    STEP_WORDS,
)

PROBLEM = 0  # the rank of 'Question 1', 'Exercise 2', a numbered title
STEP = -1  # the rank of bold lines, 'Solution', 'Step 2'

_HASH = re.compile(r"\s{0,3}(?P<marks>#{1,6})\s+(?P<title>.*?)\s*#*\s*$")
_HTML = re.compile(r"\s*<h(?P<level>[1-6])\b[^<>]*>(?P<title>.*)</h[1-6]>\s*$", re.IGNORECASE)
_HTML_TAG = late(r"</?\w+[^<>]*>")
_SECTION = re.compile(
    r"\s*\\(?P<command>part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?\{(?P<title>.*)\}\s*(?:\\label\{.*\})?\s*$"
)
_ENVIRONMENT = re.compile(
    r"\s*\\begin\{(?P<word>exercise|problem|question|example|solution|answer)s?\}(?:\[(?P<title>[^\]]*)\])?\s*$"
)
_BOLD = re.compile(r"\s*(?P<mark>\*{2,3}|__)(?P<title>(?:(?!\*\*|__).)+)(?P=mark)\s*[:：?？]?\s*$")
_TEX_BOLD = re.compile(r"\s*(?:\\noindent\s*)?\\textbf\{(?P<title>[^{}]*)\}\s*[:.]?\s*(?:\\\\)?\s*$")
_NUMBERED = re.compile(r"\s{0,3}(?P<number>\d{1,2})(?:[.)]*\)|\.)?\s+(?P<title>[^\W\d_].*?)\s*:?\s*$")
_TITLE_WORD = late(r"[^\W\d_]+")
_SMALL = frozenset([
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "via", "vs", "with",
    "und", "der", "die", "das", "von", "mit", "de", "la", "le", "les", "et",
])  # fmt: skip
_COUNTED = re.compile(r"\s*(?:\*\*|__)?[^\W\d_]+(?:\s[^\W\d_]+)?\s*[#№]?\s*\d")  # most lines do not begin so
_UNDERLINE = re.compile(r"\s{0,3}(=+|-{3,})\s*$")
_SECTIONS = {
    "part": 1,
    "chapter": 1,
    "section": 1,
    "subsection": 2,
    "subsubsection": 3,
    "paragraph": 4,
    "subparagraph": 5,
}
_NOT_A_TITLE = re.compile(r"[=≈|\t$\\{}]|[.;,。；，]$")


@dataclass(frozen=True, slots=True)
class Heading:
    """What was found: its text, rank, the word that made it one, and the index of the line after it."""

    text: str
    rank: int
    word: str
    end: int


def heading_at(lines: list[str], at: int, *, within: bool = False) -> Heading | None:
    """The heading that begins at a line, if one does. `within` asks about a line inside a paragraph, where only
    unmistakable headings count.

    >>> heading_at(["**Exercise 3 - By hand**"], 0).rank, heading_at(["Find Q."], 0)
    (0, None)
    """
    line = lines[at]
    if len(line) > 300:
        return None
    marked = _MARKED.get(line.lstrip()[:1])
    return (marked(line, at + 1) if marked else None) or _plain(lines, at, within)


def _hashed(line: str, end: int) -> Heading | None:
    found = _HASH.match(line)
    return _marked(found["title"], len(found["marks"]), end) if found else None


def _tagged(line: str, end: int) -> Heading | None:
    found = _HTML.match(line)
    return _marked(_HTML_TAG.sub("", found["title"]), int(found["level"]), end) if found else None


def _tex(line: str, end: int) -> Heading | None:
    if found := _SECTION.match(line):
        return _marked(found["title"], _SECTIONS[found["command"]], end)
    if found := _ENVIRONMENT.match(line):
        rank = STEP if found["word"] in ("solution", "answer") else PROBLEM
        return Heading(found["title"] or found["word"], rank, found["word"], end)
    return _bold(_TEX_BOLD.match(line), end)


def _bold(found: re.Match[str] | None, end: int) -> Heading | None:
    if found is None or _is_formula(found["title"]):
        return None
    title = found["title"].strip()
    return _worded(title, end) or Heading(title, STEP, "", end)


# Marked headings by their first character.
_MARKED: dict[str, Callable[[str, int], Heading | None]] = {
    "#": _hashed,
    "<": _tagged,
    "\\": _tex,
    "*": lambda line, end: _bold(_BOLD.match(line), end),
    "_": lambda line, end: _bold(_BOLD.match(line), end),
}


def _is_formula(title: str) -> bool:
    """A bold line with mathematics in it is a statement in bold: **V = [[1, 2]]**."""
    return "$" in title or ("=" in title and "[" in title)


def opening_at(line: str) -> Heading | None:
    """The problem number that a paragraph begins with: 'Problem 2. Given the matrices …'.

    >>> opening_at("**Problem 2.** Given X, find Q.").text
    'Problem 2'
    """
    found = PROBLEM_OPENING.match(line) if _COUNTED.match(line) else None
    if not found:
        return None
    title, word = found["title"] or found["short"], found["word"] or found["short"][0]
    return Heading(" ".join(title.split()), PROBLEM, word.lower(), 0)


def div_rank(name: str) -> int | None:
    """The rank of a fenced div such as '::: exercise'; None for one that is mere layout."""
    if name in PROBLEM_WORDS.split("|"):
        return PROBLEM
    return STEP if name in STEP_WORDS.split("|") else None


def _marked(title: str, level: int, end: int) -> Heading:
    worded = _worded(_bare(title), end)
    return Heading(_bare(title), level, worded.word if worded else "", end)


def _worded(title: str, end: int) -> Heading | None:
    """'Exercise 2 - …' and 'Solution' by their words."""
    if found := PROBLEM_HEADING.match(title):
        word = found["word"].lower()
        return Heading(title, 1 if word in DOCUMENT_WORDS else PROBLEM, word, end)
    if found := STEP_HEADING.match(title):
        return Heading(title, STEP, found["word"].lower(), end)
    return None


def _plain(lines: list[str], at: int, within: bool) -> Heading | None:
    """A heading without marks: underlined, or by its words, or a numbered title that stands alone."""
    line = lines[at]
    bare = line.strip()
    if not within and at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]) and not _NOT_A_TITLE.search(bare):
        return _marked(bare, 1 if "=" in lines[at + 1] else 2, at + 2)
    if len(bare) > 91:
        return None
    if bare.endswith(".") and len(bare.split()) <= 3:
        bare = bare[:-1]
    if len(bare) > 90 or _NOT_A_TITLE.search(bare):
        return None
    if (worded := _worded(bare, at + 1)) and (worded.rank >= PROBLEM or not within) and _is_title(bare):
        return worded
    if within or not _stands_alone(lines, at):
        return None
    found = _NUMBERED.match(line)
    return Heading(bare, PROBLEM, "", at + 1) if found and _in_title_case(found["title"]) else None


def _is_title(text: str) -> bool:
    """Whether the words of a line are a title and not a sentence that begins with 'Part 1 of …'."""
    return len(text.split()) <= 4 or ":" in text or "：" in text or _in_title_case(text)


def _in_title_case(text: str) -> bool:
    words = [word for word in _TITLE_WORD.findall(text) if word.lower() not in _SMALL]
    return len(words) >= 2 and all(word[0].isupper() for word in words)


def _stands_alone(lines: list[str], at: int) -> bool:
    before = at == 0 or not lines[at - 1].strip()
    after = at + 1 >= len(lines) or not lines[at + 1].strip()
    return before and after


def _bare(title: str) -> str:
    """A title without emphasis marks."""
    return re.sub(r"\*\*|__|^\*|\*$", "", title).strip()
