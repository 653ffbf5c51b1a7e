"""How a matrix and an equation are written down. Ours are LaTeX in displays; others are in tests/laws/notations.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from qkv.interpret.trace import Table
from qkv.practice.hand import MINUS_INFINITY

Lines = list[str]


@dataclass(frozen=True, slots=True)
class Chain:
    """name = formula = operands ≈ value, each part already in the notation; `words` say what it is, `tokens` whether
    its rows and its columns stand for tokens, `margin` the sizes that are multiplied: (3×4)(4×3)."""

    words: str
    parts: tuple[str, ...]
    value: Table
    exact: bool
    name: str = ""
    tokens: tuple[bool, bool] = (False, False)
    margin: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Notation:
    """One way of writing. `equation` gives the lines of one chain and the number of the line, from 0, where its value
    begins; `opening` and `closing` frame a run of equations (an align block), `head` and `foot` the document; `point`
    is the decimal point."""

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
    fractions: bool = True  # whether a number can be a fraction
    captions: bool = True  # whether words stand before a value
    point: str = "."
    minus: str = "-"
    exponential: str = "e^{{{}}}"
    signs: dict[str, str] = field(default_factory=dict)  # characters in the place of typed ones: K^T as Kᵀ

    def number(self, text: str) -> str:
        """A number, as this notation writes it."""
        if text == MINUS_INFINITY:
            return r"-\infty" if self.latex else self.minus + ("∞" if self.minus != "-" else "inf")
        over, _, under = text.partition("/")
        if under and self.latex:
            return rf"-\frac{{{over[1:]}}}{{{under}}}" if over.startswith("-") else rf"\frac{{{over}}}{{{under}}}"
        return text.replace(".", self.point).replace("-", self.minus)

    def numbers(self, table: Table) -> Table:
        """All numbers of a matrix, as this notation writes them."""
        return tuple(tuple(map(self.number, row)) for row in table)

    def value(self, table: Table) -> str:
        """A matrix, or a number without brackets."""
        cells = self.numbers(table)
        return cells[0][0] if len(cells) == len(cells[0]) == 1 else self.matrix(cells)

    def typed(self, text: str) -> str:
        """A formula with this notation's own characters."""
        for typed, sign in self.signs.items():
            text = text.replace(typed, sign)
        return text


def environment(begin: str, end: str) -> Callable[[Table], str]:
    """Matrices in a LaTeX environment."""

    def write(rows: Table) -> str:
        body = r" \\ ".join(" & ".join(row) for row in rows)
        return f"{begin.replace('COLUMNS', 'c' * len(rows[0]))} {body} {end}"

    return write


def left_side(notation: Notation, chain: Chain) -> str:
    """What stands before the value."""
    return notation.typed(" = ".join(part for part in (chain.name, *chain.parts) if part))


def tex_chain(notation: Notation, chain: Chain) -> str:
    """A whole chain in LaTeX."""
    sign = "=" if chain.exact else r"\approx"
    margin = "".join(rf"({a} \times {b})" for a, b in chain.margin)
    return f"{left_side(notation, chain)} {sign} {notation.value(chain.value)}" + (
        rf" \qquad {margin}" if margin else ""
    )


def captioned(chain: Chain, *lines: str) -> Lines:
    """Lines below the words for them."""
    return [*([f"{chain.words}:", ""] if chain.words else []), *lines, ""]


def display(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    """A chain as a displayed formula."""
    lines = captioned(chain, f"$${tex_chain(notation, chain)}$$")
    return lines, len(lines) - 2


DISPLAYS = Notation("bmatrix", ".md", True, environment(r"\begin{bmatrix}", r"\end{bmatrix}"), display)
