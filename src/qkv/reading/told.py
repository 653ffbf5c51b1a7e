"""What a person tells beside the page, as equations of the page: they stand first, hold where they are told, and
nothing else that the page says of their names counts.

A word may be the label of a row, and @4 is what line 4 prints: both are put in as the numbers that they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.roles import places
from qkv.reader.model import Sheet, Statement
from qkv.reader.told import AT, Told, source_of
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Equation, Kind, is_printed, kind_of, settled
from qkv.reading.equations import equations, of_statement

EVERYWHERE = 0  # the line of what is told beside the page: it holds in every problem


def with_told(made: Sequence[Equation], sheet: Sheet) -> tuple[Equation, ...]:
    """The equations of a page with those that are told: first what holds everywhere, the others at their lines."""
    if not sheet.told:
        return tuple(made)
    known = _Known(made, sheet)
    told = [equation for statement in sheet.told if (equation := known.equation(statement)) is not None]
    ordered = sorted((*told, *made), key=lambda e: (e.line, not e.told) if e.told else (e.line, True))
    return tuple(replace(equation, index=i) for i, equation in enumerate(ordered))


def check_told(sheet: Sheet) -> None:
    """Refuse what is told of names that neither the page nor anybody else defines."""
    if sheet.told or any(question.expr is not None for question in sheet.questions):
        known = _Known(equations(sheet), sheet)
        for statement in sheet.told:
            known.check(source_of(statement), [link.expr for link in statement.links[1:]])
        for question in sheet.questions:
            if question.expr is not None:
                known.check(Told(question.text, question.line, asks=True), [question.expr])


def asked_expr(expr: n.Expr, made: Sequence[Equation], sheet: Sheet) -> n.Expr:
    """What is asked for in our own notation, with the rows and lines that it mentions put in."""
    return _Known(made, sheet).resolved(expr)


def outranked(found: dict[Symbol, list[Definition]], made: Sequence[Equation], scopes: range) -> None:
    """Of each name that is told something keep only that, in the problems for which it is told."""
    for told in (equation for equation in made if equation.told):
        where = set(scopes) if told.line == EVERYWHERE else {told.scope}
        for symbol in told.names[:1]:
            own = [d for d in found[symbol] if d.equation == told.index]
            rest = [d for d in found[symbol] if d.scope not in where and d.equation != told.index]
            given = [d._replace(source=Source.STATED) if d.source is Source.WORKING else d for d in own]
            found[symbol] = [*(d._replace(scope=scope) for scope in sorted(where) for d in given), *rest]


class _Known:
    """The names, the labels of rows and the printed arrays of a page."""

    def __init__(self, made: Iterable[Equation], sheet: Sheet) -> None:
        self._made, self._sheet = tuple(made), sheet
        self._told = {s.links[0].expr.symbol for s in sheet.told if isinstance(s.links[0].expr, n.Name)}
        self._names = {symbol for e in self._made for item in e.items for symbol in n.names_in(item.expr)}

    def equation(self, statement: Statement) -> Equation | None:
        """The equation that is told; None where something in it is not on this page (but elsewhere in the file)."""
        made = next(iter(of_statement(statement, self._sheet)))
        rows: tuple[str, ...] = ()
        items = [made.items[0]]
        for item in made.items[1:]:
            if any(self._problem(symbol) for symbol in n.names_in(item.expr)):
                return None
            rows = rows or self._labels(item.expr)
            expr = self.resolved(item.expr, below=";" in item.text)
            items.append(item._replace(expr=expr, kind=kind_of(expr), options=()))
        line = statement.at.line
        near = min(self._made, key=lambda e: (e.line < line, abs(e.line - line)), default=None)
        scope = near.scope if near is not None and line != EVERYWHERE else 0
        return replace(made, items=settled(items), line=line, end_line=line, scope=scope, rows=rows, told=True)

    def check(self, told: Told, sides: Iterable[n.Expr]) -> None:
        """Refuse a line that mentions what is nowhere."""
        for symbol in dict.fromkeys(symbol for side in sides for symbol in n.names_in(side)):
            if problem := self._problem(symbol):
                raise told.error(problem)

    def _problem(self, symbol: Symbol) -> str:
        """Why a name cannot be meant here; nothing where it can."""
        if symbol.base == AT:
            where = f"line {symbol.indices[0]}"
            array = self._printed_at(int(symbol.indices[0]))
            if array is None:
                return f"{where} prints no numbers"
            missing = symbol.labels and self._row(array, symbol.labels[0]) is None
            return f"the array in {where} has no row {symbol.labels[0]}" if missing else ""
        known = symbol in self._names | self._told or symbol.base in ("I", "Id", "e")
        if known or places(symbol) or self._labelled(symbol):
            return ""
        words = [str(s) for s in (*self._names, *self._told)] + [label for e in self._made for label in e.rows]
        near = get_close_matches(str(symbol), words, 1)
        hint = f"; did you mean {near[0]}?" if near else "; @4 would be the array that line 4 prints"
        return f"nothing on the page is called {symbol}{hint}"

    def resolved(self, expr: n.Expr, below: bool = False) -> n.Expr:
        """An expression with the numbers of rows and lines put in; a list of vectors is the array with these rows.

        `below` says that a semicolon stands in it: what is listed stands below each other, whatever it is."""

        def change(node: n.Expr) -> n.Expr:
            if isinstance(node, n.Name):
                return self._array_of(node.symbol) or node
            return self._stacked(node, below) if isinstance(node, n.Concat) else node

        return n.rewrite(expr, change)

    def _array_of(self, symbol: Symbol) -> n.Matrix | None:
        """What a line prints, or the row with a label."""
        if symbol.base == AT:
            array = self._printed_at(int(symbol.indices[0]))
            whole = array.of(Kind.VALUE)[-1].expr if array is not None else None
            if array is not None and symbol.labels:
                return self._row(array, symbol.labels[0])
            return whole if isinstance(whole, n.Matrix) else None
        return next(iter(self._labelled(symbol)), None) if symbol not in self._names else None

    def _stacked(self, listed: n.Concat, below: bool) -> n.Expr:
        """A list of printed vectors as the array with these rows; anything else stays a list."""
        vectors = [self._printed(part.symbol) or part if isinstance(part, n.Name) else part for part in listed.parts]
        rows = [tuple(c for row in v.rows for c in row) for v in vectors if isinstance(v, n.Matrix) and 1 in v.shape]
        if len(rows) == len(vectors) and len(set(map(len, rows))) == 1:
            return n.Matrix(tuple(rows))
        return replace(listed, axis=0) if below else listed

    @staticmethod
    def _labels(expr: n.Expr) -> tuple[str, ...]:
        """The words that label the rows of an array that is told row by row."""
        parts = expr.parts if isinstance(expr, n.Concat) else ()
        names = [part.symbol for part in parts if isinstance(part, n.Name)]
        words = [("".join(s.labels) if s.base == AT else str(s)) for s in names]
        return tuple(words) if words and all(words) and len(words) == len(parts) else ()

    def _printed(self, symbol: Symbol) -> n.Expr | None:
        """The numbers with which a page gives a name."""
        given = (e for e in self._made if symbol in e.names and not e.of(Kind.FORMULA, Kind.WORKING))
        return next((e.of(Kind.VALUE)[-1].expr for e in given if e.of(Kind.VALUE)), None)

    def _printed_at(self, line: int) -> Equation | None:
        """The equation that prints numbers in a line: of several the one that is nearest to its end."""
        here = [e for e in self._made if e.line <= line <= max(e.end_line, e.line) and e.of(Kind.VALUE)]
        arrays = [e for e in here if isinstance(e.of(Kind.VALUE)[-1].expr, n.Matrix)]
        return min(arrays or here, key=lambda e: (abs(e.line - line), e.index), default=None)

    def _labelled(self, symbol: Symbol) -> list[n.Matrix]:
        """The rows that a word labels."""
        rows = (self._row(e, str(symbol)) for e in self._made)
        return [row for row in rows if row is not None]

    @staticmethod
    def _row(equation: Equation, label: str) -> n.Matrix | None:
        """The row of a printed array with a label, or a printed vector that has it itself."""
        for item in equation.of(Kind.VALUE)[-1:]:
            if not isinstance(item.expr, n.Matrix) or not is_printed(item.expr):
                return None
            for word, row in zip(equation.rows or (equation.label,), item.expr.rows, strict=False):
                if label.lower() in re.findall(r"\w+", word.lower()):
                    return n.Matrix((row,))
        return None
