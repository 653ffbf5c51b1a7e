"""`attn_implementation="qkv"` in real models of small configurations, beside eager and sdpa."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-peers installs it", exc_type=ImportError)
pytest.importorskip("transformers", reason="transformers is not installed: make test-peers installs it")

import transformers as tf  # noqa: E402

import qkv.transformers  # noqa: E402
from qkv.errors import ValueRefused  # noqa: E402

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]

torch.set_num_threads(1)  # so small that threads would only wait for each other

SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT = {
    **SMALL,
    "vocab_size": 99,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
NO_DROPOUT = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
GPT2 = {
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 64,
    "vocab_size": 99,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GPT2_DROPOUT = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
GROUPED = {**TEXT, "num_key_value_heads": 2, "head_dim": 8}
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 99, "dropout_rate": 0.0}
MODELS = {
    "bert": lambda: (tf.BertForMaskedLM, tf.BertConfig(**TEXT, **NO_DROPOUT)),
    "gpt2": lambda: (tf.GPT2LMHeadModel, tf.GPT2Config(**GPT2, **GPT2_DROPOUT)),
    "llama": lambda: (tf.LlamaForCausalLM, tf.LlamaConfig(**GROUPED)),
    "mistral": lambda: (tf.MistralForCausalLM, tf.MistralConfig(**GROUPED, sliding_window=5)),
    "gemma2": lambda: (
        tf.Gemma2ForCausalLM,
        tf.Gemma2Config(**GROUPED, sliding_window=5, attn_logit_softcapping=2.0, query_pre_attn_scalar=8),
    ),
    "gpt-oss": lambda: (
        tf.GptOssForCausalLM,
        tf.GptOssConfig(**GROUPED, sliding_window=5, num_local_experts=2, num_experts_per_tok=1),
    ),
    "vit": lambda: (tf.ViTForImageClassification, tf.ViTConfig(**SMALL, **NO_DROPOUT, image_size=32, patch_size=8)),
    "t5": lambda: (tf.T5ForConditionalGeneration, tf.T5Config(**T5, decoder_start_token_id=0, pad_token_id=0)),
}
TEXTS = [name for name in MODELS if name != "vit"]
CAUSAL = [name for name in TEXTS if name not in ("bert", "t5")]


def pair(kind, reference="eager", dtype=torch.float32, **changes):
    """The same model twice: with a reference, and with qkv."""
    maker, config = MODELS[kind]()
    config.update(changes)
    torch.manual_seed(0)
    theirs = maker._from_config(config, attn_implementation=reference, dtype=dtype)
    mine = maker._from_config(copy.deepcopy(config), attn_implementation="qkv", dtype=dtype)
    mine.load_state_dict(theirs.state_dict())
    return theirs, mine


def inputs(kind, padding=None):
    """Two rows of tokens, padded on a side."""
    tokens = torch.randint(3, 99, (2, 11), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(tokens)
    if padding == "right":
        mask[0, 7:] = 0
    elif padding == "left":
        mask[0, :4] = 0
    given = {"input_ids": tokens, "attention_mask": mask}
    return given | ({"decoder_input_ids": tokens[:, :6]} if kind == "t5" else {})


@pytest.fixture
def calls(monkeypatch):
    """What every call of our function was asked for."""
    seen = []

    def counted(*given, **options):
        seen.append(options)
        return attend(*given, **options)

    attend = qkv.transformers.attention
    monkeypatch.setattr(qkv.transformers, "attention", counted)
    return seen


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("padding", [None, "right", "left"])
def test_forward_and_backward(kind, padding, calls):
    theirs, mine = pair(kind)
    given = inputs(kind, padding)
    used = given["attention_mask"].bool() if kind != "t5" else torch.ones(2, 6, dtype=torch.bool)
    results = []
    for model in (theirs, mine):
        logits = model.train()(**given).logits[used]  # what stands at padding is nobody's business
        logits.logsumexp(-1).sum().backward()
        results.append([logits, *(p.grad for p in model.parameters())])
    assert calls
    for a, b in zip(*results, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-4 * max(1.0, float(a.detach().abs().max())))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("padding", [None, "right"])
def test_without_gradients(kind, padding, calls):
    theirs, mine = pair(kind)
    given = inputs(kind, padding)
    used = given["attention_mask"].bool() if kind != "t5" else torch.ones(2, 6, dtype=torch.bool)
    with torch.inference_mode():
        torch.testing.assert_close(
            mine.eval()(**given).logits[used], theirs.eval()(**given).logits[used], rtol=0, atol=1e-5
        )
    assert all("out" in options for options in calls)


GENERATE = [(None, {}), ("left", {"num_beams": 2}), ("left", {"cache_implementation": "static"})]


@pytest.mark.parametrize("kind", CAUSAL)
@pytest.mark.parametrize("padding,options", GENERATE, ids=str)
def test_generate_with_a_cache(kind, padding, options, calls):
    theirs, mine = pair(kind)
    given = inputs(kind, padding)
    wanted = {"max_new_tokens": 12, "do_sample": False, "pad_token_id": 0, "disable_compile": True, **options}
    expected = theirs.eval().generate(**given, **wanted, return_dict_in_generate=True, output_logits=True)
    got = mine.eval().generate(**given, **wanted, return_dict_in_generate=True, output_logits=True)
    assert torch.equal(got.sequences, expected.sequences)
    torch.testing.assert_close(torch.stack(got.logits), torch.stack(expected.logits), rtol=0, atol=1e-4)
    assert len(calls) >= 12


def test_generate_from_an_encoder():
    theirs, mine = pair("t5")
    wanted = {"max_new_tokens": 12, "do_sample": False}
    given = inputs("bert", "right")
    assert torch.equal(mine.eval().generate(**given, **wanted), theirs.eval().generate(**given, **wanted))


@pytest.mark.parametrize("kind", ["bert", "llama"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(kind, dtype):
    theirs, mine = pair(kind, "sdpa", dtype)
    with torch.no_grad():
        difference = mine.eval()(**inputs(kind)).logits - theirs.eval()(**inputs(kind)).logits
    assert difference.abs().max() < (2e-3 if dtype is torch.float16 else 2e-2)


@pytest.mark.parametrize("reference", ["eager", "sdpa"])
def test_vision(reference, calls):
    theirs, mine = pair("vit", reference)
    pixels = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    results = []
    for model in (theirs, mine):
        logits = model(pixels).logits
        logits.sum().backward()
        results.append([logits, *(p.grad for p in model.parameters())])
    assert calls
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-5)


def test_weights_where_they_are_asked_for():
    theirs, mine = pair("bert")
    with torch.no_grad():
        expected = theirs.eval()(**inputs("bert"), output_attentions=True).attentions
        got = mine.eval()(**inputs("bert"), output_attentions=True).attentions
    for a, b in zip(expected, got, strict=True):
        torch.testing.assert_close(b, a, rtol=0, atol=1e-6)


def test_dropout_is_that_of_sdpa():
    theirs, mine = pair("bert", "sdpa", attention_probs_dropout_prob=0.5)
    results = []
    for model in (theirs, mine):
        torch.manual_seed(3)
        results.append(model.train()(**inputs("bert")).logits)
    assert torch.equal(*results)


def test_dropout_with_sinks_is_refused():
    _, mine = pair("gpt-oss", attention_dropout=0.5)
    with pytest.raises(ValueRefused, match=r"attention_dropout=0\.0"):
        mine.train()(**inputs("gpt-oss"))


def test_the_name_can_be_set_later():
    theirs, _ = pair("llama")
    before = theirs.eval()(**inputs("llama")).logits
    theirs.set_attn_implementation("qkv")
    torch.testing.assert_close(theirs(**inputs("llama")).logits, before, rtol=0, atol=1e-5)
