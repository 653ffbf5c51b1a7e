"""Tables of sines and cosines of positions, as pages set them out."""

from __future__ import annotations

from math import cos, sin

import pytest

import qkv


def code(place: int, width: int, base: float) -> list[float]:
    angles = [place / base ** (2 * (j // 2) / width) for j in range(width)]
    return [cos(angle) if j % 2 else sin(angle) for j, angle in enumerate(angles)]


def verdicts(page: str) -> list[str]:
    return [claim.verdict.value for claim in qkv.check(page).claims]


def row(cells: list[float]) -> list[str]:
    return [f"{x:.3f}" for x in cells]


FORMULAS = "PE(pos, 2i) = sin(pos / {base}^(2i/d)),  PE(pos, 2i+1) = cos(pos / {base}^(2i/d))\n\n"


def barred(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def down(codes: list[list[float]]) -> str:
    """A row for each position, with sines and cosines as heads."""
    rows = [[f"{place}", *row(cells)] for place, cells in enumerate(codes)]
    return "## Encodages de position\n\n" + FORMULAS.format(base=100) + "d = 4\n\n" + barred(
        ["Position", "sin(θ₀)", "cos(θ₀)", "sin(θ₁)", "cos(θ₁)"], rows
    )  # fmt: skip


def across(codes: list[list[float]]) -> str:
    """A column for each position: the first four components of fifty."""
    rows = [[f"i={j}", *row([cells[j] for cells in codes])] for j in range(4)]
    table = barred(["Dimension", *(f"p{place}" for place in range(len(codes)))], rows)
    return (
        "## Positional encoding\n\n"
        + FORMULAS.format(base=10000)
        + "Some values:\n\n"
        + table
        + "\n**Settings**: d = 50.\n"
    )


def led(codes: list[list[float]]) -> str:
    """A plain grid with the positions before the codes."""
    heads = "pos   sin(pos)   cos(pos)   sin(pos/10)   cos(pos/10)"
    grid = "\n".join("   ".join([str(place), *row(cells)]) for place, cells in enumerate(codes))
    return "Übung: Positionskodierung\n\n" + FORMULAS.format(base=100) + f"d = 4\n\nLösung:\n{heads}\n{grid}\n"


PAGES = [(down, 4, 100), (across, 50, 10000), (led, 4, 100)]


@pytest.mark.parametrize("page, width, base", PAGES)
def test_codes_of_positions(page, width: int, base: float):
    codes = [code(place, width, base) for place in range(3)]
    assert {"wrong", "unread", "carried"}.isdisjoint(verdicts(page(codes)))
    codes[2][1] = -codes[2][1]
    claim = next(claim for claim in qkv.check(page(codes)).claims if claim.verdict.value == "wrong")
    assert len(claim.cells) == 1
    assert claim.cells[0].shown == f"{codes[2][1]:.3f}"


def test_sines_for_cosines():
    codes = [[x for j in (1, 0, 3, 2) for x in [code(place, 4, 100)[j]]] for place in range(3)]
    claim = next(claim for claim in qkv.check(down(codes)).claims if claim.verdict.value == "wrong")
    assert claim.cause is not None
    assert "sine and cosine" in claim.cause.says


def test_angles_of_positions():
    page = "## Positional encoding\n\n" + FORMULAS.format(base=10000) + "Embedding dimension: 4\n\nAngles:\n\n"
    heads = ["Position", "dim 0,1", "dim 2,3"]
    right, wrong = [["pos=0", "0", "0"], ["pos=1", "1", "0.01"], ["pos=2", "2", "0.02"]], ["pos=2", "2", "0.2"]
    assert verdicts(page + barred(heads, right))[-1] in ("right", "rounded")
    assert verdicts(page + barred(heads, [*right[:2], wrong]))[-1] == "wrong"


def test_tokens_with_their_codes_added():
    codes = [code(place, 4, 100) for place in range(2)]
    tokens = [[1, 0, 1, 0], [0, 1, 0, 1]]
    page = (
        "# Positionskodierung\n\n" + FORMULAS.format(base=100) + "d = 4\n\nx_0 = [1, 0, 1, 0]\nx_1 = [0, 1, 0, 1]\n\n"
    )
    page += "Eingabe h_pos = x_pos + PE(pos):\n"
    sums = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(tokens, codes, strict=True)]
    given = "".join(f"h_{i} = [{', '.join(row(cells))}]\n" for i, cells in enumerate(sums))
    assert {"wrong", "unread", "carried"}.isdisjoint(verdicts(page + given))
    assert verdicts(page + given.replace(row(sums[1])[1], "1.140"))[-1] == "wrong"


def test_other_tables_on_such_a_page_are_given():
    page = "## Positional encoding\n\n" + FORMULAS.format(base=100) + "d = 2\n\nToken embeddings:\n\n"
    assert "wrong" not in verdicts(page + barred(["a", "b"], [["0.1", "0.5"], ["0.3", "-0.2"]]))
