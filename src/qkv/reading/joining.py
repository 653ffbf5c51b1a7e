"""Equations that belong together: vectors below each other are one array, what goes on below is the same chain, and a
product may be cut over two displays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from qkv.expr import nodes as n
from qkv.library.words import means, pattern, spoken
from qkv.reader.model import Link, Origin, Relation, Statement
from qkv.reading.equation import Equation, Kind, is_printed, is_rule_of_thumb, settled
from qkv.regex import regex

OPEN = "ends with ×"  # how the reader notes a product whose right side is missing


def continued(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of a sheet, those that go on from the one before it brought together."""
    last: Statement | None = None
    for statement in statements:
        if last is not None and _is_rest(last, statement):
            last = _multiplied(last, statement)
            continue
        if last is not None:
            yield last
            if _is_working(last, statement):
                link = replace(statement.links[0], relation=Relation.EQUAL)
                statement = replace(statement, links=(last.links[0], link))
        last = statement
    if last is not None:
        yield last


def _only(statement: Statement) -> Link | None:
    """The one link of a statement without a name or words of its own."""
    bare = len(statement.links) == 1 and not statement.struck and not statement.label and not statement.caption
    return statement.links[0] if bare and n.is_literal(statement.links[0].expr) else None


def _is_rest(last: Statement, statement: Statement) -> bool:
    """'Output = [..] ×', then '[..]' in a display of its own."""
    only = _only(statement)
    is_open = last.links[-1].note == OPEN and last.part == statement.part
    return is_open and only is not None and isinstance(only.expr, n.Matrix)


def _multiplied(last: Statement, statement: Statement) -> Statement:
    left, right = last.links[-1], statement.links[0]
    expr = n.Product(left.expr, right.expr, at=left.expr.at)
    link = replace(left, expr=expr, text=f"{left.text} × {right.text}", note=right.note)
    text = f"{last.text}\n{statement.text}"
    return replace(last, links=(*last.links[:-1], link), end_line=statement.end_line, text=text)


def _is_working(last: Statement, statement: Statement) -> bool:
    """'Q = X W', then '[..] × [..]' alone: the numbers put into the formula above."""
    only = _only(statement)
    if only is None or not isinstance(only.expr, n.Product) or not n.holds(only.expr, n.Matrix):
        return False
    first, rest = last.links[0], last.links[1:]
    stated = isinstance(first.expr, n.Name) and len(rest) == 1 and rest[0].relation is Relation.EQUAL
    return stated and not last.struck and last.part == statement.part and not n.is_literal(rest[0].expr)


def without_sizes(made: Iterable[Equation]) -> Iterator[Equation]:
    """The equations without pairs of numbers that are the size of the array right before them: (2, 2)."""
    last: Equation | None = None
    for equation in made:
        array = last.items[-1].expr if last is not None and last.line <= equation.line <= last.end_line else None
        only = equation.items[0].expr if len(equation.items) == 1 and not equation.label else None
        pair = only.rows[0] if isinstance(only, n.Matrix) and only.shape == (1, 2) else ()
        size = tuple(int(x.value) for x in pair if isinstance(x, n.Number) and x.value.denominator == 1)
        if not (isinstance(array, n.Matrix) and array.shape == size):
            yield equation
            last = equation


_QUANTITY = regex(rf"\W*(?:\w+\W+)?(?P<kind>{pattern('quantity')}|{pattern('vector')})\W*\d{{0,2}}\W*", re.IGNORECASE)


def apart(equation: Equation) -> Iterator[Equation]:
    """Rows that are labelled by other quantities, 'scaled: …' above 'weights: …', 'query: …' above 'key 1: …', are
    equations of their own."""
    only = equation.items[0]
    rows = only.expr.rows if isinstance(only.expr, n.Matrix) and len(equation.items) == 1 else ()
    labels = [label.strip("-*+• \t:").lower() for label in equation.rows]
    found = [_QUANTITY.fullmatch(label) for label in labels]
    kinds = [match["kind"] for match in found if match is not None]
    if not 1 < len(rows) == len(set(labels)) or equation.columns or len(kinds) < len(rows) or len(set(kinds)) == 1:
        yield equation
        return
    for _, group in groupby(range(len(rows)), key=kinds.__getitem__):
        at = list(group)
        first, last = (min(equation.line + i, equation.end_line) for i in (at[0], at[-1]))
        item = only._replace(expr=n.Matrix(tuple(rows[i] for i in at)), line=first)
        label = labels[at[0]] if len(at) == 1 else kinds[at[0]]
        named = tuple(labels[i] for i in at) if len(at) > 1 else ()
        words = f"{equation.words} {label}"
        yield replace(equation, items=(item,), line=first, end_line=last, label=label, words=words, rows=named)


def _vector(equation: Equation) -> n.Matrix | None:
    """The one row of numbers that an equation consists of."""
    only = equation.items[0] if len(equation.items) == 1 and not equation.struck else None
    if only is None or only.kind is not Kind.VALUE or not isinstance(only.expr, n.Matrix):
        return None
    return only.expr if len(only.expr.rows) == 1 and len(only.expr.rows[0]) > 1 else None


def withdrawn(made: list[Equation], lines: Sequence[str]) -> list[Equation]:
    """A value is withdrawn where the same working is done again after an arrow, '… = [2, 2] → actually … = [0, 2]', or
    further down after words that doubt it: '… = 4.29 GB. Wait, let me recalculate: …'."""
    found = []
    for k, equation in enumerate(made):
        below = made[k + 1 : k + 1 + _ANEW]
        again = any(
            _works(equation) & _works(after) and (after.next or _doubted(equation, after, lines)) for after in below
        )
        items = tuple(i._replace(struck=True) if again and i.kind is Kind.VALUE else i for i in equation.items)
        found.append(replace(equation, items=items) if again else equation)
    return found


_ANEW = 5  # equations below a value that may work it out again
_DOUBTS = regex(spoken("withdraw"), re.IGNORECASE)


def _doubted(equation: Equation, after: Equation, lines: Sequence[str]) -> bool:
    """Whether words between two equations say that the first one may be false."""
    return _DOUBTS.search("\n".join(lines[equation.end_line - 1 : after.line - 1])) is not None


def _works(equation: Equation) -> set[n.Expr]:
    return {
        item.expr
        for item in equation.items
        if item.kind in (Kind.FORMULA, Kind.WORKING) or type(item.expr) is n.Product
    }


def side_by_side(made: Iterable[Equation], lines: Sequence[str]) -> Iterator[Equation]:
    """Vectors that follow a label or a name, as the rows of one array: 'Keys: [1, 0], [0, 1], [1, 1]', or K = (1, 0)
    (0, 1); a comma at the end of a line goes on in the next."""
    run: list[Equation] = []
    for equation in map(_without_product, made):
        vector, first = _vector(equation), _last_vector(run[0]) if run else None
        goes_on = vector is not None and first is not None and vector.shape == first.shape
        goes_on = goes_on and ("%" in equation.text) == ("%" in run[0].text)  # [0.97, 0.03] (97 %, 3 %)
        if run and not (goes_on and _is_beside(run[-1], equation, lines) and not equation.label and not equation.next):
            yield _as_rows(run)
            run = []
        named = vector is None and _last_vector(equation) is not None
        if run or named or (vector is not None and equation.label and not equation.rows):
            run.append(equation)
        else:
            yield equation
    if run:
        yield _as_rows(run)


def _without_product(equation: Equation) -> Equation:
    """Vectors side by side behind a name are rows: nobody multiplies rows without a sign."""
    name, last = equation.items[0], equation.items[-1]
    factors = n.factors(last.expr) if len(equation.items) == 2 and name.kind is Kind.NAME else []
    rows = [factor.rows[0] for factor in factors if isinstance(factor, n.Matrix) and len(factor.rows) == 1]
    if not 1 < len(rows) == len(factors) or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
        return equation
    array = last._replace(expr=n.Matrix(tuple(rows), at=factors[0].at), kind=Kind.VALUE)
    return replace(equation, items=(name, array)) if all(map(is_printed, factors)) else equation


def _last_vector(equation: Equation) -> n.Matrix | None:
    """The row of numbers that an equation consists of, or that a name is given."""
    if len(equation.items) != 2 or equation.items[0].kind is not Kind.NAME:
        return _vector(equation)
    return _vector(replace(equation, items=equation.items[1:]))


def _is_beside(last: Equation, equation: Equation, lines: Sequence[str]) -> bool:
    """Whether an equation stands in the line of the last one, or begins the next behind a comma."""
    if equation.line == last.line:
        return True
    above, below = (lines[number - 1].strip() for number in (last.line, equation.line))
    return equation.line == last.line + 1 and above.endswith(",") and below.startswith(("[", "("))


def _as_rows(run: list[Equation]) -> Equation:
    rows = tuple(row for equation in run if (vector := _last_vector(equation)) is not None for row in vector.rows)
    text = ", ".join(equation.text for equation in run)
    *named, last = run[0].items
    return (
        replace(run[0], items=(*named, last._replace(expr=n.Matrix(rows), text=text)), text=text) if run[1:] else run[0]
    )


def stacked(made: Iterable[Equation]) -> Iterator[Equation]:
    """Rows that stand below each other, each with a label of its own, as one array with labelled rows."""
    run: list[Equation] = []
    beside: list[Equation] = []  # remarks behind a row: '[1, 0]   (q·k = 1)'
    for equation in _labelled_alike(list(made)):
        vector = _vector(equation)
        if run and equation.line == run[-1].end_line and not equation.label and vector is None:
            beside.append(equation)
            continue
        if run and (vector is None or not _stacks(run[-1], equation)):
            yield from (*_as_array(run), *beside)
            run, beside = [], []
        if vector is not None and equation.label and not equation.rows:
            run.append(equation)
        else:
            yield equation
    yield from (*_as_array(run), *beside)


_COLON = regex(r"[^\W\d_]+\s*:(?!=)")  # a word, as in a list of words


def _labelled_alike(made: list[Equation]) -> Iterator[Equation]:
    """In a list of words with a vector each, a short word is a word too: 'I: [1, 0]' above 'love: [0, 1]'."""
    used = {name for equation in made for item in equation.of(Kind.FORMULA) for name in n.names_in(item.expr)}
    last: Equation | None = None
    for equation, after in zip(made, (*made[1:], None), strict=False):
        word = _as_word(equation)
        if word is not None and not used.intersection(equation.names):
            beside = (last is not None and _stacks(last, word)) or (after is not None and _stacks(word, after))
            equation = word if beside else equation
        last = equation
        yield equation


def _as_word(equation: Equation) -> Equation | None:
    """A vector under a name with a colon, as a vector with a label."""
    if len(equation.items) != 2 or equation.items[0].kind is not Kind.NAME or not _COLON.match(equation.text):
        return None
    word = equation.items[0].text
    alone = replace(
        equation,
        items=(equation.items[1]._replace(relation=Relation.FIRST),),
        label=word,
        words=f"{equation.words} {word}:",
    )
    return alone if _vector(alone) is not None else None


def _stacks(above: Equation, below: Equation) -> bool:
    first, second = _vector(above), _vector(below)
    near = below.line - above.end_line in (1, 2) and below.part == above.part
    fits = first is not None and second is not None and first.shape == second.shape
    return bool(
        near
        and fits
        and below.label
        and below.label != above.label
        and _is_token(above.label)
        and _is_token(below.label)
        and _vector_named(above.label) == _vector_named(below.label)
    )


def _vector_named(label: str) -> set[str]:
    """The words of a label that say what a vector is, and not only whose: 'Query vector' above 'Token 1'."""
    return {word.lower() for word in label.split() if means(word, "vector")}


def _is_token(label: str) -> bool:
    plain = _NOTE.sub("", label)
    return len(plain.split()) <= 2 and not re.search(pattern("quantity"), plain.lower())


_NOTE = regex(r"\s*[(（](?P<word>[^()（）]*)[)）]\s*$")


def _row_word(label: str) -> str:
    """The word of a row: the cat of 'Token 2 (cat)'."""
    note = _NOTE.search(label)
    return note["word"].strip("\"'“”‘’ ") if note and label[: note.start()][-1:].isdigit() else label


def _as_array(run: list[Equation]) -> Iterator[Equation]:
    if len(run) < 2:
        yield from run
        return
    first, last = run[0], run[-1]
    rows = tuple(row for equation in run for row in equation.items[0].expr.rows)  # type: ignore[union-attr]
    item = first.items[0]._replace(expr=n.Matrix(rows), text="\n".join(equation.text for equation in run))
    words = re.sub(rf"\s*{re.escape(first.label)}\W*$", "", first.words)
    yield replace(
        first, items=(item,), end_line=last.end_line, text=item.text, label="", words=words,
        rows=tuple(_row_word(equation.label) for equation in run),
    )  # fmt: skip


def joined(made: Iterator[Equation]) -> Iterator[Equation]:
    """A chain that begins with '=' goes on from the one before it."""
    last: Equation | None = None
    for equation in made:
        begins = equation.items[0].relation in (Relation.EQUAL, Relation.APPROX) and not equation.label
        begins = begins and not (last is not None and _is_another(last, equation))
        again = last is not None and _says_again(last, equation)
        if last is not None and _is_value_below(last, equation):
            begins, only = True, equation.items[0]._replace(relation=Relation.EQUAL)
            equation = replace(equation, items=(only,))
        if (begins or again) and last is not None and last.part == equation.part and not equation.next:
            items = settled([*last.items, *equation.items[again:]])
            last = replace(
                last, items=items, end_line=max(last.end_line, equation.end_line), text=f"{last.text}\n{equation.text}"
            )
            continue
        if last is not None:
            yield last
        last = equation
    if last is not None:
        yield last


FAR = 6  # lines between a formula and the numbers of a table below it, which has heads


def _is_value_below(last: Equation, equation: Equation) -> bool:
    """Whether a matrix that stands alone is the value of the formula above it, which has none yet and at most a remark
    behind it: 'S = QKᵀ (rows are queries)' above a table, 'K = X W gives' above a drawing."""
    expr = equation.items[0].expr
    alone = len(equation.items) == 1 and isinstance(expr, n.Matrix) and min(expr.shape) > 1 and is_printed(expr)
    is_open = [item.kind for item in last.items] == [Kind.NAME, Kind.FORMULA] and not last.struck
    if Origin.CODE in (last.origin, equation.origin) or not alone or not is_open or equation.label or equation.next:
        return False
    if not 0 <= equation.line - last.end_line < FAR:
        return False
    remark = re.sub(r"\([^()]*\)", "", last.after).split()
    between = equation.words.removesuffix(last.after).strip()
    return equation.words.endswith(last.after) and last.words.startswith(between) and len(remark) < 3


def _is_another(last: Equation, equation: Equation) -> bool:
    """Whether a working further down, '= [1, 0] · [0, 1] = 0', or an array behind words, belongs to a left side that
    nobody could read: the one above has its value already."""
    if equation.line <= last.end_line + 1 or not last.of(Kind.VALUE):
        return False
    said = equation.words not in last.words and isinstance(equation.items[0].expr, n.Matrix)
    return said or (equation.items[0].kind is Kind.WORKING and len(equation.items) > 1)


def _says_again(last: Equation, equation: Equation) -> bool:
    """Whether an equation goes on from one that has no value yet: 'Q = X W', then 'Q = [..]'."""
    first, now = last.items[0], equation.items[0]
    same = first.kind is Kind.NAME and first.expr == now.expr and len(equation.items) > 1
    known = {item.expr for item in last.items}
    anew = any(item.expr not in known for item in equation.of(Kind.FORMULA))  # 's = s / 2' makes another s
    stated = bool(last.of(Kind.FORMULA, Kind.WORKING)) and not any(map(is_rule_of_thumb, last.items))
    return same and stated and not anew and not last.of(Kind.VALUE) and not last.struck and not equation.struck
