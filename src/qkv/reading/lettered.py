"""What the letters of a name suggest that it stands for, as far as its use and its numbers on the page allow it."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.roles import SCORE_LIKE, Place, places
from qkv.reading.captions import distributed, multiplied
from qkv.reading.choices import Choices
from qkv.reading.definitions import Source
from qkv.reading.page import Page
from qkv.reading.treated import are_lettered, are_numbers, is_matrix

PROJECTED = {Role.Q: Role.W_Q, Role.K: Role.W_K, Role.V: Role.W_V}
TOKENS = frozenset({Role.X, Role.Y, Role.STATES, Role.SOURCE})  # nobody takes a softmax of them, nor of projections
NO_FACTORS = frozenset({Role.SCORES, Role.SCALED, Role.MASKED, Role.MASK})  # nobody multiplies them by a matrix
SAME_AGAIN = frozenset({Role.WEIGHTS, Role.HEAD, Role.OUTPUT})  # with a prime, of another query
RESULTS = frozenset({Role.HEAD, Role.CONCAT, Role.OUTPUT})  # nothing has to go on with them
OF_A_HEAD = frozenset({*PROJECTED, *PROJECTED.values(), Role.WEIGHTS, Role.HEAD, *(NO_FACTORS - {Role.MASK})})


def by_letters(page: Page, choices: Choices, symbol: Symbol) -> tuple[Place, ...]:
    """What the letters of a name suggest, likeliest first, without what its use and its numbers deny."""
    found = places(symbol)
    plain = symbol._replace(primes=0)
    again = symbol.primes and plain in page.definitions and places(plain)[:1]
    if again and again[0].role in SAME_AGAIN:  # α' is another α
        found = places(plain)
    if len(symbol.labels) == 1 and not symbol.indices and _is_token_beside(page, symbol):
        found = tuple(p._replace(row=symbol.labels[0]) for p in places(symbol._replace(labels=("token",))))
    if any(place.role is Role.MASK for place in found) and _holds_scores(page, symbol):
        found = tuple(place for place in found if place.role is not Role.MASK)
    if symbol in multiplied(page):
        found = tuple(place for place in found if place.role not in NO_FACTORS)
    if symbol in distributed(page):
        made = _is_stated_product(page, symbol)  # attn = Q Kᵀ, of which a softmax is taken, are no weights yet
        others = TOKENS | PROJECTED.keys() | ({Role.WEIGHTS} if made else set())
        found = tuple(place for place in found if place.role not in others)
    if choices.capitals_index:
        found = tuple(
            p._replace(head=None, row=p.head, column=p.row)
            if p.head and p.column is None and p.role not in PROJECTED.values()
            else p
            for p in found
        )
    if len(symbol.indices) == 1 and any(p.head for p in found) and are_numbers(page, symbol):
        found = tuple(Place(p.role, None, p.head) if p.head and p.role in SCORE_LIKE else p for p in found)
    if len(symbol.indices) == 2 and are_numbers(page, symbol):  # y_{1,2} = 0.52 is no vector of a head
        found = tuple(p for p in found if p.role in SCORE_LIKE)
    if len(symbol.indices) == 1 and is_matrix(page, symbol):  # α_2 = [[..], [..]]: all of head 2
        found = tuple(Place(p.role, p.row) if p.row and p.role in OF_A_HEAD else p for p in found)
    if any(p.role is Role.SOURCE for p in found) and is_matrix(page, symbol):  # S = [[..], [..]] is no single state
        found = tuple(p for p in found if p.role is not Role.SOURCE)
    if any(p.row and p.role in PROJECTED for p in found) and is_matrix(page, symbol):  # Q_full = [[..], [..]]
        found = tuple(Place(p.role) if p.row and not p.row.isdecimal() else p for p in found)
    return found


def _is_token_beside(page: Page, symbol: Symbol) -> bool:
    """Whether a letter in the script of a name is a word: Q_I beside Q_love, or beside x_I."""
    rows = ((s, place.row) for s in page.definitions if s != symbol for place in places(s)[:1] if place.row)
    letter = symbol.labels[0]
    beside = any(row == letter or (s.base == symbol.base and row in s.labels) for s, row in rows)
    return len(letter) == 1 and (beside or are_lettered(page, symbol))


def _holds_scores(page: Page, symbol: Symbol) -> bool:
    """Whether a name is given numbers that no mask has: M = [[0.707, 0], [1.414, 2.1]]."""
    arrays = [d.expr for d in page.definitions.get(symbol, ()) if isinstance(d.expr, n.Matrix)]
    cells = [cell for array in arrays for row in array.rows for cell in row]
    return any(isinstance(c, n.Number) and c.value > 0 and c.value.denominator > 1 for c in cells)


def _is_stated_product(page: Page, symbol: Symbol) -> bool:
    """Whether a page states a name as a product, and as nothing else."""
    stated = [d.expr for d in page.definitions.get(symbol, ()) if d.source is Source.STATED]
    return bool(stated) and all(isinstance(expr, n.Product) for expr in stated)
