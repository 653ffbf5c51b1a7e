"""Documents as Jupyter notebooks: a cell of text for each block, an empty cell to work in after the questions."""

from __future__ import annotations

import json
from typing import Any


def notebook(markdown: str, working: bool = True) -> str:
    """A Markdown document as a notebook; the same text gives the same bytes.

    >>> json.loads(notebook("# Title"))["cells"][0]["source"]
    ['# Title']
    """
    cells = [_cell("markdown", markdown.strip(), 0)]
    cells += [_cell("markdown", "", 1)] if working else []
    made = {
        "cells": cells,
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
