"""What a problem gives, under which names it works, and how it scales and masks: filled by gather.py, read once."""

from __future__ import annotations

from dataclasses import field

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.program.model import Given
from qkv.program.spec import Key
from qkv.records import dataclass
from qkv.sheet.model import Repair
from qkv.understand.words import Rule
from qkv.understand.workable import Memory

R = Role


FACTORS = {R.Q: (R.X, R.W_Q), R.K: (R.X, R.W_K), R.V: (R.X, R.W_V)}


@dataclass
class Gathering:
    """What has been found so far; filled while walking the facts of one problem, then read once."""

    givens: dict[Key, Given] = field(default_factory=dict)
    tokens: dict[tuple[Role, int], Given] = field(default_factory=dict)  # x_1, h_2 …
    others: dict[Symbol, Given] = field(default_factory=dict)  # values of names that play no known role
    claimed: dict[Key, Given] = field(default_factory=dict)  # derived roles printed without a formula
    claimed_tokens: dict[tuple[Role, int], Given] = field(default_factory=dict)  # q_1 = [..] printed without a formula
    names: dict[Key, Symbol] = field(default_factory=dict)
    sizes: dict[Role, n.Number] = field(default_factory=dict)
    resized: dict[Role, list[n.Number]] = field(default_factory=dict)  # what a size is said to be later on
    divisors: list[n.Expr] = field(default_factory=list)
    defining: list[n.Expr] = field(default_factory=list)  # numbers that definitions, not workings, divide scores by
    said_scaled: bool = False  # by words, not by a formula
    unscaled: bool = False
    looks_unscaled: bool = False  # nothing is said, and the printed numbers are those without a scale
    causal: bool = False
    padding: bool = False  # what is masked is padding, and no word is said of the future
    maybe_causal: bool = False  # said in the paragraphs before the problem
    plain_sum: bool = False
    cosine: bool = False
    otherwise: bool = False  # a kind of attention is spoken of that is not understood
    own_scores: bool = False  # the sheet scores by a formula of its own: additive, by the cosine, …
    mask_truth: bool = False
    hides_future: bool = False  # said in words that can mean no other mask
    ones_forbid: bool = False  # a 1 in the mask marks what may not be seen
    rules: tuple[Rule, ...] = ()  # who may see whom, as sentences say it
    later_rules: tuple[Rule, ...] = ()  # the same of a second run
    unprojected: bool = False  # words say that the tokens themselves are queries, keys and values
    split: int | None = None  # one big matrix, cut into this many heads
    maybe_split: int | None = None  # so many heads are spoken of, and nothing else gives them
    grouped: bool = False  # heads of queries that share keys and values are spoken of
    columns: bool = False
    keys_first: bool = False
    projects: bool = False  # a formula has an output matrix
    said_columns: bool = False
    printed: dict[Key, n.Matrix] = field(default_factory=dict)  # what was printed for derived roles, right or wrong
    hinted: list[tuple[Role, n.Matrix]] = field(default_factory=list)  # nameless values, by the words before them
    cells: dict[tuple[Role, int, int], n.Expr] = field(default_factory=dict)  # a_{3,1} ≈ 0.002
    inherited: set[Key] = field(default_factory=set)
    defined: dict[Symbol, Role] = field(default_factory=dict)  # roles that formulas give to names
    sources: dict[Role, Symbol] = field(default_factory=dict)  # where Q, K and V come from, as formulas say
    added: set[Symbol] = field(default_factory=set)  # matrices that formulas add to scores
    inputs: set[Symbol] = field(default_factory=set)  # what X is made of: X = E + P
    only_row: int | None = None  # q_2 alone: the one query that is spoken of
    lines: tuple[int, int] = (1, 0)  # of the document, first and last
    again: dict[Symbol, list[n.Expr]] = field(default_factory=dict)  # later values of a number: τ = 0.5, then τ = 2
    repairs: list[Repair] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spoken: frozenset[Symbol] = frozenset()  # every name in the links of the problem
    memory: Memory = field(default_factory=dict)  # of values; shared by the programs that are weighed
    by_token: dict[tuple[int, str, int], tuple[n.Expr, list[n.Expr]]] = field(default_factory=dict)  # see written.py
    speaks: bool = True  # whether the problem gives or works out anything of its own
