"""Fences: what kind each is, and the events of those that hold Python. Python is parsed, never run: assignments of
literals, and of formulas over names, are statements. Other fences hold printed arrays and words, and are read as
plain text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from textwrap import dedent
from typing import NamedTuple

from qkv.errors import Location
from qkv.expr.nodes import Expr, Mask, Matrix, Name, Number, is_literal, rewrite, walk
from qkv.reader.chain import Chain
from qkv.reader.fences.causal import is_lowest
from qkv.reader.fences.outputs import ARRAY, PYTHON, arrays, is_numbers
from qkv.reader.fences.python import Assigned, Reader, Shown, holds_nan
from qkv.reader.fences.remarks import Remark, remarks
from qkv.reader.grammar import Parsed, parse_math
from qkv.reader.grids import NUMBER, split_table
from qkv.reader.model import Link, Origin, Relation, Unread
from qkv.reader.page import Cell, Event, Fence, Page, Rows, Said, Stated
from qkv.regex import regex

_MATH = ("math", "latex", "tex", "katex")
_PROMPT = regex(r"\s*(?:>>>|In \[\d*\]:)(?: |$)")
_SHOWS = regex(r"\s*>>>\s*(?=(?:array|tensor)\(|\[)")
_GOES_ON = regex(r"\s*\.\.\.:?(?: |$)")
_CSV_HEAD = regex(r"[^,\d=\[]*(?:,[^,\d=\[]+)+")
_CSV_ROW = regex(r"[^,=\[]*(?:,\s*[-−]?(?:\d+(?:\.\d*)?|inf))+")
_OUT = regex(r"^\s*Out\[\d*\]:", re.MULTILINE)
_COMMENT = regex(r"#.*")
_NO_PYTHON = regex(
    r"[∞√≈×·ᵀ⊤²³]|^[ \t]*=\s|\A(?:\s*\w+\[\d+\]\s*=\s*\[[^\n]*\]\s*)+\Z"
    r"|\] {2,}\w[\w.]*\s*=\s*\[|^\s*\w+\s*=[^=\n\[({]*[^=\n\w\s.][^=\n\[({]*=\s",
    re.MULTILINE,
)
_SAYS_PYTHON = regex(r"^\s*(?:import|from|def|print)\b|\b(?:np|torch|jnp)\.\w+\(", re.MULTILINE)


def kind_of(fence: Fence) -> str:
    """What a fence holds: math, csv, python or plain text."""
    if fence.language in _MATH:
        return "math"
    if fence.language == "csv" or _is_csv(fence.text):
        return "csv"
    told = ">>>" in fence.text or _SAYS_PYTHON.search(fence.text) or fence.language in PYTHON
    return "python" if told and _is_python(fence) else "plain"


def names_in_code(fence: Fence) -> Iterator[str]:
    """The names that code assigns, without the digits and scripts behind them."""
    for found in re.finditer(r"(?m)^\s*(?:>>> |In \[\d*\]: )?([A-Za-z_][\w, ]*?)\s*=[^=]", fence.text):
        yield from (name for name in re.findall(r"[A-Za-z]+", found[1]) if len(name) < 30)


def read_output(fence: Fence, page: Page, assigned: Assigned) -> list[Event]:
    """What the code before a fence printed, array by array; nothing where the fence says anything else."""
    return list(_output(fence, page, assigned)) if fence.code else []


def _is_python(fence: Fence) -> bool:
    """Whether anything in a fence is Python: 'scores[0][1] = [1, 0] · [0, 1] = 0' is not, whatever the fence says."""
    if _is_sketch(fence.text) and not _SAYS_PYTHON.search(fence.text):
        return False
    sources = (entry.source for entry in _entries(fence))
    return any(not _is_list(node) for source in sources for _, _, nodes in _statements(source) for node in nodes)


def _is_list(node: ast.stmt) -> bool:
    """'[1, 0, 1]': a line of a drawn matrix is no less Python than a statement."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.List | ast.Tuple | ast.Constant | ast.Subscript)


def _is_sketch(text: str) -> bool:
    """Whether what is called Python has signs that no Python has: '[0.5, -∞]', 'scores / √2 ≈ …'. It is meant for
    readers, and shows values."""
    return bool(_NO_PYTHON.search(_COMMENT.sub("", text))) and not any(map(_PROMPT.match, text.split("\n")))


def _is_csv(text: str) -> bool:
    """Whether a fence holds values between commas below a row of words: ',the,cat', 'the,0.9,0.1', …"""
    first, *rows = text.strip("\n").split("\n")
    return len(rows) > 1 and bool(_CSV_HEAD.fullmatch(first)) and all(_CSV_ROW.fullmatch(row) for row in rows)


def csv_rows(fence: Fence) -> Rows:
    """Values between commas as rows of cells."""
    lines = [(number, line) for number, line in enumerate(fence.text.split("\n"), fence.line) if line.strip()]
    cells = tuple(tuple(Cell(part.strip(), number, 1) for part in line.split(",")) for number, line in lines)
    words = bool(cells) and not any(NUMBER.match(cell.text) for cell in cells[0][1:])
    return split_table(cells, fence.line, lines[-1][0] if lines else fence.line, header=words)


def read_python(fence: Fence, page: Page, assigned: Assigned) -> Iterator[Event]:
    """The events of a fence of Python."""
    reader = Reader(assigned, page.names)
    assigned.shown, assigned.layouts = [], []
    for entry in _entries(fence):
        last: ast.stmt | None = None
        reader.indent, reader.torch = entry.indent, reader.torch or "torch" in entry.source
        for first, body, nodes in _statements(entry.source):
            line = reader.line = entry.line + first
            comments = remarks(body)
            for i, last in enumerate(nodes):
                yield from (_as_said(c, line) for c in comments if i == 0 and c.line < last.lineno)
                if not _is_changed_in_place(last, entry.source):
                    yield from _statement(last, reader, page, line)
                if isinstance(last, ast.Expr) and (_prints(last) or last is nodes[-1]):
                    assigned.layouts.append(_layout(last))
                    assigned.shown += [_shown(value, reader) for value in _parts(last) if not isinstance(value, str)]
                until = nodes[i + 1].lineno if i + 1 < len(nodes) else len(body)
                for comment in comments:
                    if last.lineno <= comment.line < until:
                        yield from _remark(comment, last, reader, page)
            if not nodes:
                yield from (_as_said(comment, line) for comment in comments)
        if isinstance(last, ast.Expr) and entry.output.strip():
            at = reader.place(_printed(last))
            yield from _echo(*_shown(_printed(last), reader), entry.output, at, page, entry.output_line)


def _is_changed_in_place(node: ast.stmt, source: str) -> bool:
    """Whether a formula gives a name whose items the same code sets or adds to later, so that it is not its value."""
    names = [t.id for t in node.targets if isinstance(t, ast.Name)] if isinstance(node, ast.Assign) else []
    literal = isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Constant)
    return bool(names) and not literal and not _changed(source).isdisjoint(names)


@lru_cache(maxsize=8)
def _changed(source: str) -> frozenset[str]:
    """The names of which code sets or changes items, but for what a mask hides: dz[y] -= 1."""
    found = set()
    for node in _parse(source):
        targets = (
            [node.target] if isinstance(node, ast.AugAssign) else node.targets if isinstance(node, ast.Assign) else []
        )
        hides = isinstance(node, ast.Assign) and is_lowest(node.value)
        held = (target.value for target in targets if isinstance(target, ast.Subscript) and not hides)
        found |= {name.id for name in held if isinstance(name, ast.Name)}
    return frozenset(found)


def _as_said(comment: Remark, line: int) -> Said:
    return Said(comment.text, line + comment.line - 1)


def _remark(comment: Remark, node: ast.stmt, reader: Reader, page: Page) -> Iterator[Event]:
    """`S = Q @ K.T  # [[1, 0], [1, 2]]`: a comment that shows the value of the statement before it, or words."""
    line, told = reader.line, False
    targets = node.targets if isinstance(node, ast.Assign) else []
    shown = targets[0] if len(targets) == 1 else _printed(node) if isinstance(node, ast.Expr) else None
    value = comment.value_of(shown.id if isinstance(shown, ast.Name) else "")
    if shown is not None and value and comment.line >= (node.end_lineno or node.lineno):
        place = reader.place(shown)
        for event in _echo(*_shown(shown, reader), value, place, page, line + comment.line - 1):
            told = True
            yield event
    if not told:
        yield _as_said(comment, line)


def _output(fence: Fence, page: Page, assigned: Assigned) -> Iterator[Event]:
    """What the code before printed, array by array, where it shows as many values as there are arrays."""
    shown = assigned.shown
    values = arrays(fence.text, assigned.layouts) if shown else []
    if len(values) != len(shown) and is_numbers(fence.text):
        return
    for (left, formula, text), (value, above) in zip(shown, values, strict=False):
        yield from _echo(left, formula, text, value, Location(fence.line + above), page)


def _prints(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "print"


def _printed(node: ast.Expr) -> ast.expr:
    """What a statement shows: its value, or what print puts behind words: print("Scores:", S)."""
    values = [part for part in _parts(node) if not isinstance(part, str)]
    call = node.value
    if len(values) == 1:
        return values[0]
    return call.args[0] if isinstance(call, ast.Call) and call.args else call


def _layout(node: ast.Expr) -> str:
    """What a statement puts on the page, as a regular expression: its words, and an array for every value."""
    words = (part.split() if isinstance(part, str) else None for part in _parts(node))
    return r"\s*".join(ARRAY if part is None else r"\s*".join(map(re.escape, part)) for part in words)


def _parts(node: ast.Expr) -> list[str | ast.expr]:
    """The words and the values that a statement shows, in order."""
    call = node.value
    if not isinstance(call, ast.Call) or not _prints(node):
        return [call]
    parts = [part for arg in call.args for part in (arg.values if isinstance(arg, ast.JoinedStr) else [arg])]
    values = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
    return [x.value if isinstance(x, ast.Constant) and isinstance(x.value, str) else x for x in values]


class _Entry(NamedTuple):
    """Python source without its prompts and its common indent, and what the console printed after it."""

    line: int
    source: str
    indent: int
    output: str = ""
    output_line: int = 0


def _entries(fence: Fence) -> Iterator[_Entry]:
    """The entries of a console session; a fence without prompts is one entry."""
    lines = fence.text.split("\n")
    prompts = [i for i, line in enumerate(lines) if _PROMPT.match(line)]
    at = prompts[0] if prompts else len(lines)
    if at:  # a script, and perhaps what it printed: '>>> tensor([[…'
        source = dedent("\n".join(lines[:at]))
        shows = len(prompts) == 1 and _SHOWS.match(lines[at])
        output = "\n".join([lines[at][shows.end() :].rjust(len(lines[at])), *lines[at + 1 :]]) if shows else ""
        yield _Entry(fence.line, source, len(lines[0]) - len(source.split("\n", 1)[0]), output, fence.line + at)
        at = len(lines) if shows else at
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _GOES_ON.match(lines[end]):
            end += 1
        printed = end
        while printed < len(lines) and not _PROMPT.match(lines[printed]):
            printed += 1
        marks = [_PROMPT.match(line) or _GOES_ON.match(line) for line in lines[at:end]]
        source = "\n".join(line[m.end() if m else 0 :] for line, m in zip(lines[at:end], marks, strict=True))
        output = _OUT.sub(lambda found: " " * len(found[0]), "\n".join(lines[end:printed]))
        yield _Entry(fence.line + at, source, marks[0].end() if marks[0] else 0, output, fence.line + end)
        at = printed


def _shown(shown: ast.expr, reader: Reader) -> Shown:
    """What is printed, the formula that its name was last assigned, and its source."""
    left = reader.read(shown)
    return left, reader.formulas.get(left.symbol) if isinstance(left, Name) else None, _text(shown)


ROUNDED = 4  # decimal places that programs round to when they print


def _echo(
    left: Expr | None,
    formula: Expr | None,
    text: str,
    output: str,
    at: Location,
    page: Page,
    line: int | None = None,
) -> Iterator[Event]:
    """What was printed, on a line, for an expression at a place: 'scores' and its value, with its formula if any."""
    chains = _math(output, Location(line or at.line), page).chains
    if left is None or len(chains) != 1 or len(chains[0].links) != 1:
        return
    rounded = any(isinstance(x, Number) and (x.places or 0) >= ROUNDED for x in walk(chains[0].links[0].expr))
    value = replace(chains[0].links[0], relation=Relation.APPROX if rounded else Relation.EQUAL)
    links = [Link(Relation.FIRST, left, text, at)]
    if formula is not None:
        links.append(Link(Relation.EQUAL, formula, text, at))
    chain = chains[0]._replace(links=(*links, value), at=at, text=f"{text} = {value.text}")
    yield Stated(chain, Origin.PLAIN)  # a value that somebody shows, unlike the code that made it


def _math(source: str, at: Location, page: Page) -> Parsed:
    return parse_math(
        re.sub(r"\bTrue\b", "1   ", re.sub(r"\bFalse\b", "0    ", source)), at, comma=page.comma, names=page.names
    )


def _statements(source: str) -> Iterator[tuple[int, str, list[ast.stmt]]]:
    """The whole source if it parses; else its statements one by one, so that one bad line loses only itself."""
    if nodes := _parse(source):
        yield 0, source, nodes
        return
    lines = source.split("\n")
    start = 0
    for at in range(1, len(lines) + 1):
        ends = at == len(lines) or (lines[at][:1].strip() and lines[at][0] not in ")]}#")
        if ends:
            body = "\n".join(lines[start:at])
            yield start, body, _parse(body)
            start = at


def _parse(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _statement(node: ast.stmt, reader: Reader, page: Page, line: int) -> Iterator[Event]:
    """`A = value`, `A = B = value`, `A, B = value, value`, and a formula that stands alone."""
    match node:
        case ast.Expr(value=ast.Dict(keys=keys, values=values)) | ast.Assign(value=ast.Dict(keys=keys, values=values)):
            for key, value in zip(keys, values, strict=True):  # {"Q": [[1, 0], …], …}
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
                    yield from _assigned([ast.copy_location(ast.Name(key.value), key)], value, reader, page, line)
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            for name, value in zip(names, values, strict=True):
                yield from _assigned([name], value, reader, page, line)
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as name, slice=mask)], value=value) if is_lowest(value):
            filled = _located(ast.Call(ast.Attribute(name, "masked_fill"), [mask, value], []), value)
            yield from _assigned([name], filled, reader, page, line)  # scores[mask] = -np.inf
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="masked_fill_")) as value):
            yield from _assigned([name], value, reader, page, line)
        case ast.AugAssign(target=ast.Name() as name, op=op, value=value):  # scores /= np.sqrt(d_k)
            yield from _assigned([name], _located(ast.BinOp(name, op, value), value), reader, page, line)
        case ast.Assign(targets=targets, value=value):
            yield from _assigned(targets, value, reader, page, line)
        case ast.AnnAssign(target=target, value=value) if value:
            yield from _assigned([target], value, reader, page, line)
        case ast.Expr(value=ast.Call() | ast.BinOp() as value):
            yield from _assigned([], value, reader, page, line)


def _located(made: ast.expr, like: ast.expr) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(made, like))


def _assigned(targets: list[ast.expr], value: ast.expr, reader: Reader, page: Page, line: int) -> Iterator[Event]:
    reader.line = line
    read = [reader.read(target) for target in targets]
    right = reader.read(value)
    if right is None and len(targets) == 1 and isinstance(targets[0], ast.Name):
        reader.unread[targets[0].id] = value
    if right is None and holds_nan(value):
        yield Unread(line + value.lineno - 1, _text(value), "NaN is no number")
    if right is None or not all(isinstance(name, Name) for name in read) or (not read and isinstance(right, Name)):
        return
    name = read[0] if len(read) == 1 else None
    shown = isinstance(name, Name) and name.symbol == reader.made and isinstance(value, ast.List)
    reader.made = name.symbol if isinstance(name, Name) and not is_literal(right) else None
    if shown:  # 'A = softmax(S)', and then 'A = [[0.7, 0.3], …]': what it is
        place = reader.place(targets[0])
        yield from _echo(*_shown(targets[0], reader), _text(value), place, page, line + value.lineno - 1)
        return
    if isinstance(right, Mask):
        yield Said("causal mask", line)
    right = _inlined(right, read, reader)
    sides: list[tuple[ast.expr, Expr]] = [*zip(targets, (n for n in read if n), strict=True), (value, right)]
    for name, target in zip(read, targets, strict=True):
        if isinstance(name, Name) and not is_literal(right):
            reader.formulas[name.symbol] = right
        elif isinstance(target, ast.Name) and isinstance(right, Matrix):
            reader.literals[target.id] = right
    links = tuple(
        Link(Relation.EQUAL if i else Relation.FIRST, side, _text(node), reader.place(node))
        for i, (node, side) in enumerate(sides)
    )
    end = line + (value.end_lineno or value.lineno) - 1
    text = " = ".join(link.text for link in links)
    yield Stated(Chain(links, links[0].at, end, text), Origin.CODE)


def _inlined(formula: Expr, targets: list[Expr | None], reader: Reader) -> Expr:
    """`scores = scores / 2` in terms of what scores was before; and what is made of such a name, in its new terms."""
    reader.anew |= {part.symbol for part in walk(formula) if isinstance(part, Name) and part in targets}

    def change(part: Expr) -> Expr:
        known = isinstance(part, Name) and part.symbol in reader.anew
        return reader.formulas.get(part.symbol, part) if isinstance(part, Name) and known else part

    return rewrite(formula, change) if reader.anew else formula


def _text(node: ast.expr) -> str:
    """The source of a node as Python prints it; of an array over many lines only a mark."""
    lines = (node.end_lineno or node.lineno) - node.lineno
    columns = (node.end_col_offset or 0) - node.col_offset
    return "…" if lines > 100 or (lines == 0 and columns > 10_000) else ast.unparse(node)[:500]
