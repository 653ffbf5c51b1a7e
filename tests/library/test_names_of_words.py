"""Names that are words: which of them number a row or a head, and which are no step of attention."""

from __future__ import annotations

import pytest

from qkv.expr.names import Role, Symbol
from qkv.library.roles import Place, places, role_in_caption


@pytest.mark.parametrize(("name", "place"), [
    ("row_2_weights", Place(Role.WEIGHTS, None, "2")),
    ("token_3_weights", Place(Role.WEIGHTS, None, "3")),
    ("head_2_output", Place(Role.HEAD, "2")),
    ("attention_weights", Place(Role.WEIGHTS)),
])  # fmt: skip
def test_words_number_rows_and_heads(name: str, place: Place) -> None:
    assert places(Symbol(name))[0] == place


@pytest.mark.parametrize("name", ["scale", "scaling_factor", "Skalierungsfaktor"])
def test_a_scale_is_a_number_and_no_scaled_scores(name: str) -> None:
    assert places(Symbol(name)) == ()


def test_scaled_is_short_for_scaled_scores() -> None:
    assert places(Symbol("scaled"))[0] == Place(Role.SCALED)


@pytest.mark.parametrize(("caption", "role"), [
    ("Skalierte Werte", Role.SCALED), ("缩放后的得分", Role.SCALED), ("Масштабированные оценки", Role.SCALED),
    ("掩码后的得分", Role.MASKED), ("С маской", Role.MASKED), ("Значения", Role.V), ("得分", Role.SCORES),
])  # fmt: skip
def test_scores_that_something_was_done_to_are_called_by_what_was_done(caption: str, role: Role) -> None:
    assert role_in_caption(caption) is role
