"""Statements as facts: who is spoken of, by which formula, with which numbers.

A chain such as Q = X W^Q = [..][..] ≈ [..] has a subject (Q), a formula (X W^Q), workings (literal but not yet one
value) and values. Chains that go on in the next display are joined first, and a nameless display that follows an open
subject ('A = softmax(E)' and then its rows) is given that subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from qkv.errors import Location
from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.records import record, replace
from qkv.sheet.grammar import parse_math
from qkv.sheet.model import Link, Origin, Part, Relation, Sheet, Statement
from qkv.understand.accents import without_idle_accents
from qkv.understand.counting import counts_from_zero, from_one, with_heads
from qkv.understand.places import INDEX_LETTERS, place_of
from qkv.understand.roles import SHIFTED, SILENT, TAKEN_OF, Cue, cue_of
from qkv.understand.tidying import tidied
from qkv.understand.tokens import numbered
from qkv.understand.values import Form, form, plain_value


@record(frozen=True)
class Fact:
    """One chain. `links` are those not struck, without what only says where a thing lives (∈ ℝ^{2×3}); `subjects` are
    its leading names."""

    statement: Statement
    links: tuple[Link, ...]
    subjects: tuple[n.Name, ...]
    cue: Cue
    head: int | None = None  # the head in force here, from the words around
    pending: bool = False  # nameless: the subject is taken from the chain before
    told: bool = False  # nameless: the operands told which step it is
    addends: int = 0  # a total: how many numbers that stand before it were taken to be its terms

    # What follows from these; every fact is asked for it many times.
    symbol: Symbol | None = field(init=False, compare=False, repr=False)  # the first subject
    forms: tuple[Form, ...] = field(init=False, compare=False, repr=False)  # what each link is
    formula: n.Expr | None = field(init=False, compare=False, repr=False)  # first with names that is no bare name
    working: Link | None = field(init=False, compare=False, repr=False)  # the first literal still to be worked out
    value: Link | None = field(init=False, compare=False, repr=False)  # the last plain value
    shown: n.Matrix | None = field(init=False, compare=False, repr=False)  # that value, as a matrix of plain cells

    def __post_init__(self) -> None:
        links, forms = self.links, tuple([form(link.expr) for link in self.links])
        value = links[-1 - forms[::-1].index(Form.VALUE)] if Form.VALUE in forms else None
        vars(self).update(
            symbol=self.subjects[0].symbol if self.subjects else None,
            forms=forms,
            formula=links[forms.index(Form.FORMULA)].expr if Form.FORMULA in forms else None,
            working=links[forms.index(Form.WORKING)] if Form.WORKING in forms else None,
            value=value,
            shown=plain_value(value.expr) if value is not None else None,
        )


def facts_of(sheet: Sheet) -> tuple[Fact, ...]:
    """The chains of a sheet, joined where they go on, each with its subject and what the words say."""
    return noted_facts(sheet)[0]


def noted_facts(sheet: Sheet) -> tuple[tuple[Fact, ...], str]:
    """The facts of a sheet, and a note on how its tokens are numbered."""
    statements, note = numbered(without_idle_accents(_taken_apart(sheet.statements)))
    statements = with_heads(statements)
    from_zero = counts_from_zero(statements)
    statements = from_one(statements) if from_zero else statements
    facts = _with_heads(_attached(_joined(_chains(tidied(statements)))), sheet.parts)
    if from_zero or 0 in [fact.cue.row for fact in facts]:
        facts = [replace(fact, cue=_cue(fact.statement, first=0)) for fact in facts]
    return tuple(facts), note


def _cue(statement: Statement, first: int = 1) -> Cue:
    return cue_of(f"{statement.before} {statement.row_label}", first)


def _taken_apart(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """(k_1, v_1) = ((2, 0), (1, 0)) says k_1 = (2, 0) and v_1 = (1, 0)."""
    made: list[Statement] = []
    for statement in statements:
        links = statement.links
        parts = _pairs(links) if len(links) == 2 and isinstance(links[0].expr, n.Matrix) else []
        for name, value in parts:
            first = replace(links[0], expr=name, text=name.spelled)
            made.append(replace(statement, links=(first, replace(links[1], expr=value))))
        if not parts:
            made.append(statement)
    return tuple(made)


def _pairs(links: tuple[Link, ...]) -> list[tuple[n.Name, n.Expr]]:
    """The names of a list, each with its part of the value beside it."""
    if not all(isinstance(link.expr, n.Matrix) for link in links):
        return []
    left, right = (link.expr.rows for link in links if isinstance(link.expr, n.Matrix))
    names = [cell for cell in left[0] if isinstance(cell, n.Name)] if len(left) == 1 else []
    values: list[n.Expr] = [n.Matrix((row,), at=links[1].at) for row in right] if len(right) > 1 else list(right[0])
    if len(names) < 2 or len(names) != len(left[0]) or len(values) != len(names) or not n.is_literal(links[1].expr):
        return []
    return list(zip(names, values, strict=True))


def _chains(statements: Iterable[Statement]) -> list[Statement]:
    """Cut chains at ⇒ and at names in mid-chain that begin a new equation (… = [..] ⇒ S ≈ [..])."""
    made: list[Statement] = []
    for statement in statements:
        links = statement.links
        relations = [link.relation for link in links]
        if Relation.IMPLIES not in relations and Relation.ARROW not in relations:
            same = not links or statement.at == links[0].at
            made.append(statement if same else replace(statement, at=links[0].at))
        else:
            made.extend(_cut(statement, {i for i in range(len(links)) if _begins_anew(links, i)}))
    return made


def _cut(statement: Statement, cuts: set[int]) -> Iterator[Statement]:
    pieces: list[list[Link]] = [[]]
    for i, link in enumerate(statement.links):
        if i in cuts and pieces[-1]:
            pieces.append([])
        pieces[-1].append(link)
    for i, piece in enumerate(pieces):
        implied = statement.continues and piece[0].relation is Relation.IMPLIES
        goes_on = statement.continues and i == 0 and not implied
        yield replace(statement, links=tuple(piece), at=piece[0].at, continues=goes_on)


def _begins_anew(links: tuple[Link, ...], i: int) -> bool:
    """Whether a link follows from the ones before and does not continue them."""
    if links[i].relation is Relation.IMPLIES:
        return True
    named = links[i].relation is Relation.ARROW and not n.is_literal(links[i].expr)  # d_k = 4 → √d_k = 2
    return i > 0 and named and any(link.relation in (Relation.EQUAL, Relation.APPROX) for link in links[i + 1 : i + 2])


def _joined(statements: Iterable[Statement]) -> list[Statement]:
    """Append a chain that begins with a relation to the one before it."""
    made: list[Statement] = []
    for statement in statements:
        goes_on = statement.continues and not statement.struck and not _turns(statement.before)
        if made and goes_on and statement.at.line - made[-1].end_line <= 8:
            held = made[-1]
            made[-1] = replace(held, links=held.links + statement.links, end_line=statement.end_line)
        else:
            made.append(statement)
    return made


FOR_ANOTHER = late(r"\W*(?:for|für|pour|para|per|для|对于?)\b.{1,60}[:：]\s*[=≈]?\s*", re.IGNORECASE)


def _turns(before: str) -> bool:
    """'For "cats" (third row): = 0.2 [1, 0] + …' goes on from nothing: it is about another token."""
    return bool(before) and (FOR_ANOTHER.fullmatch(before) is not None or cue_of(before).row is not None)


COUNTERS = INDEX_LETTERS - {"h"}


def _counts(fact: Fact, letter: Symbol) -> bool:
    """i = 3 tells which token is spoken of; it claims nothing."""
    value = fact.value
    if value is not None and isinstance(value.expr, n.Matrix) and value.text.startswith(("[", "(", "\\")):
        return False  # m = [0, 0, −∞] is a vector
    return not letter.labels and not letter.indices


def _attached(statements: Iterable[Statement]) -> list[Fact]:
    """Turn chains into facts; nameless literals after an open subject take that subject."""
    open_fact: Fact | None = None
    last: Fact | None = None
    made: list[Fact] = []
    for statement in statements:
        fact = _fact(statement)
        if last is not None and len(fact.links) == len(fact.subjects) + 1 <= 2 and _is_announced(fact, last):
            fact = replace(fact, cue=last.cue)
        last = fact
        if fact.symbol is not None and fact.symbol.base in COUNTERS and _counts(fact, fact.symbol):
            continue
        if statement.struck or not fact.links:
            made.append(replace(fact, links=fact.links if not statement.struck else statement.links))
            continue
        if open_fact and _is_caption(open_fact, fact):
            fact = _captioned(open_fact, fact)
        if fact.subjects:
            open_fact = fact if fact.value is None or fact.forms[-1] is not Form.VALUE else None
        elif open_fact and _may_follow(open_fact, fact):
            fact = replace(fact, subjects=open_fact.subjects, pending=True)
        elif fact.formula is not None:
            open_fact = None
        made.append(fact)
    return made


def _is_announced(fact: Fact, last: Fact) -> bool:
    """'Divide by √d_k = √4 = 2:' announces the matrix after it, named or not, though its words stand before the root;
    so does 'scaled by √d_k with d_k = 2:'."""
    near = 0 <= fact.statement.at.line - last.statement.end_line <= 4
    bare = isinstance(fact.links[-1].expr, n.Matrix)
    wordless = not any(map(str.isalpha, fact.statement.before))
    return (
        near and bare and wordless and bool(last.links) and (isinstance(last.links[0].expr, n.Root) or _is_size(last))
    )


def _is_size(fact: Fact) -> bool:
    """d_k = 2."""
    return fact.symbol is not None and place_of(fact.symbol).roles[:1] == (Role.D_K,)


def _is_caption(opened: Fact, fact: Fact) -> bool:
    """'Keys $K = X W_K$:' right above a table or a listing gives that its name and formula."""
    gap = fact.statement.at.line - opened.statement.end_line
    ends = fact.statement.before.rstrip().endswith((":", "：", "=")) or not fact.statement.before.strip()
    bare = not fact.subjects and fact.formula is None and len(fact.links) == 1
    bare = bare and not SHIFTED.search(fact.statement.before)
    if len(opened.subjects) > 1 and opened.formula is None and fact.statement.before.strip():
        return False  # Q = K = V = X, then 'Scores:' and a table: those words are its caption
    return bare and 0 < gap <= 4 and ends and fact.statement.origin in (Origin.TABLE, Origin.PLAIN, Origin.CODE)


def _captioned(opened: Fact, fact: Fact) -> Fact:
    link = replace(fact.links[0], relation=Relation.EQUAL)
    return replace(fact, links=(*opened.links, link), subjects=opened.subjects)


COPULA = late(r"(?<=[$`])\s+(?:is|are|equals|becomes|gives|ist|sind|ergibt|est|vaut|donne|es|son|é|è|равно)$")
FORMULA_TAIL = late(r"(?:\$([^$]+)\$|`([^`]+)`)\s*[^\w$`]*$")
WORD = late(
    r"(?<![^\W\d_])(?:(?!softmax|concat|sqrt|tanh|exp\b|(?-i:[QKVX]{2}T\b))[^\W\d_]{3,}[^\s]*|(?:is|of|to|by|in|as|we|so|an|es|de|la|le|el|di|da)(?=\s)|be(?!\S))",
    re.IGNORECASE,
)

TEXT_NAME = late(r"\\(?:text|mathrm|textit)\{([^\W\d_]{2,})\}")  # $\text{weights}$, which the reader takes for words


def _unclosed(text: str) -> str:
    """What is left of words in brackets: (Q Kᵀ) without them; sqrt(d_k) keeps its own.

    >>> _unclosed("(Q K^T)"), _unclosed("Q K^T)"), _unclosed("Q / sqrt(d_k)")
    ('Q K^T', 'Q K^T', 'Q / sqrt(d_k)')
    """
    if text.count(")") > text.count("("):
        return text.removesuffix(")").strip()
    if text.count("(") > text.count(")"):
        return text.removeprefix("(").strip()
    return text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text


def caption_formula(before: str, at: Location) -> Link | None:
    """The formula at the end of the words before a bare value: 'Scaled scores Q Kᵀ / √d_k:'."""
    line = COPULA.sub("", before.rstrip().rstrip(":：=").rsplit("\n", 1)[-1].strip())
    quoted = FORMULA_TAIL.search(line)
    if quoted and TAKEN_OF.search(line[: quoted.start()]):
        return None
    source = (quoted[1] or quoted[2]) if quoted else _unclosed(WORD.split(line)[-1].strip(" ,.;:（）"))
    if not 2 <= len(source) <= 120 or not any(ch.isalpha() for ch in source):
        return None
    named = TEXT_NAME.fullmatch(source)
    chains = parse_math(named[1] if named else source, at).chains
    if len(chains) != 1 or len(chains[0].links) != 1:
        return None
    link = chains[0].links[0]
    if not quoted and isinstance(link.expr, n.Product) and n.is_literal(link.expr.left):
        return None  # '(3 P.)' is three points, not three times P
    if named and isinstance(link.expr, n.Name):
        return link
    turned = bool(quoted) and isinstance(link.expr, n.Transpose)
    return link if turned or (form(link.expr) is Form.FORMULA and not _has_calls(link.expr)) else None


MENTION = re.compile(r"\$([^$]*softmax[^$]*)\$|`([^`]*softmax[^`]*)`|(softmax\s*\(.{3,80})", re.IGNORECASE)


def mentions(text: str) -> Iterator[tuple[int, n.Expr]]:
    """Formulas with softmax that sentences mention without stating an equation, with their lines."""
    for number, line in enumerate(text.splitlines(), 1):
        if "softmax" not in line.lower() or len(line) > 2000:
            continue
        for hit in MENTION.finditer(line):
            source = hit[1] or hit[2] or re.split(r"[.;,，。]\s|\s[A-Za-z]{3,}|[.。]$", hit[3])[0]
            for chain in parse_math(source, Location(number)).chains:
                yield from ((number, link.expr) for link in chain.links if form(link.expr) is Form.FORMULA)


def _has_calls(expr: n.Expr) -> bool:
    return any(isinstance(part, n.Call) for part in n.walk(expr))


def _may_follow(opened: Fact, fact: Fact) -> bool:
    same_part = opened.statement.part == fact.statement.part
    return same_part and fact.formula is None and fact.statement.origin in (Origin.DISPLAY, opened.statement.origin)


def _fact(statement: Statement) -> Fact:
    links = tuple([link for link in statement.links if not link.struck and link.relation is not Relation.IN])
    if len(links) == 1 and form(links[0].expr) is Form.VALUE and isinstance(links[0].expr, n.Matrix):
        caption = caption_formula(statement.before, statement.at) if statement.before.strip() else None
        if caption is not None:
            links = (caption, replace(links[0], relation=Relation.EQUAL))
    cue = _cue(statement) if statement.before or statement.row_label else SILENT
    return Fact(statement, links, _subjects(links), cue)


def _subjects(links: tuple[Link, ...]) -> tuple[n.Name, ...]:
    names: list[n.Name] = []
    for link in links:
        if not isinstance(link.expr, n.Name):
            break
        if not names or link.expr.symbol.base.lower() != "softmax":  # A = softmax = [..]
            names.append(link.expr)
    if names and (len(links) > 1 or len(names) == 1):
        return tuple(names)
    last = links[-1].expr if len(links) > 1 else None
    if isinstance(last, n.Name) and form(links[0].expr) is Form.FORMULA:  # softmax(..) V = Z
        return (last,)
    return ()


STEPS = frozenset({Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.OUTPUT})  # of one head


def _with_heads(facts: Iterable[Fact], parts: Sequence[Part]) -> list[Fact]:
    """Carry 'Head 2:', or a heading that says so, forward until another head, all of them, or another part, is spoken
    of."""
    head: int | None = None
    home, last = 0, -1
    made: list[Fact] = []
    for fact in facts:
        part = fact.statement.part
        titled = cue_of(parts[part].title).head if part != last else None
        last = part
        if fact.cue.head is not None or titled is not None:
            head, home = titled if fact.cue.head is None else fact.cue.head, part
        elif head is not None and (fact.cue.role is Role.CONCAT or _leaves(parts, home, part)):
            head = None
        made.append(fact if head is None else replace(fact, head=head))
    return made


def _leaves(parts: Sequence[Part], home: int, part: int) -> bool:
    """Whether a part is no step of the one that speaks of a head. Where that is called by the head ('Head 2'), parts
    beside it may be its steps ('Softmax')."""
    if part == home:
        return False
    level = parts[home].level
    called = cue_of(parts[home].title).head is not None
    for between in parts[home + 1 : part + 1]:
        if between.level < level or (between.level == level and not (called and cue_of(between.title).role in STEPS)):
            return True
    return False
