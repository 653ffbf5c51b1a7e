"""Small documents, each with one habit of writing, and what must be said about their claims."""

from __future__ import annotations

import re

import pytest

import qkv
from judging.open_notations import OPEN
from qkv.check.model import Claim

not_yet = pytest.mark.xfail(strict=False, reason="the page-first engine does not read this yet")

REPL = "```python\n>>> Q = np.array([[1., 0.], [0., 1.]])\n>>> K = np.array([[1., 1.], [0., 2.]])\n>>> s = Q @ K.T\n"
CODE = "```python\nQ = np.array([[1., 0.], [0., 1.]])\nK = np.array([[1., 1.], [0., 2.]])\nS = Q @ K.T\nS = S / 2\n"
HEADS = "X = [[1, 0], [0, 1]]\n\n## First head\n\nW_Q1 = [[1, 0], [0, 1]]\n\nW_K1 = [[1, 1], [0, 2]]\n\nW_V1 = [[1, 2], [3, 4]]\n\n"
MORE = "## Second head\n\nW_Q2 = [[1, 1], [0, 1]]\n\nW_K2 = [[2, 0], [0, 1]]\n\nW_V2 = [[1, 0], [0, 1]]\n\n"
TWO = (
    "**A.** Take $Q=\\begin{bmatrix}1&0\\end{bmatrix}$, $K=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$. "
    "Then $QK^\\top=\\begin{bmatrix}1&0\\end{bmatrix}$.\n\n"
    "**B.** Take $Q=\\begin{bmatrix}2&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\0&3\\end{bmatrix}$. "
    "Then $QK^\\top=\\begin{bmatrix}3&3\\end{bmatrix}$, "
)
TABLE = (
    "$q=(2,-1)$, $k_1=(1,1)$, $k_2=(0,2)$, $k_3=(3,1)$, $k_4=(1,0)$, $d_k=2$, scaled by $1/\\sqrt2$\n\n"
    "| $j$ | $q\\cdot k_j$ | exp | $a_j$ |\n|--|--|--|--|\n| 1 | 1 | 2.028 | 0.050 |\n| 2 | -2 | 0.243 | 0.006 |\n"
    "| 3 | 5 | 34.313 | 0.843 |\n| 4 | 2 | 4.113 | {} |\n| $\\Sigma$ | | 40.698 | |\n"
)
MASKS = (
    "$$S=\\begin{bmatrix}1&2&0\\\\2&0&1\\\\0&1&1\\end{bmatrix}$$\n\n"
    "$$S_{\\text{causal}}=\\begin{bmatrix}1&-\\infty&-\\infty\\\\2&0&-\\infty\\\\0&1&1\\end{bmatrix}$$\n\n"
    "$$S_{\\text{pad}}=\\begin{bmatrix}1&2&-\\infty\\\\2&0&-\\infty\\\\0&1&-\\infty\\end{bmatrix}$$\n\n"
)
COLUMNS = (
    "$q_1=(1,0)^\\top$, $k_1=(1,1)^\\top$, $k_2=(0,2)^\\top$, scaled by $\\sqrt2$\n\\begin{align*}\n"
    "e_{11} &= q_1^\\top k_1 = 1\\cdot 1 + 0\\cdot 1 = 1\\\\\n"
)
GRADED = (
    "$X=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $W_Q=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix}$, $W_K=\\begin{bmatrix}0&1\\\\1&0\\end{bmatrix}$\n\n"
    "Student: $Q=XW_Q=\\begin{bmatrix}1&4\\\\0&2\\end{bmatrix}$\n\nGrader: no, $Q=\\begin{bmatrix}1&5\\\\0&2\\end{bmatrix}$.\n\n"
    "Student: $K=XW_K=\\begin{bmatrix}2&1\\\\1&0\\end{bmatrix}$\n\nStudent: $QK^\\top=\\begin{bmatrix}6&1\\\\2&0\\end{bmatrix}$\n"
)
SUMS = (
    "$q=(1,2)$, $k_1=(1,0)$, $k_2=(0,1)$, $k_3=(1,1)$, $s_1=1$, $s_2=2$, $s_3=3$, scaled by $\\sqrt2$: $0.707, 1.414, 2.121$\n\n"
    "$$e^{0.707} \\approx 2.03,\\quad e^{1.414}\\approx 4.11,\\quad e^{2.121}\\approx 8.34$$\n\n"
)
WRITTEN_OUT = (  # the scores are 1 and 2, scaled 0.707 and 1.414
    "$q=(1,0)$, $k_1=(1,1)$, $k_2=(2,1)$, scaled by $\\sqrt2$: $(0.707, 1.414)$\n\n"
    "$e^{0.707} = 2.028$\n\n$e^{1.414} = %s$\n\n$%s = %s$\n\n"
)

_SHOWN = re.compile(r"(?<![\w^])[-−]?\d|\\begin|∞")  # a number that is no index


def last_verdict(claims: tuple[Claim, ...]) -> str | None:
    """The verdict of the last claim that shows a result; None where there is none."""
    places = [(claim.line, claim.text) for claim in claims]
    results = (c for c in claims if c.name != c.formula or places.count((c.line, c.text)) == 1)  # no operands
    shown = [claim for claim in results if claim.name != "sizes" and _SHOWN.search(claim.text)]
    return shown[-1].verdict.value if shown else None


# name, document, verdict of the claim on the last line that shows something
DOCUMENTS = [
    ("rows of a softmax one after the other", "Q = [[1, 0, 0, 0], [0, 1, 0, 0]], K = [[1, 0, 0, 0], [0, 1, 0, 0]], d_k = 4\n\n4. Softmax\n```\nRow 1 (a): softmax([0.5, 0.0])\n  e^0.5 = 1.649, e^0.0 = 1.0\n  sum = 2.649\n  = [0.622, 0.378]\n\nRow 2 (b): softmax([0.0, 0.5])\n  = [0.378, 0.622]\n```\n", "rounded"),
    ("a weighted sum with a term on each line", "q = [1, 0], k_1 = [1, 0], k_2 = [0, 1], v_1 = [1, 0], v_2 = [0, 2]\n\nz = 0.67 × v_1\n  + 0.33 × v_2\n\n= 0.67×[1,0] + 0.33×[0,2]\n= [0.67, 0.76]\n", "wrong"),
    ("vectors that tokens own", "```python\ncat.Q = [0.9, 0.1]    cat.K = [0.8, 0.2]\ndog.Q = [0.7, 0.3]    dog.K = [0.6, 0.4]\n```\n\nScore(dog → cat) = dog.Q · cat.K = (0.7×0.8) + (0.3×0.2) = 0.64\n", "wrong"),
    ("Python that only readers can run", "```python\nQ = [[1, 2]]\nK = [[2, 0], [1, 1]]\nscores = Q @ K.T = [[2, 3]]\nscaled = scores / √2 ≈ [[1.414, 2.112]]\n```\n", "wrong"),
    ("a name assigned a formula, and then what it is", "```python\nscores = [[2.0, 3.0], [0.0, 1.0]]\nattention_weights = softmax(scores)\nattention_weights = [[0.269, 0.731], [0.269, 0.713]]\n```\n", "wrong"),
    ("a mask that hides padding", "**Padding mask**\n\nScores before masking:\n\nscores = [[0.5, 0.3, 0.1], [0.2, 0.6, 0.1], [0.4, 0.4, 0.9]]\n\nApply the padding mask (the last token):\n\nmasked_scores = [[0.5, 0.3, -∞], [0.2, 0.6, -∞], [0.4, 0.4, -∞]]\n", "right"),
    ("scores less their maximum", "Q = [[1, 2]], K = [[2, 0], [1, 1]]\n\nWeights A = softmax(Q K^T / √2) for row 1:\nSubtract max (2.121): [-0.707, 0.000]\n", "unread"),
    ("rows called by words beside the matrix", "$$Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}\\begin{matrix}\\text{tea}\\\\\\text{cup}\\end{matrix}$$\n\n$$K=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix}$$\n\n$$QK^T=\\begin{bmatrix}1&0\\\\2&3\\end{bmatrix}\\begin{matrix}\\leftarrow\\text{tea}\\\\\\leftarrow\\text{cup}\\end{matrix}$$\n", "wrong"),
    ("sections that count steps", "## 1. Inputs\n\nQ = [[1, 0, 2], [1, 1, 0], [0, 3, 1]], K = [[1, 1, 2], [0, 2, 1], [4, 0, 1]]\n\n## 2. Scores\n\n$$S=\\begin{bmatrix}5&2&6\\\\2&2&5\\\\5&7&1\\end{bmatrix}$$\n", "wrong"),
    ("sections that count exercises", "## 1. Inputs\n\nQ = [[1, 0], [1, 1]], K = [[1, 1], [0, 2]]\n\n## 2. Mixtures\n\n$$S=\\begin{bmatrix}7&9\\\\4&8\\end{bmatrix}$$\n", "unread"),
    ("a numbered step before a matrix between bars", "Q = | 1 0 |    K = | 1 1 |\n    | 2 1 |        | 0 2 |\n\n2) Q·Kᵀ = | 1 0 |\n          | 3 2 |\n", "right"),
    ("a numbered step before a matrix in brackets", "Q = [1 0; 2 1], K = [1 1; 0 2]\n\n2. Q·Kᵀ = [ 1 0 ]\n          [ 3 4 ]\n", "wrong"),
    ("lists under a title without a colon", "**Queries**\n\n- the: `[4, 0, 2]`\n- black: `[1, 5, 0]`\n- cat: `[0, 3, 6]`\n\n**Keys**\n\n- the: `[7, 1, 2]`\n- black: `[0, 2, 8]`\n- cat: `[4, 3, 1]`\n\n**Raw scores** (dot products)\n\n| from → to | the | black | cat |\n|--|--|--|--|\n| the | 32 | 16 | 18 |\n| black | 12 | 10 | 19 |\n| cat | 15 | 45 | 15 |\n", "wrong"),
    ("keys called in the first column, and √d_k after an arrow", "`q = [2, 1, 0, 1]`, d_k = 4 → √d_k = 2\n\n| key | vector | q·k | (q·k)/2 | weight |\n|--|--|--|--|--|\n| k₁ | [1, 0, 1, 1] | 3 | 1.5 | 0.231 |\n| k₂ | [0, 2, 1, 0] | 2 | 1.0 | 0.140 |\n| k₃ | [1, 1, 0, 2] | 5 | 2.5 | 0.629 |\n", "rounded"),
    ("a false column under a formula", "`q = [2, 1, 0, 1]`, d_k = 4 → √d_k = 2\n\n| key | vector | q·k | (q·k)/2 |\n|--|--|--|--|\n| k₁ | [1, 0, 1, 1] | 3 | 1.5 |\n| k₂ | [0, 2, 1, 0] | 2 | 1.0 |\n| k₃ | [1, 1, 0, 2] | 5 | 2.0 |\n", "wrong"),
    ("one term of a weighted sum", "q = [1, 0, 2], k_1 = [0, 1, 1], k_2 = [4, 4, 0], k_3 = [2, 3, 1], v_1 = [1, 2, 3], v_2 = [2, 8, 0], v_3 = [2, 6, 3]，不做缩放\n\n| 输入 | 得分 | exp(得分) | 权重 |\n|--|--|--|--|\n| 1 | 2 | 7.39 | 0.0634 |\n| 2 | 4 | 54.60 | 0.4683 |\n| 3 | 4 | 54.60 | 0.4683 |\n\n**加权求和**\n\n0.0634 × [1, 2, 3] = [0.0634, 0.1268, 0.1901]\n", "rounded"),
    ("a column headed exp(…) in Chinese", "q = [1, 0, 2], k_1 = [0, 1, 1], k_2 = [4, 4, 0]，不做缩放\n\n| 输入 | 得分 | exp(得分) | 权重 |\n|--|--|--|--|\n| 1 | 2 | 7.39 | 0.1192 |\n| 2 | 4 | 54.60 | 0.8880 |\n", "wrong"),
    ("scores divided in place by code", "Q = [[0, 1], [1, 1]]\nK = [[1, 0], [1, 2]]\n\n```python\nscores = Q @ K.T\nscores /= np.sqrt(2)\nweights = softmax(scores)\n```\n\nweights = [[0.1956, 0.8044], [0.1956, 0.8044]]\n", "rounded"),
    ("a causal mask that code fills in", "```python\n>>> Q\ntensor([[0., 1.], [1., 1.]])\n>>> K\ntensor([[1., 0.], [1., 2.]])\n>>> scores = Q @ K.T\n>>> mask = torch.tril(torch.ones(2, 2))\n>>> scores = scores.masked_fill(mask == 0, float('-inf'))\n>>> weights = torch.softmax(scores, dim=-1)\n>>> weights\ntensor([[0.1192, 0.0000], [0.1192, 0.8808]])\n```\n", "wrong"),
    ("heads of one column", "$X=\\begin{bmatrix}1&2\\\\3&1\\end{bmatrix}$, $W_Q^{(1)}=\\begin{bmatrix}1\\\\0\\end{bmatrix}$, $W_K^{(1)}=\\begin{bmatrix}0\\\\1\\end{bmatrix}$, $W_Q^{(2)}=\\begin{bmatrix}0\\\\1\\end{bmatrix}$, $W_K^{(2)}=\\begin{bmatrix}1\\\\1\\end{bmatrix}$\n\n$Q^{(1)}=\\begin{bmatrix}1\\\\3\\end{bmatrix}$, $K^{(1)}=\\begin{bmatrix}2\\\\1\\end{bmatrix}$, $Q^{(2)}=\\begin{bmatrix}2\\\\1\\end{bmatrix}$, $K^{(2)}=\\begin{bmatrix}3\\\\4\\end{bmatrix}$\n\n$S^{(2)}=Q^{(2)}(K^{(2)})^T=\\begin{bmatrix}6&8\\\\4&4\\end{bmatrix}$\n", "wrong"),
    ("tokens called by the words before the rows of a table", "$q_{fast} = [1, 2]$\n\n| token | key |\n|--|--|\n| dog | [2, 1] |\n| ran | [0, 1] |\n\n$q_{fast} \\cdot k_{ran} = 4$\n", "wrong"),
    ("heads side by side before a drawn matrix", "        ⎡ 4  1 ⎤\nhead1 = ⎣ 4  1 ⎦\n\n        ⎡ 2  4 ⎤\nhead2 = ⎣ 2  3 ⎦\n\n                      ⎡ 4  1  2  4 ⎤\nC = [head1 | head2] = ⎣ 4  1  2  4 ⎦\n", "wrong"),
    ("letters for digits in rows of numbers", "        [ l  2 ]           [ 2  O ]\n   X =  [ 0  1 ]     WQ =  [ 1  1 ]\n        [ 3  0 ]\n\n   Q = X WQ = [ 4 2; l 1; 6 0 ]\n", "right"),
    ("scores one by one with two digits, then the row", "x₁ = [0.48, 0.41], x₂ = [0.69, 0.47], W_Q and W_K are identity matrices, √2 ≈ 1.414\n\nS₁₁ = x₁·x₁/√2 = (0.230+0.168)/1.414 = 0.281\nS₁₂ = x₁·x₂/√2 = (0.331+0.193)/1.414 = 0.371\n\nRow 1 of the scaled scores: [0.281, 0.371]\n", "drifted"),
    ("a dot product of numbers that are not there", "Q = [[1, 2], [2, 0]], K = [[1, 0], [1, 1]]\n\n$q_1 \\cdot k_2 = 2 + 2 = 4$\n\n$Q K^T = \\begin{bmatrix}1&4\\\\2&2\\end{bmatrix}$\n", "carried"),
    ("a root of a number that was false elsewhere", "Q = [[1, 2], [2, 0]], K = [[1, 0], [1, 1]]\n\n$q_1 \\cdot k_2 = 4$\n\n$\\sqrt{4} = 2$\n", "right"),
    ("weights at several temperatures", "$q=(2,1)$, $K=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $V=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, with **no** scaling by $\\sqrt{d_k}$\n\n$\\alpha=\\mathrm{softmax}(2,1)=(0.731,0.269)$\n\n$\\alpha=\\mathrm{softmax}(2/2,1/2)=(0.622,0.378)$\n\n$\\alpha=\\mathrm{softmax}(4,2)=(0.881,0.119)$\n\n$o=\\alpha V=(0.622,0.378)$\n", "rounded"),
    ("weights at a temperature that is set anew", "$q=(2,1)$, $k_1=(1,0)$, $k_2=(0,1)$, weights $a=\\mathrm{softmax}(s/\\tau)$\n\nThe scores: $s=(2, 1)$\n\n$\\tau=1$: $a=(0.731, 0.269)$\n\n$\\tau=2$: $s/\\tau=(1, 0.5)$, so $a=(0.622, 0.387)$\n", "wrong"),
    ("a limit of weights", "$q=(2,1)$, $k_1=(1,0)$, $k_2=(0,1)$, weights $a=\\mathrm{softmax}(s/\\tau)$\n\nThe scores: $s=(2, 1)$\n\n$\\tau=1$: $a=(0.731, 0.269)$\n\nAs $\\tau\\to\\infty$ the weights approach $(0.5, 0.5)$.\n", "unread"),
    ("a size that is said anew", "$Q=\\begin{bmatrix}2&0\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix}$, $QK^T/\\sqrt{2}=\\begin{bmatrix}1.41&0\\end{bmatrix}$\n\nNow let $d_k=64$. The scale is $1/\\sqrt{d_k}=0.125$.\n", "right"),
    ("a number that was false elsewhere, and is a size here", "$Q=\\begin{bmatrix}2&0\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix}$\n\n$\\sqrt{1024}=64$\n\nWith $n=512$ and $d=64$ this is $2\\cdot512^2\\cdot64=33554432$.\n", "right"),
    ("scores by a matrix, after the plain ones", "$h_1=(1,0)^T$, $h_2=(0,2)^T$, $s_t=(1,1)^T$\n\n$\\alpha_t=\\mathrm{softmax}(1,2)=(0.269,0.731)$, $c_t=\\sum_i\\alpha_{ti}h_i=(0.269,1.462)^T$\n\n$W_a=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$\n\n$s_t^TW_ah_1=2$, $s_t^TW_ah_2=3$\n\n$\\alpha_t=\\mathrm{softmax}(2,3)=(0.119,0.881)$\n\n$c_t=\\sum_i\\alpha_{ti}h_i=(0.119,1.762)^T$\n", "carried"),
    ("scaled scores under a prime, after the root", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]]\n\nE = Q K^T = [[2, 3], [0, 1]]\n\nscale by $\\sqrt{d_k}=\\sqrt2=1.414$\n\n$$E'=\\begin{bmatrix}1.414&2.121\\\\0&0.807\\end{bmatrix}$$\n", "wrong"),
    ("one head again after two of one column", "$X=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $W_Q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $Q=XW_Q=\\begin{bmatrix}1&2\\\\1&3\\end{bmatrix}$, $K=XW_K=\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix}$\n\n## 2 Heads\n\n**Head 1.** $Q_1=\\begin{bmatrix}1\\\\1\\end{bmatrix}$, $K_1=\\begin{bmatrix}1\\\\2\\end{bmatrix}$, $S_1=Q_1K_1^T=\\begin{bmatrix}1&2\\\\1&2\\end{bmatrix}$\n\n**Head 2.** $Q_2=\\begin{bmatrix}2\\\\3\\end{bmatrix}$, $K_2=\\begin{bmatrix}0\\\\1\\end{bmatrix}$, $S_2=Q_2K_2^T=\\begin{bmatrix}0&2\\\\0&3\\end{bmatrix}$\n\n## 3 Mask\n\n$M=\\begin{bmatrix}0&-\\infty\\\\0&0\\end{bmatrix}$\n\n$S=\\frac{QK^T}{\\sqrt2}+M=\\begin{bmatrix}0.707&-\\infty\\\\0.707&3.356\\end{bmatrix}$\n", "wrong"),
    ("a softmax of columns", "Tokens are the columns of $X=\\begin{pmatrix}1&0\\\\1&1\\end{pmatrix}$, $W_Q=\\begin{pmatrix}1&1\\\\0&1\\end{pmatrix}$, $W_K=\\begin{pmatrix}2&0\\\\1&1\\end{pmatrix}$\n\n$Q=W_QX=\\begin{pmatrix}2&1\\\\1&1\\end{pmatrix}$, $K=W_KX=\\begin{pmatrix}2&0\\\\2&1\\end{pmatrix}$\n\n$S=K^\\top Q=\\begin{pmatrix}6&4\\\\1&1\\end{pmatrix}$\n\nThe softmax is taken of each column: $A=\\mathrm{softmax}(S)=\\begin{pmatrix}0.993&0.953\\\\0.007&0.047\\end{pmatrix}$\n", "rounded"),
    ("a bias in a later example", "$Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\2&0\\end{bmatrix}$\n\n$A=\\mathrm{softmax}(QK^T)=\\begin{bmatrix}0.269&0.731\\\\0.500&0.500\\end{bmatrix}$\n\nNow we add $B=\\begin{bmatrix}0&-1\\\\-1&0\\end{bmatrix}$:\n\n$QK^T+B=\\begin{bmatrix}1&1\\\\1&2\\end{bmatrix}$\n\n$A=\\begin{bmatrix}0.500&0.500\\\\0.269&0.713\\end{bmatrix}$\n", "wrong"),
    ("the mask of a later heading", "## Plain\n\n$Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\2&0\\end{bmatrix}$, $V=\\begin{bmatrix}1&0\\\\0&2\\end{bmatrix}$\n\n$A=\\mathrm{softmax}(QK^T)=\\begin{bmatrix}0.269&0.731\\\\0.500&0.500\\end{bmatrix}$, $Z=AV=\\begin{bmatrix}0.269&1.462\\\\0.500&1.000\\end{bmatrix}$\n\n## With a causal mask\n\n$Z'=\\begin{bmatrix}1.000&0.000\\\\0.500&1.100\\end{bmatrix}$\n", "wrong"),
    ("a source vector for every step", "Encoder states $h_1=(1,0)$, $h_2=(0,1)$; dot products.\n\n### t = 1\n\n$s_1=(1,0)$, $\\alpha_1=\\text{softmax}(e_1)=(0.731,0.269)$\n\n### t = 2\n\n$s_2=(0,2)$, $e_2=(0,2)$, $\\alpha_2=\\text{softmax}(e_2)=(0.119,0.881)$, $c_2=\\sum_j\\alpha_{2j}h_j=(0.119,0.818)$\n", "wrong"),
    ("one token with a number of its own", "$x_3=(1,1)^T$, $W_q=\\begin{pmatrix}1&0\\\\1&1\\end{pmatrix}$, $q_3=W_qx_3=(1,2)^T$\n\n$K=\\begin{pmatrix}1&0\\\\0&1\\\\2&1\\end{pmatrix}$\n\n$Kq_3=\\begin{pmatrix}1\\\\2\\\\3\\end{pmatrix}$\n", "wrong"),
    ("weights that nothing leads to are rounded", "$V=\\begin{pmatrix}2&0\\\\0&2\\\\2&1\\end{pmatrix}$, $a=(0.088,0.178,0.734)^T$\n\n$o=V^Ta=(1.643,1.090)^T$\n", "drifted"),
    ("a table with counted rows and columns", "$x_1=(1,1)$, $x_2=(2,0)$, scores $\\omega_{ij}=x_i\\cdot x_j$:\n\n| $\\omega_{ij}$ | 1 | 2 |\n|---|---|---|\n| 1 | 2 | 2 |\n| 2 | 2 | 5 |\n", "wrong"),
    ("weights in terms of e", "$Q=\\begin{bmatrix}1&0\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\0&1\\\\1&0\\end{bmatrix}$; no scaling.\n\nThe weights are $\\left[\\tfrac{e}{2e+1},\\tfrac{1}{2e+1},\\tfrac{e}{2e+1}\\right]\\approx[0.422,0.155,0.432]$.\n", "wrong"),
    ("weights of a head that shares its keys", "4 query heads, 2 key-value heads. $Q_1=\\begin{bmatrix}1&0\\end{bmatrix}$, $Q_2=\\begin{bmatrix}1&1\\end{bmatrix}$, $Q_3=\\begin{bmatrix}0&1\\end{bmatrix}$, $Q_4=\\begin{bmatrix}2&1\\end{bmatrix}$, $K_1=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$, $V_1=\\begin{bmatrix}1&2\\\\3&0\\end{bmatrix}$, $K_2=\\begin{bmatrix}1&0\\\\1&2\\end{bmatrix}$, $V_2=\\begin{bmatrix}0&1\\\\2&2\\end{bmatrix}$\n\n**Head 3**: $A_3=\\begin{bmatrix}0.296&0.804\\end{bmatrix}$\n", "wrong"),
    ("all heads after the last one", "4 query heads, 2 key-value heads. $q_1=[1,0]$, $q_2=[0,1]$, $q_3=[1,1]$, $q_4=[0,0]$, $K_1=\\begin{bmatrix}0&0\\\\0&0\\end{bmatrix}$, $V_1=\\begin{bmatrix}2&0\\\\0&2\\end{bmatrix}$, $K_2=\\begin{bmatrix}0&0\\\\0&0\\end{bmatrix}$, $V_2=\\begin{bmatrix}1&3\\\\3&1\\end{bmatrix}$\n\n**Head 4**: $a_4=[0.5, 0.5]$\n\nConcatenated: $o=[1,1,1,1,2,2,2,3]$\n", "wrong"),
    ("the questions of an exam", "\\begin{document}\n\\begin{questions}\n\\question[5] Let $Q=\\begin{bmatrix}1&2\\end{bmatrix}$, $K=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$.\n\\begin{solution}\n$QK^T=\\begin{bmatrix}1&3\\end{bmatrix}$\n\\end{solution}\n\\question[3] A state $s=(1,0)^T$ attends over $h_1=(1,1)^T$ and $h_2=(0,2)^T$ with dot scores.\n\\begin{solution}\n$\\alpha=(0.731,0.296)$\n\\end{solution}\n\\end{questions}\n\\end{document}\n", "wrong"),
    ("one token of another sequence, beside the output Y", "## Self\n\n$X=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $W_Q=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}2&0\\\\0&1\\end{bmatrix}$, $W_V=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$\n\n$Y=AV=\\begin{bmatrix}1.00&0.67\\\\1.00&0.80\\end{bmatrix}$\n\n## Cross\n\nA token $y=(0,1)$ asks the same encoder: $q=yW_Q=[0,1]$, $qK^T=[0,2]$\n", "wrong"),
    ("what follows from another key", "$Q=\\begin{bmatrix}1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $QK^T=\\begin{bmatrix}1&2\\end{bmatrix}$\n\nWhat happens if the second key is replaced by $(0,0)$?\n\nThe second score becomes $0$: $QK^T=\\begin{bmatrix}1&0\\end{bmatrix}$.\n", "unread"),
    ("heads given beside a copy of the weights", "# 1. Self-attention\n\n$X=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $W_Q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$\n\n$S=QK^T=\\begin{bmatrix}1&4\\\\1&5\\end{bmatrix}$\n\n# 2. Multi-head attention\n\n$X=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $W_Q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $Q_1=\\begin{bmatrix}1\\\\1\\end{bmatrix}$, $K_1=\\begin{bmatrix}1\\\\2\\end{bmatrix}$, $Q_2=\\begin{bmatrix}2\\\\3\\end{bmatrix}$, $K_2=\\begin{bmatrix}0\\\\1\\end{bmatrix}$\n\n$S_1=Q_1K_1^T=\\begin{bmatrix}1&2\\\\1&2\\end{bmatrix}$\n\n$S_2=Q_2K_2^T=\\begin{bmatrix}0&2\\\\0&4\\end{bmatrix}$\n", "wrong"),
    ("a mask in the title of a slide", "\\begin{document}\n\\begin{frame}{Data}\n$Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\2&0\\end{bmatrix}$\n\\end{frame}\n\\begin{frame}{Causal attention}\nToken 1 sees only itself: $\\alpha_{11}=1$, $\\alpha_{12}=0$.\n\\end{frame}\n\\end{document}\n", "right"),
    ("scores defined as a function", "$\\mathrm{score}(s,h_i)=v^\\top\\tanh(W_1s+W_2h_i)$, $W_1=\\begin{bmatrix}0.5&0\\\\0&0.5\\end{bmatrix}$, $W_2=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $v=\\begin{bmatrix}1\\\\-1\\end{bmatrix}$, $s=\\begin{bmatrix}2\\\\0\\end{bmatrix}$, $h_1=\\begin{bmatrix}0\\\\1\\end{bmatrix}$, $h_2=\\begin{bmatrix}1\\\\0\\end{bmatrix}$\n\n$e_1=0.000$, $e_2=0.964$, $\\alpha_1=0.276$, $\\alpha_2=0.742$\n", "wrong"),
    ("other letters for weights at a temperature", "The scores are $s=(2,0,-1)$ and $p_T=\\mathrm{softmax}(s/T)$.\n\n$T=1$: $p=(0.844,0.114,0.042)$\n\n$T=2$: $s/T=(1,0,-0.5)$, $p=(0.629,0.231,0.140)$\n", "rounded"),
    ("keys that are something else from here on", "$X=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $W_Q=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}2&0\\\\0&1\\end{bmatrix}$, $W_V=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$\n\n$Q=XW_Q=\\begin{bmatrix}1&1\\\\1&2\\end{bmatrix}$, $K=XW_K=\\begin{bmatrix}2&0\\\\2&1\\end{bmatrix}$, $V=XW_V=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$\n\nNow we take $K=V=H$ and the same $Q$:\n\n$QK^T=\\begin{bmatrix}1&3\\\\1&4\\end{bmatrix}$\n", "unread"),
    ("scores with a second product", "$Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $R=\\begin{bmatrix}0&1\\\\1&0\\end{bmatrix}$. The scores are $E=(QK^\\top+QR^\\top)/\\sqrt2$.\n\n$E=\\begin{bmatrix}0.707&0.707\\\\2.828&1.414\\end{bmatrix}$\n\n$A=\\begin{bmatrix}0.500&0.500\\\\0.804&0.916\\end{bmatrix}$\n", "wrong"),
    ("queries of four heads over two groups", "4 query heads, 2 KV groups: $q_1=[1,0]$, $q_2=[0,2]$, $q_3=[1,1]$, $q_4=[-1,1]$, $K^{(1)}=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$, $V^{(1)}=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $K^{(2)}=\\begin{bmatrix}0&1\\\\1&0\\end{bmatrix}$, $V^{(2)}=\\begin{bmatrix}2&0\\\\0&2\\end{bmatrix}$\n\n**Head 4.** scaled by $\\sqrt2$: $[0.707, -0.707]$, softmax: $[0.804, 0.196]$, output $o_4=[1.609, 0.391]$\n", "rounded"),
    ("biases of two heads", "$X=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $W^Q_1=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$, $W^Q_2=\\begin{bmatrix}2&0\\\\0&1\\end{bmatrix}$, $b^Q_1=(1,0)$, $b^Q_2=(0,3)$\n\n$Q_1=XW^Q_1+b^Q_1=\\begin{bmatrix}2&1\\\\1&1\\end{bmatrix}$\n\n$Q_2=\\begin{bmatrix}2&3\\\\0&4\\end{bmatrix}$\n", "right"),
    ("rows projected one by one", "$x_1=(1,2)$, $x_2=(3,-1)$, $W_Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}2&1\\\\0&1\\end{bmatrix}$, with $q_i=x_iW_Q$ and $k_i=x_iW_K$\n\n$\\alpha_{21}\\approx 0.0017$\n", "rounded"),
    ("scores and a bias under a letter of their own", "$Q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix}$, $B=\\begin{bmatrix}0&-1\\\\-1&0\\end{bmatrix}$, $T=\\frac{QK^\\top}{\\sqrt2}+B$, $A=\\text{softmax}(T)$\n\n$T=\\begin{bmatrix}0.71&1.83\\\\-1.00&0.17\\end{bmatrix}$\n", "wrong"),
    ("components that are collected", "$q=[1,0]$, $k_1=[1,0]$, $k_2=[0,1]$, $v_1=[1,3]$, $v_2=[2,-1]$, scaled by $\\sqrt2$: $a=[0.670, 0.330]$\n\nfirst component: $0.670\\cdot 1 + 0.330\\cdot 2 = 1.330$\n\nsecond component: $0.670\\cdot 3 + 0.330\\cdot (-1) = 1.860$\n\nso $o = [1.330, 1.860]$\n", "carried"),
    ("weights of a later run under the old name", "$$S = \\begin{bmatrix}2&1&3\\\\1&1&0\\\\0&2&1\\end{bmatrix}$$ with $d_k = 4$\n\n$$\\frac{S}{\\sqrt4} = \\begin{bmatrix}1.0&0.5&1.5\\\\0.5&0.5&0.0\\\\0.0&1.0&0.5\\end{bmatrix}$$\n\nCompute the weights, if the padding token (3rd key) must not be attended to.\n\n$$A = \\begin{bmatrix}0.622&0.378&0.000\\\\0.500&0.500&0.000\\\\0.269&0.731&0.000\\end{bmatrix}$$\n", "rounded"),
    ("cells of a capital letter, one of other numbers", "$Q=\\begin{bmatrix}1&-1\\\\0&3\\end{bmatrix}$, $K=\\begin{bmatrix}2&1\\\\1&-2\\end{bmatrix}$\n\n$S_{11} = 1\\cdot 2 + (-1)\\cdot 1 = 1$, $S_{12} = 1\\cdot 1 + (-1)\\cdot(-2) = 3$\n\n$S_{22} = 0\\cdot 1 + 3\\cdot 2 = 6$\n", "carried"),
    ("a pad that is masked", "$Q=\\begin{bmatrix}1&-1\\\\0&3\\end{bmatrix}$, $K=\\begin{bmatrix}2&1\\\\1&-2\\\\5&5\\end{bmatrix}$\n\n$S=\\frac{QK^\\top}{\\sqrt2}$. The pad key (last column) is masked:\n\n$$S_{\\text{masked}}=\\begin{bmatrix}0.71&2.12&-\\infty\\\\2.12&-4.24&-\\infty\\end{bmatrix}$$\n", "rounded"),
    ("a state that is made of the context", "$h_1=(1,0)^T$, $h_2=(0,1)^T$, $s=(1,-1)^T$, scored by $s^T h_i$\n\n$\\tilde{h}=\\tanh(W_c[c;s])$ with $W_c=\\begin{bmatrix}1&0&1&0\\\\0&1&0&1\\end{bmatrix}$: $\\tilde{h}=(0.954, -0.707)^T$\n\n$c=\\alpha_1h_1+\\alpha_2h_2=(0.881, 0.119)^T$\n", "rounded"),
    ("false weights that add up to one", "Q = [[1, 2]], K = [[2, 0], [1, 1]], scaled by √2\n\nA = [[0.400, 0.600]]\n\n0.400 + 0.600 = 1.000\n", "rounded"),
    ("rows of a matrix with arrows behind them", "```\nX = [4, 0, 2]  ← \"a\"\n    [1, 5, 0]  ← \"b\"\n    [0, 3, 6]  ← \"c\"\n```\n\nW_Q and W_K are identity matrices.\n\nScores:\n```\n    a   b   c\na [ 20   4  12 ]\nb [  4  26  15 ]\nc [ 12  15  46 ]\n```\n", "wrong"),
    ("a false product of a row and a matrix", "$A=[0.25, 0.75]$, $V=\\begin{bmatrix}2&1\\\\0&4\\end{bmatrix}$\n\n$$\\text{ctx}=\\begin{bmatrix}0.25&0.75\\end{bmatrix}\\begin{bmatrix}2&1\\\\0&4\\end{bmatrix}=\\begin{bmatrix}0.60&3.35\\end{bmatrix}$$\n", "wrong"),
    ("scaled scores under a prime, told by words", "$Q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $K=\\begin{bmatrix}2&0\\\\1&1\\end{bmatrix}$\n\nScores:\n\n$$S=\\begin{bmatrix}2&3\\\\0&1\\end{bmatrix}$$\n\nGedeeld door √2:\n\n$$S'=\\begin{bmatrix}1{,}414&2{,}121\\\\0{,}000&0{,}807\\end{bmatrix}$$\n", "wrong"),
    ("an O among decimal commas", "$Q=\\begin{bmatrix}1&2\\end{bmatrix}$, $K=\\begin{bmatrix}2&0\\\\1&1\\end{bmatrix}$\n\n$A=\\begin{bmatrix}O{,}330&0{,}67O\\end{bmatrix}$\n", "rounded"),
    ("vectors between angles", "$q=\\langle 1, 2\\rangle$, $k_1=\\langle 3, -1\\rangle$, $k_2=\\langle 0, 2\\rangle$\n\n$\\langle q, k_1\\rangle=1$, $q\\cdot k_2=5$\n", "wrong"),
    ("brackets drawn with corners", "Q =\n┌     ┐\n│ 1 0 │\n│ 1 2 │\n└     ┘\n\nK =\n┌     ┐\n│ 0 1 │\n│ 1 2 │\n└     ┘\n\n得分 Q·K^T =\n┌     ┐\n│ 0 1 │\n│ 2 6 │\n└     ┘\n", "wrong"),
    ("rows of decimal commas after a colon", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]]\n\nGewichte:\n\n- Zeile 1: 0,330  0,670\n- Zeile 2: 0,330  0,770\n", "wrong"),
    ("a point lost among decimals", "$Q=\\begin{bmatrix}2&-2\\\\2&0\\end{bmatrix}$, $K=\\begin{bmatrix}1&-3\\\\-3&1\\end{bmatrix}$\n\n$QK^T/\\sqrt2=\\begin{bmatrix}566&-5.66\\\\1.41&-4.24\\end{bmatrix}$\n", "misread"),
    ("a bracket around several lines", "Q =\n[ 1   2\n  0   1 ]\n\nK =\n[ 2   −1\n  1   1 ]\n\nQ K^T =\n[ 0   3\n  −1  2 ]\n", "wrong"),
    ("rows parted by a bar", "X = [0 2 | 1 1], Wq = [0 2 | 1 2]\n\nQ = X Wq = [2 4 | 1 5]\n", "wrong"),
    ("a corner that tells axes", "| token | q | k |\n|--|--|--|\n| I | (1, 1) | (1, 0) |\n| tea | (2, 1) | (3, 2) |\n\n**Scores** q·k\n\n| q \\ k | I | tea |\n|--|--|--|\n| I | 1 | 5 |\n| tea | 2 | 8 |\n", "right"),
    ("names in words that stand only in a product", "Compute $\\mathrm{softmax}(\\frac{\\text{amber} \\, \\text{flint}^\\top}{\\sqrt{\\text{pine}}}) \\text{marble}$.\n\nQueries $\\text{amber}$:\n\n|  | 1 | 2 |\n|---|---|---|\n| 1 | 1 | 3 |\n| 2 | -1 | 2 |\n\nKeys $\\text{flint}$:\n\n|  | 1 | 2 |\n|---|---|---|\n| 1 | 2 | 1 |\n| 2 | 0 | 4 |\n\nScores $\\text{amber} \\, \\text{flint}^\\top$:\n\n|  | 1 | 2 |\n|---|---|---|\n| 1 | 5 | 12 |\n| 2 | 0 | 8 |\n", "right"),
    ("small letters of tokens and weights", "$x = \\begin{bmatrix}1&2\\\\3&-1\\end{bmatrix}$, $w = \\begin{bmatrix}2&1\\\\5&0\\end{bmatrix}$\n\n$y = x w = \\begin{bmatrix}4&5\\\\5&15\\end{bmatrix}$\n", "wrong"),
    ("rows of a second sequence under names of their own", "Compute softmax(psi alpha^T / √4) phi.\n\nbeta_1 = [1, 2]\nbeta_2 = [0, 3]\nomega = [[1, 1], [0, 2]]\ngamma = [[1, 2, 0, 1], [0, 1, 1, 1]]\nchi = [[2, 0, 1, 0], [0, 1, 0, 1]]\nxi = [[1, 0], [0, 1]]\n\npsi_1 = beta_1 gamma = [1, 4, 2, 3]\npsi_2 = beta_2 gamma = [0, 3, 3, 3]\nalpha_1 = omega_1 chi = [2, 1, 1, 1]\nalpha_2 = omega_2 chi = [0, 2, 0, 2]\nphi_1 = omega_1 xi = [1, 1]\nphi_2 = omega_2 xi = [0, 2]\nkappa = psi alpha^T = [[11, 14], [9, 12]]\nrho = softmax(kappa / \u221a4) = [[0.107, 0.893], [0.107, 0.893]]\n", "wrong"),
    ("names in a function and below a line", "Compute softmax(lantern Pebble^T / √Marble) maple. Here Marble = 3.\n\nTokens cloud:\n     d1  d2\nthe   1   0\ncat   3   1\n\nWeights of the queries Cedar:\n    d1  d2\nd1   1   2\nd2   0   1\n\nAnfragen lantern = cloud Cedar:\n     d1  d2\nthe   1   2\ncat   3   6\n", "wrong"),
    ("a share of the sum that was meant, not misspelled", "q = [1, 2], k_1 = [1, 0], k_2 = [0, 1], unscaled\n\nq·k_1 = 2\n\nq·k_2 = 2\n\ne^2 = 7.389, e^2 = 7.389\n\n7.389 + 7.389 = 17.478\n\na_1 = 7.389/14.778 = 0.500\n", "carried"),
    ("one of two false factors is only misspelled", "X = [[1, 2], [3, 1]]\n\nW_Q = [[1, 0], [2, 1]]\n\nW_K = [[0, 1], [1, 1]]\n\nQ = X W_Q = [[8, 2], [5, 1]]\n\nK = X W_K = [[5, 2], [5, 1]]\n\nS = Q K^T = [[29, 27], [27, 26]]\n", "carried"),
    ("rows of an output with a mistake of the table", "Compute softmax(Q K^T / √d_k) V. Here d_k = 4.\n\nQ = [[1, 0, 2, 1], [0, 1, 1, 3]]\n\nK = [[1, 1, 0, 0], [0, 2, 1, 1], [2, 0, 0, 1]]\n\nV = [[1, 2, 0], [0, 3, 5], [4, 1, 2]]\n\nA = softmax(Q K^T / √d_k) = [[0.155, 0.422, 0.422], [0.063, 0.766, 0.171]]\n\no_1 = [1.000, 3.379, 1.888]\n\no_2 = [1.595, 3.153, 1.360]\n", "wrong"),
    ("scores beside cells of weights under a letter of scores", "Compute softmax(A B^T / √4) C.\n\nA = [[1, 0, 0, 1], [2, 0, 0, 0]]\n\nB = [[2, 0, 0, 0], [0, 0, 0, 4]]\n\nC = [[1, 0], [0, 1]]\n\n## Solution\n\nAttention weights:\n\nomega_{1,1} = 2.718/10.107 = 0.269\n\nomega_{1,2} = 7.389/10.107 = 0.731\n\nomega_{2,1} = 7.389/8.389 = 0.881\n\nomega_{2,2} = 1/8.389 = 0.119\n\nScores:\n\nXi = A B^T = [[2, 4], [4, 0]]\n", "right"),
    ("Q·K as every query with every key", "Q = [[1, 1], [2, 1]], K = [[1, 0], [3, 2]]\n\nS = Q·K / 2 = [[0.5, 2.5], [1, 4.5]]\n", "wrong"),
    ("a name in code before an aside with a size", "* **Input** `X` (2 tokens, d_model = 3): `[[1, 0, 2], [0, 1, 1]]`\n* **W_Q**: `[[1, 0], [0, 1], [1, 1]]`\n\n`Q = X·W_Q = [[3, 2], [1, 3]]`\n", "wrong"),
    ("scores by their indices in code, then the matrix", "Q = [[3, 2], [1, 2]], K = [[2, 1], [1, 3]]\n\n- S[1][1] = `3·2 + 2·1 = 8`\n- S[1][2] = `3·1 + 2·3 = 9`\n- S[2][1] = `1·2 + 2·1 = 4`\n- S[2][2] = `1·1 + 2·3 = 8`\n\nS = [[8, 9], [4, 8]]\n", "carried"),
    ("a step that is shown on the next slide", "\\begin{document}\n\\begin{frame}\n$X=\\begin{pmatrix}1&1\\\\2&0\\end{pmatrix}$, $W_Q=\\begin{pmatrix}2&2\\\\0&1\\end{pmatrix}$, $W_K=\\begin{pmatrix}2&1\\\\0&2\\end{pmatrix}$\n\\begin{align*}\nQ &= XW_Q = \\begin{pmatrix}2&3\\\\4&4\\end{pmatrix} \\onslide<2->{\\\\\nK &= XW_K = \\begin{pmatrix}2&3\\\\4&3\\end{pmatrix}}\n\\end{align*}\n\\note{The second row is $(4, 2)$.}\n\\end{frame}\n\\end{document}\n", "wrong"),
    ("scaled with the size said between", "$Q=\\begin{bmatrix}2&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&3\\\\3&1\\end{bmatrix}$\n\n- scaled by $\\sqrt{d_k}$, with $d_k=2$: $\\begin{bmatrix}3.54&4.85\\end{bmatrix}$\n", "wrong"),
    ("exponentials that weights are made of", "$q=(1,2)$, $k_1=(2,0)$, $k_2=(1,1)$\n\ne^1.414 ≈ 4.11\n\ne^2.121 ≈ 12.34\n\nα₁ = 0.250, α₂ = 0.750\n", "carried"),
    ("a product of rows that was wrong, then scaled", "Q = [[4, 2], [7, 1]], K = [[1, 5], [3, 5]]\n\nq1·k1 = 14\n\nq2·k1 = 14\n\nScaled by √2:\n\nS' = [[9.899, 15.556], [9.899, 18.385]]\n", "carried"),
    ("a rule on the line of a tabular's heads", "\\begin{document}\n$g_1=(1,0)$, $g_2=(0,2)$, $U=\\begin{bmatrix}0&1\\\\1&0.5\\end{bmatrix}$\n\n\\begin{tabular}{c|c}\n & $U g_i$ \\\\ \\hline\n$g_1$ & $(0, 1)$ \\\\\n$g_2$ & $(2, 3)$ \\\\\n\\end{tabular}\n\\end{document}\n", "wrong"),
    ("one query's scores and weights in a tabular", "\\begin{document}\nWith $W_Q=\\begin{bmatrix}1&0\\\\0&1\\\\1&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}0&1\\\\1&0\\\\1&1\\end{bmatrix}$ the tokens give\n\n\\begin{tabular}{lccc}\n\\toprule\ntoken & $x$ & $q$ & $k$ \\\\\n\\midrule\nI & (1, 0, 1) & (2, 1) & (1, 2) \\\\\nam & (0, 1, 0) & (0, 1) & (1, 0) \\\\\nhere & (1, 1, 0) & (1, 1) & (1, 1) \\\\\n\\bottomrule\n\\end{tabular}\n\nand for the last\n\n\\begin{tabular}{lrrr}\n\\toprule\nkey & score & scaled & weight \\\\\n\\midrule\nI & 3 & 2.121 & 0.576 \\\\\nam & 1 & 0.707 & 0.140 \\\\\nhere & 2 & 1.414 & 0.248 \\\\\n\\bottomrule\n\\end{tabular}\n\\end{document}\n", "wrong"),
    ("brackets as a PDF file keeps them", "Q =\n1 0\n1 2\n\nK =\n0 1\n1 2\n\nQKT =\n0 1\n2 6\n", "wrong"),
    ("signs of full width", "查询 q＝（1，1），键 k₁＝（1，0），k₂＝（2，1）。\n\n点积得分：q·k₁＝１，q·k₂＝４。\n", "wrong"),
    ("keys and values in a table, called by a noun", "q = (1 ; 2)\n\n| j | clé k_j | valeur v_j |\n|---|---|---|\n| 1 | (2 ; 0) | (1 ; 0) |\n| 2 | (1 ; 1) | (0 ; 1) |\n\nq·k₂ = 4\n", "wrong"),
    ("a root called by its word", "Q = (1 2 ; 0 1), K = (1 0 ; 1 1)\n\nQ K^T / Wurzel(2) = (0,707  2,121 ; 0,000  0,807)\n", "wrong"),
    ("a slip in numbers of one digit", "q = [0.3, 0.6], k1 = [0.8, 0.2], k2 = [0.4, 0.7]\n\nq · k1 = 0.3×0.8 + 0.6×0.2 = 0.40\n", "wrong"),
    ("a weight that happens to be a given number", "q = [1, 0], k1 = [0.3, 0.5], k2 = [0.3, 0.1], k3 = [0.2, 0.7], v1 = [4, 1], v2 = [2, 0], v3 = [1, 8]\n\nweights: 0.3, 0.3, 0.3\n\noutput = 0.3·[4, 1] + 0.3·[2, 0] + 0.3·[1, 8] = [2.4, 3.0]\n", "drifted"),
    ("a false sum of weighted vectors", "Q = [[1, 0]], K = [[1, 0], [0, 1]], V = [[0.9, 0.1], [0.1, 0.9]]\n\nout_cat = 0.52·[0.9, 0.1] + 0.48·[0.1, 0.9] = [0.58, 0.42]\n", "wrong"),
    ("a size of other models", "If d_k = 64, scores are divided by 8.\n\nHere Q = [[1, 0], [1, 1]], K = [[1, 0], [0, 2]] and √d_k = √2 ≈ 1.41\n\nscaled = [[0.71, 0], [0.71, 1.14]]\n", "wrong"),
    ("queries and keys of quoted words", "q_ate = [0.3, 0.6], k_Cat = [0.8, 0.2]\n\nScore(\"ate\" → \"Cat\") = Query(\"ate\") · Key(\"Cat\")\n = [0.3, 0.6] · [0.8, 0.2]\n = 0.38\n", "wrong"),
    ("a product with its name, drawn", "X = [[2, 1], [0, 3]], Wq = [[1, 0], [2, 1]]\n\n     | 2 1 |   | 1 0 |   | 4 1 |\nQ =  | 0 3 | x | 2 1 | = | 7 3 |\n", "wrong"),
    ("scores called by two digits, then together", "$Q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\2&0\\end{bmatrix}$\n\n$s_{11}=q_1\\cdot k_1=5$, $s_{12}=q_1\\cdot k_2=2$, $s_{21}=1$, $s_{22}=0$\n\n$S=\\begin{bmatrix}5&2\\\\1&0\\end{bmatrix}$\n", "carried"),
    ("scores that are numbers, no states", "q = (2; 1), k₁ = (1; 0), k₂ = (0; 1)\n\n**1. Adım: Puanlar**\n\nq·k₁ = 2, q·k₂ = 1\n\n**2. Adım: Ölçekleme** (√2 ≈ 1,414'e böleriz)\n\n- s₁ = 1,414\n- s₂ = 0,707\n\nDikkat ağırlıkları: a₁ = 0,670, a₂ = 0,340\n", "wrong"),
    ("a mask told by its minus infinities alone", "Q = [[1, 0], [1, 1], [0, 2]], K = [[1, 1], [0, 1], [1, 0]], scaled by √2\n\n| 0.707 | -∞ | -∞ |\n|---|---|---|\n| 1.414 | 0.707 | -∞ |\n| 1.414 | 1.414 | 0.000 |\n\nA = [[1.000, 0.000, 0.000], [0.670, 0.330, 0.000], [0.446, 0.446, 0.108]]\n", "rounded"),
    ("what a scanner spoiled is not carried on", "$Q=\\begin{bmatrix}1&1\\\\0&1\\\\1&2\\end{bmatrix}$, $K=\\begin{bmatrix}1&0\\\\1&1\\\\2&1\\end{bmatrix}$, $V=\\begin{bmatrix}3&0\\\\1&2\\\\4&2\\end{bmatrix}$\n\n$$A = \\text{softmax} \\left( \\frac{Q K^T}{\\sqrt{2}} \\right) = \\begin{bmatrix} 0.140 & 0.284 & 0.576 \\\\ 0.198 & 0.401 & 0401 \\\\ 0.074 & 0.306 & 0.620 \\end{bmatrix}$$\n\n$$Z = A V = \\begin{bmatrix}3.008 & 1.720 \\\\ 2.599 & 1.604 \\\\ 3.008 & 1.852\\end{bmatrix}$$\n", "drifted"),
    ("a weighted sum, said in German", "$Q=\\begin{bmatrix}1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $V=\\begin{bmatrix}3&0\\\\1&2\\end{bmatrix}$\n\nWichtungen:\n\n$$\\begin{bmatrix}0{,}330&0{,}670\\end{bmatrix}$$\n\nGewichtete Summe der Werte:\n\n$$\\begin{bmatrix}1{,}660&1{,}440\\end{bmatrix}$$\n", "wrong"),
    ("where a matrix lives", "$$X=\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix}\\in\\mathbb{R}^{2\\times 2}$$\n\n$$W_Q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}\\in\\mathbb{R}^{2\\times 2}$$\n\n$$Q=XW_Q=\\begin{bmatrix}1&2\\\\2&4\\end{bmatrix}\\in\\mathbb{R}^{2\\times 2}$$\n", "wrong"),
    ("lists with semicolons throughout", "X = [[1; 0]; [2; 1]]\n\nW_Q = [[0,5; 1,5]; [0; 1]]\n\nQ = X·W_Q = [[0,5; 1,5]; [1,0; 4,0]]\n", "right"),
    ("products with a full stop, blanks around it", "X = [[1, 0], [2, 1]]\nWq = [[1, 2], [0, 1]]\n\nQ = X . Wq =\n| 1  2 |\n| 2  6 |\n", "wrong"),
    ("products with a full stop, no blanks", "X = [[1, 0], [2, 1]]\nWq = [[1, 2], [0, 1]]\n\nQ = X.Wq = [[1, 2], [2, 5]]\n", "right"),
    ("letters that a scanner took digits for", "Q =\n| 1  O |\n| l  2 |\n\n$K=\\begin{bmatrix} O & 1 \\\\ l & 2\\end{bmatrix}$\n\nQK^T/√2 =\n| O.0O  0.7l |\n| 1.4I  3.54 |\n", "rounded"),
    ("steps that are counted within an exercise", "# Aufgabe 2\n\n$X=\\begin{pmatrix}1&0\\\\2&1\\end{pmatrix}$, $W_Q=\\begin{pmatrix}1&2\\\\0&1\\end{pmatrix}$\n\n## Lösung\n\n1. Anfragen und Schlüssel:\n\n$$Q = XW_Q = \\begin{pmatrix}1&2\\\\2&4\\end{pmatrix}$$\n", "wrong"),
    ("a row of what was shown whole", "$Q=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix}$, $V=\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}$\n\n$S=\\begin{bmatrix}1&0\\\\1&2\\end{bmatrix}$, $\\tilde S=S/\\sqrt2$, $A=\\begin{bmatrix}0.670&0.330\\\\0.330&0.670\\end{bmatrix}$, $Z=AV=\\begin{bmatrix}1.660&2.660\\\\2.340&3.340\\end{bmatrix}$\n\nThe first token ends up at $z_1\\approx(1.66,\\,2.66)$.\n", "rounded"),
    ("numbers set by siunitx", "\\begin{document}\n$Q=\\begin{bmatrix}1&0\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix}$\n\n$A=\\begin{bmatrix}\\num{0.670}&\\num{0,330}\\end{bmatrix}$\n\\end{document}\n", "rounded"),
    ("how a softmax runs, within an equation", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]]\n\nA = softmax of each row = [[0.330, 0.670], [0.303, 0.670]]\n", "wrong"),
    ("cut off, of a false score", "$q=(1,0)$, $k_1=(1,1)$, $k_2=(2,1)$, no scale. $s_1 = 1$, $s_2 = 3$\n\n$e^1 = 2.71$, $e^3 = 20.08$、合計は $22.79$。\n", "carried"),
    ("a false score that would do as a scaled one, but for its working", "$q_1=(3,2,3)$, $k_1=(4,0,2)$, $k_2=(1,1,1)$, scaled by $\\sqrt3$\n\n$s_{1,1} = 3\\cdot 4 + 2\\cdot 0 + 3\\cdot 2 = 10$\n", "wrong"),
    ("a softmax written out", WRITTEN_OUT % ("4.112", "2.028 + 4.112", "6.140") + "$2.028/6.140 = 0.330$\n", "rounded"),
    ("a false exponential, carried into the sum", WRITTEN_OUT % ("4.211", "2.028 + 4.211", "6.239"), "carried"),
    ("a false exponential, carried into a quotient", WRITTEN_OUT % ("4.211", "2.028 + 4.211", "6.239") + "$2.028/6.239 = 0.325$\n", "carried"),
    ("a false sum of exponentials", WRITTEN_OUT % ("4.112", "2.028 + 4.112", "6.410"), "wrong"),
    ("a false sum of exponentials, carried into a weight", WRITTEN_OUT % ("4.112", "2.028 + 4.112", "6.410") + "$\\alpha_1 = 0.316$\n", "carried"),
    ("a false quotient of exponentials", WRITTEN_OUT % ("4.112", "2.028 + 4.112", "6.140") + "$2.028/6.140 = 0.350$\n", "wrong"),
    ("an exponent of -inf", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]]\n\ne^(0.5) ≈ 1.65\n\ne^(-inf) = 0\n", "right"),
    ("a bias as a column beside tokens as rows", "X = [[3, 1], [1, 2]], W_Q = [[1, 0], [2, 1]], b_Q = [5; 0]\n\nQ = X W_Q + b_Q = [[10, 1], [10, 2]]\n", "right"),
    ("fractions with blanks between them", "Q = [1/2 -1; 0 3/2], K = [2 0; 1 1]\n\nQ K^T = [1 -1/2; 0 3/2]\n", "right"),
    ("rows of scores, called by a word and a place", "Q = [[1, 0], [0, 2]], K = [[1, 1], [2, 1], [0, 1]], d_k = 2\n\nscaled[0] = [0.707, 1.414, 0]\n\nscaled[1] = [1.414, 1.614, 1.414]\n", "wrong"),
    ("rows of weights, called by a word and a number", "Q = [[1, 0], [0, 2]], K = [[1, 1], [2, 1], [0, 1]]\n\nweights_1 = [0.284, 0.576, 0.140]\n", "rounded"),
    ("a Greek letter with its number beside it", "$q=(1,2)$, $k_1=(2,0)$, $k_2=(1,1)$, $v_1=(1,0)$, $v_2=(0,2)$\n\nα1 = 0.330\n\nα2 = 0.607\n", "wrong"),
    ("columns headed by a running index, without marks", "q=(2,-1), k_1=(1,1), k_2=(0,2), k_3=(3,1), scaled by √2\n\n| j | q·k_j | s_j | exp(s_j) | α_j |\n|--|--|--|--|--|\n| 1 | 1 | 0.707 | 2.028 | 0.055 |\n| 2 | -2 | -1.414 | 0.243 | 0.007 |\n| 3 | 5 | 3.536 | 34.313 | 0.983 |\n", "wrong"),
    ("a false scaled score, carried into a column", "q = (1, 3), k1 = (2, 0), k2 = (1, 1), d = 2\n\ns1 = 2/√2 = 1.414\n\ns2 = 4/√2 = 2.288\n\n| i | s_i | α_i |\n|--|--|--|\n| 1 | 1.414 | 0.294 |\n| 2 | 2.288 | 0.706 |\n", "carried"),
    ("a comma that a scanner took for a point", "Q = [1 1; 0 1], K = [1 2; 2 0]\n\nQ K^T / √2 = [ 2.12  1.41 ; 1,41  0.00 ]\n\nA = [ 0.67  0.33 ; 0.80  0.20 ]\n", "rounded"),
    ("heads counted from 0, called by small letters", "Multi-head attention (H=2)\n\nq = [[4, 2, 2, 0], [2, 0, 0, 1]]\nk = [[2, 4, 4, 4], [0, 1, 2, 2]]\nv = [[2, 4, 4, 2], [1, 3, 1, 1]]\n\nq0 = [[4, 2], [2, 0]]\nk0 = [[2, 4], [0, 1]]\nv0 = [[2, 4], [1, 3]]\natt0 = softmax(q0 @ k0.T / sqrt(2)) = [[1.000, 0.000], [0.944, 0.056]]\n\nq1 = [[2, 0], [0, 1]]\nk1 = [[4, 4], [2, 2]]\nv1 = [[4, 2], [1, 1]]\natt1 = softmax(q1 @ k1.T / sqrt(2)) = [[0.944, 0.056], [0.804, 0.196]]\ny1 = att1 @ v1 = [[3.833, 1.944], [3.413, 1.840]]\n", "wrong"),
    ("rows with names below an empty head", "| | | |\n|--|--|--|\n| k1 | 1 | 0 |\n| k2 | 0 | 4 |\n\nq = [1, 2.5]\n\nq·k2 = 10\n", "right"),
    ("lines with an arrow each", "q = [3, 1], k1 = [1, 0], k2 = [0, 1], scaled by √2\n\nScores → 3 1\nScaled → 2.12 0.71\nSoftmax → 0.80 0.30\n", "wrong"),
    ("columns of quantities beside products of a family", "| pair | score | scaled (÷√4) | exp | weight |\n|--|--|--|--|--|\n| q·k1 | 4 | 2 | 7.389 | 0.665 |\n| q·k2 | 2 | 1 | 2.718 | 0.245 |\n| q·k3 | 0 | 0 | 1 | 0.090 |\n", "rounded"),
    ("rows of bare numbers behind words and a colon", "Query: 1 2 0\nKeys:\nk1: 1 0 1\nk2: 0 1 1\n\nscaled: 0.577 1.155\nsoftmax: 0.369 0.640\n", "wrong"),
    ("names between the rows of matrices whose brackets were lost", "      1 0        1 1        3 1\nQ =         K =         V =\n      2 1        0 2        1 2\n\nScores\n\n           1 0\nS = QKT =\n           3 4\n", "wrong"),
    ("a root that is drawn with strokes", "Q = [[1, 0], [2, 1]], K = [[1, 1], [0, 2]]\n\nDividing by \\/2 = 1.414:\n\n[[0.707, 0.000], [2.121, 1.414]]\n", "rounded"),
    ("keys with a word in parentheses", "**q** = [0.8, 0.6]\n\n**k₁** (river) = [1.0, 0.2], **k₂** (money) = [0.4, 0.9]\n\nq·k₂ = 0.68\n", "wrong"),
    ("a row of totals in bold", "q = [0.8, 0.6], k1 = [1.0, 0.2], k2 = [0.4, 0.9], k3 = [0.5, 0.1], scaled by √2\n\n| Key | exp(scaled) | weight |\n|:--|--:|--:|\n| river | 1.917 | 0.373 |\n| money | 1.837 | 0.358 |\n| hill | 1.384 | 0.279 |\n| **Total** | 5.138 | 1.000 |\n", "rounded"),
    ("a row of a table with its working, under words", "q = [0.8, 0.6], k1 = [1.0, 0.2], k2 = [0.4, 0.9]\n\n| Key | Calculation | Score |\n|:--|:--|--:|\n| river | 0.8×1.0 + 0.6×0.2 | 0.92 |\n| money | 0.8×0.4 + 0.6×0.9 | 0.68 |\n", "wrong"),
    ("matrices of a head by its heading", "x₁ = [1, 2], x₂ = [0, 1]\n\n| | Head 1 | Head 2 |\n|---|---|---|\n| W_Q | [[1, 0], [0, 1]] | [[0, 1], [1, 0]] |\n| W_K | [[1, 1], [0, 1]] | [[1, 0], [1, 1]] |\n\n### Head 1\n\nQ = [[1, 2], [0, 1]]; K = [[1, 3], [0, 1]]\n\n### Head 2\n\nQ = [[2, 1], [1, 3]]\n", "wrong"),
    ("a value that is copied falsely into a weighted sum", "q = (2, 0), k1 = (1, 1), k2 = (0, 4), k3 = (1, 0), v1 = (1, 1), v2 = (2, 0), v3 = (0, 3), scaled by √2\n\nout = 0.446*(1,1) + 0.108*(2,0) + 0.446*(0,2) = (0.662, 1.338)\n", "carried"),
    ("a dot product that holds a number which was false before", "decoder state s = (2, 1)\n\ne₁ = s·h₁ = 2·1 + 1·(-1) = 3\n\ne₂ = s·h₂ = 2·0 + 1·3 = 3\n", "right"),
    ("formulas and results in columns, and shapes between them", "| step | formula | shape | result |\n|---|---|---|---|\n| 0 | `X` | (2, 2) | `[[1, 0], [2, 1]]` |\n| 1 | `W_q` | (2, 2) | `[[1, 1], [0, 1]]` |\n| 2 | `Q = X @ W_q` | (2, 2) | `[[1, 1], [2, 4]]` |\n", "wrong"),
    ("a denominator called Z", "q₁ = (1,0), q₂ = (0,1), k₁ = (2,1), k₂ = (1,0), v₁ = 1, v₂ = 2, unscaled\n\ne^2 ≈ 7.39, e^1 ≈ 2.72\nZ₁ = 7.39 + 2.72 = 10.11\ne^1 ≈ 2.72, e^0 = 1\nZ₂ = 2.72 + 1 = 4.72\nα₂₁ = 2.72/4.72 ≈ 0.576, α₂₂ = 1/4.72 ≈ 0.212\no₂ = 0.576·1 + 0.212·2 = 1.000\n", "carried"),
    ("a remark with an equals sign behind a matrix", "Q = [1 3; 0 1], K = [1 2; 1 4]\n\nS = K^T Q = [ 1 4 ; 2 11 ]      (row = key, column = query)\n", "wrong"),
    ("a table that is drawn with plus signs", "query (for \"mary\") = [1, 2], d_k = 2\n\n+-------+--------+--------+\n| token |  key   | weight |\n+-------+--------+--------+\n| mary  | [1, 1] |  0.284 |\n| had   | [2, 0] |  0.140 |\n| lamb  | [0, 2] |  0.567 |\n+-------+--------+--------+\n", "wrong"),
    ("a size called d", "Q = [[1, 1], [0, 2]], K = [[1, 0], [1, 2]]\n\nS = QKᵀ = [[1, 3], [0, 4]]\n\nS/√d = [[0.707, 2.121], [0.000, 2.282]]\n", "wrong"),
    ("weights as they would be without a scale", "Q = [[1, 2]], K = [[2, 0], [1, 1]], scaled by √2\n\n**Without scaling** the weights would be\n\n$$[0.269, 0.731]$$\n", "rounded"),
    ("numbers as they would be", "Q = [[1, 2]], K = [[2, 0], [1, 1]], scaled by √2\n\nWith other keys the weights would be\n\n$$[0.100, 0.900]$$\n", "unread"),
    ("unscaled scores that are scaled later", "Q = [[1, 2]], K = [[2, 0], [1, 1]]\n\nUnscaled scores:\n\n$$[2, 3]$$\n\nWe divide by √2 and take the softmax:\n\n$$[0.330, 0.670]$$\n", "rounded"),
    ("tokens as columns, as the numbers show", "X = [[1, 1], [0, 1]]\nW_Q = [[1, 1], [0, 1]]\nW_K = [[1, 0], [1, 1]]\n\nQ = [[1, 2], [0, 1]]\nK = [[1, 1], [1, 2]]\n\nK^T Q = [[1, 3], [1, 4]]\n", "right"),
    ("columns times weights, as the numbers show", "$x_1=\\binom{1}{0}$, $x_2=\\binom{1}{1}$, $W_Q=\\begin{pmatrix}1&1\\\\0&1\\end{pmatrix}$, $W_K=\\begin{pmatrix}1&0\\\\1&1\\end{pmatrix}$\n\n$q_1=\\binom{1}{0}$, $q_2=\\binom{2}{1}$, $k_1=\\binom{1}{1}$, $k_2=\\binom{1}{2}$\n", "right"),
    ("keys made as queries are", "$q_i = W_Q x_i$ and so on, with $x_1=\\binom{1}{0}$, $x_2=\\binom{1}{1}$, $W_Q=\\begin{pmatrix}1&1\\\\0&1\\end{pmatrix}$, $W_K=\\begin{pmatrix}1&0\\\\1&1\\end{pmatrix}$\n\n$k_2=\\binom{1}{2}$\n", "right"),
    ("columns of two as binomials", "$x_1=\\binom{1}{0}$, $x_2=\\binom{1}{1}$, $W_Q=\\begin{pmatrix}1&1\\\\0&1\\end{pmatrix}$, $q_i = W_Q x_i$\n\n$q_2=\\binom{2}{1}$\n", "right"),
    ("dot products with a full stop, side by side", "q = (1, 2)    k1 = (1, 0)   k2 = (0, 1)\n\nq.k1 = 1    q.k2 = 3\n", "wrong"),
    ("weights apart by blanks", "q = (1, 2)    k1 = (1, 0)   k2 = (0, 1)\n\nweights:  0.330  0.670\n", "rounded"),
    ("tokens called I and tea", "$q_{\\text{I}} = [1, 0]$, $q_{\\text{tea}} = [2, 2]$, $k_{\\text{I}} = [1, 0]$, $k_{\\text{tea}} = [0, 3]$\n\n$q_{tea}\\cdot k_{I} = 2$\n", "right"),
    ("a softmax of the raw scores in numbers", "Q = [[1, 2]], K = [[2, 0], [1, 1]]\n\nQ K^T = [[2, 3]]\n\nsoftmax([2, 3]) = [0.269, 0.731]\n", "rounded"),
    ("several words before a formula", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]]\n\nScaled scores Q × Kᵀ / sqrt(d_k) ≈ [[1.414, 2.121], [0.000, 0.707]]\n", "rounded"),
    ("a mask told by what a token sees", "Each token sees only itself and earlier tokens.\n\nQ = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]]\n\nA = [[1.000, 0.000], [0.330, 0.670]]\n", "rounded"),
    ("weights in per cent, set with a thin space", "$q=(1,0)$, $k_1=(1,1)$, $k_2=(0,2)$, $v_1=(1,2)$, $v_2=(3,4)$\n\n$$\\alpha = 67.0\\,\\%,\\quad 33.0\\,\\%$$", "rounded"),
    ("a name that is a word of one letter, in quotes", "W_Q = [[1, 1], [0, 1]], W_K = [[0, 1], [1, 0]]\n\n- x(\"I\") = [1, 0]\n- x(\"go\") = [0, 2]\n\n- **Q(\"I\")** = [1, 1]\n- **Q(\"go\")** = [0, 2]\n\n- **K(\"I\")** = [0, 1]\n", "right"),
    ("a name that cannot be read", "W_Q = [[1, 1], [0, 1]]\n\n- x_1 = [1, 0]\n- q_1 = x_1 W_Q = [1, 1]\n- ???(\"I\") = [5, 7]\n", "unread"),
    ("words that are vectors", "The embeddings are\n\n- dogs = [1, 2]\n- chase = [0, 1]\n- cats = [3, 1]\n\nand we use them directly as queries, keys and values.\n\n- dogs · cats = 1×3 + 2×1 = 6\n", "wrong"),
    ("a false product of words, used in a sentence", "The embeddings are\n\n- dogs = [1, 2]\n- chase = [0, 1]\n- cats = [3, 1]\n\nand we use them directly as queries, keys and values.\n\n- dogs · dogs = 5\n- dogs · chase = 2\n- dogs · cats = 6\n\nWe divide by √2, which gives 3.54, 1.41 and 4.24.\n", "carried"),
    ("matrices side by side without brackets", "```\nQ = 1 0    K = 1 1\n    0 1        0 2\n```\n\nScores [[1, 0], [1, 3]].\n", "wrong"),
    ("weights in a sentence", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\nFor the first row the weights are 0.67 and 0.33 after the softmax.\n", "rounded"),
    ("weights that arrows point to", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\nSoftmax: the → 67%, cat → 33%\n", "rounded"),
    ("words before lists in a row", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\nScores [[1, 0], [1, 2]], scaled [[0.71, 0.00], [0.71, 1.41]], after softmax [[0.67, 0.33], [0.33, 0.57]].\n", "wrong"),
    ("a false sum of exact products", "q_1 = [0.3, 0.6], k_1 = [0.9, 0.1], k_2 = [0.2, 0.2]\n\nq_1·k_1 = [0.3, 0.6]·[0.9, 0.1] = (0.3 × 0.9) + (0.6 × 0.1) = 0.27 + 0.06 = 0.39\n", "wrong"),
    ("scores of words over several lines", "```\nQuery(\"ate\")  = [0.3, 0.6]\nKey(\"Cat\")    = [0.8, 0.2]\nKey(\"mouse\")  = [0.9, 0.1]\n\nScore(\"ate\" → \"Cat\") = Query(\"ate\") · Key(\"Cat\")\n    = [0.3, 0.6] · [0.8, 0.2]\n    = 0.36\n\nScore(\"ate\" → \"mouse\") = Query(\"ate\") · Key(\"mouse\")\n    = [0.3, 0.6] · [0.9, 0.1]\n    = 0.39\n```\n", "wrong"),
    ("a false number that is typed on", "q_1 = [0.3, 0.6], k_1 = [0.9, 0.1], k_2 = [0.2, 0.2]\n\nq_1·k_1 = 0.27 + 0.06 = 0.39\n\n0.39 / 1.414 = 0.276\n", "carried"),
    ("a false number that is also a good one", "q_1 = [0.3, 0.6], k_1 = [0.9, 0.1], k_2 = [0.2, 0.2]\n\nq_1·k_1 = 0.27 + 0.06 = 0.18\n\nq_1·k_2 = 0.18\n\n0.18 + 0.02 = 0.20\n", "right"),
    ("a false total of exponentials, divided by", "$q=(1,1)$, $k_1=(1,0)$, $k_2=(1,2)$, scaled by $\\sqrt2$: $0.707$, $2.121$\n\n$e^{0.707}=2.028$, $e^{2.121}=8.339$, $2.028+8.339=11.367$\n\n$\\alpha_1=\\frac{2.028}{11.367}=0.178$\n", "carried"),
    ("a column of exponentials, one false", "$q=(1,0)$, $k_1=(1,1)$, $k_2=(0,2)$\n\n| key | exp | weight |\n|---|---|---|\n| 1 | 2.208 | 0.688 |\n| 2 | 1.000 | 0.312 |\n", "carried"),
    ("rows of a matrix as items of a list", "X:\n  - [1, 1]\n  - [2, 0]\n  - [3, 5]\nW_Q:\n  - [1, 4]\n  - [2, 1]\nQ:\n  - [3, 5]\n  - [2, 8]\n  - [13, 16]\n", "wrong"),
    ("values between commas", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\nweights\n\n```csv\n,the,cat\nthe,0.670,0.330\ncat,0.330,0.770\n```\n", "wrong"),
    ("a row that a false row leaves alone", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]], V = [[300, 0], [0, 200]]\n\nweights\n\n$$[[0.670, 0.330], [0.430, 0.670]]$$\n\nRow 1 of the output:\n\n$$[201.0, 66.0]$$\n", "drifted"),
    ("a vector times a matrix after a label", "Wk = [[1, 1], [0, 1]], x1 = [1, 1]\n\nman: [1,1] · Wk = [1, 2]\n", "right"),
    ("scores below words that name no matrix", "Each colour has an embedding: red = [2, 1, 0], green = [1, 4, 5], blue = [4, 2, 1]. There are no projections, so Q = K = V = X.\n\nRaw scores:\n\n| | red | green | blue |\n|---|---|---|---|\n| red | 5 | 6 | 10 |\n| green | 6 | 43 | 17 |\n| blue | 10 | 17 | 21 |\n", "wrong"),
    ("a false product of a query and a key that are typed out", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\ngo→go: [1, 0]·[1, 1] = 1\ngo→on: [1, 0]·[0, 2] = 0\non→go: [0, 1]·[1, 1] = 1\non→on: [0, 1]·[0, 2] = 3\n\nscaled by √2:\n\n$$[[0.71, 0.00], [0.71, 2.12]]$$\n", "carried"),
    ("entries by their index, in a fence that is no Python", "X = [[1, 0], [0, 2]], Q = X, K = X\n\n```python\nscores[0][0] = [1, 0] · [1, 0] = 1\nscores[0][1] = [1, 0] · [0, 2] = 0\nscores[1][1] = [0, 2] · [0, 2] = 5\n```\n", "wrong"),
    ("rows by their index", "X = [[1, 0], [0, 2]], Q = X, K = X\n\nweights[0] = [0.670, 0.330]\nweights[1] = [0.056, 0.844]\n", "wrong"),
    ("what follows from a false step", "(1·1 + (-1)·2)/√2 = 1/√2 = 0.707\n", "carried"),
    ("a step between whole numbers", "(1·1 + (-1)·2)/√2 = -1/√2 = -0.707\n", "rounded"),
    ("a word beside a name", "q = [1, -1]\n\n- k1 (\"le\") = [1, 2]\n- k2 (\"chat\") = [3, 1]\n- k3 (\"noir\") = [2, 1]\n\nweights: [0.074, 0.620, 0.360]\n", "wrong"),
    ("a number for each word, in items", "Q = [[1, 0], [0, 1], [1, 1]], K = [[1, 1], [0, 2], [2, 0]]\n\nThe attention weights of \"the\" are:\n\n- **the**: 28.4 %\n- **black**: 14.0 %\n- **cat**: 67.6 %\n", "wrong"),
    ("a number for each word in quotes", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\nattention weights of the second:\n\n\"the\": 0.33\n\"cat\": 0.67\n", "rounded"),
    ("settings in items", "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\nThe weights are trained with\n\n- rate: 0.01\n- dropout: 0.10\n", "unread"),
    ("queries and keys in pairs", "| case | q | k | score |\n|---|---|---|---|\n| 1 | [1, 2] | [3, 1] | 5 |\n| 2 | [0, 1] | [2, 2] | 2 |\n| 3 | [2, -1] | [1, 4] | -2 |\n| 4 | [1, 1] | [1, 1] | 2 |\n", "right"),
    ("a console's answer", REPL + ">>> s\narray([[1., 0.],\n       [1., 2.]])\n```\n", "right"),
    ("a console's answer, altered", REPL + ">>> s\narray([[1., 0.],\n       [1., 3.]])\n```\n", "wrong"),
    ("scores over a matrix of lengths that cannot be read", "$Q=[[3, 4]]$, $K=[[4, 3], [0, 5]]$\n\n$$S=\\frac{QK^\\top}{5\\begin{bmatrix}\\sqrt{K\\left[1\\right]K\\left[1\\right]^\\top}&5\\end{bmatrix}}=[[0.96, 0.8]]$$\n", "unread"),
    ("a weight times a value", "Weights $\\alpha=(0.2,0.5,0.3)$, values $v_1=(4,1)$, $v_2=(2,2)$, $v_3=(1,5)$.\n\n$\\alpha_3v_3=(0.3,1.8)$\n", "wrong"),
    ("weights that follow from false scores without a name", "$Q=\\begin{bmatrix}1&1\\\\2&0\\end{bmatrix}$, $K=\\begin{bmatrix}1&3\\\\2&4\\\\0&5\\end{bmatrix}$\n\n$QK^T=\\begin{bmatrix}4&6&6\\\\2&4&0\\end{bmatrix}$\n\nThe weights are $\\begin{bmatrix}0.063&0.468&0.468\\\\0.117&0.867&0.016\\end{bmatrix}$.\n", "carried"),
    ("a remark in the last column of a table", "$Q=\\begin{bmatrix}3&1\\\\1&2\\end{bmatrix}$, $K=\\begin{bmatrix}1&2\\\\2&2\\end{bmatrix}$\n\n| entry | work | value | check |\n|--|--|--|--|\n| $q_1\\cdot k_1$ | $3\\cdot1+1\\cdot2$ | 5 | ✓ |\n| $q_2\\cdot k_1$ | $1\\cdot1+2\\cdot2$ | 6 | ✗ |\n", "wrong"),
    ("an arrow to another quantity", "$Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, causal mask\n\n$$\\frac{QK^\\top}{\\sqrt2}=\\begin{bmatrix}0.707&0.707\\\\0.707&1.414\\end{bmatrix}\\;\\to\\;\\text{mask}\\;\\to\\;A=\\begin{bmatrix}1.000&0.000\\\\0.330&0.670\\end{bmatrix}$$\n", "rounded"),
    ("a softmax with a letter below it", "$K=\\begin{bmatrix}1&0&2\\\\1&1&0\\end{bmatrix}$, $q=\\begin{bmatrix}2\\\\1\\end{bmatrix}$, $\\beta=\\frac{1}{\\sqrt2}$\n\n$a=\\mathrm{softargmax}_\\beta(K^\\top q)=\\begin{bmatrix}0.306\\\\0.074\\\\0.620\\end{bmatrix}$\n", "rounded"),
    ("another d_k, spoken of in general", "$Q=\\begin{bmatrix}10&0\\\\0&8\\end{bmatrix}$, $K=\\begin{bmatrix}10&1\\\\1&9\\end{bmatrix}$. Scaling by $\\sqrt2$ gives $\\begin{bmatrix}70.71&7.07\\\\5.66&50.91\\end{bmatrix}$.\n\nFor $d_k=64$ the standard deviation is $\\sqrt{64}=8$.\n", "right"),
    ("valid lengths", "valid_lens = [2, 3]. $Q=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\2&0\\\\0&3\\end{bmatrix}$\n\nOnly two keys count, so the weights are $\\begin{bmatrix}0.330&0.670&0.000\\\\0.670&0.330&0.000\\end{bmatrix}$.\n", "rounded"),
    ("a mask that cannot be causal", "Masked attention. $Q=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\2&0\\\\0&3\\end{bmatrix}$\n\nThe weights are $\\begin{bmatrix}0.284&0.576&0.140\\\\0.178&0.088&0.734\\end{bmatrix}$.\n", "rounded"),
    ("a hat tells weights from scores", "$q^1=(1,0)$, $k^1=(1,1)$, $k^2=(0,2)$, $v^1=(1,2)$, $v^2=(3,4)$\n\n$\\alpha_{1,1}=q^1\\cdot k^1/\\sqrt2=0.707$, $\\alpha_{1,2}=q^1\\cdot k^2/\\sqrt2=0.000$\n\n$\\hat\\alpha_{1,1}=0.670$, $\\hat\\alpha_{1,2}=0.330$\n\n$b^1=\\hat\\alpha_{1,1}v^1+\\hat\\alpha_{1,2}v^2=(1.660, 2.660)$\n", "rounded"),
    ("a hat that is always there", "$\\hat Q=[[1, 0]]$, $\\hat K=[[1, 1], [0, 2]]$\n\n$\\hat Q\\hat K^\\top=[[1, 1]]$\n", "wrong"),
    ("tokens compared as they are", "$x^{(1)}=[1, 0]$, $x^{(2)}=[0.5, 1]$, $x^{(3)}=[0, 2]$, $\\omega_{2,i}=x^{(2)}\\cdot x^{(i)}$\n\n$\\alpha_{2,1}=0.132$, $\\alpha_{2,2}=0.279$, $\\alpha_{2,3}=0.599$\n", "wrong"),
    ("weights over earlier tokens", "$\\alpha_{ij}=\\mathrm{softmax}(\\text{score}(x_i,x_j))\\ \\forall j\\le i$ with $\\text{score}(x_i,x_j)=x_i\\cdot x_j$. Let $x_1=(1,1,0)$, $x_2=(0,1,1)$, $x_3=(1,0,1)$.\n\n$\\alpha_{21}=0.269$, $\\alpha_{22}=0.731$\n", "rounded"),
    ("scores that are dot products of the tokens", "x1 = [1, 0], x2 = [0.5, 1], no scaling\n\nscores = [[1, 0.5], [0.5, 1.25]]\n\nattention weights = [[0.622, 0.378], [0.321, 0.679]]\n\ncontext vectors = [[0.811, 0.378], [0.660, 0.769]]\n", "wrong"),
    ("a word that is a name further up", "q = [[1, 0], [1, 1]]\nk = [[1, 2], [0, 1]]\nv = [[1, 0], [0, 2]]\n\nwei = q k^T / sqrt(2) = [[0.707, 0.000], [2.121, 0.707]]\n\nwei = softmax(wei) = [[0.670, 0.330], [0.804, 0.196]]\n\nout = wei v = [[0.670, 0.660], [0.804, 0.391]]\n", "rounded"),
    ("the softmax of a formula is not the formula", "$X=\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix}$, $\\Omega_q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $\\Omega_k=\\begin{bmatrix}0&1\\\\1&0\\end{bmatrix}$, $Q=\\Omega_qX=\\begin{bmatrix}1&0\\\\3&1\\end{bmatrix}$, $K=\\Omega_kX=\\begin{bmatrix}2&1\\\\1&0\\end{bmatrix}$\n\nAttention (softmax of each column of $K^TQ/\\sqrt2$):\n\n$$\\begin{bmatrix}0.944&0.670\\\\0.056&0.330\\end{bmatrix}$$\n", "rounded"),
    ("values times a softmax", "$Q=\\begin{bmatrix}2&1\\\\3&1\\end{bmatrix}$, $K=\\begin{bmatrix}2&1\\\\1&0\\end{bmatrix}$, $V=\\begin{bmatrix}3&1\\\\3&2\\end{bmatrix}$\n\n$V\\,\\mathrm{softmax}(K^TQ)=\\begin{bmatrix}2.987&2.762\\\\2.993&2.881\\end{bmatrix}$\n", "rounded"),
    ("keys of a group have numbers of their own", "X = [[1, 1], [0, 2]]\nW_Q1 = [[1], [0]], W_Q2 = [[0], [1]], W_Q3 = [[1], [1]], W_Q4 = [[1], [-1]]\nW_K1 = [[1], [0]], W_K2 = [[0], [1]]\nW_V1 = [[2], [0]], W_V2 = [[0], [3]]\n\nK_1 = [[1], [0]]\nK_2 = [[1], [2]]\n", "right"),
    ("a head of the second group", "X = [[1, 1], [0, 2]]\nW_Q1 = [[1], [0]], W_Q2 = [[0], [1]], W_Q3 = [[1], [1]], W_Q4 = [[1], [-1]]\nW_K1 = [[1], [0]], W_K2 = [[0], [1]]\nW_V1 = [[2], [0]], W_V2 = [[0], [3]]\n\nA_3 = softmax(Q_3 K_2^T) = [[0.119, 0.881], [0.119, 0.818]]\n", "wrong"),
    ("a number sign before a problem", "#3 (8pts) Q = $\\begin{bmatrix}.5&1.0\\end{bmatrix}$, K = $\\begin{bmatrix}.3&.7\\\\.9&.1\\end{bmatrix}$\n\n$QK^T=\\begin{bmatrix}.85&.45\\end{bmatrix}$ 2/2\n", "wrong"),
    ("cosines with a temperature", "$s_i=\\frac{q\\cdot k_i}{\\|q\\|\\,\\|k_i\\|}$, $\\alpha=\\mathrm{softmax}(s/\\tau)$, $\\tau=0.1$. Cosine attention: $q=(3,4)$, $k_1=(4,3)$, $k_2=(0,5)$\n\n$\\alpha=(0.832, 0.168)$\n", "rounded"),
    ("rows worked out a line each", "Q = [[1, 0], [1, 1]], K = [[1, 2], [0, 1]], scaled by sqrt(2)\n\nRow 1: [0.71, 0.00] → [0.67, 0.33]\nRow 2: [2.12, 0.71] → [0.20, 0.80]\n", "wrong"),
    ("tokens counted from 0", "q_0 = [1, 0], q_1 = [1, 1], k_0 = [1, 2], k_1 = [0, 1], v_0 = [1, 0], v_1 = [0, 2], scaled by sqrt(2)\n\na_00 = 0.670, a_01 = 0.330, a_10 = 0.804, a_11 = 0.196\n", "rounded"),
    ("tokens counted from 0, with a slip", "q_0 = [1, 0], q_1 = [1, 1], k_0 = [1, 2], k_1 = [0, 1], v_0 = [1, 0], v_1 = [0, 2], scaled by sqrt(2)\n\no_0 = [0.670, 0.660], o_1 = [0.804, 0.932]\n", "wrong"),
    ("rows counted from 0", "Q = [[1, 0], [1, 1]], K = [[1, 2], [0, 1]], scaled by sqrt(2)\n\nRow 0 of the weights: [0.670, 0.330]\n\nRow 1 of the weights: [0.804, 0.169]\n", "wrong"),
    ("weights by a sum that is wrong", "$q=(1,2)$, $k_1=(1,0)$, $k_2=(0,1)$, $k_3=(1,1)$, no scaling. $s_1=1$, $s_2=2$, $s_3=3$\n\nSum = 2.718 + 7.389 + 20.086 = 31.193\n\nWeights: [0.087, 0.237, 0.644]\n", "carried"),
    ("weights by an exponential that is wrong", "$q=(1,2)$, $k_1=(1,0)$, $k_2=(0,1)$, $k_3=(1,1)$, no scaling. $s_1=1$, $s_2=2$, $s_3=3$\n\n| $j$ | $e^{s_j}$ | $\\alpha_j$ |\n|--|--|--|\n| 1 | 2.718 | 0.089 |\n| 2 | 7.839 | 0.256 |\n| 3 | 20.086 | 0.655 |\n", "carried"),
    ("several states that attend", "$h_1=(1,0)$, $h_2=(0,1)$. Step 1, $s_1=(2,0)$: $\\alpha_{1,1}=0.881$\n\nStep 2, $s_2=(0,3)$: $\\alpha_{2,1}=0.047$, $c_2=(0.047, 0.935)$\n", "wrong"),
    ("states that attend one step later", "$h_1=(1,0)$, $h_2=(0,1)$, $s_1=(2,0)$, $s_2=(0,3)$\n\n$e_{2,1}=s_1^\\top h_1=2$, $\\alpha_{2,1}=0.881$\n", "right"),
    ("a query that is worked out anew", "$q=(1,2)$, $k_1=(1,0)$, $k_2=(0,1)$\n\n$q^{new}=G^\\top\\mathrm{softmax}(Gq)=(0.3, 0.7)$\n", "unread"),
    ("the matrices of a feed-forward layer are no heads", "$X=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $W_Q=W_K=W_V=I$, $W_1=\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix}$, $W_2=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$\n\n$A=\\begin{bmatrix}0.67&0.33\\\\0.33&0.76\\end{bmatrix}$\n", "wrong"),
    ("a further example whose queries look like the last one's", "**1.** $Q=\\begin{bmatrix}2&0\\\\3&3\\end{bmatrix}$, $K=\\begin{bmatrix}3&-1\\\\3&1\\end{bmatrix}$. Answer: $QK^T=\\begin{bmatrix}6&6\\\\6&12\\end{bmatrix}$.\n\n**2.** $Q=\\begin{bmatrix}3&3\\\\3&3\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$. Answer: $QK^T=\\begin{bmatrix}6&3\\\\6&3\\end{bmatrix}$.\n", "right"),
    ("one query of several is followed", "$$x_{\\text{the}}=\\binom{1}{2},\\; x_{\\text{cat}}=\\binom{0}{1},\\; W_q=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix},\\; W_k=\\begin{bmatrix}2&0\\\\1&1\\end{bmatrix}$$\n\n$q_{\\text{cat}}=W_qx_{\\text{cat}}=\\binom{1}{2}$, $k_{\\text{the}}=W_kx_{\\text{the}}=\\binom{2}{3}$, $k_{\\text{cat}}=\\binom{0}{1}$, divided by $\\sqrt2$\n\n$\\alpha_{\\text{the}}=0.986$, $\\alpha_{\\text{cat}}=0.140$\n", "wrong"),
    ("a token that is shown before the next one is given", "$W_Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$\n\n$x_1=(2,1)$: $q_1=(3,2)$\n\n$x_2=(0,1)$\n", "wrong"),
    ("a word for a name above a grid after a slip", "Q =\n  [ 1 2 ]\n  [ 1 2 ]\n  [ 3 1 ]\n\nWk =\n  [ 0 1 ]\n  [ 1 0 ]\n  [ 1 0 ]\n\nX =\n  [ 1 2 0 ]\n  [ 0 1 1 ]\n  [ 2 0 1 ]\n\nK = X Wk =\n  [ 2 1 ]\n  [ 1 0 ]\n  [ 1 2 ]\n\nscores = Q K^T =\n  [ 4 1 5 ]\n  [ 4 1 5 ]\n  [ 7 3 5 ]\n\nDivide by sqrt(2) and take the softmax\n\nweights =\n  [ 0.32 0.04 0.64 ]\n  [ 0.32 0.04 0.64 ]\n  [ 0.77 0.05 0.19 ]\n", "carried"),
    ("the columns of a matrix by name", "Tokens are columns. $$X=[x_1\\ x_2\\ x_3]=\\begin{bmatrix}1&0&2\\\\0&1&1\\end{bmatrix},\\quad W_q=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$$\n\n$Q=W_qX=\\begin{bmatrix}1&2&4\\\\0&1&2\\end{bmatrix}$\n", "wrong"),
    ("attention as a function, after a slip", "$Q=\\begin{bmatrix}3&2\\\\1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\1&2\\\\2&3\\end{bmatrix}$, $V=\\begin{bmatrix}2&0\\\\2&1\\\\4&1\\end{bmatrix}$\n\n$QK^T=\\begin{bmatrix}5&7&12\\\\2&3&5\\end{bmatrix}$\n\n$A=\\text{softmax}(QK^T/\\sqrt2)=\\begin{bmatrix}0.893&0.944&0.993\\\\0.107&0.056&0.007\\end{bmatrix}$\n\n$$\\text{Attention}(Q,K,V)\\approx\\begin{bmatrix}7.646&1.937\\\\0.354&0.063\\end{bmatrix}$$\n", "carried"),
    ("a feature map is no query", "Linear attention with $\\phi(x)=\\max(x,0)$. $Q=\\begin{bmatrix}1&2\\\\2&-1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\3&1\\end{bmatrix}$\n\n$\\phi(Q)=\\begin{bmatrix}1&2\\\\2&0\\end{bmatrix}$\n", "right"),
    ("weights of an attention that is not understood, and what they give", "Linear attention. $Q=\\begin{bmatrix}1&2\\\\2&-1\\end{bmatrix}$, $K=\\begin{bmatrix}1&1\\\\3&1\\end{bmatrix}$, $V=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}$\n\n$A=\\begin{bmatrix}0.375&0.625\\\\0.25&0.75\\end{bmatrix}$\n\n$AV=\\begin{bmatrix}0.375&1.375\\\\0.25&1.25\\end{bmatrix}$\n", "drifted"),
    ("a name that is assigned anew", REPL + ">>> s = s / 2\n>>> s\narray([[0.5, 0. ],\n       [0.5, 1. ]])\n```\n", "right"),
    ("a mask of -1e9", "Q = [[1, 0], [0, 1]], K = [[1, 0], [1, 1]], scaled by √2\n\nCausal mask:\n\n[[0.7071, -1e9], [0.0, 0.7071]]\n", "rounded"),
    ("the exponential of a mask", "q = [1, 0], k1 = [1, 0], k2 = [1, 1]\n\nexp(-1e9) ≈ 0\n", "rounded"),
    ("a change is no equation", "q = [1, 0], k1 = [1, 0], k2 = [1, 1], no scaling\n\nq · k1 = 1\n\nthe top weight jumps 0.506 → 0.665\n", "unread"),
    ("flat weights that nothing names", "Q = [[0.20, 0.68], [0.55, 0.26], [0.37, 0.66]], K = [[0.38, 0.38], [0.66, -0.04], [0.56, 0.30]]\n\nFor the third word:\n\n[0.35, 0.30, 0.36]\n", None),
    ("keys under a caption, a word before each", "Each token has an embedding:\ntea → [1, 0]\ncup → [0, 2]\n\nWq = [[1, 0], Wk = [[1, 1],\n[0, 1]] [0, 1]]\n\nQuery vectors:\ntea → [1, 0]\ncup → [0, 2]\n\nKey vectors:\ntea → [1, 1]\ncup → [0, 3]\n", "wrong"),
    ("weights under a caption, a query before each", "Q = [[1, 2], [1, 0]], K = [[2, 0], [1, 1]], scaled by √2\n\nWeights:\n\nq1 → [0.330, 0.670]\nq2 → [0.670, 0.303]\n", "wrong"),
    ("numbers of words", "q = [1, 0], k1 = [1, 0], k2 = [1, 1], no scaling\n\nq · k1 = 1\n\nEmma → 314\nthanked → 982\n", "unread"),
    ("a listing with its line numbers", "1Q = [[1, 2], [0, 1]]\n2K = [[2, 0], [1, 1]]\n3d_k = 2\n4S = Q K^T = [[2, 3], [0, 2]]\n", "wrong"),
    ("numbers over their own sum", "Q = [[1, 2]], K = [[2, 0], [1, 1]], no scaling\n\nsoftmax = [e^2, e^3] / sum ≈ [0.27, 0.83]\n", "wrong"),
    ("shares of a total", "Apply softmax to the logits 2, 1 and 0.\n\ne^2 = 7.39, e^1 = 2.72, e^0 = 1.00, sum = 11.11. Probabilities are about [0.665, 0.245, 0.190].\n", "wrong"),
    ("shares of another total", "e^2 = 7.39, e^1 = 2.72, sum = 11.11. Probabilities are about [0.665, 0.245].\n", "rounded"),
    ("rows with words behind them", "K = [[2, 0], [1, 1]]\nQ = [ [1, 2],     tea\n      [0, 1] ]     cup\n\nQ K^T = [ [2, 3],     row 1: tea with both\n          [0, 2] ]\n", "wrong"),
    ("softmax of scores that have another name", "Let Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]].\n\nscores = [[2, 3], [0, 1]]\nscaled scores = [[1.414, 2.121], [0, 0.707]]\nsoftmax(S) = [[0.330, 0.670], [0.330, 0.670]]\n", "rounded"),
    ("sizes behind what they are of", "X = [[1, 0], [0, 1], [1, 1]]      (3, 2)\nWv = [[1, 0], [0, 2]]\n\nV = X·Wv = [[1, 0], [0, 2], [1, 2]]      (3, 2)\n", "right"),
    ("two listings with their line numbers", "1Q = [[1, 2], [0, 1]]\n2K = [[2, 0], [1, 1]]\n1d_k = 2\n2scores[1][0] = [0, 1] · [2, 0] = 0\n3scores[1][1] = [0, 1] · [1, 1] = 1\n", "right"),
    ("shares of the next row", "Q = [[2, 0], [0, 2], [1, 1]], K = [[1, 0], [0, 1], [0.5, 0.5]], no scaling\n\n```\nRow 1: softmax([2.0, 0.0, 1.0])\n  e^2 = 7.389, e^0.0 = 1.0, e^1 = 2.718\n  sum = 11.107\n  = [0.665, 0.090, 0.245]\n\nRow 2: softmax([0.0, 2.0, 1.0])\n  = [0.090, 0.665, 0.245]\n```\n", "rounded"),
    ("sizes that fit", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]]\n\nQ K^T = [[2, 3], [0, 1]]\n\nMultiply to get $(2 \\times 2) \\times (2 \\times 2) = 2 \\times 2$. W X: (2×3)(3×4) = 2×4.\n", "right"),
    ("points beside a question", "$x_1=(1,0)$, $x_2=(0,1)$, $W^Q=\\begin{pmatrix}1&0\\\\0&1\\end{pmatrix}$, $W^K=\\begin{pmatrix}1&1\\\\0&2\\end{pmatrix}$\n\nb) Scores (3 P.)\n\n| | $k_1$ | $k_2$ |\n|---|---|---|\n| $q_1$ | 1 | 0 |\n| $q_2$ | 1 | 2 |\n", "right"),
    ("additive scores with a parameter that cannot be read", "$s=(1,0)^\\top$, $h_1=(1,0)^\\top$, $h_2=(0,1)^\\top$, $v=(1,1)^\\top$, $W=I_2$, $U=J$\n\n$e_i=v^\\top\\tanh(W s+U h_i)$\n\n$\\alpha_1 = 0.3$\n", "unread"),
    ("additive scores with identity matrices", "$s=(1,0)^\\top$, $h_1=(1,0)^\\top$, $h_2=(0,1)^\\top$, $v=(1,1)^\\top$, $W=I_2$, $U=\\tfrac12 I_2$\n\n$e_i=v^\\top\\tanh(W s+U h_i)$\n\n$\\alpha_1 = 0.4210$\n", "rounded"),
    ("a second head under a heading of its own", HEADS + MORE + "Concat(head1, head2) = [[1.660, 2.660, 0.670, 0.330], [2.340, 3.340, 0.330, 0.670]]\n", "rounded"),
    ("another example with the same names", TWO + "the weights are $\\begin{bmatrix}0.500&0.500\\end{bmatrix}$.\n", "rounded"),
    ("a softmax of numbers alone", "softmax([2.12, 0.71]) = [0.75, 0.25]\n", "wrong"),
    ("a weight among its siblings in a table", TABLE.format("0.209"), "wrong"),
    ("weights of one query in a table", TABLE.format("0.101"), "rounded"),
    ("names of words", "q(it) = [1, 2]\nk(dog) = [1, 1]\n\nscore(it, dog) = 1*1 + 2*1 = 4\n", "wrong"),
    ("a false score in a chain with the right working", COLUMNS + "e_{12} &= q_1^\\top k_2 = 1\\cdot 0 + 0\\cdot 2 = 2\n\\end{align*}\n$\\alpha_{11}\\approx 0.330$\n", "carried"),
    ("scores by the cosine", "$s_i=\\frac{q\\cdot k_i}{\\|q\\|\\,\\|k_i\\|}$ with $q=(3,4)$, $k_1=(4,3)$, $k_2=(0,5)$\n\n$\\alpha_1=0.54$\n", "rounded"),
    ("a bias that is not given", "$$S=\\begin{bmatrix}2&1\\\\1&2\\end{bmatrix}$$\n\nmasked:\n\n$$S+B=\\begin{bmatrix}2&-\\infty\\\\0.5&2\\end{bmatrix}$$\n", "unread"),
    ("an earlier print that a grader corrected", GRADED, "carried"),
    ("a comment that shows a value", CODE + "# S = [[0.5, 0.0], [0.5, 1.0]]\n```\n", "right"),
    ("a comment that shows a false value", CODE + "# -> [[0.5, 0.0], [0.5, 2.0]]\n```\n", "wrong"),
    ("a comment that shows what is made of a name assigned anew", CODE + "A = np.exp(S) / np.exp(S).sum(-1, keepdims=True)  # [[0.622, 0.378], [0.378, 0.622]]\n```\n", "rounded"),
    ("matrices side by side", "```\nQ = [[1, 0],    K = [[1, 1],\n     [0, 1]]         [0, 2]]\n```\n\n$QK^\\top=\\begin{bmatrix}1&0\\\\1&3\\end{bmatrix}$\n", "wrong"),
    ("a list of decimals", "q = [1, 0]; k1 = [1, 1], k2 = [0, 2]\n\nweights: 0.67, 0.33\n", "rounded"),
    ("a root in two decimals, used at once", "q = [1, 0, 2]; k1 = [0, 1, 1], k2 = [2, 0, 1]\n\ndivide by √3 ≈ 1.73: 1.16, 2.31\n", "drifted"),
    ("per cent without the sign", "$q=(1,1)$, $k_1=(2,0)$, $k_2=(0,1)$, $k_3=(1,1)$\n\n| word | weight in % |\n|---|---|\n| cat | 40.1 |\n| eats | 19.8 |\n| fish | 40.1 |\n", "rounded"),
    ("two masks on the same scores", MASKS + "$$\\mathrm{softmax}(S_{\\text{pad}})=\\begin{bmatrix}0.269&0.731&0\\\\0.881&0.119&0\\\\0.269&0.731&0\\end{bmatrix}$$\n", "rounded"),
    ("a false quotient of numbers that is a scaled score", "$q=(2,1,0)$, $k_1=(1,0,2)$, $k_2=(0,3,1)$, divided by $\\sqrt3\\approx1.732$:\n\n$2/1.732=1.155$, $3/1.732=1.372$\n\n$\\alpha=(0.446, 0.554)$\n", "carried"),
    ("weights that only an unscaled softmax gives", "$q=(1,2)$, $k_1=(1,0)$, $k_2=(0,1)$, $v_1=(6,0)$, $v_2=(0,6)$\n\nweights: 0.269, 0.731\n\nThe output is $(1.61, 4.39)$.\n", "rounded"),
    ("a matrix given anew, zeros where they were", "$X=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, before: $W_Q=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$\n\n$Q=XW_Q=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$\n\nafter: $W_Q=\\begin{bmatrix}2&0\\\\0&2\\end{bmatrix}$\n\n$Q=XW_Q=\\begin{bmatrix}2&0\\\\0&2\\end{bmatrix}$\n", "right"),
    ("scores s_1, s_2 of one query", "$q=(1,-1,2)$, $k_1=(0,1,1)$, $k_2=(2,1,0)$, $k_3=(4,1,5)$, $k_4=(7,2,3)$\n\nThe raw scores are $s_1=1$, $s_2=1$, $s_3=13$, $s_4=12$.\n", "wrong"),
    ("decimal commas in numbered paragraphs", "q = (1; 2), k₁ = (2; 0), k₂ = (1; 1), v₁ = (4; 2), v₂ = (0; 6)\n\n1.1 Escala: 2/√2 ≈ 1,41 e 3/√2 ≈ 2,12\n\n1.2 Saída: z = α₁v₁ + α₂v₂ ≈ (2,66; 4,02)\n", "wrong"),
    ("the rows of a matrix by name", "$$Q=\\begin{pmatrix}q_1^\\top\\\\q_2^\\top\\end{pmatrix}=\\begin{pmatrix}1&0\\\\1&1\\end{pmatrix},\\quad K=\\begin{pmatrix}1&2\\\\0&1\\end{pmatrix}$$\n\n$QK^\\top=\\begin{pmatrix}1&0\\\\3&2\\end{pmatrix}$\n", "wrong"),
    ("a formula with a function that attention does not have", "The weights are $a=(0.7, 0.2, 0.1)$ and the values $v=(10, 20, 30)$.\n\n$H=-\\sum_i a_i\\log_2 a_i\\approx1.157$\n", "rounded"),
    ("what is shown before something is given", "Scores: $s=(2, 1, 0, 3)$. Dense softmax gives $(0.237, 0.087, 0.032, 0.644)$.\n\nKeep two: $s'=(2,-\\infty,-\\infty,3)$. Then $a'=\\mathrm{softmax}(s')=(0.269, 0.000, 0.000, 0.731)$.\n", "rounded"),
    ("a step that knows nothing of the next token", "$W_Q=I_2$, $W_K=I_2$, $W_V=I_2$\n\nStep 1: $x_1=(1,0)$, $z_1=(1,0)$.\n\nStep 2: $x_2=(0,1)$, $z_2=(0.330, 0.670)$.\n\nStep 3: $x_3=(2,2)$.\n", "rounded"),
    ("weights by a sigmoid", "With scores $S=\\begin{bmatrix}0&2\\\\-1&1\\end{bmatrix}$:\n\n$$A=\\sigma(S)=\\begin{bmatrix}0.500&0.881\\\\0.269&0.731\\end{bmatrix}$$\n", "rounded"),
    ("a sum in words", f"{SUMS}The sum of the exponentials is $14.84$.\n", "wrong"),
    ("a sum in a list", f"{SUMS}- Sum: 14.48\n", "rounded"),
    ("a sum of exponentials of which one is written once", "$q=(1,0)$, $k_1=(1,2)$, $k_2=(0,1)$, $k_3=(1,1)$, divided by $\\sqrt 2$\n\n$e^{0.71}\\approx 2.03$, $e^0=1$, so the sum is $5.06$\n", "right"),
    ("weights after an arrow and a sum", "Q = [1, 2], K = [[1, 0], [0, 1], [1, 1]]\n\nSoftmax of the scaled scores:\n  e^0.707 = 2.028, e^1.414 = 4.112, e^2.121 = 8.339, sum = 14.479\n  -> weights 0.140, 0.284, 0.567\n", "wrong"),
    ("a sentence after a number", "q = [1, 2], k1 = [1, 0], k2 = [0, 1]\n\nScores: q·k1 = 1, q·k2 = 3. Scaled by the root they are smaller.\n", "wrong"),
    ("cumulative sums in the capital letters of given weights", "Rows $a = (0.5, 0.3, 0.2)$ and $b = (0.2, 0.3, 0.5)$ are given.\n\nThe cumulative sums are $A = (0.5, 0.8, 1)$.\n", None),
    ("the earth mover's distance as a function", "Earth mover's distance of $a = (0.5, 0.3, 0.2)$ and $b = (0.2, 0.3, 0.5)$ with cost $|i-j|$:\n\n$\\mathrm{EMD}(a, b) = 0.8$\n", "wrong"),
    ("weights of a second head cut from one input", "$X = \\begin{bmatrix}1&0&2&1\\\\0&1&1&0\\end{bmatrix}$, $h=2$, $d_k=2$, $W^Q=W^K=W^V=I_4$. Head 1 uses the first two columns, head 2 the last two.\n\n**Head 1.** $A_1=\\begin{bmatrix}0.670&0.330\\\\0.330&0.670\\end{bmatrix}$\n\n**Head 2.** $A_2=\\begin{bmatrix}0.893&0.107\\\\0.670&0.303\\end{bmatrix}$\n", "wrong"),
    ("a function whose argument alone is mathematics", "$X=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $W_Q=W_K=W_V=I_2$\n\nAttention$(X)$ = softmax(Q K^T / sqrt(2)) V = $\\begin{bmatrix}0.670&0.330\\\\0.330&0.670\\end{bmatrix}$\n", "rounded"),
    ("a wrong matrix under a root", "$Q=\\begin{bmatrix}2&1\\\\1&3\\end{bmatrix}$, $K=\\begin{bmatrix}0&2\\\\2&1\\end{bmatrix}$\n\n$$S=\\frac{QK^T}{\\sqrt{d_k}}=\\frac{1}{1.414}\\begin{bmatrix}2&2\\\\7&5\\end{bmatrix}=\\begin{bmatrix}1.41&3.54\\\\4.95&3.54\\end{bmatrix}$$\n", "carried"),
    ("weights that rounded scores cannot give", "$Q = \\begin{bmatrix}1&1\\\\2&-1\\end{bmatrix}$, $K = \\begin{bmatrix}2&1\\\\1&3\\end{bmatrix}$\n\nSoftmax of the second row: $\\text{softmax}(2.12, -0.71) = (0.954, 0.056)$.\n", "wrong"),
    ("a row that a slip in another row does not touch", "$q_1=(1,1)$, $q_2=(2,0)$, $k_1=(1,0)$, $k_2=(0,1)$, $v_1=(3,1)$, $v_2=(0,2)$, scaled by $\\sqrt2$\n\n$a_1=(0.5, 0.4)$\n\n$a_2=(0.804, 0.196)$\n\n$z_1=(1.5, 1.3)$\n\n$z_2=(2.412, 1.196)$\n", "drifted"),
    ("steps that are counted in headings", "### 1. Input\n\n$Q=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix}$, $K=\\begin{bmatrix}2&1\\\\0&3\\end{bmatrix}$\n\n### 2. Attention scores\n\n$QK^T=\\begin{bmatrix}2&0\\\\3&3\\end{bmatrix}$\n\n### 3. Scale by the root\n\n$\\text{scaled scores}=\\begin{bmatrix}1.41&0.00\\\\2.12&2.72\\end{bmatrix}$\n", "wrong"),
    ("parts of a problem whose input stands before all of them", "$X=\\begin{bmatrix}1&2\\\\3&0\\end{bmatrix}$, $W_Q=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $W_K=\\begin{bmatrix}0&1\\\\1&0\\end{bmatrix}$\n\n### (1) Self-attention\n\n$Q=XW_Q=\\begin{bmatrix}1&2\\\\3&1\\end{bmatrix}$\n", "wrong"),
    ("a right sum after an exponential that was written down wrongly", SUMS.replace("8.34", "8.84") + "The sum is $14.48$.\n", "rounded"),
    ("an exponential that a slip in another score does not touch", "$q=(1,0)$, $k_1=(2,0)$, $k_2=(1,1)$, scaled by $\\sqrt2$\n\n$q\\cdot k_1 = 0$, $q\\cdot k_2 = 1$\n\nScaled: $0, 0.71$\n\n$e^{0.71} \\approx 2.034$\n", "drifted"),
    ("weights for several temperatures", "$s = [2.0, 1.0, 0.1]$ are the scores, $a=\\mathrm{softmax}(s/T)$.\n\n- $T=1$: $a=[0.659, 0.242, 0.099]$\n- $T=2$: $a=[0.502, 0.304, 0.194]$\n", "rounded"),
    ("a dot product with a full stop between lists", "- `q1 = [1, 2]`, `k1 = [3, 1]`, `k2 = [0, 1]`\n\n- `q1 . k1 = [1, 2] . [3, 1] = 1*3 + 2*1 = 6`\n", "wrong"),
    ("a full stop behind an index", "$$Q=\\begin{bmatrix}1&0\\end{bmatrix},\\quad K=\\begin{bmatrix}1&1\\\\0&2\\end{bmatrix},\\quad V=\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix},\\quad W^Q_1=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix},\\quad W^K_1=\\begin{bmatrix}1&0\\\\1&1\\end{bmatrix},\\quad W^V_1=\\begin{bmatrix}0&1\\\\1&0\\end{bmatrix}$$\n\n$$Q_1=Q W^Q_1,\\quad K_1=K W^K_1,\\quad V_1=V W^V_1.$$\n\n$$V_1=\\begin{bmatrix}0&1\\\\1&2\\end{bmatrix}$$\n", "right"),
    ("operators in braces", "$Q=\\begin{bmatrix}1&2\\end{bmatrix}$, $K=\\begin{bmatrix}3&1\\\\0&1\\end{bmatrix}$\n\n$$QK^T=\\begin{bmatrix}1{\\cdot}3+2{\\cdot}1&1{\\cdot}0+2{\\cdot}1\\end{bmatrix}=\\begin{bmatrix}5&3\\end{bmatrix}$$\n", "wrong"),
    ("a row above the bar of a fraction", "$q=(1,0)$, $k_1=(1,1)$, $k_2=(0,2)$, $d_k=2$\n\n$$\\frac{e^{0.71},\\ e^{0}}{e^{0.71}+e^{0}}=\\frac{2.03,\\ 1.00}{3.03}=[0.67,\\ 0.43]$$\n", "wrong"),
    ("one key of the table said again", "| token | q | k |\n|---|---|---|\n| a | (1, 0) | (1, 0) |\n| b | (1, 1) | (0, 1) |\n| c | (0, 1) | (1, 1) |\n\nFor b, $q_b=(1,1)$. Against a, $k=(1,0)$: $1\\times1+1\\times0=1$. Against b, $k=(0,1)$: $1\\times0+1\\times1=1$.\n\nRaw scores $[1, 1, 2]$\n", "right"),
    ("a step announced with 'let's'", "Q = [[1, 0, 2], [1, 1, 0], [0, 3, 1]], K = [[1, 1, 2], [0, 2, 1], [4, 0, 1]]\n\nLet's work out the raw scores for all tokens.\n\n$$S=\\begin{bmatrix}5&2&6\\\\2&2&5\\\\5&7&1\\end{bmatrix}$$\n", "wrong"),
    ("heads that are supposed", "$head_1=A_1V_1$, $head_2=A_2V_2$ with\n\n$A_1=\\begin{bmatrix}0.50&0.50\\end{bmatrix}$, $V_1=\\begin{bmatrix}1&0\\\\3&2\\end{bmatrix}$, $A_2=\\begin{bmatrix}0.25&0.75\\end{bmatrix}$, $V_2=\\begin{bmatrix}4&0\\\\0&4\\end{bmatrix}$\n\nSuppose we get $head_1=\\begin{bmatrix}2.10&1.30\\end{bmatrix}$ and $head_2=\\begin{bmatrix}1.20&2.70\\end{bmatrix}$.\n\nThe heads joined are\n\n$$\\text{Concat}(head_1, head_2)=\\begin{bmatrix}2.10&1.30&1.20&2.70\\end{bmatrix}$$\n", "right"),
    ("a wrong transpose, used", "$Q=\\begin{bmatrix}1&1\\end{bmatrix}$, $K=\\begin{bmatrix}1&2\\\\0&3\\end{bmatrix}$\n\nThe transpose $K^T$ is\n\n$$\\begin{bmatrix}1&0\\\\2&4\\end{bmatrix}$$\n\n$QK^T=\\begin{bmatrix}3&4\\end{bmatrix}$\n", "carried"),
    ("displays laid out in a table", "<table>\n  <tr>\n    <td>\n      $$\n      X=\\begin{bmatrix}1&2\\\\0&1\\end{bmatrix}\n      $$\n    </td>\n  </tr>\n</table>\n\nSo, `Queries = Keys = Values = X`.\n\n`scores = Queries @ Keys.T`\n\n$$\\begin{bmatrix}5&2\\\\2&2\\end{bmatrix}$$\n", "wrong"),
    ("what e is", "q = [1, 2], k1 = [1, 0], k2 = [0, 1]\n\nRaise e ≈ 2.718 to each score.\n", "rounded"),
    ("all weights of one head", "$X=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $W^Q_1=W^K_1=\\begin{bmatrix}1&0\\\\0&1\\end{bmatrix}$, $W^Q_2=\\begin{bmatrix}1&1\\\\0&1\\end{bmatrix}$, $W^K_2=\\begin{bmatrix}2&0\\\\0&1\\end{bmatrix}$\n\n- Head 2: softmax by rows gives $\\alpha_2\\approx\\begin{bmatrix}0.67&0.33\\\\0.33&0.77\\end{bmatrix}$\n", "wrong"),
    ("rows with an arrow and a word behind them", "Q = [[1, 2],   ← tea\n     [0, 1]]   ← cup\nK = [[2, 0],   ← tea\n     [1, 1]]   ← cup\n\nQ K^T = [[2, 3], [0, 2]]\n", "wrong"),
    ("comments of rows that run together", "Q = [ [1, 2], # tea [0, 1] # cup ]\nK = [ [2, 0], # tea [1, 1] # cup ]\n\nQ K^T = [ [2, 3], # tea [0, 2] # cup ]\n", "wrong"),
    ("a sum over three lines", "p_1 = [3, 1]\n\nx_1 = [1, 2]\n+ [3, 1]\n= [4, 4]\n", "wrong"),
    ("an output after an arrow", "Q = [[1, 0]] K = [[1, 0], [0, 1]] V = [[1, 2], [3, 4]] d_k = 2 → Output ≈ [[1.66, 2.76]]\n", "wrong"),
    ("a blank line between rows of a list", "Q = torch.tensor([\n    [1, 2],  # tea\n\n    [0, 1],  # cup\n])\nK = [[2, 0], [1, 1]]\n\nQ K^T = [[2, 3], [0, 1]]\n", "right"),
    ("a name in another script", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]], d_k = 2\n\n分数 = [[2, 3], [0, 1]]\n权重 = [[0.330, 0.760], [0.330, 0.670]]\n", "wrong"),
    ("a total in another script", "$q=(1,0)$, $k_1=(0,1)$, $k_2=(1,1)$, no scaling\n\ne^0 = 1, e^1 = 2.718\n总和 = 3.718\n", "rounded"),
    ("names that are German words", "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]], d_k = 2\n\nPunktzahlen = [[2, 3], [0, 1]]\nGewichte = [[0.330, 0.760], [0.330, 0.670]]\n", "wrong"),
    ("keys and values that are the queries", "Let `Q = [[1, 0], [0, 1], [1, 1]]` and `K = V = Q`.\n\n`S = Q K^T`, that is `S = [[1, 0, 1], [0, 1, 1], [1, 1, 3]]`\n", "wrong"),
    ("a quotient that runs on from the scores", "d_k=d_v=2. Q = K = V = `[[1, 0], [0, 1]]`.\n\nscores = Q @ K.T = [[1, 0], [0, 1]] / sqrt(2) ≈ [[0.71, 0], [0, 0.71]]\n", "rounded"),
    ("a quotient that runs on from false scores", "Q = [[1, 0], [0, 1]], K = [[1, 0], [0, 1]].\n\nscores = Q @ K.T = [[1, 0], [0, 2]] / sqrt(2) ≈ [[0.71, 0], [0, 1.41]]\n", "carried"),
    ("vectors in a table set with blanks", "```\nword    Q         K         V\na      [1, 0]    [1, 0]    [4, 0]\nb      [1, 1]    [0, 2]    [0, 4]\nc      [0, 2]    [2, 1]    [1, 1]\n```\n\nweights of b: [0.140, 0.284, 0.567]\n", "wrong"),
    ("a new vector by the name of its token", "q = [1, 1], k1 = [1, 0], k2 = [0, 1], v1 = [4, 0], v2 = [0, 4]\n\nnew_w2 = 0.50·[4,0] + 0.50·[0,4]\n       = [2.0, 0] + [0, 2.0]\n       = [2.0, 2.2]\n", "wrong"),
    ("a false softmax of numbers, used", "Q = [[1, 0], [1, 1]], K = [[1, 0], [0, 1]], V = [[4, 0], [0, 4]], d_k = 2\n\nsoftmax([0.71, 0]) = [0.67, 0.33]\n\nsoftmax([0.71, 0.71]) = [0.60, 0.40]\n\nOutput = [[2.68, 1.32], [2.40, 1.60]]\n", "carried"),
    ("sums that begin anew for another token", "A = [[0.25, 0.75], [0.50, 0.50]], V = [[4, 0], [0, 4]]\n\nFor \"a\" (first row):\n= 0.25 × [4,0] + 0.75 × [0,4]\n= [1.00, 3.00]\n\nFor \"b\" (second row):\n= 0.50 × [4,0] + 0.50 × [0,4]\n= [2.00, 3.00]\n", "wrong"),
    ("two indices after an underscore in a plain line", "Q_1 = [1, 2], K_1 = [2, 0], K_2 = [1, 1], no scaling\n\ns_1,1 = Q_1 · K_1 = 2, s_1,2 = Q_1 · K_2 = 3\n", "right"),
    ("capitals that count tokens", "Q1 = [1, 2], Q2 = [0, 1], Q3 = [1, 1]\nK1 = [2, 0], K2 = [1, 1], K3 = [0, 0]\nV1 = [1, 0], V2 = [0, 4], V3 = [2, 2]\n\nd_k = 2\n\nweights for token 1: [0.3057, 0.6200, 0.0473]\n", "wrong"),
    ("capitals that count keys, one query", "Q = [1, 2], K1 = [2, 0], K2 = [1, 1], V1 = [1, 0], V2 = [0, 4], d_k = 2\n\nOutput = [0.33, 2.68]\n", "rounded"),
    ("whose key it is", "Token 1's query Q_1 = [1, 2], token 1's key K_1 = [2, 0], token 2's key K_2 = [1, 1], no scaling\n\nQ_1 · K_2 = 4\n", "wrong"),
    ("a weight, and the same in per cent", "q = [1, 2], k1 = [2, 0], k2 = [1, 1], no scaling\n\ne^2 = 7.389, e^3 = 20.086, sum = 27.475\n\nw1 = 7.389 / 27.475 ≈ 0.259 (25.9%)\n", "wrong"),
    ("what softmax is taken of", "Q = [1, 2], K1 = [2, 0], K2 = [1, 1], no scaling\n\nApply softmax to [2, 3]\n", "unread"),
    ("a dash after a step", "Q = [[1, 2]], K = [[2, 0], [1, 1]]\n\n**Step 1 — scores = Q K^T = [[2, 4]]**\n", "wrong"),
]  # fmt: skip


def test_sizes_that_fit_are_no_numbers() -> None:
    given = "Q = [[1, 0], [1, 1]], K = [[1, 1], [0, 2]]\n\n"
    claims = qkv.check(given + "Multiply to get $(2 \\times 3) \\times (3 \\times 4) = 2 \\times 4$.\n").claims
    assert [(claim.name, claim.verdict) for claim in claims] == [("sizes", "right")]


def test_a_name_used_again_in_code_shows_no_value() -> None:
    again = "```python\nX = [[1.0, 0.0]]\nW = [[1.0, 2.0], [0.0, 1.0]]\nQ = X @ W\nK = X @ W\nQ = [[5.0, 5.0]]\n```\n"
    assert not qkv.check(again).claims


def test_a_shape_in_a_comment_is_no_value() -> None:
    assert not qkv.check(CODE + "S.sum()  # [1, 2]\n```\n").claims


def test_a_formula_without_numbers_is_right_or_not_judged() -> None:
    given = "X = [[1, 2], [0, 1]], W_Q = [[1, 1], [0, 2]], W_K = [[2, 0], [1, 1]], W_V = [[1, 0], [3, 1]]\n\n"
    assert [claim.verdict for claim in qkv.check(given + "V = X W_V\n").claims] == ["right"]
    assert [claim.verdict for claim in qkv.check(given + "softmax(Q K^T / sqrt(d_k)) V = Z\n").claims] == ["right"]
    assert not qkv.check(given + "Q = K W_Q\n").claims


def test_no_claim_is_about_what_is_given_later() -> None:
    """The dense weights are no weights of the mask that comes after them."""
    document = next(text for name, text, _ in DOCUMENTS if name == "what is shown before something is given")
    assert not [claim for claim in qkv.check(document).claims if claim.verdict == "wrong"]


def test_a_copy_may_be_of_what_was_meant() -> None:
    """S is false, A follows from it but for a slip of the pen, and is copied without that slip."""
    claims = qkv.check(
        "Q = [[1, 2], [0, 1]], K = [[2, 0], [1, 1]], V = [[1, 0], [0, 2]], no scale\n\nS = Q K^T = [[2, 4], [0, 1]]\n\n"
        "A = softmax(S) = [[0.119, 0.181], [0.269, 0.731]]\n\n"
        "Z = A V = [[0.119, 0.881], [0.269, 0.731]] [[1, 0], [0, 2]] = [[0.119, 1.762], [0.269, 1.462]]\n"
    ).claims
    assert [claim.verdict for claim in claims[2:]] == ["carried", "right", "carried"]


def test_an_index_of_a_number_is_not_the_number() -> None:
    document = "Keys $x_1=0$, $x_2=1$, query $x=1.5$.\n\n| $i$ | $-\\frac12(x-x_i)^2$ |\n|--|--|\n| 1 | -1.125 |\n| 2 | -0.125 |\n"
    assert not [claim for claim in qkv.check(document).claims if claim.verdict == "wrong"]


@not_yet
def test_answers_to_choose_from_are_no_claims() -> None:
    quiz = "$q=(1,0)$, $K=I_2$, $V=I_2$. What is the output?\n\n- (A) $(0.73, 0.27)$\n- (B) $(0.67, 0.33)$\n- (C) $(1.00, 0.00)$\n"
    assert not qkv.check(quiz).claims


@pytest.mark.parametrize(
    ("document", "verdict"),
    [pytest.param(text, due, id=name, marks=[not_yet] if name in OPEN else []) for name, text, due in DOCUMENTS],
)
def test_verdict(document: str, verdict: str) -> None:
    claims = qkv.check(document).claims
    assert last_verdict(claims) == verdict, claims[-1:]


def test_heads_of_a_later_problem_are_not_of_the_one_before() -> None:
    document = next(text for name, text, _ in DOCUMENTS if name == "heads given beside a copy of the weights")
    assert qkv.check(document).claims[0].verdict == "right"


@not_yet
def test_a_mask_holds_from_its_heading_on() -> None:
    document = next(text for name, text, _ in DOCUMENTS if name == "the mask of a later heading")
    assert [claim.verdict.value for claim in qkv.check(document).claims] == ["rounded", "rounded", "wrong"]


@not_yet
def test_a_working_that_does_not_give_the_right_value_is_a_slip() -> None:
    given = "$Q = \\begin{bmatrix}1&1\\\\2&-1\\end{bmatrix}$, $K = \\begin{bmatrix}2&1\\\\1&3\\end{bmatrix}$\n\n"
    claims = qkv.check(f"{given}Softmax of the first row: $\\text{{softmax}}(2.12, 2.63) = (0.33, 0.67)$.\n").claims
    assert [(claim.text, claim.verdict.value) for claim in claims[-2:]] == [
        ("\\text{softmax}(2.12, 2.63)", "wrong"),
        ("(0.33, 0.67)", "rounded"),
    ]


def test_weights_that_stand_on_a_matrix_given_later_are_others() -> None:
    dot = "$H=\\begin{bmatrix}1&0\\\\0&2\\end{bmatrix}$, $s_t=[1, 0.5]^T$\n\nDot scores: $\\alpha=[0.500, 0.500]$\n\n"
    general = "General scores $s_t^T W_a h_i$ with $W_a=\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix}$:\n\n$\\alpha=[0.731, 0.269]$\n"
    assert [claim.verdict.value for claim in qkv.check(dot + general).claims] == ["right", "rounded"]


@not_yet
def test_a_letter_that_may_be_a_score_is_told_by_what_it_is() -> None:
    given = (
        "$q_1 = (1, 1)$, $q_2 = (0, 2)$, $k_1 = (1, 0)$, $k_2 = (0, 0)$, $v_1 = (4, 2)$, $v_2 = (3, 2)$, unscaled\n\n"
    )
    mixed = "Weights of token 1: (0.731, 0.269)\n\n$z_1 = 0.731 \\cdot (4,2) + 0.269 \\cdot (3,2) = (3.731, 2.000)$\n"
    claim = qkv.check(given + mixed).claims[-1]
    assert (claim.verdict.value, "A V" in claim.formula or "Output" in claim.formula) == ("rounded", True)


def test_a_bracket_with_a_letter_that_runs_is_an_index() -> None:
    """S[i] = [..] defines a row of S, not an i."""
    text = "S[i] = [2.0, 1.0, 0.1]\n\nexp: [7.39, 2.72, 1.11]\n\nsoftmax: [0.659, 0.242, 0.099]\n"
    (exponentials, shares) = qkv.check(text).claims
    assert (exponentials.formula, shares.formula) == ("e^S_i", "softmax(S_i)")
    assert {exponentials.verdict.value, shares.verdict.value} == {"rounded"}
