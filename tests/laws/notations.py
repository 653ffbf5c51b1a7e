"""A table of notations, all of which the reader reads."""

from __future__ import annotations

import re
from collections.abc import Callable

from qkv.interpret.trace import Table
from qkv.practice.notation import (
    DISPLAYS,
    Chain,
    Lines,
    Notation,
    captioned,
    display,
    environment,
    left_side,
    tex_chain,
)

# ---------------------------------------------------------------- matrices


def _nested(between: str) -> Callable[[Table], str]:
    def write(rows: Table) -> str:
        lists = ["[" + between.join(row) + "]" for row in rows]
        return lists[0] if len(lists) == 1 else "[" + between.join(lists) + "]"

    return write


def _semicolons(rows: Table) -> str:
    return "[" + "; ".join(" ".join(row) for row in rows) + "]"


def _array(rows: Table) -> str:
    return f"np.array({_nested(', ')(rows)})"


BMATRIX = DISPLAYS.matrix
PMATRIX = environment(r"\begin{pmatrix}", r"\end{pmatrix}")
ARRAY = environment(r"\left[\begin{array}{COLUMNS}", r"\end{array}\right]")
LISTS = _nested(", ")


# ---------------------------------------------------------------- equations


def _tall_display(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    lines = captioned(chain, "$$", tex_chain(notation, chain), "$$")
    return lines, len(lines) - 3


def _inline(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return ["- " + (f"{chain.words}: " if chain.words else "") + f"${tex_chain(notation, chain)}$"], 0


def _brackets(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    lines = [*([f"{chain.words}:"] if chain.words else []), rf"\[ {tex_chain(notation, chain)} \]", ""]
    return lines, len(lines) - 2


def _aligned(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    return [re.sub(r" (=|\\approx) ", r" &\1 ", tex_chain(notation, chain), count=1) + r" \\"], 0


def _plain(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    sign = "=" if chain.exact else "≈"
    margin = "".join(f"({a}×{b})" for a, b in chain.margin)
    line = f"{left_side(notation, chain)} {sign} {notation.value(chain.value)}"
    return [line + (f"   {margin}" if margin else ""), ""], 0


def _columns(rows: Table, between: str = "  ") -> Lines:
    """Rows with their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [between.join(map(str.rjust, row, widths)) for row in rows]


def _stacked(begin: str, end: str) -> Callable[[Notation, Chain], tuple[Lines, int]]:
    """Rows on top of each other, each between two signs, as in a text file."""

    def write(notation: Notation, chain: Chain) -> tuple[Lines, int]:
        left = left_side(notation, chain) + " = "
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
    return [f"{caption}{left_side(notation, chain)}:", *_columns((head, *body)), ""], 2


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
        caption = f"{chain.words} ${left_side(notation, chain)}$:".strip()
        return [caption, "", lines[0], "|" + "---|" * len(header), *lines[1:], ""], 4

    return write


def _bullets(notation: Notation, chain: Chain) -> tuple[Lines, int]:
    """A list with an item for each token; what has no rows for tokens stands on one line."""
    if not chain.tokens[0] or len(chain.value) == 1:
        return _plain(notation, chain)
    items = [f"- {WORDS[i]}: {notation.matrix((row,))}" for i, row in enumerate(notation.numbers(chain.value))]
    caption = f"{chain.words} " if chain.words else ""
    return [f"{caption}{left_side(notation, chain)}:", *items, ""], 1


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
        Notation("bmatrix", ".md", True, BMATRIX, display),
        Notation("bmatrix-tall", ".md", True, BMATRIX, _tall_display),
        Notation("pmatrix-inline", ".md", True, PMATRIX, _inline),
        Notation("array", ".md", True, ARRAY, display),
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
        Notation("bullets", ".md", False, LISTS, _bullets, copies=False, captions=False),
        Notation("code", ".txt", False, _array, _plain, heading="{}", exponential="exp({})", captions=False),
        Notation("numpy", ".md", False, LISTS, _numpy, copies=False, formulas=False, fractions=False),
        Notation("tables", ".md", True, BMATRIX, _table(_counted), copies=False),
        Notation("token-tables", ".md", True, BMATRIX, _table(_worded), copies=False),
        Notation("comma", ".md", True, PMATRIX, display, point="{,}"),
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
