"""Small ways of writing that change what a value is: factors before a matrix, words before a name, heads of tables."""

from __future__ import annotations

import pytest

import qkv

GIVEN = "Q = [1, 0; 0, 1; 1, 1], K = [1, 0; 0, 1; 1, 1], V = [10, 20; 30, 40; 50, 60]\n\n"
TABLE = "| Token | Query {} | Key {} |\n|---|---|---|\n| 1 | [1, 0] | [1, 2] |\n| 2 | [0, 1] | [0, 1] |\n\n"


def verdicts(text: str) -> dict[str, str]:
    """What each claim is said to be, by its text."""
    return {" ".join(claim.text.split()): claim.verdict.value for claim in qkv.check(text).claims}


@pytest.mark.parametrize("gap", [" ", "\n"])
def test_masked_scores_are_no_scores(gap: str) -> None:
    scores = "```text\nScores = QKᵀ / √2\n       ≈ [[0.707,0,0.707],\n          [0,0.707,0.707],\n          [0.707,0.707,1.414]]\n```\n"
    mask = "\nThe causal mask:\n\n```text\nM = [[0, -inf, -inf],\n     [0,    0, -inf],\n     [0,    0,    0]]\n```\n"
    masked = f"\nTheir sum:\n\n```text\nMasked Scores{gap}≈ [[0.707, -inf, -inf],\n   [0, 0.707, -inf],\n   [0.707, 0.707, 1.414]]\n```\n"
    assert "wrong" not in verdicts(GIVEN + scores + mask + masked).values()


@pytest.mark.parametrize("label", ["$QK^T$", "`QK^T`"])
def test_a_formula_before_a_colon_is_what_stands_behind_it(label: str) -> None:
    text = GIVEN + f"1. {label}: $\\begin{{bmatrix}} 1 & 0 & 1 \\\\ 0 & 1 & 1 \\\\ 1 & 1 & 2 \\end{{bmatrix}}$\n"
    assert list(verdicts(text).values()) == ["right"]


@pytest.mark.parametrize("names", [(r"$\mathbf{q}$", r"$\mathbf{k}$"), (r"\(\mathbf{q}\)", r"\(\mathbf{k}\)")])
def test_rows_of_a_table_are_named_by_its_head(names: tuple[str, str]) -> None:
    right, wrong = r"$q_1^T k_1 = 1$", r"$q_2^T k_1 = 17$"
    found = verdicts(TABLE.format(*names) + f"{right}\n\n{wrong}\n")
    assert [found["q_1^T k_1 = 1"], found["q_2^T k_1 = 17"]] == ["right", "wrong"]


def test_products_of_transposed_rows_in_a_matrix_are_numbers() -> None:
    text = TABLE.format("", "") + "S = [q_1^T k_1, q_1^T k_2; q_2^T k_1, q_2^T k_2]\n\nS / 2 = [0.5, 0; 1, 0.5]\n"
    assert "right" in verdicts(text).values()


def test_a_size_that_is_only_mentioned_is_not_this_page_s() -> None:
    text = (
        "Q = [1, 0, 2, 1; 0, 1, 3, 1], K = [2, 0, 1, 0; 1, 1, 0, 4]\n\n"
        + "Dividir por √d_k = 2. Con d_k = 64 el softmax se satura.\n"
    )
    assert "wrong" not in verdicts(text).values()


def test_the_keycap_before_a_step_is_no_number() -> None:
    assert not verdicts("### 1\ufe0f\u20e3 Dot products\n\nNothing is shown here.\n")


def test_vectors_behind_a_label_are_the_rows_of_one_array() -> None:
    text = "Query: [1, 2]\nKeys: [1, 0], [0, 3], [1, 1]\nValues: [1, 0], [0, 1], [1, 1]\n\nScores: [1, 6, 3]\n"
    assert list(verdicts(text).values()) == ["right"]


def test_a_query_above_a_list_of_keys_is_no_key() -> None:
    text = (
        "Query vector: [0.5, 0.3]\nKey vectors:\n  Token 1: [0.4, 0.2]\n  Token 2: [0.1, 0.7]\n\nScores: [0.26, 0.26]\n"
    )
    assert list(verdicts(text).values()) == ["right"]


def test_remarks_behind_rows_do_not_part_them() -> None:
    text = GIVEN + "Scores:\n\n```\nq1 → [1, 0, 1]   (1·1 + 0·0 = 1)\nq2 → [0, 1, 1]\nq3 → [1, 1, 2]\n```\n"
    assert all(verdict == "right" for verdict in verdicts(text).values())


def test_a_page_of_comments_is_no_page_of_titles() -> None:
    lines = (
        "A worked example.",
        "",
        "q = [1, 2], k = [3, 4]",
        "",
        "The score is",
        "q · k = 12",
        "",
        "[1, 2] dot [3, 1] = 5",
    )
    assert list(verdicts("\n".join(f"# {line}".rstrip() for line in lines)).values()) == ["wrong", "right"]


def test_the_number_of_a_title_is_no_claim() -> None:
    assert not verdicts("# 3.1 A tiny example\n\nNothing is shown here.\n")


def test_a_lesson_in_the_strings_of_a_program_is_read() -> None:
    page = r"""
lessons: [
  {
    task: 'Given $Q = [1, 0]$ and $K = \\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix}$, find the scores.',
    answer: `$S = \\frac{Q K^T}{\\sqrt{2}} = [0.7071, 0.7071]$`,
  },
],
"""
    assert list(verdicts(page).values()) == ["wrong"]


def test_decimal_commas_in_braces_and_commas_between_entries_are_told_apart() -> None:
    text = "$a = [0{,}5,1{,}25,3]$\n\n$$\n2 a = [1{,}0,2{,}5,7]\n$$\n"
    assert list(verdicts(text).values()) == ["wrong"]


def test_an_x_between_a_number_and_an_array_is_a_times_sign() -> None:
    text = "Mix the values: 0.401 x [2, 0] + 0.198 x [0, 2] + 0.401 x [1, 1] = [1.203, 0.997].\n"
    assert list(verdicts(text).values()) == ["wrong"]


def test_brackets_in_single_dollars_on_lines_of_their_own_are_displays() -> None:
    text = "$[\n0.67\\cdot 1 + 0.33\\cdot 3\n= 0.67 + 0.93\n= 1.60\n]$\n\n[\n2.5+1=3.9\n]\n"
    assert [claim.verdict.value for claim in qkv.check(text).claims] == ["wrong", "carried", "wrong"]


def test_two_digits_are_the_two_indices_of_a_family() -> None:
    """e_12 is e_{1j} at j = 2, not the usual product of a query and a key."""
    text = """
$s_1 = [1, 0]$, $h_1 = [1, 2]$, $h_2 = [0, 1]$, $w = [1, 1]$

Scores: $e_{1j} = w \\cdot (s_1 + h_j)$

$e_{11} = 1 \\cdot 2 + 1 \\cdot 2 = 4$

$e_{12} = 1 + 1 = 2$

$\\exp(e_{12}) = e^2 \\approx 7.389$
"""
    assert set(verdicts(text).values()) <= {"right", "rounded"}


def test_brackets_behind_an_array_that_say_its_size_are_no_factor() -> None:
    text = "X = [2 1]  (1x2)\nW = [1 0 -1; 2 1 0] (2×3)\nh = X W = [4 1 -2]\n"
    assert list(verdicts(text).values()) == ["right"]


def test_calculations_on_the_lines_of_a_bracket_are_judged_one_by_one() -> None:
    text = "```\ny = [\n  0.2×1 + 0.8×3 = 2.6\n  0.2×4 + 0.8×1 = 1.9\n]\n```\n"
    assert [claim.verdict.value for claim in qkv.check(text).claims] == ["right", "wrong"]


def test_the_sum_after_different_exponentials_may_be_that_of_the_whole_row() -> None:
    text = "Row 1: [0.707, 0.707, 0]. e^0.707 ≈ 2.028, e^0 = 1. Sum ≈ 5.056\n"
    assert "wrong" not in verdicts(text).values()


@pytest.mark.parametrize(("text", "said"), [
    ("```\nw = e^0 / (e^1 + e^0) = 1.0   / (2.718 + 1.0) ≈ 0.269\n```\n", ["rounded"]),
    ("```\n0.5 × [2, 0]    (V of the)\n+ 0.5 × [1, 3]    (V of cat)\n= [1.5, 1.5]\n```\n", ["right"]),
    ("```\n0.5 × [2, 0]    (V of the)\n+ 0.5 × [1, 3]    (V of cat)\n= [1.5, 2.5]\n```\n", ["wrong"]),
    ("Sample: H = -log(0.7) = 0.357 nats = 0.515 bits\n", ["rounded", "unread"]),
    ("Sample: H = -log(0.7) = 0.537 nats = 0.515 bits\n", ["wrong", "unread"]),
    ("x_1 = [cos(66.87°), sin(66.87°)] = [0.39, 0.92]\n", ["rounded"]),
    (r"$x_1 = \cos(60^\circ) = 0.71$" + "\n", ["wrong"]),
])  # fmt: skip
def test_gaps_remarks_units_and_degrees(text: str, said: list[str]) -> None:
    assert [claim.verdict.value for claim in qkv.check(text).claims] == said


def test_a_name_behind_a_percentage_and_two_blanks_is_no_factor() -> None:
    text = "C = 6 · 5 = 30\n\n```text\nshare 85.2%  C = 30\n```\n"
    assert "wrong" not in verdicts(text).values()


@pytest.mark.parametrize(("cell", "said"), [("2", "right"), ("1", "wrong")])
def test_macros_that_a_page_does_not_define(cell: str, said: str) -> None:
    page = (
        r"$\mat{Q} = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}$, $\mat{K} = \begin{bmatrix} 1 & 3 \\ 2 & 1 \end{bmatrix}$"
        + "\n\n" + rf"$$\mat{{Q}}\mat{{K}}\T = \begin{{bmatrix}} 1 & {cell} \\ 3 & 1 \end{{bmatrix}}$$" + "\n"
    )  # fmt: skip
    assert list(verdicts(page).values())[-1] == said


def test_a_minus_before_a_function_belongs_to_it() -> None:
    text = "The loss is -log(0.5) = 0.693, and here it is -ln(0.25) = 1.386."
    assert list(verdicts(text).values()) == ["rounded", "rounded"]


def test_what_is_called_exp_is_no_score() -> None:
    """The softmax behind exponentials and their sum is their shares, not a softmax of them."""
    text = "Row 1: softmax([0.71, 0, 0.71]).\nexp ≈ [2.03, 1.00, 2.03]; sum ≈ 5.06; softmax ≈ [0.40, 0.20, 0.40]."
    assert "wrong" not in verdicts(text).values()


PLAIN_THEN_CAUSAL = """Q = K = [[1, 0], [0, 1], [1, 1]], V = [[1, 2], [3, 4], [5, 6]]

S = Q K^T / √2

A:

[[0.4011, 0.1978, 0.4011],
 [0.1978, 0.4011, 0.4011],
 [0.2483, 0.2483, 0.5035]]

O = A V =
[[3.0000, 4.0000],
 [3.4067, 4.4067],
 [3.5105, 4.5105]]

The same with the causal mask:

A =
[[1.0000, 0.0000, 0.0000],
 [0.3302, 0.6698, 0.0000],
 [0.2483, 0.2483, 0.5035]]

O = [[1.0000, 2.0000], [2.3395, 3.3395], [3.5105, 4.5105]]
"""


def test_numbers_given_anew_further_down_are_not_what_a_name_was_worth_before() -> None:
    assert set(verdicts(PLAIN_THEN_CAUSAL).values()) <= {"right", "rounded", "drifted"}
    found = verdicts(PLAIN_THEN_CAUSAL.replace("3.4067, 4.4067", "3.4067, 4.6067"))
    assert [text[:9] for text, verdict in found.items() if verdict == "wrong"] == ["O = A V ="]


BESIDE = """```
Q = K = [[1, 0],        V = [[1, 2],
         [0, 1],             [3, 4],
         [1, 1]]             [5, 6]]

Q·Kᵀ (before scaling):        S = Q·Kᵀ / √2:
[[1, 0, 1],                   [[0.7071, 0.0000, 0.7071],
 [0, 1, 1],                    [0.0000, 0.7071, 0.7071],
 [1, 1, 2]]                    [0.7071, 0.7071, 1.4142]]
```
"""


def test_arrays_beside_each_other_have_their_own_captions() -> None:
    assert list(verdicts(BESIDE).values())[:2] == ["right", "rounded"]
    assert list(verdicts(BESIDE.replace("1.4142", "1.4412")).values())[:2] == ["right", "wrong"]
    assert list(verdicts(BESIDE.replace("[1, 1, 2]]", "[1, 2, 2]]")).values())[:2] == ["wrong", "rounded"]


def test_a_product_that_is_drawn_over_lines_is_no_row_of_columns() -> None:
    page = """```
Q = [[2, 0],      K = [[0, 2],
     [0, 2]]           [2, 0]]

scores = [[0, 4],     / sqrt(2)   =   [[0.00, 2.83],
          [4, 0]]                      [2.83, 0.00]]
```
"""
    assert not [claim for claim in qkv.check(page).claims if claim.verdict == "wrong"]


def test_a_product_with_what_words_name() -> None:
    """'times V' multiplies what was printed last."""
    text = "Q = [1 2; 3 4], K = [1 0; 0 1], V = [5 6; 7 8]\nStep 1. Q*K' = [1 2; 3 4]\nStep 2. divide by sqrt(2): [0.707 1.414; 2.121 2.828]\n"
    text += "Step 3. softmax of each row: [0.330 0.670; 0.330 0.670]\nStep 4. times V: [6.34 7.34; 6.34 7.34]\n"
    assert list(verdicts(text).values())[3] == "rounded"
    assert list(verdicts(text.replace("6.34 7.34]", "6.43 7.34]")).values())[3] == "wrong"


@pytest.mark.parametrize(("last", "verdict"), [(2, "right"), (1, "wrong")])
def test_a_shape_behind_a_matrix_is_no_factor(last: int, verdict: str) -> None:
    page = f"X = [[1, 0], [0, 1], [1, 1]]\nWv = [[1, 0], [0, 2]]\n\nV = X·Wv = [ [1, 0],\n  [0, 2],\n  [1, {last}] ] (3, 2)\n"
    assert qkv.check(page).claims[-1].verdict == verdict


DUMP = """In [6]:
x = torch.tensor([1.0, 10.0, 100.0])

mean = x.mean()
print(mean)
gaps = (x - mean) / 2
print(gaps)

tensor(37.)
tensor([-18.0000, -13.5000,  {}])
"""


@pytest.mark.parametrize(("cell", "said"), [("31.5000", "right"), ("35.5000", "wrong")])
def test_cells_of_a_notebook_that_was_copied_as_text(cell: str, said: str) -> None:
    assert [claim.verdict.value for claim in qkv.check(DUMP.replace("{}", cell)).claims] == ["right", said]


def test_a_sign_alone_in_dollars_is_an_operator() -> None:
    assert [claim.verdict.value for claim in qkv.check(r"4 $\cdot$ 512² = 1048576 parameters").claims] == ["right"]


def test_a_comma_before_another_equation_is_no_decimal_mark_and_a_sine_needs_no_brackets() -> None:
    text = "i=0,2i=0 ,PE=sin0=0\n\ni=1,2i+1=3,PE=cos0=1\n\ni=2,2i=5 ,PE=sin1=0.84\n"
    said = [claim.verdict.value for claim in qkv.check(text).claims]
    assert said == ["right", "right", "right", "right", "wrong", "rounded"]


PROGRAM = """lesson("Sizes", [
    "d = 256, h = 4, so d_ff = 4 x 256 = 1024",
    "First layer: 256 x 1024 = 262,144 weights",
    "루트 256 = 16",
], "Both layers: 2 x 262,144 = 524,288", "no biases"),
"""


@pytest.mark.parametrize(("shown", "verdict"), [("262,144", "right"), ("262,414", "wrong")])
def test_a_program_that_only_passes_strings_on_is_read_as_these_strings(shown: str, verdict: str) -> None:
    said = verdicts(PROGRAM.replace("1024 = 262,144", f"1024 = {shown}"))
    assert said.pop(f"256 x 1024 = {shown}") == verdict
    assert list(said.values()) == ["right", "right", "right"]


def test_a_syllable_between_numbers_and_words_is_no_factor() -> None:
    text = "Scores: [3, 1, 2]\n\nsoftmax: 약 0.665, 0.090, 0.245 로 부드러워요\n"
    assert [claim.verdict.value for claim in qkv.check(text).claims] == ["rounded"]


def test_numbers_that_are_worked_out_in_different_ways_are_no_scores() -> None:
    text = "d_k = 64\n\n√64 = 8\n\nsigmoid(8) = 0.9997\n\nSoftmax: 0.665, 0.090, 0.245\n"
    assert "wrong" not in verdicts(text).values()


def test_points_between_groups_of_three_digits_part_thousands() -> None:
    text = "d_model = 512, d_ff = 2048\n\n- Atención: 4 × 512 × 512 = 1.048.576\n- Normas: 4 × 512 = 2.048\n- FFN: 2 × 512 × 2048 = 2.097.125\n"
    assert list(verdicts(text).values()) == ["right", "right", "wrong"]


@pytest.mark.parametrize(("total", "verdict"), [("11.212", "drifted"), ("11.312", "wrong")])
def test_lines_with_a_label_and_with_a_name_are_no_grid(total: str, verdict: str) -> None:
    text = f"logits = [2.0, 1.0, 0.1]\n\nexp: 7.389, 2.718, 1.105\nsum = {total}\n"
    assert list(verdicts(text).values()) == ["rounded", verdict]


@pytest.mark.parametrize(("last", "verdict"), [("1.2247", "rounded"), ("1.224743", "drifted"), ("1.3247", "wrong")])
def test_an_epsilon_that_nobody_gives_is_too_small_to_see(last: str, verdict: str) -> None:
    page = f"x = [1, 3, 5]\n\ns = √(((1-3)² + (3-3)² + (5-3)²)/3 + ε)\n\ny = (x - 3)/s = [-1.2247, 0, {last}]\n"
    assert list(verdicts(page).values())[-1] == verdict
