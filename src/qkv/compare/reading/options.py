"""What the caller says of the attention that is meant; what is not said is found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qkv.errors import ValueRefused


@dataclass(frozen=True, eq=False)
class Options:
    """What is meant. None: not said."""

    causal: bool | str | None = None  # "lower-right" and "upper-left" say which corner
    mask: Any = None  # True for keys to be used; anything that broadcasts to (batch, heads, queries, keys)
    lengths: Any = None  # of the keys, one a sequence
    scale: float | None = None
    heads: int | None = None
    kv_heads: int | None = None
    rope: str | None = None  # "halves" or "pairs"
    rope_base: float | None = None
    fused: str | None = None  # "blocks" or "interleaved"
    batch_first: bool | None = None

    def checked(self) -> Options:
        """The same, or a sentence on what makes no sense."""
        for name, value, known in (
            ("rope", self.rope, ("halves", "pairs")),
            ("fused", self.fused, ("blocks", "interleaved")),
            ("causal", self.causal, (True, False, "lower-right", "upper-left")),
        ):
            if value is not None and value not in known:
                raise ValueRefused(f"{name}={value!r} is not known; say {' or '.join(map(repr, known))}")
        return self
