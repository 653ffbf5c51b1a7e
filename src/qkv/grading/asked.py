"""ASSIGNMENT → what it asks for: the quantities that each question wants, with their true values and their points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from qkv.errors import Location, QkvError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.grading.model import DEFAULT, Points, Policy
from qkv.grading.sameness import same_values
from qkv.interpret.certified import Value
from qkv.interpret.trace import Trace
from qkv.library.roles import roles_in_words
from qkv.program.model import Given, Step
from qkv.reader.grammar import parse_math
from qkv.reader.model import Question, Sheet
from qkv.regex import regex
from qkv.render.plainly import plainly
from qkv.solution import Solution


@dataclass(frozen=True)
class Known:
    """A quantity of the worked assignment. `needs` are the names of all that it stands on."""

    name: str
    symbol: Symbol
    role: Role
    head: int | None
    value: Value
    needs: frozenset[str]
    given: bool = False


@dataclass(frozen=True)
class Asked:
    """A quantity that a question asks for."""

    label: str
    known: Known
    points: Points

    @property
    def name(self) -> str:
        """How the assignment calls it."""
        return self.known.name


@dataclass(frozen=True)
class Assignment:
    """An assignment worked out: everything in it that has a value, what is asked for, and what nobody can grade."""

    sheet: Sheet
    known: tuple[Known, ...]
    asked: tuple[Asked, ...]
    by_person: tuple[Question, ...] = ()  # questions that ask for no quantity: 'Explain why …'


def assignment_of(sheet: Sheet, solution: Solution, policy: Policy = DEFAULT) -> Assignment:
    """What a worked assignment asks for, with points as the policy, else the assignment, else one a quantity."""
    known = tuple(each for number, trace in enumerate(solution.traces, 1) for each in _known(trace, number))
    by_question = {q: _wanted(q, known, solution, policy) for q in sheet.questions}
    asked = [each for q, wanted in by_question.items() for each in _priced(q, wanted, sheet, policy)]
    if not asked and (last := [each for each in known if not each.given][-1:]):
        asked = list(_priced(Question("", 1, 0), last, sheet, policy))
    _refuse_unknown(policy, sheet, known)
    once = tuple({each.name: each for each in reversed(asked)}.values())[::-1]
    return Assignment(sheet, known, once, tuple(q for q, wanted in by_question.items() if not wanted))


def _known(trace: Trace, number: int) -> Iterator[Known]:
    """Everything that a problem gives and works out; from the second problem on, names say which."""
    needs: dict[Symbol, frozenset[str]] = {}
    names: dict[Symbol, str] = {}
    items: tuple[Given | Step, ...] = (*trace.program.givens, *trace.program.steps)
    for item in items:
        used = [symbol for symbol in n.names_in(item.expr) if symbol in names]
        needs[item.symbol] = frozenset().union(*({names[symbol]} | needs[symbol] for symbol in used))
        spelled = plainly(item.spelled)
        names[item.symbol] = spelled if number == 1 else f"{spelled} of problem {number}"
        value, given = trace.value(item.symbol), not isinstance(item, Step)
        yield Known(names[item.symbol], item.symbol, item.role, item.head, value, needs[item.symbol], given)


# — what a question asks for —

_MATHS = regex(r"\$([^$]{1,160})\$|`([^`]{1,60})`|\\\((.{1,160}?)\\\)")
_POINTS = regex(
    r"[(\[]\s*(\d{1,3}(?:[.,]\d{1,2})?)\s*(?:points?|pts?|marks?|punkte?|p|puntos?|pontos?|分|баллов|балла?)\.?\s*[)\]]",
    re.IGNORECASE,
)
_AND = regex(r"\b(?:and|then|und|dann|et|puis|y|luego|e)\b|[,、，和及]", re.IGNORECASE)
_WHY = regex(
    r"^\W*(?:\(?\w{1,2}[.)]\s*)?(?:explain|why|discuss|prove|show that|justify|describe|interpret|warum|erklär|begründ"
    r"|expliqu|pourquoi|explica|por qué|justifi|解释|为什么|証明|почему|объясн)",
    re.IGNORECASE,
)
SIZES = frozenset({Role.D_K, Role.D_V, Role.D_MODEL})
_WIDER = {Role.HEAD: (Role.HEAD, Role.OUTPUT, Role.CONTEXT), Role.OUTPUT: (Role.OUTPUT, Role.HEAD, Role.CONTEXT)}


def _wanted(question: Question, known: tuple[Known, ...], solution: Solution, policy: Policy) -> list[Known]:
    """The quantities of a question: those that the policy says, else its formulas and names, else its words."""
    own = dict(policy.asks).get(_label(question))
    if own is not None:
        return [each for each in known if each.name in own]
    sizes = {each.name for each in known if each.role in SIZES}
    worked = tuple(each for each in known if not each.given and not each.needs <= sizes)  # √d_k is how, not what
    pieces = [next(filter(None, found.groups()), "") for found in _MATHS.finditer(question.text)]
    exprs = [question.expr] if question.expr is not None else [expr for piece in pieces for expr in _formula(piece)]
    named = [each for expr in exprs for each in _meant(expr, worked, solution)]
    if _WHY.search(question.text):
        return []
    return list({each.name: each for each in named or _worded(question.text, worked)}.values())


def _formula(piece: str) -> Iterator[n.Expr]:
    """What a piece of a question begins with: Z in 'Z = A V'."""
    try:
        chains = parse_math(piece, Location(1)).chains
    except QkvError:
        return
    yield from (chain.links[0].expr for chain in chains[:1])


def _meant(expr: n.Expr, worked: tuple[Known, ...], solution: Solution) -> list[Known]:
    """The quantity that a formula is: by its name, else by its value."""
    by_name = [each for each in worked if isinstance(expr, n.Name) and _is_called(each, expr.symbol)]
    return by_name or _by_value(expr, worked, solution)


def _is_called(known: Known, symbol: Symbol) -> bool:
    """Whether a name is meant; Q_i is the Q of every head."""
    if known.symbol == symbol:
        return True
    of_each = known.head is not None and len(symbol.indices) == 1 and symbol.indices[0].isalpha()
    return of_each and known.symbol._replace(indices=()) == symbol._replace(indices=())


def _by_value(expr: n.Expr, worked: tuple[Known, ...], solution: Solution) -> list[Known]:
    for trace in solution.traces:
        try:
            value = trace.evaluate(expr)
        except QkvError:
            continue
        return [each for each in worked if same_values(value, each.value)][:1]
    return []


def _worded(text: str, worked: tuple[Known, ...]) -> list[Known]:
    """The quantities that words speak of: 'the attention weights' of every head; the output is the last there is."""
    found: list[Known] = []
    for role in roles_in_words(text):
        if role in _WIDER:
            wider = [each for each in worked if each.role in _WIDER[role]]
            found += [each for each in wider if each.head is None][-1:] or wider
        else:
            found += [each for each in worked if each.role is role]
    if _AND.search(text):
        return found
    return [each for each in found if not any(each.name in other.needs for other in found)]  # 'of the scaled scores'


# — points —


def _priced(question: Question, wanted: list[Known], sheet: Sheet, policy: Policy) -> Iterator[Asked]:
    """The quantities of a question with their points: those of the question are shared out among them."""
    own, label = dict(policy.points), _label(question)
    total = own.get(label, _stated(question, sheet))
    for each in wanted:
        share = total / len(wanted) if total is not None else Fraction(1)
        yield Asked(label, each, own.get(each.name, share))


def _stated(question: Question, sheet: Sheet) -> Points | None:
    """The points that the assignment gives a question: '(3 points)'."""
    later = [other.line for other in sheet.questions if other.line > question.line]
    text = "\n".join(sheet.lines[question.line - 1 : min(later, default=question.line + 6) - 1]) or question.text
    found = _POINTS.search(text) or _POINTS.search(question.text)
    return Fraction(found[1].replace(",", ".")) if found else None


def _label(question: Question) -> str:
    return question.label.strip(" .()[]:")


def _refuse_unknown(policy: Policy, sheet: Sheet, known: Iterable[Known]) -> None:
    """A scheme that speaks of what is not there is a slip of its author's, which has to be said."""
    labels, names = {_label(q) for q in sheet.questions}, {each.name for each in known}
    for key in (*dict(policy.points), *dict(policy.asks)):
        if key not in labels | names:
            has = f"questions {_list(labels)} and quantities {_list(names)}"
            raise ValueRefused(f"the scheme speaks of {key!r}; the assignment has {has}")
    for name in (name for _, wanted in policy.asks for name in wanted):
        if name not in names:
            raise ValueRefused(f"the scheme asks for {name!r}; the assignment has {_list(names)}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
