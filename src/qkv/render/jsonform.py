"""The machine forms: JSON that other programs rely on. Numbers are strings, so that no digit is lost."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from qkv.check.model import BAD, Claim, Report
from qkv.expr.show import plain
from qkv.interpret.trace import Trace
from qkv.program.model import Answer, Given, Part, Step
from qkv.render.options import DEFAULT, Options
from qkv.render.shown import Shown, shown, shown_part

if TYPE_CHECKING:
    from qkv.reader.model import Sheet, Statement, Unread
    from qkv.solving.understood import Problem, Quantity, Understood

Json = dict[str, Any]


def fields(item: object, names: str) -> Json:
    """Some fields of an object under their own names; what is no number or text of its own is a list.

    >>> from qkv.errors import Location
    >>> fields(Location(3, 4), "line column")
    {'line': 3, 'column': 4}
    """
    held = {name: getattr(item, name) for name in names.split()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in held.items()}


def lines(forms: Iterable[Json]) -> str:
    """Forms as text: an object a line, for one document as for many.

    >>> lines([{"file": "a.md"}, {"file": "b.md"}])
    '{"file": "a.md"}\\n{"file": "b.md"}\\n'
    """
    return "".join(json.dumps(form, ensure_ascii=False) + "\n" for form in forms)


def solution(
    file: str,
    traces: Iterable[Trace],
    unread: Iterable[Unread] = (),
    options: Options = DEFAULT,
    advice: Iterable[str] = (),
) -> Json:
    """The form `qkv.solution/1`: every problem with its givens, steps and answers."""
    return {
        "schema": "qkv.solution/1",
        "file": file,
        "problems": [_problem(trace, options) for trace in traces],
        "unread": [fields(each, "line text reason") for each in unread],
        "advice": list(advice),
    }


def _problem(trace: Trace, options: Options) -> Json:
    program = trace.program
    return {
        **fields(program, "title line kind"),
        "givens": [_given(given, shown(trace, given, options)) for given in program.givens],
        "steps": [_step(step, shown(trace, step, options)) for step in program.steps],
        "notes": list(program.notes),
        "answers": [_answer(trace, answer, options) for answer in program.answers],
    }


def _answer(trace: Trace, answer: Answer, options: Options) -> Json:
    return {
        "label": answer.label,
        "question": answer.text,
        "line": answer.line,
        "values": [_part(part, shown_part(trace, answer, part, options)) for part in answer.parts],
        **fields(answer, "says assumed missing"),
        "let": list(answer.lets),
    }


def _part(part: Part, value: Shown) -> Json:
    return {"name": part.name, "formula": plain(part.expr), **_value(value), "exact": value.exact}


def _given(given: Given, value: Shown) -> Json:
    return {**_name(given), "line": given.line, **_value(value)}


def _step(step: Step, value: Shown) -> Json:
    return {**_name(step), "formula": plain(step.expr), **_value(value), "exact": value.exact}


def _value(value: Shown) -> Json:
    return {"shape": list(value.shape), "value": [list(row) for row in value.rows]}


def reading(understood: Understood) -> Json:
    """The form `qkv.reading/1`: what a document says, and the problems that this makes."""
    sheet = understood.sheet
    return {
        "schema": "qkv.reading/1",
        "file": sheet.file,
        "statements": [_statement(statement, sheet) for statement in sheet.statements],
        "questions": [fields(question, "line text") for question in sheet.questions],
        "problems": [_read_problem(problem) for problem in understood.problems],
        "choices": fields(understood, "zero_based capitals_index"),
        "repairs": [fields(each, "line read_as reason") for each in sheet.repairs],
        "unread": [fields(each, "line text reason") for each in sheet.unread],
    }


def _statement(statement: Statement, sheet: Sheet) -> Json:
    return {
        "line": statement.at.line,
        "end_line": statement.end_line,
        "part": sheet.parts[statement.part].title,
        "links": [{"relation": str(link.relation), "formula": plain(link.expr)} for link in statement.links],
        "struck": statement.struck,
    }


def _read_problem(problem: Problem) -> Json:
    program = problem.program
    return {
        **fields(program, "title line kind"),
        "conventions": sorted(problem.conventions),
        "quantities": [_quantity(quantity) for quantity in problem.quantities],
        "givens": [{**_name(given), "line": given.line, "formula": plain(given.expr)} for given in program.givens],
        "steps": [{**_name(step), "formula": plain(step.expr)} for step in program.steps],
        "notes": list(program.notes),
    }


def _quantity(quantity: Quantity) -> Json:
    place = quantity.place
    return {
        **fields(quantity, "name line shape"),
        "role": None if place is None else place.role.value,
        **(dict.fromkeys(("head", "row", "column")) if place is None else fields(place, "head row column")),
        "role_known": quantity.role_by.value,
        **fields(quantity, "formula known rivals"),
    }


def _name(item: Given | Step) -> Json:
    return {"name": item.spelled, "role": item.role.value, "head": item.head}


def report(report: Report, options: Options = DEFAULT) -> Json:
    """The form `qkv.report/1`: every claim with its verdict; the summary counts all, also those not listed."""
    claims = [claim for claim in report.claims if claim.verdict in BAD or not options.only_wrong]
    return {
        "schema": "qkv.report/1",
        "file": report.file,
        "claims": [_claim(claim) for claim in claims],
        "summary": report.summary,
        "coverage": fields(report.coverage, "judged unjudged given lines"),
        "advice": [fields(each, "lines says hint") for each in report.advice],
        "left": [fields(each, "line text reason") for each in report.left],
    }


def _claim(claim: Claim) -> Json:
    cause = claim.cause
    return {
        **fields(claim, "id line end_line name formula text"),
        "verdict": claim.verdict.value,
        "cells": [
            {
                **fields(cell, "row column shown expected from_own"),
                "verdict": cell.verdict.value,
                **({"working": cell.working} if cell.working else {}),
            }
            for cell in claim.cells
        ],
        "follows_from": list(claim.follows_from),
        "cause": None if cause is None else fields(cause, "mistake says"),
        **fields(claim, "repair reason"),
    }
