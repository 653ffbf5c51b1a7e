"""A document left, what is said of it right, as one types: checked, worked out, and how it was understood."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from html import escape

from qkv import api
from qkv.errors import ReadError
from qkv.formats import text_of
from qkv.page.answer import Answer
from qkv.page.controls import tabs
from qkv.page.examples import EXAMPLES
from qkv.page.frame import framed
from qkv.page.meaning import cards
from qkv.render import html
from qkv.render.options import DEFAULT, Depth, Options
from qkv.render.targets import Target, reports, solutions

UNFOLDED = Options(depth=Depth.FULL, unfolds=True)
PANES = {"checked": "Checked", "worked": "Worked out", "both": "Side by side", "understood": "Understood"}
WRITTEN = {"html": "HTML", "pdf": "PDF", "md": "Markdown", "tex": "LaTeX"}  # what can be downloaded
FORMS = {"html": "html", "pdf": "pdf", "md": "markdown", "tex": "latex"}
KINDS = {"html": "text/html", "pdf": "application/pdf", "md": "text/markdown", "tex": "application/x-tex"}


def whole(form: Mapping[str, str]) -> Answer:
    """The view as it opens."""
    text = form.get("text", next(iter(EXAMPLES.values())))
    body = (
        '<div class="sheet">'
        '<form class="source" id="sheet" hx-post="sheet" hx-trigger="input delay:100ms, load, judge" '
        f'hx-target="#result" hx-sync="this:replace" hx-indicator="#busy">{_tools()}'
        '<label class="hidden" for="source">The sheet</label>'
        '<textarea id="source" name="text" spellcheck="false" autocapitalize="off" autocomplete="off" '
        f'placeholder="Type, paste or drop a worksheet or a hand-worked solution.">{escape(text)}</textarea></form>'
        f'<div class="said-of">{_panes()}<p id="heard" class="hidden" role="status"></p><div id="result"></div></div>'
        "</div>"
        '<dialog id="about" aria-label="What this is taken for"></dialog>'
    )
    return Answer(framed("index.html", body))


def _tools() -> str:
    """What stands above the source: examples, a file to open, its name."""
    options = "".join(f'<option value="{escape(text)}">{escape(name)}</option>' for name, text in EXAMPLES.items())
    return (
        '<div class="tools"><select id="examples" aria-label="Examples">'
        f'<option value="" selected>Examples…</option>{options}</select>'
        '<label class="button" for="file">Open…<input type="file" id="file" class="hidden" '
        'accept=".md,.markdown,.tex,.txt,.ipynb,.pdf,text/*"></label>'
        '<input class="name" name="file" id="name" value="sheet.md" aria-label="Name of the sheet" size="14">'
        '<span id="busy" class="soft" role="status">reading …</span></div>'
    )


def _panes() -> str:
    """Which of the answers are shown, and what can be downloaded."""
    buttons = "".join(f'<button type="button" data-download="{key}">{name}</button>' for key, name in WRITTEN.items())
    return (
        f'<div class="panes">{tabs("Show", "pane", PANES)}'
        f'<details class="downloads"><summary>Download</summary><div>{buttons}</div></details></div>'
    )


def judged(form: Mapping[str, str]) -> Answer:
    """A document, judged, worked out and explained."""
    text = form.get("text", "")
    if not text.strip():
        return Answer('<p class="summary none">An empty sheet: type, paste or drop one, or take an example.</p>')
    sheet = api.read_named(text, form.get("file", ""))
    report, solution = sheet.check(), sheet.solve()
    best = "worked" if report.is_empty and solution.traces else "checked"
    return Answer(
        f'<div data-best="{best}"><section class="checked">{html.body(report)}</section>'
        f'<section class="worked">\n{html.steps(solution, UNFOLDED)}</section>'
        f'<section class="understood">{cards(sheet.understand(), text, sheet.file)}</section></div>'
    )


def opened(form: Mapping[str, str]) -> Answer:
    """The text of a file that the browser cannot read itself, such as a PDF."""
    name = form.get("file", "")
    try:
        data = b64decode(form.get("data", ""), validate=True)
    except ValueError as error:
        raise ReadError(f"{name} did not arrive whole; open it again") from error
    return Answer(text_of(data, name).text, kind="text/plain; charset=utf-8")


def download(form: Mapping[str, str]) -> Answer:
    """The report or the worked solution as a file."""
    solves, ending = form.get("what") == "solve", form.get("as", "html")
    if ending not in WRITTEN:
        raise ReadError(f"there is no format {ending}; there are {', '.join(WRITTEN)}")
    sheet = api.read_named(form.get("text", ""), form.get("file", ""))
    name = f"{sheet.file.rpartition('.')[0] or 'sheet'}-{'solved' if solves else 'checked'}.{ending}"
    target = Target(FORMS[ending])
    written = solutions([sheet.solve()], DEFAULT, target) if solves else reports([sheet.check()], DEFAULT, target)
    return Answer(written, kind=KINDS[ending], name=name)
