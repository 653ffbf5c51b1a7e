"""Matrices and products that are drawn over several lines → the same tokens in the order of one line.

    Q = [ 1 0 ]    K = [ 1 1 ]            [2, 0, 1]   [1, 0]   [2, 1]
        [ 0 1 ]        [ 0 1 ]            [0, 1, 3] × [2, 1] = [2, 4]
                                                      [0, 1]
A row of brackets belongs to the matrix that stands above it. Tokens keep their places.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from qkv.reader.maths.tokens import Token

_SILENT = frozenset(("note", "sep", "edge", "wide"))  # what may stand behind a row


def straightened(tokens: list[Token], source: str) -> list[Token]:
    """The tokens with every drawing written on one line."""
    if sum(t.text == "[" for t in tokens) < 2 or not any(t.kind == "line" for t in tokens):
        return tokens
    lines = _lines(tokens)
    bare = [_without_remark(line) for line in lines]
    out: list[Token] = []
    at = depth = 0
    while at < len(lines):
        end = at + 1
        if depth == 0 and any(t.text == "[" for t in lines[at]):
            while end < len(lines) and _is_row_line(bare[end]):
                end += 1
        drawing = _Drawing(source, bare[at:end]).flat() if end - at > 1 else None
        if drawing is None:
            inside = max(0, depth + sum({"[": 1, "]": -1}.get(t.text, 0) for t in bare[at]))
            out += (
                bare[at] if depth or inside else lines[at]
            )  # what is said beside the rows of one array is no part of it
            depth = inside
        else:
            out += drawing
        at = at + 1 if drawing is None else end
    return out


def _lines(tokens: list[Token]) -> list[list[Token]]:
    """The tokens line by line; each line ends with its own 'line' token."""
    lines: list[list[Token]] = [[]]
    for token in tokens:
        lines[-1].append(token)
        if token.kind == "line":
            lines.append([])
    return [line for line in lines if line]


def _without_remark(line: list[Token]) -> list[Token]:
    """A line without what is said beside its last row, some way off: '[ 0  -∞ ]    position 1 sees itself only'."""
    for k in range(len(line) - 1, 1, -1):
        if line[k].text == "[":
            break
        before = line[k - 1]
        off = before.kind == "wide" or (before.text == "," and line[k].start > before.end + 1)
        if line[k].kind == "prose" and off and line[k - 2].text == "]":
            kept = line[:k] if before.text == "," else line[: k - 1]
            return kept + [token for token in line[-1:] if token.kind == "line"]
    return line


def _is_row_line(line: list[Token]) -> bool:
    """Whether a line consists of bracketed rows and signs between them."""
    rows, depth = 0, 0
    if line[0].kind == "rel" or (line[0].kind == "op" and line[0].text in "+-"):
        return False  # the next side, or the next term
    for token in line:
        if token.text == "[":
            rows += depth == 0
            depth += 1
        elif token.text == "]":
            depth = max(0, depth - 1)
        elif depth == 0 and token.kind not in _SILENT and token.kind not in ("line", "op", "rel", "quote"):
            named = token.kind in ("name", "script", "num", "sub", "sup") or token.text in "{}"
            if not named and not (rows > 0 and token.kind == "prose" and "note" in {t.kind for t in line}):
                return False
    return rows > 0


@dataclass(slots=True)
class _Row:
    """One bracketed row: its tokens without brackets, the columns that it covers, where its brackets stand, and the
    remarks behind it."""

    tokens: list[Token]
    left: int
    right: int
    start: int
    end: int
    notes: list[Token] = field(default_factory=list)


@dataclass(slots=True)
class _Column:
    """A matrix of the drawing: its rows, and the tokens before it on the line that names it."""

    rows: list[_Row]
    lead: list[Token] = field(default_factory=list)


class _Drawing:
    """Lines that belong together, sorted into matrices from left to right."""

    def __init__(self, source: str, lines: list[list[Token]]) -> None:
        self.source, self.lines = source, lines

    def _column(self, offset: int) -> int:
        return offset - (self.source.rfind("\n", 0, offset) + 1)

    def flat(self) -> list[Token] | None:
        """The tokens on one line; None where the lines are statements of their own."""
        parsed = [self._parts(line) for line in self.lines]
        if any(part is None for part in parsed):
            return None
        widest = max((part for part in parsed if part is not None), key=lambda part: len(part[0]))
        opened = sum(t.text == "[" for t in self.lines[0]) - sum(t.text == "]" for t in self.lines[0])
        if len(widest[0]) == 1 and opened:
            return None  # a nested list over several lines needs no straightening
        columns = [_Column([]) for _ in widest[0]]
        anchors = [(row.left, row.right) for row in widest[0]]
        leads = 0
        for part in parsed:
            rows, signs = part  # type: ignore[misc]
            leads += any(s.kind not in _SILENT and s.kind != "line" for sign in signs[: len(rows)] for s in sign)
            for k, row in enumerate(rows):
                place = k if len(rows) == len(anchors) else self._place(row, anchors)
                if place is None:
                    return None
                columns[place].rows.append(row)
                columns[place].lead += signs[k]
        if leads > 1 or any(not column.rows for column in columns) or not self._is_drawing(columns):
            return None
        others = [part[1][-1] for part in parsed if part is not None and part is not widest]
        behind = [t for tail in others for t in tail if t.kind not in _SILENT and t.kind != "line"]
        apart = [_sign("wide", " ", behind[0].start)] if behind else []  # a statement beside the second row
        return self._written(columns, [*apart, *behind, *widest[1][-1]])

    def _parts(self, line: list[Token]) -> tuple[list[_Row], list[list[Token]]] | None:
        """The bracketed rows of a line, and the tokens before each and behind the last. Of [[1, 0], the inner list
        is the row; the outer bracket is left out."""
        rows: list[_Row] = []
        signs: list[list[Token]] = [[]]
        opened: Token | None = None
        inside: list[Token] = []
        whole = 0  # where a matrix ends that stands on this line alone: [[1, 0], [0, 1]] is one operand
        for k, token in enumerate(line):
            whole = max(whole, _end_of_matrix(line, k)) if opened is None else whole
            if k < whole:
                signs[-1].append(token)
            elif token.text == "[":
                opened, inside = token, []
            elif token.text == "]" and opened is not None:
                rows.append(
                    _Row(inside, self._column(opened.start), self._column(token.end - 1), opened.start, token.end)
                )
                signs.append([])
                opened = None
            elif opened is not None:
                inside.append(token)
            elif token.kind == "note" and rows:
                rows[-1].notes.append(token)
            elif token.text != "]" and not (token.text == "," and line[k - 1].text == "]"):
                signs[-1].append(token)
        return (rows, signs) if rows and opened is None else None

    def _place(self, row: _Row, anchors: list[tuple[int, int]]) -> int | None:
        over = [k for k, (left, right) in enumerate(anchors) if row.left <= right and row.right >= left]
        return over[0] if len(over) == 1 else None

    def _is_drawing(self, columns: list[_Column]) -> bool:
        """Whether the rows under each other belong together: they begin at nearly the same column."""
        for column in columns:
            lefts = [row.left for row in column.rows]
            if max(lefts) - min(lefts) > (1 if len(columns) == 1 else 3):
                return False
        return any(len(column.rows) > 1 for column in columns)

    def _written(self, columns: list[_Column], tail: list[Token]) -> list[Token]:
        out: list[Token] = []
        for column in columns:
            lead = _statements([t for t in column.lead if t.kind != "line"])
            first, last = column.rows[0], column.rows[-1]
            if out and (not lead or lead[0].kind == "name"):
                out.append(_sign("wide", " ", first.start))  # a matrix of its own
            out += lead
            if len(column.rows) == 1:
                out += _bracketed(first)
                continue
            out.append(_sign("open", "[", first.start, gap=True))
            for k, row in enumerate(column.rows):
                out += [_sign("sep", ",", row.start)] if k else []
                out += _bracketed(row)
            out.append(_sign("close", "]", last.end))
        return [*out, *tail]


def _statements(lead: list[Token]) -> list[Token]:
    """What stands before a matrix, with wide gaps only where another statement begins: 'W_Q = I    W_K ='."""
    rels = [k for k, token in enumerate(lead) if token.kind == "rel"]
    wide = [k for k, token in enumerate(lead) if token.kind == "wide" and rels and rels[0] + 1 < k < rels[-1]]
    return [token for k, token in enumerate(lead) if token.kind != "wide" or k in wide]


def _end_of_matrix(line: list[Token], k: int) -> int:
    """The place behind a matrix of several rows that begins at k and ends on the same line; 0 where none does."""
    if [t.text for t in line[k : k + 2]] != ["[", "["]:
        return 0
    depth, rows = 0, 0
    for end, token in enumerate(line[k:], k + 1):
        depth += {"[": 1, "]": -1}.get(token.text, 0)
        rows += token.text == "]" and depth == 1
        if depth == 0:
            return end if rows > 1 else 0
    return 0


def _sign(kind: str, text: str, at: int, gap: bool = False) -> Token:
    return Token(kind, text, at, at, gap)


def _bracketed(row: _Row) -> list[Token]:
    cells = [t for t in row.tokens if t.kind not in ("line", "note")]
    opener, closer = Token("open", "[", row.start, row.start + 1, True), Token("close", "]", row.end - 1, row.end)
    return [opener, *cells, closer, *row.notes]
