"""TEXT → SHEET: Markdown, LaTeX, plain text and notebooks, read into statements that know their places.

latex, notebook          documents of other kinds, laid out as plain text with the same lines
source                   that text in the usual signs: a table of rewrites
blocks, headings, grids  lines → headings, paragraphs, fences and rows of cells
spans, maths/            paragraphs → tokens; the table of names; tokens → expressions
grammar                  tokens → chains of links
prose, tables, fences/   what each kind of block states, with the words that label it
assemble                 events → the Sheet
"""

from qkv.reader.model import Sheet
from qkv.reader.read import read_file, read_sheet

__all__ = ["Sheet", "read_file", "read_sheet"]
