"""How an author writes: under which names, in which notation, in which language, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import latex, plain, symbol_latex, symbol_plain
from qkv.practice.notation import DISPLAYS, Chain, Notation
from qkv.regex import regex

# ---------------------------------------------------------------- names

Key = tuple[str, tuple[str, ...]]  # a symbol without its indices


@dataclass(frozen=True)
class Names:
    """Other names for some symbols; indices and primes stay. What is not in `bases` keeps its name."""

    bases: Mapping[Key, str] = field(default_factory=dict)

    def of(self, symbol: Symbol) -> Symbol:
        """The symbol under its other name.

        >>> Names({("W", ("Q",)): "gold"}).of(Symbol("W", ("Q",), ("1",)))
        Symbol(base='gold', labels=(), indices=('1',), primes=0)
        """
        base = self.bases.get((symbol.base, symbol.labels))
        return symbol if base is None else symbol._replace(base=base, labels=())


USUAL = Names()


# ---------------------------------------------------------------- pens and pages

# How authors put the head's number and the letter on a weight; ours is W_{1}^{Q}, and W_{Q} without heads.
SPELLINGS: dict[str, tuple[str, str]] = {
    "W_Q": (r"W_{\1}^{\2}", r"W_{\2}"),
    "W^Q": (r"W^{\2}_{\1}", r"W^{\2}"),
    "W_Q^(1)": (r"W_{\2}^{(\1)}", r"W_{\2}"),
    "W_{Q,1}": (r"W_{\2,\1}", r"W_\2"),
}
_HEADED = regex(r"W_\{(\d)\}\^\{([QKV])\}")
_SINGLE = regex(r"W_\{()([QKVO])\}")
_LETTER = regex(r"(?<![\\a-zA-Z])(?<![_^]\{)(?<![_^])([A-Z])(?![a-zA-Z])")  # not in a word, not in a script


@dataclass(frozen=True)
class Dress:
    """What changes nothing but the look of a page: its notations (several take turns, by chance), its names, the
    language of its prose ('' for none), how W_Q is spelled, bold letters, and the order of its givens."""

    notations: tuple[Notation, ...] = (DISPLAYS,)
    names: Names = USUAL
    language: str = "en"
    spelling: str = "W_Q"
    bold: bool = False
    order: int = 0  # seeds the order of the givens; 0 leaves them as they are
    turns: int = 0  # seeds whose turn it is, where there are several notations
    above: str = ""  # a text that stands above the solution instead of a title, the task and the givens

    @property
    def pens(self) -> tuple[Pen, ...]:
        """One pen a notation."""
        return tuple(Pen(notation, self.names, self.spelling, self.bold) for notation in self.notations)


@dataclass(frozen=True)
class Pen:
    """Writes formulas and names in one notation."""

    notation: Notation
    names: Names = USUAL
    spelling: str = "W_Q"
    bold: bool = False

    def math(self, text: str) -> str:
        """Mathematics in the middle of a sentence."""
        return f"${text}$" if self.notation.latex else text

    def show(self, expr: n.Expr) -> str:
        """A formula."""
        renamed = n.rewrite(expr, self._renamed)
        return self._spelled(latex(renamed)) if self.notation.latex else plain(renamed)

    def name(self, symbol: Symbol) -> str:
        """A name."""
        renamed = self.names.of(symbol)
        return self._spelled(symbol_latex(renamed)) if self.notation.latex else symbol_plain(renamed)

    def _renamed(self, part: n.Expr) -> n.Expr:
        return n.Name(self.names.of(part.symbol)) if isinstance(part, n.Name) else part

    def _spelled(self, text: str) -> str:
        headed, single = SPELLINGS[self.spelling]
        spelled = _SINGLE.sub(single, _HEADED.sub(headed, text))
        return _LETTER.sub(r"\\mathbf{\1}", spelled) if self.bold else spelled


@dataclass
class Page:
    """Lines as they are written, and where each value stands (first and last line, from 1)."""

    lines: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything written so far."""
        return "\n".join(self.lines) + "\n"

    def say(self, *lines: str) -> None:
        """Write prose."""
        self.lines.extend(lines)

    def heading(self, notation: Notation, text: str) -> None:
        """Write a heading, if there is one."""
        self.say("", *([notation.heading.format(text), ""] if text else []))

    def write(self, chains: list[tuple[Notation, Chain]]) -> None:
        """Write equations; each run in one notation is framed as that notation wants it."""
        for i, (notation, chain) in enumerate(chains):
            if i == 0 or chains[i - 1][0] is not notation:
                self.say(*notation.opening)
            lines, at = notation.equation(notation, chain)
            ends = len("\n".join(lines).rstrip().split("\n"))
            self.places.append((len(self.lines) + at + 1, len(self.lines) + ends))
            self.say(*lines)
            if i + 1 == len(chains) or chains[i + 1][0] is not notation:
                self.say(*notation.closing)
