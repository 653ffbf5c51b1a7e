"""What a page says a language model is made of: one frozen description, for every count that is asked and claimed.

Sizes come from clauses that describe; what is supposed ('with 6 KV heads in place of 2') or worked out ('131072 bytes')
only fills what no other clause says. A size with two values is no size: the answer might be about the other model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from qkv.library.model_said import (
    AMOUNT,
    BIAS,
    COUNTS_OF_NORMS,
    EMBEDDING,
    FINAL,
    GATED,
    IGNORED,
    LEARNED,
    MAPS,
    NEGATED,
    NORM,
    NOT_LEARNED,
    OUTPUT,
    POSITIONS,
    ROOT_NORM,
    SEPARATE,
    SHARED,
    SUPPOSED,
    UNGATED,
)
from qkv.regex import regex
from qkv.theory.sizes_said import plain_text, sizes_said

_CLAUSE = regex(r"[;；。!！?？\n]|\.(?=\s|$)")
_PIECE = regex(r"[,，、|]")


@dataclass(frozen=True)
class Model:
    """A language model as a page describes it; None is what the page does not say."""

    sizes: Mapping[str, Fraction] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()  # sizes that are said with several values
    gated: bool | None = None
    biased: Mapping[str, bool] = field(default_factory=dict)  # of 'attention', 'feed-forward', 'output'
    norms: int | None = None  # in a layer
    shifted: bool = True  # a norm adds a vector too
    final_norm: bool = False
    tied: bool | None = None  # the output uses the embedding's matrix
    output: bool = False  # the page speaks of a matrix for the output
    learned: bool = False  # positions have vectors of their own

    def __getitem__(self, size: str) -> Fraction:
        return self.sizes[size]

    def has(self, *sizes: str) -> bool:
        """Whether the page says some sizes."""
        return all(size in self.sizes for size in sizes)


def described(text: str, nearest: str = "") -> Model:
    """The model that a text describes; what `nearest`, the section of a question, says of a size outranks the rest.

    >>> described("A decoder with 2 layers, width 8 and 2 heads. All projections have biases.").biased["attention"]
    True
    """
    clauses = [clause for clause in _CLAUSE.split(plain_text(text)) if clause.strip()]
    here, all_over = _sizes(nearest), _sizes(text)
    sizes = {**all_over[0], **here[0]}
    unsure = (all_over[1] | here[1]) - here[0].keys()
    facts = _facts(clauses)
    sizes = _derived({size: value for size, value in sizes.items() if size not in here[1]})
    return replace(facts, sizes=sizes, unsure=frozenset(unsure - sizes.keys()))


def filled(model: Model, by: Model) -> Model:
    """A model with what another says where it is silent; of the sizes only the bytes of a number."""
    sizes = {size: value for size, value in by.sizes.items() if size in ("bytes", "trained")}
    return replace(
        model,
        sizes={**sizes, **model.sizes},
        gated=model.gated if model.gated is not None else by.gated,
        biased={**by.biased, **model.biased},
        norms=model.norms if model.norms is not None else by.norms,
        shifted=model.shifted if model.norms is not None else by.shifted,
        final_norm=model.final_norm or by.final_norm,
        tied=model.tied if model.tied is not None else by.tied,
        output=model.output or by.output,
        learned=model.learned or by.learned,
    )


def with_question(model: Model, text: str) -> Model:
    """A model with what a question says of it: its sizes and its biases outrank those of the page."""
    own = _facts([clause for clause in _CLAUSE.split(plain_text(text)) if clause.strip()])
    said, _ = _agreed(text)
    kept = {s: v for s, v in model.sizes.items() if not (s == "d_head" and "h" in said and "d" in model.sizes)}
    made = filled(model, own)
    tied = own.tied if own.tied is not None else made.tied
    biased = {**made.biased, **own.biased}
    return replace(made, sizes=_derived({**kept, **said}), unsure=model.unsure - said.keys(), biased=biased, tied=tied)


def _sizes(text: str) -> tuple[dict[str, Fraction], frozenset[str]]:
    """The sizes for which the describing clauses of a text state one number, and those for which they state several."""
    clauses = re.split(r"(?<=[;；。\n])|(?<=\.)(?=\s)", text)
    plain = "".join(clause if not (AMOUNT.search(clause) or SUPPOSED.search(clause)) else "\n" for clause in clauses)
    sizes, several = _agreed(plain)
    more, unsure = _agreed(text)
    more = {s: v for s, v in more.items() if s not in several and not (s == "h_kv" and "h" in sizes)}
    return {**more, **sizes}, several | (unsure - sizes.keys())


def _agreed(text: str) -> tuple[dict[str, Fraction], frozenset[str]]:
    said: dict[str, set[Fraction]] = {}
    for size, value in sizes_said(text):
        said.setdefault(size, set()).add(value)
    once = {size: next(iter(values)) for size, values in said.items() if len(values) == 1}
    return once, frozenset(said.keys() - once.keys())


def _derived(sizes: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Sizes with those that follow from them: d = heads · head width."""
    made = dict(sizes)
    if {"d", "h"} <= made.keys() and "d_head" not in made and (made["d"] / made["h"]).denominator == 1:
        made["d_head"] = made["d"] / made["h"]
    if {"h", "d_head"} <= made.keys() and "d" not in made:
        made["d"] = made["h"] * made["d_head"]
    if {"d", "d_head"} <= made.keys() and "h" not in made and (made["d"] / made["d_head"]).denominator == 1:
        made["h"] = made["d"] / made["d_head"]
    return made


# — facts —


def _facts(clauses: Sequence[str]) -> Model:
    """What clauses say of a model beside its sizes."""
    biased, shifted = _biases(clauses)
    norms, final = _norms(clauses)
    root = any(ROOT_NORM.search(found[0]) for clause in clauses for found in NORM.finditer(clause))
    text = "\n".join(clauses)
    return Model(
        gated=True if GATED.search(text) else False if UNGATED.search(text) else None,
        biased=biased,
        norms=norms,
        shifted=shifted if shifted is not None else not root,
        final_norm=final,
        tied=next((tied for clause in clauses if (tied := _tied(clause)) is not None), None),
        output=any(OUTPUT.search(clause) and not IGNORED.search(clause) for clause in clauses),
        learned=_learned(clauses),
    )


def _biases(clauses: Iterable[str]) -> tuple[dict[str, bool], bool | None]:
    """Which maps have biases, and whether norms have; what is said of a part outranks what is said of all."""
    all_: dict[str, bool] = {}
    own: dict[str, bool] = {}
    spoken = False
    for clause in clauses:
        pieces = _PIECE.split(clause)
        for piece in pieces:
            none = spoken and re.search(r"\b(?:none|keine)\b", piece)
            if IGNORED.search(clause) or not (BIAS.search(piece) or none):
                continue
            spoken = True
            scope = _scope(piece) or _scope(pieces[0])
            has = NEGATED.search(piece) is None
            if not scope:
                all_.update(dict.fromkeys(("attention", "feed-forward"), has))
            own.update(dict.fromkeys(scope, has))
    found = {**all_, **own}
    return {part: has for part, has in found.items() if part != "norm"}, found.get("norm")


def _scope(piece: str) -> list[str]:
    return [part for part, words in MAPS if words.search(piece)]


def _norms(clauses: Iterable[str]) -> tuple[int | None, bool]:
    """How many norms a layer has, and whether there is one at the end."""
    counts: int | None = None
    spoken = final = False
    for clause in clauses:
        places = [] if IGNORED.search(clause) else list(NORM.finditer(clause))
        for k, found in enumerate(places):
            before = clause[places[k - 1].end() if k else 0 : found.start()]
            after = clause[found.end() : places[k + 1].start() if k + 1 < len(places) else len(clause)]
            number = next((n for n, words in COUNTS_OF_NORMS if words.search(before[-14:])), None)
            last = FINAL.search(before[-40:]) or (k + 1 == len(places) and FINAL.search(after))
            final |= bool(last)
            if not last or (number is not None and number > 1):
                spoken = True
                counts = number if number is not None and number > 1 else counts
    return (counts or 2 if spoken else None), final


def _tied(clause: str) -> bool | None:
    """Whether embedding and output share a matrix; None where a clause does not say."""
    if not (EMBEDDING.search(clause) or OUTPUT.search(clause)):
        return None
    if SEPARATE.search(clause):
        return False
    shared = next((piece for piece in _PIECE.split(clause) if SHARED.search(piece)), None)
    return NEGATED.search(shared) is None if shared is not None else None


def _learned(clauses: Iterable[str]) -> bool:
    """Whether positions have vectors that are learned."""
    pieces = [piece for clause in clauses for piece in _PIECE.split(clause) if POSITIONS.search(piece)]
    if any(NOT_LEARNED.search(piece) or NEGATED.search(piece) for piece in pieces):
        return False
    return any(LEARNED.search(piece) or EMBEDDING.search(piece) for piece in pieces)
