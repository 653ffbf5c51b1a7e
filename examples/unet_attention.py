"""Self-attention over the pixels of a feature map, as diffusion models have it, with a softmax over the wrong axis.

The mistake is the one of labmlai/annotated_deep_learning_paper_implementations, issue 146; the code is our own.
"""

import torch
from torch import nn

import qkv


class PixelAttention(nn.Module):
    def __init__(self, channels: int, heads: int, axis: int) -> None:
        super().__init__()
        self.heads, self.axis = heads, axis
        self.projection = nn.Linear(channels, 3 * channels)
        self.output = nn.Linear(channels, channels)

    def forward(self, x):
        batch, pixels, channels = x.shape
        d_k = channels // self.heads
        q, k, v = self.projection(x).view(batch, pixels, 3, self.heads, d_k).unbind(2)
        scores = torch.einsum("bihd,bjhd->bijh", q, k) * d_k**-0.5  # queries, keys, heads
        weights = scores.softmax(dim=self.axis)
        mixed = torch.einsum("bijh,bjhd->bihd", weights, v)
        return self.output(mixed.reshape(batch, pixels, channels))


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(2, 16, 32)  # two feature maps of 4×4 pixels, 32 channels
    for axis in (1, 2):
        print(f"softmax(dim={axis})")
        print(qkv.compare(PixelAttention(32, 4, axis), x), end="\n\n")
