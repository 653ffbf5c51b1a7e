"""Givens and steps as LaTeX formulas, for Markdown, LaTeX documents and notebooks; the reader reads them back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qkv.expr.show import latex, symbol_latex
from qkv.interpret.trace import Trace
from qkv.program.model import Answer, Given, Part, Step
from qkv.render.options import Depth, Options
from qkv.render.shown import Shown, formula, says_itself, shown, shown_part, steps_shown
from qkv.render.workings import LATEX, Writer, decimal, explained, remembered, tells


def matrix(value: Shown) -> str:
    """A table as a LaTeX matrix; a single number as itself."""
    if value.is_number:
        return decimal(value.rows[0][0], LATEX)
    body = r" \\ ".join(" & ".join(decimal(text, LATEX) for text in row) for row in value.rows)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


def given(trace: Trace, item: Given, options: Options) -> str:
    """X = [..]"""
    value = shown(trace, item, options)
    return f"{symbol_latex(item.symbol)} {_sign(value)} {matrix(value)}"


def step(trace: Trace, item: Step, options: Options) -> str:
    """Q = X W_Q = [..], with ≈ where something was rounded."""
    value, expr = shown(trace, item, options), formula(trace, item, options)
    by = "" if says_itself(expr) else f" = {latex(expr)}"
    return f"{symbol_latex(item.symbol)}{by} {_sign(value)} {matrix(value)}"


def part(trace: Trace, answer: Answer, item: Part, options: Options) -> str:
    """Z = [..] for a quantity that answers a question."""
    value = shown_part(trace, answer, item, options)
    return f"{latex(item.expr)} {_sign(value)} {matrix(value)}"


def _sign(value: Shown) -> str:
    return "=" if value.exact else r"\approx"


def workings(trace: Trace, item: Step, options: Options) -> Iterator[tuple[int, int, str]]:
    """Row, column and working of each cell that a depth asks for. Steps that only copy cells, and sums too long to
    write out, have nothing to show that can be read back."""
    if not tells(item.expr):
        return
    values = remembered(trace.evaluate)
    writer = Writer(LATEX, values, options.digits, options.places)
    for row, column in explained(item.expr, trace.value(item.symbol).shape, values, options):
        text = writer.equation(item.expr, row, column)
        if LATEX.dots not in text:
            yield row, column, text


def caption(trace: Trace, item: Step) -> tuple[str, str]:
    """What a step is for, and its head and shape in words (in words, so that nobody reads 3 × 3 as a product)."""
    rows, columns = trace.value(item.symbol).shape
    head = f" of head {item.head}" if item.head is not None else ""
    says = item.says or "next"
    return says[:1].upper() + says[1:], f"{head} ({rows} by {columns})"


def pieces(trace: Trace, options: Options) -> Iterator[tuple[Any, ...]]:
    """A worked problem from its title to its answers, piece by piece: what a piece is, and what it holds."""
    program = trace.program
    title = " ".join(program.title.split())
    yield "title", title or program.kind.capitalize()
    if title:
        yield "kind", program.kind
    if program.givens:
        yield ("given",)
    yield from (("formula", given(trace, item, options)) for item in program.givens)
    for item in steps_shown(trace, options):
        yield "step", *caption(trace, item)
        yield "formula", step(trace, item, options)
        rows = [] if options.depth is Depth.BRIEF else list(workings(trace, item, options))
        if rows:
            yield "workings", rows
    yield from (("note", " ".join(note.split())) for note in program.notes)
    if program.answers:
        yield ("answers",)
    for answer in program.answers:
        yield "asked", answer.label, answer.text
        yield from (("formula", part(trace, answer, item, options)) for item in answer.parts)
        yield from ((kind, text) for kind, text in (("says", answer.says), ("missing", answer.missing)) if text)
        yield from (("assumed", note) for note in answer.assumed)
