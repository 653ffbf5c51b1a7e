"""What we solve, check calls right: the worked solution of every example sheet, read back and judged."""

from __future__ import annotations

from pathlib import Path

import pytest

import qkv
from qkv.check.model import BAD

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "examples" / "sheets", ROOT.parent / "shared" / "sheets", ROOT.parent / "shared" / "sheets" / "wild")
DOCUMENTS = sorted(
    path
    for folder in FOLDERS
    if folder.is_dir()
    for path in folder.iterdir()
    if path.suffix in {".md", ".tex", ".txt", ".ipynb"} and path.stem != "README"
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_a_worked_solution_is_right(document: Path) -> None:
    solution = qkv.read(document).solve()
    for text in (solution.to_markdown(), solution.to_latex()):
        report = qkv.check(text)
        assert not [f"line {claim.line}: {claim.name} {claim.text}" for claim in report.claims if claim.verdict in BAD]
