"""Layers of a block, one after the other: each reads what comes out of the one before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from qkv.errors import ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.fit import Shape
from qkv.interpret.shapes import shapes
from qkv.library import block
from qkv.library.rows import Row, counted
from qkv.program.kinds import plan
from qkv.program.model import Given, Program, Step
from qkv.program.request import Options, request
from qkv.program.spec import default_symbol

X, Y, X_P, OUTPUT = Symbol("X"), Symbol("Y"), Symbol("X", ("P",)), default_symbol(Role.OUTPUT)
N_1, N_2 = (Symbol("N", (), (i,)) for i in "12")
LAYER, CROSS = "L", "cross"  # labels: N_{1,2}^L is N_1 of layer 2, Q_cross a query of cross-attention


class Layer(NamedTuple):
    """The matrices of one layer: around attention, of self-attention, and of cross-attention where there is any."""

    around: tuple[Given, ...]
    attention: Mapping[str, object]
    cross: Mapping[str, object]

    @property
    def part(self) -> int:
        """The number of the feed-forward layer among the parts of the block."""
        return 3 if self.cross else 2


def stacked(
    program: Program, layers: Sequence[Layer], options: Options, conventions: frozenset[str]
) -> tuple[Program, dict[Symbol, Symbol]]:
    """The program with all layers, and the names that quantities of the last one have in it."""
    tokens = next((symbol for symbol in (X_P, X) if program.item(symbol)), X)
    parts = [_worked(layers[0], shapes(program, strict=True).get(tokens), options, conventions)]
    results = []
    for before, layer in pairwise(layers):
        results.append(_result(parts[-1], before, conventions))
        parts.append(_worked(layer, shapes(parts[-1], strict=True)[results[-1]], options, conventions))
    shared = _shared(parts)
    names = {**(_numbered(parts[0], 1, shared) if results else {}), X: tokens}
    program = _joined(program, parts[0].renamed(names))
    for number, (result, part) in enumerate(zip(results, parts[1:], strict=True), 2):
        names = {**_numbered(part, number, shared), X: names[result]}
        program = _joined(program, part.renamed(names))
    return program, names


def chained(
    program: Program, rows: Iterable[Row], conventions: frozenset[str], names: Mapping[Symbol, Symbol] | None = None
) -> Program:
    """The program with the rows that follow from it; `names` are those that it has for what the rows speak of."""
    known = {item.symbol for item in program.items} | set(names or {})
    made = tuple(
        Step(row.symbol, row.expr, Role.BLOCK, symbol_plain(row.symbol), says=row.says)
        for row in counted(rows, known, conventions)
    )
    return replace(program, steps=(*program.steps, *Program("", (), made).renamed(names or {}).steps))


def _worked(layer: Layer, shape: Shape | None, options: Options, conventions: frozenset[str]) -> Program:
    """One layer by itself, on tokens of a shape."""
    tokens = () if shape is None else (Given(X, n.Matrix(((n.number(0),) * shape[1],) * shape[0]), Role.X, "X"),)
    program = chained(Program("", (*tokens, *layer.around), ()), block.before(), conventions)
    if layer.attention:
        program = _attending(program, layer.attention, options, (N_1, X))
    program = chained(program, block.attended(), conventions)
    if layer.cross:
        plainly = replace(options, mask=None, window=None, rope=False, alibi=False)
        program = _attending(program, layer.cross, plainly, (N_2, N_1, OUTPUT, X), CROSS)
        program = chained(program, block.crossed(), conventions)
    return chained(program, block.fed(layer.part), conventions)


def _attending(
    program: Program, matrices: Mapping[str, object], options: Options, reads: tuple[Symbol, ...], label: str = ""
) -> Program:
    """The program with the steps of attention, which reads the first of some quantities that there is."""
    sizes = shapes(program, strict=True)
    read = next((symbol for symbol in reads if symbol in sizes), None)
    tokens = {} if read is None else {"X": [[0] * sizes[read][1]] * sizes[read][0]}
    spec = request({**tokens, **matrices}, options)
    if read is not None:
        holder = replace(spec.givens[Role.X, None], symbol=read)
        spec = replace(spec, givens={**spec.givens, (Role.X, None): holder})
    made = plan(spec)
    if made.find(Role.OUTPUT) is None and (heads := made.find(Role.CONCAT)) is not None:
        says = "without W_O the heads are the output"
        last = Step(OUTPUT, n.Name(heads), Role.OUTPUT, symbol_plain(OUTPUT), says=says)
        made = replace(made, steps=(*made.steps, last))
    if label:
        own = [item.symbol for item in made.items if item.symbol not in (read, Y) and not _is_known(item, program)]
        made = made.renamed({s: s._replace(labels=tuple(sorted((*s.labels, label)))) for s in own})
    return replace(_joined(program, made), kind=f"{program.kind} and {made.kind}" if program.kind else made.kind)


def _is_known(item: Given | Step, program: Program) -> bool:
    """Whether a program has the same given already, such as d_k."""
    other = program.item(item.symbol)
    return isinstance(item, Given) and item.implied and other is not None and other.expr == item.expr


def _joined(program: Program, part: Program) -> Program:
    known = {item.symbol for item in program.items}
    givens = tuple(given for given in part.givens if given.symbol not in known)
    notes = tuple(dict.fromkeys((*program.notes, *part.notes)))
    kind = program.kind or part.kind
    return replace(
        program, kind=kind, givens=(*program.givens, *givens), steps=(*program.steps, *part.steps), notes=notes
    )


def _result(part: Program, layer: Layer, conventions: frozenset[str]) -> Symbol:
    """What comes out of a layer."""
    made = {symbol_plain(step.symbol): step.symbol for step in part.steps}
    states = (s for norm, states in block.results(layer.part).items() if norm in conventions for s in states)
    found = next((made[state] for state in states if state in made), None)
    if found is None:
        raise ValueRefused("nothing comes out of a layer: give it W_Q, W_K and W_V, or W_1 and W_2")
    return found


def _shared(parts: Sequence[Program]) -> frozenset[Symbol]:
    """What is given alike to all layers."""
    tables = [{given.symbol: given.expr for given in part.givens} for part in parts]
    return frozenset(s for s, expr in tables[0].items() if all(table.get(s) == expr for table in tables))


def _numbered(part: Program, number: int, shared: frozenset[Symbol]) -> dict[Symbol, Symbol]:
    """The names of one layer of several."""
    own = (item.symbol for item in part.items if item.symbol not in shared)
    return {s: s._replace(labels=tuple(sorted((*s.labels, LAYER))), indices=(*s.indices, str(number))) for s in own}
