"""Authors at random: what each leaves out, writes in parts and gets wrong, and the sheets with keys that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from laws.alphabets import ALPHABETS, drawn
from laws.around import AROUND
from laws.drawn import problem
from laws.notations import NOTATIONS
from qkv.errors import QkvError, ValueRefused
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF
from qkv.interpret.certified import Value
from qkv.practice.chains import CELL_LETTERS, SQUARE, TOKEN_LETTERS, has_fractions
from qkv.practice.hand import Made, Slip, Style, Undecided, number_of
from qkv.practice.notation import Notation
from qkv.practice.pen import SPELLINGS, USUAL, Dress, Names
from qkv.practice.problems import KINDS
from qkv.practice.sheet import Draft, Practice, worked
from qkv.practice.slips import CELL_ERROR, Planter, plainly_off, with_value
from qkv.practice.words import LANGUAGES
from qkv.program.model import Program, Step

R = Role
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


JOINT = 0.2  # how often the first slip is where the heads come together: one step among many, with mistakes of its own


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
    keys = _mixture(rng) if notation == MIXED else (notation,)
    notations = tuple(NOTATIONS[key] for key in keys)
    dress = Dress(notations) if stated else _dress(notations, program, rng)
    style = _style(program, dress, rng, stated)
    if not all(fits(each, style) for each in notations):
        raise Undecided("this notation cannot show what the author wants to show")
    return worked(program, style, dress, lambda planter: _planted(planter, slips), rng)


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


def _dress(notations: tuple[Notation, ...], program: Program, rng: Random) -> Dress:
    """A look at random: half of the authors have names of their own, some write no prose."""
    states = all(notation.formulas for notation in notations)
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
    copies, captions = all(row.copies for row in dress.notations), all(row.captions for row in dress.notations)
    own_names = stated or dress.names is not USUAL or not dress.language
    roles = {step.role for step in program.steps}
    left_out = {R.SCALED} & roles if rng.random() < 0.2 else set()
    nameless = ({R.SCORES, R.SCALED} & roles) - left_out if rng.random() < 0.3 else set()
    plain = R.HEAD not in roles and R.SOURCE not in {given.role for given in program.givens} and not program.columns
    by_cell = rng.choice(BY_CELL) if rng.random() < 0.25 and plain and not left_out and copies else frozenset()
    by_row = (
        rng.choice(BY_ROW[:2] if own_names else BY_ROW) if rng.random() < 0.25 and not program.columns else frozenset()
    )
    formulas = (own_names or rng.random() < 0.7) and all(row.formulas for row in dress.notations)
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


def bumped(where: float, turned: bool) -> Slip:
    """A slip that adds to one cell, chosen by a number between 0 and 1; with `turned`, the one that the same number
    chooses where tokens are rows."""

    def slip(step: Step, own: Value, loose: tuple[Value, ...], held: Mapping[Symbol, Value]) -> Made | None:
        flip = turned and step.role not in SQUARE
        rows = tuple(zip(*own.rows, strict=True)) if flip else own.rows
        cells = [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell is not NEG_INF]
        i, j = cells[int(where * 997) % len(cells)][:: -1 if flip else 1]
        changed = own.rows[i][j] + number_of("1.3")
        if not all(plainly_off("0.00", value.rows[i][j] - changed) for value in loose):
            raise Undecided("the slip does not show")
        return Made(CELL_ERROR, with_value(own, i, j, changed))

    return slip
