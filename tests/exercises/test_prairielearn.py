"""The question folder for PrairieLearn, held against the rules of its documentation: metadata, template, life cycle.

A small reader of Mustache fills the template in, and stand-ins for the elements parse and grade as theirs do.
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
from collections.abc import Iterator
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from qkv.cli import app
from qkv.exercises.draw import exercise
from qkv.exercises.prairielearn import question_folder

# What info.json may hold, and has to (PrairieLearn: docs/question, schema infoQuestion).
REQUIRED = {"uuid": str, "type": str, "title": str, "topic": str}
OPTIONAL = {"tags": list, "singleVariant": bool, "partialCredit": bool, "gradingMethod": str, "showCorrectAnswer": bool}
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
# The attributes that elements know; they refuse all others.
ELEMENTS = {
    "pl-question-panel": set(),
    "pl-submission-panel": set(),
    "pl-matrix-component-input": {"answers-name", "label", "comparison", "rtol", "atol", "weight", "allow-partial-credit"},
    "pl-string-input": {"answers-name", "size", "weight", "remove-spaces"},
}  # fmt: skip


class Elements(HTMLParser):
    """The elements of a page that are PrairieLearn's, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag.startswith("pl-"):
            self.found.append((tag, {name: value or "" for name, value in attrs}))


def filled(template: str, stack: list[Any]) -> str:
    """Mustache: {{name}} escaped, {{#name}}…{{/name}} for what is true or for each, {{^name}}…{{/name}} for what is not."""
    found = re.search(r"\{\{([#^]?)([\w.]+)\}\}", template)
    if found is None:
        return template
    before, after = template[: found.start()], template[found.end() :]
    value = looked_up(found[2], stack)
    if not found[1]:
        return before + escape(str(value)) + filled(after, stack)
    inside, _, rest = after.partition("{{/" + found[2] + "}}")
    if found[1] == "^":
        shown = "" if value else filled(inside, stack)
    else:
        each = value if isinstance(value, list) else [value] if value else []
        shown = "".join(filled(inside, [*stack, item]) for item in each)
    return before + shown + filled(rest, stack)


def looked_up(name: str, stack: list[Any]) -> Any:
    if name == ".":
        return stack[-1]
    first, *more = name.split(".")
    value = next((frame[first] for frame in reversed(stack) if isinstance(frame, dict) and first in frame), "")
    for part in more:
        value = value.get(part, "") if isinstance(value, dict) else ""
    return value


class Course:
    """One variant of a question: generated, submitted, graded."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.template = (folder / "question.html").read_text(encoding="utf-8")
        self.server: dict[str, Any] = {}
        exec(compile((folder / "server.py").read_text(encoding="utf-8"), "server.py", "exec"), self.server)
        self.data: dict[str, Any] = {
            "params": {}, "correct_answers": {}, "submitted_answers": {}, "format_errors": {}, "partial_scores": {},
            "feedback": {}, "score": 0, "options": {"question_path": str(folder)},
        }  # fmt: skip
        random.seed(seed)
        self.server["generate"](self.data)
        json.dumps(self.data, allow_nan=False)  # everything in data must be JSON

    @property
    def page(self) -> str:
        return filled(self.template, [self.data])

    @property
    def inputs(self) -> list[tuple[str, dict[str, str]]]:
        return [(tag, given) for tag, given in Elements(self.page).found if "answers-name" in given]

    def submit(self, answers: dict[str, list[list[str]]]) -> None:
        """Type in a matrix for each question by its label; elements parse and grade first, then the server does."""
        for tag, given in self.inputs:
            name = given["answers-name"]
            label, _, number = name[1:].partition("_")
            rows = answers[label]
            if tag == "pl-string-input":
                self.data["submitted_answers"][name] = [cell for row in rows for cell in row][int(number) - 1]
            else:
                typed, right = [[float(cell) for cell in row] for row in rows], self.data["correct_answers"][name]
                self.data["submitted_answers"][name] = typed
                pairs = [(a, b) for r, s in zip(typed, right, strict=True) for a, b in zip(r, s, strict=True)]
                good = sum(abs(a - b) <= float(given["atol"]) for a, b in pairs) / len(pairs)
                self.data["partial_scores"][name] = {"score": good, "weight": int(given["weight"])}
        self.server["parse"](self.data)
        if not self.data["format_errors"]:
            self.server["grade"](self.data)


@pytest.fixture(autouse=True)
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two functions of PrairieLearn's library that server.py uses."""
    library = ModuleType("prairielearn")

    def set_weighted_score_data(data: dict[str, Any]) -> None:
        parts = data["partial_scores"].values()
        data["score"] = sum(p["score"] * p["weight"] for p in parts) / sum(p["weight"] for p in parts)

    library.from_json = lambda value: value  # type: ignore[attr-defined]
    library.set_weighted_score_data = set_weighted_score_data  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "prairielearn", library)


KINDS = ("self", "masked", "multi-head", "heads", "columns", "additive")


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = [exercise(request.param, 3, seed, "fr") for seed in range(3)]
    for name, text in question_folder(made, "attention"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_metadata(folder: Path) -> None:
    info = json.loads((folder / "info.json").read_text(encoding="utf-8"))
    assert REQUIRED.keys() <= info.keys() <= REQUIRED.keys() | OPTIONAL.keys()
    assert all(isinstance(value, (REQUIRED | OPTIONAL)[name]) for name, value in info.items())
    assert UUID4.fullmatch(info["uuid"])
    assert info["type"] == "v3"
    assert all(isinstance(tag, str) for tag in info["tags"])


def test_the_template(folder: Path) -> None:
    for seed in range(4):
        course = Course(folder, seed)
        assert "{{" not in course.page
        for tag, given in Elements(course.page).found:
            assert given.keys() <= ELEMENTS[tag]
        names = [given["answers-name"] for _, given in course.inputs]
        assert sorted(names) == sorted(course.data["correct_answers"])
        entries = [
            f"{name}{k}" for name, right in course.data["correct_answers"].items() if isinstance(right, list)
            for k in range(1, sum(map(len, right)) + 1)
        ]  # fmt: skip
        assert len({*names, *entries}) == len(names) + len(entries)  # a matrix has an input for each cell
        assert all(int(given["weight"]) > 0 for _, given in course.inputs)


def keys_of(course: Course) -> dict[str, list[list[str]]]:
    return {question["label"]: question["answer"] for question in course.data["params"]["questions"]}


def test_the_key_has_all_points_and_no_mistake(folder: Path) -> None:
    course = Course(folder, 1)
    course.submit(keys_of(course))
    assert course.data["format_errors"] == {}
    assert math.isclose(course.data["score"], 1)
    assert course.data["feedback"]["mistakes"] == []


def test_points_weigh_what_they_say(folder: Path) -> None:
    course = Course(folder, 2)
    questions = course.data["params"]["questions"]
    total: dict[str, int] = {}
    for _, given in course.inputs:
        label = given["answers-name"][1:].partition("_")[0]
        total[label] = total.get(label, 0) + int(given["weight"])
    points = {question["label"]: int(question["points"].split()[0]) for question in questions}
    assert len({total[label] / points[label] for label in points}) == 1


def test_every_known_mistake_is_named(folder: Path) -> None:
    course = Course(folder, 0)
    right = keys_of(course)
    for question in course.data["params"]["questions"]:
        for wrong in question["mistakes"]:
            again = Course(folder, 0)
            again.submit(right | {question["label"]: wrong["answer"]})
            [said] = again.data["feedback"]["mistakes"]
            assert (said["label"], said["says"]) == (question["label"], wrong["says"])
            assert again.data["score"] < 1
            assert wrong["says"] in unescape(again.page)


def test_infinity_is_typed_as_people_do(tmp_path: Path) -> None:
    for name, text in question_folder([exercise("masked", 3, 1)], "attention"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert json.loads((tmp_path / "info.json").read_text())["singleVariant"] is True
    for spelled in ("-inf", "−∞", "-oo", "-Infinity"):
        course = Course(tmp_path, 0)
        typed = {
            k: [[spelled if c == "-inf" else c for c in row] for row in rows] for k, rows in keys_of(course).items()
        }
        course.submit(typed)
        assert math.isclose(course.data["score"], 1)
    course = Course(tmp_path, 0)
    course.submit(
        {k: [["zero" if c == "-inf" else c for c in row] for row in rows] for k, rows in keys_of(course).items()}
    )
    assert all("no number" in why for why in course.data["format_errors"].values())
    assert course.data["format_errors"]


def test_the_command(tmp_path: Path) -> None:
    for name in ("one", "two"):
        place = str(tmp_path / name / "attention")
        done = CliRunner().invoke(app, ["practice", "--level", "2", "--count", "4", "--prairielearn", place])
        assert done.exit_code == 0, done.output

    def files(name: str) -> Iterator[bytes]:
        return (file.read_bytes() for file in sorted((tmp_path / name / "attention").iterdir()))

    assert list(files("one")) == list(files("two"))
    assert len(json.loads((tmp_path / "one" / "attention" / "variants.json").read_text(encoding="utf-8"))) == 4
