"""LaTeX from a document as MathML that is safe in a page: known elements and attributes only, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import Element

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element

from qkv.regex import regex

LONGEST = 200_000  # characters of one formula; a longer one is shown as its source
# The exceptions of the converter for formulas that it does not understand; such a formula is shown as its source.
REFUSALS: tuple[type[Exception], ...] = (
    *(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)),
    # it meets broken LaTeX with any of these
    *(LookupError, ValueError, TypeError, AttributeError, RuntimeError, StopIteration),
)
ELEMENTS = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
    "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "menclose", "mpadded", "mphantom",
})  # fmt: skip
ATTRIBUTES = frozenset({
    "displaystyle", "scriptlevel", "stretchy", "fence", "form", "separator", "largeop", "mathvariant", "accent",
    "accentunder", "linethickness", "width", "height", "depth", "lspace", "rspace", "minsize", "maxsize",
})  # fmt: skip
_VALUE = regex(r"[\w.%+\- ]*\Z")
# Spellings that the converter lacks, in those that it has; the numbers of equations are left out.
_SPELLINGS = (
    (regex(r"\\(begin|end)\{(?:align|aligned|alignedat|eqnarray|split|flalign)\*?\}"), r"\\\1{align*}"),
    (regex(r"\\(begin|end)\{(?:gather|gathered|multline)\*?\}"), r"\\\1{gather*}"),
    (regex(r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}"), ""),
    (regex(r"\\(?:label|tag\*?)\{[^{}]*\}|\\(?:notag|nonumber|displaystyle|hfill|hfil|noindent)(?![A-Za-z])"), ""),
    (regex(r"\\require\{\w*\}|\\[hv]space\*?\{[^{}]*\}"), " "),
    (regex(r"\\(?:bm|boldsymbol)(?![A-Za-z])"), r"\\mathbf"),
    (regex(r"(?m)^[ \t]*>[ \t]?"), ""),
)


def tree(latex: str) -> Element | None:
    """A formula as MathML elements, or None where it cannot be converted whole."""
    if len(latex) > LONGEST:
        return None
    for found, written in _SPELLINGS:
        latex = found.sub(written, latex)
    try:
        root: Element = convert_to_element(latex.strip())
    except REFUSALS:
        return None
    return None if any(_is_left_over(element) for element in root.iter()) else root


@lru_cache(maxsize=4096)  # documents repeat their symbols on every line
def converted(latex: str, display: bool) -> str | None:
    """A formula as the text of its MathML, or None where it cannot be converted whole."""
    root = tree(latex)
    return None if root is None else written(root, display)


def shown(latex: str, display: bool = True) -> str:
    """A formula of ours as MathML; as its source where it cannot be converted."""
    return converted(latex, display) or f"<code>{escape(latex)}</code>"


def _is_left_over(element: Element) -> bool:
    """A command that the converter did not know stands in the result as its own name."""
    text = element.text or ""
    return element.tag == "mi" and (text.startswith("\\") or text == "&")


def written(root: Element, display: bool, marks: Mapping[Element, str] | None = None) -> str:
    """The elements as text; `marks` gives some of them a class."""
    body = "".join(_pieces(root, dict(marks or {})))
    return body.replace("<math", f'<math display="{"block" if display else "inline"}"', 1)


def _pieces(element: Element, marks: dict[Element, str]) -> Iterator[str]:
    tag = element.tag if element.tag in ELEMENTS else "mrow"
    if _text(element) == "∞":  # a number, not an operator: no blanks around it
        tag = "mi"
    yield f"<{tag}{''.join(_attributes(element, marks))}>"
    if element.text:
        yield escape(unescape(element.text))
    for child in _fenced(list(element), marks):
        yield from _pieces(child, marks)
    yield f"</{tag}>"


# Fences around a matrix become a class of the matrix: not every machine has a font whose brackets can grow.
FENCES = {("[", "]"): "square", ("(", ")"): "round", ("|", "|"): "bars"}


def _fenced(children: list[Element], marks: dict[Element, str]) -> Iterator[Element]:
    """The children of an element, matrices without the brackets around them, signs told from operators."""
    at = 0
    while at < len(children):
        three = children[at : at + 3]
        fence = FENCES.get((_text(three[0]), _text(three[-1]))) if len(three) == 3 else None
        if fence and three[1].tag == "mtable":
            marks[three[1]] = f"{marks.get(three[1], '')} {fence}".strip()
            yield three[1]
            at += 3
            continue
        if _text(children[at]) in ("−", "+") and (at == 0 or _text(children[at - 1]) in _BEFORE_SIGN):
            children[at].set("form", "prefix")
        yield children[at]
        at += 1


_BEFORE_SIGN = frozenset("([{=≈,;:+−·×⋅→⇒")


def _text(element: Element) -> str:
    return unescape(element.text or "") if element.tag == "mo" else ""


def _attributes(element: Element, marks: dict[Element, str]) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name in ATTRIBUTES and _VALUE.match(value):
            yield f' {name}="{escape(value)}"'
    classes = [_align(element)] if element.tag == "mtd" else []
    if element.tag == "menclose":
        classes.append("boxed" if element.get("notation") == "box" else "crossed")
    classes.append(marks.get(element, ""))
    if any(classes):
        yield f' class="{" ".join(name for name in classes if name)}"'


def _align(element: Element) -> str:
    side = element.get("columnalign", "")
    return f"to-{side}" if side in ("left", "right") else ""


def matrices(root: Element) -> list[list[list[Element]]]:
    """The tables of a formula, each as rows of cells, in the order in which they are written."""
    return [[[cell for cell in row if cell.tag == "mtd"] for row in table] for table in root.iter("mtable")]


def find_cells(root: Element, shown: Iterable[tuple[int, int, str]]) -> list[Element]:
    """The elements of some cells (row and column from 1, and what is shown there), in the last matrix that shows them
    all; nothing where there is no such matrix."""
    wanted = list(shown)
    for table in reversed(matrices(root)):
        cells = [_at(table, row, column) for row, column, _ in wanted]
        texts = [_digits("".join(cell.itertext())) if cell is not None else None for cell in cells]
        if wanted and texts == [_digits(text) for _, _, text in wanted]:
            return [cell for cell in cells if cell is not None]
    return []


def _at(table: list[list[Element]], row: int, column: int) -> Element | None:
    return table[row - 1][column - 1] if row <= len(table) and column <= len(table[row - 1]) else None


def _digits(text: str) -> str:
    plain = unescape(text).replace("−", "-")
    return re.sub(r"\\[A-Za-z]+|[^\d.\-∞]", "", plain.replace(r"\infty", "∞"))
