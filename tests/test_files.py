"""Which documents are meant, and results that are written whole or not at all, never over what somebody needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qkv import cli, files
from qkv.errors import LimitError, WriteError

CLAIM = "$$2 + 2 = 4$$\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        return int(stopped.value.code or 0), *capsys.readouterr()

    return command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents in a folder, one of them deeper, beside what is none."""
    for name in ("b.md", "a.tex", "deep/c.txt", ".hidden/d.md", ".e.md", "picture.png", "a.key.json"):
        path = tmp_path / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CLAIM, encoding="utf-8")
    return tmp_path / "class"


class TestArguments:
    """Files, folders and patterns."""

    def test_a_folder_is_its_documents(self, folder: Path) -> None:
        assert files.expanded([str(folder)]) == [str(folder / name) for name in ("a.tex", "b.md", "deep/c.txt")]

    def test_a_pattern_is_what_it_matches(self, folder: Path) -> None:
        assert files.expanded([str(folder / "*.md")]) == [str(folder / "b.md")]
        assert files.expanded([str(folder / "**" / "*.t*")]) == [str(folder / "a.tex"), str(folder / "deep/c.txt")]

    def test_each_document_once(self, folder: Path) -> None:
        assert len(files.expanded([str(folder / "b.md"), str(folder), str(folder / "*.md")])) == 3

    def test_a_file_whose_name_looks_like_a_pattern(self, tmp_path: Path) -> None:
        odd = tmp_path / "week[1].md"
        odd.write_text(CLAIM)
        assert files.expanded([str(odd)]) == [str(odd)]

    def test_what_names_nothing_stays(self) -> None:
        assert files.expanded(["no-such.md", "no-*.md", "-"]) == ["no-such.md", "no-*.md", "-"]

    def test_commands_take_folders(self, run: Run, folder: Path) -> None:
        status, out, _ = run("check", folder)
        assert (status, out.splitlines()[-1][:8]) == (0, "3 files,")

    def test_json_is_an_object_a_line_for_one_and_for_many(self, run: Run, folder: Path) -> None:
        one = run("check", folder / "b.md", "--json")[1]
        many = run("check", folder, "--json")[1]
        assert one in many.splitlines(keepends=True)
        assert [json.loads(line)["summary"] for line in many.splitlines()] == [{"right": 1}] * 3


class TestOutput:
    """The name tells the format; nothing is destroyed."""

    @pytest.mark.parametrize(
        ("name", "start"),
        [("x.html", "<!DOCTYPE html>"), ("x.HTM", "<!DOCTYPE html>"), ("x.md", "# "), ("x.json", '{"schema": "qkv.solution/1"'),
         ("x.tex", r"\documentclass"), ("x.txt", "Exercise"), ("x", "Exercise")],
    )  # fmt: skip
    def test_the_name_tells_the_format(self, run: Run, tmp_path: Path, name: str, start: str) -> None:
        sheet = tmp_path / "sheet.md"
        sheet.write_text("# Exercise\n\nQ = [[1, 2]], K = [[2, 1]], V = [[3]]. Compute the attention.\n")
        assert run("solve", sheet, "-o", tmp_path / name) == (0, "", "")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)

    def test_what_is_said_outranks_the_name(self, run: Run, folder: Path, tmp_path: Path) -> None:
        run("check", folder / "b.md", "--json", "-o", tmp_path / "x.html")
        assert json.loads((tmp_path / "x.html").read_text())["schema"] == "qkv.report/1"

    def test_a_format_that_a_command_does_not_write(self, run: Run, folder: Path, tmp_path: Path) -> None:
        status, _, err = run("read", folder / "b.md", "-o", tmp_path / "x.tex")
        assert status == 2
        assert ".tex is not written by this command; it writes .json" in err

    def test_a_dash_is_the_screen(self, run: Run, folder: Path) -> None:
        assert run("check", folder / "b.md", "-o", "-") == run("check", folder / "b.md")

    def test_theory_goes_by_the_name_too(self, run: Run, tmp_path: Path) -> None:
        assert run("cost", "-o", tmp_path / "cost.md")[0] == 0
        assert (tmp_path / "cost.md").read_text(encoding="utf-8").startswith("## What")

    def test_no_input_is_written_over(self, run: Run, folder: Path, tmp_path: Path) -> None:
        other = tmp_path / "other-name.md"
        other.hardlink_to(folder / "b.md")
        key = tmp_path / "key.md"
        key.write_text(CLAIM)
        for target in (folder / "b.md", folder / "deep" / ".." / "b.md", other):
            status, out, err = run("check", folder, "-o", target)
            assert (status, out) == (2, "")
            assert err == f"qkv: {target} is not written: it is one of the documents to read\n"
        assert "one of the documents" in run("check", folder / "b.md", "--against", key, "-o", key)[2]
        assert (folder / "b.md").read_text() == key.read_text() == CLAIM

    def test_no_link_and_nothing_read_only_is_written_over(self, run: Run, folder: Path, tmp_path: Path) -> None:
        kept, link, dangling = tmp_path / "kept.html", tmp_path / "link.html", tmp_path / "dangling.html"
        kept.write_text("kept")
        link.symlink_to(kept)
        dangling.symlink_to(tmp_path / "nothing.html")
        for target in (link, dangling):
            assert f"{target} is not written: it is a link" in run("check", folder / "b.md", "-o", target)[2]
        kept.chmod(0o444)
        assert run("check", folder / "b.md", "-o", kept)[2] == f"qkv: {kept} is not written: it is read-only\n"
        assert kept.read_text() == "kept"
        assert not (tmp_path / "nothing.html").exists()

    def test_a_refusal_comes_before_the_work(self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def never(*_: object) -> None:
            raise AssertionError("worked")

        monkeypatch.setattr("qkv.api.check_sheet", never)
        assert run("check", folder / "b.md", "-o", folder / "b.md")[0] == 2

    def test_a_device_may_be_written(self, run: Run, folder: Path) -> None:
        assert run("check", folder / "b.md", "-o", "/dev/null") == (0, "", "")


class TestFiles:
    """Reading and writing."""

    def test_a_failed_write_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        target = tmp_path / "x.txt"
        target.write_text("old")

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.replace", full)
        with pytest.raises(WriteError, match="cannot be written: no space left on device"):
            files.write(str(target), "new")
        assert target.read_text() == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]

    def test_a_folder_cannot_be_written(self, tmp_path: Path) -> None:
        with pytest.raises(WriteError, match="is not written: it is a folder"):
            files.write(str(tmp_path), "x")

    def test_a_file_without_end_is_refused(self) -> None:
        with pytest.raises(LimitError, match="larger than 1 MB"):
            files.read_bytes("/dev/zero", 1)
