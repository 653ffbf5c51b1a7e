"""The same document in another dress: what is said of it stays the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import pytest

from qkv import api
from qkv.check.model import BAD

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "sheets"
DOCUMENTS = sorted(path for path in FOLDER.glob("*.md") if path.stem != "README")


def _arrays(text: str) -> str:
    def array(found: re.Match[str]) -> str:
        columns = max(row.count("&") for row in found[2].split(r"\\")) + 1
        return rf"\left[\begin{{array}}{{{'c' * columns}}}{found[2]}\end{{array}}\right]"

    return re.sub(r"\\begin\{([bp]matrix)\}(.*?)\\end\{\1\}", array, text, flags=re.DOTALL)


DRESSES: dict[str, Callable[[str], str]] = {
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "round brackets": lambda text: text.replace("bmatrix", "pmatrix"),
    "arrays": _arrays,
    "blanks at line ends": lambda text: text.replace("\n", "  \n"),
    "simeq": lambda text: text.replace(r"\approx", r"\simeq"),
    "times": lambda text: text.replace(r"\cdot", r"\times"),
    "a title": lambda text: "# Notes\n\n" + text,
    "a sentence before": lambda text: "These notes were typed by a friend; they follow the lecture.\n\n" + text,
    "brackets for dollars": lambda text: re.sub(r"\$\$(.*?)\$\$", r"\\[\1\\]", text, flags=re.DOTALL),
}
CASES = list(zip(DOCUMENTS, islice(cycle(DRESSES), len(DOCUMENTS)), strict=True))


def _bad(text: str, name: str) -> Counter[str]:
    report = api.check_sheet(api.read_source(text, name))
    return Counter(claim.verdict.value for claim in report.claims if claim.verdict in BAD)


@pytest.mark.parametrize(("document", "dress"), CASES, ids=[f"{path.stem}, {dress}" for path, dress in CASES])
def test_verdicts_do_not_depend_on_the_dress(document: Path, dress: str) -> None:
    text = document.read_text(encoding="utf-8")
    assert _bad(DRESSES[dress](text), document.name) == _bad(text, document.name)
