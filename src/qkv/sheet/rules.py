"""What tokens look like: one regular expression without groups. Which rule matched is told by the text it found."""

from __future__ import annotations

import re

from qkv.expr.late import late
from qkv.sheet import notation as table

_SUBS, _SUPS, _GREEK = ("".join(t) for t in (table.SUBSCRIPTS, table.SUPERSCRIPTS, table.GREEK))
LATIN = "A-Za-zÀ-ÖÙ-öù-ɏ"
_NUMBER = r"(?:\d++(?:\.(?!\.)\d*+)?+|\.\d++)(?:[eE](?:-?\d+|\+\d\d+))?"  # 2e+1 is twice e, and one
_CELL = rf"\s*+-?\s*+(?:{_NUMBER})\s*+"
_BRACED = r"\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}"
_GRID_NAMES = r"[bpBvV]?(?:small)?matrix|array"
TEXTS = ("text", "textbf", "textit", "textrm", "textsf", "texttt", "textnormal", "textup", "textsc", "mbox", "hbox")
BLACKBOARD = ("mathbb", "mathds", "Bbb")
WORD_FONTS = r"mathrm|operatorname\*?|mathsf|mathtt|mathit|mathop"
_ROMANS = "|".join((WORD_FONTS, *sorted(table.FONTS - {"mathbb"}, key=len, reverse=True)))
_BOLD = r"\\(?:mathbf|boldsymbol|mathrm|bm)"
_SPEC = rf"(?:\s*\[\w*\])?(?:\s*{_BRACED})?"
_SPECCED = "|".join(rf"(?<={name}\}})" for name in ("array", "tabular", "alignat", r"alignat\*", "alignedat"))
_POINT_NUMBERS = rf"\d+\{{\.\}}\d+|\d+(?:(?:\{{,\}}|\\,|\\!,|,)\d{{3}}(?!\d))+(?:\.\d+)?|\d+\{{,\}}\d+|{_NUMBER}"
_COMMA_NUMBERS = rf"\d{{1,3}}(?:\{{,\}}\d{{3}}){{2,}}(?!\d)|\d+(?:,|\{{,\}})\d+|{_NUMBER}"
PAIR = r"\d(?<=_\d),\d(?![\d.,])"  # s_1,2
_ACCENTED = r"\\(?:alpha|beta|omega|sigma|lambda|mu)"  # letters that scores and weights are called by
ACCENT = (
    rf"(?:wide)?(?:tilde|hat|bar)(?:\s*\{{\s*(?:{_BOLD}\s*\{{?\s*)?(?:[A-Za-z]|{_ACCENTED})\s*\}}{{1,2}}"
    rf"|\s+[A-Za-z](?![A-Za-z])|\s*{_ACCENTED}(?![A-Za-z]))"
)
# One token each. A rule begins, where it can, with one character or class: then it is ruled out by that, and not tried.
# Of those that can begin alike the first wins; what comes most often stands first.
_BACKSLASH = (  # what follows a backslash
    r"(?:mathbf|boldsymbol|mathrm|bm|vec)\{[A-Za-z]\}",
    r"(?:quad|top|cdot|times|approx|sqrt|alpha|sum)(?![A-Za-z*])",
    r"(?<=\d\\)(?:[,;: ]\\?)?%",
    rf"(?:{'|'.join(TEXTS)})\s*{_BRACED}",
    ACCENT,
    rf"(?:{_ROMANS})\s*\{{\s*(?:[{LATIN}]|[ \-~]|\\[_,; ])++\}}",
    rf"(?:{'|'.join(BLACKBOARD)})\s*(?:\{{\s*[A-Za-z]\s*\}}|\s[A-Za-z])",
    rf"begin\s*\{{\s*[A-Za-z]++\*?\s*\}}(?:(?:{_SPECCED}){_SPEC}|(?:\[[lcr]\])?)",
    r"end\s*\{\s*[A-Za-z]++\*?\s*\}",
    r"\\\*?(?:\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in|mu|pc|bp|sp)\s*\])?",
    r"[dt]?frac\s*\d\s*\d",
    r"(?:left|right)(?![A-Za-z])\s*(?:\\[A-Za-z]+|\\.|[^\s\\])",
    rf"(?:{'|'.join(table.NOISE_WITH_ARGUMENT)})\*?\s*{_BRACED}",
    r"[A-Za-z][A-Za-z]*\*?",
    r"[^A-Za-z]",
)
_GRID = (
    rf"begin\{{(?:{_GRID_NAMES})\}}(?:\{{[lcr|\s]*\}})?"
    rf"(?:{_CELL}(?:&|\\\\))*+{_CELL}(?:\\\\\s*)?\\end\{{(?:{_GRID_NAMES})\}}"
)
_LIST = rf"\[{_CELL}(?:,{_CELL})++,?\s*\]"
_OTHERS = (
    r"(?:(?:np|numpy|torch|jnp|jax|tf|mx|nn|functional|F)\.)+(?=[A-Za-z])",
    rf"(?:[{LATIN}]{{2,}}(?:\\?_[{LATIN}]{{2,}})+|[{LATIN}]+)(?:\d{{1,2}}(?![.,]?\d))?",
    r"(?<=\d)~?\\?%",
    r"\.(?:T|t\(\)|transpose\([^()\n]*\)|float\(\)|double\(\)|half\(\))(?![A-Za-z])",
    "|".join(table.MARKUP),
    r":=|==|=>|=:|~=|->|<-|[=≈≡≜≔⇒→←∈]",
    f"[{_SUBS}][{_SUBS}]*",
    f"[{_SUPS}][{_SUPS}]*",
    r"[αβγελσω]\d(?![.,]?\d)",
    f"[{_GREEK}]",
    "[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]",
    rf"[^\W\d_{LATIN}{_SUBS}{_SUPS}{_GREEK}ΣØø]+",
    r"[%#][^\n]*",
    "~~",
    ".",
)


def _compiled(numbers: str, *, backslash: tuple[str, ...] = (), lists: tuple[str, ...] = ()) -> re.Pattern[str]:
    rules = (
        r"\s\s*|[{}_^+/|]",
        rf"[A-WYZa-wyz](?![{LATIN}\d.])",
        r"[()\]]|,(?!\d)|=(?![=>:])|&(?![A-Za-z])|-(?!>)",
        rf"\\(?:{'|'.join((*backslash, *_BACKSLASH))})",
        rf"{PAIR}|{numbers}",
        *lists,
        *_OTHERS,
    )
    return late("|".join(rules), re.DOTALL)


WITH_POINT = _compiled(_POINT_NUMBERS, backslash=(_GRID,), lists=(_LIST,))
WITH_COMMA = _compiled(_COMMA_NUMBERS)
