"""What a model costs, by sliders: parameters, operations, KV cache, and where attention overtakes the projections.

Every number is a polynomial of `qkv.theory.cost` at the sizes chosen; here they are only drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape

from qkv.errors import ValueRefused
from qkv.interpret.counts import Size
from qkv.page.answer import Answer
from qkv.page.controls import select
from qkv.page.frame import framed
from qkv.page.plot import Axis, Curve, Rule, Share, bar, plot, powers, short
from qkv.render.mathml import shown as math
from qkv.theory.cost import Cost, cost, crossing
from qkv.theory.polynomial import SUPERSCRIPTS, latex, number, substitute
from qkv.theory.sizes import Convention, all_together

POINTS = 48  # of a curve


@dataclass(frozen=True, slots=True)
class Slider:
    """A size: what it is, where it starts, and the values that a slider has for it."""

    says: str
    start: int
    values: tuple[int, ...]


def _doubling(low: int, high: int) -> tuple[int, ...]:
    """Powers of two, and half way between them: 16, 24, 32, 48 …"""
    found = [low * 2**k * half // 2 for k in range(20) for half in (2, 3)]
    return tuple(value for value in found if value <= high)


HEADS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 25, 32, 40, 48, 64, 96, 128)
SLIDERS = {
    "n": Slider("tokens n", 1024, _doubling(16, 1048576)),
    "layers": Slider("layers L", 12, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 36, 48, 64, 80, 96, 128)),
    "d": Slider("width d", 768, _doubling(64, 16384)),
    "h": Slider("heads h", 12, HEADS),
    "kv_heads": Slider("heads of keys and values g", 12, HEADS),
    "d_ff": Slider("feed-forward width", 3072, _doubling(64, 65536)),
    "words": Slider("words V", 50257, (1000, 2000, 5000, 10000, 20000, 32000, 50257, 64000, 100000, 128000, 256000)),
}
MODELS = {
    "GPT-2": {"n": 1024, "layers": 12, "d": 768, "h": 12, "words": 50257},
    "GPT-2 medium": {"n": 1024, "layers": 24, "d": 1024, "h": 16, "words": 50257},
    "GPT-2 XL": {"n": 1024, "layers": 48, "d": 1600, "h": 25, "words": 50257},
    "GPT-3": {"n": 2048, "layers": 96, "d": 12288, "h": 96, "words": 50257},
    "a toy": {"n": 64, "layers": 2, "d": 64, "h": 4, "words": 1000},
}
BYTES = {"1": "1 byte", "2": "2 bytes", "4": "4 bytes"}
LARGEST = 10**7


def whole(form: Mapping[str, str]) -> Answer:
    """The view as it opens, with the costs of the usual sizes."""
    sliders = "".join(_slider(name, slider) for name, slider in SLIDERS.items())
    models = "".join(f'<a class="button" href="#{escape(_link(sizes))}">{name}</a>' for name, sizes in MODELS.items())
    body = (
        '<div class="costs"><form id="costs" hx-post="costs" hx-trigger="input delay:60ms, judge" hx-target="#counted" '
        f'hx-sync="this:replace"><div class="tools">{models}</div>{sliders}'
        f'<div class="tools">{select("a number takes", "bytes", BYTES, "2")}'
        '<label><input type="checkbox" name="biases" value="yes" checked> biases and scales of norms</label></div>'
        "</form>"
        f'<div id="counted" aria-live="polite">{_counted({"biases": "yes", **form})}</div></div>'
    )
    return Answer(framed("costs.html", body, "costs.js"))


def _link(sizes: Mapping[str, int]) -> str:
    """The rest follows: as many keys and values as heads, and a feed-forward layer of four widths."""
    known = {**sizes, "kv_heads": sizes["h"], "d_ff": 4 * sizes["d"]}
    return "&".join(f"{name}={known[name]}" for name in SLIDERS)


def _slider(name: str, slider: Slider) -> str:
    at = min(range(len(slider.values)), key=lambda k: abs(slider.values[k] - slider.start))
    values = " ".join(map(str, slider.values))
    return (
        f'<div class="slider"><label for="size-{name}">{escape(slider.says)}</label>'
        f'<input type="range" min="0" max="{len(slider.values) - 1}" value="{at}" data-of="{name}" '
        f'data-values="{values}" aria-label="{escape(slider.says)}">'
        f'<input type="number" id="size-{name}" name="{name}" value="{slider.start}" min="1" max="{LARGEST}"></div>'
    )


# — counted —


def sizes_of(form: Mapping[str, str]) -> dict[str, int]:
    """The sizes of a form."""
    found = {}
    for name, slider in SLIDERS.items():
        text = form.get(name, str(slider.start)).strip()
        if not text.isdecimal() or not 1 <= int(text[:9]) <= LARGEST:
            raise ValueRefused(f"{slider.says}: a whole number from 1 to {LARGEST:,}")
        found[name] = int(text)
    if found["h"] % found["kv_heads"]:
        raise ValueRefused(f"{found['h']} heads cannot share {found['kv_heads']} keys and values evenly")
    return found


def counted(form: Mapping[str, str]) -> Answer:
    """What the sizes of a form cost."""
    return Answer(_counted(form))


def _counted(form: Mapping[str, str]) -> str:
    """Figures, plots and formulas."""
    sizes = sizes_of(form)
    width = int(form.get("bytes", "2")) if form.get("bytes", "2") in BYTES else 2
    kind = "model-with-biases" if form.get("biases") else "model"
    growth = _growth(cost(kind, sizes=_without(sizes, "n")), sizes)
    return (
        f"{_figures(kind, sizes, width)}<h2>Where attention overtakes</h2>{growth}"
        f'<div class="sides"><section><h2>KV cache</h2>{_cache(kind, sizes, width)}</section>'
        f"<section><h2>Parameters</h2>{_parameters(kind, sizes)}</section></div><h2>In symbols</h2>{_formulas(kind)}"
    )


def at(size: Size, tokens: float) -> int:
    """A polynomial in n at a number of tokens."""
    value = number(substitute(size, {"n": round(tokens)}))
    assert value is not None  # all other sizes are given
    return value


def _figures(kind: str, sizes: Mapping[str, int], width: int) -> str:
    """The numbers that people ask for first."""
    known = cost(kind, convention=Convention.FLOPS, sizes=sizes)
    operations, tokens = at(all_together(known.total), 0), f"{sizes['n']:,} tokens"
    tiled = f"{short(at(known.tiled, 0) * width)}B with scores in tiles"
    shown = (
        ("parameters", at(known.parameters, 0), "", "without a table of positions"),
        ("operations", operations, "", f"for {tokens}, forwards; {short(operations / sizes['n'])} a token"),
        ("KV cache", at(known.kv_cache, 0) * width, "B", f"for {tokens}, all layers"),
        ("every matrix kept", at(known.stored, 0) * width, "B", tiled),
    )
    items = "".join(
        f'<div><dt>{escape(name)}</dt><dd title="{count:,} {unit}">{short(count)}{unit}</dd>'
        f'<dd class="soft">{escape(more)}</dd></div>'
        for name, count, unit, more in shown
    )
    return f'<dl class="figures">{items}</dl>'


def _growth(growing: Cost, sizes: Mapping[str, int]) -> str:
    """Multiplications against tokens; where projections and attention meet is marked, and what was chosen."""
    tokens, meeting = sizes["n"], crossing(growing)
    meets = float(meeting.tokens) if meeting and meeting.tokens else 1.0
    low, high = max(1.0, min(meets / 32, tokens / 2)), max(16 * meets, 2.0 * tokens)
    places = sorted({round(low * (high / low) ** (k / POINTS)) for k in range(POINTS + 1)})
    parts = (
        ("scores and weighted sums (∝ n²)", "warm", growing.attention.multiplications),
        ("projections (∝ n)", "cool", growing.projections.multiplications),
        ("feed-forward and the rest (∝ n)", "calm", growing.around.multiplications),
    )
    curves = [
        Curve(says, tone, [(n, max(at(size, n), 1)) for n in places], (tokens, max(at(size, tokens), 1)))
        for says, tone, size in parts
    ]
    across = Axis("tokens n", places[0], places[-1], tuple((x, f"{x:,.0f}") for x, _ in powers(low, high, 6, 2)))
    rules = [Rule(meets, f"equal at n = {meets:,.0f}"), Rule(tokens, f"n = {tokens:,}", "chosen")]
    share = at(parts[0][2], tokens) / sum(at(size, tokens) for _, _, size in parts)
    drawn = plot("Multiplications by number of tokens", across, _counting("multiplications", curves), curves, rules)
    why = " = 2d" if meets == 2 * sizes["d"] else ""
    return (
        "<p>Projections grow with n, scores and weighted sums with n². They meet at "
        f"n{why} = <b>{meets:,.0f}</b> tokens; at n = {tokens:,}, scores and weighted sums are {share:.1%} of all "
        f"multiplications.</p>{drawn}"
    )


def _counting(label: str, curves: list[Curve]) -> Axis:
    """An axis for counts, by powers of ten."""
    seen = [y for curve in curves for _, y in curve.points]
    low, high = min(seen), max(seen)
    ticks = tuple((x, "10" + str(k).translate(SUPERSCRIPTS)) for x, k in powers(low, high, 7))
    return Axis(label, low, high * 1.5, ticks)


def _cache(kind: str, sizes: Mapping[str, int], width: int) -> str:
    """Bytes against tokens: keys and values for each head, as chosen, and the same for all heads."""
    tokens, chosen = sizes["n"], sizes["kv_heads"]
    low, high = min(128, tokens), max(4 * tokens, 131072)
    curves = []
    for groups, tone in {sizes["h"]: "cool", 1: "calm", chosen: "warm"}.items():
        known = cost(kind, sizes={**_without(sizes, "n"), "kv_heads": groups}).kv_cache * width
        says = f"g = {groups}" + (" (as chosen)" if groups == chosen else "")
        mark = (tokens, at(known, tokens)) if groups == chosen else None
        curves.append(Curve(says, tone, [(n, at(known, n)) for n in (low, high)], mark))
    across = Axis("tokens n", low, high, tuple((x, f"{x:,.0f}") for x, _ in powers(low, high, 4, 2)))
    up = _counting("bytes", curves)
    up = replace(up, ticks=tuple((x, f"{short(x)}B") for x, _ in up.ticks))
    rule = Rule(tokens, f"n = {tokens:,}", "chosen")
    return plot("Bytes of the KV cache by number of tokens", across, up, curves, [rule])


def _without(sizes: Mapping[str, int], *names: str) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if name not in names}


def _parameters(kind: str, sizes: Mapping[str, int]) -> str:
    """The parameters by part of the model: those that vanish when a size is set to 0 belong to that size."""
    known = cost(kind, sizes=_without(sizes, "n", "d_ff", "words")).parameters

    def having(**more: int) -> int:
        return at(substitute(known, {"d_ff": 0, "words": 0, **more}), 0)

    rest, d_ff, words = having(), {"d_ff": sizes["d_ff"]}, {"words": sizes["words"]}
    shares = [
        Share("attention and norms", "cool", rest),
        Share("feed-forward layers", "calm", having(**d_ff) - rest),
        Share("embeddings", "warm", having(**words) - rest),
    ]
    return bar("Parameters by part", shares)


def _formulas(kind: str) -> str:
    """The same in symbols, for as many keys and values as heads."""
    known = cost(kind)
    shown = {
        "Parameters": known.parameters,
        "Multiplications": known.total.multiplications,
        "Numbers in the KV cache": known.kv_cache,
    }
    rows = "".join(f"<tr><th scope='row'>{name}</th><td>{math(latex(size))}</td></tr>" for name, size in shown.items())
    said = "L layers, n tokens of width d, V words; g = h. One table of embeddings serves the logits too."
    return f'<div class="table"><table>{rows}</table></div><p class="soft">{said}</p>'
