"""Paragraphs → events: which chains state something, and which words label them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from qkv.errors import Location
from qkv.expr.nodes import Call, Exp, Matrix, Name, Number, Product, Root, Sum, holds, is_literal, names_in, walk
from qkv.library.words import means, pattern
from qkv.reader.chain import Chain
from qkv.reader.grammar import parse_math, read_stream
from qkv.reader.maths.names import Names, is_symbol
from qkv.reader.maths.signs import NAME_COMMANDS
from qkv.reader.maths.tokens import Places
from qkv.reader.model import Origin, Relation, Unread
from qkv.reader.page import Event, Mention, Page, Paragraph, Said, Stated, Stretch
from qkv.reader.questions import questions
from qkv.regex import regex

_LOOK = 400  # characters before a value in which its label stands
_FIGURE = regex(rf"\s*(?:{pattern('figure')})\.?\s*\d+\s*[:.：]", re.IGNORECASE)
_SENTENCE = regex(r"[.!?;。；！？](?:\s|$)|\n")
_ARROW = regex(r"(?:->|=>|→|⇒|\\(?:Rightarrow|rightarrow|to)\b)\s*")
_TEX = regex(r"\\[A-Za-z]+")
_COMMAND = regex(r"\\[\[\]()]|\\(?:[Rr]ightarrow|to|therefore|q?quad|[,;!: ])")
_LEAD = regex(rf"^[\s,;.:，、)→⇒]+|^(?:->|=>)\s*|^(?:{pattern('connective')})\b[\s,]*", re.IGNORECASE)
_TRAIL = regex(r"[\s:：=≈→,(\-–—*_$`~]+$|(?:->|=>)\s*$")
_FEW_WORDS = regex(r"\s*[^\W\d_]{2,}(?: [^\W\d_]{2,}){0,3}\s*")
_COLON = regex(r"[:：=≈→]\s*[`$(]*\s*$|(?:->|=>)\s*$")
_ASIDE = regex(r"\s*[(（][^()（）]*[)）]\s*(?=[:：=.]?\s*$)")
_TAIL = regex(rf"(?:\s|[:：=.,)*_$`\-—]|\b(?:{pattern('copula')})\b|[为是は如下]|\([^()]*\))*$", re.IGNORECASE)
_LISTED = regex(r"(?<![^\W_])[A-Z][$`]*\s*[,，、]$")  # the V of 'Q, K, V' is one of several
_COPULA = regex(rf"\s(?:{pattern('copula')})$", re.IGNORECASE)
_LAST_WORD = regex(
    r"(?:^|(?<=[\s(（,，、:：\u4e00-\u9fff\u3040-\u30ff]))(?P<word>[^\W\d_]+(?:_?\d+)?(?:[_^]\{?\w+\}?)*['′₀-₉ᵀ]*)$"
)
_PLACE = regex(  # 'A v, shape (4, 3)', 'cell (1, 2): …': numbers that are no values
    r"(?:\b(?:shapes?|size|dims?|cell|entry|element|zelle|eintrag|celda|célula|entrada|élément|case)|元素|单元格|要素)$",
    re.IGNORECASE,
)
_CUT_OFF = regex(r"[^\W\d_]\w*[/*^]$")
_FUNCTION = regex(r"(?<!\w)[a-zA-Z]\w+$")
_IDENTITY = regex(rf"(?<!\w)(?:{pattern('identity')})(?!\w)|单位[矩阵陣]+|単位行列", re.IGNORECASE)
_NAME = regex(r"\$([^$]{1,40})\$|`([^`]{1,30})`|(?<![\w\\$`])([A-Z](?:_\{?\w{1,9}\}?|[a-z])\d?|[A-Z])(?![\w'])")


def read_paragraph(block: Paragraph, stretch: Stretch, page: Page) -> Iterator[Event]:
    """The events of a paragraph."""
    yield from questions(block.text, block.line)
    if _FIGURE.match(stretch.text):
        yield Said(" ".join(block.text.split()), block.line)
        return
    yield from read_stretch(stretch, page)


def read_stretch(stretch: Stretch, page: Page) -> Iterator[Event]:
    """What the tokens of a stretch state, with the words between."""
    text = stretch.text
    places = Places(text, Location(stretch.line))
    strict = all(origin in (Origin.INLINE, Origin.DISPLAY) for _, origin in stretch.origins)
    names = page.names._replace(comma=page.comma)
    parsed = read_stream(list(stretch.tokens), text, places, names, strict=strict)
    yield from parsed.unread
    done = 0
    starts = [start for start, _ in stretch.origins]
    mention: Chain | None = None
    chains = sorted((*parsed.chains, *_identities(text, places, page)), key=lambda chain: chain.start)
    for k, chain in enumerate(chains):
        origin = stretch.origins[max(0, bisect_right(starts, chain.start) - 1)][1]
        lead = text[max(done, chain.start - _LOOK) : chain.start]
        if _is_rest(chain, lead):
            yield Unread(chain.at.line, " ".join(chain.text.split()), "what stands before it is not read")
            continue
        chain = _named(chain, lead, places, names)
        lead = text[max(done, chain.start - _LOOK) : chain.start]
        whole = len(chain.links)
        label, chain = _labelled(_label(text, done, chain.start), lead, _called(chain, lead), places)
        label = label or _line_above(text, done, chain)
        tied = _is_tied(chain, chains[k + 1] if k + 1 < len(chains) else None, lead, origin)
        if len(chain.links) == whole and not tied and not _states(chain, lead, label, origin, names):
            mention = chain if names_in(chain.links[0].expr) else mention
            continue
        yield from _said(text[done : chain.start], done, places)
        line = text.rfind("\n", done, chain.start)
        if line >= 0:
            yield from _mentioned(mention if mention and mention.end <= line else None, text[:line], done, places, page)
        mention, done = None, chain.end
        alone = _is_whole(stretch, chain) or _is_item(chains, k, text)
        yield Stated(_begun(chain, lead, label), origin, label, row_labels=chain.remarks, whole=alone)
    yield from _said(text[done:], done, places)
    yield from _mentioned(mention, text, done, places, page)


def _is_rest(chain: Chain, lead: str) -> bool:
    """Whether a chain is only what was read of a longer side: the da_1 = 2 of 'a1 dL/da1 = 2'."""
    return len(chain.links) > 1 and isinstance(chain.links[0].expr, Name) and _CUT_OFF.search(lead) is not None


def _is_tied(chain: Chain, following: Chain | None, lead: str, origin: Origin) -> bool:
    """Whether an arrow ties two values: √6 ⇒ √3, 0.0123 → 0.0095."""
    if origin is Origin.PLAIN:
        return bool(_ARROW.fullmatch(lead.strip())) and chain.continues and not names_in(chain.links[0].expr)
    leads = (
        following is not None and following.continues and following.after in "→⇒" and following.start - chain.end < 30
    )
    led = chain.continues and chain.links[0].relation in (Relation.ARROW, Relation.IMPLIES)
    return (leads or led) and not isinstance(chain.links[0].expr, Name)


def _said(text: str, offset: int, places: Places) -> Iterator[Said]:
    """The words of a text, line by line."""
    line = places.at(offset).line
    for k, words in enumerate(text.split("\n")):
        if any(map(str.isalnum, _TEX.sub("", words))):
            yield Said(_unopened(_words(words).strip(" ,;.$`")), line + k)


def _unopened(words: str) -> str:
    """Words without brackets at their ends that close nothing."""
    words = words.lstrip(") ")
    while words.endswith(")") and words.count(")") > words.count("("):
        words = words[:-1].rstrip(" ,;.$`")
    return words


def _words(text: str) -> str:
    """Words without marks and white space of more than one blank."""
    return " ".join(text.replace("**", "").split())


def _is_whole(stretch: Stretch, chain: Chain) -> bool:
    """Whether a chain is all that stands on its lines, so that a line above may name it."""
    start = stretch.text.rfind("\n", 0, chain.start) + 1
    return not stretch.text[start : chain.start].strip(" $\\[`(")


def _is_item(chains: Sequence[Chain], k: int, text: str) -> bool:
    """Whether a vector is one of several that stand under each other behind words: '- the: [1, 0]', '- cat: [0, 1]'."""
    width = _item_width(chains[k], text)
    beside = [
        chain for chain in (*chains[max(0, k - 1) : k], *chains[k + 1 : k + 2]) if _item_width(chain, text) == width
    ]
    return width > 0 and any(abs(chain.at.line - chains[k].at.line) == 1 for chain in beside)


def _item_width(chain: Chain, text: str) -> int:
    """The length of a vector that stands alone behind a word and a colon; 0 where it does not."""
    vector = chain.links[0].expr
    lead = text[text.rfind("\n", 0, chain.start) + 1 : chain.start]
    if len(chain.links) > 1 or not isinstance(vector, Matrix) or len(vector.rows) > 1 or len(lead) > 60:
        return 0
    return len(vector.rows[0]) if _COLON.search(lead) and len(lead.split()) <= 4 else 0


def _begun(chain: Chain, lead: str, label: str) -> Chain:
    """'Sum $= 14.5$' goes on from the word and from no earlier line."""
    last = lead.rpartition("\n")[2].strip(" $`")
    if not chain.continues or not label or _ARROW.match(last):
        return chain
    return chain._replace(links=(replace(chain.links[0], relation=Relation.FIRST), *chain.links[1:]), continues=False)


# — labels —


def _label(text: str, done: int, start: int) -> str:
    """The words of the same line and sentence right before an offset."""
    first = max(done, start - _LOOK)
    lead = text[max(first, text.rfind("\n", first, start) + 1) : start]
    cuts = [m.end() for m in _SENTENCE.finditer(lead) if m.end() < len(lead.rstrip())]
    lead = lead[cuts[-1] :] if cuts else lead
    for _ in range(3):
        lead = _TRAIL.sub("", _LEAD.sub("", lead))
    lead = _words(_COMMAND.sub(" ", lead.replace("$", "").replace("`", "")))
    return lead[1:-1] if len(lead) > 2 and lead[0] in "\"“'‘" and lead[-1] in "\"”'’" else lead


def _line_above(text: str, done: int, chain: Chain) -> str:
    """The few words that stand alone on the line above a chain that goes on from them: 'Masked', then '≈ [..]'."""
    start = text.rfind("\n", 0, chain.start) + 1
    goes_on = chain.continues and chain.links[0].relation in (Relation.EQUAL, Relation.APPROX)
    if not goes_on or start <= done or text[start : chain.start].strip():
        return ""
    above = text[max(done, text.rfind("\n", 0, start - 1) + 1) : start - 1]
    return above.strip() if _FEW_WORDS.fullmatch(above) else ""


def _called(chain: Chain, lead: str) -> Chain:
    """Arrays in brackets right behind a word are its arguments: 'Case 1: attention([[1, 0]], [[2, 3]])'."""
    first = chain.links[0]
    word = _FUNCTION.search(lead) if isinstance(first.expr, Call) and first.expr.function == "list" else None
    if word is None or not isinstance(first.expr, Call) or not all(holds(arg, Matrix) for arg in first.expr.args):
        return chain
    call = replace(first, expr=replace(first.expr, function=word[0]), text=word[0] + first.text)
    return chain._replace(links=(call, *chain.links[1:]), text=word[0] + chain.text, start=chain.start - len(word[0]))


_IS_SAID = regex(rf"(?P<name>[`$]?(?<![^\W_])[A-Za-z](?:_\{{?\w{{1,9}}\}}?)?[`$]?) (?:{pattern('copula')}) [`$]?$")


def _named(chain: Chain, lead: str, places: Places, names: Names) -> Chain:
    """'The vector w is [1, 2]' states w = [1, 2]; 'a row of W is [1, 2]' says nothing of W."""
    first = chain.links[0]
    found = _IS_SAID.search(lead) if isinstance(first.expr, Matrix) and is_literal(first.expr) else None
    if found is None or chain.continues:
        return chain
    above, _, word = lead[: found.start()].rstrip().rpartition(" ")
    joined = means(word, "connective") and not above.strip("`$ ,")  # of two statements
    start = chain.start - len(lead) + found.start()
    named = parse_math(found["name"].strip("`$"), places.at(start), names=names).chains
    if word.endswith((",", "·")) or (means(word, "operand") and not joined) or len(named) != 1:
        return chain
    links = (*named[0].links, replace(first, relation=Relation.EQUAL), *chain.links[1:])
    return chain._replace(links=links, at=links[0].at, start=start, text=found[0] + chain.text)


def _labelled(label: str, lead: str, chain: Chain, places: Places) -> tuple[str, Chain]:
    """A whole number between words and '=' belongs to the label: 'token 1 = 2', 'Score 1 = 4'."""
    first = chain.links[0]
    whole = isinstance(first.expr, Number) and first.text.isdigit() and not first.struck
    if not (whole and label and len(chain.links) > 1 and chain.links[1].relation in "=≈") or _COLON.search(lead):
        return label, chain
    if not lead.rstrip()[-1:].isalpha():
        return label, chain
    links = (replace(chain.links[1], relation=Relation.FIRST), *chain.links[2:])
    text = chain.text.removeprefix(first.text).lstrip()
    return f"{label} {first.text}", chain._replace(links=links, text=text, at=links[0].at)


# — what states something —


def _states(chain: Chain, lead: str, label: str, origin: Origin, names: Names) -> bool:
    """Whether a chain is meant as a statement and is not only mentioned."""
    expr = chain.links[0].expr
    if isinstance(expr, Call) and expr.function == "shapes":
        return False
    if chain.struck:
        word = isinstance(expr, Name) or (bool(label) and isinstance(expr, Number) and expr.text.isdigit())
        return len(chain.links) > 1 or not word
    if len(chain.links) > 1:
        return not _only_words(chain, names) and not _is_range(chain)
    if chain.continues and chain.links[0].relation not in (Relation.ARROW, Relation.IMPLIES):
        return True
    if origin is Origin.DISPLAY:
        return not isinstance(expr, Name)
    announced = bool(label) and (bool(_COLON.search(lead)) or (chain.continues and len(label.split()) <= 3))
    if isinstance(expr, Number):
        shown = "." in expr.text or "%" in expr.text
        total = bool(label) and origin is Origin.INLINE and _is_total(label)
        return (bool(label) and shown) or announced or total or _stands_alone(chain, lead, origin)
    if isinstance(expr, Matrix):
        if _PLACE.search(label) and all(isinstance(c, Number) and c.text.isdigit() for row in expr.rows for c in row):
            return False
        return _states_array(expr, chain, announced, origin)
    if holds(expr, Matrix):
        called = isinstance(expr, Call) and expr.function != "list" and all(map(is_literal, expr.args))
        return called or is_literal(expr) or origin is Origin.INLINE
    working = isinstance(expr, Sum | Product | Exp | Root) and is_literal(expr)
    return working and announced and sum(isinstance(n, Number) for n in walk(expr)) > 1


def _stands_alone(chain: Chain, lead: str, origin: Origin) -> bool:
    """'    927' on a line of its own is what a program printed."""
    return origin is Origin.PLAIN and not lead.strip() and chain.at.column > 4 and chain.after in ("", "line")


def _states_array(matrix: Matrix, chain: Chain, announced: bool, origin: Origin) -> bool:
    cells = [cell for row in matrix.rows for cell in row]
    if all(isinstance(cell, Name) for cell in cells):
        return False
    if chain.text[:1] in "[(\\a" or chain.text.startswith(("np.", "torch", "tensor", "jnp")):
        listed = chain.text[:1] != "(" or origin is not Origin.PLAIN or any(isinstance(c, Number) for c in cells)
        return listed and (len(cells) > 1 or origin is not Origin.PLAIN) and all(is_literal(c) for c in cells)
    decimals = any(isinstance(c, Number) and ("." in c.text or "%" in c.text) for c in cells)
    return (
        decimals
        or announced
        or not all(isinstance(c, Number) for c in cells)
        or (origin is not Origin.PLAIN and len(cells) > 1)
    )


def _is_range(chain: Chain) -> bool:
    """'for i = 1, 2, 3' says what an index runs over."""
    name, values = chain.links[0].expr, chain.links[1].expr
    cells = values.rows[0] if isinstance(values, Matrix) and values.loose and len(values.rows) == 1 else ()
    counted = [cell.value for cell in cells if isinstance(cell, Number)]
    index = isinstance(name, Name) and str(name.symbol) in tuple("ijklmnt") and chain.text[-1:].isdigit()
    return (
        index
        and len(chain.links) == 2
        and len(counted) > 1
        and counted in (list(range(len(cells))), list(range(1, len(cells) + 1)))
    )


def _only_words(chain: Chain, names: Names) -> bool:
    """'row = query' relates words that are no quantities of the page."""
    bare = [link.expr.symbol.base for link in chain.links if isinstance(link.expr, Name)]
    counted = sum(isinstance(link.expr, Number) and link.text.isdigit() for link in chain.links[:1])
    if len(bare) + counted < len(chain.links) or not bare:
        return False
    return all(len(base) > 2 and base not in names.words - set(bare[:1]) for base in bare)


def _is_total(label: str) -> bool:
    words = label.lower().split()
    return any(means(word, "total") for word in words[-3:]) or any(means(label[-n:], "total") for n in (1, 2, 3))


# — what is mentioned at the end of a line, and what stands below it may be —


def _mentioned(chain: Chain | None, text: str, done: int, places: Places, page: Page) -> Iterator[Mention]:
    """The name or formula that a text ends with: 'Scores (Q × Kᵀ):', 'Input Matrix X (3 × 4):', 'so that $AV$'."""
    if chain is not None and len(chain.links) == 1 and _TAIL.fullmatch(text, chain.end):
        lead = _words(text[text.rfind("\n", 0, chain.start) + 1 : chain.start].strip(" $`"))
        aside = lead.endswith("(") and isinstance(chain.links[0].expr, Name)  # '(S)' explains a word
        if not _takes_operand(lead) and not aside:
            yield Mention(chain.links, places.at(chain.start).line)
        return
    start = _last_name(text, max(done, text.rstrip().rfind("\n") + 1), page.names)
    if start >= 0:
        word = _TRAIL.sub("", _ASIDE.sub("", _TRAIL.sub("", text[start:])))
        links = parse_math(word, places.at(start), comma=page.comma, names=page.names).chains
        if len(links) == 1 and len(links[0].links) == 1 and names_in(links[0].links[0].expr):
            yield Mention(links[0].links, places.at(start).line)


def _last_name(text: str, first: int, names: Names) -> int:
    """Where the name, or the product of letters, begins that a line of words ends with; −1 where it ends otherwise."""
    line = text[first:].rstrip()
    bare = line
    for _ in range(2):
        bare = _COPULA.sub("", _ASIDE.sub("", _TRAIL.sub("", bare)))
    found = _LAST_WORD.search(bare)
    if found is None:
        return -1
    begin, word = found.start(), found["word"]
    while (earlier := _LAST_WORD.search(bare[:begin].rstrip())) and _is_factor(earlier["word"]) and _is_factor(word):
        begin = earlier.start()
    before = bare[:begin].strip()
    scripted = bool(re.search(r"[\d_^{}'′₀-₉ᵀ]", word))
    symbol = is_symbol(word) and (not before or word != "I" or word in names.letters)
    named = scripted or symbol or word in names.words or word in NAME_COMMANDS
    alone = not before and line.endswith(("=", "≈"))
    return first + begin if (named or alone) and not _takes_operand(before) and not _LISTED.search(before) else -1


def _is_factor(word: str) -> bool:
    """Whether a word is a letter that may be a factor: the A of 'Output A V'."""
    return len(word.rstrip("ᵀ'′₀₁₂₃₄₅₆₇₈₉")) == 1 and word[0].isupper() and word != "I"


def _takes_operand(lead: str) -> bool:
    """'Times V:' and 'softmax of S' name an operand, not the result."""
    word = re.findall(r"[^\W\d_]+|[×·*/+=@÷]", lead)
    return bool(word) and (means(word[-1], "operand") or word[-1] in "×·*/+=@÷") and not lead.endswith("(")


# — sentences that say a matrix —


def _identities(text: str, places: Places, page: Page) -> Iterator[Chain]:
    """'W_Q, W_K and W_V are identity matrices' states W_Q = I and so on; 'S = [[1, 0], [0, 1]] (identity)' does not."""
    for found in _IDENTITY.finditer(text):
        head = re.split(rf"{_SENTENCE.pattern}|\]", text[max(0, found.start() - 200) : found.start()])[-1]
        offset = found.start() - len(head)
        for name in _NAME.finditer(head):
            source = name[1] or name[2] or name[3]
            at = places.at(offset + name.start())
            for chain in parse_math(f"{source} = I", at, names=page.names).chains:
                if isinstance(chain.links[0].expr, Name) and len(chain.links) == 2:
                    yield chain._replace(
                        text=text[offset + name.start() : found.end()], start=found.end(), end=found.end()
                    )
