"""Token by token: q_i, k_j, z_ij and Σ_j a_ij v_j as rows, columns and cells of the matrices of a program.

Nothing is computed twice: q_2 is a row of Q, z_31 a cell of Q Kᵀ, o_1 a row of A V.
"""

from __future__ import annotations

import re

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.program.model import Program
from qkv.regex import regex

R = Role

# Small letters that name one token's vector, and what they are taken from, likeliest first.
VECTORS: dict[str, tuple[Role, ...]] = {
    "q": (R.Q,),
    "k": (R.K,),
    "v": (R.V,),
    "x": (R.X,),
    "y": (R.Y, R.OUTPUT, R.HEAD),
    "h": (R.STATES, R.HEAD),
    "o": (R.OUTPUT, R.HEAD),
    "z": (R.HEAD, R.OUTPUT),
    "c": (R.OUTPUT, R.HEAD),
    "head": (R.HEAD,),
}
# Small letters that name one number for a query and a key.
CELLS: dict[str, Role] = {
    "z": R.SCORES,
    "s": R.SCORES,
    "e": R.SCORES,
    "a": R.WEIGHTS,
    "alpha": R.WEIGHTS,
    "w": R.WEIGHTS,
}
# Other letters and words for whole quantities.
WHOLES: dict[str, tuple[Role, ...]] = {
    "E": (R.SCORES,),
    "scores": (R.SCORES,),
    "scaled": (R.SCALED,),
    "masked": (R.MASKED,),
    "P": (R.WEIGHTS,),
    "a": (R.WEIGHTS,),
    "alpha": (R.WEIGHTS,),
    "weights": (R.WEIGHTS,),
    "Z": (R.OUTPUT, R.CONCAT),
    "O": (R.OUTPUT, R.CONCAT, R.CONTEXT),
    "C": (R.OUTPUT, R.CONCAT, R.CONTEXT),
    "output": (R.OUTPUT, R.CONCAT, R.CONTEXT),
    "context": (R.CONTEXT, R.OUTPUT),
    "head": (R.HEAD,),
    "h": (R.STATES,),
}
GREEK = {"α": "alpha"}

_NAME = regex(r"(?P<base>[^\W\d_]+)(?P<primes>'*)(?P<scripts>(?:[_^](?:\{[^{}]*\}|\([^()]*\)|[\w,]+))*)")


def parse_symbol(text: str) -> Symbol | None:
    """A symbol as people type it: q_2, z_3,1, a_{3,1}, W_1^Q, α_2, d_k.

    >>> parse_symbol("W_1^Q") == Symbol("W", ("Q",), ("1",)), parse_symbol("z_{3,1}").indices
    (True, ('3', '1'))
    """
    hit = _NAME.fullmatch(text.strip().replace(" ", ""))
    if hit is None:
        return None
    scripts = [part for part in re.split(r"[_^{}(),]+", hit["scripts"]) if part]
    labels = tuple(sorted(part for part in scripts if not part.isdigit()))
    indices = tuple(part for part in scripts if part.isdigit())
    return Symbol(GREEK.get(hit["base"], hit["base"]), labels, indices, len(hit["primes"]))


def resolve(text: str, program: Program) -> n.Expr | None:
    """What a typed name means in a program: a quantity by its own name, or a view of one."""
    for item in program.items:
        if text in (item.spelled, symbol_plain(item.symbol), str(item.symbol)):
            return n.Name(item.symbol)
    symbol = parse_symbol(text)
    if symbol is None:
        return None
    return n.Name(symbol) if program.item(symbol) else view(symbol, program)


def view(symbol: Symbol, program: Program) -> n.Expr | None:
    """A token's vector, one score or weight, or another letter for a whole quantity; None if it is nothing here.

    In a program with heads the head's number comes first: q_{1,2} is query 2 of head 1, z_{1,2,3} a score of head 1.
    """
    if symbol.labels or symbol.primes or not all(index.isdigit() for index in symbol.indices):
        return None
    numbers = _digits([int(index) for index in symbol.indices], program)
    return (
        _whole(symbol.base, numbers, program)
        or _cell(symbol.base, numbers, program)
        or _vector(symbol.base, numbers, program)
    )


def _digits(numbers: list[int], program: Program) -> list[int]:
    """z_31 is z_{3,1} where no sequence is long enough to have a 31st token."""
    if len(numbers) == 1 and 10 < numbers[0] < 100 and numbers[0] % 10 and numbers[0] > _longest(program):
        return [numbers[0] // 10, numbers[0] % 10]
    return numbers


def _longest(program: Program) -> int:
    return max((max(given.expr.shape) for given in program.givens if isinstance(given.expr, n.Matrix)), default=0)


def _located(role: Role, numbers: list[int], program: Program) -> tuple[n.Name, list[int]] | None:
    """The matrix of a role and the indices into it; where each head has its own, the first index is the head."""
    if (shared := program.find(role)) is not None:
        return n.Name(shared), numbers
    if numbers and (own := program.find(role, numbers[0])) is not None:
        return n.Name(own), numbers[1:]
    return None


def _whole(base: str, numbers: list[int], program: Program) -> n.Expr | None:
    for role in WHOLES.get(base, ()):
        found = _located(role, numbers, program)
        if found is not None and not found[1]:
            return found[0]
    return None


def _cell(base: str, numbers: list[int], program: Program) -> n.Expr | None:
    found = _located(CELLS[base], numbers, program) if base in CELLS else None
    if found is None:
        return None
    name, rest = found
    if len(rest) == 2:
        return n.Entry(name, row=rest[0], column=rest[1])
    if len(rest) == 1 and program.find(R.SOURCE) is not None:  # one source vector has one row of scores
        return n.Entry(name, row=1, column=rest[0])
    return n.Entry(name, row=rest[0]) if len(rest) == 1 and base not in VECTORS else None


def _vector(base: str, numbers: list[int], program: Program) -> n.Expr | None:
    """The vector of a token, or one number of it."""
    for role in VECTORS.get(base, ()):
        found = _located(role, numbers, program)
        if found is None or len(found[1]) not in (1, 2):
            continue
        name, (token, *component) = found
        within = component[0] if component else None
        row, column = (within, token) if program.columns else (token, within)
        return n.Entry(name, row=row, column=column)
    return None
