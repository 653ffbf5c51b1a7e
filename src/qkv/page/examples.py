"""Sheets to start from."""

from __future__ import annotations

SOLUTION = """\
Q = [1 0; 1 2], K = [1 1; 0 2], V = [2 0; 0 4]

S = Q K^T = [1 0; 2 4]

A = softmax(S / √2) = [0.67 0.33; 0.20 0.80]

Z = A V = [1.34 1.32; 0.40 3.20]
"""
WORDS = """\
# Three words

Each word has an embedding:

- I: [1, 0, 1]
- love: [0, 1, 1]
- cats: [1, 1, 0]

The weights are

Wq = [1 0; 0 1; 1 0], Wk = [0 1; 1 0; 1 1], Wv = [1 2; 0 1; 3 0]

1. Compute the queries, keys and values.
2. Compute the attention weights.
3. Compute the output for cats, rounded to 3 decimals.
"""
LATEX = r"""
\section*{Masked attention}

Let
\[
Q = \begin{pmatrix} 1 & 0 \\ 0 & 2 \\ 1 & 1 \end{pmatrix}, \quad
K = \begin{pmatrix} 1 & 1 \\ 0 & 1 \\ 2 & 0 \end{pmatrix}, \quad
V = \begin{pmatrix} 3 & 0 \\ 0 & 3 \\ 1 & 1 \end{pmatrix}.
\]
The mask is causal. The scores are
\[
S = Q K^\top = \begin{pmatrix} 1 & 0 & 2 \\ 2 & 2 & 0 \\ 2 & 1 & 2 \end{pmatrix},
\qquad
A = \operatorname{softmax}\!\left(\frac{S}{\sqrt{2}} + M\right)
  = \begin{pmatrix} 1 & 0 & 0 \\ 0.5 & 0.5 & 0 \\ 0.42 & 0.16 & 0.42 \end{pmatrix}
\]
and so
\[
Z = A V = \begin{pmatrix} 3 & 0 \\ 1.5 & 1.5 \\ 1.69 & 0.89 \end{pmatrix}.
\]
"""
UNNAMED = """\
# Which is which?

Two tokens with two numbers each; three matrices:

[1 0; 1 2]

[1 1; 0 2]

[2 0; 0 4]

Compute softmax(Q K^T / sqrt(2)) V.
"""
EXAMPLES = {
    "A solution with a slip": SOLUTION,
    "A worksheet in words": WORDS,
    "LaTeX, masked": LATEX.lstrip(),
    "A page that needs a word from you": UNNAMED,
}
