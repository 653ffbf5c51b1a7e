"""Statements of a sheet → equations: chains of names, formulas, workings and printed values that are said to be equal.

An arrow says 'next', not 'equals': what follows one is an equation of its own. Vectors that stand below each other,
each with a word before it, are one array with labelled rows. Nothing here knows what attention is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.attention import as_mask
from qkv.library.words import means, pattern
from qkv.reader.model import Link, Origin, Part, Relation, Sheet, Statement
from qkv.reading.continued import continued
from qkv.reading.derivatives import with_derivatives
from qkv.reading.headed import headed
from qkv.reading.lists import listed, without_sizes
from qkv.reading.tuples import each_named


class Kind(Enum):
    """What stands between two relations."""

    NAME = "a bare name"
    FORMULA = "mentions names"
    WORKING = "arithmetic in numbers"
    VALUE = "printed numbers"


@dataclass(frozen=True, slots=True)
class Item:
    """One side of an equation; `options` are its other readings."""

    kind: Kind
    expr: n.Expr
    relation: Relation
    line: int
    column: int
    text: str = ""
    struck: bool = False
    options: tuple[n.Expr, ...] = ()
    repair: str = ""  # how it was read where it is damaged
    units: tuple[int, ...] = ()  # what the unit behind it may multiply it with: 5.24 G

    @property
    def approximate(self) -> bool:
        """Whether it follows ≈, so that trailing zeros need not be digits."""
        return self.relation is Relation.APPROX


@dataclass(frozen=True, slots=True)
class Equation:
    """Things that a page says are equal, with the words around them.

    label    the words right before it on its line            words   those, and what stands above it
    scope    which problem of the page it belongs to          next    it follows an arrow: the step after the one before
    rows     the words that label the rows of its array       columns those above its columns
    """

    index: int
    items: tuple[Item, ...]
    line: int
    end_line: int
    column: int
    text: str
    label: str = ""
    words: str = ""
    after: str = ""
    part: int = 0
    scope: int = 0
    origin: Origin = Origin.PLAIN
    struck: bool = False
    next: bool = False
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[Symbol, ...]:
        """The bare names on its sides."""
        return tuple(item.expr.symbol for item in self.items if isinstance(item.expr, n.Name))

    def of(self, *kinds: Kind) -> tuple[Item, ...]:
        """Its sides of some kinds."""
        return tuple(item for item in self.items if item.kind in kinds)


def equations(sheet: Sheet) -> tuple[Equation, ...]:
    """The equations of a sheet in order, each in the scope of its problem."""
    made: list[Equation] = []
    for statement in continued(sheet.statements):
        made += (row for whole in _split(statement, sheet) for each in each_named(whole) for row in _apart(each))
    joined = [
        part for equation in _joined(listed(_stacked(without_sizes(_withdrawn(made))))) for part in _unmixed(equation)
    ]
    return _scoped([replace(equation, index=i) for i, equation in enumerate(headed(joined, sheet))], sheet)


# — one statement —


def _split(statement: Statement, sheet: Sheet) -> Iterator[Equation]:
    """The statement cut at arrows."""
    groups: list[list[Link]] = [[]]
    for link in statement.links:
        if link.relation is Relation.IN:
            continue
        arrow = link.relation in (Relation.ARROW, Relation.IMPLIES)
        if arrow and groups[-1] and not _gives(groups[-1], link):
            groups.append([])
        elif (shown := _run_on(groups[-1], link)) is not None:
            groups[-1].append(replace(link, expr=shown, alternatives=()))
            groups.append([])
            link = replace(link, relation=Relation.FIRST)
        groups[-1].append(link)
    title = sheet.parts[statement.part].title
    words = " ".join(dict.fromkeys(w for w in (title, statement.caption, statement.before, statement.label) if w))
    for number, links in enumerate(group for group in groups if group):
        first, *more = (_item(link, sheet) for link in links)
        items = _settled([_as_one_name(first) if more else first, *more])
        yield Equation(
            0, items, links[0].at.line, max(statement.end_line, statement.at.line), links[0].at.column, statement.text,
            "" if number else statement.label, words if not number else "", statement.after, statement.part, 0,
            statement.origin, statement.struck or all(link.struck for link in links),
            number > 0 or (statement.continues and statement.links[0].relation in (Relation.ARROW, Relation.IMPLIES)),
            statement.row_labels or ((statement.row_label,) if statement.row_label else ()), statement.column_labels,
        )  # fmt: skip


def _run_on(before: list[Link], link: Link) -> n.Expr | None:
    """The value of a formula with which its author goes on in one breath: the [..] of 'S = Q Kᵀ = [..] / √2 = …'."""
    formula = before[-1].expr if before else None
    quotient = link.expr if isinstance(link.expr, n.Quotient) else None
    if quotient is None or formula is None or kind_of(formula) is not Kind.FORMULA or n.holds(formula, n.Quotient):
        return None
    value = quotient.numerator
    return value if isinstance(value, n.Matrix) and is_printed(value) and min(value.shape) > 1 else None


def _gives(before: list[Link], link: Link) -> bool:
    """Whether an arrow stands for '=': a name or formula without a value yet, or a calculation, and a printed value."""
    calculated = isinstance(link.expr, n.Number) and isinstance(before[-1].expr, (n.Product, n.Sum, n.Quotient))
    kinds = (Kind.NAME, Kind.FORMULA, Kind.WORKING) if calculated else (Kind.NAME, Kind.FORMULA)
    return kind_of(link.expr) is Kind.VALUE and all(kind_of(other.expr) in kinds for other in before)


def _item(link: Link, sheet: Sheet) -> Item:
    expr = _upright(n.rewrite(link.expr, as_mask) if n.holds(link.expr, n.Call) else link.expr)
    expr = _shared(with_derivatives(expr), sheet)
    return Item(
        kind_of(expr), expr, link.relation, link.at.line, link.at.column, link.text, link.struck, link.alternatives,
        units=link.units,
    )  # fmt: skip


def _shared(expr: n.Expr, sheet: Sheet) -> n.Expr:
    """[e^2, e^3] / sum: numbers over their own sum, where the page defines no such name."""
    below = expr.denominator if isinstance(expr, n.Quotient) and isinstance(expr.numerator, n.Matrix) else None
    word = str(below.symbol).lower() if isinstance(below, n.Name) else ""
    if not isinstance(expr, n.Quotient) or not means(word, "sum"):
        return expr
    defined = any(statement.links[0].expr == below for statement in sheet.statements)
    return expr if defined else n.Normalise(expr.numerator)


def _as_one_name(item: Item) -> Item:
    """Words before '=' that stand side by side are one name: 'Total FFN = 3 + 4' is no product."""
    words = item.text.split()
    bases = [part.symbol.base for part in n.walk(item.expr) if isinstance(part, n.Name)]
    if not isinstance(item.expr, n.Product) or bases != words or not all(w.isalpha() and len(w) > 2 for w in words):
        return item
    return replace(item, expr=n.Name(Symbol("_".join(words)), item.text, at=item.expr.at), kind=Kind.NAME)


def _upright(expr: n.Expr) -> n.Expr:
    """(1, 0, 2)ᵀ is a way to print a column."""
    if (
        isinstance(expr, n.Transpose)
        and isinstance(expr.arg, n.Matrix)
        and expr.arg.shape[0] == 1
        and is_printed(expr.arg)
    ):
        return n.Matrix(tuple((cell,) for cell in expr.arg.rows[0]), at=expr.at)
    return expr


def _settled(items: list[Item]) -> tuple[Item, ...]:
    """Arithmetic that nothing follows is itself what is shown: 'w = 1/3', 'q · k = 2·1 + 0·3'."""
    if len(items) > 2 and items[-1].kind is Kind.VALUE:
        items = [item for item in items if not _lists_parts(item.expr, items[0].expr)]
    last = items[-1]
    shows = last.kind is Kind.WORKING and not n.holds(last.expr, n.Matrix) and (len(items) > 1 or _is_exact(last.expr))
    if shows and all(item.kind is not Kind.VALUE for item in items):
        items = [*items[:-1], replace(last, kind=Kind.VALUE)]
    return tuple(items)


def _lists_parts(expr: n.Expr, whole: n.Expr) -> bool:
    """Whether an expression only lists the parts of a name: the [z_1, z_2, z_3] of z = [z_1, z_2, z_3] = [2, 1, 0]."""
    if not isinstance(expr, n.Matrix) or not isinstance(whole, n.Name):
        return False
    cells = [cell for row in expr.rows for cell in row]
    base = whole.symbol.base.lower()
    return all(isinstance(c, n.Name) and c.symbol.indices and c.symbol.base.lower() == base for c in cells)


def kind_of(expr: n.Expr) -> Kind:
    """What an expression is on a page."""
    if isinstance(expr, n.Name):
        return Kind.NAME
    if is_printed(expr):
        return Kind.VALUE
    return Kind.WORKING if n.is_literal(expr) else Kind.FORMULA


def is_printed(expr: n.Expr) -> bool:
    """Whether numbers stand there as people print a result: decimals, or a matrix of decimals, fractions and roots."""
    if isinstance(expr, n.Negate):
        return is_printed(expr.arg)
    if isinstance(expr, n.Matrix):
        cells = [cell for row in expr.rows for cell in row]
        return bool(cells) and not expr.is_ragged and all(is_printed(c) or _is_exact(c) for c in cells)
    return isinstance(expr, (n.Number, n.Infinite))


def _is_exact(expr: n.Expr) -> bool:
    """A fraction, a root or a power of whole numbers, written as one."""
    if not n.is_literal(expr) or n.holds(expr, n.Matrix):
        return False
    kinds = n.kinds_in(expr) - {n.Number, n.Quotient, n.Root, n.Negate, n.Exp, n.Infinite}
    return not kinds and not any(isinstance(x, n.Number) and x.places for x in n.walk(expr))


# — several statements —


_QUANTITY = re.compile(rf"\W*(?:\w+\W+)?(?:{pattern('quantity')}|{pattern('vector')})\W*", re.IGNORECASE)


def _apart(equation: Equation) -> Iterator[Equation]:
    """Rows that are labelled by other quantities, 'scaled: …' above 'weights: …', are equations of their own."""
    only = equation.items[0]
    rows = only.expr.rows if isinstance(only.expr, n.Matrix) and len(equation.items) == 1 else ()
    labels = [label.strip("-*+• \t:").lower() for label in equation.rows]
    if not 1 < len(rows) == len(set(labels)) or equation.columns or not all(map(_QUANTITY.fullmatch, labels)):
        yield equation
        return
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        line = min(equation.line + i, equation.end_line)
        item = replace(only, expr=n.Matrix((row,)), line=line)
        yield replace(
            equation, items=(item,), line=line, end_line=line, label=label, words=f"{equation.words} {label}", rows=()
        )


def _vector(equation: Equation) -> n.Matrix | None:
    """The one row of numbers that an equation consists of."""
    only = equation.items[0] if len(equation.items) == 1 and not equation.struck else None
    if only is None or only.kind is not Kind.VALUE or not isinstance(only.expr, n.Matrix):
        return None
    return only.expr if len(only.expr.rows) == 1 and len(only.expr.rows[0]) > 1 else None


def _withdrawn(made: list[Equation]) -> list[Equation]:
    """A value is withdrawn where the same working is done again after an arrow: '… = [2, 2] → actually … = [0, 2]'."""
    found = []
    for equation, after in zip(made, (*made[1:], None), strict=False):
        again = after is not None and after.next and _works(equation) & _works(after)
        items = tuple(replace(i, struck=True) if again and i.kind is Kind.VALUE else i for i in equation.items)
        found.append(replace(equation, items=items) if again else equation)
    return found


def _works(equation: Equation) -> set[n.Expr]:
    return {item.expr for item in equation.of(Kind.FORMULA, Kind.WORKING)}


def _stacked(made: Iterable[Equation]) -> Iterator[Equation]:
    """Rows that stand below each other, each with a label of its own, as one array with labelled rows."""
    run: list[Equation] = []
    for equation in made:
        vector = _vector(equation)
        if run and (vector is None or not _stacks(run[-1], equation)):
            yield from _as_array(run)
            run = []
        if vector is not None and equation.label and not equation.rows:
            run.append(equation)
        else:
            yield equation
    yield from _as_array(run)


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
    )


def _is_token(label: str) -> bool:
    plain = _NOTE.sub("", label)
    return len(plain.split()) <= 2 and not re.search(pattern("quantity"), plain.lower())


_NOTE = re.compile(r"\s*[(（](?P<word>[^()（）]*)[)）]\s*$")


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
    item = replace(first.items[0], expr=n.Matrix(rows), text="\n".join(equation.text for equation in run))
    words = re.sub(rf"\s*{re.escape(first.label)}\W*$", "", first.words)
    yield replace(
        first, items=(item,), end_line=last.end_line, text=item.text, label="", words=words,
        rows=tuple(_row_word(equation.label) for equation in run),
    )  # fmt: skip


def _joined(made: Iterator[Equation]) -> Iterator[Equation]:
    """A chain that begins with '=' goes on from the one before it."""
    last: Equation | None = None
    for equation in made:
        begins = equation.items[0].relation in (Relation.EQUAL, Relation.APPROX) and not equation.label
        begins = begins and not (last is not None and _is_another(last, equation))
        again = last is not None and _says_again(last, equation)
        if (begins or again) and last is not None and last.part == equation.part and not equation.next:
            items = _settled([*last.items, *equation.items[again:]])
            last = replace(
                last, items=items, end_line=max(last.end_line, equation.end_line), text=f"{last.text}\n{equation.text}"
            )
            continue
        if last is not None:
            yield last
        last = equation
    if last is not None:
        yield last


def _is_another(last: Equation, equation: Equation) -> bool:
    """Whether a working further down, '= [1, 0] · [0, 1] = 0', belongs to a left side that nobody could read: the one
    above has its value already."""
    apart = equation.line > last.end_line + 1
    return apart and bool(last.of(Kind.VALUE)) and equation.items[0].kind is Kind.WORKING and len(equation.items) > 1


def _unmixed(equation: Equation) -> Iterator[Equation]:
    """A number is no matrix: 'divide by √d_k = √4 = 2', then '= [..]' below, are two equations; the words and the
    formula of the first are the label of the second."""
    items = equation.items
    at = next((i for i in range(1, len(items)) if _is_number(items[i - 1]) and _is_array(items[i])), None)
    if at is None:
        yield equation
        return
    label = f"{equation.label} {items[0].text}".strip()
    yield replace(equation, items=items[:at])
    rest = (replace(items[at], relation=Relation.FIRST), *items[at + 1 :])
    yield replace(equation, items=rest, line=items[at].line, label=label, words=f"{equation.words} {label}")


def _is_number(item: Item) -> bool:
    return item.kind is Kind.VALUE and not isinstance(item.expr, n.Matrix)


def _is_array(item: Item) -> bool:
    return item.kind is Kind.VALUE and isinstance(item.expr, n.Matrix) and max(item.expr.shape) > 1


def _says_again(last: Equation, equation: Equation) -> bool:
    """Whether an equation goes on from one that has no value yet: 'Q = X W', then 'Q = [..]'."""
    first, now = last.items[0], equation.items[0]
    same = first.kind is Kind.NAME and first.expr == now.expr and len(equation.items) > 1
    known = {item.expr for item in last.items}
    anew = any(item.expr not in known for item in equation.of(Kind.FORMULA))  # 's = s / 2' makes another s
    stated = bool(last.of(Kind.FORMULA, Kind.WORKING))
    return same and stated and not anew and not last.of(Kind.VALUE) and not last.struck and not equation.struck


# — problems —

_PROBLEM = re.compile(
    rf"^\W*(?:{pattern('problem')})\W*\s*(?:[\divxIVX]+|[A-Z]\b)|^\W*第\s*[\d一二三四五六七八九十]+\s*[题問问]",
    re.IGNORECASE,
)


def _scoped(made: list[Equation], sheet: Sheet) -> tuple[Equation, ...]:
    """The number of the problem for each equation: a new one begins under a heading that numbers problems, or in a part
    where something is given anew with other numbers."""
    scope, part = 0, -1
    given: dict[Symbol, tuple[n.Expr, int]] = {}
    worked: dict[Symbol, tuple[n.Expr, ...]] = {}
    printed: set[tuple[n.Expr, ...]] = set()
    scoped = []
    for equation in made:
        title = sheet.parts[equation.part].title
        anew = equation.part != part and bool(given) and bool(_PROBLEM.search(title or ""))
        part = equation.part
        bare = _given(equation)
        if bare is not None and bare[0] in given:
            value, where = given[bare[0]]
            other = where != equation.part and value != bare[1] and isinstance(value, n.Matrix)
            anew = anew or (other and _opens(equation, made) and not _is_row(bare[1], printed))
        anew = anew or (
            _is_numbered(sheet.parts[equation.part]) and _opens(equation, made) and _is_other(equation, worked)
        )
        if anew:
            scope, given, worked = scope + 1, {}, {}
        worked.update(dict.fromkeys(equation.names if equation.of(Kind.FORMULA) else (), _numbers(equation)))
        if bare is not None:
            given.setdefault(bare[0], (bare[1], equation.part))
        printed |= {row for item in equation.of(Kind.VALUE) for row in _rows(item.expr)}
        scoped.append(replace(equation, scope=scope))
    return tuple(scoped)


def _rows(expr: n.Expr) -> tuple[tuple[n.Expr, ...], ...]:
    """The rows of a printed matrix that has several."""
    return expr.rows if isinstance(expr, n.Matrix) and len(expr.rows) > 1 else ()


def _is_row(value: n.Expr, printed: set[tuple[n.Expr, ...]]) -> bool:
    """Whether a vector is a row of a matrix above: 's = [0.7, 0.1]' for each row in turn gives nothing new."""
    return isinstance(value, n.Matrix) and len(value.rows) == 1 and value.rows[0] in printed


def _is_numbered(part: Part) -> bool:
    """Whether a part is one of several on the first level: '2.) Cross-attention'."""
    return part.level == 1 and bool(re.match(r"\W*\(?\d+\s*[.)]", part.title or ""))


def _numbers(equation: Equation) -> tuple[n.Expr, ...]:
    return tuple(item.expr for item in equation.of(Kind.WORKING, Kind.VALUE))


def _is_other(equation: Equation, worked: dict[Symbol, tuple[n.Expr, ...]]) -> bool:
    """Whether a formula for a name is said again, with other numbers."""
    numbers = _numbers(equation)
    return bool(numbers and equation.of(Kind.FORMULA)) and any(
        worked.get(symbol, numbers) != numbers for symbol in equation.names
    )


def _given(equation: Equation) -> tuple[Symbol, n.Expr] | None:
    """The name and the numbers of an equation that says nothing else."""
    if equation.struck or len(equation.items) != 2:
        return None
    name, value = equation.items
    plain = isinstance(name.expr, n.Name) and value.kind is Kind.VALUE
    return (name.expr.symbol, value.expr) if plain and isinstance(name.expr, n.Name) else None


def _opens(equation: Equation, made: list[Equation]) -> bool:
    """Whether an equation is the first of its part but for sizes and formulas: what it gives begins a problem."""
    before = made[max(equation.index - 9, 0) : equation.index]
    return all(other.part != equation.part or _is_size(other) or not _numbers(other) for other in before)


def _is_size(equation: Equation) -> bool:
    """'d_k = 2', 'n = 3': says how large something is."""
    given = _given(equation)
    return given is not None and isinstance(given[1], n.Number) and given[1].value.denominator == 1
