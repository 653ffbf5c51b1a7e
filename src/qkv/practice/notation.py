"""Ways to write a matrix and an equation down: a table of notations, all of which the reader reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from qkv.interpret.trace import Table
from qkv.practice.hand import MINUS_INFINITY

Lines = list[str]


@dataclass(frozen=True, slots=True)
class Chain:
    """name = formula = operands ≈ value, each part already in the notation; `words` say what it is."""

    words: str
    parts: tuple[str, ...]
    value: Table
    exact: bool
    name: str = ""


@dataclass(frozen=True, slots=True)
class Notation:
    """One way of writing. `equation` gives the lines of one chain and the number of the line, from 0, where its value
    begins; `opening` and `closing` frame a run of equations (an align block), `head` and `foot` the document."""

    key: str
    suffix: str
    latex: bool
    matrix: Callable[[Table], str]
    equation: Callable[[Notation, Chain], tuple[Lines, int]]
    opening: Lines = ()  # type: ignore[assignment]
    closing: Lines = ()  # type: ignore[assignment]
    head: Lines = ()  # type: ignore[assignment]
    foot: Lines = ()  # type: ignore[assignment]
    heading: str = "## {}"
    copies: bool = True  # whether operands can be copied out in this notation
    formulas: bool = True  # whether a value with a name can have a formula too


# ---------------------------------------------------------------- matrices


def _tex_cell(text: str) -> str:
    return r"-\infty" if text == MINUS_INFINITY else text


def _environment(begin: str, end: str) -> Callable[[Table], str]:
    def write(rows: Table) -> str:
        body = r" \\ ".join(" & ".join(map(_tex_cell, row)) for row in rows)
        return f"{begin.replace('COLUMNS', 'c' * len(rows[0]))} {body} {end}"

    return write


def _nested(rows: Table) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def _semicolons(rows: Table) -> str:
    return "[" + "; ".join(" ".join(row) for row in rows) + "]"


BMATRIX = _environment(r"\begin{bmatrix}", r"\end{bmatrix}")
PMATRIX = _environment(r"\begin{pmatrix}", r"\end{pmatrix}")
ARRAY = _environment(r"\left[\begin{array}{COLUMNS}", r"\end{array}\right]")


# ---------------------------------------------------------------- equations


def _value(notation: Notation, chain: Chain) -> str:
    """A matrix, or a number without brackets."""
    if len(chain.value) == len(chain.value[0]) == 1:
        return chain.value[0][0]
    return notation.matrix(chain.value)


def _tex_chain(notation: Notation, chain: Chain) -> str:
    sign = "=" if chain.exact else r"\approx"
    left = " = ".join(part for part in (chain.name, *chain.parts) if part)
    return f"{left} {sign} {_value(notation, chain)}"


def _display(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return [f"{chain.words}:", "", f"$${_tex_chain(notation, chain)}$$", ""], 2


def _tall_display(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return [f"{chain.words}:", "", "$$", _tex_chain(notation, chain), "$$", ""], 3


def _inline(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return [f"- {chain.words}: ${_tex_chain(notation, chain)}$"], 0


def _brackets(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return [f"{chain.words}:", rf"\[ {_tex_chain(notation, chain)} \]", ""], 1


def _aligned(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return [re.sub(r" (=|\\approx) ", r" &\1 ", _tex_chain(notation, chain), count=1) + r" \\"], 0


def _plain(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    left = " = ".join(part for part in (chain.name, *chain.parts) if part)
    return [f"{left} {'=' if chain.exact else '≈'} {_value(notation, chain)}", ""], 0


def _grid(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    """Rows in brackets on top of each other, as in a text file."""
    widths = [max(map(len, column)) for column in zip(*chain.value, strict=True)]
    left = " = ".join(part for part in (chain.name, *chain.parts) if part) + " = "
    rows = ["[ " + "  ".join(map(str.rjust, row, widths)) + " ]" for row in chain.value]
    return [left + rows[0], *(" " * len(left) + row for row in rows[1:]), ""], 0


def _numpy(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    widths = [max(map(len, column)) for column in zip(*chain.value, strict=True)]
    rows = ["[" + " ".join(map(str.rjust, row, widths)) + "]" for row in chain.value]
    body = [("[" if i == 0 else " ") + row + ("]" if i == len(rows) - 1 else "") for i, row in enumerate(rows)]
    return [f"{chain.words} `{chain.name or chain.parts[0]}`:", "", "```", *body, "```", ""], 3


def _table(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    left = " = ".join(part for part in (chain.name, *chain.parts) if part)
    header = "| " + " | ".join(["", *(str(i) for i in range(1, len(chain.value[0]) + 1))]) + " |"
    rule = "|" + "---|" * (len(chain.value[0]) + 1)
    rows = [
        "| " + " | ".join((str(i), *(f"${_tex_cell(c)}$" if c == MINUS_INFINITY else c for c in row))) + " |"
        for i, row in enumerate(chain.value, 1)
    ]
    return [f"{chain.words} ${left}$:", "", header, rule, *rows, ""], 4


NOTATIONS: dict[str, Notation] = {
    notation.key: notation
    for notation in (
        Notation("bmatrix", ".md", True, BMATRIX, _display),
        Notation("bmatrix-tall", ".md", True, BMATRIX, _tall_display),
        Notation("pmatrix-inline", ".md", True, PMATRIX, _inline),
        Notation("array", ".md", True, ARRAY, _display),
        Notation("align", ".md", True, BMATRIX, _aligned, ["$$", r"\begin{aligned}"], [r"\end{aligned}", "$$", ""]),
        Notation(
            "tex", ".tex", True, PMATRIX, _brackets,
            head=[r"\documentclass{article}", r"\usepackage{amsmath}", r"\begin{document}"],
            foot=[r"\end{document}"], heading=r"\section*{{{}}}",
        ),
        Notation("lists", ".txt", False, _nested, _plain, heading="{}"),
        Notation("semicolons", ".md", False, _semicolons, _plain),
        Notation("grid", ".txt", False, _nested, _grid, heading="{}", copies=False),
        Notation("numpy", ".md", False, _nested, _numpy, copies=False, formulas=False),
        Notation("tables", ".md", True, BMATRIX, _table, copies=False),
    )
}  # fmt: skip
