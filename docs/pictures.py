"""Draw the picture of the README: what `qkv solve examples/two-heads.md --depth brief` prints in a terminal.

Run it as: python docs/pictures.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from qkv.api import read_source, solve_sheet
from qkv.render import terminal
from qkv.render.options import Depth, Options

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = "examples/two-heads.md"
WIDTH = 90


def picture() -> str:
    """The output as SVG, in the fonts that the reader has rather than fonts from the net."""
    solved = solve_sheet(read_source((ROOT / EXAMPLE).read_text(encoding="utf-8"), EXAMPLE))
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(f"$ qkv solve {EXAMPLE} --depth brief", highlight=False)
    console.print(terminal.solution(solved.traces, Options(depth=Depth.BRIEF), WIDTH, solved.unread))
    svg = console.export_svg(title="qkv", unique_id="qkv")
    return re.sub(r"@font-face\s*{[^}]*}\s*", "", svg).replace("Fira Code, monospace", "monospace")


if __name__ == "__main__":
    (ROOT / "docs" / "solve.svg").write_text(picture(), encoding="utf-8")
