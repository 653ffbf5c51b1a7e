"""From results to text, whatever the format: the one table of formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from qkv.check.model import Report
from qkv.interpret.trace import Trace
from qkv.render import jsonform
from qkv.render.options import Options

if TYPE_CHECKING:
    from qkv.reader.model import Unread
    from qkv.solving.understood import Understood


class Target(NamedTuple):
    """A format; for the terminal its width and whether it has colours; whether several files were asked for."""

    form: str
    width: int = 100
    colour: bool = False
    several: bool = False


class Worked(Protocol):
    """A document worked out, such as a Solution."""

    @property
    def file(self) -> str: ...
    @property
    def traces(self) -> tuple[Trace, ...]: ...
    @property
    def unread(self) -> tuple[Unread, ...]: ...
    @property
    def advice(self) -> tuple[str, ...]: ...


def solutions(solved: Sequence[Worked], options: Options, target: Target) -> str | bytes:
    """Worked solutions in the format asked for; only a PDF, the page of the HTML set on paper, is bytes."""
    match target.form:
        case "json":
            return jsonform.lines([jsonform.solution(s.file, s.traces, s.unread, options, s.advice) for s in solved])
        case "markdown":
            from qkv.render import markdown

            return "\n".join(markdown.solution(s.traces, options, s.unread, s.advice) for s in solved)
        case "latex":
            from qkv.render import latex

            return latex.solution(
                [trace for s in solved for trace in s.traces], options, [line for s in solved for line in s.advice]
            )
        case "html":
            from qkv.render import html

            return html.solutions(solved, options)
        case "pdf":
            from qkv.render import html, pdf

            return pdf.made(*html.solved(solved, options))
        case _:
            from qkv.render import terminal

            parts = [terminal.solution(s.traces, options, target.width, s.unread, s.advice) for s in solved]
            return terminal.joined(_titled(parts, [s.file for s in solved], target), target.width, target.colour)


def reports(found: Sequence[Report], options: Options, target: Target) -> str | bytes:
    """Reports in the format asked for, as for solutions; several in the terminal get a line each and a total."""
    match target.form:
        case "json":
            return jsonform.lines([jsonform.report(report, options) for report in found])
        case "markdown":
            from qkv.render import markdown

            return "\n".join(markdown.report(report, options) for report in found)
        case "latex":
            from qkv.render import latex

            return latex.reports(found, options)
        case "html":
            from qkv.render import html

            return html.reports(found, options)
        case "pdf":
            from qkv.render import html, pdf

            return pdf.made(*html.reported(found, options))
        case _:
            from qkv.render import terminal, verdicts

            if not target.several:
                return terminal.joined([verdicts.report(found[0], options, target.width)], target.width, target.colour)
            return terminal.joined([verdicts.overview(found, target.width)], target.width, target.colour)


def readings(read: Sequence[Understood], target: Target) -> str:
    """How documents were understood: what they say, and the problems that this makes."""
    if target.form == "json":
        return jsonform.lines([jsonform.reading(understood) for understood in read])
    from qkv.render import reading, terminal

    parts = [reading.understood(understood, target.width) for understood in read]
    return terminal.joined(_titled(parts, [u.sheet.file for u in read], target), target.width, target.colour)


def _titled(parts: list[Any], names: list[str], target: Target) -> list[Any]:
    """Each part under the name of its file, if there are several."""
    if not target.several:
        return parts
    from rich.text import Text

    return [piece for name, part in zip(names, parts, strict=True) for piece in (Text(name, style="reverse"), part)]
