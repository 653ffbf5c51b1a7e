"""What worksheets say in words, in the languages that they are written in. Tables only; adding a language is adding
words."""

from __future__ import annotations

import re

from qkv.expr.late import late
from qkv.expr.wording import Wording


def _any(words: str) -> str:
    return "|".join(re.escape(word) for word in sorted(words.split("|"), key=len, reverse=True))


# Headings that begin a problem of their own; the number or letter that follows is read with the pattern below.
PROBLEM_WORDS = (
    "question|exercise|problem|part|task|example|assignment|homework|discussion|worksheet|quiz|activity|"
    "aufgabe|übung|teil|beispiel|frage|exercice|problème|partie|exemple|question|ejercicio|problema|parte|ejemplo|"
    "pregunta|tarea|esercizio|esempio|domanda|exercício|questão|exemplo|tarefa|задача|упражнение|вопрос|часть|пример|"
    "задание|练习|题|问题|例题|例|作业|練習|問題|問|演習|課題|연습|문제|예제|oefening|opgave|zadanie|ćwiczenie|alıştırma|soru|"
    "övning|uppgift|oppgave|tehtävä|cvičení|příklad|feladat|bài|bài tập|soal|завдання|opdracht|vraag"
)
# Those that name the whole document and stand above its problems.
DOCUMENT_WORDS = frozenset(["homework", "discussion", "worksheet", "assignment", "quiz", "作业"])
# Headings that divide a problem.
STEP_WORDS = (
    "solution|answer|answers|step|head|given|worked solution|schritt|lösung|kopf|gegeben|étape|solution|corrigé|tête|"
    "paso|solución|cabeza|passo|solução|resolução|soluzione|шаг|решение|голова|步骤|解|解答|解法|答案|头|手順|ステップ|解答例|"
    "단계|풀이|stap|oplossing|krok|rozwiązanie|adım|çözüm"
)
_NUMBER = r"(?:\d+|[ivxIVX]+|[A-Za-zА-Яа-я]|[一二三四五六七八九十]+)"
# Eastern words need no blank before a number. Their last letters, since re takes long to compile a range of thousands.
_EASTERN_ENDS = "".join(sorted({word[-1] for word in PROBLEM_WORDS.split("|") if word[-1] >= "\u3040"}))
PROBLEM_HEADING = Wording(
    rf"(?P<word>{_any(PROBLEM_WORDS)})(?:(?<=[{_EASTERN_ENDS}])|\s+|\s*[#№.]\s*)(?P<number>{_NUMBER}(?:\.\d+)*)(?:\s*[题問题部分]+)?(?P<rest>$|[\s.:：)\]—–-].*)"
)
PROBLEM_OPENING = late(
    rf"\s*(?:\*\*|__)?(?P<title>(?P<word>{_any(PROBLEM_WORDS)})\s*[#№]?\s*\d+(?:\.\d+)*[a-z]?)\s*(?:\([^()\n]*\)\s*)?"
    r"(?:\*\*|__)?\s*[.:：)]|\s*\*\*(?P<short>[QP]\s?\d+)[.:)]*\*\*",
    re.IGNORECASE,
)
STEP_HEADING = Wording(rf"(?P<word>{_any(STEP_WORDS)})(?:\s*(?P<number>{_NUMBER}))?\s*[.:：]?\s*$")

# A sentence that asks begins with one of these (after a label such as '(a)'), or has one after a comma.
ASK_WORDS = (
    "compute|calculate|find|determine|show|prove|derive|write|give|evaluate|obtain|apply|explain|define|state|work out|"
    "complete|fill in|verify|what|which|how|why|is|are|does|do|draw|list|count|estimate|"
    "berechne|berechnen|bestimme|bestimmen|finde|zeige|zeigen|gib|geben|erkläre|wie|was|warum|welche|"
    "calculer|calculez|calcule|trouver|trouvez|déterminer|déterminez|montrer|montrez|donner|donnez|quel|quelle|combien|"
    "calcula|calcular|calculen|halla|hallar|encuentra|encontrar|determina|determinar|muestra|demuestra|obtén|cuál|qué|"
    "cuántos|cuánto|determine|encontre|mostre|obtenha|qual|quais|quanto|quantos|calcolare|calcola|trova|trovare|"
    "beräkna|bestäm|beregn|bereken|oblicz|wyznacz|vypočítejte|számítsa|hesaplayın|bulunuz|tính|знайдіть|обчисліть|hitung|"
    "найдите|найти|вычислите|вычислить|определите|покажите|докажите|сколько|чему|какой|какова|почему|посчитайте"
)
ASK = Wording(rf"(?:please\s+|bitte\s+)?(?:{_any(ASK_WORDS)})\b")
ASK_CJK = late(
    r"^(?:请|試|试)?(?:计算|計算|求|算出|写出|证明|说明|给出|確定|确定|验证)|(?:せよ|なさい|求めよ|计算[^。]*[。：:]?$|하시오|구하라|구하여라|하여라|하라[.]?$)"
)
ASK_LATIN_QUESTION = Wording(
    r"^(?:what|which|how|why|is|are|does|do|wie|was|warum|welche|quel|quelle|combien|cuál|qué|cuántos|cuánto|qual|quais|"
    r"quanto|quantos|сколько|чему|какой|какова|почему)\b"
)  # these ask only where the sentence ends in a question mark

# 'W_Q, W_K and W_V are identity matrices': the words that make the names before them the identity matrix.
IDENTITY_HINTS = ("identi", "einheitsmat", "единичн", "单位", "單位", "単位")  # for a cheap first look
IDENTITY = late(
    r"(?:\b(?:is|are|be|=|equals?|sind|ist|gleich|sont|est|son|es|são|é|sono|è)\s+(?:all\s+|both\s+|each\s+)?(?:the\s+|an\s+|a\s+|"
    r"die\s+|der\s+|eine\s+|la\s+|les\s+|des\s+|une\s+|el\s+|las\s+|una\s+|a\s+|as\s+)?(?:\d+\s*[×x]\s*\d+\s+)?"
    r"(?:identity(?:\s+matri(?:x|ces))?|identities|einheitsmatri(?:x|zen)|matrices?\s+identité|matri(?:z|ces)\s+identidad|"
    r"matriz(?:es)?\s+identidade|matric[ei]\s+identità))|(?:[—–-]\s*)?единичн\w+\s+матриц\w+|(?:都|均)?(?:是|为|為)?(?:单位矩阵|單位矩陣|单位阵)"
    r"|(?:は)?(?:すべて)?単位行列",
    re.IGNORECASE,
)

# Words that may stand directly before a name that a bare matrix belongs to ('Input Matrix X (3 × 4):').
NOUNS = (
    "matrix|matrices|vector|vectors|input|inputs|query|queries|key|keys|value|values|weight|weights|output|outputs|"
    "embedding|embeddings|projection|score|scores|mask|tensor|array|let|set|with|where|given|is|attention|result|states?|"
    "row-wise softmax|"
    "matrizen|eingabe|gewichte|gewicht|maske|ausgabe|vektor|matrice|vecteur|requêtes|clés|valeurs|poids|masque|sortie|entrée|"
    "matriz|vectores|consultas|claves|valores|pesos|máscara|salida|entrada|vetor|chaves|saída|матрица|матрицы|вектор|"
    "запросы|ключи|значения|веса|маска|выход|вход|矩阵|矩陣|向量|输入|输出|查询|键|值|权重|设|行列|入力|出力|重み|"
    "matrici|vettore|vettori|pesi|chiavi|valori|uscita|ingresso|punteggi|gewichten|sleutels|waarden|uitvoer|invoer|"
    "macierz|macierze|wagi|klucze|wartości|zapytania|wyjście|wejście|matrisi|ağırlıklar|ağırlıkları|anahtarlar|değerler|"
    "sorgular|çıktı|girdi|puanlar|행렬|벡터|가중치|쿼리|키|값|출력|입력|점수"
)
NOUN = late(rf"(?:^|[\s(])(?:{_any(NOUNS)})\s*$|[\u4e00-\u9fff\u3040-\u30ff]\s*$", re.IGNORECASE)

# 'the output Z = A V': the word is no factor of the product.
NOUN_BEFORE_NAME = late(
    rf"\b(?:(?i:{_any(NOUNS)})\s+)+(?=(?:[A-Za-z](?:[_^']\S*)?|[A-Z]{{1,2}}[^\s=≈a-z]*(?:\s*[×·*/@]?\s*[A-Z√(][^\s=≈]*){{0,3}})\s*[=≈])"
)

# 'Times V:' names an operand, not the result.
OPERATOR_WORDS = (
    "times|by|of|with|and|to|from|for|on|into|per|over|plus|minus|multiply|multiplied|using|via|in|"
    "mal|durch|mit|und|von|auf|aus|für|zu|par|de|avec|et|sur|fois|por|con|y|sobre|com|e|для|на|с|и|из|по|умножаем|умножить|met|maal|door|razy|przez|ile|"
    "乘|乘以|除以|和|与|与|掛ける"
)
OPERAND = late(rf"(?:(?:^|[\s(])(?:{_any(OPERATOR_WORDS)})|[×·*/+=@÷乘与和])\s*$", re.IGNORECASE)

# Stock phrases between a name and its matrix: 'X is given by:', 'W_Q as follows:'.
_COPULA = (
    "is|are|be|as follows|is as follows|are as follows|is given by|given by|is defined as|defined as|"
    "is defined as below|below|is the matrix|ist|lautet|ist gegeben durch|est|est donnée par|es|está dada por|é|"
    "é dada por|равна|равно|имеет вид|è|è data da|"
    "wynosi|jest równa|ma postać|şöyledir|为|是|如下|为如下|等于|は|以下|다음과 같다"
)
COPULA = late(rf"(?:^|(?<=[\s$`_\w]))(?:{_any(_COPULA)})\s*$", re.IGNORECASE)

# 'total 22.03', 'la suma es 7.978': a bare number after one of these is a claim.
TOTAL = Wording(
    r"(?:totals?|sum|sums? to|adds? up to|summe|zusammen|somme|suma|soma|somma|total|итого|сумма|всего|总和|之和|合计|"
    r"和为|合計|합계|totaal|toplamı?|gives|yields|result|ergibt|donne)(?:\s+(?:of|der|des|de|las?|los|dos|das)(?:\s+[^\W\d]{2,}){1,2})?"
    r"(?:\s+(?:is|of|are|ist|est|es|é|è|равна|up\s+to|to)|\s*[は为是은는])?\s*[:：=]?\s*$"
)

# A paragraph that begins so describes a picture; what looks like mathematics in it is not.
CAPTION = Wording(r"(?:figure|fig\.|abbildung|abb\.|figura|рис\.|рисунок|图|図)\s*\d+\s*[:.：]")
# Columns of a table that only number its rows.
COUNTER = Wording(
    r"(?:#|№|no\.?|nr\.?|row|token|word|key|query|i|j|n|pos|position|index|step|zeile|wort|ligne|mot|fila|palabra|linha|palavra|строка|слово|"
    r"токен|input|entrada|行|词|位置|输入|序号|トークン)\b"
)

# Heads of columns that hold different quantities, so that the columns are no one matrix.
QUANTITY = Wording(
    r"^(?:scores?|scaled(?: scores?)?|weights?|attention(?: weights?)?|exp|softmax|products?|dot products?|sum|"
    r"e\^.*|\\exp.*|exp\s?\([^()]*\)|\(?q\s?[·⋅]\s?k\)?(?:\s?[/÷]\s?√?\w{1,3})?|α(?:_?\w+)?|\\alpha.*|e_\{?i\}?|s_\{?i\}?|gewichte?|skalarprodukte?|poids|produits?|pesos?|puntuación|"
    r"produtos?|веса?|оценки?|punteggi?o?|pes[oi]|gewichten|wagi?a?|ağırlık(?:lar)?|puan(?:lar)?|wichtung(?:en)?|punktzahl(?:en)?|"
    r"pontuaç(?:ão|ões)|分数|得分|权重|指数|重み|スコア|점수|가중치)$"
)

# Heads of columns that spell a quantity out, and its letter.
SPELLED_OUT = (
    (
        "Q",
        late(
            r"quer(?:y|ies)(?:\s+vectors?)?|anfragen?|requêtes?|consultas?|запрос\w*|zapytani\w*|sorgu(?:lar)?|查询(?:向量)?|クエリ|쿼리",
            re.IGNORECASE,
        ),
    ),
    (
        "K",
        late(
            r"keys?(?:\s+vectors?)?|schlüssel|clés?|claves?|chaves?|chiav[ei]|sleutels?|ключ\w*|klucz\w*|anahtar(?:lar)?|键(?:向量)?|キー|키",
            re.IGNORECASE,
        ),
    ),
    (
        "V",
        late(
            r"values?(?:\s+vectors?)?|werte?|valeurs?|valor(?:es|[ei])?|waarden?|значени\w*|wartoś\w*|değer(?:ler)?|值(?:向量)?|バリュー|값",
            re.IGNORECASE,
        ),
    ),
)

# Heads that say no more than that vectors stand below, and heads of a column that adds the others up.
VECTOR_WORD = late(
    r"(?:the\s+)?(?:ve[ck]tors?|vecteurs?|vectores?|vetor(?:es)?|vettor[ei]|вектор|向量|ベクトル|벡터|vektoren|wektor)",
    re.IGNORECASE,
)
SUM_HEAD = late(
    r"(?:Σ|∑|row\s+)?(?:sums?|totals?|summe|somme|suma|soma|somma|сумма|итого|合计|总和|合計|합계?|和)", re.IGNORECASE
)

# An offer at the end of a chat answer asks nothing of the sheet.
OFFER = Wording(
    r"(?:would you like|do you want|shall i|should i|want me to|let me know|möchtest du|soll ich|voulez-vous|veux-tu|"
    r"quieres que|¿quieres|gostaria|vuoi che|хотите|需要我|要不要我)"
)
