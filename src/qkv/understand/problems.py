"""SHEET → PROGRAM: every problem of a document as a program, with the facts that speak about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.trace import Trace
from qkv.program.kinds import plan
from qkv.program.model import Given, Program, Step
from qkv.records import dataclass, replace
from qkv.sheet.model import Repair, Sheet
from qkv.understand.asked import with_answers
from qkv.understand.evidence import (
    agreement_with,
    explains_weights,
    follow_unmasked,
    gives_all,
    is_masked,
    is_scaled,
    looks_causal,
    most_agreement,
    projections_shown,
    shows_triangle,
    softens_raw_scores,
)
from qkv.understand.facts import Fact, facts_of, mentions, noted_facts
from qkv.understand.gather import gather
from qkv.understand.gathering import FACTORS, Gathering
from qkv.understand.key import Assigned, exercise_labels, nearest_key, shared_labels, with_givens_of
from qkv.understand.resolve import Resolver, followed
from qkv.understand.roles import CAUSAL_SURELY, NO_MASK, is_up_to_itself
from qkv.understand.scopes import lines_of, scopes, words_in
from qkv.understand.specs import stated_names, takes_columns, to_spec
from qkv.understand.totals import with_totals
from qkv.understand.workable import Memory, Worked, computed, workable
from qkv.understand.written import sizes_of, with_sheet_formulas, without_unsaid_scores

R = Role


@dataclass(frozen=True)
class Problem:
    """One problem: its program, worked out, and the facts of the document that belong to it."""

    trace: Trace
    facts: tuple[Fact, ...]
    resolver: Resolver
    repairs: tuple[Repair, ...]
    otherwise: bool = False  # a kind of attention is spoken of that is not understood
    program: Program = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        vars(self)["program"] = self.trace.program


def understand(sheet: Sheet, against: Sheet | None = None) -> tuple[Problem, ...]:
    """The problems of a sheet, in order; with `against`, such as the assignment, their givens come from there."""
    keys = assigned(against) if against is not None else ()
    labels = shared_labels(sheet, keys)
    problems: list[Problem] = []
    memory: Memory = {}
    earlier: Gathering | None = None
    facts, note = noted_facts(sheet)
    parted = tuple(scopes(with_totals(facts), sheet, labels))
    last = {fact.statement.part: i for i, scope in enumerate(parted) for fact in scope}
    mentioned = tuple(mentions(sheet.text))
    for i, scope in enumerate(parted):
        said = [formula for line, formula in mentioned if _concerns(line, i, parted)]
        title = _titles(i, scope, last, sheet)
        lines = lines_of(i, parted, sheet)
        words = words_in(lines, sheet)
        if keys:
            label = labels[scope[0].statement.part] if labels else ""
            key = nearest_key(gather(scope, title, None, said, words), label, i, keys)
            found = with_givens_of(gather(scope, title, key, said, words), key)
        else:
            found = gather(scope, title, earlier, said, words)
        found.lines, found.memory = lines, memory
        found.notes.extend([note] if note else [])
        introduced = not found.rules or found.hides_future  # a mask of words may be another one
        if not found.causal and introduced:
            found.maybe_causal = _introduced_causal(i, parted, sheet) or is_up_to_itself(words)
        _import_sources(found, problems)
        problems.append(_likeliest(scope, found, sheet))
        earlier = found
    return tuple(problems)


def assigned(sheet: Sheet) -> tuple[Assigned, ...]:
    """What each problem of an assignment gives."""
    labels = exercise_labels(sheet)
    found: list[Assigned] = []
    parted = tuple(scopes(with_totals(facts_of(sheet)), sheet))
    for i, scope in enumerate(parted):
        gathered = gather(scope, _titles(i, scope, {}, sheet), found[-1].found if found else None)
        gathered.causal = gathered.causal or _introduced_causal(i, parted, sheet)
        part = scope[0].statement.part
        found.append(Assigned(labels[part] if part < len(labels) else "", gathered))
    return tuple(found)


def _introduced_causal(index: int, parted: tuple[tuple[Fact, ...], ...], sheet: Sheet) -> bool:
    """Whether the paragraphs between the problem before and this one say that attention is causal."""
    begin = parted[index - 1][-1].statement.end_line if index else 0
    lines = enumerate(sheet.lines[begin : parted[index][0].statement.at.line], begin + 1)
    within = (text for i, text in lines if i not in sheet.headings)  # weighed apart: they may speak of what comes later
    return any(CAUSAL_SURELY.search(text) and not NO_MASK.search(text) for text in within)


def _concerns(line: int, index: int, parted: tuple[tuple[Fact, ...], ...]) -> bool:
    """Whether a formula mentioned on a line is about a problem: it stands in it, or on the way to it."""
    begin = parted[index - 1][-1].statement.end_line if index else 0
    return begin < line <= parted[index][-1].statement.end_line


def _import_sources(found: Gathering, problems: list[Problem]) -> None:
    """Q = Z W_Q with the Z that an earlier problem worked out: it is given here, as the expression that gives it."""
    for role, symbol in found.sources.items():
        target = R.X if role is R.Q or found.sources.get(R.Q, symbol) == symbol else R.Y
        held = found.givens.get((target, None))
        if held is not None and (held.symbol == symbol or (target, None) not in found.inherited):
            continue
        for problem in reversed(problems):
            item = problem.program.item(symbol)
            if isinstance(item, Step):
                expr = inlined(problem.program, symbol)
                found.givens[target, None] = Given(
                    symbol, expr, target, symbol_plain(symbol), line=item.line, implied=True
                )
                break


def inlined(program: Program, symbol: Symbol) -> n.Expr:
    """A quantity as one expression of the numbers that were given."""
    known: dict[Symbol, n.Expr] = program.kept.setdefault("inlined", {})

    def change(part: n.Expr) -> n.Expr:
        item = program.item(part.symbol) if type(part) is n.Name else None
        if item is None:
            return part
        if item.symbol not in known:
            known[item.symbol] = n.rewrite(item.expr, change)
        return known[item.symbol]

    return change(n.Name(symbol))


def _titles(index: int, scope: tuple[Fact, ...], last: Mapping[int, int], sheet: Sheet) -> str:
    """The headings over a problem; one that a later problem shares ('what the mask changes') speaks of that one.
    `last` says for each part which problem is the last one in it."""
    parts = dict.fromkeys([p for fact in scope if last.get(p := fact.statement.part, index) <= index])
    return " / ".join(sheet.parts[part].title for part in parts if part < len(sheet.parts))


def _likeliest(scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    """Where the sheet does not say for sure whether scores are masked or scaled, its printed numbers may."""
    problem = _by_columns(_as_said(scope, found, sheet), scope, found, sheet)
    told = found.maybe_causal or (not is_masked(problem.program) and shows_triangle(scope))
    might_be = told or (looks_causal(found) and not follow_unmasked(found))
    if might_be and not is_masked(problem.program):
        masked = _problem(scope, replace(found, causal=True), sheet)
        gain = agreement_with(masked.trace, found) - agreement_with(problem.trace, found)
        if (told and gain >= 0) or (gain > 0 and explains_weights(masked.trace, found)):
            found.causal, problem = True, masked
    problem = _by_size(problem, scope, found, sheet)
    if found.divisors or found.unscaled or not is_scaled(problem.program):
        return problem
    agreed, raw = agreement_with(problem.trace, found), softens_raw_scores(problem.trace, scope)
    if agreed == most_agreement(found) and not raw:
        return problem
    plain_found = replace(found, looks_unscaled=True)
    unscaled = _problem(scope, plain_found, sheet)
    if agreement_with(unscaled.trace, found) > agreed or raw:
        found.looks_unscaled = True
        return unscaled
    return problem


def _by_size(problem: Problem, scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    """Where the numbers follow from the keys' own size and not from the d_k that is stated, that is about something
    else: 'for d_k = 64 the standard deviation is 8'."""
    if R.D_K not in found.sizes or not is_scaled(problem.program) or _is_size_of_keys(problem, found):
        return problem
    agreed = agreement_with(problem.trace, found)
    if agreed == most_agreement(found):
        return problem
    sizes: dict[Role, n.Number] = {role: size for role, size in found.sizes.items() if role is not R.D_K}
    divisors = [divisor for divisor in found.divisors if not n.is_literal(divisor)]
    own = _problem(scope, replace(found, sizes=sizes, divisors=divisors), sheet)
    if agreement_with(own.trace, found) <= agreed:
        return problem
    found.sizes = sizes
    return own


def _is_size_of_keys(problem: Problem, found: Gathering) -> bool:
    """Whether the stated d_k is the keys' own size, and the only number said of the scale: then all is said."""
    keys = problem.program.find(R.K)
    if keys is None or any(n.is_literal(divisor) for divisor in found.divisors):
        return False
    return problem.trace.value(keys).shape[0 if problem.program.columns else 1] == found.sizes[R.D_K].value


def _by_columns(problem: Problem, scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    """Where no formula says whether Q is X W_Q or W_Q X, two printed matrices or more may."""
    if found.columns or any(role in FACTORS for role in found.defined.values()) or (R.X, None) not in found.givens:
        return problem
    shown = projections_shown(found)
    if len(shown) < 2 or gives_all(problem.program, problem.trace.values(), shown):
        return problem
    turned = replace(found, columns=True)
    if takes_columns(turned) == problem.program.columns:
        return problem  # it would be the same again
    draft = _draft(scope, turned, sheet)
    if not gives_all(draft, Worked(draft, found.memory), shown):
        return problem
    found.columns = True
    return _worked_out(draft, scope, turned, sheet)


def _as_said(scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    """The problem with the heads and the mask that sentences speak of, unless the printed numbers are better explained
    without them: a sentence may tell of something else."""
    heads = (found.split or found.maybe_split or 1) if _may_split(found) else 1
    if heads < 2 and not found.rules:
        return _problem(scope, found, sheet)
    found.split = heads if heads > 1 else None
    problem = _problem(scope, found, sheet)
    agreed = agreement_with(problem.trace, found)
    if agreed == most_agreement(found):
        return problem
    silent = replace(found, split=None, rules=())
    plain = _problem(scope, silent, sheet)
    if agreement_with(plain.trace, found) <= agreed:
        return problem
    found.split, found.rules = None, ()
    return plain


def _may_split(found: Gathering) -> bool:
    """Parts of the values, side by side again, are as wide as the values; an output matrix of another height tells
    that each head has weights of its own."""
    values = found.givens.get((R.W_V, None)) or found.givens.get((R.V, None))
    output = found.givens.get((R.W_O, None))
    exprs = [given.expr for given in (values, output) if given is not None]
    shapes = [expr.shape for expr in exprs if isinstance(expr, n.Matrix)]
    return len(shapes) < 2 or shapes[0][1] == shapes[1][0] or found.columns


def _problem(scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    return _worked_out(_draft(scope, found, sheet), scope, found, sheet)


def _draft(scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Program:
    """The program with the sheet's own formulas, before its questions and before anything is worked out."""
    first = scope[0].statement
    part = sheet.parts[first.part] if first.part < len(sheet.parts) else None
    title = part.title if part else ""
    program = _template(found, title, first.at.line)
    usual, program = program, with_sheet_formulas(program, scope, found)
    if found.own_scores and not found.cosine:
        program = without_unsaid_scores(program, usual)
    return program


def _worked_out(program: Program, scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    trace = computed(workable(with_answers(program, found, sheet)), found.memory)
    program = trace.program
    resolver = Resolver(program, sizes_of(program, found), only_row=found.only_row, focus=followed(found.spoken))
    return Problem(trace, scope, resolver, tuple(found.repairs), found.otherwise)


def _template(found: Gathering, title: str, line: int) -> Program:
    """The kind of attention that the givens tell, with the sheet's other values beside it."""
    if not found.speaks:
        return Program("equations", (), (), (), title, line)
    spec = to_spec(found, title, line)
    extra = tuple(stated_names(found))
    try:
        program = plan(spec)
    except QkvError:
        program = Program("equations", tuple(spec.givens.values()), (), tuple(found.notes), title, line)
    known = {given.symbol for given in program.givens}
    first = tuple(given for given in extra if given.symbol not in known)
    return replace(program, givens=first + program.givens)
