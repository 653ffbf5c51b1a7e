"""Units behind numbers: 50,257 tokens × 1,600 = 80.4M. Words between numbers and signs are left out of a formula;
what a letter or a prefix multiplies with is noted, so that a value may be held against millions or gibibytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qkv.errors import Location
from qkv.reader.maths.tokens import Token
from qkv.regex import regex

_THOUSANDS = tuple(10 ** (3 * k) for k in range(1, 6))
_BINARY = tuple(2 ** (10 * k) for k in range(1, 6))
_ROWS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (
        r"[kKMGTP]i?[Bb](?:ytes?|its?)?|[kKMGT]i?o|[кКМГТ]Б|(?:kilo|mega|giga|tera)(?:bytes?|octets?)",
        _THOUSANDS + _BINARY,
    ),
    (r"[kKMGTPB]|[kKMGTPB]\s?(?:FLOPS?|FLOPs|params?)", _THOUSANDS + _BINARY[:1]),
    (r"thousand|million|billion|trillion|mio\.?|mrd\.?|millionen|milliarden?|mille|millions|milliards?", _THOUSANDS),
    (r"mil|millones|milhões|bilhões|тыс|млн|млрд", _THOUSANDS),
    (r"hours?|heures?|horas?|Stunden?|Std", (60, 3600)),
    (r"days?|jours?|d[ií]as?|Tagen?|天", (24, 1440, 86400)),
    (r"万|萬|亿|億|百万|만|억", (10**4, 10**6, 10**8)),
)
_TABLE = tuple((regex(rf"(?:{words})(?!\w)", re.IGNORECASE if len(words) > 60 else 0), by) for words, by in _ROWS)
_POINTED = regex(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}$")  # 524.288 may stand for 524288
_NUMERAL = regex(r"\d(?:[\d.,]|\{,\}| (?=\d{3}(?!\d)))*")
_COUNTERS = frozenset(
    ("层", "層", "个", "個", "头", "维", "倍", "位", "次", "步", "行", "列", "字节", "개", "층")
)  # 12 层 is 12
_BARE = regex(  # what is counted: no prefix, no factor
    r"bytes?|octets?|bits?|байт\w*|бит\w*|바이트|バイト|FLOPs?|FLOPS|tokens?|jetons?|токен\w*|param(?:s|eters?|[eè]tres?|etros?)?"
    r"|sec(?:onds?|ondes?)?|segundos?|секунд\w*|heures?|hours?|jours?|days?|values?",
    re.IGNORECASE,
)
_BEFORE = regex(r"\d{0,3}(?:[\s$*_`~}]|\\[,;! )]|\\(?:text|mathrm|mathbf|textbf)\s*\{)*")
_ARITHMETIC = frozenset(("+", "×", "*", "/", "·", "÷", "@", "-"))
_AROUND = frozenset(("edge", "wide", "prose"))
_REMARKED = frozenset(("quote", "sep", "num", "sub"))  # (Key, Value), (FP16)
_MOST_WORDS = 9  # tokens between a number and the sign that goes on


def factors_behind(source: str, end: int) -> tuple[int, ...]:
    """What the unit behind a number multiplies it with, as far as prefixes tell; nothing where there is no such unit.

    >>> factors_behind("5.24 GFLOPs", 4)[2], factors_behind("24.6$M", 4)[1], factors_behind("3 tokens", 1)
    (1000000000, 1000000, ())
    """
    start = _BEFORE.match(source, end)
    at = start.end() if start else end
    factors = next((factors for words, factors in _TABLE if words.match(source, at)), ())
    return factors or (_THOUSANDS[:1] if _POINTED.search(source, max(end - 8, 0), end) else ())


def factors_at(lines: Sequence[str], at: Location) -> tuple[int, ...]:
    """The same for the number that begins at a place of a page.

    >>> factors_at(["so 64 MiB"], Location(1, 4))[-5]
    1024
    """
    number = _NUMERAL.match(lines[at.line - 1], at.column - 1) if at.line <= len(lines) else None
    return factors_behind(lines[at.line - 1], number.end()) if number is not None else ()


def is_magnitude(word: str) -> bool:
    """Whether a word behind a number is a unit with a prefix, or only counts: the M of 80.4M, the 层 of 12 层."""
    return any(words.fullmatch(word) for words, _ in _TABLE[:2]) or word in _COUNTERS or is_counted(word)


def is_counted(word: str) -> bool:
    """Whether a word says what a number before it counts: the bytes of 2 bytes."""
    return _BARE.fullmatch(word) is not None


def without_units(tokens: list[Token]) -> list[Token]:
    """The tokens without words between a number and the sign that goes on: 4 bytes / 2, 48 layers = …"""
    out: list[Token] = []
    i = 0
    while i < len(tokens):
        out.append(tokens[i])
        i += 1
        if out[-1].kind not in ("num", "close") or i >= len(tokens) or tokens[i].kind not in _AROUND | {"open"}:
            continue
        if [t.kind for t in tokens[i : i + 4]] == ["open", "num", "percent", "close"]:
            i += 4  # 0.61 (61%) says it twice
            continue
        end = _behind_words(tokens, i)
        if end is not None and _calculates(out, tokens, end):
            i = end
    return out


def _behind_words(tokens: list[Token], i: int) -> int | None:
    """Where words that stand behind a number end, with the bracket around them; None if there are none."""
    end, depth, letters = i, 0, 0
    while end < min(len(tokens), i + _MOST_WORDS):
        token = tokens[end]
        counted = end > i and tokens[end - 1].kind == "prose" and is_magnitude(tokens[end - 1].text)
        if token.text == "(" and token.gap and not depth:
            depth += 1
            letters += 3 * counted  # 2 bytes (FP16): a bracket behind a unit is a remark, whatever it holds
        elif token.text == ")" and depth:
            depth -= 1
        elif counted and token.text == "/" and _is_per(tokens, end + 1):
            end += 1  # 300 FLOP/s
        elif token.kind == "prose" or (token.kind == "name" and depth):
            letters += len(token.text) + 2 * (token.kind == "prose")
        elif token.kind not in _AROUND and not (depth and token.kind in _REMARKED):
            break
        end += 1
    return end if depth == 0 and letters > 2 else None  # 3 (Q) may be a product


def _is_per(tokens: list[Token], i: int) -> bool:
    """Whether the token at i is what a unit is counted by: the s of FLOP/s."""
    return i < len(tokens) and tokens[i].kind in ("name", "prose") and not tokens[i].gap


def _calculates(out: list[Token], tokens: list[Token], end: int) -> bool:
    """Whether the number before the words is calculated with: by a sign behind them or before it."""
    if end >= len(tokens):
        return False
    after, second = tokens[end], tokens[end + 1] if end + 1 < len(tokens) else None
    if out[-1].kind == "close":  # e^{3.2} (for "mat") ≈ 24.53
        return tokens[end - 1].kind in ("close", "edge") and after.kind == "rel" and after.text in "=≈"
    if after.kind == "line" and second is not None and second.kind == "rel":
        after = second  # the chain goes on below
    before = out[-2] if len(out) > 1 else None
    tied = before is not None and (before.text in _ARITHMETIC - {"-", "+"} or before.kind in ("rel", "open", "script"))
    tied = tied or (before is not None and before.text in "+-" and len(out) > 2 and out[-3].kind in ("num", "close"))
    if after.text in _ARITHMETIC and after.gap:
        return (
            second is not None
            and second.gap
            and (second.kind in ("num", "open", "edge", "name") or second.text in "([")
        )
    return tied and (after.kind == "rel" or (after.kind == "close" and after.text == ")" and before.kind != "open"))  # type: ignore[union-attr]
