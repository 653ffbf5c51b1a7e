"""The game: what may be typed, what is said to it, hints, undoing, and going on later."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from qkv.cli import app
from qkv.exercises.draw import exercise
from qkv.exercises.play import HELP, Game, answered, asked
from qkv.exercises.typed import typed


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(exercise("given", 1, 0))  # S = [4 5 3], S_scaled = [2 2.5 1.5]


def played(game: Game, *lines: str) -> tuple[Game, str]:
    said: list[str] = []
    for line in lines:
        game, told = answered(game, line)
        said += told
    return game, " ".join(said)


@pytest.mark.parametrize("line", ["4 5 3", "4, 5, 3", "[4, 5, 3]", "[[4, 5, 3]]", " 4  5 3;", "8/2 5.0 3", "(4 5 3)"])
def test_what_people_type(game: Game, line: str) -> None:
    after, said = played(game, line)
    assert (said, after.at, after.earned) == ("Right.", 1, 1)


@pytest.mark.parametrize("line", ["", "four", "4 5 x", "import os", "4 ** 5", "[4 5", "__import__('os')"])
def test_what_is_no_number_is_said_to_be_none(line: str, game: Game) -> None:
    after, said = played(game, line)
    assert after.at == (1 if typed(line) and said == "Right." else 0)
    assert said == HELP or "asked for" in said


def test_a_known_mistake_is_named(game: Game) -> None:
    after, said = played(game, "4 5 3", "4 5 3")
    assert said.endswith("the scores were not divided by √d_k.")
    after, _ = played(after, "2 2.5 1.5")
    assert after.earned == Fraction(3, 2)  # half of the point after a wrong try


def test_an_unknown_slip_is_placed(game: Game) -> None:
    assert "row 1, column 2" in played(game, "4 9 3")[1]


def test_going_on_with_rounded_numbers_is_right() -> None:
    made = exercise("self", 3, 1)
    *_, weights, output = made.questions
    rows = [[Fraction(cell) for cell in row] for row in weights.answer]
    values = next(question.answer for question in made.questions if question.step.spelled == "V")
    columns = [[Fraction(cell) for cell in column] for column in zip(*values, strict=True)]
    drifted = [[sum(a * v for a, v in zip(row, column, strict=True)) for column in columns] for row in rows]
    line = "; ".join(" ".join(f"{float(cell):.4f}" for cell in row) for row in drifted)
    assert line != "; ".join(" ".join(row) for row in output.answer)
    start = Game(made, at=len(made.questions) - 1)
    assert played(start, line)[1] == "Right."


def test_hints_come_in_three_stages(game: Game) -> None:
    after, said = played(game, "?", "?", "?")
    assert "S = Q K^T" in said
    assert "2·1 + 0·2 + 1·1 + 1·1 = 4" in said
    assert "[ 4  5  3 ]" in said
    assert (after.at, after.earned) == (1, 0)


def test_undo_goes_all_the_way_back(game: Game) -> None:
    after, _ = played(game, "9 9 9", "?", "4 5 3")
    after, said = played(after, "u", "u", "u", "u")
    assert (after.at, after.hints, after.tries) == (0, 0, 0)
    assert said.endswith("nothing to undo.")


def test_row_by_row() -> None:
    game = Game(exercise("self", 2, 1))
    rows = game.question.answer
    after, _ = played(game, " ".join(rows[0]))
    assert (after.at, after.rows) == (0, 1)
    assert "row 2 of 2" in asked(after)
    assert played(after, " ".join(rows[1]))[0].at == 1


def test_another_shape_is_said(game: Game) -> None:
    assert played(game, "1 2; 3 4; 5 6")[1] == "That is 3×2; 1×3 is asked for, whole or row by row."


def test_cut_off_is_told_from_wrong(game: Game) -> None:
    after, said = played(game, "4 5 3", "2 2.5 1.5", "0.307 0.506 0.187")
    assert "last digit" in said
    assert after.at == 3


def test_a_game_goes_on_where_it_stopped(tmp_path: Path) -> None:
    place, run = tmp_path / "p.json", CliRunner()
    first = run.invoke(app, ["practice", "--play", "--seed", "0", "--progress", str(place)], input="4 5 3\nq\n")
    assert first.exit_code == 0, first.output
    assert "goes on from here" in first.output
    second = run.invoke(
        app, ["practice", "--play", "--progress", str(place)], input="2 2.5 1.5\n.307 .506 .186\n1.320 .801\n"
    )
    assert second.output.rstrip().endswith("6 of 6 points.")
    kept = json.loads(place.read_text())
    assert kept["done"] == {"given 1": {"games": 1, "points": 6.0, "of": 6}}
    third = run.invoke(app, ["practice", "--play", "--progress", str(place)], input="q\n")
    assert third.output != second.output
    place.write_text("not json")
    assert run.invoke(app, ["practice", "--play", "--progress", str(place)], input="q\n").exit_code == 0


def test_it_fits_into_sixty_columns(game: Game) -> None:
    out = (
        CliRunner()
        .invoke(
            app,
            ["practice", "--play", "--level", "3", "--seed", "1", "--progress", "/dev/null"],
            input="?\n?\nq\n",
            env={"COLUMNS": "60"},
        )
        .output
    )
    assert max(map(len, out.splitlines())) <= 62  # with the sign of the prompt
