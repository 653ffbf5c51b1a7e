"""Losses and perplexities of probabilities that sentences say."""

from __future__ import annotations

import math

import pytest

from qkv.library.around_said import target_said
from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet


def worked(page: str) -> dict[str, float]:
    """The numbers of all steps by their names."""
    found = {}
    for trace in solve_sheet(read_sheet(page)).traces:
        for step in trace.program.steps:
            found[step.spelled] = float(trace.digits(step.symbol, 8)[0][0])
    return found


@pytest.mark.parametrize(
    "page, loss",
    [
        ("The probabilities of the tokens are 0.4, 0.3, 0.5.\n\n1. Compute the perplexity.", -math.log(0.06) / 3),
        ("Las probabilidades de los tokens son 0,25, 0,5 y 0,125. Calcula la perplejidad.", math.log(4)),
        ("Das richtige Token hat die Wahrscheinlichkeit 0.31. Berechne die Perplexität.", -math.log(0.31)),
        (
            "The model gives the probabilities [0.7, 0.2, 0.1] to cat, dog, bird. The correct class is dog.\n\n1. Compute the cross-entropy loss.",
            -math.log(0.2),
        ),
    ],
)
def test_a_loss_is_worked_out_from_what_sentences_say(page, loss):
    made = worked(page)
    assert made["loss"] == pytest.approx(loss, rel=1e-6)
    assert made["PPL"] == pytest.approx(math.exp(loss), rel=1e-6)


@pytest.mark.parametrize(
    "page",
    [
        "The model gives the probabilities [0.7, 0.2, 0.1].\n\n1. Compute the cross-entropy loss.",
        "Model A has the probabilities 0.5, 0.4 for two tokens, model B the probabilities 0.9, 0.8.\n\n1. Compute the perplexity.",
    ],
)
def test_what_is_right_has_to_be_said(page):
    assert "loss" not in worked(page)


def test_a_perplexity_follows_from_a_loss():
    assert worked("Given a loss of 2.3 nats, what is the perplexity?")["PPL"] == pytest.approx(math.exp(2.3), rel=1e-6)


def test_a_class_is_found_by_its_name_among_as_many_as_there_are():
    words = "scores for cat, dog and bird. the right class is bird."
    assert target_said(words, 3) == 2
    assert target_said(words, 4) is None
