"""One practice sheet: a document and its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from qkv.errors import QkvError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.trace import Table, Trace
from qkv.practice.blocks import AROUND
from qkv.practice.chains import CELL_LETTERS, TOKEN_LETTERS, has_fractions
from qkv.practice.document import Author, Placed
from qkv.practice.hand import BITS, Line, Slip, Style, Undecided, work_by_hand
from qkv.practice.notation import NOTATIONS, Notation
from qkv.practice.pen import ALPHABETS, SPELLINGS, USUAL, Dress, Names, drawn
from qkv.practice.problems import KINDS, problem, unfolded
from qkv.practice.slips import Planter, is_written, plainly_off
from qkv.practice.words import LANGUAGES
from qkv.program.model import Program, Step

R = Role
Cells = frozenset[tuple[int, int]]
# What authors write token by token: the data, the projections, the softmax, the result.
BY_ROW: tuple[frozenset[Role], ...] = (
    frozenset({R.X, R.STATES}),
    frozenset({R.X, R.Q, R.K, R.V}),
    frozenset({R.WEIGHTS}),
    frozenset({R.WEIGHTS, R.OUTPUT}),
)
# What they write cell by cell: dot products; the softmax, with its exponentials and their sums; or both.
BY_CELL: tuple[frozenset[Role], ...] = (
    frozenset({R.SCORES}),
    frozenset({R.WEIGHTS, R.OTHER}),
    frozenset({R.SCORES, R.WEIGHTS, R.OTHER}),
)

_DECIMAL = re.compile(r"(?<![\d,])(?:0,\d{2,}|\d+,(?:\d\d|\d{4,}))(?![\d,])")  # no thousands, and no list of two
JOINT = 0.2  # how often the first slip is where the heads come together: one step among many, with mistakes of its own


@dataclass(frozen=True, slots=True)
class Expected:
    """What a checker should say of one value; cells are (row, column) from 1.

    `verdict` is fine (right, rounded or drifted), carried or wrong. `wrong` cells are plainly wrong by a slip made
    here, `slipped` are all that the slip changed, `carried` are plainly false and follow from an earlier slip.
    """

    name: str
    line: int
    end_line: int
    verdict: str
    wrong: Cells = frozenset()
    slipped: Cells = frozenset()
    carried: Cells = frozenset()
    mistake: str | None = None
    whole: bool = True  # the value shows all of its step, not a row or a cell of it
    misfit: bool = False  # the value has another shape than it should, so that no cell can be told


@dataclass(frozen=True, slots=True)
class Question:
    """The problem without its working, and the value that it asks for."""

    text: str
    answer: Table


@dataclass(frozen=True, slots=True)
class Practice:
    """A document and its key, value by value in the order of the text."""

    text: str
    suffix: str
    key: tuple[Expected, ...]
    question: Question

    @property
    def slips(self) -> tuple[Expected, ...]:
        """The values where something went wrong first."""
        return tuple(expected for expected in self.key if expected.verdict == "wrong")


@dataclass(frozen=True)
class Draft:
    """A problem worked by hand, before it is written down: every dress gives a sheet with its key. `clean` are the
    lines without the slips, `worked` is the program with the steps as the author takes them."""

    program: Program
    worked: Program
    lines: tuple[Line, ...]
    clean: tuple[Line, ...]
    style: Style
    dress: Dress

    def written(self) -> Practice:
        """The sheet in this draft's dress."""
        author = Author(self.program, self.style, self.dress)
        text, placed = author.solution(self.lines)
        notations = [NOTATIONS[key] for key in self.dress.notations]
        if notations[0].point != "." and not _DECIMAL.search(text.replace("{,}", ",")):
            raise Undecided("nothing shows what a comma is")
        clean = {line.step.symbol: line for line in self.clean}
        trace = Trace(self.worked)
        assignment, asked = author.assignment()
        question = Question(assignment, trace.digits(asked, 8))
        return Practice(text, notations[0].suffix, tuple(_key(placed, clean, trace)), question)

    def dressed(self, **changes: Any) -> Draft:
        """The same draft in another dress."""
        return replace(self, dress=replace(self.dress, **changes))


MIXED = "mixed"  # several notations on one page


def sheet(kind: str = "self", seed: int = 0, notation: str = "bmatrix", slips: int = 0) -> Practice:
    """A new sheet of a kind, worked out in a notation, with so many slips put in on purpose.

    >>> practice = sheet("given", seed=3)
    >>> [expected.verdict for expected in practice.key]
    ['fine', 'fine', 'fine']
    """
    return draft(kind, seed, notation, slips).written()


def draft(kind: str = "self", seed: int = 0, notation: str = "bmatrix", slips: int = 0, stated: bool = False) -> Draft:
    """The draft of a new sheet; `stated` asks for one that states all formulas, in English and under usual names."""
    if kind not in (*KINDS, *AROUND):
        raise ValueRefused(f"{kind!r} is no kind of sheet; there are {', '.join((*KINDS, *AROUND))}")
    if notation not in NOTATIONS and notation != MIXED:
        raise ValueRefused(f"{notation!r} is no notation; there are {MIXED}, {', '.join(NOTATIONS)}")
    stated = stated or kind in AROUND
    rng = Random(f"{kind}/{seed}/{notation}/{slips}")
    while True:
        try:
            made = _drawn(problem(kind, rng), rng, notation, slips, stated)
            made.written()
            return made
        except QkvError:
            continue  # a tie that could be rounded either way, or a slip that nobody could go on from: draw again


def _drawn(program: Program, rng: Random, notation: str, slips: int, stated: bool) -> Draft:
    notations = _mixture(rng) if notation == MIXED else (notation,)
    dress = Dress(notations) if stated else _dress(notations, program, rng)
    style = _style(program, dress, rng, stated)
    if not all(fits(NOTATIONS[key], style) for key in notations):
        raise Undecided("this notation cannot show what the author wants to show")
    return worked(program, style, dress, lambda planter: _planted(planter, slips), rng)


def worked(
    program: Program, style: Style, dress: Dress, plant: Callable[[Planter], Mapping[Symbol, Slip]], rng: Random
) -> Draft:
    """A program worked by hand, with the slips that `plant` makes."""
    steps = unfolded(program) if R.OTHER in style.by_cell else program
    planter = Planter(Trace(steps), style, rng)
    planted = plant(planter)
    lines = work_by_hand(steps, style, planted)
    if not all(is_written(line.shown) for line in lines if line.step.role is R.OTHER):
        raise Undecided("nobody writes such exponentials out")
    rounding = {symbol: slip for symbol, slip in planted.items() if slip == planter.cut}  # nothing follows from that
    return Draft(program, steps, lines, work_by_hand(steps, style, rounding) if planted else lines, style, dress)


def fits(notation: Notation, style: Style) -> bool:
    """Whether a notation can show what an author writes."""
    return (
        (notation.copies or not (style.by_cell or style.operands))
        and (notation.formulas or not style.formulas)
        and (notation.fractions or not style.fractions)
        and (notation.captions or not style.unstated)
    )


def _mixture(rng: Random) -> tuple[str, ...]:
    """Notations for one Markdown page, of those with a decimal point."""
    plain = [key for key, row in NOTATIONS.items() if row.suffix != ".tex" and row.point == "." and row.formulas]
    return tuple(rng.sample(plain, rng.choice((2, 3, 4))))


def _dress(notations: tuple[str, ...], program: Program, rng: Random) -> Dress:
    """A look at random: half of the authors have names of their own, some write no prose."""
    states = all(NOTATIONS[key].formulas for key in notations)
    masked = any(step.role is R.MASKED for step in program.steps)
    alphabet = rng.choice((*ALPHABETS, "mixed")) if states and rng.random() < 0.5 else ""
    return Dress(
        notations,
        renamed(program, alphabet, rng) if alphabet else USUAL,
        "" if states and not masked and not program.columns and rng.random() < 0.15 else rng.choice(PROSE),
        rng.choice(list(SPELLINGS)),
        not alphabet and rng.random() < 0.15,
        rng.randrange(1, 1000) if rng.random() < 0.3 else 0,
        rng.randrange(1000),
    )


PROSE = ("en", "en", "en", *(language for language in LANGUAGES if language))
# The small letters of rows and cells, and what they are parts of.
PARTS = {**TOKEN_LETTERS, **CELL_LETTERS, R.X: "x", R.Y: "y", R.STATES: "h"}


def renamed(program: Program, alphabet: str, rng: Random) -> Names:
    """New names for everything in a program."""
    parts = {letter: whole for role, letter in PARTS.items() if (whole := program.find(role)) is not None}
    return drawn([item.symbol for item in reversed(program.items)], parts, alphabet, rng)


def _style(program: Program, dress: Dress, rng: Random, stated: bool) -> Style:
    """An author at random. Who has names of their own states formulas: nothing else would say what is what."""
    notations = [NOTATIONS[key] for key in dress.notations]
    copies, captions = all(row.copies for row in notations), all(row.captions for row in notations)
    own_names = stated or dress.names is not USUAL or not dress.language
    roles = {step.role for step in program.steps}
    left_out = {R.SCALED} & roles if rng.random() < 0.2 else set()
    nameless = ({R.SCORES, R.SCALED} & roles) - left_out if rng.random() < 0.3 else set()
    plain = R.HEAD not in roles and R.SOURCE not in {given.role for given in program.givens} and not program.columns
    by_cell = rng.choice(BY_CELL) if rng.random() < 0.25 and plain and not left_out and copies else frozenset()
    by_row = (
        rng.choice(BY_ROW[:2] if own_names else BY_ROW) if rng.random() < 0.25 and not program.columns else frozenset()
    )
    formulas = (own_names or rng.random() < 0.7) and all(row.formulas for row in notations)
    silent = formulas and captions and dress.language and not stated and rng.random() < 0.25
    return Style(
        places=rng.choice((2, 3, 3, 4)),
        carries_print=rng.random() < 0.6,
        left_out=frozenset(left_out),
        nameless=frozenset(nameless) | by_cell,
        formulas=formulas,
        unstated=frozenset(rng.sample(sorted(roles & UNSTATED), 1)) if silent else frozenset(),
        operands=copies and (rng.random() < 0.4 or bool(own_names and by_cell)),
        by_row=(by_row if plain else by_row & {R.X, R.STATES}) - by_cell,
        by_cell=by_cell,
        margin=rng.random() < 0.3,
        fractions=any(map(has_fractions, program.givens)),
    )


UNSTATED = frozenset({R.Q, R.K, R.V, R.SCORES, R.WEIGHTS, R.OUTPUT, R.CONTEXT, R.HEAD})


def _planted(planter: Planter, count: int) -> dict[Symbol, Slip]:
    trace, rng = planter.trace, planter.rng
    steps = [step.symbol for step in trace.program.steps if step.role not in planter.style.left_out]
    chosen = rng.sample(steps, min(count, len(steps)))
    joint = trace.program.find(R.CONCAT)
    if joint is not None and chosen and rng.random() < JOINT:
        chosen[0] = joint
    known: list[Slip] = [*[planter.structural] * 6, planter.cell, planter.typo, planter.cut]
    alone: list[Slip] = [planter.cell, planter.typo]  # exponentials and their sums are written one by one
    parts = {step.symbol for step in trace.program.steps if step.role is R.OTHER}
    return {symbol: rng.choice(alone if symbol in parts else known) for symbol in chosen}


def _misfit(placed: Placed) -> Expected:
    """What is due for a value of the wrong shape: no cell of it has a true value beside it."""
    line = placed.shown.line
    if placed.shown.chain.value != line.shown:
        raise Undecided("the shape of what is shown in parts cannot be seen")
    verdict = "wrong" if line.mistake else "carried"
    return Expected(line.step.spelled, placed.line, placed.end_line, verdict, mistake=line.mistake, misfit=True)


def _key(placed: tuple[Placed, ...], clean: dict[Symbol, Line], trace: Trace) -> Iterator[Expected]:
    """What is due for each shown part, in order. What is made of nothing but right numbers is not carried, though it
    may have drifted away from where it would be without a slip further up."""
    tainted: set[Symbol] = set()
    for part in placed:
        step = part.shown.line.step
        expected = _expected(part, clean[step.symbol], trace, bool(tainted & _operands(step, trace.program, clean)))
        if expected.verdict != "fine":
            tainted.add(step.symbol)
        yield expected


def _operands(step: Step, program: Program, shown: Container[Symbol]) -> set[Symbol]:
    """The quantities that a step is worked out from, as far as they are shown."""
    found: set[Symbol] = set()
    for symbol in n.names_in(step.expr):
        item = program.item(symbol)
        hidden = isinstance(item, Step) and symbol not in shown
        found |= _operands(item, program, shown) if hidden and isinstance(item, Step) else {symbol}
    return found


def _expected(placed: Placed, clean: Line, trace: Trace, may_carry: bool) -> Expected:
    """What is due for one shown part of a step."""
    line, part = placed.shown.line, placed.shown
    truth = trace.value(line.step.symbol, BITS)
    if (len(line.shown), len(line.shown[0])) != truth.shape:
        return _misfit(placed)
    cells = {(part.row + i, part.column + j) for i, row in enumerate(part.chain.value) for j in range(len(row))}
    off = {(i, j) for i, j in cells if plainly_off(line.shown[i][j], truth.rows[i][j])}
    wrong = {
        (i, j) for i, j in off & line.slipped if all(plainly_off(line.shown[i][j], w.rows[i][j]) for w in line.loose)
    }
    carried = {(i, j) for i, j in off - line.slipped if may_carry and line.shown[i][j] != clean.shown[i][j]}

    def here(chosen: set[tuple[int, int]]) -> Cells:
        return frozenset((i - part.row + 1, j - part.column + 1) for i, j in chosen)

    return Expected(
        line.step.spelled,
        placed.line,
        placed.end_line,
        "wrong" if wrong else "carried" if carried else "fine",
        here(wrong),
        here(cells & line.slipped),
        here(carried),
        line.mistake,
        len(part.chain.value) == len(line.shown) and len(part.chain.value[0]) == len(line.shown[0]),
    )
