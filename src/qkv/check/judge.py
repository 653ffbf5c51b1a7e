"""SHEET × TRACE → REPORT: every equation of a document, in order, against the truth and its author's own numbers."""

from __future__ import annotations

from itertools import pairwise
from operator import attrgetter

from qkv.check.addends import judge_addends
from qkv.check.author import Author
from qkv.check.cells import Grid, in_per_cent, score, shown_grid
from qkv.check.choices import choices
from qkv.check.conclude import conclude, rename
from qkv.check.copies import judge_copies, judge_open_product
from qkv.check.definitions import judge_definition
from qkv.check.exponentials import judge_exponentials, note_exponentials
from qkv.check.literals import blame_working, judge_damaged, judge_literal, judge_working
from qkv.check.meanings import SURE, Found, anything, best_meaning, meant_as
from qkv.check.memory import leave_open, same_values
from qkv.check.misfits import judge_misfit
from qkv.check.misread import mend_operands, tell_lost_points, tell_misread
from qkv.check.model import Claim, Report, Verdict
from qkv.check.runs import note_run
from qkv.check.settings import by_setting, is_size, note_equated, note_size, with_sizes
from qkv.check.shapes import judge_shapes
from qkv.check.targets import Target
from qkv.check.theory import judge_theory
from qkv.check.unequal import judge_unequal
from qkv.check.walk import ENDS_OPEN, Walk, add_claim, judged_against
from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.expr.nodes import factors
from qkv.program.model import Step
from qkv.records import replace
from qkv.sheet.model import Link, Origin, Relation, Sheet
from qkv.understand.facts import Fact
from qkv.understand.places import place_of
from qkv.understand.problems import Problem, inlined, understand
from qkv.understand.scopes import opening_exercises
from qkv.understand.values import Form, form, plain_value


def check_sheet(sheet: Sheet, against: Sheet | None = None) -> Report:
    """Judge a whole document, with the givens of another one (the assignment) if it is said."""
    claims: list[Claim] = []
    author: Author | None = None
    exercises, offered = _exercises(sheet), choices(sheet.text)
    problems = understand(sheet, against)
    for problem in (part for whole in problems for part in by_setting(whole)):
        author = _next_author(problem, author)
        walk = Walk(problem, author, claims, exercises)
        for fact in problem.facts:
            if fact.statement.at.line not in offered:
                judge_fact(walk, fact)
    facts = [fact for problem in problems for fact in problem.facts]
    claims.extend(judge_shapes(sheet, facts, len(claims) + 1))
    claims.extend(judge_theory(sheet, len(claims) + 1))
    ordered = sorted(claims, key=attrgetter("line", "column", "id"))
    return Report(sheet.file, tuple(ordered), sheet.text)


def _exercises(sheet: Sheet) -> tuple[int | None, ...]:
    """For each part, the exercise that it belongs to: its own heading's, or the last one before it."""
    current: int | None = None
    groups = []
    for i, opens in enumerate(opening_exercises(sheet)):
        current = i if opens else current
        groups.append(current)
    return tuple(groups)


def _next_author(problem: Problem, before: Author | None) -> Author:
    """Numbers printed in an earlier problem count on where the quantity is the same."""
    author = Author(problem.trace)
    if before is not None:
        for symbol, value in before.printed.items():
            old, new = before.trace.program.item(symbol), problem.program.item(symbol)
            known = old is not None and new is not None
            same = known and inlined(before.trace.program, symbol) == inlined(problem.program, symbol)
            if same:
                author.print(symbol, value, before.blame.get(symbol, ()))
    return author


def judge_fact(walk: Walk, fact: Fact) -> None:
    """Judge the links of one chain, left to right."""
    if fact.statement.origin is Origin.CODE or _is_given(walk, fact) or _multiplies_sizes(fact):
        return
    if _is_size(fact):
        note_size(walk, fact)
        return
    if len(fact.subjects) == len(fact.links) > 1:
        note_equated(walk, fact)
    _strike(walk, fact)
    if fact.statement.struck:
        return
    if _is_superseded(walk, fact):
        reason = "superseded by the version beside it"
        add_claim(walk, fact, fact.links[-1], fact.subjects[0].spelled, Verdict.UNREAD, reason=reason)
        return
    judge_definition(walk, fact)
    fact = _running_on(walk, with_sizes(walk, fact) if walk.sizes else fact)
    before: list[Link] = []
    step: Step | None = None
    told: tuple[Target, Link] | None = None  # what numbers put into a formula turned out to give, and where
    for link, kind in zip(fact.links, fact.forms, strict=True):
        if kind is Form.WORKING or kind is Form.FORMULA:
            pointed = _with_points(walk, link)
            link, kind = pointed, kind if pointed is link else form(pointed.expr)
        if kind is Form.VALUE and link.note.endswith(ENDS_OPEN):
            judge_open_product(walk, fact, link)
            continue
        if kind is Form.WORKING or (kind is Form.FORMULA and _has_operands(link.expr)):
            step = judge_copies(walk, fact, link) or step
            judge_addends(walk, fact, link)
        if kind is Form.WORKING:
            meant = judge_working(walk, fact, link, before)
            told = (meant, link) if meant is not None else told
            if fact.symbol is not None:
                walk.workings.setdefault(fact.symbol, []).append(link.expr)
        elif kind is Form.VALUE and (fact.subjects or before or fact.cue.role or _is_matrix(link)):
            _judge_value(walk, fact if step is None else _about(fact, step), link, before, told)
        before.append(link)


def _running_on(walk: Walk, fact: Fact) -> Fact:
    """Q Kᵀ = [..] / √2 = [..] says Q Kᵀ = [..], and goes on with a quotient of it: that is what the rest is about."""
    for k, (said, link) in enumerate(pairwise(fact.links)):
        quotient = link.expr
        if isinstance(quotient, n.Quotient) and isinstance(said.expr, n.Product) and form(said.expr) is Form.FORMULA:
            whole = walk.problem.resolver.expr(said.expr, fact.head)
            shown = walk.evaluated(quotient.numerator) if n.is_literal(quotient.numerator) else None
            value = walk.evaluated(whole) if whole is not None and shown is not None else None
            if value is not None and shown is not None and value.shape == shown.shape and same_values(value, shown):
                scaled = replace(said, expr=n.Quotient(said.expr, quotient.denominator, at=said.expr.at))
                return replace(fact, links=(*fact.links[:k], scaled, *fact.links[k + 1 :]))
    return fact


def _has_operands(formula: n.Expr) -> bool:
    return n.holds(formula, n.Matrix) and any(isinstance(x, n.Matrix) for x in factors(formula))


def _is_matrix(link: Link) -> bool:
    return isinstance(link.expr, (n.Matrix, n.Transpose))


def _about(fact: Fact, step: Step) -> Fact:
    """A product whose operands told which step it is, nameless or of a name that may be another's, too."""
    if fact.symbol is not None and not fact.pending:
        is_another = fact.symbol != step.symbol or len(place_of(fact.symbol).roles) < 2
        return fact if is_another else replace(fact, told=True)
    return replace(fact, subjects=(n.Name(step.symbol),), pending=False, told=True)


def _is_given(walk: Walk, fact: Fact) -> bool:
    """Whether this chain is where a given is given."""
    if fact.value is None or not fact.subjects:
        return False
    lines = walk.given_on
    return {lines.get(name.symbol) for name in fact.subjects} == {fact.value.at.line}


def _other_row(fact: Fact, target: Target) -> bool:
    """Whether words speak of another row than the one that the numbers before a value are taken for."""
    row = target.expr.row if isinstance(target.expr, n.Entry) else None
    return fact.cue.row is not None and row is not None and row != fact.cue.row


_SIZE_PRODUCT = late(r"(?:\(?\s*\d+\s*(?:×|x|\\times)\s*\d+\s*\)?[\s·×.]*(?:\\times|\\cdot)?\s*)+")


def _multiplies_sizes(fact: Fact) -> bool:
    """(3 × 2)(2 × 3) = 3 × 3 tells which matrices fit; it multiplies no numbers."""
    last = fact.links[-1].expr if fact.links else None
    return isinstance(last, n.Product) and all(_SIZE_PRODUCT.fullmatch(link.text.strip()) for link in fact.links)


COUNTS = frozenset({Symbol("h"), Symbol("n"), Symbol("N")})


def _is_size(fact: Fact) -> bool:
    """d_k = 2 states a size; it claims nothing to be worked out."""
    return fact.symbol is not None and (fact.symbol in COUNTS or is_size(fact.symbol))


def _is_superseded(walk: Walk, fact: Fact) -> bool:
    """Of two versions side by side, A = [..] A = [..], the last is judged."""
    if fact.formula is not None or fact.value is None or not fact.subjects or fact.pending:
        return False
    place = fact.statement.at
    here = walk.on_line[place.line]
    return len(here) > 1 and any(
        other.symbol == fact.symbol and other.value is not None and other.formula is None
        for other in here
        if other.statement.at > place and not other.pending
    )


def _strike(walk: Walk, fact: Fact) -> None:
    links = fact.statement.links if fact.statement.struck else [x for x in fact.statement.links if x.struck]
    for link in links[-1:]:
        if form(link.expr) in (Form.VALUE, Form.WORKING):
            name = fact.subjects[0].spelled if fact.subjects else ""
            add_claim(walk, fact, link, name, Verdict.STRUCK, reason="crossed out by its author")


def _judge_value(walk: Walk, fact: Fact, link: Link, before: list[Link], told: tuple[Target, Link] | None) -> None:
    matrix = plain_value(link.expr)
    grid = shown_grid(matrix, link.relation is Relation.APPROX) if matrix is not None else None
    if matrix is None or grid is None:
        judge_damaged(walk, fact, link, before)
        return
    last = before[-1].expr if before else None
    if last is not None and form(last) is Form.WORKING:
        mend_operands(walk, last, grid)
    if _may_be_denominator(fact, last) and judge_exponentials(walk, fact, link, grid, before[-1].expr):
        return
    best, shown_as = _meaning(walk, fact, link, matrix, grid, before, told)
    if best is None:
        if judge_misfit(walk, fact, link, grid) is None:
            judge_literal(walk, fact, link, grid, before)
            leave_open(walk, fact, grid)
        return
    target, judged, sources = blame_working(walk, fact, best, before)
    tell_misread(walk, target, grid)
    claim = conclude(walk, fact, link, target, judged, sources)
    tell_lost_points(walk, claim, judged)
    rename(walk, fact, target, claim)
    note_run(walk, fact, link, target)
    if last is not None and n.is_literal(last):
        note_exponentials(walk, fact, last, judged, claim)
    judge_unequal(walk, fact, link, shown_as, before, claim)


def _may_be_denominator(fact: Fact, last: n.Expr | None) -> bool:
    """Z_1 = 7.39 + 2.72 + 1 = 11.11: numbers that are added, and multiplied by none, make no output."""
    if fact.formula is not None or fact.symbol is None or not isinstance(last, n.Sum):
        return False
    numbers = [term for term in last.terms if isinstance(term, n.Number)]
    added = len(numbers) == len(last.terms) and any(term.places for term in numbers)
    return added and place_of(fact.symbol).roles[:1] == (Role.OUTPUT,)


def _meaning(
    walk: Walk,
    fact: Fact,
    link: Link,
    matrix: n.Matrix,
    grid: Grid,
    before: list[Link],
    told: tuple[Target, Link] | None,
) -> tuple[Found | None, Grid]:
    """What a value is meant to be, and the value itself, which may be written in per cent."""
    if told is not None and _other_row(fact, told[0]):
        told = None
    said = meant_as(walk, fact, grid, before, told[0]) if told is not None and before[-1] is told[1] else None
    if said is not None:
        return said, grid  # both sides of an equation mean the same
    best, shown_as = best_meaning(walk, fact, grid, before, link), grid
    if best is not None and score(best[1]) >= SURE:
        return best, grid
    hundredths = in_per_cent(matrix)
    percent = shown_grid(hundredths, link.relation is Relation.APPROX) if hundredths is not None else None
    other = best_meaning(walk, fact, percent, before, link) if percent is not None else None
    if percent is not None and other is not None and (best is None or score(other[1]) > score(best[1])):
        best, shown_as = other, percent
    if told is not None and (best is None or score(best[1]) < SURE):
        best = meant_as(walk, fact, grid, before, told[0]) or best
    return best, shown_as


def _with_points(walk: Walk, link: Link) -> Link:
    """2 · 1 read as 2.1 in a matrix where only that agrees with something."""

    def change(part: n.Expr) -> n.Expr:
        if not isinstance(part, n.Matrix) or plain_value(part) is not None:
            return part
        pointed = replace(part, rows=tuple(tuple(_pointed(cell) for cell in row) for row in part.rows))
        grid = shown_grid(pointed, False) if pointed != part and plain_value(pointed) is not None else None
        if grid is None:
            return part
        for target in anything(walk, grid):
            judged = judged_against(walk, target.expr, grid, [])
            if judged is not None and score(judged) >= 0.999:
                return pointed
        return part

    # Numbers that are cells of plain matrices do not count, so this rules out most products of matrices.
    pointed = n.holds(link.expr, n.Number) and n.holds(link.expr, n.Matrix) and n.holds(link.expr, n.Product)
    expr = n.rewrite(link.expr, change) if pointed else link.expr
    return link if expr is link.expr else replace(link, expr=expr)


def _pointed(cell: n.Expr) -> n.Expr:
    match cell:
        case n.Product(left=n.Number(places=0) as a, right=n.Number(places=0) as b) if b.value >= 0:
            return replace(n.number(f"{a.text}.{b.text}"), at=cell.at)
        case _:
            return cell
