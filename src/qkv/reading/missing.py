"""What a page would have to say so that something can be worked out, and the line to add.

A quantity is missing where nothing gives it. Its place is looked for among the arrays of the page that nobody has a use
for: 'if the keys stand in line 3, say --let "K = @3"'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Role
from qkv.library.attention import LETTERS
from qkv.library.defined import defined
from qkv.library.roles import SAID
from qkv.reading.equation import Equation, Kind
from qkv.reading.naming import PROJECTED
from qkv.reading.page import Spot
from qkv.reading.values import Values

_LETTER = {role: letter for letter, role in LETTERS.items()}
MADE_OF = {  # what is worked out from what
    Role.OUTPUT: (Role.HEAD,), Role.CONCAT: (Role.HEAD,), Role.HEAD: (Role.WEIGHTS, Role.V),
    Role.WEIGHTS: (Role.SCORES,), Role.MASKED: (Role.SCORES,), Role.SCALED: (Role.SCORES,),
    Role.SCORES: (Role.Q, Role.K),
}  # fmt: skip
MOST = 3  # arrays that are proposed, and lines to add that are said at once


class Gap(NamedTuple):
    """Something that is missing: its name, what it is called in a sentence, the lines that may print it, what to write.

    Without a hint it is nowhere on the page."""

    name: str
    called: str
    lines: tuple[int, ...] = ()
    hint: str = ""


def told(gaps: Iterable[Gap], elsewhere: str = "") -> tuple[str, str]:
    """What is missing and what would help, in two sentences; `elsewhere` says who may know what is not on the page."""
    found = list(dict.fromkeys(gaps))
    absent = [gap for gap in found if not gap.hint]
    says = [f"nothing says which array is {gap.called}; {_in_lines(gap.lines)} may be it" for gap in found if gap.lines]
    says += [gap.called for gap in found if gap.hint and not gap.lines]
    hints = [gap.hint for gap in found if gap.hint]
    if absent:
        one = len(absent) == 1 and not absent[0].called.partition(" (")[0].endswith("s")
        says.append(f"{joined([gap.called for gap in absent])} {'is' if one else 'are'} not on the page")
        lines = " ".join(
            f'--let "{gap.name} = [1, 2; 3, 4]"' for gap in absent[:MOST]
        )  # all that is to be said at once
        hints.append(f"{elsewhere}{lines} with the right numbers")
    return "; ".join(says), "; ".join(hints)


def joined(words: Sequence[str], last: str = "and") -> str:
    """'a', 'a and b', 'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _in_lines(lines: Sequence[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {joined([str(line) for line in lines], 'or')}"


def gaps_of_role(role: Role, values: Values, spot: Spot, used: frozenset[int] = frozenset()) -> list[Gap]:
    """What is missing for a role to have a value; `used` are equations whose numbers are known to be something else."""
    missing = dict.fromkeys(_missing(role, values, spot))
    return [_gap(_LETTER.get(each, each.value), each, values, used) for each in missing]


def gaps_of_expr(expr: n.Expr, values: Values, spot: Spot, used: frozenset[int] = frozenset()) -> list[Gap]:
    """What is missing for an expression to have a value: names that nothing gives, functions that nothing defines."""
    found: list[Gap] = []
    for symbol in n.names_in(expr):
        if values.true(n.Name(symbol), spot) is not None:
            continue
        place = values.system.place(symbol)
        whole = place.role if place is not None and place.row is None and _attends(values, spot) else None
        if whole in MADE_OF:
            found += gaps_of_role(whole, values, spot, used)
        elif place is not None and place.row is not None:
            found.append(Gap(str(symbol), str(symbol)))
        else:
            found.append(_gap(str(symbol), whole, values, used))
    for call in (node for node in n.walk(expr) if isinstance(node, n.Call)):
        known = call.function in BY_KEY or call.function in values.system.functions or any(defined(call.function))
        if not known:
            says = f"nothing says what {call.function}(…) does"
            found.append(Gap(call.function, says, (), f"define it on the page: {call.function}(x) = …"))
    return list(dict.fromkeys(found))


def _attends(values: Values, spot: Spot) -> bool:
    """Whether a problem has anything to attend with, so that what its names usually stand for is worth a thought."""
    return any(values.role(role, None, spot) is not None for role in (Role.Q, Role.K, Role.V, Role.X))


def _missing(role: Role, values: Values, spot: Spot) -> Iterator[Role]:
    """The inputs that a role needs and the page lacks."""
    if values.role(role, None, spot) is not None:
        return
    if role in MADE_OF:
        for part in MADE_OF[role]:
            yield from _missing(part, values, spot)
    elif role in PROJECTED and values.role(PROJECTED[role], None, spot) is not None:
        yield Role.X
    else:
        yield role


def _gap(name: str, role: Role | None, values: Values, used: frozenset[int]) -> Gap:
    """What to write so that a name has a value: an array of the page that has no use yet, or nothing."""
    what = SAID.get(role, "") if role is not None else ""
    called = f"the {what} ({name})" if what else name
    free = list(unused_arrays(values, used))[:MOST]
    if not free:
        return Gap(name, called)
    rows = f"[{'; '.join(free[0].rows)}]" if _are_words(free[0].rows) else f"@{free[0].line}"
    return Gap(name, called, tuple(dict.fromkeys(e.line for e in free)), f'--let "{name} = {rows}"')


def unused_arrays(values: Values, used: frozenset[int]) -> Iterator[Equation]:
    """The printed arrays of a page that play no role and are not the result of anything."""
    system = values.system
    arrays = dict(system.choices.arrays)
    formulas = (item.expr for equation in system.page.own for item in equation.of(Kind.FORMULA))
    mentioned = {symbol for formula in formulas for symbol in n.names_in(formula)}
    for equation in system.page.own:
        printed = [item.expr for item in equation.of(Kind.VALUE) if isinstance(item.expr, n.Matrix)]
        idle = not equation.of(Kind.FORMULA, Kind.WORKING) and not equation.struck and equation.index not in used
        if not printed or not idle or equation.index in arrays or min(printed[-1].shape) < 2:
            continue
        if all(system.place(symbol) is None and symbol not in mentioned for symbol in equation.names):
            yield equation


def _are_words(rows: Iterable[str]) -> bool:
    words = list(rows)
    return bool(words) and all(word.isalpha() for word in words) and len(set(words)) == len(words)


def read_names(values: Values) -> Iterator[str]:
    """What of a page was read: each name or array with its shape and line."""
    for equation in values.system.page.own:
        printed = [item.expr for item in equation.of(Kind.VALUE)]
        if equation.struck or not printed:
            continue
        shape = printed[-1].shape if isinstance(printed[-1], n.Matrix) else None
        name = ", ".join(str(symbol) for symbol in equation.names) or " ".join(equation.label.split()[-4:])
        rows = f" with rows {', '.join(equation.rows[:4])}" if equation.rows and not name else ""
        size = f"{shape[0]}×{shape[1]}, " if shape is not None else ""
        yield f"{name or ('an array' if shape else 'a number')}{rows} ({size}line {equation.line})"
