"""From the names of a document to the names of a program: W^{(1)}_Q, Ω_2, q_3, a_{3,1}, q_{t,1}."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol, shared_symbol
from qkv.program.model import Program
from qkv.records import dataclass, replace
from qkv.understand.places import TOKEN_BASES, Place, place_of
from qkv.understand.roles import MISREAD_Q, SCORE_ROLES
from qkv.understand.workable import shapes_of

R = Role
_D = Symbol("d")

# A head's output may be asked for as the output, and the other way round.
SAME = {
    R.OUTPUT: (R.OUTPUT, R.HEAD, R.CONTEXT, R.CONCAT),
    R.HEAD: (R.HEAD, R.OUTPUT),
    R.CONTEXT: (R.CONTEXT, R.OUTPUT, R.HEAD),
    R.STATES: (R.STATES, R.X),
    R.X: (R.X, R.STATES),
    R.Q: (R.Q, R.SOURCE),
}


# What all heads have in common.
SHARED = frozenset({R.X, R.Y, R.W_O, R.B_O, R.D_K, R.D_V, R.D_MODEL, R.MASK, R.SOURCE, R.STATES})
# Quantities with one row a query.
BY_QUERY = frozenset({R.Q, R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.HEAD, R.OUTPUT, R.CONTEXT})


@dataclass(frozen=True)
class Resolver:
    """Turns document names into expressions over a program's symbols. `rows` says whether a token's vector is a row
    (as printed in lists) rather than a column."""

    program: Program
    sizes: Mapping[Role, n.Number] = field(default_factory=dict)
    renamed: Mapping[Symbol, Symbol] = field(default_factory=dict)  # what a name turned out to mean
    rows: bool = False
    only_row: int | None = None  # where one query alone is given, its number
    families: Mapping[tuple[str, ...], Symbol] = field(default_factory=dict)  # whose cells s_1, s_2, … turned out to be
    focus: int | None = None  # where one query of several is followed, its number
    _known: dict[Hashable, tuple[n.Expr, n.Expr | None]] = field(default_factory=dict, init=False, compare=False)

    @cached_property
    def by_rows(self) -> Resolver:
        """The same with a token's vector as a row."""
        return replace(self, rows=True)

    def expr(self, expr: n.Expr, head: int | None = None) -> n.Expr | None:
        """The expression in the program's names, or None where a name means nothing here; worked out once, since a
        chain's formula is looked at for what it says, for what it gives, and as a way to the values after it."""
        key = id(expr), head, len(self.families)  # families may turn up on the way
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = expr, self._resolved(expr, head)  # with the expression, whose id is the key
        return known[1]

    def _resolved(self, expr: n.Expr, head: int | None) -> n.Expr | None:
        if isinstance(expr, n.Name) and expr.symbol not in self.program.by_symbol:
            return self.name(expr.symbol, head)
        kinds = n.kinds_in(expr)
        if n.Call in kinds:
            return None
        made = _unrolled(expr) if n.Series in kinds else expr
        names = n.names_in(made)
        known = self.program.by_symbol.keys() >= set(names) and self.renamed.keys().isdisjoint(names)
        named = made if known else self._named(made, head)
        if self.program.columns and named is not None and n.holds(named, n.Softmax):
            named = n.rewrite(named, self._down_columns)
        if named is None or not self._may_be_of_lists(named):
            return named
        return n.rewrite(named, self._of_vectors)

    def _named(self, made: n.Expr, head: int | None) -> n.Expr | None:
        """The expression with each name replaced by what it means."""
        kinds = n.kinds_in(made)
        if n.Sum in kinds and any(map(_is_mask, n.names_in(made))):
            made = n.rewrite(made, lambda part: self._masked(part, head))
        if n.Softmax in kinds:
            made = n.rewrite(made, lambda part: self._of_scores(part, head))
        meant: dict[Symbol, n.Expr] = {}
        for symbol in n.names_in(made):
            found = self.name(symbol, head)
            if found is None:
                return None
            meant[symbol] = found
        return n.rewrite(made, lambda part: meant[part.symbol] if isinstance(part, n.Name) else part)

    def _may_be_of_lists(self, made: n.Expr) -> bool:
        kinds = n.kinds_in(made)
        of_vectors = n.Absolute in kinds or (n.Product in kinds and n.Transpose in kinds)
        return of_vectors and not self._lists.isdisjoint(n.names_in(made))

    @cached_property
    def _lists(self) -> frozenset[Symbol]:
        """The vectors that are printed as lists."""
        shown = [(symbol, item.expr) for symbol, item in self.program.by_symbol.items()]
        return frozenset([s for s, expr in shown if isinstance(expr, n.Matrix) and expr.loose and expr.shape[1] > 1])

    def readings(self, expr: n.Expr, head: int | None = None) -> Iterator[n.Expr]:
        """The expression with tokens as columns, and with tokens as rows where it speaks of one."""
        made = self.expr(expr, head)
        if made is None:
            return
        yield made
        turned = self.by_rows.expr(expr, head) if _picks_rows(made) else None
        if turned is not None and turned != made:
            yield turned

    def meanings(self, expr: n.Expr, head: int | None = None) -> Iterator[n.Expr]:
        """The readings of an expression; Q·K may also stand for every query with every key, Q Kᵀ."""
        for made in self.readings(expr, head):
            yield made
            dots = n.holds(made, n.Product) and not n.holds(made, n.Transpose)
            if dots and not self._keys.isdisjoint(n.names_in(made)):
                yield n.rewrite(made, self._with_every_key)

    @cached_property
    def _keys(self) -> frozenset[Symbol]:
        """Matrices of several keys."""
        found = (item.symbol for item in self.program.items if item.role is R.K)
        return frozenset(symbol for symbol in found if min(shapes_of(self.program).get(symbol, (1, 1))) > 1)

    def _with_every_key(self, part: n.Expr) -> n.Expr:
        if not isinstance(part, n.Product) or not isinstance(part.left, n.Name) or not isinstance(part.right, n.Name):
            return part
        query = self.program.item(part.left.symbol)
        dots = query is not None and query.role is R.Q and part.right.symbol in self._keys
        return n.Product(part.left, n.Transpose(part.right), at=part.at) if dots else part

    def _down_columns(self, part: n.Expr) -> n.Expr:
        """softmax(S) where each query has a column of S, and the weights are taken so."""
        if not isinstance(part, n.Softmax) or part.axis == 0 or part.by_rows:
            return part
        down = replace(part, axis=0)
        weights = (step.expr for step in self.program.steps if step.role is R.WEIGHTS)
        return down if any(isinstance(made, n.Softmax) and made.axis == 0 for made in weights) else part

    def _masked(self, part: n.Expr, head: int | None) -> n.Expr:
        """Q Kᵀ / √d_k + M where only words say what M is: that every query sees the keys up to its own."""
        last = part.terms[-1] if isinstance(part, n.Sum) else None
        if not isinstance(part, n.Sum) or not isinstance(last, n.Name) or self.program.item(last.symbol) is not None:
            return part
        is_mask = _is_mask(last.symbol) and self.program.find(R.MASK, head) is None
        if not is_mask or self._matrix(R.MASKED, head) is None:
            return part
        return n.Mask(part.terms[0] if len(part.terms) == 2 else n.Sum(part.terms[:-1]), at=part.at)

    def _of_scores(self, part: n.Expr, head: int | None) -> n.Expr:
        """softmax(S) with an S that the sheet does not define is taken of what its weights are taken of."""
        if not isinstance(part, n.Softmax) or not isinstance(part.arg, n.Name):
            return part
        arg = part.arg
        if arg.symbol in self.renamed or self.program.item(arg.symbol) is not None:
            return part
        place = place_of(arg.symbol, head)
        if not SCORE_ROLES.issuperset(place.roles[:1] or (R.X,)) or place.row is not None or place.generic:
            return part
        stages = (self._matrix(role, place.head) for role in (R.MASKED, R.SCALED) if role in place.roles)
        last = next((stage for stage in stages if stage is not None), None)
        return part if last is None else replace(part, arg=n.Name(last, at=arg.at))

    def _of_vectors(self, part: n.Expr) -> n.Expr:
        """sᵀh of two vectors that are printed as lists is their dot product, and |s| is the length of one."""
        if isinstance(part, n.Absolute) and self._names_list(part.arg):
            return n.Root(n.Product(part.arg, part.arg), at=part.at)
        if not isinstance(part, n.Product) or not isinstance(part.left, n.Transpose):
            return part
        lists = self._names_list(part.left.arg) and self._names_list(part.right)
        return n.Product(part.left.arg, part.right, at=part.at) if lists else part

    def _names_list(self, expr: n.Expr) -> bool:
        return isinstance(expr, n.Name) and expr.symbol in self._lists

    def name(self, symbol: Symbol, head: int | None = None) -> n.Expr | None:
        """What one name means."""
        if symbol in self.renamed:
            return n.Name(self.renamed[symbol])
        if self.program.item(symbol) is not None:
            return n.Name(symbol)
        if symbol.primes:  # K' is a transpose where only K is known
            inner = self.name(symbol._replace(primes=0), head)
            return None if inner is None else n.Transpose(inner)
        roles = place_of(symbol).roles
        if roles and roles[0] in self.sizes and not symbol.indices:
            return self.sizes[roles[0]]
        cell = self.by_family(symbol) if self.families else None
        return cell or self._by_role(symbol, head) or self._by_parent(symbol) or self._size(symbol)

    def _size(self, symbol: Symbol) -> n.Expr | None:
        """√d where there are queries and keys alone, which have one size: that of a key."""
        if symbol != _D or self.program.find(R.X) is not None or self.program.find(R.STATES) is not None:
            return None
        size = self.program.find(R.D_K)
        return None if size is None else n.Name(size)

    def by_family(self, symbol: Symbol) -> n.Expr | None:
        """s_2 where s_1 turned out to be a score."""
        whole = self.families.get(family_of(symbol)) if symbol.indices else None
        item = self.program.item(whole) if whole is not None else None
        place = place_of(symbol)
        if item is None or item.role is None or place.row is None:
            return None
        return self._pick(item.role, item.symbol, place.row, place.column)

    def _by_role(self, symbol: Symbol, head: int | None) -> n.Expr | None:
        place = self.place(symbol, head)
        if place.generic and place.row is None and head is None:
            return None
        roles = (R.Q,) if symbol.base in MISREAD_Q and not place.roles else place.roles
        for role in roles:
            related = role is roles[0] or (role in SCORE_ROLES and roles[0] in SCORE_ROLES)
            target = self._matrix(role, place.head) if related else None
            if target is None:
                continue
            if place.row is None:
                return n.Name(self._all_of(role) or target if target.indices else target)
            if _is_one_token(target):
                continue  # x_1 is no row of x_3
            return self._pick(role, target, place.row, place.column)
        return None

    def place(self, symbol: Symbol, head: int | None) -> Place:
        """What a symbol stands for; scores_1 counts queries where there are no heads."""
        place = place_of(symbol, head)
        if place.head is None or not symbol.indices or self._has_heads:
            return place
        return replace(place, head=None, row=place.head, column=place.row)

    @cached_property
    def _has_heads(self) -> bool:
        return any(item.head is not None for item in self.program.items)

    def _all_of(self, role: Role) -> Symbol | None:
        """K where k_1, k_2, … are given and k alone is spoken of."""
        wholes = [item.symbol for item in self.program.items if item.role is role and not item.symbol.indices]
        return wholes[0] if len(wholes) == 1 else None

    def _matrix(self, role: Role, head: int | None) -> Symbol | None:
        for wanted in SAME.get(role, (role,)):
            for h in (head, None) if head is not None else (None,):
                found = self.program.find(wanted, h)
                if found is not None and (h == head or wanted in SHARED or wanted in (R.OUTPUT, R.CONTEXT, R.CONCAT)):
                    return found
        return None

    def _pick(self, role: Role, target: Symbol, row: int, column: int | None) -> n.Expr | None:
        entry = self.of_one_query(role, target, row) if column is None else None
        if entry is not None and (row != self.only_row or row == 1):
            return entry
        if row == self.only_row and role in BY_QUERY:
            row = 1
        if column is not None:
            return n.Entry(n.Name(target), row, column)
        picked: n.Expr = n.Entry(n.Name(target), row=row)
        return picked if self.rows else n.Transpose(picked)

    def of_one_query(self, role: Role, target: Symbol, number: int) -> n.Entry | None:
        """α_2 where there is one query alone, or one is followed: the weight of its second key."""
        shape = shapes_of(self.program).get(target)
        if role not in (R.WEIGHTS, R.SCORES, R.SCALED) or shape is None or not number <= shape[1] > 1:
            return None
        query = 1 if shape[0] == 1 else self.focus
        return n.Entry(n.Name(target), query, number) if query is not None and query <= shape[0] else None

    def _by_parent(self, symbol: Symbol) -> n.Expr | None:
        """q_{t,1} is the first row of q_t; a number has no rows."""
        if not symbol.indices or not symbol.indices[-1].isdigit() or symbol.base[:1].isupper():
            return None  # Q_1 beside Q is a head, not a row
        parent = shared_symbol(symbol.base, symbol.labels, symbol.indices[:-1], symbol.primes)
        whole = next((s for s in (cut_symbol(parent), parent) if self.program.item(s) is not None), None)
        if whole is None or shapes_of(self.program).get(whole) == (1, 1):
            return None
        picked = n.Entry(n.Name(whole), row=int(symbol.indices[-1]))
        return picked if self.rows else n.Transpose(picked)


def _is_one_token(symbol: Symbol) -> bool:
    return bool(symbol.indices) and symbol.base in TOKEN_BASES and symbol.indices[-1].isdigit()


def _is_mask(symbol: Symbol) -> bool:
    return place_of(symbol).roles[:1] == (R.MASK,)


def _picks_rows(made: n.Expr) -> bool:
    """Whether the vector of a token is in an expression; a single number is the same in a row and in a column."""
    parts = n.walk(made) if n.holds(made, n.Entry) else ()
    return None in [part.column for part in parts if isinstance(part, n.Entry)]


def family_of(symbol: Symbol) -> tuple[str, ...]:
    """What a name shares with its siblings: a_1 with a_2."""
    return (symbol.base, *symbol.labels, str(len(symbol.indices)))


def followed(spoken: Iterable[Symbol]) -> int | None:
    """The number of the one query that is spoken of: q_2, and no other and no Q."""
    rows = {place.row for place in map(place_of, spoken) if place.roles[:1] == (R.Q,)}
    return rows.pop() if len(rows) == 1 else None


def cut_symbol(symbol: Symbol) -> Symbol:
    """The name of a vector once it is cut into heads."""
    return shared_symbol(symbol.base, (*symbol.labels, "heads"), symbol.indices, symbol.primes)


def _unrolled(expr: n.Expr) -> n.Expr:
    """Write out every Σ with plain bounds."""

    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Series) and isinstance(part.low, n.Number) and isinstance(part.high, n.Number):
            from_, to = int(part.low.value), int(part.high.value)
            if 0 < to - from_ + 1 <= 1000:
                return n.Sum(tuple(at_index(part.body, part.index, i) for i in range(from_, to + 1)))
        return part

    return n.rewrite(expr, change)


def at_index(body: n.Expr, index: str, i: int) -> n.Expr:
    """The body with an index letter replaced by a number."""
    return n.rewrite(body, _indexed(index, i))


def _indexed(index: str, i: int) -> Callable[[n.Expr], n.Expr]:
    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and index in part.symbol.indices:
            s = part.symbol
            indices = tuple([str(i) if x == index else x for x in s.indices])
            return n.Name(shared_symbol(s.base, s.labels, indices, s.primes), at=part.at)
        return part

    return change
