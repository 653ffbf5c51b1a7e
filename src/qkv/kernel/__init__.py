"""Exact softmax attention on arrays, as fast as a CPU allows."""

from qkv.kernel.api import attention
from qkv.kernel.backward import attention_backward
from qkv.kernel.formula import AttentionTrace, trace_attention
from qkv.kernel.merge import merge_attention
from qkv.kernel.warmup import warmup

__all__ = ["AttentionTrace", "attention", "attention_backward", "merge_attention", "trace_attention", "warmup"]
