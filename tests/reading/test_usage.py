"""What names are used for, by the shape of formulas alone."""

from __future__ import annotations

import pytest

import qkv
from qkv.errors import Location
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.reader.grammar import parse_math
from qkv.reader.read import read_sheet
from qkv.reading.asked import all_asked
from qkv.reading.reading import reading_of
from qkv.reading.usage import stated_method, used_roles


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


def roles_in(text: str) -> dict[str, str]:
    """What each name of a page stands for, by its role."""
    reading = reading_of(qkv.read(text))
    places = {str(symbol): reading.system.place(symbol) for symbol in reading.page.symbols}
    return {name: place.role.value for name, place in places.items() if place is not None}


GIVEN = "$$M = [[1, 1], [0, 3]]$$ $$L = [[1, 0], [1, 1]]$$ $$G = [[0, 2], [1, 0]]$$\n\n"
WORKED = "$$P = M L = [[2, 1], [3, 3]]$$ $$S = M G = [[1, 2], [3, 0]]$$\n\n"


@pytest.mark.parametrize(
    "scores",
    [
        r"$$\frac{P S^T}{\sqrt{2}} = [[2.828, 4.243], [6.364, 6.364]]$$",
        r"$$\tfrac{1}{\sqrt 2} P S^T = [[2.828, 4.243], [6.364, 6.364]]$$ $$A = softmax(\tfrac{1}{\sqrt 2} P S^T)$$",
        r"The weights are $softmax(P S^T / \sqrt{2})$, as always.",
    ],
)
def test_scaled_products_say_what_is_a_query_and_a_key(scores: str) -> None:
    found = roles_in(GIVEN + WORKED + scores)
    assert [found.get(name) for name in "PSMLG"] == ["Q", "K", "X", "W_Q", "W_K"]


def test_what_is_given_and_multiplied_is_no_mask_and_no_score() -> None:
    found = roles_in(GIVEN + WORKED)
    assert not {"mask", "scores"} & {found.get(name) for name in "MLG"}


def test_a_second_sequence_is_projected_whatever_its_caption() -> None:
    text = "Tokens:\n\n$$V = [[1, 0], [1, 2]]$$\n\nTokens of the encoder:\n\n$$X = [[1, 1], [2, 0]]$$\n\n"
    text += "$$G = [[2, 1], [2, 2]]$$ $$K = [[0, 1], [1, 1]]$$ $$M = [[1, 1], [1, 3]]$$\n\n"
    text += r"$$Z = V G$$ $$H = X K$$ $$W = X M$$ $$\mathrm{softmax}\left(\frac{Z H^\top}{\sqrt{2}}\right) W = ?$$"
    assert roles_in(text)["X"] == "Y"


def _roles(page: str) -> dict[str, Role]:
    naming = reading_of(qkv.read(page)).system.naming
    return {str(symbol): place.role for symbol in naming.page.symbols if (place := naming.place(symbol)) is not None}


def test_a_mix_of_states_is_an_output_whatever_its_letter() -> None:
    page = (
        "Compute $softmax(b^T L^T) L$.\n\n$b = [1; 2]$, $L = [[0, 1], [1, 2]]$\n\n$a = softmax(b^T L^T)$, $s = a L$\n"
    )
    assert _roles(page)["s"] is Role.HEAD


def test_keys_that_are_not_mixed_are_keys_whatever_their_letter() -> None:
    page = "$Q = [[1, 2]]$, $Y = [[0, 1], [1, 2]]$, $U = [[1, 0], [0, 1]]$\n\nCompute $softmax(Q Y^T) U$.\n"
    assert (_roles(page)["Y"], _roles(page)["U"]) == (Role.K, Role.V)


def test_cells_of_scores_are_of_no_head_whatever_their_letter() -> None:
    page = "$q_1 = [1, 2]$, $k_1 = [0, 1]$, $k_2 = [1, 1]$\n\n$c_{1,1} = q_1 k_1 = 2$, $c_{1,2} = q_1 k_2 = 3$\n"
    reading = reading_of(qkv.read(page))
    assert {place.head for symbol in reading.page.symbols if (place := reading.system.place(symbol))} == {None}


def test_one_sequence_that_asks_another_is_x_whatever_the_two_are_called() -> None:
    roles = _likeliest("softmax(F G^T) J", F="Y M", G="X R", J="X U")
    assert (roles["Y"], roles["X"]) == (Role.X, Role.Y)


def test_what_weights_mix_holds_values_where_nobody_says_what_the_weights_are_made_of() -> None:
    assert _likeliest("A J", A="softmax(N)") == {"J": Role.V, "N": Role.MASKED}


def test_nobody_takes_a_softmax_of_tokens_and_infinities_are_masked_scores() -> None:
    page = "$X = [[1, 2], [0, 1]]$, $X_c = [[1, -\\infty], [3, 1]]$\n\n$softmax(X) = [[0.269, 0.731]]$ and $softmax(X_c) = [[1, 0]]$\n"
    roles = _roles(page)
    assert (roles.get("X"), roles["X_c"]) == (None, Role.MASKED)


def test_what_is_asked_for_says_how_tokens_lie() -> None:
    page = reading_of(read_sheet("Compute N softmax(Z^T K / √v)^T.\n\nN = [[1, 2]]\n")).page
    assert stated_method(all_asked(page)) == {"columns", "queries", "scaled"}


@pytest.mark.parametrize("asks", ["Compute softmax(Q K^T) V.", "计算 softmax(Q K^T) V。"])
def test_what_is_asked_for_says_how(asks: str) -> None:
    page = reading_of(read_sheet(f"{asks}\n\nQ = [[1, 2]]\n\nK = [[1, 0], [0, 1]]\n\nV = [[1], [2]]\n")).page
    assert stated_method(all_asked(page)) == {"rows", "unscaled"}
