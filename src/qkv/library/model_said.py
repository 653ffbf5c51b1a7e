"""How pages say the sizes of a model, and what they ask to be counted of it: a row a size or a part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

_NUMBER = r"(?P<{}>\d{{1,3}}(?:[ ,.\u202f]\d{{3}})+(?!\d)|\d+(?:[.,]\d+)?)"
_SUFFIX = r"\s?(?P<{}>[kKMBT]\b|thousand\b|millions?\b|billions?\b|trillions?\b|milliards?\b|Milliarden\b|Mio\b|Mrd\b|млн\b|млрд\b|mil millones\b)?"
_SIGN = (
    r"(?:\s*\([^()]{1,24}\))?[\s*$`]*(?:[:=|]|is\b|of\b|beträgt|de\b|von\b|est\b|es\b|è\b|は|为|是|равен|равна)[\s*$`]*"
)
_BESIDE = rf"(?:{_SIGN}|[\s*$`]+)"
_COUNTS = ("L", "h", "h_kv", "P")  # 32 layers 8 heads: the number stands before the word
LAYERS = r"(?:transformer |decoder |encoder |identical )?(?:layers?|blocks?|schichten|couches|capas|camadas|strati|сло[йеёя]\w*|层|層|레이어|층)"
_HEADS = r"(?:heads?|köpfe|têtes?|cabezas?|cabeças?|teste|голов\w*|个?头|ヘッド|헤드)"
_KV = r"(?:KV|key[-/ ]?value|K/V)"

# (size, what stands before its number, what stands behind it); a name in code or letters is one of the former
_ROWS: tuple[tuple[str, str, str], ...] = (
    ("L", r"(?:n_layers?|num_layers|num_hidden_layers|n_blocks|(?:number of )?layers?|\bL\b)", LAYERS),
    (
        "h_kv",
        rf"(?:n_kv_heads?|num_key_value_heads|kv_heads|n_kv|h_kv|(?:number of )?{_KV}[- ]heads?)",
        rf"{_KV}[- ]?{_HEADS}|{_HEADS} {_KV}",
    ),
    (
        "d_head",
        r"(?:head[_ ]dim(?:ension)?|head size|d_head|d_h|dim_head|d_k|размер\w* головы|dimension (?:de|par|por) (?:la )?(?:tête|cabeza)|dimensão (?:por|da) cabeça|kopfdimension|kopfgröße)",
        r"dimensions? (?:per|a|each) head",
    ),
    (
        "h",
        r"(?:n_heads?|num_heads|num_attention_heads|(?:number of )?(?:attention )?heads|\bh\b)",
        rf"(?:attention |query |Q )?{_HEADS}(?! (?:kv|dim|size))",
    ),
    (
        "d",
        r"(?:d_?\{?model\}?|d_\{\\text\{model\}\}|hidden[_ ](?:size|dim(?:ension)?)|n_embd|embedding (?:size|dim(?:ension)?)|model (?:dim(?:ension)?|width)|скрыт\w+ размер\w*|hidden dimension)",
        r"hidden (?:size|units|dimensions?)",
    ),
    (
        "d_ff",
        r"(?:d_?\{?ffn?\}?|d_\{\\text\{ff\}\}|intermediate_size|(?:feed[- ]?forward|ffn|mlp|inner) (?:size|width|dim(?:ension)?)|inner layer)",
        r"inner units",
    ),
    (
        "V",
        r"(?:vocab(?:ulary|_size)?(?: size)?|n_vocab|\|V\||wortschatz|vocabulaire|vocabulario|vocabulário|словар\w*|词表大?小?)",
        r"(?:vocabulary )?(?:words|entries) in the vocabulary",
    ),
    (
        "B",
        r"(?:batch(?:[_ ]size)?|batchgröße|taille de lot|lote|размер батча|批大?小?)",
        r"(?:concurrent |parallel |simultaneous )?(?:sequences|requests|users|requêtes|anfragen|peticiones|requisições|запрос\w*)",
    ),
    (
        "n",
        r"(?:seq_len|sequence length|context(?:[_ ]length| window| size)?|sequenzlänge|kontextlänge|longueur (?:de séquence|du contexte)|longitud (?:de secuencia|de contexto)|comprimento (?:de|da) sequência|длин\w+ (?:контекста|последовательности)|序列长度|上下文长度|\bn\b)",
        r"[- ]?(?:tokens?|context\b|jetons|токен\w*|个?词元|トークン|토큰)",
    ),
    (
        "P",
        r"(?:parameter count|number of parameters)",
        r"(?:model )?(?:params?|parameters?|parametern?|paramètres|parámetros|parâmetros|parametri|параметр\w*|参数)",
    ),
)
_TABLE = tuple(
    (
        size,
        re.compile(
            rf"(?<!\w)(?:{before}){_SIGN if size in _COUNTS else _BESIDE}{_NUMBER.format('a')}{_SUFFIX.format('u')}",
            re.IGNORECASE,
        ),
        re.compile(rf"(?<![\w.,]){_NUMBER.format('a')}{_SUFFIX.format('u')}[\s-]*(?:{behind})", re.IGNORECASE),
    )
    for size, before, behind in _ROWS
)
_PRECISIONS = (
    (Fraction(4), r"(?:fp|float|f)-?32\b|32[- ]?bit|single precision|4[- ](?:bytes?|octets?|байт)"),
    (Fraction(2), r"(?:b?fp?|float|bfloat)-?16\b|16[- ]?bit|half precision|2[- ](?:bytes?|octets?|байт)"),
    (Fraction(1), r"(?:int|fp)-?8\b|8[- ]?bit|1[- ](?:byte|octet|байт)\b"),
    (Fraction(1, 2), r"int-?4\b|4[- ]?bit"),
)
PRECISIONS = tuple((size, re.compile(rf"(?<!\w)(?:{words})", re.IGNORECASE)) for size, words in _PRECISIONS)
_POWERS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_WORDED = (
    (r"thousand", 10**3),
    (r"million|mio|млн", 10**6),
    (r"billion|milliard|mrd|млрд|mil millones", 10**9),
    (r"trillion", 10**12),
)

CACHE = re.compile(
    r"KV[ -]?[ck]a(?:che|ché)|KV-?кэш|кэш\w* KV|K/V cache|cach[eé] KV|memoria KV|KV 缓存|KV 캐시|KV-Speicher",
    re.IGNORECASE,
)
PER_TOKEN = re.compile(
    r"(?:per|pro|par|por|each|one|a single|jede[ns]?|на|每个?|1) (?:one |single |один )?(?:token|jeton|токен)|每个? ?token|토큰당",
    re.IGNORECASE,
)
PER_LAYER = re.compile(
    r"(?:per|pro|par|por|each|one|a single) (?:one |single )?(?:layer|schicht|couche|capa|camada)|на слой|每层",
    re.IGNORECASE,
)
PARAMETERS = re.compile(
    r"param(?:s\b|eter|èt|etr|ètr)|parámetr|parâmetr|параметр|参数|パラメータ|파라미터|(?:trainable|learnable) weights",
    re.IGNORECASE,
)
MEMORY = re.compile(
    r"memor|mémoire|speicher|bytes?\b|octets?|G[io]?B\b|\bGo\b|памят|байт|显存|内存|メモリ|메모리", re.IGNORECASE
)
WEIGHTS = re.compile(
    r"weights?|gewichte|poids|pesos|pesi\b|веса|权重|load the model|store the model|modèle|modell\b|modelo",
    re.IGNORECASE,
)
WITH_BIASES = re.compile(
    r"(?:with|including|incl\.?|mit|avec|con|com|с|plus|and|und|et|y|e) (?:the |les |los |os )?(?:bias|biais|sesgo|vies)|带偏置|含偏置",
    re.IGNORECASE,
)
WITHOUT_BIASES = re.compile(
    r"(?:without|no|ignor\w+|ohne|sans|sin|sem|без) (?:the |any |les )?(?:bias|biais|sesgo|vies|смещ)|无偏置|不含偏置",
    re.IGNORECASE,
)
ONE_MATRIX = re.compile(r"cross|head\b|kopf|tête|W_|W\^|projection|matri", re.IGNORECASE)  # not all of a part
LEFT_OUT = re.compile(r"\b(?:ignor\w+|without|excluding|except|ohne|sans|sin|sem|без)\b[^.;)?]*", re.IGNORECASE)
GATED = re.compile(r"swiglu|geglu|\bgate[ds]?\b|gate_proj", re.IGNORECASE)
PARTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (part, re.compile(words, re.IGNORECASE))
    for part, words in (
        (
            "model",
            r"whole model|entire model|full model|total model|in total|altogether|insgesamt|ganzen? modell|au total|en total|no total|modèle complet|(?:all|for|alle|toutes les|todas las) (?:the )?\d* ?(?:layers|schichten|couches|capas|blocks)|\d+ (?:layers|schichten|couches|capas|blocks|блок\w*|сло\w+)|всего|总共",
        ),
        ("feed-forward", r"feed-?\s?forward|\bFFN\b|\bMLP\b|前馈"),
        ("attention", r"attention|\bMHA\b|\bGQA\b|aufmerksamkeit|atención|atenção|attenzione|внимани|注意力"),
        ("norm", r"layer\s?-?norm|normali[sz]ation"),
        ("embedding", r"embedding|einbettung|plongement|вложени|эмбеддинг|嵌入"),
        ("block", r"\bblocks?\b|\blayer\b|\bbloc\b|couche|schicht|\bcapa\b|camada|слой|слое|层"),
    )
)


def sizes_said(text: str) -> Iterator[tuple[str, Fraction]]:
    """The sizes of a model that a text says, in the order of the table; a size may be said more than once.

    >>> dict(sizes_said("32 layers, 8 KV heads, head dimension 128, d_model = 4,096, a context of 8K tokens"))["n"]
    Fraction(8192, 1)
    """
    for size, before, behind in _TABLE:
        spans: list[tuple[int, int]] = []
        for pattern in (before, behind):
            for found in pattern.finditer(text):
                if not any(start < found.end("a") and found.start("a") < end for start, end in spans):
                    spans.append(found.span("a"))
                    yield size, _worth(found["a"], found["u"] or "", size)
    for worth, pattern in PRECISIONS:
        if pattern.search(text):
            yield "bytes", worth


def _worth(digits: str, unit: str, size: str) -> Fraction:
    """The number that digits and a suffix stand for: 8K tokens are 8192, a vocabulary of 30k is 30000."""
    grouped = re.fullmatch(r"\d{1,3}(?:[ ,.\u202f]\d{3})+", digits)
    value = Fraction(re.sub(r"\D", "", digits) if grouped else digits.replace(",", "."))
    if unit in ("k", "K") and size == "n" and value.denominator == 1 and int(value) & (int(value) - 1) == 0:
        return value * 1024
    return value * (_POWERS.get(unit.lower()) or next((by for word, by in _WORDED if re.match(word, unit, re.I)), 1))
