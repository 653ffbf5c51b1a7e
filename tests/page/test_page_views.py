"""Practice, calculator and costs as a person uses them: by keyboard and mouse, light and dark, on a phone, by a link."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import browsing
import pytest

import qkv
from qkv.exercises.draw import exercise
from qkv.exercises.written import slipped
from qkv.page.respond import PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

View = Callable[..., "Page"]
PROBLEM = "practice.html#kind=self&level=2&seed=1&language=en&game=work"
PASTE = """(field, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""

ANSWERED = {  # what is there when a view has its first answer
    "index.html": "#result .summary",
    "practice.html": ".question .grid input",
    "calculator.html": "#steps .worked",
    "costs.html": "#counted svg",
}
USABLE = re.compile(r"\s*- '?(?:button|textbox|combobox|slider|spinbutton|checkbox|radio|link)\b")
NAMED = re.compile(r"\s*- '?\w+ (?:\"|/)")


def question(tab: Page, at: int) -> Locator:
    tab.wait_for_selector(".question")
    return tab.locator(".question").nth(at)


def paste(field: Locator, text: str) -> None:
    field.focus()
    field.evaluate(PASTE, text)


# — practice —


def test_a_grid_half_filled_is_there_again_when_the_page_is(view: View) -> None:
    made = exercise("self", 2, 1)
    tab = view(PROBLEM)
    tab.locator("input[name=c1_1]").first.wait_for()
    (a, b), (c, d) = made.questions[0].answer
    for name, cell in {"c1_1": a, "c1_2": b, "c2_1": c, "c2_2": d}.items():
        question(tab, 0).locator(f"input[name={name}]").fill(cell)
    tab.keyboard.press("Enter")
    question(tab, 0).locator("text=Right.").wait_for()
    points = tab.inner_text("#points")
    question(tab, 1).locator("input[name=c1_2]").fill("77")
    tab.reload()
    tab.wait_for_selector("#loading", state="detached", timeout=browsing.LOADING)
    question(tab, 1).locator("text=look at row 1, column 2").wait_for()
    question(tab, 0).locator("text=Right.").wait_for()
    assert question(tab, 0).locator("input[name=c2_2]").input_value() == d
    assert tab.inner_text("#points") == points  # which are earned once


def test_a_grid_is_filled_by_keyboard(view: View) -> None:
    made = exercise("self", 2, 1)
    tab = view(PROBLEM)
    first = question(tab, 0)
    first.locator("input[name=c1_1]").click()
    (a, b), (c, d) = made.questions[0].answer
    tab.keyboard.type(a)
    tab.keyboard.press("Tab")
    tab.keyboard.type("77")
    tab.keyboard.press("ArrowDown")
    first.locator("text=look at row 1, column 2").wait_for()
    wrong = first.locator("input[name=c1_2]")
    assert wrong.get_attribute("aria-invalid") == "true"
    assert (wrong.get_attribute("aria-label") or "").endswith("not right")
    tab.keyboard.type(d)
    tab.keyboard.press("ArrowUp")
    tab.keyboard.type(b)
    tab.keyboard.press("Enter")
    first.locator("input[name=c2_1]").fill(c)
    tab.keyboard.press("Enter")
    first.locator("text=Right.").wait_for()
    assert tab.locator("#streak").inner_text() == "0"  # there was a wrong try
    tab.wait_for_selector(".questions li:nth-child(2) input:focus")


@pytest.mark.parametrize("form", ["{}\t{}\n{}\t{}\n", "array([[{}., {}.],\n       [{}., {}.]])", r"{} & {} \\ {} & {}"])
def test_a_matrix_is_pasted(view: View, form: str) -> None:
    made = exercise("self", 2, 1)
    tab = view(PROBLEM)
    first = question(tab, 0)
    paste(first.locator("input[name=c1_1]"), form.format(*sum(made.questions[0].answer, ())))
    first.locator("text=Right.").wait_for()
    assert tab.locator("#streak").inner_text() == "1"


def test_a_known_mistake_is_named_and_hints_unfold(view: View) -> None:
    wrong = exercise("given", 1, 3).questions[1].wrong[0]
    tab = view("practice.html#kind=given&level=1&seed=3&language=en&game=work")
    first = question(tab, 1)
    paste(first.locator(".grid input").first, "; ".join(" ".join(row) for row in wrong.answer))
    first.locator(f"text={wrong.says}").wait_for()
    for stage in (1, 2, 3):
        first.locator("button.hint").click()
        first.locator(f".hints li:nth-child({stage})").wait_for()
    assert "done" in (first.get_attribute("class") or "")


def test_a_problem_is_finished_and_the_next_is_another(view: View) -> None:
    made = exercise("given", 1, 3)
    tab = view("practice.html#kind=given&level=1&seed=3&language=en&game=work")
    for at, each in enumerate(made.questions):
        paste(question(tab, at).locator(".grid input").first, "; ".join(" ".join(row) for row in each.answer))
        question(tab, at).locator("text=Right.").wait_for()
    tab.wait_for_selector(".end >> text=6 of 6 points")
    assert tab.locator("#streak").inner_text() == "4"
    tab.click(".end button:last-of-type")
    tab.wait_for_selector('.problem[data-name="given-1-4"]')
    assert "seed=4" in tab.url


def test_the_slip_is_found_by_clicking(view: View) -> None:
    _, document = slipped(exercise("self", 2, 1))
    at, due = next((at, due) for at, due in enumerate(document.key) if due.verdict == "wrong")
    row, column = min(due.wrong)
    tab = view(PROBLEM.replace("work", "slip"))
    tab.click('button[value="0_1_1"]')
    tab.wait_for_selector(".slip >> text=as it should be")
    tab.locator(f'button[value="{at}_{row}_{column}"]').focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".slip >> text=Found.")
    assert "wrong" in (tab.get_attribute(f'button[value="{at}_{row}_{column}"]', "class") or "")


# — calculator —


def weights(tab: Page) -> list[str]:
    return tab.locator("#steps .heats td.heat").all_inner_texts()


def certified(**given: object) -> list[str]:
    return [cell for row in qkv.work(**given)["A"].decimals(3) for cell in row]


def test_the_calculator_opens_from_a_link_and_keeps_it_up_to_date(view: View) -> None:
    given = {"Q": [[1, 2]], "K": [[2, 1], [1, 1]], "V": [[1], [3]]}
    tab = view("calculator.html#from=QKV&tokens=a&Q=1 2&K=2 1; 1 1&V=1; 3&scale=none")
    tab.wait_for_selector("#steps .heats")
    assert weights(tab) == certified(**given, scale=None)
    tab.fill('[data-matrix=Q] input[aria-label="Q, row 1, column 2"]', "0.5")
    changed = certified(**{**given, "Q": [[1, "0.5"]]}, scale=None)
    tab.wait_for_selector(f"#steps .heats >> text={changed[0]}")
    assert weights(tab) == changed
    assert "Q=1+0.5" in tab.url
    assert "scale=none" in tab.url


def test_matrices_grow_together(view: View) -> None:
    tab = view("calculator.html")
    tab.fill("[data-size-of=d]", "4")
    tab.wait_for_selector('[aria-label="X, row 3, column 4"]')
    assert tab.locator("[data-matrix=W_Q] tr").count() == 4
    paste(tab.locator("[data-matrix=X] input").first, "1\t0\n0\t1")
    tab.wait_for_selector("[data-matrix=W_V] tr:nth-child(3)", state="detached")
    assert tab.locator("[data-size-of=n]").input_value() == "2"
    tab.wait_for_selector("#steps .heats tbody tr:nth-child(3)", state="detached")
    assert len(weights(tab)) == 4


def test_temperature_is_a_slider(view: View) -> None:
    tab = view("calculator.html#from=QKV&tokens=a&Q=1 2&K=2 1; 1 1&V=1; 3")
    tab.wait_for_selector("#steps .heats")
    tab.locator("input[name=temperature]").fill("2")
    changed = certified(Q=[[1, 2]], K=[[2, 1], [1, 1]], V=[[1], [3]], scale="sqrt(8)")
    tab.wait_for_selector(f"#steps .heats >> text={changed[0]}")
    assert weights(tab) == changed


def test_why_one_scales_follows_its_slider(view: View) -> None:
    tab = view("calculator.html")
    tab.locator("input[name=power]").fill("10")
    tab.wait_for_selector("#why >> text=1024")


# — costs —


def test_sliders_move_what_hangs_together(view: View) -> None:
    tab = view("costs.html")
    tab.locator("[data-of=d]").focus()
    tab.keyboard.press("ArrowRight")  # 768 → 1024, which twelve heads do not cut
    tab.wait_for_selector("#counted >> text=2,048")
    assert tab.locator("[name=d]").input_value() == "1024"
    assert tab.locator("[name=d_ff]").input_value() == "4096"
    assert 1024 % int(tab.locator("[name=h]").input_value()) == 0
    assert "d=1024" in tab.url


def test_costs_open_from_a_link(view: View) -> None:
    tab = view("costs.html#n=2048&layers=96&d=12288&h=96&kv_heads=96&d_ff=49152&words=50257")
    tab.wait_for_selector(".figures >> text=175 G")


# — all views —


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_does_not_scroll_sideways(view: View, path: str) -> None:
    tab = view(path)
    tab.set_viewport_size({"width": 360, "height": 740})
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("path", PAGES)
def test_dark_is_dark(view: View, path: str) -> None:
    tab = view(path)
    tab.emulate_media(color_scheme="dark")
    red, green, blue = (
        int(part) for part in tab.evaluate("getComputedStyle(document.body).backgroundColor")[4:-1].split(",")
    )
    assert max(red, green, blue) < 60
    tab.click("#theme")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("path", PAGES)
def test_a_screen_reader_finds_a_name_for_all_that_can_be_used(view: View, path: str) -> None:
    tab = view(path)
    tab.wait_for_selector(ANSWERED[path])
    tree = tab.locator("body").aria_snapshot().splitlines()
    usable = [line for line in tree if USABLE.match(line)]
    assert len(usable) > 5
    assert [line for line in usable if not NAMED.match(line)] == []
    assert not [line for line in tree if "…" in line and "status" in line]  # what is being done only while it is


def test_the_verdict_is_heard_in_one_sentence(view: View) -> None:
    tab = view("index.html")
    tab.fill("#source", "Q = [1 0; 1 2], K = [1 1; 0 2]\n\nS = Q K^T = [1 0; 2 4]\n\nT = 2 Q = [2 0; 2 4]\n")
    tab.wait_for_selector("#result >> text=T = 2 Q")
    heard = tab.get_by_role("status").filter(has_text="One slip")
    assert heard.text_content() == tab.text_content("#result .checked .summary")
    assert tab.get_by_role("img", name="right").count() == 1
    tab.click("label[for=pane-understood]")
    assert tab.get_by_label("Say what Q is").count() == 1
