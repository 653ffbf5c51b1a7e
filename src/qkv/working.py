"""A problem that is given by name, worked out. It needs no reader of documents, so it does not load one."""

from __future__ import annotations

from collections.abc import Mapping

from qkv.expr.nodes import names_in
from qkv.interpret.shapes import shapes
from qkv.interpret.trace import Trace
from qkv.program.block import Around, planned
from qkv.program.kinds import with_notes
from qkv.program.model import Program
from qkv.program.request import USUAL, Options
from qkv.solution import Solution


def work(
    *,
    scale: object = USUAL,
    mask: object = None,
    heads: int | None = None,
    normalise: str | None = "softmax",
    columns: bool | str = False,
    title: str = "",
    kv_heads: int | None = None,
    rope: bool | str = False,
    alibi: bool = False,
    window: object = None,
    score: str | None = None,
    linear: str | None = None,
    norm: str | None = None,
    eps: object = None,
    activation: str | None = None,
    tokens: object = None,
    positions: object = None,
    base: object = 10000,
    first_position: int = 0,
    targets: object = None,
    temperature: object = None,
    tied: bool = False,
    predict: bool = False,
    top: int | None = None,
    layers: object = None,
    cross: Mapping[str, object] | None = None,
    **matrices: object,
) -> Solution:
    """Work out attention from its matrices, step by step, in certified arithmetic.

    Give Q, K, V; or X with W_Q, W_K, W_V (and Y for cross-attention, W_O, biases b_Q, b_K, b_V, b_O); or one vector s
    and the states h that it attends to (with W_a for general scores; W_a, U_a, v_a for additive ones). Matrices are
    nested lists of numbers, of numbers as text ("0.468", "1/3"), of fractions or decimals, or arrays.

    scale      scores are divided by it: √d_k unless said; None, a number, "sqrt(d_model)", "d_k"
    mask       None, "causal", or a matrix of 0 and −inf, or of true and false
    heads      cut one big set of weights into so many heads; lists of matrices give each head its own
    normalise  "softmax", or "sum" to divide by the plain sum
    columns    tokens are columns: True (Q = W_Q X) or "W^T x"
    title      a heading for the worked solution
    kv_heads   fewer keys and values than heads: heads 1 and 2 of four share the first of two
    rope       queries and keys are turned by their positions: True or "interleaved" (columns 1 and 2), or "halves"
    alibi      each key costs its distance, by the slope of the head; any other `bias` is given as a matrix
    window     each query sees so many keys before and after its own; two numbers, or none after with mask="causal"
    score      "cosine": queries and keys at length 1; then scores are divided only by a `scale` that is said
    linear     φ(Q) (φ(K)ᵀ V), with φ "elu+1" or "relu", over φ(Q) times all keys; normalise=None leaves that out
    K_cache, V_cache hold what stands above the keys and values of new tokens.

    Around attention, each step follows from what is given: W_1, W_2 (b_1, b_2; W_3 for a gate) make the feed-forward
    layer, W_U (b_U) the logits, E with tokens the embedding; gamma_1, beta_1, gamma_2 … belong to the norms.

    norm         "post" or "pre": residual sums and layer norms; "post rms" or "pre rms" for RMS norms
    eps          added under the root of a norm; nothing unless said
    activation   "relu", "gelu", "gelu_tanh", "silu"; with W_3 "swiglu" or "geglu"
    tokens       ids from 0 that name rows of E         targets      ids from 0 of the right words: gives the loss
    positions    "sinusoidal" (base, first_position) or a matrix that is added to the tokens
    temperature  logits are divided by it               tied         logits are N Eᵀ, by the table of embeddings
    predict      also the likeliest word of each token, counted from 0; top=3 the three likeliest, and their shares
    layers       how many layers share the matrices, or a list with a dict of matrices for each; Q_2^L is Q of layer 2
    cross        matrices of cross-attention to Y, after self-attention: a decoder's layer, with Q_cross, gamma_3 …

    >>> s = work(X=[[1, 0], [0, 2]], W_Q=[[1, 0], [1, 1]], W_K=[[0, 1], [1, 0]], W_V=[[1], [2]], scale=None)
    >>> s["A"].decimals(4)
    (('0.1192', '0.8808'), ('0.1192', '0.8808'))
    """
    options = Options(
        scale, mask, heads, normalise, columns, title, kv_heads, rope, base, first_position, alibi, window, score,
        linear,
    )  # fmt: skip
    around = Around(
        norm, eps, activation, tokens, positions, base, first_position, targets, temperature, tied, predict, top,
        layers, cross,
    )  # fmt: skip
    program = _with_unused(planned(matrices, options, around))
    shapes(program, strict=True)
    trace = Trace(program)
    trace.values()  # so that what cannot be worked is refused here, not when it is looked at
    return Solution((trace,))


def _with_unused(program: Program) -> Program:
    used = {symbol for step in program.steps for symbol in names_in(step.expr)}
    unused = [given.spelled for given in program.givens if given.symbol not in used]
    return with_notes(program, *(f"{name} is given, but nothing here needs it" for name in unused))
