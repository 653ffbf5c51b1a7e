"""`qkv.trace`: the stages of a real module, as a table, as heat maps and as a worked solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from qkv.compare.api import explained_call
from qkv.compare.formula import STAGES, Array, Setting
from qkv.compare.model import Comparison
from qkv.compare.seek import Shelf
from qkv.errors import LimitError, NameUnknownError

if TYPE_CHECKING:
    from qkv.solution import Solution

SHADES = " ░▒▓█"
MOST_CELLS = 32  # rows or columns of a heat map in text
MOST_WORKED = 400  # numbers of the tokens and of each matrix of a worked solution

# What a stage makes, in the letters of the papers.
FORMULAS = {
    "projection": {"q": "Q = X W_Q", "k": "K = X W_K", "v": "V = X W_V"},
    "split": {"q": "Q in heads", "k": "K in heads", "v": "V in heads"},
    "position": {"q": "Q turned", "k": "K turned", "v": "V turned"},
    "scores": {"scores": "S = Q Kᵀ"},
    "scale": {"scaled": "S / √d_k"},
    "mask": {"masked": "S / √d_k + M"},
    "softmax": {"weights": "A = softmax(…)"},
    "mix": {"mixed": "Z = A V"},
    "merge": {"merged": "Z = [Z₁ … Z_h]"},
    "output": {"output": "Z W_O"},
}


@dataclass(frozen=True, eq=False)
class TracedArray:
    """What one stage made. `made` says whether the implementation made it as such, or only what follows from it."""

    stage: str
    name: str
    formula: str
    value: Array
    made: bool


@dataclass(frozen=True, eq=False, repr=False)
class Traced:
    """The stages of one call, by name: q, k, v, scores, scaled, masked, weights, mixed, merged, output."""

    arrays: tuple[TracedArray, ...]
    setting: Setting
    comparison: Comparison

    def __getitem__(self, name: str) -> Array:
        for array in reversed(self.arrays):
            if name in (array.name, array.stage):
                return array.value
        raise NameUnknownError(
            f"there is no {name} here; there are {', '.join(dict.fromkeys(a.name for a in self.arrays))}"
        )

    def __str__(self) -> str:
        return "\n".join((*self._table(), "", *self._maps(), str(self.comparison)))

    def __repr__(self) -> str:
        return f"<Traced: {', '.join(f'{a.name} {a.value.shape}' for a in self.arrays)}>"

    def _table(self) -> Iterator[str]:
        rows = [("stage", "makes", "shape", "least", "greatest", "seen")]
        for a in self.arrays:
            finite = a.value[np.isfinite(a.value)]
            size = "×".join(map(str, a.value.shape))
            rows.append(
                (a.stage, a.formula, size, f"{finite.min():.4g}", f"{finite.max():.4g}", "✓" if a.made else "–")
            )
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        yield from ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def _maps(self) -> Iterator[str]:
        weights = self["weights"]
        if max(weights.shape[2:]) <= MOST_CELLS:
            for head, matrix in enumerate(weights[0]):
                yield f"weights of head {head}, first sequence (rows: queries, columns: keys)"
                yield from (
                    "  " + "".join(2 * SHADES[round(4 * min(max(cell, 0), 1))] for cell in row) for row in matrix
                )
                yield ""

    def _repr_html_(self) -> str:
        table = "<pre>" + escape("\n".join(self._table())) + "</pre>"
        maps = "".join(_html_map(f"head {head}", matrix) for head, matrix in enumerate(self["weights"][0]))
        return f"{table}<div>{maps}</div><pre>{escape(str(self.comparison))}</pre>"

    def solution(self, sequence: int = 0, head: int | None = None) -> Solution:
        """The same worked out in certified arithmetic, if it is small: one sequence, with all heads or one of them."""
        from qkv.working import work  # prints in every format that worksheets have

        s = self.setting
        whole = (
            head is None
            and s.weights.keys() >= set("qkv")
            and s.rope is None
            and s.heads == s.kv_heads
            and s.bias is None
        )
        if whole:
            given: dict[str, Any] = {"X": s.q[sequence]}
            if not np.array_equal(s.q[sequence], s.k[sequence]):
                given["Y"] = s.k[sequence]
            given |= {f"W_{name.upper()}": w for name, w in s.weights.items()}
            given |= {f"b_{name.upper()}": b for name, b in s.biases.items()}
            options: dict[str, Any] = {"heads": s.heads} if s.heads > 1 else {}
        else:
            given = {name.upper(): self[name][sequence, head or 0] for name in "qkv"}
            options = {}
        if max(np.size(array) for array in given.values()) > MOST_WORKED:
            raise LimitError(f"a worked solution is for small sizes: no matrix of more than {MOST_WORKED} numbers")
        if s.allowed is not None:
            allowed = np.broadcast_to(s.allowed, self["scores"].shape)[sequence, head or 0]
            options["mask"] = [["0" if cell else "-inf" for cell in row] for row in allowed]
        if not np.isclose(s.scale, s.d_k**-0.5):
            options["scale"] = 1 / s.scale
        return work(**options, **{name: np.asarray(array).tolist() for name, array in given.items()})


def trace(module: Callable[..., Any], /, *inputs: Any, **options: Any) -> Traced:
    """The stages of a module or function as it runs: torch, JAX or NumPy, unchanged. Options are those of `compare`.

    >>> import numpy as np
    >>> def mine(q, k, v):
    ...     scores = q @ k.T / np.sqrt(q.shape[-1])
    ...     e = np.exp(scores)
    ...     return e / e.sum(-1, keepdims=True) @ v
    >>> traced = trace(mine, np.eye(2), np.eye(2), np.array([[1.0], [3.0]]))
    >>> traced["weights"].round(3).tolist()
    [[[[0.67, 0.33], [0.33, 0.67]]]]
    """
    explained, recording, comparison = explained_call(module, inputs, options)
    shelf = Shelf(recording)
    stages = explained.wrong or explained.right
    arrays = []
    for stage in STAGES:
        for name, value in stages[stage].items():
            found = shelf.holds(value) if value.dtype.kind == "f" else False
            arrays.append(TracedArray(stage, name, FORMULAS[stage].get(name, name), value, found))
    return Traced(tuple(arrays), explained.reading.setting, comparison)


CELL = '<td title="{0:.4f}" style="width:1em;height:1em;background:rgba(31,79,160,{1:.3f})"></td>'
MAP = '<table style="display:inline-table;margin:.5em;border-collapse:collapse"><caption>{0}</caption>{1}</table>'


def _html_map(title: str, matrix: Array) -> str:
    """A matrix of weights as a table of cells, the darker the larger."""
    rows = ("".join(CELL.format(cell, min(max(cell, 0.0), 1.0)) for cell in row) for row in matrix)
    return MAP.format(escape(title), "".join(f"<tr>{row}</tr>" for row in rows))
