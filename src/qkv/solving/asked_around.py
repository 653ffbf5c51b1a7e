"""Exercises in words about what stands around attention: 'Compute LayerNorm(x)', 'the perplexity', 'a pre-norm block'.

What the page gives becomes the matrices of a block, its words the options; the steps are rows of the library. A page
that states a formula, or works something out itself, is left alone: its own word comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.interpret.trace import Trace
from qkv.library import block
from qkv.library.around_said import (
    ALIASES,
    ALIBI,
    APPEND,
    ASKED,
    CACHE,
    ENTROPY,
    FEED,
    FIRST,
    FROM_ONE,
    GRADIENT,
    JACOBIAN,
    LIKELIEST,
    LOGITS,
    LOSS,
    NORM,
    NUMBERS,
    PLACES,
    POSITIONS,
    RESIDUAL,
    RESULT,
    SLOPE,
    TEMPERATURE,
    TOP,
    VARIANCE,
)
from qkv.program.block import Around, planned
from qkv.program.gradients import jacobians
from qkv.program.model import Answer, Part, Program, Step
from qkv.program.request import ARGUMENTS, Options
from qkv.program.spec import default_symbol
from qkv.reading.definitions import Source
from qkv.reading.equation import Kind
from qkv.reading.system import System
from qkv.solving.losses import target_said
from qkv.solving.replies import is_beside

NOTE = "the page asks for this without a formula: worked out as in a usual block"


@dataclass
class _Gathered:
    """What the page gives, under the names of the library, and the names that the page has for it."""

    matrices: dict[str, object] = field(default_factory=dict)
    numbers: dict[str, object] = field(default_factory=dict)
    names: dict[Symbol, Symbol] = field(default_factory=dict)
    appended: bool = False

    def append(self, name: str, rows: list[list[str]]) -> None:
        """Keys or values of new tokens go below those of the cache, which has more rows."""
        held = self.matrices[name]
        if isinstance(held, list):
            self.matrices[name] = [*held, *rows] if len(held) >= len(rows) else [*rows, *held]
            self.appended = True


def asked_around(program: Program, system: System, scope: int, words: str) -> Program:
    """The program of an exercise in words around attention; the same program where there is none."""
    words = words.lower()
    if JACOBIAN.search(words):
        program = _with_jacobians(program)
    if program.columns or _states_formulas(system, scope):
        return program
    if ENTROPY.search(words):
        return _with_entropy(program, words)
    if not any(said.search(words) for said in (NORM, POSITIONS, LOSS, LIKELIEST, TOP, TEMPERATURE, FEED, ALIBI, CACHE)):
        return program
    given = _gathered(system, scope, words)
    attends = {"Q", "W_Q"} & given.matrices.keys()
    around = _around(given, words, bool(attends))
    if ALIBI.search(words):
        given.matrices |= _distances(given, words)
    if (around is None and not given.appended and "bias" not in given.matrices) or len(system.heads_in(scope)) > 1:
        return program
    held = system.conventions(scope)
    mask = "causal" if "causal" in held and attends and not given.appended else None
    options = Options(mask=mask) if "unscaled" not in held else Options(mask=mask, scale=None)
    try:
        made = planned(given.matrices, options, around or Around())
    except QkvError:
        return program
    made = _as_asked(made, words).renamed(given.names)
    answers = tuple(_answered(answer, made, len(program.answers) == 1) for answer in program.answers)
    return replace(made, title=program.title, line=program.line, answers=answers, notes=(*made.notes, NOTE))


def _distances(given: _Gathered, words: str) -> dict[str, object]:
    """The bias of ALiBi by the slope that the words give: −m for each token between a query and a key."""
    slope = SLOPE.search(words)
    queries, keys = (given.matrices.get(name, given.matrices.get("X")) for name in ("Q", "K"))
    if slope is None or not isinstance(queries, list) or not isinstance(keys, list):
        return {}
    step = Fraction(slope[1]) / int(slope[2] or 1)
    ahead = len(keys) - len(queries)
    return {"bias": [[str(-step * abs(i + ahead - j)) for j in range(len(keys))] for i in range(len(queries))]}


def _with_jacobians(program: Program) -> Program:
    """The program with diag(p) − pᵀ p for what its softmax gives, where a question asks for the Jacobian."""
    asking = [answer for answer in program.answers if JACOBIAN.search(answer.text.lower())]
    try:
        steps = tuple(jacobians(Trace(program))) if asking else ()
    except QkvError:
        steps = ()
    parts = tuple(Part(step.spelled, n.Name(step.symbol)) for step in steps)
    missing = "" if steps else "no softmax is worked out here whose Jacobian it could be"
    answers = (replace(a, parts=parts, says="", missing=missing) if a in asking else a for a in program.answers)
    return replace(program, steps=(*program.steps, *steps), answers=tuple(answers))


def _as_asked(program: Program, words: str) -> Program:
    """The program without a norm that nothing reads, and with the gradient of its loss if that is asked for."""
    steps = {symbol_plain(step.symbol): step for step in program.steps}
    if "R_1" in steps and "N_2" in steps and steps.keys().isdisjoint({"F", "L"}):
        program = replace(program, steps=program.steps[: program.steps.index(steps["R_1"]) + 1])
    if VARIANCE.search(words) and "sigma_1" in steps and isinstance(steps["sigma_1"].expr, n.Root):
        program = _with_variance(program, steps["sigma_1"])
    if GRADIENT.search(words) and "loss" in steps and program.item(Symbol("tau")) is None:
        difference = n.Sum((n.Name(Symbol("P")), n.Negate(n.Name(Symbol("T", ("y",))))))
        step = Step(Symbol("gradient"), difference, Role.BLOCK, "gradient", says="of the loss, by the logits: P − T_y")
        program = replace(program, steps=(*program.steps, step))
    return program


def _with_variance(program: Program, spread: Step) -> Program:
    """The program with the variance that a norm takes the root of as a step of its own."""
    made = [node for node in n.walk(spread.expr) if isinstance(node, n.Call) and node.function == "var"]
    step = (
        Step(Symbol("var", ("1",)), made[0], Role.BLOCK, "var_1", says="the variance of each token") if made else None
    )
    at = program.steps.index(spread)
    return replace(program, steps=(*program.steps[:at], step, *program.steps[at:])) if step is not None else program


def _with_entropy(program: Program, words: str) -> Program:
    """The program with the entropy of its weights, or of the one vector that is given."""
    single = [given.symbol for given in program.givens if isinstance(given.expr, n.Matrix)]
    weights = (step.symbol for step in program.steps if step.role is Role.WEIGHTS and not is_beside(step))
    of = next(weights, None) or program.find(Role.WEIGHTS) or (single[0] if len(single) == 1 else None)
    if of is None or program.item(Symbol("H")) is not None:
        return program
    shares = n.Name(of)
    nats = n.Negate(n.Call("rowsum", (n.Call("hadamard", (shares, n.Call("ln", (shares,)))),)))
    steps = [Step(Symbol("H"), nats, Role.BLOCK, "H", says="the entropy of each row, in nats")]
    if "bit" in words:
        bits = n.Quotient(n.Name(Symbol("H")), n.Call("ln", (n.number(2),)))
        steps.append(Step(Symbol("H", ("bits",)), bits, Role.BLOCK, "H_bits", says="the same in bits"))
    parts = tuple(Part(step.spelled, n.Name(step.symbol)) for step in steps)
    answers = (replace(a, parts=parts, missing="") if ENTROPY.search(a.text.lower()) else a for a in program.answers)
    return replace(program, steps=(*program.steps, *steps), answers=tuple(answers))


def _states_formulas(system: System, scope: int) -> bool:
    """Whether the page says by a formula what something is, or works it out."""
    here = (equation for equation in system.page.equations if equation.scope == scope)
    return any(e.of(Kind.WORKING) or (e.of(Kind.FORMULA) and len(e.items) > 1) for e in here)


def _gathered(system: System, scope: int, words: str) -> _Gathered:
    """What a problem gives by its numbers alone, and can be an argument."""
    given, symbols = _Gathered(), block.names()
    aliases = {**ALIASES, **(LOGITS if "logit" in words else {}), **(PLACES if POSITIONS.search(words) else {})}
    for symbol, expr in _literals(system, scope):
        spelled, place = symbol_plain(symbol), system.place(symbol)
        role = place.role if place is not None and place.row is None else Role.OTHER
        if isinstance(expr, n.Number):
            if spelled in NUMBERS and expr.value > 0:
                given.numbers[NUMBERS[spelled]] = plain(expr)
            continue
        name = aliases.get(spelled) or next((key for key, known in ARGUMENTS.items() if known is role), spelled)
        if name not in symbols and name not in ARGUMENTS:
            continue
        rows = [[plain(cell) for cell in row] for row in expr.rows]
        if name in ("K", "V") and name in given.matrices and CACHE.search(words):
            given.append(name, rows)
            continue
        given.matrices[name] = rows
        given.names[symbols.get(name) or default_symbol(ARGUMENTS[name])] = symbol
    return given


def _literals(system: System, scope: int) -> Iterator[tuple[Symbol, n.Matrix | n.Number]]:
    for symbol, found in system.page.definitions.items():
        for d in found:
            plainly = d.source is Source.GIVEN and isinstance(d.expr, (n.Matrix, n.Number)) and n.is_literal(d.expr)
            if d.scope == scope and plainly and isinstance(d.expr, (n.Matrix, n.Number)):
                yield symbol, d.expr


def _around(given: _Gathered, words: str, attends: bool) -> Around | None:
    """What the words ask for around attention; None where something is missing for it."""
    places = given.matrices.pop("PE", None)
    made = Around(eps=given.numbers.get("eps") if NORM.search(words) else None)
    if NORM.search(words):
        if RESIDUAL.search(words) and not (attends or "Output" in given.matrices):
            return None  # what is added is not known: the norm of the tokens alone would be another one
        first = block.NORM_FIRST.search(words) or FIRST.search(words) or not (attends or "Output" in given.matrices)
        made = replace(made, norm=("pre" if first else "post") + (" rms" if "rms" in words else ""))
    if FEED.search(words) and {"W_1", "W_2"} <= given.matrices.keys():
        made = replace(made, activation=_activation(words, "W_3" in given.matrices))
    if POSITIONS.search(words) and "X" in given.matrices and (places is not None or "learn" not in words):
        made = replace(made, positions=places if places is not None else "sinusoidal")
    if "L" in given.matrices:
        logits = given.matrices["L"]
        width = len(logits[0]) if isinstance(logits, list) else 0
        top, target = TOP.search(words), target_said(words, width, from_one=bool(FROM_ONE.search(words)))
        if LOSS.search(words) and target is None:
            return None
        made = replace(
            made,
            temperature=given.numbers.get("temperature"),
            targets=[target] if target is not None else None,
            predict=bool(LIKELIEST.search(words)),
            top=int(top[1]) if top is not None else None,
        )
    return made if made != Around() else None


def _activation(words: str, gated: bool) -> str:
    if gated:
        return "geglu" if "gelu" in words else "swiglu"
    return "gelu" if "gelu" in words else "silu" if re.search(r"silu|swish", words) else "relu"


def _answered(answer: Answer, program: Program, alone: bool) -> Answer:
    """A question with what it asks for of the program: by its words, else what comes last if it is the only one."""
    said = answer.text.lower()
    if APPEND.search(said):
        cached = [given for given in program.givens if given.role in (Role.K, Role.V)]
        return replace(answer, parts=tuple(Part(each.spelled, n.Name(each.symbol)) for each in cached), missing="")
    wanted = next((names for words, names in ASKED if words.search(said)), ())
    steps = {symbol_plain(step.symbol): step for step in program.steps}
    last = program.steps[-1] if not wanted and (alone or RESULT.search(said)) else None
    found = next((steps[name] for name in wanted if name in steps), last)
    if found is None:
        return replace(answer, parts=(), says="")
    return replace(answer, parts=(Part(found.spelled, n.Name(found.symbol)),), says="", missing="", assumed=())
