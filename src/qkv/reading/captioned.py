"""Names at the end of a caption: 'Output output = P V' names the output, 'Number of layers (N): 80' gives N."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reader.grammar import parse_formula
from qkv.reader.model import Relation, Sheet
from qkv.reading.equation import Equation, Item, Kind


def with_names(equations: Iterable[Equation], sheet: Sheet) -> Iterator[Equation]:
    """The equations of a page; one that has no name gets the last word before it, or the word in brackets there, if
    that is a name that a formula uses and that nothing else defines."""
    made = tuple(equations)
    wanted = {symbol for equation in made for item in equation.of(Kind.FORMULA) for symbol in n.names_in(item.expr)}
    wanted -= {symbol for equation in made if len(equation.items) > 1 for symbol in equation.names}
    for equation in made:
        if equation.names or not equation.of(Kind.VALUE):
            yield equation
        elif (symbol := _headed(equation, sheet) or _called(equation, sheet)) is not None:
            yield _with_name(equation, symbol)
        else:
            yield _named(equation, wanted, sheet) if wanted else equation


_HEADING = re.compile(r"\W*(?:\w+\s+){0,3}(?:\$([^$\s]{1,16})\$|\\\(\s*([^$\s]{1,16})\s*\\\)|`([A-Za-z_]\w{0,11})`)\W*")


def _headed(equation: Equation, sheet: Sheet) -> Symbol | None:
    """The name in the heading right above an array, where it stands alone or behind a few words: 'Query $Q$'."""
    first = equation.items[0]
    if len(equation.items) > 1 or equation.label or equation.rows or not isinstance(first.expr, n.Matrix):
        return None
    found = _HEADING.fullmatch(equation.words)
    return _as_symbol(next(filter(None, found.groups())), sheet) if found else None


_ARRAYS = (
    r"matri(?:x|zen|zes|ces?|z)|rows?|vectors?|tensor|zeilen(?:vektoren)?|vektor(?:en)?|lignes|vecteurs?|filas"
    r"|vector(?:es)?|linhas|vetor(?:es)?|righe|vettor[ei]|матрица|строки|векторы?|矩阵|矩陣|向量|行列|ベクトル|행렬|벡터"
)
_CALLED = re.compile(
    rf"\W*(?:(?P<before>[A-Z])[`$]*\s*(?:{_ARRAYS}|[(（][^()（）]*[)）])"
    rf"|(?:\w+\s+)?\w*(?:{_ARRAYS})\s*[`$]*(?P<behind>[A-Z])"
    r"|(?:\w+\s+){1,3}[(（][`$]*(?P<within>[A-Z])[`$]*[)）])\W*",
    re.IGNORECASE,
)


def _called(equation: Equation, sheet: Sheet) -> Symbol | None:
    """The letter that a label calls an array by: 'Q rows', 'Matrix K', 'Value vectors (V)'."""
    first = equation.items[0]
    is_array = len(equation.items) == 1 and first.kind is Kind.VALUE and isinstance(first.expr, n.Matrix)
    found = _CALLED.fullmatch(equation.label) if is_array else None
    letter = next(filter(None, found.groups()), "") if found else ""
    return _as_symbol(letter, sheet) if letter.isupper() or letter in ("k", "q", "v", "x") else None


def _with_name(equation: Equation, symbol: Symbol) -> Equation:
    first = equation.items[0]
    name = Item(Kind.NAME, n.Name(symbol), Relation.FIRST, first.line, first.column, str(symbol))
    return replace(equation, items=(name, replace(first, relation=Relation.EQUAL)))


_LABEL = re.compile(r"(?:.*[\s(（]|^)\s*[\\$(（`]*([^\W\d]\w{0,20}(?:_\{?(?:\\\w+\{)?\w+\}*)?)\s*[\\$)）`]*")


def _named(equation: Equation, wanted: set[Symbol], sheet: Sheet) -> Equation:
    *words, last = equation.label.split() or [""]
    first = equation.items[0]
    if len(equation.items) == 1 and isinstance(first.expr, n.Number):
        labelled = _in_label(equation.label, sheet)
        return _with_name(equation, labelled) if labelled is not None and labelled in wanted else equation
    if words and first.kind is Kind.FORMULA and (symbol := Symbol(last)) in wanted:
        wanted.discard(symbol)
        name = Item(Kind.NAME, n.Name(symbol), Relation.FIRST, first.line, first.column, last)
        items = (name, replace(first, relation=Relation.EQUAL), *equation.items[1:])
        return replace(equation, items=items, label=" ".join(words))
    only = _only_name(first.expr) if last and len(equation.items) > 2 and first.kind is Kind.FORMULA else None
    if only is not None and only.symbol in wanted and equation.items[1].kind is Kind.FORMULA:
        wanted.discard(only.symbol)
        return replace(equation, items=(replace(first, kind=Kind.NAME, expr=only), *equation.items[1:]))
    return equation


def _in_label(label: str, sheet: Sheet) -> Symbol | None:
    """The name that a label gives a number: 'd_ff', 'Number of layers (N)', 'Model width ($d_{model}$)'."""
    found = _LABEL.fullmatch(label)
    if found is None or not (found[1] == label or label.rstrip()[-1:] in ")）"):
        return None
    return _as_symbol(found[1], sheet)


def _as_symbol(text: str, sheet: Sheet) -> Symbol | None:
    """The name that a piece of text is; None where it is anything else."""
    expr = parse_formula(text, sheet.names)
    return expr.symbol if isinstance(expr, n.Name) else None


def _only_name(expr: n.Expr) -> n.Name | None:
    """The name behind a word of the caption that was read as a function of it: 'nach Softmax P'."""
    inner = expr.arg if isinstance(expr, n.Softmax) else None
    return inner if isinstance(inner, n.Name) else None
