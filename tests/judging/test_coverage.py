"""How much of a document was judged: every printed number is judged, given, crossed out, or said to be left."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import qkv
from qkv import cli
from qkv.render import latex, markdown
from qkv.render.html import report as as_html
from qkv.render.summary import covered, sentence

GIVEN = "Q = [1 2; 3 1]\nK = [2 1; 1 1]\n"
WORKED = GIVEN + "S = Q K^T = [4 3; 7 4]\n"
UNREAD = WORKED + "foo = bar(S) = [0.31 0.47; 0.11 0.83]\n"


def test_numbers_are_judged_given_or_left() -> None:
    coverage = qkv.check(UNREAD).coverage
    assert (coverage.judged, coverage.unjudged, coverage.given, coverage.lines) == (4, 4, 8, (4,))
    assert covered(qkv.check(WORKED)) == "all 4 printed numbers judged; 8 more are given"


def test_decimals_in_lines_that_nobody_read_are_counted() -> None:
    report = qkv.check(WORKED + "\nThe pass took (57.4%) of all, **2.01 TFLOPs (9.2)**\n")
    assert report.coverage.unjudged > 0
    assert report.coverage.lines == (5,)
    assert not report.is_whole


def test_what_looks_like_mathematics_and_cannot_be_read_is_left() -> None:
    report = qkv.check(WORKED + "\n$$B = \\begin{bmatrix} 1 & 2 ) 3 \\frac{}{$$\n")
    assert 5 in report.coverage.lines


def test_labels_and_versions_are_no_numbers_to_judge() -> None:
    assert not qkv.check(WORKED + "\n2.3 Compare both.\n\nWritten with v1.2.3 on 3.11.2026.\n").left


@pytest.mark.parametrize(("text", "words"), [
    ("", "Nothing to judge"),
    ("I was ill.", "Nothing to judge"),
    (GIVEN, "8 printed numbers are given, and none is claimed"),
    ("We saw 0.31 and 0.47 there.\n", "Nothing could be judged: 2 printed numbers (line 1)."),
])  # fmt: skip
def test_nothing_to_judge_is_said_and_fails(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in sentence(qkv.check(text))
    path = tmp_path / "sheet.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        cli.main(["check", str(path)])
    assert stopped.value.code == 2
    assert "✓" not in capsys.readouterr().out


@pytest.mark.parametrize(("text", "status"), [(WORKED, 0), (UNREAD, 1)])
def test_strict_makes_unread_claims_fail(text: str, status: int, tmp_path: Path) -> None:
    path = tmp_path / "sheet.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as plain:
        cli.main(["check", str(path)])
    with pytest.raises(SystemExit) as strict:
        cli.main(["check", str(path), "--strict"])
    assert (plain.value.code, strict.value.code) == (0, status)


def test_every_format_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = qkv.check(UNREAD)
    said = "4 of 8 printed numbers judged; not judged: 4 (line 4)"
    assert said in str(report)
    assert said in markdown.report(report)
    assert said in as_html(report)
    assert said in latex.reports([report])
    path = tmp_path / "sheet.md"
    path.write_text(UNREAD, encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["check", str(path), "--json"])
    form = json.loads(capsys.readouterr().out)
    assert form["coverage"] == {"judged": 4, "unjudged": 4, "given": 8, "lines": [4]}


def test_a_line_of_blanks_costs_no_time() -> None:
    start = time.process_time()
    assert qkv.check("S = 2 + 2 = 4\n" + " " * 5000).left == ()
    assert time.process_time() - start < 5  # each of its blanks was once a place where a label may begin


def test_the_rows_of_an_array_are_proposed_and_then_given() -> None:
    page = "# Weights\n\nSome vectors:\n\n- Ich: [1, 0]\n- liebe: [0, 1]\n- Katzen: [1, 1]\n\nq = [1, 2]\n\nScores: [1 2 3]\n"
    assert any(advice.hint == '--let "K = [Ich; liebe; Katzen]"' for advice in qkv.check(page).advice)
    told = qkv.check(page, let=["K = [Ich; liebe; Katzen]"])
    assert [(claim.line, str(claim.verdict)) for claim in told.claims] == [(11, "right")]
    assert told.is_whole
