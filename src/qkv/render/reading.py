"""How a document was understood, in the terminal: its statements, and each quantity with its line, shape and role."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.text import Text

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.fit import say
from qkv.reader.model import Link, Relation, Repair, Sheet, Statement, Unread
from qkv.render.lines import hanging
from qkv.render.plainly import shortened
from qkv.render.understood import chosen, known, role
from qkv.solving.understood import Problem, Quantity, Understood

LINE = 6
NAME, SHAPE = 6, 6  # columns for the names and shapes of quantities
WIDEST_NAME = 20
WIDEST = 36  # of the column for their roles


def understood(found: Understood, width: int = 100) -> Group:
    """The problems of a document with each quantity, as a person would want to correct them; then what it says line by
    line, repairs, and what could not be read."""
    sheet, parts = found.sheet, list[Text]()
    for problem in found.problems:
        parts += _problem(problem, found, width)
    parts += _correction(found, width)
    for index, part in enumerate(sheet.parts):
        mine = [statement for statement in sheet.statements if statement.part == index]
        if not mine:
            continue
        parts.append(Text(f"{part.line:>{LINE - 2}}  {part.title or sheet.file}", style="bold"))
        parts += [_statement(statement, width) for statement in mine]
        parts.append(Text())
    parts += [*_repairs(sheet.repairs), *_unread(sheet.unread, width), _counts(sheet)]
    return Group(*parts)


def _correction(found: Understood, width: int) -> Iterator[Text]:
    """How to say that something is meant otherwise, with an example from the page."""
    quantities = [quantity for problem in found.problems for quantity in problem.quantities if quantity.line]
    array = next((q for q in quantities if q.name.startswith("@") and q.shape), None)
    doubtful = next((q for q in quantities if q.rivals and q.shape), None)
    line = array or doubtful or (quantities[0] if quantities else None)
    if line is not None:
        yield from hanging("to correct: ", f'--let "NAME = EXPRESSION", such as --let "K = @{line.line}"', width, "dim")
        yield Text()


def _problem(problem: Problem, found: Understood, width: int) -> Iterator[Text]:
    program = problem.program
    title = " ".join(program.title.split())
    yield Text(f"{program.line:>{LINE - 2}}  {title or 'problem'}: {program.kind}", style="bold cyan")
    if said := chosen(problem, found):
        yield from hanging(f"{'':{LINE}}chosen: ", said, width, "dim")
    widest = min(max((len(role(quantity.place)) for quantity in problem.quantities), default=0), WIDEST)
    names = min(max((len(quantity.name) for quantity in problem.quantities), default=0), WIDEST_NAME)
    for quantity in problem.quantities:
        yield from _quantity(quantity, max(names, NAME), widest, width)
    if not problem.quantities:
        steps = ", ".join(f"{step.spelled or step.symbol} = {plain(step.expr)}" for step in program.steps)
        yield from hanging(f"{'':{LINE}}steps: ", steps or "none", width, "dim")
    for note in program.notes:
        yield from hanging(f"{'':{LINE}}note: ", note, width, "italic")
    yield Text()


def _quantity(quantity: Quantity, names: int, widest: int, width: int) -> Iterator[Text]:
    """A quantity: line, name, shape, what it is taken for, how that is known; and what it might be instead."""
    line = "" if quantity.line is None else str(quantity.line)
    shape = "" if quantity.shape is None else say(quantity.shape)
    name = shortened(quantity.name, names)
    head = f"{line:>{LINE - 2}}  {name:<{names}} {shape:<{SHAPE}} {role(quantity.place):<{widest}}  "
    how, style = known(quantity), "yellow" if quantity.known == "unread" else "dim"
    if len(head) + len(how) > width and len(head) > width // 2:
        yield Text(head.rstrip())
        head = " " * (LINE + 2)
    for number, text in enumerate(hanging(head, how, width)):
        text.stylize(style, 0 if number else len(head))
        yield text
    if quantity.rivals:
        yield from hanging(f"{'':{LINE + 2}}or: ", ", ".join(quantity.rivals), width, "dim italic")


def _statement(statement: Statement, width: int) -> Text:
    text = Text().append(f"{statement.at.line:>{LINE - 2}}  ", style="dim")
    style = "strike" if statement.struck else ""
    for place, link in enumerate(statement.links):
        if link.relation is not Relation.FIRST:
            text.append(f"{' ' if place else ''}{link.relation} ", style="dim")
        text.append(_link(link), style="strike" if link.struck else style)
    if len(text) > width:
        text.truncate(width, overflow="ellipsis")
    return text


def _link(link: Link) -> str:
    """An expression, its literal matrices by their shapes."""
    return plain(n.rewrite(link.expr, _short))


def _short(node: n.Expr) -> n.Expr:
    if not isinstance(node, n.Matrix):
        return node
    ragged = ", ragged" if node.is_ragged else ""
    first = ", ".join(plain(cell) for cell in node.rows[0][:4]) if node.rows else ""
    more = ", …" if node.rows and (len(node.rows[0]) > 4 or len(node.rows) > 1) else ""
    return n.Name(Symbol(f"[{first}{more}]({say(node.shape)}{ragged})"))  # a name stands in for the whole matrix


def _repairs(repairs: tuple[Repair, ...]) -> Iterator[Text]:
    if repairs:
        yield Text("repaired", style="bold")
    for repair in repairs:
        yield Text(f"{repair.line:>{LINE - 2}}  {repair.found} read as {repair.read_as}: {repair.reason}")
    if repairs:
        yield Text()


def _unread(unread: tuple[Unread, ...], width: int) -> Iterator[Text]:
    if unread:
        yield Text("not read", style="bold yellow")
    for item in unread:
        text = " ".join(item.text.split())
        room = max(width - LINE - len(item.reason) - 4, 16)
        yield Text(f"{item.line:>{LINE - 2}}  {shortened(text, room)}  ({item.reason})", style="yellow")
    if unread:
        yield Text()


def _counts(sheet: Sheet) -> Text:
    counts = (
        (len(sheet.statements), "statement"),
        (len(sheet.questions), "question"),
        (len(sheet.repairs), "repair"),
        (len(sheet.unread), "unread piece"),
    )
    return Text(", ".join(f"{k} {word}{'' if k == 1 else 's'}" for k, word in counts), style="dim")
