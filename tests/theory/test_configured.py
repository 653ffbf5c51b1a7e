"""Counts of a model whose sizes words say: parameters, bytes of the KV cache, memory of the weights."""

from __future__ import annotations

import pytest

from qkv.reader.read import read_sheet
from qkv.theory.configured import counted
from qkv.theory.sizes_said import sizes_said

MODEL = "A model has 32 layers, 32 heads, 8 KV heads, a head dimension of 128, and is stored in fp16.\n\n"
BLOCK = "Let d_model = 512, d_ff = 2048, 8 heads and 6 layers, with a vocabulary of 37,000 words.\n\n"


def amounts(page: str) -> list[int | float]:
    """What is asked for, where there is an answer."""
    return [float(made.asked.value) for made in counted(read_sheet(page)) if made.counts]


@pytest.mark.parametrize(
    "question, expected",
    [
        ("1. How many bytes does the KV cache need per token?", 2 * 32 * 8 * 128 * 2),
        ("1. How large is the KV cache for a context of 8K tokens and batch size 4?", 2 * 32 * 8 * 128 * 8192 * 4 * 2),
        ("1. How large is the KV cache per token with 32 heads instead?", 2 * 32 * 32 * 128 * 2),
        ("1. How large is the KV cache per token in int8?", 2 * 32 * 8 * 128),
        ("1. Wie groß ist der KV-Cache bei einer Sequenzlänge von 2048?", 2 * 32 * 8 * 128 * 2048 * 2),
        ("1. How much memory do the weights need for 7 billion parameters?", 14e9),
    ],
)
def test_a_cache_is_counted(question, expected):
    assert amounts(MODEL + question) == [expected]


@pytest.mark.parametrize(
    "question, expected",
    [
        ("1. How many parameters does the attention block have?", 4 * 512**2),
        ("1. How many parameters has the FFN, including biases?", 2 * 512 * 2048 + 2048 + 512),
        ("1. Combien de paramètres a une couche (sans layer norm) ?", 4 * 512**2 + 2 * 512 * 2048),
        ("1. How many parameters do all 6 layers have?", 6 * (4 * 512**2 + 2 * 512 * 2048)),
        ("1. How many parameters does the token embedding have?", 37000 * 512),
    ],
)
def test_parameters_are_counted(question, expected):
    assert amounts(BLOCK + question) == [expected]


@pytest.mark.parametrize(
    "page",
    [
        "Model A has 32 layers, model B 80 layers, both 8 heads of size 128.\n\n1. How large is the KV cache per token?",
        "Let d_model = 512, d_k = 32 and 8 heads.\n\n1. How many parameters has attention?",
        BLOCK + "1. How many parameters do W_Q, W_K and W_V of the attention have?",
    ],
)
def test_what_is_said_twice_or_not_at_all_is_not_counted(page):
    assert amounts(page) == []


def test_a_number_between_two_words_counts_the_one_behind_it():
    assert dict(sizes_said("32 layers, 8 KV heads, head dimension 128")) == {"L": 32, "h_kv": 8, "d_head": 128}


def test_layers_called_n_are_no_tokens():
    page = "Let d_model = 512, h = 8, N = 6 layers.\n\n1. How many parameters and score entries has attention?"
    from qkv.theory.answers import answers

    assert not [answer for answer in answers(read_sheet(page)) if answer.title == "What this layer costs"]
