"""What names are used for, by the shape of formulas alone."""

from __future__ import annotations

import pytest

import qkv
from qkv.errors import Location
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.reader.grammar import parse_math
from qkv.reading.usage import used_roles


def _formula(text: str) -> n.Expr:
    return parse_math(text, Location(1)).chains[0].links[0].expr


def _likeliest(formula: str, **stated: str) -> dict[str, Role]:
    given = {Symbol(name): (_formula(text),) for name, text in stated.items()}
    written = (_formula(formula), *(expr for (expr,) in given.values()))
    return {str(symbol): roles[0] for symbol, roles in used_roles(written, given).items()}


@pytest.mark.parametrize(
    ("formula", "due"),
    [
        ("softmax(F G^T / sqrt(r)) J", {"F": Role.Q, "G": Role.K, "J": Role.V, "r": Role.D_K}),
        ("J softmax(G^T F)", {"F": Role.Q, "G": Role.K, "J": Role.V}),  # tokens are columns
        ("softmax(b^T L^T) L", {"b": Role.SOURCE, "L": Role.STATES}),
        ("softmax(L L^T) L", {"L": Role.X}),
        ("softmax(b^T N L^T) L", {"b": Role.SOURCE, "N": Role.W_A, "L": Role.STATES}),
        ("A B + C", {}),
    ],
)
def test_a_formula_says_what_its_names_are(formula: str, due: dict[str, Role]) -> None:
    assert _likeliest(formula) == due


def test_projections_say_what_tokens_and_weights_are() -> None:
    roles = _likeliest("P J", P="softmax(F G^T)", F="L M", G="N R", J="N U")
    assert {name: roles[name] for name in "LMNRU"} == {
        "L": Role.X, "M": Role.W_Q, "N": Role.Y, "R": Role.W_K, "U": Role.W_V,
    }  # fmt: skip


PAGE = r"""
Compute $\mathrm{softmax}(F G^\top) J$.

$F = [[13, 2], [5, 17]]$

$G = [[31, 12], [14, 23]]$

$J = [[1, 2], [3, 5]]$

Scores: $L = [[427, 228], [359, 416]]$
"""


def test_a_value_without_a_formula_is_judged_under_any_name() -> None:
    (claim,) = qkv.check(PAGE).claims
    assert [(cell.row, cell.column) for cell in claim.cells if cell.verdict == "wrong"] == [(2, 2)]
