"""Markdown and LaTeX: what is written is complete, safe, and read back to the same values."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_problems import KINDS, traces
from render_problems import report as example_report

import qkv
from qkv import api
from qkv.check.model import BAD
from qkv.expr import nodes as n
from qkv.interpret.certified import Value
from qkv.interpret.trace import Trace
from qkv.program.model import Program
from qkv.reader.read import read_sheet
from qkv.render import latex, markdown, targets
from qkv.render.options import Depth, Options
from qkv.render.shown import shown
from qkv.solution import Solution

EMPTY = Trace(Program("", (), ()))
WRITERS = {"md": markdown.solution, "tex": latex.solution}


def matrices_read(text: str, file: str) -> list[Value]:
    """The last link of every statement that ends in a literal."""
    links = [statement.links[-1].expr for statement in read_sheet(text, file).statements]
    return [EMPTY.evaluate(expr) for expr in links if n.is_literal(expr)]


def matrices_written(worked: Trace, options: Options) -> list[Value]:
    """What is printed for each given and each step, as values."""
    items = (*worked.program.givens, *worked.program.steps)
    tables = [shown(worked, item, options).rows for item in items]
    return [EMPTY.evaluate(n.matrix([[_cell(text) for text in row] for row in rows])) for rows in tables]


def _cell(text: str) -> n.Expr:
    return n.Infinite(-1) if text == "-inf" else n.number(text)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("depth", Depth)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_back(kind: str, depth: Depth, form: str) -> None:
    (worked,) = traces(kind, "Exercise 1")
    options = Options(depth, digits=4)
    found = matrices_read(WRITERS[form]([worked], options), f"sheet.{form}")
    written = matrices_written(worked, options)
    if depth is Depth.BRIEF:  # givens and results
        written = [*written[: len(worked.program.givens)], written[-1]]
    assert [value for value in written if value not in found] == []


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("depth", Depth)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_worked_out_is_judged_right(kind: str, depth: Depth, form: str) -> None:
    text = WRITERS[form](traces(kind, "Exercise 1"), Options(depth, digits=5))
    report = api.check_sheet(api.read_source(text, f"sheet.{form}"))
    assert [(claim.line, claim.text, claim.verdict) for claim in report.claims if claim.verdict in BAD] == []
    assert report.claims


@settings(max_examples=25)
@given(st.data())
def test_random_problems_are_read_back(data: st.DataObject) -> None:
    size = st.integers(1, 4)
    queries, keys, d_k, d_v = (data.draw(size) for _ in range(4))
    cell = st.decimals("-9.99", "9.99", places=2).map(str)
    Q, K, V = (
        data.draw(st.lists(st.lists(cell, min_size=c, max_size=c), min_size=r, max_size=r))
        for r, c in ((queries, d_k), (keys, d_k), (keys, d_v))
    )
    (worked,) = qkv.work(Q=Q, K=K, V=V).traces
    for form, write in WRITERS.items():
        found = matrices_read(write([worked], Options()), f"sheet.{form}")
        assert [value for value in matrices_written(worked, Options()) if value not in found] == []


def test_markdown_names_its_steps_and_explains_a_cell() -> None:
    text = markdown.solution(traces("unscaled", "Part 1"))
    assert text.startswith("# Part 1\n\n*self-attention*\n\n**Given**\n\n$$X = \\begin{bmatrix}")
    assert r"$$S = Q \, K^\top = \begin{bmatrix} 2 & 4 & 4 \\ 4 & 16 & 12 \\ 4 & 12 & 10 \end{bmatrix}$$" in text
    assert r"- cell (1, 1): $\frac{e^{2}}{e^{2} + 2e^{4}} \approx 0.0633789$" in text


def test_rounded_results_are_written_with_approx() -> None:
    text = markdown.solution(traces("unscaled"))
    assert r"A = \mathrm{softmax}\left(S\right) \approx \begin{bmatrix} 0.0633789" in text
    assert r"6.03366 \times 10^{-6}" in text


def test_markdown_report() -> None:
    text = markdown.report(example_report())
    assert "**One slip (line 5, cell (2,2)) explains 1 carried claim.**" in text
    assert "| 5 | ✗ wrong | `E = Q K^T = [2 4; 4 18]` |" in text
    assert "- cell (2,2): 18 is shown, 12 is right: `2·2 + 2·3 + 2·1 = 12`" in text


def test_latex_escapes_titles_and_allows_wide_matrices() -> None:
    worked = qkv.work(Q=[[1] * 12], K=[[1] * 12], V=[[1]], title="50% of W_Q & more {√}")
    text = latex.solution(worked.traces)
    assert r"\section*{50\% of W\_Q \& more \{$\surd$\}}" in text
    assert r"\setcounter{MaxMatrixCols}{12}" in text
    assert text.endswith("\\end{document}\n")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="TeX is not installed")
@pytest.mark.parametrize("kind", KINDS)
def test_latex_compiles(kind: str, tmp_path: Path) -> None:
    (tmp_path / "sheet.tex").write_text(latex.solution(traces(kind, "Übung 1: 100% √ 注意力")), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "sheet.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_nothing_to_work_out_is_said_in_every_format() -> None:
    target = [Solution((), "x.md")]
    for form in ("terminal", "markdown", "latex", "html"):
        assert "There is nothing to work out here." in targets.solutions(target, Options(), targets.Target(form))
