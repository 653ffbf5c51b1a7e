"""TEXT → the same lines as plain text: LaTeX laid out, odd letters, drawings and lost brackets in the usual signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from qkv.library.words import pattern
from qkv.reader.drawings import with_brackets
from qkv.reader.latex import is_tex, plain_tex
from qkv.reader.limits import Limits
from qkv.reader.macros import with_macros
from qkv.reader.maths.numerals import with_digits, without_grouping_points
from qkv.reader.maths.signs import SCRIPT
from qkv.reader.quoted import unquoted
from qkv.reader.terminal import laid_out
from qkv.regex import regex


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
    source = with_brackets(_without_comment_signs(source))
    return with_digits(without_grouping_points(_with_scripts(_with_numbers(source))))


_BRACKET_PIECES = {chr(0xF8EB + i): c for i, c in enumerate("⎛⎜⎝⎡⎢⎣⎧⎨⎩")} | {
    chr(0xF8F6 + i): c for i, c in enumerate("⎞⎟⎠⎤⎥⎦⎫⎬⎭")
}
_DEGREES = r"(?:°|\^\{?\\circ\}?)"
_IS_FORMULA = regex(r"\\[A-Za-z]{2,}|[^\W\d_][^=\n]{0,40}=|\]\s*=\s*\[|\d\s*=\s*[-−]?\d")
_THIN_SPACE = regex(r"(?<=[\d.\w])(,[;!])|(?<=[)\]}])(,)(?=[^\W\d_])")  # [2,\;1] and (p - y)\,x
_ROW_END = regex(r"(?m)(?<!\\)\\(?=[ \t]*$)")


def _as_display(found: re.Match[str]) -> str:
    r"""A display between '[' and ']', which stood in \[ and \] before they lost their backslashes."""
    indent, inside = found[1], found[2]
    if not _IS_FORMULA.search(inside) or "$" in inside:
        return found[0]
    inside = _ROW_END.sub(r"\\\\", _THIN_SPACE.sub(lambda m: ", " if m[1] else " ", inside))
    return f"{indent}$$\n{inside}{indent}$$"


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
    (regex(said, re.MULTILINE), instead)
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
        # cos(60°) and cos 60°
        (rf"\\?\b(sin|cos)\s*\(\s*([-−]?\d+(?:[.,]\d+)?)\s*{_DEGREES}\s*\)", r"\1d(\2)"),
        (rf"\\?\b(sin|cos)\s+(\d+(?:[.,]\d+)?)\s*{_DEGREES}", r"\1d(\2)"),
        # 𝐐 and ＝, and the pieces of brackets in a font for them
        (
            "[\U0001d400-\U0001d7ff＝＋－＊／０-９\uf8eb-\uf8fe]",
            lambda m: _BRACKET_PIECES.get(m[0]) or unicodedata.normalize("NFKC", m[0])[:1],
        ),
        # A = softmax of S
        (
            r"(?<==)(?P<gap>[ \t]*)softmax[ \t]+(?:of|von|de|di|от)[ \t]+"
            r"(?P<name>[A-Z]\w{0,5}(?:\s?/\s?√?\w{1,5})?)(?!\w)",
            lambda m: f"{m['gap']}softmax({m['name']})".ljust(len(m[0])),
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
    )
)

_SLASHES = regex(r"(?m)^([ \t]*)//[/!]?(?=\s)")
_HASHES = regex(r"(?m)^#(?=[ \t]|$)")
_CODE = regex(r"[;{}(),]\s*(?://.*)?$|^\s*#\W?\w+")  # how a line of C, Rust or JavaScript ends, or begins
_PLAIN_CODE = regex(rf"(?m)^(?![ \t]*//|.*=\s*[\[{{]\s*[\[{{\d.-])(?=.*(?:{_CODE.pattern})).*$")  # no array in it
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


_NUMBERED = regex(r"(?m)^[ \t]*([^\W\d_]{3,} \d{1,2})[ \t]*=[ \t]*$")


def _with_numbers(source: str) -> str:
    """A word and a number alone before '=' are one name, wherever they stand: 'Out 1 =', then '[Out 1 | Out 2] W'."""
    names = set(_NUMBERED.findall(source))
    spelled = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")
    return spelled.sub(lambda found: found[0].replace(" ", "_"), source) if names else source


_COMPOUND = regex(r"(?<![\w\\^{}$])([A-Z])(\d)([A-Za-z])(?=\s*[=:]\s*[\[(])")


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
