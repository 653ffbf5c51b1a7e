"""Nested bracket lists over several lines, as programs print them and people type them."""

from __future__ import annotations

import re

from qkv.expr.late import late

_COMMENT = late(r"(?<=[\],\[\d\s])(?:#|//|←|<-)[^\n]*")
_WORDS_BEHIND = late(r"(?<=\],) {2,}[^\W\d_][^\[\]\n=≈]*$", re.MULTILINE)  # '[1, 0],    token 1'
_INNER_COMMENT = late(r"(?<=[\],\[\d\s])(?:#|//|←|<-)[^\n\[\]]*")
_WRAPPER = late(r"\b(?:(?:np|numpy|torch|tf|jnp)\.)?(?:array|tensor|matrix|asarray|constant|Tensor)\s*\((?=\s*[\[(])")
_TRUTH = late(r"(?<![\w.])(?:True|False)(?!\w)")
_INFINITY = late(r"(?<![^\W\d_])(?:np\.|math\.)?inf(?:inity)?(?![^\W\d_])")
_KEYWORD = late(r",\s*(?:dtype|device|requires_grad|grad_fn)\s*=\s*[\w.<>']+")
_OPEN = late(r"\\begin\{\w+\*?\}|\\end\{\w+\*?\}|[\[\]]|\\[\[\]]")
_ADDED = late(r"\s*[+×·@]\s*\[\s*[-−]?[\d.]")
_TERM = late(r"\s+\+\s*[-−]?\d*\.?\d+\s*[×·*]")  # '  + 0.3 × v_2', a term of the sum above
_UNFINISHED = re.compile(r"(?:=|≈|:=)\s*$")
_NUMERIC_TAIL = re.compile(r"\[[\s\d.,;eE+\-−∞inf%\[\]]*$")


def logical_lines(text: str) -> list[tuple[str, int]]:
    """The lines of a text, each with its offset; a list or matrix that is open goes on to its end, and a line that
    ends in '=' goes on to the next.

    >>> [line for line, _ in logical_lines("Q =\\n[[1, 2],\\n [3, 4]]\\nso")]
    ['Q =\\n[[1, 2],\\n [3, 4]]', 'so']
    """
    lines = text.split("\n")
    logical: list[tuple[str, int]] = []
    at = offset = barren = 0
    while at < len(lines):
        end, barren = _last_line(lines, at, barren)
        whole = "\n".join(lines[at : end + 1])
        logical.append((whole, offset))
        offset += len(whole) + 1
        at = end + 1
    return logical


def _last_line(lines: list[str], start: int, barren: int) -> tuple[int, int]:
    """The index of the last line of the logical line that begins at `start`. Lines before `barren` are known to close
    no list, so that a stray bracket costs one walk and not one for every line."""
    depth, at, closed = 0, start, False
    while True:
        line = without_comments(lines[at])
        depth = _depth_after(line, depth)
        closed = closed or "]" in line or "\\end" in line
        last = at + 1 == len(lines)
        if depth == 0:
            goes_on = not last and _goes_on(line, lines[at + 1])
        elif start < barren or (last and not closed):
            return start, max(barren, at + 1)
        else:
            goes_on = not last
        if not goes_on:
            return at, barren
        at += 1


def _goes_on(line: str, following: str) -> bool:
    """Whether a statement goes on: 'Q =' over its value, a list over '+ [0, 1]', a sum over '+ 0.3 × v_2'."""
    if _UNFINISHED.search(line):
        return _begins_value(following)
    if "+" in following and _TERM.match(following):
        return "=" in line or bool(_TERM.match(line))
    return line.rstrip()[-1:] == "]" and bool(_ADDED.match(following))


def without_comments(line: str) -> str:
    """A line with its comments overwritten by blanks. In a list whose lines were run together a comment ends where
    the next row begins.

    >>> without_comments("[1, 2],  # cat"), without_comments("[[1, 0], # I [0, 1] # am ]")
    ('[1, 2],       ', '[[1, 0],     [0, 1]      ]')
    """
    if "],  " in line:
        line = _WORDS_BEHIND.sub(_blank, line)
    if "#" not in line and "//" not in line and "←" not in line and "<-" not in line:
        return line
    bare = _COMMENT.sub(_blank, line)
    if bare.count("[") > bare.count("]"):
        inner = _INNER_COMMENT.sub(_blank, line)
        return inner if inner.count("[") == inner.count("]") else bare
    return bare


def _begins_value(line: str) -> bool:
    return line.lstrip()[:1] in ("[", "(", "\\") or line.lstrip()[:7] in ("array([", "tensor(")


def _depth_after(line: str, depth: int) -> int:
    """How many lists and environments are open after a line; a bracket opens one only before numbers."""
    if depth == 0 and "\\begin" not in line and not _NUMERIC_TAIL.search(line):
        return 0
    for found in _OPEN.finditer(line):
        token = found[0]
        if token == "[" or token.startswith("\\begin"):
            depth += 1
        elif token == "]" or token.startswith("\\end"):
            depth = max(0, depth - 1)
    return depth


def plain_list(source: str) -> str:
    """A list without comments and constructors, each overwritten with blanks.

    >>> plain_list("x = array([1., 2.], dtype=float32)")
    'x =       [1., 2.]                '
    """
    if "[" not in source:
        return source
    source = _KEYWORD.sub(_blank, without_comments(source))
    if "inf" in source:
        source = _INFINITY.sub(lambda found: "∞".ljust(len(found[0])), source)
    if "True" in source or "False" in source:
        source = _TRUTH.sub(lambda found: ("1" if found[0] == "True" else "0").ljust(len(found[0])), source)
    return _unwrapped(source) if "(" in source else source


def _unwrapped(source: str) -> str:
    """A list without the constructors around it; one walk, with a stack of what each bracket opened."""
    wrappers = {found.end() - 1: found.start() for found in _WRAPPER.finditer(source)}
    if not wrappers:
        return source
    characters, opened = list(source), []
    for found in re.finditer(r"[()]", source):
        at = found.start()
        if found[0] == "(":
            opened.append(wrappers.get(at, -1))
        elif opened and opened.pop() >= 0:
            characters[at] = " "
    for end, start in wrappers.items():
        characters[start : end + 1] = " " * (end + 1 - start)
    return "".join(characters)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
