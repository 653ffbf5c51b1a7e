"""`qkv grade`: a class from a folder of hand-ins to marks, feedback and a summary."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from qkv import __version__, files
from qkv.errors import ReadError
from qkv.grading import folder, gradescope, pool, spread
from qkv.grading.classroom import Classroom, Engine, results_of
from qkv.grading.model import ClassSummary, Policy
from qkv.grading.one import Setup, assignment_for
from qkv.grading.policy import explained, policy_of
from qkv.reader.read import decode
from qkv.render import pdf
from qkv.render.plainly import said
from qkv.render.progress import counting
from qkv.render.summary import count
from qkv.workers import Limits


@click.command()
@click.argument("paths", metavar="[FOLDER|FILE]...", nargs=-1, type=click.Path(exists=True))
@click.option("--against", metavar="FILE", help="The assignment: what is given, asked for, and how many points it has.")
@click.option("--out", metavar="FOLDER", default="graded", show_default=True, help="Where marks and feedback go.")
@click.option("--scheme", metavar="FILE", help="Points and policy as TOML; --explain shows what can be set.")
@click.option("--explain", is_flag=True, help="Print what is asked for and what earns points, and stop.")
@click.option("--jobs", type=click.IntRange(1), help="Worker processes; by default one for each core.")
@click.option("--seconds", type=click.FloatRange(0.1), default=60, show_default=True, help="Time for one hand-in.")
@click.option("--megabytes", type=click.IntRange(200), default=2000, show_default=True, help="Memory for a worker.")
@click.option("--limit-mb", type=click.IntRange(1), default=5, show_default=True, help="The largest hand-in.")
@click.option("--pdf", "pdf_too", is_flag=True, help="Write each feedback as PDF as well.")
@click.option("--gradescope", "gradescope_too", is_flag=True, help="Write a results.json for each hand-in as well.")
@click.option("--engine", type=click.Choice(["processes", "dask"]), default="processes", help="Who does the work.")
@click.option("--scheduler", metavar="ADDRESS", help="The Dask cluster; without it, one on this machine.")
@click.option("--autograder", metavar="FILE", help="Write the zip that Gradescope runs for this assignment (with -o).")
@click.option("--output", "-o", metavar="FILE", default="autograder.zip", show_default=True, help="The zip's name.")
@click.option("--results", metavar="FILE", help="Take all files for one hand-in and write its results.json only.")
def grade(paths: tuple[str, ...], against: str | None, scheme: str | None, **given: Any) -> None:
    """Grade a class against its assignment.

    Writes marks.csv, feedback/NAME.html for each hand-in and summary.html. Run it again, and it grades what is new
    or changed. What could not be judged is never silently right or wrong: it gets a range of points, and the summary
    lists it for a person to look at.

    \b
    Examples:
      qkv grade submissions/ --against assignment.md --out graded/
      qkv grade --against assignment.md --explain
      qkv grade submissions/ --against assignment.md --scheme scheme.toml --gradescope
      qkv grade --autograder assignment.md -o autograder.zip
    """
    assignment = against or given["autograder"]
    if assignment is None:
        raise click.UsageError("Which assignment? Say --against FILE.")
    policy_text = _text(scheme) if scheme else None
    policy = policy_of(policy_text, str(scheme)) if policy_text is not None else Policy()
    setup = Setup(_text(assignment), Path(assignment).name, policy, __version__)
    if not assignment_for(setup).asked:
        raise ReadError(f"{assignment} asks for nothing that qkv could work out; qkv solve shows what it makes of it")
    if given["autograder"]:
        gradescope.write_autograder(given["output"], setup, policy_text)
        click.echo(f"{given['output']} is ready to be uploaded as the autograder of a programming assignment.")
    elif given["explain"]:
        click.echo(explained(assignment_for(setup), policy), nl=False)
    elif not paths:
        raise click.UsageError("Which hand-ins? Name a folder or files.")
    else:
        _grade(paths, setup, given)


def _grade(paths: tuple[str, ...], setup: Setup, given: dict[str, Any]) -> None:
    if given["pdf_too"]:
        pdf.check_installed()
    found = list(folder.found_in(paths))
    with _engine(setup, given, len(found)) as engine:
        if given["results"]:
            files.write(given["results"], results_of(found, engine, given["limit_mb"], setup))
            return
        room = Classroom(
            setup, Path(given["out"]), engine, given["limit_mb"], given["gradescope_too"], given["pdf_too"]
        )
        with counting(len(found), "grading") as done:
            summary, _ = room.grade(found, done)
    click.echo(_said(summary, room.out))


@contextlib.contextmanager
def _engine(setup: Setup, given: dict[str, Any], count: int) -> Iterator[Engine]:
    """Who does the work: worker processes here, or a Dask cluster."""
    if given["engine"] == "dask":
        with spread.client_of(given["scheduler"]) as client:
            yield lambda submissions: spread.graded(submissions, setup, client)
        return
    jobs = min(given["jobs"] or _cores(), max(count, 1))
    limits = Limits(given["seconds"], given["megabytes"])
    yield lambda submissions: pool.graded(submissions, setup, jobs, limits)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _said(summary: ClassSummary, out: Path) -> str:
    """What came of it, in a few lines."""
    lines = [f"{count(summary.marks, 'hand-in')} graded, {len(summary.looks)} for a person to look at."]
    if summary.shares:
        mean = sum(summary.shares) / len(summary.shares) * float(summary.of)
        lines.append(f"Of the others, the mean is {mean:.2f} of {said(summary.of)} points.")
    if summary.mistakes:
        common = ", ".join(f"{mistake} ({number})" for mistake, number in summary.mistakes.most_common(3))
        lines.append(f"Commonest mistakes: {common}.")
    return "\n".join([*lines, f"See {out / 'summary.html'} and {out / 'marks.csv'}."])


def _text(path: str) -> str:
    return decode(files.read_bytes(path), path)


COMMANDS = {"grade": grade}
