"""Counts that are asked of a model whose sizes words say: 'How many bytes does the KV cache of 32 layers need?'

Sizes in the question itself outrank those of the text above it. If a text states two values of a size, neither is
taken: the answer might be about the other model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from qkv.library.model_said import (
    CACHE,
    GATED,
    LEFT_OUT,
    MEMORY,
    ONE_MATRIX,
    PARAMETERS,
    PARTS,
    PER_LAYER,
    PER_TOKEN,
    WEIGHTS,
    WITH_BIASES,
    WITHOUT_BIASES,
    sizes_said,
)
from qkv.reader.model import Question, Sheet

Sizes = Mapping[str, Fraction]
_FACTORS = {"L": "layers", "h_kv": "KV heads", "d_head": "head size", "n": "tokens", "B": "sequences", "bytes": "bytes"}
_UNITS = (("GB", 10**9), ("GiB", 2**30))


@dataclass(frozen=True, slots=True)
class Counted:
    """What a question asks to be counted: a name, the calculation with its words, and the amounts."""

    question: Question
    title: str
    formula: str
    amounts: tuple[tuple[str, Fraction], ...]
    says: str = ""


def counted(sheet: Sheet) -> Iterator[Counted]:
    """The questions of a sheet about the size of a model that its words are enough for."""
    if not (CACHE.search(sheet.text) or PARAMETERS.search(sheet.text)):
        return
    topic = ""
    for question in sheet.questions:
        topic = _topic(question.text) or (topic if list(sizes_said(question.text)) else "")
        made = _COUNTS[topic](question, *_sizes(sheet, question)) if topic else None
        if made is not None:
            yield made


def _topic(text: str) -> str:
    if CACHE.search(text):
        return "cache"
    if MEMORY.search(text) and WEIGHTS.search(text):
        return "memory"
    return "parameters" if PARAMETERS.search(text) else ""


def _sizes(sheet: Sheet, question: Question) -> tuple[Sizes, str]:
    """The sizes that a question has, its own first, and the text that says them."""
    part = sheet.parts[question.part] if question.part < len(sheet.parts) else None
    first, last = (part.line, part.end_line) if part is not None else (1, len(sheet.lines))
    asked = {line for other in sheet.questions for line in range(other.line, other.line + other.text.count("\n") + 1)}
    above = "\n".join(line for i, line in enumerate(sheet.lines, 1) if first <= i <= last and i not in asked)
    return {**_agreed(above), **_agreed(question.text)}, above


def _agreed(text: str) -> dict[str, Fraction]:
    """The sizes for which a text states exactly one number."""
    said: dict[str, set[Fraction]] = {}
    for size, value in sizes_said(text):
        said.setdefault(size, set()).add(value)
    return {size: values.pop() for size, values in said.items() if len(values) == 1}


# — what is counted —


def _cache(question: Question, sizes: Sizes, above: str) -> Counted | None:
    """Keys and values of all layers: 2 · layers · KV heads · head size · tokens · sequences · bytes."""
    own = _agreed(question.text)
    heads = sizes.get("h_kv") if "h_kv" in own or "h" not in own else own["h"]
    size = {**sizes, "h_kv": heads or sizes.get("h", Fraction(0))}
    if "d_head" not in size and {"d", "h"} <= size.keys() and size["h"]:
        size["d_head"] = size["d"] / size["h"]
    if not size["h_kv"] or "d_head" not in size:
        if "d" not in size or heads:
            return None
        size |= {"h_kv": Fraction(1), "d_head": size["d"]}
    whole, one = not PER_LAYER.search(question.text), bool(PER_TOKEN.search(question.text)) or "n" not in size
    wanted = ["L"] * whole + ["h_kv", "d_head"] + ["n"] * (not one)
    if any(name not in size for name in wanted):
        return None
    if not one and "B" in size and size["B"] != 1:
        wanted.append("B")
    says = "" if "bytes" in size else "numbers of 16 bits, 2 bytes each, are assumed"
    size.setdefault("bytes", Fraction(2))
    used = [(_FACTORS[name], size[name]) for name in (*wanted, "bytes")]
    total = Fraction(2)
    for _, value in used:
        total *= value
    formula = "2 · " + " · ".join(f"{_shown(value)} ({name})" for name, value in used)
    title = "KV cache" + (" per token" if one else "") + ("" if whole else " per layer")
    return Counted(question, title, formula, (("bytes", total), *_in_units(total)), says)


def _memory(question: Question, sizes: Sizes, above: str) -> Counted | None:
    """The bytes of all weights: parameters · bytes."""
    if "P" not in sizes or "bytes" not in sizes:
        return None
    total = sizes["P"] * sizes["bytes"]
    formula = f"{_shown(sizes['P'])} (parameters) · {_shown(sizes['bytes'])} (bytes)"
    return Counted(question, "Memory of the weights", formula, (("bytes", total), *_in_units(total)))


def _parameters(question: Question, sizes: Sizes, above: str) -> Counted | None:
    """The parameters of a part of a block, of a block, or of all blocks with the embeddings that are said."""
    found = parts_named(question.text)
    if "d" not in sizes or not found or ONE_MATRIX.search(question.text):
        return None
    if "d_head" in sizes and sizes["d_head"] * sizes.get("h", 1) != sizes["d"]:
        return None  # heads that are not cut from the width
    biased = bool(WITH_BIASES.search(question.text + above)) and not WITHOUT_BIASES.search(question.text)
    gated = bool(GATED.search(question.text + above))
    pieces = dict(_pieces(sizes, biased, gated))
    named = [part for part in found if part != "model"]
    wanted = "model" if "model" in found and ("L" in sizes or not named) else named[0]
    if wanted in ("block", "model") and not {"attention", "feed-forward"} <= pieces.keys():
        return None
    says = "biases are counted" if biased else "biases are not counted"
    if wanted == "model":
        if "L" not in sizes or not _of_layers(question.text):
            return None
        formula, total = pieces["block"]
        amounts = (("parameters", sizes["L"] * total),)
        return Counted(question, "Parameters of all layers", f"{_shown(sizes['L'])} · ({formula})", amounts, says)
    if wanted not in pieces:
        return None
    formula, total = pieces[wanted]
    return Counted(question, f"Parameters ({wanted})", formula, (("parameters", total),), says)


def parts_named(text: str) -> list[str]:
    """The parts of a model that a question names."""
    return [part for part, words in PARTS if words.search(LEFT_OUT.sub("", text))]


def _pieces(sizes: Sizes, biased: bool, gated: bool) -> Iterator[tuple[str, tuple[str, Fraction]]]:
    """The parameters of each part that the sizes are enough for, with how they are counted."""
    d = sizes["d"]
    attention, formula = 4 * d * d, f"4 · {_shown(d)}²"
    if "h_kv" in sizes and sizes.get("h") and sizes["h_kv"] != sizes["h"]:
        narrow = d / sizes["h"] * sizes["h_kv"]
        attention, formula = 2 * d * d + 2 * d * narrow, f"2 · {_shown(d)}² + 2 · {_shown(d)} · {_shown(narrow)}"
        biased = False
    block = attention + 4 * d * biased
    shown = formula + (f" + 4 · {_shown(d)}" if biased else "")
    yield "attention", (shown, block)
    yield "norm", (f"2 · {_shown(d)}", 2 * d)
    if "V" in sizes:
        yield "embedding", (f"{_shown(sizes['V'])} · {_shown(d)}", sizes["V"] * d)
    if "d_ff" in sizes:
        inner, times = sizes["d_ff"], 3 if gated else 2
        fed, said = times * d * inner, f"{times} · {_shown(d)} · {_shown(inner)}"
        if biased and not gated:
            fed, said = fed + inner + d, f"{said} + {_shown(inner)} + {_shown(d)}"
        yield "feed-forward", (said, fed)
        yield "block", (f"{shown} + {said}", block + fed)


def _of_layers(text: str) -> bool:
    """Whether the layers are meant, not the embeddings too."""
    return re.search(r"layers|blocks|schichten|couches|capas|camadas|сло|层", text, re.IGNORECASE) is not None


_COUNTS = {"cache": _cache, "memory": _memory, "parameters": _parameters}


def _in_units(total: Fraction) -> Iterator[tuple[str, Fraction]]:
    yield from ((unit, total / size) for unit, size in _UNITS if total >= size / 10)


def _shown(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else str(float(value))
