"""TEXT → SHEET: Markdown, LaTeX, plain text and notebooks, read into statements that know their places."""

from qkv.sheet.model import Sheet
from qkv.sheet.read import read_file, read_sheet

__all__ = ["Sheet", "read_file", "read_sheet"]
