"""A page that is being written: its notation, how it spells names, and where each value came to stand."""

from __future__ import annotations

import re
from dataclasses import field

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import latex, plain, symbol_latex, symbol_plain
from qkv.practice.notation import Chain, Notation
from qkv.practice.words import Words
from qkv.records import dataclass

# How authors put the head's number and the letter on a weight; ours is W_{1}^{Q}, and W_{Q} without heads.
SPELLINGS: dict[str, tuple[str, str]] = {
    "W_Q": (r"W_{\1}^{\2}", r"W_{\2}"),
    "W^Q": (r"W^{\2}_{\1}", r"W^{\2}"),
    "W_Q^(1)": (r"W_{\2}^{(\1)}", r"W_{\2}"),
    "W_{Q,1}": (r"W_{\2,\1}", r"W_\2"),
}
_HEADED = re.compile(r"W_\{(\d)\}\^\{([QKV])\}")
_SINGLE = re.compile(r"W_\{()([QKVO])\}")
_LETTER = re.compile(r"(?<![\\a-zA-Z])(?<![_^]\{)(?<![_^])([A-Z])(?![a-zA-Z])")  # not in a word, not in a script


@dataclass
class Page:
    """Lines as they are written, and where each value stands (first and last line, from 1)."""

    notation: Notation
    words: Words
    spelling: str = "W_Q"
    bold: bool = False
    lines: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)

    def say(self, *lines: str) -> None:
        """Write prose."""
        self.lines.extend(lines)

    def heading(self, text: str) -> None:
        """Write a heading."""
        self.say("", self.notation.heading.format(text), "")

    def write(self, chains: list[Chain]) -> None:
        """Write a run of equations."""
        if chains:
            self.say(*self.notation.opening)
            for chain in chains:
                lines, at = self.notation.equation(self.notation, chain)
                ends = len("\n".join(lines).rstrip().split("\n"))
                self.places.append((len(self.lines) + at + 1, len(self.lines) + ends))
                self.say(*lines)
            self.say(*self.notation.closing)

    def math(self, text: str) -> str:
        """Mathematics in the middle of a sentence."""
        return f"${text}$" if self.notation.latex else text

    def show(self, expr: n.Expr) -> str:
        """A formula in this notation and spelling."""
        return self._spelled(latex(expr)) if self.notation.latex else plain(expr)

    def name(self, symbol: Symbol) -> str:
        """A name in this notation and spelling."""
        return self._spelled(symbol_latex(symbol)) if self.notation.latex else symbol_plain(symbol)

    def _spelled(self, text: str) -> str:
        headed, single = SPELLINGS[self.spelling]
        spelled = _SINGLE.sub(single, _HEADED.sub(headed, text))
        return _LETTER.sub(r"\\mathbf{\1}", spelled) if self.bold else spelled
