"""`qkv practice`: exercises for learners, with keys, marking schemes and a game."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from qkv import files
from qkv.errors import QkvError, ReadError, WriteError
from qkv.exercises import moodle, plainly, play, prairielearn, progress, written
from qkv.exercises.draw import KINDS, LEVELS, exercise
from qkv.exercises.files import FORMATS, PDF, Variant, counted, documents, from_roster
from qkv.exercises.model import Exercise
from qkv.exercises.own import variant
from qkv.exercises.template import Template, template_of
from qkv.exercises.written import ASKING
from qkv.reader.read import decode
from qkv.render import pdf
from qkv.render.plainly import said
from qkv.render.progress import counting
from qkv.render.summary import count as number_of

WIDEST = 100
NARROW = 60


@click.command()
@click.option("--kind", type=click.Choice(list(KINDS)), help="The kind of attention; each level has a usual one.")
@click.option("--level", type=click.IntRange(min(LEVELS), max(LEVELS)), default=1, show_default=True)
@click.option("--seed", type=int, help="The same seed gives the same bytes; 0 if none is said.")
@click.option("--language", type=click.Choice(list(ASKING)), default="en", show_default=True)
@click.option("--slips", is_flag=True, help="Find the slip: a worked solution with one known mistake in it.")
@click.option("--key", is_flag=True, help="Print the key below the sheet.")
@click.option("--template", metavar="FILE", help="Your own sheet: each _ in it is a number to be drawn.")
@click.option("--formula", is_flag=True, help="Print the skeleton: the sheet with blanks, a template to be edited.")
@click.option("--play", is_flag=True, help="One step at a time: type a row or a matrix, get a verdict at once.")
@click.option("--progress", "progress_file", metavar="FILE", help="Where --play keeps how far you are.")
@click.option("--count", type=click.IntRange(1, 100_000), default=1, help="So many variants (with --out).")
@click.option("--roster", metavar="FILE", help="A CSV file with a student a line: a variant for each (with --out).")
@click.option("--moodle", metavar="FILE", help="Write the variants as one question bank, to be imported into Moodle.")
@click.option("--prairielearn", metavar="FOLDER", help="Write the variants as one question folder of PrairieLearn.")
@click.option("--out", metavar="FOLDER", help="Write files: sheet, key, marking scheme and data for each variant.")
@click.option("--format", "formats", default="md", show_default=True, help=f"Of the files: {', '.join(FORMATS)}.")
def practice(**given: Any) -> None:
    """Exercises to be worked by hand, with good numbers.

    Small whole numbers, no rounding ties, weights that differ visibly, and every known mistake gives a result of its
    own. Without --out, one sheet is printed.

    \b
    Examples:
      qkv practice
      qkv practice --level 3 --seed 7 --key
      qkv practice --kind multi-head --level 2 --count 30 --out week5/ --format pdf,md,ipynb
      qkv practice --kind self --level 2 --roster students.csv --out week6/
      qkv practice --level 2 --slips --language de
      qkv practice --level 2 --count 20 --moodle bank.xml
      qkv practice --level 2 --count 20 --prairielearn course/questions/attention
      qkv practice --level 2 --formula > sheet.md
      qkv practice --template sheet.md --roster students.csv --out week7/
      qkv practice --play
    """
    if given["template"] and (given["kind"] or given["formula"]):
        raise click.UsageError("A template says itself what is asked: --kind and --formula do not go with it.")
    if given["play"]:
        _play(given)
        return
    given["seed"] = given["seed"] or 0
    formats = tuple(part.strip() for part in given["formats"].split(","))
    if unknown := set(formats) - set(FORMATS):
        raise click.UsageError(f"There is no format {', '.join(sorted(unknown))}; there are {', '.join(FORMATS)}.")
    if given["moodle"] or given["prairielearn"]:
        _write_for_courses(given)
    elif given["out"]:
        _write(given, formats)
    elif given["count"] > 1 or given["roster"]:
        raise click.UsageError("Several variants need a folder: --out FOLDER.")
    else:
        click.echo(_shown(given), nl=False)


def _shown(given: dict[str, Any]) -> str:
    """One sheet, for the terminal."""
    made = _made(given, given["seed"])
    width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    if given["formula"]:
        return written.template(made, LEVELS[given["level"]].entries)
    if given["slips"]:
        return written.slip_sheet(made) + ("\n" + written.slip_key(made) if given["key"] else "")
    return plainly.sheet(made, width) + ("\n" + plainly.key(made, width) if given["key"] else "")


def _made(given: dict[str, Any], seed: int) -> Exercise:
    """The exercise with a seed: on the teacher's own sheet, or of a kind and level."""
    if given["template"]:
        try:
            return variant(_template(given["template"]), seed, given["language"])
        except QkvError as error:
            raise ReadError(f"{given['template']}: {error}") from error
    return exercise(given["kind"], given["level"], seed, given["language"])


def _template(path: str) -> Template:
    return template_of(decode(files.read_bytes(path), path), Path(path).stem)


def _play(given: dict[str, Any]) -> None:
    """A game, from where the last one stopped unless another exercise is asked for."""
    place = Path(given["progress_file"] or Path(click.get_app_dir("qkv")) / "practice.json")
    width = min(shutil.get_terminal_size((NARROW, 24)).columns, WIDEST)
    wanted = given["kind"] is not None or given["seed"] is not None
    own = _template(given["template"]) if given["template"] else None
    game = None if wanted else progress.resumed(place, own)
    if game is None:
        seed = given["seed"] if given["seed"] is not None else progress.next_seed(place)
        game = play.Game(_made(given, seed))
    click.echo(plainly.sheet(game.exercise, width, questions=False))
    _tell([play.HELP], width)
    while not game.is_over:
        _tell(["", play.asked(game)], width)
        line = _typed()
        if line is None or line.strip() == "q":
            break
        game, told = play.answered(game, line, width)
        _tell(told, width)
    progress.save(place, game)
    over = "" if game.is_over else "; qkv practice --play goes on from here"
    click.echo(f"\n{said(game.earned)} of {said(game.of)} points{over}.")


def _typed() -> str | None:
    click.echo("> ", nl=False)
    return sys.stdin.readline() or None


def _tell(lines: list[str], width: int) -> None:
    """Lines within the width; drawn matrices are left as they are."""
    for line in lines:
        click.echo(line if line.startswith("  ") else "\n".join(textwrap.wrap(line, width)) if line else "")


def _write_for_courses(given: dict[str, Any]) -> None:
    """The variants for course systems: one question bank, one question folder."""
    made = [_made(given, each.seed) for each in _variants(given)]
    if bank := given["moodle"]:
        files.write(bank, moodle.quiz(made))
        click.echo(f"{number_of(len(made), 'question')} in {bank}: Question bank › Import › Moodle XML format.")
    if given["prairielearn"]:
        folder = _folder(given["prairielearn"])
        for name, text in prairielearn.question_folder(made, folder.name):
            files.write(str(folder / name), text)
        click.echo(f"A question with {number_of(len(made), 'variant')} in {folder}, to stand in a course's questions/.")


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder} cannot be made: {files.reason(error)}") from error
    return folder


def _write(given: dict[str, Any], formats: tuple[str, ...]) -> None:
    if PDF in formats:
        pdf.check_installed()
    folder = _folder(given["out"])
    variants = _variants(given)
    with counting(len(variants), "writing") as done:
        for each in variants:
            made = _made(given, each.seed)
            for name, content in documents(made, each.name, formats, given["slips"], each.student):
                files.write(str(folder / name), content)
            done()
    if given["roster"]:
        rows = [f"{_cell(each.student)},{each.name},{each.seed}" for each in variants]
        files.write(str(folder / "variants.csv"), "\n".join(["student,file,seed", *rows]) + "\n")
    click.echo(f"{number_of(len(variants), 'variant')} in {folder}: each with its key.")


def _variants(given: dict[str, Any]) -> list[Variant]:
    usual = f"{given['kind'] or LEVELS[given['level']].usual}-{given['level']}"
    stem = Path(given["template"]).stem if given["template"] else usual
    if given["roster"]:
        return from_roster(decode(files.read_bytes(given["roster"]), given["roster"]), stem, given["seed"])
    return counted(stem, given["seed"], given["count"])


def _cell(text: str) -> str:
    from qkv.grading.table import harmless

    return '"' + harmless(text).replace('"', '""') + '"'


COMMANDS = {"practice": practice}
