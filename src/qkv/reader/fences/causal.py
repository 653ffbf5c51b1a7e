"""Causal masks in Python: triu and tril, and what is made of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

Known = Mapping[str, ast.expr]  # what names were assigned that are no mathematics
LOWEST = -1e4  # scores below are as good as minus infinity


def hides_later(mask: ast.expr, known: Known) -> bool:
    """Whether a mask is true for the keys after each query: triu(ones(n, n), 1).bool(), tril(ones(n, n)) == 0."""
    return _is_true_for(mask, known, later=True)


def shows_earlier(mask: ast.expr, known: Known) -> bool:
    """Whether a mask is true for the keys up to each query."""
    return _is_true_for(mask, known, later=False)


def _is_true_for(mask: ast.expr, known: Known, later: bool) -> bool:
    match _opened(mask, known):
        case ast.Call() as call if called(call) == ("triu" if later else "tril"):
            return _diagonal(call) == int(later)
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return _is_true_for(inner, known, not later)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=value)]):
            return _is_true_for(left, known, not later if value == 0 else later)
        case ast.Name(id=name):  # made where nobody sees it
            return "causal" in name.lower()
    return False


def adds_later(mask: ast.expr, known: Known) -> bool:
    """Whether a mask that is added hides the keys after each query: triu(full((n, n), -inf), 1), or
    triu(ones(n, n), 1) * -1e9, or (1 - tril(ones(n, n))) * -1e9."""
    match _opened(mask, known):
        case ast.Call(args=[ast.Call(args=[_, lowest]) as full, *_]) as call if called(call) == "triu":
            return called(full) in ("full", "full_like") and is_lowest(lowest) and _diagonal(call) == 1
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            kept, lowest = (left, right) if is_lowest(right) else (right, left)
            if isinstance(kept, ast.BinOp) and isinstance(kept.op, ast.Sub):
                return is_lowest(lowest) and shows_earlier(kept.right, known)
            return is_lowest(lowest) and hides_later(kept, known)
    return False


def is_lowest(value: ast.expr) -> bool:
    """-np.inf, float('-inf'), -1e9."""
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Attribute(attr="inf" | "Inf" | "infty")):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Call(args=[ast.Constant(value="inf")])):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as size)):
            return -size <= LOWEST
        case ast.Call(args=[ast.Constant(value="-inf")]):
            return True
    return False


def _opened(mask: ast.expr, known: Known) -> ast.expr:
    """What a name was assigned, without conversions and slices around it."""
    for _ in range(20):
        match mask:
            case ast.Name(id=name) if name in known:
                mask = known[name]
            case ast.Call(func=ast.Attribute(value=inner, attr="bool" | "to" | "astype")) | ast.Subscript(value=inner):
                mask = inner
            case _:
                break
    return mask


def _diagonal(node: ast.Call) -> object:
    """The diagonal at which triu or tril begins."""
    method = isinstance(node.func, ast.Attribute) and not is_module(node.func.value)
    given = next((word.value for word in node.keywords if word.arg in ("diagonal", "k")), None)
    given = given or next(iter(node.args if method else node.args[1:]), None)
    return 0 if given is None else getattr(given, "value", None)


def called(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


MODULES = frozenset({"np", "numpy", "torch", "F", "jnp", "jax", "tf", "math", "scipy", "special", "nn", "pd", "pandas"})


def is_module(node: ast.expr) -> bool:
    """np, torch, torch.nn.functional, F: what stands before the dot is a module and not a value."""
    if isinstance(node, ast.Attribute):
        return is_module(node.value)
    return isinstance(node, ast.Name) and node.id in MODULES
