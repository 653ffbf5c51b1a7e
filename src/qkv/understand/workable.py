"""Programs that can be worked out: steps in order, shapes that fit, values that exist; the rest is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from qkv.errors import NameUnknownError, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import START_BITS, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate, evaluated
from qkv.interpret.shapes import Shapes
from qkv.interpret.trace import Trace
from qkv.program.model import Given, Program, Step
from qkv.records import replace

Shape = tuple[int, int]


def with_step(program: Program, step: Step) -> Program:
    """The program with one more step; what was worked out of the others still holds if the name is new."""
    grown = replace(program, steps=(*program.steps, step))
    if program.item(step.symbol) is None:
        grown.kept["shapes"] = dict(shapes_of(program))
        _note_shape(step, grown.kept["shapes"])
    return grown


def with_steps(program: Program, steps: Iterable[Step], told: Mapping[Symbol, Shape]) -> Program:
    """The program with other steps, in order; shapes are worked out anew only of what changed and what stands on it.
    `told` are the shapes of new steps, worked out in the program as it was."""
    made = replace(program, steps=ordered_steps(steps, program.givens))
    known, before = shapes_of(program), program.by_symbol
    env = {given.symbol: known[given.symbol] for given in program.givens if given.symbol in known}
    moved: set[Symbol] = set()
    for step in made.steps:
        symbol = step.symbol
        if before.get(symbol) is not step or not moved.isdisjoint(n.names_in(step.expr)):
            env.pop(symbol, None)
            if symbol in told and moved.isdisjoint(n.names_in(step.expr)):
                env[symbol] = told[symbol]
            else:
                _note_shape(step, env)
            if env.get(symbol) != known.get(symbol):
                moved.add(symbol)
        elif symbol in known:
            env[symbol] = known[symbol]
    made.kept["shapes"] = env
    return made


def shapes_of(program: Program) -> dict[Symbol, Shape]:
    """The shapes of everything in a program that has one; worked out once."""
    if "shapes" in program.kept:
        known: dict[Symbol, Shape] = program.kept["shapes"]
        return known
    env: dict[Symbol, Shape] = {}
    for given in program.givens:
        _note_shape(given, env)
    for step in program.steps:
        _note_shape(step, env)
    program.kept["shapes"] = env
    return env


def _note_shape(item: Given | Step, env: dict[Symbol, Shape]) -> None:
    if isinstance(item.expr, n.Matrix) and not item.expr.is_ragged and n.is_plain(item.expr):
        env[item.symbol] = item.expr.shape
        return
    try:
        env[item.symbol] = evaluate(item.expr, env, Shapes())
    except QkvError:
        return


def shape_in(program: Program, expr: n.Expr) -> Shape | None:
    return evaluated(expr, shapes_of(program), Shapes())


def fits(program: Program, expr: n.Expr) -> bool:
    return shape_in(program, expr) is not None


def ordered_steps(steps: Iterable[Step], givens: tuple[Given, ...]) -> tuple[Step, ...]:
    """Steps in an order in which each uses only what stands before it; those that never can are left out."""
    done = {given.symbol for given in givens}
    waiting = [(step, set(n.names_in(step.expr))) for step in steps]
    ordered: list[Step] = []
    at = 0
    while at < len(waiting):
        step, names = waiting[at]
        if not names <= done:
            at += 1
            continue
        ordered.append(step)
        done.add(step.symbol)
        del waiting[at]
        at = 0
    return tuple(ordered)


def workable(program: Program) -> Program:
    """Leave out what cannot be worked: shapes that do not fit, rows masked everywhere; and say so."""
    env: dict[Symbol, Shape] = {}
    known = shapes_of(program) if len(program.by_symbol) == len(program.items) else {}
    givens, steps, notes = [], [], list(program.notes)
    for given in program.givens:
        if given.symbol not in env and _has_shape(
            given, env, known, notes
        ):  # of two of one name the loop takes the first
            givens.append(given)
    for step in ordered_steps(program.steps, program.givens):
        if env.keys() >= set(n.names_in(step.expr)) and _has_shape(step, env, known, notes):
            steps.append(step)
    made = replace(program, givens=tuple(givens), steps=tuple(steps), notes=tuple(notes))
    made.kept["shapes"] = env
    return made


def needed(program: Program) -> Program:
    """The program without values that play no known part and that no step uses: prints of what is worked out anyway,
    or numbers of another problem."""
    used = {symbol for item in program.items for symbol in n.names_in(item.expr)}
    kept = tuple(given for given in program.givens if given.role is not Role.OTHER or given.symbol in used)
    return program if len(kept) == len(program.givens) or not program.steps else replace(program, givens=kept)


# What expressions came to with which values for their names, each with what its key is made of: programs of one
# document that differ in a step share the rest.
Memory = dict[tuple[int, ...], tuple[n.Expr, list[Value], Value]]


def _remembered(expr: n.Expr, env: Mapping[Symbol, Value], memory: Memory) -> Value:
    """The value of an expression, worked out once for the same values of its names."""
    try:
        values = [env[symbol] for symbol in n.names_in(expr)]
    except KeyError:
        return evaluate(expr, env, Certified())  # which says what is missing
    key = id(expr), *map(id, values)
    if key not in memory:
        memory[key] = expr, values, evaluate(expr, env, Certified())
    return memory[key][2]


def computed(program: Program, memory: Memory) -> Trace:
    """The program worked out, without what has no value (a row masked everywhere, a division by zero) and what stands
    on it; that is said."""
    env: dict[Symbol, Value] = {}
    try:
        with precision(START_BITS):
            for given in program.givens:
                if given.symbol not in env:
                    env[given.symbol] = _remembered(given.expr, env, memory)
            for step in program.steps:
                env[step.symbol] = _remembered(step.expr, env, memory)
    except QkvError:
        return Trace(_computable(program))
    return Trace(program, {START_BITS: env})


def _computable(program: Program) -> Program:
    env: dict[Symbol, Value] = {}
    kept: list[Given | Step] = []
    notes = list(program.notes)
    items: tuple[Given | Step, ...] = (*program.givens, *program.steps)
    for item in items:
        try:
            env[item.symbol] = evaluate(item.expr, env, Certified())
        except NameUnknownError:
            continue  # it stands on something that was left out, which was said
        except QkvError as error:
            notes.append(f"{item.spelled} cannot be worked out: {error.message}")
            continue
        kept.append(item)
    givens = tuple(item for item in kept if isinstance(item, Given))
    steps = tuple(item for item in kept if isinstance(item, Step))
    return replace(program, givens=givens, steps=steps, notes=tuple(notes))


class Worked(Mapping[Symbol, Value]):
    """The values of a program, each worked out when it is first asked for; what stands on itself has none."""

    def __init__(self, program: Program, memory: Memory | None = None) -> None:
        self._program, self._memory = program, {} if memory is None else memory
        self._made: dict[Symbol, Value] = program.kept.setdefault("worked", {})
        self._open: set[Symbol] = set()  # being worked out

    def __getitem__(self, symbol: Symbol) -> Value:
        if symbol not in self._made:
            item = self._program.item(symbol)
            if item is None or symbol in self._open:
                raise KeyError(symbol)
            self._open.add(symbol)
            try:
                self._made[symbol] = self.evaluate(item.expr)
            finally:
                self._open.discard(symbol)
        return self._made[symbol]

    def evaluate(self, expr: n.Expr) -> Value:
        """The value of an expression in the names of the program."""
        with precision(START_BITS):
            return _remembered(expr, self, self._memory)

    def __contains__(self, symbol: object) -> bool:
        known = isinstance(symbol, Symbol) and self._program.item(symbol) is not None
        return known and symbol not in self._open

    def __iter__(self) -> Iterator[Symbol]:
        return (item.symbol for item in self._program.items)

    def __len__(self) -> int:
        return len(self._program.items)


def _has_shape(item: Given | Step, env: dict[Symbol, Shape], known: dict[Symbol, Shape], notes: list[str]) -> bool:
    try:
        env[item.symbol] = known.get(item.symbol) or evaluate(item.expr, env, Shapes())
    except QkvError as error:
        what = item.spelled if isinstance(item, Given) else f"{item.spelled} = {plain(item.expr)}"
        notes.append(f"{what} cannot be worked out: {error.message}")
        return False
    return True
