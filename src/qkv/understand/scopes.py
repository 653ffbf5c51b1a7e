"""Cutting a document into problems: restarted names, new givens under a new heading, a mask that comes in later."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from operator import attrgetter

from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.records import dataclass, record
from qkv.sheet.model import Origin, Sheet
from qkv.understand.facts import Fact
from qkv.understand.formulas import adds_to_scores
from qkv.understand.gather import printed_value, token_factor
from qkv.understand.gathering import FACTORS
from qkv.understand.places import place_of
from qkv.understand.repair import similar
from qkv.understand.roles import CAUSAL, DERIVED, PRIMARY, cue_of
from qkv.understand.subjects import may_attend
from qkv.understand.values import plain_value

EXERCISE_WORDS = (
    "exercise|question|problem|example|task|aufgabe|übung|exercice|ejercicio|exerc[ií]cio|упражн|задач|练习|例|問|題"
)
_WORDED = re.compile(EXERCISE_WORDS, re.IGNORECASE)
_COUNTED = re.compile(r"\W*\d+[.)]")
_STEP = re.compile(
    r"\b(?:adım|aşama|step|schritt|krok|étape|paso|passo)|шаг|단계|步骤|第.{1,3}步|ステップ", re.IGNORECASE
)
_PROJECTIONS = re.compile(r"\bQ\W{1,3}K\b")
_KIND = late(r"attention\W*$|注意力\W*$", re.IGNORECASE)
# One exercise, or the solution of one: what is counted below it are its steps, not further exercises.
_SINGLE = re.compile(
    rf"(?:{EXERCISE_WORDS})\w{{0,2}}\W{{0,3}}\d|\b(?:solution|lösung|corrigé|solución|solução|soluzione|oplossing|rozwiązanie|çözüm)\b"
    r"|решение|解答|풀이",
    re.IGNORECASE,
)

WEIGHTS = frozenset(weight for _, weight in FACTORS.values())
QKV = ((Role.Q,), (Role.K,), (Role.V,))
SCORING = frozenset({Role.W_A, Role.U_A, Role.V_A, Role.MASK})  # after weights were shown, these are for other ones
Binding = tuple[Symbol, n.Matrix, Role]


@record(frozen=True)
class _Bound:
    """A fact, the names that it gives values, and the matrices that its written-out product multiplies."""

    fact: Fact
    bindings: tuple[Binding, ...]
    operands: tuple[n.Matrix, ...]
    bare: tuple[tuple[Symbol, n.Matrix], ...]  # Q, K and V (q_1, …) that are printed with no word on how they came
    masks: bool  # whether it speaks of masked scores


@dataclass
class _Open:
    """The problem being cut out: what it has bound so far, and what it has shown."""

    items: list[_Bound] = field(default_factory=list)
    bound: dict[Symbol, n.Matrix] = field(default_factory=dict)
    bare: dict[Symbol, n.Matrix] = field(default_factory=dict)
    worked: bool = False  # a formula was worked out
    part: int | None = None
    shown: set[Role] = field(default_factory=set)
    causal: bool = False

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What belongs to the problem so far."""
        return tuple([item.fact for item in self.items])


def scopes(facts: tuple[Fact, ...], sheet: Sheet, labels: Sequence[str] = ()) -> Iterator[tuple[Fact, ...]]:
    """The facts of each problem, in order. Where an assignment names its exercises, `labels` says to which of them
    each part belongs: then a new one begins there, whether or not its givens are said again."""
    items = _bound(facts)
    fresh = _parts_with_givens(items)
    giving = _parts_giving_qkv(facts, fresh)
    exercises = opening_exercises(sheet)
    current = _Open()
    for item in items:
        part = item.fact.statement.part
        exercise = part != current.part and _opens_exercise(exercises, current.part, part)
        crossed = bool(labels) and current.part is not None and labels[part] != labels[current.part]
        if current.items and (crossed or _begins(item, current, fresh, giving, exercise, sheet)):
            again = _given_again(current, item)
            yield current.facts[: len(current.items) - len(again)]
            current = _Open(causal=current.causal)
            for earlier in again:
                _take(earlier, current)
        _take(item, current)
    if current.items:
        yield current.facts


def _given_again(current: _Open, item: _Bound) -> list[_Bound]:
    """What the problem that begins with an item gives right before it: names that the one before it had given too, and
    whose new numbers happened to look like the old ones."""
    first: dict[Symbol, int] = {}
    for i, each in enumerate(current.items):
        for symbol in _given_names(each):
            first.setdefault(symbol, i)
    begin = len(current.items)
    while begin > 1 and _gives_again(current.items[begin - 1], begin - 1, first, item):
        begin -= 1
    return current.items[begin:]


def _gives_again(each: _Bound, index: int, first: dict[Symbol, int], item: _Bound) -> bool:
    names = _given_names(each)
    here = each.fact.statement.part == item.fact.statement.part
    return here and bool(names) and all(first[symbol] < index for symbol in names)


def _given_names(item: _Bound) -> set[Symbol]:
    return {*(binding[0] for binding in item.bindings), *(given[0] for given in item.bare)}


def lines_of(index: int, parted: tuple[tuple[Fact, ...], ...], sheet: Sheet) -> tuple[int, int]:
    """The lines of a problem: from its heading, or the end of the problem before, to where the next one begins."""
    first = _first_line(index, parted, sheet) if index else 1
    after = _first_line(index + 1, parted, sheet) if index + 1 < len(parted) else sheet.text.count("\n") + 2
    return first, after - 1


def words_in(lines: tuple[int, int], sheet: Sheet) -> str:
    """The text of some lines."""
    return "\n".join(sheet.lines[lines[0] - 1 : lines[1]])


def _first_line(index: int, parted: tuple[tuple[Fact, ...], ...], sheet: Sheet) -> int:
    """Where a problem begins: at the highest heading between the problem before and its first statement, if any."""
    end, begin = parted[index - 1][-1].statement.end_line, parted[index][0].statement.at.line
    here = slice(*(bisect_right(sheet.parts, line, key=attrgetter("line")) for line in (end, begin)))
    between = sheet.parts[here]
    top = min(between, key=lambda part: (part.level, part.line), default=None)
    return top.line if top else min(end + 1, begin)


def opening_exercises(sheet: Sheet) -> list[bool]:
    """For each part, whether its heading opens an exercise: by a word, or by a number that counts no steps of one."""
    opens, single = [], None
    for part in sheet.parts:
        single = None if single is not None and part.level <= single else single
        opens.append(bool(_WORDED.search(part.title)) or (single is None and _counts_exercises(part.title)))
        single = part.level if single is None and _SINGLE.search(part.title) else single
    return opens


def _counts_exercises(title: str) -> bool:
    """Whether a number opens an exercise: '3. Softmax', '2.4 第四步' and '3. Compute Q, K and V' number the steps of one,
    while '2. Masked attention' is a kind of its own."""
    step = _STEP.search(title) or _PROJECTIONS.search(title) or (cue_of(title).role and not _KIND.search(title))
    return _COUNTED.match(title) is not None and not step


def _opens_exercise(exercises: list[bool], before: int | None, part: int) -> bool:
    """Whether an exercise is opened by the heading of a part, or by one on the way to it ('Exercise 2', then 'Given')."""
    first = part if before is None or before >= part else before + 1
    return any(exercises[first : part + 1])


def _bound(facts: tuple[Fact, ...]) -> list[_Bound]:
    found = [token_factor(fact.formula) for fact in facts if fact.formula is not None]
    told = {source[1]: Role.X for source in found if source is not None}
    told.update(dict.fromkeys(_added(facts), Role.MASK))
    made: list[_Bound] = []
    for fact in facts:
        bindings = tuple(_bindings(fact, facts, told)) if fact.subjects else ()
        operands = tuple(_operands(fact.working.expr)) if fact.working is not None else ()
        bare = _bare(fact, fact.shown) if fact.shown is not None and fact.subjects else ()
        made.append(_Bound(fact, bindings, operands, bare, _masks(fact)))
    return made


def _added(facts: Iterable[Fact]) -> Iterator[Symbol]:
    """The B of Q Kᵀ / √d_k + B."""
    sums = (fact.formula for fact in facts if fact.formula is not None and n.holds(fact.formula, n.Sum))
    for part in (part for formula in sums for part in n.walk(formula)):
        if isinstance(part, n.Sum) and adds_to_scores(part, _first_role):
            yield from n.names_in(part.terms[1])


def _first_role(name: n.Name) -> Role | None:
    return next(iter(place_of(name.symbol).roles), None)


def _masks(fact: Fact) -> bool:
    for name in fact.subjects:
        if place_of(name.symbol).roles[:1] == (Role.MASKED,):
            return True
    return bool(fact.statement.before) and CAUSAL.search(fact.statement.before) is not None


def _bare(fact: Fact, value: n.Matrix) -> tuple[tuple[Symbol, n.Matrix], ...]:
    if len(fact.links) != len(fact.subjects) + 1 or fact.pending or fact.statement.struck:
        return ()
    symbols = [name.symbol for name in fact.subjects if place_of(name.symbol).roles[:1] in QKV]
    return tuple([(symbol, value) for symbol in symbols])


def _bindings(fact: Fact, facts: tuple[Fact, ...], told: Mapping[Symbol, Role]) -> Iterator[Binding]:
    """Names that a fact gives a value without a formula, and the nameless X of [..] × [..]."""
    if fact.statement.struck or fact.pending or fact.statement.origin is Origin.CODE:
        return
    for name in fact.subjects:
        place = place_of(name.symbol, fact.head)
        role = place.roles[0] if place.roles else Role.OTHER
        if role not in PRIMARY or role is Role.MASK:
            role = told.get(name.symbol, role)
        bare = fact.formula is None and fact.working is None
        value = fact.shown if bare and (role in PRIMARY or role is Role.OTHER) else None
        if value is not None and (role is not Role.SOURCE or may_attend(fact, place)):
            yield name.symbol, value, role
        if role in FACTORS and place.row is None and fact.formula is None:
            left = _left_operand(fact)
            if left is not None and printed_value(fact, facts) is not None:
                yield Symbol("X"), left, Role.X


def _left_operand(fact: Fact) -> n.Matrix | None:
    if fact.working is None or not isinstance(fact.working.expr, n.Product):
        return None
    left = plain_value(fact.working.expr.left)
    return left if left is not None and min(left.shape) > 1 else None


def _operands(working: n.Expr) -> Iterator[n.Matrix]:
    for factor in n.factors(working):
        operand = plain_value(factor)
        if operand is not None and max(operand.shape) > 1:
            yield operand


def _parts_with_givens(items: list[_Bound]) -> set[int]:
    """Parts that bind something new: a copy of what was given above is nothing new."""
    seen: dict[Symbol, n.Matrix] = {}
    fresh = set()
    for item in items:
        if not item.bindings or _copies_known(item, seen.values()):
            continue
        for symbol, value, role in item.bindings:
            known = symbol in seen and similar(seen[symbol], value)
            if role in PRIMARY and role not in (Role.MASK, Role.W_O) and not known:
                fresh.add(item.fact.statement.part)
            seen[symbol] = value
    return fresh


def _parts_giving_qkv(facts: tuple[Fact, ...], fresh: Collection[int]) -> set[int]:
    """Parts that print Q and K bare, with no weights beside them but those that were given before."""
    bare: dict[int, set[Role]] = {}
    for fact in facts:
        if fact.formula is None and fact.working is None and fact.value is not None and not fact.statement.struck:
            roles = {role for name in fact.subjects for role in place_of(name.symbol).roles[:1]}
            bare.setdefault(fact.statement.part, set()).update(roles)
    weights = {Role.X, Role.W_Q, Role.W_K}
    giving = [part for part, roles in bare.items() if roles >= {Role.Q, Role.K}]
    return {part for part in giving if part not in fresh or bare[part].isdisjoint(weights)}


def _begins(item: _Bound, current: _Open, fresh: set[int], giving: set[int], exercise: bool, sheet: Sheet) -> bool:
    fact = item.fact
    if fact.statement.struck or fact.statement.origin is Origin.CODE:
        return False
    part = fact.statement.part
    new = part != current.part
    if new and part in fresh and (current.shown or exercise) and not _another_head(item, current):
        return True
    if (item.bindings and _restarts(item, current)) or (item.bare and current.worked and _regives(item, current)):
        return True
    if new and exercise and part in giving:
        return True
    if Role.WEIGHTS not in current.shown:
        return False
    if not current.causal and (item.masks or (new and CAUSAL.search(sheet.parts[part].title))):
        return True
    return not SCORING.isdisjoint([role for _, _, role in item.bindings])


def _another_head(item: _Bound, current: _Open) -> bool:
    """Weights of a further head belong to the problem that gave the first."""
    heads = {place_of(symbol).head for symbol in current.bound} | {each.fact.head for each in current.items}
    numbered = (place_of(symbol).head for symbol, _, role in item.bindings if role in WEIGHTS)
    here = {item.fact.head, *numbered} - {None}
    return bool(heads - {None}) and bool(here) and not here & heads


def _restarts(item: _Bound, current: _Open) -> bool:
    other = any(
        symbol in current.bound and not _says_again(current.bound[symbol], value)
        for symbol, value, role in item.bindings
        if role in PRIMARY
    )
    return other and not _copies_known(item, current.bound.values())


def _says_again(known: n.Matrix, value: n.Matrix) -> bool:
    """Whether a value is a known one, or one row of it: k = (1, 0) beside the table of all keys."""
    return similar(known, value) or (len(value.rows) == 1 < len(known.rows) and value.rows[0] in known.rows)


def _regives(item: _Bound, current: _Open) -> bool:
    """Q, K or V as given, with other numbers, after something was worked out from the first: another example."""
    bare = current.bare
    other = any(symbol in bare and not _says_again(bare[symbol], value) for symbol, value in item.bare)
    return other and not any(place_of(symbol).roles[:1] == (weight,) for symbol in current.bound for weight in WEIGHTS)


def _copies_known(item: _Bound, known: Collection[n.Matrix]) -> bool:
    """Whether a written-out product multiplies something that was given before: then it restarts nothing."""
    return any(similar(operand, value) for operand in item.operands for value in known)


def _take(item: _Bound, current: _Open) -> None:
    fact = item.fact
    current.items.append(item)
    current.part = fact.statement.part
    if fact.statement.struck:
        return
    current.causal = current.causal or item.masks
    for symbol, value, _ in item.bindings:
        current.bound.setdefault(symbol, value)
    for symbol, value in item.bare:
        current.bare.setdefault(symbol, value)
    current.worked = current.worked or (fact.formula is not None and fact.value is not None)
    for name in fact.subjects if fact.value is not None else ():
        current.shown.update(DERIVED.intersection(place_of(name.symbol).roles[:1]))
    if fact.cue.role in DERIVED and fact.value is not None:
        gives = PRIMARY.intersection([role for _, _, role in item.bindings])
        if not gives:  # 'the weights are W_Q = …' shows no weights of keys
            current.shown.add(fact.cue.role)
