"""Displays whose backslashes were lost on the way: '[' and ']' on lines of their own in place of \\[ and \\]."""

from __future__ import annotations

import re

_DISPLAY = re.compile(r"(?m)^([ \t]*)\[[ \t]*\n((?:(?![ \t]*[\[\]][ \t]*$).*\n){1,14}?)[ \t]*\][ \t]*$")
_IS_FORMULA = re.compile(r"\\[A-Za-z]{2,}|[^\W\d_][^=\n]{0,40}=|\]\s*=\s*\[")
_THIN_SPACE = re.compile(r"(?<=[\d.\w])(,[;!])|(?<=[)\]}])(,)(?=[^\W\d_])")  # [2,\;1] and (p - y)\,x
_ROW_END = re.compile(r"(?m)(?<!\\)\\[ \t]*$")


def with_displays(text: str) -> str:
    r"""The same text, line by line, with these displays as $$ … $$.

    >>> with_displays("[\np = [0.5,;0.5]\n]")
    '$$\np = [0.5, 0.5]\n$$'
    """
    return _DISPLAY.sub(_as_display, text) if "\n]" in text or "]\n" in text else text


def _as_display(found: re.Match[str]) -> str:
    inside = found[2]
    if not _IS_FORMULA.search(inside) or "$" in inside:
        return found[0]
    inside = _THIN_SPACE.sub(lambda m: ", " if m[1] else " ", inside)
    return f"{found[1]}$$\n{_ROW_END.sub(_doubled, inside)}{found[1]}$$"


def _doubled(found: re.Match[str]) -> str:
    return "\\\\" + found[0][1:]
