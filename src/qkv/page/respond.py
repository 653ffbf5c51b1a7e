"""A path and a form → a piece of HTML: the whole page, whoever carries the messages.

Nothing is kept between two requests: what a view needs to know is in its form. So every answer can be made anew, in
another process or in the visitor's own browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from importlib import import_module

from qkv.errors import QkvError
from qkv.page.answer import Answer

Form = Mapping[str, str]
View = Callable[[Form], Answer]
Task = tuple[str, dict[str, str]]

# A path → module and function of the view; a view is imported when it is first asked for.
PAGES = {
    "index.html": "sheet:whole",
    "practice.html": "practice:whole",
    "calculator.html": "calculator:whole",
    "costs.html": "costs:whole",
}
PARTS = {
    "sheet": "sheet:judged",
    "sheet/open": "sheet:opened",
    "sheet/download": "sheet:download",
    "practice": "practice:problem",
    "practice/answer": "practice:answered",
    "practice/hint": "practice:hinted",
    "practice/slip": "slips:guessed",
    "calculator": "calculator:worked",
    "calculator/why": "why:shown",
    "costs": "costs:counted",
}


def respond(path: str, form: Form) -> Answer:
    """The answer to a request; what is wrong with a document is said in the answer."""
    view = PAGES.get(path) or PARTS.get(path)
    if view is None:
        return Answer('<p class="summary none">There is no such page.</p>', status=404)
    module, _, name = view.partition(":")
    answer: View = getattr(import_module(f"qkv.page.{module}"), name)
    try:
        return answer(form)
    except QkvError as error:
        return Answer(f'<p class="summary none">{escape(str(error))}</p>')


class Responder:
    """Answers requests one after the other, in a worker process of the server or in a worker of the browser. Making one
    loads what answers need, so that no visitor waits for it."""

    def __init__(self, setup: None = None) -> None:
        for path in PAGES:
            respond(path, {})
        respond("sheet", {"text": "Q = [1 0], K = [1 1; 0 2], S = Q K^T = [1 1]", "file": "first.md"})

    def __call__(self, task: Task) -> Answer:
        try:
            return respond(*task)
        except MemoryError:
            return Answer('<p class="summary none">This page needs more memory than it may have.</p>')
        except Exception as error:  # noqa: BLE001  a bug of ours costs this answer, not those after it
            return Answer(f'<p class="summary none">A bug in qkv: {escape(type(error).__name__)}.</p>')
