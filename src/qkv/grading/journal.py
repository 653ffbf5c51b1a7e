"""What has been graded so far, a line for each hand-in, so that a second run goes on where the first one stopped."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from qkv.errors import WriteError
from qkv.files import reason
from qkv.grading.model import Because, Earned, Mark, Slip

NAME = ".graded.jsonl"


class Journal:
    """Marks by the keys of their hand-ins. A line is written after its feedback is; a torn line is skipped."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.marks: dict[str, Mark] = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        try:
            found = json.loads(line)
            self.marks[found["key"]] = mark_from(found["mark"])
        except (ValueError, KeyError, TypeError):
            return  # the run ended while it was written: this hand-in is graded again

    def add(self, key: str, mark: Mark) -> None:
        """Remember the marks of a hand-in, on the disk too."""
        self.marks[key] = mark
        line = json.dumps({"key": key, "mark": mark_to(mark)})
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{line}\n")  # after a torn line, a new one
        except OSError as error:
            raise WriteError(f"{self.path} cannot be written: {reason(error)}") from error


def mark_to(mark: Mark) -> dict[str, Any]:
    """Marks as plain data."""
    found = asdict(mark)
    for each in found["earned"]:
        each.update({name: str(each[name]) for name in ("of", "low", "high")}, because=each["because"].name)
    return found


def mark_from(found: dict[str, Any]) -> Mark:
    """Marks from plain data.

    >>> mark = Mark("a.md", (Earned("1", "Q", Fraction(1), Fraction(1), Fraction(1), Because.SHOWN, 3),))
    >>> mark_from(json.loads(json.dumps(mark_to(mark)))) == mark
    True
    """
    earned = tuple(
        Earned(
            **{
                **each,
                **{name: Fraction(each[name]) for name in ("of", "low", "high")},
                "because": Because[each["because"]],
            }
        )
        for each in found["earned"]
    )
    return Mark(**{**found, "earned": earned, "slips": tuple(Slip(**slip) for slip in found["slips"])})
