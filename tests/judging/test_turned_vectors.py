"""Printed vectors that a page turns by their positions (RoPE), and what stands on them."""

from __future__ import annotations

from math import cos, exp, sin, sqrt

import pytest

import qkv

ANGLE, Q, KEYS = 0.4, (2, 1), ((1, 0), (1, 2), (2, -1))


def turned(vector: tuple[float, float], phi: float) -> list[float]:
    a, b = vector
    return [a * cos(phi) - b * sin(phi), a * sin(phi) + b * cos(phi)]


def page(query: list[float], keys: list[list[float]], scores: list[float] | None = None) -> str:
    """A worked answer; scores and weights follow from the vectors as they are printed."""
    dots = [query[0] * k[0] + query[1] * k[1] for k in keys]
    scores = scores or [x / sqrt(2) for x in dots]
    weights = [exp(x) / sum(map(exp, scores)) for x in scores]
    rows = "\n".join(f"    k{i} at {i} : ({k[0]:.4f}, {k[1]:.4f})" for i, k in enumerate(keys))
    return f"""**RoPE on actual numbers**

theta = {ANGLE} rad per position, positions 0, 1, 2. The query is the last token (pos 2), q = {Q}.
Keys k0 = {KEYS[0]}, k1 = {KEYS[1]}, k2 = {KEYS[2]}.
Rotation by phi: (a, b) -> (a cos phi - b sin phi, a sin phi + b cos phi).

    q  at 2 : ({query[0]:.4f}, {query[1]:.4f})
{rows}

scores / sqrt(2):

    {"   ".join(f"{x:.4f}" for x in scores)}

softmax: {", ".join(f"{x:.4f}" for x in weights)}
"""


def verdicts(text: str) -> list[str]:
    return [claim.verdict.value for claim in qkv.check(text).claims]


RIGHT_KEYS = [turned(k, i * ANGLE) for i, k in enumerate(KEYS)]
RIGHT_QUERY = turned(Q, 2 * ANGLE)


def test_right_vectors_scores_and_weights():
    assert not {"wrong", "carried", "unread", "misrounded"} & set(verdicts(page(RIGHT_QUERY, RIGHT_KEYS)))


def test_a_sign_in_one_component_is_found_and_what_follows_is_carried():
    slipped = [2 * cos(2 * ANGLE) + (-1) * sin(2 * ANGLE), RIGHT_KEYS[2][1]]
    found = verdicts(page(RIGHT_QUERY, [*RIGHT_KEYS[:2], slipped]))
    assert found[-3:] == ["wrong", "carried", "carried"]


@pytest.mark.parametrize(
    "query, says",
    [
        (turned(Q, -2 * ANGLE), "turned by minus"),
        (turned(Q, 3 * ANGLE), "one too high"),
        ([2 * sin(2 * ANGLE) - cos(2 * ANGLE), 2 * cos(2 * ANGLE) + sin(2 * ANGLE)], "sine and cosine"),
    ],
)
def test_a_known_mistake_is_named(query: list[float], says: str):
    claim = next(claim for claim in qkv.check(page(query, RIGHT_KEYS)).claims if claim.verdict.value == "wrong")
    assert claim.cause is not None
    assert says in claim.cause.says


def test_scores_that_do_not_follow_are_wrong():
    right = [(RIGHT_QUERY[0] * k[0] + RIGHT_QUERY[1] * k[1]) / sqrt(2) for k in RIGHT_KEYS]
    found = verdicts(page(RIGHT_QUERY, RIGHT_KEYS, [right[0], right[1] + 0.5, right[2]]))
    assert found[-2:] == ["wrong", "carried"]


NAMED = """# Corrigé

RoPE, angles θ_1 = 1 et θ_2 = 0,1 par position, paires voisines. La requête q = (1 ; 2 ; 0 ; 1) est en position 3.

q' = (%s)
"""


def test_a_vector_with_a_name_of_its_own():
    right = [*turned((1, 2), 3), *turned((0, 1), 0.3)]
    halves = [cos(3), 2 * cos(0.3) - sin(0.3), sin(3), 2 * sin(0.3) + cos(0.3)]
    assert verdicts(NAMED % " ; ".join(f"{x:.4f}" for x in right)) == ["rounded"]
    claim = qkv.check(NAMED % " ; ".join(f"{x:.4f}" for x in halves)).claims[-1]
    assert claim.verdict.value == "wrong"
    assert claim.cause is not None
    assert "other columns" in claim.cause.says


def test_another_version_of_a_vector_is_not_taken_for_the_turned_one():
    text = (
        "RoPE, theta = 0.5 per position. The query is q = (2, 1) at position 2, the key k = (1, 3) at position 0.\n\n"
    )
    assert "wrong" not in verdicts(text + "Projected query: q' = (1.5, 0.5)\n\nq without rotation: (2, 1)\n")
