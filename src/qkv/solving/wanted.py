"""What a question asks for, by its words: which quantities, of which tokens, to how many places, what is compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qkv.errors import Location, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.library.roles import places, roles_in_words
from qkv.library.said import NUMBER, Method, methods_said, number_in, places_said
from qkv.library.words import ROW_SUMS, means, pattern, spoken
from qkv.reader.chain import Chain
from qkv.reader.grammar import parse_math
from qkv.reader.model import Question, Sheet
from qkv.regex import regex

ANSWERED = (  # roles that a question may ask for, in the order in which attention works them out
    Role.Q, Role.K, Role.V, Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.CONCAT, Role.OUTPUT,
)  # fmt: skip
_STEPS = {Role.SCORES, Role.SCALED, Role.MASKED}
_MATHS = regex(r"\$+([^$]{1,160})\$+|`([^`]{1,60})`|\\\((.{1,160}?)\\\)")
_BARE = regex(  # Q, p, z_1, an A that is no article, and a y that is no 'and'
    r"(?<![\w\\'])(?:[B-HJ-Zb-hj-xz]|[Ay](?=\s*(?:[.,;?!)]|$))|[^\W\d_]{1,5}_\{?\w{1,8}\}?|[a-zα-ω]\d)(?![\w'(])"
)
_NORM = regex(r"(?:layer|rms|batch)[\s-]*norm\w*", re.IGNORECASE)
_WHOLE = regex(  # the name of the whole computation speaks of no step of it
    r"(?:scaled[\s-]+)?dot[\s-]?product(?=[\s-]+(?:(?:self|cross)[\s-]?)?attention\b(?!\s+(?:scores?|logits?)))",
    re.IGNORECASE,
)
_SIZE_OF = regex(  # 'the key dimension' speaks of no key
    r"\b(?:key|query|value|embedding|schlüssel|vector)s?[\s-]*(?:vector\s+)?dimension\w*|schlüsseldimension"
    r"|\bdimensi\w+ (?:of|der|des|de la|de las|de los|delle|das) (?:the )?\w+|размерност\w+ \w+",
    re.IGNORECASE,
)
_REMARK = regex(
    r"\((?:use|do not|don't|without|no|mit|avec|con|com|ohne)\b[^()]*(?:\([^()]*\)[^()]*)*\)", re.IGNORECASE
)
_ATTENTION = regex(
    r"attention|\battends?\b(?=.*\bto\b)|aufmerksam|atenci[oó]n|atenção|attenzione|внимани|注意力|アテンション|어텐션",
    re.IGNORECASE,
)
_NORMALISED = regex(r"normali[sz]|softmax\s+(?:to|of|over|on|auf)\b|(?:apply|take)\b[^.]*?softmax", re.IGNORECASE)
_OF_QUERY = regex(
    r"\b(?:for|of|from)\s+(?:the|each|every|this|that)\s+(?:\w+\s+)?quer|für die anfrage|pour la requête", re.IGNORECASE
)
_PAIR = regex(  # of a query and a key
    r"\bbetween\b|zwischen|\bentre\b|\btra\b|между|之间|\bfrom\b.*\bto\b|(?:pays?|gives?|assigns?|attends?)\b.*\b(?:to|on)\b"
    r"|\bof (?:the )?(?:token|word|query|position)\b.*\b(?:to|on|with)\b|\w\(\s*\w+\s*,\s*\w+\s*\)",
    re.IGNORECASE | re.DOTALL,
)
_KEY_FIRST = regex(r"\bkeys?\b.*\bquer", re.IGNORECASE | re.DOTALL)
_QUOTED = regex(r"[\"“”„'‘’«»`*](?P<word>[^\W\d_][\w-]*)[\"“”'‘’«»`*]")


_STEP = regex(rf"\W*(?:{pattern('step')})\s*\d|.*[:：]\W*$", re.IGNORECASE | re.DOTALL)
_EXPLAIN = regex(spoken("explain"), re.IGNORECASE)
_PRODUCT = regex(spoken("multiply"), re.IGNORECASE)
_COMPARE = regex(spoken("compare"), re.IGNORECASE)
_WITH = regex(
    rf"{spoken('with')}.*?(?=[,;]|(?:{pattern('connective')})\s+(?:{pattern('ask')})|$)", re.IGNORECASE | re.DOTALL
)
_THEN = regex(rf"(?:[,;]\s*|\b(?:{pattern('connective')})\s+)(?:then\s+)?$", re.IGNORECASE)
_ALL = regex(rf"{spoken('all')}\s*(?P<what>(?:[^\W\d_]+\s?){{1,3}})", re.IGNORECASE)
_ENTRY = regex(
    f"(?:{spoken('largest')}|(?P<least>{spoken('smallest')})).{{0,20}}?{spoken('entry')}"
    f"|{spoken('entry')}.*(?:{spoken('largest')}|(?P<last>{spoken('smallest')}))",
    re.IGNORECASE | re.DOTALL,
)
_LEAST = regex(spoken("least"), re.IGNORECASE)
_MOST = regex(
    f"{spoken('which')}.*?{spoken('line')}.*?(?:{spoken('most')}|{spoken('least')})", re.IGNORECASE | re.DOTALL
)
_PLACES = regex(
    rf"(?P<count>{NUMBER})[\s-]*(?:{pattern('places')})|小数点[后第]\s*(?P<after>{NUMBER})",
    re.IGNORECASE,
)
_DIGITS = regex(rf"(?P<count>{NUMBER})[\s-]*(?:{pattern('digits')})", re.IGNORECASE)
_LINE = regex(f"{spoken('line')}|{spoken('vector')}", re.IGNORECASE)
_PUT = regex(rf"(\w+)\s*=\s*(\d+(?:(?:\s*,\s*|\s*,?\s+(?:{pattern('connective')})\s+)\d+)*)(?![.\d])", re.IGNORECASE)
_OF_TOKEN = regex(  # for x1
    r"\b(?:for|of|für|von|pour|para|per|для) \$?(?:[xt]|token)_?\{?(?P<token>\d{1,2})\}?\b"
)
_NUMBERED = regex(rf"{spoken('line')}\s*#?(?P<number>\d{{1,2}})\b(?!\s*[x×-])", re.IGNORECASE)


class Wanted(NamedTuple):
    """What a question asks for.

    exprs    names and formulas in it                      rows     the tokens that it speaks of: numbers or words
    roles    what its words speak of, in their usual order places   decimals that results are rounded to
    extreme  'most' or 'least' where it asks for a word    compares whether methods are compared
    in_words that it asks for an explanation               methods  how it wants its attention, where it says so itself
    put      numbers that it puts in for names: pos = 3 and 5
    is_pair  whether its two tokens are a query and a key    whole    roles of which it wants all: 'and all keys'
    function what it wants of them: 'rowsum', the 'max' or the 'min'      digits   significant digits, if it wants those
    seen     the keys that its token looks at, in a word: itself, others, future, past
    """

    exprs: tuple[n.Expr, ...] = ()
    roles: tuple[Role, ...] = ()
    rows: tuple[str, ...] = ()
    places: int | None = None
    extreme: str = ""
    compares: bool = False
    in_words: bool = False
    methods: tuple[Method, ...] = ()
    put: tuple[tuple[str, str], ...] = ()
    is_pair: bool = False
    whole: frozenset[Role] = frozenset()
    function: str = ""
    digits: int | None = None
    seen: str = ""


class Item(NamedTuple):
    """One numbered question with its sentences; `told` is what it asks for, where a person told that."""

    label: str
    sentences: tuple[str, ...]
    line: int
    told: n.Expr | None = None

    @property
    def text(self) -> str:
        """All that it says."""
        return " ".join(self.sentences)


def items(questions: Sequence[Question]) -> list[Item]:
    """Questions with the sentences that belong to them; the captions of a worked solution ask for nothing."""
    found: list[Item] = []
    for question in questions:
        if question.expr is not None:
            text = question.text.removeprefix(question.label).strip()
            found.append(Item(question.label, (text,), question.line, question.expr))
        elif found and not question.label and found[-1].line == question.line and found[-1].told is None:
            found[-1] = found[-1]._replace(sentences=(*found[-1].sentences, question.text))
        elif not _STEP.match(question.text):
            text = question.text.removeprefix(question.label).strip() if question.label else question.text
            found.append(Item(question.label, (text,), question.line))
    return found


def wanted(item: Item, sheet: Sheet, tokens: Sequence[str]) -> list[Wanted]:
    """What each sentence of a question asks for; `tokens` are the words that label rows on its page."""
    if item.told is not None:
        return [Wanted((item.told,))]
    found = [_wanted(sentence, sheet, tokens) for sentence in item.sentences]
    return [
        then._replace(methods=then.methods or first.methods)
        for first, then in zip((found[0], *found), found, strict=False)
    ]


def _wanted(text: str, sheet: Sheet, tokens: Sequence[str]) -> Wanted:
    extreme = ("least" if _LEAST.search(text) else "most") if _MOST.search(text) else ""
    exprs = tuple(dict.fromkeys(_exprs(text, sheet, tokens)))
    roles = tuple(_roles(text)) if len(exprs) < 2 else ()
    methods = tuple(methods_said(text, asked=True))
    if _PRODUCT.search(text) and not any(method.factor for method in methods):  # what is named goes into it
        named = {place.role for expr in exprs if isinstance(expr, n.Name) for place in places(expr.symbol)[:1]}
        exprs, roles = (), tuple(_products(set(roles) | named | set(roles_in_words(text))))
    rows = tuple(dict.fromkeys(_rows(text, tokens)))
    is_pair = len(rows) == 2 and bool(_PAIR.search(text))
    if is_pair and _KEY_FIRST.search(text):
        rows = rows[::-1]
    decimals = decimals_said(text)
    if roles and _STEPS.issuperset(roles) and any(method.causal for method in methods):
        roles = (Role.MASKED,)  # 'the scaled scores with a causal mask'
    elif methods:  # 'without scaling' asks for nothing scaled
        roles = tuple(role for role in roles if role not in (Role.SCALED, Role.MASKED)) or roles
    return Wanted(
        exprs, roles, rows, decimals, extreme, bool(_COMPARE.search(text)), bool(_EXPLAIN.search(text)), methods,
        tuple((m[1], number) for m in _PUT.finditer(text) for number in re.findall(r"\d+", m[2])),
        is_pair, frozenset(role for found in _ALL.finditer(text) for role in roles_in_words(found["what"])),
        _function(text), digits_said(text), _seen(text) if len(rows) == 1 else "",
    )  # fmt: skip


def _function(text: str) -> str:
    """What a question wants of a quantity, instead of all of it; a remark in brackets wants nothing."""
    text = re.sub(r"(?<=\s)\([^()$]*\)", " ", text)
    if ROW_SUMS.search(text) and not _NORMALISED.search(text):
        return "rowsum"
    entry = _ENTRY.search(text)
    return ("min" if entry["least"] or entry["last"] else "max") if entry else ""


_SEEN = {word: regex(spoken(word), re.IGNORECASE) for word in ("itself", "others", "future", "past")}


def _seen(text: str) -> str:
    """The keys that a query gives its weights to, where words say which: 'how much does token 1 give to the future'."""
    found = _PAIR.search(text)
    return next((word for word, said in _SEEN.items() if found and said.search(text, found.start())), "")


def decimals_said(text: str) -> int | None:
    """The decimal places that a text wants results rounded to.

    >>> decimals_said("Give the outputs, rounded to 3 decimals."), decimals_said("Round to two decimal places.")
    (3, 2)
    """
    found = _PLACES.search(text)
    if found is None:
        return None
    return number_in(found["count"] or found["after"])


def digits_said(text: str) -> int | None:
    """The significant digits that a text wants results rounded to.

    >>> digits_said("Give Z to three significant digits.")
    3
    """
    found = _DIGITS.search(text)
    return number_in(found["count"]) if found else None


def _exprs(text: str, sheet: Sheet, tokens: Sequence[str]) -> Iterator[n.Expr]:
    """The names and formulas that a sentence sets in mathematics, or names plainly; of 'O = A V' the O."""
    for found in _MATHS.finditer(text):
        yield from _parsed(next(filter(None, found.groups()), ""), sheet)
    plain = _WITH.sub(" ", _MATHS.sub(" ", text))
    formulas = _formulas(plain, sheet)
    yield from (chain.links[0].expr for chain in formulas)
    for chain in formulas:
        plain = plain.replace(chain.text, " ")
    for found in _BARE.finditer(plain):
        names = sheet.names
        known = found[0].isupper() or names is None or found[0][0] in names.letters | names.scripted
        if found[0] not in tokens and (known or found[0][-1].isdecimal()):
            yield from _parsed(found[0], sheet)


def _formulas(text: str, sheet: Sheet) -> list[Chain]:
    """The formulas of a sentence that sets none in mathematics: the softmax(Q K^T) V of 'Compute softmax(Q K^T) V', the
    y = h W_2 of 'Compute y = h W_2'."""
    try:
        chains = parse_math(text, Location(1), strict=False, names=sheet.names).chains
    except QkvError:
        return []
    return [
        chain for chain in chains
        if len(n.names_in(chain.links[0].expr)) > 1 or any(len(n.names_in(link.expr)) > 1 for link in chain.links[1:])
    ]  # fmt: skip


def _parsed(text: str, sheet: Sheet) -> Iterator[n.Expr]:
    try:
        chains = parse_math(text, Location(1), names=sheet.names).chains
    except QkvError:
        return
    for chain in chains:
        if n.names_in(chain.links[0].expr):
            yield chain.links[0].expr


def without_maths(text: str) -> str:
    """The words of a question.

    >>> without_maths("Find $R$ and its norm.")
    'Find   and its norm.'
    """
    return _MATHS.sub(" ", text)


def _roles(text: str) -> Iterator[Role]:
    """The roles that words speak of: of steps that lead to each other, the last."""
    plain = without_maths(text)
    for aside in (_WHOLE, _REMARK, _SIZE_OF, _NORM, _WITH):
        plain = aside.sub(" ", plain)
    said = set(roles_in_words(plain))
    if not said & set(ANSWERED) - {Role.SCALED, Role.MASKED} and _ATTENTION.search(plain):
        said = said - _STEPS | {Role.WEIGHTS if _PAIR.search(plain) else Role.HEAD}  # 'compute masked self-attention'
    if Role.SCALED in said or Role.MASKED in said:
        said.discard(Role.SCORES)
    if normalised := _NORMALISED.search(plain):
        before = plain[: normalised.start()]  # 'compute the scores, normalise them'
        steps = roles_in_words(before) if _THEN.search(before) else ()  # the last is named first: 'scaled scores'
        said = said - _STEPS | {Role.WEIGHTS} | (set(steps[:1]) & _STEPS if Role.SCORES in steps else set())
    if _OF_QUERY.search(plain):
        said.discard(Role.Q)
    if said & {Role.Q, Role.K, Role.V} and re.search("proje[ck]t", plain, re.IGNORECASE):
        said.discard(Role.OUTPUT)  # 'project the tokens to queries'
    if said & _STEPS and said & {Role.Q, Role.K}:
        said -= {Role.Q, Role.K, Role.V}  # 'the scores of each query and key'
    if (
        said & {Role.WEIGHTS, Role.HEAD, Role.OUTPUT}
        and said & _STEPS
        and re.search(r"scaled dot", plain, re.IGNORECASE)
    ):
        said -= {Role.SCALED}  # 'the output of scaled dot-product attention'
    yield from (role for role in ANSWERED if role in said)


def _products(operands: set[Role]) -> Iterator[Role]:
    """What comes of a product or of heads that are set side by side, by what goes into it."""
    if operands & {Role.CONCAT, Role.W_O}:
        yield from (Role.CONCAT, Role.OUTPUT)
    elif operands & {Role.V, Role.WEIGHTS}:
        yield Role.HEAD
    elif Role.K in operands:
        yield Role.SCORES


def _rows(text: str, tokens: Sequence[str]) -> Iterator[str]:
    """The tokens that a sentence speaks of, by their words or numbers."""
    known = {token.lower(): token for token in tokens}
    quoted = [known[word] for found in _QUOTED.finditer(text) if (word := found["word"].lower()) in known]
    yield from quoted
    letters = all(len(token) == 1 and token.isupper() for token in tokens)  # then A is a token and no article
    for word in re.findall(r"[^\W\d_][\w-]*", text) if not quoted else ():
        if word in tokens and (letters or not (len(word) == 1 or means(word, "article") or means(word, "operand"))):
            yield word
    if _LINE.search(text):
        yield from (str(place if place > 0 else len(tokens)) for place in places_said(text) if place > 0 or tokens)
    for found in _NUMBERED.finditer(text):
        yield found["number"]
    yield from (found["token"] for found in _OF_TOKEN.finditer(text))
