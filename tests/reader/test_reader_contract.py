"""The contract of the reader, one row a notation: text in, statements out."""

from __future__ import annotations

import pytest

from qkv.expr.nodes import Call, Entry, Matrix, Power
from qkv.expr.show import plain
from qkv.reader import read_sheet
from qkv.reader.model import Relation


def told(text: str) -> list[str]:
    """Each statement as 'label | chain'; continuing ones begin with their relation."""
    lines = []
    for statement in read_sheet(text).statements:
        chain = " ".join(f"{link.relation} {plain(link.expr)}".strip() for link in statement.links)
        lines.append(f"{statement.label} | {chain}" if statement.label else chain)
    return lines


NAMES_FIRST = [
    ("q = [1, 2]\nK = [[1, 0], [0, 1]]\ns = qK^T = [1, 2]", "s = q K^T = [1, 2]"),
    ("a = [1, 2]\nV = [[1], [2]]\no = aV = 5", "o = a V = 5"),
    ("PE(0) = [0, 1]\nX = E + PE(0) = [1, 2]", "X = E + PE_0 = [1, 2]"),
    ("FFN(x) = max(0, x W_1) W_2", "FFN(x) = relu(x W_1) W_2"),
    ("love = [0, 2, 0]\ncats = [1, 1, 1]\nlove + cats = [1, 3, 1]", "love + cats = [1, 3, 1]"),
    ("dO = [[1, 1]]\nV = [[1, 2]]\ndA = dO V^T = [[3]]", "dA = dO V^T = [3]"),
    ("Attention(Q, K, V) = softmax(Q × Kᵀ / √d_k) × V", "Attention(Q, K, V) = softmax(Q K^T / √d_k) V"),
    ("I = [1, 0]\nam = [0, 1]\nI·am = 0", "I am = 0"),
    ("Σκορ = [1, 2]\nb = Σκορ + 1", "b = Σκορ + 1"),
    ("output = weights V = [1, 2]", "output = weights V = [1, 2]"),
    ("L = LayerNorm(R) = [1, -1]", "L = LayerNorm(R) = [1, -1]"),
]


@pytest.mark.parametrize(("text", "last"), NAMES_FIRST)
def test_the_table_of_names_comes_first(text: str, last: str) -> None:
    assert told(text)[-1] == last


LABELS = [
    ("mean of row 1 = 4.0075, variance = 3.597", ["mean of row 1 | 4.0075", "variance = 3.597"]),
    ("The score between token 3 and token 1 = 2.", ["The score between token 3 and token 1 | 2"]),
    ("Score 1 = 4", ["Score 1 | 4"]),
    ("Row 3 sum = 0.5 + 0.4 = 0.9 ≈ 1.", ["Row 3 sum | 0.5 + 0.4 = 0.9 ≈ 1"]),
    ("Token 2's attention on token 1 = 0.401", ["Token 2's attention on token 1 | 0.401"]),
    ("Number of heads = 1, d_k = 2", ["Number of heads | 1", "d_k = 2"]),
    ("Scaled: 0.707, 0.707, 1.414", ["Scaled | [0.707, 0.707, 1.414]"]),
    ("divide by sqrt(2): 4.243, 2.828, 5.657", ["divide by sqrt(2) | [4.243, 2.828, 5.657]"]),
    ("Attention weights: [0.3, 0.7]", ["Attention weights | [0.3, 0.7]"]),
    ('The decoder query for "I" is q = [1, 0, 1].', ['The decoder query for "I" is | q = [1, 0, 1]']),
    ("Decoder state s = [1, 2]. Encoder states h1 = [1, 0], h2 = [0, 1].", ["Decoder state | s = [1, 2]", "Encoder states | h_1 = [1, 0]", "h_2 = [0, 1]"]),
    ("and the values\n\n- Ich: [1, 0]\n- liebe: [0, 1]", ["Ich | [1, 0]", "liebe | [0, 1]"]),
    ("please → [1, 0]\nstudy  → [0, 2]", ["please | [1, 0]", "study | [0, 2]"]),
    ("mean 2.443 and 2.225; variance 1.278 and 5.885.", ["mean | [2.443, 2.225]", "variance | [1.278, 5.885]"]),
    ("Sum of the weights after masking: 0.665", ["Sum of the weights after masking | 0.665"]),
    ("About 78%.", ["About | 78%"]),
    ("Q1. Then a·b = 3 + 8 = 12.", ["a b = 3 + 8 = 12"]),
    ("so z1 = v1 = (1, 2)", ["z_1 = v_1 = [1, 2]"]),
    ("Two tokens, 3 heads and d_model = 6, 2 layers", ["Two tokens, 3 heads and | d_model = 6"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LABELS)
def test_words_before_a_value_are_its_label(text: str, expected: list[str]) -> None:
    assert told(text) == expected


ARROWS = [
    ("q2.k2 = 1 -> scaled 0.707, 0.707 -> weights 0.5, 0.5", ["q_2 k_2 = 1", "scaled | → [0.707, 0.707]", "weights | → [0.5, 0.5]"]),
    ("exp(-4.399) = 0.0123 → 0.0095", ["e^(-4.399) = 0.0123", "→ 0.0095"]),
    ("[0, 2] → actually [0×1, 2×1] = [0, 2]", ["[0, 2]", "actually | → [0 · 1, 2 · 1] = [0, 2]"]),
    ("$$8 \\cdot 14 - 11 \\Rightarrow 71$$", ["8 · 14 - 11", "⇒ 71"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ARROWS)
def test_an_arrow_says_next_and_not_equals(text: str, expected: list[str]) -> None:
    assert told(text) == expected
    assert read_sheet(text).statements[-1].continues


ARRAYS = [
    ("A = np.array([[1, 2], [3, 4]])", ["A = [1, 2; 3, 4]"]),
    ("x is tensor([1., 2.]) here", ["x = [1., 2.]"]),
    ("A = [1 0; 0.5 0.5]", ["A = [1, 0; 0.5, 0.5]"]),
    ("[1 2; 3 4]", ["[1, 2; 3, 4]"]),
    ("Q = [ 1 0 ]    K = [ 1 1 ]\n    [ 0 1 ]        [ 2 0 ]", ["Q = [1, 0; 0, 1]", "K = [1, 1; 2, 0]"]),
    ("Wq = [[1, 0],   Wk = [[1, 1],\n      [0, 1]]         [0, 1]]", ["W_q = [1, 0; 0, 1]", "W_k = [1, 1; 0, 1]"]),
    ("    ⎡1 0⎤       ⎡1 1⎤\nQ = ⎢0 1⎥   K = ⎢0 1⎥\n    ⎣1 1⎦       ⎣2 0⎦", ["Q = [1, 0; 0, 1; 1, 1]", "K = [1, 1; 0, 1; 2, 0]"]),
    ("[2, 0]   [1, 0]   [2, 0]\n[0, 1] x [2, 1] = [2, 1]", ["[2, 0; 0, 1] [1, 0; 2, 1] = [2, 0; 2, 1]"]),
    ("  [0.5, 1.0]\n+ [1.5, -2]\n------------\n= [2.0, -1]", ["[0.5, 1.0] + [1.5, -2] = [2.0, -1]"]),
    ("W_Q          W_K\n0.1 0.2      0.5 0.6\n0.3 0.4      0.7 0.8", ["W_Q = [0.1, 0.2; 0.3, 0.4]", "W_K = [0.5, 0.6; 0.7, 0.8]"]),
    ("x_I = [1, 0, 1], x_love = [0, 2, 0]", ["x_I = [1, 0, 1]", "x_love = [0, 2, 0]"]),
    ("o = 0.299·[1, 0] + 0.168·[0, 1] = [0.299, 0.168]", ["o = 0.299 [1, 0] + 0.168 [0, 1] = [0.299, 0.168]"]),
    ("$a_1 = (0)(1) + (1)(1) = 1$", ["a_1 = 0 · 1 + 1 · 1 = 1"]),
    ("4.113/8.169 = 0.503", ["4.113 / 8.169 = 0.503"]),
    ("X = [ 1.0+0.5, 2 ]\n    [ 0.2+0.8, 1 ]\n  = [ 1.5, 2 ] ← a\n    [ 1.0, 1 ] ← b", ["X = [1.0 + 0.5, 2; 0.2 + 0.8, 1] = [1.5, 2; 1.0, 1]"]),
    ("Q:\n\n  1  0\n  0  1", ["Q = [1, 0; 0, 1]"]),
    ("Q·Kᵀ/√2\n\n| | k1 | k2 |\n|---|---|---|\n| q1 | 0.7 | 0 |\n| q2 | 1.4 | 0.7 |", ["Q K^T / √2 = [0.7, 0; 1.4, 0.7]"]),
    ("Block input X = embedding + position\n\n```\n      d0   d1\nthe  0.1  0.2\ncat  0.3  0.4\n```", ["Block input | X = embedding + position = [0.1, 0.2; 0.3, 0.4]"]),
    ("Residual 1 (X + attention):\n\n  0.1  0.2\n  0.3  0.4", ["X + attention = [0.1, 0.2; 0.3, 0.4]"]),
    ("| token | key | value |\n|---|---|---|\n| the | [1, 0] | [0, 0] |\n| cat | [3, 1] | [4, 1] |", ["key | [1, 0; 3, 1]", "value | [0, 0; 4, 1]"]),
    ("| weight | a | b |\n|---|---|---|\n| x | 66.5 % | 33.5 % |", ["weight | [66.5%, 33.5%]"]),
    ("|  | a | b |\n|---|---|---|\n| x | 1/3 | 2/3 |", ["[1/3, 2/3]"]),
    ("||q3|| = sqrt(1+1) = 1.414", ["|q_3| = √(1 + 1) = 1.414"]),
    ("H = -(0.1 ln 0.1 + 0.9 ln 0.9) = 0.325", ["H = -(0.1 ln(0.1) + 0.9 ln(0.9)) = 0.325"]),
    ("softmax(S):\n\n  0.6  0.4\n  0.1  0.9", ["softmax(S) = [0.6, 0.4; 0.1, 0.9]"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ARRAYS)
def test_whatever_looks_like_an_array_becomes_one(text: str, expected: list[str]) -> None:
    assert told(text) == expected


def test_labels_of_rows_and_columns_and_captions_are_kept() -> None:
    text = "Scores so far:\n\n| q·k | the | cat |\n|---|---|---|\n| **a** | 1 | 0 |\n| **b** | 0 | 1 |"
    (statement,) = read_sheet(text).statements
    assert (statement.row_labels, statement.column_labels) == (("a", "b"), ("the", "cat"))
    assert statement.caption == "Scores so far:"


ALTERNATIVES = [
    ("c = b^2", Power, "b_2"),
    ("y = f(3)", Call, "f 3"),
    ("X[2] = [1, 0]", Entry, "X[3]"),
    ("K' = [1, 0]\nS = Q K'", None, None),
]


@pytest.mark.parametrize(("text", "kind", "other"), ALTERNATIVES)
def test_what_is_ambiguous_keeps_its_other_readings(text: str, kind: type | None, other: str | None) -> None:
    links = [link for statement in read_sheet(text).statements for link in statement.links]
    found = [(type(link.expr), plain(link.alternatives[0])) for link in links if link.alternatives]
    if kind is None:
        assert found == []  # the page defines K'
    else:
        assert (kind, other) in found


@pytest.mark.parametrize(("text", "usual", "other"), [("p = 0,5", "0.5", "[0, 5]")])
def test_one_comma_may_part_or_point(text: str, usual: str, other: str) -> None:
    (statement,) = read_sheet(text).statements
    assert (plain(statement.links[1].expr), *map(plain, statement.links[1].alternatives)) == (usual, other)
    assert read_sheet(f"{text} and q = 1.5").statements[0].links[1].alternatives == ()


@pytest.mark.parametrize(
    "text", ["X = [ 1.5, 2 ] ← The\n    [ 1.0, 1 ] ← cat", "X = [\n [1.5, 2],  # The\n [1.0, 1]   # cat\n]"]
)
def test_remarks_behind_rows_are_their_labels(text: str) -> None:
    (statement,) = read_sheet(text).statements
    assert statement.row_labels == ("The", "cat")


def test_a_prime_may_transpose() -> None:
    (statement,) = read_sheet("S = Q K' / 2").statements
    assert plain(statement.links[1].alternatives[0]) == "Q K^T / 2"


def test_a_list_does_not_say_row_or_column() -> None:
    (statement,) = read_sheet("q = [1 2 3]").statements
    assert isinstance(statement.links[1].expr, Matrix)
    assert statement.links[1].expr.loose


def test_sizes_in_the_margin_are_shapes() -> None:
    (statement,) = read_sheet(r"$$Q = \begin{bmatrix} 1 & 2 \end{bmatrix}_{(1 \times 2)}$$").statements
    assert statement.links[1].shapes == ((1, 2),)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("a) Compute Q.\nb) Find K.", ["a)", "b)"]),
        ("(a) Compute Q. (b) What is K?", ["(a)", "(b)"]),
        ("2.3 Berechne die Ausgabe.", ["2.3"]),
        ("1. Give the score.\n2. Normalise the scores.", ["1.", "2."]),
    ],
)
def test_questions_keep_their_labels(text: str, labels: list[str]) -> None:
    assert [question.label for question in read_sheet(text).questions] == labels


def test_an_ellipsis_leaves_a_matrix_unread() -> None:
    sheet = read_sheet(r"$$A = \begin{bmatrix} 1 & \cdots & 2 \end{bmatrix}$$")
    assert sheet.statements == ()
    assert "…" in sheet.unread[0].reason


def test_two_points_in_a_number_break_nothing() -> None:
    read_sheet("A = [0..707, 1]")
    read_sheet("$A = 11{,}05.5$ and 1,2.3.4")
    read_sheet("| a | b |\n|---|---|\n| 0..707 | 1.2.3 |")


def test_arrow_relation_is_kept() -> None:
    statements = read_sheet("$[1, 2] \\to [3, 4]$").statements
    assert [statement.links[0].relation for statement in statements] == [Relation.FIRST, Relation.ARROW]
