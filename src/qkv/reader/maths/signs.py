"""What is known about notation, as tables: a new spelling is a new row. No letter and no word has a meaning here."""

from __future__ import annotations

from typing import Final

from qkv.reader.model import Relation
from qkv.regex import regex


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Characters that stand for another one, one for one, so that offsets stay right.
SAME: Final = {
    "−": "-", "‒": "-", "﹣": "-", "⋅": "·", "∙": "·", "•": "·", "‧": "·", "・": "·", "∗": "*", "✕": "×", "✖": "×", "⨯": "×",
    "⨉": "×", "∕": "/", "⁄": "/", "，": ",", "、": ",", "；": ";", "：": ":", "。": ".", "．": ".", "（": "(", "）": ")", "［": "[",
    "］": "]", "｛": "{", "｝": "}", "＝": "=", "＋": "+", "－": "-", "＊": "*", "／": "/", "＾": "^", "＿": "_", "｜": "|",
    "【": "[", "】": "]", "〈": "⟨", "〉": "⟩", "′": "'", "ʹ": "'", "∣": "|", "∥": "‖", "‾": "-", "\u00a0": " ", "\u2002": " ",
    "\u2003": " ", "\u2009": " ", "\u3000": " ", "\u200b": " ", "\ufeff": " ", "µ": "μ", "∑": "Σ", "ϕ": "φ",
    "ϵ": "ε", "∆": "Δ", "⊺": "ᵀ", "⊤": "ᵀ", "ᐪ": "ᵀ", "٫": ".", "≃": "≈", "≅": "≈", "≐": "≈", "≒": "≈", "∼": "≈", "⟹": "⇒",
    "⟺": "⇒", "⇔": "⇒", "⟶": "→", "↦": "→", "➔": "→", "➜": "→", "∅": "∅", "Ø": "∅", "ø": "∅",
}  # fmt: skip
_DIGIT_BLOCKS: Final = (0xFF10, 0x0660, 0x06F0, 0x0966)  # full width, Arabic-Indic, Persian, Devanagari
DIGITS: Final[dict[int, str]] = {first + digit: str(digit) for first in _DIGIT_BLOCKS for digit in range(10)}

SCRIPT: Final = regex(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")  # kana, Chinese, Hangul

SUBSCRIPTS: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-()aehijklmnoprstuvx", strict=True))
SUPERSCRIPTS: Final = dict(
    zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱᵀᵏᵛᴷⱽᴼᵒᵗʰˣᵠᑫ", "0123456789+-()niTkvKVOothxQq", strict=True)
)  # fmt: skip

GREEK: Final = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta",
    "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "∅": "emptyset",
    "∂": "del", "ℓ": "ell", "ℝ": "R", "ℕ": "N", "ℤ": "Z",
}  # fmt: skip
# Commands that are a name of their own; the value is the letter, so that \mu and μ are read alike.
NAME_COMMANDS: Final = {name: letter for letter, name in GREEK.items() if letter.isalpha() and len(name) > 1} | {
    "varepsilon": "ε", "vartheta": "θ", "varphi": "φ", "varrho": "ρ", "varsigma": "σ", "omicron": "o", "R": "R", "N": "N",
    "Z": "Z", "emptyset": "emptyset", "varnothing": "emptyset", "O": "emptyset", "o": "emptyset", "hbar": "h", "imath": "i", "jmath": "j", "Upsilon": "Upsilon",
    "top": "T", "intercal": "T", "partial": "partial", "nabla": "nabla",
}  # fmt: skip
DOTS: Final = _words("ldots cdots vdots ddots dotsc dotsb hdots dots iddots")

# Relations, by command and by sign.
RELATIONS: Final = {
    **dict.fromkeys(("=", ":=", "==", "=:", "≜", "≔", "coloneqq", "triangleq", "eqqcolon", "leftarrow", "gets"), Relation.EQUAL),
    **dict.fromkeys(("≡", "equiv"), "≡"),  # it ties equations where those have signs of their own
    **dict.fromkeys(("≈", "~=", "~", "approx", "simeq", "cong", "doteq", "approxeq", "fallingdotseq"), Relation.APPROX),
    **dict.fromkeys(("⇒", "=>", "Rightarrow", "implies", "Longrightarrow", "iff", "Leftrightarrow"), Relation.IMPLIES),
    **dict.fromkeys(("→", "->", "-->", "to", "rightarrow", "longrightarrow", "mapsto", "xrightarrow", "leadsto", "hookrightarrow"), Relation.ARROW),
    **dict.fromkeys(("∈", "in", "sim"), Relation.IN),
}  # fmt: skip
# Comparisons are kept as a function of two sides: they claim no value.
COMPARISONS: Final = {
    "<": "<", ">": ">", "≤": "≤", "≥": "≥", "≠": "≠", "≪": "<", "≫": ">", "∝": "∝", "lt": "<", "gt": ">", "le": "≤",
    "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "ne": "≠", "neq": "≠", "ll": "<", "gg": ">",
    "propto": "∝", "subset": "⊂", "subseteq": "⊆", "notin": "∉", "<=": "≤", ">=": "≥",
}  # fmt: skip
# Signs that multiply, divide or join, and the one sign that the grammar knows them by.
OPERATORS: Final = {
    "+": "+", "-": "-", "×": "×", "·": "·", "*": "*", "@": "·", "/": "/", "÷": "/", "±": "±", "⊙": "⊙", "∘": "⊙", "⊗": "⊗",
    "⊕": "⊕", "times": "×", "cdot": "·", "ast": "*", "bullet": "·", "star": "·", "horzbar": "-", "textemdash": "-",
    "textendash": "-", "div": "/", "slash": "/", "pm": "±", "mp": "±", "odot": "⊙", "circ": "⊙", "otimes": "⊗", "oplus": "⊕",
}  # fmt: skip

# Commands that only change how their argument looks.
FONTS: Final = _words(
    "mathbf mathit mathsf mathtt mathcal mathfrak mathscr mathnormal boldsymbol bm pmb bold vec overline underline dot "
    "ddot acute check breve ensuremath mathop mathbin mathrel mathord mathring overrightarrow overleftarrow symbf "
    "symbfit emph boxed fbox mathstrut"
)
# Upright words: several letters are one name. Accents tell a quantity from the one without: \tilde s is not s.
UPRIGHT: Final = _words("text textrm textbf textit textsf textnormal mathrm operatorname mbox hbox intertext mathsf")
ACCENTS: Final = _words("hat tilde bar widehat widetilde")
HATS: Final = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar"}  # behind a letter: x̂
STRIKES: Final = _words("cancel bcancel xcancel sout st cancelto")
FRACTIONS: Final = _words("frac dfrac tfrac cfrac nicefrac sfrac flatfrac")
COMMANDS: Final = {
    **dict.fromkeys(FRACTIONS, "frac"), **dict.fromkeys(STRIKES, "cancel"), "sqrt": "sqrt", "surd": "sqrt", "sum": "sum",
    "binom": "binom", "dbinom": "binom", "tbinom": "binom", "over": "over", "substack": "group",
    "overset": "second", "underset": "second", "stackrel": "second", "textcolor": "second", "colorbox": "second",
    "underbrace": "first", "overbrace": "first",
}  # fmt: skip
# Commands without meaning here; the second table drops a braced argument too.
NOISE: Final = _words(
    "displaystyle textstyle scriptstyle limits nolimits nonumber notag hfill hfil centering noindent hline par smallskip "
    "medskip bigskip therefore because big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm "
    "middle allowbreak nobreak protect relax strut null uparrow downarrow Uparrow Downarrow searrow swarrow nearrow "
    "nwarrow not blacksquare square qed qedhere bf rm it sf tt large Large small tiny normalsize footnotesize scriptsize "
    "thinspace negthinspace medspace thickspace negmedspace negthickspace enspace forall exists left right item"
)
TIGHT: Final = _words(  # they leave no gap: \\max\\bigl(0, x\\bigr)
    "limits nolimits big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr negthinspace negmedspace negthickspace"
)
NOISE_WITH_ARGUMENT: Final = _words(
    "label tag textcircled circled hspace vspace phantom hphantom vphantom color cline cmidrule ref eqref footnote "
    "raisebox setlength arraystretch"
)
WIDE: Final = _words("quad qquad hskip")
ROW_ENDS: Final = _words("cr newline tabularnewline")
# Environments whose rows are statements; every other one is a grid.
STATEMENTS: Final = _words(
    "align aligned alignat alignedat gather gathered equation split multline eqnarray flalign displaymath math "
    "subequations dmath center"
)
OPENERS: Final = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "⟦": "⟧"}
DELIMITERS: Final = {
    "lbrace": "⟦", "rbrace": "⟧", "lbrack": "[", "rbrack": "]", "langle": "⟨", "rangle": "⟩", "lparen": "(", "rparen": ")",
    "vert": "|", "lvert": "|", "rvert": "|", "Vert": "‖", "lVert": "‖", "rVert": "‖", "|": "‖", "mid": "|", "lfloor": "(",
    "rfloor": ")", "lceil": "(", "rceil": ")", "{": "⟦", "}": "⟧", "parallel": "‖",
}  # fmt: skip
# Pieces of tall brackets, as drawings and PDF files have them.
LEFT_PIECES: Final = "⎡⎢⎣⎛⎜⎝⌈⌊"
RIGHT_PIECES: Final = "⎤⎥⎦⎞⎟⎠⌉⌋"
TRANSPOSES: Final = _words("T top intercal tr Tr transp transpose ⊤ ᵀ")
TICKS: Final = "✓✔✗✘☑☒✅❌"
