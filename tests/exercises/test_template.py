"""Teachers' templates: blanks are found and filled with good numbers, and a variant of a sheet is as good as ours."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from exercises.exercise_trial import tried
from qkv.cli import app
from qkv.errors import QkvError
from qkv.exercises import play, progress, written
from qkv.exercises.draw import LEVELS, exercise
from qkv.exercises.files import documents
from qkv.exercises.own import variant
from qkv.exercises.template import template_of
from qkv.practice.chains import given_texts

SHEET = r"""# Week 5

Name: ____________

Two words are the rows of $X = [_, _; _, _]$; the weights are

$$W_Q = [_, _; _, 1] \qquad W_K = [_, _; _, _] \qquad W_V = [_, _; _, _]$$

a) Compute the queries $Q = X W_Q$, keys $K = X W_K$ and values $V = X W_V$. (2 points)
b) Compute the attention weights $A = \mathrm{softmax}(Q K^T / \sqrt{2})$. (4 points)
c) What is the output $Z = A V$? (2 points)
d) Explain why one divides by $\sqrt{2}$. (1 point)

Round to 2 decimals.
"""


@pytest.mark.parametrize(
    ("kind", "level", "language"),
    [
        ("given", 1, "en"), ("self", 2, "de"), ("masked", 3, "fr"), ("multi-head", 4, "es"), ("heads", 4, "en"),
        ("unscaled", 5, "zh"), ("columns", 3, "en"), ("additive", 2, "de"), ("block", 5, "en"),
    ],
)  # fmt: skip
def test_the_skeleton_of_a_sheet_is_a_template_of_it(kind: str, level: int, language: str) -> None:
    made = exercise(kind, level, 2, language)
    template = template_of(written.template(made, LEVELS[level].entries))
    numbers = [text for given in written.shown_givens(made) for row in given_texts(given) for text in row]
    assert template.set(numbers) == written.sheet(made)
    other = variant(template, 5, language)
    assert [(q.label, q.points, q.step.symbol) for q in other.questions] == [
        (q.label, q.points, q.step.symbol) for q in made.questions
    ]
    if kind != "block":  # whose slips may be found one step late
        trial = tried(other)
        assert trial.is_good, trial.why


def test_a_sheet_of_ones_own() -> None:
    made = variant(template_of(SHEET, "week5"), 3)
    assert made.own is not None
    assert made.name == "week5-3"
    assert [(q.label, q.step.spelled, str(q.points)) for q in made.questions] == [
        ("a", "Q", "2/3"), ("a", "K", "2/3"), ("a", "V", "2/3"), ("b", "A", "4"), ("c", "Z", "2"),
    ]  # fmt: skip
    assert "Name: ____________" in made.own.text
    assert r"& 1 \end{bmatrix} \qquad W_K" in made.own.text  # the number that the teacher wrote
    assert "1] \\qquad W_K" in made.own.typed
    assert made.places == 2
    trial = tried(made)
    assert trial.is_good, trial.why


def test_the_same_seed_gives_the_same_bytes_in_every_format() -> None:
    one, two = (dict(documents(variant(template_of(SHEET), 1), "a", ("md", "ipynb", "json"), False)) for _ in range(2))
    assert one == two
    assert one["a.md"] != dict(documents(variant(template_of(SHEET), 2), "a", ("md",), False))["a.md"]
    assert str(one["a-key.md"]).startswith("# Week 5")
    assert "## Solution" in one["a-key.md"]
    assert "# Marking scheme: sheet-1" in one["a-scheme.md"]
    assert json.loads(one["a.json"])["questions"][0]["points"] == 0.67


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("X = [1, 2]\n\nCompute X X.", "no blank in it; write _"),
        ("X = [_, _; _, _]\n", "asks for nothing; write a question"),
        ("X = [_, _; _, _]\n\nCompute Y.\n", "line 3.*could not be worked out; say what is asked by its name"),
        ("X = [_, _; _, _]\n\nLook at the _ below.\n\nCompute $X X$.", "line 3.*blank is in nothing that is given"),
        ("<!-- qkv: numbers 1, two -->\nX = [_]", "line 1.*two is no number; write"),
        ("<!-- qkv: numbers 1, 1.0 -->\nX = [_]", "two different numbers"),
        ("<!-- qkv: numbers 8, 9 -->\n" + SHEET, "no good numbers were found in .* draws from 8, 9; most often: "),
    ],
)
def test_what_cannot_be_filled_is_refused_with_what_to_do(text: str, says: str) -> None:
    with pytest.raises(QkvError, match=says):
        variant(template_of(text), 0)


def test_a_blank_is_an_underscore_by_itself() -> None:
    text = "_Note_ x_1 and W_{Q}: ____\n\n| _ | 2 |\n\n$$M = \\begin{bmatrix}_ & 1 \\\\ _ & _\\end{bmatrix}$$ (_) [_,_]"
    assert template_of(text).blanks == 7


def test_a_class_by_the_command(tmp_path: Path) -> None:
    run, sheet, roster = CliRunner(), tmp_path / "week5.md", tmp_path / "r.csv"
    sheet.write_text(SHEET)
    roster.write_text("Ada\nBo\n")
    out = tmp_path / "out"
    done = run.invoke(app, ["practice", "--template", str(sheet), "--roster", str(roster), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert len(list(out.glob("week5-Ada-*"))) == 3
    skeleton = run.invoke(app, ["practice", "--formula", "--level", "2"]).output
    assert skeleton.startswith("<!-- qkv: numbers 0, 0, 1, 1, 2 -->\n# Self-attention")
    assert "$$X = [_, _, _; _, _, _]$$" in skeleton
    assert run.invoke(app, ["practice", "--template", str(sheet), "--kind", "self"]).exit_code == 2
    sheet.write_text("nothing")
    failed = run.invoke(app, ["practice", "--template", str(sheet)])
    assert failed.exit_code != 0
    assert "week5.md: there is no blank in it" in str(failed.exception)


def test_course_systems_get_the_whole_sheet(tmp_path: Path) -> None:
    run, sheet = CliRunner(), tmp_path / "week5.md"
    sheet.write_text(SHEET.replace("rows of", "rows (<b> & co) of"))
    bank, folder = tmp_path / "bank.xml", tmp_path / "q"
    to = ["--template", str(sheet), "--count", "2", "--moodle", str(bank), "--prairielearn", str(folder)]
    assert run.invoke(app, ["practice", *to]).exit_code == 0
    first, second = ElementTree.parse(bank).getroot().findall("question/questiontext/text")
    assert first.text != second.text
    assert "&lt;b&gt; &amp; co" in str(first.text)
    assert r"\( X = \begin{bmatrix}" in str(first.text)
    assert "{2:NUMERICAL:=" in str(first.text)  # two thirds of a point, in thirds
    variants = json.loads((folder / "variants.json").read_text())
    assert [q["name"] for q in variants[0]["questions"]] == ["q1_", "q2_", "q3_", "q4_", "q5_"]
    assert "Week 5" in variants[0]["sheet"]
    assert variants[0]["givens"] == []


def test_a_template_is_played_and_taken_up_again(tmp_path: Path) -> None:
    template, place = template_of(SHEET, "week5"), tmp_path / "p.json"
    game = play.Game(variant(template, 4))
    answer = "; ".join(" ".join(row) for row in game.question.answer)
    game, said = play.answered(game, answer)
    assert said == [play.RIGHT]
    progress.save(place, game)
    again = progress.resumed(place, template)
    assert again is not None
    assert (again.at, again.exercise) == (1, game.exercise)
    assert progress.resumed(place, template_of(SHEET.replace("Week 5", "Week 6"), "week5")) is None
