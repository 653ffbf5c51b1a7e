"""Questions about what follows the last hidden state: logits, probabilities at temperatures, the likeliest k words, the
loss of the word that is right, and the gradients of that.

The logits are what the page calls so, or what its hidden state and its table of words give. Where they
cannot be told apart, with a square table say, nothing is worked out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.cells import bounds
from qkv.interpret.certified import Value
from qkv.library import predicted_said as said
from qkv.program.model import Given, Program, Step
from qkv.reader.model import Question
from qkv.reading.asked import questions_of
from qkv.reading.equation import Equation, Kind
from qkv.reading.page import Page
from qkv.regex import regex
from qkv.solving.exercises import temperatures_said
from qkv.solving.growing import answered, free, in_order
from qkv.solving.known import known_values

_LOGITS, _TARGET, _SHARES = Symbol("z"), Symbol("T", ("y",)), Symbol("p")
_LISTED = regex(
    r"[({\[]\s*(?P<words>[^\W\d][\w'’-]*(?:\s*[,，、]\s*[^\W\d][\w'’-]*)+)\s*[)}\]]"
    r"|[:：]?\s(?P<bare>[^\W\d]\w*(?:, [^\W\d]\w*)+)"
)


def with_predictions(program: Program, page: Page, scope: int) -> Program:
    """The program with what its open questions ask of logits and of losses."""
    questions = list(_questions(page, scope))
    if program.columns or not any(said.kinds(question.text) for question in questions):
        return program
    made = _Predicted(program, page, scope)
    answers = {answer.line: answer for answer in program.answers}
    kinds: tuple[str, ...] = ()
    for question in questions:
        kinds = said.kinds(question.text, kinds)
        if kinds == ("shares",) and said.REMAINS.search(question.text) and said.TOP.search(page.words_of(scope)):
            kinds = ("top",)
        known = answers.get(question.line)
        if question.expr is not None or not kinds or (known is not None and (known.parts or known.says)):
            continue
        if steps := made.steps_for(question, kinds):
            answers[question.line] = answered(known, question, steps)
    return replace(made.program, answers=in_order(answers))


_NUMBERED = regex(r"\s*(?:\*\*)?\(?(?P<label>\d{1,2}|[a-z])[.)](?:\*\*)?\s+\S")


def _questions(page: Page, scope: int) -> Iterator[Question]:
    """The questions of a problem, and list items between them that do not sound like one: '5. Top-k with k = 2'."""
    asked = {question.line: question for question in questions_of(page, scope)}
    labelled = [line for line, question in asked.items() if question.label]
    for line in range(min(labelled, default=1), max(labelled, default=0)):
        if line not in asked and (found := _NUMBERED.match(page.sheet.lines[line - 1])) is not None:
            text = page.sheet.lines[line - 1].strip()
            asked[line] = Question(text, line, next(iter(asked.values())).part, found[0].strip().split()[0])
    yield from (asked[line] for line in sorted(asked))


@dataclass
class _Predicted:
    """A program while questions about its predictions are answered."""

    program: Program
    page: Page
    scope: int
    made: dict[str, Symbol] = field(default_factory=dict)  # steps by what they are, so that each is made once

    def steps_for(self, question: Question, kinds: tuple[str, ...]) -> list[Step]:
        """The steps that a question asks for; none where something is missing for one of them."""
        before = self.program, dict(self.made)
        steps = list(self._wanted(question, kinds))
        if not steps or None in steps:
            self.program, self.made = before
            return []
        return [step for step in steps if step is not None]

    def _wanted(self, question: Question, kinds: tuple[str, ...]) -> Iterator[Step | None]:
        heats: list[Fraction] = temperatures_said(question.text) or [Fraction(1)]
        shares = self._shares(question)
        for kind in kinds:
            match kind:
                case "gradient":
                    yield from self._gradients(question)
                case "top":
                    yield self._top(question, heats[0])
                case "entropy":
                    yield from (self._entropy(question, heat) for heat in heats)
                case "loss":
                    yield from self._losses(question, shares)
                case "perplexity":
                    yield self._perplexity(question, shares)
                case "logits":
                    logits = self._logits(question.line)
                    yield self._item(logits) if logits is not None else None
                case "shares":
                    yield from (self._tempered(question, heat) for heat in heats)

    # — what the page gives —

    def _item(self, symbol: Symbol) -> Step | None:
        item = self.program.item(symbol)
        return item if isinstance(item, Step) else None

    def _above(self, line: int, holds: Callable[[Equation, n.Matrix], bool]) -> tuple[Equation, n.Matrix] | None:
        """The last array that numbers alone give above a line, here or in a problem before, that is such a one."""
        found = None
        for equation in self.page.equations:
            values = [item.expr for item in equation.items if item.kind is Kind.VALUE and not item.struck]
            array = values[0] if len(values) == 1 and not equation.of(Kind.FORMULA, Kind.WORKING) else None
            above = equation.scope <= self.scope and equation.line <= line
            if not above or not isinstance(array, n.Matrix) or array.is_ragged or not n.is_literal(array):
                continue
            if holds(equation, array):
                found = equation, array
        return found

    def _given(self, equation: Equation, array: n.Matrix, symbol: Symbol) -> Symbol:
        """The name that an array has in the program."""
        for given in self.program.givens:
            if given.expr == array:
                return given.symbol
        name = free(equation.names[0] if equation.names else symbol, self.program)
        given = Given(name, array, Role.BLOCK, symbol_plain(name), line=equation.line)
        self.program = replace(self.program, givens=(*self.program.givens, given))
        return name

    def _logits(self, line: int) -> Symbol | None:
        """The logits: called so by what stands beside them, or made of the hidden state and the table of words."""
        if "logits" not in self.made:
            symbol = self._logits_given(line) or self._unembedded(line)
            if symbol is not None:
                self.made["logits"] = symbol
        return self.made.get("logits")

    def _logits_given(self, line: int) -> Symbol | None:
        if self._table(line) is not None and self._hidden(line) is not None:
            return None

        def are_logits(equation: Equation, array: n.Matrix) -> bool:
            beside = " ".join((equation.label, *equation.rows, *equation.columns, *map(str, equation.names)))
            sentence = re.split(r"[.;!?]\s", equation.words)[-1]
            return (
                1 in array.shape
                and array.shape != (1, 1)
                and bool(said.LOGIT.search(beside) or said.LOGIT.search(sentence))
            )

        found = self._above(line, are_logits)
        return self._given(*found, _LOGITS) if found is not None else None

    def _hidden(self, line: int) -> tuple[Equation, n.Matrix] | None:
        def is_hidden(equation: Equation, array: n.Matrix) -> bool:
            named = any(s.base == "h" for s in equation.names)
            return 1 in array.shape and array.shape != (1, 1) and (named or bool(said.HIDDEN.search(equation.label)))

        return self._above(line, is_hidden)

    def _table(self, line: int) -> tuple[Equation, n.Matrix] | None:
        names = ("E", "U", "W_U", "W", "W_out", "W_vocab", "W_E", "W_lm")
        return self._above(
            line, lambda e, a: min(a.shape) > 1 and (len(e.rows) > 1 or str(next(iter(e.names), "")) in names)
        )

    def _unembedded(self, line: int) -> Symbol | None:
        """The product of the hidden state and the table of words, whichever way the table lies."""
        hidden, table = self._hidden(line), self._table(line)
        if hidden is None or table is None:
            return None
        size, (rows, columns) = max(hidden[1].shape), table[1].shape
        by_rows = len(table[0].rows) == rows or bool(said.WORD_ROWS.search(self.page.words))
        if size not in (rows, columns) or (columns == rows and not by_rows):
            return None
        h = self._given(*hidden, Symbol("h"))
        state: n.Expr = n.Name(h) if hidden[1].shape[0] == 1 else n.Transpose(n.Name(h))
        of = n.Name(self._given(*table, Symbol("E")))
        words_down = columns == size and (by_rows or rows != size)
        step = self._add(
            "logits", _LOGITS, n.Product(state, n.Transpose(of) if words_down else of), "a logit for every word"
        )
        self.made |= {"hidden": h, "table": of.symbol}
        return step.symbol if step is not None else None

    def _vocabulary(self, line: int, count: int) -> list[str]:
        """The words that the logits are of: the labels of an array of theirs, or a list of as many."""
        labelled = self._above(line, lambda e, a: count in (len(e.columns), len(e.rows)) and count in a.shape)
        if labelled is not None:
            columns, rows = labelled[0].columns, labelled[0].rows
            labels = columns if len(columns) == count and any(map(str.strip, columns)) else rows
            if len(labels) == count:
                return [re.sub(r"[\W_]+", "", label) for label in labels]
        lists = (re.split(r"\s*[,，、]\s*", m["words"] or m["bare"]) for m in _LISTED.finditer(self.page.sheet.text))
        return next((words for words in lists if len(words) == count), [])

    def _target(self, question: Question, count: int) -> int | None:
        """The word that is right: what the question says, else what the last words above it say."""
        first = self.page.lines_of(self.scope)[0]
        vocabulary = self._vocabulary(question.line, count)
        above = self.page.sheet.lines[: question.line]
        for words in (question.text, "\n".join(above[max(first - 1, 0) :]), "\n".join(above)):
            target = said.target_said(words, vocabulary, count)
            if target is not None and 0 <= target < count:
                return target
        return None

    def _shares(self, question: Question) -> Symbol | None:
        """The probabilities that a model gave to the right words, where such a list stands nearest above."""

        lists: set[n.Matrix] = set()

        def are_shares(equation: Equation, array: n.Matrix) -> bool:
            beside = f"{equation.label} {equation.words[-160:]} {' '.join(equation.columns)}"
            cells = [x.value for row in array.rows for x in row if isinstance(x, n.Number)]
            shares = (
                1 in array.shape
                and len(cells) == max(array.shape) > 1
                and all(0 < x <= 1 for x in cells)
                and sum(cells) != 1
            )
            if shares and (said.PROBABLE.search(beside) or said.RIGHT.search(beside)):
                lists.update({array} if equation.scope == self.scope else ())
                return True
            return False

        found = self._above(question.line, are_shares)
        if found is None or said.RIGHT.search(question.text) or len(lists) > 1:  # of several models
            return None
        return self._given(*found, _SHARES)

    # — what is worked out —

    def _add(self, key: str, symbol: Symbol, expr: n.Expr, says: str, spelled: str = "") -> Step | None:
        """A step, once; none where it has no value."""
        if key in self.made and (known := self._item(self.made[key])) is not None:
            return known
        name = free(symbol, self.program)
        step = Step(name, expr, Role.BLOCK, spelled or symbol_plain(name), says=says)
        if name not in known_values((*self.program.givens, *self.program.steps, step)):
            return None
        self.program = replace(self.program, steps=(*self.program.steps, step))
        self.made[key] = name
        return step

    def _tempered(self, question: Question, heat: Fraction) -> Step | None:
        logits = self._logits(question.line)
        if logits is None or heat <= 0:
            return None
        label = str(float(heat)).removesuffix(".0")
        of = n.Name(logits)
        expr = n.Softmax(of if heat == 1 else n.Quotient(of, n.number(heat)))
        return self._add(f"P {heat}", Symbol("P", (), (label,)), expr, f"at temperature {label}", f"P(T = {label})")

    def _entropy(self, question: Question, heat: Fraction) -> Step | None:
        shares = self._tempered(question, heat)
        if shares is None:
            return None
        log = "log2" if said.BITS.search(question.text) else "ln"
        p = n.Name(shares.symbol)
        total = n.Negate(n.Call("sum", (n.Call("hadamard", (p, n.Call(log, (p,)))),)))
        return self._add(f"H {heat} {log}", Symbol("H"), total, f"the entropy of {shares.spelled}")

    def _top(self, question: Question, heat: Fraction) -> Step | None:
        """The softmax over the k largest logits, in their order on the page."""
        logits, text = self._logits(question.line), question.text
        count = said.KEPT.search(text) or said.TOP.search(text)
        k = int(count["count"]) if count is not None and count["count"] else None
        k = k or next(
            (
                int(m["count"])
                for line in reversed(self.page.sheet.lines[: question.line])
                if (m := said.KEPT.search(line))
            ),
            None,
        )
        if logits is None or k is None:
            return None
        value = known_values((*self.program.givens, *self.program.steps))[logits]
        down = value.shape[1] == 1
        cells = [bounds(cell) for row in value.rows for cell in row]
        ranked = sorted(range(len(cells)), key=lambda i: -cells[i][0])
        if not 0 < k < len(cells) or cells[ranked[k - 1]][0] <= cells[ranked[k]][1]:
            return None
        keep = sorted(ranked[:k])
        entries: list[n.Expr] = [
            n.Entry(n.Name(logits), row=i + 1 if down else 1, column=1 if down else i + 1) for i in range(len(cells))
        ]
        if said.ALL_WORDS.search(text) or re.search(rf"\ball (?:{len(cells)}|four|three|five)\b", text):
            listed: list[n.Expr] = [entries[i] if i in keep else n.Infinite(-1) for i in range(len(cells))]
        else:
            listed = [entries[i] for i in keep]
        scores: n.Expr = n.Matrix((tuple(listed),))
        expr = n.Softmax(scores if heat == 1 else n.Quotient(scores, n.number(heat)))
        return self._add(f"top {k} {heat}", Symbol("P", ("top",)), expr, f"of the {k} likeliest words", f"P(top-{k})")

    def _loss(self, question: Question) -> Step | None:
        """−ln of the probability of the word that is right."""
        heats = temperatures_said(question.text)
        if len(heats) > 1:
            return None
        shares = self._tempered(question, heats[0] if heats else Fraction(1))
        count = self._count(shares)
        target = self._target(question, count) if shares is not None else None
        if shares is None or target is None:
            return None
        down = self._values()[shares.symbol].shape[1] == 1
        right = n.Entry(n.Name(shares.symbol), row=target + 1 if down else 1, column=1 if down else target + 1)
        log = "log2" if said.BITS.search(question.text) else "ln"
        says = "−ln of the probability of the word that is right"
        return self._add(f"loss {target} {heats} {log}", Symbol("loss"), n.Negate(n.Call(log, (right,))), says)

    def _count(self, step: Step | None) -> int:
        return max(self._values()[step.symbol].shape) if step is not None else 0

    def _values(self) -> dict[Symbol, Value]:
        return known_values((*self.program.givens, *self.program.steps))

    def _losses(self, question: Question, shares: Symbol | None) -> Iterator[Step | None]:
        if shares is None:
            yield self._loss(question)
            return
        mean = self._mean(question, shares)
        if said.EACH.search(question.text):
            yield self._item(self.made.get("each", _SHARES))
        if said.MEAN.search(question.text) or not said.EACH.search(question.text):
            yield mean

    def _mean(self, question: Question, shares: Symbol) -> Step | None:
        log = "log2" if said.BITS.search(question.text) else "ln"
        each = self._add("each", Symbol("ell"), n.Negate(n.Call(log, (n.Name(shares),))), "−ln of each probability")
        if each is None:
            return None
        return self._add("mean", Symbol("loss"), n.Call("mean", (n.Name(each.symbol),)), "cross-entropy")

    def _perplexity(self, question: Question, shares: Symbol | None) -> Step | None:
        loss = self._mean(question, shares) if shares is not None else self._loss(question)
        if loss is None:
            return None
        bits = any(isinstance(x, n.Call) and x.function == "log2" for s in self.program.steps for x in n.walk(s.expr))
        power: n.Expr = n.Power(n.number(2), n.Name(loss.symbol)) if bits else n.Exp(n.Name(loss.symbol))
        return self._add("PPL", Symbol("PPL"), power, "perplexity")

    def _gradients(self, question: Question) -> Iterator[Step | None]:
        """Of the loss by the logits, P − y where y is 1 for the word that is right, and by what they are made of."""
        found = said.GRADIENT.search(question.text)
        text = question.text[found.start() :] if found is not None else question.text
        shares = self._tempered(question, Fraction(1))
        target = self._target(question, self._count(shares)) if shares is not None else None
        if shares is None or target is None or any(heat != 1 for heat in temperatures_said(question.text)):
            yield None
            return
        count, rows = self._count(shares), self._values()[shares.symbol].shape[0]
        cells = [n.number(int(i == target)) for i in range(count)]
        hot = n.Matrix((tuple(cells),) if rows == 1 else tuple((cell,) for cell in cells))
        slope = self._add(
            "dz", Symbol("dz"), n.Sum((n.Name(shares.symbol), n.Negate(hot))), "of the loss, by the logits: P − y"
        )
        hidden, table = self.made.get("hidden"), self.made.get("table")
        by = [symbol for symbol in (hidden, table) if symbol is not None and _names(text, symbol)]
        if said.LOGIT.search(text) or not by:
            yield slope if said.LOGIT.search(text) or hidden is None else None
        for symbol in by if slope is not None else ():
            yield self._slope_by(symbol, hidden, table)

    def _slope_by(self, symbol: Symbol, hidden: Symbol | None, table: Symbol | None) -> Step | None:
        logits = self.program.item(self.made["logits"])
        if hidden is None or table is None or not isinstance(logits, Step) or not isinstance(logits.expr, n.Product):
            return None
        turned, slope = isinstance(logits.expr.right, n.Transpose), n.Name(self.made["dz"])
        of, state = n.Name(table), logits.expr.left
        if symbol == hidden:
            return self._add(
                "dh", Symbol("dh"), n.Product(slope, of if turned else n.Transpose(of)), "back through the logits"
            )
        row = n.Transpose(state) if not isinstance(state, n.Transpose) else state.arg
        expr = n.Product(n.Transpose(slope), state) if turned else n.Product(row, slope)
        return self._add(f"d{table}", table._replace(base=f"d{table.base}"), expr, "back through the logits")


def _names(text: str, symbol: Symbol) -> bool:
    return re.search(rf"(?<![\w\\]){re.escape(symbol_plain(symbol))}(?!\w)", text) is not None
