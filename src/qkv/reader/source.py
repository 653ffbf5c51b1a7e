"""TEXT → the same lines as plain text: LaTeX laid out, odd letters, drawings and lost brackets in the usual signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

from qkv.reader.latex import is_tex, plain_tex
from qkv.reader.limits import Limits
from qkv.reader.macros import with_macros
from qkv.reader.maths.numerals import with_digits, without_grouping_points
from qkv.reader.quoted import unquoted
from qkv.reader.terminal import laid_out


def plain_source(text: str, file: str, limits: Limits) -> str:
    r"""The document as Markdown-like text, line by line.

    >>> from qkv.reader.limits import DEFAULT
    >>> plain_source(r"\(𝐐 = ½\)", "", DEFAULT), plain_source("[\np = [0.5,;0.5]\n]", "", DEFAULT)
    (' $Q = ½$ ', '$$\np = [0.5, 0.5]\n$$')
    """
    text = with_macros(unquoted(text))
    source = laid_out(plain_tex(text, limits) if is_tex(text, file) else text)
    for said, instead in _REWRITES:
        source = said.sub(instead, source)
    return with_digits(without_grouping_points(_with_numbers(_without_comment_signs(source))))


_BRACKET_PIECES = {chr(0xF8EB + i): c for i, c in enumerate("⎛⎜⎝⎡⎢⎣⎧⎨⎩")} | {
    chr(0xF8F6 + i): c for i, c in enumerate("⎞⎟⎠⎤⎥⎦⎫⎬⎭")
}
_CELL = r"[-−]?(?:[\d.]+(?:/\d+)?|inf|∞)"
_IS_FORMULA = re.compile(r"\\[A-Za-z]{2,}|[^\W\d_][^=\n]{0,40}=|\]\s*=\s*\[|\d\s*=\s*[-−]?\d")
_THIN_SPACE = re.compile(r"(?<=[\d.\w])(,[;!])|(?<=[)\]}])(,)(?=[^\W\d_])")  # [2,\;1] and (p - y)\,x
_ROW_END = re.compile(r"(?m)(?<!\\)\\(?=[ \t]*$)")


def _as_display(found: re.Match[str]) -> str:
    r"""A display between '[' and ']', which stood in \[ and \] before they lost their backslashes."""
    indent, inside = found[1], found[2]
    if not _IS_FORMULA.search(inside) or "$" in inside:
        return found[0]
    inside = _ROW_END.sub(r"\\\\", _THIN_SPACE.sub(lambda m: ", " if m[1] else " ", inside))
    return f"{indent}$$\n{inside}{indent}$$"


_BARE = r"[-−]?\d+(?:[.,]\d+)?"
_NAMED_ROW = re.compile(
    rf"(?P<name>[^\W\d](?:[^=\n]*?\S)?)[ \t]*=[ \t]*(?P<row>{_BARE}(?:[ \t]+{_BARE})*)(?=[ \t]{{2}}|$)"
)


def _in_brackets(found: re.Match[str]) -> str:
    """Matrices side by side without brackets, each behind its name, with brackets around each row."""
    first, *rows = found[0].rstrip("\n").split("\n")
    parts = list(_NAMED_ROW.finditer(first))
    edges = [0, *(part.start() for part in parts[1:]), max(map(len, (first, *rows)))]
    cells = [[part["row"].split() for part in parts]]
    cells += [[row[a:b].split() for a, b in pairwise(edges)] for row in rows]
    if len(parts) < 2 or len({tuple(map(len, row)) for row in cells}) > 1:
        return found[0]
    names = [f"{part['name']} = " for part in parts]
    widths = [max(len(" ".join(row[k])) for row in cells) + len(name) + 6 for k, name in enumerate(names)]
    lines = (
        "".join(
            f"{name if not i else ' ' * len(name)}[{', '.join(cell)}]".ljust(width + len(cell))
            for name, cell, width in zip(names, row, widths, strict=True)
        ).rstrip()
        for i, row in enumerate(cells)
    )
    return "\n".join(lines) + "\n"


# What stands in a source, and what is read in its place; lines stay where they are. The order matters.
_REWRITES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(said, re.MULTILINE), instead)
    for said, instead in (
        # \( x \)
        (r"(?<!\\)\\\((?P<maths>(?:[^$\n]|\n(?!\s*\n))*?)(?<!\\)\\\)", r" $\g<maths>$ "),
        # 𝐐 and ＝, and the pieces of brackets in a font for them
        (
            "[\U0001d400-\U0001d7ff＝＋－＊／０-９\uf8eb-\uf8fe]",
            lambda m: _BRACKET_PIECES.get(m[0]) or unicodedata.normalize("NFKC", m[0])[:1],
        ),
        # Q = 1 0   K = 0 1 above the other rows of both
        (
            rf"^[ \t]*[^\W\d][^=\n]*=[ \t]*{_BARE}[^=\n]*=[^\n\[\]]*\d[ \t]*\n(?:(?:[ \t]*{_BARE})+[ \t]*(?:\n|\Z))+",
            _in_brackets,
        ),
        # y = [ 0.2×1 + 0.8×3 = 2.6 … ]: a calculation on each line
        (
            r"^[^\n=]*=[ \t]*\[[ \t]*\n"
            r"((?:[^\n=\[\]]*[+×*·][^\n=\[\]]*=[ \t]*[-−]?[\d.,]+[ \t]*\n){2,14})[ \t]*\][ \t]*$",
            r"\n\1",
        ),
        # '[' or '$[' alone on a line, for a display
        (r"^([ \t]*)\$?\[[ \t]*\n((?:(?![ \t]*[\[\]][ \t]*$).*\n){1,14}?)[ \t]*\]\$?[ \t]*$", _as_display),
        # | 1 2 |, the row of a drawn matrix
        (rf"[|│](?=\s*{_CELL}(?:\s+{_CELL})+\s*[|│])([^|│\n]*)[|│]", r"[\1]"),
    )
)

_SLASHES = re.compile(r"(?m)^([ \t]*)//[/!]?(?=\s)")
_HASHES = re.compile(r"(?m)^#(?=[ \t]|$)")
_CODE = re.compile(r"[;{}(),]\s*(?://.*)?$|^\s*#\W?\w+")  # how a line of C, Rust or JavaScript ends, or begins
_PLAIN_CODE = re.compile(rf"(?m)^(?![ \t]*//|.*=\s*[\[{{]\s*[\[{{\d.-])(?=.*(?:{_CODE.pattern})).*$")  # no array in it
FEWEST_REMARKS = 3  # lines that make a comment with a worked example in it
MOSTLY = 0.8  # of the lines of a page: that many begin with '#' where the page is a comment and they are no titles


def _without_comment_signs(source: str) -> str:
    """A worked example in the comments of a program, with blanks for the signs that make it one."""
    filled = sum(bool(line.strip()) for line in source.split("\n"))
    if len(_HASHES.findall(source)) > max(FEWEST_REMARKS, MOSTLY * filled):
        source = _HASHES.sub(" ", source)
    if len(_SLASHES.findall(source)) >= FEWEST_REMARKS:
        rest = [line for line in source.split("\n") if line.strip() and not _SLASHES.match(line)]
        if sum(bool(_CODE.search(line)) for line in rest) > MOSTLY * len(rest):
            source = _PLAIN_CODE.sub("", source)
        source = _SLASHES.sub(lambda found: " " * len(found[0]), source)
    return source


_NUMBERED = re.compile(r"(?m)^[ \t]*([^\W\d_]{3,} \d{1,2})[ \t]*=[ \t]*$")


def _with_numbers(source: str) -> str:
    """A word and a number alone before '=' are one name, wherever they stand: 'Out 1 =', then '[Out 1 | Out 2] W'."""
    names = set(_NUMBERED.findall(source))
    spelled = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")
    return spelled.sub(lambda found: found[0].replace(" ", "_"), source) if names else source
