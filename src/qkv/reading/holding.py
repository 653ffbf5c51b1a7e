"""What holds in each problem of a page: its heads, its conventions, which keys its queries may see."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.library.attention import role_in
from qkv.library.said import Sight, shares_said
from qkv.reading.choices import Choices
from qkv.reading.definitions import Source
from qkv.reading.lettered import OF_A_HEAD, PROJECTED
from qkv.reading.naming import Naming, role_symbol
from qkv.reading.page import Page

ATTENDING = frozenset({Role.X, Role.Q, Role.K, Role.V, *PROJECTED.values(), Role.STATES, Role.SOURCE})
SIZING = ATTENDING - {Role.V, Role.W_V} | {Role.Y, Role.D_K}
UNMASKED = frozenset({Role.SCORES, Role.SCALED})
AFTER_Q = frozenset({Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.OUTPUT})


def problems_of(page: Page, names: Naming) -> Problems:
    """What names say of the problems of a page, found out once for all who take the names so."""
    kept: Problems = names.__dict__.setdefault("_problems", Problems(page, names))
    return kept


class Problems:
    """What the names of a page say of each of its problems, whatever else is chosen."""

    def __init__(self, page: Page, names: Naming) -> None:
        self._page, self._names = page, names
        self._heads: dict[int, tuple[str, ...]] = {}

    @cached_property
    def fresh(self) -> frozenset[int]:
        """The problems that give inputs of their own: what was worked out in another problem is not theirs."""
        return frozenset(
            d.scope for (role, _), found in self._names.by_place.items() if role in ATTENDING
            for symbol, _ in found for d in self._page.definitions[symbol] if d.source is Source.GIVEN
        )  # fmt: skip

    def heads_in(self, scope: int) -> tuple[str, ...]:
        """The heads of one problem: those of its own names; those of the page, if none of its names attends."""
        if scope not in self._heads:
            self._heads[scope] = self._heads_of(scope)
        return self._heads[scope]

    def _heads_of(self, scope: int) -> tuple[str, ...]:
        if len(self._page.scopes) == 1 or len(self._names.heads) < 2:
            return self._names.heads
        own = {
            (role, head)
            for (role, head), found in self._names.by_place.items()
            if role in OF_A_HEAD and any(self._names.is_own(s, scope) for s, _ in found)
        }
        heads = tuple(head for head in self._names.heads if any(head == other for _, other in own))
        return heads if heads or own else self._names.heads

    def attends_to_states(self, scope: int) -> bool:
        """Whether a problem attends to states of an encoder, and has neither queries nor keys of its own."""
        roles = {
            role
            for (role, _), found in self._names.by_place.items()
            if any(self._names.is_own(symbol, scope) for symbol, _ in found)
        }
        page = {role for role, _ in self._names.by_place}
        return Role.STATES in (roles & ATTENDING or page) and not (roles & ATTENDING or page) & {
            Role.Q,
            Role.K,
            Role.W_Q,
            Role.W_K,
        }

    def is_elsewhere(self, role: Role, scope: int) -> bool:
        """Whether what plays a role in problems before is none of this one's business: it has inputs of its own."""
        if scope not in self.fresh:
            return False
        states = (Role.STATES, Role.SOURCE)
        return role in AFTER_Q or (role in states and not any(self._own_role(other, scope) for other in states))

    def _own_role(self, role: Role, scope: int) -> bool:
        return any(self._names.is_own(symbol, scope) for symbol, _ in self._names.by_place.get((role, None), ()))


class Holding:
    """What holds in each problem: the choices made, and what the names of the page leave no doubt about."""

    def __init__(self, page: Page, choices: Choices, names: Naming) -> None:
        self._page, self._choices, self._names = page, choices, names
        self.problems = problems_of(page, names)
        self._conventions: dict[int, frozenset[str]] = {}

    def conventions(self, scope: int) -> frozenset[str]:
        """What holds in a scope: the choices made, and what the names of the page leave no doubt about."""
        if scope not in self._conventions:
            self._conventions[scope] = self._holding(scope)
        return self._conventions[scope]

    def _holding(self, scope: int) -> frozenset[str]:
        made = set(self._choices.conventions[scope])
        if self._names.holders(Role.MASK) or self.sight(scope) is not None:
            made |= {"patterned"}
        if not self.problems.heads_in(scope):
            made |= {"single"}
        only_tokens = not any(role in ATTENDING and role is not Role.X for role, _ in self._names.by_place)
        if only_tokens and not self._is_one_vector:
            made |= {"plain"}
        if not any(role in SIZING for role, _ in self._names.by_place):
            given = any(role is Role.SCALED for role, _ in self._names.by_place)
            made = made - {"scaled", "unscaled"} | {
                "scaled" if given else "unscaled"
            }  # nothing tells what to divide by
        if not self._choices.supposed and shares_said(self._page.words_of(scope)):
            made = made - {"scaled"} | {"unscaled", "shares"}
        return frozenset(made)

    @cached_property
    def _is_one_vector(self) -> bool:
        """Whether all that the page has for tokens is single vectors or numbers, which attend to nothing: LN(x)."""
        found = self._names.by_place.get((Role.X, None), [])
        said = [d.expr for symbol, _ in found for d in self._page.definitions[symbol]]
        literal = [expr for expr in said if n.is_literal(expr)]
        rows = [len(expr.rows) if isinstance(expr, n.Matrix) else 1 for expr in literal]
        single = len(found) < 2 or all(place.row is None for _, place in found)
        return bool(rows) and len(rows) == len(said) and max(rows) == 1 and single

    def meant(self, expr: n.Expr, scope: int) -> n.Expr:
        """A stated formula as it is meant: where words say that attention is causal and no formula says where the mask
        comes in, a softmax of scores is one of masked scores."""
        if not n.holds(expr, n.Softmax) or n.holds(expr, n.Mask) or not self.masks_in_words(scope):
            return expr

        def masked(node: n.Expr) -> n.Expr:
            if not isinstance(node, n.Softmax) or UNMASKED.isdisjoint(self._names.roles(node.arg)):
                return node
            return replace(node, arg=n.Mask(node.arg))

        return n.rewrite(expr, masked)

    def masks_in_words(self, scope: int) -> bool:
        """Whether attention is causal in a scope by words alone: no formula of the page, or of its task, has a mask."""
        held = self.conventions(scope)
        return "causal" in held and held.isdisjoint({"keys", "patterned"}) and not self._states_a_mask

    @cached_property
    def _states_a_mask(self) -> bool:
        page = self._page.task or self._page
        places = (self._names.place(symbol) for symbol in page.definitions)
        named = any(place is not None and place.role in (Role.MASK, Role.MASKED) for place in places)
        return named or any(n.holds(d.expr, n.Mask) for found in page.definitions.values() for d in found)

    def sight(self, scope: int) -> Sight | None:
        """Which keys the queries of a problem may see, as words say it."""
        return self._choices.sight or (None if self._choices.supposed else self._page.sights.get(scope))


@lru_cache(maxsize=1024)  # the rows of the library, for as many heads as documents have
def of_head(expr: n.Expr, head: str | None) -> n.Expr:
    """An equation of the library, its roles those of one head."""

    def named(node: n.Expr) -> n.Expr:
        role = role_in(node.symbol) if isinstance(node, n.Name) else None
        return n.Name(role_symbol(role, head)) if role is not None else node

    return n.rewrite(expr, named)
