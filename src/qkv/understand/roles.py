"""What a symbol or a phrase is about: knowledge in tables, looked up by a few lines.

A symbol may fit several roles (S: scores or scaled scores); they are listed likeliest first, and the numbers decide.
"""

from __future__ import annotations

import re
from functools import lru_cache

from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.expr.wording import Wording
from qkv.records import dataclass

R = Role

# Letters with a label: W^Q, b_K … The label decides.
WEIGHT_LABELS = {"Q": R.W_Q, "K": R.W_K, "V": R.W_V, "O": R.W_O}
BIAS_LABELS = {"Q": R.B_Q, "K": R.B_K, "V": R.B_V, "O": R.B_O}

BASES: dict[str, tuple[Role, ...]] = {
    "X": (R.X,),
    "x": (R.X,),
    "Q": (R.Q,),
    "q": (R.Q,),
    "K": (R.K,),
    "k": (R.K,),
    "V": (R.V,),
    "v": (R.V,),
    "query": (R.Q,),
    "key": (R.K,),
    "value": (R.V,),
    "queries": (R.Q,),
    "keys": (R.K,),
    "values": (R.V,),
    "E": (R.SCORES, R.SCALED, R.MASKED),
    "e": (R.SCORES, R.SCALED, R.MASKED),
    "S": (R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS),
    "z": (R.SCORES, R.SCALED, R.OUTPUT),
    "score": (R.SCORES, R.SCALED, R.MASKED),
    "scores": (R.SCORES, R.SCALED, R.MASKED),
    "logits": (R.SCORES, R.SCALED, R.MASKED),
    "scaledscores": (R.SCALED,),
    "scaled": (R.SCALED,),
    "maskedscores": (R.MASKED,),
    "masked": (R.MASKED,),
    "A": (R.WEIGHTS, R.SCORES, R.SCALED),
    "a": (R.WEIGHTS, R.SCORES),
    "alpha": (R.WEIGHTS,),
    "omega": (R.SCORES, R.SCALED),
    "P": (R.WEIGHTS,),
    "w": (R.WEIGHTS,),
    "weights": (R.WEIGHTS,),
    "weight": (R.WEIGHTS,),
    "attentionweights": (R.WEIGHTS,),
    "attn": (R.WEIGHTS, R.OUTPUT),
    "attention": (R.OUTPUT, R.WEIGHTS),
    "softmax": (R.WEIGHTS,),
    "Z": (R.OUTPUT, R.SCORES),
    "O": (R.OUTPUT,),
    "o": (R.OUTPUT,),
    "Y": (R.OUTPUT, R.Y),
    "y": (R.OUTPUT, R.Y),
    "C": (R.OUTPUT, R.CONTEXT, R.CONCAT),
    "c": (R.CONTEXT, R.OUTPUT),
    "context": (R.CONTEXT, R.OUTPUT),
    "output": (R.OUTPUT,),
    "out": (R.OUTPUT,),
    "result": (R.OUTPUT,),
    "head": (R.HEAD,),
    "concat": (R.CONCAT,),
    "multihead": (R.OUTPUT,),
    "mha": (R.OUTPUT,),
    "H": (R.STATES, R.HEAD, R.X),
    "h": (R.STATES, R.X),
    "s": (R.SOURCE, R.SCORES, R.SCALED),
    "M": (R.MASK, R.OUTPUT),
    "mask": (R.MASK,),
    "U": (R.U_A,),
}

# Letters that a scanner makes of a Q.
MISREAD_Q = frozenset({"Omega", "emptyset", "alpha", "O", "varnothing", "phi"})

D_LABELS = {"k": R.D_K, "K": R.D_K, "v": R.D_V, "V": R.D_V, "model": R.D_MODEL, "h": R.D_K, "q": R.D_K}

STAGE_LABELS = {
    "masked": R.MASKED,
    "mask": R.MASKED,
    "scaled": R.SCALED,
    "causal": R.MASKED,
    "norm": R.SCALED,
    "tilde": R.SCALED,
}
SCORE_ROLES = frozenset({R.SCORES, R.SCALED, R.MASKED})

PRIMARY = frozenset(
    {R.X, R.Y, R.W_Q, R.W_K, R.W_V, R.W_O, R.B_Q, R.B_K, R.B_V, R.B_O, R.SOURCE, R.STATES, R.W_A, R.U_A, R.V_A, R.MASK}
)
DERIVED = frozenset({R.Q, R.K, R.V, R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.HEAD, R.CONCAT, R.OUTPUT, R.CONTEXT})


# Long names, as code and plain text have them; matched anywhere in the name.
WORD_ROLES: tuple[tuple[str, Role], ...] = (
    (r"dec(?:oder)?_?(?:hidden)?_?state|query_?vector", R.SOURCE),
    (r"annotations?|enc(?:oder)?_?(?:hidden)?_?states?", R.STATES),
)


@lru_cache(maxsize=4096)
def roles_of(symbol: Symbol) -> tuple[Role, ...]:
    """The roles that a symbol may play, likeliest first; empty where nothing is known.

    >>> roles_of(Symbol("W", ("Q",), ("1",)))[0].value, roles_of(Symbol("E"))[0].value
    ('W_Q', 'scores')
    """
    base, labels = symbol.base, symbol.labels
    upper = {label.upper() for label in labels}
    if base in ("W", "Theta") or (base == "w" and labels) or (base == "M" and upper & WEIGHT_LABELS.keys()):
        # W_1 and W_2 are matrices of their own, such as those of a feed-forward layer.
        alone = labels in (("a",), ("A",), ("s",)) or (not labels and not symbol.indices)
        return _labelled(labels, WEIGHT_LABELS) or ((R.W_A,) if alone else ())
    if base == "Omega":  # Ω_q is a weight matrix; Ω alone may be a Q that was misread
        return _labelled(labels, WEIGHT_LABELS)
    if base == "b" or (base == "beta" and labels):
        return _labelled(labels, BIAS_LABELS)
    if base in ("d", "D"):
        return tuple(D_LABELS[x] for x in labels if x in D_LABELS)[:1]
    if base == "v" and labels == ("a",):
        return (R.V_A,)
    if base in ("U", "W") and labels == ("a",):
        return (R.U_A,) if base == "U" else (R.W_A,)
    found = BASES.get(base) or BASES.get(re.sub(r"[^a-z]", "", base.lower())) or _of_words(base.lower())
    if not found:
        found = tuple(role for pattern, role in WORD_ROLES if re.search(pattern, base, re.IGNORECASE))
    if not found and len(base) > 3 and base.isalpha():
        found = _spoken(base.lower())
    stages = [STAGE_LABELS[x.lower()] for x in labels if x.lower() in STAGE_LABELS]
    if stages and SCORE_ROLES.intersection(found):
        return (stages[0],)
    return found


def _spoken(word: str) -> tuple[Role, ...]:
    """The role of a name that is a word of some language: Gewichte, salida."""
    if not _PHRASE.may_occur(word):
        return ()
    roles = (role for role, pattern in PHRASES if re.fullmatch(rf"(?:{pattern})[^\W\d_]{{0,4}}", word))
    return tuple(roles)[:1]


# 'attention scores', 'final output', 'context vectors': a noun with a word before or after it that tells no other role.
QUALIFIERS = frozenset("attention attn raw final unnormalized unnormalised normalized normalised".split())  # noqa: SIM905
SHAPES = frozenset({"vector", "vectors", "matrix"})


def _of_words(base: str) -> tuple[Role, ...]:
    words = [word for word in base.split("_") if word not in SHAPES]
    while len(words) > 1 and words[0] in QUALIFIERS:
        words = words[1:]
    return BASES.get(words[0], ()) if len(words) == 1 and words[0] != base else ()


def _labelled(labels: tuple[str, ...], table: dict[str, Role]) -> tuple[Role, ...]:
    """The role of W^Q; a label beside the letter must be a plain word (head, enc), as W^{UK} is no W^K."""
    found = [table[label.upper()] for label in labels if label.upper() in table]
    rest = [label for label in labels if label.upper() not in table]
    return tuple(found) if len(found) == 1 and all(len(label) > 2 or label in "hi" for label in rest) else ()


# Words that tell what a nameless matrix is, in the languages of the sheets; matched in lower case, the last one in a
# sentence wins, and among those that begin together the longest. Stems, so that endings do not matter.
PHRASES: tuple[tuple[Role, str], ...] = (
    (
        R.MASKED,
        r"mask(?:ed|ing)?(?: (?:scaled )?scores?)?|marking|masqu|maskier|enmascar|mascar|mascher|маск|掩码|遮罩|マスク|마스[크킹]",
    ),
    (
        R.OUTPUT,  # a weighted sum, whose words begin as those for weights
        r"gewicht\w+ (?:summe|mittel)|gewogen (?:som|gemiddelde)|ağırlıklı (?:toplam|ortalama)|重み付き[和平]|加权(?:求?和|平均)|가중\s?[합평]",
    ),
    (
        R.WEIGHTS,
        r"softmax|sthmn|attention weights?|weights?\b(?! matri)|prob(?:abilit|s\b)|gewicht|wichtung|poids|pesos?\b|pesi\b|wagi?\b|ağırlık|веса|权重|注意力权重|重み|归一|가중치|소프트맥스",
    ),
    (
        R.SCALED,
        r"scal(?:e|ed|ing|at[aoi])\b(?: scores?| dot products?)?|divid(?:e|ed|i|ing)|skalier|skalow|divis|éche|escal|teil(?:e|en|t) durch|geschaald"
        r"|gedeeld|dzielimy|делим|ölçek|böl[eü]|缩放|除以|スケール|割る|割って|스케일|나누",
    ),
    (
        R.SCORES,
        r"scores?|dot products?|punktzahl|skalarprodukt|puntuaci|pontuaç|punteggi|produits? scalaires?|prodott[oi] scalar|produc?tos? (?:escalar|intern)"
        r"|iloczyn\w* skalarn|оцен|puan|skorlar|iç çarpım|分数|得分|点积|スコア|内積|점수|내적",
    ),
    (R.CONCAT, r"concat|verkett|aneinander|concat[eé]n|конкат|złącz|birleştir|拼接|連結"),
    (
        R.OUTPUT,
        r"outputs?|times v\b|multipl\w+ (?:by|with) v|weighted sum|somm[ea] (?:pondérée|p[eo][sn]\w+)|s[ou]ma ponderada|ważon\w+ sum|взвешенн\w+ сумм|result"
        r"|ausgabe|sortie|salida|saída|uscita|uitvoer|wyjści|выход|çıktı|输出|出力|출력|context|contest[oi]|kontext|контекст",
    ),
)


@dataclass(frozen=True, slots=True)
class Cue:
    """What the words before a nameless value say: a role, a row, a head."""

    role: Role | None
    row: int | None
    head: int | None


SILENT = Cue(None, None, None)
_PHRASE = Wording("|".join(pattern for _, pattern in PHRASES), most_stems=200)
_ROLE_PHRASES = tuple((role, late(pattern)) for role, pattern in PHRASES)
ORDINALS = {
    **dict.fromkeys(
        ("first", "erste", "ersten", "erster", "premier", "première", "primera", "primer", "первая", "第一"), 1
    ),
    **dict.fromkeys(("second", "zweite", "zweiten", "zweiter", "deuxième", "segunda", "segundo", "вторая", "第二"), 2),
    **dict.fromkeys(("third", "dritte", "dritten", "troisième", "tercera", "третья", "第三"), 3),
    **dict.fromkeys(("fourth", "vierte", "vierten", "quatrième", "cuarta", "четвертая", "第四"), 4),
}
_ORDINAL = "|".join(sorted(ORDINALS, key=len, reverse=True))
_ROW_WORD = r"rows?|zeilen?|lignes?|filas?|linhas?|rig(?:a|he)|rij|wiersz|строк\w*|satır|行|token|input"
_HEAD_WORD = r"heads?|needs?|kopf|têtes?|cabezas?|cabeças?|testa|hoofd|голов\w*|głow\w*|个\s*头|头|ヘッド|헤드"
# The word for a row or a head, which is sought first, and the word with its number.
_ROW, _HEAD = Wording(_ROW_WORD), Wording(_HEAD_WORD)
_ROW_NUMBER = Wording(rf"(?:{_ROW_WORD})[\s_{{(]*(\d+)|({_ORDINAL})\s*(?:{_ROW_WORD})|第(\d+)行")
_HEAD_NUMBER = Wording(rf"(?:{_HEAD_WORD})[\s_{{(#]*(\d+)\b|\b({_ORDINAL})\s*(?:attention\s+)?(?:{_HEAD_WORD})")


# 'Apply softmax to [1, 0]' shows what softmax is taken of, not what it gives.
_SOFTMAX_OF = Wording(
    r"softmax(?: function)?(?: row[- ]?wise)? (?:to|over|of|on|across|auf|von|über|à|de|sur|a|al|sobre|del|di|к|от|на)"
    r"(?: the| these| this| each| row \d+| den| die| les?| las?| los)?(?: vector| row| list| scores?)?\s*:?\s*$"
)


def cue_of(words: str, first: int = 1) -> Cue:
    """What a stretch of prose says about the value that follows it; `first` is the number of the first row.

    >>> cue_of("Softmax row 2.").role.value, cue_of("Softmax row 2.").row
    ('weights', 2)
    """
    if not words or words.isspace():
        return SILENT
    hits = list(_PHRASE.finditer(words))
    role = _role_at(hits[-1]) if hits else None
    if role is R.WEIGHTS and _SOFTMAX_OF.search(words):
        role = None
    row = _last_number(_ROW_NUMBER, words, first) if _ROW.search(words) else None
    return Cue(role, row, _last_number(_HEAD_NUMBER, words) if _HEAD.search(words) else None)


def _role_at(hit: re.Match[str]) -> Role:
    return next(role for role, pattern in _ROLE_PHRASES if pattern.match(hit.string, hit.start()))


def _last_number(numbered: Wording, words: str, first: int = 1) -> int | None:
    number = None
    for hit in numbered.finditer(words):
        text = next(group for group in hit.groups() if group)
        number = int(text) + 1 - first if text.isdigit() else ORDINALS[text]
    return number


# Words that announce a nameless given.
GIVEN_PHRASES: tuple[tuple[Role, Wording], ...] = (
    (R.STATES, Wording(r"annotations?|encoder (?:hidden )?states?")),
    *(
        (
            role,
            Wording(
                rf"\b(?:weights?|matrix) (?:matrix )?(?:for|of) (?:the )?{word}|{word} (?:projection )?(?:weights?|matrix\b.{{0,9}}\bw)"
            ),
        )
        for role, word in ((R.W_Q, "quer(?:y|ies)"), (R.W_K, "keys?"), (R.W_V, "values?"))
    ),
    (R.X, Wording(r"input (?:matrix|embeddings?|vectors?)|embeddings?\b|词向量|eingabe|entrada")),
)
TOKENS_ARE_COLUMNS = Wording(
    r"(?:tokens?|embeddings?|vectors?|inputs?) (?:are|is|as|form|stand as) (?:the )?columns?|columns? (?:are|of X are|is a) tokens?"
    r"|every \**column\**.{0,30}token|spalten|列向量|tokens? (?:sont|en|son|são)\b.{0,9}\bcol[ou]",
    told=("col", "spalten", "列向量"),
)
PER_COLUMN = Wording(r"(?:per|in|as|each|every|one)\b.{0,20}\bcolumns?")


def is_up_to_itself(words: str) -> bool:
    """A sum over j ≤ i."""
    signs = words.count("\\le") > words.count("\\left") or "≤" in words or "<=" in words
    return signs and _UP_TO.search(words) is not None


def given_cue(words: str) -> Role | None:
    """The given that the words right before a nameless matrix announce."""
    tail = words[-120:]
    return next((role for role, pattern in GIVEN_PHRASES if pattern.search(tail)), None)


CAUSAL = Wording(
    r"causa[al]|kausaal|kauzal|nedensel|przyczyn|인과|look[- ]?ahead|autoregress|mask(?:ed|ing)\b|kausal|maskiert|masqué|causale|enmascarad|mascarad"
    r"|mascherat|gemaskeerd|maskowan|maskelen|маск|因果|掩码|遮罩|マスク|마스[크킹]"
)
PADDING_MASK = Wording(
    r"padding mask|mask\w* (?:out )?(?:the )?<?pad|\bpad(?:ding|ded|s)?\b[^.;:\n]{0,40}\bmask(?:ed|s)?\b|padding-?maske|masque de padding|填充掩码|パディングマスク"
)
CAUSAL_SURELY = Wording(
    r"\bcausal(?:ly)? (?:self-|mask|attention)|causal\b.{0,20}\bmask|look-?ahead mask|autoregressive (?:self-)?attention|因果|kausale? (?:mask|attention|aufmerk)"
    r"|masked (?:multi-?head )?(?:self-?)?attention|maskierte (?:self-?)?(?:attention|aufmerk)|attention masquée|atención enmascarada"
    r"|(?:itself|sich selbst|soi-même|sí mism[oa]|себя) (?:and|und|et|y|и) .{0,20}(?:earlier|previous|preceding|before|past|frühere|vorherige|davor|précédent|anterior|предыдущ)"
    r"|(?:cannot|can't|can not|must not|may not|never) (?:see|attend to|look at) .{0,12}(?:future|later|following|subsequent)"
    r"|미래.{0,12}(?:보지|볼 수|참조)|未来.{0,12}(?:看不|不能|見えな|見な|参照)"
)
TAKEN_OF = Wording(  # 'the softmax of each column of $S$': what follows is not S
    r"\b(?:softmax|exp(?:onentials?)?|normali[sz]\w+|apply|applied|applying|sums?|max\w*|transpose)\b[^.:;]{0,30}\b(?:of|to|over|on)(?: (?:each|every|all|the))?\s*$"
)
SOFTMAX_OF_COLUMNS = Wording(
    r"softmax\b[^.;]{0,40}\b(?:each|every|per|over|of the|down the|along the) \W{0,8}columns?|column-?wise softmax"
    r"|normali[sz]\w+ (?:each|every|the) \W{0,8}columns?\b",
    told=("column",),
)
_UP_TO = late(r"[jJ](?<=\b[jJ])\s*(?:≤|<=|\\leq?(?:slant)?\b)\s*[iI]\b")
NO_MASK = Wording(r"\b(?:no|without|not|un|non)[- ]?(?:a |the )?(?:causal|mask)|later|next (?:section|exercise)")
UNSCALED = Wording(
    r"(?:no|not|not to|without|un)[-*_} ]{0,4}scal|(?:left out|leav(?:e|ing) out|omit\w*|ignor\w*|skip\w*|drop\w*)\b.{0,25}(?:sqrt|√|scal)|without (?:the )?(?:factor|scale|division)|不(?:做|作|进行)?缩放|без масштаб|ohne skalierung|sans (?:mise à l.)?échelle|sin escal|sem escal|senza scal|zonder schal|bez skal|スケーリングなし|스케일링 없이"
)
WITHOUT_SCALE = Wording(r"(?:without|ohne|sans|sin|sem|без|不)\b.{0,25}(?:sqrt|√|scal|skal|缩放)")
EXPONENTIALS = Wording(r"\bexp(?:s|onentials?|onentiated|\s*\(|\s*$)|\be\s?\^|exponent|экспонент|指数")
SHIFTED = Wording(  # scores less their maximum, as machines take a softmax
    r"subtract\w*\b.{0,25}\bmax|minus (?:the )?(?:row )?max|max(?:imum)?[- ]subtract|shift(?:ed|ing) |减去?.{0,8}最大|"
    r"maximum (?:abgezogen|abziehen|subtrahiert?)|soustra\w+.{0,20}\bmax|rest\w+.{0,20}\bm[aá]x|вычита\w+.{0,20}макс"
)
SHARED_KEYS = Wording(r"query-heads|query heads|grouped[- ]quer|\bgqa\b")
FUTURE = Wording(r"weight.{0,40}(?:future|later tokens|tokens after)|zukünftig|futur\b|未来|未來")
HYPOTHETICAL = Wording(
    r"\b(?:let(?!['’]?s\b| us\b)|let(?:['’]?s| us) (?:say|suppose|imagine)|suppose|instead|what if|what (?:happens|changes) if|if we|were to|replaced?|keep)\b|假设|如果|不缩放会|angenommen|stattdessen|supposons|supón|предполож"
    r"|would (?:be|give|have|get|yield|become)\b|würde|serait|seraient|sería|serían|sarebber?o?\b|byłob|было бы|были бы|만약|もし"
    r"|\b(?:weights?|distribution|softmax|outputs?|they|it|which) (?:\w+ )?approach|\btends? to\b|in the limit|strebt gegen|tend vers",
    most_stems=40,
)
REPLACED = Wording(r"\breplaced?\b|\bwhat (?:happens|changes) if\b|ersetz|remplac|reempla|замен")
ONES_FORBID = Wording(
    r"\b(?:1s?|ones?|true)\s*(?:=|:|→|means?|marks?|stands? for|for|are|is|sind|bedeutet|signifie)\s*(?:a\s+|the\s+)?(?:pad|mask|ignor|forbid|block|hidden|verbot)",
)
CAUSAL_FLAG = Wording(r"(?:is_)?causal\s*=\s*true")
COSINE = Wording(
    r"cosine (?:similarit|score|attention)|kosinus-?ähnlich|similarité cosinus|similitud coseno|similaridade (?:de )?cosseno|косинусн|余弦相似|コサイン類似",
)
# Words that hide the future and nothing else; 'masked' alone may mean any mask.
HIDES_FUTURE = Wording(
    r"causa[al]|kausa|kauzal|nedensel|przyczyn|인과|look[- ]?ahead|auto-?regress|каузал|причин|авторегресс|因果|future|subsequent|upper triang|zukünft|futur[ei]?s?\b|будущ|przyszł|toekomst|gelecek|未来|未來|미래",
)
ROOT_SCALE = Wording(
    r"(?:sqrt|√|root)\W{0,4}(?:\{|\()?\s*(?:d|D|\d)|scaled dot|缩放点积|(?:with|use|apply|using) (?:the )?(?:usual |standard )?scaling"
)
PLAIN_SUM = Wording(r"plain sum|sum of the scores|without (?:the )?(?:exponential|softmax)|divided by their sum")
