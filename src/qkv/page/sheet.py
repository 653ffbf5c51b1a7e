"""A document left, what is said of it right, as one types: checked, worked out, and how it was understood."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from qkv import api
from qkv.page.answer import Answer
from qkv.page.frame import framed
from qkv.render import html
from qkv.render.options import DEFAULT
from qkv.render.targets import Solved, Target, reports, solutions

FORMATS = {"html": "text/html", "md": "text/markdown", "tex": "application/x-tex", "json": "application/json"}
FORMS = {"html": "html", "md": "markdown", "tex": "latex", "json": "json"}


def whole(form: Mapping[str, str]) -> Answer:
    """The view as it opens."""
    text = form.get("text", "")
    body = (
        '<div class="sheet"><form hx-post="sheet" hx-trigger="input delay:200ms, load" hx-target="#result" '
        'hx-sync="this:replace">'
        '<label for="source">Your sheet: Markdown, LaTeX, plain text or a notebook</label>'
        f'<textarea id="source" name="text" spellcheck="false">{escape(text)}</textarea>'
        '<input type="hidden" name="file" value="sheet.md"></form>'
        '<div id="result" aria-live="polite"></div></div>'
    )
    return Answer(framed("index.html", body))


def judged(form: Mapping[str, str]) -> Answer:
    """A document, judged and worked out."""
    sheet = api.read_source(form.get("text", ""), form.get("file", ""))
    documents = api.ReadSheet(**{name: getattr(sheet, name) for name in sheet.__dataclass_fields__})
    report, solution = documents.check(), documents.solve()
    worked = html.solved([(sheet.file, solution.traces, solution.unread, solution.advice)], DEFAULT)[1]
    return Answer(f'<section class="checked">{html.body(report)}</section><section class="worked">{worked}</section>')


def download(form: Mapping[str, str]) -> Answer:
    """The report or the worked solution as a file."""
    what, ending = form.get("what", "check"), form.get("as", "html")
    sheet = api.read_source(form.get("text", ""), form.get("file", ""))
    target = Target(FORMS[ending])
    if what == "solve":
        solution = api.solve_sheet(sheet)
        text = solutions([Solved(sheet.file, solution.traces, solution.unread, solution.advice)], DEFAULT, target)
    else:
        text = reports([api.check_sheet(sheet)], DEFAULT, target)
    stem = sheet.file.rpartition(".")[0] or "sheet"
    return Answer(text, kind=FORMATS[ending], name=f"{stem}-{'solved' if what == 'solve' else 'checked'}.{ending}")
