"""Names in any spelling → one symbol."""

from __future__ import annotations

import pytest

from qkv.errors import Location
from qkv.expr.names import Symbol
from qkv.expr.nodes import Name, Power, Transpose, names_in
from qkv.reader.grammar import parse_math
from qkv.reader.read import read_sheet

SPELLINGS = [
    (Symbol("W", ("Q",)), ["W^Q", "W_Q", r"\mathbf{W}^{Q}", r"\boldsymbol{W}_{Q}", r"\mathrm{W}_\mathrm{Q}", r"\vec{W}^Q"]),
    (Symbol("W", ("Q",), ("0",)), ["W_{0^Q}", "W_0^Q", "W^Q_0", "W^{(0)}_Q", "W_Q^{(0)}", "W_Q^0", "W_{Q,0}", "W_{Q_0}", "{W_Q}^{(0)}"]),
    (Symbol("W", ("k",)), ["Wₖ", "W_k", "W<sub>k</sub>"]),
    (Symbol("Q", (), ("1",), 1), [r"Q'_{\text{head 1}}", "Q'_1", r"Q^{\prime}_1", "Q_1'"]),
    (Symbol("d", ("model",)), ["d_{model}", r"d_{\text{model}}", "d_model", r"d_{\mathrm{model}}"]),
    (Symbol("d", ("k",)), ["d_k", "d_{k}", "dₖ"]),
    (Symbol("z", (), ("3", "1")), ["z_{3,1}", "z_{3, 1}", r"z_{3,\,1}"]),
    (Symbol("z", (), ("31",)), ["z_{31}", "z_31", "z31", "z₃₁"]),
    (Symbol("a", (), ("i", "j")), ["a_{ij}", "a_{i,j}", "a_{i j}"]),
    (Symbol("s", (), ("t-1",)), ["s_{t-1}"]),
    (Symbol("alpha", (), ("1",)), [r"\alpha_1", "α₁", r"\boldsymbol{\alpha}_1", "α_1"]),
    (Symbol("Omega"), [r"\Omega", "Ω"]),
    (Symbol("emptyset"), [r"\emptyset", r"\varnothing", "∅"]),
    (Symbol("Scores", (), ("1",)), ["Scores_1", r"\text{Scores}_1", r"\mathrm{Scores}_{1}"]),
    (Symbol("Scaled_Scores"), [r"Scaled\_Scores", r"\text{Scaled\_Scores}"]),
    (Symbol("head", (), ("2",)), ["head_2", r"\text{head}_2", r"\mathrm{head}_{2}"]),
    (Symbol("S", ("masked",)), ["S_{masked}", r"S^{\text{masked}}"]),
]  # fmt: skip


@pytest.mark.parametrize(("symbol", "spelling"), [(s, spelled) for s, many in SPELLINGS for spelled in many])
def test_one_symbol_many_spellings(symbol: Symbol, spelling: str) -> None:
    (chain,) = parse_math(f"{spelling} = 1", Location(1)).chains
    name = chain.links[0].expr
    assert isinstance(name, Name)
    assert name.symbol == symbol


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("Wq = 1", {Symbol("Wq")}),
        ("Wq = 1 and W_q = 2", {Symbol("W", ("q",))}),
        ("Wq = 1\nWk = 2", {Symbol("W", ("q",)), Symbol("W", ("k",))}),
        ("dV = 1\nV = 2", {Symbol("dV"), Symbol("V")}),
        ("x_love = [1, 0]", {Symbol("x", ("love",))}),
        ("attention_weights = [1, 0]", {Symbol("attention_weights")}),
        ("q_cats = [1]\noutput_cats = [1, 0]", {Symbol("q", ("cats",)), Symbol("output", ("cats",))}),
        ('The word "it" has $q_{it} = 1$', {Symbol("q", ("it",))}),
        ("$q_{it} = 1$", {Symbol("q", (), ("i", "t"))}),
        ("$d_k = 2$, $a_{ik} = 1$, $\\sum_k a_{ik} = 1$", {Symbol("d", ("k",)), Symbol("a", (), ("i", "k"))}),
        ("$W^1 = 1$, $W^2 = 2$", {Symbol("W", (), ("1",)), Symbol("W", (), ("2",))}),
        ("查询 = [1, 0]", {Symbol("查询")}),
        (r"$\hat{s} = 1$, $\tilde s = 2$, $s = 3$", {Symbol("s", ("hat",)), Symbol("s", ("tilde",)), Symbol("s")}),
    ],
)
def test_the_page_decides_what_a_spelling_is(text: str, symbols: set[Symbol]) -> None:
    links = [link for statement in read_sheet(text).statements for link in statement.links]
    assert {symbol for link in links for symbol in names_in(link.expr)} == symbols


@pytest.mark.parametrize(
    "spelling",
    ["K^T", r"K^\top", r"K^{\top}", r"K^{\mathsf{T}}", r"K^\intercal", "Kᵀ", "K⊤", "K.T", r"\mathbf{K}^{\mathrm{T}}"],
)
def test_transposes(spelling: str) -> None:
    (chain,) = parse_math(spelling, Location(1)).chains
    assert chain.links[0].expr == Transpose(Name(Symbol("K")))


@pytest.mark.parametrize("spelling", ["D^2", r"\sigma^2", "q_i^2", "N'^2", "x^{-1}", "x^{n+1}", "d²"])
def test_powers_are_no_indices(spelling: str) -> None:
    (chain,) = parse_math(spelling, Location(1)).chains
    assert isinstance(chain.links[0].expr, Power)


def test_a_document_reads_the_same_whatever_was_read_before() -> None:
    def read() -> list[object]:
        return [link.expr for statement in read_sheet("Then $A = [x1,0]$.").statements for link in statement.links]

    alone = read()
    read_sheet("Let $x1 = 2$.")
    assert read() == alone
