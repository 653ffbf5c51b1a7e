"""The sheet's own formulas: they win over the usual steps, and its further equations become further steps."""

from __future__ import annotations

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol, shared_symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.rounding import round_digits
from qkv.program.model import Program, Step
from qkv.program.spec import default_symbol
from qkv.records import replace
from qkv.sheet.model import Origin
from qkv.understand.evidence import vectors_met
from qkv.understand.facts import Fact
from qkv.understand.formulas import formula_role, sums_scores
from qkv.understand.gather import role_of_name
from qkv.understand.gathering import FACTORS, Gathering
from qkv.understand.places import place_of
from qkv.understand.resolve import Resolver, at_index, cut_symbol
from qkv.understand.workable import (
    Memory,
    Shape,
    Worked,
    fits,
    ordered_steps,
    shape_in,
    shapes_of,
    with_step,
    with_steps,
)

R = Role


def sizes_of(program: Program, found: Gathering) -> dict[Role, n.Number]:
    """Sizes by name: as the sheet states them, else as the matrices have them; worked out once for a program."""
    if "sizes" in program.kept:
        known: dict[Role, n.Number] = program.kept["sizes"]
        return known
    sizes = {role: n.number(int(size.value)) for role, size in found.sizes.items()}
    shapes = shapes_of(program)
    for role, of in ((R.D_K, R.K), (R.D_V, R.V), (R.D_MODEL, R.X)):
        shape = next((shapes[i.symbol] for i in program.items if i.role is of and i.symbol in shapes), None)
        if shape is not None:
            sizes.setdefault(role, n.number(shape[0 if program.columns else 1]))
    program.kept["sizes"] = sizes
    return sizes


def with_sheet_formulas(program: Program, scope: tuple[Fact, ...], found: Gathering) -> Program:
    """The sheet's own formulas win over the template, and its further equations become further steps."""
    for fact in scope:
        if fact.statement.struck or fact.statement.origin is Origin.CODE or not fact.subjects:
            continue
        if fact.formula is not None:
            program = _with_formula(program, fact, fact.formula, found)
        elif fact.working is not None or (
            fact.shown is not None and len(fact.shown.rows) > 1 < len(fact.shown.rows[0])
        ):
            program = _with_working(program, fact, fact.subjects[0].symbol)
    return _as_columns(_in_the_same_way(program, scope, found), scope, found)


def _as_columns(program: Program, scope: tuple[Fact, ...], found: Gathering) -> Program:
    """Where no formula says whether q_i is x_i W_Q or W_Q x_i, the printed vectors do."""
    tokens = [given.symbol for (role, _), given in found.tokens.items() if role is R.X]
    if not tokens or not found.claimed_tokens:
        return program
    if _said(scope):
        return program
    turned, token = program, n.Name(tokens[0]._replace(indices=("i",)))
    for role in (R.Q, R.K, R.V):
        weights = program.find(FACTORS[role][1])
        if weights is not None:
            name = Symbol(default_symbol(role).base.lower(), (), ("i",))
            turned = _token_by_token(turned, name, n.Product(n.Name(weights), token), found)
    return turned if turned is not program and vectors_met(turned, found) > vectors_met(program, found) else program


def _in_the_same_way(program: Program, scope: tuple[Fact, ...], found: Gathering) -> Program:
    """q_i = W_Q x_i, 'and so on': keys and values are made as queries are, where nothing else is said."""
    said = _said(scope)
    for role, fact in said.items():
        symbol, formula = fact.subjects[0].symbol, fact.formula
        if formula is None or len(symbol.indices) != 1 or not _worked_by_token(program, symbol):
            continue
        general, formula = _generalised(symbol, formula)
        for other in (R.Q, R.K, R.V):
            weights = program.find(FACTORS[other][1])
            if other not in said and weights is not None:
                name = general._replace(base=_like(symbol.base, default_symbol(other).base))
                program = _token_by_token(program, name, _with_weights(formula, FACTORS[role][1], weights), found)
    return program


def _said(scope: tuple[Fact, ...]) -> dict[Role, Fact]:
    """The last formula for queries, for keys and for values."""
    named = [(fact, fact.symbol) for fact in scope if fact.formula is not None and fact.symbol is not None]
    roles = [(role, fact) for fact, symbol in named for role in place_of(symbol, fact.head).roles[:1]]
    return {role: fact for role, fact in roles if role in FACTORS}


def _worked_by_token(program: Program, symbol: Symbol) -> bool:
    return program.item(symbol._replace(indices=("1",))) is not None


def _like(letter: str, other: str) -> str:
    return other.lower() if letter.islower() else other.upper()


def _with_weights(formula: n.Expr, role: Role, weights: Symbol) -> n.Expr:
    def change(part: n.Expr) -> n.Expr:
        mine = isinstance(part, n.Name) and place_of(part.symbol).roles[:1] == (role,)
        return n.Name(weights) if mine else part

    return n.rewrite(formula, change)


def without_unsaid_scores(program: Program, usual: Program) -> Program:
    """Where a sheet scores by a formula of its own and that cannot be followed, its scores are not dot products."""
    scores = program.find(R.SCORES)
    step = program.item(scores) if scores is not None else None
    followed = step is not None and (step not in usual.steps or any(isinstance(x, n.Tanh) for x in n.walk(step.expr)))
    if followed:
        return program
    kept = tuple(step for step in program.steps if step.role is not R.SCORES)
    return replace(program, steps=ordered_steps(kept, program.givens))


def _with_formula(program: Program, fact: Fact, formula: n.Expr, found: Gathering) -> Program:
    symbol = fact.subjects[0].symbol
    place = place_of(symbol, fact.head)
    if _has_decimals(formula):
        return program
    if place.generic and not program.by_symbol.keys() >= set(n.names_in(formula)):
        return _token_by_token(program, symbol, formula, found)
    held = program.item(symbol)
    if held is not None:
        own = isinstance(held, Step) and sums_scores(formula, role_of_name(found, fact.head))  # type: ignore[arg-type]
        meant = Resolver(program, sizes_of(program, found)).expr(formula, fact.head) if own else None
        return program if meant is None else _redefined(program, symbol, symbol, meant)
    resolver = Resolver(program, sizes_of(program, found))
    meant = next((expr for expr in resolver.readings(formula, fact.head) if fits(program, expr)), None)
    known = resolver.name(symbol, fact.head)
    if meant is None:
        return program
    if known is not None and _same(program, known, meant, found.memory):
        return program
    if isinstance(known, n.Name) and known.symbol not in found.spoken:
        return _redefined(program, known.symbol, symbol, meant)
    if place.row is not None and place.column is None and place.roles[:1] and place.roles[0] in (R.Q, R.K, R.V):
        general = _for_all_tokens(program, symbol, formula, found)
        if general is not program:
            return general
    role = None if place.generic else formula_role(formula, role_of_name(found, fact.head))  # type: ignore[arg-type]
    line = fact.statement.at.line
    return with_step(program, Step(symbol, meant, role or R.OTHER, symbol_plain(symbol), place.head, line))


def _redefined(program: Program, usual: Symbol, symbol: Symbol, meant: n.Expr) -> Program:
    """The sheet's own formula in place of the usual step for the same quantity, which it never mentions."""
    if usual in n.names_in(meant) or shape_in(program, meant) != shapes_of(program).get(usual):
        return program

    def change(part: n.Expr) -> n.Expr:
        return n.Name(symbol) if isinstance(part, n.Name) and part.symbol == usual else part

    steps = (
        replace(step, symbol=symbol, expr=meant, spelled=symbol_plain(symbol))
        if step.symbol == usual
        else replace(step, expr=n.rewrite(step.expr, change))
        for step in program.steps
    )
    return replace(program, steps=ordered_steps(steps, program.givens))


def _for_all_tokens(program: Program, symbol: Symbol, formula: n.Expr, found: Gathering) -> Program:
    """q_1 = W_Q x_1 where rows would give something else: the convention of the sheet, for every token."""
    return _token_by_token(program, *_generalised(symbol, formula), found)


def _generalised(symbol: Symbol, formula: n.Expr) -> tuple[Symbol, n.Expr]:
    """q_1 = W_Q x_1 as q_i = W_Q x_i."""
    number = symbol.indices[-1]
    if not number.isdigit():
        return symbol, formula

    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and part.symbol.indices == (number,):
            return n.Name(part.symbol._replace(indices=("i",)))
        return part

    return symbol._replace(indices=("i",)), n.rewrite(formula, change)


def _same(program: Program, known: n.Expr, meant: n.Expr, memory: Memory) -> bool:
    """Whether a name's usual meaning and the sheet's formula come to the same; if not, the formula defines it."""
    worked = Worked(program, memory)
    try:
        a, b = worked.evaluate(known), worked.evaluate(meant)
    except QkvError:
        return False
    if a.shape != b.shape and a.shape != b.shape[::-1]:
        return False
    cells = zip((c for row in a.rows for c in row), (c for row in b.rows for c in row), strict=True)
    return all(round_digits(x, 9) == round_digits(y, 9) for x, y in cells)


def _with_working(program: Program, fact: Fact, symbol: Symbol) -> Program:
    """δ_1 = 0 + 3 − 1 = 2 of an unexplained name is a step of its own; a vector printed as rows is cut."""
    if fact.working is None and fact.value is not None and program.item(symbol) is not None:
        return _with_cut(program, fact.shown, symbol)
    if fact.working is None or fact.pending or Resolver(program).name(symbol, fact.head) is not None:
        return program
    if not fits(program, fact.working.expr) or _may_be_score(program, symbol):
        return program
    return with_step(
        program, Step(symbol, fact.working.expr, R.OTHER, symbol_plain(symbol), None, fact.statement.at.line)
    )


def _may_be_score(program: Program, symbol: Symbol) -> bool:
    """s_2 = 4/√2 where no state attends."""
    place = place_of(symbol)
    scored = R.SCORES in place.roles and place.row is not None
    return scored and program.find(R.SOURCE) is None and program.find(R.SCORES) is not None


def _with_cut(program: Program, value: n.Matrix | None, symbol: Symbol) -> Program:
    """q_t with four entries, printed again as two rows: one row a head."""
    if value is None or min(value.shape) == 1 or value.is_ragged:
        return program
    shape = shapes_of(program).get(symbol)
    height, width = value.shape
    if shape is None or 1 not in shape or height * width != shape[0] * shape[1]:
        return program
    entries = [n.Entry(n.Name(symbol), *((1, k) if shape[0] == 1 else (k, 1))) for k in range(1, height * width + 1)]
    rows = tuple(tuple(entries[i * width : (i + 1) * width]) for i in range(height))
    cut = cut_symbol(symbol)
    return with_step(program, Step(cut, n.Matrix(rows), R.OTHER, symbol_plain(cut), says="one row a head"))


def _has_decimals(expr: n.Expr) -> bool:
    """Printed decimals inside a formula: the author has put rounded numbers in."""
    if n.kinds_in(expr).isdisjoint((n.Number, n.Matrix)):
        return False
    return any(isinstance(part, n.Number) and (part.places or 0) > 0 for part in n.walk(expr))


def _token_by_token(program: Program, symbol: Symbol, formula: n.Expr, found: Gathering) -> Program:
    """q_i = W_Q x_i for every token, and the matrix that they make up."""
    letters = [x for x in symbol.indices if not x.isdigit()]
    roles = place_of(symbol).roles
    if len(letters) != 1 or not roles or n.holds(formula, n.Softmax):
        return program
    role = roles[0]
    held = program.find(role)
    if role not in (R.Q, R.K, R.V, R.SCORES) or isinstance(program.item(_at(symbol, letters[0], 1)), Step):
        return program
    if held is not None and _is_given(program, held):
        return program
    resolver = Resolver(program)
    count = _tokens(resolver, formula, letters[0])
    if count == 0:
        return program
    steps: list[Step] = []
    shapes: dict[Symbol, Shape] = {}
    for i, one in enumerate(_of_each(formula, letters[0], count, found), 1):
        meant = resolver.expr(one)
        shape = shape_in(program, meant) if meant is not None else None
        if meant is None or shape is None:
            return program
        name = _at(symbol, letters[0], i)
        steps.append(Step(name, meant, R.OTHER, symbol_plain(name), says="token by token"))
        shapes[name] = shape
    return _replace_matrix(program, role, held, steps, shapes)


def _of_each(formula: n.Expr, letter: str, count: int, found: Gathering) -> list[n.Expr]:
    """A formula for each token; the same objects in all programs that are weighed, so that they share the values."""
    key = id(formula), letter, count
    if key not in found.by_token:
        found.by_token[key] = formula, [at_index(formula, letter, i) for i in range(1, count + 1)]
    return found.by_token[key][1]


def _at(symbol: Symbol, letter: str, number: int) -> Symbol:
    """q_2 for q_i."""
    return shared_symbol(symbol.base, symbol.labels, tuple([str(number) if x == letter else x for x in symbol.indices]))


def _replace_matrix(
    program: Program, role: Role, held: Symbol | None, steps: list[Step], shapes: dict[Symbol, Shape]
) -> Program:
    symbol = held or default_symbol(role)
    parts: list[n.Expr] = [n.Name(step.symbol) for step in steps]
    if role is not R.SCORES and 1 in [columns for _, columns in shapes.values()]:
        parts = [n.Transpose(part) for part in parts]  # W_Q x_i is a column, x_i W_Q a row
    whole = n.Concat(tuple(parts), axis=1 if role is R.SCORES else 0)
    matrix = Step(symbol, whole, role, symbol_plain(symbol), says="the tokens together")
    kept = [step for step in program.steps if step.symbol != symbol]
    at = next((i for i, step in enumerate(program.steps) if step.symbol == symbol), 0)
    merged = (*kept[:at], *steps, matrix, *kept[at:])
    return with_steps(program, merged, shapes)


def _is_given(program: Program, symbol: Symbol) -> bool:
    return symbol in [given.symbol for given in program.givens]


def _tokens(resolver: Resolver, formula: n.Expr, letter: str) -> int:
    """How many tokens an index letter runs over."""
    shapes = shapes_of(resolver.program)
    for symbol in n.names_in(formula):
        first = resolver.name(shared_symbol(symbol.base, symbol.labels, ("1",))) if letter in symbol.indices else None
        whole = next((s for s in n.names_in(first) if s in shapes), None) if first is not None else None
        if whole is not None:
            return _count_numbered(resolver.program, symbol) if isinstance(first, n.Name) else shapes[whole][0]
    return 0


def _count_numbered(program: Program, symbol: Symbol) -> int:
    count = 0
    while program.item(shared_symbol(symbol.base, symbol.labels, (str(count + 1),))) is not None:
        count += 1
    return count
