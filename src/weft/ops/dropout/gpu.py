"""Dropout in Triton: a pure function of the seed and the place."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from weft.ops.gpu import ceil_div, kept, launch, sums_of
from weft.ops.random import threshold

BLOCK = 1024


def drop(x: Tensor, seed: Tensor, share: float) -> Tensor:
    """x / (1 - share) where it survives, zero elsewhere."""
    out = torch.empty_like(x)
    count = x.numel()
    settings = {"ACC": sums_of(x.dtype), "BLOCK": BLOCK}
    launch(_drop, (ceil_div(count, BLOCK),), x.contiguous(), seed, out, count, 1 / (1 - share), threshold(share), **settings)
    return out


@triton.jit(do_not_specialize=["limit"])
def _drop(x, seed, out, count, gain, limit, ACC: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, inside, 0).to(ACC)
    tl.store(out + at, tl.where(kept(seed, at, limit), value * gain, 0.0), inside)
