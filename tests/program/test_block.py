"""A block by name: which steps follow from what is given, and the one sentence for what makes no sense."""

from __future__ import annotations

import pytest

import qkv
from qkv.errors import NameUnknownError, QkvError, ShapeError, ValueRefused
from qkv.expr.show import plain

I2 = [[1, 0], [0, 1]]
TOKENS = {"X": [[1, 2], [3, 5]], "W_Q": I2, "W_K": I2, "W_V": I2}
FED = {"W_1": [[1, -1, 0], [0, 1, 1]], "W_2": [[1, 0], [0, 1], [1, 1]]}


def steps(**given: object) -> dict[str, str]:
    program = qkv.work(**given).traces[0].program
    return {step.spelled: plain(step.expr) for step in program.steps}


def test_post_norm_comes_after_each_sum() -> None:
    made = steps(**TOKENS, **FED, norm="post")
    after = ["R_1", "mu_1", "sigma_1", "N_1", "U", "G", "F", "R_2", "mu_2", "sigma_2", "N_2"]
    assert list(made)[list(made).index("Output") + 1 :] == after
    assert (made["R_1"], made["U"], made["R_2"]) == ("X + Output", "N_1 W_1", "N_1 + F")


def test_pre_norm_comes_before_each_part() -> None:
    made = steps(**TOKENS, **FED, norm="pre")
    assert (made["Q"], made["R_1"], made["U"], made["R_2"]) == ("N_1 W_Q", "X + Output", "N_2 W_1", "R_1 + F")
    assert "N_3" not in made
    assert steps(**TOKENS, **FED, norm="pre", gamma_3=[1, 1])["N_3"] == "gamma_3 ∘ ((R_2 - mu_3) / sigma_3)"


def test_what_is_given_takes_part_and_nothing_else() -> None:
    assert steps(**TOKENS) == steps(**TOKENS, norm=None)
    assert list(steps(X=I2, **FED)) == ["U", "G", "F"]
    assert list(steps(L=[[1, 2]], targets=[0])) == ["P", "ell", "loss", "PPL"]
    assert steps(**TOKENS, **FED)["U"] == "Output W_1"


def test_heads_without_an_output_matrix_are_added_as_they_stand() -> None:
    made = steps(**TOKENS, heads=2, norm="post")
    assert (made["Output"], made["R_1"]) == ("Concat", "X + Output")


def test_what_is_given_and_not_needed_is_said() -> None:
    assert qkv.work(**TOKENS, gamma_1=[1, 2], W_1=I2).notes == ("gamma_1 is given, but nothing here needs it",)


REFUSED: list[tuple[type[QkvError], str, dict[str, object]]] = [
    (ShapeError, "U = N_1 W_1: N_1 is 2×2 and W_1 is 3×2, so 2 columns meet 3 rows", {**TOKENS, "norm": "post", "W_1": [[1, 1]] * 3}),
    (ShapeError, "U = X W_1 + b_1: X W_1 is 2×3 and b_1 is 1×2, so they cannot be added", {"X": I2, **FED, "b_1": [1, 2]}),
    (ShapeError, "R_1 = X + Output: X is 2×2 and Output is 2×1, so they cannot be added", {**TOKENS, "W_V": [[1], [1]], "norm": "post"}),
    (ShapeError, "gamma_1 is 2×2, but it must be one vector", {**TOKENS, "norm": "post", "gamma_1": I2}),
    (ShapeError, "X_P = X + PE: X is 2×2 and PE is 3×2, so they cannot be added", {"X": I2, "positions": [[1, 2]] * 3}),
    (ShapeError, "X_P = X + PE: X is 2×2 and PE is 1×2, so they cannot be added", {"X": I2, "positions": [1, 2]}),
    (ValueRefused, "norm is 'both', but it must be None, 'pre', 'post', 'pre rms', 'post rms'", {**TOKENS, "norm": "both"}),
    (ValueRefused, "activation is 'gelu', but with W_3 it must be one of 'swiglu', 'geglu'", {"X": I2, **FED, "W_3": I2, "activation": "gelu"}),
    (ValueRefused, "tokens holds 3, but E has 2 rows: ids go from 0 to 1", {"E": I2, "tokens": [0, 3]}),
    (ValueRefused, "targets holds -1, but there are 2 words: ids go from 0 to 1", {"L": I2, "targets": [0, -1]}),
    (ValueRefused, "targets need words to choose from: give W_U, or L, or tied=True with E", {"X": I2, "targets": [0, 1]}),
    (ValueRefused, "tokens name rows of E, but E is not given", {"tokens": [0]}),
    (ValueRefused, "positions are added to tokens: give X, or tokens with E", {"positions": "sinusoidal"}),
    (ValueRefused, "positions is 'rotary', but it must be None, 'sinusoidal' or a matrix", {"X": I2, "positions": "rotary"}),
    (ValueRefused, "eps is 0, but it must be more than 0", {**TOKENS, "norm": "post", "eps": 0}),
    (ValueRefused, "nothing follows from what is given: W_1", {"W_1": I2}),
    (ValueRefused, "N_1 has one number a row: there is nothing to compare it with", {"X": [[1], [2]], "norm": "pre"}),
    (ValueRefused, "N_1 = (X - mu_1) / sigma_1: division by zero", {"X": [[1, 1]], "norm": "pre"}),
    (ValueRefused, "what stands around attention is worked out with tokens as rows: leave out columns", {**TOKENS, "norm": "post", "columns": True}),
    (ValueRefused, "heads is 4 and kv_heads is 3, but each group must serve as many heads", {"X": I2, "W_Q": I2, "W_K": I2, "W_V": I2, "heads": 4, "kv_heads": 3}),
    (ShapeError, "kv_heads is 1, but W_K is a list of 2 matrices", {**TOKENS, "W_Q": [I2, I2], "W_K": [I2, I2], "kv_heads": 1}),
    (ValueRefused, "rope is 'pairs', but it must be True, 'interleaved' or 'halves'", {**TOKENS, "rope": "pairs"}),
    (ValueRefused, "rotary positions turn pairs of columns, but queries and keys have 1 numbers", {"Q": [[1]], "K": [[1]], "V": [[1]], "rope": True}),
    (ValueRefused, "alibi cannot be worked out here: its slopes are fractions for 1, 2, 4 or 8 heads, not for 3", {"X": [[1, 2, 3]], "W_Q": [[1] * 3] * 3, "W_K": [[1] * 3] * 3, "W_V": [[1] * 3] * 3, "heads": 3, "alibi": True}),
    (ValueRefused, "layers is 0, but there must be 1 or more", {**TOKENS, "layers": 0}),
    (ValueRefused, "layers is a number, or a list with a dict of matrices for each layer", {**TOKENS, "layers": "two"}),
    (ValueRefused, "layer 2 has W_U, but all layers share one W_U", {"X": I2, "layers": [FED, {**FED, "W_U": I2}]}),
    (ValueRefused, "nothing comes out of a layer: give it W_Q, W_K and W_V, or W_1 and W_2", {"X": I2, "layers": [{"W_1": I2}, FED]}),
    (ValueRefused, "cross-attention reads Y, the second sequence, but Y is not given", {**TOKENS, "cross": {"W_Q": I2, "W_K": I2, "W_V": I2}}),
    (ValueRefused, "cross-attention comes after self-attention: give W_Q, W_K and W_V too", {"X": I2, "Y": I2, "cross": {"W_Q": I2, "W_K": I2, "W_V": I2}}),
    (NameUnknownError, "W_q is no matrix that attention knows; did you mean W_Q?", {**TOKENS, "Y": I2, "cross": {"W_q": I2}}),
    (ValueRefused, "top is 3, but there are 2 words: it goes from 1 to 2", {"L": I2, "top": 3}),
    (ValueRefused, "linear is 'gelu', but φ must be one of 'elu+1', 'relu'", {**TOKENS, "linear": "gelu"}),
    (ValueRefused, "linear attention makes no scores: leave out mask", {**TOKENS, "linear": "relu", "mask": "causal"}),
    (ValueRefused, "score is 'dot', but it must be None or 'cosine'", {**TOKENS, "score": "dot"}),
    (ValueRefused, "the cosine of single numbers is 1 or −1: queries and keys must be longer", {"Q": [[1]], "K": [[1]], "V": [[1]], "score": "cosine"}),
    (ValueRefused, "window is -1, but it must be a number of keys, or two: before and after", {**TOKENS, "window": -1}),
    (NameUnknownError, "gamma1 is no matrix that attention knows; did you mean gamma_1?", {**TOKENS, "gamma1": [1, 1]}),
]  # fmt: skip


@pytest.mark.parametrize("error, sentence, given", REFUSED, ids=[sentence[:50] for _, sentence, _ in REFUSED])
def test_one_sentence_for_each_mistake(error: type[QkvError], sentence: str, given: dict[str, object]) -> None:
    with pytest.raises(error) as caught:
        qkv.work(**given)
    assert str(caught.value) == sentence


def test_heads_share_keys_in_the_order_of_groups() -> None:
    four = {"X": I2, "W_Q": [[1] * 4] * 2, "W_K": I2, "W_V": I2}
    made = steps(**four, heads=4, kv_heads=2)
    assert [made[f"S_{i}"] for i in (1, 2, 3, 4)] == ["Q_1 K_1^T", "Q_2 K_1^T", "Q_3 K_2^T", "Q_4 K_2^T"]
    one = {**four, "W_K": [[1], [1]], "W_V": [[1], [1]]}
    assert steps(**one, heads=4, kv_heads=1)["S_4"] == "Q_4 K_1^T"


def test_a_cache_stands_above_what_is_new() -> None:
    made = steps(**TOKENS, K_cache=[[1, 2]], V_cache=[[1, 2]])
    assert (made["K_new"], made["K"]) == ("X W_K", "Stack(K_cache, K_new)")


def test_names_of_layers_and_of_cross_attention() -> None:
    made = steps(X=I2, layers=[FED, {**FED, "W_1": [[1, 0, 1], [0, 2, 1]]}], norm="pre")
    assert (made["U_1^L"], made["U_2^L"]) == ("N_{1,1}^L W_{1,1}^L", "N_{1,2}^L W_{1,2}^L")  # W_2 is the same in both
    assert made["F_2^L"] == "G_2^L W_2"
    made = steps(**TOKENS, **FED, Y=I2, cross={"W_Q": I2, "W_K": I2, "W_V": I2}, norm="post")
    assert (made["Q_cross"], made["K_cross"], made["R_2"], made["R_3"]) == (
        "N_1 W_{Q,cross}", "Y W_{K,cross}", "N_1 + Output_cross", "N_2 + F"
    )  # fmt: skip


def test_heads_of_a_group_share_what_is_made_of_keys() -> None:
    made = steps(X=I2, W_Q=[[1] * 4] * 2, W_K=I2, W_V=I2, heads=4, kv_heads=2, linear="elu+1")
    assert (made["Z_2"], made["Z_3"]) == ("Q_2^phi T_1 / (Q_2^phi t_1)", "Q_3^phi T_2 / (Q_3^phi t_2)")
    assert "T_3" not in made
