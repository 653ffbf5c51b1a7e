"""What the page-first engine says of a text."""

from __future__ import annotations

from qkv.check.model import Claim
from qkv.judging.report import check_sheet
from qkv.reader import read_sheet


def claims(text: str) -> tuple[Claim, ...]:
    """Every claim of a page, in order."""
    return check_sheet(read_sheet(text)).claims
