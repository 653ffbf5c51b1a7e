"""Claims about theory that a sheet makes, judged: counts and orders of growth, E and Var, costs of transport.

A false accusation is worse than a miss: what is not understood for certain is left open.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain as shown
from qkv.reader.model import Sheet, Statement
from qkv.regex import regex
from qkv.theory.chains import chain_judged
from qkv.theory.counts_said import COUNTED, SAID, Speaks, spoken_of, steps_said
from qkv.theory.counts_true import right_counts, right_orders, usual
from qkv.theory.expected import Known, chain_holds, is_assumption, speaks_of_moments
from qkv.theory.formula import ORDERS, Formula, Unclear, formula, meaning, ring, to_size, written
from qkv.theory.model import Judged, TheoryClaim
from qkv.theory.polynomial import Spelling, growth, plain, terms
from qkv.theory.prose import prose_claims
from qkv.theory.sayings import EQUALITY, ONWARD, joined, meant, places
from qkv.theory.transport_claims import transport_claims

INLINE = regex(r"\$(?<!\\\$)([^$\n]{1,200}+)(?<!\\)\$|\\\((.{1,200}?)\\\)")
# Begins with a space, so that only spaces are looked at: after a full stop, at an item of a list, at an empty line.
SENTENCE = regex(r"\s(?:(?<=[.!?;]\s)\s*(?=[A-Z(\\$])|(?<=\n)\s*(?=[-*•]|\d+\.|\(\w\))|(?<=\n)\s*\n)")
_IS_ZERO = r"\s*=?\s*(of\s*)?\$?\s*=?\s*(0|zero)\b"
ASSUMED = regex(
    rf"\\mu{_IS_ZERO}|μ{_IS_ZERO}|µ{_IS_ZERO}|mean{_IS_ZERO}|zero[-\s]mean|standard normal|\bn\}}?\s*\(\s*0\b"
    r"|e\}?[\[(][^\])]{1,6}[\])]\s*=\s*0\b",
    re.IGNORECASE,
)
_NOT_ONE = r"\s*(?!1(?:\.0+)?(?!\d|[./]\d))(?:\d|\\d?frac)"
UNUSUAL = regex(rf"variance\s*(of\s*)?\$?{_NOT_ONE}|var\w*\}}?[\[(][qk](_\w)?[\])]\s*={_NOT_ONE}", re.IGNORECASE)
GENERAL = regex(r"\\mu\b|μ|µ|\\sigma\b|σ", re.IGNORECASE)
ANAPHORA = regex(r"(this|that|these|it|which|so|hence|thus|therefore)\b", re.IGNORECASE)
SCALE = Symbol("s")
BARE = (n.Name, n.Number)


def theory_said(sheet: Sheet) -> tuple[TheoryClaim, ...]:
    """Every claim about theory in a document, in the order of its lines; and what is assumed, which is no claim."""
    onward = list(joined(sheet.statements, ONWARD))
    moments, others = _by_moments([chain for chain in joined(sheet.statements, EQUALITY) if len(chain.links) > 1])
    found = [
        *inline_counts(sheet.text),
        *_orders(onward),
        *_moments(moments, sheet.text),
        *_chains(others),
        *_words(sheet.text),
        *transport_claims(sheet, onward),
    ]
    return tuple(sorted(found, key=lambda claim: claim.line))


def _by_moments(chains: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
    """Chains about E, Var and the scale, and the others; the mean of numbers that the page gives is no theory."""
    given = {(chain.part, name) for chain in chains for name in _given(chain)}
    moments: list[Statement] = []
    others: list[Statement] = []
    for statement in chains:
        first = statement.links[0].expr
        scale = isinstance(first, n.Name) and first.symbol == SCALE and len(statement.links) == 2
        random = speaks_of_moments(first) and given.isdisjoint((statement.part, name) for name in n.names_in(first))
        (moments if scale or random else others).append(statement)
    return moments, others


def _given(chain: Statement) -> tuple[Symbol, ...]:
    """The name that a chain gives numbers."""
    first, last = chain.links[0].expr, chain.links[-1].expr
    return (first.symbol,) if isinstance(first, n.Name) and n.is_literal(last) else ()


def judge_formula(claimed: str | n.Expr, sentence: str, after: str = "", surrounding: str = "") -> TheoryClaim | None:
    """Judge a claimed count, given the words before and after it; None where it claims nothing that we know.

    >>> judge_formula("2N'D^2", "To compute Q K^T and then (Q K^T) V we need", "multiplications").verdict
    <Judged.WRONG: 'wrong'>
    >>> judge_formula("2N'^2D", "To compute Q K^T and then (Q K^T) V we need", "multiplications").verdict
    <Judged.RIGHT: 'right'>
    """
    spoken = spoken_of(sentence, after, sentence, surrounding)
    if spoken is None:
        return None
    try:
        judged = _judged(written(claimed) if isinstance(claimed, str) else claimed, spoken)
    except QkvError:
        return None
    return judged and judged[0]


def _judged(expr: n.Expr, spoken: Speaks) -> tuple[TheoryClaim, Formula] | None:
    try:
        said = formula(expr, ring())
    except QkvError:
        return None
    if not said.names or "?" in said.names:
        return None
    verdict = _verdict(said, spoken)
    spelling = {meaning(symbol) or "": str(symbol) for symbol in n.names_in(expr)}
    truth = plain(usual(spoken, said.names), spelling)
    return TheoryClaim(1, shown(expr), str(spoken), verdict, truth, _parts(spoken, spelling)), said


def _verdict(said: Formula, spoken: Speaks) -> Judged:
    try:
        value = to_size(said.value)
    except Unclear:
        return Judged.OPEN
    only_growth = said.order or spoken.sort == "operations"
    candidates = right_counts(spoken, said.names, only_growth)
    if not candidates:
        return Judged.OPEN
    if terms(value) in candidates:
        return Judged.RIGHT
    if only_growth:
        # What counts as an operation is a convention, so that only the order of growth can be wrong.
        return Judged.RIGHT if growth(value) in right_orders(spoken, said.names) else Judged.WRONG
    return Judged.WRONG


def _parts(spoken: Speaks, spelling: Spelling) -> str:
    """How a total comes about."""
    if "total" not in spoken.steps or spoken.sort not in ("operations", "multiplications"):
        return ""
    steps = ("projections", "scores", "values", "output") if spoken.many_heads else ("scores", "values")
    parts = [Speaks((step,), "multiplications", spoken.many_heads) for step in steps]
    names = frozenset(spelling)
    return ", ".join(f"{plain(usual(part, names), spelling)} {SAID[part.steps[0]]}" for part in parts)


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
    counted = [found.start() for found in COUNTED.finditer(text)]
    for start, alone in sentences(text) if counted else ():
        earlier, before = before, alone
        first = bisect_left(counted, start)
        if first == len(counted) or counted[first] >= start + len(alone):
            continue
        sentence, start = _with_antecedent(earlier, alone, start)
        for found in INLINE.finditer(sentence):
            source = found[1] or found[2]
            if found.start() < len(sentence) - len(alone) or "=" in source:
                continue
            after = sentence[found.end() : found.end() + 60]
            spoken = spoken_of(sentence[: found.start()], after, "", _near(text, start))
            expr = _formula_in(source) if spoken else None
            judged = _judged(expr, spoken) if expr and spoken else None
            if judged is not None:
                line = text.count("\n", 0, start + found.start()) + 1
                yield replace(judged[0], line=line, text=source)


def _with_antecedent(before: str, sentence: str, start: int) -> tuple[str, int]:
    """'This takes …' speaks of what the sentence before says."""
    if not ANAPHORA.match(sentence.lstrip("-*• \n")) or steps_said(sentence):
        return sentence, start
    return f"{before} {sentence}", start - len(before) - 1


def _near(text: str, place: int) -> str:
    """The paragraphs before: they say whether many heads are meant."""
    return text[max(0, place - 1500) : place]


def _formula_in(source: str) -> n.Expr | None:
    """What is written there, if it is more than a name or a number."""
    try:
        expr = written(source)
    except QkvError:
        return None
    return None if isinstance(expr, BARE) else expr


def _orders(statements: Sequence[Statement]) -> Iterator[TheoryClaim]:
    """Ω(4N'D² + 2N'²D) in a display, after words that say what it is the order of."""
    for statement in statements:
        wrong: list[Formula] = []
        for link in statement.links:
            expr = meant(link, _is_order)
            if not _is_order(expr):
                continue
            *_, (_, said_last) = sentences(statement.caption or statement.before)
            said = f"{said_last} complexity"
            spoken = spoken_of(said, "", said, statement.before)
            judged = _judged(expr, spoken) if spoken else None
            if judged is None:
                continue
            claim, claimed = judged
            verdict = claim.verdict
            if verdict is Judged.WRONG:
                verdict = Judged.CARRIED if any(claimed.value.top == other.value.top for other in wrong) else verdict
                wrong.append(claimed)
            yield replace(claim, line=link.at.line, text=link.text, verdict=verdict, places=places(statement))


def _is_order(expr: n.Expr) -> bool:
    return isinstance(expr, n.Call) and expr.function in ORDERS and len(expr.args) == 1 and bool(n.names_in(expr))


def _moments(spoken: Sequence[Statement], text: str) -> Iterator[TheoryClaim]:
    """Chains of equations about E and Var; μ = 0 and σ = 1 may be used once μ = 0 was assumed, and where no word is
    said of μ and σ; then only what holds is told."""
    found = ASSUMED.search(text) if spoken else None
    general = bool(spoken) and found is None and GENERAL.search(text) is not None
    assumed = found.string.count("\n", 0, found.start()) + 1 if found else len(text) * general
    sure = bool(spoken) and (found is not None or general) and not UNUSUAL.search(text)
    known: Known = {}
    for statement in spoken:
        if isinstance(statement.links[0].expr, n.Name):
            yield from _scale(statement) if found else ()
            continue
        links = [link.expr for link in statement.links]
        if is_assumption(links):
            yield TheoryClaim(
                statement.at.line, statement.text, shown(links[0]), Judged.ASSUMED, "", places=places(statement)
            )
            continue
        holds, left, right = chain_holds(links, standard=assumed <= statement.end_line, known=known)
        verdict = {True: Judged.RIGHT, False: Judged.WRONG if sure else Judged.OPEN, None: Judged.OPEN}[holds]
        says = f"{shown(links[0])} is {left}, not {right}" if holds is False else ""
        yield TheoryClaim(statement.at.line, statement.text, shown(links[0]), verdict, left, says, places(statement))


def _scale(statement: Statement) -> Iterator[TheoryClaim]:
    """s = √D_k, for components with mean 0 and variance 1."""
    last = statement.links[-1].expr
    rings = ring()
    try:
        said = formula(last.args[0] if isinstance(last, n.Call) and last.function == "±" else last, rings)
    except QkvError:
        return
    if said.names == {"d_k"}:
        right = rings.settled(said.value * said.value) == rings.symbol("d_k", "d_k")
        verdict = Judged.RIGHT if right else Judged.WRONG
        yield TheoryClaim(statement.at.line, statement.text, "the scale", verdict, "√d_k", "", places(statement))


def _chains(statements: Sequence[Statement]) -> Iterator[TheoryClaim]:
    """Chains between symbols only: AV written out in a_ij and v_jl, Q = X W_Q as stacked rows."""
    for statement in statements:
        if n.is_literal(statement.links[-1].expr):  # most chains end so
            continue
        links = [link.expr for link in statement.links]
        if any(map(n.is_literal, links)):
            continue
        if _is_dot_product(links):
            holds, left, right = chain_holds(links, standard=False)
        elif _are_written_out(links):
            holds, left, right = chain_judged(links)
        else:
            continue
        if holds is not None:
            verdict = Judged.RIGHT if holds else Judged.WRONG
            says = "" if holds else f"{left} is not {right}"
            yield TheoryClaim(statement.at.line, statement.text, shown(links[0]), verdict, left, says)


def _is_dot_product(links: Sequence[n.Expr]) -> bool:
    first = links[0]
    return isinstance(first, n.Product) and isinstance(first.left, n.Transpose) and isinstance(links[1], n.Series)


def _are_written_out(links: Sequence[n.Expr]) -> bool:
    """Whether two links hold a matrix, or a Σ with bounds that are numbers, or one holds rows on top of each other."""
    found = 0
    for link in links:
        kinds = n.kinds_in(link)
        if n.Concat in kinds and _is_stack(link):
            return True
        if n.Matrix in kinds:
            found += 1
        elif n.Series in kinds:
            found += any(isinstance(part, n.Series) and isinstance(part.high, n.Number) for part in n.walk(link))
    return found > 1


def _is_stack(link: n.Expr) -> bool:
    return any(isinstance(part, n.Concat) and part.axis == 0 for part in n.walk(link))


def _words(text: str) -> Iterator[TheoryClaim]:
    """Statements in words."""
    for said in prose_claims(text):
        if said.right is not None:
            verdict = Judged.RIGHT if said.right else Judged.WRONG
            line = text.count("\n", 0, said.place) + 1
            yield TheoryClaim(line, said.text, said.about, verdict, said.truth)
