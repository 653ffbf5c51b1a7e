"""What a page gives matrices for and leaves open around attention: 'the result is passed to the FFN', with W_1 and W_2.

The library of blocks fills in, as the library of attention does. Words say whether there are norms, and what the
activation is. Where norms come before attention, it reads other tokens than the page gives: that is left alone.
"""

from __future__ import annotations

import re
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.library import block
from qkv.library.rows import counted, renamed
from qkv.program.model import Program, Step

_NEEDED = (("W_1", "W_2"), ("W_U",))  # what is given for nothing else, if these steps are left open
_ACTIVATIONS = (("gelu", re.compile(r"gelu")), ("silu", re.compile(r"silu|swish")))


def with_block(program: Program, words: str) -> Program:
    """The program with the steps around attention that its page gives matrices for."""
    used = {symbol for step in program.steps for symbol in n.names_in(step.expr)}
    given = {symbol_plain(g.symbol) for g in program.givens if g.symbol not in used and isinstance(g.expr, n.Matrix)}
    if not any(given.issuperset(names) for names in _NEEDED) or program.columns or block.NORM_FIRST.search(words):
        return program
    conventions = _conventions(words, "W_3" in given, "gamma_3" in given)
    meant = _meant(program)
    symbols = block.names()
    known = {symbols[name] for name in symbols if name in given or name == "epsilon"} & {
        g.symbol for g in program.givens
    }
    rows = counted((*block.attended(), *block.fed(2), *block.ends(2)), known | meant.keys(), conventions)
    steps: list[Step] = []
    for row in rows:
        meant[row.symbol] = _free(row.symbol, program)
        expr = renamed(row.expr, meant)
        steps.append(Step(meant[row.symbol], expr, Role.BLOCK, symbol_plain(meant[row.symbol]), says=row.says))
    if not steps:
        return program
    open_names = " and ".join(sorted(given & {"W_1", "W_2", "W_U"}))
    note = f"the page gives {open_names} without a formula: used as in a usual block"
    return replace(program, steps=(*program.steps, *steps), notes=(*program.notes, note))


def _conventions(words: str, gated: bool, final: bool) -> frozenset[str]:
    norm = "post" if block.NORM_SAID.search(words) else "bare"
    said = next((name for name, pattern in _ACTIVATIONS if pattern.search(words)), "relu")
    activation = ("geglu" if said == "gelu" else "swiglu") if gated else said
    return frozenset({norm, activation, "rms" if "rms" in words else "layer"} | ({"final"} if final else set()))


def _meant(program: Program) -> dict[Symbol, Symbol]:
    """What the library calls the tokens and the output of attention, with the names that the program has for them."""
    found = {Symbol("X"): program.find(Role.X)}
    outputs = (program.find(role) for role in (Role.OUTPUT, Role.CONCAT, Role.HEAD))
    found[Symbol("Output")] = next((symbol for symbol in outputs if symbol is not None), None)
    return {symbol: name for symbol, name in found.items() if name is not None}


def _free(symbol: Symbol, program: Program) -> Symbol:
    while program.item(symbol) is not None:
        symbol = symbol._replace(primes=symbol.primes + 1)
    return symbol
