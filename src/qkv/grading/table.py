"""marks.csv: a row for each hand-in, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from qkv.grading.model import Mark
from qkv.render.plainly import said

COLUMNS = ("file", "points", "of", "up to", "share judged", "first slip", "mistake", "needs a look")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n")  # what makes a spreadsheet take a text for a formula


def table(marks: Iterable[Mark]) -> str:
    """The marks as comma-separated values. `points` are certain, `up to` is what a person may come to."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for mark in marks:
        writer.writerow([harmless(cell) for cell in _row(mark)])
    return text.getvalue()


def _row(mark: Mark) -> tuple[str, ...]:
    slip = mark.slips[0] if mark.slips else None
    first = f"line {slip.line}: {slip.step}" if slip else "nothing handed in" if mark.empty else ""
    mistake = (slip.mistake or slip.says) if slip else ""
    judged = f"{mark.share_judged:.2f}"
    return mark.file, said(mark.low), said(mark.of), said(mark.high), judged, first, mistake, "; ".join(mark.looks)


def harmless(text: str) -> str:
    """A cell that no spreadsheet takes for a formula, and without characters that are not to be seen.

    >>> harmless("=HYPERLINK(1)"), harmless("5")
    ("'=HYPERLINK(1)", '5')
    """
    shown = "".join(ch if ch.isprintable() else " " for ch in text.encode("utf-8", "replace").decode("utf-8"))
    return f"'{shown}" if text.startswith(_ACTIVE) or shown.lstrip().startswith(_ACTIVE) else shown
