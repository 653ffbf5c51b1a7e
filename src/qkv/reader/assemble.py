"""Events in document order → a Sheet: parts, questions, and statements with the words around and above them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from qkv.expr.nodes import Expr, Matrix, Name, Product, holds, names_in
from qkv.reader.model import Link, Origin, Part, Question, Relation, Sheet, Statement, Unread
from qkv.reader.page import Asked, Event, Mention, Said, Stated, Titled

_NEAR = 5  # lines from a caption to what it speaks of


@dataclass(slots=True)
class _Assembly:
    """The document so far."""

    parts: list[Part]
    statements: list[Statement] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)  # since the last statement of this part
    mention: Mention | None = None  # what the last words end with


def assemble(events: Iterable[Event], file: str, text: str) -> Sheet:
    """Fold events into a Sheet."""
    lines = text.count("\n") + 1
    sheet = _Assembly([Part("", 1, lines, 1)])
    for event in events:
        match event:
            case Said():
                _say(sheet, event)
            case Mention():
                sheet.mention = event
            case Stated():
                _state(sheet, event)
            case Titled():
                _title(sheet, event, lines)
            case Asked():
                sheet.questions.append(Question(event.text, event.line, len(sheet.parts) - 1, event.label))
            case Unread():
                sheet.unread.append(event)
    return Sheet(file, text, tuple(sheet.parts), tuple(sheet.statements), tuple(sheet.questions), tuple(sheet.unread))


def _title(sheet: _Assembly, event: Titled, lines: int) -> None:
    sheet.parts[-1] = replace(sheet.parts[-1], end_line=max(event.line - 1, sheet.parts[-1].line))
    part = Part(event.title, event.line, lines, event.level)
    if len(sheet.parts) == 1 and not sheet.parts[0].title and not (sheet.said or sheet.statements or sheet.questions):
        sheet.parts[0] = part  # nothing stood above the first heading
    else:
        sheet.parts.append(part)
    sheet.said = [Said(event.title, event.line)] if event.minor else []
    sheet.mention = None


def _say(sheet: _Assembly, event: Said) -> None:
    """Keep words for the statement to come, and as the rest of the line of the one before."""
    last = sheet.statements[-1] if sheet.statements else None
    if last is not None and last.end_line == event.line and last.part == len(sheet.parts) - 1:
        sheet.statements[-1] = replace(last, after=_join(last.after, event.text))
    sheet.said.append(event)
    sheet.mention = None


def _state(sheet: _Assembly, event: Stated) -> None:
    """Add a statement: as it is, under the name above it, or as the value of what the line above says."""
    chain, links = event.chain, event.chain.links
    bare = _is_bare(event)
    if bare and not sheet.said and sheet.statements:
        sheet.statements[-1] = _with_times(sheet.statements[-1], links[0].expr)
    if bare and event.label and _stacks(sheet, event):
        sheet.statements[-1] = _stacked(sheet.statements[-1], event)
    elif bare and _goes_on(sheet, event):
        sheet.statements.append(_joined(sheet.statements.pop(), event))
    elif bare and sheet.mention is not None and chain.at.line - sheet.mention.line <= _NEAR:
        named = (*sheet.mention.links, replace(links[0], relation=Relation.EQUAL))
        made = _statement(sheet, event, named)
        item = event.label and event.origin is not Origin.TABLE  # '- the: [1, 0]' under 'Q Kᵀ:' is its first row
        sheet.statements.append(replace(made, label="", row_labels=(event.label,)) if item else made)
    else:
        sheet.statements.append(_statement(sheet, event, links))
    sheet.said, sheet.mention = sheet.said if _is_aside(sheet.said) else [], None


def _is_aside(said: list[Said]) -> bool:
    """Whether a statement stands in the brackets of a caption of what follows: 'Scaled (divide by √2 = 1.414)'."""
    words = said[-1].text if said else ""
    return words.count("(") > words.count(")") and not words.lstrip().startswith("(")


def _statement(sheet: _Assembly, event: Stated, links: tuple[Link, ...]) -> Statement:
    chain = event.chain
    before = " ".join(said.text.strip() for said in sheet.said)
    return Statement(
        links=links,
        at=min(link.at for link in links),
        end_line=max(chain.end_line, max(link.at.line for link in links)),
        text=chain.text,
        origin=event.origin,
        part=len(sheet.parts) - 1,
        before=before.lstrip(" .,;:，。；、"),
        after=chain.trail,
        label=event.label,
        caption=_caption(sheet, event),
        struck=event.struck or chain.struck,
        continues=chain.continues,
        row_label=event.row_label,
        row_labels=event.row_labels,
        column_labels=event.column_labels,
    )


def _is_bare(event: Stated) -> bool:
    """Whether an event is one array that a line above may name."""
    links = event.chain.links
    return (
        event.whole
        and len(links) == 1
        and links[0].relation is Relation.FIRST
        and holds(links[0].expr, Matrix)
        and not names_in(links[0].expr)
    )


def _goes_on(sheet: _Assembly, event: Stated) -> bool:
    """Whether a block is the value of the formula on the line above: 'Z = A V', 'Z = A V by rows:' over a table."""
    last = sheet.statements[-1] if sheet.statements else None
    if last is None or last.struck or last.part != len(sheet.parts) - 1:
        return False
    own = {event.chain.at.line, last.end_line if last.after.rstrip().endswith(":") else 0}
    if not {said.line for said in sheet.said} <= own:
        return False
    if last.origin in (Origin.DISPLAY, Origin.CODE) or not 0 < event.chain.at.line - last.end_line <= _NEAR:
        return False
    if event.origin is Origin.DISPLAY and not last.after.rstrip().endswith((":", "=")):
        return False
    formula = last.links[-1].expr
    named = isinstance(formula, Name) and len(last.links) > 1 and not last.after.rstrip().endswith("=")  # Q = K = V
    return bool(names_in(formula)) and not holds(formula, Matrix) and not named


def _joined(last: Statement, event: Stated) -> Statement:
    """A formula with the block below it as its last link."""
    return replace(
        last,
        links=(*last.links, replace(event.chain.links[0], relation=Relation.EQUAL)),
        end_line=event.chain.end_line,
        text=f"{last.text}\n{event.chain.text}",
        origin=event.origin,
        row_labels=event.row_labels or ((event.label,) if event.label else ()),
        column_labels=event.column_labels,
    )


def _stacks(sheet: _Assembly, event: Stated) -> bool:
    """Whether a bullet goes on from those above it: 'Q Kᵀ:', '- the: [1, 0]', '- cat: [0, 1]'."""
    last = sheet.statements[-1] if sheet.statements else None
    if last is None or not last.row_labels or last.end_line != event.chain.at.line - 1 or len(last.links) < 2:
        return False
    above, below = last.links[-1].expr, event.chain.links[0].expr
    fits = isinstance(above, Matrix) and isinstance(below, Matrix) and len(below.rows) == 1
    return fits and above.shape[1] == below.shape[1] and len(last.row_labels) == len(above.rows)  # type: ignore[union-attr]


def _stacked(last: Statement, event: Stated) -> Statement:
    tail, below = last.links[-1], event.chain.links[0]
    rows = (*tail.expr.rows, *below.expr.rows)  # type: ignore[union-attr]
    link = replace(tail, expr=Matrix(rows, at=tail.expr.at), text=f"{tail.text}\n{below.text}")
    labels = (*last.row_labels, event.label)
    text = f"{last.text}\n{event.chain.text}"
    return replace(last, links=(*last.links[:-1], link), text=text, end_line=event.chain.end_line, row_labels=labels)


def _caption(sheet: _Assembly, event: Stated) -> str:
    """The line or heading right above a block."""
    if event.origin not in (Origin.TABLE, Origin.DISPLAY) and not _is_bare(event):
        return ""
    first = event.chain.at.line
    above = sheet.statements[-1] if sheet.statements else None
    if above is not None and event.label and above.label and above.end_line == first - 1:
        return above.caption  # the next bullet under the same line
    if sheet.said:
        last = sheet.said[-1]
        last = sheet.said[-2] if event.label and last.line == first and len(sheet.said) > 1 else last
        words = [said.text for said in sheet.said if said.line == last.line]
        return " ".join(words)[-200:] if first - last.line <= _NEAR else ""
    part = sheet.parts[-1]
    fresh = not sheet.statements or sheet.statements[-1].part < len(sheet.parts) - 1
    return part.title if fresh and part.title and first - part.line <= _NEAR else ""


def _with_times(statement: Statement, below: Expr) -> Statement:
    """'Output = [..] X' right before a bare matrix: the X is a times sign, and its right side is that matrix."""
    last = statement.links[-1]
    product = last.expr
    if not isinstance(product, Product) or not isinstance(product.right, Name) or not isinstance(product.left, Matrix):
        return statement
    if str(product.right.symbol) not in ("X", "x") or not isinstance(below, Matrix):
        return statement
    link = replace(last, expr=product.left, note=f"{last.note} ends with ×".strip())
    return replace(statement, links=(*statement.links[:-1], link))


def _join(left: str, right: str) -> str:
    return f"{left} {right.strip()}".strip() if right.strip() else left
