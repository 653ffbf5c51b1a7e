"""A teacher's sheet as plain HTML for course systems: paragraphs, headings and lists, formulas left to MathJax."""

from __future__ import annotations

import re
from html import escape

from qkv.regex import regex

_MATHS = regex(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
_COMMENT = regex(r"<!--.*?-->", re.DOTALL)
_STRONG = regex(r"\*\*([^*\n]+)\*\*|(?<!\w)\*([^*\s](?:[^*\n]*[^*\s])?)\*(?!\w)")


def prose(markdown: str, opening: str, closing: str) -> str:
    r"""Blocks of Markdown as HTML, formulas between two signs of the course system.

    >>> prose("# A < B\n\nLet $x = 1$.", "\\(", "\\)")
    '<h4>A &lt; B</h4>\n<p>Let \\( x = 1 \\).</p>'
    """
    blocks = re.split(r"\n[ \t]*\n", _COMMENT.sub("", markdown).strip())
    return "\n".join(_block(block.strip(), opening, closing) for block in blocks if block.strip())


def _block(block: str, opening: str, closing: str) -> str:
    tag = "h4" if block.startswith("#") else "p"
    text = escape(block.lstrip("# ") if tag == "h4" else block, quote=False)
    shown = _MATHS.sub(lambda found: f"{opening} {(found[1] or found[2]).strip()} {closing}", text)
    bold = _STRONG.sub(lambda found: f"<b>{found[1]}</b>" if found[1] else f"<i>{found[2]}</i>", shown)
    return f"<{tag}>{bold.replace(chr(10), '<br>' + chr(10))}</{tag}>"
