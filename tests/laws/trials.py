"""The laws of reading: what changes a page but not its meaning changes no verdict and no number.

Each law makes trials: what is due, and what was said. Drafts of our own are written twice; documents of others are
rewritten as text. Only the public interface is used: read, solve and check, and what they give.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

import qkv
from laws import rewritten as rewrite
from laws.algebra import calculation
from laws.alphabets import ALPHABETS
from laws.authors import MIXED, PROSE, bumped, draft, fits, sheet
from laws.authors import renamed as new_names
from laws.drawn import TURNABLE, problem
from laws.graded import ACCUSED, claims_of, graded, merged, said_of
from laws.notations import NOTATIONS
from laws.rewritten import Document
from qkv.errors import QkvError
from qkv.expr.names import Symbol
from qkv.practice.chains import SQUARE
from qkv.practice.hand import Line, Slip, Style
from qkv.practice.pen import Dress
from qkv.practice.problems import KINDS
from qkv.practice.sheet import Draft, Practice, worked
from qkv.practice.slips import Planter

Said = tuple[str, tuple[tuple[int, int], ...]]  # a class of verdicts, and the cells that are accused
FINE = frozenset({"right", "rounded", "drifted"})


@dataclass(frozen=True)
class Trial:
    """One case of a law, and how to draw it again."""

    call: str
    due: Any
    said: Any

    @property
    def holds(self) -> bool:
        """Whether the law holds here."""
        return bool(self.due == self.said)


@dataclass(frozen=True)
class Law:
    """A law: trials by seed over our own drafts, and over documents (None where a document has nothing to change)."""

    drafts: Callable[[int], Trial]
    documents: Callable[[Sequence[Document], int], Trial | None] | None = None


def trial(law: str, seed: int, documents: Sequence[Document] = ()) -> Trial:
    """A case of a law: every other one is about a document, where the law can be tried on one."""
    chosen = LAWS[law]
    made = chosen.documents(documents, seed) if chosen.documents and documents and seed % 2 else None
    return made or chosen.drafts(seed)


# ---------------------------------------------------------------- what is said


def verdicts(text: str) -> tuple[Said, ...]:
    """What check says of a document, claim by claim."""
    return tuple(_said(claim) for claim in qkv.check(text).claims)


def _said(claim: Any) -> Said:
    cells = sorted((cell.row, cell.column) for cell in claim.cells if cell.verdict in ACCUSED)
    return "fine" if claim.verdict in FINE else str(claim.verdict), tuple(cells)


def of_key(practice: Practice) -> tuple[Said, ...]:
    """What check says of a sheet, value by value of its key, and what it accuses besides."""
    report = qkv.check(practice.text)
    claims = [said_of(expected, claims_of(expected, report)) for expected in practice.key]
    values = [merged(expected, said) for expected, said in zip(practice.key, claims, strict=True)]
    seen = {claim.id for said in claims for claim in said}
    others = sum(claim.verdict in ACCUSED for claim in report.claims if claim.id not in seen)
    return (*(_said(value) if value else ("nothing", ()) for value in values), ("others", ((others, 0),)))


def numbers(text: str, digits: int = 6) -> Counter[str]:
    """The values that solve works out, each with how often it occurs."""
    try:
        problems = json.loads(qkv.solve(text).to_json(digits=digits))["problems"]
    except QkvError as error:
        return Counter({type(error).__name__: 1})
    return Counter(json.dumps(step["value"]) for problem in problems for step in problem["steps"])


def is_answered(practice: Practice) -> bool:
    """Whether solve gives what the sheet's question asks for."""
    return any(_is_close(json.loads(value), practice.question.answer) for value in _all_values(practice.question.text))


def _all_values(text: str) -> list[str]:
    return [value for value in numbers(text, 8) if value.startswith("[")]


def _is_close(value: list[list[str]], answer: Sequence[Sequence[str]]) -> bool:
    """Whether two tables agree to six digits; a vector may stand as a row or as a column."""
    if len(answer) == 1 and len(value) > 1 and len(value[0]) == 1:
        value = [[row[0] for row in value]]
    if [len(row) for row in value] != [len(row) for row in answer]:
        return False
    pairs = ((x, float(y)) for a, b in zip(value, answer, strict=True) for x, y in zip(a, b, strict=True))
    return all(x == "-inf" if y == float("-inf") else abs(_number(x) - y) <= 1e-6 * max(1, abs(y)) for x, y in pairs)


def _number(text: str) -> float:
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


# ---------------------------------------------------------------- laws over drafts

_LOOKS = tuple(key for key, row in NOTATIONS.items() if row.point == ".")


def _draft(seed: int, slips: int | None = None, kinds: Sequence[str] = tuple(KINDS), stated: bool = True) -> Draft:
    """A draft by seed: kinds and notations take turns. Numbers with a decimal comma are another matter than dress."""
    looks = (*(key for key in _LOOKS if not stated or NOTATIONS[key].formulas), MIXED)
    kind, notation = _turn(seed, kinds, looks)
    return draft(kind, seed, notation, seed % 5 % 2 if slips is None else slips, stated)


def _turn(number: int, kinds: Sequence[str], looks: Sequence[str]) -> tuple[str, str]:
    """A kind and a notation by number: all pairs come before one comes again."""
    shift = number // math.lcm(len(kinds), len(looks))
    return kinds[number % len(kinds)], looks[(number + shift) % len(looks)]


def _both(call: str, before: Practice, after: Practice) -> Trial:
    """The same key, the same verdicts, the same answer."""
    due, said = ((of_key(practice), is_answered(practice)) for practice in (before, after))
    return Trial(call, due, said)


def _renaming(seed: int) -> Trial:
    made, rng = _draft(seed), Random(seed)
    names = new_names(made.program, rng.choice((*ALPHABETS, "mixed")), rng)
    return _both(f"renaming, draft {seed}", made.written(), made.dressed(names=names).written())


UNMASKED = tuple(kind for kind in KINDS if kind not in ("masked", "columns"))  # words say what is masked, what a column


def _prose(seed: int) -> Trial:
    made, rng = _draft(seed, kinds=UNMASKED), Random(seed)
    if rng.random() < 0.5:
        made = made.dressed(names=new_names(made.program, rng.choice(tuple(ALPHABETS)), rng))
    language = rng.choice(("", "", *(language for language in PROSE if language != "en")))
    return _both(f"prose, draft {seed} in {language!r}", made.written(), made.dressed(language=language).written())


def _dress(seed: int) -> Trial:
    made, rng = _draft(seed), Random(seed)
    shown = {notation.key for notation in made.dress.notations}
    others = [key for key in _LOOKS if key not in shown and fits(NOTATIONS[key], made.style)]
    drawn = tuple(rng.sample(others, min(len(others), rng.choice((1, 1, 3)))))
    keys = tuple(key for key in drawn if len(drawn) == 1 or key != "tex")
    after = made.dressed(notations=tuple(NOTATIONS[key] for key in keys))
    return _both(f"dress, draft {seed} as {keys}", made.written(), after.written())


def _order(seed: int) -> Trial:
    made = _draft(seed)
    return _both(f"order, draft {seed}", made.written(), made.dressed(order=seed + 1).written())


def joined(first: Practice, second: Practice) -> Practice:
    """Two sheets after each other, with both keys; the question is that of the second."""
    text = f"{first.text}\n\n"
    by = text.count("\n")
    moved = tuple(replace(due, line=due.line + by, end_line=due.end_line + by) for due in second.key)
    question = replace(second.question, text=f"{first.question.text}\n\n{second.question.text}")
    return Practice(text + second.text, first.suffix, first.key + moved, question)


def _concatenation(seed: int) -> Trial:
    looks = [key for key in _LOOKS if NOTATIONS[key].formulas and key != "tex"]
    rng = Random(seed)
    first, second = (
        draft(rng.choice(list(KINDS)), number, rng.choice(looks), rng.choice((0, 0, 1)), stated=True).written()
        for number in (2 * seed, 2 * seed + 1)
    )
    *one, others = of_key(first)
    *two, more = of_key(second)
    *both, all_others = of_key(joined(first, second))
    besides = others[1][0][0] + more[1][0][0]
    due = (one + two, besides, is_answered(second))
    return Trial(f"concatenation, draft {seed}", due, (both, all_others[1][0][0], is_answered(joined(first, second))))


# ---------------------------------------------------------------- tokens as columns


def _transposition(seed: int) -> Trial:
    """The same problem twice, its tokens in rows and in columns, with the same slip in the same place."""
    kind, notation = TURNABLE[seed % len(TURNABLE)], ("bmatrix", "lists", "tables", "semicolons")[seed // 8 % 4]
    tried = 0
    while True:
        tried += 1
        rng = Random(f"{seed}/{tried}")
        style = Style(places=rng.choice((2, 3, 4)), carries_print=rng.random() < 0.5)
        slipped, call = rng.random() if seed % 3 else None, f"transposition, draft {seed}"
        try:
            rows, columns = (
                _turned(kind, f"{seed}/{tried}", style, notation, turned, slipped) for turned in (False, True)
            )
        except QkvError:
            continue
        due, said = (of_key(made.written()) for made in (rows, columns))
        return Trial(
            call, due, tuple(_back(value, line) for value, line in zip(said, (*columns.lines, None), strict=True))
        )


def _turned(kind: str, seed: str, style: Style, notation: str, turned: bool, slipped: float | None) -> Draft:
    program = problem(kind, Random(seed), turned)
    if any("/" in str(given.expr) for given in program.givens):
        style = replace(style, fractions=True)

    def plant(planter: Planter) -> Mapping[Symbol, Slip]:
        at = int(slipped * len(program.steps)) if slipped is not None else -1
        return {program.steps[at].symbol: bumped(slipped, turned)} if slipped is not None else {}

    return worked(program, style, Dress((NOTATIONS[notation],)), plant, Random(seed))


def _back(said: Said, line: Line | None) -> Said:
    """What is said of a value with tokens as columns, with the cells of the value with tokens as rows."""
    if line is None or line.step.role in SQUARE:
        return said
    return said[0], tuple(sorted((column, row) for row, column in said[1]))


# ---------------------------------------------------------------- right and wrong


def _calculator(seed: int) -> Trial:
    practice = calculation(seed, slips=seed % 2)
    faults = graded(practice, qkv.check(practice.text)).faults
    said = (
        *(f"line {fault.line}: {fault.what}" for fault in faults),
        *([] if is_answered(practice) else ["not answered"]),
    )
    return Trial(f"calculation({seed}, {seed % 2})", (), said)


def accused_in_solution(text: str) -> tuple[str, ...]:
    """What check accuses in our own worked solution of a document, in the notations that we write."""
    solution = qkv.solve(text)
    said = []
    for written in (solution.to_markdown(), solution.to_latex()):
        claims = qkv.check(written).claims
        said += [f"line {claim.line}: {claim.name}" for claim in claims if claim.verdict in ACCUSED | {"carried"}]
    return tuple(said)


def _solved(seed: int) -> Trial:
    made = _draft(seed, slips=0, stated=False).written()
    return Trial(f"solved is right, draft {seed}", (), accused_in_solution(made.question.text))


def planted(number: int) -> tuple[str, Practice]:
    """The planted sheet with a number, and the call that draws it: kinds, notations and how many slips take turns."""
    notations = (*NOTATIONS, MIXED)
    kind, notation = _turn(number, tuple(KINDS), notations)
    seed, slips = number // (len(KINDS) * len(notations)), number % 5 % 4
    return f"sheet({kind!r}, {seed}, {notation!r}, {slips})", sheet(kind, seed, notation, slips)


def _planted(seed: int) -> Trial:
    call, practice = planted(seed)
    faults = graded(practice, qkv.check(practice.text)).faults
    return Trial(call, (), tuple(f"line {fault.line}: {fault.what}, {fault.detail}" for fault in faults))


# ---------------------------------------------------------------- laws over documents


@lru_cache(maxsize=1024)
def _seen(text: str) -> tuple[tuple[Said, ...], Counter[str]]:
    return verdicts(text), numbers(text)


def _rewritten(
    change: Callable[[str, Random], str | None], name: str
) -> Callable[[Sequence[Document], int], Trial | None]:
    """A law that says: a document changed like this is judged and solved as before."""

    def law(documents: Sequence[Document], seed: int) -> Trial | None:
        document = Random(seed).choice(documents)
        changed = change(document.text, Random(seed))
        if changed is None:
            return None
        return Trial(
            f"{name}, {document.name}, seed {seed}", _seen(document.text), (verdicts(changed), numbers(changed))
        )

    return law


def _redressed(text: str, rng: Random) -> str | None:
    return rewrite.dressed(text, rng.choice(list(rewrite.DRESSES)))


def _unprosed(documents: Sequence[Document], seed: int) -> Trial | None:
    """Only what states its formula has to stay: words may be all that says what a bare value is."""
    document = Random(seed).choice(documents)
    changed = rewrite.without_prose(document.text)
    if changed is None:
        return None
    due, said = ([_said(c) for c in qkv.check(text).claims if _is_stated(c.text)] for text in (document.text, changed))
    return Trial(f"prose, {document.name}", due, said)


def _is_stated(text: str) -> bool:
    return sum(text.count(sign) for sign in ("=", "≈", r"\approx", r"\simeq")) > 1


def _shuffled(documents: Sequence[Document], seed: int) -> Trial | None:
    document = Random(seed).choice(documents)
    changed = rewrite.reordered(document.text, Random(seed))
    if changed is None:
        return None
    due, said = ((Counter(verdicts(text)), numbers(text)) for text in (document.text, changed))
    return Trial(f"order, {document.name}, seed {seed}", due, said)


_HEADING = re.compile(r"(?m)^#+ .*$")


def _depth(text: str) -> int:
    """How many # signs a text begins with."""
    return len(text) - len(text.lstrip("#"))


def _one_after_the_other(documents: Sequence[Document], seed: int) -> Trial | None:
    """The second has to begin with a heading no deeper than those of the first: else nobody sees where it begins."""
    whole = [document for document in documents if r"\documentclass" not in document.text]
    first, second = Random(seed).sample(whole, 2)
    if not 0 < _depth(second.text.lstrip()) <= min(map(_depth, _HEADING.findall(first.text)), default=9):
        return None
    (one, ones), (two, twos) = _seen(first.text), _seen(second.text)
    both = f"{first.text.rstrip()}\n\n{second.text}"
    call = f"concatenation, {first.name} and {second.name}"
    return Trial(call, (one + two, ones + twos), (verdicts(both), numbers(both)))


def _solved_documents(documents: Sequence[Document], seed: int) -> Trial | None:
    document = Random(seed).choice(documents)
    return Trial(f"solved is right, {document.name}", (), accused_in_solution(document.text))


LAWS: dict[str, Law] = {
    "renaming": Law(_renaming, _rewritten(rewrite.renamed, "renaming")),
    "prose": Law(_prose, _unprosed),
    "dress": Law(_dress, _rewritten(_redressed, "dress")),
    "transposition": Law(_transposition),
    "concatenation": Law(_concatenation, _one_after_the_other),
    "order": Law(_order, _shuffled),
    "calculator": Law(_calculator),
    "solved is right": Law(_solved, _solved_documents),
    "planted": Law(_planted),
}
