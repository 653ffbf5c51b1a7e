"""What is known about notation, as tables: a new spelling is a new row.

The lexer and the grammar hold no command, character or word of their own beyond the punctuation of mathematics.
"""

from __future__ import annotations

from typing import Final

from qkv.sheet.model import Relation


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Characters that stand for another one, one for one, so that offsets stay right.
_SAME: Final = {
    "−": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "﹣": "-", "⋅": "·", "∙": "·", "•": "·", "‧": "·", "・": "·",
    "∗": "*", "✕": "×", "✖": "×", "⨯": "×", "⨉": "×", "∕": "/", "⁄": "/", "，": ",", "、": ",", "；": ";", "：": ":",
    "。": ".", "．": ".", "（": "(", "）": ")", "［": "[", "］": "]", "｛": "{", "｝": "}",
    "＝": "=", "＋": "+", "－": "-",
    "＊": "*", "／": "/", "＾": "^", "＿": "_", "｜": "|", "【": "[", "】": "]",
    "〈": "⟨", "〉": "⟩", "’": "'", "′": "'",
    "ʹ": "'", "∣": "|", "│": "|", "∥": "‖", "‾": "-", "\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ",
    "\u202f": " ", "\u3000": " ", "\u200b": " ", "\ufeff": " ", "µ": "μ", "∑": "Σ", "ϕ": "φ", "ϵ": "ε", "Ω": "Ω",
    "∆": "Δ", "⊺": "ᵀ", "⊤": "ᵀ", "ᐪ": "ᵀ", "٫": ".", "≃": "≈", "≅": "≈", "≐": "≈", "≒": "≈", "∼": "≈", "⟹": "⇒",
    "⟺": "⇒", "⇔": "⇒", "⟶": "→", "↦": "→", "➔": "→", "➜": "→",
}  # fmt: skip
_DIGIT_BLOCKS: Final = (0xFF10, 0x0660, 0x06F0, 0x0966)  # full width, Arabic-Indic, Persian, Devanagari
SAME_CHARACTER: Final[dict[int, str]] = {ord(a): b for a, b in _SAME.items()} | {
    first + digit: str(digit) for first in _DIGIT_BLOCKS for digit in range(10)
}

# The same for a whole document, before it is known what is mathematics: signs of full width, and the pieces of brackets
# that PDF files keep in the private area of Unicode.
EVERYWHERE: Final[dict[str, str]] = {c: _SAME[c] for c in "＝＋－＊／"} | {
    **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
    **{chr(0xF8EB + i): c for i, c in enumerate("⎛⎜⎝⎡⎢⎣⎧⎨⎩")},
    **{chr(0xF8F6 + i): c for i, c in enumerate("⎞⎟⎠⎤⎥⎦⎫⎬⎭")},
}

SUBSCRIPTS: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-()aehijklmnoprstuvx", strict=True))
SUPERSCRIPTS: Final = dict(
    zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱᵀᵏᵛᴷⱽᴼᵒᵗʰˣ", "0123456789+-()niTkvKVOothx", strict=True)
)  # fmt: skip

GREEK: Final = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta",
    "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "∅": "emptyset",
    "Ø": "emptyset", "ø": "emptyset", "ℓ": "ell", "ℝ": "R", "ℕ": "N", "ℤ": "Z", "𝔼": "E", "…": "dots", "⋯": "dots",
    "⋮": "dots", "⋱": "dots",
}  # fmt: skip

# Commands that are a name of their own; the value is the base of the symbol.
NAME_COMMANDS: Final = {name: name for name in GREEK.values()} | {
    "varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho", "varsigma": "sigma",
    "varnothing": "emptyset", "O": "emptyset", "o": "emptyset", "ell": "ell", "hbar": "h", "imath": "i",
    "jmath": "j", "ldots": "dots", "cdots": "dots", "vdots": "dots", "ddots": "dots", "dotsc": "dots",
    "dotsb": "dots", "hdots": "dots", "Upsilon": "Upsilon", "top": "T", "intercal": "T",
}  # fmt: skip

# Relations, by command and by sign.
RELATIONS: Final = {
    "=": Relation.EQUAL, ":=": Relation.EQUAL, "==": Relation.EQUAL, "=:": Relation.EQUAL, "≡": Relation.EQUAL,
    "≜": Relation.EQUAL, "≔": Relation.EQUAL, "equiv": Relation.EQUAL, "coloneqq": Relation.EQUAL,
    "triangleq": Relation.EQUAL, "eqqcolon": Relation.EQUAL, "leftarrow": Relation.EQUAL, "gets": Relation.EQUAL,
    "←": Relation.EQUAL, "<-": Relation.EQUAL,
    "≈": Relation.APPROX, "~=": Relation.APPROX, "approx": Relation.APPROX, "simeq": Relation.APPROX,
    "cong": Relation.APPROX, "doteq": Relation.APPROX, "approxeq": Relation.APPROX, "fallingdotseq": Relation.APPROX,
    "⇒": Relation.IMPLIES, "=>": Relation.IMPLIES, "Rightarrow": Relation.IMPLIES, "implies": Relation.IMPLIES,
    "Longrightarrow": Relation.IMPLIES, "iff": Relation.IMPLIES, "Leftrightarrow": Relation.IMPLIES,
    "→": Relation.ARROW, "->": Relation.ARROW, "to": Relation.ARROW, "rightarrow": Relation.ARROW,
    "longrightarrow": Relation.ARROW, "mapsto": Relation.ARROW, "xrightarrow": Relation.ARROW,
    "leadsto": Relation.ARROW, "hookrightarrow": Relation.ARROW,
    "∈": Relation.IN, "in": Relation.IN, "sim": Relation.IN,
}  # fmt: skip

# Comparisons are kept as a function of two sides: no claim about a value is made by them.
COMPARISONS: Final = {
    "<": "<", ">": ">", "≤": "≤", "≥": "≥", "≠": "≠", "≪": "<", "≫": ">", "∝": "∝", "lt": "<", "gt": ">", "le": "≤",
    "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "ne": "≠", "neq": "≠", "ll": "<", "gg": ">",
    "propto": "∝", "subset": "⊂", "subseteq": "⊆", "notin": "∉",
}  # fmt: skip

# Signs that multiply, divide or join, and the one letter that the grammar knows them by.
OPERATORS: Final = {
    "+": "+", "-": "-", "×": "×", "·": "×", "*": "×", "@": "×", "/": "/", "÷": "/", "±": "±", "⊙": "⊙", "∘": "⊙",
    "⊗": "⊗", "⊕": "⊕", "times": "×", "cdot": "×", "ast": "×", "bullet": "×", "star": "×",
    "horzbar": "-", "textemdash": "-", "textendash": "-", "div": "/", "slash": "/",
    "pm": "±", "mp": "±", "odot": "⊙", "circ": "⊙", "otimes": "⊗", "oplus": "⊕",
}  # fmt: skip

FONTS: Final = _words(
    "mathbf mathit mathsf mathtt mathcal mathfrak mathbb mathscr mathnormal boldsymbol bm pmb bold vec hat tilde "
    "bar widehat widetilde overline underline dot ddot acute check breve boxed fbox ensuremath mathop mathbin "
    "mathrel mathord mathring overrightarrow overleftarrow symbf symbfit emph"
)
STRIKES: Final = _words("cancel bcancel xcancel sout st cancelto")
ROOTS: Final = frozenset(("sqrt", "√", "surd"))
FRACTIONS: Final = _words("frac dfrac tfrac cfrac nicefrac sfrac flatfrac")
COLUMNS: Final = _words("binom dbinom tbinom")
SUMS: Final = frozenset(("sum", "Σ"))
# The wanted argument of commands that put something above or below something else.
STACKED: Final = {
    "overset": 1,
    "underset": 1,
    "stackrel": 1,
    "textcolor": 1,
    "colorbox": 1,
    "underbrace": 0,
    "overbrace": 0,
}

# Commands without meaning here; the second table drops a braced argument too.
NOISE: Final = _words(
    "displaystyle textstyle scriptstyle limits nolimits nonumber notag hfill hfil checkmark centering noindent "
    "hline par smallskip medskip bigskip therefore because big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr "
    "Biggr bigm Bigm biggm middle allowbreak nobreak protect relax strut mathstrut null uparrow downarrow Uparrow "
    "Downarrow searrow swarrow nearrow nwarrow not blacksquare square qed qedhere bf rm it sf tt large Large small "
    "tiny normalsize footnotesize scriptsize thinspace negthinspace medspace thickspace negmedspace negthickspace "
    "enspace forall exists"
)
NOISE_WITH_ARGUMENT: Final = (
    "label", "tag", "textcircled", "circled", "hspace", "vspace", "phantom", "hphantom", "vphantom", "color", "cline",
    "cmidrule", "ref", "eqref", "footnote", "raisebox", "setlength", "arraystretch",
)  # fmt: skip
# After a backslash: brackets and signs that print themselves; what is not here is spacing.
ESCAPED: Final = {"{": "{|", "}": "|}", "|": "‖", "&": "$", "(": "$", ")": "$", "[": "$", "]": "$"}
# Markup that scanners leave in formulas, and the signs it stands for.
MARKUP: Final = {
    "<sub>": "_{", "</sub>": "}", "<sup>": "^{", "</sup>": "}", "<br>": "$", "<br/>": "$", "<br />": "$",
    "&times;": "×", "&middot;": "×", "&sdot;": "×", "&minus;": "-", "&asymp;": "≈", "&rarr;": "→", "&radic;": "√",
    "&nbsp;": "",
}  # fmt: skip
WIDE: Final = _words("quad qquad hskip")
ROW_ENDS: Final = _words("cr newline tabularnewline")

# Environments whose rows are statements.
ROWS_OF_STATEMENTS: Final = _words(
    "align align* aligned alignat alignat* alignedat gather gather* gathered equation equation* split multline "
    "multline* eqnarray eqnarray* flalign flalign* displaymath math subequations dmath dmath* center"
)
OPENERS: Final = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}
CLOSERS: Final = frozenset(OPENERS.values())
DELIMITER_COMMANDS: Final = {
    "lbrace": "{|", "rbrace": "|}", "lbrack": "[", "rbrack": "]", "langle": "⟨", "rangle": "⟩", "lparen": "(",
    "rparen": ")", "vert": "|", "lvert": "|", "rvert": "|", "Vert": "‖", "lVert": "‖", "rVert": "‖", "|": "‖",
    "mid": "¦", "lfloor": "(", "rfloor": ")", "lceil": "(", "rceil": ")", "{": "{|", "}": "|}", "parallel": "‖",
}  # fmt: skip

# Functions by their lower-case spelling without blanks, hyphens and underscores; the value is what the grammar does.
FUNCTIONS: Final = {
    "softmax": "softmax", "softargmax": "softmax", "sm": "softmax", "smax": "softmax", "exp": "exp", "sqrt": "sqrt",
    "tanh": "tanh", "th": "tanh", "concat": "concat", "concatenate": "concat", "cat": "concat", "hstack": "concat",
    "vstack": "stack", "stack": "stack", "transpose": "transpose", "matmul": "product", "dot": "product",
    "mm": "product", "bmm": "product", "inner": "product", "array": "literal", "tensor": "literal",
    "asarray": "literal", "floattensor": "literal", "longtensor": "literal", "constant": "literal", "mat": "literal",
    "parameter": "literal", "vector": "literal", "vec": "literal", "abs": "abs", "norm": "call", "attention": "call",
    "attn": "call", "multihead": "call", "multiheadattention": "call", "selfattention": "call",
    "scaleddotproductattention": "call", "var": "call", "cov": "call", "std": "call", "max": "call", "min": "call",
    "argmax": "call", "argmin": "call", "log": "apply", "ln": "apply", "lg": "apply", "sin": "apply", "cos": "apply",
    "tan": "call", "sinh": "call", "cosh": "call", "relu": "call", "gelu": "call", "sigmoid": "call",
    "layernorm": "call", "ffn": "call", "score": "call", "rank": "call", "diag": "call", "det": "call", "tr": "call",
    "trace": "call", "dim": "call", "shape": "call", "prod": "call", "lim": "call", "mask": "call", "mean": "call",
    "round": "call", "zeros": "call", "ones": "call", "eye": "call", "range": "call", "sum": "call", "rope": "call",
    "align": "call", "gcd": "call", "arg": "call", "tril": "call", "triu": "call", "normalise": "normalise",
    "normalize": "normalise", "wurzel": "sqrt", "racine": "sqrt", "raíz": "sqrt", "raiz": "sqrt", "radice": "sqrt",
    "wortel": "sqrt", "pierwiastek": "sqrt", "karekök": "sqrt",
}  # fmt: skip
# Single letters that call what stands in brackets right behind them.
CALLING_LETTERS: Final = frozenset(("f", "g", "phi", "psi", "O", "Omega", "Theta", "N", "P", "p", "E"))

# Words that name a quantity in plain text.
NAME_WORDS: Final = _words(
    "score scores scaled weight weights output outputs head heads context attention input inputs query queries key "
    "keys value values embedding embeddings emb sum total mean result logits logit probs prob energy energies "
    "alignment mask masked softmax concat out ctx attn hidden state states enc dec encoder decoder raw scaledscores "
    "attentionweights multihead denominator numerator normalizer mha mla loss cost vector vectors "
    "matrix final unnormalized normalized"
)
GREEK_WORDS: Final = _words("alpha beta gamma delta epsilon theta lambda mu sigma tau phi psi omega Omega Sigma Delta")
# Words that are never a quantity, in the languages that sheets come in (only where a formula could hold them).
PROSE_WORDS: Final = _words(
    "where and or for if with so then thus hence since let the is are be given we get step from now by to of in on "
    "as at an it this that each every row rows col cols column columns after before because also when which using "
    "use und oder mit wobei dann also wenn für ist sind aus der die das et ou avec donc où si pour est les des le "
    "la un une y o con donde entonces es son el los las una del por para e com onde são é ans answer answers step "
    "steps"
)

# Scripts: letters that count, and words that say 'head' beside a number.
INDEX_LETTERS: Final = frozenset("ijlmnprstuT")
INDEX_RUN: Final = frozenset("ijklmnprst")
HEAD_WORDS: Final = _words("head heads h layer token tok kopf tête cabeza голова 头")
TRANSPOSES: Final = frozenset(("T", "top", "intercal", "tr", "Tr", "transp", "transpose", "⊤", "ᵀ"))
# Bases whose raised number counts heads or layers; on others it is a power.
COUNTED_BASES: Final = _words("W Q K V Z A S E U H O Y X C B")
COUNTED_IF_BARE: Final = frozenset("qkvbh")
MATRIX_BASES: Final = _words("Q K V Z H A O Y X head")
# Bases whose lowered k is a label (the keys), not an index.
LABELLED_BASES: Final = _words("W w U d D n N b B T L M X Y Q K V S A E Z")
# Letter runs that are one name and its label.
WEIGHT_LABELS: Final = "QKVOqkvo"
SIZE_LABELS: Final = ("model", "k", "v", "q", "h")
