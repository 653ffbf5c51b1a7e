"""Nested lists that stand side by side over several lines:

Wq = [[1, 0],    Wk = [[0, 1],
      [0, 1]]          [1, 0]]
"""

from __future__ import annotations

import re

from qkv.errors import Location
from qkv.sheet.draft import Stated
from qkv.sheet.model import Origin
from qkv.sheet.reading import Reading

_BEGINS = re.compile(r"(?<!\S)([^\W\d]\S{0,20}?)\s{0,9}(?:=|≈|:)\s{0,9}(?=\[\s{0,9}\[)")
_ROW = re.compile(r"\[[^\[\]]*\]")


def side_by_side(text: str, at: Location, reading: Reading) -> list[Stated]:
    """The matrices of such a stretch that begins at `at`, each with its name; none where it is anything else."""
    if "\n" not in text:
        return []
    first, *more = text.split("\n")
    names = list(_BEGINS.finditer(first))
    lines = [_ROW.findall(line) for line in (first, *more)]
    if len(names) < 2 or any(len(rows) != len(names) for rows in lines):
        return []
    found: list[Stated] = []
    for i, name in enumerate(names):
        source = f"{name[1]} = [{', '.join(rows[i] for rows in lines)}]"
        chains = reading.math(source, Location(at.line, at.column + name.start())).chains
        found.extend(Stated(chain, Origin.PLAIN, named=False) for chain in chains)
    return found
