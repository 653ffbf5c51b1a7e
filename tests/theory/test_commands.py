"""The commands: what they print, their JSON, and one sentence for bad input."""

from __future__ import annotations

import json

import pytest

from qkv.cli import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    out, err = capsys.readouterr()
    return done.value.code or 0, out, err


def test_cost(capsys):
    status, out, _ = run(capsys, "cost", "--kind", "multi-head", "--n", "1024", "--d", "768", "--heads", "12")
    assert status == 0
    for words in ("4,026,531,840", "4 n d² + 2 n² d", "1,536"):
        assert words in out


def test_cost_as_data(capsys):
    _, out, _ = run(capsys, "cost", "--json")
    form = json.loads(out)
    assert form["schema"] == "qkv.cost/1"
    assert form["total"]["multiplications"]["plain"] == "n_q n_k (d_k + d_v)"
    assert form["total"]["divisions"]["latex"] == "2 n_q n_k"
    assert [step["shape"] for step in form["steps"]][-1] == ["n_q", "d_v"]


def test_cost_in_markdown(capsys):
    _, out, _ = run(capsys, "cost", "--kind", "self", "--causal", "--format", "markdown")
    assert out.startswith("## What causal self-attention")
    assert "| **total** |" in out


def test_scale(capsys):
    _, out, _ = run(capsys, "scale", "--dk", "16", "--draws", "2000")
    for words in ("D_k (σ⁴ + 2 σ² μ²)", "linearity", "99 %", "unscaled", "█"):
        assert words in out
    _, out, _ = run(capsys, "scale", "--dk", "16", "--draws", "2000", "--json")
    form = json.loads(out)
    assert form["mean"] == "D_k μ²"
    assert len(form["simulation"]) == 3


def test_prove(capsys):
    status, out, _ = run(capsys, "prove", "scores", "--altered")
    assert status == 0
    assert "proven" in out
    assert "Counterexample" in out
    _, out, _ = run(capsys, "prove", "--json")
    assert all(proof["holds"] for proof in json.loads(out)["proofs"])
    _, out, _ = run(capsys, "prove", "--list")
    assert "causal" in out


def test_prove_an_equation(capsys):
    status, out, _ = run(capsys, "prove", "(Q K^T)^T = K Q^T")
    assert status == 0
    assert "proven" in out
    assert "q_11 k_11 + q_12 k_12" in out
    status, out, _ = run(capsys, "prove", "(A B)^T = A^T B^T", "--size", "A=2x2", "--size", "B=2x2", "--json")
    assert status == 1
    (found,) = json.loads(out)["statements"]
    assert found["holds"] is False
    assert found["counterexample"]["values"]["A"]


def test_transport(capsys):
    _, out, _ = run(capsys, "transport", "--from", "1:1,2:1", "--to", "4:1,6:1")
    for words in ("Least cost: 7", "not the only optimal one", "Another optimal plan", "On a line"):
        assert words in out
    _, out, _ = run(
        capsys, "transport", "--from", "1/2,1/3,1/6", "--to", "2/5,3/5", "--cost-matrix", "0 1; 1 0; 4 1", "--json"
    )
    form = json.loads(out)
    assert form["cost"] == "4/15"
    assert form["unique"] is True


def test_the_mask_is_shown(capsys):
    _, out, _ = run(capsys, "cost", "--causal", "--n", "3", "--dk", "2", "--dv", "2")
    assert "along each row" in out
    assert "The mask, 3 × 3" in out
    assert "−∞" in out


@pytest.mark.xfail(strict=False, reason="P and R of the second part are taken for weights and output of the first")
def test_sheets(capsys, tmp_path):
    sheet = tmp_path / "sheet.md"
    sheet.write_text(
        "# One\n\n$Q = \\begin{bmatrix} 1 & 2 \\\\ 3 & 1 \\end{bmatrix}$, "
        "$K = \\begin{bmatrix} 2 & 1 \\\\ 1 & 1 \\\\ 0 & 1 \\end{bmatrix}$, "
        "$V = \\begin{bmatrix} 1 & 2 & -2 \\\\ 1 & 1 & 2 \\\\ 0 & 1 & -1 \\end{bmatrix}$. "
        "Compute scaled dot-product attention.\n\n# Two\n\nMoving mass: $P = (1, 1)$ becomes $R = (0, 2)$ by transport.\n",
        encoding="utf-8",
    )
    _, out, _ = run(capsys, "cost", str(sheet), "--json")
    assert json.loads(out)["total"]["multiplications"]["plain"] == "30"
    _, out, _ = run(capsys, "scale", str(sheet), "--draws", "500")
    assert "The same for these queries and keys" in out
    _, out, _ = run(capsys, "transport", str(sheet), "--json")
    assert json.loads(out)["cost"] == "1"


def test_squared_distance_and_sinkhorn(capsys):
    arguments = ("--from", "1:1/2,2:1/3,3:1/6", "--to", "1:2/5,2:3/5", "--cost", "squared", "--epsilon", "0.1")
    _, out, _ = run(capsys, "transport", *arguments)
    assert "W₂ = √(4/15) = 0.51639778" in out
    assert "Sinkhorn with ε = 0.1" in out


def test_attention_as_transport(capsys):
    _, out, _ = run(capsys, "transport", "--attention")
    assert "one-sided entropic transport" in out
    assert "0.5760" in out


def test_plots(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "growth.svg"
    status, _, err = run(capsys, "cost", "--kind", "multi-head", "--d", "64", "--heads", "4", "--plot", str(target))
    assert status == 0
    assert str(target) in err
    assert target.exists()


def test_output_goes_to_a_file(capsys, tmp_path):
    target = tmp_path / "cost.md"
    status, out, _ = run(capsys, "cost", "--format", "markdown", "--output", str(target))
    assert (status, out) == (0, "")
    assert target.read_text(encoding="utf-8").startswith("## What")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["cost", "--kind", "magic"], "unknown"),
        (["cost", "--n", "0"], "positive"),
        (["cost", "--kind", "multi-head", "--d", "10", "--heads", "3"], "equal width"),
        (["cost", "--kind", "multi-head", "--plot", "growth.svg"], "d and heads"),
        (["scale", "--dk", "0"], "positive"),
        (["scale", "--sigma", "-1"], "negative"),
        (["prove", "magic"], "no identity"),
        (["prove", "scores", "--nq", "0"], "1 to 6"),
        (["prove", "Y = Y^T"], "--size Y=2x3"),
        (["prove", "Q = "], "no equation"),
        (["prove", "Q K^T = K Q^T"], "2×3"),
        (["prove", "A = A", "--size", "A=two"], "A=2x3"),
        (["prove", "A = A", "--size", "A=9x9"], "1 to 6"),
        (["transport", "--from", "1:1", "--to", "1:2"], "1 to move, 2 to fill"),
        (["transport", "--from", "1:-1,2:2", "--to", "1:1"], "negative"),
        (["transport", "--from", "1:1"], "--to"),
        (["transport", "nowhere.md"], "cannot be read"),
        (["transport", "--from", "1:1", "--to", "1:1", "--cost", "taxi"], "unknown"),
        (["transport", "--from", "1:1", "--to", "1:1", "--epsilon", "0"], "positive"),
    ],
)
def test_bad_input_is_one_sentence(capsys, arguments, words):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
