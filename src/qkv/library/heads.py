r"""What a head may do with its queries, keys and values other than softmax(Q Kᵀ/√d_k) V, as equations in our own notation.

Rows are as in library/block.py. `ones` is a column of ones, one for each key; T and t are what linear attention keeps of
all keys and values, however many there are.
"""

from __future__ import annotations

from functools import lru_cache

from qkv.library.rows import Row, rows_of

_ROWS = r"""
Q_{unit} = Q / norm(Q)              | cosine        | each query at length 1
K_{unit} = K / norm(K)              | cosine        | each key at length 1
S = Q_{unit} K_{unit}^T             | cosine        | the cosine of the angle of each query and key
Q_{phi} = elu(Q) + 1                | elu+1         | queries, made positive by φ
K_{phi} = elu(K) + 1                | elu+1         | keys, made positive by φ
Q_{phi} = relu(Q)                   | relu          | queries, made positive by φ
K_{phi} = relu(K)                   | relu          | keys, made positive by φ
T = K_{phi}^T V                     | linear        | all keys with their values
t = K_{phi}^T ones                  | linear shared | all keys together
Z = (Q_{phi} T) / (Q_{phi} t)       | linear shared | linear attention
Z = Q_{phi} T                       | linear        | linear attention
"""
FEATURES = ("elu+1", "relu")


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    """All rows, read by our own reader."""
    return rows_of(_ROWS)
