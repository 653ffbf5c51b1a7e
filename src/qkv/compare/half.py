"""Implementations in float16: finds scores and masks that are too large for it. Mere rounding is no mistake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from qkv.compare.diagnose import Explained
from qkv.compare.mistakes import OVERFLOW, TOO_LARGE, Way
from qkv.compare.record.calls import Call, arrays_in, output_of
from qkv.compare.record.recording import Recording

LARGEST = 65504.0  # of float16


def overflown(call: Call, recording: Recording, explained: Explained) -> Explained | None:
    """The mistake of an implementation that is right in float64, but not in the float16 that it was called with."""
    if not any(
        "float16" in str(a.dtype) and "bfloat16" not in str(a.dtype) for a in arrays_in((call.args, dict(call.kwargs)))
    ):
        return None
    try:
        fits = bool(np.isfinite(output_of(call)).all()) or not np.isfinite(recording.output).all()
    except (OverflowError, RuntimeError) as error:  # torch refuses to fill float16 with −1e9
        if "overflow" not in str(error):
            raise
        fits = False
    if fits:
        return None
    large = float(np.abs(explained.right["scores"]["scores"]).max()) > LARGEST
    mistake = TOO_LARGE if large else OVERFLOW
    return replace(explained, stage=mistake.stage, mistake=mistake, way=Way({}), wrong=None)
