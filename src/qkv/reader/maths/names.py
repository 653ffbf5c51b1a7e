"""The page's own names: what it defines, and how its letters are used.

The table is made before any formula is read. It says that `qK` is q times K where the page defines q and K and no
qK, that PE(0) is an indexed name where PE(…) stands left of '=', that the k of a_{ik} runs while the k of d_k is a
label. No letter has a meaning of its own here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from qkv.expr import functions
from qkv.reader.maths import signs
from qkv.reader.maths.numerals import Comma
from qkv.reader.maths.tokens import Token, value_begins

WORDS = frozenset(("letters", "word", "upright", "name"))
_SCRIPTED = frozenset(("sub", "sup", "prime", "accent"))
INDEX_RUN = frozenset("ijklmnprst")
SPELLED = frozenset(signs.GREEK.values())


class Names(NamedTuple):
    """What a page shows of its names.

    words      runs of letters that it defines: love, PE, Wq
    letters    single letters that it defines alone
    labelled   letters with a letter or word as their script: (W, q)
    functions  what is defined with names in brackets: FFN(x) = …
    indexed    what is defined with numbers or words in brackets: PE(0) = …
    tokens     words that are scripts, or stand in quotes
    running    letters that run as an index
    counted    bases whose raised numbers count: W^1, W^2
    families   letters that several two-letter names begin with: the W of Wq, Wk
    primed     names that are defined with a prime
    scripted   what carries an index or a label somewhere
    from_zero  whether X[0] occurs
    points     whether a number has a decimal point
    """

    words: frozenset[str] = frozenset()
    letters: frozenset[str] = frozenset()
    labelled: frozenset[tuple[str, str]] = frozenset()
    functions: frozenset[str] = frozenset()
    indexed: frozenset[str] = frozenset()
    tokens: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    families: frozenset[str] = frozenset()
    primed: frozenset[str] = frozenset()
    scripted: frozenset[str] = frozenset()
    from_zero: bool = False
    comma: Comma = Comma.UNTOLD
    points: bool = False

    def split(self, run: str, *, strict: bool) -> list[str]:
        """The names in a run of letters: [run] itself where it is one name.

        >>> Names(letters=frozenset("qK")).split("qK", strict=False), Names().split("love", strict=False)
        (['q', 'K'], ['love'])
        """
        if len(run) == 1 or run in self.words or run in self.functions or run in self.indexed:
            return [run]
        if run in SPELLED and not strict:
            return [run]  # nu is ν
        if (parts := self.known_parts(run)) is not None:
            return parts
        greek = all(letter in signs.GREEK for letter in run[1:]) and len(run[0].strip("_")) == 1  # αβ, mθ
        short = run.isascii() and ((strict and len(run) == 2) or (run.isupper() and len(run) <= 4))
        labelled = len(run) == 2 and tuple(run) in self.labelled
        return list(run) if (short or greek) and not labelled else [run]

    def known_parts(self, run: str) -> list[str] | None:
        """The run as names that the page defines, longest first; a T at its end may transpose."""
        if len(run) > 6 or run.islower():
            return None
        parts, at = [], 0
        while at < len(run):
            size = next((n for n in range(len(run) - at, 1, -1) if n < len(run) and run[at : at + n] in self.words), 1)
            piece = run[at : at + size]
            last = at + size == len(run)
            scripted = last and piece in self.scripted
            turned = last and piece == "T" and at > 0
            if size == 1 and piece not in self.letters and not scripted and not turned:
                return None
            parts.append(piece)
            at += size
        return parts if len(parts) > 1 else None

    def base(self, word: str) -> tuple[str, tuple[str, ...]]:
        """The base of a word and the label in it: Wq is W with label q where the page has W_q, or Wq beside Wk."""
        if len(word) == 2 and (tuple(word) in self.labelled or (word[0] in self.families and word in self.words)):
            return word[0], (word[1],)
        return signs.GREEK.get(word, word), ()


@dataclass(slots=True)
class _Collected:
    """What was seen so far while the table is being made."""

    words: set[str] = field(default_factory=set)
    letters: set[str] = field(default_factory=set)
    labelled: set[tuple[str, str]] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    indexed: set[str] = field(default_factory=set)
    tokens: set[str] = field(default_factory=set)
    running: set[str] = field(default_factory=set)
    summed: set[tuple[str, str]] = field(default_factory=set)  # names and the letter that a Σ runs over in them
    operands: set[str] = field(default_factory=set)
    factors: set[str] = field(default_factory=set)  # words that blanks part from the factor before
    scripted: set[str] = field(default_factory=set)
    heads: set[str] = field(default_factory=set)  # words right before '=', with other words before them
    raised: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    worded: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # words in brackets: K(cat) = [1, 0]
    primed: set[str] = field(default_factory=set)
    from_zero: bool = False


def names_of(
    streams: Iterable[Sequence[Token]],
    comma: Comma = Comma.UNTOLD,
    words: Iterable[str] = (),
    captions: Iterable[str] = (),
) -> Names:
    """The table of a page, from the tokens of all its stretches.

    `words` are names that its code assigns. `captions` are the words that lines above arrays end with; those that
    formulas use are names.
    """
    seen = _Collected()
    for tokens in streams:
        _definitions(tokens, seen)
        _scripts(tokens, seen)
        _operands(tokens, seen)
    for word in words:
        (seen.letters if len(word) == 1 else seen.words).add(word)
    used = {word[:1].lower() + word[1:] for word in seen.operands} | seen.operands  # Pebble is all of pebble_1, …
    seen.words |= {word for word in captions if len(word) > 1 and word in used}
    seen.words |= seen.heads & seen.operands
    seen.words |= {word for word in seen.operands if word[:1].lower() + word[1:] in seen.words}
    seen.words |= {signs.GREEK[letter] for letter in seen.letters if letter in signs.GREEK}  # theta in plain text is θ
    seen.words -= {word for word in seen.words if _is_product(word, seen)}
    seen.indexed |= {base for base, inside in seen.worded.items() if not inside & seen.words}
    seen.functions |= seen.worded.keys() - seen.indexed
    starts = [word[0] for word in seen.words if len(word) == 2 and word[0].isupper()]
    return Names(
        frozenset(seen.words),
        frozenset(seen.letters),
        frozenset(seen.labelled - seen.summed),
        frozenset(seen.functions),
        frozenset(seen.indexed - seen.functions),
        frozenset(seen.tokens),
        frozenset(seen.running),
        frozenset(signs.GREEK.get(base, base) for base, numbers in seen.raised.items() if numbers & {"0", "1"}),
        frozenset(letter for letter in starts if starts.count(letter) > 1),
        frozenset(seen.primed),
        frozenset(seen.scripted) | frozenset(base for base, _ in seen.labelled),
        seen.from_zero,
        comma,
    )


TOGETHER = frozenset({"PE", "PPL", "KV"})  # names that everybody writes so: no product of P and E


def _is_product(word: str, seen: _Collected) -> bool:
    """Whether a run left of '=' is a product of letters that the page defines: AV = …, XW of XW_Q, Kq of Kq_3."""
    if not 1 < len(word) <= 4 or word.islower() or word in seen.functions | seen.indexed | seen.factors | TOGETHER:
        return False
    first, last = word[:-1], word[-1]
    return (all(letter in seen.letters for letter in first) and last in seen.letters | seen.scripted) or (
        word.isupper() and any(letter in seen.letters for letter in word)
    )


# — what is defined —


def _definitions(tokens: Sequence[Token], seen: _Collected) -> None:
    for i, token in enumerate(tokens):
        if (token.kind == "rel" and token.text in "=≈" and i) or (
            token.text == ":" and i and is_symbol(tokens[i - 1].text) and value_begins(tokens, i + 1)
        ):
            _defined_before(tokens, i, seen)


def is_symbol(word: str) -> bool:
    """Whether a run of letters looks like a symbol and not like a word: Q, Wq, PE.

    >>> is_symbol("Wq"), is_symbol("cat")
    (True, False)
    """
    return len(word) == 1 or (len(word) == 2 and word[0].isupper()) or (len(word) == 3 and word.isupper())


def _defined_before(tokens: Sequence[Token], i: int, seen: _Collected) -> None:
    """Note the name that ends right before token i, with its scripts or its arguments."""
    end = i
    while (end and tokens[end - 1].kind in ("edge", "quote", "wide")) or (end and tokens[end - 1].text == "&"):
        end -= 1
    inside: Sequence[Token] | None = None
    if end and tokens[end - 1].text == ")":
        opened = _opener(tokens, end - 1)
        inside, end = tokens[opened + 1 : end - 1], opened
    base = _base_before(tokens, end)
    if base < 0:
        return
    token, scripts = tokens[base], tokens[base + 1 : end]
    if len(token.text) > 1 and not scripts and base and tokens[base - 1].kind == "num" and token.gap:
        return  # 2 bytes = 16 bits: a unit
    if base and tokens[base - 1].text == "/" and not token.gap:
        return  # 300 FLOP/s = …
    if token.text in ("sin", "cos", "tan") and scripts and scripts[0].kind == "num":
        return  # PE = sin1 = …: a value of the function
    if inside is not None:
        named = any(t.kind in WORDS for t in inside) and not any(t.kind == "quote" for t in inside)
        words = {t.text for t in inside if t.kind in WORDS}
        if not inside or tokens[end].gap:
            return
        if named and min(map(len, words)) > 1 and _number_follows(tokens, i + 1):
            seen.worded[token.text] |= words
        else:
            (seen.functions if named else seen.indexed).add(token.text)
        return
    if any((t.kind == "sup" and t.text == "T") or t.text in signs.TRANSPOSES for t in scripts):
        return
    if any(t.kind == "prime" for t in scripts):
        seen.primed.add(token.text)
    elif len(token.text) == 1:
        (seen.scripted if scripts else seen.letters).add(token.text)  # W1 = …, W = …
    elif 1 < len(token.text) <= 3 and token.text.isupper() and base and tokens[base - 1].kind == "rel":
        return  # 'Q = XW^Q = …' states a product
    elif len(token.text) > 1 and (token.kind != "word" or _stands_alone(tokens, base)):
        seen.words.add(token.text)
    elif len(token.text) > 1:
        seen.heads.add(token.text)


def _number_follows(tokens: Sequence[Token], i: int) -> bool:
    while i < len(tokens) and (tokens[i].kind == "edge" or tokens[i].text in ("&", "-", "−")):
        i += 1
    return i < len(tokens) and (tokens[i].kind == "num" or tokens[i].text == "frac" or value_begins(tokens, i))


def _opener(tokens: Sequence[Token], close: int) -> int:
    depth = 0
    for i in range(close, max(-1, close - 60), -1):
        depth += {"close": 1, "open": -1}.get(tokens[i].kind, 0)
        if depth == 0:
            return i
    return 0


def _base_before(tokens: Sequence[Token], end: int) -> int:
    """The index of the word whose scripts end at `end`; −1 where no name ends there."""
    i = end - 1
    for _ in range(40):
        if i < 0:
            return -1
        token = tokens[i]
        if token.kind in _SCRIPTED:
            i -= 1
        elif token.text == "}":
            i = _opener(tokens, i) - 1
        elif i and tokens[i - 1].kind == "script":
            i -= 2
        elif token.kind == "script" or (token.kind == "num" and i and tokens[i - 1].kind in WORDS and not token.gap):
            i -= 1
        else:
            return i if token.kind in WORDS else -1
    return -1


def _stands_alone(tokens: Sequence[Token], i: int) -> bool:
    """Whether no word stands right before a word: 'love = …', but not the 'sum' of 'Row 3 sum = …'."""
    if i == 0:
        return True
    before = tokens[i - 1]
    return before.kind in ("line", "sep", "edge", "rel", "wide", "row", "op", "note", "quote", "dots")


# — how letters are used —


def _operands(tokens: Sequence[Token], seen: _Collected) -> None:
    """Note the words that stand beside an operator, a relation or a root, carry a script, or are all that a function
    is taken of."""
    for i, token in enumerate(tokens):
        if token.kind in ("word", "upright") and len(token.text) > 1:
            before = tokens[i - 1].kind if i else ""
            after = tokens[i + 1].kind if i + 1 < len(tokens) else ""
            beside = (
                before in ("op", "cmd", "rel")
                or after in ("op", "sup")
                or (after == "script" and not tokens[i + 1].gap)
            )
            left = _base_before(tokens, i)  # the name that ends right before
            factor = left > 0 and tokens[left - 1].kind in ("op", "rel")
            factor |= token.kind == "upright" and before in ("close", "sub", "sup", "prime")  # x_1 moss
            beside |= token.kind == "upright" and (0 <= left < i - 1 or "upright" in (before, after))  # s^\top moss H
            beside |= 0 <= left < i - 1 and (token.text in SPELLED or _is_operated(tokens, i + 1))  # a^T moss beta^T
            last = factor and after in ("", "sep", "line", "rel", "edge", "close")
            inside = after == "close" or _is_operated(tokens, i + 1)  # softmax(moss) and softmax(moss pebble^T)
            called = before == "open" and inside and i > 1 and _is_function(tokens[i - 2])
            if beside or last or called:  # the + and the end of 'x = harbour moss + maple'
                seen.operands.add(token.text)
            if last and token.gap:
                seen.factors.add(token.text)


def _is_operated(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word with an operator or a script behind it stands here."""
    return i + 1 < len(tokens) and tokens[i].kind == "word" and tokens[i + 1].kind in ("op", "sup", "script")


def _is_function(token: Token) -> bool:
    """Whether a token takes what stands in brackets behind it: softmax, a fraction."""
    return token.kind == "cmd" or token.text.lower() == "softmax" or functions.lookup(token.text) is not None


def _scripts(tokens: Sequence[Token], seen: _Collected) -> None:
    for i, token in enumerate(tokens):
        if token.kind == "script" and i and i + 1 < len(tokens):
            _script(tokens, i, seen)
        elif token.kind == "sub" and i and tokens[i - 1].text == ")":
            seen.from_zero |= token.text == "0"  # softmax(z)₀
        elif token.kind == "sub" and i and tokens[i - 1].kind in WORDS and token.text.isalpha():
            seen.labelled.add((tokens[i - 1].text, token.text))
        elif token.text == "sum" and token.kind == "cmd":
            near = [
                t for t in tokens[i + 1 : i + 4] if t.kind in (*WORDS, "sub") and len(t.text) == 1 and t.text.isalpha()
            ]
            bare = i + 1 < len(tokens) and tokens[i + 1].kind in WORDS  # Σ p_k: the letter of the names behind it
            letters = {t.text for t in (near[1:2] if bare else near)}
            seen.running |= letters
            seen.summed |= {
                (base, letter) for base, letter in _scripted(tokens[i + 1 : i + _SUMMED]) if letter in letters
            }
        elif token.kind == "quote" and i + 2 < len(tokens) and tokens[i + 2].kind == "quote":
            seen.tokens.add(tokens[i + 1].text)
            if i > 1 and tokens[i - 1].text == "(" and tokens[i - 2].kind in WORDS and len(tokens[i - 2].text) == 1:
                seen.indexed.add(tokens[i - 2].text)  # Q("cat")
        elif token.text == "0" and 0 < i < len(tokens) - 1 and tokens[i - 1].text == "[" and tokens[i + 1].text in "],":
            before = tokens[i - 2] if i > 1 else None
            ends_name = before is not None and (before.kind in (*WORDS, "sub", "num") or before.text == "}")
            factor = before is not None and "." in before.text  # 0.25[0, 1] is a product
            seen.from_zero |= ends_name and not factor and not tokens[i - 1].gap


_SUMMED = 16  # tokens behind a Σ whose letters it may run over


def _scripted(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """The names with a letter as their index among some tokens, up to the next relation: (p, k) of p_k and pₖ."""
    base, script = "", False
    for token in tokens:
        if token.kind == "rel":
            return
        if token.kind == "sub" or (script and token.kind in WORDS):
            yield base, token.text
        elif token.kind in WORDS:
            base = token.text
        script = token.text == "_"


def _script(tokens: Sequence[Token], i: int, seen: _Collected) -> None:
    at, mark = _base_before(tokens, i), tokens[i].text
    if at < 0:
        return
    base, body = tokens[at], list(_body(tokens, i + 1))
    seen.scripted.add(base.text)
    letters = [t.text for t in body if t.kind in WORDS]
    if tokens[i + 1].text != "{" and letters and not is_whole_script(tokens[i + 1]):
        letters = [letters[0][0]]  # W_QX is W_Q times X
    if len(body) == 1 and base.kind in WORDS:
        if mark == "^" and body[0].kind == "num":
            seen.raised[base.text].add(body[0].text)
        elif letters and letters[0] not in signs.TRANSPOSES:
            seen.labelled.add((base.text, letters[0]))
            if len(letters[0]) > 1 and len(base.text) == 1 and not set(letters[0]) <= INDEX_RUN:
                seen.tokens.add(letters[0])
    elif mark == "_" and len(letters) > 1 and set(letters) <= INDEX_RUN:
        seen.running |= set(letters)
    elif mark == "_" and letters and any(t.kind == "num" for t in body):
        seen.running |= {letter for letter in letters if len(letter) == 1 and letter in INDEX_RUN}
    for run in letters:
        if 1 < len(run) <= 3 and mark == "_" and set(run) <= INDEX_RUN and len(body) == 1:
            seen.running |= set(run)


def is_whole_script(token: Token) -> bool:
    """Whether all of a run behind _ or ^ is the script: in mathematics only its first letter is, unless it is plainly a
    word."""
    run = token.text
    return (
        token.kind != "letters" or len(run) == 1 or (len(run) > 2 and run.islower() and not set(run) <= set("ijklmn"))
    )


def _body(tokens: Sequence[Token], i: int) -> Iterator[Token]:
    """The tokens of the script that begins at i, without braces, brackets and commas."""
    if tokens[i].text != "{":
        yield tokens[i]
        return
    for token in tokens[i + 1 : i + 12]:
        if token.text == "}":
            return
        if token.kind not in ("open", "close", "sep"):
            yield token
