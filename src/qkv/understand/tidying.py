"""Statements as a document means them: what only the whole of it, or the formula around, can tell about a sign."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection
from functools import reduce
from itertools import dropwhile

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.records import replace
from qkv.sheet.model import Statement
from qkv.understand.identity import with_identity
from qkv.understand.places import TOKEN_BASES, place_of

EULER = Symbol("e")
SCORING = frozenset({"score", "align", "alignment"})
MASKS = frozenset({"mask", "masked", "causal", "causalmask", "causal_mask", "maske", "masque", "máscara", "mascara"})


def tidied(statements: tuple[Statement, ...]) -> list[Statement]:
    """Settle what only the whole document can tell: a bare e is Euler's number unless something is called e."""
    naming = [(s, link.expr.symbol) for s in statements for link in s.links if isinstance(link.expr, n.Name)]
    named = {symbol for _, symbol in naming}
    defined = {s.links[0].expr.symbol for s in statements if s.links and isinstance(s.links[0].expr, n.Name)}
    euler = EULER not in named or all(_tells_euler(s) for s, symbol in naming if symbol == EULER)

    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Product):
            return _settled(part)
        if isinstance(part, n.Name):
            if euler and part.symbol == EULER:
                return n.Exp(n.number(1), at=part.at)
            return part if part.symbol in defined else with_identity(part)
        if isinstance(part, n.Call) and part.function.lower() in MASKS and len(part.args) in (1, 2):
            pattern = part.args[1] if len(part.args) == 2 else None  # mask(S, M), with 1 for what may be seen
            return n.Mask(part.args[0], pattern, truth=pattern is not None, at=part.at)
        return part

    made: list[Statement] = []
    for statement in statements:
        written = [link.expr for link in statement.links]
        exprs = [n.rewrite(expr, change) if _may_change(expr) else expr for expr in written]
        if len(exprs) > 1 and isinstance(exprs[0], (n.Product, n.Quotient)):
            exprs[0] = _without_label(exprs[0], statement.links[0].text, named)
        elif len(exprs) > 1 and isinstance(exprs[0], n.Call):
            exprs[0] = _as_score(exprs[0])
        if not all(map(operator.is_, exprs, written)):
            pairs = zip(statement.links, exprs, strict=True)
            links = [link if link.expr is expr else replace(link, expr=expr) for link, expr in pairs]
            statement = replace(statement, links=tuple(links))
        made.append(statement)
    return made


def _as_score(call: n.Call) -> n.Expr:
    """score(s, h_i) is the i-th score, e_i."""
    letters = [x for arg in call.args if isinstance(arg, n.Name) for x in arg.symbol.indices if x in "ij"]
    scores = call.function.lower() in SCORING and len(letters) == 1
    return n.Name(Symbol("e", (), tuple(letters)), at=call.at) if scores else call


def _may_change(expr: n.Expr) -> bool:
    """Whether anything in an expression may need settling: told by what it holds, since most links are numbers."""
    if isinstance(expr, (n.Number, n.Name)):
        return isinstance(expr, n.Name) and expr.symbol.base in ("e", "I")
    kinds, names = n.kinds_in(expr), n.names_in(expr)
    product = n.Product in kinds
    if product and n.Matrix in kinds and n.Number in kinds:
        return True  # ½ I_2, written out
    if n.Call in kinds and not MASKS.isdisjoint([x.function.lower() for x in n.walk(expr) if isinstance(x, n.Call)]):
        return True
    if product and names and (n.Softmax in kinds or (n.Quotient in kinds and n.Root in kinds)):
        return True
    for symbol in names:
        if symbol.base in ("e", "I") or (product and symbol.base not in TOKEN_BASES and _calls_head(symbol)):
            return True
    return False


def _settled(product: n.Product) -> n.Expr:
    if isinstance(product.left, n.Quotient) and n.names_in(product.right):
        return _with_scale_below(product)
    if isinstance(product.right, n.Softmax):
        return _mixing_columns(product)
    if _is_head(product.right) and _all_heads(product.left):
        return n.Concat((*_listed(product.left), product.right), at=product.at)  # [Z_1 Z_2]
    return with_identity(product)


def _tells_euler(statement: Statement) -> bool:
    """e ≈ 2.718 says what the base of the exponential is; it calls nothing e."""
    names = [link.expr for link in statement.links if isinstance(link.expr, n.Name)]
    values = [link.expr.value for link in statement.links if isinstance(link.expr, n.Number)]
    return [name.symbol for name in names] == [EULER] and len(values) == 1 and 2.7 <= values[0] <= 2.72


ITEM = re.compile(r"\s*\(?[a-z0-9]{1,3}[).]")


def _without_label(expr: n.Expr, text: str, named: Collection[Symbol]) -> n.Expr:
    """'Scaled scores QKᵀ/2 = …', 'a) QKᵀ = …', 'Step 3. A = …': what stands before a formula is a label, no factor."""
    if isinstance(expr, n.Quotient):
        top = _without_label(expr.numerator, text, named)
        return expr if top is expr.numerator else replace(expr, numerator=top)
    if not isinstance(expr, n.Product):
        return expr
    first, *rest = n.factors(expr)
    item = ITEM.match(text) is not None
    counted = isinstance(first, n.Number) and first.text.endswith(".")
    letter = item and (first == n.Exp(n.number(1)) or (isinstance(first, n.Name) and len(first.symbol.base) == 1))
    if counted or letter:
        return reduce(n.Product, rest)
    kept = list(dropwhile(lambda factor: _is_unnamed_word(factor, named), (first, *rest)))
    return expr if not kept or len(kept) == len(rest) + 1 else reduce(n.Product, kept)


def _is_unnamed_word(factor: n.Expr, named: Collection[Symbol]) -> bool:
    if not isinstance(factor, n.Name) or factor.symbol in named or factor.symbol.indices:
        return False  # α_1 v_1 is a product
    return len(factor.symbol.base) > 2 and factor.symbol.base.isalpha()


def _with_scale_below(product: n.Product) -> n.Expr:
    """1/√d_k · Q Kᵀ as Q Kᵀ / √d_k, one way of writing it."""
    scale = product.left
    if not isinstance(scale, n.Quotient) or not any(isinstance(part, n.Root) for part in n.walk(scale.denominator)):
        return product
    one = isinstance(scale.numerator, n.Number) and scale.numerator.value == 1
    top = product.right if one else n.Product(scale.numerator, product.right)
    return n.Quotient(top, scale.denominator, at=product.at)


def _mixing_columns(product: n.Product) -> n.Expr:
    """V softmax(KᵀQ): what multiplies values from the right has a distribution in each column."""
    weights, values = product.right, product.left
    is_values = isinstance(values, n.Name) and place_of(values.symbol).roles[:1] == (Role.V,)
    if not is_values or not isinstance(weights, n.Softmax) or weights.by_rows:
        return product
    return replace(product, right=replace(weights, axis=0))


def _is_head(expr: n.Expr) -> bool:
    return isinstance(expr, n.Name) and expr.symbol.base not in TOKEN_BASES and _calls_head(expr.symbol)


def _calls_head(symbol: Symbol) -> bool:
    place = place_of(symbol)
    return place.head is not None and bool({Role.HEAD, Role.OUTPUT}.intersection(place.roles[:1]))


def _all_heads(expr: n.Expr) -> bool:
    return all(_is_head(part) for part in _listed(expr))


def _listed(expr: n.Expr) -> tuple[n.Expr, ...]:
    return expr.parts if isinstance(expr, n.Concat) else (expr,)
