"""New sheets with keys: random problems, worked by hand, with slips put in on purpose where wanted."""

from qkv.practice.blocks import AROUND
from qkv.practice.notation import NOTATIONS
from qkv.practice.problems import KINDS
from qkv.practice.sheet import Expected, Practice, sheet

__all__ = ["AROUND", "KINDS", "NOTATIONS", "Expected", "Practice", "sheet"]
