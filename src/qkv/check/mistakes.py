"""Known mistakes, each a rewrite of the program; a mistake is named only if it reproduces all of what is shown."""

from __future__ import annotations

from qkv.check.author import Author
from qkv.check.cells import Judged
from qkv.check.model import Cause
from qkv.expr import nodes as n
from qkv.interpret.trace import Trace


def explain(trace: Trace, author: Author, target: n.Expr, judged: tuple[tuple[Judged, ...], ...]) -> Cause | None:
    """The known mistake that explains a wrong value, if there is one."""
    return None
