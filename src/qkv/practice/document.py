"""A worked solution as a document: title, task, givens, steps; with the place of every value."""

from __future__ import annotations

from random import Random

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.trace import Table
from qkv.practice.chains import Shown, Writer, tokens_of
from qkv.practice.hand import Line, Style
from qkv.practice.notation import Chain, Notation
from qkv.practice.operands import given_texts
from qkv.practice.page import SPELLINGS, Page
from qkv.practice.words import LANGUAGES
from qkv.program.model import Given, Program, Step
from qkv.records import dataclass

R = Role
OPENED = frozenset({R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.HEAD})


@dataclass(frozen=True, slots=True)
class Placed:
    """A shown part of a step and its first and last line in the document."""

    shown: Shown
    line: int
    end_line: int


def write(
    program: Program, lines: tuple[Line, ...], style: Style, notation: Notation, rng: Random
) -> tuple[str, tuple[Placed, ...]]:
    """The document, and where each part of the working stands in it."""
    page = Page(notation, LANGUAGES[style.language], rng.choice(list(SPELLINGS)), style.bold)
    page.say(*notation.head, notation.heading.format(page.words.title.format(program.kind.capitalize())), "")
    page.say(_task(program, page), "")
    givens = [chain for given in program.givens if not given.implied for chain in _given(given, program, style, page)]
    page.write(givens)
    page.heading(page.words.solution)
    written: list[Shown] = []
    writer = Writer(lines, program, style, page)
    for head, group in _groups(lines):
        if head is not None:
            page.heading(page.words.head.format(head))
        elif group[0].step.role in (R.CONCAT, R.OUTPUT) and len(lines) > len(group):
            page.heading(page.words.together)
        parts = [part for line in group for part in writer.shown(line)]
        page.write([part.chain for part in parts])
        written += parts
    page.say(*notation.foot)
    places = page.places[len(givens) :]
    placed = tuple(Placed(part, *place) for part, place in zip(written, places, strict=True))
    return "\n".join(page.lines) + "\n", placed


def _groups(lines: tuple[Line, ...]) -> list[tuple[int | None, list[Line]]]:
    groups: list[tuple[int | None, list[Line]]] = []
    for line in lines:
        if not groups or groups[-1][0] != line.step.head:
            groups.append((line.step.head, []))
        groups[-1][1].append(line)
    return groups


def _task(program: Program, page: Page) -> str:
    """What is asked, with the formula that decides about the scale."""
    words = page.words
    said = [words.task.format(page.math(page.show(_formula(program))))]
    if any(step.role is R.MASKED for step in program.steps):
        said.append(words.mask)
    if program.columns:
        said.append(words.columns)
    size = next((given for given in program.givens if given.role is R.D_K), None)
    if size is not None:
        said.append(words.here.format(page.math(f"{page.name(size.symbol)} = {plain(size.expr)}")))
    return " ".join(said)


def _formula(program: Program) -> n.Expr:
    """softmax(Q Kᵀ / √d_k) V: what mixes the values, with everything down to queries, keys and values put in."""
    mixing = next(step for step in program.steps if step.role in (R.HEAD, R.OUTPUT, R.CONTEXT))
    expr = mixing.expr
    for _ in range(4):
        expr = n.rewrite(expr, lambda part: _opened(part, program))
    return expr


def _opened(part: n.Expr, program: Program) -> n.Expr:
    if isinstance(part, n.Mask):
        return part.arg
    item = program.item(part.symbol) if isinstance(part, n.Name) else None
    return item.expr if isinstance(item, Step) and item.role in OPENED else part


def _given(given: Given, program: Program, style: Style, page: Page) -> list[Chain]:
    """A given as one matrix, or token by token: x_1, x_2, …"""
    table = given_texts(given)
    words = page.words.roles[given.role]
    letter = {R.X: "x", R.STATES: "h"}.get(given.role)
    if letter and given.role in style.by_row:
        return [_token(words if i == 1 else "", letter, i, row, page) for i, row in enumerate(table, 1)]
    return [Chain(words, (), table, True, page.name(given.symbol), tokens_of(given.role, program))]


def _token(words: str, letter: str, i: int, row: tuple[str, ...], page: Page) -> Chain:
    value: Table = (row,)
    return Chain(words, (), value, True, page.name(Symbol(letter, (), (str(i),))))
