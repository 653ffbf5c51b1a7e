"""Notebooks that were copied as text: 'In [6]:' above the code of a cell, and what it printed below a blank line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from qkv.reader.blocks import blocks
from qkv.reader.fences.outputs import STORED, is_numbers
from qkv.reader.page import Block, Fence
from qkv.regex import regex

_PROMPT = regex(r"(?m)^In \[[\d ]*\]:[ \t]*")
_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.For,
    ast.While, ast.If, ast.With,
)  # fmt: skip


def blocks_of(source: str) -> Iterator[Block]:
    """The blocks of a document; cells of a notebook that was copied as text are fences of code and of outputs.

    >>> [block.language for block in blocks_of("In [1]:\\nx = [1, 2]\\nx\\n\\n[1, 2]") if isinstance(block, Fence)]
    ['python', 'stored']
    """
    lines, at = source.split("\n"), 0
    for prompt in _PROMPT.finditer(source):
        start = source.count("\n", 0, prompt.start())
        if start < at or f"\n{source[: prompt.start()]}".count("\n```") % 2:
            continue
        yield from blocks("\n".join(lines[at:start]), at + 1)
        first = start + (not source[prompt.end() :].partition("\n")[0].strip())
        code = [_PROMPT.sub("", lines[first]) if first < len(lines) else "", *lines[first + 1 :]]
        size = _code(code)
        yield Fence("python", "\n".join(code[:size]).rstrip("\n"), first + 1)
        at = first + size
        output = _output(lines[at:])
        if output:
            yield Fence(STORED, "\n".join(lines[at : at + output]).strip("\n"), at + 1 + _blank(lines[at:]))
        at += output
    yield from blocks("\n".join(lines[at:]), at + 1)


def _code(lines: list[str]) -> int:
    """How many lines from the first one on are code: paragraphs until it is whole, and those that state something."""
    size = _paragraph(lines)
    while size < len(lines) and not _PROMPT.match(lines[size]):
        more = size + _paragraph(lines[size:])
        if _parsed("\n".join(lines[:size])) is not None and not _states("\n".join(lines[size:more])):
            break
        if more == size or (
            _parsed("\n".join(lines[:more])) is None and lines[size + _blank(lines[size:])][:1] not in " \t"
        ):
            break
        size = more
    return size


def _output(lines: list[str]) -> int:
    """How many lines are numbers that the code above printed."""
    size = 0
    while size < len(lines):
        more = size + _paragraph(lines[size:])
        text = "\n".join(lines[:more])
        if more == size or not text.strip() or not is_numbers(text):
            break
        size = more
    return size


def _paragraph(lines: list[str]) -> int:
    """The blank lines here and the paragraph below them."""
    size = _blank(lines)
    while size < len(lines) and lines[size].strip():
        size += 1
    return size


def _blank(lines: list[str]) -> int:
    return next((at for at, line in enumerate(lines) if line.strip()), len(lines))


def _states(text: str) -> bool:
    """Whether a paragraph is code, and no number or array that was printed."""
    tree = _parsed(text)
    return tree is not None and any(isinstance(node, _STATEMENTS) or _prints(node) for node in tree.body)


def _prints(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None
