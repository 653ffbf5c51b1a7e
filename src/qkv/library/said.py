"""What sentences say about a method: into how many heads matrices are cut, and which keys a query may see.

Sentences about what is usual ('in practice …') say nothing about the problem at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.library.words import pattern
from qkv.regex import regex

_COUNTS = (
    "one ein eine einer un una um один одна 一",
    "two zwei deux dos dois due два две двумя двух 两 二 兩",
    "three drei trois tres três tre три тремя трёх трех 三",
    "four vier quatre cuatro quatro quattro четыре четырьмя четырёх 四",
    "five fünf cinq cinco cinque пять 五",
    "six sechs seis sei шесть 六",
    "seven sieben sept siete sete sette семь 七",
    "eight acht huit ocho oito otto восемь 八",
)
NUMBERS = {word: count for count, words in enumerate(_COUNTS, 1) for word in words.split()}
_PLACES = (
    (1, "first erste[nrs]? premiers? première primer[oa]? primeir[oa] prim[oa] перв\\w+ 第一"),
    (2, "second zweite[nrs]? deuxième segund[oa] second[oa] втор\\w+ 第二"),
    (3, "third dritte[nrs]? troisième tercer[oa]? terceir[oa] terz[oa] трет\\w+ 第三"),
    (4, "fourth vierte[nrs]? quatrième cuart[oa] quart[oa] четв\\w+ 第四"),
    (5, "fifth fünfte[nrs]? cinquième quint[oa] пят\\w+ 第五"),
    (-1, "last letzte[nrs]? derni(?:er|ère)s? últim[oa]s? ultim[oaie] последн\\w+ 最后一?"),
)
NUMBER = r"(?:\d{1,2}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + ")"
_HEADS = r"(?:attention |equal |parallel )?(?:head(?:s|ed)?\b|köpfe|kopf|têtes?|cabezas?|cabeças?|teste\b|голов\w*|个?头|ヘッド)"
_TOKENS = r"(?:tokens?|keys?|positions?|words?|wort|schlüssel|jetons?|mots?|claves?|palabras?|palavras?|токен\w*|позици\w*|слов\w*|个?词|トークン|columns?|spalten?|colonnes?|columnas?|colunas?|colonn[ae]|столб\w+)"
_ORDINAL = "|".join(f"(?P<p{i}>{'|'.join(words.split())})" for i, (_, words) in enumerate(_PLACES))

_SENTENCE = regex(r"(?<=[.!?;:。！？；])\s+|\n\s*\n|(?<=[。！？；])")
_IN_GENERAL = regex(
    r"\b(?:in practice|usually|typically|in general|normally|often)\b|in der praxis|üblicherweise|обычно|通常"
)
_SUPPOSED = regex(
    r"\b(?:repeat|recompute|redo|again|now|instead|what if|if|suppose|were|would)\b|erneut|stattdessen|wenn|\bfalls\b|maintenant|\bsi\b|devient|ahora|qué pasa|o que acontece|\bcosa succede|теперь|если|如果|现在"
)
_SPLIT = regex(
    r"split|divid|partition|slic|reshap|chunk|\bcut|aufgeteilt|aufteil|zerleg|geteilt|découp|partag|repart|suddivid|разб|раздел|делим|分成|拆分|划分|分为|分割|each of|of size|of width|der breite|d_\{?(?:\\text\{)?head"
    r"|each head|every head|per head|columns? \d|(?:first|last) \w+ columns|(?:ersten?|letzten?) \w+ spalten|(?:primer[ao]s|primeir[ao]s|últim[ao]s|prime|ultime|premières|dernières) \w+ (?:columnas|colunas|colonne\w?)|столбц|pro kopf|jeder kopf|par tête|chaque tête|por cabeza|por cabeça|cada cabe|per testa|ogni testa|каждая голов|每个头"
)
_HEADS_OF_COLUMNS = regex(
    r"(?:\bhead|kopf|tête|cabeza|cabeça|\btest[ae]\b|голов|头|ヘッド)[^.;。]{0,60}?(?:column|spalte|colonn|coluna|столбц|列)"
)
_COUNTED_HEADS = regex(rf"(?<![\w.])(?P<n>{NUMBER})[\s-]*{_HEADS}")
_SLICE = regex(r"(?<!\w)[qkv]\s*\[\s*:\s*,\s*(?P<first>\d*)\s*:\s*(?P<end>\d*)", re.IGNORECASE)
_PAD = regex(
    r"\bpad(?:s|ded|ding)?\b|padding|\[pad\]|<pad>|rembourr|remplissage|relleno|preenchim|заполн|паддинг|(?:set|setze|mets?|pon\w*|mascar\w*|masked?|masquer?|maskier\w*)\b[^.;]{0,40}(?:-\s?inf|[-−]∞|\\infty)|填充|パディング|(?:is|are|be|were|was|gets) (?:ignored|masked)|ignoriert|(?:ist|wird|sind|werden|wäre|würde) maskiert|(?:est|sont) masqu|(?:está|están|es) enmascarad|(?:é|está|são) mascarad|(?:è|sono) mascherat|замаскирован|被(?:掩码|屏蔽|遮)"
)
_FACTOR = regex(
    r"(?:scores?|logits?|punktzahlen)\b[^.?]{0,30}?(?:multiplied by (?P<times>\d+(?:\.\d+)?)|mit (?P<mal>\d+(?:\.\d+)?) multipliziert|doubled|verdoppelt)"
    r"|multiply (?:all |the |each |every |attention |raw )*(?:scores?|logits?) by (?P<by>\d+(?:\.\d+)?)|double (?:all |the )*(?:scores?|logits?)"
    r"|temperatur\w*\W{0,3}(?:(?:t|is|of|were|was|becomes|ist|von)\W{1,3}|=\s*)*(?P<below>\d+(?:\.\d+)?)"
)
_NOT_PADDED = regex(r"\b(?:no|without|not) pad|ohne padding|sans padding|zero[- ]pad")
_WHICH = regex(rf"(?:{_ORDINAL})\s*(?:(?P<n>{NUMBER})\s*)?(?:个|個)?\s*{_TOKENS}")
_PAD_BESIDE = regex(
    rf"(?:{_ORDINAL})(?:\s+\w+){{0,3}}?\s+[`*\"'\\\w{{]*[\[<]?pad(?:ding)?\b"
)  # 'the last one is a <pad>'
_NUMBERED = regex(rf"{_TOKENS}\s*(?:#|no\.?|nr\.?)?\s*(?P<list>\d{{1,2}}(?:\s*(?:,|and|und|et|y|e|и|&)\s*\d{{1,2}})*)")
_PREFIX = regex(
    rf"(?:first|ersten|premiers|primeros|primeiros|primi|первые|前)\s*(?P<n>{NUMBER}).*(?:prefix|präfix|préfixe|prefijo|prefixo|префикс|前缀)|prefix\D{{0,20}}?(?:length|size|of)\D{{0,6}}?(?P<m>{NUMBER})"
)
_NEIGHBOURS = regex(
    r"(?:direct|immediate|adjacent|direkt\w*|unmittelbar\w*|immédiat\w*|inmediat\w*|imediat\w*)\s+(?:left and right\s+)?(?:neighbou?r|nachbar|voisin|vecin|vizinh)"
    rf"|window\D{{0,40}}?(?P<n>{NUMBER})\D{{0,30}}?(?:each|either|both) (?:side|direction)"
    r"|\|\s*i\s*[-−]\s*j\s*\|\s*(?:\\leq?|≤|<=)\s*(?P<m>\d)"
)
_SLIDING = regex(
    rf"(?:sliding|causal)[\s-]+window[^.]{{0,40}}?(?:size|width|length|of)\s*(?:w\s*=\s*|\$w\s*=\s*)?\$?(?P<n>{NUMBER})"
)


_ITEM = regex(
    r"(?<=[.!?;:。！？；])\s+|\n\s*\n|(?<=[。！？；])|\n(?=\s*(?:[-*•]|\(?\w{1,2}[.)])\s)|,? (?:and|but) (?=without|with )"
)
_ASKS = regex(rf"\?|？|^\W*(?:\(?\w{{1,2}}[.)]\s*)?(?:{pattern('ask')})\b", re.IGNORECASE)
_NOT = r"(?:\b(?:not|no|never|without|don't|nicht|keine?|ohne|ne|pas de|aucune?|sans|ningun[ao]?|ningún|nenhuma?|nessuna?|sin|não|sem|non|senza|nie|bez|не|без)\b|不|未)"
_FEW_WORDS = r"(?:\W+(?!and\b|or\b|but\b|und\b|et\b|y\b|e\b|и\b|mas|мас|forg|vergess|oubli|olvid|esque|dimentic|забы)\w{1,6}){0,2}?\W*"
_DIVIDES = (
    r"(?:scal|divi[ds]|√|\\sqrt|\\frac|1/|skal|(?:ge|ver)?teil|divi[sz]|(?:mise à l')?échelle|escal|dziel|масштаб|дел[еия]"
    r"|做?缩放|做?縮放|除以)"
)
UNSCALED = regex(
    rf"unscaled|{_NOT}{_FEW_WORDS}{_DIVIDES}(?:[^.;,。，；\n]{{0,30}}(?:√|sqrt))?|スケーリングなし|bölmeden|ölçekleme(?:siz|den)"
    r"|skip\w* (?:the )?[^.;]{0,20}?scal|(?:drop|remov|omit|leav|skip|ignor)\w* (?:out )?(?:the )?(?:scal|divi|\$?\\sqrt|√|1/)"
    r"|(?:删掉|去掉|省略|忽略)[^。；]{0,6}(?:√|缩放|\\sqrt)|bỏ qua[^.;]{0,6}(?:chia|scale|√)"
)
UNMASKED = regex(
    rf"unmasked|{_NOT} masked|{_NOT}{_FEW_WORDS}(?:masks?\b|masken?\b|masques?\b|máscaras?|maschera|маск)"
    r"|маск\w{1,2} нет|(?:没有|无|無|不(?:使用|用|加|带|需要|考虑|施加|做))[^。，；,;]{0,4}(?:掩码|遮罩|mask)|マスク(?:なし|無し|は(?:ない|なし|無|使わ|用い|かけな))"
)
_DECIMAL = regex(r"\d(?:[.,]|\{,\})\d")
_RESCALED = regex(
    r"\bwith (?:the )?scaling|mit skalierung|avec (?:la )?mise à l'échelle|con escala|com escala|с масштаб"
)
_CAUSAL = regex(r"causal|kausal|autoregress|look.?ahead|因果")
_WITH_MASK = regex(r"\W*(?:with|mit|avec|con|com|с|加上?)\b[^.,;]{0,24}(?:mask|masque|máscara|maschera|маск|掩码)")
_DIVIDED = regex(
    r"(?:divided|dividing|divide|scaled|scaling|scale)\b[^.;]{0,30}?\bby\s*\$?\s*(?:1\s*/\s*(?=\\sqrt|√|sqrt))?(?P<root>\\?sqrt|√)?\s*[{(]?\s*(?P<n>\d+(?:\.\d+)?)(?![\w.,]*\d|\s*/)"
)
_SIZE = regex(r"(?:\bif|suppose|assume|were|with|using)\b[^.;]{0,30}?d_?\{?k\}?\s*\$?\s*=\s*(?P<n>\d+)")


_NO_SOFTMAX = regex(
    r"(?:\bno|\bwithout(?: an?| the)?|\binstead of(?: an?| the)?|ohne|statt|sans|sin|sem|senza|без|不用|不使用) softmax"
)
_SHARES = regex(rf"(?:{pattern('divide')}|normali[sz])[^.;]*?(?<!\w)(?:{pattern('sum')})(?!\w)", re.IGNORECASE)


class Method(NamedTuple):
    """How a question wants its attention, where it says so: None is as the page has it."""

    words: str
    scaled: bool | None = None
    causal: bool | None = None
    scale: n.Expr | None = None
    sight: Sight | None = None
    factor: n.Expr | None = None  # what scores are multiplied by beside the scale


class Sight(NamedTuple):
    """Which keys a query may see, as sentences say it.

    padded   keys that nobody sees; negative ones count from the end      prefix  keys that all see; what follows is causal
    window   how far to each side a query sees                            behind  how many keys up to its own it sees
    supposed it is said of another run, beside the first
    """

    padded: tuple[int, ...] = ()
    window: int | None = None
    behind: int | None = None
    prefix: int | None = None
    supposed: bool = False

    def sees(self, i: int, j: int, queries: int, keys: int, causal: bool) -> bool:
        """Whether query i may see key j, both from 0; the queries are the last of the keys."""
        here = i + max(keys - queries, 0)
        if j + 1 in self.padded or j - keys in self.padded:
            return False
        if self.window is not None and abs(here - j) > self.window:
            return False
        if self.behind is not None and not 0 <= here - j < self.behind:
            return False
        return j <= here or not (causal or self.prefix is not None) or j < (self.prefix or 0)

    def pattern(self, queries: int, keys: int, causal: bool = False) -> n.Matrix:
        """The matrix of who sees whom, 1 for seen.

        >>> [[int(cell.value) for cell in row] for row in Sight(padded=(-1,)).pattern(2, 2).rows]
        [[1, 0], [1, 0]]
        """
        rows = (
            tuple(n.number(int(self.sees(i, j, queries, keys, causal))) for j in range(keys)) for i in range(queries)
        )
        return n.Matrix(tuple(rows))


def number_in(word: str) -> int:
    """A count, in digits or in words."""
    return int(word) if word.isdecimal() else NUMBERS.get(word.lower(), 0)


def heads_said(text: str) -> int | None:
    """The number of heads into which sentences, or slices among them, cut matrices.

    >>> heads_said("We split Q, K and V into two heads."), heads_said("All 8 heads are trained.")
    (2, None)
    """
    text = text.lower()
    sentences = _SENTENCE.split(text)
    cut = _HEADS_OF_COLUMNS.search(text) is not None
    for sentence, following in zip(sentences, (*sentences[1:], ""), strict=True):
        counted = _COUNTED_HEADS.search(sentence) if cut or _SPLIT.search(f"{sentence} {following}") else None
        if (
            counted
            and number_in(counted["n"]) > 1
            and not _IN_GENERAL.search(sentence)
            and not _SUPPOSED.search(sentence)
        ):
            return number_in(counted["n"])
    slices = {(found["first"] or "0", found["end"]) for found in _SLICE.finditer(text)}
    return len(slices) if len(slices) > 1 else None


def sights_said(text: str) -> Iterator[Sight]:
    """The rules about which keys may be seen, in the order in which sentences say them.

    >>> list(sights_said("The last two tokens are padding."))[0].padded
    (-2, -1)
    """
    for sentence in _SENTENCE.split(text.lower()):
        sight = _sight(sentence)
        if sight is not None and not _IN_GENERAL.search(sentence) and not _NOT_PADDED.search(sentence):
            yield sight._replace(supposed=bool(_SUPPOSED.search(sentence)))


def _sight(sentence: str) -> Sight | None:
    """The rule that a sentence names."""
    if found := _PREFIX.search(sentence):
        return Sight(prefix=number_in(found["n"] or found["m"]))
    if _PAD.search(sentence) and (keys := _padded(sentence)):
        return Sight(padded=keys)
    if found := _SLIDING.search(sentence):
        return Sight(behind=number_in(found["n"]))
    if found := _NEIGHBOURS.search(sentence):
        return Sight(window=number_in(found["n"] or found["m"] or "1"))
    return None


def _padded(sentence: str) -> tuple[int, ...]:
    if found := _WHICH.search(sentence) or _PAD_BESIDE.search(sentence):
        place = next(where for i, (where, _) in enumerate(_PLACES) if found[f"p{i}"])
        count = number_in(found.groupdict().get("n") or "1")
        return tuple(range(-count, 0)) if place < 0 else tuple(range(place, place + count))
    if found := _NUMBERED.search(sentence):
        return tuple(int(number) for number in re.findall(r"\d+", found["list"]))
    return ()


@lru_cache(maxsize=64)  # asked under every choice that a problem leaves open
def shares_said(text: str) -> bool:
    """Whether scores are divided by their sum, and a softmax is denied.

    >>> shares_said("Divide every score by the sum of the scores (no softmax)."), shares_said("Divide exp by its sum.")
    (True, False)
    """
    return bool(_NO_SOFTMAX.search(text.lower()) and _SHARES.search(text))


def methods_said(text: str, asked: bool = False) -> Iterator[Method]:
    """The methods that questions, and sentences which work something out beside the first, set for themselves; `asked`
    is whether all of the text is a question.

    >>> [(method.words, method.scaled) for method in methods_said("1. Find A. 2. What would it be without scaling?")]
    [('what would it be without scaling?', False)]
    """
    for sentence in _ITEM.split(text.lower()):
        worked = len(_DECIMAL.findall(sentence)) > 1
        other = asked or worked or _ASKS.search(sentence) or _SUPPOSED.search(sentence) or _WITH_MASK.match(sentence)
        if not other or _IN_GENERAL.search(sentence):
            continue
        sight = next(sights_said(sentence), None)
        unmasked, unscaled = bool(UNMASKED.search(sentence)), bool(UNSCALED.search(sentence))
        causal = False if unmasked else True if _CAUSAL.search(sentence) else None
        scale = None if unscaled else _scale(sentence)
        rescaled = scale is not None or (not unscaled and bool(_RESCALED.search(sentence)))
        factor = _factor(sentence)
        if sight is not None or causal is not None or unscaled or rescaled or factor is not None:
            scaled = False if unscaled else True if rescaled else None
            yield Method(" ".join(sentence.split()), scaled, causal, scale, sight, factor)


def _factor(sentence: str) -> n.Expr | None:
    """What a sentence multiplies scores by: 'if all scores are doubled', 'at temperature 0.5'."""
    found = _FACTOR.search(sentence)
    if found is None:
        return None
    if found["below"]:
        return n.number(1 / Fraction(found["below"])) if Fraction(found["below"]) else None
    return n.number(next((number for number in (found["times"], found["by"], found["mal"]) if number), "2"))


def _scale(sentence: str) -> n.Expr | None:
    """What a sentence divides scores by: 2, √8, or √d_k for another d_k."""
    if found := _DIVIDED.search(sentence):
        return n.Root(n.number(found["n"])) if found["root"] else n.number(found["n"])
    if found := _SIZE.search(sentence):
        return n.Root(n.number(found["n"]))
    return None


_PLACED = regex(rf"(?<![^\W\d_])(?:{_ORDINAL})(?![^\W\d_])")


def places_said(words: str) -> list[int]:
    """The places that words speak of, from 1; -1 is the last.

    >>> places_said("the weights of the second token"), places_said("for the last")
    ([2], [-1])
    """
    return [
        place for found in _PLACED.finditer(words.lower()) for i, (place, _) in enumerate(_PLACES) if found[f"p{i}"]
    ]
