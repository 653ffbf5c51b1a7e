"""Patterns that are compiled late do what compiled ones do, and nothing before they are used."""

import re

import pytest

from qkv.expr.late import late


def test_what_was_put_off_finds_the_same():
    pattern = late(r"(?P<word>q|k)\d", re.IGNORECASE)
    assert [found["word"] for found in pattern.finditer("Q1 k2 v3")] == ["Q", "k"]
    assert pattern.sub("x", "K1 v1") == "x v1"
    assert pattern.pattern == r"(?P<word>q|k)\d"


def test_nothing_is_compiled_before_it_is_used():
    broken = late("(")
    with pytest.raises(re.error):
        broken.search("text")
