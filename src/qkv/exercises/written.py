"""EXERCISE → documents: the blank sheet, the key, the marking scheme, a sheet with a slip in it, and plain data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

from qkv.errors import QkvError, ValueRefused
from qkv.exercises.model import TOLD_APART, Exercise, Question
from qkv.exercises.template import BLANK
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import latex, symbol_latex
from qkv.interpret.trace import Table
from qkv.practice.chains import given_texts
from qkv.practice.hand import Slip, Style
from qkv.practice.notation import DISPLAYS
from qkv.practice.pen import Dress
from qkv.practice.sheet import Draft, Expected, Practice, worked
from qkv.practice.slips import Planter
from qkv.program.model import Given, Step
from qkv.render.jsonform import fields
from qkv.render.plainly import said as said_points

TRIES = 40
SCHEMA = "qkv.exercise/1"


@dataclass(frozen=True, slots=True)
class Asking:
    """The words that only exercises need: who, points, rounding, what to do with a sheet that has a slip in it, and
    what a block does beside attention, by the letter of the step."""

    name: str
    point: str
    points: str
    rounding: str
    slip: str
    around: dict[str, str]


ASKING: dict[str, Asking] = {
    "en": Asking(
        "Name", "1 point", "{} points", "Round to {} decimals where a number is not exact.",
        "This solution has one slip in it. Find where the first wrong number stands, and say what was done.",
        {"mu": "Mean of each token", "sigma": "Spread of each token", "N": "Layer norm", "R": "Residual sum"},
    ),
    "de": Asking(
        "Name", "1 Punkt", "{} Punkte", "Runde auf {} Nachkommastellen, wo eine Zahl nicht genau ist.",
        "Diese Lösung enthält einen Fehler. Wo steht die erste falsche Zahl, und was wurde falsch gemacht?",
        {"mu": "Mittelwert jedes Tokens", "sigma": "Streuung jedes Tokens", "N": "Layer-Norm", "R": "Residuum"},
    ),
    "fr": Asking(
        "Nom", "1 point", "{} points", "Arrondir à {} décimales si un nombre n'est pas exact.",
        "Ce corrigé contient une erreur. Où se trouve le premier nombre faux, et quelle est l'erreur ?",
        {"mu": "Moyenne par token", "sigma": "Écart type par token", "N": "Layer norm", "R": "Somme résiduelle"},
    ),
    "es": Asking(
        "Nombre", "1 punto", "{} puntos", "Redondee a {} decimales si un número no es exacto.",
        "Esta solución contiene un error. ¿Dónde está el primer número falso y cuál es el error?",
        {"mu": "Media de cada token", "sigma": "Desviación de cada token", "N": "Layer norm", "R": "Suma residual"},
    ),
    "zh": Asking(
        "姓名", "1 分", "{} 分", "不是精确值的数请保留 {} 位小数。",
        "下面的解答中有 一处错误。请找出第一个错误的数,并说明错在哪里。",
        {"mu": "每个词元的均值", "sigma": "每个词元的标准差", "N": "层归一化", "R": "残差和"},
    ),
}  # fmt: skip


def sheet(exercise: Exercise) -> str:
    """The blank sheet, in Markdown: givens, and a numbered question for each step with its formula and its points; of a
    template, the teacher's own text."""
    if exercise.own is not None:
        return exercise.own.text
    return _laid_out(exercise, matrix)


def template(exercise: Exercise, numbers: Iterable[int]) -> str:
    """The sheet with a blank for each given number, for teachers to edit: `qkv practice --template` fills it with some
    of these numbers."""
    said = f"<!-- qkv: numbers {', '.join(map(str, numbers))} -->\n"
    return said + _laid_out(exercise, lambda table: f"[{'; '.join(', '.join(BLANK for _ in row) for row in table)}]")


def _laid_out(exercise: Exercise, shown: Callable[[Table], str]) -> str:
    blocks = [f"# {title(exercise)}"]
    blocks += [" ".join(said(exercise))] if said(exercise) else []
    blocks += [_given(exercise, given, shown) for given in shown_givens(exercise)]
    blocks.append("\n".join(_question(exercise, question) for question in exercise.questions))
    return "\n\n".join([*blocks, rounding(exercise)]) + "\n"


def title(exercise: Exercise) -> str:
    """The heading of a sheet."""
    if exercise.own is not None:
        heads = (line.lstrip("# ") for line in exercise.own.text.splitlines() if line.startswith("#"))
        return next(heads, exercise.own.stem)
    return exercise.words.title.format(exercise.program.kind.capitalize())


def said(exercise: Exercise) -> list[str]:
    """What has to be said in words: that there is a mask, that tokens are columns."""
    words, program = exercise.words, exercise.program
    masked = any(step.role is Role.MASKED for step in program.steps)
    return [words.mask] * masked + [words.columns] * program.columns


def shown_givens(exercise: Exercise) -> tuple[Given, ...]:
    """What is given, as far as it is not clear from the rest."""
    return tuple(given for given in exercise.program.givens if not given.implied)


def _given(exercise: Exercise, given: Given, shown: Callable[[Table], str]) -> str:
    words = exercise.words.roles.get(given.role)
    display = f"$${stated(given, shown)}$$"
    return f"{words}:\n\n{display}" if words else display


def matrix(table: Table) -> str:
    """A table of numbers as LaTeX."""
    return DISPLAYS.matrix(DISPLAYS.numbers(table))


def stated(given: Given, shown: Callable[[Table], str] = matrix) -> str:
    """What is given as a formula: X = [..]."""
    return f"{symbol_latex(given.symbol)} = {shown(given_texts(given))}"


def rounding(exercise: Exercise) -> str:
    """How learners are to round."""
    return ASKING[exercise.language].rounding.format(exercise.places)


def _question(exercise: Exercise, question: Question) -> str:
    words = exercise.words
    asked = words.task.format(f"${formula(question.step)}$")
    return f"{question.label}. {caption(exercise, question.step)}: {asked} ({points_said(exercise, question.points)})"


def caption(exercise: Exercise, step: Step) -> str:
    """What a step is, in the words of the exercise."""
    return exercise.words.roles.get(step.role) or ASKING[exercise.language].around.get(step.symbol.base, step.spelled)


def formula(step: Step) -> str:
    """A step as it is asked for: Q = X W_Q. What is masked is said in words."""
    name = symbol_latex(step.symbol)
    return name if any(isinstance(part, n.Mask) for part in n.walk(step.expr)) else f"{name} = {latex(step.expr)}"


def points_said(exercise: Exercise, points: Fraction) -> str:
    """1 point, 2 points."""
    asking = ASKING[exercise.language]
    return asking.point if points == 1 else asking.points.format(said_points(points))


def key(exercise: Exercise) -> str:
    """The worked solution, in Markdown: each step with its formula, the numbers put in, and its value."""
    return _worked(exercise, Random(0)).written().text.lstrip()


def scheme(exercise: Exercise) -> str:
    """The marking scheme, in Markdown: points, right answers, and what an answer says that a known mistake gives."""
    total = sum((question.points for question in exercise.questions), Fraction(0))
    told = f"{_plural(total)}. A slip costs once; what follows from it earns its points."
    blocks = [f"# Marking scheme: {exercise.name}", told]
    for question in exercise.questions:
        name = symbol_latex(question.step.symbol)
        blocks.append(f"## {question.label}. ${name}$ ({_plural(question.points)})")
        blocks.append(f"$${name} = {matrix(question.answer)}$$")
        blocks += [f"- ${matrix(wrong.answer)}$: {wrong.says}" for wrong in question.wrong]
    return "\n\n".join(blocks) + "\n"


def _plural(points: Fraction) -> str:
    return "1 point" if points == 1 else f"{said_points(points)} points"


def data(exercise: Exercise) -> dict[str, Any]:
    """All of it as plain data, for other programs."""
    return {
        "schema": SCHEMA,
        **fields(exercise, "kind level seed language places"),
        "sheet": sheet(exercise),
        "questions": [
            {
                "label": question.label,
                "name": question.step.spelled,
                "points": json.loads(said_points(question.points)),
                "answer": question.answer,
                "mistakes": [fields(wrong, "mistake says answer") for wrong in question.wrong],
            }
            for question in exercise.questions
        ],
    }


def as_json(exercise: Exercise) -> str:
    """The plain data as text."""
    return json.dumps(data(exercise), ensure_ascii=False, indent=1) + "\n"


# — find the slip —


def with_slip(exercise: Exercise, which: int = 0) -> Practice:
    """A worked solution with one mistake in it, and the key that says where; another number, another mistake."""
    return slipped(exercise, which)[1]


def slipped(exercise: Exercise, which: int = 0) -> tuple[Draft, Practice]:
    """A solution worked by hand with one mistake in it, and its document with the key: a known mistake that
    answers tell apart, or a slip in one cell where there is none."""
    rng = Random(f"slip/{exercise.name}/{which}" if which else f"slip/{exercise.name}")
    for make in (_told_apart, _in_a_cell):
        for _ in range(TRIES):
            try:
                draft = _worked(exercise, rng, rng.choice(exercise.questions).step, make)
                practice = draft.written()
            except QkvError:
                continue  # nobody could go on from such a mistake
            if practice.slips:
                return draft, practice
    raise ValueRefused(f"no slip could be put into {exercise.name}; take another seed")


def _told_apart(planter: Planter) -> Slip:
    return replace(planter, mistakes=TOLD_APART).structural


def _in_a_cell(planter: Planter) -> Slip:
    return planter.cell


def _worked(
    exercise: Exercise, rng: Random, at: Step | None = None, make: Callable[[Planter], Slip] = _in_a_cell
) -> Draft:
    """The solution, with a slip at a step if there is one."""
    style = Style(places=exercise.places, carries_print=False, operands=True)
    above = exercise.own.text if exercise.own is not None else ""
    dress = Dress(language=exercise.language, above=above)

    def plant(planter: Planter) -> dict[Symbol, Slip]:
        return {at.symbol: make(planter)} if at is not None else {}

    return worked(exercise.program, style, dress, plant, rng)


def slip_sheet(exercise: Exercise) -> str:
    """The sheet for the learner: what is to be done, then the solution with a slip."""
    return f"{ASKING[exercise.language].slip}\n\n{with_slip(exercise).text.lstrip()}"


def slip_key(exercise: Exercise) -> str:
    """Where the slip is, and which."""
    return "\n".join(_told(with_slip(exercise).slips)) + "\n"


def _told(found: tuple[Expected, ...]) -> Iterator[str]:
    for slip in found:
        cells = ", ".join(f"({i}, {j})" for i, j in sorted(slip.wrong))
        yield f"- {slip.name}: {slip.mistake}" + (f"; wrong in {cells}" if cells else "")
