"""What sentences say about heads, masks and scales, in several languages; and what they do not say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from qkv.understand.words import divisor_said, heads_mentioned, heads_split, rules

SPLIT = [
    ("We split Q, K and V along the feature dimension into 2 heads of size 2.", 2),
    ("Die Matrizen werden spaltenweise auf zwei Köpfe der Breite 2 aufgeteilt.", 2),
    ("On découpe Q, K et V en deux têtes de dimension 2.", 2),
    ("将特征维度拆分为 2 个头。", 2),
    ("Head 1 uses the first two columns, head 2 uses the last two columns.", 2),
    ("Head 1 is `Q[:, 0:2]` and head 2 is `Q[:, 2:4]`.", 2),
    ("All 8 heads are trained together.", None),
    ("In practice one would split them into 8 heads.", None),
]


@pytest.mark.parametrize(("text", "heads"), SPLIT, ids=[text[:30] for text, _ in SPLIT])
def test_heads_that_matrices_are_cut_into(text: str, heads: int | None) -> None:
    assert heads_split(text) == heads


def test_heads_that_are_only_spoken_of() -> None:
    assert heads_mentioned("Multi-head attention with two heads.") == 2
    assert heads_mentioned("Suppose we had 4 heads.") is None


PADDED = [
    ("The last token is padding.", (-1,)),
    ("The last two tokens are padding.", (-2, -1)),
    ("Token 4 is [PAD] and must be ignored.", (4,)),
    ("Tokens 3 and 4 are padding.", (3, 4)),
    ("Das dritte Token ist ein Padding-Token.", (3,)),
    ('Tokens: ["hello", "world", "[PAD]"]', (3,)),
]


@pytest.mark.parametrize(("text", "keys"), PADDED, ids=[text[:30] for text, _ in PADDED])
def test_keys_that_are_padding(text: str, keys: tuple[int, ...]) -> None:
    (rule,) = rules(text)
    assert rule.padded == keys
    assert not rule.later


@pytest.mark.parametrize(
    "text", ["There is no padding.", "One would usually pad the last token.", "The last token is the query."]
)
def test_sentences_that_mask_nothing(text: str) -> None:
    assert not list(rules(text))


def test_windows_and_prefixes() -> None:
    texts = (
        "Each token sees itself and its direct neighbours.",
        "Keys with |i-j| <= 2 are seen, a window.",
        "Causal sliding-window attention with a window of size 2 (each token sees the one before it).",
        "The first two tokens are a prefix.",
    )
    found = [next(rules(text)) for text in texts]
    assert [(rule.window, rule.behind, rule.prefix) for rule in found] == [
        (1, None, None),
        (2, None, None),
        (None, 2, None),
        (None, None, 2),
    ]


def test_a_mask_of_a_second_run() -> None:
    (rule,) = rules("Now suppose the last token is padding.")
    assert rule.later


def test_divisors() -> None:
    assert divisor_said("Scores are divided by 1 000.") == 1000
    assert divisor_said("The dot products are divided by 2.5.") == Fraction(5, 2)
    assert divisor_said("What if the scores were divided by 4 instead?") is None
