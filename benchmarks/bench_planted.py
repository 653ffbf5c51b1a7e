"""20,000 practice sheets with planted slips: how many are found, and which verdict stood where which was due.

python benchmarks/bench_planted.py [--documents N] [--first-seed N] [--processes N] [--list]

--list tells every fault, and every mistake that was not named or not by its name, with the call that draws its sheet.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from multiprocessing import Pool

from rich.console import Console
from rich.progress import track
from rich.table import Table

from qkv.check.judge import check_sheet
from qkv.check.model import Verdict
from qkv.practice import KINDS, NOTATIONS, sheet
from qkv.practice.grade import NOTHING, Grade, graded
from qkv.sheet.read import read_sheet

Job = tuple[str, str, int]
FAULTS = ("accused", "missed", "not carried", "unread")


def jobs(first: int) -> Iterator[Job]:
    """Every kind in every notation, again and again with new numbers."""
    seed = first
    while True:
        yield from ((kind, notation, seed) for kind in KINDS for notation in NOTATIONS)
        seed += 1


def grade(job: Job) -> tuple[Job, Grade, float]:
    """Draw, check and grade one sheet; the seconds are those of reading and checking."""
    kind, notation, seed = job
    practice = sheet(kind, seed, notation, slips=seed % 4)
    begin = time.perf_counter()
    report = check_sheet(read_sheet(practice.text, f"practice{practice.suffix}"))
    return job, graded(practice, report), time.perf_counter() - begin


def confusion(console: Console, counts: Counter[tuple[str, str]]) -> None:
    """The table of verdicts: due down the side, given across the top."""
    given = [*(verdict.value for verdict in Verdict), NOTHING]
    shown = [verdict for verdict in given if any(counts[due, verdict] for due in ("fine", "carried", "wrong"))]
    table = Table("due", *shown, title="verdicts of values")
    for due in ("fine", "carried", "wrong"):
        table.add_row(due, *(f"{counts[due, verdict]:,}" for verdict in shown))
    console.print(table)


def told(job: Job, result: Grade) -> Iterator[str]:
    """What there is to say of one sheet, with the call that draws it again."""
    kind, notation, seed = job
    call = f"sheet({kind!r}, {seed}, {notation!r}, slips={seed % 4})"
    for fault in result.faults:
        yield f"{call} line {fault.line}: {fault.what}, {fault.detail}"
    for remark in result.unnamed:
        yield f"{call} line {remark.line}: {remark.what}, {remark.detail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="tell every fault")
    options = parser.parse_args()
    console = Console(width=110)
    counts: Counter[tuple[str, str]] = Counter()
    named: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    faulty = 0
    seconds = 0.0
    with Pool(options.processes) as pool:
        work = pool.imap_unordered(grade, islice(jobs(options.first_seed), options.documents), chunksize=16)
        for job, result, took in track(work, "planted slips", total=options.documents, console=console):
            counts.update(result.confusion)
            named.update(result.named)
            faults.update(fault.what for fault in result.faults)
            faulty += bool(result.faults)
            seconds += took
            for line in told(job, result) if options.list else ():
                console.print(line, soft_wrap=True, highlight=False, markup=False)
    confusion(console, counts)
    slips = sum(count for (due, _), count in counts.items() if due == "wrong")
    console.print(f"{options.documents:,} documents, {slips:,} slips, {seconds / options.documents * 1000:.0f} ms each")
    console.print(f"documents without any fault: {options.documents - faulty:,}")
    console.print(", ".join(f"{what}: {faults[what]:,}" for what in FAULTS))
    table = [named[f"table {how}"] for how in ("named", "unnamed", "misnamed")]
    console.print(f"mistakes of the table that show: {table[0]:,} named, {table[1]:,} not named, {table[2]:,} misnamed")


if __name__ == "__main__":
    main()
