"""The examples in the modules that need another library; `make test-peers` collects no other examples."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import qkv

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("door", qkv._DOORS)
def test_examples(door):
    pytest.importorskip(door)
    opened = getattr(qkv, door)
    below = walk_packages(getattr(opened, "__path__", ()), f"qkv.{door}.")
    results = [doctest.testmod(module) for module in (opened, *(import_module(m.name) for m in below))]
    assert sum(r.attempted for r in results) > 0
    assert sum(r.failed for r in results) == 0
