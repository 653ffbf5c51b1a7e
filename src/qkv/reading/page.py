"""Equations → a Page: what each name is said to be, where, and which names belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import pairwise

from qkv.errors import Location, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.roles import Place, places, roles_in_words
from qkv.library.said import Sight, heads_said, sights_said
from qkv.reader.grammar import parse_math
from qkv.reader.model import Question, Sheet
from qkv.reading.captioned import with_names
from qkv.reading.equations import Equation, Kind, equations
from qkv.reading.mend import mended
from qkv.reading.putin import put_in
from qkv.reading.remembering import Memory

_LETTER, _SCORING = re.compile(r"[a-z]$"), ("score", "align", "sim", "a")
NAMELESS = "¶"  # the base of a symbol for an array that the page gives no name
INPUTS = frozenset(
    {
        Role.X,
        Role.Y,
        Role.Q,
        Role.K,
        Role.V,
        Role.STATES,
        Role.SOURCE,
        Role.MASK,
        Role.W_Q,
        Role.W_K,
        Role.W_V,
        Role.W_O,
    }
)


class Source(Enum):
    """How a page says what a name is."""

    STATED = "by a formula"
    WORKING = "by a formula with numbers put in"
    GIVEN = "by its numbers alone"


@dataclass(frozen=True, slots=True)
class Definition:
    """What a page says of a name at one place."""

    symbol: Symbol
    expr: n.Expr
    source: Source
    line: int
    scope: int
    equation: int


@dataclass(frozen=True)
class Page:
    """A sheet as equations, with the definitions of every name.

    fixed    what names stand for because of how the page sets them out: words with vectors are tokens
    tokens   for each scope, the words that label rows, in order
    suggested  for each array without a name, the roles that words above it speak of, the likeliest first
    task     the assignment, where there is one: its words decide the method, its equations come first
    """

    sheet: Sheet
    equations: tuple[Equation, ...]
    definitions: dict[Symbol, tuple[Definition, ...]]
    fixed: dict[Symbol, Place] = field(default_factory=dict)
    tokens: dict[int, tuple[str, ...]] = field(default_factory=dict)
    suggested: dict[int, tuple[Role, ...]] = field(default_factory=dict)
    task: Page | None = None

    @property
    def assigned(self) -> int:
        """How many of its equations, the first ones, are those of the assignment: they are never judged."""
        return len(self.task.equations) if self.task is not None else 0

    @property
    def own(self) -> tuple[Equation, ...]:
        """The equations of the sheet itself, without those of the assignment."""
        return self.equations[self.assigned :]

    @property
    def asked(self) -> tuple[Question, ...]:
        """What is asked: by the assignment, where there is one."""
        return self.task.asked if self.task is not None else self.sheet.questions

    @cached_property
    def memory(self) -> Memory:
        """What was worked out of its numbers so far, for all who read it."""
        return {}

    @cached_property
    def renewals(self) -> dict[int, list[int]]:
        """For each scope the lines at which a name is given another meaning than it had before, in order."""
        found: dict[int, list[int]] = defaultdict(list)
        for definitions in self.definitions.values():
            for before, after in pairwise(definitions):
                if before.scope == after.scope and before.expr != after.expr:
                    found[after.scope].append(after.line)
        return {scope: sorted(lines) for scope, lines in found.items()}

    @cached_property
    def scopes(self) -> range:
        """The numbers of its problems."""
        return range(max((equation.scope for equation in self.equations), default=0) + 1)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every name that the page defines, in order."""
        return tuple(self.definitions)

    def family(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """The names that differ from one only in their indices, and itself."""
        return self._families.get((symbol.base, symbol.labels, symbol.primes), ())

    @cached_property
    def _families(self) -> dict[tuple[object, ...], tuple[Symbol, ...]]:
        found: dict[tuple[object, ...], list[Symbol]] = defaultdict(list)
        for symbol in self.symbols:
            found[symbol.base, symbol.labels, symbol.primes].append(symbol)
        return {letters: tuple(symbols) for letters, symbols in found.items()}

    def same_letter(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """The names with the same letter and labels, large or small: x_1 and X, s_i and s."""
        return self._letters.get((symbol.base.lower(), symbol.labels), ())

    @cached_property
    def _letters(self) -> dict[tuple[object, ...], tuple[Symbol, ...]]:
        found: dict[tuple[object, ...], list[Symbol]] = defaultdict(list)
        for symbol in self.symbols:
            found[symbol.base.lower(), symbol.labels].append(symbol)
        return {letters: tuple(symbols) for letters, symbols in found.items()}

    @cached_property
    def words(self) -> str:
        """The whole text in small letters; that of the assignment, where there is one."""
        return self.task.words if self.task is not None else self.sheet.text.lower()

    @cached_property
    def heads_said(self) -> int | None:
        """Into how many heads sentences say that matrices are cut."""
        return (self.task.heads_said if self.task is not None else None) or heads_said(self.sheet.text)

    @cached_property
    def sights(self) -> dict[int, Sight]:
        """Which keys the queries of each problem may see, where sentences say it once and for all."""
        if self.task is not None:
            return self.task.sights
        found = {
            scope: {sight for sight in sights_said(self.words_of(scope)) if not sight.supposed} for scope in self.scopes
        }
        return {scope: next(iter(sights)) for scope, sights in found.items() if len(sights) == 1}

    def words_of(self, scope: int) -> str:
        """The text of one problem in small letters."""
        if self.task is not None:
            return self.task.words_of(scope)
        lines = [equation.line for equation in self.equations if equation.scope == scope]
        below = [equation.line for equation in self.equations if equation.scope > scope]
        above = [equation.end_line for equation in self.equations if equation.scope < scope]
        first = max(above, default=0) if scope else 0
        last = min(below, default=0) - 1 if below else len(self.sheet.lines)
        return "\n".join(self.sheet.lines[first : max(last, *lines, first) if lines else last]).lower()


def page_of(sheet: Sheet) -> Page:
    """The page that a sheet is."""
    return page_with(sheet, tuple(mended(list(with_names(equations(sheet))))))


def page_with(sheet: Sheet, made: tuple[Equation, ...], task: Page | None = None) -> Page:
    """The page that a sheet with some equations is; those of the assignment are among them."""
    fixed: dict[Symbol, Place] = {}
    tokens: dict[int, list[str]] = defaultdict(list)
    defined: dict[Symbol, list[Definition]] = defaultdict(list)
    for equation in made:
        for label in equation.rows:
            word = _word(label)
            if word and word not in tokens[equation.scope]:
                tokens[equation.scope].append(word)
        for definition in _definitions(equation):
            if not _is_row_again(definition, defined[definition.symbol]):
                defined[definition.symbol].append(definition)
    for symbol, matrix, equation in put_in(made, set(defined) | set(_wholes(defined))):
        defined[symbol].append(Definition(symbol, matrix, Source.GIVEN, equation.line, equation.scope, equation.index))
    for symbol, formula, equation in _spoken_scores(sheet, made):
        if symbol not in defined:
            defined[symbol].append(
                Definition(symbol, formula, Source.STATED, equation.line, equation.scope, equation.index)
            )
    for run in _token_runs(made):
        for equation in run:
            symbol = equation.names[0]
            fixed[symbol] = Place(_role_of_run(run), None, str(symbol))
            if str(symbol) not in tokens[equation.scope]:
                tokens[equation.scope].append(str(symbol))
    words = {word.lower() for found in tokens.values() for word in found}
    suggested = _name_arrays(made, defined, fixed, words)
    definitions = {symbol: tuple(found) for symbol, found in defined.items()}
    return Page(sheet, made, definitions, fixed, {k: tuple(v) for k, v in tokens.items()}, suggested, task)


def _wholes(rows: Iterable[Symbol]) -> Iterator[Symbol]:
    """What names with a number may be rows of: X of x_1, Lambda of lambda_1."""
    for row in rows:
        if row.indices and row.indices[-1].isdecimal() and not row.base[:1].isupper():
            yield row._replace(base=row.base[:1].upper() + row.base[1:], indices=row.indices[:-1])


def _word(label: str) -> str:
    found = re.search(r"[^\W\d_][\w'’-]*", label)
    return found[0] if found else ""


def _definitions(equation: Equation) -> Iterator[Definition]:
    """What an equation says of each of the names on its sides."""
    if equation.struck:
        return
    where = equation.line, equation.scope, equation.index
    formulas, values = equation.of(Kind.FORMULA), equation.of(Kind.VALUE)
    named = equation.of(Kind.NAME)
    if not named and (family := _family_of(equation)) is not None:
        yield Definition(*family, Source.STATED, *where)
    for item in named:
        symbol = item.expr.symbol  # type: ignore[union-attr]
        at = equation.items.index(item)
        later = [f for f in formulas if not f.struck and (equation.items.index(f) > at or values)]
        for formula in later:
            source = Source.WORKING if has_decimals(formula.expr) else Source.STATED
            yield Definition(symbol, formula.expr, source, *where)
        for working in equation.of(Kind.WORKING):
            yield Definition(symbol, working.expr, Source.WORKING, *where)
        if not formulas and not values and item is not named[-1]:
            yield Definition(symbol, named[-1].expr, Source.STATED, *where)
        shown = [value for value in values if not value.struck]
        if shown and not formulas and not equation.of(Kind.WORKING):
            yield Definition(symbol, shown[-1].expr, Source.GIVEN, *where)


def _is_row_again(definition: Definition, before: list[Definition]) -> bool:
    """Whether numbers under a known name are only one of its rows: 'the query of cat (Q = [0, 1])'."""
    row = definition.expr.rows if isinstance(definition.expr, n.Matrix) else ()
    wholes = (d.expr for d in before if d.source is Source.GIVEN and d.scope == definition.scope)
    return (
        len(row) == 1
        and definition.source is Source.GIVEN
        and any(isinstance(whole, n.Matrix) and len(whole.rows) > 1 and row[0] in whole.rows for whole in wholes)
    )


def _family_of(equation: Equation) -> tuple[Symbol, n.Expr] | None:
    """A formula for every score: score(s, h_i) = sᵀ W h_i, or words that call q_i · k_j / √2 a score."""
    first, *more = equation.items
    if first.kind is not Kind.FORMULA or first.struck or len(more) > 1:
        return None
    said = isinstance(first.expr, n.Call) and first.expr.function.lower() in _SCORING
    body = (
        more[0].expr
        if more and said and more[0].kind is Kind.FORMULA
        else first.expr
        if not more and not said
        else None
    )
    letters = (
        tuple(dict.fromkeys(i for s in n.names_in(body) for i in s.indices if _LETTER.match(i)))
        if body is not None
        else ()
    )
    if (
        body is None
        or not 0 < len(letters) < 3
        or not (said or roles_in_words(equation.label[-40:])[:1] == [Role.SCORES])
    ):
        return None
    return Symbol("scaled" if n.holds(body, n.Root) else "score", (), letters), body


def _spoken_scores(sheet: Sheet, made: tuple[Equation, ...]) -> Iterator[tuple[Symbol, n.Expr, Equation]]:
    """A formula in a sentence about the score: 'with score $s^\\top W h_i$', which holds for every index."""
    for number, line in enumerate(sheet.lines, 1):
        said = re.search(r"\bscores?\b", line, re.IGNORECASE)
        for span in re.finditer(r"\$([^$=≈]{5,90})\$", line[said.end() :]) if said else ():
            expr = _one_formula(span[1], sheet)
            letters = (
                tuple(dict.fromkeys(i for s in n.names_in(expr) for i in s.indices if _LETTER.match(i)))
                if expr is not None
                else ()
            )
            near = next((equation for equation in made if equation.line >= number), made[-1] if made else None)
            if expr is not None and near is not None and 0 < len(letters) < 3 and n.holds(expr, n.Product):
                yield Symbol("scaled" if n.holds(expr, n.Root) else "score", (), letters), expr, near
                break


def _one_formula(text: str, sheet: Sheet) -> n.Expr | None:
    try:
        chains = parse_math(text, Location(1), names=sheet.names).chains
    except QkvError:
        return None
    return chains[0].links[0].expr if len(chains) == 1 and len(chains[0].links) == 1 else None


def has_decimals(expr: n.Expr) -> bool:
    """Whether numbers were put in by hand: 0.3 h_1 + 0.6 h_2 is a working, not a definition."""
    return any(isinstance(part, n.Number) and (part.places or 0) > 1 for part in n.walk(expr))


# — names that a page sets out as words —


def _token_runs(made: tuple[Equation, ...]) -> list[list[Equation]]:
    """Words with vectors of one length, one after the other: I = [1, 0, 1], love = [0, 1, 0]."""
    runs: list[list[Equation]] = []
    run: list[Equation] = []
    for equation in made:
        if not _is_token(equation, bool(run)):
            continue
        if run and (
            run[-1].scope != equation.scope
            or _length(run[-1]) != _length(equation)
            or equation.index - run[-1].index > 2
        ):
            runs.append(run)
            run = []
        run.append(equation)
    runs.append(run)
    return [run for run in runs if len(run) > 1 and len({e.names[0] for e in run}) == len(run)]


def _is_token(equation: Equation, goes_on: bool) -> bool:
    if len(equation.items) != 2 or len(equation.names) != 1 or equation.items[1].kind is not Kind.VALUE:
        return False
    symbol, value = equation.names[0], equation.items[1].expr
    vector = isinstance(value, n.Matrix) and 1 in value.shape and value.shape != (1, 1)
    word = (
        not symbol.indices
        and not symbol.labels
        and symbol.base.isalpha()
        and (len(symbol.base) > 2 or goes_on or symbol.base == "I")
    )
    return vector and word and (not places(symbol) or symbol.base == "I")


def _length(equation: Equation) -> int:
    return max(equation.items[1].expr.shape)  # type: ignore[union-attr]


def _role_of_run(run: list[Equation]) -> Role:
    said = [role for role in roles_in_words(run[0].words[-80:]) if role in INPUTS]
    return said[0] if said else Role.X


def _name_arrays(
    made: tuple[Equation, ...], defined: dict[Symbol, list[Definition]], fixed: dict[Symbol, Place], words: set[str]
) -> dict[int, tuple[Role, ...]]:
    """Give arrays and labelled lines without a name a symbol of their own; of arrays, the roles that words suggest."""
    suggested: dict[int, tuple[Role, ...]] = {}
    said = ""
    for above, equation in zip((None, *made), made, strict=False):
        if equation.names or equation.struck or equation.next:
            continue
        goes_on = above is not None and above.label and equation.label and equation.line - above.end_line <= 2
        said = said if goes_on else equation.words
        symbol = Symbol(NAMELESS, (), (str(equation.index),))
        where = equation.line, equation.scope, equation.index
        if _is_array(equation) and not _counts(equation.items[0].expr):
            defined[symbol].append(Definition(symbol, equation.items[0].expr, Source.GIVEN, *where))
            suggested[equation.index] = _suggested(equation, said)
        elif equation.label.lower() in words and (roles := roles_in_words(said[-90:])):
            fixed[symbol] = Place(roles[0], None, equation.label.lower())
            for item in equation.of(Kind.FORMULA, Kind.WORKING)[:1]:
                source = Source.STATED if item.kind is Kind.FORMULA else Source.WORKING
                defined[symbol].append(Definition(symbol, item.expr, source, *where))
    return suggested


def _is_array(equation: Equation) -> bool:
    only = equation.items[0]
    return len(equation.items) == 1 and only.kind is Kind.VALUE and isinstance(only.expr, n.Matrix)


def _counts(array: n.Expr) -> bool:
    """Whether a column only numbers the rows beside it: 1, 2, 3."""
    if not isinstance(array, n.Matrix) or array.shape[1] != 1 or len(array.rows) < 2:
        return False
    cells = [row[0].value if isinstance(row[0], n.Number) else None for row in array.rows]
    return cells in (list(range(len(cells))), list(range(1, len(cells) + 1)))


def _suggested(equation: Equation, said: str) -> tuple[Role, ...]:
    """The inputs that the words above an array speak of; only a pattern of zeros, ones and infinities is a mask."""
    roles = list(dict.fromkeys((*roles_in_words(equation.label), *roles_in_words(said[-70:]))))
    if roles and roles[0] is Role.MASK and not _is_pattern(equation.items[0].expr):
        roles = roles[1:]
    return tuple(roles)


def _is_pattern(array: n.Expr) -> bool:
    cells = [cell for row in array.rows for cell in row] if isinstance(array, n.Matrix) else []
    return all(
        isinstance(c, n.Infinite)
        or (isinstance(c, n.Number) and (c.value in (0, 1) or c.value <= -1000))
        or (isinstance(c, n.Negate) and isinstance(c.arg, n.Infinite))
        for c in cells
    )
