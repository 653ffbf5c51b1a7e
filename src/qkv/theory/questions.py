"""How theory questions are asked, in the languages that sheets come in: adding a way to ask is adding a row."""

from __future__ import annotations

import re

from qkv.regex import regex

RANDOM = r"random|normal(?!i)|gauss|zufall|aleat|aléat|случайн|随机|i\.?i\.?d|independent"
RANDOM += r"|\bq\b.{0,20}\bk\b|dot product|\\mathbb"
PROVE = r"(show|prove|verify|zeige|beweise|montre[rz]?|démontre|demuestr|mostre|prove|dimostra|докаж|покаж|证明)"

# (topic, what the question says, what must stand in it or around it)
ROWS: tuple[tuple[str, str, str], ...] = (
    ("axis", r"row-?wise|column-?wise|which (axis|dimension)|zeilenweise|spaltenweise|par lignes?|por filas?", r""),
    ("axis", r"por linhas?|per righe|по строкам|按行|按列|行ごと|列ごと", r""),
    ("axis", r"(shape|size|dimension)s? of the (result|softmax|output|weights)", r"soft-?max"),
    (
        "mask",
        r"\b(shape|values?|entries|size|look like|dimension|form|größe|einträge|forme|valeurs?|forma|valores)|形状|形",
        r"\bmask(ing)?\b|maske|masque|máscara|maschera|маск|掩码|マスク",
    ),
    ("divisor", r"value of \$?\\?d\b|what is \$?d\$?[ ?]|wert von \$?d\b|valeur de \$?d\b|valor de \$?d\b", r""),
    (
        "divisor",
        r"(why|warum|pourquoi|por qué|por que|perché|почему|зачем|为什么|なぜ)"
        r".*(divi|scal|skal|teil|échelle|√|sqrt|дел|除|割)",
        r"",
    ),
    ("divisor", r"^\W*why is it needed", r"\\sqrt|√|value of \$?d"),
    ("counts", r"complexit|komplexität|complejidad|complexidade|complessità|сложност|复杂度|計算量", r""),
    (
        "counts",
        r"(how many|number of|wie viele|anzahl|combien|nombre|cuántas|quantas|quante|сколько|число|多少|何回)"
        r".{0,40}(addition|multiplic|multiplik|operation|flop|opérations|suma|soma|moltiplic|operaz|умножен|сложен|操作"
        r"|乘法|加法|演算)",
        r"",
    ),
    ("mean", r"\\mathbb\s*\{?E\}?|\bE\s*\[|expectation|expected value", RANDOM),
    (
        "mean",
        r"erwartungswert|espérance|esperanza|valor esperado|valore atteso|матожидан|математическое ожид|期望|期待値",
        r"",
    ),
    ("variance", r"\bVar\b|variance", RANDOM),
    (
        "variance",
        r"varianz|varianza|variância|дисперси|方差|分散",
        RANDOM + r"|q_i|skalar|scalaire|escalar|скаляр|点积|内积|内積",
    ),
    (
        "scale",
        r"scal(ing|e) factor|what should \$?s\b|value of \$?s\b|skalierungsfaktor",
        r"factor|faktor|Var|sqrt|\\frac",
    ),
    (
        "sizes",
        r"(dimension|shape|size)s? (of|do|does|have) (these|each|the (three )?(quer|key|val|proj|matri))",
        r"matri|quer",
    ),
    ("sizes", r"(dimension|shape|size)s? (of|do|does) \$?\\?(mathbf\{)?[QKV]\b", r""),
    ("sizes", r"(dimension(en)?|größen?|dimensiones|dimensões|dimensioni|размер\w*|维度|形状).{0,30}\$?[QKV]\b", r""),
    ("scores proof", PROVE + r".*(QK|Q\s*K).*(entry|eintrag|z_|q_)", r""),
    ("values proof", PROVE + r".*(AV|A\s*V|weighted sum|gewichtete)", r""),
    ("tokens proof", PROVE + r".*permut", r""),
    ("shift proof", PROVE + r".*soft-?max.*(constant|konstant|shift|add)", r""),
    ("causal proof", PROVE + r".*(causal|kausal|future|later token)", r""),
    ("heads proof", PROVE + r".*(heads?|concat).*(block|one matrix|single)", r""),
    (
        "parameters",
        r"(how many|number of|wie viele|anzahl|combien|nombre|cuántos|quantos|quanti|сколько|число|多少)"
        r".{0,30}(parameter|paramèt|parámetr|parâmetr|parametri|параметр|参数)",
        r"",
    ),
    ("cache", r"KV[ -]?cache", r""),
)
QUESTIONS = tuple((topic, regex(asks, re.IGNORECASE), regex(needs, re.IGNORECASE)) for topic, asks, needs in ROWS)
