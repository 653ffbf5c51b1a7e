"""Known mistakes, each a rewrite of the program; a mistake is named only if it reproduces all of what is shown."""

from qkv.check.mistakes.explain import explain, explain_misfit
from qkv.check.mistakes.rewrites import STRUCTURAL
from qkv.check.mistakes.slips import cut_off

__all__ = ["STRUCTURAL", "cut_off", "explain", "explain_misfit"]
