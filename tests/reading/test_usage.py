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


STATED_BY_THE_QUESTION = r"""
Compute $\mathrm{softmax}(Q K^\top) V$.

$Q = [[13, 2], [5, 17]]$

$K = [[31, 12], [14, 23]]$

$V = [[1, 2], [3, 5]]$

$S = [[431, 202], [393, 451]]$
"""


def test_a_question_states_the_method() -> None:
    """Q K for Q Kᵀ might be a convention where nobody says what the scores are; here the question does."""
    (claim,) = qkv.check(STATED_BY_THE_QUESTION).claims
    assert claim.verdict == "wrong"
    assert claim.cause is not None
    assert claim.cause.mistake == "K not transposed"


CAPTIONS = """
Tokens moss:
     d1  d2
the  1.5  2
cat  3    1

Weights amber:
    d1  d2
d1  2    1
d2  0.5  3

Queries river = moss amber:
     d1   d2
the  4    7.5
cat  6.5  6

Scores flint = river river^T:
     the    cat
the  72.25  71
cat  71     78.25
"""


def test_a_name_before_the_formula_of_a_caption_is_no_part_of_its_words() -> None:
    river, flint = qkv.check(CAPTIONS).claims
    assert (river.name, river.verdict, flint.verdict) == ("river", "right", "right")
