"""What a page says of turned vectors (RoPE): the angle of each pair, which components are a pair, which way they turn,
and at which positions queries and keys stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.tables import frequencies, quarter_turn
from qkv.interpret.certified import Certified
from qkv.interpret.loop import evaluated
from qkv.library import around_said as said
from qkv.library.roles import mentions
from qkv.library.roles import places as places_of
from qkv.library.words import means, spoken
from qkv.reading.equation import Equation, Kind
from qkv.regex import regex

_ANGLES = frozenset({"theta", "vartheta", "omega", "phi", "varphi", "alpha"})
_DEGREES = r"{}\s*\$?(?:\^?\{{?\\?circ|°|º|deg|grad)"
_WAY = regex(r"cos(?:[^,;\n]|,(?=\d)){0,24}?(?P<sign>[-+−–])\s*\w+['′]?[\s*·⋅\\]*sin")
_PAIR = regex(r"\(\s*[a-z]?_?\{?([\d₀-₉])\}?\s*,\s*[a-z]?_?\{?([\d₀-₉])\}?\s*\)")
_AND = rf"\s*(?:,|;|&|{spoken('connective')}|、|と|和|与)\s*"
PLACE = regex(
    rf"(?:{spoken('place')}|@)\W{{0,3}}?(?:を\s*)?(?:no\.?\s*)?(?:[a-z]\s*=\s*)?[($]*(?P<numbers>\d{{1,5}}(?:(?:{_AND})+\d{{1,5}})*)(?![.\d]*\d|\s*[:：])"
    r"|(?<!\w)(?P<letter>[mn])\s*=\s*(?P<number>\d{1,5})(?![.,\d]*\d)",
    re.IGNORECASE,
)
_SENTENCE = regex(r"(?<=[^\d\s][.!?])\s+(?=[^\d\s])|(?<=[。！？])|\n\s*\n|\n(?=\s*(?:[-*•]|\(?\w{1,2}[.)])\s)")
_SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


@dataclass(frozen=True, slots=True)
class Turning:
    """How pairs of components are turned: `angles` are those of each pair for one position."""

    angles: tuple[n.Expr, ...]
    halves: bool = False
    back: bool = False
    degrees: bool = False

    @property
    def width(self) -> int:
        """The number of components."""
        return 2 * len(self.angles)

    @property
    def spread(self) -> n.Matrix:
        """The angle of every component, for one position."""
        columns = [j % len(self.angles) if self.halves else j // 2 for j in range(self.width)]
        return n.Matrix((tuple(self.angles[i] for i in columns),))

    @property
    def quarter(self) -> n.Matrix:
        """What turns every pair by 90 degrees."""
        return quarter_turn(self.width, self.halves)

    def of(self, vector: n.Expr, place: int, angles: n.Expr, quarter: n.Expr) -> n.Expr:
        """A row at a position: x ⊙ cos(p Θ) + x J ⊙ sin(p Θ), with names for Θ and J."""
        angle = n.Product(n.number(place), angles)
        cosine, sine = (n.Call(wave + "d" * self.degrees, (angle,)) for wave in ("cos", "sin"))
        across = n.Call("hadamard", (n.Product(vector, quarter), sine))
        return n.Sum((n.Call("hadamard", (vector, cosine)), n.Negate(across) if self.back else across))


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector that a page gives, and the positions at which words put it."""

    symbol: Symbol
    role: Role | None
    width: int
    column: bool
    line: int
    given: n.Expr
    places: tuple[int, ...] = ()

    @property
    def expr(self) -> n.Expr:
        """The vector as a row."""
        return n.Transpose(n.Name(self.symbol)) if self.column else n.Name(self.symbol)


def is_turned(words: str) -> bool:
    """Whether a page speaks of vectors that are turned by their positions."""
    return bool(said.ROPE.search(words) or (_WAY.search(words) and _TURNED.search(words)))


_TURNED = regex(spoken("turned"), re.IGNORECASE)


def turning_of(made: Sequence[Equation], words: str, width: int, lines: Sequence[str]) -> Turning | None:
    """How vectors of a width are turned; None where nothing says by which angles, and RoPE is not meant."""
    found = _stated_angles(made, width // 2)
    meant = said.ROPE_APPLIED.search(words) or (said.ROPE.search(words) and _TURNED.search(said.ROPE.sub(" ", words)))
    angles = found or (_usual(words, width) if meant else None)
    if angles is None:
        return None
    pairs = {tuple(int(x.translate(_SMALL)) for x in pair) for pair in _PAIR.findall(words)}
    half = width // 2
    apart = any(all((i + first, i + first + half) in pairs for i in range(half)) for first in (0, 1)) and half > 1
    way = _WAY.search(words)
    text = "\n".join(lines[e.line - 1] for e in made if _is_angle(e) and 0 < e.line <= len(lines))
    numbers = (item.text for e in made if _is_angle(e) for item in e.of(Kind.VALUE))
    degrees = any(re.search(_DEGREES.format(re.escape(number.strip("$ "))), text) for number in numbers if number)
    halves = apart or bool(re.search(spoken("halves"), words))
    return Turning(angles, halves, way is not None and way["sign"] == "+", degrees)


def _is_angle(equation: Equation) -> bool:
    return any(symbol.base in _ANGLES for symbol in equation.names)


def _stated_angles(made: Sequence[Equation], pairs: int) -> tuple[n.Expr, ...] | None:
    """The angle of each pair for one position, as the page gives it: θ_1 = 0.5, θ_i = 100^(−2i/d), θ = 0.1 position."""
    given = [e for e in made if _is_angle(e) and len(e.items) > 1 and not e.struck]
    numbered = {s for e in given for s in e.names if len(s.indices) == 1 and s.indices[0].isdecimal()}
    if len(numbered) == pairs:
        return tuple(n.Name(s) for s in sorted(numbered, key=lambda s: int(s.indices[0])))
    for equation in given:
        symbol = equation.names[0]
        for item in equation.of(Kind.FORMULA, Kind.WORKING):
            if symbol.indices and (made_of := _by_index(item.expr, symbol.indices[0], pairs)):
                return made_of
            if not symbol.indices and (one := _for_one_position(item.expr)) is not None:
                return (one,) * pairs
    plain = {item.expr for e in given if not e.names[0].indices for item in e.items[1:]}
    symbols = {e.names[0] for e in given if not e.names[0].indices}
    return (n.Name(symbols.pop()),) * pairs if len(plain) == len(symbols) == 1 else None


def _by_index(expr: n.Expr, index: str, pairs: int) -> tuple[n.Expr, ...] | None:
    """θ_i for each pair; the first of them turns by 1, whether i begins at 0 or at 1."""
    for first in (0, 1):
        put = [n.replaced(expr, n.Name(Symbol(index)), n.number(first + i)) for i in range(pairs)]
        sized = [n.replaced(x, n.Name(Symbol("d")), n.number(2 * pairs)) for x in put]
        value = evaluated(sized[0], {}, Certified()) if n.is_literal(sized[0]) else None
        if value is not None and value.shape == (1, 1) and value.exact and value.cell == 1:
            return tuple(sized)
    return None


def _for_one_position(expr: n.Expr) -> n.Expr | None:
    """0.1 of 0.1 · position."""
    counted = [x for x in n.names_in(expr) if means(str(x), "place") or str(x) in ("m", "p", "n")]
    one = n.replaced(expr, n.Name(counted[0]), n.number(1)) if len(counted) == 1 else expr
    return one if counted and isinstance(expr, n.Product) and n.is_literal(one) else None


def _usual(words: str, width: int) -> tuple[n.Expr, ...]:
    base = said.ROPE_BASE.search(words)
    return frequencies(width, n.number(int(base[1]) if base else 10000))


# — positions —


def vectors_of(made: Sequence[Equation]) -> list[Vector]:
    """The queries and keys that are given as single vectors, and others of which a turned one is printed."""
    names = {symbol for equation in made for symbol in equation.names}
    found: dict[Symbol, Vector] = {}
    for equation in made:
        value = equation.items[-1].expr
        shape = value.shape if isinstance(value, n.Matrix) and not value.is_ragged else (0, 0)
        if len(equation.items) != 2 or not equation.names or equation.items[-1].kind is not Kind.VALUE:
            continue
        symbol, width = equation.names[0], max(shape)
        role = next((place.role for place in places_of(symbol)), None)
        anew = any(is_version(name, symbol) for name in names)
        if (
            symbol not in found
            and 1 in shape
            and width > 1
            and not width % 2
            and not symbol.primes
            and not symbol.labels
        ) and (role in (Role.Q, Role.K) or anew):
            found[symbol] = Vector(
                symbol, role if role in (Role.Q, Role.K) else None, width, shape[1] == 1, equation.line, value
            )
    return list(found.values())


def is_version(name: Symbol, of: Symbol) -> bool:
    """Whether a name is another version of one: q' or q_rot of q."""
    return name.base == of.base and name.indices == of.indices and (name.primes, name.labels) != (of.primes, of.labels)


def sentences(text: str) -> list[str]:
    """A text cut where sentences and items of lists end."""
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


Put = dict[Symbol, tuple[int, ...]]


def placed(text: str, vectors: Sequence[Vector]) -> Put:
    """The positions that a sentence puts vectors at, by the order of its words: 'q at position 2 and k at position 5'.
    A position that stands before any vector is that of the next one, '位置 2 の q'; without one, that of all."""
    found: Put = {}
    known = {v.symbol: v.role for v in vectors}
    waiting: list[Symbol] = []
    held: tuple[int, ...] = ()
    for who, numbers in spots(text, vectors):
        if who:
            if held:
                found |= dict.fromkeys(who, held)
                held, waiting = (), []
            else:
                same = waiting and {known[s] for s in waiting} == {known[s] for s in who}
                waiting = [s for s in who if s in waiting] or who if same else [*waiting, *who]
        elif not waiting:
            held = numbers
        else:
            found |= _shared(waiting, numbers)
            waiting = []
    if held and not found:
        found = _shared([v.symbol for v in vectors], held)
    return found


def _shared(who: Sequence[Symbol], numbers: tuple[int, ...]) -> Put:
    """Several positions for as many vectors are one for each; else every vector stands at all of them."""
    if len(who) == len(numbers) > 1:
        return {symbol: (number,) for symbol, number in zip(who, numbers, strict=True)}
    return dict.fromkeys(who, numbers)


def spots(text: str, vectors: Sequence[Vector]) -> Iterator[tuple[list[Symbol], tuple[int, ...]]]:
    """Where a text speaks of vectors or of positions, in order."""
    low = text.lower()
    at: list[tuple[int, list[Symbol], tuple[int, ...]]] = []
    for start, _, role in mentions(text):
        who = [v.symbol for v in vectors if v.role is role]
        if who:
            at.append((start, who, ()))
    for vector in vectors:
        at += [(found.start(), [vector.symbol], ()) for found in called(vector.symbol).finditer(text)]
    for found in PLACE.finditer(low):
        numbers = tuple(map(int, re.findall(r"\d+", found["numbers"] or found["number"])))
        roles = {"m": Role.Q, "n": Role.K}
        if found["letter"]:
            at.append((found.start(), [v.symbol for v in vectors if v.role is roles[found["letter"]]], ()))
        at.append((found.start() + 1, [], numbers))
    yield from ((who, numbers) for _, who, numbers in sorted(at, key=lambda spot: spot[0]) if who or numbers)


def called(symbol: Symbol) -> re.Pattern[str]:
    """A name as it stands in a text: k_0, k0, k₀."""
    indices = "".join(rf"[_{{]*(?:{i}|{chr(0x2080 + int(i[0]))})\}}?" for i in symbol.indices if i.isdecimal())
    return re.compile(rf"(?<![A-Za-z\\_]){re.escape(symbol.base)}{indices}(?![A-Za-z\d_₀-₉])")


def with_places(vectors: Sequence[Vector], text: str) -> list[Vector]:
    """The vectors at the positions that the sentences of a page put them at. Positions that are only listed are those
    of the keys, if there are as many of them, or of the vectors with these numbers."""
    found: Put = {}
    listed: list[tuple[int, ...]] = []
    for sentence in sentences(text):
        here = list(spots(sentence, vectors))
        for symbol, numbers in placed(sentence, vectors).items() if any(who for who, _ in here) else ():
            found.setdefault(symbol, numbers)
        listed += [numbers for _, numbers in here if numbers]
    keys = [v.symbol for v in vectors if v.role is Role.K]
    zipped = next((numbers for numbers in listed if len(numbers) == len(keys) > 1), ())
    found = dict(zip(keys, ((place,) for place in zipped), strict=False)) | found
    known = {number for numbers in listed for number in numbers}
    for vector in vectors:
        index = vector.symbol.indices[-1:] if vector.role is None else ()
        if index and index[0].isdecimal() and int(index[0]) in known:
            found.setdefault(vector.symbol, (int(index[0]),))
    return [replace(v, places=found.get(v.symbol, ())) for v in vectors]
