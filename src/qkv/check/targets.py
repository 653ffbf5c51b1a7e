"""What a fact speaks about: the expression in the program's names that its values should equal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.program.model import Given, Program
from qkv.records import record
from qkv.understand.facts import Fact
from qkv.understand.formulas import formula_role
from qkv.understand.gather import token_factor
from qkv.understand.places import place_of
from qkv.understand.problems import Problem
from qkv.understand.resolve import SAME, SHARED, Resolver
from qkv.understand.roles import EXPONENTIALS, MISREAD_Q, SCORE_ROLES, SHIFTED, WITHOUT_SCALE
from qkv.understand.values import Form, form

R = Role
IsPrinted = Callable[[Symbol], bool]


@record(frozen=True, slots=True)
class Target:
    """A meaning. `certain` says that the document leaves no doubt (a formula, or a name with one role)."""

    expr: n.Expr
    certain: bool
    name: str
    subject: Symbol | None = None  # the program quantity that a printed value would become


def _none_is(symbol: Symbol) -> bool:
    return False


def targets(fact: Fact, problem: Problem, is_printed: IsPrinted = _none_is) -> Iterator[Target]:
    """The possible meanings of a fact, each once, likeliest first. Where the chain has a formula that attention knows,
    only that counts; a name with several roles does not mean what was already printed under a name of its own."""
    found: list[Target] = []
    for target in _targets(fact, problem, is_printed):
        if not found or not any(_is_same(target, other) for other in found):
            found.append(target)
            yield target


def _is_same(a: Target, b: Target) -> bool:
    same = (a.certain, a.name, a.subject) == (b.certain, b.name, b.subject)
    return same and n.key(a.expr) == n.key(b.expr)


def _targets(fact: Fact, problem: Problem, is_printed: IsPrinted) -> Iterator[Target]:
    if not fact.subjects:
        formulas = list(_of_formula(fact, problem)) or list(_of_call(fact, problem))
        yield from formulas or _of_cue(fact, problem)
    for name in fact.subjects:
        known = list(_of_known_formula(fact, name, problem))
        yield from known or _of_name(fact, name, problem, is_printed)
        yield from _of_later_run(name, problem)


def _of_later_run(name: n.Name, problem: Problem) -> Iterator[Target]:
    """A = [..] after 'now the last key is padding': the weights, or the output, of that run under the old name."""
    roles = place_of(name.symbol).roles
    kind = "weights " if R.WEIGHTS in roles else "output " if R.OUTPUT in roles else None
    for step in problem.program.steps if kind is not None else ():
        if step.role is R.OTHER and step.says.startswith(kind or ""):
            yield Target(n.Name(step.symbol), False, name.spelled or str(name.symbol), step.symbol)


def _of_known_formula(fact: Fact, name: n.Name, problem: Problem) -> Iterator[Target]:
    """S = Q K^T / √d_k = [..]: the formula says what is meant, whatever else the letter may stand for."""
    formula = fact.formula
    if formula is None or any(isinstance(part, n.Number) and (part.places or 0) > 0 for part in n.walk(formula)):
        return
    if formula_role(formula, _first_role) is None and token_factor(formula) is None:
        return
    for meant in problem.resolver.meanings(formula, fact.head):
        own = name.symbol if problem.program.item(name.symbol) is not None else None
        subject = step_with(problem, meant, own) or own
        yield Target(meant, True, name.spelled or str(name.symbol), subject)


def _first_role(name: n.Name) -> Role | None:
    roles = place_of(name.symbol).roles or ((R.Q,) if name.symbol.base in MISREAD_Q else ())
    return roles[0] if roles else None


def _of_name(fact: Fact, name: n.Name, problem: Problem, is_printed: IsPrinted) -> Iterator[Target]:
    spelled = name.spelled or str(name.symbol)
    for resolver in (problem.resolver, problem.resolver.by_rows):
        item = problem.program.item(name.symbol)
        if isinstance(item, Given) and is_setting(item):
            return
        if item is not None:
            certain = fact.told or len(place_of(name.symbol).roles) < 2 or item.role is R.OTHER
            yield Target(n.Name(name.symbol), certain, spelled, name.symbol)
        likely = list(by_role(fact, name.symbol, resolver))
        free = [(e, c) for e, c in likely if not _taken(e, name.symbol, is_printed)]
        for expr, only in free:
            certain = (only or len(free) == 1) and not _is_given_otherwise(expr, name.symbol, problem)
            yield Target(expr, certain, spelled, _whole(expr))
            if isinstance(expr, n.Entry) and expr.column is not None and place_of(name.symbol).column is None:
                row = n.Entry(expr.arg, row=expr.row)  # α_1 of one query alone: its first weight, or all of its weights
                yield Target(row, certain, spelled, _whole(expr))
        for expr in (e for e, _ in likely if _is_part(e, name.symbol) and _taken(e, name.symbol, is_printed)):
            yield Target(expr, False, spelled, _whole(expr))
        if (cell := resolver.by_family(name.symbol)) is not None:
            yield Target(cell, False, spelled, _whole(cell))  # shown before, and now again
        for meant in resolver.meanings(fact.formula, fact.head) if fact.formula is not None else ():
            yield Target(meant, True, spelled, name.symbol)
    yield from _of_head(name, problem)


def _of_head(name: n.Name, problem: Problem) -> Iterator[Target]:
    """α_2 in the shape of a whole matrix: all weights of head 2, where there is one; o_2: what head 2 gives."""
    place = place_of(name.symbol)
    if place.row is not None and place.column is None and len(place.roles) == 1:
        for role in SAME.get(place.roles[0], place.roles):
            symbol = problem.program.find(role, place.row)
            if symbol is None:
                continue
            yield Target(n.Name(symbol), True, name.spelled or str(name.symbol), symbol)


def _taken(expr: n.Expr, symbol: Symbol, is_printed: IsPrinted) -> bool:
    """Whether a quantity was printed under a name of its own, so that this letter means something else; the rows of
    one that were printed are no other name for it."""
    place = place_of(symbol)
    if len(place.roles) == 1 and place.row is not None:
        return False
    whole = _whole(expr)
    return whole is not None and whole != symbol and is_printed(whole)


def _is_part(expr: n.Expr, symbol: Symbol) -> bool:
    """z_1 is a row of Z, also where Z was printed before."""
    whole = _whole(expr)
    return whole is not None and not isinstance(expr, n.Name) and whole.base.lower() == symbol.base.lower()


def _is_given_otherwise(expr: n.Expr, symbol: Symbol, problem: Problem) -> bool:
    """Whether a name would only repeat what was given whole under another name: A beside a given a may be anything."""
    item = problem.program.item(expr.symbol) if isinstance(expr, n.Name) else None
    return isinstance(item, Given) and item.symbol != symbol and isinstance(item.expr, n.Matrix)


def is_setting(given: Given) -> bool:
    """T = 2: a number that a sheet sets, and may set again."""
    return isinstance(given.expr, n.Matrix) and given.expr.shape == (1, 1) and given.role is R.OTHER


def _whole(expr: n.Expr) -> Symbol | None:
    """The quantity that an expression is, or is a part of."""
    while isinstance(expr, (n.Transpose, n.Entry)):
        expr = expr.arg
    return expr.symbol if isinstance(expr, n.Name) else None


def by_role(fact: Fact, symbol: Symbol, resolver: Resolver) -> Iterator[tuple[n.Expr, bool]]:
    """The quantities, rows or cells that a name may stand for, and whether it is only one."""
    place = resolver.place(symbol, fact.head)
    roles = place.roles or ((R.Q,) if symbol.base in MISREAD_Q else ())
    head = (fact.head or 1) if place.generic else place.head
    found = []
    for role in roles:
        for wanted in SAME.get(role, (role,)):
            target = resolver.program.find(wanted, head)
            if target is None and head is not None and wanted in (*SHARED, R.OUTPUT, R.CONTEXT, R.CONCAT):
                target = resolver.program.find(wanted)
            if target is None:
                continue
            expr = n.Name(target) if place.row is None else resolver._pick(wanted, target, place.row, place.column)
            if expr is not None:
                found.append((expr, role is roles[0] or {role, roles[0]} <= SCORE_ROLES))
    distinct = dict(reversed(found))
    for expr in dict.fromkeys(expr for expr, _ in found):
        yield expr, len(distinct) == 1 and distinct[expr]


def _of_formula(fact: Fact, problem: Problem) -> Iterator[Target]:
    """Q K^T = [..], K^T = [..]: the first expression says what is meant."""
    first = fact.links[0].expr if fact.links else None
    if isinstance(first, n.Transpose) and isinstance(first.arg, n.Name):
        for meant in problem.resolver.readings(first, fact.head):
            yield Target(meant, True, fact.links[0].text.strip(), _whole(meant))
        return
    if first is None or form(first) is not Form.FORMULA:
        return
    for link in fact.links:  # MultiHead(Q, K, V) = Concat(head_1, head_2) W^O: the first that means something here
        for meant in problem.resolver.meanings(link.expr, fact.head) if form(link.expr) is Form.FORMULA else ():
            yield Target(meant, True, link.text.strip(), step_with(problem, meant))


ATTENTION = late(r"(?:attention|attn|multi_?head|mha|sdpa)$", re.IGNORECASE)


def _of_call(fact: Fact, problem: Problem) -> Iterator[Target]:
    """Attention(Q, K, V) = [..]: what attention gives, of a head or of all."""
    first = fact.links[0].expr if fact.links else None
    if not isinstance(first, n.Call) or not ATTENTION.search(first.function):
        return
    for role in SAME.get(R.OUTPUT, (R.OUTPUT,)):
        symbol = problem.program.find(role, fact.head) or problem.program.find(role)
        if symbol is not None:
            yield Target(n.Name(symbol), False, fact.links[0].text.strip(), symbol)


def step_with(problem: Problem, expr: n.Expr, likely: Symbol | None = None) -> Symbol | None:
    """The step that works out this expression, with all names of steps opened on both sides; where heads share their
    keys there are several, and the `likely` one is meant."""
    kept = problem.program.kept
    if "opened" not in kept:
        by_work: dict[n.Expr, list[Symbol]] = {}
        for step in problem.program.steps:
            by_work.setdefault(_opened(problem.program, step.expr), []).append(step.symbol)
        kept["opened"] = by_work
    found = kept["opened"].get(_opened(problem.program, expr), ())
    return likely if likely in found else next(iter(found), None)


def _opened(program: Program, expr: n.Expr) -> n.Expr:
    """An expression down to Q, K, V and the givens; sizes as numbers."""
    known: dict[Symbol, n.Expr] = program.kept.setdefault("opened names", {})

    def change(part: n.Expr) -> n.Expr:
        if type(part) is not n.Name:
            return part
        if part.symbol not in known:
            known[part.symbol] = opened(part)
        return known[part.symbol]

    def opened(name: n.Name) -> n.Expr:
        item = program.item(name.symbol)
        if item is None or item.role in (R.Q, R.K, R.V):
            return name
        if isinstance(item, Given):
            return n.number(int(item.expr.value)) if isinstance(item.expr, n.Number) else name
        return n.rewrite(item.expr, change)

    return n.rewrite(expr, change)


def _of_cue(fact: Fact, problem: Problem) -> Iterator[Target]:
    """The words before a nameless value: 'Softmax:', 'Row 2 of the output', 'exp'."""
    yield from _exponentials(fact, problem)
    if fact.cue.role is None or SHIFTED.search(fact.statement.before) or _is_term(fact):
        return
    program = problem.program
    yield from _without_scale(fact, problem)
    for role in SAME.get(fact.cue.role, (fact.cue.role,)):
        symbol = program.find(role, fact.cue.head or fact.head) or program.find(role)
        if symbol is not None:
            whole = n.Name(symbol)
            if fact.cue.row is None:
                yield Target(whole, False, str(symbol), symbol)
            else:
                yield Target(n.Entry(whole, row=fact.cue.row), False, f"{symbol}, row {fact.cue.row}", symbol)


def _is_term(fact: Fact) -> bool:
    """0.6 · [1, 2] = [0.6, 1.2]: one term of a weighted sum, whatever the words before it announce."""
    first = fact.links[0].expr if len(fact.links) > 1 else None
    return isinstance(first, n.Product) and isinstance(first.left, n.Number) and isinstance(first.right, n.Matrix)


def _exponentials(fact: Fact, problem: Problem) -> Iterator[Target]:
    """'Exponentials:', or a column 'exp': what the softmax adds up."""
    if not EXPONENTIALS.search(fact.statement.before[-40:]):
        return
    head = fact.cue.head or fact.head
    for step in problem.program.steps:
        softens = step.role is R.WEIGHTS and isinstance(step.expr, n.Softmax)
        if softens and isinstance(step.expr, n.Softmax) and step.head in (head, None):
            yield Target(n.Exp(step.expr.arg), False, "exponentials")


def _without_scale(fact: Fact, problem: Problem) -> Iterator[Target]:
    """'Without scaling the weights would be': the softmax of the raw scores."""
    scores = problem.program.find(R.SCORES, fact.cue.head or fact.head)
    if fact.cue.role is R.WEIGHTS and scores is not None and WITHOUT_SCALE.search(fact.statement.before):
        yield Target(n.Softmax(n.Name(scores), by_rows=True), False, "weights without a scale")
