"""What the names of a page stand for: as the page sets it out, as formulas and words say, as letters suggest.

This depends on few choices, so that most readings of a page share it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from itertools import islice

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.attention import stand_ins
from qkv.library.roles import SCORE_LIKE, Place, places, roles_in_words
from qkv.library.said import UNSCALED
from qkv.library.words import means, pattern
from qkv.reading.captions import captioned_role, shown_role, uses_of
from qkv.reading.choices import Choices
from qkv.reading.definitions import Source
from qkv.reading.equation import Kind
from qkv.reading.lettered import OF_A_HEAD, PROJECTED, RESULTS, TOKENS, by_letters
from qkv.reading.nameless import NAMELESS
from qkv.reading.page import Page
from qkv.reading.treated import (
    additive,
    before_weights,
    is_divided,
    is_other_sequence,
    is_projected,
    printed_shapes,
)
from qkv.reading.unify import Unifier
from qkv.reading.usage import Roles
from qkv.regex import regex

ROLE = "§"  # the base of a symbol for what plays a role, whatever the page calls it
SIZED = {Role.D_K: (Role.K, Role.Q), Role.D_V: (Role.V,), Role.D_MODEL: (Role.X,)}
WORKED_OUT = SCORE_LIKE | {Role.HEAD, Role.CONCAT, Role.OUTPUT}  # what is no input
NO_WEIGHTS = WORKED_OUT | TOKENS | {Role.MASK}  # what letters may be used for tokens after all


_BEHIND = regex(r"\s*[^\W\d][^.,;:(（，。]{2,40}")  # H = [..] be the encoder states
_DONE = regex(  # a remark on what was done before, no caption: 'scaled by √2', without a colon
    rf"(?:{pattern('divide')}|scaled|scaling|skaliert)\s+(?:by|durch|mit|par|por|per)\b[^:：]*$", re.IGNORECASE
)


MEMBERS = 8  # of a family that tell what another one is


class Known(Enum):
    """How one knows what a name stands for, the strongest first."""

    LAID_OUT = "by how the page sets it out"
    STATED = "by its formula"
    NUMBERS = "by the numbers that it explains"
    WORDS = "by the words beside it"
    NAME = "by its name"
    NOTHING = ""


def role_symbol(role: Role, head: str | None = None) -> Symbol:
    """The symbol for what plays a role (in a head)."""
    return Symbol(ROLE, (role.value,), (head,) if head else ())


def naming_of(page: Page, choices: Choices) -> Naming:
    """What the names of a page stand for under some choices, found out once."""
    kept: dict[object, Naming] = page.__dict__.setdefault("_namings", {})
    key = choices.roles, choices.arrays, choices.capitals_index
    if key not in kept:
        kept[key] = Naming(page, choices)
    return kept[key]


class Naming:
    """What names stand for, and which names stand for what plays a role."""

    def __init__(self, page: Page, choices: Choices) -> None:
        self.page, self.choices = page, choices
        self._places: dict[Symbol, tuple[Place | None, Known]] = {}
        self._unifier = Unifier(self.place)

    def place(self, symbol: Symbol) -> Place | None:
        """What a name stands for: as the page sets it out, as its formulas or words say, as letters suggest."""
        return self._known_place(symbol)[0]

    def known_by(self, symbol: Symbol) -> Known:
        """How one knows what a name stands for."""
        return self._known_place(symbol)[1]

    def _known_place(self, symbol: Symbol) -> tuple[Place | None, Known]:
        if symbol not in self._places:
            self._places[symbol] = self._first_place(symbol), Known.NAME  # while its formulas are looked at
            self._places[symbol] = self._found_place(symbol)
        return self._places[symbol]

    def _first_place(self, symbol: Symbol) -> Place | None:
        if self._is_renamed(symbol):
            return None
        if symbol.base == ROLE:
            return Place(Role(symbol.labels[0]), symbol.indices[0] if symbol.indices else None)
        if symbol in self.page.fixed:
            return self.page.fixed[symbol]
        if symbol.base == NAMELESS:
            role = dict(self.choices.arrays).get(int(symbol.indices[0]))
            return Place(role) if role is not None else None
        usual = by_letters(self.page, self.choices, symbol)
        return self._used_place(symbol, usual) or (usual[0] if usual else None)

    def _is_renamed(self, symbol: Symbol) -> bool:
        """Whether a person says that a name is another, and its letters suggest a step: A is Q, and no weights."""
        return symbol in self.page.renamed and all(place.role in WORKED_OUT for place in places(symbol))

    def _found_place(self, symbol: Symbol) -> tuple[Place | None, Known]:
        if self._is_renamed(symbol):
            return None, Known.STATED
        if symbol.base in (ROLE, NAMELESS) or symbol in self.page.fixed:
            return self._first_place(symbol), Known.WORDS if symbol.base == NAMELESS else Known.LAID_OUT
        usual = by_letters(self.page, self.choices, symbol)
        if symbol in self._additive:
            return Place(Role.V_A), Known.STATED
        if symbol in self._addends:
            return None, Known.STATED
        if (used := self._used_place(symbol, usual)) is not None:
            return used, Known.STATED
        if self._is_count(symbol):
            return next((p for p in usual if p.role in SIZED), None), Known.NAME
        shown = shown_role(self.page, symbol)
        if shown is not None:
            masked = next((place for place in usual if place.role is shown), None)
            return masked or self._scripted(symbol, shown), Known.NUMBERS
        chosen = dict(self.choices.roles)
        family = symbol.family
        if family in chosen:
            role = chosen[family]
            return next((p for p in usual if p.role is role), Place(role) if role else None), Known.NUMBERS
        stated = self._stated_roles(symbol) or self._roles_of_others(symbol)
        if stated:
            fitting = next((p for role in stated for p in usual if p.role is role), None)
            lettered = usual and len(symbol.indices) < 2  # two indices are a cell of scores, whatever its letter
            place = usual[0]._replace(role=stated[0]) if lettered else self._scripted(symbol, stated[0])
            return fitting or place, Known.STATED
        if (not usual or usual[0].role in NO_WEIGHTS) and is_other_sequence(self.page, symbol):
            return Place(Role.Y), Known.WORDS
        if usual and usual[0].role is Role.SCORES and is_divided(self.page, symbol):
            return usual[0]._replace(role=Role.SCALED), Known.STATED
        role = captioned_role(self.page, symbol)
        if usual and not self._is_captioned_otherwise(symbol, role, usual[0].role):
            worded = self._worded_place(symbol, usual) if len(usual) > 1 else None
            return (worded, Known.WORDS) if worded is not None else (self._as_input(symbol, usual), Known.NAME)
        if role is None or (role in WORKED_OUT and symbol.base[:1] == "W"):  # a matrix of weights is nobody's output
            return None, Known.NOTHING
        return self._scripted(symbol, role), Known.WORDS

    def _is_captioned_otherwise(self, symbol: Symbol, said: Role | None, usual: Role) -> bool:
        """Whether a caption outranks a letter: A, 'the weights of the keys'; 'scaled' above t_1; 'attention weights Q'
        on a page whose formulas show other queries; the output w, where n is a softmax; A, 'the adjacency matrix'."""
        taken = (
            usual in PROJECTED.keys() | {Role.X}
            and said in WORKED_OUT | set(PROJECTED.values())
            and any(not stand_ins()[usual].isdisjoint(roles) for roles in uses_of(self.page).values())
        )
        stated = (formula for formulas in self.page.stated.values() for formula in formulas)
        last = said in RESULTS and usual in SCORE_LIKE and symbol not in self._in_formulas
        taken = taken or (last and any(usual in self.roles(formula) for formula in stated))
        staged = usual is Role.SCORES and said in (Role.SCALED, Role.MASKED, Role.WEIGHTS)
        return (
            taken or staged or said is Role.OTHER or (said in PROJECTED.values() and usual in WORKED_OUT | {Role.MASK})
        )

    @cached_property
    def _in_formulas(self) -> frozenset[Symbol]:
        formulas = (item.expr for equation in self.page.equations for item in equation.of(Kind.FORMULA))
        return frozenset(symbol for expr in formulas for symbol in n.names_in(expr))

    def _used_place(self, symbol: Symbol, usual: tuple[Place, ...]) -> Place | None:
        """What the use of a name in formulas says that it stands for; letters, then words, choose among several."""
        used = self._used(symbol)
        if not used:
            return None
        if Role.MASKED in used and shown_role(self.page, symbol) is Role.MASKED:
            return self._scripted(symbol, Role.MASKED)
        fitting = next((p for role in used for p in usual if p.role is role), None)
        worded = captioned_role(self.page, symbol) if fitting is None and len(used) > 1 else None
        return fitting or self._scripted(symbol, worded if worded in used else used[0])

    def _used(self, symbol: Symbol) -> Roles:
        """The roles that the use of a name in formulas leaves it; what the use of all of x says holds for x_1."""
        uses = uses_of(self.page)
        found = uses.get(symbol)
        if found is None and symbol.indices and is_number(symbol.indices[-1]):
            alike = (s for s in uses if len(symbol.indices) - len(s.indices) in (0, 1) and is_alike(symbol, s))
            found = next((uses[other] for other in alike), None)
        if found is None and not symbol.indices:  # what the use of x_1 says holds for X
            rows = (s for s in uses if len(s.indices) == 1 and is_number(s.indices[0]) and is_alike(symbol, s))
            found = next((uses[other] for other in rows), None)
        return found or ()

    def _scripted(self, symbol: Symbol, role: Role) -> Place:
        """The place of a name of which only the role is known: its index is a head where matrices are printed for it, a
        token where vectors are; where nothing is, as its letter is large."""
        if len(symbol.indices) == 2 and all(map(is_number, symbol.indices)):
            return Place(role, None, *symbol.indices) if role in SCORE_LIKE else Place(role, *symbol.indices)
        if len(symbol.indices) != 1 or not is_number(symbol.indices[0]):
            return Place(role)
        shapes = printed_shapes(self.page, symbol)
        large = all(1 not in shape for shape in shapes) if shapes else symbol.base[:1].isupper()
        return Place(role, symbol.indices[0]) if large else Place(role, None, symbol.indices[0])

    @cached_property
    def _additive(self) -> frozenset[Symbol]:
        return additive(self.page)

    @cached_property
    def _addends(self) -> frozenset[Symbol]:
        """What tokens are stated to be the sum of: E and PE of X = E + PE are no scores. In H = X + A the X are tokens
        themselves, and what is added comes out of attention."""
        stated = [
            d.expr for symbol, found in self.page.definitions.items() for d in found
            if d.source is Source.STATED and isinstance(d.expr, n.Sum) and Role.X in [p.role for p in places(symbol)]
        ]  # fmt: skip
        named = [[term.symbol for term in expr.terms if isinstance(term, n.Name)] for expr in stated]
        whole = (names for names, expr in zip(named, stated, strict=True) if len(names) == len(expr.terms))
        return frozenset(symbol for names in whole if not any(map(_is_token, names)) for symbol in names)

    def _is_count(self, symbol: Symbol) -> bool:
        """Whether a name without an index is given as one number: h = 2 counts heads, it is no state; T_q = 2
        counts queries, it is not all the scores."""
        found = self.page.definitions.get(symbol, ())
        if not found or symbol.indices or not all(isinstance(d.expr, n.Number) for d in found):
            return False
        return not symbol.labels or any(place.role in SCORE_LIKE and place.row is None for place in places(symbol)[:1])

    def role_of(self, expr: n.Expr) -> Symbol | None:
        """The symbol of what a formula works out, by the rows of the library: Q Kᵀ / √d_k are the scaled scores."""
        roles = self._unifier.roles(expr)
        heads = {place.head for symbol in n.names_in(expr) if (place := self.place(symbol)) is not None and place.head}
        rows = any(place.row for symbol in n.names_in(expr) if (place := self.place(symbol)) is not None)
        return role_symbol(roles[0], min(heads, default=None)) if roles and len(heads) < 2 and not rows else None

    def roles(self, expr: n.Expr) -> list[Role]:
        """The roles that a formula has by the equations of the library, likeliest first."""
        return self._unifier.roles(expr)

    def _stated_roles(self, symbol: Symbol) -> list[Role]:
        """The roles of the formulas that define a name; 'variance = d_k' makes no size of a variance."""
        if means(symbol.base, "statistic"):
            return []
        stated = (
            d for d in self.page.definitions.get(symbol, ())
            if d.source is Source.STATED
            and not (isinstance(d.expr, n.Name) and by_letters(self.page, self.choices, symbol))
        )  # fmt: skip
        return [role for definition in stated for role in self._unifier.roles(definition.expr)]

    def _roles_of_others(self, symbol: Symbol) -> list[Role]:
        """The roles that formulas give to other members of the family of a numbered name: what A_1 is, A_2 is."""
        if len(symbol.indices) != 1 or not is_number(symbol.indices[0]):
            return []
        others = (s for s in self.page.stated_family(symbol) if s != symbol)
        return next(filter(None, map(self._stated_roles, islice(others, MEMBERS))), [])

    def _worded_place(self, symbol: Symbol, usual: tuple[Place, ...]) -> Place | None:
        """Of several roles the one that the words beside the name speak of."""
        alike = self.page.family(symbol) if symbol.indices else [symbol]  # what is said of h_1 holds for h_2
        for definition in (
            d
            for other in alike
            if len(other.indices) == len(symbol.indices)
            for d in self.page.definitions.get(other, ())
        ):
            equation = self.page.equations[definition.equation]
            behind = _BEHIND.match(equation.after)
            said = roles_in_words(_DONE.sub(" ", UNSCALED.sub(" ", equation.words[-120:].lower()))[-80:])
            for role in (*said, *(roles_in_words(behind[0]) if behind else ())):
                for option in usual:
                    if option.role is role:
                        return option
        return None

    def _as_input(self, symbol: Symbol, usual: tuple[Place, ...]) -> Place:
        """A name that is only given with a vector is an input: s = [1, 2] is a state that attends, not a score."""
        given = self.page.definitions.get(symbol, ())
        vectors = [
            d for d in given if d.source is Source.GIVEN and isinstance(d.expr, n.Matrix) and d.expr.shape != (1, 1)
        ]
        if given and len(vectors) == len(given) and usual[0].role in (Role.SCORES, Role.HEAD):
            second = next((p for p in usual if p.role in (Role.SOURCE, Role.Y)), None)
            one = all(isinstance(d.expr, n.Matrix) and 1 in d.expr.shape for d in vectors)  # several rows are no state
            if second is not None and (
                (second.role is Role.SOURCE and one and self._has_states(symbol))
                or before_weights(self.page, given[0])
                or is_projected(self.page, symbol)
            ):
                return second
        return usual[0]

    def _has_states(self, symbol: Symbol) -> bool:
        """Whether there is anything that a vector may attend to: where nothing is, S = [2, 1, 0] are scores."""
        return bool(self.page.suggested) or any(
            place.role is Role.STATES for other in self.page.symbols if other != symbol for place in places(other)
        )

    @cached_property
    def by_place(self) -> dict[tuple[Role, str | None], list[tuple[Symbol, Place]]]:
        """The names of the page by the role and head that they stand for."""
        found: dict[tuple[Role, str | None], list[tuple[Symbol, Place]]] = {}
        for symbol in self.page.symbols:
            place = self.place(symbol)
            if place is not None:
                found.setdefault((place.role, place.head), []).append((symbol, place))
        return found

    def holders(self, role: Role, head: str | None = None, scope: int | None = None) -> list[Symbol]:
        """The names of the page (of one problem) for all of what plays a role: what is given before what is stated."""
        found = self._wholes.get((role, head), [])
        return found if scope is None else [symbol for symbol in found if self.is_own(symbol, scope)]

    @cached_property
    def _wholes(self) -> dict[tuple[Role, str | None], list[Symbol]]:
        asked = all(self.by_place.get((role, None)) for role in (Role.Q, Role.K))
        names = {at: [symbol for symbol, place in found if place.row is None] for at, found in self.by_place.items()}
        names = {at: [s for s in found if not (asked and self._is_a_row(s, at[0]))] for at, found in names.items()}
        return {at: sorted(found, key=self._precedence) for at, found in names.items()}

    def _is_a_row(self, symbol: Symbol, role: Role) -> bool:
        """Whether a name is given one row after the other: scores = [1, 0] for a token, then scores = [2, 1]."""
        found = self.page.definitions[symbol] if role in SCORE_LIKE else ()
        given = {d.expr for d in found if d.source is Source.GIVEN and d.scope == found[0].scope}
        return len(given) > 1 and all(isinstance(expr, n.Matrix) and len(expr.rows) == 1 for expr in given)

    def is_own(self, symbol: Symbol, scope: int) -> bool:
        """Whether a problem says itself what a name is."""
        return any(d.scope == scope for d in self.page.definitions.get(symbol, ()))

    def _precedence(self, symbol: Symbol) -> tuple[bool, bool, int]:
        first = self.page.definitions[symbol][0]
        told = self.page.equations[first.equation].told
        return not told, first.source is not Source.GIVEN, first.equation

    def called(self, symbol: Symbol) -> list[Symbol]:
        """What the page calls that which plays a role; formulas may mention it by a name that nothing defines."""
        if symbol.base != ROLE:
            return []
        at = Role(symbol.labels[0]), symbol.indices[0] if symbol.indices else None
        return [*self.holders(*at), *self._undefined.get(at, ())]

    @cached_property
    def _undefined(self) -> dict[tuple[Role, str | None], list[Symbol]]:
        found: dict[tuple[Role, str | None], list[Symbol]] = defaultdict(list)
        for symbol in self.page.mentioned:
            place = self.place(symbol) if symbol not in self.page.definitions and symbol.base != ROLE else None
            if place is not None and place.row is None:
                found[place.role, place.head].append(symbol)
        return found

    def members(self, role: Role, head: str | None = None) -> list[tuple[Symbol, Place]]:
        """The names of the page for rows and cells of what plays a role."""
        return self._members.get((role, head), [])

    @cached_property
    def _members(self) -> dict[tuple[Role, str | None], list[tuple[Symbol, Place]]]:
        return {at: [pair for pair in found if pair[1].row is not None] for at, found in self.by_place.items()}

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """The heads that names of the page speak of, in order."""
        found = dict.fromkeys(
            head for (role, head), names in self.by_place.items()
            if head and role in OF_A_HEAD and is_number(head) and not all(self.is_otherwise(s) for s, _ in names)
        )  # fmt: skip
        if len(found) < 2:
            found = (
                dict.fromkeys(self._counted_heads())
                or dict.fromkeys(map(str, range(1, (self.page.heads_said or 0) + 1)))
                or found
            )
        return tuple(sorted(found, key=int))

    def is_otherwise(self, symbol: Symbol) -> bool:
        """Whether only its letter gives a name a role, and its formula is none of attention's: R_1 = X + Z."""
        stated = self._stated(symbol)
        return bool(stated) and self.known_by(symbol) is Known.NAME and not self._stated_roles(symbol)

    def _stated(self, symbol: Symbol) -> list[n.Expr]:
        """The formulas of a name, or those that the page has for every index of it."""
        alike = [symbol, *(s for s in self.page.running(symbol) if len(s.indices) == len(symbol.indices) > 0)]
        found = ([d.expr for d in self.page.definitions.get(s, ()) if d.source is Source.STATED] for s in alike)
        return next(filter(None, found), [])

    def is_sum(self, symbol: Symbol) -> bool:
        """The same of a name that is stated to be a sum, or a difference over something: no step of attention is."""
        stated = self._stated(symbol)
        above = [expr.numerator if isinstance(expr, n.Quotient) else expr for expr in stated]
        return all(isinstance(expr, n.Sum) for expr in above) and self.is_otherwise(symbol)

    def _counted_heads(self) -> Iterator[str]:
        """Heads that are only counted: h = 2, with one big set of weights; where nothing is an array, none are cut."""
        if not any(isinstance(d.expr, n.Matrix) for found in self.page.definitions.values() for d in found):
            return
        for symbol, definitions in self.page.definitions.items():
            value = definitions[0].expr
            counts = symbol.base in ("h", "H", "heads", "numheads", "n") and (
                symbol.base not in ("n", "H") or set(symbol.labels) & {"heads", "h", "head"}
            )
            if (
                counts
                and not symbol.indices
                and not self._used(symbol)  # softmax(Q Kᵀ/√h) says that h is a size
                and isinstance(value, n.Number)
                and value.value.denominator == 1
                and 1 < value.value <= 64
            ):
                yield from (str(i) for i in range(1, int(value.value) + 1))


def is_number(text: str) -> bool:
    """Whether an index is a number."""
    return text.isdecimal()


def is_alike(symbol: Symbol, other: Symbol) -> bool:
    """Whether two names have the same letter, large or small, and the same labels and marks: x_1 and X, no S' and S."""
    marks = symbol.labels == other.labels and symbol.primes == other.primes
    return marks and symbol.base.lower() == other.base.lower()


def _is_token(symbol: Symbol) -> bool:
    """Whether letters make a name tokens before anything else."""
    return any(place.role is Role.X for place in places(symbol)[:1])
