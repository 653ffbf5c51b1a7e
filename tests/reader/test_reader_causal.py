"""Causal masks as programs write them."""

import ast

import pytest

from qkv.expr.nodes import Mask
from qkv.reader import read_sheet
from qkv.reader.fences.causal import hides_later

FILLED = [
    "scores = scores.masked_fill(torch.tril(torch.ones(2, 2)) == 0, float('-inf'))",
    "mask = np.triu(np.ones((2, 2)), k=1).astype(bool)\nscores = np.where(mask, -np.inf, scores)",
    "mask = torch.tril(torch.ones(2, 2)).bool()\nscores = torch.where(mask, scores, -1e9)",
    "mask = np.triu(np.ones((2, 2), dtype=bool), 1)\nscores[mask] = -np.inf",
    "mask = torch.tril(torch.ones(2, 2))\nscores.masked_fill_(~mask.bool(), -torch.inf)",
    "scores = scores + np.triu(np.full((2, 2), -np.inf), k=1)",
    "mask = np.triu(np.ones((2, 2)), k=1) * -1e9\nscores = scores + mask",
    "mask = (1 - np.tril(np.ones((2, 2)))) * -1e9\nscores += mask",
]


@pytest.mark.parametrize("code", FILLED)
def test_scores_are_masked(code: str) -> None:
    sheet = read_sheet(f"```python\nscores = Q @ K.T\n{code}\n```\n")
    assert isinstance(sheet.statements[-1].links[-1].expr, Mask)


@pytest.mark.parametrize(
    ("mask", "hides"),
    [
        ("torch.triu(torch.ones(3, 3), diagonal=1).bool()", True),
        ("torch.triu(torch.ones(3, 3))", False),
        ("np.tril(np.ones((3, 3)))", False),
        ("np.tril(np.ones((3, 3))) == 0", True),
        ("np.tril(np.ones((3, 3)), -1) == 0", False),
        ("padding == 0", False),
    ],
)
def test_which_masks_hide_later_keys(mask: str, hides: bool) -> None:
    assert hides_later(ast.parse(mask, mode="eval").body, {}) is hides
