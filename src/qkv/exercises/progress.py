"""What a learner has practised, in a small file: where the last game stopped, and how each kind went."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from qkv import files
from qkv.errors import QkvError
from qkv.exercises.draw import exercise
from qkv.exercises.model import Exercise
from qkv.exercises.own import variant
from qkv.exercises.play import Game
from qkv.exercises.template import Template, template_of
from qkv.render.jsonform import fields


def load(path: Path) -> dict[str, Any]:
    """The file's data; nothing where there is none, or where it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save(path: Path, game: Game) -> None:
    """Remember where a game stands; one that is over is added to what was practised."""
    kept = load(path)
    made = game.exercise
    if game.is_over:
        done = kept.setdefault("done", {}).setdefault(f"{made.kind} {made.level}", {"games": 0, "points": 0.0, "of": 0})
        done["games"] += 1
        done["points"] += float(game.earned)
        done["of"] += float(game.of)
    kept["last"] = {
        **fields(made, "kind level seed language"),
        **fields(game, "at rows hints tries"),
        "earned": str(game.earned),
        "over": game.is_over,
    }
    if made.own is not None:
        kept["last"]["template"] = [made.own.template, made.own.stem]
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(str(path), json.dumps(kept, indent=1) + "\n")


def resumed(path: Path, template: Template | None = None) -> Game | None:
    """The game that was not finished, if there is one. If a template is given, the game must have been played on it."""
    last = load(path).get("last", {})
    try:
        if last["over"] or (template is not None and last.get("template") != [template.source, template.stem]):
            return None
        made = _again(last)
        game = Game(made, last["at"], last["rows"], last["hints"], last["tries"], Fraction(last["earned"]))
        return game if 0 <= game.at < len(made.questions) else None
    except (KeyError, TypeError, ValueError, QkvError):
        return None


def _again(last: dict[str, Any]) -> Exercise:
    """The exercise that was played last."""
    if "template" in last:
        return variant(template_of(*last["template"]), last["seed"], last["language"])
    return exercise(last["kind"], last["level"], last["seed"], last["language"])


def next_seed(path: Path) -> int:
    """A seed that was not played last."""
    seed = load(path).get("last", {}).get("seed", -1)
    return seed + 1 if isinstance(seed, int) else 0
