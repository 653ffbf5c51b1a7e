"""Theory questions of sheets, answered from the interpretations: counts, sizes, moments, proofs, transport."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from qkv.expr.names import Role
from qkv.interpret.counts import Operations, Size, SizePair
from qkv.reader.model import Sheet
from qkv.regex import regex
from qkv.theory.configured import Counted, counted, parts_named
from qkv.theory.context import Background, Context, background
from qkv.theory.cost import cost
from qkv.theory.masks import MASK_EFFECT, MASK_RULE, mask_of, softmax_axis
from qkv.theory.model import Answer, Value
from qkv.theory.polynomial import SYMBOL, leading, number, plain, substitute
from qkv.theory.questions import QUESTIONS
from qkv.theory.scale import derive
from qkv.theory.sizes import listed
from qkv.theory.tally import shown
from qkv.theory.words import COUNTING, is_about_transport

Build = Callable[[Context], Answer]


def answers(sheet: Sheet) -> tuple[Answer, ...]:
    """Every theory question of a document that is recognised, each topic once a part, and its transport problems."""
    found: list[Answer] = []
    seen: set[tuple[int, str]] = set()
    known: Background | None = None
    configured = list(counted(sheet))
    found += map(_configured, configured)
    lines = {made.line for made in configured}
    for text, line, part, around in _asked(sheet):
        if line in lines:
            continue
        for build in recognised(text, around):
            known = known or background(sheet)
            made = build(known.context(around, part))
            if (part, made.title) not in seen:
                seen.add((part, made.title))
                found.append(replace(made, line=line))
    return (*found, *_layers(sheet, known), *_transports(sheet))


def _configured(made: Counted) -> Answer:
    """The answer to a question about the size of a model, with the calculations that give it."""
    if not made.counts:
        return Answer(made.title, f"Not counted: {made.says}.", line=made.line)
    words = f"{made.asked.name} = {made.asked.formula} = {shown(made.asked.value)}"
    values = tuple(Value(count.name, count.formula, ((str(count.value),),)) for count in made.counts)
    return Answer(made.title, f"{words}; {made.says}." if made.says else f"{words}.", values, line=made.line)


def answer(question: str, around: str = "", context: Context | None = None) -> Answer | None:
    """The answer to one question; `around` is what stands near it.

    >>> answer("What is the computational complexity of scaled dot-product attention?").details[0]
    'S = Q K^T: n_q n_k d_k multiplications and n_q n_k (d_k − 1) additions'
    """
    build = next(recognised(question, around or question), None)
    return None if build is None else build(context or Context())


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


ITEM = regex(r"\s*([-*•]|\(?[a-z0-9]{1,2}[.)])\s")
EXPLAINS = regex(r"\b(explain|derive|show)\b.{0,40}\bcomplexity\b", re.IGNORECASE)


OTHER_PARTS = frozenset({"feed-forward", "norm", "embedding"})
BLOCK = regex(r"\b(blocks?|bloque|bloco|bloc)\b", re.IGNORECASE)


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


# What is answered in words alone, by topic: its title and the answer, in the sheet's own letter for d_k.
TOLD = {
    "divisor": (
        "The divisor",
        "d = {d_k}, the number of components of a query and a key. For components with mean 0 and variance 1 the dot "
        "product q·k has variance {d_k}; divided by √{d_k} it has variance 1 whatever {d_k} is. Without it the scores "
        "grow, softmax saturates (nearly all weight on one key) and its gradient vanishes.",
    ),
    "mean": (
        "Expectation of qᵀk",
        "By linearity E[qᵀk] = Σ_i E[q_i k_i], and q_i and k_i are independent, so each term is μ·μ. "
        "Hence E[qᵀk] = {mean}; σ does not enter.",
    ),
    "variance": (
        "Variance of qᵀk",
        "The products q_i k_i are independent, so their variances add up: "
        "Var(qᵀk) = {d_k} ((σ² + μ²)² − μ⁴) = {variance}. For μ = 0 and σ = 1 it is {d_k}.",
    ),
    "scale": (
        "The scale",
        "Var(qᵀk/s) = Var(qᵀk)/s² = {d_k}/s² for μ = 0 and σ = 1; it is 1 for s² = {d_k}, so s = √{d_k} "
        "(the positive root). The mean is 0 for every s.",
    ),
}


def _told(topic: str, context: Context) -> Answer:
    d_k, derived = context.spelling.get("d_k", "d_k"), derive()
    mean, variance = (moment.replace("D_k", d_k) for moment in (derived.mean, derived.variance))
    title, words = TOLD[topic]
    return Answer(title, words.format(d_k=d_k, mean=mean, variance=variance))


def _named(size: Size, context: Context) -> str:
    """A size in the letters of the sheet."""
    n = SYMBOL["n"]
    return plain(substitute(size, {"n_q": n, "n_k": n}) if context.one_sequence else size, context.spelling)


def _shape(shape: SizePair, context: Context) -> str:
    return " × ".join(_named(size, context) for size in shape)


def _shape_of(role: Role, context: Context) -> str:
    step = cost().step(role)
    assert step is not None
    return _shape(step.shape, context)


def _axis(context: Context) -> Answer:
    words = (
        f"Softmax is applied {'row-wise' if softmax_axis() == 1 else 'column-wise'}: row i of Q Kᵀ holds the scores of "
        "query i against all keys, and its weights must sum to 1. "
        f"The result of the softmax is {_shape_of(Role.SCORES, context)}; "
        f"the attention output is {_shape_of(Role.OUTPUT, context)}."
    )
    return Answer("Axis of the softmax", words)


def _mask(context: Context) -> Answer:
    shape, values = mask_of({k: v for k, v in context.sizes.items() if k in ("n", "n_q", "n_k")})
    words = f"The mask has the shape of the scores, {_shape(shape, context)}. {MASK_RULE}; {MASK_EFFECT}."
    rows = tuple(tuple(cell.replace("−∞", "-inf") for cell in row) for row in values)
    return Answer("The mask", words, (Value("M", "causal mask", rows),))


def _counts(context: Context) -> Answer:
    """Operations in total and by step."""
    counted = cost(context.kind)
    total = _course(counted.total)
    order = leading(counted.total.multiplications)  # the other sorts grow no faster
    words = f"In total: {', '.join(_said(total, context))}. That is O({_named(order, context)})."
    steps = [(step.name, f"{step.name} = {step.formula}", _course(step.counts)) for step in counted.steps]
    details = tuple(f"{formula}: {' and '.join(_said(counts, context))}" for _, formula, counts in steps if counts)
    by_step = [(f"{name}: {sort}", formula, count) for name, formula, counts in steps for sort, count in counts]
    values = _numbers(context, [*((sort, "in total", count) for sort, count in total), *by_step])
    return Answer("Operations", words, values, details)


def _course(operations: Operations) -> list[tuple[str, Size]]:
    """The sorts of operations that courses count: exponentials and comparisons are usually not among them."""
    return [(sort, count) for sort, count in listed(operations) if sort in COURSE]


COURSE = ("multiplications", "additions", "divisions")


def _said(counts: Iterable[tuple[str, Size]], context: Context) -> Iterator[str]:
    return (f"{_named(count, context)} {sort}" for sort, count in counts)


def _numbers(context: Context, sizes: list[tuple[str, str, Size]]) -> tuple[Value, ...]:
    """Values for the sizes that the sheet gives."""
    given: dict[str, Any] = dict(context.sizes)
    if "n" in given:
        given = {"n_q": given["n"], "n_k": given["n"], **given}
    known = ((name, formula, number(substitute(size, given))) for name, formula, size in sizes)
    return tuple(Value(name, formula, ((str(value),),)) for name, formula, value in known if value is not None)


def _sizes(context: Context) -> Answer:
    counted = cost("self")
    lines = []
    for role in (Role.Q, Role.K, Role.V):
        step = counted.step(role)
        assert step is not None
        numbers = [number(substitute(size, dict(context.sizes))) for size in step.shape]
        known = f" = {numbers[0]} × {numbers[1]}" if None not in numbers else ""
        lines.append(f"{step.name} = {step.formula} is {_shape(step.shape, context)}{known}")
    return Answer("Sizes of Q, K and V", f"{'; '.join(lines)}.")


def _proof(key: str, context: Context) -> Answer:
    from qkv.theory.identities import prove

    proof = prove(key)
    steps = tuple(f"{formula} ({because})" for formula, because in proof.identity.steps)
    checked = "it holds" if proof.verdict.holds else "open"
    words = f"{proof.statement}. Checked in symbols, exactly, for small sizes: {checked}."
    return Answer(proof.identity.title, words, details=steps)


def _parameters(context: Context) -> Answer:
    held = cost("multi-head" if context.kind == "multi-head" or "h" in context.sizes else "self").parameters
    words = f"W_Q, W_K, W_V (and W_O) hold {_named(held, context)} numbers, biases not counted."
    return Answer("Parameters", words, _numbers(context, [("parameters", "parameters", held)]))


def _cache(context: Context) -> Answer:
    kept = cost("multi-head").kv_cache
    words = f"Keys and values of all tokens: {_named(kept, context)} numbers a layer."
    return Answer("KV cache", words, _numbers(context, [("KV cache", "keys and values", kept)]))


BUILDERS: dict[str, Build] = {
    "axis": _axis,
    "mask": _mask,
    "counts": _counts,
    "sizes": _sizes,
    "parameters": _parameters,
    "cache": _cache,
    **{topic: partial(_told, topic) for topic in TOLD},
    **{f"{key} proof": partial(_proof, key) for key in ("scores", "values", "tokens", "shift", "causal", "heads")},
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
            yield _layer(sizes, here.line)


def _layer(sizes: Mapping[str, int], line: int) -> Answer:
    counted = cost("multi-head", sizes={name: sizes[name] for name in ("n", "d", "h")})
    scores = counted.step(Role.SCORES)
    assert scores is not None
    heads = sizes["h"]
    per_head = [(name, int(number(size) or 0) // heads) for name, size in listed(scores.counts)]
    amounts = [
        ("parameters", "W_Q, W_K, W_V and W_O", number(counted.parameters)),
        ("score entries", "all heads", number(scores.held)),
        ("score entries of one head", "n × n", int(number(scores.held) or 0) // heads),
        *((f"{sort} for Q Kᵀ", "all heads", number(size)) for sort, size in listed(scores.counts)),
        *((f"{sort} for Q Kᵀ of one head", "one head", value) for sort, value in per_head),
        ("KV cache", "keys and values of all tokens", number(counted.kv_cache)),
        *((sort, "in total", number(size)) for sort, size in _course(counted.total)),
    ]
    values = tuple(Value(name, formula, ((str(value),),)) for name, formula, value in amounts)
    said = ", ".join(f"{name} = {sizes[name]}" for name in ("n", "d", "h"))
    words = f"Multi-head self-attention with {said} and d_k = d_v = {sizes['d'] // heads}."
    return Answer("What this layer costs", words, values, line=line)


def _transports(sheet: Sheet) -> Iterator[Answer]:
    """One answer for each transport problem that a sheet states."""
    if is_about_transport(sheet.text):
        from qkv.theory.transport_sheet import transport_answers  # loaded only where there is something

        yield from transport_answers(sheet)
