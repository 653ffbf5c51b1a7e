"""Words in any case."""

from __future__ import annotations

import re

import pytest

from qkv.expr.wording import Wording


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("causal|kausal", "A CAUSAL mask", "causal"),
        (r"Q\s*K", "Scores q k here", "q k"),
        (r"\bKV[ -]?Cache", "the KV-cache", "kv-cache"),
        (r"(?P<n>\d) Heads", "with 8 heads", "8 heads"),
        (r"\S+ ÜBUNG", "zweite Übung", "zweite übung"),
        (r"kausal", "Kausalität", "kausal"),
    ],
)
def test_any_case(pattern: str, text: str, found: str) -> None:
    hit = Wording(pattern).search(text)
    assert hit is not None
    assert hit[0] == found


@pytest.mark.parametrize("pattern", [r"\bGQA\b", r"heads|\bgqa\b", r"\bgqa?\b|x", r"(?:\bgqa|heads)\b", r"a\|\bgqa"])
@pytest.mark.parametrize("text", ["GQA", "with gqa.", "xgqa", "gqas", "gq", "xgq heads", "a|gqa", "a|xgqa", ""])
def test_where_a_word_begins_is_found_as_re_finds_it(pattern: str, text: str) -> None:
    hit, expected = Wording(pattern).search(text), re.search(pattern, text, re.IGNORECASE)
    assert (hit and hit.span()) == (expected and expected.span())


def test_classes_keep_their_meaning() -> None:
    assert Wording(r"\Wx").search("ax") is None
    assert Wording(r"\Dx").search("AX") is not None


def test_may_occur() -> None:
    split = Wording(r"\b(?:re)?split\b")
    assert split.may_occur("We Split Q")
    assert split.may_occur("splitting")
    assert not split.may_occur("We divide Q")


def test_finds_what_ignoring_case_finds() -> None:
    pattern, text = r"heads?|K(?:ey|opf)|\bMSA\b", "Two Heads, one KOPF, a key; MSA and msab"
    places = [hit.span() for hit in Wording(pattern).finditer(text)]
    assert places == [hit.span() for hit in re.finditer(pattern, text, re.IGNORECASE)]


@pytest.mark.parametrize("text", ["the slope of it", "the\nslope of it", "slope\nof it", "an islope", "alibi"])
def test_long_texts_are_searched_alike(text: str) -> None:
    wording, filler = Wording(r"slope of|alibi"), "word " * 200
    assert bool(wording.search(filler + text)) == bool(wording.search(text)) == wording.may_occur(text)
    assert wording.signs_in(filler + text) == wording.signs_in(text)


@pytest.mark.parametrize("text", ["softmax of each column", "softmax of each row", "a column", ""])
def test_told_stems_change_nothing(text: str) -> None:
    pattern = r"softmax .{0,20}columns?"
    assert bool(Wording(pattern, told=("column",)).search(text)) == bool(Wording(pattern).search(text))
