"""Words and names that exercises around attention have: norms, positions, losses, caches, as data."""

from __future__ import annotations

import re

from qkv.library import block
from qkv.library.words import spoken
from qkv.regex import regex

NORM = block.NORM_SAID
FIRST = regex(
    r"norm\w*(?: is applied)? (?:to|of) (?:the )?(?:x|inputs?|tokens)\b[^.]{0,20}then|first appl\w+ (?:layer|rms)"
)
POSITIONS = regex(r"sinusoid|position\w* (?:encoding|embedding|vector)|learned position")
RESIDUAL = regex(r"residual|skip connection|add\s?(?:&|and)\s?norm|restverbindung|résidu|residu|остаточн|残差")
PLACES_ASKED = regex(
    r"sinusoid|position\w*[- ](?:encoding|embedding|vector)|positional|positionsk?[ck]odier|encodage (?:de )?position|codificaci[óo]n posicional"
    r"|codificação posicional|позиционн\w+ кодир|位置编码|位置エンコ|위치 인코딩|\bpe\s?[(_]"
)
_AND = r"(?:\s*(?:,|;|and|und|et|y|e|и|和|与|、|&|to|bis|à|до|至|到|–|-)\s*)"
PLACE_NUMBERED = regex(
    rf"(?:\bPE\s?[(_]\s?\{{?|\bpos(?:ition|itions|iciones|ición|ições|ição|itionen|iz\w*)?\.?\s?\$?\s?=?\s?|позици\w+ |位置\s?)(?P<numbers>\d+(?:{_AND}+\d+)*)(?!\d|\s?/|,\s?\d)",
    re.IGNORECASE,
)
POSITIONS_FROM_ONE = regex(
    r"pos(?:ition|itions|iciones|ições|itionen|izioni)?\W{1,4}(?:=\s?)?1\s?(?:,|;|to|bis|à|до|–|-)\s?[23]|(?:count|start)\w* (?:at|from|with) 1\b"
)
WIDTH = regex(r"\bd(?:_\{?\\?\w*\{?model\}*)?\s?=\s?(\d+)|(\d+)[- ]dimension")
LOSS = regex(
    r"cross.?entropy|perplexit|log.?likelihood|kreuzentropie|perplexität|entropie croisée|entropía cruzada|entropia cruzada|perplejidad|perplexidade|перплекс|кросс.?энтроп|交叉熵|困惑度"
)
LOSS_ASKED = regex(LOSS.pattern + r"|\bloss\b|verlust|\bperte|pérdida|\bperda|потер|损失")
LOSS_SAID = regex(r"(?:loss|cross.?entropy|verlust|perte|pérdida|perda)\s*(?:of|is|=|:|von|de|es|est)?\s*(\d+[.,]\d+)")
PROBABLE = regex(
    r"(?:probabilit\w*|wahrscheinlichkeit\w*|probabilidad\w*|вероятност\w*|概率)[^.\d%]{0,70}?"
    r"(?P<numbers>(?:0?[.,]\d+|1[.,]0+|\d+\s?%)(?:\s*(?:,|;|and|und|et|y|e|и|和|、)+\s*(?:and |und |et |y |e )?(?:0?[.,]\d+|1[.,]0+|\d+\s?%))*)"
)
OF_TOKENS = regex(r"tokens?\b|words?\b|sequence|sentence|wörter|satz|mots|phrase|palabras|frase|токен|слов|词")
TARGET_NAMED = regex(
    r"(?:correct|true|target|right|gold|actual|richtige|korrekte|correcte|vraie|correcta|correto|правильн\w+)\s+"
    r"(?:class|token|word|label|answer|next token|next word|klasse|wort|classe|clase|mot|palabra|ответ|класс)?\s*(?:is|ist|est|es|é|=|:|—)\s*(?:the )?[\"'“‘]?(?P<name>[^\W\d]\w*)"
)
LIKELIEST = regex(r"most likely|most probable|likeliest|arg.?max")
TOP = regex(r"top.?(?:k\s*=\s*)?(\d)")
TEMPERATURE = regex(r"temperature")
WARMTH = regex(r"temperat|température|температур|温度|온도|nhiệt độ")
TEMPERATURES = regex(
    r"(?:(?:\b[Tt]|τ|\\tau|[Tt]emperatur\w*|[Tt]empérature|температур\w*|温度)\s*\$?\s*(?:=|of|von|de|为)\s*\$?\s*)\d+(?:[.,]\d+)?(?:(?:,|;| and| und| et| y| e| и|和|、)+\s*\d+(?:[.,]\d+)?(?!\s*=))*"
)
TARGET = regex(
    r"(?:correct|true|target|right|gold)\s+(?:class|token|word|label|index|id)?\s*(?:is|has|=|:)?\s*"
    r"(?:the )?(?:index|class|token|id)?\s*(\d+)"
)
FEED = regex(r"feed.?forward|\bffn\b|\bmlp\b|swiglu|geglu|\bgate")
ALIBI = regex(r"\balibi\b|linear bias")
SLOPE = regex(r"slope\D{0,16}?(\d+(?:\.\d+)?)(?:/(\d+))?")
ROPE = regex(r"\brope\b|rotary|旋转位置|rotat\w+ (?:position|embedding)")
ROPE_APPLIED = regex(
    r"(?:apply|applying|applied|rotate|use|using|wende|anwend|appliqu|aplic|примен|поверн|应用|使用)[^.;]{0,60}(?:\brope\b|rotary|旋转位置|\bby (?:its )?position)"
)
ROPE_BASE = regex(r"\bbase\s*(?:of|=|:)?\s*\$?(\d{2,7})\b")
ROPE_PLACE = regex(
    r"\b(?P<who>quer(?:y|ies)|q|keys?|k)\b\$?[^.;,]{0,40}?(?:position|pos\.?|stelle|posición|posição|позици\w*|位置)\s*\$?(?:[a-z]\s*=\s*)?(?P<place>\d+)"
)
ROTATED = regex(r"rotat|turned|gedreht|rotiert|tourné|rotad|rotacion|поверн|旋转")
HALVES = regex(r"halves|half[- ]split|split[- ]half|rotate_half|neox|hälften|moitiés|mitades|metades")
CACHE = regex(r"\bcach|zwischenspeicher|кэш|缓存|キャッシュ")
APPEND = regex(r"append|(?:update|extend)\w* (?:the )?(?:kv.?)?cache")
BIASED = regex(r"scores?\b.*bias|bias\w* scores?")
JACOBIAN = regex(r"jacobi|якоби|雅可比|ヤコビ")
ENTROPY = regex(r"(?<!cross.)(?<!cross)entropy")
BACKWARD = regex(r"backward|backprop|gradient|\bd[vaqks]\b|rückwärts|rétropropag|retropropag|обратн|反向")
UPDATE = regex(
    r"updat|after (?:one|the) step|aktualis|mise à jour|actualiz|atualiz|обновл|更新|" + spoken("descent"),
    re.IGNORECASE,
)
VARIANCE = regex(r"varian[cz]|variância|дисперси|方差|分散")
RESULT = regex(r"output|result|final|ffn|feed|ausgabe|ergebnis|sortie|résultat|salida|saída|resultado|выход|输出|结果")
GRADIENT = regex(r"gradient|derivative|∂")
FROM_ONE = regex(r"(?:count\w*|index\w*|number\w*) from 1\b|1-based")
# Words that ask for a part of a block, and those of them that ask something of logits.
OF_LOGITS = (LOSS, LIKELIEST, TOP, TEMPERATURE)
AROUND = (NORM, POSITIONS, FEED, *OF_LOGITS)
# Which loss of several is asked for.
OF_EACH = regex(r"each|every|jede|chaque|cada|каждо|每")
OF_ALL = regex(r"entrop|loss|likelihood|verlust|perte|pérdida|perda|потер|熵|损失")
PERPLEXITY = regex(r"perple|перплекс|困惑")
DECIMAL = regex(r"\d+(?:[.,]\d+)?")
NUMERAL = regex(r"(\d*[.,]\d+|\d+)\s?(%)?")
UP_TO = regex(r"to|bis|à|–|-|до|至|到")

# Names that pages have for the quantities of library/block.py; those below `logits` only where words speak of logits.
ALIASES = {
    "gamma": "gamma_1", "beta": "beta_1", "eps": "epsilon", "T": "tau", "temperature": "tau", "W_gate": "W_1", "W_up": "W_3", "W_down": "W_2", "input": "X", "x": "X",
    "attention_output": "Output", "output": "Output", "Output": "Output", "attn": "Output", "attn_out": "Output",
    "sublayer": "Output", "Sublayer": "Output", "SubLayer": "Output", "sublayer_output": "Output", "MHA": "Output",
}  # fmt: skip
LOGITS = {"logits": "L", "logit": "L", "z": "L", "o": "L", "l": "L", "L": "L", "s": "L"}
PLACES = {"P": "PE", "PE": "PE", "p": "PE", "pos": "PE", "E_pos": "PE", "P_E": "PE"}
# What questions call the parts of a formula, by the names that these have where no other quantity has them.
PARTS = tuple(
    (letter, regex(said, re.IGNORECASE))
    for letter, said in (
        ("N", r"normali[sz]|\bnorm(?:en|ed)?\b|нормир|нормал|归一化|正規化|정규화"),
        ("rho", r"root mean square|\brms\b|quadratische\w* mittel|moyenne quadratique|среднеквадр"),
        ("G", r"hidden|activation|relu|gelu|silu|swish|versteckt|cachée|ocult|nascost|скрыт|隐藏|激活|隠れ|은닉"),
        ("H", r"\bgated?\b|element-?\s?wise|elementweise|逐元素|поэлементн|要素ごと|원소별"),
        ("F", r"feed-?\s?forward|\bffn\b|\bmlp\b"),
    )
)
# What a question asks for: the first name that the program has, for the first words that it says.
ASKED = (
    (GRADIENT, ("gradient",)),
    (regex(r"perplexit"), ("PPL",)),
    (TOP, ("top",)),
    (LIKELIEST, ("next",)),
    (regex(r"probabilit|softmax"), ("P",)),
    (regex(r"entropy|loss"), ("loss",)),
    (regex(r"x \+ p|add|sum of|input of|final|with position"), ("X_P", "R_1")),
    (regex(r"position|\bpe\b"), ("PE",)),
    (regex(r"\bmeans?\b|mittelwert|moyenne|\bmedia\b|média|средн|均值|平均"), ("mu_1",)),
    (VARIANCE, ("var_1",)),
    (regex(r"standard deviation|standardabweichung|écart|desviación|desvio|标准差"), ("sigma_1",)),
    (regex(r"norm"), ("N_2", "N_1")),
    (regex(r"attention weights|\bweights\b"), ("A",)),
)

_LISTED = regex(r"\[?[\w'\"“”‘’<>]+(?:\s*,\s*[\w'\"“”‘’<>]+)+(?:,?\s*(?:and|und|et|y|e|or|и)\s+[\w'\"“”‘’<>]+)?\]?")


def target_said(words: str, count: int, from_one: bool = False) -> int | None:
    """The index, from 0, of the class that is right: by its number, or by its name in a list of as many names.

    >>> target_said("logits for the classes cat, dog, bird. the correct class is dog.", 3), target_said("target = 2", 3)
    (1, 2)
    """
    if (numbered := TARGET.search(words)) is not None:
        return int(numbered[1]) - from_one
    named = TARGET_NAMED.search(words)
    for found in _LISTED.finditer(words) if named is not None else ():
        names = [
            re.sub(r"^(?:and|und|et|y|e|or|и)\s|\W", "", name.strip())
            for name in re.split(r",|\s(?:and|und|et|y|or)\s", found[0])
        ]
        names = [name for name in names if name]
        if named is not None and len(names) == count and names.count(named["name"]) == 1:
            return names.index(named["name"])
    return None
