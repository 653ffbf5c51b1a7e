"""The numbers of the five sample sheets, worked from their data; the keys were made by other means."""

from __future__ import annotations

from typing import Any

import qkv

Rows = list[list[str]]
Keys = dict[str, Any]


def given(keys: Keys, sheet: str, name: str, line: int) -> Rows:
    """A matrix of a sheet as it must be read: repaired or inferred where the print is damaged."""
    found = next(d for d in keys[sheet]["definitions"] if d["name"] == name and d["line"] == line)
    value: Rows = found.get("repaired") or found.get("inferred") or found["value"]
    return value


def truth(keys: Keys, claim: str) -> Rows:
    found = next(c for c in keys[claim[:3]]["claims"] if c["id"] == claim)
    return [[cell.replace("-∞", "-inf") for cell in row] for row in found["truth"]]


def answer(keys: Keys, sheet: str, question: str) -> Any:
    return next(q for q in keys[sheet]["questions"] if q["question"] == question)["answer"]


def shown(s: qkv.Solution, name: str) -> Rows:
    return [list(row) for row in s[name].digits(6)]


def test_001_self_attention(answer_keys: Keys) -> None:
    s = qkv.work(
        X=given(answer_keys, "001", "X", 11),
        W_Q=given(answer_keys, "001", "W^Q", 11),
        W_K=given(answer_keys, "001", "W^K", 20),
        W_V=given(answer_keys, "001", "W^V", 28),
        scale=None,
    )
    for name, claim in (("Q", "001-03"), ("K", "001-05"), ("V", "001-07"), ("S", "001-11"), ("Output", "001-24")):
        assert shown(s, name) == truth(answer_keys, claim)
    assert shown(s, "A") == [truth(answer_keys, claim)[0] for claim in ("001-15", "001-17", "001-19")]
    assert shown(s, "A")[1] == ["6.03366e-6", "0.982008", "0.0179861"]


def test_001_masked(answer_keys: Keys) -> None:
    s = qkv.work(
        X=given(answer_keys, "001", "X", 88),
        W_Q=given(answer_keys, "001", "W^Q", 88),
        W_K=given(answer_keys, "001", "W^K", 98),
        W_V=given(answer_keys, "001", "W^V", 104),
        scale=None,
        mask="causal",
    )
    assert shown(s, "S") == truth(answer_keys, "001-37")
    assert shown(s, "S_masked") == truth(answer_keys, "001-38")
    assert shown(s, "A") == truth(answer_keys, "001-40")  # weights down to e^-455 are numbers, not 0
    assert shown(s, "Output") == truth(answer_keys, "001-45")


def test_001_cross(answer_keys: Keys) -> None:
    s = qkv.work(
        X=given(answer_keys, "001", "X", 154),
        W_Q=given(answer_keys, "001", "W^Q", 154),
        K=given(answer_keys, "001", "K", 164),
        V=given(answer_keys, "001", "V", 166),
        scale=None,
    )
    for name, claim in (("Q", "001-48"), ("S", "001-55"), ("A", "001-57"), ("Output", "001-63")):
        assert shown(s, name) == truth(answer_keys, claim)


def test_002_two_heads_whose_exponentials_overflow(answer_keys: Keys) -> None:
    heads = (("0", 48), ("1", 52))
    weights = {
        f"W_{kind}": [given(answer_keys, "002", f"W_{{{head}^{kind}}}", line) for head, line in heads] for kind in "QKV"
    }
    s = qkv.work(X=given(answer_keys, "002", "X", 42), W_O=given(answer_keys, "002", "W_o", 65), **weights)
    for ours, theirs in ((1, 0), (2, 1)):
        for letter in "QKV":
            assert shown(s, f"{letter}_{ours}") == answer(answer_keys, "002", f"(a) {letter}_{theirs}")
        product = f"(b) intermediate Q_{theirs} K_{theirs}^T"
        assert shown(s, f"S_{ours}") == answer(answer_keys, "002", product)
        assert shown(s, f"S_{ours}^scaled") == answer(answer_keys, "002", f"{product} / sqrt(3)")
        assert shown(s, f"A_{ours}") == answer(answer_keys, "002", f"(b) intermediate A_{theirs} = softmax")
        assert shown(s, f"Z_{ours}") == answer(answer_keys, "002", f"(b) Z_{theirs}")
    assert shown(s, "Concat") == answer(answer_keys, "002", "(c) Z = [Z_0 Z_1]")
    assert shown(s, "Output") == answer(answer_keys, "002", "(d) final output Z W_o")
    assert shown(s, "Output") == [["155.960", "169.040", "182.120", "195.200"]] * 2


def test_003_vectors(answer_keys: Keys) -> None:
    states = [given(answer_keys, "003", rf"\mathbf{{h}}_{i}", 7) for i in (1, 2, 3)]
    s = qkv.work(s=given(answer_keys, "003", r"\mathbf{s}", 9), h=states)
    assert shown(s, "A")[0] == answer(answer_keys, "003", "Ex 1: attention weights alpha_i")
    assert shown(s, "c")[0] == answer(answer_keys, "003", "Ex 1: context vector c")
    assert [s[f"α_{i}"].digits(6)[0][0] for i in (1, 2, 3)] == shown(s, "A")[0]


def test_003_matrices_and_their_counts(answer_keys: Keys) -> None:
    s = qkv.work(**{name: given(answer_keys, "003", name, 61) for name in "QKV"})
    assert shown(s, "Output") == answer(answer_keys, "003", "Ex 3: context matrix C")
    total = s.cost().total
    assert (total.multiplications, total.additions, total.divisions) == (30, 22, 12)


def test_004_tokens(answer_keys: Keys) -> None:
    weights = {f"W_{kind}": given(answer_keys, "004", rf"\mathbf{{W}}_{kind}", 19) for kind in "QKV"}
    s = qkv.work(X=given(answer_keys, "004", r"\mathbf{X}", 38), scale=None, **weights)
    for letter in "qkv":
        expected = answer(answer_keys, "004", f"1(a) {letter}_1,{letter}_2,{letter}_3")
        assert [list(s[f"{letter}_{i}"].digits(6)[0]) for i in (1, 2, 3)] == expected
    scores = answer(answer_keys, "004", "1(b) z_{3,1}, z_{3,2}, z_{3,3}")
    assert [s[f"z_3,{j}"].digits(6)[0][0] for j in (1, 2, 3)] == scores
    assert shown(s, "a_3") == truth(answer_keys, "004-03")
    assert shown(s, "o_3")[0] == answer(answer_keys, "004", "1(c) weighted sum for x_3")


def test_000_two_heads_with_an_inferred_output_matrix(answer_keys: Keys) -> None:
    lines = {"Q": (19, 39), "K": (21, 41), "V": (23, 55)}
    weights = {
        f"W_{kind}": [
            given(answer_keys, "000", f"W_{head}^{kind}", line) for head, line in zip((1, 2), at, strict=True)
        ]
        for kind, at in lines.items()
    }
    s = qkv.work(X=given(answer_keys, "000", "X", 19), W_O=given(answer_keys, "000", "W<sub>o</sub>", 65), **weights)
    claims = {"Q_1": "03", "K_1": "05", "V_1": "06", "S_1": "11", "A_1": "13", "Z_1": "16", "Q_2": "18"}
    claims |= {"K_2": "19", "V_2": "20", "S_2": "23", "A_2": "25", "Z_2": "30", "Concat": "32"}
    for name, claim in claims.items():
        assert shown(s, name) == truth(answer_keys, f"000-{claim}")
    inferred = next(c for c in answer_keys["000"]["claims"] if c["id"] == "000-33")
    assert shown(s, "Output") == inferred["truth_with_inferred_W_O"]
