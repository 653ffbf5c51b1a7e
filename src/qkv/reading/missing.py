"""What a page would have to say so that something can be worked out: a quantity is missing where nothing gives it.

What to write for it is looked for in `proposed.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Role, Symbol
from qkv.library.attention import LETTERS
from qkv.library.defined import defined
from qkv.library.roles import SAID
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Kind
from qkv.reading.lettered import PROJECTED
from qkv.reading.page import Spot
from qkv.reading.values import Values
from qkv.regex import regex

_LETTER = {role: letter for letter, role in LETTERS.items()}
MADE_OF = {  # what is worked out from what
    Role.OUTPUT: (Role.HEAD,), Role.CONCAT: (Role.HEAD,), Role.HEAD: (Role.WEIGHTS, Role.V),
    Role.WEIGHTS: (Role.SCORES,), Role.MASKED: (Role.SCORES,), Role.SCALED: (Role.SCORES,),
    Role.SCORES: (Role.Q, Role.K),
}  # fmt: skip
MOST = 6  # lines to add that are said at once
BLANK = "_"  # stands for a number that a person has to fill in
_BLANK = regex(r"(?<!\w)_(?!\w)")


class Gap(NamedTuple):
    """Something that is missing: its name, what it is called in a sentence, its role; and, once the page was searched,
    what to write for it, where that comes from, and the words that speak of it there.

    What is written with blanks is nowhere on the page. `hint` is other advice than a line to add."""

    name: str
    called: str
    role: Role | None = None
    written: str = ""
    line: int = 0
    quote: str = ""
    hint: str = ""

    @property
    def let(self) -> str:
        """What a person may tell to fill it."""
        return f"{self.name} = {self.written}"

    @property
    def is_open(self) -> bool:
        """Whether numbers have to be filled in."""
        return is_open(self.written)


def is_open(written: str) -> bool:
    """Whether something that is written has blanks for numbers.

    >>> is_open("[_, 2]"), is_open("proj_q")
    (True, False)
    """
    return _BLANK.search(written) is not None


def told(gaps: Iterable[Gap], elsewhere: str = "") -> tuple[str, str]:
    """What is missing and what would help, in two sentences; `elsewhere` says who may know what is not on the page."""
    found = list(dict.fromkeys(gaps))
    lines = [gap for gap in found if gap.written][:MOST]
    hints = [" ".join(f'--let "{gap.let}"' for gap in lines)] if lines else []
    if any(gap.is_open for gap in lines):
        hints = [f"{elsewhere}{hints[0]} with the right numbers for the blanks"]
    return said(found), "; ".join([*hints, *(gap.hint for gap in found if gap.hint)])


def said(gaps: Iterable[Gap]) -> str:
    """What is missing, in one sentence."""
    found = list(dict.fromkeys(gaps))
    absent = [gap for gap in found if gap.is_open and not gap.quote]
    says = [_supposed(gap) for gap in found if gap.quote or not (gap.is_open or gap.hint)]
    says += [gap.called for gap in found if gap.hint]
    if absent:
        one = len(absent) == 1 and not absent[0].called.partition(" (")[0].endswith("s")
        says.append(f"{joined([gap.called for gap in absent])} {'is' if one else 'are'} not on the page")
    return "; ".join(says)


def _supposed(gap: Gap) -> str:
    if gap.quote and gap.is_open:
        return f"line {gap.line} speaks of {gap.called}: “{gap.quote}”"
    if gap.quote:
        return f"{gap.called} may be what line {gap.line} says: “{gap.quote}”"
    return f"nothing says which array is {gap.called}; line {gap.line} may be it"


def joined(words: Sequence[str], last: str = "and") -> str:
    """'a', 'a and b', 'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def gaps_of_role(role: Role, values: Values, spot: Spot) -> list[Gap]:
    """What is missing for a role to have a value."""
    return [_gap(_LETTER.get(each, each.value), each) for each in dict.fromkeys(_missing(role, values, spot))]


def gaps_of_expr(expr: n.Expr, values: Values, spot: Spot) -> list[Gap]:
    """What is missing for an expression to have a value: names that nothing gives, functions that nothing defines."""
    found: list[Gap] = []
    for symbol in n.names_in(expr):
        if values.true(n.Name(symbol), spot) is not None:
            continue
        place = values.system.place(symbol)
        if stated := [d.expr for d in values.system.page.definitions.get(symbol, ()) if _says_more(d, symbol)]:
            found += gaps_of_expr(stated[0], values, spot)
            continue
        whole = place.role if place is not None and place.row is None and _attends(values, spot) else None
        if whole in MADE_OF:
            found += gaps_of_role(whole, values, spot)
        elif place is not None and place.row is not None:
            found.append(Gap(str(symbol), str(symbol)))
        else:
            found.append(_gap(str(symbol), whole))
    for call in (node for node in n.walk(expr) if isinstance(node, n.Call)):
        known = call.function in BY_KEY or call.function in values.system.functions or any(defined(call.function))
        if not known:
            says = f"nothing says what {call.function}(…) does"
            found.append(Gap(call.function, says, hint=f"define it on the page: {call.function}(x) = …"))
    return list(dict.fromkeys(found))


def _says_more(definition: Definition, symbol: Symbol) -> bool:
    """Whether a formula of the page gives a name by other names."""
    return definition.source is Source.STATED and symbol not in n.names_in(definition.expr)


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


def _gap(name: str, role: Role | None) -> Gap:
    what = SAID.get(role, "") if role is not None else ""
    return Gap(name, f"the {what} ({name})" if what else name, role)


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
