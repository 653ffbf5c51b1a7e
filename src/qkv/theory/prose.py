"""What sheets say in words about shapes, the softmax, the divisor and the mask, judged where it is plain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from qkv.expr.names import Role
from qkv.interpret.counts import Size
from qkv.regex import regex
from qkv.theory.cost import cost
from qkv.theory.counts_said import LONGEST
from qkv.theory.counts_true import aligned
from qkv.theory.formula import Unclear, formula, ring, to_size, written
from qkv.theory.polynomial import plain

SHAPE = regex(r"shape|dimension|size|größe|forma\b|形状|维度", re.IGNORECASE)
CROSS = regex(r"\\times|×|\bx\b")
TIMES = regex(r"^\s*(?:\\mathbb\{?R\}?\^\{?)?\(?(.+?)\s*(?:\\times|×|\bx\b)\s*(.+?)\)?\}?\s*$")
QUESTION = regex(r"[^.\n]{0,80}\?")
INLINE = regex(r"\$(?<!\\\$)([^$\n]{1,120}+)(?<!\\)\$")

# Matrices by what they are called, the last one named before a shape is the one meant.
MATRICES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Q", regex(r"\bquer(y|ies)\b|(?<![\w\\])Q(?![\w^]|\s*\\?K)")),
    ("K", regex(r"\bkeys?\b(?! combin)|(?<![\w\\])K(?![\w^])")),
    ("V", regex(r"\bvalues\b matri|(?<![\w\\])V(?![\w^])")),
    ("scores", regex(r"Q\}?\s*(\\mathbf\{)?K|scores|dot product|soft-?max|weights|\bmask", re.IGNORECASE)),
    ("output", regex(r"\boutput\b|context (matrix|vectors)|\bresult\b", re.IGNORECASE)),
)


class Said(NamedTuple):
    """A statement in words: where it begins, what it is about, whether it is right (None: open), and the truth."""

    place: int
    text: str
    about: str
    right: bool | None
    truth: str


# Sentences that are right or wrong as they stand: (pattern, what it is about, right, the truth)
SENTENCES: tuple[tuple[str, str, bool, str], ...] = (
    (
        r"soft-?max[^.?]{0,60}\b(applied|taken|computed) (to each row|row-?wise|row by row|along (the|each) row)",
        "axis of the softmax",
        True,
        "row-wise",
    ),
    (r"value of \$d\$ is \$d_\{?k\}?\$", "the divisor", True, "d = d_k"),
    (r"value of \$d\$ is \$d_\{?v\}?\$", "the divisor", False, "d = d_k"),
    (
        r"triangular matri\w+ with \$?-?\\?infty\$?[^.]{0,20}(top right|upper|above)",
        "the mask",
        True,
        "−∞ strictly above the diagonal, 0 elsewhere",
    ),
    (
        r"\$\\sqrt\{?d_\{?k\}?\}?\$ is (just )?the (dimension|dimensionality|size|width) of",
        "the scale",
        False,
        "d_k is the width of a key; scores are divided by its root √d_k",
    ),
)
_PATTERNS = [regex(said.replace(" ", r"\s+"), re.IGNORECASE) for said, *_ in SENTENCES]


def prose_claims(text: str) -> Iterator[Said]:
    """Statements in words that are plainly right or wrong, and shapes that are said of a matrix."""
    for pattern, (_, about, right, truth) in zip(_PATTERNS, SENTENCES, strict=True):
        for found in pattern.finditer(text):
            if QUESTION.match(text, found.end()):
                continue
            yield Said(found.start(), found.group(), about, right, truth)
    yield from _shapes(text)


def _shapes(text: str) -> Iterator[Said]:
    for found in INLINE.finditer(text) if SHAPE.search(text) else ():
        sides = TIMES.match(found[1]) if CROSS.search(found[1]) else None
        if sides is None:
            continue
        earliest = max(0, found.start() - LONGEST)
        start = max(text.rfind(end, earliest, found.start()) for end in (". ", "\n"))
        before = text[max(start, earliest) : found.start()]
        if not SHAPE.search(before):
            continue
        names = [name for name, _ in sorted(_named(before), key=lambda pair: pair[1])]
        try:
            claimed = _sizes(sides.group(1)), _sizes(sides.group(2))
        except Unclear:
            continue
        if names:
            yield _judged(found, names, claimed)


def _named(before: str) -> list[tuple[str, int]]:
    """The matrices that are named, each with the place where it was named last."""
    return [(name, max(m.end() for m in p.finditer(before))) for name, p in MATRICES if p.search(before)]


def _sizes(text: str) -> tuple[Size, frozenset[str]]:
    said = formula(written(text), ring())
    if not said.names or "?" in said.names:
        raise Unclear(f"{text!r} is no size")
    return to_size(said.value), said.names


def _judged(
    found: re.Match[str], names: list[str], claimed: tuple[tuple[Size, frozenset[str]], tuple[Size, frozenset[str]]]
) -> Said:
    letters = claimed[0][1] | claimed[1][1]
    fitting = next((name for name in reversed(names) if _fits(_shape(name), claimed, letters)), None)
    about = fitting or names[-1]
    truth = " × ".join(plain(size) for size in _shape(about))
    # 'the result' may be the weights or the output, and a sentence may name several: only a single one can be wrong.
    verdict = True if fitting else False if len(names) == 1 and names[0] != "output" else None
    return Said(found.start(), found.group(1), f"shape of {about}", verdict, truth)


def _shape(name: str) -> tuple[Size, Size]:
    attention = cost("attention")
    scores, output = attention.step(Role.SCORES), attention.step(Role.OUTPUT)
    assert scores is not None
    assert output is not None
    n_q, n_k, d_v = scores.shape[0], scores.shape[1], output.shape[1]
    projected = cost("cross")
    keys = projected.step(Role.K)
    assert keys is not None
    d_k = keys.shape[1]
    return {"Q": (n_q, d_k), "K": (n_k, d_k), "V": (n_k, d_v), "scores": (n_q, n_k), "output": (n_q, d_v)}[name]


def _fits(
    shape: tuple[Size, Size],
    claimed: tuple[tuple[Size, frozenset[str]], tuple[Size, frozenset[str]]],
    letters: frozenset[str],
) -> bool:
    """Whether a shape is the claimed one, in the letters of the claim."""
    forms = zip(*(aligned(size, letters) for size in shape), strict=False)
    return any(rows == claimed[0][0] and columns == claimed[1][0] for rows, columns in forms)
