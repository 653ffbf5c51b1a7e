"""Which lines are headings: '#', underlined, bold, LaTeX sections, numbered titles, 'Question 1' in any language."""

from __future__ import annotations

import re

from qkv.library.words import CONCEPTS, pattern
from qkv.reader.page import Title
from qkv.regex import regex

PROBLEM = 0  # the rank of 'Question 1', 'Exercise 2', a numbered title
STEP = -1  # the rank of bold lines, 'Solution', 'Step 2'

_NUMBER = r"(?:\d+|[ivxIVX]+|[A-Za-zА-Яа-я]|[一二三四五六七八九十]+)"
_EASTERN = "".join(sorted({word[-1] for word in CONCEPTS["problem"] if word[-1] >= "\u3040"}))
_PROBLEM = regex(
    rf"(?P<word>{pattern('problem')})(?:(?<=[{_EASTERN}])|\s+|\s*[#№.]\s*)(?P<number>{_NUMBER}(?:\.\d+)*)"
    r"(?:\s*[题問题部分]+)?(?P<rest>$|[\s.:：)\]—–-].*)",
    re.IGNORECASE,
)
_OPENING = regex(
    rf"\s*(?:\*\*|__)?(?P<title>(?P<word>{pattern('problem')})\s*[#№]?\s*\d+(?:\.\d+)*[a-z]?)\s*(?:\([^()\n]*\)\s*)?"
    r"(?:\*\*|__)?\s*[.:：)]|\s*(?:\*\*)?(?P<short>[QP]\s?\d+)[.:)]+(?:\*\*)?(?=\s|$)",
    re.IGNORECASE,
)
_STEP = regex(rf"(?P<word>{pattern('step')})(?:\s*(?P<number>{_NUMBER}))?\s*[.:：]?\s*$", re.IGNORECASE)
_HASH = regex(r"\s{0,3}(?P<marks>#{1,6})\s+(?P<title>.*?)\s*#*\s*$")
_HTML = regex(r"\s*<h(?P<level>[1-6])\b[^<>]*>(?P<title>.*)</h[1-6]>\s*$", re.IGNORECASE)
_SECTION = regex(
    r"\s*\\(?P<command>part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?\{(?P<title>.*)\}"
    r"\s*(?:\\label\{.*\})?\s*$"
)
_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 1,
    "subsection": 2,
    "subsubsection": 3,
    "paragraph": 4,
    "subparagraph": 5,
}
_ENVIRONMENT = regex(
    r"\s*\\begin\{(?P<word>exercise|problem|question|example|solution|answer)s?\}(?:\[(?P<title>[^\]]*)\])?\s*$"
)
_BOLD = regex(r"\s*(?P<mark>\*{2,3}|__)(?P<title>(?:(?!\*\*|__).)+)(?P=mark)\s*[:：?？]?\s*$")
_EQUATION = regex(r"\s*[^\s=]+\s*=[^=]+|.*=.*\[.*|.*\[.*=.*")  # **S = Q Kᵀ**
_TEX_BOLD = regex(r"\s*(?:\\noindent\s*)?\\textbf\{(?P<title>[^{}]*)\}\s*[:.]?\s*(?:\\\\)?\s*$")
_NUMBERED = regex(r"\s{0,3}(?P<number>\d{1,2})(?:[.)]*\)|\.)?\s+(?P<title>[^\W\d_].*?)\s*:?\s*$")
_WORD = regex(r"[^\W\d_]+")
_UNDERLINE = regex(r"\s{0,3}(=+|-{3,})\s*$")
_NOT_A_TITLE = regex(r"[=≈|\t$\\{}]|[.;,。；，]$")
_SMALL = CONCEPTS["article"] | CONCEPTS["operand"] | CONCEPTS["connective"] | {"is", "as", "at", "vs"}


def heading_at(lines: list[str], at: int, *, within: bool = False) -> tuple[Title, int] | None:
    """The heading that begins at a line, and the line after it. `within` asks about a line inside of a paragraph, where
    only unmistakable headings count.

    >>> heading_at(["**Exercise 3 - By hand**"], 0)[0].rank, heading_at(["Find Q."], 0)
    (0, None)
    """
    line = lines[at]
    if len(line) > 300:
        return None
    marked = _marked(line, at + 1)
    return (marked, at + 1) if marked else _plain(lines, at, within)


def _marked(line: str, number: int) -> Title | None:
    if found := _HASH.match(line):
        return _ranked(found["title"], len(found["marks"]), number, line)
    if found := _HTML.match(line):
        return _ranked(re.sub(r"</?\w+[^<>]*>", "", found["title"]), int(found["level"]), number, line)
    if found := _SECTION.match(line):
        return _ranked(found["title"], _LEVELS[found["command"]], number, line)
    if found := _ENVIRONMENT.match(line):
        rank = STEP if found["word"] in ("solution", "answer") else PROBLEM
        return Title(found["title"] or found["word"], number, rank, found["word"])
    found = _BOLD.match(line) or _TEX_BOLD.match(line)
    if found is None or "$" in found["title"] or _EQUATION.fullmatch(found["title"]):
        return None
    title = found["title"].strip()
    return _worded(title, number) or Title(title, number, STEP)


def _ranked(title: str, level: int, number: int, line: str) -> Title:
    bare = re.sub(r"\*\*|__|^\*|\*$", "", title).strip()
    worded = _worded(bare, number)
    return Title(bare, number, level, worded.word if worded else "", line)


def _worded(title: str, number: int) -> Title | None:
    """'Exercise 2 - …' and 'Solution' by their words."""
    if found := _PROBLEM.match(title):
        word = found["word"].lower()
        return Title(title, number, 1 if word in CONCEPTS["document"] else PROBLEM, word)
    if found := _STEP.match(title):
        return Title(title, number, STEP, found["word"].lower())
    return None


def opening_at(line: str, number: int) -> Title | None:
    """The problem number that a paragraph begins with: 'Problem 2. Given the matrices …'.

    >>> opening_at("**Problem 2.** Given X, find Q.", 1).text
    'Problem 2'
    """
    found = _OPENING.match(line) if len(line) > 2 else None
    if not found:
        return None
    title, word = found["title"] or found["short"], found["word"] or found["short"][0]
    return Title(" ".join(title.split()), number, PROBLEM, word.lower())


def div_title(name: str, number: int) -> Title | None:
    """The title of a fenced div such as '::: exercise'; None for one that is mere layout."""
    if name in CONCEPTS["problem"]:
        return Title(name, number, PROBLEM, name)
    return Title(name, number, STEP, name) if name in CONCEPTS["step"] else None


def _plain(lines: list[str], at: int, within: bool) -> tuple[Title, int] | None:
    """A heading without marks: underlined, or by its words, or a numbered title that stands alone."""
    bare = lines[at].strip()
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if not within and bare and _UNDERLINE.match(below) and not _NOT_A_TITLE.search(bare):
        return _ranked(bare, 1 if "=" in below else 2, at + 1, lines[at]), at + 2
    if bare.endswith(".") and len(bare.split()) <= 3:
        bare = bare[:-1]
    if len(bare) > 90 or _NOT_A_TITLE.search(bare):
        return None
    worded = _worded(bare, at + 1)
    if worded and (worded.rank >= PROBLEM or not within) and _is_title(bare):
        return worded, at + 1
    alone = (at == 0 or not lines[at - 1].strip()) and not below.strip()
    found = _NUMBERED.match(lines[at]) if alone and not within else None
    return (Title(bare, at + 1, PROBLEM), at + 1) if found and _in_title_case(found["title"]) else None


def _is_title(text: str) -> bool:
    """Whether the words of a line are a title and not a sentence that begins with 'Part 1 of …'."""
    return len(text.split()) <= 4 or ":" in text or "：" in text or _in_title_case(text)


def _in_title_case(text: str) -> bool:
    words = [word for word in _WORD.findall(text) if word.lower() not in _SMALL]
    return len(words) >= 2 and all(word[0].isupper() for word in words)
