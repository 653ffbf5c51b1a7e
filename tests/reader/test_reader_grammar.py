"""Notation → expression trees, chains, and what is left unread."""

from __future__ import annotations

import re
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.errors import Location
from qkv.expr.names import Symbol
from qkv.expr.nodes import (
    Absolute,
    Call,
    Concat,
    Entry,
    Exp,
    Expr,
    Infinite,
    Matrix,
    Name,
    Negate,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Series,
    Softmax,
    Sum,
    Transpose,
    matrix,
    number,
    walk,
)
from qkv.expr.show import plain
from qkv.reader.chain import Chain
from qkv.reader.grammar import parse_math
from qkv.reader.model import Relation

SHEETS = Path(__file__).resolve().parents[3] / "shared" / "sheets"


def name(base: str, *indices: str, labels: tuple[str, ...] = ()) -> Name:
    return Name(Symbol(base, labels, indices))


Q, K, V, X, A, Z0, Z1 = name("Q"), name("K"), name("V"), name("X"), name("A"), name("Z", "0"), name("Z", "1")
W_Q, W_O, D_K = name("W", labels=("Q",)), name("W", labels=("O",)), name("d", labels=("k",))
KT = Transpose(K)
E2, E4 = Exp(number(2)), Exp(number(4))
SCALED = Quotient(Product(Q, KT), Root(D_K))
FOUR = matrix([[1, 2], [3, 4]])


def chains(source: str) -> tuple[Chain, ...]:
    parsed = parse_math(source, Location(1))
    assert parsed.unread == ()
    return parsed.chains


def only(source: str) -> Expr:
    (chain,) = chains(source)
    (link,) = chain.links
    return link.expr


NUMBERS = [
    (r"7.9\times10^{-32}", Number(Fraction("7.9e-32"), 33)),
    ("6.90 × 10⁻¹³", Number(Fraction("6.90e-13"), 15)),
    (r"4.85 \times 10^8", number("4.85e8")),
    (r"5 \cdot 10^{-3}", number("5e-3")),
    ("1.2e-83", number("1.2e-83")),
    ("3.", number(3)),
    ("-0.5", number("-0.5")),
    ("−0.5", number("-0.5")),
    (r"78\%", number("0.78")),
    (r"1{,}048{,}576", number(1048576)),
    ("1,048,576", number(1048576)),
    (r"0{,}5", number("0.5")),
    (r"-\infty", Infinite(-1)),
    ("∞", Infinite(1)),
    (r"2 \cdot 1", Product(number(2), number(1))),
    (r"2\,1", Product(number(2), number(1))),
    ("4/1.732", Quotient(number(4), number("1.732"))),
    (r"\frac12", Quotient(number(1), number(2))),
    (r"1 \over 2", Quotient(number(1), number(2))),
]

MATRICES = [
    *((rf"\begin{{{e}}} 1 & 2 \\ 3 & 4 \end{{{e}}}", FOUR) for e in ("bmatrix", "pmatrix", "matrix", "vmatrix", "Bmatrix", "smallmatrix")),
    (r"\left[\begin{array}{c|c} 1 & 2 \\ \hline 3 & 4 \end{array}\right]", FOUR),
    (r"\left(\begin{matrix} 1 & 2 \\[2pt] 3 & 4 \\ \end{matrix}\right)", FOUR),
    (r"\begin{bmatrix} 1 & 2 \cr 3 & 4 \end{bmatrix}", FOUR),
    (r"\begin{bmatrix} 1, 2 \\ 3, 4 \end{bmatrix}", FOUR),
    (r"\begin{bmatrix} 1 2 \\ 3 4 \end{bmatrix}", FOUR),
    ("[[1,2],[3,4]]", FOUR),
    ("[\n [1, 2],  # one\n [3, 4],\n]", FOUR),
    ("[[1. 2.] [3. 4.]]", FOUR),
    ("[[1 2]\n [3 4]]", FOUR),
    ("[1 2; 3 4]", FOUR),
    ("[1, 2; 3, 4]", FOUR),
    ("array([[1., 2.],\n       [3., 4.]], dtype=float128)", FOUR),
    ("np.array([[1, 2], [3, 4]])", FOUR),
    ("torch.tensor([[1, 2], [3, 4]]).float()", FOUR),
    (r"\begin{bmatrix} [1, 2] \\ [3, 4] \end{bmatrix}", FOUR),
    ("[1, 0, 1]", matrix([1, 0, 1])),
    (r"\left[ 1, 0, 1 \right]", matrix([1, 0, 1])),
    ("[-1 0 -0.5]", matrix([-1, 0, "-0.5"])),
    ("(0.3, 0.7)", matrix(["0.3", "0.7"])),
    ("[1; 2; 3]", matrix([[1], [2], [3]])),
    ("[[1; 2]; [3; 4]]", FOUR),
    ("[1/2 3]", matrix([Quotient(number(1), number(2)), 3])),
    ("[0,5; 0,25]", matrix(["0.5", "0.25"])),
    (r"\begin{pmatrix} 0,5 & 1 \\ 2 & 0,25 \end{pmatrix}", matrix([["0.5", 1], [2, "0.25"]])),
    (r"(1, 2, 3)^\top", Transpose(matrix([1, 2, 3]))),
    ("[101211]", matrix([101211])),
    (r"\begin{bmatrix} 0 & -\infty \\ 0 & 0 \end{bmatrix}", matrix([[0, Infinite(-1)], [0, 0]])),
    (r"\begin{bmatrix} 2.9 \times 10^{-89} & 1 \end{bmatrix}", matrix([["2.9e-89", 1]])),
    (r"\begin{bmatrix} 1\times2 + 2\times4 & e^{2} \end{bmatrix}", matrix([[Sum((Product(number(1), number(2)), Product(number(2), number(4)))), E2]])),
    (r"\begin{bmatrix} (0.5*1+2) & 4/2 \end{bmatrix}", matrix([[Sum((Product(number("0.5"), number(1)), number(2))), Quotient(number(4), number(2))]])),
    (r"[\frac{e^2}{e^2+e^4}, \frac{e^4}{e^2+e^4}]", matrix([Quotient(E2, Sum((E2, E4))), Quotient(E4, Sum((E2, E4)))])),
    (r"\begin{pmatrix} \text{softmax}([1, 2]) \\ \text{softmax}([3, 4]) \end{pmatrix}", Concat((Softmax(matrix([1, 2])), Softmax(matrix([3, 4]))), 0)),
    (r"\begin{bmatrix} -\mathbf{x}_1^T - \\ -\mathbf{x}_2^T - \end{bmatrix}", Concat((Transpose(name("x", "1")), Transpose(name("x", "2"))), 0)),
    (r"\begin{bmatrix} 9 & 6 & 9 \\ 1 \end{bmatrix}", Matrix(((number(9), number(6), number(9)), (number(1),)))),
    ("[Z_0; Z_1]", Concat((Z0, Z1))),
    (r"[Z_0 \mid Z_1]", Concat((Z0, Z1))),
    ("[Z_0 | Z_1]", Concat((Z0, Z1))),
    (r"\text{Concat}(Z_0, Z_1)", Concat((Z0, Z1))),
    (r"[Z_0\;Z_1]", Concat((Z0, Z1))),
    (r"\begin{bmatrix} \text{---} & x_1^T & \text{---} \\ \text{---} & x_2^T & \text{---} \end{bmatrix}", Concat((Transpose(name("x", "1")), Transpose(name("x", "2"))), 0)),
    (r"\left[ a_1 \quad a_2 \right]", matrix([name("a", "1"), name("a", "2")])),
]  # fmt: skip

EXPRESSIONS = [
    ("QK^T", Product(Q, KT)),
    (r"Q \times K^T", Product(Q, KT)),
    (r"Q \cdot K^\top", Product(Q, KT)),
    ("Q @ K.T", Product(Q, KT)),
    (r"\mathbf{QK}^T", Product(Q, KT)),
    (r"\frac{QK^T}{\sqrt{d_k}}", SCALED),
    ("QKᵀ/√dₖ", SCALED),
    ("QK^T / sqrt(d_k)", SCALED),
    (r"QK^T \div \sqrt{d_k}", SCALED),
    *((f"{f}(Q)", Softmax(Q)) for f in (r"\text{softmax}", r"\mathrm{Softmax}", r"\operatorname{softmax}", "softmax", "SoftMax", r"\text{soft max}", r"softmax_{row}")),
    (r"\text{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V", Product(Softmax(SCALED), V)),
    (r"\operatorname{softmax}_{\text{col}}(Q)", Softmax(Q, 0)),
    ("softmax(Q, dim=0)", Softmax(Q, 0)),
    ("softmax(1.5, 2.5)", Softmax(matrix(["1.5", "2.5"]))),
    (r"softmax\begin{bmatrix} 1 & 2 \end{bmatrix}", Softmax(matrix([[1, 2]]))),
    (r"\tanh \begin{bmatrix} 1 \\ 2 \end{bmatrix}", Call("tanh", (matrix([[1], [2]]),))),
    (r"\exp(2.31)", Exp(number("2.31"))),
    ("e^2.31", Exp(number("2.31"))),
    ("0.5[2,1]", Product(number("0.5"), matrix([2, 1]))),
    (r"0.5\,[2, 1]", Product(number("0.5"), matrix([2, 1]))),
    ("(1)(1)+(2)(0)", Sum((Product(number(1), number(1)), Product(number(2), number(0))))),
    ("2 + 1 - 4", Sum((number(2), number(1), Negate(number(4))))),
    (r"(-0.006) \times (-0.025)", Product(number("-0.006"), number("-0.025"))),
    (r"\sqrt{d_k=2}", Root(number(2))),
    (r"\sqrt[3]{8}", Power(number(8), Quotient(number(1), number(3)))),
    (r"|x - y|", Absolute(Sum((name("x"), Negate(name("y")))))),
    (r"\sum_{j=1}^3 a_{3,j} v_j", Series("j", number(1), number(3), Product(name("a", "3", "j"), name("v", "j")))),
    (r"\sum_j a_j", Series("j", None, None, name("a", "j"))),
    (r"\sum \vert \delta_i \vert", Series("", None, None, Absolute(name("delta", "i")))),
    (r"\text{attention}(Q, K, V)", Call("attention", (Q, K, V))),
    (r"\mathbb{E}[X]", Call("E", (X,))),
    (r"\text{Var}\left(X\right)", Call("var", (X,))),
    (r"\|X\|_2", Absolute(X)),
    ("½ Q", Product(Quotient(number(1), number(2)), Q)),
    ("e²", E2),
    (r"\ln 2", Call("ln", (number(2),))),
    ("a(Q, K)", Call("a", (Q, K))),
    ("Q[:, 2:4]", Entry(Q, columns=(3, 4))),
    ("Q[:, 2:]", Entry(Q, columns=(3, None))),
    ("Q(:, 1:2)", Entry(Q, columns=(1, 2))),
    ("Q_{:,1:2}", Entry(Q, columns=(1, 2))),
    ("Q_{:,0:2}", Entry(Q, columns=(1, 2))),
    ("Q[:2]", Transpose(Entry(Transpose(Q), columns=(1, 2)))),
    (r"[1, 2] X \begin{bmatrix} 3 \\ 4 \end{bmatrix}", Product(matrix([1, 2]), matrix([[3], [4]]))),
    ("[1, 2] X", Product(matrix([1, 2]), X)),
    (r"\left| \begin{array}{c} 3 \\ 4 \end{array} \right|", matrix([[3], [4]])),
    (r"\left| 3 \\ 4 \right|", matrix([[3], [4]])),
    (r"\left| x \right|", Absolute(name("x"))),
    (r"3{.}14", number("3.14")),
    *((f"softmax({dots})", Softmax(name("dots"))) for dots in (r"\cdot", r"\ldots", "...", "·")),
    (r"\langle Q, K \rangle", Product(Q, K)),
    (r"(Q K^T)_{1,2}", Entry(Product(Q, KT), 1, 2)),
    (r"\textcircled{2} \displaystyle Q \hfill \checkmark", Q),
    (r"\cancel{Q} K", Product(Call("struck", (Q,)), K)),
    (r"\unknown{Q}", Product(name("unknown"), Q)),
    (r"Q \odot K", Call("hadamard", (Q, K))),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), NUMBERS + MATRICES + EXPRESSIONS)
def test_expressions(source: str, expected: Expr) -> None:
    assert only(source) == expected


def test_lists_are_loose_and_grids_are_not() -> None:
    loose = {
        source: only(source).loose
        for source in ("[1, 2]", "(1, 2)", "[1 2]", "[[1, 2]]", r"\begin{bmatrix} 1 & 2 \end{bmatrix}")
    }  # type: ignore[union-attr]
    assert list(loose.values()) == [True, True, True, False, False]


CHAINS = [
    ("Q = [1, 2], K = [3, 4]", ["Q = ·", "K = ·"]),
    (r"Q = [1, 2] \quad K = [3, 4]", ["Q = ·", "K = ·"]),
    (r"Q = 1 \text{ and } K = 2", ["Q = ·", "K = ·"]),
    (r"P_1 = 3, P_2 = 2\\ Q_1 = 1; Q_2 = 2", ["P_1 = ·", "P_2 = ·", "Q_1 = ·", "Q_2 = ·"]),
    ("Q = K = V = [1, 2]", ["Q = K = V = ·"]),
    (r"a \approx 0.5, \quad b ≈ 0.25.", ["a ≈ ·", "b ≈ ·"]),
    (r"\begin{aligned} Q &= X W_Q \\ &= [1, 2] \\ K &\approx 2 \end{aligned}", ["Q = X W_Q = ·", "K ≈ ·"]),
    (r"\begin{aligned} Q &= [1] \\ \text{weights} &\approx [2] \\ &= [3] \end{aligned}", ["Q = ·", "weights ≈ · = ·"]),
    (r"\begin{align} Q &= [1] \\ \mathrm{Output} \quad & = & [1][2] = [2] \end{align}", ["Q = ·", "Output = · = ·"]),
    (r"\begin{align} Q &= [1] \\ \text{so } &\approx [2] & K &= [3] \end{align}", ["Q = · ≈ ·", "K = ·"]),
    (r"\begin{array}{l} N=3 \\ D=2 \end{array}", ["N = ·", "D = ·"]),
    (r"Q = [1] \quad\Rightarrow\quad S \approx [2]", ["Q = ·", "S ≈ ·"]),
    (r"\sqrt{6} \Rightarrow \sqrt{3}", ["·", "⇒ ·"]),
    ("x := 3", ["x = ·"]),
    (r"A \overset{!}{=} Q", ["A = Q"]),
    ("1. 给定\\\\\nX = [1, 2]", ["X = ·"]),
    (r"2. 分数（\sqrt{d_k} = 2）\\ S = 3", ["√ = ·", "S = ·"]),
    (r"4.1,\ 4.2,\ e^0 = 1", ["·", "· = ·"]),
    ("Q, K, V", ["Q", "K", "V"]),
    (r"Q, K^T = [1]", ["list = ·"]),
    (r"W^Q, W^K, W^V \in \mathbb{R}^{4 \times 2}", ["list ∈ reals"]),
    (r"\boxed{Q = [1]}", ["Q = ·"]),
    (r"x y = 1 \equiv y = Q", ["x y = ·", "y = Q"]),
    (r"Z = A V \qquad (1)", ["Z = A V"]),
]


def shown(expr: Expr) -> str:
    if isinstance(expr, Name):
        return str(expr.symbol)
    if isinstance(expr, Product) and any(isinstance(part, Name) for part in walk(expr)):
        return f"{shown(expr.left)} {shown(expr.right)}"
    if isinstance(expr, Root) and isinstance(expr.arg, Name):
        return "√"
    return expr.function if isinstance(expr, Call) else "·"


@pytest.mark.parametrize(("source", "expected"), CHAINS)
def test_chains(source: str, expected: list[str]) -> None:
    assert [" ".join(f"{k.relation} {shown(k.expr)}".strip() for k in c.links) for c in chains(source)] == expected


def test_a_row_of_numbers_is_a_loose_vector() -> None:
    (chain,) = chains(r"Weights = 0.5760,\ 0.1400,\ 0.2840")
    assert chain.links[1].expr == matrix(["0.5760", "0.1400", "0.2840"])


def test_continuations_and_trails() -> None:
    (first,) = chains(r"= [1, 2] \rightarrow \text{Input}_1")
    assert first.continues
    assert first.links[0].relation is Relation.EQUAL
    assert first.links[0].note == r"\text{Input}_1"
    (second,) = chains("Q =")
    assert second.trail == "="


def test_sizes_are_noted() -> None:
    (chain,) = chains(
        r"Q = \begin{bmatrix} 1 & 2 \end{bmatrix}_{(1 \times 2)} X_{2\times3} \in \mathbb{R}^{1 \times 3}"
    )
    assert [link.shapes for link in chain.links] == [(), ((1, 2), (2, 3)), ((1, 3),)]
    (sizes,) = chains(r"4 \times 3 \quad \cancel{3} \times 4")
    assert sizes.links[0].shapes == ((4, 3), (3, 4))
    assert isinstance(sizes.links[0].expr, Call)


def test_texts_are_those_of_the_source() -> None:
    (chain,) = chains(r"\mathbf{QK}^T = \mathrm{Scores}_1")
    assert chain.text == r"\mathbf{QK}^T = \mathrm{Scores}_1"
    assert [link.text for link in chain.links] == [r"\mathbf{QK}^T", r"\mathrm{Scores}_1"]
    (chain,) = chains(r"\begin{aligned} \mathbf{x}_1 &= [1, 2] \\ &= -3 \end{aligned}")
    assert [(link.text, link.at.column) for link in chain.links] == [(r"\mathbf{x}_1", 17), ("[1, 2]", 33), ("-3", 46)]


def test_crossed_out_values_are_struck() -> None:
    (chain,) = chains(r"[1, 2] = \cancel{\begin{bmatrix} 78 \end{bmatrix}}")
    assert [link.struck for link in chain.links] == [False, True]
    assert chain.links[1].expr == matrix([[78]])
    (whole,) = chains(r"\cancel{Q = 3}")
    assert whole.struck
    assert chains("~~Q = 3~~")[0].struck


def test_nodes_know_their_place() -> None:
    (chain,) = parse_math("Q =\n  \\begin{bmatrix} 1 & 2 \\\\\n 3 & x \\end{bmatrix}", Location(10, 3)).chains
    assert (chain.at, chain.end_line) == (Location(10, 3), 12)
    places = {
        str(getattr(node, "text", "") or getattr(node, "spelled", "")): node.at for node in walk(chain.links[1].expr)
    }
    assert places["1"] == Location(11, 19)
    assert places["x"] == Location(12, 6)


def test_cells_of_a_grid_begin_at_their_sign() -> None:
    source = "\\begin{bmatrix}\n 1 &\n-2 \\end{bmatrix} = [3, -4] = (5, -6)"
    found = [n for link in chains(source)[0].links for n in walk(link.expr) if isinstance(n, Number)]
    assert [(n.text, n.at and (n.at.line, n.at.column)) for n in found] == [
        ("1", (2, 2)), ("-2", (3, 1)), ("3", (3, 21)), ("-4", (3, 24)), ("5", (3, 31)), ("-6", (3, 34)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "{" * 10_000 + "x" + "}" * 10_000,
        "(" * 10_000,
        r"\sqrt" * 10_000,
        "a " * 10_000,
        r"\begin{bmatrix} 1 & 2",
        r"\frac{1}{",
        "^2",
        r"\begin{bmatrix} 1",
    ],
)
def test_what_cannot_be_read_is_said(source: str) -> None:
    parsed = parse_math(source, Location(4))
    assert parsed.unread
    assert all(unread.line == 4 and unread.reason for unread in parsed.unread)


def test_damage_does_not_stop_the_rest() -> None:
    parsed = parse_math(r"Q = [1, 2], \quad \frac{}{} = K \\ V = [3, 4]", Location(1))
    assert [shown(chain.links[0].expr) for chain in parsed.chains] == ["Q", "V"]
    assert len(parsed.unread) == 1


_FRAGMENTS = (
    r"\begin{bmatrix} \end{bmatrix} \begin{array}{cc} \end{array} \begin{aligned} \end{aligned} & \\ \left( \right) \left[ \right] ( ) [ ] { } "
    r"\{ \} \frac \sqrt \sum \text{ \text{and} softmax \cancel{ = ≈ \Rightarrow \in \to , ; : . \quad + - × \cdot / ^ _ ' | ~~ 1 2.5 1e5 10 Q K X "
    r"W_Q e \infty \mathbb{R} \mathbf{ \overset \underbrace 给定 words √ ᵀ ₁ α % # $ \over < > Step \exp \tanh Concat [1,2] -"
)
FRAGMENTS = _FRAGMENTS.split()
SOUP = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(" ".join)
GLUED = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)
BYTES = st.binary(max_size=300).map(lambda b: b.decode("utf-8", "replace"))


@settings(max_examples=400)
@given(st.one_of(SOUP, GLUED, BYTES, st.text(max_size=200)), st.booleans())
def test_nothing_breaks_it(source: str, strict: bool) -> None:
    parsed = parse_math(source, Location(1), strict=strict)
    assert all(chain.links for chain in parsed.chains)
    assert all(1 <= chain.at.line <= chain.end_line for chain in parsed.chains)


@settings(max_examples=60)
@given(st.data())
def test_truncated_and_shuffled_documents(data: st.DataObject) -> None:
    parts = [source for source, _ in NUMBERS + MATRICES + EXPRESSIONS + CHAINS]  # type: ignore[operator]
    text = " ".join(data.draw(st.permutations(parts)))
    first = data.draw(st.integers(0, len(text)))
    parse_math(text[first : data.draw(st.integers(first, len(text)))], Location(1))


@given(st.lists(st.lists(st.decimals(-1000, 1000, places=3), min_size=1, max_size=5), min_size=1, max_size=5))
def test_numbers_come_back_as_written(rows: list[list[object]]) -> None:
    expected = matrix([[str(cell) for cell in row] for row in rows])
    environment = r"\\".join(" & ".join(map(str, row)) for row in rows)
    assert only(rf"\begin{{pmatrix}} {environment} \end{{pmatrix}}") == expected
    if not expected.is_ragged:
        nested = "[" + ",\n".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"
        assert only(nested) == expected


def test_time_grows_with_the_length() -> None:
    def seconds(copies: int) -> float:
        source = r"a_{1,1} = \frac{1}{2} + x, " * copies
        start = time.process_time()
        parse_math(source, Location(1))
        return time.process_time() - start

    seconds(50)
    few = min(seconds(400) for _ in range(3))
    assert any(seconds(4000) < 40 * max(few, 0.005) for _ in range(3))  # a machine has slow seconds, not three in a row


@pytest.mark.parametrize(
    "file", sorted(SHEETS.glob("*.md")) + sorted((SHEETS / "wild").glob("*.md")), ids=lambda p: p.stem
)
def test_every_display_of_the_sample_sheets_is_read(file: Path) -> None:
    text = re.sub(r"^> ?", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    stretches = [a or b for a, b in re.findall(r"\$\$(.*?)\$\$|\$([^$\n]+)\$", text, re.DOTALL)]
    assert all(parse_math(stretch, Location(1)).unread == () for stretch in stretches)


@pytest.mark.parametrize("strict", [True, False])
def test_as_many_formulas_as_names_are_an_equation_each(strict: bool) -> None:
    chains = parse_math("Q, K, V = X W_Q, X W_K, X W_V", Location(1), strict=strict).chains
    assert [tuple(plain(link.expr) for link in chain.links) for chain in chains] == [
        ("Q", "X W_Q"), ("K", "X W_K"), ("V", "X W_V")
    ]  # fmt: skip


def test_fewer_formulas_than_names_are_no_list() -> None:
    chains = parse_math("Q, K, V = X W_Q, X W_K", Location(1)).chains
    assert not any(plain(chain.links[0].expr) == "K" for chain in chains)


@pytest.mark.parametrize("text, usual, other", [("e / 2e", "e / (2 e)", "e / 2 e"), ("x/2y", "x / (2 y)", "x / 2 y")])
def test_a_coefficient_right_before_a_name_divides_with_it(text: str, usual: str, other: str) -> None:
    link = parse_math(f"a = {text}", Location(1)).chains[0].links[1]
    assert plain(link.expr) == usual
    assert other in map(plain, link.alternatives)


def test_a_number_with_a_blank_behind_it_is_a_divisor_of_its_own() -> None:
    assert plain(parse_math("w = 1/2 x", Location(1)).chains[0].links[1].expr) == "1 / 2 x"


def test_words_beside_the_rows_of_a_drawn_matrix_are_remarks() -> None:
    text = "M = [ 0  -1 ]    position 1: sees 1\n    [ 0   0 ]    position 2: sees 1, 2"
    assert plain(parse_math(text, Location(1), strict=False).chains[0].links[1].expr) == "[0, -1; 0, 0]"


@pytest.mark.parametrize(
    "text",
    [
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \begin{matrix} \text{cat} \\ \text{I} \end{matrix}",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \begin{matrix} \leftarrow \text{cat} \\ \leftarrow \text{mat} \end{matrix}",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \begin{array}{l} \text{猫} \\ \text{垫子} \end{array}",
        r"\begin{matrix} \text{cat} \\ \text{mat} \end{matrix} \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
    ],
)
def test_words_set_as_a_matrix_beside_another_name_its_rows(text: str) -> None:
    parsed = parse_math(f"X = {text}", Location(1))
    assert [plain(link.expr) for link in parsed.chains[0].links] == ["X", "[1, 2; 3, 4]"]
    assert not parsed.unread
