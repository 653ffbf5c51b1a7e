"""What sentences say about a method: heads, masks, and methods that a question sets for itself."""

from __future__ import annotations

import pytest

from qkv.library.said import Sight, heads_said, methods_said, sights_said


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("We split Q, K and V along the features into 2 heads of size 2 each.", 2),
        ("Die Matrizen werden spaltenweise auf zwei Köpfe der Breite 2 aufgeteilt.", 2),
        ("head 1 is `Q[:, 0:2]` and head 2 is `Q[:, 2:4]`.", 2),
        ("In practice models are split into 8 heads.", None),
        ("All 8 heads are trained.", None),
    ],
)
def test_heads(text: str, heads: int | None) -> None:
    assert heads_said(text) == heads


@pytest.mark.parametrize(
    ("text", "sight"),
    [
        ("Das dritte Token ist ein Padding-Token und wird maskiert.", Sight(padded=(3,))),
        ("The last two tokens are padding.", Sight(padded=(-2, -1))),
        ("The first two tokens are a prefix: visible to all.", Sight(prefix=2)),
        ("A token sees itself and its direct neighbours.", Sight(window=1)),
        ("Now suppose the last token is padding.", Sight(padded=(-1,), supposed=True)),
    ],
)
def test_sights(text: str, sight: Sight) -> None:
    assert list(sights_said(text)) == [sight]


def test_no_padding_is_no_mask() -> None:
    assert not list(sights_said("There is no padding here. The words are short."))


def test_a_prefix_is_seen_by_all_and_the_rest_is_causal() -> None:
    rows = Sight(prefix=2).pattern(3, 3).rows
    assert [[int(cell.value) for cell in row] for row in rows] == [[1, 1, 0], [1, 1, 0], [1, 1, 1]]  # type: ignore[union-attr]


def test_methods_of_questions() -> None:
    text = "1. Compute A.\n2. What if scores are divided by 2?\n3. Repeat it with a causal mask.\n4. Find A without scaling."
    made = [(method.scaled, method.causal, method.scale is not None) for method in methods_said(text)]
    assert made == [(True, None, True), (None, True, False), (False, None, False)]


def test_statements_set_no_method_of_their_own() -> None:
    assert not list(methods_said("Attention is causal here. Scores are divided by 2."))
