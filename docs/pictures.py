"""Draw the pictures of the README: a solution beside its marked report, a worked solution and a worked block.

Run it as: python docs/pictures.py
"""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path

from rich import box
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from qkv import demo
from qkv.api import read_source, solve_sheet
from qkv.render import terminal, verdicts
from qkv.render.options import Depth, Options

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = "examples/two-heads.md"
BLOCK = "examples/block.py"
WIDTH = 90
LEFT, RIGHT = 56, 66


def checked() -> str:
    """A solution with a slip in it on the left, what `qkv check` says of it on the right."""
    said = verdicts.report(demo.report(), width=RIGHT - 6)
    marked = Panel(said, title="$ qkv check solution.md", width=RIGHT, padding=(1, 2), box=box.ROUNDED)
    height = len(Console(width=RIGHT).render_lines(marked))
    sheet = Panel(_numbered(demo.SOLUTION), title="solution.md", width=LEFT, height=height, padding=(1, 2))
    beside = Table.grid()
    beside.add_row(sheet, marked)
    return _svg(beside, LEFT + RIGHT)


def _numbered(text: str) -> Text:
    shown = Text()
    for number, line in enumerate(text.splitlines(), 1):
        shown.append(f"{number}  ", style="dim").append(f"{line}\n\n")
    return shown


def solved() -> str:
    """A worked solution."""
    solution = solve_sheet(read_source((ROOT / EXAMPLE).read_text(encoding="utf-8"), EXAMPLE))
    shown = terminal.solution(solution.traces, Options(depth=Depth.BRIEF), WIDTH, solution.unread)
    return _svg(shown, WIDTH, f"$ qkv solve {EXAMPLE} --depth brief")


def block() -> str:
    """One block, worked from tokens to loss."""
    solution = runpy.run_path(str(ROOT / BLOCK))["block"]
    shown = terminal.solution(solution.traces, Options(depth=Depth.BRIEF, digits=4), WIDTH, solution.unread)
    return _svg(shown, WIDTH, f"$ python {BLOCK}")


def _svg(shown: RenderableType, width: int, prompt: str = "") -> str:
    """What a terminal shows as SVG, in the fonts that the reader has rather than fonts from the net."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    if prompt:
        console.print(prompt, highlight=False)
    console.print(shown)
    svg = console.export_svg(title="qkv", unique_id="qkv")
    return re.sub(r"@font-face\s*{[^}]*}\s*", "", svg).replace("Fira Code, monospace", "monospace")


PICTURES = {"check.svg": checked, "solve.svg": solved, "block.svg": block}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (ROOT / "docs" / name).write_text(draw(), encoding="utf-8")
