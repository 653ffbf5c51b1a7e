"""Known mistakes of implementations: a table. Those of hand-worked solutions have the same keys as in `check`."""

from qkv.compare.mistakes import inputs, masks, outputs, scores
from qkv.compare.mistakes.masks import OVERFLOW
from qkv.compare.mistakes.model import Mistake, Way
from qkv.compare.mistakes.outputs import DROPOUT
from qkv.compare.mistakes.scores import TOO_LARGE

TABLE: tuple[Mistake, ...] = (*inputs.ROWS, *scores.ROWS, *masks.ROWS, *outputs.ROWS)

__all__ = ["DROPOUT", "OVERFLOW", "TABLE", "TOO_LARGE", "Mistake", "Way"]
