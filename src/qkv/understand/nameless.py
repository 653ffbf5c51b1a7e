"""Matrices without a name that words announce: 'annotations, one a column', a column headed 'score'."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.show import symbol_plain
from qkv.program.model import Given
from qkv.program.spec import default_symbol
from qkv.sheet.model import Origin
from qkv.understand.facts import Fact
from qkv.understand.gathering import Gathering
from qkv.understand.roles import PER_COLUMN, given_cue
from qkv.understand.values import plain_value

R = Role


def note_nameless(found: Gathering, fact: Fact) -> None:
    """'annotations (one encoder state per column)' and then a bare matrix: a given without a name."""
    if fact.subjects or fact.statement.struck or len(fact.links) != 1:
        return
    value = plain_value(fact.links[0].expr)
    if value is not None and fact.cue.role in (R.SCALED, R.WEIGHTS, R.OUTPUT) and fact.cue.row is None:
        found.hinted.append((fact.cue.role, value))
    if value is not None and fact.statement.origin is Origin.TABLE and fact.cue.role is R.SCORES:
        _note_column(found, fact, value)
        return
    role = given_cue(fact.statement.before)
    if value is None or min(value.shape) < 2 or value.is_ragged or role is None or (role, None) in found.givens:
        return
    if PER_COLUMN.search(fact.statement.before):
        value = n.Matrix(tuple(zip(*value.rows, strict=True)), at=value.at)
    symbol = default_symbol(role)
    found.givens[role, None] = Given(symbol, value, role, symbol_plain(symbol), None, fact.statement.at.line)


def _note_column(found: Gathering, fact: Fact, value: n.Matrix) -> None:
    """A column headed 'score': the scores of one query, given where nothing leads to them."""
    if value.shape[1] == 1 < value.shape[0]:
        row = n.Matrix((tuple(cell for (cell,) in value.rows),), at=value.at)
        symbol = default_symbol(R.SCORES)
        given = Given(symbol, row, R.SCORES, symbol_plain(symbol), None, fact.statement.at.line)
        found.claimed.setdefault((R.SCORES, None), given)
