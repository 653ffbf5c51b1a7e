"""A worked solution in the terminal: each step with its name, formula, shape and numbers, and how a cell came about."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.text import Text

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.interpret.fit import say
from qkv.interpret.trace import Trace
from qkv.program.model import Answer, Given, Part, Program, Step
from qkv.render.grid import Grid, grids, pretty
from qkv.render.lines import hanging
from qkv.render.options import DEFAULT, Depth, Options
from qkv.render.plainly import shortened
from qkv.render.shown import Shown, above_advice, formula, shown, shown_part, steps_shown
from qkv.render.workings import PLAIN, Writer, explained, remembered

if TYPE_CHECKING:
    from qkv.reader.model import Unread

# One colour for each kind of quantity, wherever it is named.
COLOURS: dict[Role, str] = {
    role: colour
    for colour, roles in {
        "cyan": (Role.Q, Role.W_Q, Role.B_Q, Role.SOURCE),
        "magenta": (Role.K, Role.W_K, Role.B_K, Role.STATES),
        "green": (Role.V, Role.W_V, Role.B_V),
        "yellow": (Role.SCORES, Role.SCALED, Role.MASK, Role.MASKED),
        "bright_blue": (Role.WEIGHTS,),
        "dark_orange": (Role.HEAD, Role.CONCAT, Role.OUTPUT, Role.CONTEXT, Role.W_O),
    }.items()
    for role in roles
}
# Shades behind attention weights, from next to nothing to everything: one hue, ever darker and ever stronger, so that
# they are in order on light and on dark ground alike.
HEAT = ("", *(f"#ffffff on {x}" for x in ("#6c7589", "#526798", "#3659ab", "#1a4bbc", "#003ac2")))
INDENT = 4
SIDE_BY_SIDE = 4  # blanks between matrices that stand beside each other


def solution(
    traces: Iterable[Trace],
    options: Options = DEFAULT,
    console_width: int = 100,
    unread: Iterable[Unread] = (),
    advice: Sequence[str] = (),
) -> Group:
    """The worked solution as a rich renderable, laid out for a width."""
    worked, parts = list(traces), list[Text]()
    for trace in worked:
        parts += _problem(trace, options, console_width)
    if advice or not parts:
        parts.append(Text(above_advice(worked), style="bold yellow"))
    for line in advice:
        says, *command = line.split("\n")
        parts += hanging("  ", says, console_width)
        # a command is never wrapped: it is there to be copied
        parts += [Text(f"    {part}", "bold", no_wrap=True, overflow="ignore") for part in command]
    return Group(*parts, *_unread(unread))


def joined(parts: Sequence[RenderableType], width: int, colour: bool = False) -> str:
    """Renderables as text, with or without the marks of colour; lines have no trailing blanks without it."""
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=colour, legacy_windows=False, highlight=False)
    for part in parts:
        console.print(part, crop=False)  # a long file name is wrapped, never cut
    if colour:
        return buffer.getvalue()
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def _problem(trace: Trace, options: Options, width: int) -> Iterator[Text]:
    program = trace.program
    yield from _heading(program, width)
    if options.depth is not Depth.BRIEF and program.givens:
        yield from _givens(trace, options, width)
    head = None
    for number, step in enumerate(steps_shown(trace, options), 1):
        if step.head not in (None, head):
            yield Text(f"head {step.head}", style="dim")
        head = step.head
        yield from _step(trace, step, number, options, width)
    for note in program.notes:
        yield from hanging("note: ", note, width, "italic")
    if program.notes:
        yield Text()
    if program.answers:
        yield Text("answers", style="bold")
    for answer in program.answers:
        yield from _answer(trace, answer, options, width)


def _answer(trace: Trace, answer: Answer, options: Options, width: int) -> Iterator[Text]:
    """A question under its own label, the quantities that answer it, and what was assumed."""
    yield from hanging(f"{answer.label or '•':>3} ", answer.text, width, "dim")
    blocks = [_part(trace, answer, part, options, width) for part in answer.parts]
    yield from _beside(blocks, width)
    for head, said, style in (("", answer.says, "bold"), ("not answered: ", answer.missing, "yellow")):
        if said:
            yield from hanging(f"{'':{INDENT}}{head}", said, width, style)
    for note in answer.assumed:
        yield from hanging(f"{'':{INDENT}}assumed: ", note, width, "dim")
    if not answer.parts or answer.says or answer.assumed:
        yield Text()


def _part(trace: Trace, answer: Answer, part: Part, options: Options, width: int) -> list[Text]:
    value = shown_part(trace, answer, part, options)
    label = Text().append(f"{part.name} {'=' if value.exact else '≈'} ", style="bold")
    return _labelled(label, value, width)


def _heading(program: Program, width: int) -> Iterator[Text]:
    title = " ".join(program.title.split()) or program.kind
    text = Text().append(title, style="bold")
    if title != program.kind:
        text.append(f"  {program.kind}", style="dim")
    yield text
    yield Text("─" * min(width, max(len(text), 24)), style="dim")


def _givens(trace: Trace, options: Options, width: int) -> Iterator[Text]:
    blocks = [_given(given, shown(trace, given, options), width) for given in trace.program.givens]
    yield Text("given", style="dim")
    yield from _beside(blocks, width)


def _given(given: Given, value: Shown, width: int) -> list[Text]:
    label = _name(given.symbol, given.role)
    label.append(" = ")
    return _labelled(label, value, width)


def _labelled(label: Text, value: Shown, width: int) -> list[Text]:
    """A value with its name before the middle line."""
    if value.is_number:
        return [label.append(pretty(value.rows[0][0]))]
    grid = grids(value.rows, width - INDENT - len(label))[0]
    lines = []
    for i, line in enumerate(grid.lines):
        head = label if i == grid.middle else Text(" " * len(label))
        lines.append(head + Text(line))
    return lines + _caption(grid, value, len(label))


def _beside(blocks: list[list[Text]], width: int) -> Iterator[Text]:
    """Blocks of lines next to each other while they fit, then below."""
    for group in _rows_of(blocks, width - INDENT):
        height = max(len(block) for block in group)
        for i in range(height):
            line = Text(" " * INDENT)
            for block in group:
                size = max(len(text) for text in block)
                offset = (height - len(block)) // 2
                text = block[i - offset] if 0 <= i - offset < len(block) else Text()
                line += text + Text(" " * (size - len(text) + SIDE_BY_SIDE))
            line.rstrip()
            yield line
        yield Text()


def _rows_of(blocks: list[list[Text]], room: int) -> Iterator[list[list[Text]]]:
    group: list[list[Text]] = []
    used = 0
    for block in blocks:
        size = max(len(text) for text in block)
        if group and used + SIDE_BY_SIDE + size > room:
            yield group
            group, used = [], 0
        group.append(block)
        used += size + (SIDE_BY_SIDE if used else 0)
    if group:
        yield group


def _step(trace: Trace, step: Step, number: int, options: Options, width: int) -> Iterator[Text]:
    value, values = shown(trace, step, options), remembered(trace.evaluate)
    writer = Writer(PLAIN, values, options.digits, options.places)
    yield _title(trace, step, formula(trace, step, options), number, value, width)
    if isinstance(step.expr, n.Number):  # it stands in the title
        yield Text()
        return
    everything = options.depth is Depth.FULL
    for grid in grids(value.rows, width - INDENT, everything):
        yield from _matrix(grid, value, step.role)
    for row, column in explained(step.expr, value.shape, values, options):
        head = f"{' ' * INDENT}{symbol_plain(step.symbol)}({row},{column}) = "
        yield from hanging(head, writer.equation(step.expr, row, column), width, "dim")
    yield Text()


def _title(trace: Trace, step: Step, expr: n.Expr, number: int, value: Shown, width: int) -> Text:
    text = Text().append(f"{number:>2}  ", style="dim")
    text.append_text(_name(step.symbol, step.role))
    if isinstance(step.expr, n.Number):
        text.append(f" {'=' if value.exact else '≈'} {pretty(value.rows[0][0])}")
    else:
        text.append(" = ").append_text(_formula(trace.program, expr))
    shape = "" if value.is_number else say(value.shape)
    says = step.says if len(text) + len(step.says) + len(shape) + 5 <= width else ""
    tail = "  ".join(part for part in (says, shape) if part) if len(text) + len(shape) + 3 <= width else ""
    text.append(" " * max(3, min(width - len(text) - len(tail), 40 - len(text))) + tail, style="dim")
    return text


def _formula(program: Program, expr: n.Expr) -> Text:
    """The formula, each name in the colour of its role."""
    text = Text(plain(expr).replace("^T", "ᵀ"))
    for symbol in sorted(n.names_in(expr), key=lambda s: -len(symbol_plain(s))):
        item = program.item(symbol)
        if item is not None and item.role in COLOURS:
            text.highlight_regex(rf"(?<![\w^]){_escaped(symbol_plain(symbol))}(?!(?!ᵀ)\w)", COLOURS[item.role])
    return text


def _escaped(name: str) -> str:
    return "".join(x if x.isalnum() else "\\" + x for x in name)


def _matrix(grid: Grid, value: Shown, role: Role) -> Iterator[Text]:
    for i, (line, spans) in enumerate(zip(grid.lines, grid.spans, strict=True)):
        sign = "" if i != grid.middle else "= " if value.exact else "≈ "
        text = Text(sign.rjust(INDENT) + line)
        for span in spans:
            if role is Role.WEIGHTS:
                style = _heat(value.rows[span.row][span.column])
                text.stylize(style, span.start + INDENT - 1, span.end + INDENT + 1)
        yield text
    yield from _caption(grid, value, INDENT)


def _heat(weight: str) -> str:
    share = min(max(float(weight), 0.0), 1.0)
    return HEAT[min(int(share * len(HEAT)), len(HEAT) - 1)]


def _caption(grid: Grid, value: Shown, indent: int) -> list[Text]:
    return [Text(f"{' ' * indent}({grid.caption} of {say(value.shape)})", style="dim")] if grid.caption else []


def _name(symbol: Symbol, role: Role) -> Text:
    return Text().append(symbol_plain(symbol), style=f"bold {COLOURS.get(role, '')}".strip())


def _unread(unread: Iterable[Unread]) -> Iterator[Text]:
    found = list(unread)
    if found:
        yield Text("not read", style="bold yellow")
    for item in found:
        yield Text(f"  line {item.line}: {shortened(' '.join(item.text.split()), 60)}  ({item.reason})", style="dim")
