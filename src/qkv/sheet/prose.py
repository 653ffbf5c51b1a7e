"""Paragraphs → events: what inline and display mathematics state, mathematics without marks, and what is asked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from qkv.errors import Location
from qkv.expr.late import late
from qkv.expr.nodes import Matrix, Name, Number, holds, walk
from qkv.records import replace
from qkv.sheet.cues import identities, is_display, questions
from qkv.sheet.draft import Asked, Event, Said, Stated
from qkv.sheet.grammar import Chain
from qkv.sheet.listed import DECIMAL_OR_SHARE, listed, with_lists
from qkv.sheet.lists import logical_lines, plain_list
from qkv.sheet.model import Origin
from qkv.sheet.phrases import CAPTION, NOUN_BEFORE_NAME, TOTAL
from qkv.sheet.reading import Reading
from qkv.sheet.spans import Piece, Sort, brace_end, pieces

# Only lines with one of these can hold a relation or a list; the grammar need not look at the others.
_WORTH_PARSING = re.compile(
    r"[=≈≃≅∈\[⇒→⟹\\-](?:(?<=[^\\-])|(?<=-)>|(?<=\\)(?:begin|approx|Rightarrow|implies|in\b|to\b|rightarrow))"
)
_MATHEMATICAL = late(r"[=≈^\\\[_]|^\s*[-−]?\d[\d.]*\s*$")
_SIZES = re.compile(
    r"[\s(\[]*(?:(?:\\cancel\{)?\d+\}?\s*(?:\\times|×|x|X|\\cdot)\s*(?:\\cancel\{)?\d+\}?"
    r"[\s,;.)\]~]*(?:\\q?quad|\\[,;! ]|\\\\)?[\s(\[]*)+$"
)
_VALUES = re.compile(
    r"(?P<lead>\s*(?:=|\\approx|≈)) "
    r"(?P<values>\s*[-−]?\d[\d.]*(?:\s*,\s*(?:\\[ ,;!]\s*)*[-−]?\d[\d.]*)+)(?P<tail>[\s.]*)$"
)
_LONE_NAME = re.compile(  # W_Q, \mathbf{x}_3, z_{3,1}: it is spoken of, and nothing is stated
    r"(?:\\(?:mathbf|boldsymbol|mathrm|bm|vec|hat)\{[A-Za-z]\}|[A-Za-z])"
    r"(?:[_^](?:[A-Za-z\d]|\{[A-Za-z\d](?:,?[A-Za-z\d])*\}))*"
)
_FRAME = re.compile(r"\\(?:boxed|fbox|framebox)\s*\{")
_PRINTED = re.compile(r"(?: {4,}|\t)[-−]?\d+(?:\.\d*)?(?:e[-+]?\d+)?\s*$")
_WORD_LIST = late(r"\[[^\[\]\d=\\]*[^\W\d_]{2}[^\[\]\d=\\]*\]")  # [I, am, Fine.]
_TUPLE = re.compile(r"(?<![\w)\]}^])\((\s*[-−]?\d+\.\d+(?:\s*,\s*[-−]?\d+\.\d+)+\s*)\)(?![\^'\w])")  # (0.2, 0.8)
_VECTOR = r"[A-Za-z](?:_?\d{1,2}|[₀-₉]+)"
_DOT_PRODUCT = late(rf"((?<![\w.])(?:{_VECTOR}|[qsh])(?:\^?T|ᵀ)?\s?)\.(\s?{_VECTOR}(?![\w.(]))")  # 'q1 . k1 = 2'
_MATRIX = r"[A-Z](?:_?\{?(?:[qkvoQKVO]\d?|\d)\}?)?(?:\^\{?[T⊤]\}?|ᵀ)?"
_MATRIX_PRODUCT = late(  # 'X . Wq =', and 'Q = X.Wq =', where no sentence can end
    rf"((?<![\w.]){_MATRIX} |[=≈(] ?{_MATRIX} ?)\.(?= ?{_MATRIX}\s*(?:[=≈/)]|$))", re.MULTILINE
)
_GAP = late(r"(?<=[\d)\]])\s{3}(?=\s*[^\W\d][\w.·]{0,8}\s*[=≈])")  # 'q·k1 = 1     q·k2 = 2'
_APOSTROPHE = late(r"([^\W\d_]{2,})['’](s|t|re|ll|ve|d)\b")  # 'the token's state is x = …' holds no prime
_SUFFIX = late(r"\b\d{1,2}['’]s\b|(?<=\d)['’][^\W\d_]{1,4}\b")  # nor do 'token 1's key' and '1,414'e böleriz'
_IN_PER_CENT = late(r"(?<=\d)\s*\(\s*[~≈]?\s*\d+(?:[.,]\d+)?\s*%\s*\)")  # 0.588 (58.8 %)
_DASH = late(r"(?<=[^\W_])\s+—\s+(?=[^\W\d_])")  # 'Step 1 — scores = Q Kᵀ'
_AND = late(r"(?<=[\d)\]]) e (?=[\d√(\[]|[^\W\d_](?:_?\d|[₀-₉])?\s?[=≈·])")  # 'q·k₁ = 2 e q·k₂ = 3'
_SENTENCE = late(  # 'q·k = 2. Then we …', 'd_k = 2. Q = …'
    r"([=≈]\s*[-−]?\d+(?:\.\d+)?)\.(?=\s+(?:[^\W\d_a-zß-ÿ][^\W\d_A-Z]+\s|[A-Z]\w{0,2}\s?=))"
)
_DRAWN_RULE = late(r"={4,}|-{4,}|\*{4,}|_{4,}|─{4,}|═{4,}")
_SHAPE = late(
    r"(?:(?<=\])[ \t]+|(?<=[A-Z])[ \t]{2,})\(\d{1,4}, ?\d{1,4}\)(?=[ \t]*$)", re.MULTILINE
)  # [[1, 0]]  (1, 2)
_DASHED_COLON = late(r":\s?-(?=\s)")  # 'Step 3 :- A = …'
_WORD = r"(?:[\"'“‘]([^\W\d_]+)[\"'”’]|([^\W\d_]{2,}))"
_OF_WORDS = late(  # q(cat), V("I"), score("it" → "dog")
    r"\b([qkvxhzocesaw]|query|key|value|score|weight|attn|attention|alpha|emb|embedding|context|output)"
    rf"\(\s*{_WORD}(?:\s*(?:,|→|->|\|)\s*{_WORD})?\s*\)",
    re.IGNORECASE,
)
_OWNED = late(
    r"\b(?!self\b|np\b|torch\b)([^\W\d_]+)\.([QKVX])\b(?=\s*(?:[=≈·×*+)]|$))", re.MULTILINE
)  # 'cat.Q · dog.K ='
_APPLIED = late(r"\b((?:multi)?head|mha|\w*attention|attn|sdpa) \(([A-Z\s,]+)\)", re.IGNORECASE)  # 'MultiHead$(X)$'
_LETTERS = {  # what belongs to one token is written with a small letter: query(cat) and Q(cat) are q_cat
    "query": "q", "key": "k", "value": "v", "emb": "x", "embedding": "x", "score": "e", "weight": "α", "alpha": "α",
    "context": "c", "output": "o",
}  # fmt: skip
_INDEXED = late(  # scores[0][1], weights[2], X[0, 1], S[1][2]
    r"(?<![\w.\]])([QKVXZ]|[SAPE](?=\[\d(?:\]\[|,|\]\s*[=≈]))|[qkvxezoywα](?=\[\d\](?:\[\d\])?\s*[=≈·×*@])"
    r"|(?:raw_)?scores?|scaled(?:_scores)?|logits|probs|(?:att(?:entio)?n_)?(?:weights?|scores?)|attn|outputs?|out|context)"
    r"\[(\d)(?:(?:\]\[|,\s?)(\d))?\](?![\[\w(])"
)
_ENTRIES = {"attn": "α", "logit": "e", "prob": "α", "out": "o", **_LETTERS}  # by the last word
_ROWS = {"S": "e", "E": "e", "A": "α", "P": "α"}  # S[0] is a row of scores; s_0 may be a state
_GLOSS = late(  # 'h1 ("le") = [1, 2]', 'k₁ (river) = [1, 0]'
    r"(?<=[\w₀-₉])\s?\((?:for |of |für |pour |de )?[\"“'‘][^()\n]{1,30}[\"”'’]\)(?=\s*[=≈])"
    r"|(?<=[\d₀-₉])\s{1,4}\([^\W\d_]{2,20}\)(?=\s*[=≈])"
)
_REMARK = late(r"(?<=[\])])\s+\([^()\[\]\d]*[^\W\d_]{3}[^()\[\]\d]*=[^()\[\]\d]*\)")  # '[[1, 2]]  (row = key)'
_NAME_ALONE = late(r"[^=≈\n]{1,60}(?:=|≈)\s*$")  # 'Q =', with its value in the next block
_LINE_END = re.compile("\n")
_MARKER = re.compile(
    r"[ \t]*(?:[-*•](?=\s)|\+(?=\s+[^\s\d\[(])|#{1,6}(?=\s)|\\item(?:\[[^\]\n]*\])?)?[ \t]*"
    r"(?:\(?(?:[a-z]|[ivx]+|\d{1,2})[.)]+(?=\s)|#\d{1,2}[.):]?(?=\s))?(?:\([a-z]\)(?=\s))?"
)
_NUMBERED = re.compile(r"\A\s*\d{1,2}\.\s+(?=[^\W\d])")  # '2. Scores \\' at the top of a display
_EMPHASIS = late(r"\*\*|\*(?<![\w*]\*)(?=\w)|\*(?<=[\w.!?]\*)(?![\w*])|__(?<!\w__)(?=\w)|__(?<=\w__)(?!\w)")
_STYLED = late(r"\\(?:emph|textbf|textit|textsc|underline|large|Large)\{([^{}]*)\}")
_TAGS = late(
    r"<(?P<end>/?)(?P<tag>sub|sup|br|b|i|em|strong|p|div|span|center|u|pre|code|table|t[rdh])(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ENTITIES = {
    "&times;": "×", "&radic;": "√", "&minus;": "−", "&infin;": "∞", "&middot;": "·", "&sdot;": "·", "&alpha;": "α",
    "&asymp;": "≈", "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&Sigma;": "Σ", "&sum;": "∑", "&top;": "⊤",
}  # fmt: skip
_OPERATORS = tuple("=≈+-−*/×·@(")
_ENTITY = re.compile("|".join(_ENTITIES))


def read_paragraph(text: str, line: int, reading: Reading) -> list[Event]:
    """The events of a paragraph that begins at a line of the file."""
    places = _Places(text, line)
    events: list[Event] = []
    display = is_display(text)
    if not display:
        events += [Asked(asked, places.at(offset).line) for asked, offset in questions(text)]
        if number := _PRINTED.match(text):  # '    927': what a program printed
            printed = reading.math(number[0], Location(line))
            return events + [Stated(chain, Origin.PLAIN) for chain in printed.chains]
        if CAPTION.match(text.lstrip()):
            return [*events, Said(" ".join(text.split()), Location(line))]
    if "<" in text or "&" in text:
        text = _plain_marks(text)
    for name, offset in identities(text):  # 'W_Q and W_K are identity matrices' states W_Q = I and W_K = I
        stated = reading.math(f"{name} = I", places.at(offset)).chains
        events += [Stated(chain, Origin.PLAIN, named=False) for chain in stated]
    said = ""
    for piece in (Piece(Sort.DISPLAY, text[2:-2], 2),) if display else pieces(text):
        if found := _piece_events(piece, places, said, reading):
            said = found[-1].text if isinstance(found[-1], Said) else ""
            events += found
    return events


class _Places:
    """From offsets in a paragraph to lines and columns of the file."""

    def __init__(self, text: str, line: int) -> None:
        self.starts = [0, *accumulate([len(row) + 1 for row in text.split("\n")])] if "\n" in text else [0]
        self.line = line

    def at(self, offset: int) -> Location:
        """The place of an offset."""
        index = bisect_right(self.starts, offset) - 1
        return tuple.__new__(Location, (self.line + index, offset - self.starts[index] + 1))  # half the time


def _plain_marks(text: str) -> str:
    """Tags overwritten with blanks; <sub> and <sup>, and entities, become scripts and signs of the same width."""
    text = _TAGS.sub(_tag, text)
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]].ljust(len(found[0])), text)


def _tag(found: re.Match[str]) -> str:
    tag, width = found["tag"].lower(), len(found[0])
    if tag in ("sub", "sup"):
        return ("}" if found["end"] else {"sub": "_{", "sup": "^{"}[tag]).ljust(width)
    return " " * width


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _noun(found: re.Match[str]) -> str:
    """Blanks for the noun of 'the output Z = A V'; the weights of 'output = weights V = …' are a factor."""
    before = found.string[max(0, found.start() - 20) : found.start()].rstrip()
    return found[0] if before[-1:] in _OPERATORS else _blank(found)


def _piece_events(piece: Piece, places: _Places, said: str, reading: Reading) -> list[Event]:
    """What a piece says; `said` is what was said right before it."""
    if not piece.source.strip():
        return []
    at = places.at(piece.offset)
    match piece.sort:
        case Sort.WORDS if piece.struck:
            return _struck_words(piece, at, reading)
        case Sort.WORDS:
            return _words(piece, at, places, reading)
        case Sort.CODE:
            return _code_span(piece, at, said, reading)
        case Sort.DISPLAY:
            return _display(piece, at, reading)
        case Sort.INLINE:
            return _inline(piece, at, said, reading)


def _are_sizes(source: str) -> bool:
    """'4 × 3   3 × 3': sizes noted in the margin of a product, no statement."""
    return len(source) < 300 and bool(_SIZES.match(source))


def _unboxed(source: str) -> str:
    """A display without its number and the frame around an answer, and with \\intertext as plain \\text."""
    source = _NUMBERED.sub(_blank, source, count=1).replace(r"\intertext", r"     \text")
    while found := _FRAME.search(source):
        end = brace_end(source, found.end())
        inside = source[found.end() : end]
        source = source[: found.start()] + " " * len(found[0]) + inside + " " + source[end + 1 :]
    return source


def _display(piece: Piece, at: Location, reading: Reading) -> list[Event]:
    if _are_sizes(piece.source):
        return [Said(piece.source.strip(), at)]
    result = reading.math(_unboxed(piece.source), at)
    events: list[Event] = []
    for chain in result.chains:
        if len(chain.links) == 1 and isinstance(chain.links[0].expr, Name) and not chain.continues:
            events.append(Said(f"{chain.lead} ${chain.text}$ {chain.trail}", chain.at))
        else:
            events.append(Stated(chain, Origin.DISPLAY, piece.struck))
    return [*events, *result.unread]


def _inline(piece: Piece, at: Location, said: str, reading: Reading) -> list[Event]:
    """Inline mathematics states something if it has a relation or a matrix, or is the number of a 'total'."""
    source = piece.source
    if len(source) <= 2 or _LONE_NAME.fullmatch(source) or _are_sizes(source):
        return [Said(f"${source}$", at)]
    if values := _VALUES.match(source):  # '= 0.5, 0.3, 0.2' lists the entries of one vector
        source = f"{values['lead']}[{values['values']}]{values['tail']}"
    result = reading.math(source, at)
    events: list[Event] = []
    for chain in result.chains:
        if _states(chain) or (isinstance(chain.links[0].expr, Number) and TOTAL.search(said[-60:])):
            begins = chain.continues and said.rstrip()[-1:].isalnum()
            stated = replace(chain, continues=False) if begins else chain  # 'Sum $= 14.48$' goes on from the word
            events.append(Stated(stated, Origin.INLINE, piece.struck, named=_announces(said)))
    if not events:
        return [Said(f"${source}$", at), *(result.unread if "=" in source else ())]
    return [*events, *result.unread]


def _announces(said: str) -> bool:
    """Whether words end with a colon: '`X`: `[[1, 0], [0, 1]]`'."""
    return said.rstrip().endswith((":", "："))


def _states(chain: Chain) -> bool:
    if len(chain.links) > 1 or chain.continues or chain.struck:
        return True
    if not holds(chain.links[0].expr, Matrix):
        return False
    matrices = (node for node in walk(chain.links[0].expr) if isinstance(node, Matrix))
    return any(not isinstance(cell, Name) for found in matrices for row in found.rows for cell in row)


def _code_span(piece: Piece, at: Location, said: str, reading: Reading) -> list[Event]:
    events: list[Event] = []
    if _WORTH_PARSING.search(piece.source):
        source = _INDEXED.sub(_indexed, plain_list(piece.source)) if "[" in piece.source else piece.source
        source = _DOT_PRODUCT.sub(r"\1·\2", source)
        for chain in reading.math(source, at, strict=False).chains:
            events.append(Stated(chain, Origin.PLAIN, piece.struck, named=_announces(said)))
    return events or [Said(f"`{piece.source}`", at)]


def _struck_words(piece: Piece, at: Location, reading: Reading) -> list[Event]:
    """Crossed-out words are dropped; crossed-out mathematics is kept as struck."""
    if not _MATHEMATICAL.search(piece.source):
        return []
    chains = reading.math(piece.source, at).chains
    return [Stated(chain, Origin.PLAIN, struck=True, named=False) for chain in chains]


def _words(piece: Piece, begin: Location, places: _Places, reading: Reading) -> list[Event]:
    source = piece.source
    if "*" in source or "__" in source:
        source = _EMPHASIS.sub(lambda found: " " * len(found[0]), source)
    if "\\" in source:
        source = _STYLED.sub(lambda found: " " * (len(found[0]) - len(found[1]) - 1) + found[1] + " ", source)
    first = 0 if begin.column == 1 else source.find("\n") + 1 or len(source)
    if first < len(source):
        source = _unmarked(source, first)
    events: list[Event] = []
    for line, offset in logical_lines(source) if "\n" in source else ((source, 0),):
        at = places.at(piece.offset + offset) if offset else begin
        if (_WORTH_PARSING.search(line) or ("(" in line and _TUPLE.search(line))) and not _NAME_ALONE.match(line):
            events += _plain_line(line, at, reading)
        elif line.strip():
            events += _said(line, at, reading)
    return events


def _unmarked(source: str, start: int) -> str:
    """Blanks for the marks of items, '- (a) ', of the line at `start` and of those below it."""
    parts, done = [], 0
    for at in (start, *[line.end() for line in _LINE_END.finditer(source, start)]):
        found = _MARKER.match(source, at)
        if found and found.end() > at:
            parts += [source[done:at], " " * (found.end() - at)]
            done = found.end()
    return "".join((*parts, source[done:]))


def _said(line: str, at: Location, reading: Reading) -> list[Event]:
    """Words, and the numbers that they may announce."""
    found = listed(line) if DECIMAL_OR_SHARE.search(line) else None
    if found is None:
        return [Said(line.strip(), at)]
    events: list[Event] = [Said(found.lead, at)] if found.lead.strip(" :：") else []
    numbers = reading.math(found.source, Location(at.line, at.column + found.start))
    events += [Stated(chain, Origin.PLAIN) for chain in numbers.chains]
    if line[found.end :].strip(" .;"):
        events += _said(line[found.end :], Location(at.line, at.column + found.end), reading)
    return events


def _plain_line(line: str, at: Location, reading: Reading) -> list[Event]:
    """Mathematics without marks, with the words before and after it."""
    line = with_lists(plain_list(line))
    if _are_sizes(line):
        return [Said(line.strip(), at)]
    source = line
    for signs, pattern, put in _REWRITES:
        for sign in signs:
            if sign in source:
                source = pattern.sub(put, source)
                break
    result = reading.math(source, at, strict=False)
    events: list[Event] = []
    done, starts = 0, [0, *[found.end() for found in _LINE_END.finditer(line)]]
    for chain in result.chains:
        start = min(max(done, _offset_of(chain, starts, at)), len(line))
        words = line[done:start].strip()
        if words:
            events.append(Said(words, at))
        done = max(done, start + len(chain.text))
        named = words.rstrip("=≈: ")  # a name that was not read; what it equals does not go on from an earlier line
        stands = chain.continues and any(map(str.isalnum, named))
        bare = replace(chain, lead="", trail="", continues=chain.continues and not stands)
        events.append(Stated(bare, Origin.PLAIN))
    if line[done:].strip():
        end = line.count("\n", 0, done)
        column = at.column + done if end == 0 else at.column
        events += _said(line[done:], Location(at.line + end, column), reading)
    return [*events, *result.unread]


def _indexed(found: re.Match[str]) -> str:
    """scores[0][1] as the name e_{0,1}, weights[2] as α_2, of the same width."""
    name = found[1].lower() if found[3] or found[1] not in _ROWS else _ROWS[found[1]]
    if len(name) > 1 and not name.startswith("scaled"):
        name = name.removesuffix("s").rpartition("_")[2]
    script = found[2] if found[3] is None else f"{{{found[2]},{found[3]}}}"
    return f"{_ENTRIES.get(name, name)}_{script}".ljust(len(found[0]))


def _of_words(found: re.Match[str]) -> str:
    """q(cat) as the name q_cat, score(it → dog) as e_{it,dog}, of the same width."""
    base = found[1].lower()
    words = [word for word in found.groups()[1:] if word]
    script = words[0] if len(words) == 1 else f"{{{','.join(words)}}}"
    return f"{_LETTERS.get(base, base)}_{script}".ljust(len(found[0]))


def _offset_of(chain: Chain, starts: list[int], at: Location) -> int:
    """Where in a stretch that begins at `at`, whose lines begin at `starts`, a chain begins."""
    row = chain.at.line - at.line
    if row <= 0 or row >= len(starts):
        return chain.at.column - at.column
    return starts[row] + chain.at.column - 1


# What a plain line is rewritten by, in this order; a pattern is tried only where one of its signs occurs.
_REWRITES: tuple[tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (("'", "’"), _APOSTROPHE, r"\1\2 "),
    (("'", "’"), _SUFFIX, _blank),
    (("%",), _IN_PER_CENT, _blank),
    (("(",), _SHAPE, _blank),
    (("—",), _DASH, lambda found: " ;".ljust(len(found[0]))),
    (("=", "≈"), _GAP, " ; "),
    ((" e ",), _AND, " ; "),
    (("=", "≈"), _SENTENCE, r"\1;"),
    (("====", "----", "****", "____", "────", "════"), _DRAWN_RULE, lambda found: ";".ljust(len(found[0]))),
    (("[",), _INDEXED, _indexed),
    (("[",), _WORD_LIST, _blank),
    (("=", "≈"), NOUN_BEFORE_NAME, _noun),
    ((" (",), _APPLIED, r"\1(\2) "),
    ((".Q", ".K", ".V", ".X"), _OWNED, lambda found: f"{found[2].lower()}_{found[1]}"),
    ((".",), _DOT_PRODUCT, r"\1·\2"),
    ((".",), _MATRIX_PRODUCT, r"\1·"),
    (("(",), _OF_WORDS, _of_words),
    ((") =", '("', "(“", "('"), _GLOSS, _blank),
    ((")",), _REMARK, _blank),
    (("(",), _TUPLE, r"[\1]"),
    ((":",), _DASHED_COLON, lambda found: ":".ljust(len(found[0]))),
)
