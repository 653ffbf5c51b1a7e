"""What the sentences of a problem say beside its equations: how many heads a matrix is cut into, which keys may be seen.

Tables of words first, in the languages of the sheets; the functions below only look them up, a sentence at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from qkv.expr.late import late
from qkv.expr.wording import Wording
from qkv.records import dataclass
from qkv.understand.roles import HYPOTHETICAL

NUMBERS: dict[str, int] = {
    word: value
    for value, words in enumerate(
        (
            "one|a|single|ein|eine|einen|une|un|uno|una|um|uma|один|одну|одна|一|하나",
            "two|zwei|deux|dos|due|dois|duas|два|две|двух|两|二|兩|두",
            "three|drei|trois|tres|tre|três|три|трёх|трех|三|세",
            "four|vier|quatre|cuatro|quattro|quatro|четыре|четырёх|четырех|四|네",
            "five|fünf|cinq|cinco|cinque|пять|пяти|五",
            "six|sechs|seis|sei|шесть|六",
            "seven|sieben|sept|siete|sette|sete|семь|七",
            "eight|acht|huit|ocho|otto|oito|восемь|八",
        ),
        1,
    )
    for word in words.split("|")
}
ORDINALS: dict[str, int] = {
    word: value
    for value, words in (
        (1, "first|1st|erste|ersten|premier|première|primer|primera|primeiro|primeira|primo|prima|первый|первая|第一"),
        (2, "second|2nd|zweite|zweiten|deuxième|segundo|segunda|secondo|seconda|второй|вторая|第二"),
        (3, "third|3rd|dritte|dritten|troisième|tercer|tercera|terceiro|terceira|terzo|terza|третий|третья|第三"),
        (4, "fourth|4th|vierte|vierten|quatrième|cuarto|cuarta|quarto|quarta|четвёртый|четвертый|第四"),
        (5, "fifth|5th|fünfte|fünften|cinquième|quinto|quinta|пятый|第五"),
        (6, "sixth|6th|sechste|sechsten|sixième|sexto|sexta|sesto|шестой|第六"),
        (-1, "last|final|letzte|letzten|letztes|dernier|dernière|derniers|dernières|último|última|últimos|últimas|ultimo|"
             "ultima|последний|последняя|последние|最后|最後"),
    )
    for word in words.split("|")
}  # fmt: skip


def _any(words: dict[str, int]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_NUMBER = rf"(?:\d{{1,2}}|{_any(NUMBERS)})"
_ORDINAL = rf"(?:{_any(ORDINALS)})"
_HEADS = r"(?:heads?\b|köpfen?\b|kopf\b|têtes?\b|cabezas?\b|cabeças?\b|teste\b|голов\w*|个?\s*注意力头|个?\s*头|個?の?ヘッド|개?의?\s*헤드)"
_HEAD_STEM = Wording(r"head|köpf|kopf|tête|cabeza|cabeça|teste|голов|头|ヘッド|헤드")  # every word above holds one
_SPLIT = Wording(
    r"\b(?:re)?(?:split|divid|partition|slic|reshap|chunk|cut)\w*|aufgeteilt|aufteil|teil\w*\b.{0,80}\bauf\b|zerleg|geteilt|"
    r"découp|divis|partag|sépar|\bdivid|\bdivíd|repart|suddivid|разбива|разбит|раздел|делим|делят|分成|拆分|划分|切分|分为|分割|나누",
)
_SET_HEADS = late(r"(?<![\w.])(?:n(?:um)?_?heads?|heads|h)\s*=\s*(?P<n>\d{1,2})(?![\w.])", re.IGNORECASE)  # num_heads=2
_COUNTED_HEADS = Wording(
    rf"(?<![\w.])(?P<n>{_NUMBER})[\s-]*(?:attention\s+|equal\s+|parallel\s+|gleich\w*\s+)?{_HEADS}",
)
_HEADS_OF = Wording(
    rf"(?<![\w.])(?P<n>{_NUMBER})\s+(?:attention\s+)?{_HEADS}\s*(?:of|with|à|de|der|mit)\s+"
    r"(?:each\s+)?(?:size|width|dimension|dim|breite|größe|dimensão|taille|ancho|d_)",
)
_COLUMNS_OF_HEAD = Wording(
    rf"(?:{_HEADS}\s*(?P<n>\d)|({_ORDINAL})\s+{_HEADS})[^.;]{{0,60}}?(?:columns?|spalten?|colonnes?|columnas?|colunas?|colonne|столб|列)",
)
_SLICE = late(r"(?<!\w)(?P<base>[QKVqkv])\s*(?:\[\s*:\s*,|_\{\s*:\s*,|\(\s*:\s*,)\s*(?P<first>\d*)\s*:\s*(?P<end>\d*)")
_ALL_ROWS = re.compile(r":\s*,")  # in every slice, and fast to seek
_TOKENS = r"(?:tokens?|keys?|positions?|words?|entr(?:y|ies)|wort|wörter|jetons?|mots?|claves?|palabras?|palavras?|токен\w*|позици\w*|слов\w*|个?\s*词|个?\s*token|トークン)"
_PAD = Wording(
    r"\bpad(?:s|ded|ding)?\b|\[PAD\]|<PAD>|auffüll|füll|rembourr|remplissage|relleno|preenchim|заполнен|паддинг|填充|パディング|패딩|"
    r"(?:must|should|is|are|to) (?:not )?be (?:ignored|attended|masked)|(?:is|are) (?:ignored|masked out)|ignoriert",
)
_NOT_PADDED = Wording(
    r"\b(?:no|without|not) pad|ohne (?:padding|auffüll)|sans (?:padding|rembourr)|zero[- ]pad",
)
_LAST_OF = Wording(
    rf"(?P<which>{_ORDINAL})\s*(?:の|的)?\s*(?:(?P<n>{_NUMBER})\s*[个個]?\s*)?(?:{_TOKENS}|(?:one\s+)?(?:is|ist|est|es|é)\b)",
)
_TOKEN_NUMBER = Wording(
    rf"{_TOKENS}\s*(?:#|no\.?|nr\.?)?\s*(?P<list>\d{{1,2}}(?:\s*(?:,|and|und|et|y|e|и|&)\s*\d{{1,2}})*)(?!\s*{_HEADS})",
)
_VECTOR_NUMBER = late(r"\$?\\?(?:mathbf\{)?[xkv]\}?_\{?(\d{1,2})\}?\$?")
_EACH_SIDE = Wording(
    rf"(?:window|fenster|fenêtre|ventana|janela|finestra|окн\w*|窗口)\D{{0,40}}?(?P<n>{_NUMBER})\D{{0,30}}?(?:each|either|both|jede\w*|beide\w*|chaque|cada|ogni|кажд\w*|每)\s*(?:sides?|directions?|seiten?|richtung|côté|lado|lato|сторон\w*|侧|边)|"
    r"(?P<direct>(?:direct|immediate|adjacent|direkt\w*|unmittelbar\w*|immédiat\w*|inmediat\w*|imediat\w*|diret\w*|соседн\w*|相邻)\s+"
    r"(?:left and right\s+)?(?:neighbou?rs?|nachbarn?|voisins?|vecin\w*|vizinh\w*)?)|"
    r"\|\s*i\s*[-−]\s*j\s*\|\s*(?:\\leq?|≤|<=|\\leqslant)\s*(?P<rule>\d)|(?:at most|within|höchstens)\s+(?P<most>"
    + _NUMBER
    + r")\s+(?:position|token|step)",
)
_SLIDING = Wording(
    rf"(?:sliding|causal)[\s-]+window[^.]{{0,40}}?(?:size|width|length|of)\s*(?:w\s*=\s*|\$w\s*=\s*)?\$?(?P<n>{_NUMBER})",
)
_WINDOW = Wording(
    r"window|fenster|fenêtre|ventana|janela|finestra|окн|窗口|neighbou?r|nachbar|voisin|vecin|vizinh|\|\s*i\s*[-−]\s*j\s*\|",
)
_PREFIX = Wording(r"prefix|präfix|préfixe|prefijo|prefixo|префикс|前缀")
_PREFIX_LENGTH = Wording(
    rf"(?:first|ersten|premiers?|primeros?|primeiros?|prim[ie]|первые|前)\s*(?P<n>{_NUMBER})|prefix\D{{0,20}}?(?:length|size|of|länge)\D{{0,6}}?(?P<m>{_NUMBER})",
)
_ALIBI = Wording(r"\balibi\b")
_SLOPE = Wording(
    r"(?:slope|steigung|pente|pendiente|m)\s*\$?\s*(?:m\s*)?(?:=|of|is)\s*\$?\s*(?P<top>\d+(?:[.,]\d+)?)(?:\s*/\s*(?P<bottom>\d+))?",
)
_DIVIDED = Wording(
    r"(?:divid(?:e|ed|ing)|geteilt|teil\w*|divisés?|dividid\w*|divis[ei]|делят\w*|делим|除以)\b[^.;]{0,25}?(?:\bby|\bdurch|\bpar|\bpor|\bper|\bна|以)\s*\$?"
    r"(?P<n>\d{1,3}(?:(?:\s|\\,)\d{3})+|\d+(?:\.\d+)?)(?![\w^])"
)
_QKV = r"(?:quer(?:y|ies)|anfragen?|requêtes?|consultas?)\W+(?:the |die )?(?:keys?|schlüssel|clés?|claves?|chaves?)\W+(?:and |und |et |y |e )?(?:the |die )?(?:values?|werte?|valeurs?|valor(?:es)?)"
_UNPROJECTED = Wording(  # 'use the embeddings directly as queries, keys and values'
    rf"\b(?:as|als|comme|como|come)\b(?: \w+){{0,2}} {_QKV}"
    rf"|{_QKV} (?:are|is|sind|sont|son)(?: \w+){{0,3}} (?:same|embeddings?|inputs?|tokens?|vectors?|themselves)\b"
    r"|\b(?:no|without|ohne|sans|sin)(?: any| learned| trainable| trained| linear| weight| extra){0,2} (?:projections?|projektion(?:en)?|weight matrices|projecci[oó]n(?:es)?)"
)
_OF_SCORES = Wording(
    r"scores?|dot products?|skalarprodukt|produits? scalaires?|puntuaci|produtos? escalar|punteggi|оценк|скалярн|分数|得分|点积|スコア|內積|内積"
)
_SENTENCE = re.compile(r"(?<=[.!?;。！？；])\s+|\n\s*\n|\n(?=\s*(?:[-*•]|\\item|\(?\w{1,2}[.)])\s)|(?<=[。！？；])")
_LATER = Wording(
    r"\b(?:repeat|recompute|redo|again|now|instead|what if|if|were|would)\b|erneut|nochmals|stattdessen|wenn|maintenant|si\b|ahora|agora|теперь|если|如果|现在"
)
# Sentences about what is usual, not about the problem at hand.
_IN_GENERAL = Wording(
    r"\b(?:in practice|usually|typically|in general|normally|often|would|could|might|real(?:istic)? models?)\b|in der praxis|normalerweise|üblicherweise|"
    r"en pratique|en général|en la práctica|na prática|in pratica|обычно|на практике|通常|実際"
)
_PADS = late(r"[\"'`]?(?:\[PAD\]|<PAD>|<pad>|PAD)[\"'`]?")


# What is not worked out: things that come beside attention, and things that change what attention itself gives.
_BESIDE = (
    (
        "Layer normalisation",
        Wording(
            r"layer[\s-]?norm|schichtnorm|normali[sz]ation de couche|normalización de capa|层归一化|レイヤー正規化"
        ),
    ),
    ("Dropout", Wording(r"\bdropout\b")),
    ("The feed-forward layer", Wording(r"feed-?forward|\bffn\b")),
)
_INSTEAD = (
    ("Rotary position embedding", Wording(r"\brope\b|rotary (?:position|embedding)")),
    ("Relative position embedding", Wording(r"relative position(?:al)? (?:embedding|representation|encoding)")),
    ("Linear attention", Wording(r"linear(?:i[sz]ed)? attention|feature map φ|kernel feature map|\bperformer\b")),
    ("A mask of valid lengths", Wording(r"valid[_ -]?len(?:s|gths?)?\b")),
    ("A sparse softmax", Wording(r"sparsemax|entmax|top-?k (?:attention|softmax|keys|scores)")),
    ("A softmax in blocks", Wording(r"online softmax|block-?wise softmax|softmax (?:in|over) blocks|running max")),
    ("Attention without softmax", Wording(r"(?:relu|sigmoid) (?:attention|instead of (?:the )?softmax)")),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Which keys a query may see, as a sentence says it; `bias` is what ALiBi takes off for each step of distance."""

    words: str
    padded: tuple[int, ...] = ()  # keys that nobody sees; negative ones count from the end
    window: int | None = None  # how far to each side
    behind: int | None = None  # how many keys up to its own, for a sliding window
    prefix: int | None = None  # keys that all see, causal after them
    bias: Fraction | None = None
    later: bool = False  # said of a second run, beside the first


@lru_cache(maxsize=8)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a stretch of text, without its line ends."""
    return tuple(" ".join(part.split()) for part in _SENTENCE.split(text) if part and part.strip())


def _sentences_with(text: str, *wordings: Wording) -> Iterator[str]:
    """The sentences of a text that may hold one of these wordings; most texts hold none of them anywhere."""
    signs = [sign for wording in wordings for sign in wording.signs_in(_joined(text))]
    for sentence in sentences(text) if signs else ():
        small = sentence.lower()
        for sign in signs:
            if sign in small:
                yield sentence
                break


@lru_cache(maxsize=8)
def _joined(text: str) -> str:
    return "\n".join(sentences(text))


def says(text: str, wording: Wording) -> bool:
    """Whether one of the sentences of a text holds a wording."""
    return any(wording.search(sentence) for sentence in _sentences_with(text, wording))


def _supposed(sentence: str) -> bool:
    """Whether a sentence tells of something else than the problem at hand."""
    return bool(HYPOTHETICAL.search(sentence) or _IN_GENERAL.search(sentence))


def number_in(word: str) -> int:
    """A count, in digits or in words."""
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def heads_split(text: str) -> int | None:
    """The number of heads that sentences, or slices among them, cut matrices into.

    >>> heads_split("We split Q, K and V into two heads."), heads_split("All 8 heads are trained.")
    (2, None)
    """
    named: set[int] = set()
    for sentence in _sentences_with(text, _HEAD_STEM):
        counted = _COUNTED_HEADS.search(sentence) if _SPLIT.search(sentence) else _HEADS_OF.search(sentence)
        if counted and number_in(counted["n"]) > 1 and not _supposed(sentence):
            return number_in(counted["n"])
        for found in _COLUMNS_OF_HEAD.finditer(sentence):
            named.add(int(found["n"]) if found["n"] else ORDINALS[found[2].lower()])
    if len(named) > 1 and named == set(range(min(named), max(named) + 1)):
        return len(named)
    return _slices(text)


def _slices(text: str) -> int | None:
    """Q[:, 0:2] and Q[:, 2:4] in a sentence: as many heads as there are parts."""
    parts: dict[str, set[tuple[int, str]]] = {}
    for found in _SLICE.finditer(text) if _ALL_ROWS.search(text) else ():
        parts.setdefault(found["base"].upper(), set()).add((int(found["first"] or 0), found["end"]))
    most = max((len(spans) for spans in parts.values()), default=0)
    return most if most > 1 else None


def heads_mentioned(text: str) -> int | None:
    """The number of heads that sentences speak of, not as a mere supposition.

    >>> heads_mentioned("Multi-head attention with 2 heads."), heads_mentioned("head_dim = 4, num_heads = 2")
    (2, 2)
    """
    counts = {
        number_in(found["n"])
        for sentence in _sentences_with(text, _HEAD_STEM)
        if not _supposed(sentence)
        for found in (*_COUNTED_HEADS.finditer(sentence), *_SET_HEADS.finditer(sentence))
    } - {1}
    return counts.pop() if len(counts) == 1 else None


def divisor_said(text: str) -> Fraction | None:
    """The number that sentences say scores are divided by, where they say one and no root.

    >>> divisor_said("The scores are divided by 1 000.")
    Fraction(1000, 1)
    """
    numbers = set()
    for sentence in _sentences_with(text, _DIVIDED):
        found = _DIVIDED.search(sentence)
        if found and _OF_SCORES.search(sentence) and not _supposed(sentence):
            numbers.add(Fraction(re.sub(r"[\s\\,]", "", found["n"])))
    return numbers.pop() if len(numbers) == 1 else None


def is_unprojected(text: str) -> bool:
    """Whether sentences say that the tokens themselves are queries, keys and values.

    >>> is_unprojected("We use them directly as queries, keys and values.")
    True
    """
    return says(text, _UNPROJECTED)


def not_worked(text: str) -> Iterator[str]:
    """A sentence for each thing that the text speaks of and that is not worked out.

    >>> list(not_worked("Apply layer normalisation to each row."))
    ['Layer normalisation is spoken of; it is not worked out.']
    """
    for what, pattern in _BESIDE:
        if _is_spoken_of(pattern, text):
            yield f"{what} is spoken of; it is not worked out."
    for what in _instead(text):
        yield f"{what} is spoken of and not understood; what is worked out is plain softmax attention."


def is_otherwise(text: str) -> bool:
    """Whether the text speaks of a kind of attention that is not worked out, in place of the usual one."""
    return bool(_instead(text))


@lru_cache(maxsize=8)
def _instead(text: str) -> tuple[str, ...]:
    return tuple(what for what, pattern in _INSTEAD if _is_spoken_of(pattern, text))


def _is_spoken_of(pattern: Wording, text: str) -> bool:
    return any(pattern.search(said) and not _supposed(said) for said in _sentences_with(text, pattern))


def rules(text: str) -> Iterator[Rule]:
    """The rules about which keys may be seen, in the order in which sentences say them.

    >>> [rule.padded for rule in rules("The last two tokens are padding.")]
    [(-2, -1)]
    """
    if not _NOT_PADDED.search(text):
        yield from _listed_pads(text)
    for sentence in _sentences_with(text, _PAD, _PREFIX, _WINDOW):
        if _IN_GENERAL.search(sentence):
            continue
        later = bool(_LATER.search(sentence))
        if _PAD.search(sentence) and not _NOT_PADDED.search(sentence) and (keys := _padded(sentence)):
            yield Rule(sentence, padded=keys, later=later)
        if _PREFIX.search(sentence) and (found := _PREFIX_LENGTH.search(sentence)):
            yield Rule(sentence, prefix=number_in(found["n"] or found["m"]), later=later)
        if _WINDOW.search(sentence):
            yield from _windows(sentence, later)
    if _ALIBI.search(text) and (slope := _SLOPE.search(text)):
        yield Rule("ALiBi", bias=Fraction(slope["top"].replace(",", ".")) / int(slope["bottom"] or 1))


def _listed_pads(text: str) -> Iterator[Rule]:
    """'Tokens: hello, world, [PAD]': the places of the padding in a list of tokens."""
    for line in text.splitlines() if "PAD" in text or "<pad>" in text else ():
        if not _PADS.search(line):
            continue
        listed = re.split(r"[:=]", line)[-1].strip(" .`$")
        listed = listed[1:-1] if listed.startswith("[") and listed.endswith("]") and "," in listed else listed
        tokens = [part.strip() for part in listed.split(",")]
        padded = tuple(i for i, token in enumerate(tokens, 1) if _PADS.fullmatch(token))
        if padded and len(padded) < len(tokens) and max(map(len, tokens)) < 20:
            yield Rule(" ".join(line.split()), padded=padded)


def _padded(sentence: str) -> tuple[int, ...]:
    if found := _TOKEN_NUMBER.search(sentence):
        return tuple(int(number) for number in re.findall(r"\d+", found["list"]))
    if found := _LAST_OF.search(sentence):
        which, count = ORDINALS[found["which"].lower()], number_in(found["n"]) if found["n"] else 1
        return tuple(range(-count, 0)) if which < 0 else tuple(range(which, which + count))
    numbered = _VECTOR_NUMBER.findall(sentence)
    return tuple(sorted({int(number) for number in numbered}))


def _windows(sentence: str, later: bool) -> Iterator[Rule]:
    if found := _SLIDING.search(sentence):
        yield Rule(sentence, behind=number_in(found["n"]), later=later)
    elif found := _EACH_SIDE.search(sentence):
        said = found["n"] or found["rule"] or found["most"]
        yield Rule(sentence, window=number_in(said) if said else 1, later=later)
