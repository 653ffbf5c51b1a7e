"""Fences → events. Python is parsed, never run: assignments of literals, and of formulas over names, are statements.
Other fences hold printed arrays and words, and are read as plain text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from textwrap import dedent

from qkv.errors import Location
from qkv.expr.nodes import Expr, Name
from qkv.sheet.draft import Event, Said, Stated
from qkv.sheet.grammar import Chain
from qkv.sheet.model import Link, Origin, Relation
from qkv.sheet.prose import read_paragraph
from qkv.sheet.python import Reader
from qkv.sheet.reading import Reading
from qkv.sheet.segments import Fence, Paragraph, Rows, blocks
from qkv.sheet.tables import read_rows

_PYTHON = ("python", "py", "python3", "py3", "ipython", "pycon", "{python}", "numpy", "pytorch", "torch")
_MATH = ("math", "latex", "tex", "katex")
_PROMPT = re.compile(r"^(\s*)(?:>>>|\.\.\.|In \[\d*\]:)(?=\s|$)", re.MULTILINE)
_SAYS_PYTHON = re.compile(r"^\s*(?:import|from|def|print)\b|\b(?:np|torch|jnp)\.\w+\(", re.MULTILINE)


def read_code(fence: Fence, reading: Reading) -> Iterator[Event]:
    """The events of a fence."""
    if fence.language in _MATH:
        result = reading.math(fence.text, Location(fence.line))
        yield from (Stated(chain, Origin.DISPLAY) for chain in result.chains)
        yield from result.unread
    elif fence.language in _PYTHON or _SAYS_PYTHON.search(fence.text):
        yield from _python(fence)
    else:
        yield from _plain(fence, reading)


def _plain(fence: Fence, reading: Reading) -> Iterator[Event]:
    """Printed arrays and words; places count from the first line of the fence."""
    for block in blocks(fence.text, fence.line):
        match block:
            case Paragraph():
                yield from read_paragraph(block.text, block.line, reading)
            case Rows():
                yield from read_rows(block, reading)
            case Fence():
                pass
            case _:
                yield Said(block.text, Location(block.line))


def _python(fence: Fence) -> Iterator[Event]:
    source = _PROMPT.sub(lambda found: " " * len(found[0]), fence.text)
    if "\n" not in source or source != fence.text:
        source = dedent(source)
    reader = Reader()
    for first, body in _statements(dedent(source)):
        line = fence.line + first
        for comment in re.finditer(r"^\s*#\s*(.+)$", body, re.MULTILINE):
            yield Said(comment[1].strip(), Location(line + body.count("\n", 0, comment.start(1))))
        for node in _parse(body):
            yield from _statement(node, reader, line)


def _statements(source: str) -> Iterator[tuple[int, str]]:
    """The whole source if it parses; else its statements one by one, so that one bad line loses only itself."""
    if _parse(source):
        yield 0, source
        return
    lines = source.split("\n")
    start = 0
    for at in range(1, len(lines) + 1):
        ends = at == len(lines) or (lines[at][:1].strip() and lines[at][0] not in ")]}#")
        if ends:
            yield start, "\n".join(lines[start:at])
            start = at


def _parse(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _statement(node: ast.stmt, reader: Reader, line: int) -> Iterator[Event]:
    """`A = value`, `A = B = value`, `A, B = value, value`, and a formula that stands alone."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            for name, value in zip(names, values, strict=True):
                yield from _assigned([name], value, reader, line)
        case ast.Assign(targets=targets, value=value):
            yield from _assigned(targets, value, reader, line)
        case ast.AnnAssign(target=target, value=value) if value:
            yield from _assigned([target], value, reader, line)
        case ast.Expr(value=ast.Call() | ast.BinOp() as value):
            yield from _assigned([], value, reader, line)


def _assigned(targets: list[ast.expr], value: ast.expr, reader: Reader, line: int) -> Iterator[Event]:
    reader.line = line
    read = [reader.read(target) for target in targets]
    right = reader.read(value)
    if right is None or not all(isinstance(name, Name) for name in read):
        return
    sides: list[tuple[ast.expr, Expr]] = [*zip(targets, (n for n in read if n), strict=True), (value, right)]
    links = tuple(
        Link(Relation.EQUAL if i else Relation.FIRST, side, _text(node), reader.place(node))
        for i, (node, side) in enumerate(sides)
    )
    end = line + (value.end_lineno or value.lineno) - 1
    text = " = ".join(link.text for link in links)
    yield Stated(Chain(links, links[0].at, end, text), Origin.CODE, named=False)


def _text(node: ast.expr) -> str:
    return ast.unparse(node)[:500]
