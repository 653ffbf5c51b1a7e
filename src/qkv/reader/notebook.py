"""Jupyter notebooks: cells laid out as Markdown text, each line on the line that it has in the file.

A notebook keeps each source line as a string on a line of its own, so the text of a cell can stand where its JSON
stands. Where a notebook was written without line breaks, the cells follow each other and lines count within them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from qkv.errors import ReadError
from qkv.reader.fences.outputs import STORED, STORED_ABOVE
from qkv.regex import regex


def is_notebook(text: str, file: str) -> bool:
    """Whether a document is a notebook, by its name or by its shape."""
    return file.lower().endswith(".ipynb") or (text.lstrip()[:1] == "{" and '"cells"' in text and '"cell_type"' in text)


def notebook_text(text: str) -> str:
    """The Markdown and code cells of a notebook as one Markdown document, with what the code printed.

    >>> notebook_text('{"cells": [{"cell_type": "code", "source": ["x = [1, 2]"]}]}')
    '```python\\nx = [1, 2]\\n```'
    """
    try:
        cells = json.loads(text)["cells"]
        pieces = [piece for cell in cells for piece in _pieces(cell)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise ReadError("the notebook is not valid: its JSON has no list of cells with sources") from problem
    lines = text.split("\n")
    sources = [piece for piece in pieces if piece[0] in ("", "python")]
    return _in_place(lines, pieces) or _in_place(lines, sources) or "\n\n".join(_fenced(*piece) for piece in pieces)


_KEY = regex(r'^"(?:source|text)": ')  # before a source of one line, which needs no list
_Piece = tuple[str, list[str]]  # a language, or '' for Markdown, and lines


def _pieces(cell: dict[str, object]) -> Iterator[_Piece]:
    """The source of a cell and what it printed, in the order that they have in the file."""
    sort, lines = cell["cell_type"], _lines(cell["source"])
    above = True
    for part in cell:
        above = above and part != "source"
        if part == "source" and sort in ("markdown", "code", "raw"):
            yield "python" if sort == "code" else "", lines
        elif part == "outputs" and (printed := list(_printed(cell[part]))):
            yield STORED_ABOVE if above else STORED, printed


def _printed(outputs: object) -> Iterator[str]:
    """The lines of text among the outputs of a cell; pictures and HTML are not read."""
    for output in outputs if isinstance(outputs, list) else ():
        text = output.get("text") if output.get("name") == "stdout" else output.get("data", {}).get("text/plain")
        if text:
            yield from _lines(text)


def _lines(source: object) -> list[str]:
    joined = source if isinstance(source, str) else "".join(str(line) for line in source)  # type: ignore[attr-defined]
    return joined.rstrip("\n").split("\n")


def _fenced(language: str, lines: list[str]) -> str:
    body = "\n".join(lines)
    return f"```{language}\n{body}\n```" if language else body


def _in_place(file_lines: list[str], pieces: list[_Piece]) -> str | None:
    """Each line at its own place in the file; None if the file is not laid out line by line."""
    placed = [""] * len(file_lines)
    at = 0
    for language, lines in pieces:
        if lines == [""]:
            continue
        start = at
        for index, line in enumerate(lines):
            wanted = {json.dumps(line + end, ensure_ascii=ascii) for end in ("\n", "") for ascii in (True, False)}
            while at < len(file_lines) and _KEY.sub("", file_lines[at].strip().rstrip(",")) not in wanted:
                at += 1
            if at == len(file_lines):
                return None
            placed[at] = line
            start = at if index == 0 else start
            at += 1
        if language:
            placed[start - 1], placed[min(at, len(placed) - 1)] = f"```{language}", "```"
    return "\n".join(placed)
