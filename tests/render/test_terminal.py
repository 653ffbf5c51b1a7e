"""What the terminal shows: aligned matrices, any width, and nothing left out in silence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_problems import KINDS, report, traces

import qkv
from qkv.check.model import Cause, CellVerdict, Claim, Report, Verdict
from qkv.reader.model import Unread
from qkv.render import terminal, verdicts
from qkv.render.grid import grids
from qkv.render.options import Depth, Options
from qkv.render.summary import sentence


def text(kind: str, depth: Depth = Depth.NORMAL, width: int = 100, **more: int) -> str:
    return terminal.joined([terminal.solution(traces(kind), Options(depth, **more), width)], width)


def test_a_step_has_name_formula_shape_numbers_and_a_working() -> None:
    shown = text("unscaled")
    assert re.search(r"^ 4  S = Q Kᵀ +how well each query fits each key  3×3$", shown, re.MULTILINE)
    assert "  = ⎢ 4  16  12 ⎥" in shown
    assert "    A(1,1) = e^2/(e^2 + 2e^4) ≈ 0.0633789" in shown
    assert "6.03366e-6" in shown


def test_brief_shows_results_and_full_every_cell() -> None:
    assert "given" not in text("unscaled", Depth.BRIEF)
    assert "Q(1,1)" not in text("unscaled", Depth.BRIEF)
    assert " 1  A = softmax(X W_Q (X W_K)ᵀ) " in text("unscaled", Depth.BRIEF)
    assert "S(2,3) = 2·2 + 2·3 + 2·1 = 12" in text("unscaled", Depth.FULL)


def test_places_win_over_digits() -> None:
    assert "0.0634    0.4683" not in text("unscaled")
    assert "⎡ 0.0634  0.4683  0.4683 ⎤" in text("unscaled", places=4)


def test_a_causal_softmax_is_explained_where_there_is_something_to_share() -> None:
    assert re.search(r"A\(3,1\) = e\^\S+/\(e\^", text("causal"))
    assert "-∞" in text("causal")


@pytest.mark.parametrize("width", [40, 60, 100, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_no_line_is_wider_than_the_terminal(kind: str, width: int) -> None:
    assert all(len(line) <= width for line in text(kind, Depth.FULL, width).splitlines())


def test_plain_text_has_no_colour_and_colour_has() -> None:
    worked = terminal.solution(traces("unscaled"))
    assert "\x1b" not in terminal.joined([worked], 100)
    assert "\x1b" in terminal.joined([worked], 100, colour=True)


def test_what_is_left_out_of_a_wide_matrix_is_said() -> None:
    rows = tuple(tuple(str(10 * i + j) for j in range(40)) for i in range(30))
    (grid,) = grids(rows, 60)
    assert grid.caption == "rows 11–25 and columns 8–36 not shown"
    assert grid.width <= 60
    assert all(len(line) == grid.width for line in grid.lines)


def test_at_full_depth_a_wide_matrix_is_wrapped_and_whole() -> None:
    rows = tuple(tuple(str(100 * i + j) for j in range(40)) for i in range(30))
    blocks = grids(rows, 60, everything=True)
    assert blocks[0].caption.startswith("columns 1–")
    assert sum(len(spans) for block in blocks for spans in block.spans) == 1200


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(12, 120))
def test_a_grid_fits_its_width_and_accounts_for_every_column(height: int, columns: int, width: int) -> None:
    rows = tuple(tuple(f"{i}.{j}" for j in range(columns)) for i in range(height))
    (grid,) = grids(rows, width)
    shown = {span.column for spans in grid.spans for span in spans}
    assert grid.width <= max(width, 24)  # the first and the last column are always there
    assert (len(shown) == columns) == ("column" not in grid.caption)


def test_notes_and_what_was_not_read_come_last() -> None:
    worked = qkv.work(**KINDS["unscaled"], W_O=[[1], [2], [3]], b_O=[1])
    shown = terminal.joined(
        [terminal.solution(worked.traces, unread=[Unread(9, "$$x=", "the formula is not closed")])], 100
    )
    assert shown.rstrip().endswith("line 9: $$x=  (the formula is not closed)")


def test_report() -> None:
    shown = terminal.joined([verdicts.report(report())], 100)
    assert re.search(r"^   5  ✗ wrong +E = Q K\^T =\n        ⎡ 2   4 ⎤\n        ⎣ 4  18 ⎦$", shown, re.MULTILINE)
    assert re.search(r"^   5  ↳ carried +E = \[2 4; 4 18\]$", shown, re.MULTILINE)
    assert "cell (2,2): 18 is shown, 12 is right: 2·2 + 2·3 + 2·1 = 12" in shown
    assert "likely cause: one product <was> doubled" in shown
    assert "follows from line 5; without the slip: (2,2) 12" in shown
    assert "One slip (line 5, cell (2,2)) explains 1 carried claim." in shown
    assert "6 claims: 1 wrong, 1 carried, 1 unread, 1 struck, 1 rounded, 1 right" in shown


def test_wrong_cells_have_the_colour_of_their_verdict() -> None:
    shown = terminal.joined([verdicts.report(report())], 100, colour=True)
    assert re.search(r"⎣ 4  \x1b\[1;31m18\x1b\[0m ⎦", shown)


def test_a_single_number_needs_no_cell() -> None:
    cell = CellVerdict(1, 1, r"2 \cdot 3", "5", None, Verdict.WRONG, "2 + 3 = 5")
    claim = Claim(1, 4, 4, "s", "", r"2 \cdot 3", Verdict.WRONG, (cell,), shown=((r"2 \cdot 3",),))
    shown = terminal.joined([verdicts.report(Report("a.md", (claim,)))], 100)
    assert "        2 · 3 is shown, 5 is right: 2 + 3 = 5\n" in shown
    assert "One slip (line 4), and nothing else." in shown


def test_drifted_cells_beside_a_slip_are_counted_only() -> None:
    cells = (CellVerdict(1, 1, "1.2", "1.25", "1.2", Verdict.DRIFTED), CellVerdict(1, 2, "7", "5", "5", Verdict.WRONG))
    claim = Claim(1, 4, 4, "Z", "", "[1.2 7]", Verdict.WRONG, cells, shown=(("1.2", "7"),))
    shown = terminal.joined([verdicts.report(Report("a.md", (claim,)))], 100)
    assert "cell (1,2): 7 is shown" in shown
    assert "cell (1,1)" not in shown
    assert "and 1 cell as the author's own rounding gives" in shown


def test_only_what_is_wrong() -> None:
    shown = terminal.joined([verdicts.report(report(), Options(only_wrong=True))], 100)
    assert "✗ wrong" in shown
    assert "✓ right" not in shown


def test_several_reports_get_a_line_each_and_a_total() -> None:
    clean = Report("b.md", report().claims[:1])
    shown = terminal.joined([verdicts.overview([report(), clean], 160)], 160).splitlines()
    assert shown[0].startswith("✗ sheet <1>.md  One slip (line 5, cell (2,2))")
    assert shown[1] == "✓ b.md          The one claim is right."
    assert (
        shown[-1] == "2 files, 1 without a fault; 7 claims: 1 wrong, 1 carried, 1 unread, 1 struck, 1 rounded, 2 right"
    )


def _method_error(number: int, line: int, cells: int) -> Claim:
    wrong = tuple(CellVerdict(1, j, "0.5", "0.4", None, Verdict.WRONG) for j in range(1, cells + 1))
    cause = Cause("softmax down", "the softmax runs down the columns, but each row must add up to 1")
    return Claim(number, line, line, "A", "", "", Verdict.WRONG, wrong, cause=cause)


def test_the_headline_names_a_mistake_that_explains_many_cells() -> None:
    follow = tuple(Claim(k, k, k, "", "", "", Verdict.CARRIED, follows_from=(1,)) for k in (8, 9))
    one = Report("", (_method_error(1, 7, 9), *follow))
    assert sentence(one) == "The softmax runs down the columns (line 7); 2 later claims follow from it."
    twice = Report("", (_method_error(1, 7, 9), _method_error(2, 12, 4)))
    assert sentence(twice) == "The softmax runs down the columns (lines 7 and 12)."
    slip = Claim(3, 20, 20, "Z", "", "", Verdict.WRONG)
    assert sentence(Report("", (_method_error(1, 7, 9), slip))).endswith("(line 7). 1 more slip, the first at line 20.")
    cell = Report("", (_method_error(1, 7, 1),))
    assert sentence(cell) == "One slip (line 7, cell (1,1)), and nothing else."


@pytest.mark.parametrize(
    ("verdict_list", "expected"),
    [
        ([], "Nothing to judge: no numbers are claimed here."),
        ([Verdict.UNREAD], "Nothing could be judged: 1 printed number (line 1)."),
        ([Verdict.RIGHT] * 3, "All 3 claims that were judged are right."),
        ([Verdict.MISROUNDED], "Nothing is wrong but the last digit of 1 claim (line 1)."),
        ([Verdict.WRONG], "One slip (line 1), and nothing else."),
        ([Verdict.WRONG, Verdict.WRONG, Verdict.CARRIED], "2 slips, the first at line 1; they explain 1 carried claim."),
        ([Verdict.WRONG, Verdict.MISROUNDED], "One slip (line 1), and nothing else. 1 claim (line 2) is one off in the last digit."),
    ],
)  # fmt: skip
def test_the_summary_says_what_went_wrong_first(verdict_list: list[Verdict], expected: str) -> None:
    claims = tuple(Claim(k, k, k, "", "", "", verdict) for k, verdict in enumerate(verdict_list, 1))
    assert sentence(Report("", claims)) == expected


def test_shades_behind_weights_are_in_order_and_legible() -> None:
    def luminance(style: str) -> float:
        red, green, blue = (int(style[-6:][k : k + 2], 16) / 255 for k in (0, 2, 4))
        return sum(w * (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4) for w, x in ((0.2126, red), (0.7152, green), (0.0722, blue)))  # fmt: skip

    shades = [luminance(style) for style in terminal.HEAT if style]
    assert shades == sorted(shades, reverse=True)
    assert all(1.05 / (shade + 0.05) > 4.5 for shade in shades)
    assert [terminal.HEAT.index(terminal._heat(str(k / 10))) for k in range(11)] == sorted(
        terminal.HEAT.index(terminal._heat(str(k / 10))) for k in range(11)
    )
