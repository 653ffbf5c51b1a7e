"""What code printed: the fence under a fence of Python, and the outputs that a notebook keeps with its cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qkv.library.words import means
from qkv.reader.page import Block, Fence, Paragraph, Title
from qkv.regex import regex

STORED, STORED_ABOVE = "stored", "stored-above"  # what notebook.py calls outputs, below and above their source
PYTHON = ("python", "py", "python3", "py3", "ipython", "pycon", "{python}", "numpy", "pytorch", "torch", "json")
_PRINTED = ("", "text", "txt", "output", "out", "console", "plaintext", "bash", "shell", STORED)
_NUMBERS = regex(r"(?:[\s\d.,+\-−\[\]()]|array|tensor|e(?=[+-]?\d)|inf|nan|True|False|(?:dtype|grad_fn)=[<>\w.]+)*")
ARRAY = rf"\s*({_NUMBERS.pattern})"  # what is printed behind words
_REMARK = regex(r"(?<=\])[ \t]+#[^\[\]\n]*$", re.MULTILINE)  # what an author wrote beside a row


def with_outputs(found: Iterable[Block]) -> Iterator[Block]:
    """The blocks of a document, each output after the code that printed it and with that code."""
    code: Fence | None = None
    above: Fence | None = None
    announced: Block | None = None  # '**Output:**' between code and what it printed is no heading
    for block in found:
        if code is not None and announced is None and _announces(block):
            announced = block
            continue
        printed = isinstance(block, Fence) and block.language in _PRINTED
        if announced is not None and not (printed and code):
            yield announced
        if not isinstance(block, Fence):
            yield block
            code = None
        elif printed and code is not None:
            yield block._replace(code=code.text)
            code = None
        elif block.language == STORED_ABOVE:
            above, code = block, None
        else:
            yield block
            if above is not None:
                yield above._replace(code=block.text)
            code, above = (block if above is None and block.language in PYTHON else None), None
        announced = None
    if announced is not None:
        yield announced


def _announces(block: Block) -> bool:
    """'Output:', '**Output**'."""
    return isinstance(block, Paragraph | Title) and means(block.text.strip("*_:. \n"), "output")


def is_numbers(output: str) -> bool:
    """Whether an output is nothing but numbers and arrays."""
    return _NUMBERS.fullmatch(output) is not None


def arrays(output: str, layouts: Sequence[str] = ()) -> list[tuple[str, int]]:
    """The arrays that an output consists of, each with the number of lines above it; none where it says anything else
    than the words that the code prints around them, a regular expression for each print, and what its last line gives.

    >>> arrays("[[1 2]\\n [3 4]]\\n[5 6]"), arrays("Q: [1 2]"), arrays("Q: [1 2]\\n", [rf"Q:{ARRAY}"])
    ([('[[1 2]\\n [3 4]]', 0), ('[5 6]', 2)], [], [('[1 2]', 0)])
    """
    output = _REMARK.sub("", output)
    if not is_numbers(output):
        told = re.fullmatch(r"\s*".join(layouts) + r"\s*", output)
        told = told or re.match(r"\s*".join(layouts[:-1]) + (r"\s*?\n" if layouts[1:] else ""), output)
        parts = [(part.strip(), told.start(k)) for k, part in enumerate(told.groups(), 1)] if told is not None else []
        if told is not None and (table := _frame(output[told.end() :])):
            parts.append((table, told.end()))  # what the last line gives is a table
        return [(part, output.count("\n", 0, at)) for part, at in parts]
    found: list[tuple[str, int]] = []
    lines: list[str] = []
    for at, line in enumerate(output.split("\n")):
        if not line.strip():
            continue
        lines.append(line)
        whole = "\n".join(lines)
        if whole.count("[") <= whole.count("]"):
            found.append((whole, at - len(lines) + 1))
            lines = []
    return [] if lines else found


def _frame(output: str) -> str:
    """A table that pandas shows as an array, each row on its own line; nothing where an output is anything else.

    >>> _frame("     k1  k2\\nq1  0.5  -1\\nq2    2   0")
    '[\\n[0.5  -1],\\n[2   0],]'
    """
    head, *rows = output.strip("\n").split("\n")
    cells = rf"((?:\s+[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|inf)){{{len(head.split())}}})\s*"
    found = [re.fullmatch(rf"\s*\S.*?{cells}", row) for row in rows]
    lines = [f"[{row[1].strip()}]," for row in found if row is not None]
    return "\n".join(["[", *lines]) + "]" if len(lines) == len(rows) > 0 else ""
