"""What a person tells beside the page, in a notation that is always understood: 'X = [I; love; cats]', 'ask Z'.

It is told on the command line (--let, --ask), in Python (let=, ask=), or on the page itself as a comment:

    <!-- qkv: K = @4 -->      % qkv: X = [I; love; cats]      # qkv: ask Z

@4 is the array that line 4 prints, and cats@4 its row with the label 'cats'. All else is read as on the page, except
that every word of it is one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from qkv.errors import Location, ReadError
from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.reader.chain import Chain
from qkv.reader.grammar import parse_math
from qkv.reader.maths.names import Names
from qkv.reader.model import Origin, Question, Relation, Sheet, Statement
from qkv.regex import regex

AT = "@"  # the base of a symbol for what a line prints: @4, cats@4
_COMMENT = regex(
    r"<!--\s*qkv:(?P<block>.*?)-->|(?:^|(?<=\s))(?:%+|#+|//)[ \t]*qkv:(?P<line>[^\n]*)", re.DOTALL | re.MULTILINE
)
_ASK = regex(r"ask\b\s*(?P<what>.*)", re.IGNORECASE)
_PLACE = regex(r"(?P<label>[^\W\d]\w*)?@(?P<line>\d+)")
_WORD = regex(r"(?<![\\\w])[^\W\d_]{2,}(?![^\W\d_]|\()")
_BLANK = regex(r"(?<![^\s\[(,;=])_(?![^\s\]),;])")  # a number that is to be filled in
_LEFT = regex(r"\s*(?P<name>[^\W\d_]+)[^=]*=")
_SIGNS = frozenset({"softmax", "sqrt", "inf", "infty"})  # beside the table of functions


class Told(NamedTuple):
    """One line that a person tells; `line` is where it stands on the page, 0 where it does not."""

    text: str
    line: int = 0
    asks: bool = False

    def error(self, message: str) -> ReadError:
        """What is wrong with it, with its place."""
        if self.line:
            return ReadError(f"qkv: {self.text}: {message}", Location(self.line))
        return ReadError(f'--{"ask" if self.asks else "let"} "{self.text}": {message}')


def told_in(source: str) -> tuple[list[Told], str]:
    """What the comments of a page tell, and the page with blanks in their place.

    >>> told_in("<!-- qkv: K = @4 -->")[0]
    [Told(text='K = @4', line=1, asks=False)]
    """
    if "qkv:" not in source:
        return [], source
    found: list[Told] = []
    comments = [comment for comment in _COMMENT.finditer(source) if not _is_quoted(source, comment.start())]
    for comment in comments:
        kind = "block" if comment["block"] is not None else "line"
        first = source.count("\n", 0, comment.start(kind)) + 1
        for number, text in enumerate(comment[kind].split("\n"), first):
            if text.strip():
                asks = _ASK.fullmatch(text.strip())
                found.append(Told(asks["what"] if asks else text.strip(), number, bool(asks)))
    pieces, at = [], 0
    for comment in comments:
        pieces += [source[at : comment.start()], re.sub(r"[^\n]", " ", comment[0])]
        at = comment.end()
    return found, "".join((*pieces, source[at:]))


def _is_quoted(source: str, at: int) -> bool:
    """Whether a place stands in `code` of its line: what is said about a comment is none."""
    return source.count("`", source.rfind("\n", 0, at) + 1, at) % 2 == 1


def with_told(sheet: Sheet, told: Iterable[Told]) -> Sheet:
    """A sheet with what is told beside it as statements and questions of its own."""
    lines = list(told)
    if not lines or sheet.names is None:
        return sheet
    names = sheet.names._replace(words=sheet.names.words | _words(sheet, lines))
    names = names._replace(letters=names.letters | {name for name in _defined(lines) if len(name) == 1})
    stated = (_statement(line, sheet, names) for line in lines if not line.asks)
    asked = (_question(line, sheet, names) for line in lines if line.asks)
    return replace(sheet, told=tuple(stated), questions=(*sheet.questions, *asked))


def source_of(statement: Statement) -> Told:
    """The line that told a statement."""
    return Told(statement.text, statement.at.line)


def _words(sheet: Sheet, lines: list[Told]) -> frozenset[str]:
    """The words of some lines that are names: all but functions, and products such as QK of names that the page has."""
    labels = {word for s in sheet.statements for word in (s.label, s.row_label, *s.row_labels)}
    sure = labels.union(_defined(lines))
    words = {word for line in lines for word in _WORD.findall(_PLACE.sub(" ", line.text))}
    assert sheet.names is not None
    products = {word for word in words - sure if sheet.names.known_parts(word) is not None}
    return frozenset(word for word in words - products if word.lower() not in BY_KEY and word not in _SIGNS)


def _defined(lines: list[Told]) -> Iterator[str]:
    for line in lines:
        if not line.asks and (found := _LEFT.match(line.text)):
            yield found["name"]


def _statement(told: Told, sheet: Sheet, names: Names) -> Statement:
    chain = _chain(told, names)
    first, *more = chain.links
    if not isinstance(first.expr, n.Name) or not more or any(link.relation is not Relation.EQUAL for link in more):
        raise told.error("write NAME = EXPRESSION, such as X = [1, 0; 0, 1] or Z = softmax(Q K^T) V")
    part = _part(told, sheet)
    return Statement(chain.links, Location(told.line), told.line, told.text, Origin.PLAIN, part)


def _question(told: Told, sheet: Sheet, names: Names) -> Question:
    chain = _chain(told, names)
    if len(chain.links) != 1:
        raise told.error("ask for a name or a formula, such as Z or A V")
    return Question(told.text, told.line, _part(told, sheet), expr=chain.links[0].expr)


def _part(told: Told, sheet: Sheet) -> int:
    """The part of the page in which a line is told."""
    return max((i for i, part in enumerate(sheet.parts) if part.line <= told.line), default=0)


def _chain(told: Told, names: Names) -> Chain:
    """The one chain that a line is."""
    found = list(_PLACE.finditer(told.text))
    text, words = told.text, {}
    for number, place in reversed(list(enumerate(found))):
        word = f"place{'i' * number}x"  # a word that no page has
        words[word] = Symbol(AT, (place["label"],) if place["label"] else (), (place["line"],))
        text = text[: place.start()] + word + text[place.end() :]
    parsed = parse_math(text, Location(max(told.line, 1)), names=names._replace(words=names.words | words.keys()))
    if _BLANK.search(told.text):
        raise told.error("put the numbers in for the blanks (_)")
    if parsed.unread or len(parsed.chains) != 1:
        reason = parsed.unread[0].reason if parsed.unread else "this is not one equation or one expression"
        raise told.error(reason)
    chain = parsed.chains[0]

    def place_of(node: n.Expr) -> n.Expr:
        return n.Name(words.get(node.symbol.base, node.symbol), node.spelled) if isinstance(node, n.Name) else node

    links = (replace(link, expr=n.rewrite(link.expr, place_of), alternatives=()) for link in chain.links)
    return chain._replace(links=tuple(links))
