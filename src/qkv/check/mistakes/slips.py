"""Slips in single cells: a product dropped, a sign lost, an index off, digits that went astray."""

from __future__ import annotations

from qkv.check.author import Author
from qkv.check.cells import Judged
from qkv.check.mistakes.scene import Scene
from qkv.expr import nodes as n

Wrong = list[tuple[int, int]]


def slips(
    scene: Scene, author: Author, target: n.Expr, judged: tuple[tuple[Judged, ...], ...], wrong: Wrong
) -> dict[str, str]:
    """The slips that explain every wrong cell."""
    return {}
