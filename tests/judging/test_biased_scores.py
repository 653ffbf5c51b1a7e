"""Scores with a bias by distance (ALiBi): what a page prints of them, and what it asks."""

from __future__ import annotations

from math import exp

import pytest

import qkv
from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet


def weights(scores: list[float]) -> list[float]:
    total = sum(map(exp, scores))
    return [exp(x) / total for x in scores]


FRENCH = """# ALiBi

On ajoute aux scores le biais $-m_h\\,(i-j)$, avec la pente $m_h = 2^{-8h/H}$ et $H = 4$ têtes. Tête h = 2, masque causal.
Les scores (déjà divisés par √d) sont

| | clé 1 | clé 2 | clé 3 |
|---|---|---|---|
| requête 1 | 1 | | |
| requête 2 | 0,5 | 1 | |
| requête 3 | 2 | 1 | 0,5 |

Matrice des biais :

| | clé 1 | clé 2 | clé 3 |
|---|---|---|---|
| requête 1 | 0 | | |
| requête 2 | %s | 0 | |
| requête 3 | -0,125 | -0,0625 | 0 |

Scores biaisés :

| | clé 1 | clé 2 | clé 3 |
|---|---|---|---|
| requête 1 | 1 | | |
| requête 2 | %s | 1 | |
| requête 3 | 1,875 | %s | 0,5 |

Poids de la requête 3 : (0,608; 0,238; 0,154)
"""


def verdicts(page: str) -> list[str]:
    return [claim.verdict.value for claim in qkv.check(page).claims]


def test_tables_of_a_bias_and_of_scores_with_it():
    assert set(verdicts(FRENCH % ("-0,0625", "0,4375", "0,9375"))) <= {"right", "rounded"}


def test_a_wrong_bias_carries_into_the_scores():
    assert verdicts(FRENCH % ("-0,125", "0,375", "0,9375"))[:2] == ["wrong", "carried"]


def test_a_bias_that_is_added_with_the_wrong_sign():
    assert verdicts(FRENCH % ("-0,0625", "0,4375", "1,0625"))[1] == "wrong"


PENALTIES = """# ALiBi

Attention scores before ALiBi:

```
    T1  T2  T3
T1 1.0 2.0 3.0
T2 2.0 1.5 2.5
T3 3.0 2.5 1.2
```

Let slope = -0.2.
Penalty = slope × distance.

```
    T1  T2  T3
T1 0.0 -0.2 -0.4
T2 -0.2 0.0 -0.2
T3 {} 0.0
```

Add penalties to scores:

```
    T1  T2  T3
T1 1.0 1.8 2.6
T2 1.8 1.5 2.3
T3 {} 1.2
```
"""


def test_distances_that_a_page_only_names():
    assert verdicts(PENALTIES.format("-0.4 -0.2", "2.6 2.3")) == ["right", "right"]
    wrong, carried = qkv.check(PENALTIES.format("-0.2 -0.4", "2.8 2.1")).claims
    assert [(cell.row, cell.column) for cell in wrong.cells] == [(3, 1), (3, 2)]
    assert (wrong.verdict.value, carried.verdict.value) == ("wrong", "carried")


TASK = """Eine Kopf benutzt ALiBi mit {}. Die Scores, schon durch √d geteilt, sind

    Anfrage 1 :  2   .   .
    Anfrage 2 :  1   3   .
    Anfrage 3 :  0   2   4

1. Gib die Matrix der Abzüge (Bias) an.
2. Gib die dritte Zeile der Scores mit Bias an.
3. Berechne die Gewichte.
4. Gib die dritte Zeile der Gewichte ohne ALiBi an.
"""


@pytest.mark.parametrize("slope", ["Steigung m = 0,5", "der Steigung 1/2"])
def test_questions_about_a_bias(slope: str):
    program = next(trace for trace in solve_sheet(read_sheet(TASK.format(slope))).traces if trace.program.answers)
    parts = [answer.parts[0].expr for answer in program.program.answers]
    found = [program.digits(part.symbol, 8) for part in parts]  # type: ignore[union-attr]
    bias, third, shares, plain = [[[float(cell) for cell in row] for row in rows] for rows in found]
    assert bias[2] == [-1, -0.5, 0]
    assert third == [[-1, 1.5, 4]]
    assert shares[1][:2] == pytest.approx(weights([0.5, 3]), abs=1e-6)
    assert shares[2] == pytest.approx(weights([-1, 1.5, 4]), abs=1e-6)
    assert plain[0] == pytest.approx(weights([0, 2, 4]), abs=1e-6)


GERMAN = r"""\section*{Blatt 7 (ALiBi)}
Gegeben sind die Scores (kausal, der Punkt steht für $-\infty$) und die Werte
\[
S=\begin{pmatrix} 1{,}2 & \cdot & \cdot\\ 0{,}4 & 2{,}0 & \cdot\\ 1{,}5 & 0{,}5 & 1{,}0\end{pmatrix},\qquad
V=\begin{pmatrix}1&0\\0&2\\3&1\end{pmatrix}.
\]
Steigungen $m_h=2^{-8h/H}$ mit $H=4$. Wir rechnen Kopf $h=1$.

Bias $B_{ij}=-m_1\,(i-j)$ für $j\le i$. Scores mit Bias:
\[
S+B=\begin{pmatrix} 1{,}20 & \cdot & \cdot\\ 0{,}15 & 2{,}00 & \cdot\\ 1{,}00 & 0{,}25 & 1{,}00\end{pmatrix}
\]
Zeilenweise Softmax:
\[
A=\begin{pmatrix} 1 & 0 & 0\\ 0{,}136 & 0{,}864 & 0\\ 0{,}404 & 0{,}191 & 0{,}404\end{pmatrix}
\]
Ausgabe $Z=AV$:
\[
Z=\begin{pmatrix} 1 & 0\\ 0{,}136 & 1{,}728\\ 1{,}618 & %s\end{pmatrix}
\]
"""


def test_weights_and_output_are_those_of_the_scores_with_their_bias():
    assert set(verdicts(GERMAN % "0{,}787")) <= {"right", "rounded"}
    assert verdicts(GERMAN % "0{,}687")[-1] == "wrong"


def test_a_bias_for_one_query():
    page = "The last of 3 tokens attends. ALiBi, slope 1/4.\n\n    bias -(2-j)/4 : {}   -0.25   0.00\n"
    assert verdicts(page.format("-0.50")) == ["right"]
    assert verdicts(page.format("-0.75")) == ["wrong"]


def test_another_bias_is_given():
    page = "Unlike ALiBi with its slope 1/2, T5 learns a bias. Scores: [[1, 2], [3, 1]]\n\nLearned bias: [[0.3, 0.1], [0.2, 0.3]]\n"
    assert "wrong" not in verdicts(page)
