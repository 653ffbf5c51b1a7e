"""Patterns are compiled when they are first used, so that a broken one would be found late: here all are compiled."""

from __future__ import annotations

import gc
import pickle
import re
from importlib import import_module
from pathlib import Path

import pytest

import qkv
from qkv.regex import _Later, regex

FOLDER = Path(qkv.__file__).parent
OPTIONAL = ("jax", "torch", "transformers", "dask", "compare", "kernel", "page")  # what needs more than qkv itself


def test_every_pattern_compiles() -> None:
    for path in FOLDER.rglob("*.py"):
        parts = path.relative_to(FOLDER).with_suffix("").parts
        if parts[0] not in (*OPTIONAL, "__main__", "__init__", "cli_serve"):
            import_module(".".join(("qkv", *parts)).removesuffix(".__init__"))
    patterns = [each for each in gc.get_objects() if isinstance(each, _Later)]
    assert len(patterns) > 500
    for each in patterns:
        assert re.compile(each.pattern, each.flags)


def test_it_is_used_as_a_compiled_pattern_is() -> None:
    number = regex(r"(?P<whole>\d+)x", re.IGNORECASE)
    assert number.pattern == r"(?P<whole>\d+)x"
    assert number.flags == re.compile(r"(?P<whole>\d+)x", re.IGNORECASE).flags
    assert [found["whole"] for found in number.finditer("1x 2X")] == ["1", "2"]
    assert pickle.loads(pickle.dumps(number)).search("a 3X")["whole"] == "3"  # type: ignore[index]


def test_what_is_broken_is_said_at_first_use() -> None:
    broken = regex("(")
    with pytest.raises(re.error, match="unterminated"):
        broken.search("")
