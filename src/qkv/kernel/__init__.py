"""Exact softmax attention on arrays, as fast as a CPU allows."""

from qkv.kernel.api import attention
from qkv.kernel.formula import AttentionTrace, trace_attention

__all__ = ["AttentionTrace", "attention", "trace_attention"]
