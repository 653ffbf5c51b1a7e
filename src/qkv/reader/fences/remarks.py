"""The comments of a piece of Python, and the values that they show."""

from __future__ import annotations

import io
import re
import tokenize
from typing import NamedTuple

from qkv.regex import regex

_LEAD = regex(r"(?:->|→|=>|⇒|==?|≈|~|out(?:put)?\b:?|prints?\b:?|results?\b:?|gives\b:?)\s*", re.IGNORECASE)
_ARRAY = regex(r"(?:(?:np\.|torch\.)?(?:array|tensor)\s*\(\s*)?\[")
_TAIL = regex(r"(\][\])]*,?)[ \t][^\[\]\n]*$", re.MULTILINE)  # words behind a row: '[1, 0],   the cat'
_NESTED = regex(r"\[\s*\[|\d\.|\.\d|\d\s+-?\d")  # (2, 3) and [2, 3] may be shapes, [2 3] is none


class Remark(NamedTuple):
    """A comment: the line of the source on which it begins, counted from 1, and its text without the marks."""

    line: int
    text: str

    def value_of(self, name: str) -> str:
        """The array that the comment shows of a name; nothing where it speaks of anything else.

        >>> Remark(1, "S = [[1, 0], [1, 2]]").value_of("S"), Remark(1, "(2, 3)").value_of("S")
        ('[[1, 0], [1, 2]]', '')
        """
        text = self.text
        if name:
            text = (
                re.sub(rf"{re.escape(name)}\s*(?==|≈|:|->|→)[:]?", "", text, count=1) if text.startswith(name) else text
            )
        while (lead := _LEAD.match(text)) and lead.end():
            text = text[lead.end() :]
        return _TAIL.sub(r"\1", text) if _ARRAY.match(text) and _NESTED.search(text) else ""


def remarks(source: str) -> list[Remark]:
    """The comments of a source in order; a list that is left open goes on in the comment on the next line."""
    found: list[Remark] = []
    end = 0
    for line, text in _comments(source):
        last = found[-1] if found else None
        if last is not None and line == end + 1 and last.text.count("[") > last.text.count("]"):
            found[-1] = Remark(last.line, f"{last.text}\n{text}")
        else:
            found.append(Remark(line, text))
        end = line
    return found


def _comments(source: str) -> list[tuple[int, str]]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):  # half a statement: only whole lines are safe to take for comments
        lines = enumerate(source.split("\n"), 1)
        return [(i, line.strip().lstrip("# ")) for i, line in lines if line.lstrip().startswith("#")]
    return [(token.start[0], token.string.lstrip("# ")) for token in tokens if token.type == tokenize.COMMENT]
