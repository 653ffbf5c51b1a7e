"""Doors to libraries that are not installed cannot be opened: their examples are left out."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

DOORS = ("dask", "torch", "jax", "transformers")
SOURCE = Path(__file__).parent / "src" / "qkv"

collect_ignore = [str(path) for door in DOORS if find_spec(door) is None for path in SOURCE.glob(f"{door}*")]
