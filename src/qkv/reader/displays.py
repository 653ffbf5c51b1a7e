"""Brackets that lost or won a backslash on the way: '[' alone on a line for \\[, and \\[1, 0] for [1, 0]."""

from __future__ import annotations

import re

_DISPLAY = re.compile(r"(?m)^([ \t]*)\$?\[[ \t]*\n((?:(?![ \t]*[\[\]][ \t]*$).*\n){1,14}?)[ \t]*\]\$?[ \t]*$")
_IS_FORMULA = re.compile(r"\\[A-Za-z]{2,}|[^\W\d_][^=\n]{0,40}=|\]\s*=\s*\[|\d\s*=\s*[-−]?\d")
_THIN_SPACE = re.compile(r"(?<=[\d.\w])(,[;!])|(?<=[)\]}])(,)(?=[^\W\d_])")  # [2,\;1] and (p - y)\,x
_ROW_END = re.compile(r"(?m)(?<!\\)\\[ \t]*$")


_WORKED_ROWS = re.compile(  # y = [ 0.2×1 + 0.8×3 = 2.6 … ]: a calculation on each line
    r"(?m)^[^\n=]*=[ \t]*\[[ \t]*\n((?:[^\n=\[\]]*[+×*·][^\n=\[\]]*=[ \t]*[-−]?[\d.,]+[ \t]*\n){2,14})[ \t]*\][ \t]*$"
)
_ESCAPED = re.compile(r"\\\[(?=\s*[-−]?[\d.][\d.,;\seE+−-]*(?<!\\)\])")  # a list, escaped for Markdown: \[0, 1]


def with_displays(text: str) -> str:
    r"""The same text, line by line, with displays in '[' or '$[' as $$ … $$, and with lists whose bracket was escaped.

    >>> with_displays("[\np = [0.5,;0.5]\n]"), with_displays(r"\[0.1, 0.2]")
    ('$$\np = [0.5, 0.5]\n$$', ' [0.1, 0.2]')
    """
    text = _ESCAPED.sub(" [", text)
    text = _WORKED_ROWS.sub(r"\n\1", text)
    return _DISPLAY.sub(_as_display, text) if "\n]" in text or "]\n" in text else text


def _as_display(found: re.Match[str]) -> str:
    inside = found[2]
    if not _IS_FORMULA.search(inside) or "$" in inside:
        return found[0]
    inside = _THIN_SPACE.sub(lambda m: ", " if m[1] else " ", inside)
    return f"{found[1]}$$\n{_ROW_END.sub(_doubled, inside)}{found[1]}$$"


def _doubled(found: re.Match[str]) -> str:
    return "\\\\" + found[0][1:]
