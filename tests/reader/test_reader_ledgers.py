"""Tables of items, workings and values: each row a chain, totals as sums of what stands above them."""

from __future__ import annotations

import pytest

import qkv
from qkv.check.model import Verdict

TABLE = """| Posten | Rechnung | Wert |
|---|---|---|
| Einbettung | 900 · 64 | {embedding} |
| Attention | 4 · 64² | 16.384 |
| Feed-forward | 2 · 64 · 256 | 32.768 |
| eine Schicht | Summe der zwei | {layer} |
| 3 Schichten | × 3 | {layers} |
| gesamt | | {total} |
"""
RIGHT = {"embedding": "57.600", "layer": "49.152", "layers": "147.456", "total": "205.056"}


def verdicts(page: str) -> dict[int, Verdict]:
    """The worst verdict of each line."""
    return {claim.line: claim.verdict for claim in qkv.check(page).claims}


def ledger(**changed: str) -> str:
    return TABLE.format(**{**RIGHT, **changed})


def test_a_right_table_is_right_and_every_row_of_it_is_judged():
    assert verdicts(ledger()) == dict.fromkeys(range(3, 9), Verdict.RIGHT)


def test_a_slip_in_a_row_is_carried_to_the_total_and_nowhere_else():
    found = verdicts(ledger(embedding="57.060", total="204.516"))
    assert found[3] is Verdict.WRONG
    assert found[8] is Verdict.CARRIED
    assert {found[line] for line in (4, 5, 6, 7)} == {Verdict.RIGHT}


def test_a_sum_that_is_wrong_itself_is_found_and_carried_through_what_is_taken_of_it():
    found = verdicts(ledger(layer="49.252", layers="147.756", total="205.356"))
    assert found[6] is Verdict.WRONG
    assert found[7] is found[8] is Verdict.CARRIED


@pytest.mark.parametrize("total", ["205.184", "300.000"])
def test_a_total_with_something_in_it_that_no_row_says_is_not_accused(total):
    assert verdicts(ledger(total=total)).get(8) not in (Verdict.WRONG, Verdict.CARRIED)


def test_thousands_may_be_set_apart_with_blanks_and_a_value_be_rounded_beside_it():
    page = (
        "| item | calcul | valeur |\n|---|---|---|\n| table | 5000 × 300 | 1 500 000 |\n| couche | 12 × 300² | 1 080 000 |\n"
        "| couches | 4 × 1 080 000 | 4 320 000 |\n| total | | 5 820 000 ≈ 5.82 M |\n"
    )
    found = verdicts(page)
    assert sorted(found) == [3, 4, 5, 6]
    assert set(found.values()) <= {Verdict.RIGHT, Verdict.ROUNDED}


def test_a_drawn_row_of_numbers_stays_a_row():
    (statement,) = qkv.read("A = | 100 200 |\n    | 300 400 |\n").statements
    assert statement.links[-1].expr.shape == (2, 2)
