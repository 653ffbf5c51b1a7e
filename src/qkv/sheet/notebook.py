"""Jupyter notebooks: cells laid out as Markdown text, each line on the line that it has in the file.

A notebook keeps each source line as a string on a line of its own, so the text of a cell can stand where its JSON
stands. Where a notebook was written without line breaks, the cells follow each other and lines count within them.
"""

from __future__ import annotations

import json

from qkv.errors import ReadError


def is_notebook(text: str, file: str) -> bool:
    """Whether a document is a notebook, by its name or by its shape."""
    return file.lower().endswith(".ipynb") or (text.lstrip()[:1] == "{" and '"cells"' in text and '"cell_type"' in text)


def notebook_text(text: str) -> str:
    """The Markdown and code cells of a notebook as one Markdown document.

    >>> notebook_text('{"cells": [{"cell_type": "code", "source": ["x = [1, 2]"]}]}')
    '```python\\nx = [1, 2]\\n```'
    """
    try:
        cells = json.loads(text)["cells"]
        sources = [(cell["cell_type"], _source_lines(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ReadError("the notebook is not valid: its JSON has no list of cells with sources") from problem
    wanted = [(sort, lines) for sort, lines in sources if sort in ("markdown", "code", "raw")]
    return _in_place(text.split("\n"), wanted) or "\n\n".join(_cell(sort, lines) for sort, lines in wanted)


def _source_lines(source: object) -> list[str]:
    joined = source if isinstance(source, str) else "".join(str(line) for line in source)  # type: ignore[attr-defined]
    return joined.rstrip("\n").split("\n")


def _cell(sort: str, lines: list[str]) -> str:
    body = "\n".join(lines)
    return f"```python\n{body}\n```" if sort == "code" else body


def _in_place(file_lines: list[str], cells: list[tuple[str, list[str]]]) -> str | None:
    """Each source line at its own place in the file; None if the file is not laid out line by line."""
    placed = [""] * len(file_lines)
    at = 0
    for sort, lines in cells:
        if lines == [""]:
            continue
        start = at
        for index, line in enumerate(lines):
            wanted = {json.dumps(line + end, ensure_ascii=ascii) for end in ("\n", "") for ascii in (True, False)}
            while at < len(file_lines) and file_lines[at].strip().rstrip(",") not in wanted:
                at += 1
            if at == len(file_lines):
                return None
            placed[at] = line
            start = at if index == 0 else start
            at += 1
        if sort == "code":
            placed[start - 1], placed[min(at, len(placed) - 1)] = "```python", "```"
    return "\n".join(placed)
