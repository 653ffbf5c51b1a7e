"""What authors write around their equations, in a few languages."""

from __future__ import annotations

from qkv.expr.names import Role
from qkv.records import dataclass

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


def _roles(*words: str) -> dict[Role, str]:
    return {**GIVENS, **dict(zip(_ORDER, words, strict=True))}


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
    ),
)
LANGUAGES: dict[str, Words] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}
