"""Which bracket closes which, and the tidying that needs to know: alignment, empty braces, stacked relations.

After `paired` every bracket in the list has its partner, so that the grammar can work on ranges and never has to guess
where something ends. Damaged brackets are dropped here and reported.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from qkv.records import record
from qkv.sheet import notation as table
from qkv.sheet.lexer import KIND, TEXT, Token

NESTING_LIMIT: Final = 40  # levels of brackets; each costs the grammar about eight frames of Python's stack
_STRONG: Final = ("{", "left", "env")
_FAMILIES: Final = {  # what a bracket and its partner have in common
    **table.OPENERS,
    **{closer: closer for closer in table.CLOSERS},
    **{f"left{mark}": "left" for mark in "()[]|."},
    "}": "{",
    "{": "{",
    "|}": "{|",
}
_MATCHED: Final = frozenset(("rel", "open", "begin", "close", "end"))
_UNTIDY: Final = frozenset((*table.STACKED, *table.ROWS_OF_STATEMENTS, "left{|"))


@record(frozen=True, slots=True)
class Paired:
    """Tokens whose brackets all match: partner[i] is the other end (i itself for other tokens). Their kinds stand in a
    list of their own, since those are asked for all the time."""

    tokens: list[Token]
    kinds: list[str]
    partner: list[int]
    dropped: tuple[Token, ...] = ()


class _Matched(NamedTuple):
    """Partners (−1 where a bracket has none), and openers with a relation right inside, too deep, or empty."""

    partner: list[int]
    related: set[int]
    deep: set[int]
    empty: set[int]


def _match(tokens: list[Token], kinds: list[str]) -> _Matched:
    partner = list(range(len(tokens)))
    found = _Matched(partner, set(), set(), set())
    stack: list[tuple[int, str]] = []
    waiting: dict[str, int] = {}
    for i, kind in enumerate(kinds):
        if kind not in _MATCHED:
            continue
        if kind == "rel":
            if stack:
                found.related.add(stack[-1][0])
            continue
        text = tokens[i].text
        key = "env" if kind == "begin" or kind == "end" else _FAMILIES.get(text) or _family(text)
        if kind == "open" or kind == "begin":
            stack.append((i, key))
            waiting[key] = waiting.get(key, 0) + 1
            partner[i] = -1
            if len(stack) > NESTING_LIMIT:
                found.deep.add(i)
        else:
            if stack and stack[-1][1] == key:
                opener = stack.pop()[0]
                waiting[key] -= 1
                partner[opener], partner[i] = i, opener
            else:
                _close(i, key, stack, waiting, partner)
            if partner[i] == i - 1:
                found.empty.add(i - 1)
    return found


def _family(text: str) -> str:
    """The family of a rare bracket."""
    return "left" if text.startswith("left") else text


def _close(i: int, key: str, stack: list[tuple[int, str]], waiting: dict[str, int], partner: list[int]) -> None:
    """Pair a closer with the nearest opener of its family; weaker ones in between stay open for good."""
    partner[i] = -1
    if not waiting.get(key):
        weak = key in ")]" and stack and stack[-1][1] in ")]"  # a half-open interval such as [0, 1)
        if not weak:
            return
        key = stack[-1][1]
    if key in ")]" and stack[-1][1] in _STRONG:
        return  # a stray ) inside braces closes nothing outside of them
    while stack:
        opener, found = stack.pop()
        waiting[found] -= 1
        if found == key:
            partner[opener], partner[i] = i, opener
            return


def paired(tokens: list[Token]) -> Paired:
    """Match the brackets, drop what matches nothing, and lay open alignments whose rows are statements."""
    kinds = list(map(KIND, tokens))
    found = _match(tokens, kinds)
    partner = found.partner
    plain = _UNTIDY.isdisjoint(map(TEXT, tokens))
    flat = {} if plain and not found.related else _flat_ends(tokens, found)
    if plain and not (flat or found.deep or found.empty or -1 in partner):
        return Paired(tokens, kinds, partner)  # nothing to tidy, as in most formulas
    kept: list[Token] = []
    dropped: list[Token] = []
    changed, done = False, 0  # tokens that were kept, dropped or stepped over
    for i in _untidy(tokens, found, flat, plain):
        if i < done:
            continue
        kept += tokens[done:i]
        token = tokens[i]
        done = i + 1
        if partner[i] == -1 and token.kind == "begin":
            kept.append(token._replace(kind="broken"))  # a matrix cut short: what follows may belong to it
            done = len(tokens)
        elif partner[i] == -1:
            dropped.append(token)
        elif i in found.deep:
            kept.append(token._replace(kind="deep", end=tokens[partner[i]].end))
            done = partner[i] + 1
        elif i in flat:
            kept.extend(_in_place_of(token, flat[i]))
        elif token.text == "{" and i in found.empty and not (kept and kept[-1].kind in ("cmd", "script")):
            done = i + 2
        elif token.text in table.STACKED and (end := _stacked_relation(tokens, partner, i)):
            kept.append(tokens[end - 2]._replace(start=token.start, end=tokens[end - 1].end))
            done = end
        else:
            kept.append(token)
            continue
        changed = True
    if not changed:
        return Paired(tokens, kinds, partner)
    kept += tokens[done:]
    kinds = list(map(KIND, kept))
    return Paired(kept, kinds, _match(kept, kinds).partner, tuple(dropped))


def _untidy(tokens: list[Token], found: _Matched, flat: dict[int, str], plain: bool) -> list[int]:
    """The tokens that may have to be tidied, in order."""
    spots = {*found.deep, *found.empty, *flat}
    if -1 in found.partner:
        spots.update([i for i, other in enumerate(found.partner) if other < 0])
    if not plain:
        spots.update([i for i, token in enumerate(tokens) if token.text in table.STACKED])
    return sorted(spots)


def _in_place_of(token: Token, how: str) -> tuple[Token, ...]:
    return (token._replace(kind=how, text=" "),) if how else ()


def _beside_relation(tokens: list[Token], i: int) -> bool:
    """Whether an & only lines relations up, as in A &= B."""
    return tokens[i - 1].kind == "rel" or (i + 1 < len(tokens) and tokens[i + 1].kind == "rel")


def _flat_ends(tokens: list[Token], found: _Matched) -> dict[int, str]:
    """What becomes of the begin, the end and the & of environments whose rows are statements of the display itself."""
    flat: dict[int, str] = {}
    partner = found.partner
    i = inside = 0
    ends: list[int] = []
    while i < len(tokens):
        token = tokens[i]
        if token.kind in ("open", "begin") and partner[i] > i:
            related = i in found.related
            may_be = related or token.kind == "begin" or token.text == "left{|"
            if may_be and _is_flat(tokens, partner, i, related=related):
                flat[i] = "row" if i and tokens[i - 1].kind not in ("rel", "op") else "wide"
                flat[partner[i]] = "row"
                ends.append(partner[i])
                inside += 1
            else:
                i = partner[i]
        elif ends and i == ends[-1]:
            ends.pop()
            inside -= 1
        elif inside and token.text == "&" and token.kind == "sep":
            flat[i] = "" if _beside_relation(tokens, i) else "wide"
        i += 1
    return flat


def _is_flat(tokens: list[Token], partner: list[int], i: int, *, related: bool) -> bool:
    token, before = tokens[i], tokens[i - 1].kind if i else ""
    if token.kind == "begin":
        return token.text in table.ROWS_OF_STATEMENTS or (related and before != "rel")
    if token.text == "left{|":
        return (
            tokens[partner[i]].text == "left."
            and i + 1 < len(tokens)
            and tokens[i + 1].kind == "begin"
            and before != "rel"
        )
    bare = not i or before in ("row", "wide", "prose", "text", "sep")
    return related and bare and token.text in ("(", "left(", "{") and _stands_alone(tokens, partner[i])


def _stands_alone(tokens: list[Token], end: int) -> bool:
    return end + 1 == len(tokens) or tokens[end + 1].kind in ("row", "wide", "prose", "text", "sep", "close")


def _stacked_relation(tokens: list[Token], partner: list[int], i: int) -> int:
    r"""The end of \overset{!}{=}, \stackrel{iid}{\sim}; 0 where the lower part is no relation."""
    first = i + 1
    if first >= len(tokens) or tokens[first].text != "{" or partner[first] < 0:
        return 0
    second = partner[first] + 1
    if second + 2 < len(tokens) and tokens[second].text == "{" and tokens[second + 1].kind == "rel":
        return second + 3 if partner[second] == second + 2 else 0
    return 0
