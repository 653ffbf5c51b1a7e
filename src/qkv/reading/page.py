"""Equations → a Page: what each name is said to be, where, and which names belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from qkv.expr import nodes as n
from qkv.expr.names import Family, Role, Symbol
from qkv.library.roles import Place
from qkv.library.said import Sight, heads_said, sights_said
from qkv.reader.model import Question, Sheet
from qkv.reading.biased import with_biased
from qkv.reading.definitions import Definition, Source, definitions_in, is_row_again
from qkv.reading.equation import Equation, Kind, wholes
from qkv.reading.equations import equations
from qkv.reading.mend import mended
from qkv.reading.nameless import name_arrays, role_of_run, token_runs
from qkv.reading.putin import only_mentioned, put_in
from qkv.reading.remembering import Memory
from qkv.reading.renamed import with_families, with_letters, with_own_gelu, with_running
from qkv.reading.told import outranked, with_told
from qkv.reading.turned import with_turned
from qkv.reading.waves import with_waves

Found = TypeVar("Found")
Asked = TypeVarTuple("Asked")


class Spot(NamedTuple):
    """A place on a page: what was said later does not hold here yet."""

    scope: int
    line: int


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
        """The equations of the sheet itself, without those of the assignment and those that are told."""
        return tuple(equation for equation in self.equations if not self.is_granted(equation))

    def is_granted(self, equation: Equation) -> bool:
        """Whether an equation is of the assignment, told beside the page, or put together here: it is never judged."""
        return equation.told or equation.index < self.assigned

    @cached_property
    def retold(self) -> frozenset[int]:
        """The equations in which the page says something of a name that is told: that is a claim."""
        return frozenset(equation.index for equation in self.own if self.told & set(equation.names))

    @cached_property
    def told(self) -> frozenset[Symbol]:
        """The names that a person says something of beside the page."""
        return frozenset(symbol for equation in self.equations if equation.told for symbol in equation.names[:1])

    @cached_property
    def renamed(self) -> frozenset[Symbol]:
        """The names that a person says are another: after 'Q = A' it is Q that plays a role, whatever A suggests."""
        return frozenset(symbol for equation in self.equations if equation.told for symbol in equation.names[1:])

    @property
    def asked(self) -> tuple[Question, ...]:
        """What is asked: by the assignment, where there is one."""
        return self.task.asked if self.task is not None else self.sheet.questions

    @cached_property
    def memory(self) -> Memory:
        """What was worked out of its numbers so far, for all who read it."""
        return {}

    @cached_property
    def found(self) -> dict[object, Any]:
        """What was found about it so far: see `found_once`."""
        return {}

    @cached_property
    def renewals(self) -> dict[int, list[int]]:
        """For each scope the lines at which a name is given another meaning than it had before, in order. The numbers
        put in beside a formula are none."""
        found: dict[int, list[int]] = defaultdict(list)
        for definitions in self.definitions.values():
            for before, after in pairwise(definitions):
                if before.scope == after.scope and before.expr != after.expr and before.equation != after.equation:
                    found[after.scope].append(after.line)
        for spot, _ in self.came_to.values():
            found[spot.scope].append(spot.line)
        return {scope: sorted(lines) for scope, lines in found.items()}

    @cached_property
    def came_to(self) -> dict[Symbol, tuple[Spot, n.Expr]]:
        """Names with a formula that holds names of which nothing is known: what was printed for them, from the line
        below on. The print itself is not told by it."""
        found: dict[Symbol, tuple[Spot, n.Expr]] = {}
        for e in self.equations:
            formulas = [item.expr for item in e.of(Kind.FORMULA)]
            unknown = bool(formulas) and not any(all(map(self.same_letter, n.names_in(f))) for f in formulas)
            printed = e.of(Kind.VALUE)[-1:] if unknown and not e.struck else ()
            for item in (item for item in printed if isinstance(item.expr, n.Matrix)):
                found |= dict.fromkeys(e.names, (Spot(e.scope, item.line + 1), item.expr))
        return found

    @cached_property
    def scopes(self) -> range:
        """The numbers of its problems."""
        return range(max((equation.scope for equation in self.equations), default=0) + 1)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every name that the page defines, in order."""
        return tuple(self.definitions)

    @cached_property
    def mentioned(self) -> tuple[Symbol, ...]:
        """Every name that the page defines or has in a formula."""
        formulas = (item.expr for equation in self.equations for item in equation.of(Kind.FORMULA))
        return tuple(dict.fromkeys((*self.symbols, *(s for expr in formulas for s in n.names_in(expr)))))

    @cached_property
    def stated(self) -> dict[Symbol, tuple[n.Expr, ...]]:
        """The formulas that are stated for its names."""
        found = ((s, tuple(d.expr for d in ds if d.source is Source.STATED)) for s, ds in self.definitions.items())
        return {symbol: formulas for symbol, formulas in found if formulas}

    @cached_property
    def mentioning(self) -> dict[Family, frozenset[int]]:
        """For each family of names the problems that define it or have it in a formula."""
        found: dict[Family, set[int]] = defaultdict(set)
        for equation in self.equations:
            formulas = (s for item in equation.of(Kind.FORMULA) for s in n.names_in(item.expr))
            for symbol in (*equation.names, *formulas):
                found[symbol.family].add(equation.scope)
        for symbol, definitions in self.definitions.items():
            found[symbol.family].update(d.scope for d in definitions)
        return {family: frozenset(scopes) for family, scopes in found.items()}

    def family(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """The names that differ from one only in their indices, and itself."""
        return self._families.get(symbol.family, ())

    @cached_property
    def _families(self) -> dict[Family, tuple[Symbol, ...]]:
        found: dict[Family, list[Symbol]] = defaultdict(list)
        for symbol in self.symbols:
            found[symbol.family].append(symbol)
        return {letters: tuple(symbols) for letters, symbols in found.items()}

    def stated_family(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """Those of them that have a number as their index and a formula."""
        return self._stated_families.get(symbol.family, ())

    @cached_property
    def _stated_families(self) -> dict[Family, tuple[Symbol, ...]]:
        return {letters: tuple(filter(self._is_stated_member, found)) for letters, found in self._families.items()}

    def _is_stated_member(self, symbol: Symbol) -> bool:
        numbered = len(symbol.indices) == 1 and symbol.indices[0].isdecimal()
        return numbered and any(d.source is Source.STATED for d in self.definitions.get(symbol, ()))

    def is_known_at(self, symbol: Symbol, spot: Spot) -> bool:
        """Whether a name is defined above a spot, in its problem or in one before."""
        return any((d.scope, d.line) <= (spot.scope, spot.line) for d in self.definitions.get(symbol, ()))

    def same_letter(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """The names with the same letter and labels, large or small: x_1 and X, s_i and s."""
        return self._letters.get((symbol.base.lower(), symbol.labels), ())

    @cached_property
    def _letters(self) -> dict[tuple[str, tuple[str, ...]], tuple[Symbol, ...]]:
        found: dict[tuple[str, tuple[str, ...]], list[Symbol]] = defaultdict(list)
        for symbol in self.symbols:
            found[symbol.base.lower(), symbol.labels].append(symbol)
        return {letters: tuple(symbols) for letters, symbols in found.items()}

    def running(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """Those of them that have a letter as an index: s_i."""
        return self._running.get((symbol.base.lower(), symbol.labels), ())

    @cached_property
    def _running(self) -> dict[tuple[str, tuple[str, ...]], tuple[Symbol, ...]]:
        return {
            letters: tuple(s for s in found if not all(map(str.isdecimal, s.indices)))
            for letters, found in self._letters.items()
        }

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
        first, last = self.lines_of(scope)
        return "\n".join(self.sheet.lines[first - 1 : last]).lower()

    def lines_of(self, scope: int) -> tuple[int, int]:
        """The first and the last line of one problem, with the words before its first equation."""
        lines = [equation.line for equation in self.equations if equation.scope == scope]
        below = [equation.line for equation in self.equations if equation.scope > scope]
        above = [equation.end_line for equation in self.equations if equation.scope < scope]
        first = max(above, default=0) if scope else 0
        last = min(below) - 1 if below else len(self.sheet.lines)
        return first + 1, max(last, *lines, first) if lines else last


def found_once(find: Callable[[Page, *Asked], Found]) -> Callable[[Page, *Asked], Found]:
    """A function about a page that finds each thing once: all readings of the page share it."""

    @wraps(find)
    def found(page: Page, *asked: *Asked) -> Found:
        key = find, asked
        if key not in page.found:
            page.found[key] = find(page, *asked)
        made: Found = page.found[key]
        return made

    return found


def plain_page(sheet: Sheet) -> Page:
    """The page that a sheet is, all of it its author's own."""
    made = with_letters(with_own_gelu(with_running(with_families(equations(sheet)))))
    said, sheet = with_waves(*with_biased(*with_turned(list(made), sheet)))
    return page_with(sheet, with_told(mended(said), sheet))


def page_with(sheet: Sheet, made: tuple[Equation, ...], task: Page | None = None) -> Page:
    """The page that a sheet with some equations is; those of the assignment are among them."""
    fixed: dict[Symbol, Place] = {}
    tokens: dict[int, list[str]] = defaultdict(list)
    defined: dict[Symbol, list[Definition]] = defaultdict(list)
    mentioned = only_mentioned(made)
    for equation in made:
        for label in equation.rows:
            word = _word(label)
            if word and word not in tokens[equation.scope]:
                tokens[equation.scope].append(word)
        for definition in definitions_in(equation) if equation.index not in mentioned else ():
            if not is_row_again(definition, defined[definition.symbol]):
                defined[definition.symbol].append(definition)
    outranked(defined, made, range(max((e.scope for e in made), default=0) + 1))
    for symbol, told, source, equation in put_in(made, set(defined) | set(wholes(defined))):
        defined[symbol].append(Definition(symbol, told, source, equation.line, equation.scope, equation.index))
    for run in token_runs(made):
        role = role_of_run(run, tokens[run[0].scope])
        for equation in run:
            symbol = equation.names[0]
            fixed[symbol] = Place(role, None, str(symbol))
            if str(symbol) not in tokens[equation.scope]:
                tokens[equation.scope].append(str(symbol))
    words = {word.lower() for found in tokens.values() for word in found}
    suggested = name_arrays(made, defined, fixed, words)
    definitions = {symbol: tuple(found) for symbol, found in defined.items()}
    return Page(sheet, made, definitions, fixed, {k: tuple(v) for k, v in tokens.items()}, suggested, task)


def _word(label: str) -> str:
    found = re.search(r"[^\W\d_][\w'’-]*", label)
    return found[0] if found else ""
