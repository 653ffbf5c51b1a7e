"""What words ask for around attention, one operation after another: 'add the positional encoding', 'Add & Norm'.

The operations stand in a list on the page, or follow from its words: where norms stand, and which matrices are given
for nothing else. Each takes what the one before it gave, by the page's own function (FFN(x) = …), else by rows of the
library of blocks. One that cannot be carried out is named, and nothing that stands on it is answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import one_hot, sinusoids
from qkv.library import around_said as said
from qkv.library import block
from qkv.library.defined import defined
from qkv.library.rows import Row, counted, renamed
from qkv.library.words import pattern
from qkv.program.model import Answer, Given, Program, Step
from qkv.reading.asked import questions_of
from qkv.reading.definitions import Source
from qkv.reading.system import System
from qkv.regex import regex
from qkv.solving.growing import answered, free, in_order, parts_of, read_instead, states_formulas
from qkv.solving.known import known_values

KINDS = ("positions", "attention", "residual", "norm", "feed")
NOTE = "the page asks for this without a formula: worked out as in a usual block"
_SAID = {kind: regex(rf"(?<!\w)(?:{pattern(kind)})(?!\w)", re.IGNORECASE) for kind in KINDS}
_ITEM = regex(r"\s*(?:\*\*)?(?P<label>\(?(?:\d{1,2}|[a-z])[.)])(?:\*\*)?\s+(?P<text>\S.*)")
_WITH = regex(rf"(?<!\w)(?:{pattern('with')})(?!\w).*|\(.*", re.IGNORECASE)
_ASKS = regex(rf"\W*(?:(?:{pattern('ask')})\b|(?:{'|'.join(pattern(kind) for kind in KINDS)})(?!\w))", re.IGNORECASE)
_FIRST = regex(r"positions?\s+(?P<first>\d)\b|(?:from|at|with) (?P<start>[01])\b", re.IGNORECASE)
_RESULT = regex(r"\b(?:to|of|on) (?:the|this|that) (?:result|output|sum)|auf das ergebnis|au résultat", re.IGNORECASE)
_STATE, _PE, _OUTPUT, _TARGETS = Symbol("x"), Symbol("PE"), Symbol("Output"), Symbol("T", ("y",))
_LOGITS, _FED, _FEEDING = Symbol("L"), Symbol("F"), frozenset(Symbol("W", (), (i,)) for i in "12")
_GIVEN = frozenset(  # what a page may give for the rows of a block
    {"W_1", "b_1", "W_2", "b_2", "W_3", "W_U", "b_U", "epsilon", "tau", "PE", "L", "Output"}
    | {f"{letter}_{number}" for letter in ("gamma", "beta") for number in "123"}
)
_UNUSED = (frozenset({"W_1", "W_2"}), frozenset({"W_U"}))  # given for nothing else, if these steps are left open


class Operation(NamedTuple):
    """One item of a list, with the operations that its words name in their order."""

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
            words = _WITH.sub("", item["text"])
            at = {kind: match.start() for kind in KINDS if (match := _SAID[kind].search(words))}
            if at:
                found.append(Operation(item["label"], item["text"], line, tuple(sorted(at, key=lambda k: at[k]))))
    around = any(kind != "attention" for operation in found for kind in operation.kinds)
    return found if len(found) > 1 and around else []


def with_operations(program: Program, listed: Sequence[Operation], system: System, scope: int) -> Program:
    """The program with the steps that a list of operations asks for, and its items answered by them."""
    worked = {answer.line for answer in program.answers if answer.parts and not _is_result(answer)}
    if all(operation.line in worked for operation in listed) or program.columns:
        return program
    chain = _Chain(program, system, scope)
    answers = {answer.line: answer for answer in program.answers}
    for operation in listed:
        old = answers.get(operation.line) or Answer(operation.label, operation.text, operation.line)
        if len(old.parts) == 1 and _is_stated(old):
            chain.adopt(old.parts[0].expr, operation.kinds)
            continue
        missing = next((why for kind in operation.kinds if (why := chain.take(kind, operation.text))), "")
        if missing:
            return _without(chain, {**answers, operation.line: old}, operation, missing)
        keeps = operation.kinds == ("attention",) and old.parts
        parts = old.parts if keeps else parts_of([chain.program.item(chain.state)])  # type: ignore[list-item]
        answers[operation.line] = replace(old, parts=parts, missing="", assumed=(*old.assumed, *chain.assumed))
    return replace(chain.program, answers=in_order(answers), notes=(*program.notes, *chain.assumed))


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
    return replace(program, answers=tuple(map(told, in_order(answers))))


def with_block(program: Program, system: System, scope: int, words: str) -> Program:
    """The program with what its words ask for around attention: where the page states no formula, or gives matrices of
    a feed-forward layer, or of logits, that nothing reads. The page's own word comes first."""
    states = states_formulas(system.page, scope)
    asked = not states and any(pattern.search(words) for pattern in said.AROUND)
    used = {symbol for step in program.steps for symbol in n.names_in(step.expr)}
    idle = {symbol_plain(g.symbol) for g in program.givens if g.symbol not in used and isinstance(g.expr, n.Matrix)}
    unused = any(idle >= names for names in _UNUSED) and not (states and block.NORM_FIRST.search(words))
    if program.columns or not (asked or unused):
        return program
    chain = _Chain(program, system, scope, words)
    for kind in _kinds(chain, words, positions=not states):
        chain.take(kind, words if kind != "positions" else "")
    if not any(said.TEMPERATURES.search(question.text) for question in questions_of(system.page, scope)):
        chain.predict(words)
    if chain.program.steps == program.steps:
        return program
    made = {symbol_plain(name): symbol for name, symbol in chain.made.items()}
    alone = len(program.answers) == 1
    answers = tuple(_answered(answer, chain.program, made, alone) for answer in program.answers)
    return replace(chain.program, answers=answers, notes=(*program.notes, NOTE, *chain.assumed))


def _kinds(chain: _Chain, words: str, positions: bool) -> Iterator[str]:
    """The operations of a block in their order, as far as words and what is given tell of them."""
    feeds, attends = chain.names.keys() >= _FEEDING, chain.output is not None
    norm = said.NORM.search(words) is not None
    first = norm and bool(block.NORM_FIRST.search(words) or said.FIRST.search(words) or not attends)
    if positions and said.POSITIONS.search(words) and (_PE in chain.names or "learn" not in words):
        yield "positions"
    if first and said.RESIDUAL.search(words) and not (attends or feeds):
        return  # what is added is not known: the norm of the tokens alone would be another one
    for part in ("attention",) * attends + ("feed",) * feeds or ("",) * first:
        yield from (kind for kind in ("norm" * first, part, "residual" * norm * bool(part)) if kind)
        yield from ("norm",) if norm and not first else ()


def _answered(answer: Answer, program: Program, made: Mapping[str, Symbol], alone: bool) -> Answer:
    """A question with what it asks for of a block: by its words, else what comes last."""
    text = answer.text.lower()
    wanted = next((names for words, names in said.ASKED if words.search(text)), ())
    found = next((made[name] for name in wanted if name in made), None)
    if found is None and not wanted and (alone or (not answer.parts and said.RESULT.search(text))):
        found = program.steps[-1].symbol
    item = program.item(found) if found is not None else None
    return answered(answer, answer, [item]) if item is not None else answer


class _Chain:
    """A program while operations are added to it: what the last one gave, and what stood before it.

    names    what the rows of the library call things, with the names that the program has for them
    """

    def __init__(self, program: Program, system: System, scope: int, words: str = "") -> None:
        self.program, self.functions, self.names = program, system.functions, dict[Symbol, Symbol]()
        self.made: dict[Symbol, Symbol] = {}
        self.tokens = program.find(Role.X)
        self._take_givens(system, scope, words or system.page.words_of(scope))
        outputs = (self.program.find(role) for role in (Role.OUTPUT, Role.CONCAT, Role.HEAD))
        self.output = self.names.get(_OUTPUT) or next((symbol for symbol in outputs if symbol is not None), None)
        self.state = self.before = self.tokens or Symbol("X")
        self.attended = self.norms_first = False
        self.unnormed: Symbol | None = None  # where norms stand before layers, what the residual goes around
        self.counts = {"norm": 0, "residual": 0}
        self.assumed: tuple[str, ...] = ()
        self.conventions = frozenset({"rms" if "rms" in words else "layer", self._activation(words)})

    def _take_givens(self, system: System, scope: int, words: str) -> None:
        """What a problem gives by its numbers alone, and rows of a block read."""
        aliases = {**said.ALIASES, **(said.LOGITS if "logit" in words else {})}
        aliases |= said.PLACES if _SAID["positions"].search(words) or said.POSITIONS.search(words) else {}
        for symbol, expr in literals(system, scope):
            spelled = symbol_plain(symbol)
            name = aliases.get(spelled, spelled)
            if name == "X" and self.tokens is None and isinstance(expr, n.Matrix):
                self.tokens = symbol
            elif name not in _GIVEN or isinstance(expr, n.Number) != (name in ("epsilon", "tau")):
                continue
            else:
                self.names[block.names()[name]] = symbol
            if self.program.item(symbol) is None:
                added = Given(symbol, expr, Role.X if name == "X" else Role.BLOCK, spelled)
                self.program = replace(self.program, givens=(*self.program.givens, added))

    def _activation(self, words: str) -> str:
        smooth = "gelu" if "gelu" in words else "silu" if re.search(r"silu|swish", words) else "relu"
        gated = Symbol("W", (), ("3",)) in self.names
        return smooth if not gated else "geglu" if smooth == "gelu" else "swiglu"

    def take(self, kind: str, text: str) -> str:
        """One operation; why it could not be carried out, or nothing."""
        if self.tokens is None and (kind in ("positions", "norm") or self.output is None):
            return "no tokens are given that it could take"
        if kind in ("residual", "feed") and not self.attended and self.state == self.tokens and self.output is not None:
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
            self._add([self._step(Symbol("R" if "residual" in kinds else "T"), expr, "as the page says")])

    def _positions(self, text: str) -> str:
        values = known_values((*self.program.givens, *self.program.steps))
        shape = values[self.state].shape if self.state in values else (0, 0)
        if _PE not in self.names and re.search(r"learn|gelernt|appris|aprend|обуч|可学习|学習", text, re.IGNORECASE):
            return "learned positions have to be given: write PE = [[…], …]"
        if self.attended or 0 in shape:
            return "there are no tokens that positions could be added to"
        rows = list(block.embedding())
        if _PE not in self.names:
            found = _FIRST.search(text)
            first = int(found["first"] or found["start"]) if found else 0
            waves = sinusoids(*shape, n.number(10000), first)
            rows.insert(0, Row(_PE, waves, frozenset(), "sines and cosines of each position"))
            if found is None:
                self.assumed = (*self.assumed, f"positions are counted from {first}")
        self._grow(rows, Symbol("X"), instead=True)
        return ""

    def _attention(self, text: str) -> str:
        if self.attended or self.output is None:
            lacks = "what attention needs is not given"
            return "a second layer has no weights of its own" if self.attended else lacks
        self._enter()
        self.state, self.attended = self.output, True
        return ""

    def _enter(self) -> None:
        """A layer begins: the residual goes around it, and around a norm that stands before it."""
        self.before, self.unnormed = self.unnormed or self.state, None

    def _residual(self, text: str) -> str:
        if self.before == self.state:
            return "there is no layer that the residual could go around"
        total = n.Sum((n.Name(self.before), n.Name(self.state)))
        self._add([self._step(self._counted("R", "residual"), total, "added to what went in")])
        return ""

    def _norm(self, text: str) -> str:
        read, self.norms_first = self.state, self.norms_first or not self.attended
        kind = "rms" if "rms" in text.lower() else "layer"
        self.conventions = self.conventions - {"rms", "layer"} | {kind}
        symbol = self._counted("N", "norm")
        if not self._by_page(f"{kind}norm", symbol, instead=not self.attended):
            rows = block.norm("x", symbol.indices[0])
            if kind == "layer" and said.VARIANCE.search(text):
                spread = n.Call("var", (n.Name(_STATE),))
                rows = (Row(Symbol("var", ("1",)), spread, frozenset(), "the variance of each token"), *rows)
            self._grow(rows, instead=not self.attended)
        self.unnormed = read if self.norms_first else None
        return ""

    def _feed(self, text: str) -> str:
        self._enter()
        if self._by_page("ffn", Symbol("F")):
            return ""
        self._grow(block.feed("x"))
        return "" if _FED in self.names else "it needs W_1, W_2, which the page does not give"

    def _counted(self, letter: str, kind: str) -> Symbol:
        self.counts[kind] += 1
        return Symbol(letter, (), (str(self.counts[kind]),))

    def _by_page(self, function: str, symbol: Symbol, instead: bool = False) -> bool:
        """Whether the page itself says what a function is; then that is done."""
        known = {item.symbol for item in self.program.items}
        own = (row for called, rows in self.functions.items() if defined(called) == defined(function) for row in rows)
        made = (row.of((n.Name(self.state),)) for row in own)
        expr = next((expr for expr in made if expr is not None and known.issuperset(n.names_in(expr))), None)
        self._add([self._step(symbol, expr, "as the page says")] if expr is not None else [], instead)
        return expr is not None

    def predict(self, words: str) -> None:
        """The logits of the state, where matrices for them are given, and what words ask of logits."""
        if Symbol("W", ("U",)) in self.names:
            self._grow(block.logits("x"))
        if _LOGITS not in self.names or not any(pattern.search(words) for pattern in said.OF_LOGITS):
            return
        logits = known_values((*self.program.givens, *self.program.steps)).get(self.names[_LOGITS])
        if logits is None:
            return
        shape = logits.shape
        target = said.target_said(words, shape[1], from_one=bool(said.FROM_ONE.search(words)))
        if said.LOSS.search(words) and (target is None or not 0 <= target < shape[1]):
            return
        if target is not None and 0 <= target < shape[1]:
            self.names[_TARGETS] = free(_TARGETS, self.program)
            added = Given(self.names[_TARGETS], one_hot([target], shape[1]), Role.BLOCK, symbol_plain(_TARGETS))
            self.program = replace(self.program, givens=(*self.program.givens, added))
        top = said.TOP.search(words)
        self.conventions |= {"predict"} if said.LIKELIEST.search(words) else set()
        self.conventions |= {"top"} if top else set()
        self._grow(block.loss(int(top[1]) if top else 1))
        if said.GRADIENT.search(words) and Symbol("loss") in self.made and Symbol("tau") not in self.names:
            shares, targets = (n.Name(self.names[symbol]) for symbol in (Symbol("P"), _TARGETS))
            difference = n.Sum((shares, n.Negate(targets)))
            self._add([self._step(Symbol("gradient"), difference, "of the loss, by the logits: P − T_y")])

    def _grow(self, rows: Iterable[Row], says_tokens: Symbol = _STATE, instead: bool = False) -> None:
        """Steps for the rows of the library that count; the last gives the state from now on."""
        self.names[says_tokens] = self.state
        steps: list[Step] = []
        for row in counted(rows, set(self.names), self.conventions):
            symbol = free(row.symbol, self.program)
            steps.append(Step(symbol, renamed(row.expr, self.names), Role.BLOCK, symbol_plain(symbol), says=row.says))
            self.names[row.symbol] = self.made[row.symbol] = symbol
        self._add(steps, instead)

    def _add(self, steps: list[Step], instead: bool = False) -> None:
        """Further steps, the last of which gives the state; `instead` says that attention reads it for its tokens."""
        if steps and instead and isinstance(self.program.item(self.output or self.state), Step):
            self.program = read_instead(self.program, self.state, steps)
        else:
            self.program = replace(self.program, steps=(*self.program.steps, *steps))
        self.state = steps[-1].symbol if steps else self.state

    def _step(self, symbol: Symbol, expr: n.Expr, says: str) -> Step:
        self.made[symbol] = free(symbol, self.program)
        return Step(self.made[symbol], expr, Role.BLOCK, symbol_plain(self.made[symbol]), says=says)

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


def literals(system: System, scope: int) -> Iterator[tuple[Symbol, n.Matrix | n.Number]]:
    """What a problem gives by its numbers alone."""
    for symbol, found in system.page.definitions.items():
        for d in found:
            given = d.scope == scope and d.source is Source.GIVEN and n.is_literal(d.expr)
            if given and isinstance(d.expr, (n.Matrix, n.Number)):
                yield symbol, d.expr
