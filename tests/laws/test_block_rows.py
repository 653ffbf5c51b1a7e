"""Every row of the library around attention: what is written of it is read back and right, and its mistakes are named.

`ROWS` has a line for each thing that stands before, in, after or behind attention; each is worked out by name, written
as Markdown, LaTeX and plain text, and checked. `MISTAKES` plants one slip: an author who works out another expression
at one step and goes on from there, below the right formulas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

import qkv
from qkv.check.model import Report
from qkv.expr.names import Symbol
from qkv.expr.nodes import Name
from qkv.interpret.cells import START_BITS, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import run
from qkv.interpret.trace import Trace
from qkv.library.notation import expression
from qkv.program.model import Program
from qkv.solution import Solution

Given = dict[str, Any]
FORMS = ("markdown", "latex", "text")

X = [[1, 0, 2, "0.5"], [0, 1, 1, -1], [2, 1, 0, 1]]
TOKENS: Given = {"E": [[1, 0, 2, 1], [0, 1, 1, "0.5"], [1, 1, 0, -1], [2, -1, 1, 0]], "tokens": [0, 3, 1]}
W_Q, W_K = [[1, 0], [0, 1], [1, 1], [1, -1]], [[1, 1], [0, 1], [1, 0], [0, 2]]
W_V = [[1, 0, 1, 2], [0, 1, 0, 1], [1, 1, 0, 0], [2, 0, 1, 1]]
LAYER: Given = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}
SELF: Given = {"X": X, **LAYER}
HEADS: Given = {"Q": [[1, 2], [1, -1]], "K": [[2, -1], [1, 1], [0, 3]], "V": [[1, 2], [3, 1], [0, 1]]}
ROTARY: Given = {
    "Q": [[1, 2, 0, 1], [3, -1, 1, 2]], "K": [[2, -1, 1, 1], [1, 1, 0, 2]], "V": [[1, 2], [3, 1]]
}  # fmt: skip
W_4 = [[1, 2, 0, -1, 1, 0, 2, 1], [0, 1, 1, 2, 0, 1, 1, 0], [1, 0, 2, 1, 1, 1, 0, 2], [2, 1, -1, 1, 0, 2, 1, 1]]
FOUR: Given = {"X": X, "W_Q": W_4, "heads": 4}
FED: Given = {
    "X": X,
    "W_1": [[1, -1, 0], [0, 1, 1], [1, 0, -1], [0, 2, 1]],
    "W_2": [[1, 0, 0, 1], [0, 1, 2, 1], [1, 1, 0, -1]],
}
W_3 = [[0, 1, 2], [1, 1, 0], [1, -1, 1], [2, 0, 1]]
BIASES: Given = {"b_1": ["0.1", 1, -2], "b_2": [0, 1, "0.5", -1]}
NORMED: Given = {"gamma_1": [1, 1, 2, 1], "beta_1": [0, 1, 0, -1], "eps": "0.1"}
WORDS: Given = {"W_U": [[1, 0, 0, 1, 2], [0, 1, 0, 1, -1], [0, 0, 1, -1, 1], [1, 1, 2, 0, 0]]}
ENDS: Given = {"X": X, **WORDS, "targets": [3, 0, 2]}
SOURCE: Given = {"s": [1, 2], "h": [[1, 0], [2, 1], [0, 3]]}
CROSS: Given = {"W_Q": W_Q, "W_K": [[1, 0], [2, 1]], "W_V": [[1, 0, 1, 1], [0, 2, 1, -1]]}
BLOCK: Given = {**SELF, **FED, **BIASES, **NORMED, "norm": "post"}
INF = "-inf"

ROWS: dict[str, Given] = {
    # before attention
    "embedding": TOKENS,
    "sinusoidal positions": {**TOKENS, "positions": "sinusoidal"},
    "sinusoidal positions, another base, from 1": {**TOKENS, "positions": "sinusoidal", "base": 100, "first_position": 1},
    "sinusoidal positions, odd width": {"X": [[1, 2, 3], [0, 1, 1]], "positions": "sinusoidal"},
    "learned positions": {"X": X, "positions": [[0, 1, 1, 0], [1, 0, 0, 2], [2, 1, 0, 1]]},
    "rotary, interleaved": {**ROTARY, "rope": True},
    "rotary, halves, from 1": {**ROTARY, "rope": "halves", "first_position": 1},
    "rotary, another base": {**ROTARY, "rope": True, "base": 100},
    "ALiBi": {**SELF, "heads": 2, "alibi": True},
    "relative bias": {**SELF, "bias": [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]]},
    # attention
    "grouped queries": {**FOUR, "W_K": [[*a, *b] for a, b in zip(W_K, W_Q, strict=True)], "W_V": W_V, "kv_heads": 2},
    "multi-query": {**FOUR, "W_K": W_K, "W_V": W_Q, "kv_heads": 1},
    "cache, one step": {**SELF, "X": [[1, 0, 2, 1]], "K_cache": [[1, 2], [0, 1]], "V_cache": [[1, 0, 1, 1], [0, 2, 1, 1]]},
    "window": {**HEADS, "window": 1},
    "causal window": {**SELF, "window": 1, "mask": "causal"},
    "prefix mask": {**SELF, "mask": [[0, 0, INF], [0, 0, INF], [0, 0, 0]]},
    "padding mask": {**SELF, "mask": [[0, 0, INF], [0, 0, INF], [0, 0, INF]]},
    "mask of truths": {**SELF, "mask": [[True, True, False], [True, True, False], [True, True, True]]},
    "temperature": {**SELF, "scale": "0.5"},
    "cosine": {**HEADS, "score": "cosine"},
    "scaled cosine": {**HEADS, "score": "cosine", "scale": "0.1"},
    "dot with a source": SOURCE,
    "general": {**SOURCE, "W_a": [[1, 2], [0, 1]]},
    "additive": {**SOURCE, "W_a": [[1, 0], ["0.5", 1]], "U_a": [[1, 1], [0, "0.2"]], "v_a": [1, 2]},
    "linear, elu + 1": {**HEADS, "linear": "elu+1"},
    "linear, ReLU, nothing divided": {**HEADS, "linear": "relu", "normalise": None},
    "attention, sizes all different": {"X": X, "W_Q": FED["W_1"], "W_K": W_3, "W_V": W_Q},
    # after attention
    "post-norm": {**SELF, **NORMED, "norm": "post"},
    "pre-norm": {**SELF, **NORMED, "norm": "pre"},
    "post-norm, RMS": {**SELF, "norm": "post rms", "gamma_1": [1, 2, 1, 1], "eps": "0.1"},
    "norm alone": {"X": X, "norm": "pre"},
    "feed-forward, ReLU": {**FED, **BIASES},
    "feed-forward, GELU": {**FED, **BIASES, "activation": "gelu"},
    "feed-forward, GELU with tanh": {**FED, "activation": "gelu_tanh"},
    "feed-forward, SiLU": {**FED, "activation": "silu"},
    "SwiGLU": {**FED, "W_3": W_3},
    "GEGLU": {**FED, "W_3": W_3, "activation": "geglu"},
    "block, post-norm": {**BLOCK, "W_O": [[1, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 2], [0, 1, 0, 1]]},
    "block, pre-norm, final norm": {**BLOCK, "norm": "pre", "gamma_3": [1, 2, 1, 1]},
    "two layers": {**BLOCK, "layers": 2},
    "two layers, each its own": {"X": X, "norm": "pre", "W_2": FED["W_2"], "layers": [{**LAYER, "W_1": FED["W_1"]}, {**LAYER, "W_1": W_3}]},
    "decoder": {**BLOCK, "Y": [[1, 1], [2, 0]], "cross": CROSS, "mask": "causal"},
    "logits, loss, perplexity": ENDS,
    "logits by the embedding": {**TOKENS, "tied": True, "targets": [1, 2, 0]},
    "softmax with temperature": {**ENDS, "temperature": "0.7"},
    "likeliest word, top two": {"X": X, **WORDS, "predict": True, "top": 2, "temperature": 2},
}  # fmt: skip
BACKWARDS: dict[str, Given] = {
    "attention": SELF,
    "causal attention": {**SELF, "mask": "causal"},
    "through a norm and a feed-forward layer": {**BLOCK, **WORDS, "targets": [3, 0, 2]},
    "through an RMS norm and a gate": {**ROWS["SwiGLU"], "norm": "pre rms", "gamma_1": [1, 2, 1, 1]},
    "from the loss": ENDS,
    "through grouped heads": ROWS["grouped queries"],
    "through rotary positions": ROWS["rotary, interleaved"],
}

A = r"$$A = \begin{bmatrix} 0.7 & 0.2 & 0.1 \\ 0.1 & 0.1 & 0.8 \end{bmatrix}$$ are attention weights."
SIZES = "A transformer block has d_model = 512, h = 8 heads and d_ff = 2048 (no biases)."
MODEL = "A model has 32 layers, 32 query heads, 8 key-value heads and a head dimension of 128."
ADDED = r"""$$X = \begin{bmatrix} 1 & 2 & 4 \\ 3 & -1 & 0.5 \end{bmatrix}$$

$$F = \begin{bmatrix} 0.5 & 1 & -1 \\ 2 & 0 & 1 \end{bmatrix}$$

Compute $N = \text{LayerNorm}(X + F)$."""
# what only a sheet asks for: the sheet, and the numbers that must be in what is written and be called right
SHEETS: dict[str, tuple[str, list[str]]] = {
    "add and norm": (ADDED, ["-1.414214", "-0.1354571"]),
    "entropy": (f"{A}\n\nCompute the entropy of each row of A.", ["0.8018186", "0.6390319"]),
    "most weight": (f"{A}\n\nWhich token gets most weight in row 2?", ["0.8"]),
    "parameters of attention": (f"{SIZES}\n\nHow many parameters does the attention have?", ["1048576"]),
    "parameters of a layer": (f"{SIZES}\n\nHow many parameters does the feed-forward layer have?", ["2097152"]),
    "parameters of a block": (f"{SIZES}\n\nHow many parameters does the block have in total?", ["3145728"]),
    "bytes of a cache": (f"{MODEL}\n\nHow many bytes does the KV cache take for 4096 tokens in fp16?", ["536870912"]),
}


@cache
def solved(row: str, back: bool = False) -> Solution:
    if not back:
        return qkv.work(**ROWS[row])
    return qkv.work(**BACKWARDS[row]).backward(rate="0.1", jacobian=True)


def checked(solution: Solution, form: str, workings: bool = False) -> Report:
    wide = {"width": 120 if workings else 400} if form == "text" else {}
    text = getattr(solution, f"to_{form}")(digits=7, **wide)
    return qkv.check(text if workings else WORKING.sub("", text))


WORKING = re.compile(r"^(?:- cell \(|Cell \(| +\S+\(1,1\) =).*\n", re.MULTILINE)
GOOD = {"right", "rounded", "drifted"}


def assert_right(solution: Solution, form: str) -> None:
    report = checked(solution, form, workings=True)
    assert {claim.verdict.value for claim in report.claims} <= GOOD, [c for c in report.claims if c.verdict not in GOOD]
    steps = [
        step for step in solution.traces[0].program.steps if not isinstance(step.expr, Name) and step.spelled != "J"
    ]
    assert {str(step.symbol) for step in steps} <= {claim.name for claim in report.claims}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_read_back_and_right(row: str, form: str) -> None:
    assert_right(solved(row), form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", BACKWARDS)
def test_gradients_are_read_back_and_right(row: str, form: str) -> None:
    assert_right(solved(row, back=True), form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", SHEETS)
def test_what_a_sheet_asks_for_is_read_back_and_right(row: str, form: str) -> None:
    sheet, numbers = SHEETS[row]
    claims = checked(qkv.read(sheet).solve(), form, workings=True).claims
    assert {claim.verdict.value for claim in claims} <= GOOD
    assert all(any(number in claim.text for claim in claims) for number in numbers)


EMPTY = Program("", (), ())


@dataclass(frozen=True)
class Mistaken(Trace):
    """What somebody writes who works out another program below the right formulas."""

    worked: Program = EMPTY

    def values(self, bits: int = START_BITS) -> dict[Symbol, Value]:
        if bits not in self._runs:
            with precision(bits):
                self._runs[bits] = run(self.worked, Certified())
        return self._runs[bits]


def planted(row: str, name: str, instead: str) -> Solution:
    """A solution whose author works out `instead` at one step, and goes on from there."""
    worked = qkv.read(SHEETS[row][0]).solve() if row in SHEETS else solved(row, row in BACKWARDS)
    program = worked.traces[0].program
    steps = tuple(replace(s, expr=expression(instead)) if s.spelled == name else s for s in program.steps)
    assert steps != program.steps
    return Solution((Mistaken(program, worked=replace(program, steps=steps)),))


WAVES = r"[\cos(0), \sin(0), \cos(0), \sin(0); \cos(1), \sin(1), \cos(1/100), \sin(1/100); \cos(2), \sin(2), \cos(2/100), \sin(2/100)]"
LATER = r"[\sin(1), \cos(1), \sin(1/100), \cos(1/100); \sin(2), \cos(2), \sin(2/100), \cos(2/100); \sin(3), \cos(3), \sin(3/100), \cos(3/100)]"
TURNS = "[0, 0, 0, 0; 1, 1/100, 1, 1/100]"
HALVES = rf"hadamard(Q, \cos({TURNS})) + hadamard(Q [0, 0, 1, 0; 0, 0, 0, 1; -1, 0, 0, 0; 0, -1, 0, 0], \sin({TURNS}))"
# the name of the mistake, the row, the step where it is made, and what is worked out there
MISTAKES: list[tuple[str, str, str, str]] = [
    ("layer norm down the columns", "norm alone", "mu_1", "mean(X^T)^T"),
    ("layer norm down the columns", "block, post-norm", "mu_2", "mean(R_2^T)^T"),
    ("n - 1 in the variance", "norm alone", "sigma_1", r"\sqrt{samplevar(X)}"),
    ("n - 1 in the variance", "block, post-norm", "sigma_1", r"\sqrt{samplevar(R_1) + \epsilon}"),
    ("epsilon forgotten", "post-norm", "sigma_1", r"\sqrt{var(R_1)}"),
    ("epsilon forgotten", "post-norm, RMS", "rho_1", r"\sqrt{mean(hadamard(R_1, R_1))}"),
    ("residual left out", "block, post-norm", "R_1", "Output"),
    ("residual left out", "block, pre-norm, final norm", "R_2", "F"),
    ("added before the projection", "block, post-norm", "R_1", "(X + Z) W_O"),
    ("activation left out", "feed-forward, ReLU", "G", "U"),
    ("activation left out", "feed-forward, GELU", "G", "U"),
    ("activation left out", "SwiGLU", "G", "hadamard(U, X W_3)"),
    ("ReLU for GELU", "feed-forward, GELU with tanh", "G", "relu(U)"),
    ("bias forgotten", "feed-forward, ReLU", "U", "X W_1"),
    ("bias forgotten", "block, post-norm", "U", "N_1 W_1"),
    ("sine and cosine swapped", "sinusoidal positions", "PE", WAVES),
    ("positions from 1", "sinusoidal positions", "PE", LATER),
    ("pairs the other way", "rotary, interleaved", "Q_rot", HALVES),
    ("groups tiled", "grouped queries", "S_2", "Q_2 K_2^T"),
    ("groups tiled", "grouped queries", "Z_3", "A_3 V_1"),
    ("cache in the wrong order", "cache, one step", "K", "Stack(K_{new}, K_{cache})"),
    ("loss with the wrong index", "logits, loss, perplexity", "ell", r"-rowsum(hadamard([0, 0, 0, 0, 1; 0, 1, 0, 0, 0; 0, 0, 0, 1, 0], \ln(P)))"),
    ("sqrt(d_model) for sqrt(d_k)", "attention, sizes all different", "S_scaled", r"S / \sqrt{4}"),
    ("transpose left out", "attention", "dV", "A dOutput"),
    ("softmax's derivative without its sum", "attention", "dS_scaled", "hadamard(A, dOutput V^T)"),
    ("mask forgotten", "padding mask", "A", r"softmax(S_{scaled})"),
    ("no scale", "grouped queries", "A_1", r"softmax(S_1)"),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("mistake", "row", "step", "instead"), MISTAKES)
def test_a_mistake_is_found_and_named(mistake: str, row: str, step: str, instead: str, form: str) -> None:
    claims = checked(planted(row, step, instead), form).claims
    wrong = {(claim.name, claim.cause.mistake if claim.cause else None) for claim in claims if claim.verdict == "wrong"}
    assert wrong == {(step, mistake)}
    assert {claim.verdict.value for claim in claims} <= GOOD | {"wrong", "carried"}
