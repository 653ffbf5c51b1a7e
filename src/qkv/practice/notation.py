"""Ways to write a matrix and an equation down: a table of notations, all of which the reader reads."""

from __future__ import annotations

import re
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


# ---------------------------------------------------------------- matrices


def _environment(begin: str, end: str) -> Callable[[Table], str]:
    def write(rows: Table) -> str:
        body = r" \\ ".join(" & ".join(row) for row in rows)
        return f"{begin.replace('COLUMNS', 'c' * len(rows[0]))} {body} {end}"

    return write


def _nested(between: str) -> Callable[[Table], str]:
    def write(rows: Table) -> str:
        lists = ["[" + between.join(row) + "]" for row in rows]
        return lists[0] if len(lists) == 1 else "[" + between.join(lists) + "]"

    return write


def _semicolons(rows: Table) -> str:
    return "[" + "; ".join(" ".join(row) for row in rows) + "]"


def _array(rows: Table) -> str:
    return f"np.array({_nested(', ')(rows)})"


BMATRIX = _environment(r"\begin{bmatrix}", r"\end{bmatrix}")
PMATRIX = _environment(r"\begin{pmatrix}", r"\end{pmatrix}")
ARRAY = _environment(r"\left[\begin{array}{COLUMNS}", r"\end{array}\right]")
LISTS = _nested(", ")


# ---------------------------------------------------------------- equations


def _left(notation: Notation, chain: Chain) -> str:
    return notation.typed(" = ".join(part for part in (chain.name, *chain.parts) if part))


def _tex_chain(notation: Notation, chain: Chain) -> str:
    sign = "=" if chain.exact else r"\approx"
    margin = "".join(rf"({a} \times {b})" for a, b in chain.margin)
    return f"{_left(notation, chain)} {sign} {notation.value(chain.value)}" + (rf" \qquad {margin}" if margin else "")


def _captioned(chain: Chain, *lines: str) -> Lines:
    return [*([f"{chain.words}:", ""] if chain.words else []), *lines, ""]


def _display(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    lines = _captioned(chain, f"$${_tex_chain(notation, chain)}$$")
    return lines, len(lines) - 2


def _tall_display(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    lines = _captioned(chain, "$$", _tex_chain(notation, chain), "$$")
    return lines, len(lines) - 3


def _inline(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return ["- " + (f"{chain.words}: " if chain.words else "") + f"${_tex_chain(notation, chain)}$"], 0


def _brackets(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    lines = [*([f"{chain.words}:"] if chain.words else []), rf"\[ {_tex_chain(notation, chain)} \]", ""]
    return lines, len(lines) - 2


def _aligned(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return [re.sub(r" (=|\\approx) ", r" &\1 ", _tex_chain(notation, chain), count=1) + r" \\"], 0


def _plain(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    sign = "=" if chain.exact else "≈"
    margin = "".join(f"({a}×{b})" for a, b in chain.margin)
    line = f"{_left(notation, chain)} {sign} {notation.value(chain.value)}"
    return [line + (f"   {margin}" if margin else ""), ""], 0


def _columns(rows: Table, between: str = "  ") -> Lines:
    """Rows with their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [between.join(map(str.rjust, row, widths)) for row in rows]


def _stacked(begin: str, end: str) -> Callable[[Notation, Chain], tuple[Lines, int]]:
    """Rows on top of each other, each between two signs, as in a text file."""

    def write(notation: Notation, chain: Chain) -> tuple[Lines, int]:
        left = _left(notation, chain) + " = "
        rows = [f"{begin} {row} {end}" for row in _columns(notation.numbers(chain.value))]
        return [left + rows[0], *(" " * len(left) + row for row in rows[1:]), ""], 0

    return write


def _labelled(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    """A grid with a word before each row and above each column."""
    by_row, by_column = chain.tokens
    rows = notation.numbers(chain.value)
    head = ("", *(_worded(j, by_column) for j in range(len(rows[0]))))
    body = ((_worded(i, by_row), *row) for i, row in enumerate(rows))
    caption = f"{chain.words} " if chain.words else ""
    return [f"{caption}{_left(notation, chain)}:", *_columns((head, *body)), ""], 2


def _numpy(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    rows = [f"[{row}]" for row in _columns(notation.numbers(chain.value), " ")]
    body = [("[" if i == 0 else " ") + row + ("]" if i == len(rows) - 1 else "") for i, row in enumerate(rows)]
    name = chain.name or chain.parts[0]
    return [f"{chain.words} `{name}`:" if chain.words else f"`{name}`:", "", "```", *body, "```", ""], 3


# The tokens of our sheets; heads that were stacked have more rows than there are tokens.
WORDS = ("the", "cat", "sat", "here", "and", "dog", "ran", "off", "who", "saw", "him", "go")


def _table(labels: Callable[[int, bool], str]) -> Callable[[Notation, Chain], tuple[Lines, int]]:
    """A table with a header and labels in front of its rows; `labels` gives the label of a number, or of a token."""

    def write(notation: Notation, chain: Chain) -> tuple[Lines, int]:
        by_row, by_column = chain.tokens
        rows = notation.numbers(chain.value)
        header = ["", *(labels(j, by_column) for j in range(len(rows[0])))]
        cells = [(f"${cell}$" if "\\" in cell else cell for cell in row) for row in rows]
        body = [(labels(i, by_row), *row) for i, row in enumerate(cells)]
        lines = ["| " + " | ".join(row) + " |" for row in (header, *body)]
        caption = f"{chain.words} ${_left(notation, chain)}$:".strip()
        return [caption, "", lines[0], "|" + "---|" * len(header), *lines[1:], ""], 4

    return write


def _bullets(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    """A list with an item for each token; what has no rows for tokens stands on one line."""
    if not chain.tokens[0] or len(chain.value) == 1:
        return _plain(notation, chain)
    items = [f"- {WORDS[i]}: {notation.matrix((row,))}" for i, row in enumerate(notation.numbers(chain.value))]
    caption = f"{chain.words} " if chain.words else ""
    return [f"{caption}{_left(notation, chain)}:", *items, ""], 1


def _counted(i: int, is_token: bool) -> str:
    return str(i + 1)


def _worded(i: int, is_token: bool) -> str:
    return WORDS[i] if is_token else f"d{i + 1}"


_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
UNICODE = {
    "^T": "ᵀ",
    "d_k": "dₖ",
    **{f"_{i}": _SUBSCRIPTS[i] for i in range(10)},
    **{f"_{{{i},{j}}}": _SUBSCRIPTS[i] + _SUBSCRIPTS[j] for i in range(1, 5) for j in range(1, 5)},
}

NOTATIONS: dict[str, Notation] = {
    notation.key: notation
    for notation in (
        Notation("bmatrix", ".md", True, BMATRIX, _display),
        Notation("bmatrix-tall", ".md", True, BMATRIX, _tall_display),
        Notation("pmatrix-inline", ".md", True, PMATRIX, _inline),
        Notation("array", ".md", True, ARRAY, _display),
        Notation(
            "align", ".md", True, BMATRIX, _aligned,
            ["$$", r"\begin{aligned}"], [r"\end{aligned}", "$$", ""], captions=False,
        ),
        Notation(
            "tex", ".tex", True, PMATRIX, _brackets,
            head=[r"\documentclass{article}", r"\usepackage{amsmath}", r"\begin{document}"],
            foot=[r"\end{document}"], heading=r"\section*{{{}}}", exponential=r"\exp({})",
        ),
        Notation("lists", ".txt", False, LISTS, _plain, heading="{}", exponential="exp({})", captions=False),
        Notation("semicolons", ".md", False, _semicolons, _plain, exponential="e^({})", captions=False),
        Notation("grid", ".txt", False, LISTS, _stacked("[", "]"), heading="{}", copies=False, captions=False),
        Notation("bars", ".txt", False, LISTS, _stacked("|", "|"), heading="{}", copies=False, captions=False),
        Notation("labelled", ".txt", False, LISTS, _labelled, heading="{}", copies=False),
        Notation("bullets", ".md", False, LISTS, _bullets, copies=False),
        Notation("code", ".txt", False, _array, _plain, heading="{}", exponential="exp({})", captions=False),
        Notation("numpy", ".md", False, LISTS, _numpy, copies=False, formulas=False, fractions=False),
        Notation("tables", ".md", True, BMATRIX, _table(_counted), copies=False),
        Notation("token-tables", ".md", True, BMATRIX, _table(_worded), copies=False),
        Notation("comma", ".md", True, PMATRIX, _display, point="{,}"),
        Notation(
            "comma-lists", ".txt", False, _nested("; "), _plain,
            heading="{}", point=",", exponential="exp({})", captions=False,
        ),
        Notation("comma-tables", ".md", True, BMATRIX, _table(_counted), copies=False, point=","),
        Notation(
            "unicode", ".txt", False, LISTS, _plain,
            heading="{}", minus="−", exponential="e^({})", signs=UNICODE, captions=False,
        ),
    )
}  # fmt: skip
