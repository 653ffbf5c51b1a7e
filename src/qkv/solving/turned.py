"""What words do to attention itself: rows for a cache, a bias by distance (ALiBi), queries and keys turned by their
positions (RoPE). What attention has read so far is read changed; scores of vectors that were not turned are no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import angles, distances, quarter_turn
from qkv.library import around_said as said
from qkv.library.rows import renamed
from qkv.program.model import Answer, Given, Program, Step
from qkv.reading.asked import questions_of
from qkv.reading.equation import Kind
from qkv.reading.page import Page
from qkv.solving.growing import answered, number_given, parts_of, read_instead, states_formulas
from qkv.solving.known import known_values

_AFTER = (Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.OUTPUT)
_TURNED, _BIASED = "rot", "biased"  # labels of what words say, see reading/turned.py and reading/biased.py
_TURN = Symbol("J")
_NOTE = (
    "RoPE turns queries and keys by their positions: say these, 'the query at position 2', and what θ or the base is"
)


def with_changes(program: Program, page: Page, scope: int) -> Program:
    """The program with what words do to keys, values, queries and scores."""
    words = page.words_of(scope).lower()
    if program.columns:
        return program
    program = _read_biased(program)
    if not states_formulas(page, scope):
        for role in (Role.K, Role.V) if said.CACHE.search(words) else ():
            program = _appended(program, role)
        program = _biased(program, words) if said.ALIBI.search(words) else program
    if any(_TURNED in step.symbol.labels for step in program.steps):
        return _read_turned(program)
    return _with_rope(program, page, scope, words) if said.ROPE.search(words) else program


def _read_biased(program: Program) -> Program:
    """The program in which weights that the page does not work out itself are those of the scores with their bias."""
    biased = next((step for step in program.steps if step.symbol.labels[-1:] == (_BIASED,)), None)
    if biased is None:
        return program
    weights = [step for step in program.steps if step.role is Role.WEIGHTS and step.line is None]
    made = [replace(step, expr=n.Softmax(n.Name(biased.symbol), 1, by_rows=True)) for step in weights]
    others = [step for step in program.steps if step not in weights]
    at = others.index(biased) + 1
    return replace(program, steps=(*others[:at], *made, *others[at:]))


def _read_turned(program: Program) -> Program:
    """The program in which scores that the page does not work out itself are those of the turned vectors."""
    own = {item.symbol: item.symbol._replace(labels=(*item.symbol.labels, _TURNED)) for item in program.givens}
    turned = {old: new for old, new in own.items() if program.item(new) is not None}
    sides = {program.find(role) for role in (Role.Q, Role.K)}
    steps, dropped = list[Step](), {side for side in sides if side not in turned}
    for step in program.steps:
        if step.role in _AFTER and step.line is None:
            if dropped & set(n.names_in(step.expr)):
                dropped.add(step.symbol)
                continue
            step = replace(step, expr=renamed(step.expr, turned))
        steps.append(step)
    return replace(program, steps=tuple(steps))


def _appended(program: Program, role: Role) -> Program:
    """Keys or values of new tokens go below those of the cache, which has more rows."""
    found = [(g.symbol, g.expr) for g in program.givens if g.role is role and isinstance(g.expr, n.Matrix)]
    if len(found) != 2:
        return program
    (cache, rows), (new, added) = sorted(found, key=lambda pair: -len(pair[1].rows))
    if rows.shape[1] != added.shape[1] or any(new in n.names_in(step.expr) for step in program.steps):
        return program
    symbol = cache._replace(labels=(*cache.labels, "all"))
    whole = n.Concat((n.Name(cache), n.Name(new)), 0)
    step = Step(symbol, whole, role, symbol_plain(symbol), says="the rows of the cache, and the new ones below them")
    answers = (
        replace(a, parts=(*a.parts, *parts_of([step])), missing="") if said.APPEND.search(a.text.lower()) else a
        for a in program.answers
    )
    return replace(read_instead(program, cache, [step]), answers=tuple(answers))


def _biased(program: Program, words: str) -> Program:
    """Scores less m for each token between a query and a key, by the slope m that the words give."""
    slope = said.SLOPE.search(words)
    scores = program.find(Role.SCALED) or program.find(Role.SCORES)
    made = next((step.expr for step in program.steps if step.symbol == scores), None)
    if slope is None or scores is None or not isinstance(made, (n.Product, n.Quotient)):
        return program  # no scores, or the page says itself what is taken off them
    shape = known_values((*program.givens, *program.steps))[scores].shape
    table = distances(*shape, Fraction(slope[1]) / int(slope[2] or 1))
    says = "with the bias of ALiBi: −m for each token between a query and a key"
    step = Step(Symbol("S", ("biased",)), n.Sum((n.Name(scores), table)), Role.BLOCK, "S_biased", says=says)
    answers = (answered(a, a, [step]) if said.BIASED.search(a.text.lower()) else a for a in program.answers)
    return replace(read_instead(program, scores, [step]), answers=tuple(answers))


def _with_rope(program: Program, page: Page, scope: int, words: str) -> Program:
    """The program with queries and keys turned by the positions that words give them, where a page speaks of RoPE."""
    asked = any(
        said.ROPE.search(q.text.lower()) or said.ROTATED.search(q.text.lower()) for q in questions_of(page, scope)
    )
    works = {step.role for step in program.steps} >= {Role.SCORES} and program.find(Role.K) is not None
    if not (asked or said.ROPE_APPLIED.search(words)) or not works or _states_waves(page, scope):
        return program
    turned = {role: _turned(program, role, words) for role in (Role.Q, Role.K)}
    if None in turned.values():
        kept = tuple(step for step in program.steps if step.role not in _AFTER)
        answers = tuple(replace(a, parts=(), says="", missing=_NOTE) for a in program.answers)
        return replace(program, steps=kept, answers=answers, notes=(*program.notes, _NOTE))
    for role, steps in turned.items():
        symbol = program.find(role)
        if symbol is not None and steps is not None:
            program = read_instead(program, symbol, [step for step in steps if program.item(step.symbol) is None])
    made = [steps[-1] for steps in turned.values() if steps]
    return replace(program, answers=tuple(_answered(answer, made) for answer in program.answers))


def _answered(answer: Answer, made: list[Step]) -> Answer:
    """A question about a rotated query or key with it."""
    text = answer.text.lower()
    if not said.ROTATED.search(text) or answer.parts:
        return answer
    return answered(answer, answer, [s for s, word in zip(made, ("quer", "key"), strict=True) if word in text] or made)


def _states_waves(page: Page, scope: int) -> bool:
    """Whether the page says itself how it turns: its formulas come first."""
    formulas = (item.expr for e in page.equations if e.scope == scope for item in e.of(Kind.FORMULA, Kind.WORKING))
    return any(isinstance(node, n.Call) and node.function in ("sin", "cos") for f in formulas for node in n.walk(f))


def _turned(program: Program, role: Role, words: str) -> tuple[Step, ...] | None:
    """The steps that turn queries or keys; None where their positions or their angles are not known."""
    symbol = program.find(role)
    given = next((item for item in program.givens if item.symbol == symbol), None)
    if given is None or not isinstance(given.expr, n.Matrix) or given.expr.shape[1] % 2:
        return None
    rows, width = given.expr.shape
    first = _place(program, role, words) if rows == 1 else 0
    table = _angles(program, rows, width, first, words) if first is not None else None
    return tuple(_steps(given, role, width, table, words)) if table is not None else None


def _place(program: Program, role: Role, words: str) -> int | None:
    """The position of the one query or key, as words or m and n give it."""
    for found in said.ROPE_PLACE.finditer(words):
        if (found["who"][0] == "q") == (role is Role.Q):
            return int(found["place"])
    place = number_given(program, {"m" if role is Role.Q else "n"})
    return int(place.value) if place is not None and place.value.denominator == 1 else None


def _angles(program: Program, rows: int, width: int, first: int, words: str) -> n.Matrix | None:
    """The angle of every position and column: by one θ for a single pair, else by the base."""
    if (theta := number_given(program, {"theta", "theta_0", "theta_1"})) is not None:
        cells = (n.number(place * theta.value) for place in range(first, first + rows))
        return n.Matrix(tuple((cell,) * width for cell in cells)) if width == 2 else None
    base = said.ROPE_BASE.search(words)
    return angles(rows, width, n.number(int(base[1]) if base else 10000), first, bool(said.HALVES.search(words)))


def _steps(given: Given, role: Role, width: int, table: n.Matrix, words: str) -> Iterator[Step]:
    """x cos Θ + (x J) sin Θ, with J and Θ before it."""
    name, angle = n.Name(given.symbol), Symbol("Theta", (role.value,))
    turn = quarter_turn(width, bool(said.HALVES.search(words)))
    yield Step(_TURN, turn, Role.OTHER, "J", says="turns each pair (a, b) into (−b, a)")
    yield Step(angle, table, Role.OTHER, symbol_plain(angle), says="the angle of each position and pair")
    cosine, sine = (n.Call(wave, (n.Name(angle),)) for wave in ("cos", "sin"))
    expr = n.Sum((n.Call("hadamard", (name, cosine)), n.Call("hadamard", (n.Product(name, n.Name(_TURN)), sine))))
    symbol = given.symbol._replace(labels=(*given.symbol.labels, "rot"))
    yield Step(symbol, expr, Role.BLOCK, symbol_plain(symbol), says="turned by its position")
