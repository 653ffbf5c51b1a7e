"""Whole sheets that describe a model and ask for counts of it, in several languages and layouts."""

from __future__ import annotations

import pytest

import qkv
from qkv.reader.read import read_sheet
from qkv.theory.configured import counted
from qkv.theory.described import described

GERMAN = r"""
\section*{Wie groß ist ein kleines Sprachmodell?}
Wir betrachten einen Decoder-Transformer mit folgenden Größen:
\begin{itemize}
  \item Wortschatz: $V = 12\,000$ Token
  \item Modellbreite $d = 320$
  \item Anzahl der Schichten: 6
  \item Köpfe: 5, jeder der Breite 64
  \item Die Feed-forward-Schicht hat die innere Breite 1280 und GELU als Aktivierung.
  \item Alle linearen Abbildungen haben Biase; LayerNorm hat Skalierung und Verschiebung.
  \item Gelernte Positionen, Kontextlänge 512
  \item Das Ausgabe-Embedding ist mit dem Eingabe-Embedding gekoppelt.
\end{itemize}
\begin{enumerate}
  \item[(a)] Wie viele Parameter haben Token- und Positionseinbettung zusammen?
  \item[(b)] Berechnen Sie die Anzahl der Parameter des Attention-Blocks einer Schicht.
  \item[(c)] Wie viele Parameter hat das Feed-forward-Netz einer Schicht?
  \item[(d)] Wie viele Parameter hat eine ganze Schicht (mit zwei LayerNorms)?
  \item[(e)] Wie viele Parameter hat das ganze Modell? Nach der letzten Schicht folgt eine weitere LayerNorm.
  \item[(f)] Wie viel Speicher brauchen die Gewichte in float16? Angabe in MiB.
\end{enumerate}
"""
LAYER = 4 * 320**2 + 4 * 320 + 2 * 320 * 1280 + 1280 + 320 + 4 * 320
WHOLE = 12512 * 320 + 6 * LAYER + 2 * 320

MAIL = """
for the toy run I propose a decoder with 4 layers, width 256, 8 query heads and 2 kv heads (so head width 32).
The MLP is plain ReLU, 256 -> 1024 -> 256, with biases; the attention projections have none.
Two LayerNorms per layer (gain + bias) and one more at the end. Vocab is 8,192, embeddings tied with the unembedding.
Positions are rotary, nothing learned there. Max context 1024. We train in fp32 and serve in fp16.

Could someone please confirm
 1. number of weights in the attention of one layer
 2. number of parameters in the MLP of one layer
 3. parameters per layer, norms included
 4. parameters of the whole thing
 5. bytes for the weights when serving
 6. KV cache at full context for a batch of 16, in MiB, when serving
 7. forward FLOPs per token from the weight matrices of the layers only, at 2 per weight
"""
ATTENTION, MLP = 2 * 256 * 256 + 2 * 256 * 64, 2 * 256 * 1024 + 1024 + 256
MODEL = 4 * (ATTENTION + MLP + 4 * 256) + 2 * 256 + 8192 * 256

CHINESE = """
模型配置：词表大小 V=21128，隐藏维度 d=768，层数 L=12，注意力头数 12，前馈层中间维度 3072，全部线性层带偏置，LayerNorm 有 γ 和 β。

**问题1** 每层的自注意力有多少参数？

**问题2** 每层前馈网络？

**问题3** 12 层合计多少？若用 fp16 存储，12 层的参数占多少 MB（10^6 字节）？
"""
LAYERS = 12 * (4 * 768**2 + 4 * 768 + 2 * 768 * 3072 + 3072 + 768)

SPANISH = """
| parámetro | valor |
|---|---|
| capas | 24 |
| cabezas de consulta | 16 |
| cabezas KV | 4 |
| dimensión por cabeza | 128 |
| precisión | bf16 |

1. ¿Cuántos bytes ocupa la caché KV de cada token?
2. ¿Y con 16 cabezas KV y un contexto de 8192 tokens?
3. Lo mismo con 8 cabezas KV.
"""


def amounts(page: str) -> list[float]:
    return [float(made.asked.value) for made in counted(read_sheet(page)) if made.counts]


@pytest.mark.parametrize(
    "page, expected",
    [
        (GERMAN, [12512 * 320, 4 * 320**2 + 4 * 320, 2 * 320 * 1280 + 1600, LAYER, WHOLE, 2 * WHOLE]),
        (
            MAIL,
            [
                ATTENTION,
                MLP,
                ATTENTION + MLP + 1024,
                MODEL,
                2 * MODEL,
                2 * 4 * 2 * 32 * 1024 * 16 * 2,
                4 * (2 * ATTENTION + 4 * 256 * 1024),
            ],
        ),
        (CHINESE, [4 * 768**2 + 4 * 768, 2 * 768 * 3072 + 3840, LAYERS + 12 * 4 * 768, 2 * LAYERS + 24 * 4 * 768]),
        (SPANISH, [2 * 24 * 4 * 128 * 2, 2 * 24 * 16 * 128 * 8192 * 2, 2 * 24 * 8 * 128 * 8192 * 2]),
    ],
)
def test_every_question_of_a_sheet_is_answered_from_one_description(page, expected):
    assert amounts(page) == expected


def test_a_count_comes_in_parts_and_in_the_unit_that_is_asked_for():
    solution = qkv.read(GERMAN).solve().to_json(digits=10)
    assert str(WHOLE) in solution
    assert f"{2 * WHOLE / 2**20:.6f}"[:8] in solution


def test_what_is_not_said_is_assumed_aloud_or_missing():
    page = "A decoder has 2 layers, width 64, vocabulary 500 and a feed-forward width of 128.\n\n"
    (made,) = counted(read_sheet(page + "1. How many parameters has the whole model?"))
    assert made.asked.value == 500 * 64 + 2 * (4 * 64**2 + 2 * 64 * 128)
    assert "no biases" in made.says
    assert "norms are not spoken of" in made.says
    (made,) = counted(read_sheet(page.replace("width 64, ", "") + "1. How many parameters has one layer?"))
    assert not made.counts
    assert "the width is not said" in made.says


def test_biases_of_one_part_say_nothing_of_another():
    page = "A block has width 64, feed-forward width 128; the attention projections have biases.\n\n"
    first, second = counted(
        read_sheet(page + "1. How many parameters has attention?\n2. How many parameters has the FFN?")
    )
    assert first.asked.value == 4 * 64**2 + 4 * 64
    assert "whether the feed-forward layer has biases" in second.says


def test_operations_are_counted_by_the_pages_own_convention():
    page = (
        "Vocabulary 100, width 16, 2 layers, feed-forward width 32 (SwiGLU), no biases, 4 heads of width 4.\n\n"
        "1. FLOPs of one token, 2 FLOPs per weight, the unembedding included?\n"
        "2. How many multiplications does attention take?"
    )
    (made,) = counted(read_sheet(page))
    assert made.asked.value == 2 * 2 * (4 * 16**2 + 3 * 16 * 32) + 2 * 16 * 100


@pytest.mark.parametrize(
    "text, fact, value",
    [
        ("Jede Schicht hat zwei RMSNorms, am Ende folgt eine weitere RMSNorm.", "final_norm", True),
        ("Chaque couche a quatre normalisations.", "norms", 4),
        ("Input and output embeddings are not tied.", "tied", False),
        ("The unembedding shares its matrix with the embedding.", "tied", True),
        ("Positions are learned.", "learned", True),
        ("Positions are rotary, nothing is learned.", "learned", False),
        ("The MLP is gated (SwiGLU).", "gated", True),
    ],
)
def test_facts_are_read(text, fact, value):
    assert getattr(described(text), fact) == value


@pytest.mark.parametrize(
    "text, size, value",
    [
        ("so each head is 64 wide", "d_head", 64),
        ("Per-head dimension D 128 model_dim(8192) / H_total(64)", "d_head", 128),
        ("| head_size | 5120 // 40 = 128 |", "d_head", 128),
        ("N = 6 (number of encoder layers)", "L", 6),
        ("L=4 blocks", "L", 4),
        ("**Sequence Length (\\( L \\))**: 1,024", "n", 1024),
        ("32 cabeças de dimensão 128", "h", 32),
        ("어텐션 헤드 수: 32", "h", 32),
        ("eine Feed-forward-Schicht der Breite 2.048", "d_ff", 2048),
        ("der Wortschatz hat 32 000 Einträge", "V", 32000),
    ],
)
def test_a_number_is_the_size_that_the_words_beside_it_mean(text, size, value):
    assert described(text).sizes[size] == value


def test_what_is_left_behind_is_no_size():
    assert described("with 6 key/value heads in place of 2").sizes["h_kv"] == 6
