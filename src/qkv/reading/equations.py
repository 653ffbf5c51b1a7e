"""Statements of a sheet → equations: chains of names, formulas, workings and printed values that are said to be equal.

An arrow says 'next', not 'equals': what follows one is an equation of its own. Vectors that stand below each other,
each with a word before it, are one array with labelled rows. Nothing here knows what attention is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.attention import as_mask
from qkv.library.words import means
from qkv.reader.model import Link, Relation, Sheet, Statement
from qkv.reading.by_token import of_tokens
from qkv.reading.equation import Equation, Item, Kind, is_printed, kind_of, settled
from qkv.reading.joining import apart, continued, joined, side_by_side, stacked, withdrawn, without_sizes
from qkv.reading.one_by_one import listed
from qkv.reading.problems import by_problem
from qkv.reading.renamed import headed, qualified, with_derivatives
from qkv.reading.triangles import triangles, whole


def equations(sheet: Sheet) -> tuple[Equation, ...]:
    """The equations of a sheet in order, each in the scope of its problem; they are made once for a sheet."""
    if "_equations" not in sheet.__dict__:
        sheet.__dict__["_equations"] = _equations(sheet)
    kept: tuple[Equation, ...] = sheet.__dict__["_equations"]
    return kept


def _equations(sheet: Sheet) -> tuple[Equation, ...]:
    statements = continued(sheet.statements)
    made = [row for statement in statements for equation in of_statement(statement, sheet) for row in apart(equation)]
    rows = triangles(side_by_side(without_sizes(withdrawn(made, sheet.lines)), sheet.lines))
    together = joined(listed(stacked(rows)))
    found = of_tokens([replace(equation, index=i) for i, equation in enumerate(together)], sheet)
    return by_problem(headed(qualified(found), sheet), sheet)


# — one statement —


def of_statement(statement: Statement, sheet: Sheet) -> Iterator[Equation]:
    """The equations of one statement, which is cut at arrows."""
    groups: list[list[Link]] = [[]]
    for link in statement.links:
        if link.relation is Relation.IN:
            continue
        arrow = link.relation in (Relation.ARROW, Relation.IMPLIES)
        if (arrow and groups[-1]) or _calculates_on(groups[-1], link):
            groups.append([])
            link = link if arrow else replace(link, relation=Relation.FIRST)
        elif (shown := _run_on(groups[-1], link)) is not None:
            groups[-1].append(replace(link, expr=shown, alternatives=()))
            groups.append([])
            link = replace(link, relation=Relation.FIRST)
        groups[-1].append(link)
    title = sheet.parts[statement.part].title
    words = " ".join(dict.fromkeys(w for w in (title, statement.caption, statement.before, statement.label) if w))
    for number, links in enumerate(group for group in groups if group):
        first, *more = (_item(link, sheet) for link in links)
        yield Equation(
            0, settled([_as_one_name(first) if more else first, *more]), links[0].at.line,
            max(statement.end_line, statement.at.line), links[0].at.column, statement.text,
            "" if number else statement.label, words if not number else "", statement.after, statement.part, 0,
            statement.origin, statement.struck or all(link.struck for link in links),
            number > 0 or (statement.continues and statement.links[0].relation in (Relation.ARROW, Relation.IMPLIES)),
            statement.row_labels or ((statement.row_label,) if statement.row_label else ()), statement.column_labels,
        )  # fmt: skip


def _calculates_on(before: list[Link], link: Link) -> bool:
    """Whether an author calculates step by step, and a side is not equal to the one before it: it does something with
    the number there, '= 160' and then '= 160 × 64', or begins with the first factors, '2 × 80 × 64 = 2 × 80'."""
    if not before or not isinstance(link.expr, (n.Product, n.Quotient, n.Sum)) or not n.is_literal(link.expr):
        return False
    last = before[-1].expr
    first: n.Expr = link.expr
    while isinstance(first, (n.Product, n.Quotient, n.Sum)):
        first = n.children(first)[0]
    if isinstance(last, n.Number):
        return first == last and len(before) > 1
    few, many = n.factors(link.expr), n.factors(last)
    return 1 < len(few) < len(many) and many[: len(few)] == few and n.is_literal(last)


def _run_on(before: list[Link], link: Link) -> n.Expr | None:
    """The value of a formula with which its author goes on in one breath: the [..] of 'S = Q Kᵀ = [..] / √2 = …'."""
    formula = before[-1].expr if before else None
    quotient = link.expr if isinstance(link.expr, n.Quotient) else None
    if quotient is None or formula is None or kind_of(formula) is not Kind.FORMULA or n.holds(formula, n.Quotient):
        return None
    if len(n.factors(formula)) > 2:  # of q kᵀ scale the quotient itself is the value
        return None
    value = quotient.numerator
    return value if isinstance(value, n.Matrix) and is_printed(value) and min(value.shape) > 1 else None


def _item(link: Link, sheet: Sheet) -> Item:
    expr = _upright(n.rewrite(link.expr, as_mask) if n.holds(link.expr, n.Call) else link.expr)
    expr = whole(_shared(with_derivatives(expr), sheet))
    return Item(
        kind_of(expr), expr, link.relation, link.at.line, link.at.column, link.text, link.struck, link.alternatives,
        units=link.units,
    )  # fmt: skip


def _shared(expr: n.Expr, sheet: Sheet) -> n.Expr:
    """[e^2, e^3] / sum, [e^2/∑, e^3/∑]: numbers over their own sum, where the page defines no such name."""
    cells = expr.rows[0] if isinstance(expr, n.Matrix) and len(expr.rows) == 1 else ()
    parts = [cell for cell in cells if isinstance(cell, n.Quotient)] if len(cells) > 1 else [expr]
    below = {part.denominator for part in parts if isinstance(part, n.Quotient)}
    name = next(iter(below)) if len(below) == 1 and len(parts) == max(len(cells), 1) else None
    if not isinstance(name, n.Name) or not (name.symbol.base == "Sigma" or means(str(name.symbol).lower(), "sum")):
        return expr
    above = [part.numerator for part in parts if isinstance(part, n.Quotient)]
    shared = n.Matrix((tuple(above),), at=expr.at) if cells else above[0]
    listed = shared.arg if isinstance(shared, n.Exp) else shared  # exp([0.65, 0.54]) / sum
    literal = isinstance(listed, n.Matrix) and n.is_literal(listed)
    defined = any(statement.links[0].expr == name for statement in sheet.statements)
    return n.Normalise(shared) if literal and not defined else expr


def _as_one_name(item: Item) -> Item:
    """Words before '=' that stand side by side are one name: 'Total FFN = 3 + 4' is no product."""
    words = item.text.split()
    bases = [part.symbol.base for part in n.walk(item.expr) if isinstance(part, n.Name)]
    if not isinstance(item.expr, n.Product) or bases != words or not all(w.isalpha() and len(w) > 2 for w in words):
        return item
    return item._replace(expr=n.Name(Symbol("_".join(words)), item.text, at=item.expr.at), kind=Kind.NAME)


def _upright(expr: n.Expr) -> n.Expr:
    """(1, 0, 2)ᵀ is a way to print a column."""
    if (
        isinstance(expr, n.Transpose)
        and isinstance(expr.arg, n.Matrix)
        and expr.arg.shape[0] == 1
        and is_printed(expr.arg)
    ):
        return n.Matrix(tuple((cell,) for cell in expr.arg.rows[0]), at=expr.at)
    return expr
