"""What a problem is called, and what was assumed in working it out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qkv.expr.names import Role
from qkv.program.model import Given, Step

_SCALE = re.compile(r"√|sqrt|scal|skalier|缩放|échelle|escal|масштаб|スケール|d_k|d_\{k\}")


def kind_of(givens: Iterable[Given], steps: Iterable[Step], conventions: frozenset[str]) -> str:
    """A problem by its name in the field."""
    given, made = {g.role for g in givens}, {s.role for s in steps}
    items: tuple[Given | Step, ...] = (*givens, *steps)
    heads = {item.head for item in items if item.head is not None}
    if not {Role.SCORES, Role.SCALED, Role.WEIGHTS, Role.HEAD} & made:
        return "equations"
    if Role.SOURCE in given or Role.STATES in given:
        return "attention over states"
    words = ["masked"] if "causal" in conventions or Role.MASK in given else []
    if len(heads) > 1:
        words.append("multi-head")
    if Role.Y in given:
        words.append("cross-attention")
    elif Role.X in given:
        words.append("self-attention")
    else:
        words.append(
            "scaled dot-product attention"
            if Role.SCALED in made and "scaled" in conventions
            else "dot-product attention"
        )
    return " ".join(words)


def notes_of(words: str, kind: str, conventions: frozenset[str], steps: Iterable[Step]) -> tuple[str, ...]:
    """What was assumed because the page does not say it."""
    assumed = any(step.role is Role.SCALED and step.line is None for step in steps)
    if kind != "equations" and assumed and "scaled" in conventions and not _SCALE.search(words):
        return ("the page does not say whether scores are scaled: they are divided by √d_k, as usual",)
    return ()
