"""20,000 practice sheets with planted slips: how many are found, and which verdict stood where which was due.

python benchmarks/bench_planted.py [--documents N] [--first N] [--processes N] [--list]

--list tells every fault, and every mistake that was not named or not by its name, with the call that draws its sheet.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import Pool

from rich.console import Console
from rich.progress import track
from rich.table import Table

import qkv
from qkv.check.model import Verdict
from qkv.practice.grade import NOTHING, Grade, graded
from qkv.practice.laws import planted

FAULTS = ("accused", "missed", "not carried", "unread")


def grade(number: int) -> tuple[str, bool, Grade, float]:
    """Draw, check and grade one sheet: the call that draws it, whether it is clean, its grade, and the seconds that
    reading and checking took."""
    call, practice = planted(number)
    begin = time.perf_counter()
    report = qkv.check(practice.text)
    return call, not practice.slips, graded(practice, report), time.perf_counter() - begin


def confusion(console: Console, counts: Counter[tuple[str, str]]) -> None:
    """The table of verdicts: due down the side, given across the top."""
    given = [*(verdict.value for verdict in Verdict), NOTHING]
    shown = [verdict for verdict in given if any(counts[due, verdict] for due in ("fine", "carried", "wrong"))]
    table = Table("due", *shown, title="verdicts of values")
    for due in ("fine", "carried", "wrong"):
        table.add_row(due, *(f"{counts[due, verdict]:,}" for verdict in shown))
    console.print(table)


def unread(counts: Counter[tuple[str, str]], due: str) -> int:
    """How many values of a sort were not judged."""
    return counts[due, NOTHING] + counts[due, Verdict.UNREAD]


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}, {part / max(whole, 1):.2%}"


def told(call: str, result: Grade) -> Iterator[str]:
    """What there is to say of one sheet, with the call that draws it again."""
    for fault in result.faults:
        yield f"{call} line {fault.line}: {fault.what}, {fault.detail}"
    for remark in result.unnamed:
        yield f"{call} line {remark.line}: {remark.what}, {remark.detail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first sheet")
    parser.add_argument("--list", action="store_true", help="tell every fault")
    options = parser.parse_args()
    console = Console(width=110)
    counts: Counter[tuple[str, str]] = Counter()
    named: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    faulty = clean = accused = 0
    seconds = 0.0
    with Pool(options.processes) as pool:
        work = pool.imap_unordered(grade, range(options.first, options.first + options.documents), chunksize=16)
        for call, is_clean, result, took in track(work, "planted slips", total=options.documents, console=console):
            counts.update(result.confusion)
            named.update(result.named)
            faults.update(fault.what for fault in result.faults)
            faulty += bool(result.faults)
            clean += is_clean
            accused += is_clean and bool(result.of("accused"))
            seconds += took
            for line in told(call, result) if options.list else ():
                console.print(line, soft_wrap=True, highlight=False, markup=False)
    confusion(console, counts)
    slips = sum(count for (due, _), count in counts.items() if due == "wrong")
    console.print(f"{options.documents:,} documents, {slips:,} slips, {seconds / options.documents * 1000:.0f} ms each")
    console.print(f"documents without any fault: {options.documents - faulty:,}")
    console.print(f"clean documents accused: {accused:,} of {clean:,}")
    console.print(f"slips located: {_share(slips - faults['missed'] - unread(counts, 'wrong'), slips)}")
    carried = sum(count for (due, _), count in counts.items() if due == "carried")
    left = faults["not carried"] + unread(counts, "carried")
    console.print(f"carried values called so: {_share(carried - left, carried)}")
    console.print(", ".join(f"{what}: {faults[what]:,}" for what in FAULTS))
    table = [named[f"table {how}"] for how in ("named", "unnamed", "misnamed")]
    console.print(f"mistakes of the table that show: {table[0]:,} named, {table[1]:,} not named, {table[2]:,} misnamed")


if __name__ == "__main__":
    main()
