"""Worked problems of every kind, and a checked document, for the tests of the renderers."""

from __future__ import annotations

from typing import Any

import qkv
from qkv.check.model import Cause, CellVerdict, Claim, Report, Verdict
from qkv.interpret.trace import Trace

X = [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
WEIGHTS = {
    "W_Q": [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
    "W_K": [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]],
    "W_V": [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]],
}
HEADS = {name: [rows, [[-value for value in row] for row in rows]] for name, rows in WEIGHTS.items()}
W_O = [["0.5", 0], [0, "-0.25"], [1, 1], [0, 1], [2, 0], [1, 3]]

KINDS: dict[str, dict[str, Any]] = {
    "unscaled": {"X": X, **WEIGHTS, "scale": None},
    "scaled": {"X": X, **WEIGHTS},
    "causal": {"X": X, **WEIGHTS, "mask": "causal"},
    "two heads": {"X": X, **HEADS, "W_O": W_O},
    "cross": {"X": X, "Y": [[1, 2, 3, 4], ["0.5", 0, 0, 1]], **WEIGHTS},
    "plain sum": {"Q": [[1, 2]], "K": [[2, 1], [1, 1]], "V": [[1, 2, -2], [1, 1, 2]], "normalise": "sum"},
    "biases": {"X": X, **WEIGHTS, "b_Q": [1, 2, 3]},
    "one source": {"s": [1, 2, 1], "h": [[1, 2, 3], [1, 2, 1], [0, 1, -1]]},
    "columns": {"X": [[1, 2, 0], [3, 1, -1]], "W_Q": [[1, 0], [2, 1]], "W_K": [[0, 1], [1, 1]], "W_V": [[1, 1], [0, 2]], "columns": True},
    "huge": {"Q": [[60, 80], [1, 2]], "K": [[2, 8], [9, 1]], "V": [[1], [2]], "scale": None},
}  # fmt: skip


def traces(kind: str, title: str = "") -> tuple[Trace, ...]:
    """The worked problem of a kind."""
    return qkv.work(**KINDS[kind], title=title).traces


DOCUMENT = r"""# Exercise <b>1</b>

Let $Q = \begin{bmatrix} 1 & 0 \\ 2 & 2 \end{bmatrix}$ and **K** be given.

$$E = Q K^\top = \begin{bmatrix} 2 & 4 \\ 4 & 18 \end{bmatrix} \approx \begin{bmatrix} 2 & 4 \\ 4 & 18 \end{bmatrix}$$

| row | weights |
|---|---|
| 1 | $0.1 + 0.9 = 1$ |

~~$x = 3$~~ <script>alert("x")</script>

\unknowncommand stands outside, $\unknowncommand{A} = 7$ inside.
"""


def _at(line: int, text: str) -> int:
    return DOCUMENT.split("\n")[line - 1].index(text) + 1


def report() -> Report:
    """A document in which one slip has one follower, and every verdict occurs once."""
    e = r"\begin{bmatrix} 2 & 4 \\ 4 & 18 \end{bmatrix}"
    table = ("2", "4"), ("4", "18")
    slip = CellVerdict(2, 2, "18", "12", "12", Verdict.WRONG, "2·2 + 2·3 + 2·1 = 12")
    copied = CellVerdict(2, 2, "18", "12", "18", Verdict.CARRIED)
    claims = (
        Claim(1, 3, 3, "Q", "Q", r"\begin{bmatrix} 1 & 0 \\ 2 & 2 \end{bmatrix}", Verdict.RIGHT, column=_at(3, r"\b")),
        Claim(2, 5, 5, "E", "Q K^T", e, Verdict.WRONG, (slip,), cause=Cause("digit", "one product <was> doubled"), column=_at(5, r"\b"), shown=table),
        Claim(3, 5, 5, "E", "E", e, Verdict.CARRIED, (copied,), follows_from=(2,), column=DOCUMENT.split("\n")[4].rindex(r"\begin") + 1),
        Claim(4, 9, 9, "", "", "0.1 + 0.9 = 1", Verdict.ROUNDED, column=_at(9, "0.1")),
        Claim(5, 11, 11, "x", "", "x = 3", Verdict.STRUCK, reason="crossed out by its author", column=_at(11, "x")),
        Claim(6, 13, 13, "A", "", "7", Verdict.UNREAD, reason="nothing says what <this> is", column=_at(13, "7")),
    )  # fmt: skip
    return Report("sheet <1>.md", claims, DOCUMENT, notes=("a note & more",))
