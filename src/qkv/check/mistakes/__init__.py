"""Known mistakes, each a rewrite of the program; a mistake is named only if it reproduces all of what is shown."""

from qkv.check.mistakes.explain import explain, explain_misfit

__all__ = ["explain", "explain_misfit"]
