"""The story of a comparison, in sentences."""

from __future__ import annotations

from qkv.compare.diagnose import Explained, place
from qkv.compare.formula import STAGES
from qkv.compare.model import Comparison
from qkv.compare.record.recording import Recording, precision_of
from qkv.compare.seek import Shelf

# What each stage is, in words.
WORDS = {
    "projection": "the projections of q, k and v",
    "split": "the split into heads",
    "position": "the position code",
    "scores": "the scores Q Kᵀ",
    "scale": "the scale",
    "mask": "the mask",
    "softmax": "the softmax",
    "mix": "the weighted sum of the values",
    "merge": "the merging of the heads",
    "output": "the output projection",
}


def told(explained: Explained, recording: Recording) -> Comparison:
    """An explanation as a result with its story."""
    if explained.stage is None:
        return Comparison(True, says=_agreement(explained, recording), error=explained.error)
    head, row, column = place(explained, Shelf(recording))
    mistake = explained.mistake
    lines = [f"It departs at {WORDS[explained.stage]}{_where(head, row, column)}."]
    remedy = ""
    if mistake is not None and explained.way is not None:
        remedy = mistake.remedy
        lines.append(
            f"Mistake: {mistake.key}: {mistake.says.format(explained.way.detail)}. That gives exactly your numbers."
        )
        lines.append(f"Change it to: {remedy}")
    else:
        first = explained.stage == STAGES[0]
        lines.append(f"No known mistake gives these numbers{'' if first else '; all before that stage is right'}.")
    lines.append(f"The output is off by {explained.error:.2g} of its largest value. {_understood(explained)}")
    key = None if mistake is None else mistake.key
    return Comparison(False, explained.stage, key, head, row, column, "\n".join(lines), remedy, explained.error)


def _where(head: int | None, row: int | None, column: int | None) -> str:
    named = [f"{name} {at}" for name, at in (("head", head), ("row", row), ("column", column)) if at is not None]
    return f" ({', '.join(named)})" if named else ""


def _agreement(explained: Explained, recording: Recording) -> str:
    lines = [f"It agrees with attention. {_understood(explained)}"]
    if explained.reading.adopted:
        lines.append(f"It has {explained.reading.adopted}; say mask= or causal= to have that compared too.")
    if recording.rounding >= precision_of("float16") and explained.error > 1e-5:
        lines.append(f"It is off by {explained.error:.2g} of its largest value: precision, not a mistake (16 bits).")
    return "\n".join(lines)


def _understood(explained: Explained) -> str:
    s = explained.reading.setting
    heads = f"{s.heads} heads" if s.heads > 1 else "1 head"
    parts = [heads if s.heads == s.kv_heads else f"{heads} over {s.kv_heads}", f"d_k = {s.d_k}"]
    parts.append("causal" if s.causal else "masked" if s.allowed is not None else "no mask")
    if s.rope is not None:
        parts.append("RoPE on pairs" if s.rope.pairs else "RoPE on halves")
    if s.fused:
        parts.append("fused QKV in blocks" if s.fused == "blocks" else "fused QKV interleaved")
    return f"Understood: {', '.join(parts)}."
