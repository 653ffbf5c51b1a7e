"""Gradescope: results.json for a hand-in, and the zip that runs qkv there."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

from qkv.files import write
from qkv.grading.model import Earned, Mark
from qkv.grading.one import Setup
from qkv.render.plainly import said

PACKAGE = Path(__file__).resolve().parent.parent
FROZEN = (1980, 1, 1, 0, 0, 0)  # the date of every file in the zip: same assignment, same bytes
# What grading needs; everything else of qkv needs more.
REQUIRES = ("python-flint>=0.7,<1", "rich>=13.7,<16", "click>=8.1,<9", "latex2mathml>=3.77,<4")

SETUP = f"""#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image.
set -e
apt-get update && apt-get install -y python3 python3-pip
python3 -m pip install --break-system-packages {" ".join(f"'{each}'" for each in REQUIRES)} \\
  || python3 -m pip install {" ".join(f"'{each}'" for each in REQUIRES)}
"""

RUN = """#!/usr/bin/env bash
# Gradescope runs this for every hand-in: /autograder/submission in, /autograder/results/results.json out.
root="${AUTOGRADER_ROOT:-/autograder}"
mkdir -p "$root/results"
scheme=()
[ -f "$root/source/scheme.toml" ] && scheme=(--scheme "$root/source/scheme.toml")
PYTHONPATH="$root/source" "${PYTHON:-python3}" -m qkv grade "$root/submission" --against "$root/source/{assignment}" \\
  --results "$root/results/results.json" "${scheme[@]}"
"""


def results(marks: list[Mark]) -> str:
    """results.json for a hand-in of one or several files: of each quantity, the file that earns most counts."""
    best = _best(marks)
    looks = [f"{mark.file}: {why}" for mark in marks for why in mark.looks]
    said_of = [_says(mark) for mark in marks] + [f"A person will look at this. {why}" for why in looks]
    found = {
        "score": float(sum(each.low for each in best)),
        "output": "\n".join(said_of) or "Nothing was handed in.",
        "output_format": "text",
        "visibility": "visible",
        "tests": [_test(each) for each in best],
        "extra_data": {"needs_a_look": looks},
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _best(marks: list[Mark]) -> list[Earned]:
    found: dict[tuple[str, str], Earned] = {}
    for each in (earned for mark in marks for earned in mark.earned):
        key = each.label, each.name
        if key not in found or (each.low, each.high) > (found[key].low, found[key].high):
            found[key] = each
    return list(found.values())


def _test(each: Earned) -> dict[str, object]:
    where = f" (line {each.line})" if each.line is not None else ""
    ranged = "" if each.low == each.high else f"; up to {said(each.high)} points when a person has looked"
    return {
        "name": f"{each.label} {each.name}".strip(),
        "number": each.label,
        "score": float(each.low),
        "max_score": float(each.of),
        "output": f"{each.because}{where}{ranged}",
    }


def _says(mark: Mark) -> str:
    slips = "; ".join(f"line {slip.line}, {slip.step}: {slip.says or 'a slip'}" for slip in mark.slips)
    return f"{mark.file}: {slips or 'no slip was found'}"


def write_autograder(path: str, setup: Setup, scheme: str | None) -> None:
    """The zip for Gradescope: its two scripts, the assignment, the scheme, and qkv itself."""
    name = f"assignment{Path(setup.file).suffix or '.md'}"
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content, mode in _files(name, setup, scheme):
            entry = zipfile.ZipInfo(file, FROZEN)
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    write(path, text.getvalue())


def _files(name: str, setup: Setup, scheme: str | None) -> Iterator[tuple[str, bytes, int]]:
    yield "setup.sh", SETUP.encode(), 0o755
    yield "run_autograder", RUN.replace("{assignment}", name).encode(), 0o755
    yield name, setup.assignment.encode(), 0o644
    if scheme is not None:
        yield "scheme.toml", scheme.encode(), 0o644
    for place in sorted(PACKAGE.rglob("*")):
        if place.is_file() and "__pycache__" not in place.parts:
            yield f"qkv/{place.relative_to(PACKAGE).as_posix()}", place.read_bytes(), 0o644
