"""Letters that a pattern cannot do without."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.expr.stems import stems

PATTERNS = (
    (r"\balibi\b", ("alibi",)),
    (r"causa[al]|kausal\w*", ("causa", "kausal")),
    (r"\b(?:re)?(?:split|divid)\w*", ("split", "divid")),
    (r"pad(?:s|ded)?(?!x)|\[pad\]", ("pad",)),
    (r"neighbou?rs{2}", ("neighbo",)),
    (r"(?P<n>\d{1,2})[\s-]*heads?(?:of|with){0,1}", ("head",)),
    (r"window|\|\s*i\s*[-−]\s*j\s*\|", ("window", "|")),
    (r"(?<![\w.])rows+?|(?:per|in)\b.{0,20}\bcolumns?", ("rows", "column")),
)


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS)
def test_stems(pattern: str, expected: tuple[str, ...]) -> None:
    assert stems(pattern) == expected


@pytest.mark.parametrize("pattern", ["", r"\d+", r"causal|\w+", r"(?:causal)?", r"causal|q", "(?=causal)", "(causal|)"])
def test_nothing_is_sure(pattern: str) -> None:
    assert stems(pattern) == ()


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_every_match_holds_a_stem(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from([pattern for pattern, _ in PATTERNS]))
    text = data.draw(st.from_regex(pattern))
    assert any(stem in text for stem in stems(pattern))
