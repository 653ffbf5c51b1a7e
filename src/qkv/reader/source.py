"""TEXT → the same lines as plain text: LaTeX laid out, odd letters, drawings and lost brackets in the usual signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

from qkv.library.words import pattern
from qkv.reader.latex import is_tex, plain_tex
from qkv.reader.limits import Limits
from qkv.reader.macros import with_macros
from qkv.reader.maths.numerals import with_digits, without_grouping_points
from qkv.reader.maths.signs import SCRIPT
from qkv.reader.quoted import unquoted
from qkv.reader.terminal import laid_out


def plain_source(text: str, file: str, limits: Limits) -> str:
    r"""The document as Markdown-like text, line by line.

    >>> from qkv.reader.limits import DEFAULT
    >>> plain_source(r"\(\cos(60°) = ½\)", "", DEFAULT), plain_source("[\np = [0.5,;0.5]\n]", "", DEFAULT)
    (' $cosd(60) = ½$ ', '$$\np = [0.5, 0.5]\n$$')
    """
    text = with_macros(unquoted(text))
    source = laid_out(plain_tex(text, limits) if is_tex(text, file) else text)
    for said, instead in _REWRITES:
        source = said.sub(instead, source)
    return with_digits(without_grouping_points(_with_scripts(_with_numbers(_without_comment_signs(source)))))


_BRACKET_PIECES = {chr(0xF8EB + i): c for i, c in enumerate("⎛⎜⎝⎡⎢⎣⎧⎨⎩")} | {
    chr(0xF8F6 + i): c for i, c in enumerate("⎞⎟⎠⎤⎥⎦⎫⎬⎭")
}
_DEGREES = r"(?:°|\^\{?\\circ\}?)"
_CELL = r"[-−]?(?:(?:\d+(?:\.\d*|,\d+)?|\.\d+)(?:/\d+)?|inf|∞)"
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


def _lowered(found: re.Match[str]) -> str:
    """Names that stand before the corners of drawn matrices, put before their first rows."""
    named, row = re.sub(r"[┌┐╭╮─]", " ", found["named"]), found["row"]
    width = max(len(named.rstrip()), len(row))
    pairs = list(zip(named.ljust(width), row.ljust(width), strict=False))
    if any(a != " " and b != " " for a, b in pairs):
        return found[0]
    return "\n" + "".join(b if a == " " else a for a, b in pairs).rstrip()


def _named_between(found: re.Match[str]) -> str:
    """Two rows of drawn matrices, the first with the names that stand between the two."""
    named = re.sub(r"[|│][ \t]+[|│]", lambda bars: " " * len(bars[0]), found["named"])
    width = max(len(named), len(found["above"]))
    pairs = list(zip(named.ljust(width), found["above"].ljust(width), strict=True))
    if any(a != " " != b for a, b in pairs):
        return found[0]
    return "".join(b if a == " " else a for a, b in pairs).rstrip() + f"\n{found['below']}\n"


_NAMED = r"[^\W\d]\w*[^\n\[\]=:;.,]{0,30}[=:]"  # 'Q =', 'W_q (query matrix):'
_ROW_OF_NUMBERS = r"[ \t]*[-−]?[\d.]+(?:[ \t]+[-−]?[\d.]+)+[ \t]*"
_NAMES = rf"^(?P<names>[ \t]*{_NAMED}(?:[ \t]{{2,}}{_NAMED})+)[ \t]*\n"


def _beside_names(found: re.Match[str]) -> str:
    """Matrices side by side below their names, each with its name before its first row; they may stand in one pair of
    tall brackets each."""
    names = [name.split()[0].rstrip("=:") for name in re.split(r"[ \t]{2,}", found["names"].strip())]
    tall = found.groupdict().get("open") or ""
    bare = "[" not in found["rows"]
    drawn = [_cut(row, len(names)) if bare else re.findall(r"\[[^\]]*\]", row) for row in found["rows"].split("\n")]
    rows = [row for row in drawn if row]
    if any(len(row) != len(names) for row in rows) or (tall and tall.count("[") != len(names)):
        return found[0]
    width = max(len(cell) for row in rows for cell in row) + max(map(len, names)) + 6
    lines = [
        [
            f"{name} = {cell}" if k == 0 else " " * len(f"{name} = ") + cell
            for name, cell in zip(names, row, strict=True)
        ]
        for k, row in enumerate(rows)
    ]
    return (
        "\n" * (2 if tall else 1)
        + "\n".join("".join(part.ljust(width) for part in line).rstrip() for line in lines)
        + "\n"
    )


def _cut(row: str, count: int) -> list[str]:
    """A line of numbers cut at its widest gaps into as many rows: '1 0    0 1'."""
    gaps = sorted(re.finditer(r"(?<=\S)[ \t]+(?=\S)", row), key=lambda gap: -len(gap[0]))
    if len(gaps) >= count and len(gaps[count - 2][0]) == len(gaps[count - 1][0]):
        return [row]
    ends = [0, *sorted(gap.end() for gap in gaps[: count - 1]), len(row)]
    return [f"[{row[a:b].strip()}]" for a, b in pairwise(ends)] if row.strip() else []


_BARE = r"[-−]?\d+(?:[.,]\d+)?"
_ROW_CELLS = rf"{_BARE}(?:[ \t]+{_BARE})*"
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


def _with_slashes(found: re.Match[str]) -> str:
    """'1 -1 / 2 0' as '[1, -1; 2, 0]', if all rows are of one length."""
    rows = [row.split() for row in found["rows"].split("/")]
    return f" [{'; '.join(map(', '.join, rows))}]" if len(set(map(len, rows))) == 1 < len(rows[0]) else found[0]


_CLOCK = r"(?:[\d./-]{6,10},? )?\d{1,2}:\d{2}(?::\d{2})?"
_AND = r"(?:and|und|et|y|e|и|i)"
_NUMBER = r"[-−]?\d+(?:[.,]\d+)?"
_SAID_LIST = (
    rf"(?P<what>(?<!\w)(?:{pattern('quantity')}|{pattern('vector')})(?!\w)[^.:=≈;\n\[\]()$|]{{0,40}}?)\s(?:{pattern('copula')}|were)"
    rf"(?:\s\w+)?(?:\sas)?\s(?P<list>{_NUMBER}(?:,\s{_NUMBER})*,?\s{_AND}\s{_NUMBER})(?=\.?\s*$|[.;,]\s|\s?[)—–])"
)


def _listed(found: re.Match[str]) -> str:
    """'The scores are 2, 1 and 0' as 'The scores: [2, 1, 0]'."""
    return f"{found['what']}: [{', '.join(re.findall(_NUMBER, found['list']))}]"


_VECTOR = rf"\$?\[\s*{_NUMBER}(?:\s*,\s*{_NUMBER})+\s*\]\$?"
_SAID_VECTORS = (
    rf"(?P<what>(?<!\w)(?:{pattern('vector')})(?:\s(?:{pattern('copula')}|were))?)\s"
    rf"(?P<list>{_VECTOR}(?:,\s{_VECTOR})*,?\s{_AND}\s{_VECTOR})"
)


def _stacked(found: re.Match[str]) -> str:
    """'The keys [2, 0] and [0, 2]' as 'The keys: [[2, 0], [0, 2]]', with the ends of lines where they are."""
    vectors = re.sub(rf",?\s{_AND}(?=\s)", ",", found["list"].replace("$", ""))
    widths = {vector.count(",") for vector in re.findall(r"\[[^\]]*\]", vectors)}
    return f"{found['what']}: [{vectors}]" if len(widths) == 1 else found[0]


# What stands in a source, and what is read in its place; lines stay where they are. The order matters.
_REWRITES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(said, re.MULTILINE), instead)
    for said, instead in (
        # [1.0, 0.0],   第一行: what is said beside the rows of a list
        (
            r"^(?P<row>[ \t]*\[+[-−\d.,e∞inf \t]+\]+,?)"
            rf"(?P<said>[ \t]{{2,}}{SCRIPT.pattern}[^\[\]=\n]*)$",
            lambda m: m["row"] + " " * len(m["said"]),
        ),
        # [18:04] and '18/11/26, 18:04 - ' before what somebody says in a chat
        (
            rf"^[ \t]*(?:\[{_CLOCK}\]|{_CLOCK}(?: -|(?= \w+:)))(?=\s)",
            lambda m: " " * len(m[0]),
        ),
        # \quad a) Find A
        (r"^[ \t]*\\q?quad(?=[ \t]*\(?\w{1,2}[.)][ \t])", lambda m: " " * len(m[0])),
        # what an item is worth: 'a) (1,0) Find Q'
        (
            r"^(?P<label>[ \t]*\(?(?:[a-z]|\d{1,2})[.)][ \t]*)(?P<worth>\(\d{1,2}[.,]\d\))(?=[ \t]+[^\W\d_]{2})",
            lambda m: m["label"] + " " * len(m["worth"]),
        ),
        # 1️⃣ before a step
        ("([0-9])(\ufe0f?)\u20e3", lambda m: f"{m[1]}. "[: len(m[0])]),
        # \( x \)
        (r"(?<!\\)\\\((?P<maths>(?:[^$\n]|\n(?!\s*\n))*?)(?<!\\)\\\)", r" $\g<maths>$ "),
        # '(V of cat)' at the end of a line, where a sum goes on in the next
        (r"[ \t]{2,}\((?=[^()\n]*[^\W\d_]{2})[^()\n=]*\)[ \t]*$(?=\n[ \t]*[+=])", ""),
        # cos(60°) and cos 60°
        (rf"\\?\b(sin|cos)\s*\(\s*([-−]?\d+(?:[.,]\d+)?)\s*{_DEGREES}\s*\)", r"\1d(\2)"),
        (rf"\\?\b(sin|cos)\s+(\d+(?:[.,]\d+)?)\s*{_DEGREES}", r"\1d(\2)"),
        # 𝐐 and ＝, and the pieces of brackets in a font for them
        (
            "[\U0001d400-\U0001d7ff＝＋－＊／０-９\uf8eb-\uf8fe]",
            lambda m: _BRACKET_PIECES.get(m[0]) or unicodedata.normalize("NFKC", m[0])[:1],
        ),
        # corners of a box around numbers are brackets: ┌ 1 0 ┐ above └ 0 1 ┘
        (r"(?P<corner>[┌└])(?=[ \t]*[-−]?[.\d∞])", lambda m: "⎡" if m[0] == "┌" else "⎣"),
        (r"(?<=[\d.∞])(?P<gap>[ \t]*)(?P<corner>[┐┘])", lambda m: m["gap"] + ("⎤" if m["corner"] == "┐" else "⎦")),
        (r"│(?P<cells>[ \t]*[-−]?[.\d][-−.\d∞ \t]*)│", lambda m: f"⎢{m['cells']}⎥" if "⎡" in m.string else m[0]),
        # W = ┌   ┐ above its rows
        (r"^(?P<named>[^\n│┌]*=[ \t]*┌[^\n│]*)\n(?P<row>[ \t]*[│|][^\n]*)$", _lowered),
        (r"^[ \t┌┐└┘╭╮╰╯]*[┌└╭╰][ \t┌┐└┘╭╮╰╯]*$", ""),
        # A = softmax of S
        (
            r"(?<==)(?P<gap>[ \t]*)softmax[ \t]+(?:of|von|de|di|от)[ \t]+(?P<name>[A-Z]\w{0,5})(?!\w)",
            lambda m: f"{m['gap']}softmax({m['name']})".ljust(len(m[0])),
        ),
        # | 1 0 |   (2 features, 3 tokens)
        (r"(?<=[|│\]])[ \t]{2,}\(\d+ [^\W\d_]{3,},? [^()\n=]*\d+ [^\W\d_]{3,}\)[ \t]*$", ""),
        # _     _   and   -     -   above and below bars
        (r"^[ \t]*[_¯‾-](?:[ \t]{2,}[_¯‾-])+[ \t]*$", ""),
        # Q =   K =   between the rows of matrices without brackets
        (
            rf"^(?P<row>{_ROW_OF_NUMBERS})\n(?P<names>[ \t]*[^\W\d][^\n\d\[\]:;,]{{0,80}}=[ \t]*)"
            rf"\n(?={_ROW_OF_NUMBERS}$)",
            r"\g<names>\n\g<row>\n",
        ),
        # Q =   K =   above rows side by side, or above rows within one pair of tall brackets each
        (_NAMES + r"(?P<rows>(?:[ \t]*(?:\[[^\[\]\n]*\][ \t]*){2,}(?:\n|\Z)){2,})", _beside_names),
        (
            _NAMES + r"(?P<open>[ \t]*(?:\[[ \t]*){2,})\n(?P<rows>(?:[-−\d., \t]+\n)+)[ \t]*(?:\][ \t]*){2,}$",
            _beside_names,
        ),
        (_NAMES + rf"(?P<rows>(?:{_ROW_OF_NUMBERS}\n){{2,}})", _beside_names),
        # Q = 1 0   K = 0 1 above the other rows of both
        (
            rf"^[ \t]*[^\W\d][^=\n]*=[ \t]*{_BARE}[^=\n]*=[^\n\[\]]*\d[ \t]*\n(?:(?:[ \t]*{_BARE})+[ \t]*(?:\n|\Z))+",
            _in_brackets,
        ),
        # q1 = 5 2      q2 = 2 1
        (
            r"^(?P<lead>[^=\n]*?)(?P<rows>(?:(?<!\S)[^\W\d]\w*[ \t]*"
            rf"=[ \t]*{_BARE}(?:[ \t]{_BARE})+(?:[ \t]{{2,}}|$)){{2,}})$"
            r"(?!\n[ \t]*[-−\d][-−\d., \t]*$)",
            lambda m: m["lead"] + re.sub(rf"=[ \t]*({_ROW_CELLS})", r"= [\1]", m["rows"]),
        ),
        # a list, escaped for Markdown: \[0, 1] and \[[0, 1], [1, 0]]
        (r"\\\[(?=\s*[-−]?[\d.][\d.,;\seE+−-]*(?<!\\)\])", " ["),
        (r"(?<!\\)\\\[(?=[ \t]*\[[^\n\\]*\][ \t]*\])(?![^\n]*\\\])", " ["),
        # y = [ 0.2×1 + 0.8×3 = 2.6 … ]: a calculation on each line
        (
            r"^[^\n=]*=[ \t]*\[[ \t]*\n"
            r"((?:[^\n=\[\]]*[+×*·][^\n=\[\]]*=[ \t]*[-−]?[\d.,]+[ \t]*\n){2,14})[ \t]*\][ \t]*$",
            r"\n\1",
        ),
        # '[' or '$[' alone on a line, for a display
        (r"^([ \t]*)\$?\[[ \t]*\n((?:(?![ \t]*[\[\]][ \t]*$).*\n){1,14}?)[ \t]*\]\$?[ \t]*$", _as_display),
        # WQ = identity
        (
            rf"(?<=[=:])(?P<gap>[ \t]*)(?:(?:{pattern('article')})[ \t])?(?:{pattern('identity')})"
            r"(?=[ \t]{2,}|[ \t]*(?:[,;]|\.?$))",
            lambda m: f"{m['gap']}I".ljust(len(m[0])),
        ),
        # the scores are 2, 1 and 0
        (_SAID_LIST, _listed),
        # the keys are [2, 0] and [0, 2]
        (_SAID_VECTORS, _stacked),
        # {[1, 0]; [0, 2]} and (1 0 ; 0 2)
        (
            r"\{(?P<rows>[ \t]*\[[^\[\]{}\n]*\](?:[ \t]*[;,][ \t]*\[[^\[\]{}\n]*\])+[ \t]*)\}",
            lambda m: "[" + re.sub(r"\][ \t]*;", "],", m["rows"]) + "]",
        ),
        (
            rf"\([ \t]*(?P<rows>{_CELL}(?:[ \t]+{_CELL})+(?:[ \t]*;[ \t]*{_CELL}(?:[ \t]+{_CELL})+)+)[ \t]*\)",
            r"[\g<rows>]",
        ),
        # ( 1  2 ), the row of a matrix that is drawn in round brackets
        (rf"\((?=[ \t]+{_CELL}(?:[ \t]+{_CELL})+[ \t]+\))([^()\n]*)\)", r"[\1]"),
        # Q = |   |   K = |   | between the two rows of drawn matrices
        (
            r"^(?P<above>[ \t]*[|│][^\n]*)\n(?P<named>[ \t]*[^\W\d][^\n\d]*=[ \t]*[|│][ \t]+[|│][^\n\d]*)\n"
            r"(?P<below>[ \t]*[|│][^\n]*)$",
            _named_between,
        ),
        # X = 1 -1 / 2 0
        (rf"(?<==)[ \t]+(?P<rows>{_ROW_CELLS}(?:[ \t]+/[ \t]+{_ROW_CELLS})+)(?=[ \t]{{2}}|[ \t]*$)", _with_slashes),
        # | 1 2 |, the row of a drawn matrix
        (rf"[|│](?=\s*{_CELL}(?:\s+{_CELL})+\s*[|│])([^|│\n]*)[|│]", r"[\1]"),
        # | 1 |, behind such a row: the row of a drawn column
        (rf"^(?=[^|│\n]*\])([^|│\n]*)[|│]([ \t]+{_CELL}[ \t]+)[|│]", r"\1[\2]"),
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


_COMPOUND = re.compile(r"(?<![\w\\^{}$])([A-Z])(\d)([A-Za-z])(?=\s*[=:]\s*[\[(])")


def _with_scripts(source: str) -> str:
    """Names of a letter, a number and a letter, where several are given arrays, with their label as a script.

    >>> _with_scripts("W1Q = [1, 0], W1K = [0, 1]; X W1Q")
    'W_Q1 = [1, 0], W_K1 = [0, 1]; X W_Q1'
    """
    names = {found[0] for found in _COMPOUND.finditer(source)}
    if len(names) < 2:
        return source
    spelled = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    return spelled.sub(lambda found: f"{found[0][0]}_{found[0][2]}{found[0][1]}", source)
