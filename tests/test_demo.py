"""`qkv` alone and `qkv demo` show what it can do, without a file, at any width; what they show is what happens."""

from __future__ import annotations

import time

import pytest

from qkv import cli, demo
from qkv.render.targets import Target


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("show", [demo.overview, demo.tour])
def test_it_fits(show: object, width: int) -> None:
    text = show(Target("terminal", width))  # type: ignore[operator]
    assert max(map(len, text.splitlines())) <= width
    assert all(command in text for _, command, _ in demo.DOORS)


def test_qkv_alone_shows_a_slip_and_three_doors(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.status([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "One slip (line 3, cell (2,1)) explains 2 carried claims." in out
    assert "qkv demo opens all three" in out
    assert len(out.splitlines()) <= 42


def test_the_demo_opens_all_three(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.process_time()
    assert cli.status(["demo"]) == 0
    assert time.process_time() - start < 10
    out = capsys.readouterr().out
    assert "⎡ 0.670  0.330 ⎤" in out  # learn
    assert "2 is shown, 3 is right: 1·1 + 2·1 = 3" in out  # grade
    assert "Mistake: softmax down the columns" in out  # implement


def test_the_slip_is_the_only_one() -> None:
    assert demo.report().summary == {"wrong": 1, "carried": 2}
