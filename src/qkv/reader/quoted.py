"""A sheet in the strings of a program: lessons and quizzes are often kept so, with every backslash doubled."""

from __future__ import annotations

import re

from qkv.regex import regex

_COMMAND = r"\\(?:begin|frac|sqrt|text|mathbf|cdot|times)\b"
_DOUBLED = regex(rf"(?<!\\)\\{_COMMAND}")
_SINGLE = regex(rf"(?<!\\){_COMMAND}")
_FRAME = regex(r"(?m)^[ \t]*(?:\w+[ \t]*:[ \t]*)?[\[{(][ \t]*$|^[ \t]*[\]})]+[,;]?[ \t]*$")  # 'steps: [' and '],'
_QUOTED = regex(
    r"[{,]?[ \t]*\b\w+[ \t]*:[ \t]*(?P<quote>[`'\"])(?P<text>.*?)(?P=quote)[ \t]*(?=[,}]|$)[,} \t]*", re.MULTILINE
)
_LITERAL = r"""(?:\b[rRfu])?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_STRING = regex(rf"{_LITERAL}(?=\s*[,)\]}}]|\s*$)")
_OF_STRINGS = regex(rf"[\s\w\[\](){{}},]*{_LITERAL}(?:[\s,\[\](){{}}]|{_LITERAL})*|[\s,\[\](){{}}]*")
_FEWEST = 4  # lines of strings that make a program of a page
_LINE = regex(r"""[ \t]*(['"]).*\\n\1[ \t,)]*""")  # 'Q = [[1, 0],\\n'


def unquoted(text: str) -> str:
    r"""The sheet line by line, where all LaTeX on a page has doubled backslashes; any other text as it is.

    >>> print(unquoted(r"{do: `So $\\frac{1}{2}$.`, why: 'as $\\sqrt{4} = 2$'},"))
    So $\frac{1}{2}$. as $\sqrt{4} = 2$
    """
    if _is_of_strings(text):
        return "\n".join(map(_strings_in, text.split("\n")))
    if not _DOUBLED.search(text) or _SINGLE.search(text):
        return text
    plain = _QUOTED.sub(lambda found: f"{found['text']} ", _FRAME.sub("", text))
    return "\n".join(line.rstrip() for line in plain.replace("\\\\", "\\").split("\n"))


def _is_of_strings(text: str) -> bool:
    """Whether every line of a page is code that does nothing but pass on strings: steps("Scores", ["q·k = 2",; or at
    least half of them are, and some are lines of a text that end in a line break."""
    lines = [line for line in text.split("\n") if line.strip()]
    if sum(bool(_LINE.fullmatch(line)) for line in lines) >= _FEWEST:
        return 2 * sum(bool(_STRING.search(line)) for line in lines) >= len(lines)
    return len(lines) >= _FEWEST and all(_OF_STRINGS.fullmatch(line) for line in lines)


def _strings_in(line: str) -> str:
    """The strings of a line of code where they stand, with blanks for all else."""
    kept = [" "] * len(line)
    for found in _STRING.finditer(line):
        first, last = found.start() + len(found[0]) - len(found[0].lstrip("rRfu")) + 1, found.end() - 1
        said = re.sub(r"(?:\\n)+$", "", line[first:last])
        kept[first : first + len(said)] = said
    return "".join(kept).rstrip()
