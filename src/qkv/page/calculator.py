"""Attention by controls: matrices in grids, every step worked out as one types, the weights as a heat map.

A matrix is a field of the form, rows apart by semicolons; so a link holds the whole problem after its #.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import escape
from typing import Any

from qkv.errors import LimitError, ValueRefused
from qkv.expr.names import Role
from qkv.interpret.trace import Trace
from qkv.page import why
from qkv.page.answer import Answer
from qkv.page.controls import select, tabs
from qkv.page.frame import framed
from qkv.page.grids import heat_map, table
from qkv.render import html
from qkv.render.options import Depth, Options
from qkv.solution import Solution
from qkv.working import work

MOST = 12  # rows or columns
LONGEST = 24  # characters of a cell
MAP_PLACES = 3
DETAILED = 400  # cells of all steps up to which the working of every one of them is written out


@dataclass(frozen=True, slots=True)
class Field:
    """A matrix: which sizes it has, what it is, and where it is asked for."""

    rows: str
    columns: str
    says: str
    start: str


FROM = {"X": "X and weights", "QKV": "Q, K and V"}
FIELDS = {
    "X": {
        "X": Field("n", "d", "tokens", "1 0 1; 0 1 1; 1 1 0"),
        "W_Q": Field("d", "k", "weights of the queries", "1 0; 0 1; 1 2"),
        "W_K": Field("d", "k", "weights of the keys", "0 1; 1 0; 1 1"),
        "W_V": Field("d", "v", "weights of the values", "1 2; 0 1; 3 0"),
        "W_O": Field("v", "o", "output weights", "1 0 1; 0 1 1"),
    },
    "QKV": {
        "Q": Field("n", "k", "queries", "1 0; 0 2; 1 1"),
        "K": Field("m", "k", "keys", "1 1; 0 1; 2 0"),
        "V": Field("m", "v", "values", "3 0; 0 3; 1 1"),
    },
}
SIZES = {
    "n": "tokens n", "m": "keys", "d": "d", "k": "d_k", "v": "d_v", "o": "width of the output",
}  # fmt: skip
SCALES = {"usual": "√d_k", "none": "nothing", "d_model": "√d", "own": "a number"}
MASKS = {"": "none", "causal": "causal"}
NORMALISE = {"softmax": "softmax", "sum": "plain sum"}
NORMS = {
    "": "none", "post": "layer norm after", "pre": "layer norm before", "post rms": "RMS norm after",
    "pre rms": "RMS norm before",
}  # fmt: skip
EPSILON = "0.00001"
EXAMPLES = {
    "Three words": "from=X&tokens=I love cats",
    "Masked": "from=QKV&tokens=the cat sat&mask=causal",
    "Two heads": "from=X&tokens=a b&heads=2&X=1 0 2 1; 0 1 1 3&W_Q=1 0 0 1; 0 1 1 0; 1 0 1 0; 0 1 0 1"
    "&W_K=1 1 0 0; 0 1 1 0; 0 0 1 1; 1 0 0 1&W_V=1 0 0 2; 0 1 2 0; 1 1 0 0; 0 0 1 1",
    "Not scaled, and cold": "from=QKV&tokens=x y z&scale=none&temperature=0.5",
}


def whole(form: Mapping[str, str]) -> Answer:
    """The view as it opens; its script fills in what a link holds."""
    grids = "".join(_grids(kind, fields) for kind, fields in FIELDS.items())
    examples = "".join(f'<a class="button" href="#{escape(to)}">{escape(name)}</a>' for name, to in EXAMPLES.items())
    body = (
        '<form id="calculator" class="calculator" hx-post="calculator" hx-trigger="input delay:150ms, load, judge" '
        'hx-target="#steps" hx-sync="this:replace" hx-indicator="#busy">'
        f'<div class="tools">{tabs("Given", "from", FROM)}<span class="soft">Examples</span>{examples}'
        '<button type="button" class="strong" id="copy">Copy link</button>'
        '<span id="copied" class="soft" role="status"></span>'
        '<span id="busy" class="soft" role="status">working …</span></div>'
        f"{_controls()}{grids}</form>"
        f'<div class="results"><div id="steps" aria-live="polite"></div>{why.panel()}</div>'
    )
    return Answer(framed("calculator.html", body, "grid.js", "calculator.js"))


def _controls() -> str:
    sizes = "".join(
        f'<label data-size="{name}">{escape(says)} <input type="number" min="1" max="{MOST}" value="1" '
        f'data-size-of="{name}"></label>'
        for name, says in SIZES.items()
    )
    return (
        '<div class="tools controls"><label>tokens <input name="tokens" value="I love cats" size="16" maxlength="200">'
        f"</label>{select('mask', 'mask', MASKS)}{select('divide by', 'scale', SCALES)}"
        '<label data-own>= <input name="own" value="2" size="4" maxlength="12"></label>'
        '<label>temperature <input type="range" name="temperature" min="0.1" max="4" step="0.1" value="1">'
        '<output id="heat">1</output></label>'
        f"{select('weights by', 'normalise', NORMALISE)}"
        '<label data-size="d">heads <input type="number" name="heads" min="1" max="6" value="1"></label>'
        f'<label data-size="d"><input type="checkbox" name="project" value="yes"> W_O</label>'
        f'<span data-size="d">{select("residual and norm", "norm", NORMS)}</span></div>'
        f'<div class="tools sizes" role="group" aria-label="Sizes"><span class="soft">Sizes</span>{sizes}</div>'
    )


def _grids(kind: str, fields: Mapping[str, Field]) -> str:
    shown = "".join(f"<div data-matrix='{name}'>{_grid(name, field)}</div>" for name, field in fields.items())
    return f'<div class="matrices" data-from="{kind}">{shown}</div>'


def _grid(name: str, field: Field) -> str:
    rows = matrix(name, field.start)
    grid = table(
        len(rows),
        len(rows[0]),
        f"{name}, {field.says}",
        lambda i, j: (
            f'<input value="{escape(rows[i - 1][j - 1])}" size="4" autocomplete="off" maxlength="{LONGEST}" '
            f'aria-label="{name}, row {i}, column {j}">'
        ),
        f' data-rows="{field.rows}" data-columns="{field.columns}"',
    )
    base, _, index = name.partition("_")
    shown = f"<i>{base}</i>{f'<sub>{index}</sub>' if index else ''}"
    return (
        f'<p><b>{shown}</b> <span class="soft">{escape(field.says)}</span></p>{grid}'
        f'<input type="hidden" name="{name}" value="{escape(field.start)}">'
    )


# — worked out —


def matrix(name: str, text: str) -> list[list[str]]:
    """The rows of a matrix as it stands in a form.

    >>> matrix("X", "1 0; 0 1/2")
    [['1', '0'], ['0', '1/2']]
    """
    rows = [row.replace(",", " ").split() for row in text.split(";") if row.strip()]
    if not rows:
        raise ValueRefused(f"{name} is empty")
    if len(rows) > MOST or max(map(len, rows)) > MOST or any(len(cell) > LONGEST for row in rows for cell in row):
        raise LimitError(f"{name} is too large: up to {MOST} rows and columns, and {LONGEST} characters a number")
    return rows


def worked(form: Mapping[str, str]) -> Answer:
    """Heat maps of the weights, and every step."""
    solution, said = solved(form)
    trace = solution.traces[0]
    cells = sum(rows * columns for rows, columns in (trace.value(step.symbol).shape for step in trace.program.steps))
    options = Options(depth=Depth.FULL if cells <= DETAILED else Depth.NORMAL, unfolds=True)
    notes = f'<p class="soft">{escape(said)}</p>' if said else ""
    maps = "".join(_maps(trace, form.get("tokens", "").split()))
    return Answer(
        f'<section class="maps">{maps}{notes}</section>'
        f'<section class="worked">\n{html.steps(solution, options)}</section>'
    )


def solved(form: Mapping[str, str]) -> tuple[Solution, str]:
    """The problem of a form worked out, and what is to be said of its scale."""
    kind = form.get("from", "X")
    if kind not in FIELDS:
        raise ValueRefused(f"there is no {kind!r} to start from; there are {', '.join(FIELDS)}")
    wanted = [name for name in FIELDS[kind] if name != "W_O" or form.get("project")]
    matrices: dict[str, Any] = {name: matrix(name, form.get(name, FIELDS[kind][name].start)) for name in wanted}
    heads = int(text) if (text := form.get("heads", "1")).isdecimal() and 0 < len(text) < 3 else 1
    own = kind == "X"
    width = len(matrices["W_Q" if own else "Q"][0])
    scale, said = _scale(form, width // heads if own and heads else width, len(matrices["X"][0]) if own else width)
    norm = form.get("norm") or None if own else None
    solution = work(
        **matrices,
        title="Worked out",
        scale=scale,
        mask=form.get("mask") or None,
        heads=heads if own and heads > 1 else None,
        normalise=form.get("normalise") or "softmax",
        norm=norm,
        eps=EPSILON if norm else None,
    )
    return solution, said


def _scale(form: Mapping[str, str], d_k: int, d_model: int) -> tuple[str | None, str]:
    """What the scores are divided by, the temperature in it: T·√d_k = √(T² d_k). And what to say about that."""
    chosen, heat = form.get("scale") or "usual", _decimal(form, "temperature", "1")
    if chosen not in SCALES:
        raise ValueRefused(f"there is no scale {chosen!r}; there are {', '.join(SCALES)}")
    if heat <= 0:
        raise ValueRefused("a temperature is above zero")
    said = f"Temperature {heat}: the scores are divided by {heat}·{{}}." if heat != 1 else ""
    if chosen == "none":
        return (None, "") if heat == 1 else (str(heat), f"Temperature {heat}: the scores are divided by {heat}.")
    if chosen == "own":
        number = _decimal(form, "own", "1")
        return str(number * heat), said.format(number)
    if heat == 1:
        return ("sqrt(d_k)" if chosen == "usual" else "sqrt(d_model)"), ""
    size = d_k if chosen == "usual" else d_model
    under = f"{(heat * heat * size).normalize():f}"
    return f"sqrt({under})", said.format(f"√{size} = √{under}")


def _decimal(form: Mapping[str, str], name: str, usual: str) -> Decimal:
    text = (form.get(name) or usual).strip().replace(",", ".")[:LONGEST]
    try:
        found = Decimal(text)
    except InvalidOperation as error:
        raise ValueRefused(f"{name} is {text!r}, which is not a number") from error
    if not found.is_finite() or abs(found.adjusted()) > LONGEST:
        raise ValueRefused(f"{name} is {text!r}, which is out of reach")
    return found


def _maps(trace: Trace, tokens: list[str]) -> list[str]:
    """A heat map for each head."""
    found = []
    for step in trace.program.steps:
        if step.role is Role.WEIGHTS:
            cells = trace.decimals(step.symbol, MAP_PLACES)
            head = f" of head {step.head}" if step.head is not None else ""
            asking, asked = _labels(tokens, len(cells), "q"), _labels(tokens, len(cells[0]), "k")
            found.append(heat_map(f"Weights{head}: rows look at columns", cells, asking, asked))
    return found


def _labels(tokens: list[str], count: int, letter: str) -> list[str]:
    """The tokens, if there are as many; numbers otherwise."""
    return tokens if len(tokens) == count else [f"{letter}{k}" for k in range(1, count + 1)]
