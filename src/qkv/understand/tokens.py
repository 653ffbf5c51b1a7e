"""Tokens that are called by words: k_cat, x_the, 'green = [0, 1]', '- tea: [1, 1, 0]' are numbered as they come."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.records import replace
from qkv.sheet.model import Relation, Statement
from qkv.sheet.phrases import SPELLED_OUT
from qkv.understand.captions import as_vector, captioned
from qkv.understand.counting import counts_from_zero
from qkv.understand.roles import roles_of

# Letters that name one vector a token, the ones that tell the order of the tokens first.
VECTORS = ("x", "k", "h", "e", "v", "q")
_CAPITALS = frozenset("QKVX")
# Words in scripts that name no token.
NO_TOKENS = frozenset([
    "enc", "dec", "encoder", "decoder", "in", "out", "input", "output", "new", "old", "cache", "cached", "past", "src",
    "tgt", "source", "target", "prev", "next", "max", "min", "total", "sum", "avg", "mean", "norm", "scaled",
    "unscaled", "masked", "mask", "causal", "head", "heads", "model", "final", "pos", "tok", "token", "key",
    "query", "value", "tilde", "hat", "rot", "left", "right", "true", "pred",
])  # fmt: skip
_WORD = late(r"[^\W\d_]+|\d+")
_LABEL = late(r"[\"“„«'*`(]*(?P<word>[^\W\d_][\w\-’']*)[\"”“»'*`)]*\s*(?::|=|→|->|⟶|\\to|—|–)?\s*$")
# 'Input 2:', as a sentence of its own: 'the key of input 2:' is something else.
_COUNTED = late(
    r"(?:^|[.;:•*-])\s*(?:the )?(?:inputs?|tokens?|words?|embeddings?|input vectors?|eingabe|wort|entrée|mot|entrada|"
    r"palabra|ввод|слово|токен|输入|词)"
    r"\s*[#№]?\s*(?P<number>\d{1,2})\s*[:=]?\s*$",
    re.IGNORECASE,
)
_EMBEDDED = late(
    r"embed|token|word|vector|eingebettet|wort|wörter|vektor|plong|mots?\b|palabra|palavra|parol[ae]|слов|вектор|эмбеддинг|词|詞|向量|単語|ベクトル",
    re.IGNORECASE,
)


def token_words(statements: Iterable[Statement]) -> dict[str, int]:
    """The words that stand for tokens in scripts, numbered in the order in which they come.

    A script is such a word only where one letter comes with two of them, each a vector: k_cat and k_sat.
    """
    found: dict[str, dict[str, None]] = {}
    for statement in statements:
        subject = statement.links[0].expr if statement.links else None
        scripts = (*subject.symbol.labels, *subject.symbol.indices) if isinstance(subject, n.Name) else ()
        if len(scripts) != 1 or not isinstance(subject, n.Name) or not _is_word(scripts[0]):
            continue
        base = subject.symbol.base.lower()
        if base in VECTORS and _is_vector(statement.links[-1].expr):
            found.setdefault(base, {})[scripts[0]] = None
    for base in VECTORS:
        words = found.get(base, {})
        if len(words) > 1 and any(len(word) > 1 for word in words):
            return {word: number for number, word in enumerate(words, 1)}
    return {}


def _labelled(statements: Sequence[Statement]) -> dict[str, int]:
    """The words before the rows of the first table of vectors, '| cat | [1, 0] |', if k_cat is spoken of."""
    labels = next((statement.row_labels for statement in statements if statement.row_labels), ())
    words = {label: number for number, label in enumerate(labels, 1) if _is_word(label)}
    if not words or len(words) < len(labels):
        return {}
    names = {symbol for statement in statements for link in statement.links for symbol in n.names_in(link.expr)}
    spoken = any(script in words for symbol in names for script in (*symbol.labels, *symbol.indices))
    return words if spoken else {}


def _is_word(script: str) -> bool:
    return script in ("I", "a", "A") or (len(script) > 1 and script.isalpha() and script.lower() not in NO_TOKENS)


def _is_vector(expr: n.Expr) -> bool:
    expr = expr.arg if isinstance(expr, n.Transpose) else expr
    return isinstance(expr, n.Matrix) and min(expr.shape) == 1 < max(expr.shape)


def numbered(statements: tuple[Statement, ...]) -> tuple[tuple[Statement, ...], str]:
    """Statements in which tokens have numbers for names, and a note that says which number stands for which word, or
    where counting begins."""
    from_zero = counts_from_zero(statements)
    statements = _named(statements, 0 if from_zero else 1)
    words = token_words(statements) or _labelled(statements)
    worded = dict(_worded(statements))
    note = COUNTED_FROM_ZERO if from_zero else _note(words or worded)
    vectors = {word.lower(): Symbol("x", (), (str(number),)) for word, number in worded.items()}
    letters = _letters_of_rows(statements)
    if not words and not vectors and not letters:
        return statements, note

    def change(part: n.Expr) -> n.Expr:
        if not isinstance(part, n.Name):
            return part
        scripts = (*part.symbol.labels, *part.symbol.indices)
        if any(script in words for script in scripts):
            return replace(part, symbol=_with_number(part, words))
        if part.symbol.base in letters and _counts(part.symbol):
            return replace(part, symbol=part.symbol._replace(base=part.symbol.base.lower()))
        called = vectors.get(part.symbol.base.lower()) if not scripts else None
        return part if called is None else replace(part, symbol=called)

    changed = tuple(
        replace(s, links=tuple(replace(link, expr=n.rewrite(link.expr, change)) for link in s.links))
        for s in statements
    )
    return changed, note


def _letters_of_rows(statements: Iterable[Statement]) -> frozenset[str]:
    """Capitals whose numbers count tokens and not heads, since each of them is a list: K_1 = [1, 0], K_2 = [0, 1].
    Where weights are numbered too, or Q_1 K_1ᵀ is a matrix, a column is what a head of width 1 makes."""
    lists: dict[str, set[str]] = {}
    others: set[str] = set()
    for statement in statements:
        subject, value = (statement.links[0].expr, statement.links[-1].expr) if statement.links else (None, None)
        if isinstance(subject, n.Name) and subject.symbol.base == "W" and subject.symbol.indices:
            return frozenset()  # K_1 is made with W_K of head 1
        if isinstance(value, n.Matrix) and min(value.shape) > 1 and _meets(statement):
            return frozenset()
        if not isinstance(subject, n.Name) or subject.symbol.base not in _CAPITALS or not _counts(subject.symbol):
            continue
        if value is not None and _is_list(value):
            lists.setdefault(subject.symbol.base, set()).add(subject.symbol.indices[0])
        elif isinstance(value, n.Matrix):
            others.add(subject.symbol.base)
    several = any(len(lists.get(base, ())) > 1 for base in "KX")
    return frozenset(lists) - others if several and "K" not in others else frozenset()


def _meets(statement: Statement) -> bool:
    """Q_1 K_1ᵀ."""
    products = [link.expr for link in statement.links if isinstance(link.expr, n.Product)]
    return any(map(_is_meeting, products))


def _is_meeting(expr: n.Product) -> bool:
    if not isinstance(expr.right, n.Transpose):
        return False
    sides = [side.symbol for side in (expr.left, expr.right.arg) if isinstance(side, n.Name)]
    return len(sides) == 2 and all(side.base in _CAPITALS and _counts(side) for side in sides)


def _counts(symbol: Symbol) -> bool:
    return len(symbol.indices) == 1 and symbol.indices[0].isdigit() and not symbol.labels


def _is_list(expr: n.Expr) -> bool:
    """[1, 0], or a column: no matrix of a head."""
    value = expr.arg if isinstance(expr, n.Transpose) else expr
    return isinstance(value, n.Matrix) and _is_vector(value) and (value.loose or value.shape[1] == 1)


def _with_number(name: n.Name, words: Mapping[str, int]) -> Symbol:
    """α_{cat,j} is α_{2,j}: words and indices in the order in which they are spelled. What belongs to a token is a
    row: Q_cat is q_2, while Q_2 would be the second head."""
    symbol = name.symbol
    labels = tuple(label for label in symbol.labels if label not in words)
    spelled = [part for part in _WORD.findall(name.spelled) if part in words or part in symbol.indices]
    named = [part for part in spelled if part in words]
    if sorted(named) != sorted(script for script in (*symbol.labels, *symbol.indices) if script in words):
        spelled = [*(label for label in symbol.labels if label in words), *symbol.indices]
    indices = tuple(str(words[part]) if part in words else part for part in spelled)
    base = symbol.base.lower() if len(symbol.base) == 1 else symbol.base
    return Symbol(base, labels, indices, symbol.primes)


COUNTED_FROM_ZERO = "The sheet counts tokens from 0; here they are counted from 1."


def _note(words: Mapping[str, int]) -> str:
    listed = ", ".join(f"{number} {word}" for word, number in words.items())
    return f"Tokens are numbered as they come: {listed}." if words else ""


def _worded(named: Iterable[Statement]) -> Iterator[tuple[str, int]]:
    for statement in named:
        first = statement.links[0].expr if statement.links else None
        if isinstance(first, n.Name) and first.symbol.base == "x" and first.spelled.isalpha() and first.symbol.indices:
            yield first.spelled, int(first.symbol.indices[0])


# — vectors that only a word names —


def _named(statements: tuple[Statement, ...], first: int) -> tuple[Statement, ...]:
    """'red = [1, 0]', 'green = [0, 1]' and '- tea: [1, 1]' in a row are x_1, x_2 and x_3; rows count from `first`."""
    run: list[tuple[Statement, str]] = []
    given = False  # whether the tokens have a name of their own
    made: list[Statement] = []
    for statement in statements:
        subject = statement.links[0].expr if statement.links else None
        valued = isinstance(subject, n.Name) and isinstance(statement.links[-1].expr, n.Matrix)
        given |= valued and isinstance(subject, n.Name) and roles_of(subject.symbol)[:1] in ((Role.X,), (Role.Q,))
        statement = statement if given else _counted(statement)
        word = _called(statement) if len(statement.links) < 3 else None
        if run and not (word and _goes_on(run[-1][0], statement)):
            made.extend(_settled(run, given, first))
            run = []
        if word:
            run.append((statement, word))
        else:
            made.append(statement)
    made.extend(_settled(run, given, first))
    return tuple(made)


def _counted(statement: Statement) -> Statement:
    """'Input 2: [0, 2]' says x_2 = [0, 2]."""
    found = _COUNTED.search(statement.before) if len(statement.links) == 1 and not statement.struck else None
    if found is None or not _is_vector(statement.links[0].expr):
        return statement
    return as_vector(statement, f"x_{found['number']}", "x", int(found["number"]))


def _called(statement: Statement) -> str | None:
    """The word that a vector is called by: as its name, or right before it."""
    links = statement.links
    if statement.struck or not links or not _is_vector(links[-1].expr):
        return None
    if len(links) == 2 and isinstance(links[0].expr, n.Name):
        symbol = links[0].expr.symbol
        if links[1].relation is Relation.ARROW and _counts(symbol):
            return links[0].expr.spelled  # 'q1 → [0.3, 0.7]' under 'Weights:'
        known = roles_of(symbol) or symbol.labels or symbol.indices or symbol.base.lower() in NO_TOKENS
        return None if known or len(symbol.base) < 2 or not symbol.base.isalpha() else symbol.base
    if len(links) == 1 and (found := _LABEL.search(statement.before)) and found["word"].lower() not in NO_TOKENS:
        label = statement.before[: found.start()].rstrip()
        titled = any(pattern.fullmatch(label) for _, pattern in SPELLED_OUT)  # '**Keys**', and then '- tea: [1, 1]'
        return found["word"] if not label or titled or label[-1] in ".,;:•-*" or _EMBEDDED.search(label) else None
    return None


def _goes_on(last: Statement, statement: Statement) -> bool:
    a, b = last.links[-1].expr, statement.links[-1].expr
    near = statement.at.line - last.end_line <= 2 and statement.part == last.part
    return near and isinstance(a, n.Matrix) and isinstance(b, n.Matrix) and a.shape == b.shape


def _settled(run: list[tuple[Statement, str]], given: bool, first: int) -> Iterator[Statement]:
    """A run of vectors are rows of what their caption names; or the tokens, if words say so and nothing else gives
    them; else it stays as it was."""
    rows = captioned(run, first)
    if rows is not None:
        yield from rows
        return
    told = len(run) > 1 and not given and any(_EMBEDDED.search(statement.before) for statement, _ in run)
    for number, (statement, word) in enumerate(run, 1):
        yield as_vector(statement, word, "x", number) if told else statement
