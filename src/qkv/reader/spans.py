"""A paragraph → its stretches of words, mathematics and code, as one stream of tokens.

What carries no mathematics (emphasis, links, tags, marks of lists) is overwritten with blanks, so that offsets stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from qkv.reader.maths.lexer import tokens_of
from qkv.reader.maths.numerals import Comma, comma_in
from qkv.reader.maths.tokens import Token
from qkv.reader.model import Origin
from qkv.reader.page import Stretch
from qkv.regex import regex

_OPENER = regex(r"\\\\|\$\$|\\\[|\\\(|\\begin\{(?P<env>[A-Za-z]+\*?)\}|(?<!\\)\$|(?P<ticks>`+)")
_CLOSER = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_MARKER = regex(
    r"(?m)^[ \t]*(?:[-*•](?=\s)|\+(?=\s+[^\s\d\[(])|\\item(?:\[[^\]\n]*\])?)?[ \t]*"
    r"(?:\(?(?:[a-zA-Z]|[ivx]{1,4}|\d{1,2}(?:\.\d{1,2})?)[.)]+(?=\s)|\#\d{1,2}[.):]?(?=\s))?(?:\([a-z]\)(?=\s))?"
)
_EMPHASIS = regex(
    r"\*\*(?![*\d(\[])|(?<=[=≈→:|]\s)\*\*|\A\s?\*\*(?=\S)|(?<=[\w.!?:)\]%])\*\*|"
    r"(?<![\w*])\*(?=[^\s*\d])|(?<=[^\s*])\*(?![\w*]|(?<=\d\*)[(\[])|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)"
)
_COMMENT = regex(r"(?m)((?:&|\\\\)[^%\n]*\s)%[^\n]*$")  # '1 & 0 \\\\ % the first token'
_STYLED = regex(r"\\(?:emph|textbf|textit|textsc|underline|large|Large)\{([^{}]*)\}")
_LINK = regex(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,1000}\)|<https?://[^>\s]*>|https?://\S+")
_TAG = regex(r"</?(?:b|i|em|strong|p|div|span|center|u|pre|code|small|font|a|ul|ol|li)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_STRUCK = regex(r"</?(?:del|s|strike)>|\\(?:sout|st)\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_ENTITIES = {
    "&times;": "×", "&radic;": "√", "&minus;": "−", "&infin;": "∞", "&middot;": "·", "&sdot;": "·", "&alpha;": "α",
    "&asymp;": "≈", "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&Sigma;": "Σ", "&sum;": "Σ", "&top;": "ᵀ", "&rarr;": "→",
}  # fmt: skip
_SIGNS = {"cdot": "·", "times": "×", "approx": "≈", "to": "→", "rightarrow": "→", "Rightarrow": "⇒"}
_LONE_SIGN = regex(rf"(?<![$\\])\$\s?\\({'|'.join(_SIGNS)})\s?\$(?!\$)")  # 4 $\cdot$ 512
_IDENTIFIER = regex(r"[^\W\d]\w*")
_ARRAY = regex(r"\s*\[[-−\d.,;\s\[\]]*\]\s*")
_TIED_BEFORE, _TIED_AFTER = regex(r"[·*×+]\s?`+$"), regex(r"`+\s?[·*×+]")
_ENTITY = regex("|".join(_ENTITIES))


class Span(NamedTuple):
    """A stretch of a paragraph: its kind, and the offsets of what stands inside of its marks."""

    origin: Origin | None  # None for words
    start: int
    end: int
    mark: str = ""


def stretch_of(text: str, line: int, comma: Comma) -> Stretch:
    """The tokens of a paragraph that begins at a line of the file."""
    text = _LONE_SIGN.sub(lambda sign: _SIGNS[sign[1]].center(len(sign[0])), _struck_marks(text))
    spans = list(_spans(text))
    text = _with_plain_words(text, spans)
    told = comma_in(text, comma) if comma is Comma.UNTOLD else comma
    tokens: list[Token] = []
    origins: list[tuple[int, Origin]] = []
    for span in spans:
        origins.append((span.start, span.origin or Origin.PLAIN))
        tokens += _span_tokens(text, span, told)
    return Stretch(text, line, tuple(tokens), tuple(origins))


def _span_tokens(text: str, span: Span, comma: Comma) -> Iterator[Token]:
    source = text[span.start : span.end]
    strict = span.origin in (Origin.INLINE, Origin.DISPLAY) or (
        span.mark == "`" and bool(_IDENTIFIER.fullmatch(source))
    )
    operand = span.mark == "`" and _is_operand(text, span)
    if span.origin is not None and not operand:
        yield Token("edge", span.mark, span.start, span.start, True)
    here = comma_in(source, comma) if comma is not Comma.UNTOLD or strict else Comma.UNTOLD
    for token in tokens_of(source, strict=strict, comma=here):
        yield token.moved(span.start)
    if span.origin is not None and not operand:
        yield Token("edge", span.mark, span.end, span.end, True)


def _is_operand(text: str, span: Span) -> bool:
    """Whether an array in ticks is part of a formula around it: 0.5·`[2, 0]`."""
    before, after = text[max(0, span.start - 4) : span.start], text[span.end : span.end + 4]
    tied = _TIED_BEFORE.search(before) or _TIED_AFTER.match(after)
    return tied is not None and _ARRAY.fullmatch(text, span.start, span.end) is not None


def _spans(text: str) -> Iterator[Span]:
    """Words and what stands between marks, in order. A mark that nothing closes is a character."""
    at, done = 0, 0
    absent: set[str] = set()  # closers that do not occur any more, so that an unclosed mark costs one walk
    while found := _OPENER.search(text, at):
        at = found.end()
        span = _span_at(text, found, absent)
        if span is None:
            continue
        if found.start() > done:
            yield Span(None, done, found.start())
        yield span
        at = done = span.end + (0 if found["env"] else len(_CLOSER.get(found[0], found[0])))
    if done < len(text):
        yield Span(None, done, len(text))


def _span_at(text: str, found: re.Match[str], absent: set[str]) -> Span | None:
    mark = found[0]
    if mark == "\\\\":
        return None
    closer = f"\\end{{{found['env']}}}" if found["env"] else _CLOSER.get(mark, mark)
    end = text.find(closer, found.end()) if closer not in absent else -1
    if end < 0:
        absent.add(closer)
        return None
    inside = text[found.end() : end]
    if found["env"]:
        return Span(Origin.DISPLAY, found.start(), _env_end(text, found, end) + len(closer), "$$")
    if found["ticks"]:
        return Span(Origin.PLAIN, found.end(), end, "`") if "\n\n" not in inside else None
    if mark == "$" and (not inside.strip() or "\n\n" in inside or _is_money(text, inside, end)):
        return None
    origin = Origin.INLINE if mark in ("$", "\\(") else Origin.DISPLAY
    return Span(origin, found.end(), end, "$" if origin is Origin.INLINE else "$$")


def _env_end(text: str, found: re.Match[str], end: int) -> int:
    """Where an environment closes that may hold others of its own name."""
    opener, closer = found[0], f"\\end{{{found['env']}}}"
    depth = text.count(opener, found.end(), end)
    while depth and (later := text.find(closer, end + 1)) >= 0:
        depth += text.count(opener, end, later) - 1
        end = later
    return end


def _is_money(text: str, inside: str, end: int) -> bool:
    """'$5 and then $6': a price; formulas have blanks on both sides of their inside or on none."""
    lopsided = inside[0].isspace() != inside[-1].isspace() and inside[-1].isspace()
    return (lopsided and inside[0].isdigit()) or (inside[0].isdigit() and text[end + 1 : end + 2].isdigit())


# — markup —


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _struck_marks(text: str) -> str:
    """Every way to cross something out as ~~…~~, of the same width."""
    if "<" not in text and "\\s" not in text:
        return text
    return _STRUCK.sub(lambda m: f"~~{m[1]}~~".rjust(len(m[0])) if m[1] is not None else "~~".ljust(len(m[0])), text)


def _with_plain_words(text: str, spans: list[Span]) -> str:
    """The text with markup in its words blanked out."""
    parts = []
    done = 0
    for span in spans:
        parts.append(text[done : span.start])
        words = text[span.start : span.end]
        parts.append(
            _plain(words, at_line_start=span.start == 0 or text[span.start - 1] == "\n")
            if span.origin is None
            else _COMMENT.sub(lambda m: m[1].ljust(len(m[0])), words)
            if span.origin is Origin.DISPLAY and "%" in words
            else words
        )
        done = span.end
    return "".join([*parts, text[done:]])


def _plain(words: str, *, at_line_start: bool) -> str:
    words = _LINK.sub(lambda m: (f" {m[1]}" if m[1] else "").ljust(len(m[0])), words)
    words = _TAG.sub(_blank, words) if "<" in words else words
    words = _ENTITY.sub(lambda m: _ENTITIES[m[0]].ljust(len(m[0])), words) if "&" in words else words
    words = _STYLED.sub(lambda m: " " * (len(m[0]) - len(m[1]) - 1) + m[1] + " ", words) if "\\" in words else words
    start = 0 if at_line_start else words.find("\n") + 1 or len(words)
    words = words[:start] + _MARKER.sub(_blank, words[start:])
    return _EMPHASIS.sub(_blank, words)
