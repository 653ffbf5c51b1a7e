"""Forms that nobody's browser sends: every part of the page answers them, with an answer and without a tag of theirs."""

from __future__ import annotations

import pytest

from qkv.page.respond import PARTS, respond

FIELDS = {
    "practice": ("game", "kind", "level", "seed", "language"),
    "practice/answer": ("kind", "level", "seed", "language", "at", "tries", "hints", "c1_1"),
    "practice/hint": ("kind", "level", "seed", "language", "at", "hints"),
    "practice/slip": ("kind", "level", "seed", "language", "cell", "tries"),
    "calculator": (
        *("from", "tokens", "mask", "scale", "own", "temperature", "normalise", "heads", "project", "norm"),
        *("X", "W_Q", "W_K", "W_V", "W_O", "Q", "K", "V"),
    ),
    "calculator/why": ("power", "heat"),
    "costs": ("n", "layers", "d", "h", "kv_heads", "d_ff", "words", "bytes", "biases"),
}
HOSTILE = (
    *(
        "",
        " ",
        "<script>x</script>",
        '"><img src=x onerror=x>',
        "<img> <script> <b>",
        "\0",
        "−1",
        "-1",
        "²",
        "٣",
        "1e9",
        "nan",
        "inf",
        "1/0",
    ),
    *("9" * 3000, "1;" * 3000, "[" * 3000, "\ud800", "§_Q", "__class__"),
)


def test_every_part_of_these_views_is_tried() -> None:
    assert set(FIELDS) == {path for path in PARTS if not path.startswith("sheet")}


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: ascii(value[:12]))
@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in FIELDS.items() for name in names])
def test_a_hostile_field_is_answered(path: str, name: str, value: str) -> None:
    answer = respond(path, {name: value, **({"from": "QKV"} if name in "QKV" else {})})
    assert answer.status == 200
    assert isinstance(answer.body, str)
    assert answer.body
    assert "<script" not in answer.body
    assert "<img" not in answer.body
