"""Damaged documents: whatever was cut, doubled or spliced, solve and check end in a result or in an error of ours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import qkv
from laws import rewritten as rewrite
from laws.rewritten import Document
from qkv.errors import QkvError


@dataclass(frozen=True)
class Hurt:
    """What a damaged document did: the exception that is not ours, if any, and the processor seconds that it took."""

    call: str
    error: str
    seconds: float


def hurt(documents: Sequence[Document], seed: int) -> Hurt:
    """Solve and check a damaged document."""
    rng = Random(seed)
    document, other = rng.sample(list(documents), 2)
    text, ways = rewrite.damaged(document.text, other.text, rng)
    begin, error = time.process_time(), ""
    for work in (qkv.check, qkv.solve):
        try:
            work(text)
        except QkvError:
            pass
        except Exception as problem:  # noqa: BLE001  (that there are none is what is tested)
            error = f"{type(problem).__name__}: {problem}"
    return Hurt(f"hurt(…, {seed}): {document.name}, {ways}", error, time.process_time() - begin)
