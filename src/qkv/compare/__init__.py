"""Which mistake does an implementation of attention make? `compare` says at which stage it departs, and why."""

from qkv.compare.api import assert_attention, compare
from qkv.compare.model import Comparison
from qkv.compare.traced import Traced, trace

__all__ = ["Comparison", "Traced", "assert_attention", "compare", "trace"]
