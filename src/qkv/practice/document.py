"""A worked solution as a document: title, givens, steps; with the line of every value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import latex, plain, symbol_latex, symbol_plain
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.interpret.trace import Table
from qkv.practice.hand import Line, Style, texts
from qkv.practice.notation import Chain, Notation
from qkv.program.model import Given, Program, Step

R = Role

TITLES = {
    "cross-attention": "Cross-attention",
    "self-attention": "Self-attention",
    "attention": "Attention",
}
WORDS: dict[Role, str] = {
    R.X: "Tokens",
    R.Y: "Tokens of the encoder",
    R.W_Q: "Weights of the queries",
    R.W_K: "Weights of the keys",
    R.W_V: "Weights of the values",
    R.W_O: "Output matrix",
    R.B_Q: "Bias of the queries",
    R.B_K: "Bias of the keys",
    R.B_V: "Bias of the values",
    R.Q: "Queries",
    R.K: "Keys",
    R.V: "Values",
    R.SCORES: "Scores",
    R.SCALED: "Scaled scores",
    R.MASKED: "Masked scores",
    R.WEIGHTS: "Attention weights",
    R.HEAD: "Output of the head",
    R.CONCAT: "Heads side by side",
    R.OUTPUT: "Output",
    R.SOURCE: "Decoder state",
    R.STATES: "Encoder states, one a row",
    R.CONTEXT: "Context vector",
    R.W_A: "Weights",
    R.U_A: "Weights of the states",
    R.V_A: "Score vector",
}

# How authors put the head's number and the letter on a weight; ours is W_{1}^{Q}, and W_{Q} without heads.
SPELLINGS: dict[str, tuple[str, str]] = {
    "W_Q": (r"W_{\1}^{\2}", r"W_{\2}"),
    "W^Q": (r"W^{\2}_{\1}", r"W^{\2}"),
    "W_Q^(1)": (r"W_{\2}^{(\1)}", r"W_{\2}"),
    "W_{Q,1}": (r"W_{\2,\1}", r"W_\2"),
}
_HEADED = re.compile(r"W_\{(\d)\}\^\{([QKV])\}")
_SINGLE = re.compile(r"W_\{()([QKVO])\}")


@dataclass
class Page:
    """Lines as they are written, and where each value stands (first and last line, from 1)."""

    notation: Notation
    spelling: str
    lines: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)

    def say(self, *lines: str) -> None:
        """Write prose."""
        self.lines.extend(lines)

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

    def show(self, expr: n.Expr) -> str:
        """A formula in this notation and spelling."""
        return self._spelled(latex(expr)) if self.notation.latex else plain(expr)

    def name(self, symbol: Symbol) -> str:
        """A name in this notation and spelling."""
        return self._spelled(symbol_latex(symbol)) if self.notation.latex else symbol_plain(symbol)

    def _spelled(self, text: str) -> str:
        headed, single = SPELLINGS[self.spelling]
        return _SINGLE.sub(single, _HEADED.sub(headed, text))


def write(
    program: Program, lines: tuple[Line, ...], style: Style, notation: Notation, rng: Random
) -> tuple[str, list[tuple[int, int]]]:
    """The document, and where each line of the working stands in it."""
    page = Page(notation, rng.choice(list(SPELLINGS)))
    page.say(*notation.head, notation.heading.format(program.kind.capitalize()), "")
    page.say(*_task(program, page), "")
    givens = [given for given in program.givens if not given.implied]
    page.write([_given(given, page) for given in givens])
    page.say("", notation.heading.format("Solution"), "")
    for head, group in _groups(lines):
        if head is not None:
            page.say("", notation.heading.format(f"Head {head}"), "")
        elif group[0].step.role in (R.CONCAT, R.OUTPUT) and len(lines) > len(group):
            page.say("", notation.heading.format("All heads"), "")
        page.write([_chain(line, lines, program, style, page) for line in group])
    page.say(*notation.foot)
    return "\n".join(page.lines) + "\n", page.places[len(givens) :]


def _groups(lines: tuple[Line, ...]) -> list[tuple[int | None, list[Line]]]:
    groups: list[tuple[int | None, list[Line]]] = []
    for line in lines:
        if not groups or groups[-1][0] != line.step.head:
            groups.append((line.step.head, []))
        groups[-1][1].append(line)
    return groups


def _task(program: Program, page: Page) -> list[str]:
    """What is asked, with the formula that decides about the scale."""
    final = program.steps[-1]
    whole = n.Name(final.symbol)
    inner = _formula(program, whole)
    said = [f"Compute {_math(page, page.show(inner))}." if inner else "Compute the output."]
    if any(step.role is R.MASKED for step in program.steps):
        said.append("The mask is causal: a token sees itself and the tokens before it.")
    if program.columns:
        said.append("Tokens are columns.")
    if any(given.role is R.D_K for given in program.givens):
        size = next(given for given in program.givens if given.role is R.D_K)
        said.append(f"Here {_math(page, page.name(size.symbol) + ' = ' + plain(size.expr))}.")
    return [" ".join(said)]


def _formula(program: Program, whole: n.Expr) -> n.Expr | None:
    """softmax(Q Kᵀ / √d_k) V: the last step with everything down to queries, keys and values put in."""
    heads = {item.head for item in program.items} - {None}
    target = next(s for s in reversed(program.steps) if s.role in (R.HEAD, R.OUTPUT, R.CONTEXT) and s.expr != whole)
    if heads:
        target = next(s for s in program.steps if s.role is R.HEAD)
    expr: n.Expr = target.expr
    for _ in range(4):
        expr = n.rewrite(expr, lambda part: _opened(part, program))
    return expr


def _opened(part: n.Expr, program: Program) -> n.Expr:
    if isinstance(part, n.Mask):
        return part.arg
    item = program.item(part.symbol) if isinstance(part, n.Name) else None
    inner = (R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.HEAD)
    return item.expr if isinstance(item, Step) and item.role in inner else part


def _math(page: Page, text: str) -> str:
    return f"${text}$" if page.notation.latex else text


def _given(given: Given, page: Page) -> Chain:
    value = evaluate(given.expr, {}, Certified())
    return Chain(WORDS[given.role], (), texts(value, 6), True, page.name(given.symbol))


def _chain(line: Line, lines: tuple[Line, ...], program: Program, style: Style, page: Page) -> Chain:
    step = line.step
    nameless = step.role in style.nameless
    expr = _written(step.expr, style, lines, program)
    has_formula = (style.formulas or nameless) and not any(isinstance(part, n.Mask) for part in n.walk(expr))
    parts = [page.show(expr)] if has_formula else []
    if style.operands and page.notation.copies:
        parts += _operands(step.expr, lines, program, page)
    name = "" if nameless and has_formula else page.name(step.symbol)
    exact = all("." not in text for row in line.shown for text in row) or not _rounded(line)
    return Chain(WORDS[step.role], tuple(parts), line.shown, exact, name)


def _rounded(line: Line) -> bool:
    return line.shown != texts(line.value, 12)


def _written(expr: n.Expr, style: Style, lines: tuple[Line, ...], program: Program) -> n.Expr:
    """The formula in names that the document has: steps that are left out or nameless are written out."""

    def change(part: n.Expr) -> n.Expr:
        item = program.item(part.symbol) if isinstance(part, n.Name) else None
        hidden = style.left_out | style.nameless
        if isinstance(item, Step) and item.role in hidden:
            return _written(item.expr, style, lines, program)
        return part

    return n.rewrite(expr, change)


def _operands(expr: n.Expr, lines: tuple[Line, ...], program: Program, page: Page) -> list[str]:
    """[..] [..], the factors of a product copied out, where both are printed."""
    if not isinstance(expr, n.Product):
        return []
    factors = [_copied(factor, lines, program) for factor in (expr.left, expr.right)]
    if any(table is None or min(len(table), len(table[0])) < 2 for table in factors):
        return []
    between = " " if page.notation.latex else " × "
    return [between.join(page.notation.matrix(table) for table in factors if table)]


def _copied(factor: n.Expr, lines: tuple[Line, ...], program: Program) -> Table | None:
    if isinstance(factor, n.Transpose):
        table = _copied(factor.arg, lines, program)
        return tuple(zip(*table, strict=True)) if table else None
    if not isinstance(factor, n.Name):
        return None
    for line in lines:
        if line.step.symbol == factor.symbol:
            return line.shown
    item = program.item(factor.symbol)
    return texts(_value(item), 6) if isinstance(item, Given) else None


def _value(given: Given) -> Value:
    return evaluate(given.expr, {}, Certified())
