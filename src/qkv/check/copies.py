"""Operands written out: [..] × [..] copies what a formula names; each copy is a claim of its own.

Where no formula is readable, the operands themselves tell the step: a copy of Q beside a copy of Kᵀ makes scores. Two
versions side by side ([A][A'][V]) are judged as versions of one operand, and what follows from either is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from qkv.check.cells import Grid, fits, fitted, score, shape_of, shown_grid
from qkv.check.conclude import conclude, worst_of
from qkv.check.meanings import SURE, anything
from qkv.check.misread import tell_misread
from qkv.check.model import BAD, Claim, Verdict
from qkv.check.targets import Target, step_with, targets
from qkv.check.walk import Judgement, Source, Walk, judged_against
from qkv.expr import nodes as n
from qkv.expr.nodes import factors
from qkv.program.model import Step
from qkv.records import dataclass, replace
from qkv.sheet.model import Link
from qkv.understand.facts import Fact
from qkv.understand.values import Form, plain_value

LIKE_BOTH = 1.4  # points of two operands together that make them copies of a step's; a name of its own asks for more


@dataclass(frozen=True)
class Copy:
    """An operand, what it should be a copy of, and how its cells stand to that."""

    operand: n.Expr
    meant: n.Expr
    grid: Grid
    judged: Judgement
    sources: list[Source]
    points: float  # the share of cells that agree


def judge_copies(walk: Walk, fact: Fact, link: Link) -> Step | None:
    """Judge the operands of a written-out product; the step that they turn out to make, if the operands told it."""
    if _judge_scaled(walk, fact, link) or not isinstance(link.expr, n.Product):
        return None
    operands = [x for x in factors(link.expr) if _grid(walk, x) is not None]
    if not operands:
        return None
    formula = _formula_of(walk, fact)
    meant = factors(formula) if formula is not None else []
    own = walk.problem.program.item(fact.symbol) if fact.symbol is not None and not fact.pending else None
    if len(meant) >= len(operands) and _judge_aligned(walk, fact, link, meant):
        return own if isinstance(own, Step) and own.expr == formula else None
    found = _identified(walk, operands, 2 * SURE if isinstance(own, Step) else LIKE_BOTH)
    if found is not None:
        step, first, last = found
        _judge_versions(walk, fact, link, operands, first, last)
        return step
    claims = [_judge_nameless(walk, fact, link, operand) for operand in operands]
    if all(claim is not None for claim in claims):
        walk.copied[id(link.expr)] = tuple(claim.id for claim in claims if claim is not None and claim.verdict in BAD)
    return None


def _judge_scaled(walk: Walk, fact: Fact, link: Link) -> bool:
    """1/√2 [..] or [..]/√2 for scaled scores: the matrix is a copy of the scores before they are divided."""
    operand = _scaled_matrix(walk, link.expr)
    quotient = _formula_of(walk, fact, n.Quotient) if operand is not None else None
    if operand is None or not isinstance(quotient, n.Quotient):
        return False
    step = step_with(walk.problem, quotient.numerator)
    copy = _copy(walk, operand, n.Name(step) if step is not None else quotient.numerator)
    if copy is None or copy.points < 0.5:
        return False
    claim = _conclude_copy(walk, fact, link, copy)
    walk.copied[id(link.expr)] = (claim.id,) if claim.verdict in BAD else ()
    return True


def _scaled_matrix(walk: Walk, expr: n.Expr) -> n.Expr | None:
    """The one matrix of a product or quotient that else holds numbers only."""
    if not isinstance(expr, n.Product | n.Quotient):
        return None
    above = factors(expr.numerator if isinstance(expr, n.Quotient) else expr)
    matrices = [part for part in above if n.holds(part, n.Matrix)]
    return matrices[0] if len(matrices) == 1 and _grid(walk, matrices[0]) is not None else None


def judge_open_product(walk: Walk, fact: Fact, link: Link) -> None:
    """[..] × at the end of a line: the left operand of a product that goes on elsewhere."""
    formula = _formula_of(walk, fact)
    copy = _copy(walk, link.expr, factors(formula)[0]) if formula is not None else None
    if copy is not None and copy.points >= 0.5:
        _conclude_copy(walk, fact, link, copy)


def _grid(walk: Walk, operand: n.Expr) -> Grid | None:
    """An operand, cell by cell; it is held against many quantities, and looked at once."""
    if id(operand) not in walk.grids:
        walk.grids[id(operand)] = operand, _shown(operand)
    return walk.grids[id(operand)][1]


def _shown(operand: n.Expr) -> Grid | None:
    matrix = plain_value(operand) or (operand if isinstance(operand, n.Matrix) else None)
    if matrix is None or max(matrix.shape) < 2 or not n.is_literal(matrix):
        return None
    return shown_grid(matrix, False)


def _formula_of(walk: Walk, fact: Fact, kind: type[n.Expr] = n.Product) -> n.Expr | None:
    """The product (or quotient) whose operands are written out: from the chain, or the step of its subject."""
    for link, said in zip(fact.links, fact.forms, strict=True):
        if said is Form.FORMULA and not n.holds(link.expr, n.Matrix):
            meant = walk.problem.resolver.expr(link.expr, fact.head)
            if isinstance(meant, kind):
                return meant
    for target in targets(fact, walk.problem):
        inner = target.expr.arg if isinstance(target.expr, n.Transpose) else target.expr
        item = walk.problem.program.item(inner.symbol) if isinstance(inner, n.Name) else None
        if item is not None and isinstance(item.expr, kind):
            return item.expr
    return None


def _copy(walk: Walk, operand: n.Expr, meant: n.Expr) -> Copy | None:
    grid = _grid(walk, operand)
    if grid is None or not _is_like(walk, operand, meant):
        return None
    sources: list[Source] = []
    judged: Judgement | None = None
    tried: set[int] = set()
    for author in walk.minds:  # who wrote a number down wrongly may still copy the right one
        value = author.own(meant)
        if id(value) in tried:
            continue
        tried.add(id(value))
        turned = fitted(value, shape_of(grid)) if value is not None else None
        if turned is not None:
            sources.append(Source(turned, author.blamed(meant), meant))
        judged = judged_against(walk, meant, grid, sources)
        if judged is None or worst_of(judged) is not Verdict.WRONG:
            break
    return None if judged is None else Copy(operand, meant, grid, judged, sources, score(judged))


def _is_like(walk: Walk, operand: n.Expr, meant: n.Expr) -> bool:
    """Whether an operand has the shape of a quantity, or that of a vector of as many cells."""
    grid, value = _grid(walk, operand), walk.evaluated(meant)
    return grid is not None and value is not None and fits(value.shape, shape_of(grid))


def _as_step(walk: Walk, factor: n.Expr) -> n.Expr:
    """softmax(S) as the quantity that it is: a copy is one of its print, not worked out anew."""
    symbol = None if isinstance(factor, n.Name | n.Transpose | n.Entry) else step_with(walk.problem, factor)
    return factor if symbol is None else n.Name(symbol)


def _judge_aligned(walk: Walk, fact: Fact, link: Link, meant: list[n.Expr]) -> bool:
    """Operand by operand against the factors of the formula; False where they are evidently something else."""
    operands = factors(link.expr)
    copies = [_copy(walk, operand, _as_step(walk, factor)) for operand, factor in zip(operands, meant, strict=False)]
    good = [copy is not None and copy.points >= SURE for copy in copies]
    aligned = len(operands) == len(meant)
    false: list[int] = []
    judged_any = False
    for i, copy in enumerate(copies):
        others_fit = aligned and len(good) > 1 and all(good[:i] + good[i + 1 :])
        if copy is None or (copy.points < 0.5 and not others_fit):
            continue
        judged_any = True
        claim = _conclude_copy(walk, fact, link, copy)
        if claim.verdict in BAD:
            false.append(claim.id)
    if aligned and all(copy is not None for copy in copies):
        walk.copied[id(link.expr)] = tuple(false)
    return judged_any


def _conclude_copy(walk: Walk, fact: Fact, link: Link, copy: Copy, reason: str | None = None) -> Claim:
    place = replace(link, at=copy.operand.at or link.at, text=link_text(link, copy.operand))
    name = _name(walk, copy.meant)
    inner = copy.meant.arg if isinstance(copy.meant, n.Transpose) else copy.meant
    first = isinstance(inner, n.Name) and inner.symbol not in walk.author.printed
    subject = inner.symbol if isinstance(inner, n.Name) and first else None
    target = Target(copy.meant, False, name, subject)
    tell_misread(walk, target, copy.grid)
    return conclude(walk, fact, place, target, copy.judged, copy.sources, reason=reason)


def link_text(link: Link, operand: n.Expr) -> str:
    """The source of an operand, cut out of its link where the places are known."""
    if operand.at is None or operand.at.line != link.at.line:
        return link.text
    start = operand.at.column - link.at.column
    rest = link.text[start:] if 0 <= start < len(link.text) else link.text
    end = rest.find("\\end{")
    close = rest.find("}", end) + 1 if end >= 0 else 0
    return rest[:close] if close else rest


def _name(walk: Walk, expr: n.Expr) -> str:
    inner = expr.arg if isinstance(expr, n.Transpose) else expr
    item = walk.problem.program.item(inner.symbol) if isinstance(inner, n.Name) else None
    spelled = item.spelled if item is not None else ""
    return f"{spelled}^T" if isinstance(expr, n.Transpose) else spelled


def _identified(walk: Walk, operands: list[n.Expr], points: float) -> tuple[Step, Copy, Copy] | None:
    """The step whose two factors the first and last operand copy, with so many points together at least."""
    best = None
    for step in walk.problem.program.steps if len(operands) > 1 else ():
        pair = factors(step.expr)
        if len(pair) != 2 or not _is_like(walk, operands[-1], pair[1]):
            continue
        left = _copy(walk, operands[0], pair[0])
        right = _copy(walk, operands[-1], pair[1]) if left is not None and left.points >= 0.5 else None
        if left is None or right is None or right.points < 0.5:
            continue
        if left.points + right.points > points:
            best, points = (step, left, right), left.points + right.points
    return best


def _judge_versions(walk: Walk, fact: Fact, link: Link, operands: list[n.Expr], first: Copy, last: Copy) -> None:
    """[A][A'][V]: the first that agrees is the one meant; the others are superseded."""
    claims = [(operands[0], _conclude_copy(walk, fact, link, first))]
    for operand in operands[1:-1]:
        copy = _copy(walk, operand, first.meant)
        if copy is not None:
            reason = "superseded: another version stands beside it"
            claims.append((operand, _conclude_copy(walk, fact, link, copy, reason=reason)))
    right = _conclude_copy(walk, fact, link, last)
    blamed = (right.id,) if right.verdict in BAD else ()
    for operand, claim in claims:
        product = n.Product(operand, operands[-1]) if factors(link.expr) != [operand, operands[-1]] else link.expr
        value = walk.author.typed(product, exact=True)
        if value is not None:
            wrong = (claim.id, *blamed) if claim.verdict in BAD else blamed
            walk.versions.setdefault(id(link.expr), []).append(Source(value, wrong, product))
    if len(operands) == 2:
        walk.copied[id(link.expr)] = tuple(claim.id for _, claim in claims if claim.verdict in BAD) + blamed


def _judge_nameless(walk: Walk, fact: Fact, link: Link, operand: n.Expr) -> Claim | None:
    """An operand of an unreadable product may still be a copy of something."""
    best: Copy | None = None
    for target in _alike(walk, operand):
        copy = _copy(walk, operand, target.expr)
        if copy is not None and (best is None or copy.points > best.points):
            best = copy
    return None if best is None else _conclude_copy(walk, fact, link, best)


def _alike(walk: Walk, operand: n.Expr) -> Iterator[Target]:
    grid = _grid(walk, operand)
    if grid is not None:
        yield from anything(walk, grid)
