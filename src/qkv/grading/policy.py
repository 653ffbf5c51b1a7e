"""The policy of a teacher: read from a scheme, and said as one table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from qkv.errors import ReadError, ValueRefused
from qkv.grading.asked import Assignment
from qkv.grading.model import DEFAULT, Per, Points, Policy
from qkv.render.plainly import said

# The rows of the policy: its name in a scheme, and what it is about.
ROWS = {
    "drifted": "is what the author's own rounded numbers give",
    "misrounded": "is one off in its last digit, as if cut off",
    "carried": "follows from an earlier slip",
    "wrong": "has the slip in it: a slip costs once, where it was made",
    "implied": "is not shown, but something right that stands on it is",
    "trivial": "follows from an answer that is all one number, an identity or of another shape",
    "missing": "is not handed in",
}


def policy_of(text: str, file: str = "the scheme") -> Policy:
    """The policy in a scheme.

    >>> policy_of('[points]\\n1 = 3\\n[credit]\\nmisrounded = 0.5').misrounded
    Fraction(1, 2)
    """
    try:
        found = tomllib.loads(text, parse_float=Fraction)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(f"{file}: {error}") from error
    _only(found, ("points", "asks", "credit", "per"), file)
    credit = _table(found, "credit", file)
    _only(credit, ROWS, f"{file}, [credit]")
    per = found.get("per", DEFAULT.per)
    if per not in set(Per):
        raise ValueRefused(f"{file}: per is {per!r}; it can be {' or '.join(Per)}")
    asks = _table(found, "asks", file)
    return Policy(
        **{name: _points(share, f"{file}, {name}", most=1) for name, share in credit.items()},
        per=Per(per),
        points=tuple((name, _points(each, f"{file}, {name}")) for name, each in _table(found, "points", file).items()),
        asks=tuple(
            (label, tuple(map(str, [names] if isinstance(names, str) else names))) for label, names in asks.items()
        ),
    )


def _table(found: Mapping[str, Any], name: str, file: str) -> dict[str, Any]:
    table = found.get(name, {})
    if not isinstance(table, dict):
        raise ValueRefused(f"{file}: [{name}] has to be a table")
    return table


def _only(table: Mapping[str, Any], names: Any, where: str) -> None:
    for name in table:
        if name not in names:
            raise ValueRefused(f"{where}: there is no {name!r}; there are {', '.join(names)}")


def _points(given: Any, where: str, most: int = 1000) -> Points:
    if isinstance(given, bool) or not isinstance(given, (int, Fraction)) or not 0 <= given <= most:
        raise ValueRefused(f"{where}: {given!r} is no number from 0 to {most}")
    return Fraction(given)


def explained(assignment: Assignment, policy: Policy = DEFAULT) -> str:
    """What is asked, for how many points, and what a quantity earns, as text."""
    lines = ["What the assignment asks for:"]
    for each in assignment.asked:
        number = f"question {each.label}" if each.label else "the result"
        rows, columns = each.known.value.shape
        lines.append(f"  {number:<14} {each.name:<16} {rows}×{columns:<4} {_count(each.points)}")
    lines.append(
        f"  {'together':<14} {'':<16} {'':<6} {_count(sum((each.points for each in assignment.asked), Fraction(0)))}"
    )
    for question in assignment.by_person:
        lines.append(f"  not graded: {' '.join(question.text.split())[:80]}")
    lines += ["", "What a quantity earns of its points, if it …"]
    lines.append(f"  {'all':>5}  is right, or rounded to the digits shown")
    for name, meaning in ROWS.items():
        share = getattr(policy, name)
        lines.append(f"  {_share(share):>5}  {meaning}  ({name})")
    lines.append(
        f"  {'look':>5}  is shown in part, is damaged text, or may be among what could not be read: a range of points"
    )
    per = "all of the quantity" if policy.per is Per.QUANTITY else "the cells that are wrong"
    lines += [
        "",
        f'A slip costs {per} (per = "{policy.per}"). A slip in something that nobody asked for is charged to the first',
    ]
    lines += ["asked quantity that follows from it. The same known mistake in several heads costs once."]
    return "\n".join(lines) + "\n"


def _count(points: Points) -> str:
    return f"{said(points)} {'point' if points == 1 else 'points'}"


def _share(share: Points) -> str:
    return "all" if share == 1 else "none" if share == 0 else f"{said(share * 100)} %"
