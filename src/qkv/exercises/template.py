"""A teacher's own sheet with blanks: TEXT → Template, and a Template with numbers → a sheet.

A blank is one underscore where a number would stand: X = [_, _; 1, _]. All else stays as the teacher wrote it, except
that a bracket with blanks between dollar signs is set as a matrix. <!-- qkv: numbers -1, 0, 1 --> says what is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from qkv.errors import Location, ReadError
from qkv.regex import regex

NUMBERS = ("-1", "0", "0", "1", "1", "2")  # what is drawn where nothing else is said
BLANK = "_"
# An underscore by itself, where a cell begins; a longer line is one to write a name on.
_BLANK = regex(r"(?:(?<![^\s\[(,;&|=$])|(?<=trix\}))_(?=[\s\]),;&|$\\]|$)")
_NUMBERS = regex(r"[ \t]*(?:<!--\s*qkv:\s*numbers\b(?P<block>[^>]*?)-->|%+\s*qkv:\s*numbers\b(?P<line>.*))[ \t]*\n?")
_MATHS = regex(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
_BRACKET = regex(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Template:
    """A sheet with blanks: its text as it was read, the text between the blanks, the numbers to be drawn, and how its
    file is called."""

    source: str
    pieces: tuple[str, ...]
    numbers: tuple[str, ...]
    stem: str

    @property
    def blanks(self) -> int:
        """How many numbers have to be drawn."""
        return len(self.pieces) - 1

    def line_of(self, blank: int) -> int:
        """The line in which a blank stands."""
        return sum(piece.count("\n") for piece in self.pieces[: blank + 1]) + 1

    def filled(self, numbers: Iterable[str]) -> str:
        """The sheet with numbers in the place of the blanks, as the teacher typed it.

        >>> template_of("X = [_, 2; _, _]").filled(["1", "3", "4"])
        'X = [1, 2; 3, 4]'
        """
        return self.pieces[0] + "".join(
            f"{number}{piece}" for number, piece in zip(numbers, self.pieces[1:], strict=True)
        )

    def set(self, numbers: Iterable[str]) -> str:
        r"""The same with each bracket that has blanks, between dollar signs, as a matrix of LaTeX.

        >>> template_of("$X = [_, 2; _, _]$").set(["1", "3", "4"])
        '$X = \\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}$'
        """
        drawn = iter(numbers)
        blank = self.filled([BLANK] * self.blanks)
        shaped = _MATHS.sub(lambda found: _BRACKET.sub(_as_matrix, found[0]), blank)
        return _BLANK.sub(lambda _: next(drawn), shaped)


def template_of(text: str, stem: str = "sheet") -> Template:
    """Read a template; one without blanks, or with numbers that are none, is refused."""
    said = _NUMBERS.search(text)
    numbers = _numbers(said, text) if said else NUMBERS
    pieces = tuple(_BLANK.split(_NUMBERS.sub("", text)))
    if len(pieces) == 1:
        raise ReadError(
            "there is no blank in it; write _ for each number that is to be drawn, such as X = [_, _; 1, _]"
        )
    return Template(text, pieces, numbers, stem)


def _numbers(said: re.Match[str], text: str) -> tuple[str, ...]:
    """The numbers of a comment, one listed twice being drawn twice as often."""
    listed = re.split(r"[\s,]+", (said["block"] or said["line"] or "").strip(" \t,:"))
    numbers = tuple(word.replace("−", "-") for word in listed if word)
    wrong = next((word for word in numbers if not re.fullmatch(r"-?\d+(?:\.\d+|/[1-9]\d*)?", word)), None)
    if wrong is not None or len(set(map(Fraction, numbers))) < 2:
        told = f"{wrong} is no number" if wrong is not None else "two different numbers at least have to be listed"
        at = Location(text.count("\n", 0, said.start()) + 1)
        raise ReadError(f"{told}; write <!-- qkv: numbers -1, 0, 0.5, 2 -->", at)
    return numbers


def _as_matrix(bracket: re.Match[str]) -> str:
    rows = [re.split(r"\s*,\s*|\s+", row.strip().rstrip(",")) for row in re.split(r";|\n", bracket[1]) if row.strip()]
    cells = [cell for row in rows for cell in row]
    if BLANK not in cells or not all(re.fullmatch(r"_|[-−]?\d+(?:\.\d+|/\d+)?", cell) for cell in cells):
        return bracket[0]
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{bmatrix}"
