"""Known mistakes: a table of rules (rules.py, softmax.py, block.py), each with a name and a sentence. To add one, add a
row; what two expressions tell is a row of patterns.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from qkv.check.mistakes import block, patterns, rules, softmax
from qkv.check.mistakes.scene import Rule, Scene, Variants
from qkv.expr import nodes as n
from qkv.expr.names import Role

R = Role


@dataclass(frozen=True, slots=True)
class Mistake:
    """One row: `says` is for students, {} in it is the rule's detail. A `whole` rule looks at the result alone, not at
    every node inside of it; one that `keeps_shape` puts nothing of another shape anywhere; a `rare` one is told
    only where no other explains what is shown; one that `swaps` has rows or columns change places."""

    key: str
    says: str
    rule: Rule
    whole: bool = False
    keeps_shape: bool = False
    rare: bool = False
    swaps: bool = False


TABLE: tuple[Mistake, ...] = (
    Mistake(
        "softmax down the columns",
        "the softmax runs down the columns, but each row must add up to 1",
        softmax.down_columns,
        keeps_shape=True,
    ),
    Mistake("no scale", "the scores were not divided by √d_k", rules.no_scale, keeps_shape=True),
    Mistake("divided by d_k", "the scores were divided by d_k instead of √d_k", rules.no_root, keeps_shape=True),
    Mistake(
        "sqrt(d_model) for sqrt(d_k)",
        "the scores were divided by √d_model ({}), the size of a token, instead of √d_k",
        rules.root_of(R.X),
        keeps_shape=True,
    ),
    Mistake(
        "sqrt(d_v) for sqrt(d_k)",
        "the scores were divided by √d_v ({}), the size of a value, instead of √d_k",
        rules.root_of(R.V),
        keeps_shape=True,
    ),
    Mistake(
        "sqrt(n) for sqrt(d_k)",
        "the scores were divided by √n ({}), the number of keys, instead of √d_k",
        rules.root_of_keys,
        keeps_shape=True,
        rare=True,
    ),
    Mistake(
        "scaled after the softmax",
        "the weights were divided by √d_k; the scores must be, before the softmax",
        softmax.scaled_after,
        keeps_shape=True,
    ),
    Mistake("multiplied by the scale", "the scores were multiplied by √d_k instead of divided", rules.times_scale),
    Mistake("K not transposed", "K was not transposed: this is Q K, not Q Kᵀ", rules.k_not_turned),
    Mistake("Q and K swapped", "Q and K are swapped: these are the scores transposed, K Qᵀ", rules.swapped_scores),
    Mistake("W X for X W", "the product was taken in the other order: W times the tokens", rules.weight_first),
    Mistake("W transposed", "the weight matrix was used transposed", rules.weight_turned),
    Mistake(
        "mask after softmax",
        "the mask was put on after the softmax, so the rows no longer add up to 1",
        softmax.zeros_after,
        keeps_shape=True,
    ),
    Mistake(
        "masked with 0 in place of -inf",
        "forbidden scores were set to 0, but e^0 = 1 still counts: they must be −∞",
        softmax.zero_scores,
        keeps_shape=True,
    ),
    Mistake(
        "mask the wrong way round",
        "the mask hides the wrong side: allowed and forbidden keys are swapped",
        softmax.wrong_way,
        keeps_shape=True,
    ),
    Mistake("mask one off", "the mask lets every query see one key too {}", softmax.mask_shifted, keeps_shape=True),
    Mistake("mask forgotten", "the mask was forgotten", softmax.no_mask, keeps_shape=True),
    Mistake(
        "normalised by the plain sum",
        "the scores were divided by their plain sum; softmax takes exponentials first",
        softmax.plain_sum,
        keeps_shape=True,
    ),
    Mistake(
        "not normalised", "the exponentials were not divided by their sum", softmax.not_normalised, keeps_shape=True
    ),
    Mistake(
        "softmax over the whole matrix",
        "the exponentials were divided by the sum over the whole matrix, not over each row",
        softmax.whole_matrix,
        keeps_shape=True,
    ),
    Mistake(
        "divided by the sum of another row",
        "the exponentials were divided by the sum of row {}, not of their own",
        softmax.other_sum,
    ),
    Mistake("a key left out", "key {} was left out of the softmax", softmax.key_left_out),
    Mistake(
        "softmax left out",
        "no softmax was taken: these are the scores themselves",
        softmax.no_softmax,
        keeps_shape=True,
    ),
    Mistake(
        "another base than e",
        "these are powers of {}, but softmax takes powers of e",
        softmax.other_base,
        keeps_shape=True,
        rare=True,
    ),
    Mistake(
        "exponents negated",
        "the exponents have the wrong sign: the smallest score got the greatest weight",
        softmax.negated,
        keeps_shape=True,
        rare=True,
    ),
    Mistake(
        "sigmoid for softmax",
        "each score went through a sigmoid of its own; softmax shares 1 among the keys",
        softmax.sigmoid,
        keeps_shape=True,
        rare=True,
    ),
    Mistake(
        "all weight on the greatest score",
        "the greatest score got all the weight, but softmax gives every key a share",
        softmax.hard_maximum,
        keeps_shape=True,
        rare=True,
    ),
    Mistake("heads concatenated in another order", "the heads are concatenated in the order {}", rules.other_order),
    Mistake("heads stacked", "the heads are stacked on top of each other instead of side by side", rules.stacked),
    Mistake("averaged heads", "the heads were averaged instead of concatenated", rules.averaged),
    Mistake("added heads", "the heads were added instead of concatenated", rules.added),
    Mistake("W_O left out", "the output matrix W_O was left out", rules.factor_left_out(R.W_O)),
    Mistake(
        "projection left out",
        "the tokens were not multiplied by {}",
        rules.factor_left_out(R.W_Q, R.W_K, R.W_V),
    ),
    Mistake("W_a left out", "the matrix W_a was left out of the scores", rules.factor_left_out(R.W_A)),
    Mistake("weights of the other head", "the weights of another head were used: {}", rules.of_other_head(R.WEIGHTS)),
    Mistake("values of the other head", "the values of another head were used: {}", rules.of_other_head(R.V)),
    Mistake(
        "matrix of the other head",
        "a matrix of another head was used: {}",
        rules.of_other_head(R.Q, R.K, R.W_Q, R.W_K, R.W_V, R.HEAD, R.SCORES, R.SCALED),
    ),
    Mistake("one matrix for another", "{} was used", rules.other_operand),
    Mistake("A transposed", "the weights were used transposed", rules.weights_turned),
    Mistake("V transposed", "the values were used transposed", rules.values_turned, rare=True),
    Mistake("V A for A V", "the product was taken in the other order: V A instead of A V", rules.values_first),
    Mistake("bias forgotten", "the bias was forgotten", rules.no_bias),
    Mistake("bias subtracted", "the bias was subtracted instead of added", rules.bias_off),
    Mistake("tanh forgotten", "the tanh was forgotten", rules.no_tanh),
    Mistake("a term left out", "one of the two terms inside the tanh was left out", rules.term_left_out),
    Mistake(
        "residual left out", "the residual sum is missing: {} was not added", block.residual_left_out, keeps_shape=True
    ),
    Mistake(
        "sine and cosine swapped", "sine and cosine are swapped", block.waves_swapped, whole=True, keeps_shape=True
    ),
    Mistake(
        "positions from 1", "the positions begin one too high", block.positions_moved(1), whole=True, keeps_shape=True
    ),
    Mistake(
        "positions from 0", "the positions begin one too low", block.positions_moved(-1), whole=True, keeps_shape=True
    ),
    Mistake(
        "loss with the wrong index",
        "the probability of another word than the target was taken",
        block.wrong_target,
        keeps_shape=True,
    ),
    Mistake("pairs the other way", "other columns were turned together: 1 and 2, or 1 and 1 + d/2", block.other_pairs),
    Mistake("groups tiled", "neighbouring heads share keys and values (1 1 2 2, not 1 2 1 2): {}", block.tiled),
    Mistake("cache in the wrong order", "new keys and values come after those of the cache", block.cache_order),
    Mistake("transpose left out", "{} was not transposed", block.transpose_left_out),
    *(Mistake(key, says, patterns.rule(key)) for key, says in patterns.sentences().items()),
    Mistake(
        "a column left out",
        "the products of column {0} with row {0} were left out everywhere",
        rules.index_left_out,
        keeps_shape=True,
    ),
    Mistake("rows swapped", "rows {} are swapped", rules.swapped(0), whole=True, keeps_shape=True, swaps=True),
    Mistake("columns swapped", "columns {} are swapped", rules.swapped(1), whole=True, keeps_shape=True, swaps=True),
    Mistake("result transposed", "the result is transposed", rules.turned_result, whole=True),
)

# A result that lacks a row or a column: a mistake only where all of it should be shown.
LEFT_OUT: tuple[Mistake, ...] = (
    Mistake("a row left out", "row {} is missing", rules.missing(0), whole=True),
    Mistake("a column of the result left out", "column {} is missing", rules.missing(1), whole=True),
)

# Any other quantity or size of the page, whatever it is: only where nothing else explains what is shown.
ANY_OTHER: tuple[Mistake, ...] = (
    Mistake("one matrix for another", "{} was used", rules.other_name),
    Mistake(
        "another size under the root",
        "the scores were divided by {}, the root of another size",
        rules.root_of_other_size,
        keeps_shape=True,
    ),
)

Place = tuple[n.Expr, Callable[[n.Expr], n.Expr]]  # a node, and the whole with something else in its stead

RARE = frozenset(row.key for row in TABLE if row.rare)
STRUCTURAL = frozenset(row.key for row in TABLE + LEFT_OUT + ANY_OTHER)

# Mistakes that are nobody's convention: without any formula they are mistakes all the same.
NO_CONVENTION = frozenset(
    {
        "softmax down the columns",
        "scaled after the softmax",
        "multiplied by the scale",
        "mask after softmax",
        "masked with 0 in place of -inf",
        "softmax over the whole matrix",
        "divided by the sum of another row",
        "one matrix for another",
        "matrix of the other head",
    }
)


def variants(mistake: Mistake, places: Sequence[Place], scene: Scene) -> Variants:
    """What a mistake makes of an expression: at each place where its rule applies, one at a time; what occurs several
    times (the sum in a norm of X + Z) also at all of them."""
    for (node, whole), made, detail in changes(mistake, places, scene):
        yield whole(made), detail
        if not isinstance(node, n.Name) and sum(other == node for other, _ in places) > 1:
            yield n.replaced(places[0][0], node, made), detail


def changes(mistake: Mistake, places: Sequence[Place], scene: Scene) -> Iterator[tuple[Place, n.Expr, str]]:
    """The places where a mistake may be made, with what it puts there."""
    rule = mistake.rule
    for place in places[:1] if mistake.whole else places:
        if isinstance(place[0], rule.kinds):
            for made, detail in rule.change(place[0], scene):
                yield place, made, detail


def places_in(node: n.Expr) -> list[Place]:
    """Every node of an expression, but for cells of matrices, from the top down."""
    found: list[Place] = []
    _collect(node, _itself, found)
    return found


def _collect(node: n.Expr, whole: Callable[[n.Expr], n.Expr], found: list[Place]) -> None:
    found.append((node, whole))
    for name in n.part_names(node):
        value = getattr(node, name)
        if isinstance(value, n.Node):
            _collect(value, partial(_with_part, whole, node, name), found)  # type: ignore[arg-type]
        elif isinstance(value, tuple) and value and isinstance(value[0], n.Node):
            for i, part in enumerate(value):
                _collect(part, partial(_with_item, whole, node, name, i), found)


def _itself(made: n.Expr) -> n.Expr:
    return made


def _with_part(whole: Callable[[n.Expr], n.Expr], node: n.Expr, name: str, made: n.Expr) -> n.Expr:
    return whole(replace(node, **{name: made}))  # type: ignore[arg-type]


def _with_item(whole: Callable[[n.Expr], n.Expr], node: n.Expr, name: str, i: int, made: n.Expr) -> n.Expr:
    value = getattr(node, name)
    return whole(replace(node, **{name: (*value[:i], made, *value[i + 1 :])}))  # type: ignore[arg-type]
