"""What authors write around their equations, in a few languages."""

from __future__ import annotations

from dataclasses import dataclass

from qkv.expr.names import Role

R = Role


@dataclass(frozen=True, slots=True)
class Words:
    """The prose of a sheet in one language; {} is a number or a formula."""

    title: str
    task: str
    mask: str
    columns: str
    here: str
    solution: str
    head: str
    together: str
    roles: dict[Role, str]


GIVENS: dict[Role, str] = {
    R.X: "Tokens",
    R.Y: "Tokens of the encoder",
    R.W_Q: "Weights of the queries",
    R.W_K: "Weights of the keys",
    R.W_V: "Weights of the values",
    R.W_O: "Output matrix",
    R.B_Q: "Bias of the queries",
    R.B_K: "Bias of the keys",
    R.B_V: "Bias of the values",
    R.SOURCE: "Decoder state",
    R.STATES: "Encoder states, one a row",
    R.W_A: "Weights",
    R.U_A: "Weights of the states",
    R.V_A: "Score vector",
}
_ORDER = (R.Q, R.K, R.V, R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.HEAD, R.CONCAT, R.OUTPUT, R.CONTEXT, R.OTHER)


def _roles(*words: str, givens: tuple[str, ...] = ()) -> dict[Role, str]:
    """The words for steps, and for what is given where those are not English."""
    return {**GIVENS, **dict(zip(GIVENS, givens, strict=False)), **dict(zip(_ORDER, words, strict=True))}


ENGLISH = Words(
    "{}",
    "Compute {}.",
    "The mask is causal: a token sees itself and the tokens before it.",
    "Tokens are columns.",
    "Here {}.",
    "Solution",
    "Head {}",
    "All heads",
    _roles(
        *("Queries", "Keys", "Values", "Scores", "Scaled scores", "Masked scores", "Attention weights"),
        *("Output of the head", "Heads side by side", "Output", "Context vector", "Exponentials and sums"),
    ),
)
GERMAN = Words(
    "Aufgabe: {}",
    "Berechne {}.",
    "Die Maske ist kausal: jedes Token sieht sich selbst und die Tokens davor.",
    "Die Tokens sind Spalten.",
    "Dabei ist {}.",
    "Lösung",
    "Kopf {}",
    "Alle Köpfe",
    _roles(
        *("Anfragen", "Schlüssel", "Werte", "Skalarprodukte", "Skalierte Werte", "Maskiert", "Gewichte nach Softmax"),
        *("Ausgabe des Kopfes", "Verkettung der Köpfe", "Ausgabe", "Kontextvektor", "Exponentialwerte und Summen"),
        givens=(
            *("Tokens", "Tokens des Encoders", "Gewichte der Anfragen", "Gewichte der Schlüssel"),
            *("Gewichte der Werte", "Ausgabematrix", "Bias der Anfragen", "Bias der Schlüssel", "Bias der Werte"),
            *("Zustand des Decoders", "Zustände des Encoders, einer je Zeile", "Gewichtsmatrix"),
            *("Gewichtsmatrix der Zustände", "Bewertungsvektor"),
        ),
    ),
)
FRENCH = Words(
    "Exercice : {}",
    "Calculer {}.",
    "Le masque est causal : un token ne voit que lui-même et les précédents.",
    "Les tokens sont des colonnes.",
    "Ici {}.",
    "Corrigé",
    "Tête {}",
    "Toutes les têtes",
    _roles(
        *("Requêtes", "Clés", "Valeurs", "Produits scalaires", "Après division", "Scores masqués", "Poids (softmax)"),
        *("Sortie de la tête", "Concaténation", "Sortie", "Vecteur de contexte", "Exponentielles et sommes"),
        givens=(
            *("Tokens", "Tokens de l'encodeur", "Poids des requêtes", "Poids des clés", "Poids des valeurs"),
            *("Matrice de sortie", "Biais des requêtes", "Biais des clés", "Biais des valeurs", "État du décodeur"),
            *("États de l'encodeur, un par ligne", "Matrice de poids", "Matrice de poids des états"),
            "Vecteur de score",
        ),
    ),
)
SPANISH = Words(
    "Ejercicio: {}",
    "Calcule {}.",
    "La máscara es causal: cada token ve los anteriores y a sí mismo.",
    "Los tokens son columnas.",
    "Aquí {}.",
    "Solución",
    "Cabeza {}",
    "Todas las cabezas",
    _roles(
        *("Consultas", "Claves", "Valores", "Puntuaciones", "Puntuaciones escaladas", "Con máscara", "Pesos (softmax)"),
        *("Salida de la cabeza", "Concatenación", "Salida", "Vector de contexto", "Exponenciales y sumas"),
        givens=(
            *("Tokens", "Tokens del codificador", "Pesos de las consultas", "Pesos de las claves"),
            *("Pesos de los valores", "Matriz de salida", "Sesgo de las consultas", "Sesgo de las claves"),
            *("Sesgo de los valores", "Estado del decodificador", "Estados del codificador, uno por fila"),
            *("Matriz de pesos", "Matriz de pesos de los estados", "Vector de puntuación"),
        ),
    ),
)
ITALIAN = Words(
    "Esercizio: {}",
    "Calcolare {}.",
    "La maschera è causale: ogni token vede sé stesso e i precedenti.",
    "I token sono colonne.",
    "Qui {}.",
    "Soluzione",
    "Testa {}",
    "Tutte le teste",
    _roles(
        *("Query", "Chiavi", "Valori", "Punteggi", "Punteggi scalati", "Punteggi mascherati", "Pesi di attenzione"),
        *("Uscita della testa", "Concatenazione", "Uscita", "Vettore di contesto", "Esponenziali e somme"),
    ),
)
PORTUGUESE = Words(
    "Exercício: {}",
    "Calcule {}.",
    "A máscara é causal: cada token vê a si mesmo e os anteriores.",
    "Os tokens são colunas.",
    "Aqui {}.",
    "Resolução",
    "Cabeça {}",
    "Todas as cabeças",
    _roles(
        *("Consultas", "Chaves", "Valores", "Pontuações", "Pontuações escaladas", "Com máscara", "Pesos de atenção"),
        *("Saída da cabeça", "Concatenação", "Saída", "Vetor de contexto", "Exponenciais e somas"),
    ),
)
RUSSIAN = Words(
    "Задача: {}",
    "Вычислите {}.",
    "Маска причинная: токен видит себя и предыдущие токены.",
    "Токены — столбцы.",
    "Здесь {}.",
    "Решение",
    "Голова {}",
    "Все головы",
    _roles(
        *("Запросы", "Ключи", "Значения", "Оценки", "Масштабированные оценки", "С маской", "Веса внимания"),
        *("Выход головы", "Конкатенация", "Выход", "Вектор контекста", "Экспоненты и суммы"),
    ),
)
CHINESE = Words(
    "练习:{}",
    "计算 {}。",
    "使用因果掩码:每个词元只能看到自己和之前的词元。",
    "词元是列。",
    "其中 {}。",
    "解答",
    "头 {}",
    "所有头",
    _roles(
        *("查询", "键", "值", "得分", "缩放后的得分", "掩码后的得分", "注意力权重"),
        *("该头的输出", "拼接", "输出", "上下文向量", "指数与求和"),
        givens=(
            *("词元", "编码器的词元", "查询的权重", "键的权重", "值的权重", "输出矩阵", "查询的偏置", "键的偏置"),
            *("值的偏置", "解码器状态", "编码器状态,每行一个", "权重矩阵", "状态的权重矩阵", "打分向量"),
        ),
    ),
)
SILENT = Words("", "", "", "", "", "", "", "", {})  # formulas only
LANGUAGES: dict[str, Words] = {
    "en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH,
    "it": ITALIAN, "pt": PORTUGUESE, "ru": RUSSIAN, "zh": CHINESE, "": SILENT,
}  # fmt: skip
