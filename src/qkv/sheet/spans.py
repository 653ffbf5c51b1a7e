"""A paragraph → pieces: words, mathematics between marks, code spans; crossed out or not.

Pieces keep their offsets, marks are overwritten with blanks, so that every place stays the place in the file.
"""

from __future__ import annotations

import re
from enum import StrEnum

from qkv.expr.late import late
from qkv.records import record, replace


class Sort(StrEnum):
    """What a piece is."""

    WORDS = "words"
    INLINE = "inline"
    DISPLAY = "display"
    CODE = "code"


@record(frozen=True, slots=True)
class Piece:
    """A stretch of a paragraph: its source without marks, and the offset at which that begins."""

    sort: Sort
    source: str
    offset: int
    struck: bool = False


_ENVIRONMENTS = "equation|align|alignat|gather|multline|flalign|eqnarray|displaymath|math|aligned|gathered|split"
_MARK = (
    re.compile(  # its first character is one of a few: others are passed over many times faster than by alternatives
        r"[\\`$~<!\[h](?:"
        r"(?<=\\)(?:\\(?:\[[^\]\n]*\])?|[$`~#%&]"  # line breaks and escaped marks are no marks
        rf"|(?P<bracket>\[)|(?P<paren>\()|begin\{{(?P<env>(?:{_ENVIRONMENTS})\*?)\}}|(?P<sout>(?:sout|st)\{{))"
        r"|(?P<code>(?<=`)`*)|(?<=\$)(?:(?P<display>\$)|(?P<inline>))"
        r"|(?P<struck>(?<=~)~|(?<=<)/?(?:del|s|strike)>)"
        r"|(?P<link>(?:(?<=!)\[|(?<=\[))[^\]\[\n]*\]\([^()\n]*\))|(?P<url>(?:(?<=<)h|(?<=h))ttps?://[^\s>]*>?))"
    )
)


def pieces(text: str) -> list[Piece]:
    """Cut a paragraph into pieces.

    >>> [(piece.sort.value, piece.source.strip()) for piece in pieces("Row 2 is $[1, 2]$, ~~no~~.")]
    [('words', 'Row 2 is'), ('inline', '[1, 2]'), ('words', ','), ('words', 'no'), ('words', '.')]
    """
    cut = [piece for piece in _cut(text) if piece.sort is not Sort.WORDS or piece.source.strip()]
    return _joined(cut) if len(cut) > 1 else cut


def _cut(text: str) -> list[Piece]:
    """The pieces one after the other; words between them may be blanks."""
    cut: list[Piece] = []
    at, struck, until = 0, False, -1
    words_from = 0
    while found := _MARK.search(text, at):
        at = found.end()
        if 0 <= until <= found.start():
            cut.append(Piece(Sort.WORDS, text[words_from:until], words_from, struck))
            words_from, struck, until = until + 1, False, -1
        kind = found.lastgroup
        if kind == "struck" or kind == "sout":
            if until >= 0 or (kind == "struck" and not struck and not _strike_ends(text, at)):
                continue
            cut.append(Piece(Sort.WORDS, text[words_from : found.start()], words_from, struck))
            struck, words_from = not struck, at
            until = brace_end(text, at) if kind == "sout" else -1
            continue
        span = _span(text, found)
        if not span:
            continue
        sort, start, end, at = span
        if found.start() > words_from:
            cut.append(Piece(Sort.WORDS, text[words_from : found.start()], words_from, struck))
        cut.append(Piece(sort, text[start:end], start, struck))
        words_from = at
    if until >= words_from:
        cut.append(Piece(Sort.WORDS, text[words_from:until], words_from, struck))
        words_from, struck = until + 1, False
    if words_from < len(text):
        cut.append(Piece(Sort.WORDS, text[words_from:], words_from, struck))
    return cut


_STRIKE_END = late(r"~~|</(?:del|s|strike)>")


def _strike_ends(text: str, at: int) -> bool:
    """A strike opens only before ink and where its end is near."""
    return text[at : at + 1].strip() != "" and _STRIKE_END.search(text, at, at + 2000) is not None


def brace_end(text: str, at: int) -> int:
    """Where the group that is open at a place closes; the end of the text if it never does."""
    depth = 1
    for found in re.compile(r"\\.|[{}]").finditer(text, at):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return len(text)


def _span(text: str, found: re.Match[str]) -> tuple[Sort, int, int, int] | None:
    """The sort of a marked stretch, where its inside begins and ends, and where the text goes on."""
    start, kind = found.end(), found.lastgroup
    if kind == "inline":
        return _inline(text, start)
    if kind == "display":
        end = text.find("$$", start)
        return (Sort.DISPLAY, start, end, end + 2) if end >= 0 else _unclosed(text, start)
    if kind == "bracket" or kind == "paren":
        sort, mark = (Sort.DISPLAY, r"\]") if kind == "bracket" else (Sort.INLINE, r"\)")
        end = text.find(mark, start)
        return (sort, start, end, end + 2) if end >= 0 else _unclosed(text, start)
    if kind == "code":
        end = text.find(found[0], start)
        return (Sort.CODE, start, end, end + len(found[0])) if end >= 0 else None
    if kind == "env":
        return _environment(text, found)
    if kind == "link" or kind == "url":
        return Sort.CODE, start, start, start  # a link or picture holds no mathematics
    return None


def _unclosed(text: str, start: int) -> tuple[Sort, int, int, int]:
    return Sort.DISPLAY, start, len(text.rstrip().rstrip("$")), len(text)


def _inline(text: str, start: int) -> tuple[Sort, int, int, int] | None:
    """`$…$`, closed in the same paragraph. '$5 and $10' is money: the closing mark stands before a digit."""
    end = text.find("$", start)
    while end >= 0 and _is_escaped(text, start, end):
        end = text.find("$", end + 1)
    inside = text[start:end] if end >= 0 else ""
    money = inside[:1].isdigit() and text[end + 1 : end + 2].isdigit()
    if not inside.strip() or money or inside.count("\n") > 12:
        return None
    return Sort.INLINE, start, end, end + 1


def _is_escaped(text: str, start: int, at: int) -> bool:
    """Whether an odd number of backslashes stands before a sign."""
    before = text[start:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _environment(text: str, found: re.Match[str]) -> tuple[Sort, int, int, int]:
    name = re.escape(found["env"])
    depth = 1
    for mark in re.compile(rf"\\(begin|end)\{{{name}\}}").finditer(text, found.end()):
        depth += 1 if mark[1] == "begin" else -1
        if depth == 0:
            return Sort.DISPLAY, found.start(), mark.end(), mark.end()
    return Sort.DISPLAY, found.start(), len(text), len(text)


_RELATION_FIRST = re.compile(r"[ \t]*(?:=|≈|≃|:=)(?!=)")
_RELATION_LAST = re.compile(r"(?:=|≈|≃|:=)[ \t]*$")


def _joined(found: list[Piece]) -> list[Piece]:
    """'$Q$ = [1, 2]' is one formula: inline mathematics tied to words by a relation becomes words."""
    joined: list[Piece] = []
    for index, piece in enumerate(found):
        after = found[index + 1] if index + 1 < len(found) else None
        tied = piece.sort in (Sort.INLINE, Sort.CODE) and (
            (after is not None and after.sort is Sort.WORDS and _RELATION_FIRST.match(after.source))
            or (joined and joined[-1].sort is Sort.WORDS and _RELATION_LAST.search(joined[-1].source))
        )
        last = joined[-1] if joined else None
        if (
            last
            and last.sort is Sort.WORDS
            and not last.struck
            and not piece.struck
            and (tied or piece.sort is Sort.WORDS)
        ):
            gap = piece.offset - last.offset - len(last.source)
            joined[-1] = replace(last, source=last.source + " " * gap + piece.source)
        else:
            joined.append(replace(piece, sort=Sort.WORDS) if tied else piece)
    return joined
