"""How often the laws of reading hold, and what damaged documents do.

python benchmarks/bench_laws.py [--cases N] [--processes N] [--law NAME] [--list]

--list tells every case that breaks a law: how to draw it again, what was due, and what was said.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path

from rich.console import Console

from qkv.practice.damage import Hurt, hurt
from qkv.practice.laws import LAWS, Trial, trial
from qkv.practice.text import gathered

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "sheets"
DOCUMENTS = gathered(
    ROOT / "examples", ROOT / "examples" / "sheets", SHARED, SHARED / "wild", SHARED / "real", SHARED / "trial"
)
NAMES = frozenset(document.name for document in DOCUMENTS)
AIM = {law: 0.97 if law == "transposition" else 0.99 for law in LAWS}
SECONDS = 2.0
LINE = "{:<18}{:>8}{:>10}{:>12}{:>12}{:>8}"


def tried(job: tuple[str, int]) -> tuple[bool, Trial]:
    """A case of a law, and whether it is about a document."""
    law, seed = job
    case = trial(law, seed, DOCUMENTS)
    return any(name in NAMES for name in case.call.replace(" and ", ", ").split(", ")), case


def damaged(seed: int) -> Hurt:
    return hurt(DOCUMENTS, seed)


def row(law: str, cases: Iterable[tuple[bool, Trial]], console: Console, listed: bool) -> tuple[str, ...]:
    """One line of the table."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for is_document, case in cases:
        counts[is_document, case.holds] += 1
        if listed and not case.holds:
            said = f"{case.call}\n  due  {case.due}\n  said {case.said}"
            console.print(said, soft_wrap=True, highlight=False, markup=False)
    holds = sum(counts[kind, True] for kind in (False, True))
    shares = (_share(counts[kind, True], counts[kind, True] + counts[kind, False]) for kind in (False, True))
    return law, f"{counts.total():,}", _share(holds, counts.total()), *shares, f"{AIM[law]:.0%}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--law", choices=[*LAWS, "damage"], help="only this one")
    parser.add_argument("--list", action="store_true", help="tell every case that breaks a law")
    options = parser.parse_args()
    console = Console(width=110)
    console.print(LINE.format("law", "cases", "holds", "generated", "documents", "aim"), highlight=False)
    with Pool(options.processes) as pool:
        for law in (law for law in LAWS if options.law in (None, law)):
            jobs = ((law, seed) for seed in range(options.cases))
            cells = row(law, pool.imap_unordered(tried, jobs, chunksize=8), console, options.list)
            console.print(LINE.format(*cells), highlight=False)
        hurts = list(pool.imap_unordered(damaged, range(options.cases if options.law in (None, "damage") else 0)))
    failed = [case for case in hurts if case.error]
    slow = [case for case in hurts if case.seconds > SECONDS]
    if hurts:
        longest = max(case.seconds for case in hurts)
        console.print(
            f"damaged documents: {len(hurts):,}; {len(failed)} end in an exception that is not ours, "
            f"{len(slow)} take more than {SECONDS:.0f} s, the longest {longest:.1f} s"
        )
    for case in (*failed, *slow) if options.list else ():
        console.print(f"{case.call}: {case.error} {case.seconds:.1f} s", soft_wrap=True, highlight=False, markup=False)


if __name__ == "__main__":
    main()
