"""What a page itself says, as seen from a place on it: definitions in reach, arrays by words, functions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.library.defined import Defined
from qkv.library.words import pattern
from qkv.reading.activations import shown_activations
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Equation, Kind
from qkv.reading.nameless import NAMELESS
from qkv.reading.page import Page, Spot, found_once

EPSILON = frozenset(("epsilon", "varepsilon", "eps", "ε"))
_BESIDE = 40  # characters before a vector that say what it is


def visible(definitions: tuple[Definition, ...], spot: Spot) -> list[Definition]:
    """The last one above, then those below in the same problem, then those of problems before."""
    here = [d for d in definitions if d.scope == spot.scope]
    above = sorted((d for d in here if d.line <= spot.line), key=lambda d: -d.line)
    below = [d for d in here if d.line > spot.line]
    before = sorted((d for d in definitions if d.scope < spot.scope), key=lambda d: (-d.scope, -d.line))
    return [*above, *below, *before]


def wholes(page: Page, symbol: Symbol) -> list[tuple[Symbol, tuple[str, ...]]]:
    """What a name with indices may be a part of, with the indices that tell which: z_1 of z, lambda_1 of Lambda."""
    base = symbol.base.upper() if len(symbol.base) == 1 else symbol.base
    large = dict.fromkeys((symbol.base, base, base[:1].upper() + base[1:]))
    cuts = dict.fromkeys((symbol.indices[:-1], ())) if symbol.indices else ()
    named = (symbol._replace(base=b, indices=cut) for b in large for cut in cuts)
    return [(w, symbol.indices[len(w.indices) :]) for w in named if w != symbol and w in page.definitions]


def is_part_of_above(page: Page, parts: list[tuple[Symbol, tuple[str, ...]]], spot: Spot) -> bool:
    """Whether one of the wholes that a name may be a part of is defined above a spot, in the same problem."""
    found = (d for whole, _ in parts for d in page.definitions[whole])
    return any(d.scope == spot.scope and d.line <= spot.line for d in found)


def called_in_words(page: Page, symbol: Symbol, spot: Spot) -> Iterator[Symbol]:
    """The array without a name that the words above it call so: 'Decoder rows:', then 'H = decoder + Z'."""
    word = symbol.base.lower()
    if len(word) < 4 or symbol in page.definitions:
        return
    for equation in reversed(page.equations):
        array = Symbol(NAMELESS, (), (str(equation.index),))
        if equation.line < spot.line and word in equation.words.lower() and array in page.definitions:
            yield array


def line_called(page: Page, symbol: Symbol, spot: Spot) -> Iterator[tuple[Symbol, int]]:
    """The line that a label calls so, where one printed array alone has such a line: the cats of 'dog · cats = 2', the
    k_1 of 'q · k_1' below 'k1: 1 0 1'."""
    word = _plainly("".join((symbol.base, *symbol.indices, *symbol.labels)))
    if len(word) < 2 or symbol in page.definitions:
        return
    held = [
        (equation.names[0] if equation.names else Symbol(NAMELESS, (), (str(equation.index),)), rows.index(word) + 1)
        for equation in page.equations
        if word in (rows := list(map(_plainly, equation.rows))) and equation.scope <= spot.scope
    ]
    if len(held) == 1 and held[0][0] in page.definitions:
        yield held[0]


def _plainly(label: str) -> str:
    """A label without marks: k₁, $k_1$ and K1 are all k1."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", label)).lower()


@found_once
def negligible(page: Page) -> frozenset[Symbol]:
    """The ε that only keeps roots from being zero, where nobody says how small it is: √(var(x) + ε)."""
    exprs = (item.expr for equation in page.equations for item in equation.items)
    roots = (part.arg for expr in exprs if n.holds(expr, n.Root) for part in n.walk(expr) if isinstance(part, n.Root))
    added = {x.symbol for of in roots if isinstance(of, n.Sum) for x in of.terms if isinstance(x, n.Name)}
    return frozenset(s for s in added if s.base in EPSILON and s not in page.definitions)


@found_once
def functions_of(page: Page) -> dict[str, tuple[Defined, ...]]:
    """The functions that the page defines, FFN(x) = relu(x W_1) W_2, or whose values show what they are."""
    found: dict[str, tuple[Defined, ...]] = {}
    for equation in page.equations:
        if (told := function_in(equation)) is not None:
            found[told[0]] = (*found.get(told[0], ()), told[1])
    return {function: (shown,) for function, shown in shown_activations(page)} | found


@found_once
def gains_of(page: Page) -> dict[Symbol, Symbol]:
    """What the page calls the γ and β of a norm, where its words say that a vector is the gain: 'gain g = (1, 2)'."""
    found: dict[Symbol, Symbol] = {}
    for greek, concept in (("gamma", "gain"), ("beta", "shift")):
        said = re.compile(rf"(?<![^\W\d_])(?:{pattern(concept)})(?![^\W\d_])", re.IGNORECASE)
        for symbol, (first, *_) in page.definitions.items():
            equation = page.equations[first.equation]
            told = said.search(f"{equation.words} {equation.label}"[-_BESIDE:])
            if (
                told
                and first.source is Source.GIVEN
                and isinstance(first.expr, n.Matrix)
                and min(first.expr.shape) == 1
            ):
                found.setdefault(Symbol(greek), symbol)
    return found if Symbol("gamma") in found and Symbol("gamma") not in page.definitions else {}


def function_in(equation: Equation) -> tuple[str, Defined] | None:
    """The function that an equation defines, with its name."""
    sides = [item.expr for item in equation.of(Kind.FORMULA)]
    call = sides[0] if sides and isinstance(sides[0], n.Call) and sides[0].function not in BY_KEY else None
    if call is None or len(sides) < 2 or not all(isinstance(arg, n.Name) for arg in call.args):
        return None
    parameters = tuple(arg.symbol for arg in call.args if isinstance(arg, n.Name))
    if not set(parameters) <= set(n.names_in(sides[-1])):
        return None  # logit(A) = h_1 w_1 speaks of one case
    return call.function, Defined(parameters, sides[-1])


def comes_back(page: Page, symbol: Symbol, definition: Definition, scope: int) -> bool:
    """Whether a problem goes on from what an earlier one worked out: Q = Z W_Q, where Z = A V stands above."""
    own = (d for s in n.names_in(definition.expr) for d in page.definitions.get(s, ()) if d.scope == scope)
    return any(symbol in n.names_in(d.expr) for d in own if d.source is Source.STATED)
