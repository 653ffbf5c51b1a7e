"""Commands and signs → the tokens that they become, gathered from the tables of notation."""

from __future__ import annotations

from string import ascii_letters

from qkv.sheet import notation as table


def _commands() -> dict[str, tuple[str, str]]:
    """Every known command → the token it becomes; no kind means noise."""
    known: dict[str, tuple[str, str]] = {name: ("func", name) for name in table.FUNCTIONS}
    known |= {name: ("name", base) for name, base in table.NAME_COMMANDS.items()}
    known |= {name: ("op", sign) for name, sign in table.OPERATORS.items()}
    known |= {name: ("cmp", sign) for name, sign in table.COMPARISONS.items()}
    known |= {name: ("rel", relation) for name, relation in table.RELATIONS.items()}
    known |= {name: ("mark", mark) for name, mark in table.DELIMITER_COMMANDS.items()}
    known |= dict.fromkeys((*table.NOISE, *table.FONTS), ("", ""))
    known |= dict.fromkeys(table.WIDE, ("wide", " ")) | dict.fromkeys(table.ROW_ENDS, ("row", "\\\\"))
    for group, name in (
        (table.FRACTIONS, "frac"),
        (table.ROOTS, "sqrt"),
        (table.SUMS, "sum"),
        (table.STRIKES, "cancel"),
        (table.COLUMNS, "binom"),
    ):
        known |= dict.fromkeys(group, ("cmd", name))
    known |= {name: ("cmd", name) for name in (*table.STACKED, "over")}
    return known | {"infty": ("inf", "∞"), "prime": ("prime", "'")}


def _signs() -> dict[str, tuple[str, str]]:
    """Every known sign → the token it becomes."""
    known: dict[str, tuple[str, str]] = {sign: ("op", text) for sign, text in table.OPERATORS.items() if len(sign) == 1}
    known |= {sign: ("cmp", text) for sign, text in table.COMPARISONS.items() if len(sign) == 1}
    known |= {sign: ("rel", text) for sign, text in table.RELATIONS.items() if not sign.isalpha()}
    known |= {sign: ("open", sign) for sign in (*table.OPENERS, "{|")} | {
        s: ("close", s) for s in (*table.CLOSERS, "|}")
    }
    known |= {sign: ("sep", sign) for sign in ",;:.|¦‖&"} | {sign: ("script", sign) for sign in "_^"}
    return known | {
        "√": ("cmd", "sqrt"),
        "Σ": ("cmd", "sum"),
        "∞": ("inf", "∞"),
        "'": ("prime", "'"),
        "$": ("wide", " "),
    }


COMMANDS = _commands()
SIGNS = _signs()


def _spelled() -> dict[str, tuple[str, str]]:
    """What is a token whatever stands around it → that token; no kind means noise."""
    known = SIGNS | {digits: ("num", digits) for digits in map(str, range(100))}
    known |= {letter: ("name", letter) for letter in ascii_letters if letter not in "xX"}
    known |= {letter: ("name", base) for letter, base in table.GREEK.items()}
    for name, (kind, text) in COMMANDS.items():
        if name.isascii() and name.isalpha():
            known["\\" + name] = SIGNS[text] if kind == "mark" else (kind, text)
    for font in ("mathbf", "boldsymbol", "mathrm", "bm", "vec"):
        known |= {f"\\{font}{{{letter}}}": ("name", letter) for letter in ascii_letters}
    known |= {f"\\mathbb{{{letter}}}": ("bb", letter) for letter in ascii_letters}
    for side, kind in (("left", "open"), ("right", "close")):
        known |= {f"\\{side}{mark}": (kind, "left" + mark) for mark in "()[]|."}
    for environment in _ENVIRONMENTS:
        known |= {f"\\{side}{{{environment}}}": (side, environment) for side in ("begin", "end")}
    noise = dict.fromkeys((" ", r"\,", r"\;", r"\:", r"\!", "\\ "), ("", ""))
    return known | noise | {"\\\\": ("row", "\\\\")}


_ENVIRONMENTS = ("matrix", "bmatrix", "pmatrix", "vmatrix", "array", "aligned", "align", "align*", "cases")
SPELLED = _spelled()
