"""Plots are written in the format that their name says; without matplotlib a sentence says what to do."""

from __future__ import annotations

import builtins

import pytest

from qkv.errors import MissingExtra, ValueRefused, WriteError
from qkv.theory import plots
from qkv.theory.bars import bar
from qkv.theory.cost import cost
from qkv.theory.scale import saturation
from qkv.transport import Distribution, transport

LAYER = cost("multi-head", sizes={"d": 64, "h": 4})


@pytest.mark.parametrize("suffix, start", [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_every_plot_in_every_format(tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    written = [
        plots.plot_growth(LAYER, tmp_path / f"growth.{suffix}"),
        plots.plot_saturation(saturation((4, 16), trials=10), tmp_path / f"scale.{suffix}"),
        plots.plot_transport(transport("1:1,2:1", "4:1,6:1"), tmp_path / f"line.{suffix}"),
        plots.plot_transport(transport("(0,0):1", "(1,1):1"), tmp_path / f"plane.{suffix}"),
        plots.plot_transport(
            transport(Distribution.of([1]), Distribution.of([1]), [[1]]), tmp_path / f"table.{suffix}"
        ),
    ]
    for path in written:
        assert path.read_bytes().startswith(start)


def test_growth_points_cross_where_they_should():
    points = plots.growth_points(LAYER, 256, 256)
    assert [tokens for tokens, linear, square in points if linear == square] == [128]
    with pytest.raises(ValueRefused, match="d and heads"):
        plots.growth_points(cost("multi-head"), 10)


def test_a_format_that_we_do_not_write(tmp_path):
    with pytest.raises(ValueRefused, match=r"\.svg"):
        plots.plot_growth(LAYER, tmp_path / "growth.bmp")
    with pytest.raises(WriteError, match="cannot be written"):
        plots.plot_growth(LAYER, tmp_path / "nowhere" / "growth.svg")


def test_without_matplotlib(monkeypatch, tmp_path):
    real = builtins.__import__

    def missing(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtra, match=r"qkv\[plot\]"):
        plots.plot_growth(LAYER, tmp_path / "growth.svg")


def test_bars():
    assert bar(1, 1, 3) == "███"
    assert bar(0.5, 1, 3) == "█▌"
    assert bar(5, 1, 3) == "███"
    assert bar(1, 0) == bar(-1, 1) == ""
