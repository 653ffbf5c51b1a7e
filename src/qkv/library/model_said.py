"""How pages say what a model is made of, and what they ask to be counted of it, as data.

A row is a meaning with the words for it in every language. What a number is the size of follows from the meanings that
stand together beside it: 'head' and 'width', in any order and any language, are the width of a head.
"""

from __future__ import annotations

import re
from fractions import Fraction

from qkv.regex import regex

LAYERS = r"(?:transformer |decoder |encoder |identical )?(?:layers?|blocks?|schichten|couches|capas|camadas|strati|сло[йеёя]\w*|层|層|레이어|층)"
_MEANINGS: tuple[tuple[str, str], ...] = (
    (
        "kv",
        r"\bk/?v(?![a-z])|key[-/ ]?(?:and[- ])?value|num_key|(?:clave|chave)[-/ ]valor|clé[-/ ]valeur|schlüssel[-/ ]wert|ключ\w*[-/ ]знач",
    ),
    ("head", r"(?<![a-z])heads?(?![a-z])|k[öo]pf|t[êe]tes?\b|cabezas?|cabeças?|teste\b|голов|头|頭|ヘッド|헤드"),
    (
        "width",
        r"width|wide\b|dim(?:s|ension\w*)?(?![a-z])|(?<![a-z])size|units\b|breit|größe|largeur|large\b|taille|anch[oa]|anchura"
        r"|dimensi|tamaño|largura|dimensão|tamanho|ampiezza|размер|ширин|维|維|宽度|寬度|大小|次元|サイズ|차원|크기",
    ),
    (
        "inner",
        r"feed[-_ ]?forward|(?<![a-z])(?:ffn?|mlp)(?![a-z])|inner|innere|interm[eé]d|внутренн|前馈|前饋|中间|中間|フィードフォワード|피드포워드",
    ),
    ("model", r"model|modèle|модел|模型|모델|モデル|residual|embed"),
    ("vocabulary", r"vocab|wortschatz|vokabular|словар|词表|詞表|词汇|詞彙|語彙|어휘"),
    (
        "batch",
        r"batch|lote\b|taille de lot|батч|批|バッチ|배치|(?:concurrent|parallel|simultaneous) (?:sequences|requests|users)"
        r"|\bsequences\b|requêtes|anfragen|peticiones|requisições|запрос",
    ),
    (
        "length",
        r"context|kontext|seq(?:uence)?[-_ ]?len|sequenzlänge|(?:longueur|longitud|comprimento|lunghezza) d|max(?:imum)?[-_ ](?:seq|len)|block_size|n_ctx"
        r"|positions\b|длин|序列长|上下文|最大长度|시퀀스|컨텍스트|コンテキスト|系列長",
    ),
    ("token", r"tokens?\b|jetons|токен|词元|トークン|토큰"),
    (
        "layer",
        r"layers?(?![a-z])|blocks?(?![a-z])|schicht|couche|capas?\b|camadas?|strat[oi]\b|сло[йеёя]|блок|层|層|レイヤー|레이어|층",
    ),
    ("parameter", r"param(?:s\b|eter|èt|etr|ètr)|parámetr|parâmetr|параметр|参数|パラメータ|파라미터"),
    ("amount", r"bytes?\b|octets?\b|байт|字节|バイト|바이트|flops?\b|[KMGT]i?B\b"),
    ("part", r"embedding|einbettung|plongement|вложен|嵌入|埋め込み|임베딩|norm|total|summe|somme|suma\b|soma\b|итого|合计|总|合計"),
    (
        "each",
        r"\b(?:per|pro|par|por|each|one|jede[rn]?|eine[rs]?|une?|una?|uma?|cada|chaque|на|одн\w+)\b|每|各|당",
    ),
)  # fmt: skip
MEANINGS = tuple((meaning, regex(words, re.IGNORECASE)) for meaning, words in _MEANINGS)

# (size, what has to be said for it, what must not be said, the largest that is believed); the first row that fits counts
SIZES: tuple[tuple[str, frozenset[str], frozenset[str], int], ...] = tuple(
    (size, frozenset(said.split()), frozenset(unsaid.split()), most)
    for size, said, unsaid, most in (
        ("", "amount", "", 0),
        ("h_kv", "kv head", "width", 1_000),
        ("d_head", "head width", "", 10_000),
        ("h", "head", "part parameter", 1_000),
        ("d_ff", "inner width", "", 1_000_000),
        ("V", "vocabulary", "part parameter", 10_000_000),
        ("B", "batch", "", 10_000_000),
        ("n", "length", "part parameter", 100_000_000),
        ("L", "layer", "each width part parameter inner", 1_000),
        ("d", "width", "each parameter", 1_000_000),
        ("n", "token", "part parameter each", 100_000_000),
        ("P", "parameter", "each part", 10**15),
    )
)
# Sizes that may stand before their number with nothing between, as in 'width 256'; 'layers 8 heads' are 8 heads.
SURE = frozenset({"d", "d_head", "d_ff", "V", "B"})
NAMES = {
    name: size
    for size, names in (
        ("L", "L n_layer n_layers num_layers num_hidden_layers n_blocks num_blocks"),
        ("h_kv", "n_kv n_kv_head n_kv_heads num_kv_heads num_key_value_heads kv_heads h_kv"),
        ("d_head", "d_head head_dim head_size d_k dk d_h dim_head d_v dv"),
        ("h", "h n_h n_head n_heads num_heads num_attention_heads h_q n_attn"),
        ("d", "d d_model dmodel hidden_size hidden_dim n_embd embed_dim d_emb"),
        ("d_ff", "d_ff dff d_ffn ffn_dim intermediate_size d_mlp d_inner"),
        ("V", "V |V| vocab_size n_vocab d_vocab"),
        ("B", "B batch_size"),
        ("n", "n S T seq_len context_length n_ctx block_size max_len max_position_embeddings"),
    )
    for name in names.split()
}

_PRECISIONS = (
    (Fraction(4), r"(?:fp|float|f)-?32\b|32[- ]?bit|single precision|4[- ](?:bytes?|octets?|байт)"),
    (Fraction(2), r"(?:b?fp?|float|bfloat)-?16\b|16[- ]?bit|half precision|2[- ](?:bytes?|octets?|байт)|2 ?(?:字节|バイト|바이트)"),
    (Fraction(1), r"(?:int|fp)-?8\b|8[- ]?bit|1[- ](?:byte|octet|байт)\b"),
    (Fraction(1, 2), r"int-?4\b|4[- ]?bit"),
)  # fmt: skip
PRECISIONS = tuple((size, regex(rf"(?<!\w)(?:{words})", re.IGNORECASE)) for size, words in _PRECISIONS)
TRAINING = regex(r"\btrain|\bAdam|trainier|entraîn|entren|trein|обуч|训练|訓練|学習|훈련|학습", re.IGNORECASE)
POWERS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
WORDED = (
    (r"thousand", 10**3),
    (r"million|mio|млн", 10**6),
    (r"billion|milliard|mrd|млрд|mil millones", 10**9),
    (r"trillion", 10**12),
)

# — what a model has, and has not —

NEGATED = regex(
    r"\b(?:no|none|not|without|neither|kein\w*|ohne|nicht|sans|pas|aucun\w*|sin|sem|não|senza|ningun\w*|nenhum\w*|nessun\w*|без|нет|не)\b"
    r"|无|無|没有|不带|不含|なし|없",
    re.IGNORECASE,
)
IGNORED = regex(
    r"ignor|neglect|exclud|omit|not counted|without count|vernachl|nicht (?:mit)?gezählt|néglig|despreci|desprez|忽略|不计|無視|무시",
    re.IGNORECASE,
)
MAPS: tuple[tuple[str, re.Pattern[str]], ...] = (  # what may have biases
    (
        "attention",
        regex(r"attention|projec|proyecc|projeç|aufmerksamkeit|atenci|atenç|внимани|注意力|어텐션|W_Q", re.IGNORECASE),
    ),
    ("feed-forward", regex(r"feed-?\s?forward|\bFFN\b|\bMLP\b|前馈", re.IGNORECASE)),
    ("output", regex(r"un-?embed|\boutput|lm[_ ]?head|ausgabe|\bsortie|\bsalida|\bsaída|输出", re.IGNORECASE)),
    ("norm", regex(r"norm|(?:scale|gain|gamma|γ|weight|skalierung)\w* (?:and|\+|und|y|e|et) ", re.IGNORECASE)),
)
BIAS = regex(r"bias|biais|sesgo|viés|vieses|смещени|偏置|バイアス|편향", re.IGNORECASE)
NORM = regex(
    r"(?:layer|rms)[- ]?norm\w*|\bnorms?\b|\bnorm\w*schicht|normali[sz]\w+|normas?\b|нормализац\w*|归一化|正規化|정규화",
    re.IGNORECASE,
)
ROOT_NORM = regex(r"\bRMS", re.IGNORECASE)
SHIFTED = regex(r"bias|shift|beta|β|verschiebung|décalage|desplaz|deslocamento|сдвиг|偏移|偏置", re.IGNORECASE)
FINAL = regex(
    r"\bfinal|\blast\b|at the (?:very )?end|after (?:all|the last)|one more|letzte|weitere|abschließend|dernière|finale|última|ultimo|последн|"
    r"最后|最終|最後|마지막|ln_f",
    re.IGNORECASE,
)
COUNTS_OF_NORMS = (
    (
        2,
        regex(r"\b(?:two|zwei|deux|dos|dois|duas|due|дв[еау]\w*|both|2)\b|[×x] ?2|两|兩|二つ|2つ|두", re.IGNORECASE),
    ),
    (4, regex(r"\b(?:four|vier|quatre|cuatro|quatro|quattro|четыре|4)\b|四", re.IGNORECASE)),
    (1, regex(r"\b(?:one|a single|ein|eine|une?|una?|uma?|одн\w+|1)\b|一", re.IGNORECASE)),
)
SHARED = regex(
    r"(?<!un)\btied\b|\btying|\bshare[ds]?\b|same matrix|gekoppelt|geteilt|partag|\bliée?s\b|compart|reutiliz|связан|共享|绑定|共有|공유",
    re.IGNORECASE,
)
SEPARATE = regex(r"untied|separate|getrennt|séparé|separad|отдельн|不共享|独立|= ?False", re.IGNORECASE)
OUTPUT = regex(
    r"un-?embed|output|lm[_ ]?head|ausgabe|sortie|salida|saída|uscita|выход|输出|輸出|出力|출력|language model head",
    re.IGNORECASE,
)
EMBEDDING = regex(r"embed|einbettung|plongement|вложен|эмбеддинг|嵌入|埋め込み|임베딩", re.IGNORECASE)
POSITIONS = regex(r"position|posici|posiç|posizion|позици|位置|위치", re.IGNORECASE)
LEARNED = regex(
    r"learn|train(?:ed|able)|gelernt|trainier|appris|aprendid|apprese|обуча|学习|可训练|学習|학습", re.IGNORECASE
)
NOT_LEARNED = regex(
    r"rotary|rope\b|sinus|alibi|fixed|nothing to learn|fest\b|rotator|旋转|正弦|回転|회전", re.IGNORECASE
)
GATED = regex(r"swiglu|geglu|\bgate[ds]?\b|gate_proj|门控", re.IGNORECASE)
UNGATED = regex(r"\b(?:re|ge)lu\b|two (?:matrices|linear|layers)|one up and one down|2-linear", re.IGNORECASE)
SUPPOSED = regex(
    r"\b(?:if|instead|would|without|were|in place of|wenn|statt|ohne|würde\w*|si|serait|au lieu|sans|sin|en lugar|serían?|se|sem|em vez|seria"
    r"|senza|invece|если|вместо|без|compare[d]?)\b|如果|若|假如|もし|代わりに|만약|였다면",
    re.IGNORECASE,
)
_LARGE = r"\d[\d., \u202f]*\s?(?:[KMGT]i?B|Go|Mo|[KMG]?bytes?|octets?|字节|バイト|바이트|байт)(?![A-Za-z])"
AMOUNT = regex(rf"(?<!\w)(?![1248]\s?(?:bytes?|octets?|字节|バイト|바이트|байт)){_LARGE}", re.IGNORECASE)

# — what is asked —

CACHE = regex(
    r"KV[ -]?[ck]a(?:che|ché)|KV-?кэш|кэш\w* KV|K/V cache|cach[eé] KV|memoria KV|KV ?缓存|KV ?캐시|KV ?キャッシュ|KV-Speicher|(?:the|der|den|le|la|el|il|o|a) cach[eé](?!\w)",
    re.IGNORECASE,
)
PER_TOKEN = regex(
    r"(?:per|pro|par|por|cada|chaque|each|every|one|a single|jede[ns]?|ein(?:em|es)?|на|每个?|1) (?:one |single |new |decoded |один )?(?:token|jeton|токен)|每个? ?token|토큰당"
    r"|token (?:de contexto|neu)",
    re.IGNORECASE,
)
PER_LAYER = regex(
    r"(?:per|pro|par|por|each|one|a single|in one|of one|einer|une|una|uma) (?:one |single )?(?:layer|block|schicht|couche|capa|camada)|token and layer|на слой|每层|층당",
    re.IGNORECASE,
)
FULL = regex(
    r"full|whole context|\bvoll|plein|complet|lleno|entero|cheio|inteir|полн|满|完整|context|kontext|контекст|sequence length|上下文|컨텍스트|시퀀스"
    r"|コンテキスト|\d ?(?:tokens?|positions?|K tokens)|per request|requête|sequenzlänge",
    re.IGNORECASE,
)
PARAMETERS = regex(
    r"param(?:s\b|eter|èt|etr|ètr)|parámetr|parâmetr|параметр|参数|パラメータ|파라미터|(?:trainable|learnable|number of) weights",
    re.IGNORECASE,
)
HOW_MANY = regex(
    r"how (?:many|much|large|big)|wie ?viele?|combien|cuánt|quant[oai]s?\b|сколько|多少|几|いくつ|何個|몇|number of|anzahl|nombre de|número de"
    r"|_{4,}|…|:\s*$",
    re.IGNORECASE,
)
MEMORY = regex(
    r"mem[oó]r|mémoire|speicher|bytes?\b|octets?|[KMG][io]?B\b|\bGo\b|памят|байт|显存|内存|占|メモリ|메모리",
    re.IGNORECASE,
)
WEIGHTS = regex(
    r"weights?|gewichte|poids|pesos|pesi\b|веса|权重|load the model|store the model|modèle|modell\b|modelo|参数|parameters",
    re.IGNORECASE,
)
SIZE = regex(
    r"\bsize|compute|calcul|estimat|berechne|größe|groß|taille|tamaño|tamanho|dimension|размер|вычисл|크기|サイズ|大小|计算|calculate",
    re.IGNORECASE,
)
ADAM = regex(r"\bAdam\w*", re.IGNORECASE)
OPERATIONS = regex(
    r"\bFLOPs?\b|operations?\b|operationen|opérations|operaciones|operações|операци|运算|演算|연산", re.IGNORECASE
)
ONLY_WEIGHTS = regex(
    r"(?:2|two|zwei|deux|dos|dois|due|два) (?:FLOPs? )?(?:per|pro|par|por|each|for each|на) (?:weight|gewicht|poids|peso|вес)|multiply-add|matrix|matrices|weights",
    re.IGNORECASE,
)
SCORE_MATRICES = regex(
    r"(?:attention|score) matri|matri\w+ (?:de|d'|di) ?(?:atenç|atenc|attention|attenz|scores?)|attention-?matri|注意力矩阵",
    re.IGNORECASE,
)
WITH_NORMS = regex(
    r"(?:with|including|incl\.?|mit|avec|con|com|с|included|inklusive|norms) [^.;]{0,20}(?:norm|included)|含",
    re.IGNORECASE,
)
PLAIN_HEADS = regex(
    r"plain multi-?head|ordinary|without (?:GQA|grouping)|(?:sin|sem|ohne|sans|senza|без) GQA|\bMHA\b|classical multi-?head|不用 ?GQA",
    re.IGNORECASE,
)
WITHOUT_BIASES = regex(
    r"(?:without|no|ignor\w+|ohne|sans|sin|sem|без) (?:the |any |les )?(?:bias|biais|sesgo|vies|смещ)|无偏置|不含偏置",
    re.IGNORECASE,
)
WITHOUT_NORMS = regex(
    r"(?:without|no|ignor\w+|ohne|sans|sin|sem|без) (?:the |any |les )?(?:layer ?)?-?norm|不含归一化", re.IGNORECASE
)
ONE_MATRIX = regex(  # not all of a part
    r"cross|head\b(?! (?:width|dim))|\bkopf|tête|(?<![(,] )(?<!\()\b(?:do|does|has|have|of|in) (?:\$)?W[_^]|one (?:matrix|projection)",
    re.IGNORECASE,
)
LEFT_OUT = regex(r"\b(?:ignor\w+|without|excluding|except|ohne|sans|sin|sem|без)\b[^.;)?]*", re.IGNORECASE)
TOGETHER = regex(
    r"together|in total|altogether|insgesamt|au total|en total|no total|всего|总共|zusammen|ensemble|junt[oa]s|insieme|вместе|合计|一共|合わせて|합",
    re.IGNORECASE,
)
SAME_AS = regex(
    r"(?:same as|wie in|comme (?:en|au|à)|como en|como em|as in) (?:question |part |aufgabe |\()?(?P<label>\d{1,2}|[a-z])\b"
    r"|^\W*(?:\w{1,2}[.)]\W*)?(?:and|und|y|et|e|и)\b[^?]*\?"
    r"|^\W*(?:\w{1,2}[.)]\s*)?(?:and )?(?:the same|o mesmo|lo mismo|dasselbe|le même|то же)\b",
    re.IGNORECASE,
)
PARTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (part, regex(words, re.IGNORECASE))
    for part, words in (
        (
            "model",
            r"(?:whole|entire|full|complete|this|the) (?:\w+ )?(?:model|thing|network)|total model|(?:ganzen?|gesamte[ns]?) modell"
            r"|modèle (?:complet|entier)|modelo (?:completo|entero|inteiro)|整个模型|всей модели|вся модель",
        ),
        (
            "layers",
            r"(?:all|for|alle[nr]?|toutes les|todas las|todas as|все[хм]?|所有|全部) (?:the |of the )?\d* ?(?:layers|blocks|schichten|couches|capas|camadas|слоёв|слоев|层)"
            r"|\d+ ?(?:layers|blocks|schichten|couches|capas|camadas|блок\w*|сло\w+|层)",
        ),
        ("feed-forward", r"feed-?\s?forward|\bFFN\b|\bMLP\b|前馈|SwiGLU"),
        ("attention", r"attention|\bMHA\b|\bGQA\b|aufmerksamkeit|atención|atenção|attenzione|внимани|注意力"),
        ("final norm", r"(?:final|last) (?:layer|rms)?[ -]?norm|norma final|最后的? ?(?:layer|rms)norm"),
        ("norm", r"(?:layer|rms)\s?-?norm|normali[sz]ation|\bnorms?\b|归一化"),
        ("positions", r"position\w*|posici\w+|posiç\w+|位置"),
        ("embedding", r"embedding|token-|einbettung|plongement|вложени|эмбеддинг|词嵌入|嵌入|lookup"),
        ("layer", r"\bblocks?\b|\blayers?\b|\bbloc\b|couche|schicht|\bcapas?\b|camada|слой|слое|层"),
    )
)
