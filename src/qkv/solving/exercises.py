"""Exercises in words around attention, a row each: the words of a page, those of a question, and what answers it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from qkv.check.mistakes.patterns import matches
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import sinusoids
from qkv.interpret.trace import Trace
from qkv.library import around_said as said
from qkv.library.notation import expression
from qkv.library.roles import roles_in_words
from qkv.library.rows import counted, renamed, rows_of
from qkv.program.gradients import jacobians
from qkv.program.model import Given, Program, Step
from qkv.reading.asked import questions_of
from qkv.reading.equation import Kind
from qkv.reading.page import Page
from qkv.regex import regex
from qkv.solving.growing import answered, in_order, number_given
from qkv.solving.replies import is_beside

Made = Iterable[Given | Step]


class Asking(NamedTuple):
    """A question in small letters, on a page, with the program so far."""

    program: Program
    page: Page
    scope: int
    words: str
    text: str


class Exercise(NamedTuple):
    """What questions may ask for.

    words     what the page says              makes   the steps, and what sentences give for them
    question  what the question says          tells   which of the steps answer the question
    first     whether it comes before what the page's own names say
    """

    words: re.Pattern[str]
    question: re.Pattern[str]
    makes: Callable[[Asking], Made]
    tells: Callable[[Step, str], bool] = lambda step, text: True
    first: bool = True


def with_exercises(program: Program, page: Page, scope: int) -> Program:
    """The program with what its questions ask for in words."""
    words = page.words_of(scope).lower()
    for exercise in EXERCISES if not program.columns else ():
        if exercise.words.search(words):
            program = _with(exercise, program, page, scope, words)
    return _with_table(program, page, scope, words)


def _with(exercise: Exercise, program: Program, page: Page, scope: int, words: str) -> Program:
    answers = {answer.line: answer for answer in program.answers}
    made: dict[Symbol, Given | Step] = {}
    for question in questions_of(page, scope):
        known = answers.get(question.line)
        asks = any(map(exercise.question.search, (question.text, question.text.lower())))
        if asks and (exercise.first or known is None or not known.parts):
            found = list(exercise.makes(Asking(program, page, scope, words, question.text)))
            made |= {item.symbol: item for item in found if program.item(item.symbol) is None}
            if told := [x for x in found if isinstance(x, Step) and exercise.tells(x, question.text)]:
                answers[question.line] = answered(known, question, told)
    givens = (*program.givens, *(item for item in made.values() if isinstance(item, Given)))
    steps = (*program.steps, *(item for item in made.values() if isinstance(item, Step)))
    return replace(program, givens=givens, steps=steps, answers=in_order(answers))


def _step(symbol: Symbol, expr: n.Expr, says: str, role: Role = Role.BLOCK, spelled: str = "") -> Step:
    return Step(symbol, expr, role, spelled or symbol_plain(symbol), says=says)


# — positions —

_USUAL_ANGLE = r"p / b^{2 i / d}"
_WIDTHS = frozenset({"d_model", "d", "D", "d_emb", "dim"})
_MOST = 64  # columns of an encoding that are written out


def _positions(asking: Asking) -> Iterator[Step]:
    """The sinusoidal encodings of the positions that a question numbers, unless the page has others."""
    learned = "learn" in asking.words and "sin" not in asking.words
    width, base = _width(asking), _base(asking.page, asking.scope)
    if learned or width is None or base is None or asking.program.item(Symbol("PE")) is not None:
        return
    for place in places_numbered(asking.text):
        row = sinusoids(1, width, base, place)
        yield _step(Symbol("PE", (), (str(place),)), row, f"position {place}", spelled=f"PE({place})")


def places_numbered(text: str) -> list[int]:
    """The positions that a question numbers, each once.

    >>> places_numbered("PE(0), PE(1) and PE(3)"), places_numbered("positions 0 to 3")
    ([0, 1, 3], [0, 1, 2, 3])
    """
    found: list[int] = []
    for match in said.PLACE_NUMBERED.finditer(text):
        numbers = [int(number) for number in re.findall(r"\d+", match["numbers"])]
        if said.UP_TO.search(match["numbers"]) and len(numbers) == 2 and numbers[0] < numbers[1] < _MOST:
            numbers = list(range(numbers[0], numbers[1] + 1))
        found += numbers
    return list(dict.fromkeys(found))


def _width(asking: Asking) -> int | None:
    """How many numbers an encoding has: a given d_model, or what the words say."""
    given, words = number_given(asking.program, _WIDTHS), said.WIDTH.search(asking.words)
    width = given.value if given is not None else Fraction(words[1] or words[2]) if words else Fraction(0)
    return int(width) if width.denominator == 1 and 1 < width <= _MOST else None


def _base(page: Page, scope: int) -> n.Number | None:
    """The base of the page's own formulas for sines, or the usual one; None where its formulas are other ones."""
    items = (item for e in page.equations if e.scope == scope for item in e.of(Kind.FORMULA))
    waves = [x.expr.args[0] for x in items if isinstance(x.expr, n.Call) and x.expr.function in ("sin", "cos")]
    bases: list[n.Expr] = [n.number(10000)]
    for angle in (angle for angle in waves if n.names_in(angle)):
        bound: dict[Symbol, n.Expr] = {}
        fits = matches(expression(_USUAL_ANGLE), angle, bound)
        bases = [bound[Symbol("b")]] if fits else [angle]
    return bases[0] if isinstance(bases[0], n.Number) else None


# — softmax at temperatures —


def _temperatures(asking: Asking) -> Iterator[Given | Step]:
    """softmax(z / T) for every T that a question names, where one vector of logits is given."""
    program, named = asking.program, _logits(asking.program)
    logits = named or list(_labelled(asking.page, asking.scope))
    if len(logits) == 1 and not any(step.role is not Role.WEIGHTS and step.line for step in program.steps):
        yield from logits if not named else ()
        yield from (_tempered(value, logits[0].symbol) for value in temperatures_said(asking.text))


def _with_table(program: Program, page: Page, scope: int, words: str) -> Program:
    """The program with a softmax at each temperature that labels a row of a table of weights."""
    named = _logits(program)
    rows = (e for e in page.equations if e.scope == scope and Role.WEIGHTS in roles_in_words(e.label))
    labels = [[label.strip(" $*`") for label in equation.rows] for equation in rows if len(equation.rows) > 1]
    values = [Fraction(x) for x in labels[0] if re.fullmatch(r"\d+(?:\.\d+)?", x)] if labels else []
    if len(named) != 1 or len(values) < 2 or not said.WARMTH.search(words) or said.TEMPERATURES.search(words):
        return program
    made = tuple(_tempered(value, named[0].symbol) for value in values if value)
    return replace(program, steps=(*program.steps, *made))


def _logits(program: Program) -> list[Given]:
    givens = [g for g in program.givens if said.ALIASES.get(symbol_plain(g.symbol)) != "tau"]
    return [g for g in givens if symbol_plain(g.symbol) in said.LOGITS or g.role is Role.SCORES]


def _labelled(page: Page, scope: int) -> Iterator[Given]:
    """Vectors without a name that a label calls logits: 'Logits: [2.0, 1.0, 0.1]'."""
    for equation in page.equations:
        vectors = [item.expr for item in equation.of(Kind.VALUE) if isinstance(item.expr, n.Matrix)]
        if equation.scope == scope and not equation.names and "logit" in equation.label.lower() and len(vectors) == 1:
            yield Given(Symbol("z"), vectors[0], Role.SCORES, "z", line=equation.line)


def temperatures_said(text: str) -> list[Fraction]:
    """The temperatures that a text names, each once.

    >>> [str(value) for value in temperatures_said("for T = 1, T = 0.5 and T = 2")]
    ['1', '1/2', '2']
    """
    found = (number for match in said.TEMPERATURES.finditer(text) for number in said.DECIMAL.findall(match[0]))
    return [value for value in dict.fromkeys(Fraction(number.replace(",", ".")) for number in found) if value]


def _tempered(value: Fraction, logits: Symbol) -> Step:
    label, scores = str(float(value)).removesuffix(".0"), n.Name(logits)
    expr = n.Softmax(scores if value == 1 else n.Quotient(scores, n.number(value)), 1, by_rows=True)
    return _step(Symbol("P", (), (label,)), expr, f"at temperature {label}", Role.WEIGHTS, f"P(T = {label})")


# — losses of probabilities that sentences say —

_SHARES, _EACH, _MEAN, _PERPLEXITY = Symbol("p"), Symbol("ell"), Symbol("loss"), Symbol("PPL")


def _losses(asking: Asking) -> Iterator[Given | Step]:
    """What a question asks of: the loss of each token, their mean, the perplexity."""
    words = asking.words
    if any(step.symbol not in (_EACH, _MEAN, _PERPLEXITY) for step in asking.program.steps):
        return
    if (loss := said.LOSS_SAID.search(words)) is not None and not said.PROBABLE.search(words):
        mean = n.Name(_MEAN)
        power = n.Power(n.number(2), mean) if "bit" in words else n.Exp(mean)
        yield Given(_MEAN, n.number(loss[1].replace(",", ".")), Role.BLOCK, "loss")
        yield _step(_PERPLEXITY, power, "perplexity")
    elif shares := list(_probabilities(words)):
        yield Given(_SHARES, n.Matrix((tuple(map(n.number, shares)),)), Role.BLOCK, "p")
        yield _step(_EACH, n.Negate(n.Call("ln", (n.Name(_SHARES),))), "−ln of each probability")
        yield _step(_MEAN, n.Call("mean", (n.Name(_EACH),)), "cross-entropy")
        yield _step(_PERPLEXITY, n.Exp(n.Name(_MEAN)), "perplexity")


def _is_loss_asked(step: Step, text: str) -> bool:
    each = said.OF_EACH.search(text.lower()) is not None
    return {_EACH: each, _MEAN: not each and bool(said.OF_ALL.search(text.lower())),
            _PERPLEXITY: bool(said.PERPLEXITY.search(text.lower()))}[step.symbol]  # fmt: skip


def _probabilities(words: str) -> Iterator[Fraction]:
    """The probabilities of the right tokens: all that are listed, or of a distribution the one that is right."""
    lists = {found["numbers"] for found in said.PROBABLE.finditer(said.TEMPERATURES.sub(" ", words))}
    listed = [_share(*pair) for pair in said.NUMERAL.findall(lists.pop())] if len(lists) == 1 else []  # of one model
    if not listed or not all(0 < share <= 1 for share in listed):
        return
    right = said.target_said(words, len(listed)) if len(listed) > 1 else None
    if right is not None and 0 <= right < len(listed):
        yield listed[right]
    elif len(listed) == 1 or (sum(listed) != 1 and said.OF_TOKENS.search(words)):
        yield from listed


def _share(digits: str, percent: str) -> Fraction:
    return Fraction(digits.replace(",", ".")) / (100 if percent else 1)


# — of weights and of a softmax —

_ENTROPY = r"""
H = -rowsum(hadamard(A, \ln(A)))  | | the entropy of each row, in nats
H_{bits} = H / \ln(2)             | | the same in bits
"""


def _entropies(asking: Asking) -> Iterator[Step]:
    """The entropy of the weights, or of the one vector that is given."""
    program = asking.program
    single = [given.symbol for given in program.givens if isinstance(given.expr, n.Matrix)]
    weights = (step.symbol for step in program.steps if step.role is Role.WEIGHTS and not is_beside(step))
    of = next(weights, None) or program.find(Role.WEIGHTS) or (single[0] if len(single) == 1 else None)
    for row in rows_of(_ENTROPY)[: 2 if "bit" in asking.words else 1] if of is not None else ():
        yield _step(row.symbol, renamed(row.expr, {Symbol("A"): of or row.symbol}), row.says)


def _jacobians(asking: Asking) -> Made:
    """diag(p) − pᵀ p for what a softmax of the page gives."""
    try:
        return list(jacobians(Trace(asking.program)))
    except QkvError:
        return ()


# — backwards —

_START = regex(r"(?P<before>d|∂L/∂|dL/d|grad_?)(?:Z|O|Out|out|Output|output|Y|H|attn)")
_RATES = frozenset({"eta", "lr", "alpha", "learning_rate", "gamma", "rate"})
_BACKWARDS = r"""
D_V = A^T D                              |        | the weights, turned, times what comes back
D_A = D V^T                              |        | what comes back times the values, turned
D_S = hadamard(A, D_A - rowsum(hadamard(A, D_A))) | | through the softmax, row by row
D_Q = D_S K / \sqrt{d}                   | scaled | through the scores
D_Q = D_S K                              |        | through the scores
D_K = D_S^T Q / \sqrt{d}                 | scaled | through the scores
D_K = D_S^T Q                            |        | through the scores
"""


def _gradients(asking: Asking) -> Iterator[Step]:
    """From dZ back through Z = A V, the softmax and S = Q Kᵀ / √d_k, as far as the page has what it takes."""
    program = asking.program
    starts = ((g.symbol, _START.fullmatch(symbol_plain(g.symbol))) for g in program.givens)
    start, before = next(((symbol, match["before"]) for symbol, match in starts if match), (None, ""))
    roles = {"A": Role.WEIGHTS, "V": Role.V, "K": Role.K, "Q": Role.Q, "d": Role.D_K}
    known = {Symbol(letter): symbol for letter, role in roles.items() if (symbol := program.find(role)) is not None}
    if start is None or not known.keys() >= {Symbol("A"), Symbol("V")}:
        return
    names, known[Symbol("D")] = {s: symbol_plain(known[s]) if str(s) == "A" else str(s) for s in known}, start
    scaled = "unscaled" not in program.kind and program.find(Role.SCALED) is not None
    for row in counted(rows_of(_BACKWARDS), set(known), frozenset({"scaled"}) if scaled else frozenset()):
        letter = row.symbol.labels[0]
        known[row.symbol] = Symbol(before + names.get(Symbol(letter), letter))
        yield _step(known[row.symbol], renamed(row.expr, known), row.says)


def _descent(asking: Asking) -> Iterator[Step]:
    """W − η dW for everything that is given with a gradient and a learning rate."""
    program = asking.program
    numbers = [given for given in program.givens if isinstance(given.expr, n.Number)]
    rate = next((given for given in numbers if symbol_plain(given.symbol) in _RATES), None)
    for given in program.givens if rate is not None else ():
        name = symbol_plain(given.symbol)
        slopes = {f"d{name}", f"∂L/∂{name}", f"dL/d{name}", f"grad_{name}"}
        slope = next((item for item in program.items if symbol_plain(item.symbol) in slopes), None)
        if slope is not None and rate is not None:
            change = n.Product(n.Name(rate.symbol), n.Name(slope.symbol))
            symbol = given.symbol._replace(labels=(*given.symbol.labels, "new"))
            expr = n.Sum((n.Name(given.symbol), n.Negate(change)))
            yield _step(symbol, expr, "one step of gradient descent", Role.OTHER)


def _is_stepped(step: Step, text: str) -> bool:
    """Whether a question wants what a step of descent makes of a name: it names it, or names nothing."""
    old = step.symbol._replace(labels=tuple(label for label in step.symbol.labels if label != "new"))
    named = re.compile(r"(?<![\w\\/∂])[`$\\]*(\w+)")
    return symbol_plain(old) in named.findall(text) or not re.search(r"[$`]", text)


def _is_named(step: Step, text: str) -> bool:
    return re.search(rf"(?<![\w∂]){re.escape(step.spelled)}(?!\w)", text) is not None


_ANY = regex("")
EXERCISES = (
    Exercise(said.PLACES_ASKED, _ANY, _positions, first=False),
    Exercise(said.WARMTH, said.TEMPERATURES, _temperatures),
    Exercise(said.LOSS, said.LOSS_ASKED, _losses, _is_loss_asked, first=False),
    Exercise(said.ENTROPY, said.ENTROPY, _entropies, first=False),
    Exercise(said.JACOBIAN, said.JACOBIAN, _jacobians),
    Exercise(said.BACKWARD, said.BACKWARD, _gradients, _is_named),
    Exercise(said.UPDATE, said.UPDATE, _descent, _is_stepped),
)
