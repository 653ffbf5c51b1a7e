"""Matrices on the page: to be filled in, to be clicked, as a heat map, and in formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from qkv.interpret.trace import Table
from qkv.render.grid import pretty, shade

WIDTH = 6  # characters of a cell


def table(rows: int, columns: int, label: str, cell: Callable[[int, int], str], more: str = "") -> str:
    """A matrix in brackets; `cell` gives what stands in a row and column, from 1."""
    lines = ("".join(f'<td role="none">{cell(i, j)}</td>' for j in range(1, columns + 1)) for i in range(1, rows + 1))
    body = "".join(f'<tr role="none">{line}</tr>' for line in lines)  # each cell says its own row and column
    return (
        f'<table class="grid square" role="group" aria-label="{escape(label)}"{more}>'
        f'<tbody role="none">{body}</tbody></table>'
    )


def to_fill(name: str, rows: int, columns: int, prefix: str) -> str:
    """A grid of empty cells; the field of row 1, column 2 is called `prefix` 1_2."""
    return table(
        rows,
        columns,
        f"{name}, {rows} by {columns}",
        lambda i, j: (
            f'<input name="{prefix}{i}_{j}" size="{WIDTH}" autocomplete="off" autocapitalize="off" spellcheck="false" '
            f'maxlength="24" aria-label="{escape(name)}, row {i}, column {j}">'
        ),
    )


def to_click(name: str, cells: Table, at: int) -> str:
    """A grid of buttons, each with the number of its line, row and column."""
    return table(
        len(cells),
        len(cells[0]),
        f"{name}, {len(cells)} by {len(cells[0])}",
        lambda i, j: (
            f'<button type="submit" name="cell" value="{at}_{i}_{j}" '
            f'aria-label="{escape(name)}, row {i}, column {j}: {escape(cells[i - 1][j - 1])}">'
            f"{escape(pretty(cells[i - 1][j - 1]).replace('-', '−'))}</button>"
        ),
    )


def heat_map(caption: str, cells: Table, asking: Sequence[str], asked: Sequence[str]) -> str:
    """Weights with the tokens that ask down the side and those that are asked along the top; more weight is darker."""
    head = "".join(f'<th scope="col">{escape(token)}</th>' for token in asked)
    body = "".join(
        f'<tr><th scope="row">{escape(token)}</th>'
        + "".join(f'<td class="heat h{shade(text)}">{escape(text)}</td>' for text in row)
        + "</tr>"
        for token, row in zip(asking, cells, strict=True)
    )
    return (
        f'<div class="table"><table class="heats"><caption>{escape(caption)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
