"""Whole models with attn_implementation="qkv" beside "sdpa": the same weights, in turns, as ratios of neighbours.

python benchmarks/bench_models.py                 all of it, about five minutes
python benchmarks/bench_models.py --seconds 60
python benchmarks/bench_models.py --only llama
OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/bench_models.py --processor-time

The last one is for a machine that others use: it counts the time of one processor, not that of the wall.

The models have the layers of well-known ones and random weights, so nothing is downloaded; they have few layers, since
every layer takes the same time. The rest of a model (projections, feed-forward, norms) is torch's in both cases: the
ratio says what somebody who changes the name of the implementation gains.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
import transformers as tf

import qkv.transformers

RESULTS = Path(__file__).parent / "results"
OURS, THEIRS = qkv.transformers.NAME, "sdpa"
LEAST = 5  # pairs of samples that every case gets
LAYERS = 2

BERT = {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "num_hidden_layers": LAYERS}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
GPT2 = {
    "n_embd": 768,
    "n_head": 12,
    "n_layer": LAYERS,
    "n_positions": 4096,
    "vocab_size": 1000,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GPT2_NO_DROPOUT = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
LLAMA = {  # the layers of Llama 3.2 1B, half as wide: 16 heads over 4
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 64,
    "intermediate_size": 4096,
    "num_hidden_layers": LAYERS,
    "vocab_size": 1000,
    "max_position_embeddings": 16384,
}


def bert() -> torch.nn.Module:
    return tf.BertModel._from_config(tf.BertConfig(**BERT, **NO_DROPOUT, vocab_size=1000), attn_implementation=THEIRS)


def gpt2() -> torch.nn.Module:
    return tf.GPT2Model._from_config(tf.GPT2Config(**GPT2, **GPT2_NO_DROPOUT), attn_implementation=THEIRS)


def llama() -> torch.nn.Module:
    return tf.LlamaModel._from_config(tf.LlamaConfig(**LLAMA), attn_implementation=THEIRS)


def vit() -> torch.nn.Module:
    return tf.ViTModel._from_config(tf.ViTConfig(**BERT, **NO_DROPOUT), attn_implementation=THEIRS)


def tokens(batch: int, count: int) -> torch.Tensor:
    return torch.randint(3, 1000, (batch, count), generator=torch.Generator().manual_seed(0))


@dataclass
class Case:
    """A model, what it computes, and the seconds of each pair of samples: qkv's and sdpa's."""

    name: str
    make: Callable[[], torch.nn.Module]
    run: Callable[[torch.nn.Module], torch.Tensor]
    pairs: list[tuple[float, float]] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        return [theirs / ours for ours, theirs in self.pairs]


def forward(*given: torch.Tensor, **named: torch.Tensor) -> Callable[[torch.nn.Module], torch.Tensor]:
    @torch.inference_mode()
    def run(model: torch.nn.Module) -> torch.Tensor:
        return model(*given, **named).last_hidden_state

    return run


def train(*given: torch.Tensor, **named: torch.Tensor) -> Callable[[torch.nn.Module], torch.Tensor]:
    def run(model: torch.nn.Module) -> torch.Tensor:
        model.zero_grad()
        out = model(*given, **named).last_hidden_state
        out.square().mean().backward()
        return out.detach()

    return run


def decode(cached: int, steps: int) -> Callable[[torch.nn.Module], torch.Tensor]:
    """Some tokens one by one, with so many in the cache already."""
    cache = tf.DynamicCache()
    shape = (1, LLAMA["num_key_value_heads"], cached, LLAMA["head_dim"])
    generator = torch.Generator().manual_seed(0)

    @torch.inference_mode()
    def run(model: torch.nn.Module) -> torch.Tensor:
        if not cache.get_seq_length():
            for layer in range(LAYERS):
                cache.update(*(torch.randn(shape, generator=generator) for _ in range(2)), layer)
        for _ in range(steps):
            out = model(tokens(1, 1), past_key_values=cache, use_cache=True).last_hidden_state
        cache.crop(-steps)
        return out

    return run


def padded(batch: int, count: int) -> dict[str, torch.Tensor]:
    """Tokens with padding on the right, from none to half."""
    lengths = torch.linspace(count // 2, count, batch).long()
    return {"input_ids": tokens(batch, count), "attention_mask": (torch.arange(count) < lengths[:, None]).long()}


CASES = [
    Case("bert, 8 × 128 tokens", bert, forward(tokens(8, 128))),
    Case("bert, 2 × 512 tokens, padded", bert, forward(**padded(2, 512))),
    Case("bert, 8 × 128 tokens, a step of training", bert, train(tokens(8, 128))),
    Case("bert, 2 × 512 tokens, a step of training", bert, train(tokens(2, 512))),
    Case("vit, 4 images of 197 tokens", vit, forward(torch.zeros(4, 3, 224, 224))),
    Case("gpt2, 1024 tokens", gpt2, forward(tokens(1, 1024))),
    Case("gpt2, 2048 tokens", gpt2, forward(tokens(1, 2048))),
    Case("gpt2, 512 tokens, a step of training", gpt2, train(tokens(1, 512))),
    Case("llama, 1024 tokens", llama, forward(tokens(1, 1024))),
    Case("llama, 8 tokens after 512", llama, decode(512, 8)),
    Case("llama, 8 tokens after 8192", llama, decode(8192, 8)),
]


def models(cases: list[Case]) -> dict[Callable[[], torch.nn.Module], torch.nn.Module]:
    torch.manual_seed(0)
    return {make: make().eval() for make in dict.fromkeys(case.make for case in cases)}


def result(case: Case, model: torch.nn.Module, name: str) -> torch.Tensor:
    model.set_attn_implementation(name)
    return case.run(model)


def difference(case: Case, model: torch.nn.Module) -> float:
    """How far the two results are apart, relative to the largest number; also a warm-up of both."""
    mine, theirs = (result(case, model, name) for name in (OURS, THEIRS))
    return float((mine - theirs).abs().max() / theirs.abs().max())


def take_turns(case: Case, model: torch.nn.Module, order: random.Random, clock: Callable[[], float]) -> None:
    names, seconds = [OURS, THEIRS], {}
    order.shuffle(names)
    for name in names:
        begin = clock()
        result(case, model, name)
        seconds[name] = clock() - begin
    case.pairs.append((seconds[OURS], seconds[THEIRS]))


def row(case: Case, apart: float) -> dict[str, object]:
    low, middle, high = statistics.quantiles(case.ratios, n=4)
    ours, theirs = (min(times) for times in zip(*case.pairs, strict=True))
    return {
        "case": case.name,
        "seconds": {OURS: ours, THEIRS: theirs},
        "ratio": middle,
        "quartiles": [low, high],
        "best_ratio": theirs / ours,
        "pairs": len(case.pairs),
        "difference": apart,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=240.0, help="how long to measure")
    parser.add_argument("--only", default="", help="cases whose name contains this; nothing is written")
    parser.add_argument("--processor-time", action="store_true", help="for a machine that others use; see above")
    given = parser.parse_args()
    clock = time.process_time if given.processor_time else time.perf_counter
    cases = [case for case in CASES if given.only in case.name]
    made = models(cases)
    apart = {case.name: difference(case, made[case.make]) for case in cases}
    order, begin, rounds = random.Random(0), time.perf_counter(), 0
    while rounds < LEAST or time.perf_counter() - begin < given.seconds:
        for case in order.sample(cases, len(cases)):
            take_turns(case, made[case.make], order, clock)
        rounds += 1
    kind = "processor time" if given.processor_time else "time"
    print(f"{torch.get_num_threads()} threads, {rounds} rounds; {kind} is the best, the ratio the middle of all pairs")
    print(f"{'model':<44}{'qkv':>10}{'sdpa':>10}{'sdpa/qkv':>10}{'quartiles':>16}{'apart':>10}")
    rows = [row(case, apart[case.name]) for case in cases]
    for r in rows:
        times = "".join(f"{r['seconds'][name] * 1e3:>8.1f}ms" for name in (OURS, THEIRS))
        low, high = r["quartiles"]
        print(f"{r['case']:<44}{times}{r['ratio']:>9.2f}×{f'{low:.2f} to {high:.2f}':>16}{r['difference']:>10.0e}")
    mean = statistics.geometric_mean([r["ratio"] for r in rows])
    print(f"geometric mean of the ratios: {mean:.2f}")
    if not given.only:
        RESULTS.mkdir(exist_ok=True)
        written = {
            "threads": torch.get_num_threads(),
            "clock": kind,
            "rounds": rounds,
            "geometric_mean": mean,
            "rows": rows,
        }
        (RESULTS / "models.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
