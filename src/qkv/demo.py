"""What qkv can do, in seconds and without a file: `qkv` alone, and `qkv demo`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from qkv import api
from qkv.page.examples import SOLUTION
from qkv.render import terminal, verdicts
from qkv.render.options import Depth, Options

if TYPE_CHECKING:
    from qkv.check.model import Report
    from qkv.render.targets import Target

SHEET = """\
Q = [1 0; 1 2], K = [1 1; 0 2], V = [2 0; 0 4]

Compute the scaled dot-product attention.
"""
IMPLEMENTATION = """\
def mine(q, k, v):
    e = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    return e / e.sum(axis=-2, keepdims=True) @ v
"""
WHAT = "qkv: attention, worked out, checked, explained and run."
DOORS = (
    ("learn", "qkv solve sheet.md", "every step of a worksheet, every digit proven"),
    ("grade", "qkv check solution.md", "every printed number of a solution, judged"),
    ("implement", "qkv.compare(mine)", "in Python: which mistake makes your code differ"),
)


def overview(target: Target) -> str:
    """One screen: a solution with a slip in it, what qkv says of it, and the three doors."""
    parts = [Text(WHAT, style="bold"), Text(), Text("A solution with a slip in it, solution.md:"), Text()]
    parts += [_quoted(SOLUTION), Text()]
    shown = [
        *parts,
        *_command("qkv check solution.md --only wrong"),
        _checked(target, only_wrong=True),
        Text(),
        *_doors(target, "qkv demo opens all three; "),
    ]
    return terminal.joined(shown, target.width, target.colour)


def tour(target: Target) -> str:
    """The three doors opened one after the other: a sheet solved, a solution judged, an implementation compared."""
    shown = [Text(WHAT, style="bold"), Text(), *_learn(target), *_grade(target), *_implement(target), *_doors(target)]
    return terminal.joined(shown, target.width, target.colour)


def report() -> Report:
    """The solution with a slip in it, judged."""
    return api.check_sheet(api.read_source(SOLUTION, "solution.md"))


def _learn(target: Target) -> Iterator[RenderableType]:
    yield from _heading("Learn: a worksheet, sheet.md", target)
    yield from (_quoted(SHEET), Text(), *_command("qkv solve sheet.md --places 3"))
    solved = api.solve_sheet(api.read_source(SHEET, "sheet.md"))
    yield terminal.solution(solved.traces, Options(Depth.NORMAL, places=3), target.width)


def _grade(target: Target) -> Iterator[RenderableType]:
    yield from _heading("Grade: a solution with a slip in it, solution.md", target)
    yield from (_quoted(SOLUTION), Text(), *_command("qkv check solution.md"), _checked(target), Text())


def _implement(target: Target) -> Iterator[RenderableType]:
    import numpy as np

    from qkv.compare import compare

    scope: dict[str, Any] = {"np": np}
    exec(IMPLEMENTATION, scope)  # what is shown is what is run
    yield from _heading("Implement: which mistake is it?", target)
    yield from (_quoted(IMPLEMENTATION), Text(), *_command("print(qkv.compare(mine))", ">>>"))
    yield from (Text(str(compare(scope["mine"]))), Text())


def _checked(target: Target, only_wrong: bool = False) -> RenderableType:
    return verdicts.report(report(), Options(only_wrong=only_wrong), target.width)


def _heading(text: str, target: Target) -> Iterator[Text]:
    yield Text(f"── {text} ".ljust(min(target.width, 78), "─"), style="bold")
    yield Text()


def _quoted(text: str) -> Text:
    return Text("\n".join(f"    {line}".rstrip() for line in text.splitlines()), style="italic")


def _command(command: str, prompt: str = "$") -> Iterator[Text]:
    yield Text(f"{prompt} ", style="dim").append(command, style="bold cyan")
    yield Text()


def _doors(target: Target, more: str = "") -> Iterator[Text]:
    """The three doors, a line each, or two where the terminal is narrow."""
    for name, command, says in DOORS:
        line = Text(f"{name:<11}").append(f"{command:<23}", style="bold cyan")
        wide = len(line) + len(says) <= target.width
        yield line.append(says if wide else f"\n{' ' * 11}{says}", style="dim")
    yield Text(f"\n{more}qkv --help lists every command.")
