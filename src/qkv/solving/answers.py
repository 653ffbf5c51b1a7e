"""Questions → answers: each with the quantities that it asks for, in the names of a program, and what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.certified import Value
from qkv.library.asked import is_named, operand_said
from qkv.library.roles import SCORE_LIKE, Place
from qkv.library.said import Method
from qkv.program.model import Answer, Given, Part, Program, Step
from qkv.reading.asked import words_without
from qkv.reading.choose import END
from qkv.reading.equation import Kind
from qkv.reading.missing import Gap, gaps_of_expr, gaps_of_role, said
from qkv.reading.naming import role_symbol
from qkv.reading.page import Page, Spot
from qkv.reading.proposed import proposed
from qkv.reading.system import LINE, System
from qkv.regex import regex
from qkv.solving.kinds import Assumption
from qkv.solving.known import known_values
from qkv.solving.parts import asked_in
from qkv.solving.replies import Completion, in_words, is_beside, token_called
from qkv.solving.supposed import called
from qkv.solving.wanted import Item, Wanted, decimals_said, wanted, without_maths

_REFERS = regex(r"\((\w)\)\W*$")
UNNAMED = 'no quantity that can be worked out is named; --ask NAME names one, --let "NAME = …" says what it is'
BELOW = 3  # lines from a question to its formula
_SHARED = frozenset({Role.CONCAT, Role.OUTPUT})  # one for all heads
_LIKE = {Role.HEAD: (Role.OUTPUT, Role.HEAD), Role.OUTPUT: (Role.OUTPUT, Role.HEAD)}


def answers_of(problem: Completion, questions: Sequence[Item], assumed: Sequence[Assumption]) -> Iterator[Answer]:
    """The answers to the questions of a problem, in their order."""
    page = problem.system.page
    numbered = (sentence for item in questions if item.label for sentence in item.sentences)
    everywhere = decimals_said(words_without(page.words_of(problem.scope), numbered))
    tokens = page.tokens.get(problem.scope) or next(iter(page.tokens.values()), ()) or _labels(problem.system)
    worked = {j.equation.line for j in problem.judged if j.fit is not None}
    methods: dict[str, tuple[Method, ...]] = {}
    for item in questions:
        if item.told is None and item.line in worked:
            continue  # a step that the page works out itself
        asked = wanted(_with_display(item, page), page.sheet, tokens)
        if (found := _REFERS.search(item.text)) is not None:  # 'the weight of token 1 in (a)'
            asked = [each._replace(methods=each.methods or methods.get(found[1], ())) for each in asked]
        methods[item.label.strip("()")] = tuple(method for each in asked for method in each.methods)
        parts = tuple(dict.fromkeys(part for each in asked for part in _parts(problem, each, item.line)))
        parts = () if _are_operands(parts, item.text) else parts
        named = asked_in(without_maths(item.text), problem.steps.values())
        parts = tuple(dict.fromkeys((*parts, *(Part(step.spelled, n.Name(step.symbol)) for step in named))))
        words = (in_words(problem, each, parts) for each in asked)
        digits = next((each.digits for each in asked if each.digits), None)
        places = next((each.places for each in asked if each.places is not None), None if digits else everywhere)
        says = "; ".join(filter(None, words))
        gaps = [] if parts or says else _gaps(problem, asked)
        missing = "" if parts or says else _missing(asked, gaps)
        if missing == UNNAMED and not item.label:
            continue  # a heading that only sounds like a question
        below = list(_standing_on(problem, parts))
        notes = tuple(each.says for each in assumed if each.holds_for(below))
        lets = tuple(gap.let for gap in gaps if gap.written)
        yield Answer(item.label, item.text, item.line, parts, places, says, notes, missing, lets, digits)


def _are_operands(parts: Sequence[Part], question: str) -> bool:
    """Whether a question names quantities only to have something done to them: 'apply layer norm to each row of R'."""
    said = operand_said(question)
    return bool(said) and all(is_named(part.name.partition("[")[0], said) for part in parts)


def _labels(system: System) -> tuple[str, ...]:
    """The words in the scripts of names that are rows of one role: the A and B of k_A, k_B."""
    roles = (Role.X, Role.K, Role.STATES, Role.Q, Role.V)
    rows = ([place.row for _, place in system.members(role) if place.row and place.row.isalpha()] for role in roles)
    return next((tuple(dict.fromkeys(found)) for found in rows if len(found) > 1), ())


def _standing_on(problem: Completion, parts: Iterable[Part]) -> Iterator[Given | Step]:
    """The quantities that an answer stands on, down to what is given."""
    known: dict[Symbol, Given | Step] = {**problem.givens, **problem.steps}
    open_, seen = [symbol for part in parts for symbol in n.names_in(part.expr)], set[Symbol]()
    while open_:
        symbol = open_.pop()
        if symbol in known and symbol not in seen:
            seen.add(symbol)
            yield known[symbol]
            open_ += n.names_in(known[symbol].expr)


def _with_display(item: Item, page: Page) -> Item:
    """A question asks for what its one formula defines, 'Compute ∂L/∂z = p − y', or the one below it."""
    own = [e.names[0] for e in page.own if e.line == item.line and e.names and e.of(Kind.FORMULA)]
    if item.told is None and len(own) == 1 and "=" in item.text and "∂" in own[0].base:
        return item._replace(told=n.Name(own[0]))
    if item.told is not None or item.text.rstrip().endswith((".", "?", "!", "。", "？")):
        return item
    below = (e for e in page.own if item.line < e.line <= item.line + BELOW and not e.of(Kind.VALUE) and e.names)
    name = next((n.Name(equation.names[0]) for equation in below), None)
    return item._replace(told=name) if name is not None else item


SHORT = 120  # characters of an answer that stands below its question; a longer one is pointed to


def with_theory(programs: Iterable[Program], theory: Iterable[Program]) -> Iterator[Program]:
    """Programs whose questions about theory say where their answer stands."""
    found = list(theory)
    titles = {program.line: program.title for program in found}
    brief = {p.line: p.notes[0].removesuffix(".") for p in found if len(p.notes) == 1 and len(p.notes[0]) <= SHORT}
    worked = sorted(((p.line, p.title) for p in found if p.steps), reverse=True)  # plans and costs, with numbers

    def pointed(answer: Answer) -> Answer:
        if answer.parts or answer.says:
            return answer
        if answer.line in brief:
            return replace(answer, says=brief[answer.line], missing="", lets=())
        title = titles.get(answer.line) or next((title for line, title in worked if line <= answer.line), "")
        return replace(answer, says=f"see “{title}”", missing="", lets=()) if title else answer

    for program in programs:
        yield replace(program, answers=tuple(map(pointed, program.answers)))


def settled(programs: Sequence[Program]) -> list[Program]:
    """Programs of one document: what was asked for beside the page, and one of them answers, is missing in no other."""
    answered = {answer.text for p in programs for answer in p.answers if not answer.line and answer.parts}

    def is_news(answer: Answer) -> bool:
        return bool(answer.line or answer.parts) or answer.text not in answered

    return [replace(p, answers=tuple(filter(is_news, p.answers))) for p in programs]


def _missing(asked: Sequence[Wanted], gaps: Sequence[Gap]) -> str:
    """Why a question has no answer."""
    if all(each.in_words for each in asked):
        return "this asks for words, not for a quantity"
    return said(gaps) if gaps else UNNAMED


def _gaps(problem: Completion, asked: Sequence[Wanted]) -> list[Gap]:
    """What is missing for the answer to a question, with what to write for it."""
    if all(each.in_words for each in asked):
        return []
    spot, used = Spot(problem.scope, END), frozenset(j.equation.index for j in problem.judged if j.fit is not None)
    gaps = [gap for each in asked for expr in each.exprs for gap in gaps_of_expr(expr, problem.values, spot)]
    roles = [role for each in asked for role in each.roles]
    gaps = gaps or [gap for role in roles for gap in gaps_of_role(role, problem.values, spot)]
    return proposed(gaps, problem.values, spot, used)


def _parts(problem: Completion, asked: Wanted, line: int) -> Iterator[Part]:
    """The quantities that a question asks for: those that it names, then those that its words speak of. A name that
    the question itself gives, 'with T = 2', has that value in it."""
    if asked.extreme or (asked.in_words and not asked.exprs):
        return  # answered in words
    if beside := list(_by_method(problem, asked)):
        yield from beside
        return
    used = {symbol for expr in asked.exprs for symbol in n.names_in(expr)}
    own = any(d.line == line for symbol in used for d in problem.system.page.definitions.get(symbol, ()))
    spot = Spot(problem.scope, line if own else END)
    meant = (problem.system.meant(expr, spot.scope) for expr in asked.exprs)
    exprs = [each for expr in meant for each in _every(problem, expr, spot, asked)]
    named = [part for expr in exprs if (part := _part(problem, _of(asked, expr), spot)) is not None]
    yield from named
    known = {part.expr for part in named}
    unscaled = {Role.SCALED} if "unscaled" in problem.system.conventions(problem.scope) else set()
    roles = asked.roles if len(named) < len(asked.roles) or not named else ()
    if asked.function and not roles and not asked.exprs:
        roles = (Role.WEIGHTS,)  # 'verify that each row sums to 1'
    for role in (role for role in roles if role not in unscaled):
        for expr, token in _of_role(problem, role, asked, spot):
            part = _part(problem, _of(asked, expr), spot)
            if part is not None and part.expr not in known:
                yield replace(part, name=f"{part.name} ({token})") if token.startswith("“") else part


def _of(asked: Wanted, expr: n.Expr) -> n.Expr:
    """What a question wants of an expression: all of it, or the sum of each row, its largest entry."""
    return n.Call(asked.function, (expr,)) if asked.function else expr


def _every(problem: Completion, expr: n.Expr, spot: Spot, asked: Wanted) -> Iterator[n.Expr]:
    """An expression, or the lines of it that the question speaks of; for a name with a running index, Q_i, all that
    plays its role; for one whose cells have a formula, the rows that the question wants: PE for pos = 3 and 5."""
    place = _place(problem, expr)
    runs = isinstance(expr, n.Name) and expr.symbol.indices and all(map(str.isalpha, expr.symbol.indices))
    if isinstance(expr, n.Name) and (rows := list(_rows_put(problem, expr.symbol, spot, asked))):
        yield from rows
    elif place is not None and place.row is None and (lines := _lines(problem, expr, asked, spot)):
        yield from (line for line, _ in lines)
    elif place is None or not runs or problem.values.true(expr, spot) is not None:
        yield expr
    else:
        yield from (each for each, _ in _of_role(problem, place.role, Wanted(), spot))


def _rows_put(problem: Completion, symbol: Symbol, spot: Spot, asked: Wanted) -> Iterator[n.Expr]:
    """Rows of what formulas for every cell give, for the numbers that a question puts in for their first index."""
    page, width = problem.system.page, problem.values.role(Role.D_MODEL, None, spot)
    cells = [s for s in page.definitions if len(s.indices) == 2 and s.family == symbol.family]
    first = {s.indices[0] for s in cells if not s.indices[0].isdecimal()}
    if symbol.indices or width is None or not width.exact:
        return
    for number in (number for letter, number in asked.put if letter in first):
        names = (n.Name(symbol._replace(indices=(number, str(j)))) for j in range(int(width.cell.p)))
        row = n.Matrix((tuple(names),))
        problem.add_step(plain(n.Name(symbol._replace(indices=(number,)))), row, spot, Role.OTHER, None, None)
        yield row


def _place(problem: Completion, expr: n.Expr) -> Place | None:
    """What a name stands for."""
    return problem.system.place(expr.symbol) if isinstance(expr, n.Name) else None


def _by_method(problem: Completion, asked: Wanted) -> Iterator[Part]:
    """What a question wants by another method than the page's, 'the weights without scaling'; both, if it compares."""
    names = {called(method) for method in asked.methods}
    steps = [
        step for step in problem.steps.values() if is_beside(step) and step.spelled.rpartition(" (")[2][:-1] in names
    ]
    if asked.compares and not steps:
        steps = [step for step in problem.steps.values() if is_beside(step)]
    named = {place.role: place.row for expr in asked.exprs if (place := _place(problem, expr)) is not None}
    roles = tuple(dict.fromkeys((*asked.roles, *named))) or (Role.WEIGHTS, Role.HEAD)
    for step in tuple(
        step for step in steps if step.role in roles or (step.role is Role.OUTPUT and Role.HEAD in roles)
    ):
        usual = (s for s in problem.steps.values() if s.role is step.role and s.head == step.head and not is_beside(s))
        if asked.compares:
            yield from (Part(plain(n.Name(s.symbol)), n.Name(s.symbol)) for s in usual)
        name = n.Name(step.symbol)
        value = known_values((*problem.givens.values(), *problem.steps.values())).get(step.symbol)
        seen = value is not None and step.role is Role.WEIGHTS
        cells = _cells_seen(problem, name, value, asked) if seen and value is not None else None
        if cells is None:
            row = (named.get(step.role) or "") if step.role not in asked.roles else ""  # only z_2 of Z
            yield (
                Part(f"{step.spelled}[{row}]", n.Entry(name, row=int(row)))
                if row.isdecimal()
                else Part(step.spelled, name)
            )
            continue
        symbol = Symbol("value", (), (str(len(problem.steps) + 1),))
        problem.steps[symbol] = Step(symbol, cells, Role.OTHER, f"{asked.rows[0]} → {asked.seen}")
        yield Part(plain(cells), n.Name(symbol))


def _cells_seen(problem: Completion, name: n.Expr, value: Value, asked: Wanted) -> n.Expr | None:
    """What a token gives to the keys that a question speaks of in a word: to itself, to the future."""
    lines = [i for row in asked.rows if (i := problem.system.position(row, problem.scope)) is not None]
    if not asked.seen or len(lines) != 1 or not 0 < lines[0] <= value.shape[0] or _is_columns(problem):
        return None
    keys = _SEEN_BY[asked.seen](lines[0], value.shape[1])
    cells: list[n.Expr] = [n.Entry(name, row=lines[0], column=key) for key in keys]
    return n.Sum(tuple(cells)) if len(cells) > 1 else next(iter(cells), None)


def _of_role(problem: Completion, role: Role, asked: Wanted, spot: Spot) -> Iterator[tuple[n.Expr, str]]:
    """What plays a role, in every head; of tokens that the question speaks of only their lines, with their words."""
    heads = () if role in _SHARED else problem.system.heads_in(problem.scope)
    for head in heads or (None,):
        for option in _LIKE.get(role, (role,)) if not heads else (role,):
            name = n.Name(role_symbol(option, head))
            if problem.values.true(name, spot) is None:
                continue
            yield from _lines(problem, name, asked, spot) or [(name, "")]
            break


def _lines(problem: Completion, expr: n.Expr, asked: Wanted, spot: Spot) -> list[tuple[n.Expr, str]]:
    """The lines of a quantity for tokens that a question speaks of, with their words; none of a single line.

    For a query and a key, of what has a number for both, that number."""
    place = problem.system.place(expr.symbol) if isinstance(expr, n.Name) else None
    value = problem.values.true(expr, spot) if asked.rows else None
    if value is None or value.shape[0] == 1 or (place is not None and place.role in asked.whole):
        return []
    columns = _is_columns(problem)
    count = value.shape[1 if columns else 0]
    lines = [i for row in asked.rows if (i := problem.system.position(row, problem.scope)) is not None and i <= count]
    if asked.is_pair and len(lines) == 2 and place is not None and place.role in SCORE_LIKE and value.shape[1] >= count:
        row, column = reversed(lines) if columns else lines
        return [
            (
                n.Entry(expr, row=row, column=column),
                f"{token_called(problem, lines[0])}, {token_called(problem, lines[1])}",
            )
        ]
    if place is not None and place.role is Role.WEIGHTS and (seen := _cells_seen(problem, expr, value, asked)):
        return [(seen, asked.seen)]
    return [(n.Call(LINE, (expr, n.number(i))), token_called(problem, i)) for i in lines]


_SEEN_BY: dict[str, Callable[[int, int], list[int]]] = {  # the keys in a word, of a query and of all keys, from 1
    "itself": lambda query, _: [query],
    "others": lambda query, count: [key for key in range(1, count + 1) if key != query],
    "future": lambda query, count: list(range(query + 1, count + 1)),
    "past": lambda query, _: list(range(1, query)),
}


def _is_columns(problem: Completion) -> bool:
    return "columns" in problem.system.conventions(problem.scope)


def _part(problem: Completion, expr: n.Expr, spot: Spot) -> Part | None:
    """An expression in the names of the program; None where it has no value, or is only given."""
    made = _known_step(problem, expr) or (
        problem.in_program(expr, spot) if problem.values.true(expr, spot) is not None else None
    )
    if made is None or (isinstance(made, n.Name) and made.symbol in problem.givens):
        return None
    named = problem.steps.get(made.symbol) if isinstance(made, n.Name) else None
    same = named or next((step for step in problem.steps.values() if step.expr == made), None)
    if same is None:
        return Part(plain(made), made)
    name = n.Name(same.symbol)
    return Part(same.spelled if isinstance(made, n.Matrix) else plain(name), name)


def _known_step(problem: Completion, expr: n.Expr) -> n.Expr | None:
    """The step that has worked out already what a name stands for: its own, or that of its role."""
    if isinstance(expr, n.Name) and expr.symbol in problem.steps:
        return expr
    place = problem.system.place(expr.symbol) if isinstance(expr, n.Name) else None
    if place is None or place.row is not None:
        return None
    if isinstance(expr, n.Name) and problem.system.naming.is_sum(expr.symbol):
        return None  # R = X + Z is no output of attention, whatever its letter suggests
    steps = (s for s in problem.steps.values() if s.role is place.role and not is_beside(s))
    found = next((s for s in steps if (None if s.head is None else str(s.head)) == place.head), None)
    return n.Name(found.symbol) if found is not None else None
