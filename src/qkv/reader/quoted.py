"""A sheet in the strings of a program: lessons and quizzes are often kept so, with every backslash doubled."""

from __future__ import annotations

import re

_COMMAND = r"\\(?:begin|frac|sqrt|text|mathbf|cdot|times)\b"
_DOUBLED = re.compile(rf"(?<!\\)\\{_COMMAND}")
_SINGLE = re.compile(rf"(?<!\\){_COMMAND}")
_FRAME = re.compile(r"(?m)^[ \t]*(?:\w+[ \t]*:[ \t]*)?[\[{(][ \t]*$|^[ \t]*[\]})]+[,;]?[ \t]*$")  # 'steps: [' and '],'
_QUOTED = re.compile(
    r"[{,]?[ \t]*\b\w+[ \t]*:[ \t]*(?P<quote>[`'\"])(?P<text>.*?)(?P=quote)[ \t]*(?=[,}]|$)[,} \t]*", re.MULTILINE
)


def unquoted(text: str) -> str:
    r"""The sheet line by line, where all LaTeX on a page has doubled backslashes; any other text as it is.

    >>> print(unquoted(r"{do: `So $\\frac{1}{2}$.`, why: 'as $\\sqrt{4} = 2$'},"))
    So $\frac{1}{2}$. as $\sqrt{4} = 2$
    """
    if not _DOUBLED.search(text) or _SINGLE.search(text):
        return text
    plain = _QUOTED.sub(lambda found: f"{found['text']} ", _FRAME.sub("", text))
    return "\n".join(line.rstrip() for line in plain.replace("\\\\", "\\").split("\n"))
