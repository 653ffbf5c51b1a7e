"""Long runs in slices: a line of a journal for every case that is done, so that a second run goes on where the first
one stopped. A journal holds for one state of the code: after a change of the code it begins anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from rich.progress import track

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
Row = dict[str, Any]


def arguments(description: str | None, cases: int) -> argparse.ArgumentParser:
    """What every run in slices can be told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=cases, help="how many of each sort")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long; call again to go on")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="tell every case that fails, and how to draw it again")
    parser.add_argument("--store", action="store_true", help="write the figures to benchmarks/results")
    return parser


def stored(name: str, result: Row) -> None:
    """Write a result beside the others."""
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


class Journal:
    """The rows of a run by the keys of its cases, on the disk too. A torn line is skipped, and its case done again."""

    def __init__(self, name: str) -> None:
        self.path = ROOT / "build" / f"{name}.jsonl"
        self.rows: dict[str, Row] = {}
        self.code = _code()
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        if lines[:1] != [self.code]:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(f"{self.code}\n", encoding="utf-8")
            lines = []
        for line in lines[1:]:
            self._take(line)

    def _take(self, line: str) -> None:
        try:
            row = json.loads(line)
            self.rows[row["key"]] = row
        except (ValueError, KeyError, TypeError):
            return

    def add(self, row: Row) -> None:
        """Remember a case."""
        self.rows[row["key"]] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps(row, ensure_ascii=False)}\n")  # after a torn line, a new one


def _code() -> str:
    """What tells one state of the code from another."""
    sources = sorted(path for folder in ("src", "tests/laws") for path in (ROOT / folder).rglob("*.py"))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


def resumed(
    work: Callable[[str], Row], keys: Sequence[str], journal: Journal, options: argparse.Namespace
) -> list[Row]:
    """The rows of all cases that are done, in the order of their keys; `work` gives a row by the key of its case.
    What the journal lacks is worked out as long as there is time."""
    until = time.monotonic() + 60 * options.minutes
    missing = [key for key in keys if key not in journal.rows]
    at_once = 8 * options.processes
    with Pool(options.processes) as pool:
        for begin in track(range(0, len(missing), at_once), f"{len(missing):,} cases", transient=True):
            if time.monotonic() > until:
                break
            for row in pool.imap_unordered(work, missing[begin : begin + at_once]):
                journal.add(row)
    return [journal.rows[key] for key in keys if key in journal.rows]
