"""The command line. Commands import what they need when they run, so that `qkv --help` is instant."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from qkv import files
from qkv.cli_shared import (
    SCREEN,
    documents,
    each,
    leave_output,
    open_streams,
    say,
    sheet,
    target_of,
    with_documents,
    write,
)
from qkv.errors import QkvError
from qkv.render.options import Depth, Options

CLEAN, FOUND, FAILED = 0, 1, 2  # exit status: nothing wrong; something wrong; not readable, or the command misused
INTERRUPTED = 130  # by Ctrl-C

# Commands of other modules, each imported only when one of its commands is asked for.
LATER = {
    "cost": "What attention costs: operations, bytes and time, as formulas and numbers.",
    "grade": "Grade a class: marks, feedback for each hand-in, and a summary.",
    "practice": "Exercises to be worked by hand, with keys and marking schemes.",
    "prove": "Prove the identities that courses ask for, step by step.",
    "scale": "Why scores are divided by √d_k: exact variances, and an experiment.",
    "serve": "A page in the browser: check and solve as you type, practise, calculate.",
    "transport": "Earth mover's distance between two distributions, with its plan and its proof.",
}
HOMES = {"grade": "qkv.cli_grade", "practice": "qkv.cli_practice", "serve": "qkv.cli_serve"}
THEORY = "qkv.cli_theory"


class Commands(click.Group):
    """A group that lists its later commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *LATER})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in LATER:
            return super().get_command(ctx, cmd_name)
        commands: dict[str, click.Command] = importlib.import_module(HOMES.get(cmd_name, THEORY)).COMMANDS
        return commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        here = {name: command.get_short_help_str(80) for name, command in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted({**here, **LATER}.items()))


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="qkv", message="qkv %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
@click.pass_context
def app(ctx: click.Context, debug: bool) -> None:
    """Attention, worked out: solve worksheets, check hand-worked solutions, explain the costs.

    \b
    Examples:
      qkv                       what it can do, on one screen
      qkv demo                  the same at length, in seconds and without a file
      qkv solve sheet.md        the worked solution of every problem in a worksheet
      qkv check solution.md     every claim of a hand-worked solution, judged
      qkv read sheet.md         how a document was understood
    """
    if ctx.invoked_subcommand is None:
        from qkv import demo

        write(demo.overview(target_of(SCREEN)), SCREEN)


@app.command()
@with_documents(("terminal", "markdown", "latex", "html", "pdf", "json"))
@click.option("--digits", type=click.IntRange(1, 200), default=6, show_default=True, help="Significant digits.")
@click.option("--places", type=click.IntRange(0, 200), help="Decimal places, instead of significant digits.")
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    default="normal",
    show_default=True,
    help="brief: results; normal: each step and one cell of it; full: each cell.",
)
def solve(paths: tuple[str, ...], digits: int, places: int | None, depth: str, **target: Any) -> None:
    """Work out every problem in a worksheet.

    Reads .md, .txt, .tex, .ipynb and .pdf files, folders of them and patterns such as 'week*.md'; - is standard input.

    \b
    Examples:
      qkv solve sheet.md
      qkv solve sheet.md -o key.html
      qkv solve sheet.md --depth full --places 4
      qkv solve sheet.md --let 'K = [Ich; liebe; Katzen]' --ask Z
      qkv solve week1.md week2.tex -o key.tex
      cat sheet.md | qkv solve - --json --digits 10
    """
    from qkv import api
    from qkv.render import targets

    def work(path: str) -> targets.Worked:
        return api.solve_sheet(sheet(path, target["limit_mb"], target["let"], target["ask"]))

    found = documents(paths, target)
    solved, failed = each(found, work, "solving")
    options = Options(Depth(depth), digits, places)
    if solved:
        write(targets.solutions(solved, options, target_of(target, len(found) > 1)), target)
    sys.exit(FAILED if failed else CLEAN)


@app.command()
@with_documents(("terminal", "markdown", "latex", "html", "pdf", "json"))
@click.option("--strict", is_flag=True, help="Fail where a claim could not be judged.")
@click.option("--only", type=click.Choice(["wrong"]), help="List only what is not right.")
@click.option(
    "--against", metavar="KEY", help="Judge by another document, the assignment: it decides givens and method."
)
def check(paths: tuple[str, ...], only: str | None, against: str | None, strict: bool, **target: Any) -> None:
    """Judge every claim of a hand-worked solution, cell by cell.

    Exit status: 0 if nothing is wrong, 1 if something is wrong, carried, misrounded or misread (with --strict also
    if something could not be judged), 2 if a file could not be read or held nothing to judge.

    \b
    Examples:
      qkv check solution.md
      qkv check solution.md --only wrong -o report.html
      qkv check solution.md --against assignment.md --strict
      qkv check handed-in --json
    """
    from qkv import api
    from qkv.check.model import Report
    from qkv.render import targets

    found = documents(paths, target, against)
    told = target["let"], target["ask"]
    key = sheet(against, target["limit_mb"], *told) if against else None
    beside = told if key is None else ()  # what is told is told of the assignment

    def work(path: str) -> Report:
        return api.check_sheet(sheet(path, target["limit_mb"], *beside), key)

    reports, failed = each(found, work, "checking")
    options = Options(only_wrong=only is not None)
    if reports:
        write(targets.reports(reports, options, target_of(target, len(found) > 1)), target)
    failed = failed or any(report.is_empty for report in reports)
    fine = all(report.is_clean and (report.is_whole or not strict) for report in reports)
    sys.exit(FAILED if failed else CLEAN if fine else FOUND)


@app.command()
@with_documents(("terminal", "json"))
def read(paths: tuple[str, ...], **target: Any) -> None:
    """Show how a document was understood.

    Each quantity with its line, name and shape, what it is taken for and how that is known; what was chosen where the
    page leaves it open; what was repaired, and what could not be read and why.

    \b
    Examples:
      qkv read sheet.md
      qkv read sheet.md --json
    """
    from qkv import api
    from qkv.render import targets
    from qkv.solving.understood import Understood

    def work(path: str) -> Understood:
        return api.understand_sheet(sheet(path, target["limit_mb"], target["let"], target["ask"]))

    found = documents(paths, target)
    read, failed = each(found, work, "reading")
    if read:
        write(targets.readings(read, target_of(target, len(found) > 1)), target)
    sys.exit(FAILED if failed else CLEAN)


@app.command(name="demo")
@click.option("--no-color", is_flag=True, help="No colour; the variable NO_COLOR works too.")
def demo_command(no_color: bool) -> None:
    """Show what qkv can do: a sheet solved, a solution checked, an implementation compared.

    \b
    Examples:
      qkv demo
      qkv demo | less
    """
    from qkv import demo
    from qkv.render.progress import waiting

    goes = {**SCREEN, "no_color": no_color}
    with waiting("solving, checking and comparing"):
        shown = demo.tour(target_of(goes))
    write(shown, goes)


@app.command()
def warmup() -> None:
    """Compile the attention kernels now, so that their first use is fast.

    \b
    Examples:
      qkv warmup
    """
    from qkv import kernel
    from qkv.render.progress import waiting

    with waiting("compiling the attention kernels", after=0):
        kernel.warmup()
    click.echo("The attention kernels are compiled.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end with its exit status."""
    sys.exit(status(sys.argv[1:] if arguments is None else arguments))


def status(given: Sequence[str]) -> int:
    """Run the command line; whatever goes wrong ends in one sentence and an exit status."""
    arguments, debug = [argument for argument in given if argument != "--debug"], "--debug" in given
    open_streams()
    try:
        result = app.main(arguments, prog_name="qkv", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else CLEAN
    except SystemExit as ended:  # how commands say their status
        return ended.code if isinstance(ended.code, int) else CLEAN
    except click.ClickException as error:
        error.show()
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        leave_output()
    except (QkvError, OSError, UnicodeError) as error:
        say(files.reason(error) if isinstance(error, OSError) else str(error))
    except Exception as error:
        if debug:
            raise
        say(f"a bug in qkv: {type(error).__name__}: {error}; please report it (--debug shows the traceback)")
    return FAILED
