"""The world outside: Ctrl-C, closed pipes and streams, full disks, terminals with few signs, and patience."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qkv import cli
from qkv.render.ascii import SIGNS, in_ascii
from qkv.render.summary import LOOKS

SLIP = Path(__file__).resolve().parent.parent / "examples" / "slip.md"
QKV = [sys.executable, "-m", "qkv"]
# A program like the command, which says when it has begun and then takes its time inside what is named.
SLOWLY = """
import importlib, sys, time
from qkv import __main__
module = importlib.import_module({module!r})
def slowly(*_):
    print("begun", flush=True)
    time.sleep(60)
setattr(module, {name!r}, slowly)
sys.argv[1:] = ["check", {path!r}]
__main__.main()
"""


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False,
        env={**os.environ, "QKV": " ".join(QKV), "SLIP": str(SLIP), **environment},
    )  # fmt: skip


class TestInterrupt:
    """Ctrl-C is 130 and no traceback."""

    @pytest.mark.parametrize(
        ("module", "name"),
        [("qkv.api", "check_sheet"), ("qkv.cli", "open_streams"), ("qkv.files", "read_bytes"), ("qkv.render.targets", "reports")],
    )  # fmt: skip
    def test_while_it_works(self, module: str, name: str) -> None:
        script = SLOWLY.format(module=module, name=name, path=str(SLIP))
        with subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running:
            assert running.stdout
            assert running.stdout.readline() == b"begun\n"
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=30)
        assert running.returncode == 130
        assert b"Traceback" not in err

    def test_at_any_moment(self, tmp_path: Path) -> None:
        """From when Python has started to the end; nothing half-written stays."""
        for delay in (0.15, 0.3, 0.5, 0.8):
            running = subprocess.Popen(
                [*QKV, "check", str(SLIP), "-o", str(tmp_path / "x.html")], stderr=subprocess.PIPE
            )
            time.sleep(delay)
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=30)
            assert b"Traceback" not in err or b"runpy" in err  # Python itself was not ready yet
            assert {path.name for path in tmp_path.iterdir()} <= {"x.html"}

    def test_before_anything_is_imported(self) -> None:
        """What is imported before `main` begins has no traceback either."""
        script = "import os, signal, qkv.__main__; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(9)"
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=30)
        assert (ended.returncode, ended.stderr) == (-signal.SIGINT, b"")  # a shell says 130

    def test_inside_one_process(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("qkv.api.check_sheet", interrupted)
        assert cli.status(["check", str(SLIP)]) == 130
        out, err = capsys.readouterr()
        assert (out, err.strip()) == ("", "qkv: interrupted")


class TestOutput:
    """Whoever reads may leave; the status is that of the work."""

    @pytest.mark.parametrize("arguments", ["check $SLIP", "check $SLIP --format html", "check $SLIP --json"])
    def test_a_closed_pipe(self, arguments: str) -> None:
        done = shell(f"$QKV {arguments} | head -c 3")
        assert (done.returncode, len(done.stdout), done.stderr) == (1, 3, b"")

    @pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
    def test_closed_streams(self, closed: str) -> None:
        done = shell(f"$QKV check $SLIP {closed}")
        assert done.returncode == 1
        assert done.stderr == b""

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
    def test_a_full_disk(self) -> None:
        done = shell("$QKV check $SLIP > /dev/full")
        assert (done.returncode, done.stderr) == (2, b"qkv: the output cannot be written: no space left on device\n")


class TestSigns:
    """Terminals that have only ASCII."""

    @pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}])
    def test_verdicts_stay_distinct(self, environment: dict[str, str]) -> None:
        done = shell("unset PYTHONUTF8; $QKV check $SLIP", **environment)
        out = done.stdout.decode("ascii")
        assert "  12  + right      Q = X W_Q" in out
        assert "  20  x wrong      S = Q K^T =\n        | 2  5  3 |" in out
        assert "  24  > carried" in out
        assert "?" not in out

    def test_forms_for_programs_are_utf_8_all_the_same(self) -> None:
        done = shell("echo '$α = 1 + 1 = 3$' | $QKV check - --json", PYTHONIOENCODING="ascii:strict")
        assert "α" in done.stdout.decode("utf-8")

    def test_each_verdict_has_a_sign_of_its_own(self) -> None:
        signs = {look.sign for look in LOOKS.values()}
        assert len(set(map(in_ascii, signs))) == len(signs)
        assert all(sign.isascii() for sign in SIGNS.values())


class TestPatience:
    """Long work shows that it goes on, to people only."""

    @pytest.mark.parametrize(("several", "wanted"), [(False, b"checking"), (True, b"%")])
    def test_a_terminal_sees_long_work(self, several: bool, wanted: bytes, tmp_path: Path) -> None:
        for name in ("a.md", "b.md")[: 1 + several]:
            (tmp_path / name).write_text("$$2 + 2 = 4$$")
        script = (
            "import sys, time\nfrom qkv import __main__, api\ntrue = api.check_sheet\n"
            "def slowly(*more):\n    time.sleep(1.5)\n    return true(*more)\napi.check_sheet = slowly\n"
            f"sys.argv[1:] = ['check', {str(tmp_path)!r}]\n__main__.main()"
        )
        ours, theirs = pty.openpty()
        command = [sys.executable, "-c", script]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}
        ) as done:
            os.close(theirs)
            shown = b""
            while select.select([ours], [], [], 20)[0]:
                try:
                    shown += os.read(ours, 4096)
                except OSError:  # the other side has closed
                    break
            assert done.stdout
            assert b"\x1b" not in done.stdout.read()
        os.close(ours)
        assert wanted in shown

    def test_nobody_else_does(self) -> None:
        assert shell("$QKV check $SLIP").stderr == b""
