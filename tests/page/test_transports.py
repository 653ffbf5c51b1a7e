"""What must be the same whoever carries the messages: the server, or Python in the visitor's own browser."""

from __future__ import annotations

import browsing
from browsing import Visitor

from qkv.page.respond import PAGES

SLIP = "Q = [1 0; 1 2], K = [1 1; 0 2]\n\nS = Q K^T = [1 0; 2 4]\n"  # 1·1 + 2·1 is 3


def typed(visitor: Visitor, text: str) -> None:
    visitor.tab.fill("#source", text)


def test_a_slip_turns_red_as_one_types_and_goes_when_it_is_corrected(visitor: Visitor) -> None:
    tab = visitor.open()
    typed(visitor, SLIP)
    tab.wait_for_selector("#result .checked .wrong >> text=2")
    typed(visitor, SLIP.replace("2 4]\n", "3 4]\n"))
    tab.wait_for_selector("#result .checked .wrong", state="detached")


def test_every_view_opens_and_asks_only_this_machine(visitor: Visitor) -> None:
    for path in PAGES:
        tab = visitor.open(path)
        assert tab.title()
        assert tab.locator("nav a[aria-current=page]").get_attribute("href") == path
    assert len(visitor.asked) > len(PAGES)


def test_the_text_of_a_document_is_never_a_script(visitor: Visitor) -> None:
    tab = visitor.open()
    typed(visitor, SLIP + "<img src=x onerror=alert(1)><script>window.hit = 1</script>\n")
    tab.wait_for_selector("#result .checked .wrong")
    assert tab.locator("#result img, #result script").count() == 0
    assert tab.evaluate("window.hit") is None


def test_an_answer_can_be_kept_as_a_file(visitor: Visitor) -> None:
    tab = visitor.open()
    typed(visitor, SLIP)
    tab.wait_for_selector("#result .checked .wrong")
    tab.click(".downloads summary")
    with tab.expect_download() as download:
        tab.click("[data-download=md]")
    assert download.value.suggested_filename == "sheet-checked.md"
    assert "wrong" in download.value.path().read_text(encoding="utf-8")


def test_a_page_that_takes_too_long_is_ended_and_said_so_and_the_next_is_answered(visitor: Visitor) -> None:
    tab = visitor.open()
    typed(visitor, "\n".join(f"S = [1 2 0; 2 0 2; 2 2 {i}]" for i in range(1200)))
    tab.wait_for_selector("#result >> text=longer than 10 seconds", timeout=60_000)
    typed(visitor, SLIP)
    tab.wait_for_selector("#result .checked .wrong", timeout=browsing.LOADING)


def test_links_and_the_back_button_lead_from_view_to_view(visitor: Visitor) -> None:
    tab = visitor.open()
    tab.evaluate("window.since = 'the first view'")
    tab.click("nav a[href='practice.html']")
    tab.wait_for_selector("nav a[aria-current=page][href='practice.html']")
    tab.go_back()
    tab.wait_for_selector("nav a[aria-current=page][href='index.html']")
    typed(visitor, SLIP)
    tab.wait_for_selector("#result .checked .wrong", timeout=browsing.LOADING)
    if visitor.transport == "static":  # Python was loaded once: it is the same window
        assert tab.evaluate("window.since") == "the first view"
