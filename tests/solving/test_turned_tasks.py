"""Queries and keys that a page turns by their positions (RoPE): what its sentences say, in several languages."""

from __future__ import annotations

from math import cos, exp, pi, radians, sin, sqrt

import pytest

from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet


def turned(vector: list[float], angles: list[float], place: int, halves: bool = False) -> list[float]:
    """Each pair (a, b) as (a cos φ − b sin φ, a sin φ + b cos φ)."""
    made, count = list(vector), len(angles)
    for i, angle in enumerate(angles):
        a, b = (i, i + count) if halves else (2 * i, 2 * i + 1)
        phi = place * angle
        made[a], made[b] = vector[a] * cos(phi) - vector[b] * sin(phi), vector[a] * sin(phi) + vector[b] * cos(phi)
    return made


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def answers(page: str) -> list[list[float]]:
    """The first row of what answers each question, in order."""
    found = []
    for trace in solve_sheet(read_sheet(page)).traces:
        for answer in trace.program.answers:
            for part in answer.parts:
                found.append([float(cell) for cell in trace.digits(part.expr.symbol, 9)[0]])  # type: ignore[union-attr]
    return found


def close(found: list[list[float]], wanted: list[list[float]]) -> None:
    assert [len(row) for row in found] == [len(row) for row in wanted]
    for row, right in zip(found, wanted, strict=True):
        assert row == pytest.approx(right, abs=1e-6)


ENGLISH = r"""# Rotary positions

RoPE turns neighbouring components of the vector at position m by m·θ_1 and m·θ_2:
$$(a, b) \mapsto (a\cos\varphi - b\sin\varphi,\; a\sin\varphi + b\cos\varphi)$$
Take d = 4, θ_1 = 0.6 and θ_2 = 0.1. q = (1, 2, 0, 1) stands at position 3, k = (2, 0, 1, 1) at position 1.

(a) Give the rotated query q'.
(b) Give the rotated key k'.
(c) Compute the score q'·k'.
(d) What is the score if q is moved to position 9 and k to position 5?
"""


def test_a_query_and_a_key_at_the_positions_that_sentences_say():
    q, k, angles = [1, 2, 0, 1], [2, 0, 1, 1], [0.6, 0.1]
    wanted = [turned(q, angles, 3), turned(k, angles, 1)]
    later = dot(turned(q, angles, 9), turned(k, angles, 5))
    close(answers(ENGLISH), [*wanted, [dot(*wanted)], [later]])


FRENCH = """## Encodage rotatif

Les paires (1,2) et (3,4) du vecteur en position m sont tournées de m·θᵢ, avec θᵢ = 400^(−2i/4). Rotation :

    (a, b) ↦ (a cos φ − b sin φ, a sin φ + b cos φ)

Soit la requête q = (1 ; 0 ; 2 ; 1) en position 2 et la clé k = (3 ; 1 ; 0 ; −1) en position 4.

1. Calculer la requête tournée.
2. En déduire le score (on ne divise pas par √d ici).
3. Et si les deux sont en position 0 ?
"""


def test_angles_by_a_formula_and_both_at_one_position():
    q, k, angles = [1, 0, 2, 1], [3, 1, 0, -1], [1, 0.05]
    made = turned(q, angles, 2)
    close(answers(FRENCH), [made, [dot(made, turned(k, angles, 4))], [dot(q, k)]])


JAPANESE = """# 演習：回転位置埋め込み（RoPE）

隣り合う成分 (1,2) と (3,4) を組にして回転させる。

- 1 組目：θ₁ = π/4
- 2 組目：θ₂ = π/6

    q = (1, 1, 0, 2)
    k = (2, 0, 1, 1)

**(1)** 位置 3 に置いた q を回転させたベクトルを求めよ。

**(2)** 位置 1 に置いた k を回転させたベクトルを求めよ。

**(3)** 注意スコア q̃·k̃ / √d を求めよ。

**(4)** 位置を (5, 6) に変えるとスコアはいくらになるか。

**(5)** 同じキー k が位置 0, 1, 2 に置かれているとき、位置 2 の q から見た注意の重み（softmax）を求めよ。
"""


def test_positions_that_stand_before_their_vectors():
    q, k, angles = [1, 1, 0, 2], [2, 0, 1, 1], [pi / 4, pi / 6]

    def score(m: int, n: int) -> float:
        return dot(turned(q, angles, m), turned(k, angles, n)) / 2

    shares = [exp(score(2, n)) for n in (0, 1, 2)]
    wanted = [turned(q, angles, 3), turned(k, angles, 1), [score(3, 1)], [score(5, 6)]]
    close(answers(JAPANESE), [*wanted, [x / sum(shares) for x in shares]])


HALVES = """RoPE, as in many libraries: component i is paired with component i + d/2 (halves), angles θ_1 = {0} and θ_2 = {1} per
position. The query q = [1, 2, 3, 4] is at position {2}.

1. Compute the rotated query.
"""


@pytest.mark.parametrize("place", [1, 3])
def test_pairs_of_halves(place: int):
    close(answers(HALVES.format("0.5", "0.2", place)), [turned([1, 2, 3, 4], [0.5, 0.2], place, halves=True)])


def test_angles_in_degrees():
    page = "RoPE mit einem Winkel theta = 30° je Position. Die Anfrage q = [2, 1] steht an Position 2.\n\n"
    close(answers(page + "1. Berechne die gedrehte Anfrage."), [turned([2, 1], [radians(30)], 2)])


def test_a_page_that_turns_the_other_way_is_taken_at_its_word():
    page = "RoPE here: (a, b) -> (a cos phi + b sin phi, -a sin phi + b cos phi), theta = 0.5 per position.\n\n"
    page += "The query q = [2, 1] is at position 3.\n\n1. Compute the rotated query."
    close(answers(page), [turned([2, 1], [-0.5], 3)])


def test_scores_are_divided_where_the_question_says_so():
    page = "RoPE with theta = 0.5: the query q = [2, 1] is at position 3 and the key k = [1, 1] at position 1.\n\n"
    page += "1. Compute the score of the rotated vectors, divided by √2."
    close(answers(page), [[dot(turned([2, 1], [0.5], 3), turned([1, 1], [0.5], 1)) / sqrt(2)]])


def test_a_question_for_plain_scores_is_not_answered_with_turned_ones():
    page = "RoPE with theta = 0.5: the query q = [2, 1] is at position 3 and the key k = [1, 1] at position 1.\n\n"
    assert answers(page + "1. Compute the score q k^T without rotation.") in ([], [[3.0]])
