"""Who follows what qkv says gets from a page that it cannot read to a worked sheet."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

import pytest

import qkv
from qkv.errors import ReadError

WORDS = "The query has entries three and four; key one has entries one and zero, key two zero and one.\n\nCompute the scores."
ONE_HOT = 'Tokens are one-hot over (a, b, c). Sequence: "a c". W_v doubles.\n\nCompute the output of self-attention.'
STEPS = "Our query points two steps east and one north. The first key points one step east, the second key three steps north.\n\nWhat are the scores?"
GERMAN = "Die Anfrage hat die Einträge 1 und 3, die Schlüssel sind 2 und 0, 1 und 1, 0 und 2. Die Werte seien 4, 8 und 12.\n\nBerechnen Sie die Ausgabe ohne Skalierung."
FRENCH = "On donne la requête « 2 puis 1 », les clés « 1 puis 0 » et « 0 puis 2 » et les valeurs 3 et 6.\n\nCalculer la sortie."
HALVES = "One query, one half and a quarter, and two keys: (a) one and zero, (b) zero and one. The values are 4 for (a) and 8 for (b).\n\nCompute the scores."
LIST = "query:\n  - 1\n  - 2\nkeys:\n  - [1, 0]\n  - [0, 1]\nvalues:\n  - [5, 5]\n  - [1, 0]\n\nCompute the scores."
UPRIGHT = "Keys (one per column):\n\n1 0 2\n3 1 0\n\nQuery:\n\n1\n2\n\nValues (one per column):\n\n1 2 3\n4 5 6\n\nCompute the scores."
RECORDS = "name;v1;v2\nq;1;2\nk1;0;1\nk2;1;1\nk3;2;0\nv1;1;0\nv2;0;1\nv3;1;1\n\nCompute the scores of q."
INDEXED = (
    'E1("We") = K1[8,1,5], V1[8,1,5]\n\nE2("are") = K2[3,9,2], V2[3,9,2]\n\nQ = [5, 2, 7]\n\nCompute the scores Q·K1.'
)
RUSSIAN = "Матрица Q: строки 1 0 и 0 1. Матрица K: строки 1 1 и 2 0. Матрица V: строки 3 1 и 0 2.\n\nВычислите выход внимания."
SLASHES = "> Query -> 2 1 0\n> Keys -> 1 0 1 / 0 1 0 / 1 1 0\n> Values -> 1 0 / 0 1 / 2 2\n\nCompute the scores."
CARDS = 'query card ....... 1, 2\nkey card "salt" .. 0, 1     value 4\nkey card "sugar" . 2, 0     value 10\n\ncompute the attention output'
NUMERALS = "Die Anfrage ist zwei und eins. Die Schlüssel lauten null und eins; eins und eins; zwei und null.\n\nBerechne die Scores."
NAMED = '{ "sun": [1, 0], "moon": [0, 1], "star": [1, 1] }\n\nCompute the self-attention output for every word.'
BESIDE = "     +-----+        +-----+\n Q : | 1 2 |    K : | 0 1 |\n     | 3 4 |        | 2 1 |\n     +-----+        +-----+\n\n Work out Q K'."


def command(page: str) -> tuple[str, list[str]]:
    """What stands above the command that qkv gives for a page, and what it tells with --let."""
    shown = str(qkv.read(page).solve())
    found = re.search(r'(.*)\n +(qkv solve FILE(?: \\\n +--let "[^"\n]*")+)', shown)
    assert found, shown
    words = shlex.split(found[2].replace("\\\n", " "))
    return found[1].strip(), [after for word, after in pairwise(words) if word == "--let"]


@pytest.mark.parametrize(
    ("page", "name", "answer"),
    [
        (WORDS, "S", (("3", "4"),)),
        (GERMAN, "Z", (("11.4037",),)),
        (FRENCH, "Z", (("4.50000",),)),
        (HALVES, "S", (("0.5", "0.25"),)),
        (LIST, "S", (("1", "2"),)),
        (UPRIGHT, "S", (("7",), ("2",), ("2",))),
        (RECORDS, "S", (("2", "3", "2"),)),
        (NAMED, "Z", (("0.802224", "0.598888"), ("0.598888", "0.802224"), ("0.751745", "0.751745"))),
        (RUSSIAN, "Z", (("0.990715", "1.66976"), ("2.00928", "1.33024"))),
        (SLASHES, "S", (("2", "1", "3"),)),
        (CARDS, "Z", (("7.00000",),)),
        (NUMERALS, "S", (("1", "3", "4"),)),
        (BESIDE, "S", (("2", "4"), ("4", "10"))),
    ],
)
def test_the_command_works_as_it_stands(page: str, name: str, answer: tuple[tuple[str, ...], ...]) -> None:
    """The numbers of the page stand in the lines to add, however the page tells them."""
    head, lets = command(page)
    assert head == "This works it out, if it is what is meant:"
    solved = qkv.read(page, let=lets).solve()
    assert not solved.advice
    assert solved[name].digits(6) == answer


@pytest.mark.parametrize(
    ("page", "lines", "known", "name", "answer"),
    [
        (
            ONE_HOT,
            ["Q = [_, _; _, _]", "K = [_, _; _, _]", "V = [_, _; _, _]"],
            ["Q = [1, 0, 0; 0, 0, 1]", "K = [1, 0, 0; 0, 0, 1]", "V = [2, 0, 0; 0, 0, 2]"],
            "Z",
            (("1.28091", "0", "0.719085"), ("0.719085", "0", "1.28091")),
        ),
        (
            STEPS,
            ["Q = [2, 1]", "K = [_, _; _, _]"],
            ["Q = [2, 1]", "K = [1, 0; 0, 3]"],
            "S",
            (("2", "3"),),
        ),
    ],
)
def test_blanks_are_what_a_person_has_to_fill_in(
    page: str, lines: list[str], known: list[str], name: str, answer: tuple[tuple[str, ...], ...]
) -> None:
    """All that is missing is said at once, in the shape that fits; a blank that was left is said so."""
    head, lets = command(page)
    assert head.startswith("Fill in the blanks")
    assert lets == lines
    with pytest.raises(ReadError, match="put the numbers in for the blanks"):
        qkv.read(page, let=lets)
    solved = qkv.read(page, let=known).solve()
    assert not solved.advice
    assert solved[name].digits(6) == answer


def test_the_words_of_the_page_are_quoted() -> None:
    shown = " ".join(str(qkv.read(GERMAN).solve()).split())
    assert "the keys (K) may be what line 1 says: “Schlüssel sind 2 und 0, 1 und 1, 0 und 2”" in shown


def test_names_with_an_index_are_found_in_the_text() -> None:
    _, lets = command(INDEXED)
    assert lets == ["K_1 = [8, 1, 5]"]
    assert "77" in str(qkv.read(INDEXED, let=lets).solve())


def test_what_was_told_before_stays_in_the_command() -> None:
    shown = str(qkv.read(WORDS, let=["Q = [3, 4]"]).solve())
    assert '--let "Q = [3, 4]" \\\n      --let "K = [1, 0; 0, 1]"' in shown


def test_the_command_is_one_line_a_line_to_add_at_any_width() -> None:
    for width in (40, 60, 120):
        assert '      --let "K = [2, 0; 1, 1; 0, 2]" \\\n' in qkv.read(GERMAN).solve().to_text(width=width)


def test_what_a_formula_of_the_page_lacks_is_asked_for_and_not_its_result() -> None:
    _, lets = command("R = P U^T\n\nP = [1 2; 0 1]\n\nCompute R.")
    assert lets == ["U = [_, _; _, _]"]


def test_vectors_that_were_told_are_not_called_unused() -> None:
    page = (
        "sun(1, 0) moon(0, 2) star(1, 1)\n\nSelf-attention with identity projections. Compute the output for each word."
    )
    _, lets = command(page)
    assert lets == ["X = [sun; moon; star]"]
    assert "not used" not in str(qkv.read(page, let=lets).solve())
