"""What a problem is called, and what was assumed in working it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from qkv.expr.names import Role
from qkv.library.roles import SAID
from qkv.program.model import Given, Step
from qkv.reading.page import Page
from qkv.reading.proposed import Offer
from qkv.regex import regex


class Assumption(NamedTuple):
    """What was assumed of some quantities, so that a problem can be worked out."""

    says: str
    roles: frozenset[Role]
    line: int | None = None  # the line of the page that it is about, if it is about one

    def holds_for(self, items: Iterable[Given | Step]) -> bool:
        """Whether one of some quantities is what was assumed."""
        return any(item.role in self.roles and self.line in (None, item.line) for item in items)


_SCALE = regex(r"√|sqrt|scal|skalier|缩放|échelle|escal|масштаб|スケール|d_k|d_\{k\}")


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


def notes_of(
    words: str,
    kind: str,
    conventions: frozenset[str],
    givens: Iterable[Given],
    steps: Iterable[Step],
    idle: Sequence[Offer] = (),
) -> Iterator[Assumption]:
    """What was assumed because the page does not say it; `idle` are arrays of the page that were not used."""
    if kind == "equations":
        return
    made, given = [(step.role, step.line) for step in steps], {item.role for item in givens}
    if (Role.SCALED, None) in made and "scaled" in conventions and not _SCALE.search(words):
        says = "the page does not say whether scores are scaled: they are divided by √d_k, as usual"
        yield Assumption(says, frozenset({Role.SCALED}))
    roles = given | {role for role, _ in made}
    if "plain" in conventions and Role.X in roles and not roles & {Role.Q, Role.K}:
        says = "the page gives no weights: the tokens are their own queries, keys and values"
        if idle:
            arrays = ", ".join(f"{offer.written} (line {offer.line})" for offer in idle)
            says += f'; not used: {arrays}: --let "W_Q = {idle[0].written}" would say what one is'
        yield Assumption(says, frozenset({Role.X}))


def arrays_taken(page: Page, arrays: Iterable[tuple[int, Role]], scope: int) -> Iterator[Assumption]:
    """What arrays without a name were taken for."""
    taken = ((page.equations[index], role) for index, role in arrays)
    lines = dict.fromkeys((e.line, role) for e, role in taken if e.scope == scope and e.line > 0)
    for line, role in lines:
        says = f"line {line} is taken for the {SAID.get(role, role.value)}, by the words beside it"
        yield Assumption(says, frozenset({role}), line)
