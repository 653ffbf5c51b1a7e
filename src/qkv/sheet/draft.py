"""Events in document order → a Sheet: parts, statements with the words around them, questions.

The readers of blocks (prose.py, tables.py, code.py) yield events and know nothing of each other; here they become one
document.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from qkv.errors import Location
from qkv.expr.nodes import Matrix, Name, Product, is_literal
from qkv.records import dataclass, record, replace
from qkv.sheet.cues import name_at_end
from qkv.sheet.grammar import Chain, parse_math
from qkv.sheet.model import Link, Origin, Part, Question, Relation, Sheet, Statement, Unread

_KEPT = 300  # characters of prose kept before a statement


@record(frozen=True, slots=True)
class Said:
    """Words, or mathematics that states nothing, as part of the running text."""

    text: str
    at: Location


@record(frozen=True, slots=True)
class Stated:
    """A chain that was read. `named` lets the words before a bare matrix give it its name."""

    chain: Chain
    origin: Origin
    struck: bool = False
    row_label: str = ""
    named: bool = True
    row_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Titled:
    """A heading with its level; the words of a minor one count as words before what follows."""

    title: str
    line: int
    level: int
    minor: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence that asks."""

    text: str
    line: int


Event = Said | Stated | Titled | Asked | Unread


@dataclass(slots=True)
class _Assembly:
    """The document so far."""

    parts: list[Part] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)  # since the last statement of this part


def assemble(events: Iterable[Event], file: str, text: str) -> Sheet:
    """Fold events into a Sheet."""
    lines = text.count("\n") + 1
    sheet = _Assembly(parts=[Part("", 1, lines, 1)])
    for event in events:
        match event:
            case Said():
                _say(sheet, event)
            case Stated():
                _state(sheet, event)
            case Titled():
                _title(sheet, event, lines)
            case Asked():
                sheet.questions.append(Question(event.text, event.line, len(sheet.parts) - 1))
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
    sheet.said = [Said(event.title, Location(event.line))] if event.minor else []


def _say(sheet: _Assembly, event: Said) -> None:
    """Keep words for the statement to come, and as the rest of the line of the one before."""
    last = sheet.statements[-1] if sheet.statements else None
    if last is not None and last.end_line == event.at.line and last.part == len(sheet.parts) - 1:
        sheet.statements[-1] = replace(last, after=_join(last.after, event.text)[:_KEPT])
    sheet.said.append(event)


def _state(sheet: _Assembly, event: Stated) -> None:
    chain, links = event.chain, event.chain.links
    if chain.lead:
        sheet.said.append(Said(chain.lead, chain.at))
    if event.named and len(links) == 1 and isinstance(links[0].expr, Matrix) and not chain.continues:
        if not sheet.said and sheet.statements:
            sheet.statements[-1] = _with_times(sheet.statements[-1])
        links = _with_name(sheet, links)
    before = ""
    for said in sheet.said[-40:]:
        before = _join(before, said.text)
    sheet.statements.append(
        Statement(
            links=links,
            at=min(chain.at, links[0].at),
            end_line=chain.end_line,
            text=chain.text,
            origin=event.origin,
            part=len(sheet.parts) - 1,
            before=before[-_KEPT:].lstrip(" .,;:，。；、"),
            after=chain.trail,
            struck=event.struck or chain.struck,
            continues=chain.continues,
            row_label=event.row_label,
            row_labels=event.row_labels,
        )
    )
    sheet.said = []


def _with_times(statement: Statement) -> Statement:
    """'Output = [..] X' right before a bare matrix: the X is a times sign, and its right side is that matrix."""
    last = statement.links[-1]
    product = last.expr
    if not isinstance(product, Product) or not isinstance(product.right, Name) or not is_literal(product.left):
        return statement
    if str(product.right.symbol) not in ("X", "x") or not isinstance(product.left, Matrix):
        return statement
    link = replace(last, expr=product.left, note=f"{last.note} ends with ×".strip())
    return replace(statement, links=(*statement.links[:-1], link))


def _with_name(sheet: _Assembly, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """A bare matrix under 'Input Matrix X (3 × 4):' is X = the matrix."""
    said = sheet.said
    if not said or links[0].relation is not Relation.FIRST:
        return links
    cues = [piece for piece in said[-8:] if piece.at.line == said[-1].at.line]
    found = name_at_end(_with_aside(sheet, " ".join(piece.text for piece in cues)))
    if not found:
        return links
    parsed = parse_math(found, _place_in(cues, found))
    if len(parsed.chains) != 1 or len(parsed.chains[0].links) != 1:
        return links
    name = parsed.chains[0].links[0]
    if not isinstance(name.expr, Name):
        return links
    return (name, replace(links[0], relation=Relation.EQUAL))


def _with_aside(sheet: _Assembly, cue: str) -> str:
    """The '):' after '`X` (3 tokens, d_model = 3' with all that it closes."""
    last = sheet.statements[-1] if cue.startswith(")") and sheet.statements else None
    return f"{last.before} {last.text} {cue}" if last and last.end_line == sheet.said[-1].at.line else cue


def _place_in(cues: list[Said], name: str) -> Location:
    """Where a name stands in the words before a matrix; marks around mathematics and code stand before its place."""
    cue = next((piece for piece in reversed(cues) if name in piece.text), cues[-1])
    offset = max(cue.text.rfind(name), 0) - (cue.text[0] in "$`")
    return Location(cue.at.line, cue.at.column + max(offset, 0))


def _join(left: str, right: str) -> str:
    return f"{left} {right.strip()}".strip() if right.strip() else left
