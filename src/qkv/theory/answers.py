"""Theory questions of sheets, answered from the interpretations: counts, sizes, moments, proofs, transport."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from qkv.expr.names import Role
from qkv.reader.model import Sheet
from qkv.theory.configured import Counted, counted, parts_named
from qkv.theory.context import Background, Context, background
from qkv.theory.cost import cost
from qkv.theory.masks import MASK_EFFECT, MASK_RULE, mask_of, softmax_axis
from qkv.theory.polynomial import SYMBOL, leading, number, plain, substitute
from qkv.theory.polynomial import latex as size_latex
from qkv.theory.questions import QUESTIONS
from qkv.theory.scale import derive
from qkv.theory.sizes import listed
from qkv.theory.words import ABOUT_TRANSPORT, COUNTING


@dataclass(frozen=True, slots=True)
class Value:
    """A value that can be checked by a program: rows of numbers, as text."""

    name: str
    formula: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a theory question, in words, formulas (plain and LaTeX) and values."""

    question: str
    line: int
    part: int
    title: str
    words: str
    formulas: tuple[tuple[str, str], ...] = ()
    values: tuple[Value, ...] = ()
    interpretation: str = ""  # where it was read off
    details: tuple[str, ...] = ()  # the steps that lead to it, a line each


Build = Callable[[Context], Answer]


def answers(sheet: Sheet, sizes: Mapping[str, int] | None = None) -> tuple[Answer, ...]:
    """Every theory question of a document that is recognised, each topic once a part, and its transport problems."""
    found: list[Answer] = []
    seen: set[tuple[int, str]] = set()
    known: Background | None = None
    configured = {made.question.line: made for made in counted(sheet)}
    for text, line, part, around in _asked(sheet):
        if line in configured:
            found.append(_configured(configured.pop(line)))
            continue
        for build in recognised(text, around):
            known = known or background(sheet, sizes)
            made = build(known.context(around, part))
            if (part, made.title) not in seen:
                seen.add((part, made.title))
                found.append(replace(made, question=text, line=line, part=part))
    return (*found, *_layers(sheet, known), *_transports(sheet))


def _configured(made: Counted) -> Answer:
    """The answer to a question about the size of a model, with the calculation that gives it."""
    name, total = made.amounts[0]
    says = f" ({made.says})" if made.says else ""
    words = f"{made.formula} = {total} {name}{says}."
    values = tuple(_amount(made, unit, value) for unit, value in made.amounts)
    asked = made.question
    return Answer(asked.text, asked.line, asked.part, made.title, words, (), values, "sizes in words")


def _amount(made: Counted, unit: str, value: Fraction) -> Value:
    """One amount with its calculation: 2 · 32 · 128 bytes, and (2 · 32 · 128) / 2^30 GiB."""
    share = made.amounts[0][1] / value
    formula = made.formula if share == 1 else f"({made.formula}) / {POWERS.get(share, share)}"
    return Value(made.title if unit == "parameters" else f"{made.title} in {unit}", formula, ((str(value),),))


POWERS = {Fraction(10**9): "10^9", Fraction(2**30): "2^30"}


def answer(question: str, around: str = "", context: Context | None = None) -> Answer | None:
    """The answer to one question; `around` is what stands near it.

    >>> print(answer("What is the computational complexity of scaled dot-product attention?").formulas[0][0])
    multiplications: n_q n_k (d_k + d_v)
    """
    build = next(recognised(question, around or question), None)
    return None if build is None else replace(build(context or Context()), question=question)


def _asked(sheet: Sheet) -> Iterator[tuple[str, int, int, str]]:
    """Questions with the text around them, then sentences that announce an explanation."""
    lines = sheet.lines
    for question in sheet.questions:
        around = _item(lines, question.line)
        yield question.text, question.line, question.part, around
    for number_, line in enumerate(lines, 1):
        if EXPLAINS.search(line):
            part = next((k for k, p in enumerate(sheet.parts) if p.line <= number_ <= p.end_line), 0)
            yield line.strip(), number_, part, " ".join(lines[max(0, number_ - 4) : number_ + 16])


def _item(lines: list[str], line: int) -> str:
    """The paragraph or list item that a line belongs to."""
    start = line - 1
    while start > 0 and lines[start].strip() and not ITEM.match(lines[start]):
        start -= 1
    end = line
    while end < len(lines) and lines[end].strip() and not ITEM.match(lines[end]):
        end += 1
    return " ".join(lines[start:end])


ITEM = re.compile(r"\s*([-*•]|\(?[a-z0-9]{1,2}[.)])\s")
EXPLAINS = re.compile(r"\b(explain|derive|show)\b.{0,40}\bcomplexity\b", re.IGNORECASE)


OTHER_PARTS = frozenset({"feed-forward", "norm", "embedding"})
BLOCK = re.compile(r"\b(blocks?|bloque|bloco|bloc)\b", re.IGNORECASE)


def recognised(question: str, around: str) -> Iterator[Build]:
    """What a question asks for, each topic once."""
    topics = [
        topic for topic, asks, needs in QUESTIONS if asks.search(question) and needs.search(f"{around} {question}")
    ]
    if OTHER_PARTS.intersection(parts_named(question)) or BLOCK.search(question):  # the general count is of attention
        topics = [topic for topic in topics if topic != "parameters"]
    if "mask" in topics:  # its shape and values are meant, not those of Q, K and V
        topics = [topic for topic in topics if topic not in ("sizes", "axis")]
    if "scale" in topics:
        topics = ["scale"]
    for topic in dict.fromkeys(topics):
        yield BUILDERS[topic]


def _named(size: Any, context: Context) -> str:
    return plain(_in_letters(size, context), context.spelling)


def _in_letters(size: Any, context: Context) -> Any:
    n = SYMBOL["n"]
    return substitute(size, {"n_q": n, "n_k": n}) if context.one_sequence else size


def _shape(shape: tuple[Any, Any], context: Context) -> str:
    return " × ".join(_named(size, context) for size in shape)


def _formula(name: str, size: Any, context: Context) -> tuple[str, str]:
    letters = _in_letters(size, context)
    return f"{name}: {plain(letters, context.spelling)}", size_latex(letters, context.spelling)


def _axis(context: Context) -> Answer:
    scores, output = (cost().step(role) for role in (Role.SCORES, Role.OUTPUT))
    assert scores is not None
    assert output is not None
    rows = softmax_axis() == 1
    words = (
        f"Softmax is applied {'row-wise' if rows else 'column-wise'}: row i of Q Kᵀ holds the scores of query i "
        "against all keys, and its weights must sum to 1. "
        f"The result of the softmax is {_shape(scores.shape, context)}; "
        f"the attention output is {_shape(output.shape, context)}."
    )
    return Answer("", 0, 0, "Axis of the softmax", words, interpretation="program and shapes")


def _mask(context: Context) -> Answer:
    shape, values = mask_of({k: v for k, v in context.sizes.items() if k in ("n", "n_q", "n_k")})
    words = f"The mask has the shape of the scores, {_shape(shape, context)}. {MASK_RULE}; {MASK_EFFECT}."
    formula = ("M_ij = 0 if j ≤ i, −∞ if j > i", r"M_{ij} = 0 \text{ if } j \le i,\ -\infty \text{ if } j > i")
    rows = tuple(tuple(cell.replace("−∞", "-inf") for cell in row) for row in values)
    return Answer("", 0, 0, "The mask", words, (formula,), (Value("M", "causal mask", rows),), "shapes")


def _divisor(context: Context) -> Answer:
    d_k = context.spelling.get("d_k", "d_k")
    words = (
        f"d = {d_k}, the number of components of a query and a key. For components with mean 0 and variance 1 the dot "
        f"product q·k has variance {d_k}; divided by √{d_k} it has variance 1 whatever {d_k} is. Without it the scores "
        "grow, softmax saturates (nearly all weight on one key) and its gradient vanishes."
    )
    formula = (f"Var(qᵀk) = {d_k}, Var(qᵀk/√{d_k}) = 1", rf"\mathrm{{Var}}(q^\top k/\sqrt{{{d_k}}}) = 1")
    return Answer("", 0, 0, "The divisor", words, (formula,), interpretation="means and variances")


def _counts(context: Context) -> Answer:
    counted = cost(context.kind)
    steps = []
    for step in counted.steps:
        counts = [(sort, count) for sort, count in listed(step.counts) if sort in COURSE]
        if counts:
            said = " and ".join(f"{_named(count, context)} {sort}" for sort, count in counts)
            steps.append(f"{step.name} = {step.formula}: {said}")
    total = [(sort, count) for sort, count in listed(counted.total) if sort in COURSE]
    order = leading(counted.total.multiplications)  # the other sorts grow no faster
    words = (
        f"In total: {', '.join(f'{_named(count, context)} {sort}' for sort, count in total)}. "
        f"That is O({_named(order, context)})."
    )
    formulas = (*(_formula(sort, count, context) for sort, count in total), _formula("order", order, context))
    by_step = [
        (f"{step.name}: {sort}", f"{step.name} = {step.formula}", count)
        for step in counted.steps
        for sort, count in listed(step.counts)
        if sort in COURSE
    ]
    values = _numbers(context, [*((sort, "in total", count) for sort, count in total), *by_step])
    return Answer("", 0, 0, "Operations", words, formulas, values, "operation counts", tuple(steps))


COURSE = ("multiplications", "additions", "divisions")  # exponentials and comparisons are usually not counted


def _numbers(context: Context, sizes: list[tuple[str, str, Any]]) -> tuple[Value, ...]:
    """Values for the sizes that the sheet gives."""
    given: dict[str, Any] = dict(context.sizes)
    if "n" in given:
        given.setdefault("n_q", given["n"])
        given.setdefault("n_k", given["n"])
    found = []
    for name, formula, size in sizes:
        value = number(substitute(size, given))
        if value is not None:
            found.append(Value(name, formula, ((str(value),),)))
    return tuple(found)


def _mean(context: Context) -> Answer:
    d_k = context.spelling.get("d_k", "d_k")
    words = (
        "By linearity E[qᵀk] = Σ_i E[q_i k_i], and q_i and k_i are independent, so each term is μ·μ. "
        f"Hence E[qᵀk] = {derive().mean.replace('D_k', d_k)}; σ does not enter."
    )
    formula = (f"E[qᵀk] = {d_k} μ²", rf"\mathbb{{E}}[q^\top k] = {d_k}\mu^2")
    return Answer("", 0, 0, "Expectation of qᵀk", words, (formula,), interpretation="means and variances")


def _variance(context: Context) -> Answer:
    d_k = context.spelling.get("d_k", "d_k")
    general = derive().variance.replace("D_k", d_k)
    special = f" For μ = 0 and σ = 1 it is {d_k}."
    words = (
        "The products q_i k_i are independent, so their variances add up: "
        f"Var(qᵀk) = {d_k} ((σ² + μ²)² − μ⁴) = {general}.{special}"
    )
    formulas = (
        (f"Var(qᵀk) = {general}", rf"\mathrm{{Var}}(q^\top k) = {d_k}(\sigma^4 + 2\mu^2\sigma^2)"),
        (f"for μ = 0, σ = 1: Var(qᵀk) = {d_k}", rf"\mathrm{{Var}}(q^\top k) = {d_k}"),
    )
    return Answer("", 0, 0, "Variance of qᵀk", words, formulas, interpretation="means and variances")


def _scale(context: Context) -> Answer:
    d_k = context.spelling.get("d_k", "d_k")
    words = (
        f"Var(qᵀk/s) = Var(qᵀk)/s² = {d_k}/s² for μ = 0 and σ = 1; it is 1 for s² = {d_k}, so s = √{d_k} "
        "(the positive root). The mean is 0 for every s."
    )
    formula = (f"s = √{d_k}", rf"s = \sqrt{{{d_k}}}")
    return Answer("", 0, 0, "The scale", words, (formula,), interpretation="means and variances")


def _sizes(context: Context) -> Answer:
    counted = cost("self")
    lines = []
    for role in (Role.Q, Role.K, Role.V):
        step = counted.step(role)
        assert step is not None
        numbers = [number(substitute(size, dict(context.sizes))) for size in step.shape]
        known = f" = {numbers[0]} × {numbers[1]}" if None not in numbers else ""
        lines.append((step.name, step.formula, _shape(step.shape, context) + known))
    words = "; ".join(f"{name} = {formula} is {shape}" for name, formula, shape in lines) + "."
    formulas = tuple((f"{name} = {formula}: {shape}", rf"{name} = {formula}") for name, formula, shape in lines)
    return Answer("", 0, 0, "Sizes of Q, K and V", words, formulas, interpretation="shapes")


def _proof(key: str) -> Build:
    def build(context: Context) -> Answer:
        from qkv.theory.identities import prove

        proof = prove(key)
        steps = tuple(f"{formula} ({because})" for formula, because in proof.identity.steps)
        checked = "it holds" if proof.verdict.holds else "open"
        words = f"{proof.statement}. Checked in symbols, exactly, for small sizes: {checked}."
        formula = (proof.statement, proof.identity.latex)
        return Answer("", 0, 0, proof.identity.title, words, (formula,), (), "symbols", steps)

    return build


def _parameters(context: Context) -> Answer:
    counted = cost("multi-head" if context.kind == "multi-head" or "h" in context.sizes else "self")
    words = f"W_Q, W_K, W_V (and W_O) hold {_named(counted.parameters, context)} numbers, biases not counted."
    values = _numbers(context, [("parameters", "parameters", counted.parameters)])
    return Answer(
        "", 0, 0, "Parameters", words, (_formula("parameters", counted.parameters, context),), values, "shapes"
    )


def _cache(context: Context) -> Answer:
    counted = cost("multi-head")
    words = f"Keys and values of all tokens: {_named(counted.kv_cache, context)} numbers a layer."
    values = _numbers(context, [("KV cache", "keys and values", counted.kv_cache)])
    return Answer("", 0, 0, "KV cache", words, (_formula("KV cache", counted.kv_cache, context),), values, "shapes")


BUILDERS: dict[str, Build] = {
    "axis": _axis,
    "mask": _mask,
    "divisor": _divisor,
    "counts": _counts,
    "mean": _mean,
    "variance": _variance,
    "scale": _scale,
    "sizes": _sizes,
    "parameters": _parameters,
    "cache": _cache,
    **{f"{key} proof": _proof(key) for key in ("scores", "values", "tokens", "shift", "causal", "heads")},
}


def _layers(sheet: Sheet, known: Background | None) -> Iterator[Answer]:
    """What a layer costs whose sizes a part states, where it speaks of counting."""
    if not COUNTING.search(sheet.text):
        return
    lines = sheet.lines
    for part, sizes in (known or background(sheet)).stated.items():
        here = sheet.parts[part]
        if not {"n", "d", "h"} <= set(sizes) or sizes["d"] % sizes["h"]:
            continue
        if COUNTING.search(" ".join(lines[here.line - 1 : here.end_line])):
            yield _layer(Context(sizes=sizes, kind="multi-head"), here.line, part)


def _layer(context: Context, line: int, part: int) -> Answer:
    counted = cost("multi-head", sizes={name: context.sizes[name] for name in ("n", "d", "h")})
    scores = counted.step(Role.SCORES)
    assert scores is not None
    heads = context.sizes["h"]
    per_head = [(name, int(number(size) or 0) // heads) for name, size in listed(scores.counts)]
    amounts = [
        ("parameters", "W_Q, W_K, W_V and W_O", number(counted.parameters)),
        ("score entries", "all heads", number(scores.held)),
        ("score entries of one head", "n × n", int(number(scores.held) or 0) // heads),
        *((f"{sort} for Q Kᵀ", "all heads", number(size)) for sort, size in listed(scores.counts)),
        *((f"{sort} for Q Kᵀ of one head", "one head", value) for sort, value in per_head),
        ("KV cache", "keys and values of all tokens", number(counted.kv_cache)),
        *((sort, "in total", number(size)) for sort, size in listed(counted.total) if sort in COURSE),
    ]
    values = tuple(Value(name, formula, ((str(value),),)) for name, formula, value in amounts)
    said = ", ".join(f"{name} = {context.sizes[name]}" for name in ("n", "d", "h"))
    words = f"Multi-head self-attention with {said} and d_k = d_v = {context.sizes['d'] // heads}."
    return Answer("", line, part, "What this layer costs", words, (), values, "operation counts")


def _transports(sheet: Sheet) -> Iterator[Answer]:
    """One answer for each transport problem that a sheet states."""
    if not ABOUT_TRANSPORT.search(sheet.text):
        return
    from qkv.theory.transport_sheet import solved_problems  # loaded only where there is something

    for problem, words, formulas, values in solved_problems(sheet):
        rows = tuple(Value(*value) for value in values)
        yield Answer("", problem.line, problem.part, "Transport", words, formulas, rows, "transport")
