"""What the name of a parameter says of its role. Names decide only what numbers cannot: which of three is which."""

from __future__ import annotations

import re

from qkv.regex import regex

# A word of a parameter's name → what it projects to.
WORDS = {
    "q": regex(r"(w|to|b)?q(w|b|proj|uery|ueries)?"),
    "k": regex(r"(w|to|b)?k(w|b|proj|eys?)?"),
    "v": regex(r"(w|to|b)?v(w|b|proj|alues?)?"),
    "o": regex(r"(w|to|b)?o(w|b|ut|utput|proj|utproj)?|c?proj|dense|fc"),
}

KINDS = {"w", "b", "weight", "weights", "bias", "biases", "kernel"}


def role_named(name: str) -> str | None:
    """What a parameter projects to, as far as its name says so; the last word that says anything counts.

    >>> role_named("layers.0.self_attn.k_proj.weight"), role_named("W_Q"), role_named("heads.3.value.bias")
    ('k', 'q', 'v')
    """
    for word in reversed(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)):
        for role in "qkvo":
            if WORDS[role].fullmatch(word.lower()) and word != "proj":
                return role
    return "o" if "proj" in name and "in_proj" not in name else None


def stem_of(name: str) -> str:
    """A parameter's name without what tells a matrix from its bias.

    >>> stem_of("c_attn.weight") == stem_of("c_attn.bias"), stem_of("W_Q") == stem_of("b_q")
    (True, True)
    """
    words = re.findall(r"[A-Za-z]+|\d+", name.lower())
    return ".".join(re.sub(r"^[wb](?=[qkvo]$)", "", word) for word in words if word not in KINDS)
