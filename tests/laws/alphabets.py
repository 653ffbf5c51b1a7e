"""Names that authors give: from which alphabets they are drawn, and which of them read alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from qkv.expr.names import Symbol
from qkv.practice.pen import Key, Names
from qkv.reader.maths.signs import GREEK

# No T (a transpose), I (the identity), D (sizes are called d_k), E (Euler's e), no Σ, Π, π, σ, ε: they say something.
ALPHABETS: dict[str, tuple[str, ...]] = {
    "letters": tuple("ABCFGHJKLMNPQRSUVWXYZ"),
    "greek": (
        *("alpha", "beta", "gamma", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "rho", "tau", "phi", "chi"),
        *("psi", "omega", "Delta"),
    ),
    "greek signs": tuple("ΓΘΛΞΦΨΩαβγηκμρτ"),
    "cyrillic": tuple("БГДЖЗЛПФЦЧШЭЮЯ"),
    "chinese": tuple("甲乙丙丁戊己庚辛壬癸子丑寅卯"),
    "words": (
        *("gold", "river", "amber", "stone", "moss", "pine", "copper", "cloud", "flint", "maple", "harbour", "lantern"),
        *("Gravel", "Meadow", "Saffron", "Willow", "Cedar", "Falcon", "Marble", "Orchid", "Pebble", "Walnut"),
    ),
}


LOOK_ALIKE = {"Г": "Γ", "Ф": "Φ", "Л": "Λ"}  # Cyrillic, Greek


# A name is drawn from the first alphabet, or from the next one where the first has run out.
MIXED: tuple[str, ...] = tuple(dict.fromkeys(name for names in ALPHABETS.values() for name in names))


def pool(alphabet: str, rng: Random) -> list[str]:
    """The names of an alphabet in random order, and names of all others after them; 'mixed' is all of them. Of those
    that read alike, as α and alpha do, only the first is there."""
    first = list(ALPHABETS.get(alphabet, MIXED))
    rest = [name for name in MIXED if name not in first]
    drawn = rng.sample(first, len(first)) + rng.sample(rest, len(rest))
    kept: dict[str, str] = {}
    for name in drawn:
        kept.setdefault(_read(name), name)
    return list(kept.values())


def _read(name: str) -> str:
    """How a name is read: Г looks like Γ, and Γ is Gamma, which as a small letter is gamma."""
    sign = LOOK_ALIKE.get(name, name)
    return GREEK.get(sign, sign).casefold()


def drawn(symbols: Iterable[Symbol], parts: Mapping[str, Symbol], alphabet: str, rng: Random) -> Names:
    """New names for symbols. `parts` are the small letters of rows and cells, each with the symbol it is a part of:
    where Q becomes G, q_1 becomes g_1. Small letters stay small, so a name is taken only once in either case."""
    bases: dict[Key, str] = {}
    free = pool(alphabet, rng)
    for symbol in symbols:
        key = (symbol.base, symbol.labels)
        if key not in bases:
            name = free.pop(0)
            free = [other for other in free if other.casefold() != name.casefold()]
            bases[key] = name.lower() if symbol.base.islower() and len(name) == 1 else name
    for letter, whole in parts.items():
        if (whole.base, whole.labels) in bases:
            bases.setdefault((letter, ()), bases[whole.base, whole.labels].lower())
    return Names(bases)
