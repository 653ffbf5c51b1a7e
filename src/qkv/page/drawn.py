"""The exercise that a form is about, and how its problem is shown."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from html import escape

from qkv.errors import ValueRefused
from qkv.exercises import draw, written
from qkv.exercises.model import Exercise
from qkv.render import jsonform
from qkv.render.mathml import shown as math

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
    known = jsonform.fields(made, "kind level seed language").items()
    return "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in known)


def stated(made: Exercise) -> str:
    """The problem: its title, what is said of it, and its matrices."""
    said = written.said(made)
    givens = "".join(f"<div>{math(written.stated(given))}</div>" for given in written.shown_givens(made))
    return (
        f"<h1>{escape(written.title(made))}</h1>"
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
