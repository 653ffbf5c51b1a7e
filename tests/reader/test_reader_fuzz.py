"""Nothing breaks the reader: every text gives a Sheet, or one clear sentence, in time that grows with its length."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qkv.errors import QkvError
from qkv.reader import read_sheet
from qkv.reader.read import decode

# Scraps of every notation, to be put together in ways that nobody means.
SCRAPS = [
    "$", "$$", "\\[", "\\]", "\\(", "\\)", "`", "```", "```python\n", "~~", "\n", "\n\n", " ", "\t", "    ", "|", "|---|---|\n", "# ", "**",
    "> ", "- ", "1. ", "(a) ", "Exercise 2", "Step 1:", "[", "]", "[[1, 2], [3, 4]]", "(1, 2)", "{", "}", "=", "≈", "\\approx", "\\begin{bmatrix}",
    "\\end{bmatrix}", "\\begin{align}", "\\end{align}", "&", "\\\\", "\\frac{1}{2}", "\\sout{", "\\item ", "<!--", "-->", "---\n", "::: card\n", "<sub>",
    "</sub>", "1", "0.5", "-∞", "7.9×10^{-32}", "Q", "W_Q", "softmax", "np.array(", ")", "identity matrices", " are ", ", ", " and ", "Compute", "?", "计算", "é",
    "E =", "\\newcommand{\\a}", "\\a", "\\begin{document}", "\\cancel{", "%", "\u0000", "\ufeff", "\r\n",
]  # fmt: skip
FEW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check(text, file=""):
    sheet, sentence = None, ""
    try:
        sheet = read_sheet(text, file)
    except QkvError as refusal:
        sentence = str(refusal)
    assert "\n" not in sentence
    if sheet is None:
        return
    lines = sheet.text.count("\n") + 1
    for statement in sheet.statements:
        assert statement.links
        assert 1 <= statement.at.line <= statement.end_line <= lines
        assert statement.at.column >= 1
        assert 0 <= statement.part < len(sheet.parts)
    assert all(1 <= question.line <= lines for question in sheet.questions)
    assert all(part.line <= part.end_line for part in sheet.parts)


@FEW
@given(st.lists(st.sampled_from(SCRAPS), max_size=60).map("".join), st.sampled_from(["a.md", "a.tex", "a.txt"]))
def test_scraps_of_notation(text, file):
    check(text, file)


@FEW
@given(st.text(max_size=300))
def test_any_text(text):
    check(text)


@FEW
@given(st.binary(max_size=300))
def test_any_bytes(data):
    try:
        text = decode(data)
    except QkvError:
        return
    check(text)


@FEW
@given(st.text(max_size=100))
def test_any_notebook(text):
    check(text, "a.ipynb")


DOCUMENT = """# Exercise 1

Given $d_k = 2$ and

$$X = \\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}, \\quad W^Q = \\begin{pmatrix} 0 & 1 \\\\ 1 & 0 \\end{pmatrix}$$

| Q | 1 | 2 |
|---|---|---|
| a | 2 | 1 |
| b | 4 | 3 |

Scores:

[[1, 2],
 [3, 4]]

~~$K = [1, 2]$~~ Compute $QK^T$.
"""


@FEW
@given(st.integers(0, len(DOCUMENT)), st.integers(0, len(DOCUMENT)))
def test_truncated_documents(start, end):
    check(DOCUMENT[min(start, end) : max(start, end)])


@FEW
@given(st.permutations(DOCUMENT.split("\n")))
def test_shuffled_documents(lines):
    check("\n".join(lines))


@pytest.mark.parametrize(
    "unit",
    ["$$", "$a\n", "\\begin{align}\n", "x = [\n", "[[1, 2],\n", "array([", "\\sout{", "~~a", "<del>", "`a", "| a |\n", "a 1\n", "E =\n", "<!--", "What? ", "{",
     "[a](", "a are identity. ", "```\n", "<table>\n", "<tr><td>", ">>> x = 1\n", "1 2\n", "1\t2\n", "> ", "\\frac{"],
)  # fmt: skip
def test_time_grows_with_the_length(unit):
    """Eight times the text may take at most twenty times as long (sixty-four for a quadratic walk)."""

    def seconds(count):
        start = time.process_time()
        check(unit * count)
        return time.process_time() - start

    seconds(100)
    # A neighbour's work can spoil a measurement, but not three in a row.
    assert any(seconds(8000) < 20 * max(seconds(1000), 0.02) for _ in range(3))


def test_ten_thousand_nested_braces():
    check("$$" + "{" * 10_000 + "x" + "}" * 10_000 + "$$")
    check("$" + "[" * 10_000 + "$")


def test_a_grid_of_a_hundred_thousand_cells():
    row = " ".join(["1.5"] * 250)
    (statement,) = read_sheet("\n".join([row] * 400)).statements
    assert statement.links[0].expr.shape == (400, 250)
