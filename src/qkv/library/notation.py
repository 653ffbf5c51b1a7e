"""Our own notation, read by our own reader: what the rows of the library and the table of mistakes are written in."""

from __future__ import annotations

from qkv.expr import nodes as n


def equation(text: str) -> tuple[n.Expr, n.Expr]:
    """The two sides of `name = expression`."""
    from qkv.errors import Location  # the reader is loaded when a row is read, not when the library is imported
    from qkv.reader.grammar import parse_math

    left, right = parse_math(text, Location(1)).chains[0].links
    return left.expr, right.expr


def expression(text: str) -> n.Expr:
    """One expression.

    >>> from qkv.expr.show import plain
    >>> plain(expression(r"\\sqrt{var(x) + \\epsilon}"))
    '√(var(x) + epsilon)'
    """
    return equation(f"z = {text}")[1]
