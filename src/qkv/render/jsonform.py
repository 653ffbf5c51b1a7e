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
        "unread": [{"line": u.line, "text": u.text, "reason": u.reason} for u in unread],
        "advice": list(advice),
    }


def _problem(trace: Trace, options: Options) -> Json:
    program = trace.program
    return {
        "title": program.title,
        "line": program.line,
        "kind": program.kind,
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
        "says": answer.says,
        "assumed": list(answer.assumed),
        "missing": answer.missing,
        "let": list(answer.lets),
    }


def _part(part: Part, value: Shown) -> Json:
    rows = [list(row) for row in value.rows]
    return {
        "name": part.name,
        "formula": plain(part.expr),
        "shape": list(value.shape),
        "value": rows,
        "exact": value.exact,
    }


def _given(given: Given, value: Shown) -> Json:
    return {
        "name": given.spelled,
        "role": given.role.value,
        "head": given.head,
        "line": given.line,
        "shape": list(value.shape),
        "value": [list(row) for row in value.rows],
    }


def _step(step: Step, value: Shown) -> Json:
    return {
        "name": step.spelled,
        "role": step.role.value,
        "head": step.head,
        "formula": plain(step.expr),
        "shape": list(value.shape),
        "value": [list(row) for row in value.rows],
        "exact": value.exact,
    }


def reading(understood: Understood) -> Json:
    """The form `qkv.reading/1`: what a document says, and the problems that this makes."""
    sheet = understood.sheet
    return {
        "schema": "qkv.reading/1",
        "file": sheet.file,
        "statements": [_statement(statement, sheet) for statement in sheet.statements],
        "questions": [{"line": question.line, "text": question.text} for question in sheet.questions],
        "problems": [_read_problem(problem) for problem in understood.problems],
        "choices": {"zero_based": understood.zero_based, "capitals_index": understood.capitals_index},
        "repairs": [{"line": r.line, "read_as": r.read_as, "reason": r.reason} for r in sheet.repairs],
        "unread": [{"line": u.line, "text": u.text, "reason": u.reason} for u in sheet.unread],
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
        "title": program.title,
        "line": program.line,
        "kind": program.kind,
        "conventions": sorted(problem.conventions),
        "quantities": [_quantity(quantity) for quantity in problem.quantities],
        "givens": [{**_name(given), "line": given.line, "formula": plain(given.expr)} for given in program.givens],
        "steps": [{**_name(step), "formula": plain(step.expr)} for step in program.steps],
        "notes": list(program.notes),
    }


def _quantity(quantity: Quantity) -> Json:
    place = quantity.place
    return {
        "name": quantity.name,
        "line": quantity.line,
        "shape": None if quantity.shape is None else list(quantity.shape),
        "role": None if place is None else place.role.value,
        "head": None if place is None else place.head,
        "row": None if place is None else place.row,
        "column": None if place is None else place.column,
        "role_known": quantity.role_by.value,
        "formula": quantity.formula,
        "known": quantity.known,
        "rivals": list(quantity.rivals),
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
        "coverage": _coverage(report),
        "advice": [{"lines": list(each.lines), "says": each.says, "hint": each.hint} for each in report.advice],
        "left": [{"line": left.line, "text": left.text, "reason": left.reason} for left in report.left],
    }


def _coverage(report: Report) -> Json:
    """How many printed numbers were judged, and how many were not, with their lines."""
    found = report.coverage
    return {"judged": found.judged, "unjudged": found.unjudged, "given": found.given, "lines": list(found.lines)}


def _claim(claim: Claim) -> Json:
    cause = claim.cause
    return {
        "id": claim.id,
        "line": claim.line,
        "end_line": claim.end_line,
        "name": claim.name,
        "formula": claim.formula,
        "text": claim.text,
        "verdict": claim.verdict.value,
        "cells": [
            {
                "row": cell.row,
                "column": cell.column,
                "shown": cell.shown,
                "expected": cell.expected,
                "from_own": cell.from_own,
                "verdict": cell.verdict.value,
                **({"working": cell.working} if cell.working else {}),
            }
            for cell in claim.cells
        ],
        "follows_from": list(claim.follows_from),
        "cause": None if cause is None else {"mistake": cause.mistake, "says": cause.says},
        "repair": claim.repair,
        "reason": claim.reason,
    }
