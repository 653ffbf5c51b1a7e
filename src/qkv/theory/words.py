"""Words that tell what a sheet speaks of, in the languages that sheets come in."""

from __future__ import annotations

import re

from qkv.regex import regex

# What tells a transport problem from any other two vectors, in the languages that sheets come in.
_ABOUT_TRANSPORT = regex(
    r"transport|earth.?mover|\b[et]md\b|wasserstein|optimal plan|moving (dirt|mass|earth)|shovel"
    r"|\bsuppl(y|ies)\b|\bdemands?\b"
    r"|verschieb|umschicht|mover a massa|mover la masa|трансп|землекоп|运输|推土|最优传输|輸送"
)
SQUARED = regex(r"\(\s*x\s*[-−–]\s*y\s*\)\s*\^?\s*\{?\s*[2²]|squared (distance|cost)|\|\s*x\s*[-−–]\s*y\s*\|\s*\^")
POINTS = regex(r"point|spot|position|place|locat|punkt|stelle|punto|ponto|точк|位置|点", re.IGNORECASE)
COSTS = regex(r"cost|kost|coût|custo|стоим|成本|费用|代价", re.IGNORECASE)
# Words for the cost of moving everything, not one unit of it.
WHOLE_COST = regex(
    r"total|optimal|least|minim|smallest|cheapest|EMD(?<=\bEMD)\b|earth|wasserstein|distributions?\b|altogether|overall|gesamt",
    re.IGNORECASE,
)
COUNTING = regex(
    r"parameters|multiplications|number of (entries|operations)|score entries|entries of|FLOPs|KV[ -]?cache"
    r"|parameterzahl|anzahl der|nombre de|número de (parám|parâm|multipl|oper)|参数|乘法",
    re.IGNORECASE,
)


def is_about_transport(text: str) -> bool:
    """Whether a text speaks of moving heaps of mass."""
    return bool(_ABOUT_TRANSPORT.search(text.lower()))
