"""Planted mistakes in NumPy layers: each in three ways of writing. tests/peers has the same for torch and JAX."""

from __future__ import annotations

import numpy as np
import pytest
from planted import BATCH, PLANTS, RIGHT, STYLES, TOKENS, D, weights

import qkv
from qkv.check.mistakes.rewrites import TABLE as BY_HAND
from qkv.compare.formula import STAGES
from qkv.compare.mistakes import TABLE

X = np.random.default_rng(5).standard_normal((BATCH, TOKENS, D))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_a_planted_mistake_is_placed_and_named(plant, style):
    result = qkv.compare(STYLES[style](np, plant, weights(plant)), X, **plant.told)
    assert (result.agrees, result.stage, result.mistake) == (False, plant.stage, plant.mistake), result.says
    assert plant.mistake in str(result)
    assert None not in (result.row, result.column)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("plant", RIGHT, ids=range(len(RIGHT)))
def test_the_same_layers_without_a_mistake_agree(plant, style):
    result = qkv.compare(STYLES[style](np, plant, weights(plant)), X, **plant.told)
    assert result.agrees, result.says
    assert (result.stage, result.mistake) == (None, None)


def test_there_are_at_least_thirty():
    assert len({plant.mistake for plant in PLANTS}) >= 30


def test_every_row_has_a_stage_and_a_key_of_its_own():
    keys = [row.key for row in TABLE]
    assert len(keys) == len(set(keys))
    assert {row.stage for row in TABLE} == set(STAGES)


def test_keys_that_hand_worked_solutions_have_too_are_the_same():
    assert len({row.key for row in TABLE} & {row.key for row in BY_HAND}) >= 20
