"""Exercises as files: for each, the sheet, the key, the marking scheme and plain data, in the formats asked for."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass

from qkv.errors import ReadError
from qkv.exercises import printed, written
from qkv.exercises.model import Exercise

PDF = "pdf"
FORMATS = ("md", "ipynb", "json", PDF)


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of an exercise: how its files are called, and its seed."""

    name: str
    seed: int
    student: str = ""


def counted(stem: str, seed: int, count: int) -> list[Variant]:
    """So many variants with seeds one after the other."""
    return [Variant(f"{stem}-{number}", number) for number in range(seed, seed + count)]


def from_roster(text: str, stem: str, seed: int) -> list[Variant]:
    """A variant for each student of a roster, by the first column of a CSV file; the same student gets the same one.

    >>> [variant.student for variant in from_roster("name,mail\\nAda,a@b\\nBo,c@d", "self-2", 1)]
    ['Ada', 'Bo']
    """
    rows = [row for row in csv.reader(io.StringIO(text)) if row and row[0].strip()]
    if rows and rows[0][0].strip().lower() in ("name", "student", "id", "login", "matrikel", "user", "username"):
        rows = rows[1:]
    if not rows:
        raise ReadError("the roster has no students: one a line, the first column says who")
    found = []
    for row in rows:
        student = row[0].strip()
        digest = hashlib.sha256(f"{seed}/{student}".encode()).hexdigest()
        safe = "".join(ch if ch.isalnum() else "-" for ch in student).strip("-")[:40]
        found.append(Variant(f"{stem}-{safe or 'student'}-{digest[:4]}", int(digest[:8], 16), student))
    return found


def documents(
    exercise: Exercise, name: str, formats: tuple[str, ...], slips: bool, student: str = ""
) -> Iterator[tuple[str, str | bytes]]:
    """File names and contents. With `slips`, the sheet is a solution with a slip in it, and the key says where."""
    sheet = written.slip_sheet(exercise) if slips else written.sheet(exercise)
    key = written.slip_key(exercise) if slips else written.key(exercise)
    if "md" in formats:
        yield f"{name}.md", sheet
        yield f"{name}-key.md", key
        if not slips:
            yield f"{name}-scheme.md", written.scheme(exercise)
    if PDF in formats:
        yield f"{name}.pdf", printed.document(sheet) if slips else printed.sheet(exercise, student)
        yield f"{name}-key.pdf", printed.document(key)
        if not slips:
            yield f"{name}-scheme.pdf", printed.document(written.scheme(exercise))
    if "ipynb" in formats:
        yield f"{name}.ipynb", notebook(sheet)
        yield f"{name}-key.ipynb", notebook(key, working=False)
    if "json" in formats:
        yield f"{name}.json", written.as_json(exercise)


def notebook(markdown: str, working: bool = True) -> str:
    """A Markdown document as a Jupyter notebook, with an empty cell to work in; the same text gives the same bytes.

    >>> json.loads(notebook("# Title"))["cells"][0]["source"]
    ['# Title']
    """
    texts = [markdown.strip(), *([""] if working else [])]
    made = {
        "cells": [
            {"cell_type": "markdown", "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
            for number, text in enumerate(texts)
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"
