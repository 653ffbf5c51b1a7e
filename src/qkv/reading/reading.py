"""A sheet as it was understood: what `read` prints and what `solve` and `check` work from."""

from __future__ import annotations

from dataclasses import dataclass

from qkv.interpret.cells import START_BITS, precision
from qkv.reader.model import Sheet
from qkv.reading.assignment import page_against, page_of
from qkv.reading.choices import Choices
from qkv.reading.choose import choose
from qkv.reading.page import Page
from qkv.reading.system import System
from qkv.reading.values import Values


@dataclass(frozen=True)
class Reading:
    """One way to understand a sheet.

    page     its equations, and what each name is said to be
    system   what may give each name under the choices made, the page's own word first
    values   what names and expressions are worth
    against  the sheet that decides what is given, such as the assignment
    """

    page: Page
    system: System
    values: Values
    against: Sheet | None = None

    @property
    def sheet(self) -> Sheet:
        """The sheet that was read."""
        return self.page.sheet

    @property
    def choices(self) -> Choices:
        """What was chosen where the page leaves something open."""
        return self.system.choices


def reading_of(sheet: Sheet, against: Sheet | None = None) -> Reading:
    """The reading of a sheet that explains it best; `against` is the assignment, which decides givens and method."""
    with precision(START_BITS):
        page = page_of(sheet) if against is None else page_against(sheet, against)
        values = Values(System(page, choose(page)))
        return Reading(page, values.system, values, against)
