"""Hand-ins for the assignments of conftest, and what each of them earns."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from qkv.grading.model import DEFAULT, Because, Policy

S_RIGHT = "S = [[1, 2, 0], [2, 0, 2], [2, 2, 1]]"
A_RIGHT = "weights = [[1, 0, 0], [0.804, 0.196, 0], [0.401, 0.401, 0.198]]"
Z_RIGHT = "output = [[1, 2], [1.391, 1.609], [1.604, 1.593]]"
HEADS_RIGHT = """A_1 = [[0.670, 0.330], [0.5, 0.5]]
A_2 = [[0.330, 0.670], [0.670, 0.330]]
Z_1 = [[1.330, 0.330], [1.5, 0.5]]
Z_2 = [[0.670, 2.340], [0.330, 1.660]]
"""
CARRIED, SLIP, MISSING, IMPLIED = Because.CARRIED, Because.SLIP, Because.MISSING, Because.IMPLIED


@dataclass(frozen=True)
class Case:
    """A hand-in: least and most points, and why quantities that are not simply right got theirs."""

    about: str
    task: str
    text: str
    points: tuple[Fraction | int, Fraction | int]
    because: dict[str, Because] = field(default_factory=dict)
    policy: Policy = DEFAULT


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


CASES = (
    Case("all right", "masked", _lines(S_RIGHT, A_RIGHT, Z_RIGHT), (6, 6)),
    Case("all right in two heads", "two heads", HEADS_RIGHT, (4, 4)),
    Case("nothing", "masked", "", (0, 0), {"S": MISSING, "A": MISSING, "Z": MISSING}),
    Case("an excuse", "masked", "I was ill, sorry.", (0, 0), {"S": MISSING, "A": MISSING, "Z": MISSING}),
    Case("the result only", "masked", _lines(Z_RIGHT), (6, 6), {"S": IMPLIED, "A": IMPLIED}),
    Case(
        "the result only, where working is asked for", "masked", _lines(Z_RIGHT), (1, 1),
        {"S": IMPLIED, "A": IMPLIED}, Policy(implied=Fraction(0)),
    ),
    Case("the first step only", "masked", _lines(S_RIGHT), (2, 2), {"A": MISSING, "Z": MISSING}),
    Case(
        "a false result only proves nothing", "masked", "output = [[1, 2], [9, 9], [7, 7]]\n", (0, 0),
        {"S": MISSING, "A": MISSING, "Z": SLIP},
    ),
    Case(
        "the mask is forgotten", "masked",
        _lines(
            S_RIGHT,
            "weights = [[0.284, 0.576, 0.140], [0.446, 0.108, 0.446], [0.401, 0.401, 0.198]]",
            "output = [[2.012, 1.128], [0.771, 2.674], [1.604, 1.593]]",
        ),
        (3, 3), {"A": SLIP, "Z": CARRIED},
    ),
    Case(
        "carried values earn half", "masked",
        _lines(
            S_RIGHT,
            "weights = [[0.284, 0.576, 0.140], [0.446, 0.108, 0.446], [0.401, 0.401, 0.198]]",
            "output = [[2.012, 1.128], [0.771, 2.674], [1.604, 1.593]]",
        ),
        (Fraction(5, 2), Fraction(5, 2)), {"A": SLIP, "Z": CARRIED}, Policy(carried=Fraction(1, 2)),
    ),
    Case(
        "zeros carry nothing", "masked",
        _lines(
            "S = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]",
            "weights = [[1, 0, 0], [0.5, 0.5, 0], [0.333, 0.333, 0.333]]",
            "output = [[1, 2], [2, 1], [1.333, 2]]",
        ),
        (0, 0), {"S": SLIP, "A": Because.TRIVIAL, "Z": Because.TRIVIAL},
    ),
    Case(
        "the same mistake in both heads", "two heads",
        _lines(
            "A_1 = [[0.731, 0.269], [0.5, 0.5]]",
            "A_2 = [[0.269, 0.731], [0.731, 0.269]]",
            "Z_1 = [[1.269, 0.269], [1.5, 0.5]]",
            "Z_2 = [[0.731, 2.462], [0.269, 1.538]]",
        ),
        (3, 3), {"A_1": SLIP, "A_2": Because.AGAIN, "Z_1": CARRIED, "Z_2": CARRIED},
    ),
    Case(
        "a slip in what nobody asked for", "two heads",
        _lines(
            "K_1 = [[1, 1], [0, 2]]",  # (2, 2) is 1
            "A_1 = [[0.670, 0.330], [0.330, 0.670]]",
            *HEADS_RIGHT.splitlines()[1:2],
            "Z_1 = [[1.330, 0.330], [1.670, 0.670]]",
            *HEADS_RIGHT.splitlines()[3:],
        ),
        (3, 3), {"A_1": Because.CHARGED, "Z_1": CARRIED},
    ),
    Case(
        "one row of the weights", "masked", _lines(S_RIGHT, "weights of token 2: [0.804, 0.196, 0]"), (3, 5),
        {"A": Because.PARTLY, "Z": MISSING},
    ),
)  # fmt: skip
