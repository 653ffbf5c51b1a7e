"""Signs that look alike or are written in several ways, made one, so that the lexer need not know them all.

Every sign keeps its width, so that places stay those of the source.
"""

from __future__ import annotations

import re
import unicodedata

from qkv.expr.late import late
from qkv.sheet import notation as table

_LATIN = "A-Za-zÀ-ÖÙ-öù-ɏ"
_HUGGED = late(r"\{(\\cdot|\\times)\}")  # 3{\cdot}4: braces that only take the space away
# rows called by words: \begin{matrix} \text{cat} \\ \text{dog} \end{matrix} beside a matrix
_ROW_WORDS = late(
    r"\\begin\{(?:small)?matrix\}(?:\s|\\(?:leftarrow|gets|quad|[,;:!]|\\|text(?:bf|it|rm)?\{[^{}]*\}))+\\end\{(?:small)?matrix\}"
)
# 3 . 4, [1, 0] . [2, 1], Q . K^T: a full stop with as much room before it as behind is a dot product
_SPACED_DOT = late(r"(?<=[\d\])}]) \. (?=[\d\[(]|\\(?:begin|left)\b)")
_NAMED_DOT = late(rf"(?<=[{_LATIN}\d\])}}]) \. (?=[{_LATIN}\d\[(]|\\(?:begin|left|mathbf|bm|vec)\b)")


def normalised(source: str, *, strict: bool) -> str:
    """The source with look-alike characters made one, operators out of their braces, and dots for products.

    >>> normalised("3{\\\\cdot}4 − [1] . [2]", strict=True)
    '3 \\\\cdot 4 - [1] · [2]'
    """
    if "{\\" in source:
        source = _HUGGED.sub(r" \1 ", source)
    if "matrix}" in source and "\\text" in source:
        source = _ROW_WORDS.sub(lambda words: re.sub(r"\S", " ", words[0]), source)
    if " . " in source:
        source = (_NAMED_DOT if strict else _SPACED_DOT).sub(" · ", source)
    if source.isascii():
        return source
    styled = {ord(c): unicodedata.normalize("NFKC", c) for c in set(source) if 0x1D400 <= ord(c) <= 0x1D7FF}
    return source.translate(table.SAME_CHARACTER | styled)
