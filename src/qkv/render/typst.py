"""Our pages in Typst, to be printed: the tree of a page of `html.py`, element by element.

Text of a document only ever appears as a string of Typst's, so nothing in it can be taken for a command.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, fromstring

from qkv.regex import regex
from qkv.render.typst_math import math, quoted

# How a printed page looks: the colours of `page.py` on paper, a function for each kind of thing on it.
PRELUDE = """
#set page(paper: "a4", margin: (x: 1.7cm, top: 1.7cm, bottom: 1.9cm), numbering: "1 / 1")
#set text(size: 10pt, fill: rgb("#1c2330"), top-edge: "ascender", bottom-edge: "descender")
#set par(leading: 0.4em, spacing: 0.6em)
#show math.equation: set text(size: 10.5pt)
#let soft = rgb("#667085")
#let line-grey = rgb("#e3e7ee")
#let tones = (
  right: rgb("#1a7f4b"), rounded: rgb("#1a7f4b"), drifted: rgb("#0b7285"), misrounded: rgb("#9a6700"),
  carried: rgb("#8250df"), misread: rgb("#b35900"), wrong: rgb("#cf222e"), unread: soft, struck: soft,
)
#let faint(tone, share) = tone.transparentize(100% - share)
#let title(level, body) = block(
  above: (0.4em, 1.1em, 0.9em, 0.8em).at(level - 1), below: 0.5em, sticky: true,
  text(size: (15pt, 12.5pt, 11pt, 10pt).at(level - 1), weight: "bold", body),
)
#let summary(good, body) = block(
  below: 0.8em, text(size: 11.5pt, weight: "bold", fill: if good { tones.right } else { tones.wrong }, body),
)
#let quiet(body) = text(fill: soft, weight: "regular", body)
#let false-one(body) = text(fill: tones.wrong, strike(body))
#let true-one(body) = text(fill: tones.right, weight: "bold", body)
#let pill(tone, body) = box(
  stroke: 0.6pt + line-grey, fill: rgb("#f7f8fb"), radius: 0.8em, inset: (x: 0.6em, y: 0.3em), text(size: 8pt, body),
)
#let row(number, said, notes) = block(width: 100%, inset: (y: 0.22em), grid(
  columns: (0.7cm, 1fr, 5.4cm), column-gutter: 0.3cm,
  align(right, text(size: 7pt, fill: soft, number)), said, notes,
))
#let fitted(body) = layout(size => {
  let wide = measure(body).width
  if wide <= size.width { body } else {
    let share = calc.max(60%, 100% * (size.width / wide))
    if share > 60% { scale(x: share, y: share, origin: left, reflow: true, body) } else { text(size: 8pt, body) }
  }
})
#let display(body) = block(inset: (y: 0.35em), fitted(body))
#let item(body) = block(above: 0.2em, below: 0.9em, body)
#let claimed(tone, strong, body) = block(
  above: 0.55em, below: 0.55em, fill: faint(tone, if strong { 12% } else { 7% }), stroke: (left: 2pt + tone),
  radius: 1pt, inset: (left: 0.7em, right: 0.6em, y: 0.5em), fitted(body),
)
#let marked(tone, strong, body) = highlight(fill: faint(tone, if strong { 18% } else { 10% }), radius: 1pt, body)
#let boxed(tone, strong, body) = box(
  fill: faint(tone, if strong { 18% } else { 10% }), radius: 1pt, outset: (y: 2pt), inset: (x: 2pt), body,
)
#let unmarked(tone, strong, body) = body
#let badge(tone, body) = box(inset: (left: 0.4em), text(size: 7.5pt, weight: "bold", fill: tone, body))
#let note(tone, body) = block(
  width: 100%, above: 0.3em, below: 0.3em, fill: rgb("#f7f8fb"), stroke: (left: 2pt + tone), radius: 1pt,
  inset: (x: 0.6em, y: 0.5em), { set text(size: 8pt); body },
)
#let cell(tone, body) = box(fill: faint(tone, 24%), stroke: 0.7pt + tone, radius: 1pt, outset: 2pt, body)
#let heat(tenths, body) = box(fill: rgb("#2f6bdb").transparentize(100% - tenths * 5%), outset: 2.5pt, radius: 1pt, body)
#let blank(rows, columns, body) = {
  let gap = box(width: 1.25cm, height: 0.62cm, stroke: (bottom: (paint: soft, thickness: 0.5pt, dash: "dotted")))
  block(above: 0.4em, [#body #math.equation(math.mat(
    delim: "[", row-gap: 0.15em, column-gap: 0.5em, ..range(rows).map(_ => range(columns).map(_ => gap)),
  ))])
}
#let code(body) = text(font: "DejaVu Sans Mono", size: 0.82em, body)
#let verbatim(body) = block(
  width: 100%, fill: rgb("#f7f8fb"), radius: 2pt, inset: 0.6em, text(font: "DejaVu Sans Mono", size: 7.5pt, body),
)
"""
TONES = ("right", "rounded", "drifted", "misrounded", "carried", "misread", "wrong", "unread", "struck")
STRONG = ("wrong", "misread")
LONGEST_BOX = 60  # characters of a formula in a line of text
_SPACE = regex(r"[ \t]+")
_FORBIDDEN = regex("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")  # what XML cannot hold


def document(title: str, body: str) -> str:
    """A page, given as the title and the body of its HTML, as a whole document of Typst."""
    tree = fromstring(f"<main>{_FORBIDDEN.sub(' ', body)}</main>")
    return f"#set document(title: {quoted(title)}, date: none)\n{PRELUDE}\n{_inside(tree)}\n"


def _inside(element: Element, verbatim: bool = False) -> str:
    """All that an element holds, as markup of Typst; verbatim, with its own blanks."""
    parts = [_text(element.text, verbatim)]
    for child in element:
        parts += [_element(child, verbatim), _text(child.tail, verbatim)]
    return "".join(parts)


def _text(text: str | None, verbatim: bool) -> str:
    """Text, line for line; blanks between blocks are nothing."""
    if not text or (not verbatim and not text.strip() and "\n" in text):
        return ""
    lines = [line if verbatim else _SPACE.sub(" ", line) for line in text.split("\n")]
    return "#linebreak();".join(f"#{quoted(line)};" if line else "" for line in lines)


def _element(element: Element, verbatim: bool) -> str:
    tag, names = element.tag, (element.get("class") or "").split()
    body = _inside(element, verbatim or tag == "pre") if tag not in ("math", "table") else ""
    match tag:
        case "h1" | "h2" | "h3" | "h4":
            return f"#title({tag[1]})[{body}];"
        case "p":
            return _paragraph(names, body)
        case "div" | "span" | "a" | "li":
            return _piece(tag, names, element, body)
        case "b" | "strong":
            return f"#strong[{body}];"
        case "em":
            return f"#emph[{body}];"
        case "s":
            return f"#strike[{body}];"
        case "code":
            return f"#code[{body}];"
        case "pre":
            return f"#verbatim[{body}];"
        case "table":
            return _table(element)
        case "math":
            return math(element)
        case "style":
            return ""
        case "ol":
            return "".join(f"#item[{_inside(step)}];" for step in element)
        case _:  # ul: the items of a note, the pills of a legend
            return f"#block[{body}];" if body else ""


def _paragraph(names: list[str], body: str) -> str:
    if "score" in names:
        return f"#title(1)[{body}];"
    if "summary" in names:
        return f"#summary({'true' if 'good' in names else 'false'})[{body}];"
    return f"#block[#quiet[{body}];];" if {"soft", "kind"} & set(names) else f"#block[{body}];"


def _piece(tag: str, names: list[str], element: Element, body: str) -> str:
    """A piece of a page by its class."""
    tone = next((name for name in names if name in TONES), None)
    colour = f"tones.{tone}"
    strong = "true" if tone in STRONG else "false"
    if "row" in names:
        return f"#row({', '.join(f'[{_inside(part)}]' for part in element)});"
    if "break" in names:
        return "#linebreak();"
    if "claim" in names:
        how = "claimed" if "display" in names else _inline_mark(element)
        return f"#{how}({colour}, {strong})[{body}];"
    if "badge" in names:
        return f"#badge({colour})[{body}];"
    if "note" in names:
        return f"#note({colour})[{body}];"
    if "blank" in names:
        return f"#blank({element.get('data-rows')}, {element.get('data-columns')})[{body}];"
    if "display" in names:
        return f"#display[{f'#quiet[{body}];' if 'soft' in names else body}];"
    if tag == "li":
        return f"#pill({colour})[#text(fill: {colour})[{body}];];#h(0.4em);" if tone else f"#block[{body}];"
    if "whole" in names:
        return f"#block(breakable: false, below: 1.2em)[{body}];"
    if tag == "div":
        return f"#box(inset: (right: 1.2em, y: 0.3em))[{body}];" if not names else f"#block[{body}];"
    styled = {"soft": "quiet", "how": "quiet", "shown": "false-one", "should": "true-one"}
    return next((f"#{style}[{body}];" for name, style in styled.items() if name in names), body)


def _inline_mark(element: Element) -> str:
    """Text is marked as with a pen, a short formula by a box around it, which no line can break."""
    if element.find(".//math") is None:
        return "marked"
    return "boxed" if len("".join(element.itertext())) <= LONGEST_BOX else "unmarked"


def _table(table: Element) -> str:
    rows = [[_cell(cell, row) for cell in row] for row in table.iter("tr")]
    wide = max(map(len, rows), default=1)
    cells: Iterable[str] = (cell for row in rows for cell in [*row, *["[]"] * (wide - len(row))])
    return f"#table(columns: {wide}, stroke: 0.5pt + line-grey, inset: 0.45em, {', '.join(cells)});"


def _cell(cell: Element, row: Element) -> str:
    """A cell; the last one of a row that has a tone is in its colour."""
    tone = next((name for name in (row.get("class") or "").split() if name in TONES), None)
    body = f"#strong[{_inside(cell)}];" if cell.tag == "th" else _inside(cell)
    return f"[#text(fill: tones.{tone})[{body}];]" if tone and cell is row[-1] else f"[{body}]"
