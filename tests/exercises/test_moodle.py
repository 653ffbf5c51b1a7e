"""The question bank for Moodle, read back by a parser that follows the rules of Cloze and nothing of ours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from qkv.exercises.draw import exercise
from qkv.exercises.model import Exercise
from qkv.exercises.moodle import ENDLESS, quiz

# {weight:TYPE:answer~answer…}: an answer is =text or %share%text, with #feedback; a backslash takes a sign's meaning.
GAP = re.compile(r"\{(\d+):(NUMERICAL|SHORTANSWER):((?:\\.|[^\\}])*)\}")
ANSWER = re.compile(r"(?:=|%(?P<share>-?\d+)%)(?P<text>(?:\\.|[^\\#~])*)(?:#(?P<feedback>(?:\\.|[^\\~])*))?")


def gaps(text: str) -> list[tuple[str, list[tuple[float, str, str]]]]:
    found = []
    for gap in GAP.finditer(text):
        answers = []
        for part in re.split(r"(?<!\\)~", gap[3]):
            answer = ANSWER.fullmatch(part)
            assert answer is not None, part
            share = 100.0 if answer["share"] is None else float(answer["share"])
            answers.append((share, answer["text"], re.sub(r"\\(.)", r"\1", answer["feedback"] or "")))
        found.append((gap[2], answers))
    return found


@pytest.fixture(params=[("given", 1), ("self", 2), ("masked", 3), ("multi-head", 4), ("additive", 1)], ids=str)
def made(request: pytest.FixtureRequest) -> Exercise:
    return exercise(*request.param, seed=2)


def test_every_cell_is_a_gap_that_takes_its_answer(made: Exercise) -> None:
    [question] = ElementTree.fromstring(quiz([made])).findall("question")
    assert question.get("type") == "cloze"
    text = question.findtext("questiontext/text") or ""
    cells = [cell for asked in made.questions for row in asked.answer for cell in row]
    found = gaps(text)
    assert len(found) == len(cells)
    for (kind, answers), cell in zip(found, cells, strict=True):
        right = [answer for share, answer, _ in answers if share == 100]
        if cell == "-inf":
            assert kind == "SHORTANSWER"
            assert right == list(ENDLESS)
        else:
            assert kind == "NUMERICAL"
            [only] = right
            value, tolerance = map(float, only.split(":"))
            assert value == float(cell)
            assert 0 < tolerance < 0.01
            others = [float(answer.split(":")[0]) for share, answer, _ in answers if share == 0]
            assert all(abs(other - value) > tolerance for other in others)
            assert all(feedback for share, _, feedback in answers if share == 0)


def test_known_mistakes_have_a_feedback() -> None:
    text = quiz([exercise("self", 2, 1)])
    assert "the scores were not divided by √d_k" in text


def test_names_are_unique_in_a_bank() -> None:
    tree = ElementTree.fromstring(quiz(exercise("given", 1, seed) for seed in range(5)))
    names = [name.text for name in tree.findall("question/idnumber")]
    assert len(set(names)) == 5
