"""Counts that are asked of a model that words describe: 'How many bytes does the KV cache of 32 layers need?'

What a question says of the model outranks the page. Where the page does not say enough, the answer tells what is
missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from qkv.library.model_said import (
    ADAM,
    AMOUNT,
    CACHE,
    FULL,
    HOW_MANY,
    LEFT_OUT,
    MEMORY,
    ONE_MATRIX,
    ONLY_WEIGHTS,
    OPERATIONS,
    OUTPUT,
    PARAMETERS,
    PARTS,
    PER_LAYER,
    PER_TOKEN,
    PLAIN_HEADS,
    SAME_AS,
    SCORE_MATRICES,
    SIZE,
    TOGETHER,
    WEIGHTS,
    WITH_NORMS,
    WITHOUT_BIASES,
    WITHOUT_NORMS,
)
from qkv.reader.model import Sheet
from qkv.regex import regex
from qkv.theory import tally
from qkv.theory.described import Model, described, filled, with_question
from qkv.theory.sizes_said import plain_text, sizes_said
from qkv.theory.tally import Count, Lacking


@dataclass(frozen=True, slots=True)
class Counted:
    """What a question asks to be counted: the counts that lead there, the one that is asked for last, and what was
    assumed or is missing."""

    line: int
    title: str
    counts: tuple[Count, ...]
    says: str = ""

    @property
    def asked(self) -> Count:
        """The count that is asked for."""
        return self.counts[-1]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the lines that belong to it."""

    line: int
    label: str
    text: str
    part: int


def counted(sheet: Sheet) -> Iterator[Counted]:
    """What the questions of a sheet want to know of the size of a model, each thing by itself."""
    if not any(words.search(sheet.text) for words in (CACHE, PARAMETERS, SCORE_MATRICES, OPERATIONS)):
        return
    wanted = list(_wants(questions(sheet)))
    asked = [each.text for each, _ in wanted]
    page = without(sheet.text, asked)
    spoken, seen = Model(), set[Count]()
    if not wanted:
        yield from _unasked(sheet)
    for each, topics in wanted:
        told = filled(described(page, without(_section(sheet, each.part), asked)), spoken)
        spoken = filled(described(each.text), spoken)
        for topic, text in topics:
            model = told
            for words in reversed(text.split(_BEFORE)):  # what is said last outranks the question that it goes on from
                model = _model(model, words, topic)
            made = _answer(topic, each.line, text.replace(_BEFORE, "\n"), model)
            asks = HOW_MANY.search(text) or re.search(r"[?？]", text)
            if not made.counts and (not asks or (topic == "cache" and not MEMORY.search(text))):
                continue
            yield replace(made, counts=tuple(c for c in made.counts if c not in seen or c == made.asked))
            seen.update(made.counts)


def _unasked(sheet: Sheet) -> Iterator[Counted]:
    """The keys and values that a worked page without a question counts, by each of its sections that describes a model;
    nothing in them may be assumed."""
    sections = ["\n".join(sheet.lines[part.line - 1 : part.end_line]) for part in sheet.parts]
    found = list(_kept_in(sections, [part.line for part in sheet.parts]))
    yield from found or _kept_in([sheet.text], [1])


_SHAPE = frozenset({"L", "h", "h_kv", "d_head", "d", "bytes"})


def _kept_in(sections: Iterable[str], lines: Iterable[int]) -> Iterator[Counted]:
    for section, line in zip(sections, lines, strict=True):
        model, plain = described(section), plain_text(section)
        if not (CACHE.search(plain) and AMOUNT.search(plain) and model.has("L", "bytes") and not _SHAPE & model.unsure):
            continue
        others = {value for size, value in sizes_said(section) if size == "h_kv"} - {model.sizes.get("h_kv")}
        models = [model, *(replace(model, sizes={**model.sizes, "h_kv": heads}) for heads in sorted(others))]
        try:
            counts = [count for each in models for count in _kept(section, each)]
        except Lacking:
            continue
        begins = next((k for k, text in enumerate(section.split("\n")) if CACHE.search(text)), 0)
        yield Counted(line + begins, _TITLES["cache"], tuple(dict.fromkeys(counts)))


def _kept(text: str, model: Model) -> Iterator[Count]:
    """Keys and values of a token, and of the whole context where it is known."""
    if model.has("n"):
        yield from _with_units(text, tally.cache(model, whole=True))
    yield from _with_units(text, tally.cache(model))


def _wants(asked: Iterable[Asked]) -> Iterator[tuple[Asked, list[tuple[str, str]]]]:
    """Questions with what they want counted, and the words that say so."""
    before: list[tuple[str, str]] = []
    by_label: dict[str, list[tuple[str, str]]] = {}
    for each in asked:
        text = plain_text(each.text)
        same = SAME_AS.search(text)
        if same is not None:  # the same as in 8, but for 6 heads
            earlier = by_label.get(same["label"] or "", before)
            topics = [(topic, f"{text}{_BEFORE}{told}") for topic, told in earlier]
        else:
            topics = _topics(text, before[-1][0] if before else "")
        before = topics or (before if len(text) < _SHORT else [])
        if topics:
            by_label[re.sub(r"\W", "", each.label)] = topics
            yield each, topics


_BEFORE = "\0"  # between a question and the one that it goes on from
_SHORT = 60  # characters of a remark between two questions


def without(text: str, parts: Iterable[str]) -> str:
    """A text without some parts of it, wherever its lines break."""
    for part in parts:
        words = map(re.escape, part.split())
        text = re.sub(r"\s+".join(words), "\n", text, count=1)
    return text


def _answer(topic: str, line: int, text: str, model: Model) -> Counted:
    try:
        counts = tuple(_COUNTS[topic](text, model))
    except Lacking as missing:
        return Counted(line, _TITLES[topic], (), f"{missing}")
    assumed = tuple(dict.fromkeys(each for count in counts for each in count.assumed))
    return Counted(line, _TITLES[topic], counts, f"assumed: {', '.join(assumed)}" if assumed else "")


_TITLES = {
    "parameters": "Parameters", "memory": "Memory of the weights", "training": "Memory for training",
    "cache": "KV cache", "operations": "Operations for a token", "scores": "Memory of the attention matrices",
}  # fmt: skip


# — questions —

_LABEL = regex(r"\s*(?:\\item\s*\[?)?(?:[-*•]\s+)?(?:\*\*)?\(?(?P<label>\d{1,2}|[a-z])[.)][\])]?(?:\*\*)?\s")
# What is no question: a calculation, or a whole sentence that tells nobody to work anything out.
_SAID = regex(
    r"^(?![^a-zа-я]*\S{0,3}\s*(?:compute|calcul|berechne|count|find|give|вычисл|найд))[^?]*\w[*)]*\.\s*$|"
    r"[=≈→]\s*\D?[\d(]|\d\s*(?:[·×*^]|\\cdot|\\times)\s*\d",
    re.IGNORECASE,
)


def questions(sheet: Sheet) -> Iterator[Asked]:
    """The questions of a sheet and its labelled items, each with the lines that go on with it."""
    lines, asked = sheet.lines, {question.line: question for question in sheet.questions}
    done = 0
    for number, line in enumerate(lines, 1):
        label = _LABEL.match(line)
        if number <= done or not (label or number in asked):
            continue
        if label is None:
            for question in sheet.questions:
                if question.line == number:
                    yield Asked(number, question.label, question.text, question.part)
            continue
        done = number
        while (
            done < len(lines) and lines[done].strip() and not _LABEL.match(lines[done]) and not _ENDS.match(lines[done])
        ):
            done += 1
        text = "\n".join(lines[number - 1 : done])
        if re.search(r"[?？]", text) or HOW_MANY.search(text) or SAME_AS.search(text) or not _SAID.search(text):
            part = next((k for k, p in enumerate(sheet.parts) if p.line <= number <= p.end_line), 0)
            yield Asked(number, label["label"], text, part)


_ENDS = regex(r"\s*(?:\\end|#|\||<)")


def _section(sheet: Sheet, part: int) -> str:
    """The section that a question stands in."""
    if part >= len(sheet.parts):
        return ""
    section = sheet.parts[part]
    return "\n".join(sheet.lines[section.line - 1 : section.end_line])


_PIECES = regex(r"(?<=[,;?!，；。？！、])|(?<=\.)(?=\s|$)|\b(?=(?:and|und|et|y|e|и) the\b)")


def _topics(text: str, before: str) -> list[tuple[str, str]]:
    """What a question wants counted, each with its words; without a word for it, what the question before wanted."""
    found: list[tuple[str, str]] = []
    for piece in _PIECES.split(text):
        topic = _topic(piece, text, before)
        if topic and topic not in dict(found):
            found.append((topic, piece))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + piece)
    if len(found) > 1 and not re.match(
        r"[^,;.?!]*(?:compute|calcul|berechne|вычисл|计算|how many)", text, re.IGNORECASE
    ):
        found = [each for each in found if each[0] != "parameters"] or found  # 2 FLOPs per weight
    return [(found[0][0], text)] if len(found) == 1 else found


def _topic(piece: str, text: str, last: str) -> str:
    if CACHE.search(piece) and (HOW_MANY.search(text) or MEMORY.search(text) or SIZE.search(text)):
        return "cache"
    if OPERATIONS.search(piece):
        return "operations" if ONLY_WEIGHTS.search(text) else ""
    if SCORE_MATRICES.search(piece) and MEMORY.search(text):
        return "scores"
    if MEMORY.search(piece):
        if ADAM.search(piece):
            return "training"
        if WEIGHTS.search(piece):
            return "memory"
        return "cache" if last == "cache" and re.search(r"byte|octet|байт|字节|[KMG]i?B\b", piece) else ""
    if PARAMETERS.search(piece) and not re.search(r"no param", piece):
        return "parameters"
    asks = HOW_MANY.search(piece) or re.search(r"[?？]\s*$", text)
    return "parameters" if last == "parameters" and asks and parts_named(piece) else ""


def _model(model: Model, text: str, topic: str) -> Model:
    """The model that a question is about."""
    made = with_question(model, text)
    own = with_question(Model(), text)
    if topic == "operations":  # what is left out of operations is there all the same
        made = replace(made, biased=model.biased, norms=model.norms)
    if WITHOUT_BIASES.search(text):
        made = replace(made, biased={"attention": False, "feed-forward": False})
    if WITHOUT_NORMS.search(text):
        made = replace(made, norms=0)
    if own.has("h_kv"):
        return made
    if PLAIN_HEADS.search(text) and made.has("h"):
        return replace(made, sizes={**made.sizes, "h_kv": made["h"]})
    if topic == "cache" and own.has("h"):
        return replace(made, sizes={**made.sizes, "h_kv": own["h"]})
    return made


# — what they want —


def parts_named(text: str) -> list[str]:
    """The parts of a model that a question names."""
    return [part for part, words in PARTS if words.search(LEFT_OUT.sub("", text))]


def _wanted(text: str) -> list[str]:
    """The parts that a question wants counted."""
    found = parts_named(text)
    if "model" in found:
        return ["model"]
    inner = [part for part in found if part in ("attention", "feed-forward")]
    if "layer" in found and "norm" in found and not inner and WITH_NORMS.search(text):
        return ["layer"]
    if "layers" in found:
        return [part for part in found if part in ("embedding", "positions")] + ["layers"]
    some = [part for part in found if part not in ("layer", "layers", "norm" if inner else "")]
    return some or (["layer"] if "layer" in found else [])


def _parameters(text: str, model: Model) -> Iterator[Count]:
    if ONE_MATRIX.search(text):
        raise Lacking("a single matrix is asked for, and only whole parts are counted here")
    wanted = _wanted(text) or ["model"]
    found = [list(_part(part, model)) for part in wanted]
    yield from (count for counts in found for count in counts)
    if len(wanted) > 1 and TOGETHER.search(text):
        yield tally.together([counts[-1] for counts in found])


def _part(part: str, model: Model) -> Iterator[Count]:
    match part:
        case "model":
            yield from tally.of_model(model)
        case "layers":
            layer = list(tally.of_layer(model))
            yield from layer
            yield tally.all_layers(model, layer[-1])
        case "layer":
            yield from tally.of_layer(model)
        case _:
            yield _SINGLE[part](model)


_SINGLE = {
    "attention": tally.attention, "feed-forward": tally.feed_forward, "norm": tally.norms, "final norm": tally.norm,
    "embedding": tally.embedding, "positions": tally.positions,
}  # fmt: skip


def _stated(text: str, model: Model) -> Iterator[Count]:
    """The parameters whose bytes are asked for: those that are stated, or those of the parts that are named."""
    own = "P" in with_question(Model(), text).sizes
    if model.has("P") and (own or not model.has("V", "d", "L")):
        yield Count("weights", tally.shown(model["P"]), model["P"])
        return
    yield from _parameters_of(text, model)


def _parameters_of(text: str, model: Model) -> Iterator[Count]:
    wanted = [part for part in _wanted(text) if part in ("layer", "layers", "attention", "feed-forward", "embedding")]
    yield from (count for part in wanted[:1] or ["model"] for count in _part(part, model))


def _memory(text: str, model: Model) -> Iterator[Count]:
    *steps, last = _stated(text, model)
    yield from (*steps, last) if steps else ()
    yield from _with_units(text, tally.memory(model, last))


def _training(text: str, model: Model) -> Iterator[Count]:
    counts = list(_stated(text, model))
    yield counts[-1]
    yield from _with_units(text, tally.training(model, counts[-1]))


def _cache(text: str, model: Model) -> Iterator[Count]:
    one_layer = bool(PER_LAYER.search(text))
    whole = bool(FULL.search(text)) and (model.has("n") or not PER_TOKEN.search(text))
    if PER_TOKEN.search(text) or not whole:
        yield from _with_units(text, tally.cache(model, one_layer=one_layer))
    if whole:
        yield from _with_units(text, tally.cache(model, whole=True, one_layer=one_layer))


def _operations(text: str, model: Model) -> Iterator[Count]:
    one = PER_LAYER.search(text)
    only = re.search(r"only the layers|layers only|nur (?:die )?schichten", text)
    output = OUTPUT.search(text) or not only
    yield from tally.operations(model, layers="one" if one else "all", output=bool(output and not one))


def _scores(text: str, model: Model) -> Iterator[Count]:
    for one_layer in (True, False):
        if one_layer or model.has("L"):
            yield from _with_units(text, tally.score_matrices(model, one_layer=one_layer))


def _with_units(text: str, count: Count) -> Iterator[Count]:
    """A number of bytes, in the units that a question wants first and as it is last."""
    yield from tally.in_units(count, text)
    yield count


_COUNTS = {
    "parameters": _parameters, "memory": _memory, "training": _training, "cache": _cache, "operations": _operations,
    "scores": _scores,
}  # fmt: skip
