"""One block, from tokens to loss: after 'the cat' the words 'cat sat' are right. Run it as: python examples/block.py"""

from __future__ import annotations

import qkv

WORDS = ("the", "cat", "sat")

block = qkv.work(
    title="From tokens to loss: 'the cat' should become 'cat sat'",
    tokens=[WORDS.index("the"), WORDS.index("cat")],
    E=[[1, 0, 2], [0, 2, 1], [2, 1, 0]],
    positions="sinusoidal",
    W_Q=[[1, 0], [1, 1], [0, 1]],
    W_K=[[0, 1], [1, 0], [1, 1]],
    W_V=[[1, 2, 0], [0, 1, 1], [1, 0, 0]],
    mask="causal",
    norm="post",
    eps="1e-5",
    W_1=[[1, -1, 2, 0], [0, 1, -1, 1], [1, 0, 0, -2]],
    b_1=[0, 1, 0, -1],
    W_2=[[1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 2]],
    tied=True,
    targets=[WORDS.index("cat"), WORDS.index("sat")],
)

if __name__ == "__main__":
    print(block.to_text(width=90, depth="brief", digits=4))
