"""Claims about theory that a sheet makes, judged: counts and orders of growth, E and Var, costs of transport.

A false accusation is worse than a miss: what is not understood for certain is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from flint import fmpq

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.show import plain as shown
from qkv.interpret.cells import rational
from qkv.interpret.counts import Size
from qkv.sheet.model import Sheet, Statement
from qkv.theory.counts_said import Speaks, aligned, right_counts, spoken_of, steps_said, usual
from qkv.theory.expected import chain_holds, speaks_of_moments
from qkv.theory.formula import ORDERS, Formula, FormulaRing, Unclear, formula, growth, meaning, ring, to_size, written
from qkv.theory.polynomial import NAMES, plain
from qkv.theory.words import ABOUT_TRANSPORT, COSTS

if TYPE_CHECKING:
    from qkv.theory.transport_sheet import TransportProblem

INLINE = re.compile(r"(?<!\\)\$([^$\n]{1,200}?)(?<!\\)\$|\\\((.{1,200}?)\\\)")
SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z(\\$])|\n\s*(?=[-*•]|\d+\.|\(\w\))|\n\s*\n")
ASSUMED = re.compile(r"(\\mu|μ|mean)\s*=?\s*(of\s*)?\$?\s*=?\s*(0|zero)\b", re.IGNORECASE)
ANAPHORA = re.compile(r"(this|that|these|it|which|so|hence|thus|therefore)\b", re.IGNORECASE)
BARE = (n.Name, n.Number)


class Judged(StrEnum):
    """What is said of a claim."""

    RIGHT = "right"
    WRONG = "wrong"
    CARRIED = "carried"  # follows from a claim that is wrong
    OPEN = "open"  # not understood for certain


@dataclass(frozen=True, slots=True)
class TheoryClaim:
    """One claim: where it stands, what it says, what is true, and why."""

    line: int
    text: str
    about: str
    verdict: Judged
    truth: str
    says: str = ""


def theory_claims(sheet: Sheet) -> tuple[TheoryClaim, ...]:
    """Every claim about theory in a document, in the order of its lines."""
    found = [*inline_counts(sheet.text), *_orders(sheet), *_moments(sheet), *_transports(sheet)]
    return tuple(sorted(found, key=lambda claim: claim.line))


def judge_formula(claimed: str | n.Expr, sentence: str, after: str = "", surrounding: str = "") -> TheoryClaim | None:
    """Judge a claimed count, given the words before and after it; None where it claims nothing that we know.

    >>> judge_formula("2N'D^2", "To compute Q K^T and then (Q K^T) V we need", "multiplications").verdict
    <Judged.WRONG: 'wrong'>
    >>> judge_formula("2N'^2D", "To compute Q K^T and then (Q K^T) V we need", "multiplications").verdict
    <Judged.RIGHT: 'right'>
    """
    try:
        expr = written(claimed) if isinstance(claimed, str) else claimed
        rings = ring()
        said = formula(expr, rings)
    except (Unclear, QkvError):
        return None
    spoken = spoken_of(sentence, after, sentence, surrounding)
    if spoken is None or not said.names or "?" in said.names:
        return None
    about = f"{spoken.sort} of {' and '.join(spoken.steps)}"
    verdict = _verdict(said, spoken, rings)
    spelling = {meaning(symbol) or "": str(symbol) for symbol in n.names_in(expr)}
    truth = plain(_in_letters(spoken, said), spelling)
    return TheoryClaim(1, shown(expr), about, verdict, truth, f"{about}: {truth}")


def _verdict(said: Formula, spoken: Speaks, rings: FormulaRing) -> Judged:
    try:
        value = to_size(said.value, rings)
    except Unclear:
        return Judged.OPEN
    candidates = right_counts(spoken, said.names)
    if not candidates:
        return Judged.OPEN
    if any(candidate == value for candidate in candidates):
        return Judged.RIGHT
    if said.order or spoken.sort == "operations":
        # What counts as an operation is a convention, so that only the order of growth can be wrong.
        orders = {growth(candidate) for candidate in candidates if candidate}
        return Judged.RIGHT if growth(value) in orders else Judged.WRONG
    return Judged.WRONG


def _in_letters(spoken: Speaks, said: Formula) -> Size:
    """What is true, in the letters of the claim."""
    forms = aligned(usual(spoken), said.names)
    fitting = [form for form in forms if _letters(form) <= said.names]
    return fitting[0] if fitting else forms[0]


def _letters(size: Size) -> frozenset[str]:
    degrees = size.degrees()
    return frozenset(name for name, degree in zip(NAMES, degrees, strict=True) if degree > 0)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences and list items with the place where each begins."""
    start = 0
    for gap in SENTENCE.finditer(text):
        yield start, text[start : gap.start()]
        start = gap.end()
    yield start, text[start:]


def inline_counts(text: str) -> Iterator[TheoryClaim]:
    """'requires $n_q n_k d_k$ multiplications': a formula with the word for an operation right after it."""
    before = ""
    for start, alone in sentences(text):
        sentence, start = _with_antecedent(before, alone, start)
        before = alone
        for found in INLINE.finditer(sentence):
            source = found.group(1) or found.group(2)
            after = sentence[found.end() : found.end() + 60]
            if (
                found.start() < len(sentence) - len(alone)
                or "=" in source
                or spoken_of(sentence[: found.start()], after, "") is None
            ):
                continue
            claim = judge_formula(source, sentence[: found.start()], after, _near(text, start))
            if claim is not None and not _is_bare(source):
                line = text.count("\n", 0, start + found.start()) + 1
                yield TheoryClaim(line, source, claim.about, claim.verdict, claim.truth, claim.says)


def _with_antecedent(before: str, sentence: str, start: int) -> tuple[str, int]:
    """'This takes …' speaks of what the sentence before says."""
    if not ANAPHORA.match(sentence.lstrip("-*• \n")) or steps_said(sentence):
        return sentence, start
    return f"{before} {sentence}", start - len(before) - 1


def _near(text: str, place: int) -> str:
    """The paragraphs before: they say whether many heads are meant."""
    return text[max(0, place - 1500) : place]


def _is_bare(source: str) -> bool:
    try:
        return isinstance(written(source), BARE)
    except QkvError:
        return True


def _orders(sheet: Sheet) -> Iterator[TheoryClaim]:
    """Ω(4N'D² + 2N'²D) in a display, after words that say what it is the order of."""
    for statement in sheet.statements:
        if statement.struck or not any(_is_order(link.expr) for link in statement.links):
            continue
        wrong: list[Formula] = []
        for link in statement.links:
            claim = judge_formula(link.expr, statement.before + " complexity", "", statement.before)
            if claim is None or not _is_order(link.expr):
                continue
            verdict = claim.verdict
            said = formula(link.expr, ring())
            if verdict is Judged.WRONG and any(said.value.top == other.value.top for other in wrong):
                verdict = Judged.CARRIED
            if verdict is Judged.WRONG:
                wrong.append(said)
            yield TheoryClaim(link.at.line, link.text, claim.about, verdict, claim.truth, claim.says)


def _is_order(expr: n.Expr) -> bool:
    return isinstance(expr, n.Call) and expr.function in ORDERS and len(expr.args) == 1 and bool(n.names_in(expr))


def _moments(sheet: Sheet) -> Iterator[TheoryClaim]:
    """Chains of equations about E and Var."""
    for statement in sheet.statements:
        links = [link.expr for link in statement.links]
        if statement.struck or len(links) < 2 or not speaks_of_moments(links[0]):
            continue
        standard = _standard_before(sheet, statement)
        holds, left, right = chain_holds(links, standard)
        verdict = {True: Judged.RIGHT, False: Judged.WRONG, None: Judged.OPEN}[holds]
        says = f"{shown(links[0])} is {left}, not {right}" if holds is False else ""
        yield TheoryClaim(statement.at.line, statement.text, shown(links[0]), verdict, left, says)


def _standard_before(sheet: Sheet, statement: Statement) -> bool:
    """Whether μ = 0 was assumed before."""
    before = "\n".join(sheet.text.splitlines()[: statement.end_line])
    return bool(ASSUMED.search(before))


def _transports(sheet: Sheet) -> Iterator[TheoryClaim]:
    """Costs that are said of the one transport problem of a part."""
    if not ABOUT_TRANSPORT.search(sheet.text):
        return
    from qkv.theory.transport_sheet import transport_problems  # NumPy comes with it: only where there is something

    problems = transport_problems(sheet)
    for statement in sheet.statements:
        last = statement.links[-1].expr
        value = _whole(last)
        here = [problem for problem in problems if problem.part == statement.part]
        if statement.struck or value is None or len(here) != 1 or not _speaks_of_cost(statement, here[0]):
            continue
        result = here[0].solved()
        right = value in _costs_said(here[0])
        truth = str(result.cost)
        yield TheoryClaim(
            statement.links[-1].at.line,
            statement.text,
            "cost of transport",
            Judged.RIGHT if right else Judged.WRONG,
            truth,
            f"the least cost is {truth}" + ("" if result.unique else ", for more than one plan"),
        )


def _whole(expr: n.Expr) -> fmpq | None:
    return rational(expr.value) if isinstance(expr, n.Number) else None


def _speaks_of_cost(statement: Statement, problem: TransportProblem) -> bool:
    beside_table = problem.plan is not None and problem.line <= statement.at.line <= problem.end_line
    words = statement.before[-160:]
    name = statement.links[0].expr
    is_distance = isinstance(name, n.Name) and name.symbol.base in ("W", "EMD") and not name.symbol.indices
    return beside_table or is_distance or bool(COSTS.search(words) and ABOUT_TRANSPORT.search(words))


def _costs_said(problem: TransportProblem) -> set[fmpq]:
    """What may rightly be said to be the cost: the least one, per unit of mass, and that of the sheet's own plan."""
    result = problem.solved()
    said = {result.cost, result.per_unit}
    if problem.plan is not None:
        cells = [(i, j, mass) for i, row in enumerate(problem.plan) for j, mass in enumerate(row)]
        said.add(sum((result.costs.exact(i, j) * mass for i, j, mass in cells), result.costs.zero))
    return {value for value in said if isinstance(value, fmpq)}
