"""Recording JAX: the traced program is replayed one equation at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from qkv.compare.formula import Array
from qkv.compare.record.recording import Contraction, Node, Recording, Tape, numbers

# Equations that hold another program → where it is.
CALLS = ("jaxpr", "call_jaxpr", "fun_jaxpr")


def to_numpy(array: Any) -> Array:
    """An array's numbers, without rounding."""
    made = np.asarray(array)
    return numbers(made.astype(np.float64) if made.dtype.name == "bfloat16" else made)


def record(
    mine: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], constants: Mapping[int, str]
) -> Recording:
    """Trace `mine`, replay the trace and take down every array."""
    import jax

    flat, tree = jax.tree.flatten((tuple(args), dict(kwargs)))
    arrays = [i for i, leaf in enumerate(flat) if hasattr(leaf, "dtype")]

    def traced(*leaves: Any) -> Any:
        filled = dict(zip(arrays, leaves, strict=True))
        inner_args, inner_kwargs = jax.tree.unflatten(tree, [filled.get(i, leaf) for i, leaf in enumerate(flat)])
        return mine(*inner_args, **inner_kwargs)

    given = [flat[i] for i in arrays]
    program = jax.make_jaxpr(traced)(*given)
    tape = Tape()
    held = [_Held(array, _given(tape, array, id(array) in constants, constants.get(id(array), ""))) for array in given]
    out = _replay(program.jaxpr, [_Held(c, _given(tape, c, True)) for c in program.consts], held, tape)
    made = next(x for x in out if np.ndim(x.value) >= 1)
    return Recording(tuple(tape.nodes), to_numpy(made.value), str(made.value.dtype))


class _Held:
    """A value on its way through the program, and the node that it is."""

    def __init__(self, value: Any, node: int) -> None:
        self.value, self.node = value, node


def _given(tape: Tape, array: Any, constant: bool, name: str = "") -> int:
    return tape.add(array, Node("given", to_numpy(array), str(np.asarray(array).dtype), constant=constant, name=name))


def _replay(program: Any, consts: list[_Held], args: list[_Held], tape: Tape) -> list[_Held]:
    from jax.extend.core import Literal

    values = dict(zip((*program.constvars, *program.invars), (*consts, *args), strict=True))

    def read(var: Any) -> _Held:
        return _Held(var.val, _given(tape, var.val, True)) if isinstance(var, Literal) else values[var]

    for equation in program.eqns:
        inputs = [read(var) for var in equation.invars]
        values.update(zip(equation.outvars, _made(equation, inputs, tape), strict=True))
    return [read(var) for var in program.outvars]


def _made(equation: Any, inputs: list[_Held], tape: Tape) -> list[_Held]:
    """What an equation makes; programs inside of it are replayed in turn."""
    name, params = equation.primitive.name, equation.params
    inner = next((params[key] for key in CALLS if key in params), None)
    if name == "cond":
        branch = params["branches"][int(inputs[0].value)]
        return _inside(branch, inputs[1:], tape)
    if name == "scan":
        return _scanned(params, inputs, tape)
    if inner is not None and name != "while":
        return _inside(inner, inputs, tape)
    out = equation.primitive.bind(*(x.value for x in inputs), **params)
    out = out if equation.primitive.multiple_results else [out]
    sources = [x.node for x in inputs]
    return [_Held(x, tape.note(name, x, to_numpy(x), str(x.dtype), sources, _contraction(name, params))) for x in out]


def _inside(program: Any, inputs: list[_Held], tape: Tape) -> list[_Held]:
    closed = hasattr(program, "consts")
    consts = [_Held(c, _given(tape, c, True)) for c in program.consts] if closed else []
    return _replay(program.jaxpr if closed else program, consts, inputs, tape)


def _scanned(params: Mapping[str, Any], inputs: list[_Held], tape: Tape) -> list[_Held]:
    import jax.numpy as jnp

    fixed, carried = params["num_consts"], params["num_consts"] + params["num_carry"]
    carry, rows = inputs[fixed:carried], []
    steps = range(params["length"])
    for i in reversed(steps) if params["reverse"] else steps:
        parts = [
            _Held(row := x.value[i], tape.note("row", row, to_numpy(row), str(row.dtype), [x.node]))
            for x in inputs[carried:]
        ]
        out = _inside(params["jaxpr"], [*inputs[:fixed], *carry, *parts], tape)
        carry = out[: params["num_carry"]]
        rows.append(out[params["num_carry"] :])
    ordered = rows[::-1] if params["reverse"] else rows
    stacked = []
    for column in zip(*ordered, strict=True):
        whole = jnp.stack([x.value for x in column])
        stacked.append(
            _Held(whole, tape.note("stack", whole, to_numpy(whole), str(whole.dtype), [x.node for x in column]))
        )
    return [*carry, *stacked]


def _contraction(name: str, params: Mapping[str, Any]) -> Contraction | None:
    if name != "dot_general":
        return None
    (left, right), _ = params["dimension_numbers"]
    return Contraction(0, 1, tuple(left), tuple(right))
