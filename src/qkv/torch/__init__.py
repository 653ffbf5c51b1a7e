"""torch tensors on the CPU: `qkv.attention` takes and gives them, with gradients; torch's own function has a twin here.

>>> import torch
>>> import qkv
>>> q, k, v = (torch.eye(3, requires_grad=True) for _ in range(3))
>>> qkv.attention(q, k, v, causal=True).sum().backward()
>>> v.grad[:, 0]
tensor([1.6240, 0.9049, 0.4711])

To let models that are written with torch's function use ours:

    torch.nn.functional.scaled_dot_product_attention = qkv.torch.scaled_dot_product_attention
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("qkv.torch needs torch; install it with: pip install 'qkv[torch]'") from error

from qkv.torch.api import attention
from qkv.torch.sdpa import scaled_dot_product_attention

__all__ = ["attention", "scaled_dot_product_attention"]
