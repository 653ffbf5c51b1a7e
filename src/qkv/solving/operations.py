"""Operations said in words, one after another: 'add the positional encoding', 'apply attention', 'add the residual'.

Each item of a list takes what the item before it gave. What the page says of a function (FFN(x) = …) comes first, then
the library's functions. An operation that cannot be carried out is named, and nothing that stands on it is answered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import sinusoids
from qkv.library.defined import Defined, defined
from qkv.library.words import pattern
from qkv.program.model import Answer, Part, Program, Step
from qkv.solving.known import known_values

KINDS = ("positions", "attention", "residual", "norm", "feed")
AROUND = frozenset(KINDS) - {"attention"}
BASE = n.number(10000)
_SAID = {kind: re.compile(rf"(?<!\w)(?:{pattern(kind)})(?!\w)", re.IGNORECASE) for kind in KINDS}
_ITEM = re.compile(r"\s*(?:\*\*)?(?P<label>\(?(?:\d{1,2}|[a-z])[.)])(?:\*\*)?\s+(?P<text>\S.*)")
_WITH = re.compile(rf"(?<!\w)(?:{pattern('with')})(?!\w).*|\(.*", re.IGNORECASE)
_ASKS = re.compile(
    rf"\W*(?:(?:{pattern('ask')})\b|(?:{'|'.join(pattern(kind) for kind in KINDS)})(?!\w))", re.IGNORECASE
)
_FIRST = re.compile(r"positions?\s+(?P<first>\d)\b|(?:from|at|with) (?P<start>[01])\b", re.IGNORECASE)
_RESULT = re.compile(
    r"\b(?:to|of|on) (?:the|this|that) (?:result|output|sum)|auf das ergebnis|au résultat", re.IGNORECASE
)
_PLACES = frozenset({"PE", "P", "POS"})  # names of positions that a page gives


@dataclass(frozen=True, slots=True)
class Operation:
    """One item of the list, with the operations that its words name in their order."""

    label: str
    text: str
    line: int
    kinds: tuple[str, ...]


def operations(lines: Sequence[str], first: int, last: int) -> list[Operation]:
    """The operations that list items between two lines of a page ask for, where they do more than attention.

    >>> [o.kinds for o in operations(["1. Add the positional encoding.", "2. Apply self-attention."], 1, 2)]
    [('positions',), ('attention',)]
    """
    found = []
    for line in range(first, min(last, len(lines)) + 1):
        item = _ITEM.match(lines[line - 1])
        if item is not None and _ASKS.match(item["text"]) and "?" not in item["text"]:
            said = _WITH.sub("", item["text"])
            at = {kind: match.start() for kind in KINDS if (match := _SAID[kind].search(said))}
            if at:
                found.append(Operation(item["label"], item["text"], line, tuple(sorted(at, key=lambda k: at[k]))))
    kinds = [kind for operation in found for kind in operation.kinds]
    return found if len(found) > 1 and AROUND & set(kinds) else []


def with_operations(
    program: Program, said: Sequence[Operation], functions: Mapping[str, tuple[Defined, ...]]
) -> Program:
    """The program with the steps that a list of operations asks for, and its items answered by them."""
    worked = {answer.line for answer in program.answers if answer.parts and not _is_result(answer)}
    if not any(operation.line not in worked for operation in said) or program.columns:
        return program
    chain = _Chain(program, functions)
    answers = {answer.line: answer for answer in program.answers}
    for operation in said:
        old = answers.get(operation.line) or Answer(operation.label, operation.text, operation.line)
        if len(old.parts) == 1 and _is_stated(old):
            chain.adopt(old.parts[0].expr, operation.kinds)
            continue
        missing = next((why for kind in operation.kinds if (why := chain.take(kind, operation.text))), "")
        if missing:
            return _without(chain, {**answers, operation.line: old}, operation, missing)
        part = Part(symbol_plain(chain.state), n.Name(chain.state))
        parts = old.parts if operation.kinds == ("attention",) and old.parts else (part,)
        answers[operation.line] = replace(old, parts=parts, missing="", assumed=(*old.assumed, *chain.assumed))
    ordered = tuple(answers[line] for line in sorted(answers))
    return replace(chain.program, answers=ordered, notes=(*program.notes, *chain.assumed))


def _is_stated(answer: Answer) -> bool:
    """Whether a question has the formula of what it asks for: 'the FFN output y = h W_2', 'the residual x + y'."""
    expr = answer.parts[0].expr
    if not isinstance(expr, n.Name):
        return len(n.names_in(expr)) > 1
    return re.search(rf"(?<!\w){re.escape(expr.symbol.base)}[\w{{}}]*\W*=", answer.text) is not None


def _is_result(answer: Answer) -> bool:
    """Whether a question is answered with the only thing that its words name: the result that something is done to."""
    return len(answer.parts) == 1 and bool(_RESULT.search(answer.text)) and not _is_stated(answer)


def _without(chain: _Chain, answers: Mapping[int, Answer], failed: Operation, missing: str) -> Program:
    """The program up to an operation that could not be carried out: what stands on it says so."""
    later = f"this stands on {failed.label} “{failed.text}”, which could not be worked out"

    def told(answer: Answer) -> Answer:
        if answer.line < failed.line or (answer.says and not answer.parts):
            return answer
        return replace(answer, parts=(), says="", missing=missing if answer.line == failed.line else later)

    program = chain.program if chain.attended else chain.without_attention()
    return replace(program, answers=tuple(told(answers[line]) for line in sorted(answers)))


class _Chain:
    """A program while operations are added to it: what the last one gave, and what stood before it."""

    def __init__(self, program: Program, functions: Mapping[str, tuple[Defined, ...]]) -> None:
        self.program, self.functions = program, functions
        self.tokens = program.find(Role.X)
        self.state = self.before = self.tokens or Symbol("X")
        self.attended = False
        self.unnormed: Symbol | None = None  # where norms stand before layers, what the residual goes around
        self.norms_first = False
        self.assumed: tuple[str, ...] = ()

    def take(self, kind: str, text: str) -> str:
        """One operation; why it could not be carried out, or nothing."""
        if self.tokens is None:
            return "no tokens are given that it could take"
        if kind in ("residual", "feed") and not self.attended and self.state == self.tokens and self._outputs():
            self._attention(text)  # asked for by its steps, not by its name
        taken: str = getattr(self, f"_{kind}")(text)
        return taken

    def adopt(self, expr: n.Expr, kinds: tuple[str, ...]) -> None:
        """An operation that the page has a formula for: what that gives is the state from now on."""
        if "residual" not in kinds:
            self._enter()
        self.attended = self.attended or "attention" in kinds
        if isinstance(expr, n.Name):
            self.state = expr.symbol
        else:
            self._add("R" if "residual" in kinds else "T", expr, "as the page says")

    def _positions(self, text: str) -> str:
        values = known_values((*self.program.givens, *self.program.steps))
        shape = values[self.state].shape if self.state in values else (0, 0)
        given = (item.symbol for item in self.program.items if item.symbol.base.upper() in _PLACES)
        places = next((symbol for symbol in given if symbol in values and values[symbol].shape == shape), None)
        if places is None and re.search(r"learn|gelernt|appris|aprend|обуч|可学习|学習", text, re.IGNORECASE):
            return "learned positions have to be given: write PE = [[…], …]"
        if self.attended or 0 in shape:
            return "there are no tokens that positions could be added to"
        read = self.state
        if places is None:
            found = _FIRST.search(text)
            first = int(found["first"] or found["start"]) if found else 0
            places = self._add("PE", sinusoids(*shape, BASE, first), "sines and cosines of each position")
            if found is None:
                self.assumed = (*self.assumed, f"positions are counted from {first}")
        made = self._add("X_P", n.Sum((n.Name(read), n.Name(places))), "the tokens with their positions")
        self._read_instead(read, made)
        return ""

    def _read_instead(self, tokens: Symbol, made: Symbol) -> None:
        """All steps that the page has read what was made of its tokens; what makes it comes before them."""
        added = [step for step in self.program.steps if step.role is Role.BLOCK]
        steps = [step for step in self.program.steps if step.role is not Role.BLOCK]
        first = next((i for i, step in enumerate(steps) if tokens in n.names_in(step.expr)), len(steps))

        def anew(node: n.Expr) -> n.Expr:
            return n.Name(made) if isinstance(node, n.Name) and node.symbol == tokens else node

        rest = [replace(step, expr=n.rewrite(step.expr, anew)) for step in steps[first:]]
        self.program = replace(self.program, steps=(*steps[:first], *added, *rest))

    def _outputs(self) -> list[Symbol]:
        found = (self.program.find(role) for role in (Role.OUTPUT, Role.CONCAT, Role.HEAD))
        return [symbol for symbol in found if symbol is not None]

    def _attention(self, text: str) -> str:
        if self.attended or not self._outputs():
            return (
                "what attention needs is not given" if not self.attended else "a second layer has no weights of its own"
            )
        self._enter()
        self.state, self.attended = self._outputs()[0], True
        return ""

    def _enter(self) -> None:
        """A layer begins: the residual goes around it, and around a norm that stands before it."""
        self.before, self.unnormed = self.unnormed or self.state, None

    def _residual(self, text: str) -> str:
        if self.before == self.state:
            return "there is no layer that the residual could go around"
        self._add("R", n.Sum((n.Name(self.before), n.Name(self.state))), "added to what went in")
        return ""

    def _norm(self, text: str) -> str:
        read, self.norms_first = self.state, self.norms_first or not self.attended
        missing = self._function("rmsnorm" if "rms" in text.lower() else "layernorm", "N", "each token normalised")
        self.unnormed = read if self.norms_first else None
        if not missing and not self.attended:
            self._read_instead(read, self.state)
        return missing

    def _feed(self, text: str) -> str:
        self._enter()
        return self._function("ffn", "F", "the feed-forward layer")

    def _function(self, name: str, letter: str, says: str) -> str:
        """A function of the state: the page's own, or the library's row whose further names are given."""
        known = {item.symbol for item in self.program.items}
        own = [row for called, rows in self.functions.items() if defined(called) == defined(name) for row in rows]
        for row in (*own, *defined(name)):
            made = row.of((n.Name(self.state),))
            if made is not None and known.issuperset(n.names_in(made)):
                self._add(letter, made, says)
                return ""
        names = sorted({symbol_plain(s) for row in defined(name) for s in n.names_in(row.expr)} - {"x"})
        return f"it needs {', '.join(names)}, which the page does not give"

    def _add(self, letter: str, expr: n.Expr, says: str) -> Symbol:
        """A step for what an operation gives, under a name that is free; it is the state from now on."""
        base, _, label = letter.partition("_")
        symbol = Symbol(base, (label,) if label else ())
        number = 1
        while self.program.item(symbol) is not None:
            symbol, number = symbol._replace(indices=(str(number + 1),)), number + 1
        step = Step(symbol, expr, Role.BLOCK, symbol_plain(symbol), says=says)
        self.program = replace(self.program, steps=(*self.program.steps, step))
        self.state = symbol
        return symbol

    def without_attention(self) -> Program:
        """The program without what reads its tokens."""
        without = {self.tokens}
        kept = []
        for step in self.program.steps:
            if without.isdisjoint(n.names_in(step.expr)):
                kept.append(step)
            else:
                without.add(step.symbol)
        return replace(self.program, steps=tuple(kept))
