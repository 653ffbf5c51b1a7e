"""An assignment and a solution as one page: what is given and how to work is the assignment's word, all else an answer.

The assignment's equations come first, on lines before the first. Exercises are matched by their numbers, else by their
order. What the solution says of a name that the assignment gives, asks for or works out does not define that name: it
is an answer, to be judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Family, Role, Symbol
from qkv.library.block import NORM_FIRST
from qkv.library.roles import places
from qkv.library.words import pattern
from qkv.reader.model import Sheet
from qkv.reading.choices import USUAL, Choices
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Equation
from qkv.reading.equations import equations
from qkv.reading.holding import ATTENDING
from qkv.reading.mend import mended
from qkv.reading.page import Page, page_with, plain_page
from qkv.reading.system import System
from qkv.regex import regex

OTHER = "°"  # marks a name of the assignment that the solution uses for something else
ANSWERS = frozenset(
    {Role.Q, Role.K, Role.V, Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.CONCAT, Role.OUTPUT}
)
SIZES = frozenset({Role.D_K, Role.D_V, Role.D_MODEL})
_NUMBER = regex(rf"(?:\b(?:{pattern('problem')}|q|ex|nr|no)\W{{0,3}}|^\W*)(\d+|[a-h](?=[.)]))\b", re.IGNORECASE)


_SOLUTION = regex(rf"[\W_]*(?:{pattern('solution')})(?:\s+\d{{1,2}})?[\W_]*", re.IGNORECASE)
_TASK = regex(rf"(?<![^\W_])(?:{pattern('ask')})(?![^\W_])", re.IGNORECASE)


def page_of(sheet: Sheet) -> Page:
    """The page that a sheet is; where it sets a task and then works it, what it sets stands first as an assignment."""
    page = plain_page(sheet)
    sheet = page.sheet
    line = _answered_from(sheet)
    if line is None or len(page.scopes) > 1:
        return page
    above = tuple(equation for equation in page.equations if equation.line < line)
    if not above or len(above) == len(page.equations):
        return page
    questions = tuple(question for question in sheet.questions if question.line < line)
    text = "\n".join(sheet.lines[: line - 1])
    return page_with(sheet, page.equations, page_with(replace(sheet, text=text, questions=questions), above))


def _answered_from(sheet: Sheet) -> int | None:
    """The line that says 'Solution' and nothing else, if there is one, and a task is set above it."""
    titled = {part.line for part in sheet.parts if _SOLUTION.fullmatch(part.title)}  # \section*{Solution}
    found = sorted({number for number, line in enumerate(sheet.lines, 1) if _SOLUTION.fullmatch(line)} | titled)
    return found[0] if len(found) == 1 and _TASK.search("\n".join(sheet.lines[: found[0]])) else None


def page_against(sheet: Sheet, assignment: Sheet) -> Page:
    """A solution as a page on which its assignment stands first."""
    task = _task(assignment)
    own = mended([*task.equations, *equations(sheet)])[len(task.equations) :]
    page = _joined(sheet, task, _matched(own, sheet, task))
    others = frozenset(_others(page))
    if not others:
        return page
    renamed = page_with(assignment, tuple(_renamed(equation, others) for equation in task.equations))
    return _joined(sheet, renamed, page.own)


def _task(assignment: Sheet) -> Page:
    """The page of an assignment, made once for all that is held against it."""
    if "_task" not in assignment.__dict__:
        assignment.__dict__["_task"] = plain_page(assignment)
    page: Page = assignment.__dict__["_task"]
    return page


def _joined(sheet: Sheet, task: Page, own: Iterable[Equation]) -> Page:
    last = max((equation.end_line for equation in task.equations), default=0)
    above = tuple(_moved(equation, last + 1) for equation in task.equations)
    below = tuple(replace(equation, index=i) for i, equation in enumerate(own, len(above)))
    return page_with(sheet, above + below, task)


def _moved(equation: Equation, lines: int) -> Equation:
    """An equation so many lines further up."""
    items = tuple(item._replace(line=item.line - lines) for item in equation.items)
    return replace(equation, items=items, line=equation.line - lines, end_line=equation.end_line - lines)


# — exercises —


def _matched(own: list[Equation], sheet: Sheet, task: Page) -> Iterator[Equation]:
    """The equations of a solution, each in the scope of its exercise."""
    numbers = {number: scope for scope in reversed(task.scopes) for number in _numbers_of_scope(scope, task)}
    several = len(task.scopes) > 1
    last, before = 0, -1
    for equation in own:
        number = next((k for k in _numbers(equation, sheet) if k in numbers), None) if several else None
        if number is not None:
            last = numbers[number]
        elif equation.scope > before >= 0 and several:
            last = min(last + 1, len(task.scopes) - 1)
        before = equation.scope
        yield replace(equation, scope=last)


def _numbers_of_scope(scope: int, task: Page) -> list[str]:
    return [number for e in task.equations if e.scope == scope for number in _numbers(e, task.sheet)]


def _numbers(equation: Equation, sheet: Sheet) -> Iterator[str]:
    """The numbers of the headings above an equation, the innermost first."""
    level = 10**6
    for part in reversed(sheet.parts[: equation.part + 1]):
        if part.level < level:
            level = part.level
            if found := _NUMBER.search(part.title or ""):
                yield found[1].lower()


# — names —


def _others(page: Page) -> Iterator[Symbol]:
    """Names that the solution defines by a formula for another quantity than the assignment means: S for the scores,
    where the assignment calls the scaled scores so."""
    assert page.task is not None
    system = System(page, _usual(page))
    for symbol, definitions in page.definitions.items():
        theirs = [role for d in _stated(definitions) if _is_assigned(d, page) for role in system.roles(d.expr)]
        mine = [role for d in _stated(definitions) if not _is_assigned(d, page) for role in system.roles(d.expr)]
        if theirs and mine and not set(theirs) & set(mine):
            yield symbol


def _usual(page: Page) -> Choices:
    return Choices(tuple(USUAL for _ in page.scopes))


def _stated(definitions: Iterable[Definition]) -> list[Definition]:
    return [d for d in definitions if d.source is Source.STATED]


def _is_assigned(definition: Definition, page: Page) -> bool:
    return definition.equation < page.assigned


def _renamed(equation: Equation, others: frozenset[Symbol]) -> Equation:
    def change(node: n.Expr) -> n.Expr:
        if isinstance(node, n.Name) and node.symbol in others:
            return n.Name(node.symbol._replace(base=node.symbol.base + OTHER), node.spelled, at=node.at)
        return node

    items = (item._replace(expr=n.rewrite(item.expr, change)) for item in equation.items)
    return replace(equation, items=tuple(items))


# — answers —


def answers(page: Page, system: System) -> Iterator[int]:
    """The equations of a solution that answer: what they say of a name does not define it."""
    if page.task is None:
        return
    attends = _is_about_attention(page, system)
    usual_tokens = not NORM_FIRST.search(page.task.sheet.text)  # otherwise attention reads what the norm gives
    for symbol, definitions in page.definitions.items():
        assigned = any(_is_assigned(d, page) for d in definitions)
        known = assigned or (attends and is_asked(symbol, page.task))
        place = system.place(symbol)
        role = place.role if place is not None else None
        expected = role in SIZES or (role in ANSWERS and usual_tokens)
        if not known and not expected and not _has_assigned(system, symbol):
            continue
        others = {d.equation for d in definitions if not assigned and _has_others(d.expr, system)}
        for definition in definitions:
            usual = known or (attends and role in system.roles(definition.expr)) or definition.source is Source.GIVEN
            if usual and not _is_assigned(definition, page) and definition.equation not in others:
                yield definition.equation


_ATTENTION = regex(rf"(?<![^\W_])(?:{pattern('attention')})", re.IGNORECASE)


def _is_about_attention(page: Page, system: System) -> bool:
    """Whether words or names speak of attention: where they do not, P = softmax(L) is no attention weight."""
    assert page.task is not None
    attending = any(role in ATTENDING and role is not Role.X for role, _ in system.naming.by_place)
    return attending or bool(_ATTENTION.search(page.task.sheet.text))


def _has_others(expr: n.Expr, system: System) -> bool:
    """Whether a formula has names that attention has no use for, or tokens that the solution made of those it has:
    the library does not know what G W_2 + b_2 should be, nor that queries come from N_1."""
    return any(
        (place := system.place(symbol)) is None or (place.role in (Role.X, Role.Y) and _is_made(symbol, system.page))
        for symbol in n.names_in(expr)
    )


def _is_made(symbol: Symbol, page: Page) -> bool:
    """Whether a solution works a name out by a formula, and its assignment does not speak of it."""
    found = page.definitions.get(symbol, ())
    return any(d.source is Source.STATED for d in found) and not any(_is_assigned(d, page) for d in found)


def outputs(page: Page, system: System) -> Iterator[tuple[Family, Role]]:
    """Names of a solution that mean the output of all heads: where there are several, the Output of none is that."""
    if page.task is None or len(system.heads) < 2:
        return
    for symbol in page.symbols:
        place = system.place(symbol)
        whole = place is not None and place.role is Role.HEAD and place.head is None and place.row is None
        if whole and Role.OUTPUT in {option.role for option in places(symbol)}:
            yield symbol.family, Role.OUTPUT


def _has_assigned(system: System, symbol: Symbol) -> bool:
    """Whether the assignment has something in the place that a name stands for: Wq is its W_Q."""
    place = system.place(symbol)
    if place is None:
        return False
    task = system.page.task
    return task is not None and any(system.place(other) == place for other in task.definitions if other != symbol)


def is_asked(symbol: Symbol, task: Page) -> bool:
    """Whether the formulas or the text of an assignment mention a name: 'the attention weights $A$'."""
    if symbol in task.mentioned:
        return True
    name = re.escape(str(symbol))
    within = rf"(?:\$|`|\\\()[^$`]*(?<![\w\\]){name}(?!\w)[^$`]*(?:\$|`|\\\))"
    alone = rf"(?<![\w\\]){name}(?![\w'])" if str(symbol) not in ("A", "I", "a") else r"(?!)"
    return bool(re.search(f"{within}|{alone}", task.sheet.text))
