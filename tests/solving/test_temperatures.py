"""Softmax at several temperatures."""

from __future__ import annotations

import pytest

from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet

COLD, WARM = [0.866813, 0.117310, 0.0158762], [0.506480, 0.307196, 0.186324]


@pytest.mark.parametrize(
    "page",
    [
        "Logits z = [2, 1, 0]. Berechne die Wahrscheinlichkeiten mit Temperatur T = 0.5 und T = 2.",
        "Logits: [2, 1, 0]\n\n1. Compute the softmax with temperature T = 0.5.\n2. Compute the softmax with temperature T = 2.",
        "Given z = [2, 1, 0], compute the softmax with temperature for T = 0.5, 1 and 2.",
        "Temperature. For scores S = [2, 1, 0]:\n\n| T | Weights |\n|---|---|\n| 0.5 | [0.9, 0.1, 0.0] |\n| 2.0 | [0.5, 0.3, 0.2] |\n",
    ],
)
def test_every_temperature_has_its_softmax(page):
    (trace,) = (trace for trace in solve_sheet(read_sheet(page)).traces if trace.program.steps)
    rows = {s.spelled: [float(cell) for cell in trace.digits(s.symbol, 6)[0]] for s in trace.program.steps}
    assert rows["P(T = 0.5)"] == pytest.approx(COLD, abs=1e-5)
    assert rows["P(T = 2)"] == pytest.approx(WARM, abs=1e-5)
    assert all(answer.parts for answer in trace.program.answers)
