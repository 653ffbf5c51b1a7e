"""What is found about a page is found once, whoever asks; another page has its own."""

from __future__ import annotations

from dataclasses import replace

from qkv.api import read_source
from qkv.reading.page import Page, found_once, plain_page

asked: list[int] = []


@found_once
def lines_below(page: Page, line: int) -> int:
    """How many lines a page has below one."""
    asked.append(line)
    return len(page.sheet.lines) - line


def test_it_is_found_once_for_each_page_and_what_is_asked() -> None:
    page = plain_page(read_source("a = 2\n\nb = a + 1 = 3"))
    asked.clear()
    assert [lines_below(page, line) for line in (1, 2, 1, 2, 1)] == [2, 1, 2, 1, 2]
    assert asked == [1, 2]
    assert lines_below(replace(page), 1) == 2
    assert asked == [1, 2, 1]
