"""What attention usually does, as equations in our own notation. They only fill what a page leaves open.

A row is `ROLE = right side | conventions`: the equation holds where all its conventions do. Roles are written as

    X Y         tokens; the second sequence            W_Q W_K W_V W_O, b_Q …   weights and biases
    Q K V       queries, keys, values                  G H         one state that attends; the states attended to
    S P N A     scores, scaled, masked, weights        Z C O       output of a head, heads side by side, output
    M           mask                                   W_a U_a v_a additive and general scores

causal(…) masks what comes later, masked(…, M) what M forbids, heads(Z) sets the heads side by side.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.notation import equation as read

R = Role
LETTERS: dict[str, Role] = {
    "X": R.X, "Y": R.Y, "Q": R.Q, "K": R.K, "V": R.V, "G": R.SOURCE, "H": R.STATES, "S": R.SCORES, "P": R.SCALED,
    "N": R.MASKED, "A": R.WEIGHTS, "Z": R.HEAD, "C": R.CONCAT, "O": R.OUTPUT, "M": R.MASK,
    "W_Q": R.W_Q, "W_K": R.W_K, "W_V": R.W_V, "W_O": R.W_O, "b_Q": R.B_Q, "b_K": R.B_K, "b_V": R.B_V, "b_O": R.B_O,
    "W_a": R.W_A, "U_a": R.U_A, "v_a": R.V_A, "d_k": R.D_K, "d_v": R.D_V, "d_model": R.D_MODEL,
}  # fmt: skip

_ROWS = r"""
Q = X W_Q + b_Q                    | rows
Q = X W_Q                          | rows
Q = W_Q X + b_Q                    | columns
Q = W_Q X                          | columns
Q = X W_Q^T                        | rows
Q = W_Q^T X                        | columns
K = Y W_K + b_K                    | rows
K = Y W_K                          | rows
K = X W_K + b_K                    | rows
K = X W_K                          | rows
K = W_K Y                          | columns
K = W_K X + b_K                    | columns
K = W_K X                          | columns
K = X W_K^T                        | rows
K = W_K^T X                        | columns
K = H
V = Y W_V + b_V                    | rows
V = Y W_V                          | rows
V = X W_V + b_V                    | rows
V = X W_V                          | rows
V = W_V Y                          | columns
V = W_V X + b_V                    | columns
V = W_V X                          | columns
V = X W_V^T                        | rows
V = W_V^T X                        | columns
V = H
Q = G
Q = X                              | plain
K = X                              | plain
V = X                              | plain
S = v_a^T tanh(U_a H^T + W_a G)    | rows
S = Q W_a K^T                      | rows
S = Q K^T                          | rows
S = K^T Q                          | columns keys
S = Q^T K                          | columns queries
P = S / \sqrt{d_k}
M = causal(S - S)                  | rows causal
N = masked(P, M)                   | scaled patterned
N = masked(S, M)                   | unscaled patterned
N = causal(P)                      | scaled causal
N = causal(S)                      | unscaled causal
A = normalise(S)                   | rows shares
A = softmax(N)                     | rows
A = downsoftmax(N)                 | columns keys
A = softmax(N)                     | columns queries
A = softmax(P)                     | rows scaled open
A = softmax(S)                     | rows unscaled open
A = downsoftmax(P)                 | columns keys scaled open
A = downsoftmax(S)                 | columns keys unscaled open
A = softmax(P)                     | columns queries scaled open
A = softmax(S)                     | columns queries unscaled open
Z = A V                            | rows
Z = V A                            | columns keys
Z = V A^T                          | columns queries
C = heads(Z)
O = C W_O + b_O                    | rows
O = C W_O                          | rows
O = W_O C                          | columns
O = Z W_O + b_O                    | rows single
O = Z W_O                          | rows single
O = W_O Z                          | columns single
"""


class Row(NamedTuple):
    """One equation of the library: a role, the expression over roles that gives it, and when it holds."""

    role: Role
    expr: n.Expr
    when: frozenset[str]


def role_name(role: Role) -> n.Name:
    """A role as it stands in an equation of the library."""
    return n.Name(Symbol("§", (role.value,)))


def role_in(symbol: Symbol) -> Role | None:
    """The role that a name in an equation of the library stands for."""
    return Role(symbol.labels[0]) if symbol.base == "§" and symbol.labels else None


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    """The library, read by our own reader."""
    return tuple(_row(*line.split("|")) for line in _ROWS.strip().splitlines())


def rows_of(kind: type[n.Node]) -> tuple[Row, ...]:
    """The equations whose expression is of one kind: products, quotients …; other names of a role are none."""
    return _by_kind().get(kind, ())


@lru_cache(maxsize=1)
def _by_kind() -> dict[type, tuple[Row, ...]]:
    kinds = {type(row.expr) for row in rows()} - {n.Name}
    return {kind: tuple(row for row in rows() if type(row.expr) is kind) for kind in kinds}


@lru_cache(maxsize=1)
def stand_ins() -> dict[Role, frozenset[Role]]:
    """What plays a role wherever it is there, by rows without conventions: states are keys and values."""
    plain = [(row.role, role_in(row.expr.symbol)) for row in rows() if isinstance(row.expr, n.Name) and not row.when]
    return {role: frozenset({role} | {other for of, other in plain if of is role and other}) for role in Role}


@lru_cache(maxsize=1024)  # roles and the conventions of the problems of a page
def rows_for(role: Role, conventions: frozenset[str]) -> tuple[Row, ...]:
    """The equations that give a role under some conventions."""
    return tuple(row for row in _by_role().get(role, ()) if row.when <= conventions)


@lru_cache(maxsize=1)
def _by_role() -> dict[Role, tuple[Row, ...]]:
    return {role: tuple(row for row in rows() if row.role is role) for role in Role}


def _row(equation: str, when: str = "") -> Row:
    left, right = read(equation)
    role = LETTERS[str(left.symbol)]  # type: ignore[union-attr]
    return Row(role, n.rewrite(right, _in_roles), frozenset(when.split()))


def _in_roles(node: n.Expr) -> n.Expr:
    if isinstance(node, n.Name):
        return role_name(LETTERS[str(node.symbol)])
    if isinstance(node, (n.Softmax, n.Normalise)):
        return type(node)(node.arg, 1)
    if isinstance(node, n.Call) and node.function == "downsoftmax":
        return n.Softmax(node.args[0], 0)
    return as_mask(node)


MASKS = frozenset({"causal", "mask", "masked", "causalmask", "causal_mask"})


def as_mask(node: n.Expr) -> n.Expr:
    """A call that masks, as what it does: causal(S) hides what comes later, mask(S, M) what M forbids."""
    if isinstance(node, n.Call) and node.function.lower() in MASKS and 1 <= len(node.args) <= 2:
        return n.Mask(node.args[0], node.args[1] if len(node.args) == 2 else None)
    return node
