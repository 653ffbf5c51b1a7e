"""Practice on the page: problems with grids, verdicts cell by cell, named mistakes, hints, and the slip to be found."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from markup import tree

from qkv.exercises.draw import LEVELS, exercise
from qkv.exercises.model import Exercise
from qkv.exercises.play import HINTS
from qkv.exercises.written import slipped
from qkv.interpret.trace import Table
from qkv.page.practice import KINDS, LANGUAGES
from qkv.page.respond import respond
from qkv.practice import problems

FORM = {"kind": "self", "level": "2", "seed": "1", "language": "en"}


@pytest.fixture(scope="module")
def made() -> Exercise:
    return exercise("self", 2, 1)


def said(path: str, **more: str) -> str:
    answer = respond(path, {**FORM, **more})
    assert isinstance(answer.body, str)
    return answer.body


def cells(table: Table) -> dict[str, str]:
    return {f"c{i}_{j}": text for i, row in enumerate(table, 1) for j, text in enumerate(row, 1)}


def test_all_kinds_and_languages_can_be_chosen() -> None:
    assert set(KINDS) == set(problems.KINDS)
    page = said("practice.html")
    assert all(f'<option value="{key}">' in page for key in (*KINDS, *LANGUAGES, *map(str, LEVELS)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", ["work", "slip"])
def test_every_kind_is_shown_well_formed(kind: str, game: str) -> None:
    root = tree(said("practice", kind=kind, level="2", game=game))
    made = exercise(kind, 2, 1)
    asked = root.findall(".//table[@class='grid square']")
    assert len(asked) == len(made.questions)
    for table, question in zip(asked, made.questions, strict=True):
        fields = table.findall(".//input") + table.findall(".//button")
        assert all(field.get("aria-label") for field in fields)
        assert game == "slip" or len(fields) == len(question.answer) * len(question.answer[0])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_problem_is_stated_in_its_language(language: str) -> None:
    made = exercise("masked", 3, 2, language)
    page = said("practice", kind="masked", level="3", seed="2", language=language)
    assert f'lang="{language}"' in page
    assert made.words.mask in page


def test_the_answers_of_the_key_are_right(made: Exercise) -> None:
    for at, question in enumerate(made.questions):
        html = said("practice/answer", at=str(at), **cells(question.answer))
        assert ">Right.<" in html
        assert f'data-earned="{question.points}"' in html
        assert set(re.findall(r'data-cells="([^"]*)"', html)[0].split()) == {"right"}


def test_half_a_grid_is_judged_as_far_as_it_goes(made: Exercise) -> None:
    html = said("practice/answer", at="0", c1_1=made.questions[0].answer[0][0])
    assert 'data-cells="right none none none"' in html
    assert "3 to go" in html
    assert "data-earned" not in html


def test_a_wrong_cell_is_told_and_costs_half(made: Exercise) -> None:
    wrong = {**cells(made.questions[0].answer), "c2_1": "77"}
    html = said("practice/answer", at="0", **wrong)
    assert 'data-cells="right right wrong right"' in html
    assert "look at row 2, column 1" in html
    assert 'name="tries" value="1"' in html
    assert 'data-earned="0.5"' in said("practice/answer", at="0", tries="1", **cells(made.questions[0].answer))


def known_mistakes() -> Iterator[tuple[int, str, Table]]:
    for at, question in enumerate(exercise("self", 2, 1).questions):
        yield from ((at, wrong.says, wrong.answer) for wrong in question.wrong)


@pytest.mark.parametrize(("at", "says", "answer"), list(known_mistakes()))
def test_a_known_mistake_is_named(at: int, says: str, answer: Table) -> None:
    assert says.replace("'", "&#x27;") in said("practice/answer", at=str(at), **cells(answer))


@pytest.mark.parametrize("text", ["0,5", "1/2", ".5", "0.5", "−0.5", "-inf", "-∞"])
def test_what_may_stand_in_a_cell(text: str) -> None:
    assert "unread" not in said("practice/answer", at="0", c1_1=text)


@pytest.mark.parametrize("text", ["x", "1 2", "<b>", "1e9999999", "__import__('os')", "1/0", "9" * 5000])
def test_what_is_no_number_is_said_and_escaped(text: str) -> None:
    html = said("practice/answer", at="0", c1_1=text)
    assert 'data-cells="unread none none none"' in html or 'data-cells="wrong none none none"' in html
    assert "<b>" not in html


def test_hints_come_in_stages(made: Exercise) -> None:
    told = [said("practice/hint", at="0", hints=str(taken)) for taken in range(HINTS)]
    assert [html.count("<li>") for html in told] == [1, 2, 3]
    assert ["data-earned" in html for html in told] == [False, False, True]
    assert f'name="hints" value="{HINTS}"' in said("practice/hint", at="0", hints="99")


@pytest.mark.parametrize("form", [{"level": "9"}, {"kind": "no"}, {"seed": "x"}, {"at": "99"}, {"language": "xx"}])
def test_a_form_that_makes_no_sense_is_answered(form: dict[str, str]) -> None:
    assert 'class="summary none"' in said("practice/answer", **form)


def test_the_slip_is_found_where_it_is(made: Exercise) -> None:
    draft, document = slipped(made)
    for at, (line, due) in enumerate(zip(draft.lines, document.key, strict=True)):
        for i, row in enumerate(line.shown, 1):
            for j in range(1, len(row) + 1):
                html = said("practice/slip", cell=f"{at}_{i}_{j}")
                assert ("Found." in html) == ((i, j) in due.slipped)
                assert ("further up" in html) == ((i, j) in due.carried)


def test_who_needs_several_clicks_earns_half(made: Exercise) -> None:
    _, document = slipped(made)
    at, due = next((at, due) for at, due in enumerate(document.key) if due.verdict == "wrong")
    row, column = min(due.wrong)
    assert 'data-earned="1"' in said("practice/slip", cell=f"{at}_{row}_{column}")
    assert 'data-earned="0.5"' in said("practice/slip", cell=f"{at}_{row}_{column}", tries="2")


@pytest.mark.parametrize("cell", ["", "1", "a_b_c", "99_1_1", "1_1_1_1", "-1_0_0"])
def test_a_click_beside_the_solution_is_answered(cell: str) -> None:
    assert 'class="summary none"' in said("practice/slip", cell=cell)
