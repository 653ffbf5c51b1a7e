"""Exercises: their own text gives their key, numbers are good, and every artefact is the same for the same seed."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from exercises.exercise_trial import tried
from qkv.cli import app
from qkv.errors import QkvError
from qkv.exercises import written
from qkv.exercises.draw import KINDS, LEVELS, exercise
from qkv.exercises.files import documents, from_roster
from qkv.exercises.model import Exercise
from qkv.exercises.written import ASKING

LANGUAGES = tuple(ASKING)
LATE = {("block", 3)}  # where the slip that is planted is found one step late
# Every kind and every level, the languages taking turns.
ALL = [
    (kind, level, LANGUAGES[(i + level) % 5])
    for i, kind in enumerate(KINDS)
    for level in LEVELS
    if level < 4 or kind != "heads"
]


@pytest.fixture(scope="module", params=ALL, ids=lambda case: "-".join(map(str, case)))
def made(request: pytest.FixtureRequest) -> Exercise:
    kind, level, language = request.param
    return exercise(kind, level, 5, language)


def test_its_text_gives_its_key_and_its_slip_is_named(made: Exercise) -> None:
    """`make bench-exercises` does so with many of each."""
    trial = tried(made)
    if (made.kind, made.level) in LATE and not trial.found:
        pytest.xfail("masked scores divided by d_k are taken for a further step; their weights are called wrong")
    assert trial.is_good, trial.why


def test_every_mistake_gives_a_result_of_its_own(made: Exercise) -> None:
    for question in made.questions:
        results = [question.answer, *(wrong.answer for wrong in question.wrong)]
        assert len(set(results)) == len(results)


def test_givens_are_small_and_weights_differ(made: Exercise) -> None:
    for question in made.questions:
        if question.step.role == "weights":
            rows = zip(*question.answer, strict=True) if made.program.columns else question.answer
            for row in rows:
                shown = [Fraction(cell) for cell in row if Fraction(cell)]
                assert len(set(shown)) == len(shown)
                assert min(shown) > Fraction(1, 100)


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, two = (dict(documents(exercise("masked", 3, 7, "de"), "a", ("md", "ipynb", "json"), False)) for _ in range(2))
    assert one == two
    assert set(one) == {"a.md", "a-key.md", "a-scheme.md", "a.ipynb", "a-key.ipynb", "a.json"}
    assert dict(documents(exercise("masked", 3, 8, "de"), "a", ("md",), False))["a.md"] != one["a.md"]


def test_the_marking_scheme_names_the_mistakes() -> None:
    text = written.scheme(exercise("self", 2, 1))
    assert "not divided by √d_k" in text
    assert "10 points" in text or re.search(r"\d+ points", text)


def test_a_notebook_and_the_data() -> None:
    files = dict(documents(exercise("given", 1, 2), "a", ("ipynb", "json"), False))
    book, data = json.loads(files["a.ipynb"]), json.loads(files["a.json"])
    assert (book["nbformat"], book["cells"][0]["cell_type"]) == (4, "markdown")
    assert "".join(book["cells"][0]["source"]).strip() == data["sheet"].strip()
    assert [question["points"] for question in data["questions"]] == [1, 1, 2, 2]


def test_a_student_of_a_roster_always_gets_the_same_variant() -> None:
    first, second = from_roster("Ada\nBo\nCem\n", "x", 1), from_roster("name\nCem\nAda\n", "x", 1)
    assert {each.student: each for each in first}["Ada"] == second[1]
    assert len({each.seed for each in first}) == 3
    assert {each.seed for each in from_roster("Ada\n", "x", 2)} != {first[0].seed}


@pytest.mark.parametrize("wrong", [{"kind": "sef"}, {"level": 9}, {"language": "xx"}])
def test_what_there_is_not_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(QkvError, match=r"there (are|is no)"):
        exercise(**wrong)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner()
    shown = run.invoke(app, ["practice", "--level", "2", "--key"])
    assert shown.exit_code == 0
    assert "1. Queries: Compute Q = X W_Q. (1 point)" in shown.output
    roster = tmp_path / "r.csv"
    roster.write_text('name\n"=1+1"\nBo\n')
    done = run.invoke(app, ["practice", "--roster", str(roster), "--out", str(tmp_path / "out"), "--format", "md,json"])
    assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "out").iterdir())) == 2 * 4 + 1
    assert '"\'=1+1"' in (tmp_path / "out" / "variants.csv").read_text()
    assert run.invoke(app, ["practice", "--format", "docx"]).exit_code == 2
    assert run.invoke(app, ["practice", "--count", "3"]).exit_code == 2
