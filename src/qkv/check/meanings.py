"""Which quantity a shown value is meant to be, and the ways in which its author may have come to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

from flint import fmpq

from qkv.check.author import Author
from qkv.check.cells import Grid, fitted, score, shape_of
from qkv.check.compare import Agreement, follows
from qkv.check.explain import explain
from qkv.check.model import BAD, Verdict
from qkv.check.runs import of_run
from qkv.check.targets import Target, targets
from qkv.check.walk import Judgement, Source, Walk, judged_against
from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF
from qkv.interpret.certified import Value
from qkv.records import replace
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.places import place_of
from qkv.understand.roles import SCORE_ROLES

Found = tuple[Target, Judgement, list[Source]]
SURE = 0.9  # share of cells that must agree for a meaning to be taken without looking further
LIKELY = 0.5  # share of cells that must agree before a meaning that is only likely may be judged by


def best_meaning(walk: Walk, fact: Fact, grid: Grid, before: list[Link], link: Link) -> Found | None:
    """The likeliest meaning under which the shown value makes sense; None where no meaning is likely enough."""
    tried: list[tuple[float, Found]] = []
    known: dict[object, tuple[Target, Found | None, float]] = {}  # one expression may be meant certainly, or perhaps
    for target in _meanings(walk, fact, grid, link):
        key = n.key(target.expr)
        if key not in known:
            known[key] = target, *_try(walk, fact, grid, before, target)
        _, found, reached = known[key]
        if found is not None:
            tried.append((reached, (target, *found[1:])))
        if reached >= SURE:
            break
    return _chosen(walk, fact, tried)


def meant_as(walk: Walk, fact: Fact, grid: Grid, before: list[Link], target: Target) -> Found | None:
    """A value by a meaning that is known already; None where it has another shape."""
    return _try(walk, fact, grid, before, target)[0]


def _chosen(walk: Walk, fact: Fact, tried: list[tuple[float, Found]]) -> Found | None:
    """What agrees best; else what the document leaves no doubt about; else the quantity of that very name."""
    if not tried:
        return None
    points, best = max(tried, key=itemgetter(0))
    if points >= SURE:
        return best
    if (fact.formula is None and fact.symbol in walk.plural) or _varies(walk, fact):
        return None
    certain = [(reached, found) for reached, found in tried if found[0].certain]
    if certain:
        return max(certain, key=itemgetter(0))[1]
    doubtful = _is_doubtful(walk, fact)
    if points >= (SURE if doubtful else LIKELY):
        return best
    siblings = [found for _, found in tried if found[0].subject is not None and found[0].subject == walk.family(fact)]
    if siblings:
        return siblings[0]
    if doubtful:
        return None
    # What is only likely is judged all the same where a known mistake reproduces every cell: that is no accident.
    if explain(walk.problem.trace, (walk.author,), best[0].expr, best[1]) is not None:
        return best
    named = [found for _, found in tried if _is_named(fact, found[0])]
    if fact.symbol is not None and _is_cell(fact.symbol):
        named = [found for _, found in tried]  # s_{1,2} is one score or another, and agrees with none of them
    return named[0] if named and not fact.pending else None


def _varies(walk: Walk, fact: Fact) -> bool:
    """Whether a formula is of something that was shown rightly with different values, such as weights at several
    temperatures: which of them is meant is not known."""
    names = [part for part in n.walk(fact.formula) if isinstance(part, n.Name)] if fact.formula is not None else []
    varied = {name.spelled for name in names if name.symbol in walk.varied}
    return bool(varied) and not any(claim.name in varied and claim.verdict in BAD for claim in walk.claims)


ATTENDS = late(r"att(?:entio)?n|multihead|mha|sdpa|heads?|scores?|concat|softmax|mask", re.IGNORECASE)

FUNCTIONS = frozenset({"sigma", "phi", "psi", "rho", "f", "g"})  # σ(S) is read as a product


def _is_doubtful(walk: Walk, fact: Fact) -> bool:
    """Whether it may not be known what a fact speaks of, so that nothing is held against it."""
    return walk.is_foreign(fact) or _is_unfollowed(walk, fact) or (walk.problem.otherwise and _is_softened(fact))


def _is_softened(fact: Fact) -> bool:
    """Weights and what is made of them, by their name alone: another kind of attention has others."""
    roles = place_of(fact.symbol).roles if fact.symbol is not None else ()
    return fact.formula is None and not {Role.Q, Role.K, Role.V}.intersection(roles[:1])


def _is_unfollowed(walk: Walk, fact: Fact) -> bool:
    """A formula that cannot be followed: S + B with a B that is nowhere given (a mask may be said in words), or one
    with a function that attention does not have, such as a logarithm. What it gives cannot be known."""
    if fact.formula is None:
        return False
    parts = tuple(n.walk(fact.formula))
    if any(isinstance(part, n.Call) and not ATTENDS.search(part.function) for part in parts):
        return True
    below = (part.denominator for part in parts if isinstance(part, n.Quotient))
    lengths = any(n.holds(part, n.Matrix) or n.holds(part, n.Absolute) for part in below)
    meant = walk.problem.resolver.expr(fact.formula, fact.head) if lengths else None
    if lengths and (meant is None or walk.evaluated(meant) is None):
        return True  # over the lengths of vectors, or another matrix that cannot be read
    products = (part for part in parts if isinstance(part, n.Product))
    firsts = [first.symbol for part in products if isinstance(first := n.factors(part)[0], n.Name)]
    if any(s.base in FUNCTIONS and walk.problem.resolver.name(s, fact.head) is None for s in firsts):
        return True
    if not isinstance(fact.formula, n.Sum):
        return False
    names = [term.symbol for term in fact.formula.terms if isinstance(term, n.Name)]
    resolver = walk.problem.resolver
    return any(Role.MASK not in place_of(s).roles and resolver.name(s, fact.head) is None for s in names)


def _is_cell(symbol: Symbol) -> bool:
    """Whether a name stands for one score or one weight: s_{1,2}, a_{31}."""
    place = place_of(symbol)
    return place.column is not None and set(place.roles) <= SCORE_ROLES | {Role.WEIGHTS}


def _try(walk: Walk, fact: Fact, grid: Grid, before: list[Link], target: Target) -> tuple[Found | None, float]:
    """Judge by the numbers as printed; or, if fewer cells are wrong that way, by what must have been meant by them."""
    best: tuple[Found | None, float] = None, -1.0
    fewest, shape = 0, shape_of(grid)
    for author in walk.minds:
        own = _program_sources(walk, target, shape, author)
        chain = _chain_sources(walk, fact, target, before, shape, author)
        if best[0] is not None and _adds_nothing([*chain, *own], best[0][2]):
            continue
        judged = judged_against(walk, target.expr, grid, [*chain, *own])
        if judged is None:
            break
        wrong = sum([cell.verdict in (Verdict.WRONG, Verdict.MISROUNDED) for row in judged for cell in row])
        if best[0] is None or wrong < fewest:
            # The chain's own numbers fit any meaning, so they do not help to choose one.
            best, fewest = ((target, judged, [*chain, *own]), score(judged, len(chain))), wrong
        if fewest == 0:
            break
    if best[0] is not None and fewest == 0 and walk.author.in_mind:
        return _by_all_minds(walk, grid, best[0]), best[1]
    return best


def _by_all_minds(walk: Walk, grid: Grid, found: Found) -> Found:
    """A value that follows whatever was in mind tells nothing of that, so its author may go on with any of them."""
    target, _, sources = found
    steps = [(expr, walk.author.standing(expr)) for expr in steps_of(walk, target)]
    more: list[Source] = []
    for mind in walk.author.in_mind:
        others = [expr for expr, standing in steps if not mind.apart.isdisjoint(standing)]  # else as by the print
        made = (_source(mind, expr, shape_of(grid)) for expr in others)
        more += [s for s in made if s is not None and not _adds_nothing([s], sources) and _gives(s.value, grid)]
    again = judged_against(walk, target.expr, grid, [*sources, *more]) if more else None
    return found if again is None else (target, again, [*sources, *more])


def _gives(value: Value, grid: Grid) -> bool:
    rows = zip(grid, value.rows, strict=True)
    return all(follows(*pair) is Agreement.ROUNDED for row, made in rows for pair in zip(row, made, strict=True))


def _adds_nothing(sources: list[Source], known: list[Source]) -> bool:
    """Whether sources have only values that others have too: no cell that is wrong by those is right by these."""
    return {id(source.value) for source in sources} <= {id(source.value) for source in known}


def _meanings(walk: Walk, fact: Fact, grid: Grid, link: Link) -> Iterator[Target]:
    """Targets in the shape of what is shown: whole, or the row that words or order tell; then anything that agrees."""
    shape = shape_of(grid)
    masks = _masks(grid)
    doubtful = fact.pending or _is_doubtful(walk, fact)
    for target in targets(fact, walk.problem, walk.is_printed):
        if doubtful:
            target = replace(target, certain=False)
        early = fact.formula is None and walk.known_from(target.expr) > fact.statement.end_line
        if early and not (_is_named(fact, target) and fact.symbol not in walk.varied):
            continue  # nobody shows what stands on something that is yet to be given
        whole = walk.evaluated(target.expr)
        if whole is None or (masks and not _is_masked(whole)):
            continue
        if fitted(whole, shape) is not None:
            yield target
        elif min(shape) == 1 and max(shape) > 1:
            yield from _rows(walk, fact, target, whole.shape, max(shape), link)
            if whole.shape == (shape[0], shape[0]) and isinstance(target.expr, n.Name):
                yield _in_pairs(target, shape[0])
    if min(shape) == 1 < max(shape):
        for target in of_run(walk, fact, link):
            whole = walk.evaluated(target.expr)
            if whole is not None and fitted(whole, shape) is not None:
                yield target
    told = fact.working is not None and isinstance(fact.working.expr, n.Softmax)  # softmax([2.1, 0.7]) = …
    if (not fact.subjects or fact.pending) and fact.formula is None and max(shape) > 1:
        yield from anything(walk, grid, Role.WEIGHTS if told else None, fact.head)


def _is_named(fact: Fact, target: Target) -> bool:
    return isinstance(target.expr, n.Name) and target.expr.symbol == fact.symbol


def _masks(grid: Grid) -> bool:
    """Whether −∞ is shown: then these are masked scores, never what they were before."""
    for row in grid:
        for cell in row:
            if cell.cell is NEG_INF:
                return True
    return False


def _is_masked(value: Value) -> bool:
    return any(cell is NEG_INF for row in value.rows for cell in row)


def _rows(walk: Walk, fact: Fact, target: Target, shape: tuple[int, int], width: int, link: Link) -> Iterator[Target]:
    if shape[1] == width:
        said, order = _row_order(walk, fact, target, shape[0], link)
        for row in order:
            certain = target.certain and row == said
            yield Target(n.Entry(target.expr, row=row), certain, f"{target.name}, row {row}", target.subject)
    elif shape[0] == width:
        for column in range(1, shape[1] + 1):
            yield Target(n.Entry(target.expr, column=column), False, f"{target.name}, column {column}", target.subject)


def _in_pairs(target: Target, count: int) -> Target:
    """A column beside columns of queries and of keys may pair them: q_1·k_1, q_2·k_2, …"""
    pairs = n.Matrix(tuple((n.Entry(target.expr, i, i),) for i in range(1, count + 1)))
    return Target(pairs, False, f"{target.name}, in pairs")


def _row_order(walk: Walk, fact: Fact, target: Target, count: int, link: Link) -> tuple[int | None, list[int]]:
    """The row that words or labels speak of, if any, and all rows, the likeliest first."""
    label = "".join(ch for ch in link.note if ch.isdigit())
    said = int(label) if label and len(label) < 4 else fact.cue.row
    alone, line = next(iter(walk.queries.items())) if len(walk.queries) == 1 else (1, 0)
    if said is None and line == fact.statement.at.line:
        said = alone  # the columns of one table speak of one query
    likely = said
    if said is None and target.subject is not None:
        likely = walk.rows_seen[target.subject] + 1 if target.subject in walk.rows_seen else alone
    rows = list(range(1, count + 1))
    return said, [likely, *(row for row in rows if row != likely)] if likely in rows else rows


def anything(walk: Walk, grid: Grid, role: Role | None = None, head: int | None = None) -> Iterator[Target]:
    """A nameless value may be any quantity (of a role), or any row of one, with which it agrees well enough to be no
    accident; those of the head that is spoken of come first."""
    shape, masks = shape_of(grid), _masks(grid)
    items = [item for item in walk.problem.program.items if role in (None, item.role)]
    if head is not None:
        items.sort(key=lambda item: item.head != head)
    for item in items:
        value = walk.problem.trace.value(item.symbol)
        if masks and not _is_masked(value):
            continue
        if value.shape in (shape, shape[::-1]):
            yield from _telling_among(walk, grid, [Target(n.Name(item.symbol), False, item.spelled, item.symbol)])
        if shape[0] == 1 and value.shape[1] == shape[1] and value.shape[0] > 1:
            rows = (n.Entry(n.Name(item.symbol), row=row) for row in range(1, value.shape[0] + 1))
            named = [Target(row, False, f"{item.spelled}, row {row.row}", item.symbol) for row in rows]
            yield from _telling_among(walk, grid, named)


def _telling_among(walk: Walk, grid: Grid, rows: list[Target]) -> Iterator[Target]:
    """Those that agree throughout; and one that agrees in most cells, where the others do not: flat weights are all
    alike, and agree by accident."""
    nearly: list[tuple[float, bool, Target]] = []
    for target in rows:
        sources = _program_sources(walk, target, shape_of(grid), walk.author)
        judged = judged_against(walk, target.expr, grid, sources)
        if judged is None:
            continue
        reached = score(judged)
        if reached >= 0.95:
            yield target
        else:
            nearly.append((reached, _telling(judged) >= 2, target))
    nearly.sort(key=lambda row: -row[0])
    alone = len(nearly) == 1 or (len(nearly) > 1 and nearly[0][0] >= 2 * nearly[1][0])
    if alone and nearly[0][0] >= 0.6 and nearly[0][1]:
        yield nearly[0][2]


def _telling(judged: Judgement) -> int:
    """How many cells agree in a decimal fraction of two places or more: such agreement is no accident."""
    good = (Verdict.RIGHT, Verdict.ROUNDED, Verdict.DRIFTED)
    return sum(cell.verdict in good and 0 < cell.shown.half <= fmpq(1, 200) for row in judged for cell in row)


def _program_sources(walk: Walk, target: Target, shape: tuple[int, int], author: Author) -> list[Source]:
    """What the author's earlier numbers give: printed before, or by the step's own formula."""
    return [made for expr in steps_of(walk, target) if (made := _source(author, expr, shape)) is not None]


def _source(author: Author, expr: n.Expr, shape: tuple[int, int]) -> Source | None:
    value = author.own(expr)
    turned = fitted(value, shape) if value is not None else None
    return None if turned is None else Source(turned, author.blamed(expr), expr)


def steps_of(walk: Walk, target: Target) -> list[n.Expr]:
    """The expressions that give what is meant: its step's own formula, and its name; weights may also be made of the
    exponentials that were printed."""
    expr = target.expr
    inner = expr.arg if isinstance(expr, n.Entry) else expr
    author = walk.author
    item = author.trace.program.item(inner.symbol) if isinstance(inner, n.Name) else None
    made: list[n.Expr] = [item.expr] if item is not None and not isinstance(item.expr, n.Matrix) else []
    if author.parts and made and isinstance(made[0], n.Softmax) and (powers := n.Exp(made[0].arg)) in author.parts:
        made.append(n.Normalise(powers, made[0].axis, made[0].by_rows))
    if isinstance(expr, n.Entry):
        made = [walk.taken_of(formula, expr) for formula in made]
    is_made = bool(made)
    if target.subject in author.missing and not isinstance(expr, (n.Name, n.Entry)):
        made.append(n.Name(target.subject))  # Q Kᵀ, of which some cells were printed one by one
    if not is_made or (item is not None and item.symbol in author.printed):  # else it is what its formula gives
        made.append(expr)
    return made


def _chain_sources(
    walk: Walk, fact: Fact, target: Target, before: list[Link], shape: tuple[int, int], author: Author
) -> list[Source]:
    """What stands to the left in the chain, nearest first, then earlier workings of the same subject. The subject's own
    name says nothing more: what it may mean is what is tried."""
    row = target.expr if isinstance(target.expr, n.Entry) and isinstance(target.expr.arg, n.Name) else None
    exprs = [x for link in reversed(before) if not isinstance(x := link.expr, n.Name) or x.symbol != fact.symbol]
    if fact.symbol is not None:
        exprs += [expr for expr in reversed(walk.workings.get(fact.symbol, [])) if expr not in exprs]
    found: list[Source] = []
    for expr in exprs:
        if author is not walk.author and n.is_literal(expr):
            continue  # numbers that stand there are as printed, not as meant
        for version in walk.versions.get(id(expr), ()):
            turned = fitted(version.value, shape)
            if turned is not None:
                found.append(Source(turned, version.blamed, version.expr))
        exact = id(expr) in walk.copied or is_exactly(walk, expr, target.expr)
        found += _from_expression(walk, fact, expr, row, shape, author, exact)
    return found


def is_exactly(walk: Walk, expr: n.Expr, meant: n.Expr) -> bool:
    """Whether numbers that stand there give the very value that is meant, as 0.3·0.9 + 0.6·0.1 does for such a query
    and key: then they are no rounded prints, and nothing but that value follows from them."""
    true = walk.evaluated(meant) if n.is_literal(expr) else None
    if true is None or not true.exact:
        return False
    value = walk.author.typed(expr, exact=True)
    turned = fitted(value, true.shape) if value is not None and value.exact else None
    return turned is not None and turned.rows == true.rows


def _from_expression(
    walk: Walk, fact: Fact, expr: n.Expr, row: n.Entry | None, shape: tuple[int, int], author: Author, exact: bool
) -> list[Source]:
    literal = n.is_literal(expr)
    blamed = walk.copied.get(id(expr), ()) or (walk.blame_of(expr) if literal else ())
    found: list[Source] = []
    for meant in (expr,) if literal else walk.problem.resolver.readings(expr, fact.head):
        value = author.own(meant, exact=exact)
        if value is None:
            continue
        turned = fitted(value, shape)
        if turned is None and row is not None and row.row and row.row <= value.shape[0]:
            turned = fitted(Value((value.rows[row.row - 1],)), shape)
        if turned is not None:
            found.append(Source(turned, blamed + author.blamed(meant), meant))
    return found
