"""SHEET → PROGRAM: every problem of a document as a program, with the facts that speak about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from qkv.errors import NameUnknownError, QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.interpret.cells import Cell, rational
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.interpret.rounding import round_digits, round_places
from qkv.interpret.shapes import Shapes
from qkv.interpret.trace import Trace
from qkv.program.kinds import default_symbol, plan
from qkv.program.model import Given, Program, Step
from qkv.sheet.model import Origin, Repair, Sheet
from qkv.understand.facts import Fact, Form, facts_of, form, mentions, place_of, plain_value
from qkv.understand.formulas import formula_role
from qkv.understand.gather import Gathering, gather, role_of_name, stated_names, to_spec
from qkv.understand.key import nearest_key, with_givens_of
from qkv.understand.resolve import Resolver, at_index, cut_symbol
from qkv.understand.roles import CAUSAL, CAUSAL_SURELY, DERIVED, FUTURE, NO_MASK, WITHOUT_SCALE
from qkv.understand.scopes import scopes

R = Role


@dataclass(frozen=True)
class Problem:
    """One problem: its program, worked out, and the facts of the document that belong to it."""

    trace: Trace
    facts: tuple[Fact, ...]
    resolver: Resolver
    repairs: tuple[Repair, ...]

    @property
    def program(self) -> Program:
        """The program."""
        return self.trace.program


def understand(sheet: Sheet, against: Sheet | None = None) -> tuple[Problem, ...]:
    """The problems of a sheet, in order; with `against`, such as the assignment, their givens come from there."""
    keys = gatherings(against) if against is not None else ()
    problems: list[Problem] = []
    earlier: Gathering | None = None
    parted = tuple(scopes(facts_of(sheet), sheet))
    mentioned = tuple(mentions(sheet.text))
    for i, scope in enumerate(parted):
        said = [formula for line, formula in mentioned if _concerns(line, i, parted)]
        title = _titles(scope, parted[i + 1 :], sheet)
        found = gather(scope, title, earlier, said)
        if keys:
            key = nearest_key(found, keys)
            found = with_givens_of(gather(scope, title, key, said), key)
        found.maybe_causal = not found.causal and _introduced_causal(i, parted, sheet)
        _import_sources(found, problems)
        problems.append(_likeliest(scope, found, sheet))
        earlier = found
    return tuple(problems)


def gatherings(sheet: Sheet) -> tuple[Gathering, ...]:
    """What each problem of a sheet gives."""
    found: list[Gathering] = []
    for scope in scopes(facts_of(sheet), sheet):
        found.append(gather(scope, _titles(scope, (), sheet), found[-1] if found else None))
    return tuple(found)


def _introduced_causal(index: int, parted: tuple[tuple[Fact, ...], ...], sheet: Sheet) -> bool:
    """Whether the paragraphs between the problem before and this one say that attention is causal."""
    begin = parted[index - 1][-1].statement.end_line if index else 0
    headings = {
        part.line for part in sheet.parts
    }  # titles are weighed on their own: they may speak of what comes later
    lines = enumerate(sheet.text.splitlines(), 1)
    within = (text for i, text in lines if begin < i <= parted[index][0].statement.at.line and i not in headings)
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

    def change(part: n.Expr) -> n.Expr:
        item = program.item(part.symbol) if isinstance(part, n.Name) else None
        return part if item is None else n.rewrite(item.expr, change)

    return n.rewrite(n.Name(symbol), change)


def _titles(scope: tuple[Fact, ...], later: tuple[tuple[Fact, ...], ...], sheet: Sheet) -> str:
    """The headings over a problem; one that a later problem shares ('what the mask changes') speaks of that one."""
    shared = {fact.statement.part for other in later for fact in other}
    parts = dict.fromkeys(p for fact in scope if (p := fact.statement.part) not in shared)
    return " / ".join(sheet.parts[part].title for part in parts if part < len(sheet.parts))


def _likeliest(scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    """Where the sheet does not say for sure whether scores are masked or scaled, its printed numbers may."""
    problem = _problem(scope, found, sheet)
    if (found.maybe_causal or _looks_causal(found)) and not _masked(problem.program):
        masked = _problem(scope, replace(found, causal=True), sheet)
        gain = agreement_with(masked.trace, found) - agreement_with(problem.trace, found)
        if (found.maybe_causal and gain >= 0) or (gain > 0 and _explains_weights(masked.trace, found)):
            found.causal, problem = True, masked
    if found.divisors or found.unscaled or not _scaled_steps(problem.program):
        return problem
    plain_found = replace(found, looks_unscaled=True)
    unscaled = _problem(scope, plain_found, sheet)
    if agreement_with(unscaled.trace, found) > agreement_with(problem.trace, found):
        found.looks_unscaled = True
        return unscaled
    return problem


def _looks_causal(found: Gathering) -> bool:
    """Printed weights with nothing above the diagonal."""
    for (role, _), matrix in found.printed.items():
        rows, columns = matrix.shape
        if role is R.WEIGHTS and rows == columns > 1 and not matrix.is_ragged:
            above = [matrix.rows[i][j] for i in range(rows) for j in range(i + 1, columns)]
            if all(isinstance(cell, n.Number) and cell.value == 0 for cell in above):
                return True
    return False


def _explains_weights(trace: Trace, found: Gathering) -> bool:
    """Whether a program gives every printed weight, to the digits shown."""
    weights = {key: matrix for key, matrix in found.printed.items() if key[0] is R.WEIGHTS}
    cells = sum(len(row) for matrix in weights.values() for row in matrix.rows)
    return agreement_with(trace, replace(found, printed=weights, cells={})) == cells


def _masked(program: Program) -> bool:
    return program.find(R.MASKED) is not None or any(item.role is R.MASKED for item in program.items)


def _scaled_steps(program: Program) -> bool:
    return any(step.role is R.SCALED for step in program.steps)


def agreement_with(trace: Trace, found: Gathering) -> int:
    """How many printed cells of weights and outputs a program explains, to the digits shown."""
    count = 0
    for (role, head), matrix in found.printed.items():
        symbol = trace.program.find(role, head)
        if role not in (R.WEIGHTS, R.SCALED, R.MASKED, R.OUTPUT, R.HEAD, R.CONTEXT) or symbol is None:
            continue
        value = trace.value(symbol)
        if value.shape == matrix.shape and not matrix.is_ragged:
            pairs = zip(value.rows, matrix.rows, strict=True)
            count += sum(_rounds_to(x, y) for a, b in pairs for x, y in zip(a, b, strict=True))
    for (role, row, column), shown in found.cells.items():
        symbol = trace.program.find(role)
        value_rows = trace.value(symbol).rows if symbol is not None else ()
        if role is R.WEIGHTS and row <= len(value_rows) and column <= len(value_rows[0]):
            count += _rounds_to(value_rows[row - 1][column - 1], shown)
    return count


def _rounds_to(cell: Cell, shown: n.Expr) -> bool:
    if not isinstance(shown, n.Number) or shown.places is None:
        return False
    return round_places(cell, shown.places) == round_places(rational(shown.value), shown.places)


def _problem(scope: tuple[Fact, ...], found: Gathering, sheet: Sheet) -> Problem:
    first = scope[0].statement
    part = sheet.parts[first.part] if first.part < len(sheet.parts) else None
    title = part.title if part else ""
    program = _template(found, title, first.at.line)
    program = _with_sheet_formulas(program, scope, found)
    program = _without_scale(program, scope, sheet)
    program = _with_mask(program, scope, sheet)
    program = _with_future(program, scope, sheet)
    program = _computable(_workable(program))
    resolver = Resolver(program, _sizes(program, found), only_row=found.only_row)
    return Problem(Trace(program), scope, resolver, tuple(found.repairs))


def _sizes(program: Program, found: Gathering) -> dict[Role, n.Number]:
    """Sizes by name: as the sheet states them, else as the matrices have them."""
    sizes = {role: n.number(int(size.value)) for role, size in found.sizes.items()}
    shapes = _shapes(program)
    for role, of in ((R.D_K, R.K), (R.D_V, R.V), (R.D_MODEL, R.X)):
        shape = next((shapes[i.symbol] for i in program.items if i.role is of and i.symbol in shapes), None)
        if shape is not None:
            sizes.setdefault(role, n.number(shape[0 if program.columns else 1]))
    return sizes


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


def _without_scale(program: Program, scope: tuple[Fact, ...], sheet: Sheet) -> Program:
    """'Without 1/√d_k, which weight …?': the weights as they would be unscaled, beside the scaled ones."""
    first, last = scope[0].statement.at.line, scope[-1].statement.end_line
    asked = any(WITHOUT_SCALE.search(q.text) for q in sheet.questions if first <= q.line <= last)
    scores, scaled = program.find(R.SCORES), program.find(R.SCALED)
    if not asked or scores is None or scaled is None:
        return program
    weights = Symbol("A", ("unscaled",))
    step = Step(weights, n.Softmax(n.Name(scores)), R.OTHER, symbol_plain(weights), says="weights without the scale")
    return _with_step(program, step)


def _asked_later(pattern: re.Pattern[str], scope: tuple[Fact, ...], sheet: Sheet) -> bool:
    """Whether a question of a problem, or after the last one, speaks of something."""
    first = scope[0].statement.at.line
    return any(pattern.search(q.text) for q in sheet.questions if first <= q.line)


def _with_future(program: Program, scope: tuple[Fact, ...], sheet: Sheet) -> Program:
    """'How much weight goes to the future?': for each token, the weight on the tokens after it."""
    weights = program.find(R.WEIGHTS)
    shape = _shapes(program).get(weights) if weights is not None else None
    if weights is None or shape is None or shape[0] != shape[1] or not _asked_later(FUTURE, scope, sheet):
        return program
    size = shape[0]
    sums: list[n.Expr] = [
        n.Sum(tuple(n.Entry(n.Name(weights), i, j) for j in range(i + 1, size + 1))) for i in range(1, size)
    ]
    rows = tuple((total,) for total in (*sums, n.number(0)))
    symbol = Symbol("future")
    return _with_step(program, Step(symbol, n.Matrix(rows), R.OTHER, "future", says="weight on later tokens"))


def _with_mask(program: Program, scope: tuple[Fact, ...], sheet: Sheet) -> Program:
    """'Do it again with a causal mask': the masked weights and output, beside the open ones."""
    first, last = scope[0].statement.at.line, scope[-1].statement.end_line
    later = (
        q for q in sheet.questions if first <= q.line and (q.line <= last or sheet.statements[-1].end_line <= last)
    )
    scores = program.find(R.SCALED) or program.find(R.SCORES)
    weights, output = program.find(R.WEIGHTS), program.find(R.OUTPUT)
    masked = program.find(R.MASKED) or program.find(R.MASK)
    if scores is None or weights is None or masked is not None or not any(CAUSAL.search(q.text) for q in later):
        return program
    a, z = Symbol("A", ("causal",)), Symbol("Output", ("causal",))
    step = Step(
        a, n.Softmax(n.Mask(n.Name(scores)), by_rows=True), R.OTHER, symbol_plain(a), says="weights with a causal mask"
    )
    program = _with_step(program, step)
    item = program.item(output) if output is not None else None
    if item is None:
        return program
    mixed = n.rewrite(item.expr, lambda part: n.Name(a) if part == n.Name(weights) else part)
    return _with_step(program, Step(z, mixed, R.OTHER, symbol_plain(z), says="output with a causal mask"))


def _with_sheet_formulas(program: Program, scope: tuple[Fact, ...], found: Gathering) -> Program:
    """The sheet's own formulas win over the template, and its further equations become further steps."""
    for fact in scope:
        if fact.statement.struck or fact.statement.origin is Origin.CODE or not fact.subjects:
            continue
        program = _with_formula(program, fact, found)
    return program


def _with_formula(program: Program, fact: Fact, found: Gathering) -> Program:
    symbol, formula = fact.subjects[0].symbol, fact.formula
    place = place_of(symbol, fact.head)
    if formula is not None and _has_decimals(formula):
        return program
    if formula is None:
        return _with_working(program, fact, symbol)
    if place.generic and not all(program.item(name) for name in n.names_in(formula)):
        return _token_by_token(program, symbol, formula, found)
    role = None if place.generic else formula_role(formula, role_of_name(found, fact.head))  # type: ignore[arg-type]
    resolver = Resolver(program, _sizes(program, found))
    meant = resolver.expr(formula, fact.head)
    shape = _shape(program, meant) if meant is not None else None
    known = resolver.name(symbol, fact.head)
    if meant is None or shape is None or program.item(symbol) is not None:
        return program
    if known is not None and (place.row is None or _same(program, known, meant)):
        return program
    if place.row is not None and place.column is None and place.roles[:1] and place.roles[0] in (R.Q, R.K, R.V):
        general = _for_all_tokens(program, symbol, formula, found)
        if general is not program:
            return general
    line = fact.statement.at.line
    return _with_step(program, Step(symbol, meant, role or R.OTHER, symbol_plain(symbol), place.head, line))


def _for_all_tokens(program: Program, symbol: Symbol, formula: n.Expr, found: Gathering) -> Program:
    """q_1 = W_Q x_1 where rows would give something else: the convention of the sheet, for every token."""
    number = symbol.indices[-1]

    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and part.symbol.indices == (number,):
            return n.Name(replace(part.symbol, indices=("i",)))
        return part

    return _token_by_token(program, replace(symbol, indices=("i",)), n.rewrite(formula, change), found)


def _same(program: Program, known: n.Expr, meant: n.Expr) -> bool:
    """Whether a name's usual meaning and the sheet's formula come to the same; if not, the formula defines it."""
    trace = Trace(_workable(program))
    try:
        a, b = trace.evaluate(known), trace.evaluate(meant)
    except QkvError:
        return False
    if a.shape != b.shape and a.shape != b.shape[::-1]:
        return False
    cells = zip((c for row in a.rows for c in row), (c for row in b.rows for c in row), strict=True)
    return all(round_digits(x, 9) == round_digits(y, 9) for x, y in cells)


def _with_working(program: Program, fact: Fact, symbol: Symbol) -> Program:
    """δ_1 = 0 + 3 − 1 = 2 of an unexplained name is a step of its own; a vector printed as rows is cut."""
    if fact.working is None and fact.value is not None and program.item(symbol) is not None:
        return _with_cut(program, fact.value.expr, symbol)
    if fact.working is None or fact.pending or Resolver(program).name(symbol, fact.head) is not None:
        return program
    if not _fits(program, fact.working.expr):
        return program
    return _with_step(
        program, Step(symbol, fact.working.expr, R.OTHER, symbol_plain(symbol), None, fact.statement.at.line)
    )


def _with_cut(program: Program, shown: n.Expr, symbol: Symbol) -> Program:
    """q_t with four entries, printed again as two rows: one row a head."""
    shape, value = _shapes(program).get(symbol), plain_value(shown)
    if shape is None or value is None or 1 not in shape or min(value.shape) == 1 or value.is_ragged:
        return program
    height, width = value.shape
    if height * width != shape[0] * shape[1]:
        return program
    entries = [n.Entry(n.Name(symbol), *((1, k) if shape[0] == 1 else (k, 1))) for k in range(1, height * width + 1)]
    rows = tuple(tuple(entries[i * width : (i + 1) * width]) for i in range(height))
    cut = cut_symbol(symbol)
    return _with_step(program, Step(cut, n.Matrix(rows), R.OTHER, symbol_plain(cut), says="one row a head"))


def _with_step(program: Program, step: Step) -> Program:
    return replace(program, steps=(*program.steps, step))


def _has_decimals(expr: n.Expr) -> bool:
    """Printed decimals inside a formula: the author has put rounded numbers in."""
    return any(isinstance(part, n.Number) and (part.places or 0) > 0 for part in n.walk(expr))


def _token_by_token(program: Program, symbol: Symbol, formula: n.Expr, found: Gathering) -> Program:
    """q_i = W_Q x_i for every token, and the matrix that they make up."""
    letters = [x for x in symbol.indices if not x.isdigit()]
    roles = place_of(symbol).roles
    if len(letters) != 1 or not roles or any(isinstance(part, n.Softmax) for part in n.walk(formula)):
        return program
    role, count = roles[0], _tokens(program, formula, letters[0])
    held = program.find(role)
    first = Symbol(symbol.base, symbol.labels, tuple("1" if x == letters[0] else x for x in symbol.indices))
    if role not in (R.Q, R.K, R.V, R.SCORES) or count == 0 or any(step.symbol == first for step in program.steps):
        return program
    if held is not None and _is_given(program, held):
        return program
    steps = []
    for i in range(1, count + 1):
        meant = Resolver(program).expr(at_index(formula, letters[0], i))
        if meant is None or not _fits(program, meant):
            return program
        name = Symbol(symbol.base, symbol.labels, tuple(str(i) if x == letters[0] else x for x in symbol.indices))
        steps.append(Step(name, meant, R.OTHER, symbol_plain(name), says="token by token"))
    return _replace_matrix(program, role, held, steps)


def _replace_matrix(program: Program, role: Role, held: Symbol | None, steps: list[Step]) -> Program:
    symbol = held or default_symbol(role)
    parts = tuple(n.Name(step.symbol) for step in steps)
    whole: n.Expr = n.Concat(parts, axis=1)
    if role is not R.SCORES:
        whole = n.Concat(tuple(n.Transpose(part) for part in parts), axis=0)
    matrix = Step(symbol, whole, role, symbol_plain(symbol), says="the tokens together")
    kept = [step for step in program.steps if step.symbol != symbol]
    at = next((i for i, step in enumerate(program.steps) if step.symbol == symbol), 0)
    merged = (*kept[:at], *steps, matrix, *kept[at:])
    return replace(program, steps=_ordered(merged, program.givens))


def _is_given(program: Program, symbol: Symbol) -> bool:
    return any(given.symbol == symbol for given in program.givens)


def _tokens(program: Program, formula: n.Expr, letter: str) -> int:
    """How many tokens an index letter runs over."""
    shapes = _shapes(program)
    for symbol in n.names_in(formula):
        if letter in symbol.indices:
            first = Resolver(program).name(Symbol(symbol.base, symbol.labels, ("1",)))
            for item in program.items:
                if first is not None and any(s == item.symbol for s in n.names_in(first)) and item.symbol in shapes:
                    if isinstance(first, n.Name):
                        return _count_numbered(program, symbol)
                    return shapes[item.symbol][0]
    return 0


def _count_numbered(program: Program, symbol: Symbol) -> int:
    count = 0
    while program.item(Symbol(symbol.base, symbol.labels, (str(count + 1),))) is not None:
        count += 1
    return count


def _shapes(program: Program) -> dict[Symbol, tuple[int, int]]:
    if "shapes" in program.kept:
        known: dict[Symbol, tuple[int, int]] = program.kept["shapes"]
        return known
    env: dict[Symbol, tuple[int, int]] = {}
    items: tuple[Given | Step, ...] = (*program.givens, *program.steps)
    for item in items:
        if isinstance(item.expr, n.Matrix) and not item.expr.is_ragged and n.is_plain(item.expr):
            env[item.symbol] = item.expr.shape
            continue
        try:
            env[item.symbol] = evaluate(item.expr, env, Shapes())
        except QkvError:
            continue
    program.kept["shapes"] = env
    return env


def _shape(program: Program, expr: n.Expr) -> tuple[int, int] | None:
    try:
        return evaluate(expr, _shapes(program), Shapes())
    except QkvError:
        return None


def _fits(program: Program, expr: n.Expr) -> bool:
    return _shape(program, expr) is not None


def _ordered(steps: Iterable[Step], givens: tuple[Given, ...]) -> tuple[Step, ...]:
    """Steps in an order in which each uses only what stands before it; those that never can are left out."""
    done = {given.symbol for given in givens}
    waiting = [(step, set(n.names_in(step.expr))) for step in steps]
    ordered: list[Step] = []
    while True:
        ready = next((pair for pair in waiting if pair[1] <= done), None)
        if ready is None:
            break
        ordered.append(ready[0])
        done.add(ready[0].symbol)
        waiting.remove(ready)
    return tuple(ordered)


def _workable(program: Program) -> Program:
    """Leave out what cannot be worked: shapes that do not fit, rows masked everywhere; and say so."""
    env: dict[Symbol, tuple[int, int]] = {}
    givens, steps, notes = [], [], list(program.notes)
    for given in program.givens:
        if _evaluates(given, env, notes):
            givens.append(given)
    for step in _ordered(program.steps, program.givens):
        if all(symbol in env for symbol in n.names_in(step.expr)) and _evaluates(step, env, notes):
            steps.append(step)
    return replace(program, givens=tuple(givens), steps=tuple(steps), notes=tuple(notes))


def _computable(program: Program) -> Program:
    """Leave out what has no value (a row masked everywhere, a division by zero) and what stands on it; and say so."""
    try:
        Trace(program).values()
    except QkvError:
        pass
    else:
        return program
    env: dict[Symbol, Value] = {}
    kept: list[Given | Step] = []
    notes = list(program.notes)
    items: tuple[Given | Step, ...] = (*program.givens, *program.steps)
    for item in items:
        try:
            env[item.symbol] = evaluate(item.expr, env, Certified())
        except NameUnknownError:
            continue  # it stands on something that was left out, which was said
        except QkvError as error:
            notes.append(f"{item.spelled} cannot be worked out: {error.message}")
            continue
        kept.append(item)
    givens = tuple(item for item in kept if isinstance(item, Given))
    steps = tuple(item for item in kept if isinstance(item, Step))
    return replace(program, givens=givens, steps=steps, notes=tuple(notes))


def _evaluates(item: Given | Step, env: dict[Symbol, tuple[int, int]], notes: list[str]) -> bool:
    try:
        env[item.symbol] = evaluate(item.expr, env, Shapes())
    except QkvError as error:
        what = item.spelled if isinstance(item, Given) else f"{item.spelled} = {plain(item.expr)}"
        notes.append(f"{what} cannot be worked out: {error.message}")
        return False
    return True


def derived_facts(problem: Problem) -> Iterator[Fact]:
    """Facts that speak of something worked out."""
    for fact in problem.facts:
        if any(place_of(name.symbol).roles[:1] and place_of(name.symbol).roles[0] in DERIVED for name in fact.subjects):
            yield fact


def has_formula(fact: Fact) -> bool:
    """Whether a fact has an expression with names."""
    return any(form(link.expr) is Form.FORMULA for link in fact.links)
