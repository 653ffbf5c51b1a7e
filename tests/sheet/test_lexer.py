"""Tokens: what each notation becomes, and where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qkv.errors import LimitError, Location
from qkv.sheet.lexer import normalised, tokens_of
from qkv.sheet.numerals import comma_in, comma_of_document, plain_digits, value_of
from qkv.sheet.places import Places

KINDS = [
    (r"\mathbf{QK}^\top", "name Q, name K, script ^, name T"),
    ("XWQ", "name X, name W, sub Q"),
    ("dk d_model", "name d, sub k, name d, script _, word model"),
    ("q1", "name q, sub 1"),
    (r"Scaled\_Scores_1", "word Scaled_Scores, script _, num 1"),
    ("Wₖ Kᵀ α₁ 𝐐", "name W, sub k, name K, sup T, name alpha, sub 1, name Q"),
    ("3x2", "num 3, op ×, num 2"),
    (r"\text{softmax}(\mathrm{Soft Max})", "func softmax, open (, func Soft Max, close )"),
    ("K.T", "name K, sup T"),
    (r"1{,}048{,}576", "num 1048576"),
    ("(100,200,300)", "open (, num 100, sep ,, num 200, sep ,, num 300, close )"),
    (r"\frac12", "cmd frac, num 1, num 2"),
    (r"a \\[2pt] b", "name a, row \\\\[2pt], name b"),
    (r"\rightarrow\leftarrow", "rel →, rel ="),
    (r"\tag{1} \label{eq} x \checkmark", "name x"),
    ("np.array([1])", "func array, open (, open [, num 1, close ], close )"),
    ("W<sub>o</sub>", "name W, script _, open {, name o, close }"),
    ("x % a comment\ny", "name x, name y"),
    ("（1，2）", "open (, num 1, sep ,, num 2, close )"),
]


@pytest.mark.parametrize(("source", "expected"), KINDS)
def test_tokens(source: str, expected: str) -> None:
    found = ", ".join(
        f"{t.kind} {t.text.lstrip('left') if t.kind in ('open', 'close') else t.text}" for t in tokens_of(source)
    )
    assert found == expected


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("Scores", "word"),
        ("weights", "word"),
        ("Hence", "prose"),
        ("größer", "prose"),
        ("QK", "name"),
        ("THIS", "prose"),
    ],
)
def test_words_of_a_plain_line(source: str, kind: str) -> None:
    assert tokens_of(source, strict=False)[0].kind == kind


@given(st.text())
def test_tokens_stand_where_they_say(source: str) -> None:
    tokens = tokens_of(source)
    assert len(normalised(source, strict=True)) == len(source)
    assert all(0 <= t.start <= t.end <= len(source) for t in tokens)


def test_places_count_lines_and_columns() -> None:
    places = Places("ab\ncd", Location(7, 5))
    assert [places.at(i) for i in (0, 1, 3, 4)] == [Location(7, 5), Location(7, 6), Location(8, 1), Location(8, 2)]


@pytest.mark.parametrize(
    ("text", "comma", "expected"),
    [
        (r"1{,}048{,}576", False, "1048576"),
        (r"0{,}500", False, "0.500"),
        (r"1{,}500", False, "1500"),
        (r"1{,}500", True, "1.500"),
        ("0,5", True, "0.5"),
        (r"10\,000", False, "10000"),
    ],
)
def test_digits(text: str, comma: bool, expected: str) -> None:
    assert plain_digits(text, decimal_comma=comma) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0,5; 0,25]", "bare"),
        (r"\begin{pmatrix} 0,5 & 1 \\ 2 & 3 \end{pmatrix}", "bare"),
        (r"e^{2,31} \approx 10,07", "bare"),
        (r"0{,}707 & 1{,}414", "braced"),
        ("[1,1]+[0,1] = [1,2]", "untold"),
        ("[0, 5]", "untold"),
        ("[0,5; 0.25]", "untold"),
        ("i = 1, 2, 3", "untold"),
        (r"1{,}048{,}576", "untold"),
        (r"121{,}072", "untold"),
    ],
)
def test_decimal_commas_must_be_sure(text: str, expected: str) -> None:
    assert comma_in(text).value == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"Aufgabe 8.2 vom 09.12.2022: $e^{1,41} \approx 4,10$. Summe $5,34$, Rest $\approx 0,2$", "bare"),
        ("*(1,5 pt)* On divise par 2", "bare"),
        (r"$q = (1,2)$, $e^{0{,}5} \approx 1{,}649$", "braced"),
        ("S = [1,41; 0,71]", "bare"),
        ("| 2,828 | 2,828 |\n| 0,5 | 0,5 |", "bare"),
        ("| 2,828 | 1,048,576 |\n| 1,5 | 2 |", "untold"),
        ("1,000 tokens, i = 0,1 and [0,10] and W_{1,2}", "untold"),
        (r"$0.5 \approx 0.50$ and $x \approx 1,2$", "untold"),
    ],
)
def test_a_document_says_what_its_commas_are(text: str, expected: str) -> None:
    assert comma_of_document(text).value == expected


@pytest.mark.parametrize("text", ["9" * 5000, "1e99999999", "1e-30000"])
def test_absurd_numbers_are_refused(text: str) -> None:
    with pytest.raises(LimitError):
        value_of(text)
