"""A small sheet in languages of which the tables have few words: roles and questions are understood all the same."""

from __future__ import annotations

import pytest
from test_labelled_answers import shown

SHEET = """{queries}

|   |   |   |
|:--|--:|--:|
| a | 1 | 0 |
| b | 2 | 1 |

{keys}

|   |   |   |
|:--|--:|--:|
| a | 1 | 2 |
| b | 0 | 1 |

{values}

|   |   |   |
|:--|--:|--:|
| a | 4 | 0 |
| b | 0 | 4 |

1. {scores}
"""
SCORES = (("1", "0"), ("4", "1"))


@pytest.mark.parametrize(
    "words",
    [
        ("Vragen", "Sleutels", "Waarden", "Bereken de inwendige producten."),
        ("Frågor", "Nycklar", "Värden", "Beräkna skalärprodukterna."),
        ("Spørringer", "Nøkler", "Verdier", "Beregn skalarproduktene."),
        ("Zapytania", "Klucze", "Wartości", "Oblicz iloczyny skalarne."),
        ("Dotazy", "Klíče", "Hodnoty", "Spočítejte skalární součiny."),
        ("Sorgular", "Anahtarlar", "Değerler", "Skorları hesaplayın."),
    ],
    ids=["nl", "sv", "no", "pl", "cs", "tr"],
)
def test_roles_and_questions_in_other_languages(words: tuple[str, str, str, str]) -> None:
    text = SHEET.format(**dict(zip(("queries", "keys", "values", "scores"), words, strict=True)))
    assert SCORES in shown(text)[0].values()


def test_what_a_corner_says_and_a_softmax_of_a_quotient() -> None:
    text = "Q\\td1\\td2\\nsun\\t1\\t0\\nsea\\t2\\t1\\n\\nK\\td1\\td2\\nsun\\t1\\t2\\nsea\\t0\\t1\\n\\nd = 4\\n\\n"
    text = text.replace("\\t", "\t").replace("\\n", "\n") + "S = Q K^T\n\nA = softmax of S/d\n\n1. Compute A.\n"
    assert shown(text)[0]["A"] == (("0.562177", "0.437823"), ("0.679179", "0.320821"))
