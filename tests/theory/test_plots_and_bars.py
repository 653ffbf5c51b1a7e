"""Plots are written in the format that their name says; without matplotlib a sentence says what to do."""

from __future__ import annotations

import builtins

import pytest

from qkv.cli import main
from qkv.errors import MissingExtra, ValueRefused, WriteError
from qkv.render.blocks import bar
from qkv.theory import plots
from qkv.theory.cost import cost
from qkv.theory.sampled import saturation
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


def test_the_table_is_printed_without_matplotlib(monkeypatch, capsys, tmp_path):
    def missing(*_):
        raise MissingExtra("A plot needs matplotlib.")

    monkeypatch.setattr(plots, "figure", missing)
    for arguments in (["cost", "--kind", "multi-head", "--d", "8", "--heads", "2"], ["transport", "--from", "1:1", "--to", "2:1"]):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--plot", str(tmp_path / "x.svg")])
        out, err = capsys.readouterr()
        assert (ended.value.code or 0, err) == (0, "qkv: A plot needs matplotlib.\n")
        assert len(out.splitlines()) > 5


def drawn(monkeypatch, draw):
    """What a plot draws: all of its texts, and its axes."""
    pytest.importorskip("matplotlib")
    kept = []
    monkeypatch.setattr(plots, "save", lambda drawing, path: kept.append(drawing))
    draw()
    axes = kept[0].axes[0]
    legend = axes.get_legend()
    texts = [*axes.texts, axes.xaxis.label, axes.yaxis.label, *(legend.get_texts() if legend else ())]
    return [text.get_text() for text in texts], axes


def test_growth_marks_the_number_of_tokens_that_was_given(monkeypatch):
    texts, axes = drawn(monkeypatch, lambda: plots.plot_growth(LAYER, "x.svg", 1000))
    assert "n = 1,000: 1.64e+07 and 1.28e+08" in texts
    assert axes.get_xlim()[1] > 1000
    assert [list(line.get_xdata()) for line in axes.lines].count([1000]) == 2


def test_transport_draws_masses_over_their_places(monkeypatch):
    texts, axes = drawn(monkeypatch, lambda: plots.plot_transport(transport("1:1,2:3", "4:2,6:2"), "x.svg"))
    assert texts[:6] == ["1", "3", "2", "2", "place", "mass"]
    heights = [abs(bar.get_height()) for bar in axes.patches]
    assert heights == pytest.approx([1, 3, 2, 2])
    assert [bar.get_x() + bar.get_width() / 2 for bar in axes.patches] == pytest.approx([1, 2, 4, 6])


def test_transport_in_the_plane_and_by_a_matrix_has_masses_too(monkeypatch):
    texts, _ = drawn(monkeypatch, lambda: plots.plot_transport(transport("(0,0):1/3,(1,2):2/3", "(1,0):1"), "x.svg"))
    assert {"1/3", "2/3", "1", "first coordinate"} <= set(texts)
    given = Distribution.of([1, 2]), Distribution.of([3]), [[1], [2]]
    texts, axes = drawn(monkeypatch, lambda: plots.plot_transport(transport(*given), "x.svg"))
    assert {"1", "2", "from (mass)"} <= set(texts)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1  (1)", "2  (2)"]


def test_bars():
    assert bar(1, 1, 3) == "███"
    assert bar(0.5, 1, 3) == "█▌"
    assert bar(5, 1, 3) == "███"
    assert bar(1, 0) == bar(-1, 1) == ""
