"""make bench: how long the things take that people wait for, beside the time that they may take.

Each row is (name, function, target in seconds). A row takes the best of a few runs, after one that is not counted;
sample sheets take turns, and beside the best time stands the median.
Long documents are run once, and beside their time stands how it grows: what twice the text takes, over twice the time.
The exit status is 1 if a target is missed.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import qkv
from qkv import api

RUNS = 5
ROUNDS = 5
A_SHEET = 0.200  # seconds for one sample sheet, solved or checked


class Row(NamedTuple):
    """What is measured, and how long it may take."""

    name: str
    measure: Callable[[], float]
    target: float


def timed(work: Callable[[], object], runs: int = RUNS) -> Callable[[], float]:
    """The best time of a few runs, after a first one that fills caches."""

    def measure() -> float:
        work()
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return min(times)

    return measure


def import_time() -> float:
    """What `import qkv` adds to starting Python: the median over fresh interpreters."""

    def start(code: str) -> float:
        script = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)

    return statistics.median(start("import qkv") for _ in range(RUNS))


def decimals(rows: int, columns: int, seed: int) -> list[list[str]]:
    """A matrix of numbers with one decimal."""
    draw = random.Random(seed)
    return [[f"{draw.randint(-20, 20) / 10:.1f}" for _ in range(columns)] for _ in range(rows)]


HEADS = {f"W_{kind}": [decimals(4, 3, 10 * i + h) for h in (1, 2)] for i, kind in enumerate("QKV")}
HEADS |= {"X": decimals(2, 4, 98), "W_O": decimals(6, 4, 99)}
LONG = {f"W_{kind}": decimals(32, 32, i) for i, kind in enumerate("QKV")} | {"X": decimals(64, 32, 7)}


def two_heads() -> object:
    """Two tokens of four numbers, two heads of three, an output matrix; every step to six digits."""
    s = qkv.work(**HEADS)
    return [s[name].digits(6) for name in s.names]


def long_sequence() -> object:
    """64 tokens of 32 numbers; weights and output to six digits."""
    s = qkv.work(**LONG)
    return s["A"].digits(6), s["Output"].digits(6)


ROWS = (
    Row("import qkv", import_time, 0.100),
    Row("two heads, every step to six digits", timed(two_heads, runs=30), 0.010),
    Row("64 tokens, d = 32, weights and output", timed(long_sequence, runs=2), 2.0),
)


ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = [ROOT / "examples" / "two-heads.md", ROOT / "examples" / "slip.md"]
SAMPLES = sorted((ROOT.parent / "shared" / "sheets").glob("0*.md")) or EXAMPLES


def command() -> float:
    """`qkv solve` on a sheet, start to end, in a fresh process."""
    call = [sys.executable, "-c", "from qkv.cli import main; main()", "solve", str(SAMPLES[0]), "--json"]
    start = time.perf_counter()
    subprocess.run(call, capture_output=True, check=True)
    return time.perf_counter() - start


def sample_sheets() -> int:
    """Print what reading and solving, and reading and checking, each sample sheet takes; how many are too slow. They
    take turns over many rounds, so that a slow second of the machine falls on all of them."""
    texts = {path.stem[:26]: path.read_text(encoding="utf-8") for path in SAMPLES}
    ways = (("solve", solve_text, A_SHEET), ("check", check, A_SHEET))
    rows = [(f"read and {what} {name}", work, text, may) for name, text in texts.items() for what, work, may in ways]
    rounds = [[once(work, text) for _, work, text, _ in rows] for _ in range(ROUNDS + 1)]
    missed = 0
    print(f"\n{f'best of {ROUNDS} rounds':<44}{'took':>10}{'may take':>12}{'median':>11}")
    for (name, _, _, may), times in zip(rows, zip(*rounds[1:], strict=True), strict=True):  # the first fills caches
        took, median = min(times), statistics.median(times)
        missed += took > may
        shown = f"{name:<44}{took * 1000:>7.1f} ms{may * 1000:>9.0f} ms{median * 1000:>8.1f} ms"
        print(f"{shown}{'  too slow' * (took > may)}")
    return missed


def solve_text(text: str) -> object:
    """Every value of every problem of a document."""
    return [trace.values() for trace in api.solve_sheet(api.read_source(text)).traces]


SHEETS = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples" / "sheets").glob("*.md"))]
MATRIX = r"\begin{bmatrix} %s & %s \\ %s & %s \end{bmatrix}"
CLAIM = f"$$Q K^T = {MATRIX % (1, 2, 3, 4)} {MATRIX % (1, 2, 3, 4)} = {MATRIX % (7, 10, 15, 22)}$$\n\n"


def sheets(size: int) -> str:
    """A document of so many characters: the examples one after the other, each under its own heading."""
    parts: list[str] = []
    while size > 0:
        parts.append(f"# Sheet {len(parts) + 1}\n\n{SHEETS[len(parts) % len(SHEETS)]}\n\n")
        size -= len(parts[-1])
    return "".join(parts)


def all_wrong(size: int) -> str:
    """One sheet of size × size matrices in which every number that is worked out is wrong."""
    q, k, v, s, a, z = (latex(decimals(size, size, seed)) for seed in range(6))
    given = f"$$Q = {q}$$\n\n$$K = {k}$$\n\n$$V = {v}$$\n\n"
    return given + f"$$S = Q K^T = {s}$$\n\n$$A = softmax(S / \\sqrt{{d_k}}) = {a}$$\n\n$$Z = A V = {z}$$\n"


def latex(rows: list[list[str]]) -> str:
    """A matrix in LaTeX."""
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{bmatrix}"


def check(text: str) -> object:
    """Read and check a document."""
    return api.check_sheet(api.read_source(text))


def printed_matrices(count: int) -> str:
    """A page with so many printed matrices: every other one is the product of the two before it."""
    lines, before = [], "A_1"
    left = [[1, 2, 0], [0, 1, -1], [2, 0, 1]]
    for i in range(1, count // 2 + 1):
        right = [[(i + j * k) % 5 - 2 for k in range(3)] for j in range(3)]
        product = [[sum(left[r][k] * right[k][c] for k in range(3)) for c in range(3)] for r in range(3)]
        lines += [f"$$A_{{{i}}} = {whole(left if i == 1 else right)}$$", ""]
        if i > 1:
            lines += [f"$$B_{{{i}}} = {before} A_{{{i}}} = {whole(product)}$$", ""]
            before, left = f"A_{{{i}}}", right
    return "\n".join(lines)


def whole(rows: list[list[int]]) -> str:
    """A matrix of whole numbers in LaTeX."""
    return latex([list(map(str, row)) for row in rows])


def one_page(size: int, *, again: bool) -> str:
    """A page of so many characters without a heading: projections of one matrix under new names, or, again and again,
    a small problem with the same names and other numbers."""
    draw, parts = random.Random(size), ["X = [[1, 2], [0, 1], [2, 1]]\n\n" * (not again)]
    while size > 0:
        i, tokens = len(parts), [[1, 2], [0, 1], [2, 1]]
        if again:
            tokens = [[draw.randint(-2, 3) for _ in range(2)] for _ in range(3)]
        weights = [[draw.randint(-2, 3) for _ in range(2)] for _ in range(2)]
        product = [[sum(row[k] * weights[k][j] for k in range(2)) for j in range(2)] for row in tokens]
        given = f"X = {tokens}, W = {weights}\n\nQ = X W" if again else f"W_{i} = {weights}\n\nQ_{i} = X W_{i}"
        parts.append(f"{given} = {product}\n\n")
        size -= len(parts[-1])
    return "".join(parts)


MB = 1_000_000
LONG_ROWS: tuple[tuple[str, Callable[[int], str], int, Callable[[str], object], float], ...] = (
    ("check a page with 200 printed matrices", printed_matrices, 200, check, 3.0),
    ("check 500 kB of sheets", sheets, MB // 2, check, 100.0),
    ("check 500 kB of one claim over and over", lambda size: CLAIM * (size // len(CLAIM)), MB // 2, check, 20.0),
    ("check 100 kB of one page, new names", partial(one_page, again=False), MB // 10, check, 12.0),
    ("check 100 kB of one page, names again", partial(one_page, again=True), MB // 10, check, 40.0),
    ("check 20×20, every cell wrong", all_wrong, 20, check, 4.0),
    ("read a matrix of 10⁵ cells", lambda size: latex([["1.5"] * 1000] * size), 100, api.read_source, 8.0),
)
GROWTH = 1.5  # of a document twice as long, over twice the time


def once(work: Callable[[str], object], text: str) -> float:
    """The processor's seconds that a text takes, at first sight."""
    start = time.process_time()
    work(text)
    return time.process_time() - start


def long_documents() -> int:
    """What long documents take, and how that grows; how many targets are missed."""
    missed = 0
    print(f"\n{'':<44}{'took':>10}{'may take':>12}{'growth':>10}")
    for name, write, size, work, target in LONG_ROWS:
        half, took = (once(work, write(part)) for part in (size // 2, size))
        growth = took / (2 * half)
        slow = took > target or (growth > GROWTH and write is not all_wrong)  # a product of matrices grows by its cube
        missed += slow
        print(f"{name:<44}{took:>8.1f} s{target:>10.0f} s{growth:>10.2f}{'  too slow' * slow}")
    return missed


def main() -> int:
    """Print the tables."""
    missed = 0
    print(f"{'':<44}{'took':>10}{'may take':>12}")
    for row in (*ROWS, Row("qkv solve, start to end", command, 0.500)):
        took = row.measure()
        missed += took > row.target
        print(f"{row.name:<44}{took * 1000:>7.1f} ms{row.target * 1000:>9.0f} ms{'  too slow' * (took > row.target)}")
    return 1 if missed + sample_sheets() + long_documents() else 0


if __name__ == "__main__":
    raise SystemExit(main())
