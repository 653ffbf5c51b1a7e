"""How a document was understood, in the terminal: each statement and each given with its line, name, role and shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group
from rich.text import Text

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.interpret.fit import say
from qkv.program.model import Given, Program
from qkv.render.lines import hanging
from qkv.sheet.model import Link, Relation, Repair, Sheet, Statement, Unread

LINE = 6
NAME, SHAPE = 10, 6  # columns for the names and shapes of givens

# What a given is for, in words; a role without a row here is its own word.
ROLES = {
    Role.X: "tokens",
    Role.Y: "tokens of the other sequence",
    Role.W_Q: "query weights",
    Role.W_K: "key weights",
    Role.W_V: "value weights",
    Role.W_O: "output weights",
    Role.B_Q: "query bias",
    Role.B_K: "key bias",
    Role.B_V: "value bias",
    Role.B_O: "output bias",
    Role.Q: "queries",
    Role.K: "keys",
    Role.V: "values",
    Role.SOURCE: "the vector that attends",
    Role.STATES: "the vectors that are attended to",
    Role.WEIGHTS: "attention weights",
    Role.D_K: "size of a key",
    Role.D_V: "size of a value",
    Role.D_MODEL: "size of a token",
    Role.HEADS: "number of heads",
    Role.OTHER: "not needed",
}


def sheet(sheet: Sheet, width: int = 100, programs: Iterable[Program] = ()) -> Group:
    """Statements in order under the headings of the document, the problems that they make, then repairs and what could
    not be read."""
    parts: list[Text] = []
    for index, part in enumerate(sheet.parts):
        mine = [statement for statement in sheet.statements if statement.part == index]
        if not mine:
            continue
        parts.append(Text(f"{part.line:>{LINE - 2}}  {part.title or sheet.file}", style="bold"))
        parts += [_statement(statement, width) for statement in mine]
        parts.append(Text())
    for program in programs:
        parts += _program(program, width)
    parts += [*_repairs(sheet.repairs), *_unread(sheet.unread, width), _counts(sheet)]
    return Group(*parts)


def _program(program: Program, width: int) -> Iterator[Text]:
    title = " ".join(program.title.split())
    yield Text(f"{program.line:>{LINE - 2}}  {title or 'problem'}: {program.kind}", style="bold cyan")
    for given in program.givens:
        yield _given(given)
    steps = ", ".join(f"{symbol_plain(step.symbol)} = {plain(step.expr)}" for step in program.steps)
    yield from hanging(f"{'':{LINE}}steps: ", steps or "none", width, "dim")
    for note in program.notes:
        yield from hanging(f"{'':{LINE}}note: ", note, width, "italic")
    yield Text()


def _given(given: Given) -> Text:
    """A given: line, name, shape, role and head."""
    line = "" if given.line is None else str(given.line)
    shape = say(given.expr.shape) if isinstance(given.expr, n.Matrix) else ""
    head = "" if given.head is None else f" of head {given.head}"
    text = Text().append(f"{line:>{LINE - 2}}  ", style="dim")
    text.append(f"{symbol_plain(given.symbol):<{NAME}} ", style="cyan")
    text.append(f"{shape:<{SHAPE}} ")
    text.append(ROLES.get(given.role, given.role.value) + head)
    return text.append(", follows from the shapes" if given.implied else "", style="dim")


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
        short = text if len(text) <= room else text[: room - 1] + "…"
        yield Text(f"{item.line:>{LINE - 2}}  {short}  ({item.reason})", style="yellow")
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
