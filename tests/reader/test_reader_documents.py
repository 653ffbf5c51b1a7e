"""Laws over all our documents: no printed number is lost, and no damage breaks the reader."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from laws.authors import sheet
from laws.notations import NOTATIONS
from qkv.errors import QkvError
from qkv.expr.nodes import Number, walk
from qkv.expr.show import plain
from qkv.practice.problems import KINDS
from qkv.reader import read_sheet
from qkv.reader.model import Sheet
from qkv.reader.read import decode

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = (".md", ".tex", ".txt")
OURS = sorted(path for path in (ROOT / "examples" / "sheets").iterdir() if path.suffix in SUFFIXES)
SHARED = sorted(path for path in (ROOT.parent / "shared" / "sheets").rglob("*") if path.suffix in SUFFIXES)
DOCUMENTS = [path for path in (*OURS, *SHARED) if path.stem != "README"]

# A decimal, or a whole number between the marks of an array; powers of ten are read as one number with what follows.
PRINTED = re.compile(
    r"(?<![\w.,])\d+\.\d+(?![\w.]|,\d|\s*(?:×|\\times))|(?<=[\[&|]) *\d+ *(?=[\]&|]|, )|(?<=, )\d+(?=, |\])"
)


def numbers(sheet: Sheet) -> dict[int, set[float]]:
    """The numbers in the statements of a sheet, by the line on which they stand."""
    found: dict[int, set[float]] = {}
    for link in (link for statement in sheet.statements for link in statement.links):
        for node in walk(link.expr):
            if isinstance(node, Number) and node.at is not None:
                value = abs(node.value) * (100 if node.text.endswith("%") else 1)
                found.setdefault(node.at.line, set()).add(float(value) if value < 10**300 else 0.0)
    return found


def words(sheet: Sheet) -> str:
    """All that a sheet keeps as words."""
    kept = [question.text for question in sheet.questions] + [part.title for part in sheet.parts]
    kept += [unread.text for unread in sheet.unread]
    for s in sheet.statements:
        kept += [s.label, s.before, s.after, s.caption, *s.row_labels, *s.column_labels]
        kept += [link.text for link in s.links if "[" in link.text]  # A[0][0]
    return " ".join(kept)


def lost(text: str, file: str) -> Iterator[tuple[int, str]]:
    """Printed numbers that are in no statement, question, heading or unread piece."""
    made = read_sheet(text, file)
    found, said = numbers(made), words(made)
    plain = re.sub(r"<!--.*?-->|\\newcommand[^\n]*", lambda m: "\n" * m[0].count("\n"), made.text, flags=re.DOTALL)
    for line, content in enumerate(plain.split("\n"), 1):
        for printed in PRINTED.finditer(content):
            if float(printed[0]) not in found.get(line, ()) and printed[0].strip() not in said:
                yield line, printed[0]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_no_printed_number_is_lost(path: Path) -> None:
    assert list(lost(decode(path.read_bytes()), str(path))) == []


@pytest.mark.parametrize("notation", [*NOTATIONS, "mixed"])
def test_no_number_of_a_practice_sheet_is_lost(notation: str) -> None:
    for seed, kind in enumerate(KINDS):
        practice = sheet(kind, seed, notation)
        assert list(lost(practice.text, f"a{practice.suffix}")) == []


STRAY = [
    *"$|[](){}=~`*_^\\&#<>.,;:→≈'\"-+0\n\t",
    "$$",
    "0..707",
    "[[",
    "]]",
    "~~",
    "```",
    "\\left[",
    "->",
    "\\frac",
    "**",
]


def damaged(text: str, rng: random.Random) -> str:
    """A text that is cut, doubled, reversed, or sprinkled with stray signs."""
    a, b = sorted(rng.randrange(len(text)) for _ in range(2))
    ways = [text[:b], text[:b] + text[a:b] + text[b:], "\n".join(text.split("\n")[::-1]), text[:a] + text[b:]]
    text = rng.choice(ways) or "x"
    for _ in range(rng.randrange(20)):
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(STRAY) + text[at + rng.randrange(2) :]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_damaged_documents_end_in_a_sheet_or_in_one_sentence(seed: int) -> None:
    rng = random.Random(seed)
    for path in rng.sample(DOCUMENTS, 25):
        text = damaged(decode(path.read_bytes()), rng)
        sentence, made = "", None
        try:
            made = read_sheet(text, str(path))
        except QkvError as refusal:
            sentence = str(refusal)
        assert "\n" not in sentence
        lines = text.count("\n") + 1
        assert made is None or all(1 <= s.at.line <= s.end_line <= lines for s in made.statements)


def test_vectors_between_bars_without_a_rule_below_the_heads() -> None:
    page = '```\nword   | Query     | Key\n"I"    | [0.8, 1]  | [2, -0.3]\n"love" | [-0.2, 7] | [1, 0.5]\n```\n'
    found = {s.label: s.links[0].expr.shape for s in read_sheet(page, "page.md").statements}
    assert found == {"Query": (2, 2), "Key": (2, 2)}


@pytest.mark.parametrize("head, name", [(r"Embedding (\(X\))", "X"), ("キー ($K$)", "K"), ("Keys ($K_1$)", "K_1")])
def test_a_name_in_brackets_names_the_column(head: str, name: str) -> None:
    page = f"token | {head} |\n---|---|\nfoo | \\([1, 0]\\) |\nbar | $[0, 1]$ |\n"
    (statement,) = read_sheet(page, "page.md").statements
    assert [plain(link.expr) for link in statement.links] == [name, "[1, 0; 0, 1]"]


@pytest.mark.parametrize(("begin", "item", "end", "labels"), [
    (r"\begin{enumerate}", r"\item", r"\end{enumerate}", ["1.", "2."]),
    (r"\begin{enumerate}[a)]", r"\item", r"\end{enumerate}", ["a)", "b)"]),
    (r"\begin{enumerate}[label=(\roman*)]", r"\item", r"\end{enumerate}", ["(i)", "(ii)"]),
    (r"\begin{parts}", r"\part[2]", r"\end{parts}", ["(a)", "(b)"]),
    (r"\begin{itemize}", r"\item", r"\end{itemize}", ["", ""]),
])  # fmt: skip
def test_items_of_latex_lists_have_the_labels_that_are_printed(
    begin: str, item: str, end: str, labels: list[str]
) -> None:
    text = f"{begin}\n{item} Compute the scores.\n{item} Compute the weights.\n{end}\n"
    assert [question.label for question in read_sheet(text, file="exam.tex").questions] == labels


def test_the_code_around_comments_that_work_an_example_is_no_part_of_them() -> None:
    lines = ["void t() {", "    // q = [1, 2]", "    // k = [3, 4]", "    // q · k = 11", "    is(q[0]);", "}"]
    read = [[plain(link.expr) for link in s.links] for s in read_sheet("\n".join(lines), "t.txt").statements]
    assert read == [["q", "[1, 2]"], ["k", "[3, 4]"], ["q k", "11"]]
