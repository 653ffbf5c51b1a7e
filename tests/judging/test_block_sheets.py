"""Practice sheets of what stands around attention: what is right is called so, and a planted slip is found."""

from __future__ import annotations

import pytest

import qkv
from laws.around import AROUND
from laws.authors import sheet

FALSE = {"wrong", "carried", "misread"}


@pytest.mark.parametrize("kind", AROUND)
@pytest.mark.parametrize("notation", ["bmatrix", "mixed"])
def test_nothing_is_accused_where_nothing_is_wrong(kind: str, notation: str) -> None:
    for seed in range(3):
        assert not FALSE & set(qkv.check(sheet(kind, seed, notation).text).summary), (kind, seed)


@pytest.mark.parametrize("kind", AROUND)
def test_a_planted_slip_is_found_where_it_stands(kind: str) -> None:
    found = []
    for seed in range(6):
        practice = sheet(kind, seed, "bmatrix", slips=1)
        planted = [expected for expected in practice.key if expected.verdict == "wrong"]
        wrong = [claim for claim in qkv.check(practice.text).claims if claim.verdict == "wrong"]
        found += [any(c.line <= e.end_line and e.line <= c.end_line for c in wrong) for e in planted]
    assert found
    assert sum(found) >= len(found) - 1


def test_a_table_of_sines_is_judged_by_the_usual_formula_where_words_speak_of_positions() -> None:
    page = (
        "Sinusoidal positional encoding, d_model = 4.\n\n- pos 0: [0, 1, 0, 1]\n- pos 1: [0.8415, 0.5403, 0.0100, {}]\n"
    )
    assert [claim.verdict.value for claim in qkv.check(page.format("1.0000")).claims] == ["rounded"]
    assert [claim.verdict.value for claim in qkv.check(page.format("0.9000")).claims] == ["unread"]
