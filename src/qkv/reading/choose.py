"""Which choices explain most of a page's printed numbers: rows or columns, scaled, masked, what is given or claimed.

Each option is a prior from words, in bits, and what the printed digits say. Evaluation is a pure function of choices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations, product

from qkv.check.cells import fitted, shape_of
from qkv.expr import nodes as n
from qkv.expr.names import Family, Role
from qkv.interpret.certified import Value
from qkv.library.roles import SCORE_LIKE, mentions, places
from qkv.library.said import UNSCALED
from qkv.library.words import pattern
from qkv.reading.assignment import answers, outputs
from qkv.reading.captions import multiplied
from qkv.reading.choices import ROWS, USUAL, Choices
from qkv.reading.claimed import DERIVED, Scopes, claimed_in, derivable, grid_of
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Equation, Kind
from qkv.reading.evidence import Printed, agreed_bits, evidence
from qkv.reading.holding import AFTER_Q
from qkv.reading.layout import applied_layout, stated_layout
from qkv.reading.lettered import NO_FACTORS, PROJECTED
from qkv.reading.method import (
    decided,
    layouts_of,
    prior_layout,
    prior_mask,
    prior_scale,
    said_for_all,
    scale_said,
)
from qkv.reading.nameless import BEFORE_SCORES, INPUTS, given_formulas
from qkv.reading.naming import naming_of, role_symbol
from qkv.reading.page import Page, Spot
from qkv.reading.softmaxed import softmaxed_scale
from qkv.reading.system import System
from qkv.reading.values import Values, values_of

END = 10**9
STATED_LAYOUT = 20.0  # bits for the layout that a formula shows
SHOWN_LAYOUT = 8.0  # the same for a formula of one token
SHOWN_SCALE = 8.0  # the same for the scale that numbers show which a softmax is taken of
ROLE_KNOWN = 0.5  # bits for a role that has a value
MISNAMED = 7.0  # bits that numbers cost which are not what their name says: more than another role for the name
OTHER_ROLE = 4.0  # bits that another role than the likeliest costs at least
MOST_ARRAYS = 3  # arrays without a name whose role is tried


def choose(page: Page) -> Choices:
    """The choices that explain a page best."""
    choices = Choices(
        tuple(USUAL for _ in page.scopes), zero_based=_counts_from_zero(page), capitals_index=_capitals_index(page)
    )
    choices = choices._replace(roles=tuple(outputs(page, System(page, choices))))
    answered = frozenset(answers(page, System(page, choices)))
    choices = choices._replace(
        claimed=answered.union(derivable(page, choices)), answered=answered, arrays=tuple(_inputs(page))
    )
    hidden = choices.claimed | answered
    choices = _with_roles(page, choices)._replace(claimed=hidden)
    for scope in page.scopes:
        chosen = choices.with_conventions(scope, _conventions(page, choices, scope))
        choices = _settled(page, chosen, frozenset({scope}))
    return _settled(page, _answering(page, choices._replace(claimed=hidden)))


def _answering(page: Page, choices: Choices) -> Choices:
    """The same, of what answers the assignment only what has a value without it."""
    values = values_of(page, choices)
    found = (d for ds in page.definitions.values() for d in ds if d.equation in choices.answered)
    return choices._replace(answered=frozenset(d.equation for d in found if _is_worked(d, page, values)))


def _is_worked(answer: Definition, page: Page, values: Values) -> bool:
    """Whether what an answer says of a name has a value without it. Of a name of its own that is one as large, or two
    matrices: one of the wrong shape is a slip, while a list may be anything."""
    value = values.true(n.Name(answer.symbol), Spot(answer.scope, answer.line))
    grid = grid_of(page.equations[answer.equation], answer)
    if value is None or grid is None or (page.task is not None and answer.symbol in page.task.definitions):
        return value is not None
    return fitted(value, shape_of(grid)) is not None or min(shape_of(grid)) > 1 < min(value.shape)


def _settled(page: Page, choices: Choices, scopes: Scopes | None = None) -> Choices:
    """The same, of what may be claimed (in some problems) only what the rest of the page gives a value."""
    if not choices.claimed:
        return choices
    return choices._replace(claimed=choices.answered.union(claimed_in(page, choices, scopes)))


def _counts_from_zero(page: Page) -> bool:
    """Whether tokens count from 0: some x_0 is defined, or X[0] occurs. Where x_1 and x_2 are, they count from 1."""
    firsts = {s.indices[0] for s in page.symbols if len(s.indices) == 1 and s.base in "xqkvhe" and page.definitions[s]}
    names = page.sheet.names
    return "0" in firsts or (not firsts and names is not None and names.from_zero)


def _capitals_index(page: Page) -> bool:
    """Whether Q_1 is a vector: then the index of a capital is a token, not a head; that of any step, where no head is
    spoken of."""
    if any(
        place.role in (Role.W_Q, Role.W_K, Role.W_V) and place.head
        for symbol in page.symbols
        for place in places(symbol)
    ):
        return False  # heads have indices here
    headless = not re.search(pattern("head"), page.words)
    for symbol, definitions in page.definitions.items():
        if len(symbol.indices) != 1 or (symbol.labels and not headless) or not symbol.base[:1].isupper():
            continue
        vectors = [d.expr for d in definitions if isinstance(d.expr, n.Matrix) and sorted(d.expr.shape) > [1, 1]]
        rows = [x.rows[0] for x in vectors if 1 in x.shape]
        step = headless and any(place.head and place.role in AFTER_Q for place in places(symbol)[:1])
        if rows and (step or symbol.base in ("Q", "K", "V", "X")):
            return True
    return False


# — roles —


def _inputs(page: Page) -> Iterator[tuple[int, Role]]:
    """The arrays without a name that words call inputs; where Q has a name, 'queries come from here' are tokens."""
    projected = _projected_by_name(page)
    said = [(index, roles[0]) for index, roles in page.suggested.items() if roles]
    named = {place.role for symbol in page.definitions for place in places(symbol)[:1]}
    spoken = {role for _, role in said}
    alone = BEFORE_SCORES.isdisjoint(spoken) and (BEFORE_SCORES | SCORE_LIKE).isdisjoint(named)
    first = SCORE_LIKE if Role.V in spoken | named else SCORE_LIKE - {Role.WEIGHTS}  # weights that mix the values
    steps = [each for each in said if each[1] is not Role.V][:1] if alone else []
    yield from (each for each in steps if each[1] in first)  # and nothing that they are worked out of
    yield from ((i, page.suggested[i][0]) for i, _ in given_formulas(page.equations) if page.task is None)
    for index, roles in page.suggested.items():
        said_here = mentions(page.equations[index].label)
        worked = any(role in DERIVED[3:] for *_, role in said_here)  # 'weights for token 1', not 'weights for keys'
        if roles and roles[0] in INPUTS and not worked and (page.task is None or index < page.assigned):
            yield index, Role.X if roles[0] in projected else roles[0]


def _projected_by_name(page: Page) -> set[Role]:
    """Which of queries, keys and values have a name on the page: no array without a name is another one."""
    wholes = (place.role for symbol in page.definitions for place in places(symbol)[:1] if place.row is None)
    return set(wholes).intersection(PROJECTED)


def _with_roles(page: Page, choices: Choices) -> Choices:
    """The choices with other roles for arrays and families of names where that explains more: one at a time, twice.

    Another role is weighed in the problems that it bears on."""
    settled = _settled(page, choices)
    bits = _bits(page, settled, frozenset(page.scopes))
    best, most = choices, sum(bits.values())
    known = {_taken(page, choices): bits}  # by what names are taken for
    if most >= sum(shown.most for shown in evidence(page) if _is_open(shown.equation, page, settled)):
        return choices  # everything is explained
    for _ in range(2):
        before = most
        for option, cost, scopes in _options(page, best):
            taken = _taken(page, option)
            if taken not in known:
                rest = {scope: explained for scope, explained in bits.items() if scope not in scopes}
                claimed = (i for i in option.claimed if page.equations[i].scope in scopes or i in settled.claimed)
                made = _settled(page, option._replace(claimed=frozenset(claimed)), scopes)
                known[taken] = rest | _bits(page, made, scopes, most + OTHER_ROLE - sum(rest.values()))
            if (explained := sum(known[taken].values()) - cost) > most:
                best, most, bits = option, explained, known[taken]
        if most == before:
            break
    return best


def _taken(page: Page, choices: Choices) -> tuple[object, ...]:
    """What the names of a page are taken for under some choices, and its arrays: all that roles bear on."""
    return choices.arrays, *map(naming_of(page, choices).place, page.mentioned)


def _is_open(equation: Equation, page: Page, choices: Choices) -> bool:
    """Whether only the library can say what a printed value is meant to be."""
    if not equation.of(Kind.VALUE) or equation.struck:
        return False
    if formulas := equation.of(Kind.FORMULA):
        return any(symbol not in page.definitions for item in formulas for symbol in n.names_in(item.expr))
    given = equation.index in dict(choices.arrays) or (bool(equation.names) and equation.index not in choices.claimed)
    return not equation.of(Kind.WORKING) and not given


def _options(page: Page, choices: Choices) -> Iterator[tuple[Choices, float, Scopes]]:
    """Other roles for one array or one family of names, what they cost, and the problems that they bear on: those that
    mention the family, and those that live on the inputs of others."""
    dependent = frozenset(page.scopes) - System(page, choices).fresh
    arrays = dict(choices.arrays)
    inputs = [index for index, roles in page.suggested.items() if not roles or roles[0] not in DERIVED[3:]]
    inputs = [index for index in inputs if _may_be_projected(page, index)]
    nameless = [index for index in inputs if page.task is None or index < page.assigned][:MOST_ARRAYS]
    projected = _projected_by_name(page)
    for index in nameless:
        for role in (Role.X, Role.Y, Role.Q, Role.K, Role.V, None):
            if arrays.get(index) is not role and role not in projected:
                made = {k: v for k, v in arrays.items() if k != index and v is not role}
                made |= {index: role} if role is not None else {}
                yield (
                    choices._replace(arrays=tuple(made.items())),
                    OTHER_ROLE,
                    dependent | {page.equations[index].scope},
                )
    for first, second in permutations(nameless, 2):
        made = {**arrays, first: Role.X, second: Role.Y}
        yield (
            choices._replace(arrays=tuple(made.items())),
            OTHER_ROLE + 1,
            dependent | {page.equations[i].scope for i in (first, second)},
        )
    for family, roles in _families(page).items():
        for rank, role in enumerate(roles):
            if dict(choices.roles).get(family) is not role:
                others = ((f, r) for f, r in choices.roles if f != family)
                made_roles = choices._replace(roles=(*others, (family, role)))
                yield made_roles, OTHER_ROLE + rank, dependent | page.mentioning[family]


def _may_be_projected(page: Page, index: int) -> bool:
    """Whether an array fits the matrices that queries, keys and values are made with, where the page gives any."""
    weights = [s for s in page.definitions if any(p.role in PROJECTED.values() for p in places(s)[:1])]
    sizes = {
        size for s in weights for d in page.definitions[s] if isinstance(d.expr, n.Matrix) for size in d.expr.shape
    }
    array = page.equations[index].items[0].expr
    return not sizes or not isinstance(array, n.Matrix) or not sizes.isdisjoint(array.shape)


def _families(page: Page) -> dict[Family, tuple[Role, ...]]:
    """Families of names that are given by numbers alone, or not at all, and may play several roles."""
    found: dict[Family, tuple[Role, ...]] = {}
    assigned = page.task.definitions if page.task is not None else {}
    by_letters = {place.role for symbol in page.definitions for place in places(symbol)[:1]}
    projects = {Role.W_Q, Role.W_K} <= by_letters  # then tokens are what they are for
    for symbol, definitions in page.definitions.items():
        if symbol in assigned:
            continue
        barred = NO_FACTORS if symbol in multiplied(page) else frozenset()
        roles = tuple(dict.fromkeys(place.role for place in places(symbol) if place.role not in barred))
        given = all(d.source is Source.GIVEN for d in definitions) and symbol not in page.fixed
        if len(roles) > 1 and given and not (projects and roles[0] is Role.X):
            found[symbol.family] = roles
    for equation in page.equations:
        for symbol in (s for item in equation.of(Kind.FORMULA) for s in n.names_in(item.expr)):
            roles = tuple(dict.fromkeys(place.role for place in places(symbol)))
            if len(roles) > 1 and symbol not in page.definitions:
                found[symbol.family] = roles
    return found


def _bits(page: Page, choices: Choices, scopes: Scopes, enough: float = 0.0) -> dict[int, float]:
    """The bits that some choices explain in each of some problems, under the usual conventions that suit it best.

    Where they cannot explain more than what is `enough`, bounds that say so."""
    prints = {scope: _open(page, choices, scope) for scope in sorted(scopes)}
    bits = {scope: _most(page, choices, scope, shown) for scope, shown in prints.items()}
    for scope, shown in prints.items():
        if sum(bits.values()) <= enough:
            break
        options = (USUAL, USUAL - {"scaled"} | {"unscaled"}) if shown else ()
        values = (values_of(page, choices.with_conventions(scope, option)) for option in options)
        lacking = enough - sum(bits.values()) + bits[scope]
        bits[scope] = max((_explained(made, shown, scope, lacking) for made in values), default=0.0)
    return bits


def _open(page: Page, choices: Choices, scope: int) -> list[Printed]:
    """The printed values of a problem that only the library explains."""
    return [s for s in evidence(page) if s.equation.scope == scope and _is_open(s.equation, page, choices)]


def _most(page: Page, choices: Choices, scope: int, shown: list[Printed]) -> float:
    """The bits that can be explained in a problem at most."""
    roles = len(DERIVED) * (1 + len(System(page, choices).heads_in(scope)))
    return sum(printed.most for printed in shown) + ROLE_KNOWN * roles if shown else 0.0


# — conventions —


def _conventions(page: Page, choices: Choices, scope: int) -> frozenset[str]:
    """The layout, the scale and the mask of one problem."""
    text = page.words
    stated, told = stated_layout(page, choices, scope), said_for_all(page, scope)
    layouts = list(dict.fromkeys((*layouts_of(text), *((stated,) if stated else ()))))
    said_scale = scale_said(said_for_all(page, scope, UNSCALED), text)
    applied, fixed = applied_layout(page, choices, scope), decided(page, scope)
    if stated == ROWS and page.task is not None and "columns" not in fixed:
        layouts = [ROWS]  # the assignment decides
    masks = {mask: prior_mask(mask, told, text, scope in page.sights) for mask in ("open", "causal")}
    best, most = USUAL, float("-inf")
    for layout in layouts:
        laid = choices.with_conventions(scope, frozenset({*layout, "scaled", "open"}))
        laid = _settled(page, laid, frozenset({scope}))
        shown = _open(page, laid, scope)
        most_explained = _most(page, laid, scope, shown)
        states = System(page, laid).attends_to_states(scope)
        scales = {scaled: prior_scale(scaled, said_scale, states) for scaled in ("scaled", "unscaled")}
        if (seen := softmaxed_scale(values_of(page, laid), Spot(scope, END))) in scales:
            scales[seen] += SHOWN_SCALE
        prior = STATED_LAYOUT * (layout == stated) or prior_layout(layout, text)
        prior += SHOWN_LAYOUT * (applied in layout)
        for scaled, mask in product(scales, masks):
            option = frozenset({*layout, scaled, mask})
            if not fixed <= option:
                continue
            bits = prior + scales[scaled] + masks[mask]
            if shown and bits + most_explained > most:
                bits += _explained(values_of(page, laid.with_conventions(scope, option)), shown, scope, most - bits)
            if bits > most:
                best, most = option, bits
    return best


def _explained(values: Values, prints: list[Printed], scope: int, enough: float) -> float:
    """The bits of printed numbers that the library gives back, and a little for every role that has a value.

    Where they are no more than what is `enough`, a bound that says so."""
    system, spot = values.system, Spot(scope, END)
    known = [
        value for head in (None, *system.heads_in(scope)) for role in DERIVED
        if (value := values.true(n.Name(role_symbol(role, head)), spot)) is not None
    ]  # fmt: skip
    total = ROLE_KNOWN * len(known)
    printed = values_of(system.page, system.choices._replace(claimed=frozenset()))  # a formula goes on from prints
    arrays = dict(system.choices.arrays)
    left = sum(shown.most for shown in prints)
    for shown in prints:
        if total + left <= enough:
            return total + left
        left -= shown.most
        equation = shown.equation
        if equation.index in arrays or (
            equation.names
            and equation.index not in system.choices.claimed
            and not equation.of(Kind.FORMULA, Kind.WORKING)
        ):
            continue
        stated = [v for item in equation.of(Kind.FORMULA) if (v := printed.true(item.expr, spot)) is not None]
        called = (e for s in equation.names for e in system.library(s, spot))
        wholes = stated or [v for e in called if (v := values.true(e, spot)) is not None]
        best = max((agreed_bits(shown, value) for value in wholes), default=0.0)
        if not stated:  # it may be something else than its name says
            other = max((agreed_bits(shown, value) for value in known), default=0.0)
            best = max(best, other - MISNAMED * bool(equation.names))
        if best < shown.most and system.choices.claimed:  # it may follow from what was printed before
            best = max((best, *(agreed_bits(shown, value) for value in _gone_on(printed, equation, spot))))
        total += best
    return total


def _gone_on(printed: Values, equation: Equation, spot: Spot) -> Iterator[Value]:
    """What formulas and names of an equation give, from what the author printed for everything else.

    A row is not told by the whole, which is put together from rows."""
    stated = [item.expr for item in equation.of(Kind.FORMULA)]
    wholes = [symbol for symbol in equation.names if (place := printed.system.place(symbol)) and place.row is None]
    for expr in stated or [expr for symbol in wholes for expr in printed.system.library(symbol, spot)]:
        if (value := printed.true(expr, spot)) is not None:
            yield value
