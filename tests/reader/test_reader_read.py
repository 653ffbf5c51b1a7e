"""Documents in, statements out: one small document for each notation."""

from pathlib import Path

import pytest

from qkv.errors import LimitError, Location, ReadError
from qkv.expr.nodes import Matrix, Name, Number
from qkv.reader import read_file, read_sheet
from qkv.reader.grammar import parse_math
from qkv.reader.limits import Limits
from qkv.reader.model import Origin, Relation
from qkv.reader.read import decode

SHEETS = Path(__file__).parents[3] / "shared" / "sheets"


def short(expr):
    """A name as itself, a number as written, a matrix as its rows, anything else as its kind."""
    match expr:
        case Name():
            return str(expr.symbol)
        case Number():
            return str(expr.value)
        case Matrix():
            return "; ".join(" ".join(short(cell) for cell in row) for row in expr.rows)
    return type(expr).__name__


def told(text, file=""):
    """Each statement as one line of text, with its line number and its struck and label marks."""
    lines = []
    for statement in read_sheet(text, file).statements:
        chain = " ".join(f"{link.relation} {short(link.expr)}".strip() for link in statement.links)
        marks = ("struck " if statement.struck else "") + (f"[{statement.row_label}] " if statement.row_label else "")
        lines.append(f"{statement.at.line}: {marks}{chain}")
    return lines


@pytest.mark.parametrize(
    "text, expected",
    [
        ("$$Q = [1, 2]$$", ["1: Q = 1 2"]),
        ("\\[\nQ = \\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}\n\\]", ["2: Q = 1 2; 3 4"]),
        ("\\begin{align}\nd_k &= 2 \\\\\nd_v &= 3\n\\end{align}", ["2: d_k = 2", "3: d_v = 3"]),
        ("```math\nd_k = 2\n```", ["2: d_k = 2"]),
        ("Row 2 is $[0.7, 0.3]$, $QK^T$ is not.", ["1: 7/10 3/10"]),
        ("total $22.03$:", ["1: 2203/100"]),
        ("Sum $= 14.5$.", ["1: 29/2"]),
        ("Weights $= 0.5, 0.5$", ["1: 1/2 1/2"]),
        ("Attention of $QK^T$ to $V$ and $n$.", []),
        ("~~$K = [6, 1]$~~ $K = [4, -1]$", ["1: struck K = 6 1", "1: K = 4 -1"]),
        ("\\sout{$K = [6, 1]$} $K = [4, -1]$", ["1: struck K = 6 1", "1: K = 4 -1"]),
        ("> $$\n> Q = [1, 2]\n> $$", ["2: Q = 1 2"]),
        ("$$4 \\times 3 \\quad 3 \\times 3$$\n\n2×3", []),
        ("Q = [[1, 2],\n     [3, 4]]", ["1: Q = 1 2; 3 4"]),
        ("Q =\n[[1 2]\n [3 4]]", ["1: Q = 1 2; 3 4"]),
        ("[\n [1, 2],  # I\n [3, 4]   # am\n]", ["1: 1 2; 3 4"]),
        ("x: array([1., 2.], dtype=float32)", ["1: x = 1 2"]),
        ("$Q$ = [1, 2] and W<sub>Q</sub> = `[[1, 0]]`", ["1: Q = 1 2", "1: W_Q = 1 0"]),
        ("W_Q, W_K and $W_V$ are identity matrices.", ["1: W_Q = I", "1: W_K = I", "1: W_V = I"]),
        ("S = [[1, 0], [0, 1]] (an identity matrix)", ["1: S = 1 0; 0 1"]),
        ("其中 $W_Q$、$W_K$ 均为单位矩阵。", ["1: W_Q = I", "1: W_K = I"]),
        ("$$\\boxed{Z = [1, 2]}$$", ["1: Z = 1 2"]),
        ("It costs $5 and then $6.", []),
        ("See [the paper](http://x.org/a=1) and <http://y.org/b=2>.", []),
        ("q1 . k1 = 2 and q_1.k_2 = 3.", ["1: Product = 2", "1: Product = 3"]),
        ("**Scores** QKᵀ = [[1, 0], [0, 1]]", ["1: Product = 1 0; 0 1"]),
        ("Attention scores Q K^T / √2 = [[1, 0], [0, 1]]", ["1: Quotient = 1 0; 0 1"]),
        ("786,432 + 262,144 = 1,048,576", ["1: Sum = 1048576"]),
        (
            "$\\tilde s = [1, 2]$, $\\hat s = [1, 2]$, $\\vec s = [1, 2]$",
            ["1: s_tilde = 1 2", "1: s_hat = 1 2", "1: s = 1 2"],
        ),
        ("See K. V = 2.", ["1: V = 2"]),
        ("output = weights V = [1, 2]", ["1: output = Product = 1 2"]),
        ("the output Z = A V = [1, 2]", ["1: Z = Product = 1 2"]),
        ("Figure 1: softmax gives a = [1, 2]", []),
    ],
)
def test_notations(text, expected):
    assert told(text) == expected


@pytest.mark.parametrize(
    "cue, name",
    [
        ("Input Matrix X (3 × 4):", "X"),
        ("W_Q:", "W_Q"),
        ("Matrix K", "K"),
        ("attention weights A:", "A"),
        ("The embedding matrix $X$ is as follows:", "X"),
        ("Запросы `Q`:", "Q"),
        ("矩阵 $K$ 为：", "K"),
        ("V =", "V"),
        ("Let $V$ be", "V"),
    ],
)
def test_a_cue_names_a_bare_matrix(cue, name):
    assert told(f"{cue}\n\n[[1, 2], [3, 4]]")[0].endswith(f"{name} = 1 2; 3 4")


def test_a_name_before_a_bare_matrix_keeps_its_place():
    (statement,) = read_sheet("Now the weights $A$ (row by row):\n\n[[1, 2], [3, 4]]").statements
    assert (statement.at.line, statement.at.column) == (1, 18)


@pytest.mark.parametrize("cue", ["Softmax:", "After softmax:", "Times V:", "Multiply by `V`:", "mal V:"])
def test_other_cues_are_words_before_it(cue):
    (statement,) = read_sheet(f"{cue}\n\n[[1, 2], [3, 4]]").statements
    assert len(statement.links) == 1
    assert statement.links[0].relation is Relation.FIRST
    assert statement.before.replace(" ", "") == cue.replace(" ", "")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("\t1\t2\nE =\t3\t4", ["1: E = 1 2; 3 4"]),
        ("Q = 1 0 2\n    2 2 2", ["1: Q = 1 0 2; 2 2 2"]),
        ("Q = X W = [ 1 0 ]\n          [ 2 2 ]", ["1: Q = Product = 1 0; 2 2"]),
        ("| Q | 1 | 2 |\n|---|---|---|\n| who | 1 | 0 |\n| where | 0 | 2 |", ["1: Q = 1 0; 0 2"]),
        ("| 1 | 0 |\n|---|---|\n| 0 | 1 |", ["1: 1 0; 0 1"]),
        (
            "| row | softmax |\n|---|---|\n| 1 | `[0.2, 0.8]` |\n| 2 | `[1, 0]` — x |",
            ["3: 1/5 4/5; 1 0"],
        ),
        (
            "| token | $Q$ | K |\n|---|---|---|\n| a | [1, 0] | [2, 2] |\n| b | [0, 1] | [3, 3] |",
            ["1: Q = 1 0; 0 1", "1: K = 2 2; 3 3"],
        ),
        ("| $i$ | $k_i$ |\n|---|---|\n| 1 | (1, 0) |\n| 2 | (0, 1) |", ["3: [1] k_1 = 1 0", "4: [2] k_2 = 0 1"]),
        ("| name | value |\n|---|---|\n| $d_k$ | 2 |\n| $h$ | 8 heads |", ["3: [d_k] d_k = 2"]),
        ("| token | score | weight |\n|---|---|---|\n| a | 1 | 0.5 |\n| b | 2 | 0.5 |", ["3: 1; 2", "3: 1/2; 1/2"]),
        (
            "| | a | b |\n|---|---|---|\n| Score | 4 | 2 |\n| Halved | 2 | 1 |\n| Softmax | 0.7 | 0.3 |",
            ["3: 4 2", "4: 2 1", "5: 7/10 3/10"],
        ),
        ("| | k 1 | k 2 | total |\n|---|---|---|---|\n| q 1 | 0.4 | 0.6 | 1.0 |", ["3: 2/5 3/5", "3: 1"]),
        (
            "| doc | $K$ | weight | id |\n|---|---|---|---|\n| a | [1, 0] | 0.5 | 7 |\n| b | [0, 1] | 0.5 | 8 |",
            ["1: K = 1 0; 0 1", "3: 1/2; 1/2"],
        ),
        ("| weight | a | b |\n|---|---|---|\n| x | 50 % | 50% |", ["3: 1/2 1/2"]),
        (
            "| pair | working | score |\n|---|---|---|\n| $q_1 k_1$ | 1·2 + 0·1 | 2 |",
            ["3: [q_1 k_1] Product = Sum = 2"],
        ),
        (
            "<p>Queries <b>Q</b>:</p>\n<table>\n <tr><td>1</td><td>0</td></tr>\n <tr><td>2</td>\n<td><b>3</b></td></tr></table>",
            ["1: Q = 1 0; 2 3"],
        ),
        ("<table><tr><th>Q</th><th>a</th></tr><tr><td>x</td><td>1</td></tr></table>", ["1: Q = 1"]),
        ("s = [ 0.4 ]\n    [ 1.1 ]\n    [ -2 ]", ["1: s = 2/5; 11/10; -2"]),
        ("E = | 1 | 2 |\n    | 3 | 4 |", ["1: E = 1 2; 3 4"]),
    ],
)
def test_tables_and_grids(text, expected):
    assert told(text) == expected


@pytest.mark.parametrize(
    "code, expected",
    [
        ("X = np.array([[1, 2], [3, -4.5]])", ["2: X = 1 2; 3 -9/2"]),
        ("Q = torch.tensor([[1, 2]]).float()", ["2: Q = 1 2"]),
        ("I2 = np.eye(2)", ["2: I_2 = 1 0; 0 1"]),
        ("S = Q @ K.T / np.sqrt(d_k)", ["2: S = Quotient"]),
        ("A = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)", ["2: A = Softmax"]),
        ("Q, K = X @ Wq, X @ Wk", ["2: Q = Product", "2: K = Product"]),
        ("Q = K = V = X", ["2: Q = K = V = X"]),
        ("x = open('f').read()\nimport os", []),
        (
            ">>> X = np.array([[1, 2],\n...               [3, 4]])\n>>> Q = X @ W\n>>> Q.round(2)\narray([[1., 2.],\n       [3., 4.]])\n>>> print(d_k)\n2",
            ["2: X = 1 2; 3 4", "4: Q = Product", "5: Q = Product = 1 2; 3 4", "8: d_k = 2"],
        ),
        ("M = np.array([[0, -np.inf], [float('-inf'), 0]])", ["2: M = 0 Infinite; Infinite 0"]),
        ("In [1]: Q = X\n\nIn [2]: Q\nOut[2]: array([1., 2.])", ["2: Q = X", "4: Q = X = 1 2"]),
        ("this is no python = (\nX = [[1, 2]]", ["3: X = 1 2"]),
    ],
)
def test_python_is_read_and_never_run(code, expected):
    assert told(f"```python\n{code}\n```") == expected


@pytest.mark.parametrize(
    "text", ["$$Q = \\begin{bmatrix} 1 & NaN \\end{bmatrix}$$", "```python\nQ = np.array([1, np.nan])\n```"]
)
def test_what_is_no_number_is_said(text):
    (unread,) = read_sheet(text).unread
    assert unread.reason == "NaN is no number"


def test_softmax_axes_in_python():
    text = "```python\nA = softmax(S, dim=0)\nB = torch.softmax(S, dim=-1)\n```"
    assert [s.links[1].expr.axis for s in read_sheet(text).statements] == [0, 1]


def test_words_around_a_statement():
    text = "# T\n\nFirst words. Row 1 of $Y$: $[1, 2]$, as said.\n\nThen $d_k = 2$ and $h = 3$ hold."
    first, second, third = read_sheet(text).statements
    assert (first.before, first.label, first.after) == ("First words. Row 1 of $Y$:", "Row 1 of Y", "as said")
    assert (second.before, second.after) == ("as said Then", "and")
    assert (third.before, third.after) == ("and", "hold")


def test_a_chain_that_goes_on_in_the_next_display():
    first, second = read_sheet("$$S = QK^T$$\n\n$$= [1, 2]$$").statements
    assert (first.continues, second.continues) == (False, True)


def test_a_relation_after_a_word_goes_on_from_the_word():
    _, second = read_sheet("$e^0 = 1$. Sum $= 3$").statements
    assert (second.continues, second.label) == (False, "Sum")


def test_an_x_before_the_next_matrix_is_a_times_sign():
    first, second = read_sheet("$$Z = [[1, 2]] X$$\n\n$$[[3], [4]]$$").statements
    assert (short(first.links[1].expr), first.links[1].note) == ("1 2", "ends with ×")
    assert short(second.links[0].expr) == "3; 4"
    other, _ = read_sheet("$$Z = [[1, 2]] X$$\n\nThen $$[[3], [4]]$$").statements
    assert other.links[1].note == ""


def test_parts_and_their_levels():
    text = "Preface\n\n## Exercise 1\n\ntext\n\n### Solution\n\ntext\n\n**Exercise 2**\n\n**Solution**\n\n$a = 1$"
    sheet = read_sheet(text)
    assert [(part.title, part.line, part.end_line, part.level) for part in sheet.parts] == [
        ("", 1, 2, 1),
        ("Exercise 1", 3, 6, 2),
        ("Solution", 7, 10, 3),
        ("Exercise 2", 11, 12, 2),
        ("Solution", 13, 15, 5),
    ]
    assert sheet.statements[0].part == 4


def test_a_problem_number_opens_a_part_inside_of_a_paragraph():
    sheet = read_sheet("**Problem 1 (2 points).** Let $a = 1$.\n\n**Problem 2.** Let $a = 2$.")
    assert [part.title for part in sheet.parts] == ["Problem 1", "Problem 2"]
    assert [statement.part for statement in sheet.statements] == [0, 1]


def test_mathematics_in_a_heading():
    assert told("### N1. Three tokens, $d_k = 2$") == ["1: d_k = 2"]


@pytest.mark.parametrize(
    "text, asked",
    [
        ("Let x be. Compute Q and K. We computed V.", ["Compute Q and K."]),
        ("- (a) Find $Q$\n- (b) What is $d$? Why?", ["(a) Find $Q$", "(b) What is $d$?", "Why?"]),
        ("For each head, compute the output:", ["For each head, compute the output:"]),
        ("Berechnen Sie die Ausgabe.", ["Berechnen Sie die Ausgabe."]),
        ("计算输出。", ["计算输出。"]),
        ("Найдите веса.", ["Найдите веса."]),
        ("First we compute the dot products.", []),
        ("What follows is easy.", []),
        ("Would you like me to show it with a causal mask?", []),
    ],
)
def test_questions(text, asked):
    assert [question.text for question in read_sheet(text).questions] == asked


def test_labels_of_questions_with_several_numbers():
    sheet = read_sheet("4.2.1 Compute Q.\n\n4.2.2 Compute K.\n4.2.10) Compute V.")
    assert [question.label for question in sheet.questions] == ["4.2.1", "4.2.2", "4.2.10)"]


def test_places_are_those_of_the_file():
    (statement,) = read_sheet("<!-- c -->\n\n> - so $Q = [1, 2]$").statements
    assert (statement.at.line, statement.at.column) == (3, 9)
    matrix = statement.links[1].expr
    assert (matrix.rows[0][0].at.line, matrix.rows[0][0].at.column) == (3, 14)


def test_latex_documents():
    text = (
        "\\documentclass{article} % x = 1\n\\newcommand{\\m}[1]{\\mathbf{#1}}\n\\begin{document}\n\\section{A}\n"
        "% $z = 1$\n\\begin{itemize}\\item $\\m{Q} = [1, 2]$\\end{itemize}\n\\end{document}"
    )
    assert told(text, "a.tex") == ["6: Q = 1 2"]
    assert [part.title for part in read_sheet(text, "a.tex").parts] == ["A"]


def test_a_macro_that_grows_without_end_is_refused():
    bomb = "\\newcommand{\\a}{\\b\\b}\\newcommand{\\b}{\\a\\a}\\begin{document}$\\a$"
    with pytest.raises(LimitError, match="macro"):
        read_sheet(bomb)


def test_notebooks_keep_the_lines_of_the_file():
    text = '{\n "cells": [\n  {\n   "cell_type": "code",\n   "source": [\n    "x = [1, 2]\\n",\n    "y = [3]"\n   ]\n  }\n ]\n}'
    assert told(text, "a.ipynb") == ["6: x = 1 2", "7: y = 3"]


def test_a_source_of_one_line_needs_no_list():
    markdown = '{\n   "cell_type": "markdown",\n   "source": "# Scores"\n  }'
    code = '{\n   "cell_type": "code",\n   "source": [\n    "x = [1, 2]"\n   ]\n  }'
    assert told(f'{{\n "cells": [\n  {markdown},\n  {code}\n ]\n}}', "a.ipynb") == ["10: x = 1 2"]


def test_a_notebook_on_one_line():
    assert told('{"cells": [{"cell_type": "markdown", "source": "$q = [1, 2]$"}]}', "a.ipynb") == ["1: q = 1 2"]


def test_a_broken_notebook_is_refused_in_one_sentence():
    with pytest.raises(ReadError, match="notebook is not valid"):
        read_sheet("{", "a.ipynb")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "a.md"
    path.write_bytes("Übung\r\n\r\n$Q = [1, 2]$\r\n".encode(encoding))
    sheet = read_file(path)
    assert (sheet.text.split("\n")[0], sheet.statements[0].at.line) == ("Übung", 3)


def test_a_binary_file_is_refused():
    with pytest.raises(ReadError, match="not text"):
        decode(b"\x7fELF\x00\x01", "a.out")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ReadError, match=r"cannot be read"):
        read_file(tmp_path / "none.md")


def test_limits_can_be_lowered_and_raised():
    text = "1 2 3\n4 5 6"
    with pytest.raises(LimitError, match="limit is 5"):
        read_sheet(text, limits=Limits(characters=5))
    assert "limit of 4" in read_sheet(text, limits=Limits(cells=4)).unread[0].reason
    assert len(read_sheet(text).statements) == 1


@pytest.mark.skipif(not SHEETS.is_dir(), reason="the shared sheets are not here")
def test_every_shared_sheet_is_read_whole():
    for path in sorted(SHEETS.rglob("*.md")):
        sheet = read_file(path)
        assert sheet.statements
        assert all(statement.origin in Origin for statement in sheet.statements)
        displays = sum(1 for line in sheet.text.split("\n") if line.strip().startswith("$$") and len(line.strip()) > 2)
        assert len(sheet.statements) >= displays * 0.8


def test_thousands_are_no_decimals_and_may_end_a_sentence():
    assert told("A length of n = 16,384. Then m = 3,512.") == ["1: n = 16384", "1: m = 3512"]
    assert told("$n = 16,384.$ Then $m = 3,072 / 64 = 48$.") == ["1: n = 16384", "1: m = Quotient = 48"]
    assert told("- total: 4 × 2,656 = **10,624 parameters**") == ["1: Product = 10624"]
    assert told("$3 × (1,600 × 6,400) = 30,720,000$ and $(1,200)$") == ["1: Product = 30720000", "1: 1 200"]


def test_one_sure_decimal_comma_decides_for_the_document():
    text = "$a = 0{,}5$, $b = 2{,}421$, $c = (1,2)$\n\n| x | y |\n|---|---|\n| 1{,}250 | 2 |\n| 1 | 2 |"
    assert told(text) == ["1: a = 1/2", "1: b = 2421/1000", "1: c = 1 2", "5: 5/4 2; 1 2"]
    assert told("$a \\approx 1,41$, die Summe ist $5,340$.") == ["1: a ≈ 141/100", "1: 267/50"]
    assert told("$n = 1{,}024$ and $p = 1{,}048{,}576$") == ["1: n = 1024", "1: p = 1048576"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Q = 0,5 1,5\n    2,0 0,25", ["1: Q = 1/2 3/2; 2 1/4"]),
        ("Z = [ 0,5 1,5 ]\n    [ 2,0 0,25 ]", ["1: Z = 1/2 3/2; 2 1/4"]),
        ("[1,2]\n[3,4]", ["1: 1 2; 3 4"]),
        ("A = [[0,25; 1,5]; [2,0; 0,5]]\n\ns = [[0,5]; [0,1]]", ["1: A = 1/4 3/2; 2 1/2", "3: s = 1/2; 1/10"]),
        ("| n | m |\n|---|---|\n| 1,024 | 1,048,576 |\n| 2 | 1,5 |", ["3: 1024 1048576; 2 3/2"]),
    ],
)
def test_commas_in_grids(text, expected):
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n = 32 768", "32768"),
        ("A = [50/3 128/9; 1 2]", "Quotient Quotient; 1 2"),
        ("N = 1 073 741 824 Paare", "1073741824"),
        ("w = [100 200 300]", "100 200 300"),
        ("w = 1 2 300", "1 2 300"),
        ("w = [20 -36 116; 7 177 151; 3 4 5]", "20 -36 116; 7 177 151; 3 4 5"),
    ],
)
def test_groups_of_three_digits_outside_of_brackets_are_one_number(text, value):
    chain = parse_math(text, Location(1), strict=False).chains[0]
    assert short(chain.links[1].expr) == value


def test_a_string_alone_in_code_shows_nothing():
    """A program may end in a text of its own, with a comment behind it."""
    sheet = read_sheet('```python\nx = [1, 2]\n"only words"  # [1, 2]\nf"{x} and {x}"  # [3]\n```\n')
    assert len(sheet.parts) == 1
