"""LaTeX documents: what is not text is overwritten with blanks, and the author's own macros are written out."""

from __future__ import annotations

import itertools
import re
import unicodedata

from qkv.errors import LimitError
from qkv.reader.limits import Limits
from qkv.regex import regex

_COMMENT = regex(r"(?<!\\)%[^\n]*")
_LAYOUT = regex(
    r"\\(?:begin|end)\{(?:document|itemize|enumerate|description|center|flushleft|quote|minipage|figure|table|parts|questions|frame|"
    r"proof|tabular|multicols)\*?\}(?:\[[^\]\n]*\]|\{[^}\n]*\})*|\\(?:label|ref|cite|usepackage|vspace|hspace|includegraphics|pagestyle|"
    r"caption|thispagestyle)\*?(?:\[[^\]\n]*\])?\{[^}\n]*\}|\\(?:maketitle|newpage|clearpage|noindent|centering|bigskip|medskip|smallskip)\b"
)
_TABULAR = regex(
    r"\\begin\{tabular[x*]?\}(?:\[[^\]]*\])?(?:\{[^{}]*\})+"
    r"(?P<body>[^\\]*(?:\\(?!end\{tabular)[^\\]*)*)\\end\{tabular[x*]?\}"
)
# Beamer: what is shown on some slides only is shown; what is said aside is not.
_OVERLAY = regex(
    r"\\(?:onslide|only|uncover|visible|alert|action|alt)\*?\s*(?:<[^<>\n]*>)?\s*\{|\\note\s*(?:<[^<>\n]*>)?\s*\{"
)
_SLIDES = regex(r"(?<=\\item)<[^<>\n]*>|\\pause\b|(?<=\\begin\{frame\})<[^<>\n]*>")
_QUESTION = regex(r"\\(?:question|titledquestion\{(?P<title>[^{}\n]*)\})(?![A-Za-z])\s?(?:\[[^\]\n]*\])?")
_FRAME = regex(r"\\begin\{frame\}(?:<[^<>\n]*>)?(?:\[[^\]\n]*\])?(?=\{[^{}\n]+\}\s*$)|\\frametitle(?=\{)", re.MULTILINE)
_LISTS = regex(
    r"\\begin\{(?P<list>enumerate|itemize|description|parts|subparts)\*?\}(?:\[(?P<how>(?:[^][\n]|\[[^][\n]*\])*)\])?"
    r"|\\end\{(?P<end>enumerate|itemize|description|parts|subparts)\*?\}|\\item\s*\[\s*(?:\\textbf\{)?(?P<own>\(?[a-zA-Z0-9]{1,4}[.)]+)\}?\s*\]"
    r"|(?P<item>\\(?:item|part|subpart)\b)(?!\s*\[\D)(?:\s*\[\d[^]\n]*\])?"
)
_COUNTER = regex(r"\\(?P<command>alph|Alph|roman|arabic)\*|(?<![A-Za-z])(?P<sample>[aAi1])(?![A-Za-z])")
_COUNTERS = {"alph": "a", "Alph": "A", "roman": "i", "arabic": "1"}
_USUAL = ("1.", "(a)", "i.", "A.")  # how lists within lists are numbered
_ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]
_OPTIONS = r"\s*(?:\[[^\]\n]*\])?\s*"
_NUM = regex(
    rf"\\(?:num|tablenum){_OPTIONS}\{{(?P<number>[^{{}}]*)\}}|\\(?:SI|qty){_OPTIONS}\{{(?P<amount>[^{{}}]*)\}}\{{(?P<unit>[^{{}}]*)\}}"
)
_NEW = regex(
    r"\\(?:re)?(?:new|provide)command\*?\s*\{?\\(?P<new>[A-Za-z]+)\}?\s*(?:\[(?P<count>\d)\])?|\\def\s*\\(?P<def>[A-Za-z]+)(?P<hashes>(?:#\d)*)(?=\{)"
    r"|\\DeclareMathOperator\*?\s*\{?\\(?P<operator>[A-Za-z]+)\}?"
)


def is_tex(text: str, file: str) -> bool:
    """Whether a document is LaTeX from beginning to end."""
    return file.lower().endswith((".tex", ".latex")) or "\\begin{document}" in text


def plain_tex(text: str, limits: Limits) -> str:
    """A LaTeX document of the same lines without preamble, comments and layout; macros are written out.

    >>> from qkv.reader.limits import DEFAULT
    >>> plain_tex("\\\\newcommand{\\\\W}{\\\\mathbf{W}}\\\\begin{document}$\\\\W_Q = 1$ % one", DEFAULT).strip()
    '$\\\\mathbf{W}_Q = 1$'
    """
    text = _COMMENT.sub(_blank, text)
    macros, text = _definitions(text)
    start = text.find("\\begin{document}")
    if start >= 0:
        text = re.sub(r"[^\n]", " ", text[:start]) + text[start:]
    if "\\begin{frame}" in text:
        text = _without_overlays(_SLIDES.sub(_blank, text))
        text = _FRAME.sub(lambda found: r"\subsection*".ljust(len(found[0])), text)
    text = _TABULAR.sub(_as_table, text)
    text = _with_labels(text)
    text = _LAYOUT.sub(_blank, text)
    if "question" in text:
        text = _with_questions(text)
    text = _expanded(text, macros, limits) if macros else text
    return _NUM.sub(_numeral, text)


_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "c": "\u0327", "v": "\u030c"}
_ACCENTED = regex(
    r"\\(?:(?P<sign>['`^\"~])\s*(?P<brace>\{)?(?P<plain>[A-Za-z]|\\[ij]\b)(?(brace)\})|(?P<hook>[cv])\{(?P<hooked>[A-Za-z])\})"
)


def with_accents(text: str) -> str:
    r"""A text whose letters with accents are signs of their own.

    >>> with_accents(r"Compl\'etez la premi\`ere ligne, {\c{c}}a na\"{\i}ve")
    'Complétez la première ligne, {ç}a naïve'
    """

    def letter(found: re.Match[str]) -> str:
        plain = (found["plain"] or found["hooked"]).removeprefix("\\")
        return unicodedata.normalize("NFC", plain + _ACCENTS[found["sign"] or found["hook"]])

    return _ACCENTED.sub(letter, text)


def _with_questions(text: str) -> str:
    """The questions of an exam, counted as they are when it is printed."""
    numbers = itertools.count(1)
    return _QUESTION.sub(lambda it: f"Question {next(numbers)}. {it['title'] or ''}".ljust(len(it[0])), text)


def _with_labels(text: str) -> str:
    """The items of numbered lists with the labels that they have when the document is printed."""
    lists: list[tuple[str, itertools.count[int]]] = []  # of those around: how its items are numbered, and from which

    def labelled(found: re.Match[str]) -> str:
        if found["list"]:
            is_numbered = found["list"] not in ("itemize", "description")
            depth = sum(bool(how) for how, _ in lists) + (found["list"] == "parts") + 2 * (found["list"] == "subparts")
            usual = _USUAL[min(depth, len(_USUAL) - 1)] if is_numbered else ""
            how = (found["how"] or "").removeprefix("label=").strip("{}")
            lists.append((how if is_numbered and _COUNTER.search(how) else usual, itertools.count()))
        elif found["end"]:
            lists[-1:] = []
        elif found["own"]:
            return found["own"].ljust(len(found[0]))
        elif lists and lists[-1][0]:
            return _label(lists[-1][0], next(lists[-1][1])).ljust(len(found[0]))
        return found[0]

    return _LISTS.sub(labelled, text)


def _label(how: str, at: int) -> str:
    """The label of an item, from 0.

    >>> _label("(a)", 2), _label(r"\\roman*.", 3), _label("1.", 9)
    ('(c)', 'iv.', '10.')
    """

    def counted(found: re.Match[str]) -> str:
        sample = found["sample"] or _COUNTERS[found["command"]]
        if sample == "1":
            return str(at + 1)
        return _ROMAN[at % len(_ROMAN)] if sample == "i" else chr(ord(sample) + at % 26)

    return _COUNTER.sub(counted, how, count=1)


def _without_overlays(text: str) -> str:
    """Blanks for overlay commands and their braces, and for notes."""
    at = 0
    while found := _OVERLAY.search(text, at):
        inner, end = _group(text, found.end() - 1)
        kept = " " * len(inner) if found[0].startswith("\\note") else inner
        head = " " * len(found[0])
        text = f"{text[: found.start()]}{head}{kept} {text[end:]}"
        at = found.end()
    return text


def _numeral(found: re.Match[str]) -> str:
    r"""siunitx: \num{0,25} is 0.25 whatever the language, \qty{25}{\percent} is 25 %."""
    number = (found["number"] or found["amount"] or "").replace(",", ".")
    return (number + (r"\%" if "percent" in (found["unit"] or "") else "")).ljust(len(found[0]))


_RULES = regex(r"\\(?:hline|toprule|midrule|bottomrule|addlinespace)\b|\\c(?:line|midrule)(?:\([^)]*\))?\{[^}]*\}")
_DIVIDED = regex(r"\\(?:hline|midrule)\s*$")


def _as_table(found: re.Match[str]) -> str:
    """A tabular as rows between bars, line by line; column specs and rules go, but for the one below the heads. Where
    that stands behind them, on their own line, they move to the line above."""
    rows: list[str] = []
    for line in found["body"].split("\n"):
        cells = re.sub(r"(?<!\\)&", " | ", _RULES.sub(" ", line)).replace(chr(92) * 2, " ").rstrip()
        rows.append(f"| {cells} |" if cells.strip() else "")
        filled = [row for row in rows if row]
        if len(filled) == 1 and _DIVIDED.search(line):
            rows[-2:] = [filled[0], "|" + "---|" * (filled[0].count("|") - 1)] if len(rows) > 1 else rows
    return "\n".join(rows)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _definitions(text: str) -> tuple[dict[str, tuple[int, str]], str]:
    """The macros of a document, each with its number of arguments, and the text without their definitions."""
    macros: dict[str, tuple[int, str]] = {}
    pieces, at = [], 0
    for found in _NEW.finditer(text):
        if found.start() < at:
            continue
        body, end = _group(text, found.end())
        name = found["new"] or found["def"] or found["operator"]
        count = int(found["count"] or len(found["hashes"] or "") // 2)
        macros[name] = (count, rf"\operatorname{{{body}}}" if found["operator"] else body)
        pieces += [text[at : found.start()], re.sub(r"[^\n]", " ", text[found.start() : end])]
        at = end
    return macros, "".join([*pieces, text[at:]])


def _group(text: str, at: int) -> tuple[str, int]:
    """The braced group at a place (after blanks), or the one token there; and the place after it."""
    while at < len(text) and text[at] in " \t":
        at += 1
    if at >= len(text) or text[at] != "{":
        token = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL).match(text, at)
        return (token[0], token.end()) if token else ("", at)
    depth = 0
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, at):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[at + 1 : found.start()], found.end()
    return text[at + 1 :], len(text)


def _expanded(text: str, macros: dict[str, tuple[int, str]], limits: Limits) -> str:
    """Write macros out, line by line, so that lines stay; a macro that grows without end is refused."""
    call = re.compile(r"\\(" + "|".join(sorted(macros, key=len, reverse=True)) + r")(?![A-Za-z])")
    budget = limits.expansion + len(text)
    while found := call.search(text):
        pieces, at = [], 0
        while found:
            count, body = macros[found[1]]
            end = found.end()
            arguments = []
            for _ in range(count):
                argument, end = _group(text, end)
                arguments.append(argument)
            pieces += [text[at : found.start()], _filled(body, arguments)]
            budget -= len(body) + 1
            if budget < 0:
                raise LimitError(f"the macro \\{found[1]} grows over the limit of {limits.expansion} characters")
            at = end
            found = call.search(text, at)
        text = "".join([*pieces, text[at:]])
    return text


def _filled(body: str, arguments: list[str]) -> str:
    for index, argument in enumerate(arguments, start=1):
        body = body.replace(f"#{index}", argument)
    return body.replace("\n", " ")
