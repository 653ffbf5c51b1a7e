"""The command line, as a person meets it: in processes of its own where that matters, in one process where it does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qkv import cli

GOOD = r"""# Exercise 1

Let

$$Q = \begin{bmatrix} 1 & 0 & 2 \\ 2 & 2 & 2 \end{bmatrix}, \quad K = \begin{bmatrix} 0 & 1 & 1 \\ 4 & 4 & 0 \end{bmatrix}, \quad V = \begin{bmatrix} 1 & 2 \\ 2 & 8 \end{bmatrix}$$

$$E = Q K^\top = \begin{bmatrix} 2 & 4 \\ 4 & 16 \end{bmatrix}$$
"""
BAD = GOOD.replace("4 & 16", "4 & 61")


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "sheet.md"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def slip(tmp_path: Path) -> Path:
    path = tmp_path / "slip.md"
    path.write_text(BAD, encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit status, output and errors of one command."""
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return int(stopped.value.code or 0), shown.out, shown.err


def process(*arguments: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "qkv", *map(str, arguments)],
        input=stdin, capture_output=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


def test_solve_prints_the_worked_steps(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    status, out, err = run(capsys, "solve", sheet)
    assert (status, err) == (0, "")
    assert "E(1,1) = 1·0 + 0·1 + 2·1 = 2" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("form", "start"),
    [("markdown", "# Exercise 1"), ("latex", r"\documentclass"), ("html", "<!DOCTYPE html>"), ("json", '{"schema": "qkv.solution/1"')],
)  # fmt: skip
def test_solve_in_each_format(capsys: pytest.CaptureFixture[str], sheet: Path, form: str, start: str) -> None:
    status, out, _ = run(capsys, "solve", sheet, "--format", form)
    assert status == 0
    assert out.startswith(start)


def test_json_is_short_for_format_json(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    assert run(capsys, "solve", sheet, "--json") == run(capsys, "solve", sheet, "--format", "json")


def test_digits_places_and_depth(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    _, out, _ = run(capsys, "solve", sheet, "--places", "3", "--depth", "brief")
    assert "1.155" not in out
    assert "0.240" in out
    _, out, _ = run(capsys, "solve", sheet, "--digits", "12", "--json")
    assert "1.15470053838" in out


def test_several_files(capsys: pytest.CaptureFixture[str], sheet: Path, slip: Path) -> None:
    _, out, _ = run(capsys, "solve", sheet, slip)
    assert str(sheet) in out
    assert str(slip) in out
    _, out, _ = run(capsys, "solve", sheet, slip, "--json")
    assert [json.loads(line)["file"] for line in out.splitlines()] == [str(sheet), str(slip)]


def test_check_says_what_is_wrong_and_exits_with_1(capsys: pytest.CaptureFixture[str], slip: Path) -> None:
    status, out, err = run(capsys, "check", slip)
    assert (status, err) == (1, "")
    assert "✗ wrong" in out
    assert "61 is shown, 16 is right" in out


def test_check_exits_with_0_if_nothing_is_wrong(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    assert run(capsys, "check", sheet)[0] == 0


def test_check_of_several_files_gives_a_line_each_and_a_total(
    capsys: pytest.CaptureFixture[str], sheet: Path, slip: Path
) -> None:
    status, out, _ = run(capsys, "check", sheet, slip)
    lines = out.splitlines()
    assert status == 1
    assert lines[0].startswith(f"✓ {sheet}")
    assert any(line.startswith(f"✗ {slip}") for line in lines)
    assert lines[-1].startswith("2 files, 1 without a fault; ")


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_check_in_each_format(capsys: pytest.CaptureFixture[str], slip: Path, form: str) -> None:
    status, out, _ = run(capsys, "check", slip, "--format", form)
    assert status == 1
    assert "wrong" in out


def test_only_wrong(capsys: pytest.CaptureFixture[str], slip: Path) -> None:
    claims = json.loads(run(capsys, "check", slip, "--only", "wrong", "--json")[1])["claims"]
    assert {claim["verdict"] for claim in claims} == {"wrong"}


def test_read_shows_lines_names_roles_and_shapes(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    status, out, _ = run(capsys, "read", sheet)
    assert status == 0
    assert "   7  E = Q K^T = [2, 4, …](2×2)" in out
    assert re.search(r"   5  Q +2×3 +queries", out)


def test_read_as_json(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    status, out, _ = run(capsys, "read", sheet, "--json")
    form = json.loads(out)
    assert status == 0
    assert form["schema"] == "qkv.reading/1"
    first = next(statement for statement in form["statements"] if statement["line"] == 7)
    assert [link["formula"] for link in first["links"]][:2] == ["E", "Q K^T"]
    assert {given["role"] for given in form["problems"][0]["givens"]} >= {"Q", "K"}


def test_standard_input() -> None:
    done = process("solve", "-", "--json", stdin=GOOD.encode())
    assert done.returncode == 0
    assert json.loads(done.stdout)["file"] == "standard input"


def test_output_is_written_whole(capsys: pytest.CaptureFixture[str], sheet: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    target.write_text("before")
    target.chmod(0o640)
    status, out, _ = run(capsys, "solve", sheet, "--format", "markdown", "--output", target)
    assert (status, out) == (0, "")
    assert target.read_text(encoding="utf-8").startswith("# Exercise 1")
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.md", "sheet.md"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "no-such-file.md"], "no-such-file.md cannot be read: no such file or directory"),
        (["check", "{empty}"], "empty is a folder without a document in it (.md, "),
        (["check", "no-such-*.md"], "no-such-*.md cannot be read: no such file or directory"),
        (["solve", "{sheet}", "--output", "no/such/folder.md"], "no/such/folder.md cannot be written"),
        (["solve", "{zeros}"], "zeros.bin is not text"),
        (["check", "{sheet}", "--against", "no-such-key.md"], "no-such-key.md cannot be read"),
    ],
)
def test_errors_are_one_sentence(
    capsys: pytest.CaptureFixture[str], sheet: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "zeros.bin").write_bytes(bytes(64))
    (tmp_path / "empty").mkdir()
    filled = [text.format(sheet=sheet, zeros=tmp_path / "zeros.bin", empty=tmp_path / "empty") for text in arguments]
    status, out, err = run(capsys, *filled)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.startswith("qkv: ")
    assert err.count("\n") == 1


def test_one_bad_file_does_not_stop_the_others(capsys: pytest.CaptureFixture[str], sheet: Path) -> None:
    status, out, err = run(capsys, "check", "no-such-file.md", sheet)
    assert status == 2
    assert "no-such-file.md cannot be read" in err
    assert out.splitlines()[-1].startswith("1 file, 1 without a fault; ")
    assert json.loads(run(capsys, "check", "no-such-file.md", sheet, "--json")[1])["file"] == str(sheet)


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["solve"], ["solve", "x.md", "--depth", "deep"], ["solve", "x.md", "--digits", "0"], ["check", "--no-such"]],
)  # fmt: skip
def test_misuse_exits_with_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert "Error: " in err
    assert "Traceback" not in err


def test_a_file_over_the_limit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    big = tmp_path / "big.md"
    big.write_text("word " * 300_000)
    status, _, err = run(capsys, "solve", big, "--limit-mb", "1")
    assert status == 2
    assert "is larger than 1 MB; --limit-mb raises the limit" in err


def test_a_bug_is_said_in_one_sentence_and_shown_with_debug(
    capsys: pytest.CaptureFixture[str], sheet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("qkv.api.solve_sheet", broken)
    status, _, err = run(capsys, "solve", sheet)
    assert status == 2
    assert err == "qkv: a bug in qkv: ZeroDivisionError: oh; please report it (--debug shows the traceback)\n"
    with pytest.raises(ZeroDivisionError):
        cli.main(["solve", str(sheet), "--debug"])


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("solve", "check", "read", "warmup"):
        status, out, _ = run(capsys, command, "--help")
        assert status == 0
        assert "Examples:" in out
    listed = run(capsys, "--help")[1]
    assert all(name in listed for name in cli.app.list_commands(None))  # type: ignore[arg-type]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[1].startswith("qkv 0.")


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--help"], {"rich", "flint", "numpy", "numba", "markdown_it"}),
        (["solve", "{sheet}"], {"numba", "torch", "matplotlib", "scipy", "sympy"}),
        (["check", "{sheet}", "--json"], {"numba", "torch", "matplotlib", "scipy", "sympy", "rich"}),
    ],
)
def test_commands_load_only_what_they_need(sheet: Path, arguments: list[str], unwanted: set[str]) -> None:
    script = "import sys, atexit\nfrom qkv import cli\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\ncli.main()"
    filled = [text.format(sheet=sheet) for text in arguments]
    done = subprocess.run([sys.executable, "-c", script, *filled], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "click" in loaded
    assert not loaded & unwanted


def test_later_commands_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    for name in cli.LATER:
        status, out, _ = run(capsys, name, "--help")
        assert status == 0
        assert "Usage: qkv" in out


def test_what_is_told_on_the_command_line_reaches_every_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.md"
    sheet.write_text("- cat: [1, 2]\n- mat: [3, 1]\n\nG = X X^T = [5 5; 5 11]\n", encoding="utf-8")
    told = ("--let", "X = [cat; mat]", "--ask", "G")
    assert "10" in run(capsys, "solve", sheet, *told)[1]
    assert "11 is shown, 10 is right" in run(capsys, "check", sheet, *told)[1]
    assert "X X^T" in run(capsys, "read", sheet, *told)[1]
    status, _, err = run(capsys, "solve", sheet, "--let", "X = [cat; hat]")
    assert status == 2
    assert "nothing on the page is called hat; did you mean mat?" in err
