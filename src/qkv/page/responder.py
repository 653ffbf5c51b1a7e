"""What answers requests one after the other: in a worker process of the server, or in a worker of the browser."""

from __future__ import annotations

from html import escape

from qkv.page.answer import Answer
from qkv.page.respond import PAGES, respond

Task = tuple[str, dict[str, str]]


class Responder:
    """Answers requests; making one loads what answers need, so that no visitor waits for it."""

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
