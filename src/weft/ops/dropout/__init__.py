"""Drop numbers at random, by counting: nothing is stored for the way back."""

from typing import Any

import torch
from torch import Tensor

from weft.errors import WeftValueError
from weft.ops.buffers import computable, empty, flat
from weft.ops.dispatch import check_tensor, has_module, record
from weft.ops.dropout import reference
from weft.ops.operator import operator
from weft.ops.parallel import for_rows
from weft.ops.random import new_seed, threshold

PIECE = 1 << 15


def dropout(x: Tensor, share: float, *, seed: Tensor | None = None) -> Tensor:
    """A `share` of the numbers of x become zero at random, the others grow so that sums stay the same on average.

    Which ones is a function of the seed alone, drawn from torch's generator unless one is given.

    >>> dropped = dropout(torch.ones(1000), 0.2, seed=torch.tensor(0))
    >>> dropped.unique().tolist(), int((dropped == 0).sum())
    ([0.0, 1.25], 196)
    """
    x = check_tensor(x, "dropout", "x", None)
    if not 0 <= share < 1:
        raise WeftValueError(f"dropout: share must be at least 0 and below 1, but got {share}.")
    if share == 0:
        return x
    seed = new_seed(x.device) if seed is None else seed
    if x.device.type == "cuda" and (x.dtype == torch.float64 or not has_module("triton")):
        record("dropout", "reference", ("gpu", "float64, or triton is not installed"))
        return reference.dropout(x, share, seed)
    record("dropout", "gpu" if x.is_cuda else "cpu")
    return drop(x.contiguous(), seed, float(share))


@operator("weft::drop")
def drop(x: Tensor, seed: Tensor, share: float) -> Tensor:
    """x / (1 - share) where it survives, zero elsewhere."""
    from weft.ops.dropout import cpu

    wide = computable(x if x.dtype != torch.bfloat16 else x.float())
    out = empty(*x.shape, dtype=wide.dtype)
    cuts = [*range(0, x.numel(), PIECE), x.numel()]
    gain = flat(torch.ones((), dtype=wide.dtype))[0] / (1 - share)
    for_rows(cpu.drop, cuts, 4 * x.numel(), flat(wide), int(seed), threshold(share), gain.astype(flat(wide).dtype), flat(out))
    return out.to(x.dtype)


@drop.on_gpu
def _(x, seed, share):
    from weft.ops.dropout import gpu

    return gpu.drop(x, seed, share)


@drop.shapes
def _(x: Tensor, seed: Tensor, share: float) -> Tensor:
    return torch.empty_like(x)


def _save(ctx: Any, inputs: tuple[Tensor, Tensor, float], output: Tensor) -> None:
    _, seed, ctx.share = inputs
    ctx.save_for_backward(seed)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    (seed,) = ctx.saved_tensors
    return drop(grad.contiguous(), seed, ctx.share), None, None


drop.derivative(_backward, _save)

__all__ = ["drop", "dropout"]
