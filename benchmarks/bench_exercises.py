"""Practice sheets of every kind and level put to the test: solved from their own text to the key, the key graded, a
planted mistake found and named, no tie and no two mistakes with the same result.

usage: bench_exercises.py [SHEETS-OF-EACH] [FIRST-SEED] [KIND ...]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from qkv.exercises.draw import KINDS, LEVELS, exercise
from qkv.exercises.written import ASKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from exercises.exercise_trial import Trial, tried

LANGUAGES = tuple(ASKING)


def line(name: str, trials: list[Trial], seconds: float) -> str:
    """A row of the table."""
    known = [trial.named for trial in trials if trial.named is not None]
    counts = [sum(getattr(trial, what) for trial in trials) for what in ("solved", "right", "found", "apart")]
    shares = "  ".join(f"{count:5d}" for count in counts)
    each = seconds / max(len(trials), 1)
    return f"{name:<14} {len(trials):6d}  {shares}  {sum(known):5d}/{len(known):<5d}  {each:5.2f} s"


def main(count: int, first: int, kinds: list[str]) -> int:
    """Every kind and level, the languages taking turns; what fails is listed."""
    print(f"{'kind, level':<14} {'sheets':>6}  solved  right  found  apart  named        each")
    every: list[Trial] = []
    began = time.perf_counter()
    for kind in kinds or KINDS:
        for level in LEVELS:
            trials, begin = [], time.perf_counter()
            for seed in range(first, first + count):
                trial = tried(exercise(kind, level, seed, LANGUAGES[(seed + level) % len(LANGUAGES)]))
                trials.append(trial)
                if not trial.is_good:
                    print(f"  {kind} {level} {seed}: {trial.why[:300]}", flush=True)
            print(line(f"{kind} {level}", trials, time.perf_counter() - begin), flush=True)
            every += trials
    print(line("all", every, time.perf_counter() - began))
    return 0 if all(trial.is_good for trial in every) else 1


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:3]]
    raise SystemExit(main(*(numbers + [10, 0][len(numbers) :]), kinds=sys.argv[3:]))
