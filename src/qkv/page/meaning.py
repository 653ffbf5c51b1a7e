"""What each quantity of a page is taken for, how that is known, and what else it could be, to be corrected by clicking.

A choice is a line in the notation that is always understood. The page's script writes it into the source as a comment,
so the correction stays with the document and holds on the command line too.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from qkv.interpret.fit import say
from qkv.library.attention import LETTERS
from qkv.library.roles import SAID
from qkv.reader.told import Told, told_in
from qkv.render.understood import chosen, known, role
from qkv.solving.understood import Problem, Quantity, Understood

LETTER = {place: letter for letter, place in LETTERS.items()}
OFFERED = tuple(place for place, words in SAID.items() if words and place in LETTER)  # in the order of a computation
COMMENTS = {"tex": ("% qkv: ", ""), "txt": ("# qkv: ", "")}  # how a line is told in a file of that kind
COMMENT = ("<!-- qkv: ", " -->")


def cards(found: Understood, text: str, file: str) -> str:
    """Every quantity of a document as a card, in the order of the page; above them what its author has told already."""
    ending = file.rpartition(".")[2].lower()
    before, after = COMMENTS.get(ending, COMMENT)
    head = "<h1>How this was understood</h1>"
    if ending == "ipynb":
        head += '<p class="soft">To correct a notebook, write a cell with the line <code># qkv: K = @4</code>.</p>'
    body = "".join(_problem(problem, found) for problem in found.problems)
    said = "".join(map(_told, told_in(text)[0]))
    told = f'<h3>What you said</h3><ul class="told">{said}</ul>' if said else ""
    unread = "".join(
        f'<li data-line="{item.line}">line {item.line}: <code>{escape(item.text[:120])}</code> '
        f'<span class="soft">{escape(item.reason)}</span></li>'
        for item in found.sheet.unread
    )
    left = f"<h3>Not read</h3><ul>{unread}</ul>" if unread else ""
    nothing = "" if body else '<p class="soft">No quantity was found on this page.</p>'
    return f'<div data-before="{escape(before)}" data-after="{escape(after)}">{head}{told}{body}{nothing}{left}</div>'


def _told(told: Told) -> str:
    line = f"ask {told.text}" if told.asks else told.text
    return (
        f'<li data-line="{told.line}"><code>{escape(line)}</code> '
        f'<button type="button" data-untell="{told.line}">Take back</button></li>'
    )


def _problem(problem: Problem, found: Understood) -> str:
    title = " ".join(problem.program.title.split()) or problem.program.kind.capitalize()
    said = chosen(problem, found)
    notes = f'<p class="soft">{escape(said[0].upper() + said[1:])}.</p>' if said else ""
    return f"<h2>{escape(title)}</h2>{notes}" + "".join(map(_card, problem.quantities))


def _card(quantity: Quantity) -> str:
    line = f' data-line="{quantity.line}"' if quantity.line else ""
    where = [say(quantity.shape)] if quantity.shape else []
    where += [f"line {quantity.line}"] if quantity.line else ["worked out"]
    name = "a value without a name" if quantity.name.startswith("@") else quantity.name
    taken = role(quantity.place)
    doubt = " doubtful" if quantity.known == "unread" or quantity.rivals else ""
    return (
        f'<article class="meaning{doubt}"{line}><h4>{escape(name)} <span class="soft">{escape(", ".join(where))}'
        f"</span></h4><p>{f'<b>{escape(taken)}</b>: ' if taken else ''}{escape(known(quantity))}</p>"
        f"{_choices(quantity) if quantity.line else ''}</article>"
    )


def _choices(quantity: Quantity) -> str:
    """What it could be instead: a button for what competes, a list of all roles, and a field for anything else."""
    called = f"what stands in line {quantity.line}" if quantity.name.startswith("@") else quantity.name
    this = f"@{quantity.line}" if quantity.name.startswith("@") or " " in quantity.name else quantity.name
    buttons = "".join(
        f'<button type="button" data-tell="{escape(line)}">{escape(says)}</button>'
        for says, line in _rivals(quantity, this)
    )
    options = "".join(
        f'<option value="{escape(f"{LETTER[place]} = {this}")}">the {escape(SAID[place])}</option>' for place in OFFERED
    )
    return (
        f'<div class="choices">{f"<span>or is it</span>{buttons}" if buttons else ""}'
        f'<label>It is <select data-tells aria-label="{escape(called)} is"><option value="">…</option>{options}'
        "</select></label>"
        f'<label>or <input data-tells placeholder="{escape(this)} = …" size="18" '
        f'aria-label="Say what {escape(called)} is"></label>'
        "</div>"
    )


def _rivals(quantity: Quantity, this: str) -> Iterator[tuple[str, str]]:
    """What competes, in words, and the line that says so."""
    by_words = {f"the {words}": LETTER[place] for place, words in SAID.items() if place in LETTER}
    for rival in quantity.rivals:
        if rival in by_words:
            yield rival, f"{by_words[rival]} = {this}"
        elif not this.startswith("@"):
            yield rival, f"{this} = {rival}"
