"""What a name or a phrase usually stands for: the weakest evidence there is, kept in tables.

A name may fit several roles, likeliest first; a page's formulas and numbers decide between them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from qkv.expr.names import Role, Symbol
from qkv.library.words import pattern
from qkv.regex import regex

R = Role


class Place(NamedTuple):
    """What a name stands for: a role, of a head, and of it a row (a token, by number or word) or a cell."""

    role: Role
    head: str | None = None
    row: str | None = None
    column: str | None = None


_SCORES = (R.SCORES, R.SCALED, R.MASKED)
BASES: dict[str, tuple[Role, ...]] = {
    "x": (R.X, R.STATES), "emb": (R.X,), "embedding": (R.X,), "embeddings": (R.X,), "input": (R.X,), "inputs": (R.X,), "tokens": (R.X,),
    "target": (R.X,), "tgt": (R.X,), "memory": (R.Y,), "src": (R.Y,),
    "q": (R.Q,), "query": (R.Q,), "queries": (R.Q,), "k": (R.K,), "key": (R.K,), "keys": (R.K,),
    "v": (R.V,), "value": (R.V,), "values": (R.V,),
    "s": (*_SCORES, R.SOURCE), "e": (*_SCORES, R.X), "score": _SCORES, "scores": _SCORES, "logits": _SCORES, "l": _SCORES, "omega": _SCORES,
    "rawscores": (R.SCORES,), "scaled": (R.SCALED,), "scaledscores": (R.SCALED,), "masked": (R.MASKED,), "maskedscores": (R.MASKED,),
    "a": (R.WEIGHTS, *_SCORES), "alpha": (R.WEIGHTS,), "p": (R.WEIGHTS, R.SCALED), "w": (R.WEIGHTS,), "weight": (R.WEIGHTS,), "weights": (R.WEIGHTS,),
    "attentionweights": (R.WEIGHTS,), "attn": (R.WEIGHTS, R.HEAD), "attnweights": (R.WEIGHTS,), "softmax": (R.WEIGHTS,),
    "z": (R.HEAD, R.OUTPUT, *_SCORES), "o": (R.HEAD, R.OUTPUT), "c": (R.HEAD, R.CONCAT), "y": (R.HEAD, R.OUTPUT, R.Y), "r": (R.HEAD,),
    "out": (R.HEAD, R.OUTPUT), "output": (R.HEAD, R.OUTPUT), "context": (R.HEAD,), "head": (R.HEAD,), "attention": (R.HEAD, R.WEIGHTS),
    "result": (R.HEAD, R.OUTPUT), "attentionoutput": (R.HEAD, R.OUTPUT), "concat": (R.CONCAT,), "multihead": (R.OUTPUT,), "mha": (R.OUTPUT,),
    "m": (R.MASK, R.CONCAT), "mask": (R.MASK,), "h": (R.STATES, R.X, R.HEAD), "t": (R.SCORES,), "f": (R.OUTPUT,), "final": (R.OUTPUT,),
}  # fmt: skip
LABELLED = {"Q": "Q", "K": "K", "V": "V", "O": "O", "OUT": "O", "QUERY": "Q", "KEY": "K", "VALUE": "V"}
SIZES = {"K": R.D_K, "Q": R.D_K, "H": R.D_K, "HEAD": R.D_K, "V": R.D_V, "MODEL": R.D_MODEL, "M": R.D_MODEL}
STAGES = {
    "masked": R.MASKED,
    "mask": R.MASKED,
    "causal": R.MASKED,
    "scaled": R.SCALED,
    "norm": R.SCALED,
    "tilde": R.SCALED,
}
ACCENTS = frozenset({"hat", "tilde", "bar", "prime", "vec"})
CACHED = frozenset({"cache", "cached", "past"})  # keys and values of the tokens before
SCORE_LIKE = frozenset({R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS})

# What a role is called in a sentence.
SAID: dict[Role, str] = {
    R.X: "tokens",
    R.Y: "tokens of the other sequence",
    R.W_Q: "query weights",
    R.W_K: "key weights",
    R.W_V: "value weights",
    R.W_O: "output weights",
    R.B_Q: "query bias",
    R.B_K: "key bias",
    R.B_V: "value bias",
    R.B_O: "output bias",
    R.Q: "queries",
    R.K: "keys",
    R.V: "values",
    R.SOURCE: "vector that attends",
    R.STATES: "vectors that are attended to",
    R.SCORES: "scores",
    R.SCALED: "scaled scores",
    R.MASKED: "masked scores",
    R.MASK: "mask",
    R.WEIGHTS: "attention weights",
    R.HEAD: "output of attention",
    R.CONCAT: "heads side by side",
    R.OUTPUT: "output",
    R.D_K: "size of a key",
    R.D_V: "size of a value",
    R.D_MODEL: "size of a token",
    R.HEADS: "number of heads",
    R.OTHER: "",
}

# What words say: a role, and stems in many languages.
WORDS: tuple[tuple[Role, str], ...] = (
    (R.SCORES, r"scores?\b|\bskor|inwendig\w* product|skalärprodukt|skalarproduk[td]|skalární součin|tích vô hướng|hasil kali titik|iloczyn\w* skalarn|logits?|similarit|dot.?products?|energ(?:y|ies)|分数|得分|分數|puntua|pontua|skalarprodukt|produits? scalaires?|prod[ou](?:c?tos?|tt[oi]) (?:escalar(?:es)?|punto|interno|scalar[ei])|punteggi|скалярн\w+ произведени|点积|点乘|內積|内積|内积|оценк|スコア|내적|점수"),
    (R.SCALED, r"(?:\bscal(?:ed|ing|e)|divid|÷|skalier|scalat|geteilt|缩放|縮放|escal|dividi|масштаб|делен|ділен|スケール|échelle|mise à l'échelle)(?:\w* (?:attention )?(?:scores?\b|logits?|dot.?products?|werte\b|оценки)|后?的?(?:得分|分数|點積|点积))?"),
    (R.MASKED, r"(?:\bmasked|maskiert|masqu|掩码后|enmascara|mascara|mascherat|маскир|с маской)(?:\w* (?:attention )?(?:scores?\b|logits?|оценки)|后?的?(?:得分|分数))?"),
    (R.WEIGHTS, r"weights?\b|\bvikt(?:er|erna)?\b|\bvekt(?:er|ene)?\b|painot?\b|\bváhy?\b|trọng số|\bbobot\b|softmax|probabilit|attention (?:matrix|distribution)|aufmerksamkeitsmatrix|matri(?:z|ce) d(?:e |i |')(?:auto)?att?en[cçtz]|матриц\w+ внимания|注意力矩阵|注意力分布|pesi\b|\bwagi?\b|ağırlık|权重|權重|gewicht|pesos?\b|poids|вес[аыо]|ваг|重み|가중치|normali[sz]"),
    (R.HEAD, r"outputs?\b|uitvoer|utdata|\bçıktı|výstup|đầu ra|keluaran|\bwynik|wyjści|(?:new|updated|resulting|enriched) (?:\w+ )?(?:vector|embedding|representation)s?\b|(?:neue[rsn]?|aktualisierte[rsn]?) (?:vektor|darstellung|repräsentation)|nouve(?:au|lle) (?:vecteur|représentation)|nuev[oa] (?:vector|representación)|nov[oa] (?:vetor|representação)|nuov[oa] (?:vettore|rappresentazione)|нов(?:ый вектор|ое представление)|新的?(?:向量|表示|ベクトル)|context|weighted (?:sum|average|values)|gewichtete[rns]? (?:summe|mittel)|somme pondérée|suma ponderada|soma ponderada|somma pesata|взвешенн|加权(?:求)?和|重み付き和|representation|results?\b|输出|輸出|ausgabe|kontext|salida|saída|sortie|выход|вихід|出力|출력|contexto|contesto|контекст|上下文|\buscit[ae]\b"),
    (R.CONCAT, r"concat|конкатен|拼接|verkett|side by side|連結"),
    (R.OUTPUT, r"final|output projection|project|最终"),
    (R.W_Q, r"weights? (?:matrix )?(?:for|of) (?:the )?quer(?:y|ies)|query (?:weights?|projection)(?: matrix)?\b"),
    (R.W_K, r"weights? (?:matrix )?(?:for|of) (?:the )?keys?\b|key (?:weights?|projection)(?: matrix)?\b"),
    (R.W_V, r"weights? (?:matrix )?(?:for|of) (?:the )?values?\b|value (?:weights?|projection)(?: matrix)?\b"),
    (R.Q, r"\bquer(?:y|ies)|\bvra(?:ag|gen)\b|\bfråg(?:a|or)|spørring|kysely|sorgu(?:lar)?\b|dotaz|truy vấn|\bkueri|запит|zapytani|anfrage|consultas?|requête|запрос|查询|查詢|クエリ|쿼리"),
    (R.K, r"\bkeys?\b|sleutels?\b|nycke?l|nøk(?:kel|ler)|nøgle|\bavai(?:n|met)\b|anahtar|klíč|\bkhóa\b|\bkunci\b|klucz|schlüssel|chaves?|clés?|claves?|chiav[ei]\b|ключ|键|鍵|キー|키"),
    (R.V, r"\bvalues?\b|waarden?\b|värden?\b|\bverdi(?:er)?\b|\bværdi|\barvot?\b|\bdeğer|hodnot|giá trị|\bnilai\b|wartości|\bwerte?\b|valor(?:e[si]?|i)?\b|valeurs?\b|значен|值|バリュー|값"),
    (R.X, r"embedding|\binputs?\b|tokens?\b|eingabe|entrada|entrée|输入|輸入|вход|words?\b|wörter|入力|입력|词元"),
    (R.Y, r"tokens? (?:of the encoder|des encoders|de l'encodeur|del? codificador)|编码器的词元|encoder tokens?|second sequence"),
    (R.STATES, r"annotations?|encoder (?:(?:hidden )?states?|outputs?)|hidden states?|zustände des encoders|états de l'encodeur|estados del? codificador|编码器状态"),
    (R.SOURCE, r"decoder (?:hidden )?state|zustand des decoders|état du décodeur|estado del? decodificador|解码器状态"),
    (R.OTHER, r"adjacency|adjazenz|adjacence|adyacencia|adjacência|adiacenza|смежности|邻接|鄰接|隣接|인접"),
    (R.MASK, r"\bmask\b|maske\b|máscara|掩码"),
)  # fmt: skip
_PATTERNS = tuple((role, regex(words)) for role, words in WORDS)  # of words in small letters
_OTHER_OUTPUT = regex(  # of another layer than attention
    rf"(?<!\w)(?:{pattern('norm')}|{pattern('feed')})\W+(?:{pattern('output')})(?!\w)"
)


def _small(text: str) -> str:
    """A text in small letters, each in its place. Patterns find them many times faster than letters of any size."""
    return text.replace("İ", "i").lower()  # whose small letter is two characters


@lru_cache(maxsize=4096)  # every reading of a page asks for the same words
def roles_in_words(text: str) -> tuple[Role, ...]:
    """The roles that words speak of, the last one mentioned first.

    >>> roles_in_words("Attention weights (softmax of the scores):")[:2]
    (<Role.SCORES: 'scores'>, <Role.WEIGHTS: 'weights'>)
    """
    spots = []
    text = _OTHER_OUTPUT.sub(" ", _small(text))
    for role, said in _PATTERNS:
        last = next(reversed(list(said.finditer(text))), None)
        if last is not None:
            spots.append((-last.end(), last.start(), role))  # 'scaled scores' are scaled
    return tuple(role for *_, role in sorted(spots, key=lambda spot: spot[:2]))


def mentions(text: str) -> list[tuple[int, int, Role]]:
    """Where words of a text speak of roles, from left to right; of words within others the longer ones.

    >>> mentions("a key and two values")
    [(2, 5, <Role.K: 'K'>), (14, 20, <Role.V: 'V'>)]
    """
    words = _small(text)
    spots = [(m.start(), m.end(), role) for role, said in _PATTERNS for m in said.finditer(words) if m[0]]
    kept: list[tuple[int, int, Role]] = []
    for spot in sorted(spots, key=lambda spot: (spot[0] - spot[1], spot[0])):
        if all(spot[1] <= first or last <= spot[0] for first, last, _ in kept):
            kept.append(spot)
    return sorted(kept, key=lambda spot: spot[0])


_WEIGHTS_OF = {R.Q: (R.W_Q, R.B_Q), R.K: (R.W_K, R.B_K), R.V: (R.W_V, R.B_V), R.HEAD: (R.W_O, R.B_O)}
_BIAS = regex(r"\bbias|\bbiais|sesgo|смещен|偏置|バイアス|편향", re.IGNORECASE)
_MATRIX = regex(r"\bmatri[xcz]|матриц|矩阵|矩陣|行列|행렬", re.IGNORECASE)


_SENTENCE_END = regex(r"[.!?。]\s+")


def role_in_caption(text: str) -> Role | None:
    """The role that a caption gives what stands below it: 'Queries', 'Weights of the queries', 'Bias of the keys'.

    >>> role_in_caption("Weights of the queries"), role_in_caption("Attention weights")
    (<Role.W_Q: 'W_Q'>, <Role.WEIGHTS: 'weights'>)
    """
    last = _SENTENCE_END.split(text)[-1]  # 'two rows a matrix. Queries' speaks of queries
    text = last if roles_in_words(last) else text
    said = roles_in_words(text)
    of = next((role for role in said if role in _WEIGHTS_OF), None)
    if of is not None and (_BIAS.search(text) or _MATRIX.search(text) or (R.WEIGHTS in said and of is not R.HEAD)):
        return _WEIGHTS_OF[of][bool(_BIAS.search(text))]
    return said[0] if said else None


@lru_cache(maxsize=4096)
def places(symbol: Symbol) -> tuple[Place, ...]:
    """What a name may stand for, likeliest first; nothing where its letters say nothing.

    >>> places(Symbol("W", ("Q",), ("1",)))
    (Place(role=<Role.W_Q: 'W_Q'>, head='1', row=None, column=None),)
    """
    low = symbol.base.lower()
    upper = {label.upper() for label in symbol.labels}
    if found := _weights(symbol, low, upper):
        return found
    if low == "d":
        return tuple(Place(SIZES[label]) for label in sorted(upper & SIZES.keys()))[:1]
    return tuple(_placed(symbol, role) for role in _roles(symbol, low))


def _weights(symbol: Symbol, low: str, upper: set[str]) -> tuple[Place, ...]:
    """W_Q, Wq, b_K, W_a …: the label decides."""
    joined = re.fullmatch(r"(w|b|weight|bias|proj)_?(q|k|v|o|out|query|key|value)", low)
    kind, labels = (joined[1], {joined[2].upper()}) if joined else (low, upper)
    if upper == {"A"} and low in ("w", "u", "v"):
        return (Place({"w": R.W_A, "u": R.U_A, "v": R.V_A}[low]),)
    if kind not in ("w", "b", "weight", "bias", "proj", "theta", "omega"):
        return ()
    which = next((LABELLED[label] for label in sorted(labels) if label in LABELLED), None)
    if which is None:
        return ()
    head = symbol.indices[0] if symbol.indices else None
    return (Place(Role(("b_" if kind.startswith("b") else "W_") + which), head),)


_FACTOR = regex(r"(?:scal(?:e|ing)|skalierung|échelle|escala)(?:s?_?fa[ck]tor)?")  # what scores are divided by


def _roles(symbol: Symbol, low: str) -> tuple[Role, ...]:
    if symbol.base == "W" or re.match(r"d[A-Z]", symbol.base) or _FACTOR.fullmatch(low):  # dOutput is a gradient
        return ()
    found = BASES.get(low) or BASES.get(re.sub(r"[^a-z]", "", low), ())
    if not found and (len(low) > 3 or not low.isascii()):
        found = roles_in_words(low.replace("_", " "))[:1]
    stages = [STAGES[label.lower()] for label in symbol.labels if label.lower() in STAGES]
    if SCORE_LIKE.intersection(found) and (stages or symbol.primes):
        kept = found[:1] if found[0] is R.WEIGHTS and R.MASKED in stages else ()  # A_masked: weights of masked scores
        return (*kept, stages[0]) if stages else (R.SCALED, R.MASKED, *found)
    if symbol.base == "H":
        return R.X, R.STATES, R.HEAD
    return found


_COUNTED = regex(
    rf"(?<![^\W_])(?:(?:{pattern('head')})_(?P<head>\d{{1,2}})|(?:{pattern('line')})_(?P<row>\d{{1,2}}))(?![^\W_])"
)


def _placed(symbol: Symbol, role: Role) -> Place:
    """Where in a role the scripts of a name point: a head, a token, a cell; and words that are a name, 'row 2 weights'."""
    low = symbol.base.lower()
    if "_" in low and (counted := _COUNTED.search(low)):
        return Place(role, counted["head"], counted["row"])
    words = [
        label
        for label in symbol.labels
        if label.lower() not in STAGES and label.lower() not in ACCENTS | CACHED | {"raw", "dot"}
    ]
    indices = symbol.indices
    if len(indices) == 1 and role in SCORE_LIKE and re.fullmatch(r"\d\d", indices[0]):
        indices = tuple(indices[0])
    single = len(indices) == 1 and role in SCORE_LIKE and indices[0].isalpha()  # score_i is a score
    whole = (
        symbol.base[:1].isupper()
        or low == "head"
        or (not single and len(low) > 3 and low not in ("alpha", "omega", "query", "value"))
    )
    if not indices and len(words) == 1 and (len(words[0]) > 1 or not words[0].isascii() or not whole):
        return Place(role, None, words[0])
    if not indices and len(words) == 2 and role in SCORE_LIKE:
        return Place(role, None, words[0], words[1])
    if not indices or role is R.SOURCE:
        return Place(role)
    if len(indices) == 1:
        return Place(role, indices[0]) if whole else Place(role, None, indices[0])
    if role in SCORE_LIKE:
        if len(indices) == 2:
            return Place(role, None, *indices)
        return Place(role, indices[0], indices[1], indices[2])
    return Place(role, indices[0], indices[1])
