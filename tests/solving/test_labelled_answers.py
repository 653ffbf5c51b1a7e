"""Questions under their own labels, in their order, with what they ask for; and what is said where there is no answer."""

from __future__ import annotations

import json

import pytest

import qkv
from qkv.interpret.trace import Trace
from qkv.program.model import Answer
from qkv.render.options import DEFAULT
from qkv.render.shown import shown_part

GIVEN = "Q = [1 0; 0 1], K = [1 1; 2 1], V = [1 2; 3 4]\n\n"
WORDS = """The embeddings are

I    = [1, 0]
love = [0, 2]
cats = [1, 1]

W_Q = [1 0; 0 1], W_K = [0 1; 1 1], W_V = [1 2; 0 3]

"""


def answers(text: str) -> list[tuple[Trace, Answer]]:
    return [(trace, answer) for trace in qkv.solve(text).traces for answer in trace.program.answers]


def shown(text: str) -> list[dict[str, tuple[tuple[str, ...], ...]]]:
    """The quantities of each answer, as they are printed."""
    return [
        {part.name: shown_part(trace, answer, part, DEFAULT).rows for part in answer.parts}
        for trace, answer in answers(text)
    ]


def test_answers_have_the_labels_of_their_questions_in_their_order() -> None:
    text = GIVEN + "(a) Compute the scaled scores.\n(b) Find the weights.\n2.3 What is the output?\n"
    assert [answer.label for _, answer in answers(text)] == ["(a)", "(b)", "2.3"]
    assert [list(parts) for parts in shown(text)] == [["S_scaled"], ["A"], ["Z"]]


@pytest.mark.parametrize(("question", "names"), [
    ("Compute the query, key and value vectors of every word.", ["Q", "K", "V"]),
    ("Compute the attention scores.", ["S"]),
    ("Compute the scaled dot-product attention scores.", ["S_scaled"]),
    ("Apply softmax.", ["A"]),
    ("Compute the attention weights and the output.", ["A", "Z"]),
    ("Compute self-attention with these weights.", ["Z"]),
    ("Berechne die Gewichte.", ["A"]),
    ("Compute $Q K^T$.", ["S"]),
    ('Compute the output for the word "cats".', ["Z[3] (“cats”)"]),
    ("What is the second row of the output?", ["Z[2] (“love”)"]),
    ("Explain why the scores are scaled.", []),
])  # fmt: skip
def test_what_a_question_asks_for(question: str, names: list[str]) -> None:
    assert [list(parts) for parts in shown(WORDS + f"a) {question}\n")] == [names]


@pytest.mark.parametrize(("question", "says"), [
    ('Which word does "love" attend to the most?', "“love” attends most to “love” and “cats” (0.446 each)"),
    ("Which word gets the most attention from cats?", "“cats” attends most to “love” (0.620)"),
    ('To which token does "cats" attend least?', "“cats” attends least to “I” (0.0743)"),
])  # fmt: skip
def test_which_word(question: str, says: str) -> None:
    ((_, answer),) = answers(WORDS + f"1. {question}\n")
    assert answer.says == says


def test_results_are_rounded_as_asked() -> None:
    numbered = GIVEN + "1. Compute the weights, rounded to two decimal places.\n2. Compute the output.\n"
    assert shown(numbered)[0]["A"] == (("0.33", "0.67"), ("0.50", "0.50"))
    assert shown(numbered)[1]["Z"][0] == ("2.33952", "3.33952")
    everywhere = GIVEN + "Round everything to 3 decimals.\n\n1. Compute the weights.\n2. Compute the output.\n"
    assert shown(everywhere)[1]["Z"][0] == ("2.340", "3.340")


def test_comparing_two_methods() -> None:
    text = GIVEN + "1. Compute the weights.\n2. Compute the weights without scaling and compare.\n"
    first, second = shown(text)
    assert list(first) == ["A"]
    assert [name.partition(" ")[2] for name in second] == ["", "(without scaling)"]
    assert "the largest change is in cell (1,2): 0.670 in A, 0.731" in answers(text)[1][1].says


def test_what_was_assumed_stands_beside_the_answer() -> None:
    ((_, answer),) = answers(GIVEN + "(a) Compute the weights.\n")
    assert answer.assumed == ("the page does not say whether scores are scaled: they are divided by √d_k, as usual",)
    ((_, told),) = answers(GIVEN + "(a) Compute the weights; scale by √d_k.\n")
    assert not told.assumed


def test_an_assumption_stands_only_beside_what_depends_on_it() -> None:
    """Scores are the same, scaled later or not."""
    (_, scores), (_, weights) = answers(GIVEN + "(a) Compute Q Kᵀ.\n(b) Compute the weights.\n")
    assert weights.assumed
    assert not scores.assumed


def test_every_format_has_the_answers() -> None:
    solution = qkv.solve(WORDS + '(a) Compute the weights. Which word does "love" attend to the most?\n')
    for text in (str(solution), solution.to_markdown(), solution.to_latex(), solution._repr_html_()):
        assert "(a)" in text
        assert "love” attends most to" in text or "love'' attends most to" in text
    (answer,) = json.loads(solution.to_json())["problems"][0]["answers"]
    assert (answer["label"], answer["values"][0]["name"]) == ("(a)", "A")


def test_what_the_page_works_out_itself_is_no_question() -> None:
    assert not answers(GIVEN + "1. Compute the scores: S = Q K^T = [1 2; 1 1]\n")


def test_what_one_problem_answers_is_missing_in_no_other() -> None:
    page = "# Exercise 1\nX = [1 2; 3 4]\nY = 2 X\n\n# Exercise 2\nB = [5 6; 7 8]\nC = 3 B\n"
    found = [answer for trace in qkv.solve(page, ask=["C"]).traces for answer in trace.program.answers]
    assert found
    assert all(answer.parts for answer in found)


# — where there is no answer —


def test_what_is_missing_for_a_question_and_the_line_to_add() -> None:
    page = "q = [1, 0]\n\nSome vectors:\n\n- cat: [1, 2]\n- mat: [3, 1]\n\n(a) Compute the attention weights.\n"
    ((_, answer),) = answers(page)
    assert not answer.parts
    assert "the keys (K)" in answer.missing
    assert answer.lets == ("K = [cat; mat]",)
    assert '--let "K = [cat; mat]"' in str(qkv.solve(page))
    ((_, told),) = [(t, a) for t in qkv.solve(page, let=["K = [cat; mat]"]).traces for a in t.program.answers]
    assert told.parts


@pytest.mark.parametrize("text", ["", "I was ill.", "S = foo(X)", "Compute the output.", "Weights: [0.2, 0.8]"])
def test_never_an_empty_answer(text: str) -> None:
    solution = qkv.solve(text)
    assert solution.advice
    for shown in (
        str(solution),
        solution.to_markdown(),
        solution.to_latex(),
        solution._repr_html_(),
        solution.to_json(),
    ):
        assert "--let" in shown


def test_the_advice_says_what_was_read_and_what_is_missing() -> None:
    advice = " ".join(qkv.solve("B = [1 2; 3 4]\nR = B C\n").advice)
    assert "B (2×2, line 1)" in advice
    assert "C is not on the page" in advice
    assert '--let "C = ' in advice


def test_following_the_advice_solves_the_page() -> None:
    page = "B = [1 2; 3 4]\nR = B C\n"
    assert qkv.solve(page, let=["C = [1 0; 0 1]"], ask=["R"])["R"].digits() == (("1", "2"), ("3", "4"))


def test_reasons_for_not_judging_are_said_once() -> None:
    page = "foo = [1 2; 3 4]\n\nA: [0.31 0.69]\n\nB: [0.17 0.83]\n\nC: [0.44 0.56]\n\nu = f_1 q_7 = 0.123\nv = f_2 q_7 = 0.456\n"
    report = qkv.check(page)
    lines = [line for advice in report.advice for line in advice.lines]
    assert len(lines) == len(set(lines))
    assert len(report.advice) <= 2
    assert any("q_7" in advice.says and "--against" in advice.hint for advice in report.advice)
