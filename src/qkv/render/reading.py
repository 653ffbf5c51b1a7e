"""How a document was understood, in the terminal: each statement with its line, its shapes and its repairs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.text import Text

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.fit import say
from qkv.sheet.model import Link, Relation, Repair, Sheet, Statement, Unread

LINE = 6


def sheet(sheet: Sheet, width: int = 100) -> Group:
    """Statements in order under the headings of the document, then repairs and what could not be read."""
    parts: list[Text] = []
    for index, part in enumerate(sheet.parts):
        mine = [statement for statement in sheet.statements if statement.part == index]
        if not mine:
            continue
        parts.append(Text(f"{part.line:>{LINE - 2}}  {part.title or sheet.file}", style="bold"))
        parts += [_statement(statement, width) for statement in mine]
        parts.append(Text())
    parts += [*_repairs(sheet.repairs), *_unread(sheet.unread, width), _counts(sheet)]
    return Group(*parts)


def _statement(statement: Statement, width: int) -> Text:
    text = Text(f"{statement.at.line:>{LINE - 2}}  ", style="dim")
    style = "strike" if statement.struck else ""
    if statement.continues:
        text.append("… ", style="dim")
    for link in statement.links:
        if link.relation is not Relation.FIRST:
            text.append(f" {link.relation} ", style="dim")
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
