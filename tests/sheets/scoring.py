"""What solve and check say of a document, beside its answer key."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qkv import api
from qkv.check.model import BAD, Claim, Verdict
from qkv.render import jsonform
from qkv.render.options import Options

OK = ("correct", "struck", "carried-rounding")
CARRIED = ("carried", "follows")


@dataclass
class Score:
    """Counts over the claims and questions of one document, and what was missed, in words."""

    asked: int = 0
    answered: int = 0
    wrong: int = 0
    found: int = 0
    accused: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)


def score(document: Path, key: dict[str, Any]) -> Score:
    """Solve and check a document, and compare with its key."""
    sheet = api.read(document)
    result = Score()
    _score_answers(result, jsonform.solution("", sheet.solve().traces, (), Options(digits=8)), key["questions"])
    _score_claims(result, sheet.check().claims, key["claims"])
    return result


def _score_answers(result: Score, solution: dict[str, Any], questions: list[dict[str, Any]]) -> None:
    shown = [item["value"] for problem in solution["problems"] for item in (*problem["steps"], *problem["givens"])]
    tables = [_numbers(table) for table in shown]
    rows = [_numbers(row) for table in shown for row in table]
    columns = [_numbers(list(column)) for table in shown if table for column in zip(*table, strict=False)]
    cells = [[x] for row in rows for x in row]
    for question in questions:
        wanted = _numbers(question["answer"]) if _is_numeric(question["answer"]) else []
        if not wanted:
            continue
        result.asked += 1
        if any(_close(wanted, got) for got in (*tables, *rows, *columns, *cells)):
            result.answered += 1
        else:
            result.unanswered.append(question.get("ask") or question["question"])


def _score_claims(result: Score, claims: tuple[Claim, ...], keyed: list[dict[str, Any]]) -> None:
    spans = [(_span(entry["line"]), _kind(entry), entry) for entry in keyed]
    for (first, last), kind, entry in spans:
        here = [claim for claim in claims if claim.line <= last and claim.end_line >= first]
        others = {k for (a, b), k, e in spans if e is not entry and a <= last and b >= first}
        if kind == "ok" and not others - {"ok"} and any(claim.verdict in BAD for claim in here):
            result.accused.append(f"line {first}: {entry['what']}")
        if kind == "wrong":
            result.wrong += 1
            cells = {
                (c.row, c.column)
                for claim in here
                for c in claim.cells
                if c.verdict in (Verdict.WRONG, Verdict.MISREAD)
            }
            said = any(claim.verdict in (Verdict.WRONG, Verdict.MISREAD) for claim in here)
            if said and {tuple(cell) for cell in entry.get("wrong_cells", [])} <= cells:
                result.found += 1
            else:
                result.missed.append(f"line {first}: {entry['what']}")


def _kind(entry: dict[str, Any]) -> str:
    verdict = entry["verdict"].lower()
    if verdict.startswith(OK):
        return "ok"
    if verdict.startswith(CARRIED):
        return "carried"
    if verdict.startswith("wrong"):
        return "last digit" if entry.get("severity") == "last digit" else "wrong"
    return "other"


def _span(line: object) -> tuple[int, int]:
    numbers = [int(x) for x in re.findall(r"\d+", str(line))]
    return numbers[0], numbers[-1]


def _is_numeric(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_numeric(item) for item in value)
    return isinstance(value, (int, float)) or (isinstance(value, str) and bool(re.fullmatch(NUMBER, value.strip())))


NUMBER = r"[-−+]?(\d+/\d+|\d*\.?\d+(e[-+]?\d+)?|inf)"


def _numbers(value: Any) -> list[float]:
    if isinstance(value, list):
        return [x for item in value for x in _numbers(item)]
    text = str(value).strip().replace("−", "-")
    top, slash, bottom = text.partition("/")
    return [int(top) / int(bottom) if slash else float(text)]


def _close(a: list[float], b: list[float]) -> bool:
    return len(a) == len(b) and all(x == y or abs(x - y) <= max(2e-4 * abs(x), 1e-9) for x, y in zip(a, b, strict=True))


def load_key(path: Path) -> dict[str, Any]:
    """An answer key."""
    key: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return key


def totals(folder: Path, keys: Path) -> str:
    """One line about all documents of a folder: questions answered, slips found, claims accused and left unread."""
    results, verdicts = [], []
    for document in sorted(
        p for p in folder.iterdir() if (keys / f"{p.stem}.key.json").exists() and p.suffix != ".json"
    ):
        results.append(score(document, load_key(keys / f"{document.stem}.key.json")))
        verdicts += [claim.verdict for claim in api.read(document).check().claims]
    return (
        f"{len(results)} documents: {sum(r.answered for r in results)} of {sum(r.asked for r in results)} questions answered, "
        f"{sum(r.found for r in results)} of {sum(r.wrong for r in results)} slips found at every cell, "
        f"{sum(len(r.accused) for r in results)} correct claims accused; "
        f"{verdicts.count(Verdict.UNREAD)} of {len(verdicts)} claims left unread"
    )


if __name__ == "__main__":
    examples = Path(__file__).resolve().parents[2] / "examples" / "sheets"
    print("examples/sheets:", totals(examples, examples))
    shared = Path(__file__).resolve().parents[3] / "shared"
    if shared.exists():
        print("sample sheets:", totals(shared / "sheets" / "wild", shared / "keys" / "wild"))
