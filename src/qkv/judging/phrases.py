"""What words say of the numbers beside them: which line of an array they are (weights of token 2), a cell, or the mean,
sum or largest of a row; and what is done to the numbers before them (divide by √2).

Words are weak: a number that agrees with them is right, one that does not is left open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.judging.fit import How, Meaning
from qkv.library.roles import SCORE_LIKE, roles_in_words
from qkv.library.said import places_said
from qkv.library.words import pattern
from qkv.reader.grammar import parse_formula
from qkv.reader.model import Origin
from qkv.reading.equation import Equation
from qkv.reading.naming import role_symbol
from qkv.reading.numbered import question_of
from qkv.reading.page import Page, Spot
from qkv.reading.search.functions import normed
from qkv.reading.system import LINE, System
from qkv.regex import regex

Operation = Callable[[n.Expr], n.Expr]

_LINE = regex(rf"(?:{pattern('line')})\s*#?\s*(\d{{1,2}})\b|第\s*(\d{{1,2}})\s*(?:行|个)")
_FUNCTIONS = tuple(
    (regex(rf"(?<![^\W\d_])(?:{pattern(concept)})(?![^\W\d_])"), function)
    for concept, function in (
        ("variance", "var"), ("deviation", "std"), ("mean", "mean"), ("sum", "sum"), ("largest", "max"),
        ("smallest", "min"),
    )
)  # fmt: skip
_DIVIDED = regex(
    rf"(?:(?<![^\W\d_])(?:{pattern('divide')})(?:\s+(?:{pattern('operand')}))*(?!.*÷)|÷)(?P<by>.*)"
)  # 'divide by √2', 'scaled scores (÷ √2)'
_TIMES = regex(
    rf"(?:(?<!\w)(?:times|mal|fois|por|{pattern('multiply')})|^\W*[×·])\s+(?:(?:{pattern('operand')})\s+)*(?P<by>\S+)\s*$",
    re.IGNORECASE,
)  # 'times V', 'multiply by V'
_PLUS = regex(
    r"(?:(?<!\w)(?:add(?:ing)?|plus|addiere|ajout(?:er|ons)|suma(?:r|mos)?|soma(?:r|mos)?|прибав\w+)|^\W*\+|加上?)\s*"
    r"(?:(?:the|die|den|le|la|el|o|a)\s+)?(?:bias\w*\s+)?(?P<by>\S+)\s*$",
    re.IGNORECASE,
)  # 'add b_2'
_LAYER_NORM = regex(r"\blayer\s?-?norm", re.IGNORECASE)
_EXPONENTIAL = regex(rf"(?<![^\W\d_])(?:{pattern('exponential')})(?![^\W\d_])")


_SUPPOSED = regex(
    r"\b(?:without|would|omit\w*|forg[eo]t\w*|wrong(?:ly)?|mistake\w*|instead|unlike|otherwise|unscaled|unmasked)\b"
    r"|\b(?:ohne|wäre\w*|würde\w*|falsch|vergessen|sonst|sans|serait|seraient|oublié|sería\w*|olvid\w+|seria\w*"
    r"|senza|sarebbe\w*|без|были бы)\b|如果不|若不|不缩放|忘记|しなければ|なければ"
)


def phrased(equation: Equation, system: System, spot: Spot) -> Iterator[Meaning]:
    """The cells and rows that a label speaks of, worked out."""
    label = equation.label.lower()
    lines = [int(a or b) for a, b in _LINE.findall(label)]
    roles = [role for role in roles_in_words(label) if role not in (Role.X, Role.Q, Role.K)]
    for role in roles or (Role.SCORES, Role.SCALED, Role.WEIGHTS) if lines else ():
        for head in (None, *system.heads):
            whole = n.Name(role_symbol(role, head))
            for shift in {0, system.choices.zero_based}:  # words count from 1, even beside code
                for expr in _parts(whole, role, [line + shift for line in lines], label):
                    yield Meaning(How.WORDED, expr, spot, 2.0 * shift, sure=False)


def _parts(whole: n.Expr, role: Role, lines: list[int], label: str) -> Iterator[n.Expr]:
    functions = statistics_said(label)
    if functions and len(lines) == 1:
        yield n.Call(functions[0], (n.Call(LINE, (whole, n.number(lines[0]))),))
    elif not functions and len(lines) == 1 and role in SCORE_LIKE and lines[0] > 0:
        yield n.Call(LINE, (whole, n.number(lines[0])))
    elif not functions and len(lines) == 2 and role in SCORE_LIKE and min(lines) > 0:
        yield n.Entry(whole, row=lines[0], column=lines[1])


def is_supposed(equation: Equation) -> bool:
    """Whether the words right before a value say that its author does not hold it: 'if you omit the scale, s = …'."""
    words = re.split(r"[.;:!?。；]\s", f"{equation.words} {equation.label}".lower()[-120:])
    return bool(_SUPPOSED.search(words[-1]))


def statistics_said(words: str) -> list[str]:
    """The functions of several numbers that words speak of.

    >>> statistics_said("mean of row 1"), statistics_said("the meaning")
    (['mean'], [])
    """
    return [function for said, function in _FUNCTIONS if said.search(words)]


def operation(label: str, page: Page) -> Operation | None:
    """What a label does to the numbers before it: divide or multiply by something, exponentiate, take the softmax."""
    divided = _DIVIDED.search(label.lower())
    by = parse_formula(label[divided.start("by") :].strip(" $`:"), page.sheet.names) if divided else None
    if by is not None:
        return lambda expr: n.Quotient(expr, by)
    if divided:
        return None
    times = _TIMES.search(label)
    if times is not None:
        factor = parse_formula(times["by"].strip(" $`:"), page.sheet.names)
        return (lambda expr: n.Product(expr, factor)) if isinstance(factor, n.Name) else None
    plus = _PLUS.search(label)
    if plus is not None:
        added = parse_formula(plus["by"].strip(" $`:"), page.sheet.names)
        return (lambda expr: n.Sum((expr, added))) if isinstance(added, n.Name) else None
    if "softmax" in label.lower():
        return n.Softmax
    if _LAYER_NORM.search(label):
        return normed
    return n.Exp if _EXPONENTIAL.search(label.lower()) else None


LINED = frozenset({Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.OUTPUT})

_WORD = regex(r"[^\W\d_]+")


def lined(equation: Equation, system: System, spot: Spot) -> Iterator[Meaning]:
    """The lines of what words name, where the same words say which line."""
    asked = question_of(equation, system.page)
    words = f"{equation.words[-90:]} {asked} {equation.label}".lower()
    roles = [role for role in roles_in_words(asked or equation.label or words) if role in LINED]
    if equation.origin is Origin.TABLE:  # what is said above a table holds for all its columns
        beside = (e for e in system.page.equations if e.line == equation.line and e.origin is Origin.TABLE)
        words = " ".join(e.words[-90:] for e in beside).lower()
    places = list(dict.fromkeys(_places(words, equation, system))) if roles else []
    if len(places) == 1:
        for head in (None, *system.heads_in(spot.scope)):
            line = n.Call(LINE, (n.Name(role_symbol(roles[0], head)), n.number(places[0])))
            yield Meaning(How.WORDED, line, spot)
            if _width(equation) == places[0] and "causal" in system.conventions(spot.scope):  # without what is hidden
                yield Meaning(How.WORDED, n.Entry(line, columns=(1, places[0])), spot)


def _width(equation: Equation) -> int:
    """How many numbers the last side of an equation has, in one row."""
    shown = equation.items[-1].expr
    return shown.shape[1] if isinstance(shown, n.Matrix) and len(shown.rows) == 1 else 1


def _places(words: str, equation: Equation, system: System) -> Iterator[int]:
    """The rows that words speak of, from 1: by number, by a word of the page's tokens, by an ordinal."""
    numbers = [int(a or b) for a, b in _LINE.findall(words)]
    yield from (number + (_counts_from_zero(system) or 0) for number in numbers)
    if numbers:
        return
    tokens = [token.lower() for token in system.page.tokens.get(equation.scope, ()) or equation.columns]
    named = [tokens.index(word) + 1 for word in _WORD.findall(words) if word in tokens]
    yield from named
    if not named:
        yield from (place if place > 0 else len(tokens) for place in places_said(words) if place > 0 or tokens)


def _counts_from_zero(system: System) -> bool:
    """Whether words of the page count rows from 0."""
    return system.choices.zero_based or "0" in {a or b for a, b in _LINE.findall(system.page.words)}
