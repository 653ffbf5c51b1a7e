"""The kinds of attention, blocks and models whose cost is known, and the sizes of what is given to them."""

from __future__ import annotations

from typing import NamedTuple

from qkv.expr.names import Role
from qkv.interpret.counts import SizePair
from qkv.program.spec import Score
from qkv.theory.polynomial import ONE, SYMBOL

S = SYMBOL
SHAPES: dict[Role, SizePair] = {
    Role.X: (S["n_q"], S["d"]), Role.Y: (S["n_k"], S["d"]),
    Role.Q: (S["n_q"], S["d_k"]), Role.K: (S["n_k"], S["d_k"]), Role.V: (S["n_k"], S["d_v"]),
    Role.W_Q: (S["d"], S["d_k"]), Role.W_K: (S["d"], S["d_k"]), Role.W_V: (S["d"], S["d_v"]),
    Role.W_O: (S["h"] * S["d_v"], S["d"]),
    Role.SOURCE: (S["d"], ONE), Role.STATES: (S["n_k"], S["d"]),
    Role.B_Q: (ONE, S["d_k"]), Role.B_K: (ONE, S["d_k"]), Role.B_V: (ONE, S["d_v"]), Role.B_O: (ONE, S["d"]),
    Role.W_A: (S["d_k"], S["d"]), Role.U_A: (S["d_k"], S["d"]), Role.V_A: (S["d_k"], ONE),
    Role.D_K: (ONE, ONE),
}  # fmt: skip
# What stands around attention, by its name in library/block.py.
AROUND: dict[str, SizePair] = {
    "W_1": (S["d"], S["d_ff"]), "b_1": (ONE, S["d_ff"]), "W_2": (S["d_ff"], S["d"]), "b_2": (ONE, S["d"]),
    "gamma_1": (ONE, S["d"]), "beta_1": (ONE, S["d"]), "gamma_2": (ONE, S["d"]), "beta_2": (ONE, S["d"]),
    "gamma_3": (ONE, S["d"]), "beta_3": (ONE, S["d"]), "E": (S["words"], S["d"]), "epsilon": (ONE, ONE),
}  # fmt: skip
PROJECTIONS = (Role.W_Q, Role.W_K, Role.W_V)
MATRICES = (Role.X, *PROJECTIONS, Role.W_O)
WITH_BIASES = (*MATRICES, Role.B_Q, Role.B_K, Role.B_V, Role.B_O)


class Kind(NamedTuple):
    """A kind of attention, by what is given to it; `around` names what stands around it."""

    key: str
    says: str
    roles: tuple[Role, ...]
    score: Score = Score.DOT
    heads: bool = False
    one_sequence: bool = False  # n_q = n_k = n
    around: tuple[str, ...] = ()


def _block(key: str, says: str, roles: tuple[Role, ...], *around: str) -> Kind:
    """A kind in which several heads attend to their own sequence."""
    return Kind(key, says, roles, heads=True, one_sequence=True, around=around)


_KINDS = (
    Kind("attention", "scaled dot-product attention from Q, K and V", (Role.Q, Role.K, Role.V)),
    Kind("self", "self-attention from X", (Role.X, *PROJECTIONS), one_sequence=True),
    Kind("cross", "cross-attention from X to Y", (Role.X, Role.Y, *PROJECTIONS)),
    _block("multi-head", "multi-head self-attention", MATRICES),
    Kind("multi-head-cross", "multi-head cross-attention", (Role.X, Role.Y, *PROJECTIONS, Role.W_O), heads=True),
    Kind("dot", "dot-product attention of one vector s over h_1 … h_n", (Role.SOURCE, Role.STATES)),
    Kind("general", "general scores sᵀ W h", (Role.SOURCE, Role.STATES, Role.W_A), Score.GENERAL),
    Kind(
        "additive",
        "additive scores vᵀ tanh(W s + U h)",
        (Role.SOURCE, Role.STATES, Role.W_A, Role.U_A, Role.V_A),
        Score.ADDITIVE,
    ),
    _block(
        "block", "a block: attention, feed-forward layer, residual sums and norms", MATRICES, "W_1", "W_2", "epsilon"
    ),
    _block(
        "block-with-biases",
        "a block with biases and with the scales of its norms",
        WITH_BIASES,
        *("W_1", "b_1", "W_2", "b_2", "gamma_1", "beta_1", "gamma_2", "beta_2", "epsilon"),
    ),
    _block(
        "model",
        "a model: L blocks between a table of embeddings and logits by the same table",
        MATRICES,
        *("W_1", "W_2", "E", "epsilon"),
    ),
    _block(
        "model-with-biases",
        "a model with biases, with the scales of its norms, and with a last norm",
        WITH_BIASES,
        *AROUND,
    ),
)
KINDS = {kind.key: kind for kind in _KINDS}
PER_HEAD = frozenset({Role.W_Q, Role.W_K, Role.W_V, Role.B_Q, Role.B_K, Role.B_V})
ONCE = frozenset({"E", "gamma_3", "beta_3", "L", "P", "mu_3", "sigma_3", "N_3"})  # of a model, not of each block
