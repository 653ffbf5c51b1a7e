"""Worked solutions as a terminal shows them, which `qkv.work` prints and people paste: laid out as other pages are.

    10  A = softmax(S)      attention weights  3×3        A = softmax(S)
        ⎡ 1    0    0   ⎤                               ≈ ⎡ 1    0    0   ⎤
      ≈ ⎢ 0.4  0.6  0   ⎥                                 ⎢ 0.4  0.6  0   ⎥
        ⎣ 0.2  0.5  0.3 ⎦                                 ⎣ 0.2  0.5  0.3 ⎦

Everything keeps its line. Matrices side by side are written out on the line where each begins.
"""

from __future__ import annotations

import re

from qkv.regex import regex

# A step: its number, an equation that may go on in the next lines, what it is in words, its shape; its value follows.
_STEP = regex(
    r"(?m)^(?P<number> ?\d{1,3}  )(?P<equation>\S[^\n]*? = (?:[^\n]*\n(?=\S))*[^\n]*?)(?:   [^\n]*?)?(?:  +\d+×\d+)?$"
    r"(?=\n +[=≈⎡])"
)
_SHORT = regex(
    r"(?m)^(?P<number> ?\d{1,3}  )(?P<equation>\S[^\n]*? [=≈] -?[\d./e+]+)(?:   [^\n]*)?$(?=\n\n)"
)  # a number alone
_WORKING = regex(
    r"(?m)^(?P<number>    )(?P<equation>\S+\(\d+,\d+\) = [^\n]*(?:\n {5,}[^\s⎡⎢⎣=≈][^\n]*)+)"
)  # in several lines
_TOP = regex("⎡[^⎡⎤\n]*⎤")
_END = regex("[⎤⎥⎦]")
_LEAD = regex(r"(?:(?<=  )|^)(?:\S+(?: \S+)* ?)?[=≈] $")


def laid_out(text: str) -> str:
    """The text with the numbers and words of steps left out, and drawings in an order that lines can be read in."""
    if "────" in text:
        text = _SHORT.sub(_in_one_line, text)
    if "⎡" not in text or not _STEP.search(text):
        return text
    lines = _WORKING.sub(_in_one_line, _STEP.sub(_in_one_line, text)).split("\n")
    tops = [(at, top.start()) for at, line in enumerate(lines) for top in _TOP.finditer(line)]
    for at, column in tops:
        _raise_name(lines, at, column)
    for at, column in sorted(tops, key=lambda top: -top[1]):  # from the right, so that columns stay what they are
        if _has_company(lines, at, column):
            _write_out(lines, at, column)
    return "\n".join(lines)


def _in_one_line(step: re.Match[str]) -> str:
    """The equation of a step without its number, all of it on the last of its lines."""
    parts = step["equation"].split("\n")
    return "\n" * (len(parts) - 1) + " " * len(step["number"]) + " ".join(map(str.strip, parts))


def _rows(lines: list[str], top: int, column: int) -> range:
    """The lines of a matrix that begins here; none where its lower corner is missing."""
    for at in range(top + 1, len(lines)):
        corner = lines[at][column : column + 1]
        if corner == "⎣":
            return range(top, at + 1)
        if corner != "⎢":
            break
    return range(0)


def _raise_name(lines: list[str], top: int, column: int) -> None:
    """Move what stands before a middle row of a matrix to its first row, where there is room for it."""
    for at in _rows(lines, top, column)[1:]:
        lead = _LEAD.search(lines[at][:column])
        if lead is not None and not lines[top][lead.start() : lead.end()].strip():
            lines[top] = lines[top][: lead.start()].ljust(lead.start()) + lead[0] + lines[top][lead.end() :]
            lines[at] = lines[at][: lead.start()] + " " * len(lead[0]) + lines[at][lead.end() :]
            return


def _has_company(lines: list[str], top: int, column: int) -> bool:
    """Whether anything but its own name stands beside a matrix."""
    for at in _rows(lines, top, column):
        end = _END.search(lines[at], column)
        before = _LEAD.sub("", lines[at][:column]) if at == top else lines[at][:column]
        if before.strip() or (end is not None and lines[at][end.end() :].strip()):
            return True
    return False


def _write_out(lines: list[str], top: int, column: int) -> None:
    """Replace a drawn matrix by a list of rows on its first line."""
    cells = []
    for at in _rows(lines, top, column):
        end = _END.search(lines[at], column)
        if end is None:
            return
        cells.append(", ".join(lines[at][column + 1 : end.start()].split()))
        lines[at] = lines[at][:column] + (" " * (end.end() - column) if at > top else "\0") + lines[at][end.end() :]
    lines[top] = lines[top].replace("\0", "[" + ", ".join(f"[{row}]" for row in cells) + "]")
