"""MathML, as our pages have it, in the mathematics of Typst."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

from qkv.regex import regex

_NUMBER = regex(r"\d+(?:\.\d+)?\Z")
_WIDTH = regex(r"-?\d*\.?\d+em\Z")
_OPEN, _CLOSE = "([{|‖⌈⌊⟨", ")]}|‖⌉⌋⟩"
DELIMITERS = {"square": '"["', "round": '"("', "bars": '"|"'}
STYLES = {
    "normal": "upright",
    "bold": "bold",
    "sans-serif": "sans",
    "double-struck": "bb",
    "script": "cal",
    "fraktur": "frak",
}


def math(element: Element) -> str:
    """A formula as markup."""
    body = _row(list(element))
    display = element.get("display") == "block"
    return f"${f'#math.display(${body}$);' if display else body}$" if body else ""


def quoted(text: str) -> str:
    """Any text as a string of Typst's.

    >>> print(quoted('a "b" #c'))
    "a \\"b\\" #c"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _row(elements: list[Element]) -> str:
    """Elements one after the other; fences around them grow with what they hold."""
    pieces: list[str] = []
    for element in elements:
        piece = _element(element)
        if pieces and not pieces[-1].endswith(";") and not piece.startswith("#"):
            piece = f" {piece}"  # letters beside each other would be a word
        if piece.strip():
            pieces.append(piece)
    body = "".join(pieces)
    fenced = len(elements) > 2 and _sign(elements[0]) in _OPEN and _sign(elements[-1]) in _CLOSE
    return f"#math.lr(${body}$);" if fenced else body


def _sign(element: Element) -> str:
    text = (element.text or "").strip()
    return text if element.tag == "mo" and len(text) == 1 else "\0"


def _element(element: Element) -> str:
    tag, text = element.tag, (element.text or "").strip()
    match tag:
        case "mi":
            return _identifier(text, element.get("mathvariant"))
        case "mn":
            return text if _NUMBER.match(text) else f"#math.upright({quoted(text)});"
        case "mo":
            return _operator(text)
        case "mtext":
            return f"#{quoted(element.text or '')};" if element.text else ""
        case "mspace":
            width = element.get("width", "")
            return f"#h({width});" if _WIDTH.match(width) else ""
        case "mtable":
            return _matrix(element)
        case "menclose":
            boxed = "boxed" in (element.get("class") or "")
            inner = _argument(element)
            return f"#box(stroke: 0.5pt, inset: 2pt, {inner});" if boxed else f"#math.cancel({inner});"
        case "msqrt":
            return f"#math.sqrt({_argument(element)});"
        case "mphantom":
            return f"#hide({_argument(element)});"
        case _ if tag in BUILT and len(element) >= BUILT[tag][0]:
            return BUILT[tag][1](*(_whole(child) for child in element))
        case _:
            return _row(list(element))


def _operator(text: str) -> str:
    if len(text) > 1 and text.isalpha():
        return f"#math.upright({quoted(text)});"
    return "".join(f"\\{x}" if x.isascii() else x for x in text.replace("-", "−"))


def _identifier(text: str, variant: str | None) -> str:
    if not text:
        return ""
    style = STYLES.get(variant or "", "")
    if style:
        return f"#math.{style}({quoted(text) if style == 'upright' else _argument_of(text)});"
    return text if len(text) == 1 and (text.isalpha() or not text.isascii()) else f"#math.upright({quoted(text)});"


def _argument_of(text: str) -> str:
    return f"${text}$" if len(text) == 1 and text.isalpha() else quoted(text)


def _whole(element: Element) -> str:
    """An element as an argument of a function."""
    body = _element(element)
    return f"${body}$" if body else "[]"


def _argument(element: Element) -> str:
    """All that an element holds as an argument of a function."""
    body = _row(list(element))
    return f"${body}$" if body else "[]"


def _attached(*, over: bool) -> Callable[..., str]:
    """A base with what stands above or below it, or at its corners."""

    def attach(base: str, *marks: str, t: bool = False) -> str:
        names = ("t",) if t else ("b", "t")
        held = f"math.limits({base})" if over else base
        return (
            f"#math.attach({held}, {', '.join(f'{name}: {mark}' for name, mark in zip(names, marks, strict=False))});"
        )

    return attach


_corner, _limit = _attached(over=False), _attached(over=True)
# Elements that take so many children, and what they are in Typst.
BUILT: dict[str, tuple[int, Callable[..., str]]] = {
    "mfrac": (2, lambda top, bottom, *_: f"#math.frac({top}, {bottom});"),
    "mroot": (2, lambda body, index, *_: f"#math.root({index}, {body});"),
    "msub": (2, _corner),
    "msup": (2, lambda base, top, *_: _corner(base, top, t=True)),
    "msubsup": (3, _corner),
    "munder": (2, _limit),
    "mover": (2, lambda base, top, *_: _limit(base, top, t=True)),
    "munderover": (3, _limit),
}


def _matrix(table: Element) -> str:
    """A matrix between its brackets; marked cells and shaded weights as on the page."""
    classes = (table.get("class") or "").split()
    delimiter = next((DELIMITERS[name] for name in classes if name in DELIMITERS), "none")
    rows = [f"({', '.join([*map(_cell, row), ''])})" for row in table if row.tag == "mtr"]
    aligned = any("to-" in (cell.get("class") or "") for cell in table.iter("mtd"))
    align = ", align: left" if aligned and delimiter == "none" else ""
    return (
        f"#math.mat(delim: {delimiter}{align}, row-gap: 0.45em, column-gap: 0.8em, {', '.join(rows)});" if rows else ""
    )


def _cell(cell: Element) -> str:
    names = (cell.get("class") or "").split()
    body = _argument(cell)
    if "cell" in names:
        return f"cell(tones.{names[names.index('cell') + 1]}, {body})"
    tenths = next((name[1:] for name in names if re.fullmatch(r"h\d+", name)), None)
    return f"heat({tenths}, {body})" if tenths is not None else body
