"""LaTeX from a document on one line of plain text, for lists of claims: for the eye only, nothing is read back."""

from __future__ import annotations

from fractions import Fraction

from qkv.expr.show import GREEK
from qkv.regex import regex

LONGEST = 2_000  # characters of source that are looked at; a list shows far fewer

# Applied in order, each to a fixed point at most DEEPEST times, so that nested braces open from the inside.
DEEPEST = 8
NESTED = (
    (regex(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"(\1)/(\2)"),
    (regex(r"\\[dt]?binom\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"[\1; \2]"),
    (regex(r"\\sqrt\s*\{([^{}]*)\}"), r"√(\1)"),
    (
        regex(r"\\(?:text|textbf|mathrm|mathbf|mathit|mathcal|mathsf|operatorname\*?|boldsymbol|bm)\s*\{([^{}]*)\}"),
        r"\1",
    ),
    (regex(r"\\(?:hat|bar|tilde|vec|overline|widehat)\s*\{([^{}]*)\}"), r"\1"),
    (regex(r"\\x?cancel\s*\{([^{}]*)\}"), r"~\1~"),
    (regex(r"([_^])\{([^{}]*)\}"), r"\1\2"),
)
FLAT = (
    (regex(r"\s*\\\\\s*"), "; "),
    (regex(r"\\begin\{array\}\s*\{[^{}]*\}|\\begin\{[a-zA-Z]*matrix\*?\}"), "["),
    (regex(r"\\end\{(?:array|[a-zA-Z]*matrix\*?)\}"), "]"),
    (regex(r"\\(?:begin|end)\{[a-zA-Z*]*\}"), " "),
    (regex(r"\\(?:left|right|big|Big|bigg|displaystyle|quad|qquad|[,;:! ])"), " "),
    (regex(r"\s*&\s*"), " "),
)
WORDS = {
    "times": "×", "cdot": "·", "div": "÷", "approx": "≈", "simeq": "≈", "infty": "∞", "top": "T", "intercal": "T",
    "Rightarrow": "⇒", "implies": "⇒", "rightarrow": "→", "to": "→", "sum": "Σ", "dots": "…", "cdots": "…",
    "ldots": "…", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "in": "∈", "pm": "±", "emptyset": "∅",
}  # fmt: skip
_COMMAND = regex(r"\\([A-Za-z]+)\*?")
_SIMPLE = regex(r"(?<=√)\((\w+)\)|\(([\w.∞√^-]+)\)(?=/)|(?<=/)\(([\w.∞√^-]+)\)")


def shortened(text: str, most: int) -> str:
    """A text of so many characters at most, with dots for what is left out.

    >>> shortened("attention", 6), shortened("key", 6)
    ('atten…', 'key')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def plainly(latex: str) -> str:
    r"""LaTeX as a person would type it.

    >>> plainly(r"E = \frac{QK^\top}{\sqrt{d_{k}}} = \begin{bmatrix} 2 & 4 \\ 4 & 16 \end{bmatrix}")
    'E = QK^T/√d_k = [2 4; 4 16]'
    """
    text = " ".join(latex[:LONGEST].split()).replace("{,}", ",")
    if "\\" not in text and "{" not in text:
        return text
    text = _COMMAND.sub(lambda found: WORDS.get(found[1], found[0]) + _space(found[1]), text)
    for pattern, written in FLAT:
        text = pattern.sub(written, text)
    for _ in range(DEEPEST):
        before = text
        for pattern, written in NESTED:
            text = pattern.sub(written, text)
        if text == before:
            break
    text = _COMMAND.sub(lambda found: found[1] if found[1] in GREEK else f"{found[1]} ", text)
    for _ in range(2):  # first what is below a root, then what stands beside a stroke
        text = _SIMPLE.sub(lambda found: next(part for part in found.groups() if part), text)
    return " ".join(text.replace("{", "").replace("}", "").replace("[ ", "[").replace(" ]", "]").split())


def _space(command: str) -> str:
    return "" if command not in WORDS or WORDS[command] in "T√∞" else " "


def said(points: Fraction) -> str:
    """Points as people write them.

    >>> said(Fraction(3)), said(Fraction(5, 2)), said(Fraction(2, 3))
    ('3', '2.5', '0.67')
    """
    return f"{float(points):.2f}".rstrip("0").rstrip(".")
