"""Known mistakes of implementations: a table."""

from qkv.compare.mistakes.model import Mistake, Way
from qkv.compare.mistakes.table import DROPOUT, OVERFLOW, TABLE, TOO_LARGE

__all__ = ["DROPOUT", "OVERFLOW", "TABLE", "TOO_LARGE", "Mistake", "Way"]
