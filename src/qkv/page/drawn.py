"""The exercise that a form is about, and how its problem is shown."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from html import escape

from qkv.errors import ValueRefused
from qkv.exercises import draw
from qkv.exercises.model import Exercise
from qkv.exercises.written import matrix
from qkv.expr.names import Role
from qkv.expr.show import symbol_latex
from qkv.page.grids import math
from qkv.practice.chains import given_texts

# Verdicts ask for the same exercise again and again, and to find good numbers takes longer than to judge an answer.
exercise = lru_cache(maxsize=64)(draw.exercise)


def asked_for(form: Mapping[str, str]) -> Exercise:
    """The exercise that a form is about."""
    try:
        level, seed = int(form.get("level", "1")), int(form.get("seed") or "0")
    except ValueError as error:
        raise ValueRefused("level and number of a problem are whole numbers") from error
    return exercise(form.get("kind") or None, level, seed, form.get("language", "en"))


def fields(made: Exercise) -> str:
    """What a form has to hold so that the exercise can be made again."""
    known = {"kind": made.kind, "level": made.level, "seed": made.seed, "language": made.language}
    return "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in known.items())


def stated(made: Exercise) -> str:
    """The problem: its title, what is said of it, and its matrices."""
    program, words = made.program, made.words
    said = [words.mask] if any(step.role is Role.MASKED for step in program.steps) else []
    said += [words.columns] if program.columns else []
    givens = "".join(
        f"<div>{math(f'{symbol_latex(given.symbol)} = {matrix(given_texts(given))}')}</div>"
        for given in program.givens
        if not given.implied
    )
    return (
        f"<h1>{escape(words.title.format(program.kind.capitalize()))}</h1>"
        + (f"<p>{escape(' '.join(said))}</p>" if said else "")
        + f'<div class="givens">{givens}</div>'
    )


def count(form: Mapping[str, str], name: str) -> int:
    """A small number of a form; 0 where there is none."""
    text = form.get(name, "0")
    return int(text) if text.isdecimal() and len(text) < 7 else 0


def points(share: Fraction, of: Fraction) -> str:
    """The points that an answer earned, for the page's script to count."""
    return f' data-earned="{float(share * of):g}" data-of="{of}"'
