"""Documents rewritten as text: other names, no prose, another dress, another order, and damage done on purpose.

Every function takes a document and gives a document, or None where it has nothing to change. What it means stays
the same, but for the damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random


@dataclass(frozen=True)
class Document:
    """A document of somebody else."""

    name: str
    text: str


def gathered(*folders: Path) -> tuple[Document, ...]:
    """The documents of some folders, as far as there are such folders."""
    paths = sorted(path for folder in folders if folder.is_dir() for path in folder.iterdir())
    texts = (path for path in paths if path.suffix in {".md", ".tex", ".txt"} and path.stem != "README")
    return tuple(Document(path.name, path.read_text(encoding="utf-8")) for path in texts)


# ---------------------------------------------------------------- another dress


def _arrays(text: str) -> str:
    def array(match: re.Match[str]) -> str:
        columns = max(row.count("&") for row in match[2].split(r"\\")) + 1
        return rf"\left[\begin{{array}}{{{'c' * columns}}}{match[2]}\end{{array}}\right]"

    return re.sub(r"\\begin\{([bp]matrix)\}(.*?)\\end\{\1\}", array, text, flags=re.DOTALL)


def _listed(text: str) -> str:
    """Matrices of several rows and plain numbers as nested lists."""

    def nested(match: re.Match[str]) -> str:
        rows = [row.split("&") for row in re.split(r"\\\\", match[2].strip().removesuffix(r"\\"))]
        numbers = all(re.fullmatch(r"\s*-?[\d.]+\s*", cell) for row in rows for cell in row)
        if len(rows) == 1 or not numbers:
            return match[0]
        return "[" + ", ".join("[" + ", ".join(map(str.strip, row)) + "]" for row in rows) + "]"

    return re.sub(r"\\begin\{([bp]matrix)\}(.*?)\\end\{\1\}", nested, text, flags=re.DOTALL)


DRESSES: dict[str, Callable[[str], str]] = {
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "round brackets": lambda text: text.replace("bmatrix", "pmatrix"),
    "square brackets": lambda text: text.replace("pmatrix", "bmatrix"),
    "arrays": _arrays,
    "nested lists": _listed,
    "blanks at line ends": lambda text: text.replace("\n", "  \n"),
    "simeq": lambda text: text.replace(r"\approx", r"\simeq"),
    "times": lambda text: text.replace(r"\cdot", r"\times"),
    "dots": lambda text: text.replace(r"\cdot", "·"),
    "a title": lambda text: "# Notes\n\n" + text,
    "a sentence before": lambda text: "These notes were typed by a friend; they follow the lecture.\n\n" + text,
    "brackets for dollars": lambda text: re.sub(r"\$\$(.*?)\$\$", r"\\[\1\\]", text, flags=re.DOTALL),
    "a letter T": lambda text: text.replace(r"^\top", "^T").replace(r"^{\top}", "^T"),
    "text for mathrm": lambda text: text.replace(r"\mathrm{", r"\text{").replace(r"\operatorname{", r"\text{"),
    "brackets that do not grow": lambda text: re.sub(r"\\left(?=[(\[])|\\right(?=[)\]])", "", text),
    "signs": lambda text: re.sub(r"\\approx(?![A-Za-z])", "≈", text.replace(r"^\top", "ᵀ").replace(r"^T", "ᵀ")),
}


def dressed(text: str, dress: str) -> str | None:
    """A document in another dress."""
    changed = DRESSES[dress](text)
    return changed if changed != text else None


# ---------------------------------------------------------------- other names

_MATH = re.compile(
    r"```.*?```|`[^`\n]+`|\$\$.*?\$\$|\$[^$\n]+\$|\\\[.*?\\\]|\\\(.*?\\\)"
    r"|\\begin\{((?:align|equation|gather|multline|eqnarray|displaymath)\w*\*?)\}.*?\\end\{\1\}",
    re.DOTALL,
)
# What is no name: words in \text, environments, sizes such as d_k, transposes, commands.
_TOKEN = re.compile(
    r"\\(?:text|mathrm|operatorname|textbf|texttt|mathbb|mathcal|begin|end|label|tag)\*?\s*\{[^{}]*\}"
    r"|\\[A-Za-z]+|\bd_\{?[a-z]+\}?|\^\{?(?:T|\\top|⊤)\b\}?|(?P<run>(?<![^\W\d_])[A-Za-z]+(?![^\W\d_]))"
)
_SPLIT = re.compile(r"=|≈|\\approx|\\simeq|,|;|:|\n|&")
_SCRIPTS = re.compile(r"(?:[_^](?:\{[^{}]*(?:\{[^{}]*\})?[^{}]*\}|\w))*")
_IN_SCRIPT = re.compile(r"[_^](?:\{[^{}]*)?$")
KEPT = frozenset("TIAEO")  # a transpose, an identity, an English article, Euler, an order of growth
GREEK = ("Gamma", "Theta", "Lambda", "Xi", "Phi", "Psi", "Omega")
NOUNS = ("gold", "river", "amber", "moss", "pine", "copper", "maple", "flint")


def renamed(text: str, rng: Random) -> str | None:
    """Capital letters renamed to unused ones, their small letters with them: to letters, Greek letters or words.

    Only letters that stand in mathematics everywhere are renamed, and only on a page that states what it does: each
    name that it defines is used in a formula or defined by one, and what is given in numbers only is given before
    anything is worked out. Elsewhere a name may be all that says what a value is.

    >>> print(renamed("$G = [[1]]$, $H = [[2]]$, $GH = ?$", Random(1)))
    $K = [[1]]$, $F = [[2]]$, $KF = ?$
    """
    spans = _spans(text)
    used = _used(text, spans)
    capitals = {name[0] for name in used if name[0].isupper()} - KEPT
    letters = sorted(letter for letter in capitals if _only_inside(text, spans, letter))
    bare, late = _bare(text, spans)
    if not letters or late or not bare <= used:
        return None
    words = "\\" in text and all(text[a] in "$\\" for a, _ in spans)
    names = dict(zip(letters, _free(text, rng, words), strict=False))
    return _replaced(text, spans, names)


def _spans(text: str) -> list[tuple[int, int]]:
    """Where mathematics stands; everywhere in a text that does not mark it."""
    spans = [match.span() for match in _MATH.finditer(text)]
    return spans or [(0, len(text))]


def _runs(text: str, spans: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    for begin, end in spans:
        yield from (match for match in _TOKEN.finditer(text, begin, end) if match["run"])


def _names(run: str, known: set[str]) -> tuple[str, ...]:
    """The names in a run of letters: QK is Q and K if both stand alone elsewhere; a word has none."""
    return tuple(run) if len(run) == 1 or (run.isupper() and set(run) <= known) else ()


def _symbols(chunk: str, known: set[str]) -> list[str]:
    """The names in a formula, with their scripts: W_{Q} and W_Q are the same."""
    found = []
    for match in _TOKEN.finditer(chunk):
        if match["run"] and not _IN_SCRIPT.search(chunk, 0, match.start()):
            *names, last = _names(match["run"], known) or ("",)
            script = _SCRIPTS.match(chunk, match.end())
            found += [*names, last + re.sub(r"[{}\s]|\\(text|mathrm)", "", script[0] if script else "")]
    return [name for name in found if name[:1].isalpha()]


def _known(text: str, spans: list[tuple[int, int]]) -> set[str]:
    return {match["run"] for match in _runs(text, spans) if len(match["run"]) == 1}


def _used(text: str, spans: list[tuple[int, int]]) -> set[str]:
    """Names in formulas: beside another name, or with an operation on them."""
    known = _known(text, spans)
    used: set[str] = set()
    for begin, end in spans:
        for chunk in _SPLIT.split(text[begin:end]):
            names = _symbols(chunk, known)
            if len(set(names)) > 1 or re.search(r"softmax|\^\{?(T\b|\\top)|ᵀ", chunk):
                used.update(names)
    return used


def _bare(text: str, spans: list[tuple[int, int]]) -> tuple[set[str], set[str]]:
    """Names that are given numbers and never a formula, and those of them that come after the first formula."""
    known = _known(text, spans)
    bare: set[str] = set()
    stated: set[str] = set()
    late: set[str] = set()
    for begin, end in spans:
        chunks = _SPLIT.split(text[begin:end])
        for left, right in pairwise(chunks):
            names = _symbols(left, known)
            if len(names) == 1 and names[0][0].isupper():
                formula = _symbols(right, known) or "softmax" in right
                late |= set(names) if stated and not formula and names[0] not in bare else set()
                (stated if formula else bare).update(names)
    return bare - stated, late - stated


def _only_inside(text: str, spans: list[tuple[int, int]], letter: str) -> bool:
    """Whether a letter, large or small, stands alone nowhere outside of mathematics, nor numbers a question: 'Q3.'"""
    if re.search(rf"(?mi)^\W*{letter}\d{{1,2}}[.:)]\s", text):
        return False
    outside = list(text)
    for begin, end in spans:
        outside[begin:end] = " " * (end - begin)
    alone = rf"(?<![A-Za-z\\]){letter}(?![A-Za-z])"
    return not re.search(alone, "".join(outside), flags=re.IGNORECASE)


def _free(text: str, rng: Random, words: bool) -> Iterator[str]:
    """Names that do not occur, in random order; Greek letters and words only where everything is LaTeX."""
    taken = {run.casefold() for run in re.findall(r"[A-Za-z]+", text) if len(run) <= 3}
    single = {letter for run in taken for letter in run}
    names = [letter for letter in "BCFGHJKLMNPQRSUVWXYZ" if letter.casefold() not in single]
    if words:
        names += [rf"\{greek}" for greek in GREEK if greek.casefold() not in text.casefold()]
        names += [rf"\text{{{noun}}}" for noun in NOUNS if noun not in text]
    yield from rng.sample(names, len(names))


def _replaced(text: str, spans: list[tuple[int, int]], names: dict[str, str]) -> str:
    known = _known(text, spans)
    pieces, last = [], 0
    for match in _runs(text, spans):
        script = bool(_IN_SCRIPT.search(text, max(0, match.start() - 30), match.start()))
        parts = _names(match["run"], known)
        if not parts or (script and match["run"].islower()):
            continue
        new = "".join(_new(letter, names) for letter in parts)
        bare_script = text[match.start() - 1] in "_^" and len(new) > 1
        pieces += [text[last : match.start()], f"{{{new.strip()}}}" if bare_script else new]
        last = match.end()
    return "".join((*pieces, text[last:]))


def _new(letter: str, names: dict[str, str]) -> str:
    """The new name of a letter, small if the letter is; Greek letters and words leave room after them."""
    if letter.upper() not in names:
        return letter
    name = names[letter.upper()]
    name = name if letter.isupper() or name.startswith(r"\text") else name.lower()
    return f"{name} " if name.startswith("\\") and name[-1].isalpha() else name


# ---------------------------------------------------------------- no prose

# Words that say how to work, which formulas do not.
_SAYING = re.compile(
    r"mask|causal|kausal|máscara|masque|маск|掩|マスク|padding|column|spalte|colonn|colun|column|столб|列|열|transpos|round|scal|head",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[^$\\=|`\[\]\d<>#~≈→&]*[^\W\d_]{3,}[^$\\=|`\[\]\d<>#~≈→&]*")


def without_prose(text: str) -> str | None:
    """A document without its lines of mere words; None if words might say how to work."""
    if _SAYING.search(text) or "```" in text:
        return None
    inside = [match.span() for match in _MATH.finditer(text)]
    kept, at = [], 0
    for line in text.splitlines(keepends=True):
        free = not any(begin < at + len(line) and end > at for begin, end in inside)
        kept.append("\n" if free and _PLAIN.fullmatch(line.rstrip("\n")) else line)
        at += len(line)
    changed = "".join(kept)
    return changed if changed != text else None


# ---------------------------------------------------------------- another order

# A name and its numbers, nothing else. Only capitals: the order of word vectors means something.
_GIVEN = re.compile(
    r"(?:- )?\$?\$?\s*(?:\\math\w+\{)?[A-Z][A-Za-z_^{}]{0,9}\s*=\s*"
    r"(?:\\begin\{([bp]matrix)\}[-\d.&\\\s]+\\end\{\1\}|\[[\[\]\d.,;\s-]+\])\s*\$?\$?"
)
_BETWEEN = (re.compile(r"(\n\s*\n)"), re.compile(r"(\n)"), re.compile(r"(,\s*\\q?quad\s*|\$\$)"))


def reordered(text: str, rng: Random) -> str | None:
    """A document with neighbouring givens in another order: paragraphs, lines, or parts of one display."""
    for between in _BETWEEN:
        parts = between.split(text)
        given = [i for i in range(0, len(parts), 2) if _GIVEN.fullmatch(parts[i].strip())]
        run = [i for i in given if {i - 2, i + 2} & set(given)]
        if len(run) > 1:
            run = _first_run(run)
            shuffled = rng.sample(run, len(run))
            moved = dict(zip(run, shuffled, strict=True))
            changed = "".join(parts[moved.get(i, i)] for i in range(len(parts)))
            return changed if changed != text else None
    return None


def _first_run(places: list[int]) -> list[int]:
    """The first of them that follow each other by two."""
    end = next((k for k, (a, b) in enumerate(pairwise(places), 1) if b != a + 2), len(places))
    return places[:end]


# ---------------------------------------------------------------- damage


def _place(text: str, rng: Random) -> int:
    return rng.randrange(len(text) + 1)


def _cut(text: str, other: str, rng: Random) -> str:
    begin, end = sorted((_place(text, rng), _place(text, rng)))
    return text[:begin] + text[end:]


def _doubled(text: str, other: str, rng: Random) -> str:
    begin = _place(text, rng)
    end = min(len(text), begin + rng.randrange(1, 400))
    return text[:end] + text[begin:end] * rng.choice((1, 2, 5)) + text[end:]


def _reversed(text: str, other: str, rng: Random) -> str:
    lines = text.split("\n")
    begin, end = sorted(rng.randrange(len(lines) + 1) for _ in range(2))
    return "\n".join(lines[:begin] + lines[begin:end][::-1] + lines[end:])


def _spliced(text: str, other: str, rng: Random) -> str:
    begin, at = _place(other, rng), _place(text, rng)
    return text[:at] + other[begin : begin + rng.randrange(1, 1500)] + text[at:]


STRAY = (
    *r"\$[]{}()|&_^=≈·,;.-−∞√ᵀ→~#`/0",
    "..",
    "$$",
    r"\\",
    r"\begin{bmatrix}",
    r"\end{bmatrix}",
    "0..707",
    "1e999",
    "= =",
)


def _strayed(text: str, other: str, rng: Random) -> str:
    for _ in range(rng.choice((1, 2, 5, 20))):
        at = _place(text, rng)
        text = text[:at] + rng.choice(STRAY) + text[at:]
    return text


DAMAGES: dict[str, Callable[[str, str, Random], str]] = {
    "cut": _cut,
    "doubled": _doubled,
    "reversed": _reversed,
    "spliced": _spliced,
    "stray signs": _strayed,
}


def damaged(text: str, other: str, rng: Random) -> tuple[str, str]:
    """A document damaged in one to three ways, and their names; `other` is spliced in."""
    ways = rng.choices(list(DAMAGES), k=rng.choice((1, 1, 2, 3)))
    for way in ways:
        text = DAMAGES[way](text, other, rng)
    return text, ", ".join(ways)
