"""What the commands share: options of output, the documents to work on, where results go, and how that is said."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from qkv import files
from qkv.errors import QkvError, WriteError

if TYPE_CHECKING:
    from qkv.reader.model import Sheet
    from qkv.render.targets import Target

PIPE_WIDTH = 100  # of text that does not go to a terminal
NARROWEST = 40
TERMINAL, PDF = "terminal", "pdf"
SCREEN: dict[str, Any] = {"form": TERMINAL, "output": None, "no_color": False}  # where output goes if nothing is said

Command = Callable[..., None]
T = TypeVar("T")


def with_output(formats: Sequence[str]) -> Callable[[Command], Command]:
    """The options that say what to write and where to; commands get them as `form`, `output` and `no_color`."""
    return _adding(
        click.option("--format", "form", type=click.Choice(formats), help="What to write; -o x.html tells it too."),
        click.option("--json", "form", flag_value="json", help="Short for --format json."),
        click.option(
            "--output", "-o", metavar="FILE", help="Write to a file, in the format of its name; - is the screen."
        ),
        click.option("--no-color", is_flag=True, help="No colour; the variable NO_COLOR works too."),
    )


def with_documents(formats: Sequence[str]) -> Callable[[Command], Command]:
    """The arguments of commands that read documents: files, output, what is told beside the page, the limit."""
    return _adding(
        click.argument("paths", metavar="FILE...", nargs=-1, required=True),
        with_output(formats),
        click.option(
            "--let", multiple=True, metavar="'X = …'", help="What a name is, whatever the page says; may be repeated."
        ),
        click.option("--ask", multiple=True, metavar="NAME", help="What to work out; may be repeated."),
        click.option(
            "--limit-mb", type=click.IntRange(1), default=files.LIMIT_MB, show_default=True, help="The largest file."
        ),
    )


def _adding(*parts: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for part in reversed(parts):
            command = part(command)
        return command

    return add


def form_of(given: dict[str, Any]) -> str:
    """The format to write: the one that is said, or the one that the name of the output tells, or the terminal's."""
    if given["form"]:
        return str(given["form"])
    suffix = os.path.splitext(given["output"] or "")[1].lower()
    form = files.FORMATS.get(suffix, TERMINAL)
    formats = _formats()
    if form not in formats:
        written = ", ".join(end for end, name in files.FORMATS.items() if name in formats)
        raise click.UsageError(f"{suffix} is not written by this command; it writes {written}.")
    return form


def _formats() -> Sequence[str]:
    """The formats that the running command writes."""
    option = next(each for each in click.get_current_context().command.params if each.name == "form")
    return option.type.choices if isinstance(option.type, click.Choice) else ()


def target_of(given: dict[str, Any], several: bool = False) -> Target:
    """Where the output goes decides its format, its width and its colour."""
    from qkv.render.targets import Target

    at_terminal = given["output"] in (None, files.STDOUT) and sys.stdout.isatty()
    width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    colour = at_terminal and not given["no_color"] and not os.environ.get("NO_COLOR")
    return Target(form_of(given), max(width, NARROWEST), colour, several)


def documents(paths: Sequence[str], given: dict[str, Any], against: str | None = None) -> list[str]:
    """The documents to work on; that the result can be written is made sure before any work is done."""
    if form_of(given) == PDF:
        _check_pdf(given["output"])
    found = files.expanded(paths)
    check_output(given["output"], [*found, *([against] if against else [])])
    return found


def _check_pdf(output: str | None) -> None:
    from qkv.render import pdf

    pdf.check_installed()
    if output in (None, files.STDOUT) and sys.stdout.isatty():
        raise click.UsageError("A PDF goes to a file: -o report.pdf.")


def check_output(output: str | None, inputs: Sequence[str] = ()) -> None:
    """Refuse an output that would destroy something; None and - are the screen."""
    if output not in (None, files.STDOUT):
        files.check_target(str(output), inputs)


def open_streams() -> None:
    """Streams that take whatever is written: a closed one goes nowhere, one without our signs gets others."""
    from qkv.render import ascii

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="ascii" if ascii.is_wanted() else None, errors=ascii.ERRORS)


def write(text: str | bytes, given: dict[str, Any]) -> None:
    """The result, to where it was asked for; a reader who has left is no reason to fail."""
    if given["output"] not in (None, files.STDOUT):
        files.write(given["output"], text)
        return
    try:
        _print(text, form_of(given))
    except BrokenPipeError:
        leave_output()
    except OSError as error:  # a full disk
        leave_output()
        raise WriteError(f"the output cannot be written: {files.reason(error)}") from error


def _print(text: str | bytes, form: str) -> None:
    """Text for people in the signs that their terminal has; forms for programs in UTF-8, whatever the terminal."""
    if isinstance(text, str) and form == TERMINAL:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
    sys.stdout.flush()


def leave_output() -> None:
    """Nobody reads the output any more: what is left of it goes nowhere, also when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def sheet(path: str, limit_mb: int = files.LIMIT_MB, let: Sequence[str] = (), ask: Sequence[str] = ()) -> Sheet:
    """A document, read."""
    from qkv import api

    return api.read_path(path, limit_mb, let, ask)


def each(paths: Sequence[str], work: Callable[[str], T], doing: str) -> tuple[list[T], bool]:
    """Work on every document; one that cannot be read is said and does not stop the others."""
    from qkv.render.progress import walking

    results, failed = [], False
    for path in walking(paths, doing):
        try:
            results.append(work(path))
        except QkvError as error:
            failed = True
            say(f"{files.name_of(path)}: {error}" if files.name_of(path) not in str(error) else str(error))
    return results, failed


def say(sentence: str) -> None:
    """One sentence on the error stream, if anybody listens."""
    with suppress(OSError):
        click.echo(f"qkv: {' '.join(sentence.split())}", err=True)
