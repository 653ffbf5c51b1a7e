"""Planted mistakes and right variants in torch and JAX: the same as tests/compare has for NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-peers installs it", exc_type=ImportError)
jnp = pytest.importorskip("jax.numpy", reason="jax is not installed: make test-peers installs it", exc_type=ImportError)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "compare"))

from planted import BATCH, PLANTS, RIGHT, STYLES, TOKENS, D, weights  # noqa: E402
from variants import ALL, arrays, right  # noqa: E402

import qkv  # noqa: E402

pytestmark = pytest.mark.peers
FRAMEWORKS = {"torch": (torch, torch.from_numpy), "jax": (jnp, jnp.asarray)}
X = np.random.default_rng(5).standard_normal((BATCH, TOKENS, D)).astype(np.float32)
SOME = [ALL[i] for i in np.random.default_rng(1).permutation(len(ALL))[:40]]


def layer(framework, style, plant):
    xp, convert = FRAMEWORKS[framework]
    held = {name: convert(value.astype(np.float32)) for name, value in weights(plant).items()}
    return STYLES[style](xp, plant, held), convert(X)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_a_planted_mistake_is_placed_and_named(plant, style, framework):
    mine, x = layer(framework, style, plant)
    result = qkv.compare(mine, x, **plant.told)
    assert (result.agrees, result.stage, result.mistake) == (False, plant.stage, plant.mistake), result.says


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("plant", RIGHT, ids=range(len(RIGHT)))
def test_the_same_layers_without_a_mistake_agree(plant, style, framework):
    mine, x = layer(framework, style, plant)
    result = qkv.compare(mine, x, **plant.told)
    assert result.agrees, result.says


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("layout, scale, mask, softmax", SOME, ids=["-".join(choice) for choice in SOME])
def test_no_alarm(layout, scale, mask, softmax, framework):
    xp, convert = FRAMEWORKS[framework]
    result = qkv.compare(right(xp, layout, scale, mask, softmax), *map(convert, arrays(layout)))
    assert result.agrees, result.says
